"""How well whole sessions are followed, by width of a tile: ``measure_sessions.py``.

Plays simulated sessions through camera, recogniser and referee, with faces, felts and lamps that
training never saw: the project's own faces and, with ``--art``, the tile sets in other folders, in
turn. The simulated host answers the referee's questions truthfully. Prints a line a session and for
each width: hands whose log is what was played, hands settled otherwise than played, questions a
hand. A session is ``--hands`` long and gets the next seed and look.

``--taught`` plays with tile sets that the host has taught (``tablectl teach``, then ``--add``: from
rendered pictures of the layout before two opposite seats): ``same`` in the session's own look,
``other`` in another look (other lamps, felt and camera), as if the light had changed since.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tablectl import channels
from tablectl.daemon import Running
from tablectl.demo import DemoOptions, DemoResult, run_demo
from tablectl.messages import EventView, SettlementView
from tablectl.services.bus import Entry
from vision.render.renderer import Renderer

SEEN: Final = ("indicator", "flower", "discard", "meld", "win")
"""Kinds of events that come from the camera; hands of losers are only read where they count."""

OTHER_LOOK: Final = 100_000
"""From a session's look to the one in which its tiles were taught."""


@dataclass
class Told:
    """The hands as the daemon told them: logs with all corrections, and payments."""

    hands: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    settled: dict[int, SettlementView] = field(default_factory=dict)
    running: Running | None = None

    def on_start(self, running: Running) -> None:
        """Listen to the daemon."""
        self.running = running
        running.bus.on(EventView, self._on_event, channels.EVENT)
        running.bus.on(SettlementView, self._on_settlement, channels.SETTLEMENT)

    def _on_event(self, entry: Entry[EventView]) -> None:
        view = entry.message
        assert self.running is not None
        log = self.hands.setdefault(self.running.game.referee.number, [])
        if view.event:
            log[view.n : view.n + 1] = [view.event]
        else:  # struck out
            del log[view.n :]

    def _on_settlement(self, entry: Entry[SettlementView]) -> None:
        view = entry.message
        if view.final:
            self.settled[view.hand] = view
        else:
            self.settled.pop(view.hand, None)


def gist(log: Iterable[dict[str, Any]]) -> tuple[Counter[tuple[str, ...]], dict[int, list[str]]]:
    """What a log says happened on the felt: its events, and the discards of each seat in order."""
    events: Counter[tuple[str, ...]] = Counter()
    rivers: dict[int, list[str]] = {}
    for event in log:
        kind = event["e"]
        if kind not in SEEN:
            continue
        if kind == "discard":
            rivers.setdefault(event["seat"], []).append(event["tile"])
        details = {key: value for key, value in event.items() if key != "ready"}
        if event.get("kind") == "closed_kong":
            details["tiles"] = ""  # its faces may stay hidden
        for key in ("tiles", "hand"):
            details[key] = "".join(sorted(str(details.get(key, ""))))
        events[tuple(f"{key}={details[key]}" for key in sorted(details))] += 1
    return events, rivers


def differences(log: list[dict[str, Any]], true_log: list[dict[str, Any]]) -> str:
    """What was told and did not happen, and what happened and was not told."""
    told, true = gist(log)[0], gist(true_log)[0]
    extra = [f"told {' '.join(event)}" for event in (told - true).elements()]
    missing = [f"played {' '.join(event)}" for event in (true - told).elements()]
    return "; ".join([*extra, *missing]) or "discards in another order"


@dataclass
class Sum:
    """Over the sessions of one width."""

    hands: int = 0
    followed: int = 0
    settled_wrongly: int = 0
    unsettled: int = 0
    questions: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, result: DemoResult, told: Told, asked_for: int) -> None:
        """One session."""
        for number, played in enumerate(result.played, start=1):
            true_log = [event.to_json() for event in played.events]
            log = told.hands.get(number, [])
            right = gist(log) == gist(true_log)
            self.followed += right
            if not right:
                self.wrong.append(f"hand {number}: {differences(log, true_log)}")
            view = told.settled.get(number)
            self.settled_wrongly += view is not None and view.delta != played.delta
            self.unsettled += view is None
        self.hands += asked_for
        self.unsettled += asked_for - len(result.played)
        self.questions += result.questions

    def line(self) -> str:
        """For people."""
        return (
            f"{self.hands} hands: log right {self.followed / self.hands:.3f}, settled wrongly "
            f"{self.settled_wrongly}, not settled {self.unsettled}, questions a hand "
            f"{self.questions / self.hands:.2f}"
        )


def size_for(tile_px: float) -> tuple[int, int]:
    """The 16:9 picture over the whole felt in which a tile is so wide."""
    default = DemoOptions().size
    lines = tile_px / Renderer(size=default).tile_px * default[1]
    even = 2 * round(lines / 2)
    return 2 * round(even * 8 / 9), even


def taught_look(taught: str, look: int) -> int | None:
    """The look in which the tiles of a session in ``look`` were taught."""
    return {"no": None, "same": look, "other": look + OTHER_LOOK}[taught]


def main() -> int:
    """Play and print; 1 when a hand was settled wrongly or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tile-px", type=float, nargs="+", default=[22.0, 44.0])
    parser.add_argument("--sessions", type=int, default=5, help="for each width")
    parser.add_argument("--hands", type=int, default=4)
    parser.add_argument("--rules", nargs="+", default=["hongkong", "hangzhou"])
    parser.add_argument("--art", type=Path, nargs="*", default=[], help="folders of other faces")
    parser.add_argument("--seed", type=int, default=501)
    parser.add_argument("--taught", choices=("no", "same", "other"), default="no")
    options = parser.parse_args()
    faces: list[Path | None] = [None, *options.art]
    failed = 0
    for width in options.tile_px:
        total = Sum()
        for number in range(options.sessions):
            told, one = Told(), Sum()
            demo = DemoOptions(
                rules=options.rules[number % len(options.rules)], hands=options.hands,
                seed=options.seed + number, style_seed=options.seed + number, fast=True, port=0,
                art=faces[number % len(faces)], size=size_for(width),
                taught_look=taught_look(options.taught, options.seed + number),
            )  # fmt: skip
            began = time.monotonic()
            result = asyncio.run(run_demo(demo, on_start=told.on_start))
            for tally in (one, total):
                tally.add(result, told, options.hands)
            name = demo.art.name if demo.art else "own"
            print(
                f"{width:g} px, {demo.rules}, seed and look {demo.seed}, faces {name}: "
                f"{one.line()}, {time.monotonic() - began:.0f} s {result.problem}",
                flush=True,
            )
            for line in one.wrong:
                print(f"    {line}", flush=True)
        print(f"{width:g} px, {demo.size[0]}x{demo.size[1]}: {total.line()}", flush=True)
        failed += total.settled_wrongly + total.unsettled
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
