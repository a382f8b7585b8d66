"""Short ways to write hands for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.engine.events import Event, parse_event
from tablectl.engine.game import Step, apply, finish
from tablectl.engine.state import HandState

Line = Mapping[str, Any]


def start(rules: str = "hongkong", **fields: Any) -> dict[str, Any]:
    wind = "E" if rules == "hongkong" else None
    return {"e": "start", "rules": rules, "dealer": 0, "round_wind": wind} | fields


def indicator(tile: str) -> dict[str, Any]:
    return {"e": "indicator", "tile": tile}


def throw(seat: int, *tiles: str) -> list[dict[str, Any]]:
    """Discards by consecutive seats, beginning with ``seat``."""
    return [{"e": "discard", "seat": (seat + i) % 4, "tile": tile} for i, tile in enumerate(tiles)]


def draw(seat: int, tile: str | None = None, source: str = "wall") -> dict[str, Any]:
    return {"e": "draw", "seat": seat, "tile": tile, "from": source}


def flower(seat: int, tile: str) -> dict[str, Any]:
    return {"e": "flower", "seat": seat, "tile": tile}


def call(seat: int, name: str) -> dict[str, Any]:
    return {"e": "call", "seat": seat, "call": name}


def meld(seat: int, kind: str, tiles: str, source: int | None = None) -> dict[str, Any]:
    return {"e": "meld", "seat": seat, "kind": kind, "tiles": tiles, "from": source}


def win(
    seat: int, by: str, tile: str | None, hand: str, source: int | None = None
) -> dict[str, Any]:
    return {"e": "win", "seat": seat, "by": by, "from": source, "tile": tile, "hand": hand}


class Played:
    """A hand played through the engine, with what it said after each event."""

    def __init__(self, *lines: Any) -> None:
        flat: list[Line] = []
        for line in lines:
            flat += [line] if isinstance(line, Mapping) else line
        self.events: list[Event] = [parse_event(line) for line in flat]
        self.steps: list[Step] = []
        self.states: list[HandState] = []
        state: HandState | None = None
        for event in self.events:
            state, step = apply(state, event)
            self.states.append(state)
            self.steps.append(step)
        assert state is not None
        self.state = finish(state)

    @property
    def issues(self) -> list[tuple[int, str, int | None]]:
        return [(n, name, seat) for n, step in enumerate(self.steps) for name, seat in step.issues]

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def delta(self) -> tuple[int, ...] | None:
        assert self.state.settlement is not None, self.state.unsettled
        return self.state.settlement.delta

    @property
    def next(self) -> dict[str, Any]:
        assert self.state.next is not None
        return self.state.next.to_json()


def tedious_wall(first: int, number: int) -> list[dict[str, Any]]:
    """Discards that break nothing, in turn from ``first``; none of 1s and 7z."""
    kinds = [f"{n}{s}" for s in "mps" for n in range(1, 10)] + [f"{n}z" for n in range(1, 7)]
    kinds.remove("1s")
    tiles = [kinds[i % len(kinds)] for i in range(number)]
    return throw(first, *tiles)
