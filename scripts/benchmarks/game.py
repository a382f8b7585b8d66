"""Referee and replay on whole simulated hands, without pictures."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from benchmarks.rows import Row, Size, quantile
from firmware_protocol.messages import Button
from tablectl import channels
from tablectl.engine.events import End, Reveal
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.messages import Request
from tablectl.referee.core import Referee
from tablectl.referee.inputs import CommandResult, Input, Outputs, SessionPlan
from tablectl.replay import replay
from tablectl.services.bus import Bus
from tablectl.services.clock import RecordedClock
from tablectl.services.recorder import SessionWriter
from tablectl.services.recording import Recording
from vision.messages import TableReading

if TYPE_CHECKING:
    from tests.referee.drive import Drive

RULES = ("hongkong", "hangzhou")
SECONDS_A_TURN = 3.0
"""Draw, think, discard and rest, as the players of the live demonstration do them."""
_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class _Taped:
    """A referee whose inputs and outputs go to a bus, and whose time is taken.

    Attributes:
        reading_ms: processor time of each reading.
    """

    referee: Referee
    bus: Bus
    reading_ms: list[float] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.referee, name)

    def feed(self, t: float, message: Input) -> Outputs:
        t = self.bus.publish(_channel(message), message, t * SECONDS_A_TURN).t
        start = time.thread_time()
        out = self.referee.feed(t, message)
        if isinstance(message, TableReading):
            self.reading_ms.append(1000 * (time.thread_time() - start))
        for event in out.events:
            self.bus.publish(channels.EVENT, event, t)
        if out.settlement is not None:
            self.bus.publish(channels.SETTLEMENT, out.settlement, t)
        if out.questions is not None:
            self.bus.publish(channels.QUESTIONS, out.questions, t)
        if out.state is not None:
            self.bus.publish(channels.STATE, out.state, t)
        for command in out.commands:
            self.bus.publish(channels.COMMAND, command, t)
        return out


def _channel(message: Input) -> str:
    match message:
        case TableReading():
            return channels.READING
        case Request():
            return channels.REQUEST
        case CommandResult():
            return channels.RESULT
        case _:
            return channels.TABLE


def record_session(path: Path, rules: str, hands: int) -> list[float]:
    """Record hands of simulated players, read without pictures.

    Returns:
        Milliseconds of processor time that the referee took for each reading.
    """
    sys.path.insert(0, str(_ROOT))
    from tests.referee.drive import Drive

    plan = SessionPlan(session="bench", table="bench", rules=rules)
    drive = Drive(plan)
    bus = Bus(RecordedClock())
    writer = SessionWriter(path, {"session": plan.session, "rules": rules})
    bus.subscribe(writer.write)
    bus.publish(channels.PLAN, plan, 0.0)
    tape = _Taped(drive.referee, bus)
    drive.referee = cast(Referee, tape)
    for number in range(hands):
        _play(drive, rules, number)
    writer.close()
    return tape.reading_ms


def _play(drive: Drive, rules: str, seed: int) -> None:
    """Deal, play and settle one hand; a drawn one is declared so."""
    drive.deal()
    hand = drive.referee.hand
    assert hand is not None, "the simulated table did not deal"
    assert hand.book.state is not None
    start = hand.book.state.start
    deal = Deal(
        start.dealer, start.streak, start.round_wind, start.first_dealer, start.session, start.dice
    )
    events = play_hand(rules, {}, seed, deal=deal)
    drive.play(e for e in events if not isinstance(e, Reveal | End))
    if not hand.over:
        drive.press(0, Button.START)


def decisions(size: Size) -> Iterator[Row]:
    """What the referee takes for a reading that brings something new, on whole hands."""
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-") as folder:
        for rules in RULES:
            times = record_session(Path(folder) / f"{rules}.mcap", rules, max(1, size.hands // 4))
            note = f"{len(times)} readings"
            yield Row(f"reading to decision, {rules}, p50", quantile(times, 0.5), "ms CPU",
                      note=note)  # fmt: skip
            yield Row(f"reading to decision, {rules}, p95", quantile(times, 0.95), "ms CPU", 50.0)
            yield Row(f"reading to decision, {rules}, slowest", max(times), "ms CPU")


def replays(size: Size) -> Iterator[Row]:
    """Replay of one recording from its events and from its readings."""
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-") as folder:
        path = Path(folder) / "session.mcap"
        record_session(path, "hongkong", size.hands)
        recorded_s = _length_s(path)
        yield Row("recording, size of a hand", path.stat().st_size / size.hands / 1000, "kB",
                  note="without pictures")  # fmt: skip
        for source, budget in (("events", 1000.0), ("readings", None)):
            start = time.process_time()
            result = asyncio.run(replay(path, cast(Literal["events", "readings"], source)))
            took = time.process_time() - start
            assert result.same, f"the replay from {source} is not the recorded game"
            assert result.hands == size.hands
            yield Row(f"replay from {source}", 60 * result.hands / took, "hands/min", budget,
                      "least", f"{size.hands} hands, processor time of one core")  # fmt: skip
            yield Row(f"replay from {source}, times real time", recorded_s / took, "x",
                      note=f"{SECONDS_A_TURN:g} s from discard to discard")  # fmt: skip


def _length_s(path: Path) -> float:
    times = [item.t for item in Recording(path)]
    return times[-1] - times[0]
