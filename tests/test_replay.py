"""A recorded session replays to exactly the same game."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from firmware_protocol.messages import Button, ButtonPressed, DiceRolled
from tablectl import channels
from tablectl.engine.events import Call, Draw, End, Event, Exhaust, Reveal, Start, Win
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.game import GameService
from tablectl.messages import Question, Request, SettlementView
from tablectl.referee.inputs import CommandResult, SessionPlan, TableCommand, Tick
from tablectl.replay import ReplayError, replay, totals
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import RecordedClock
from tablectl.services.recorder import Recorder
from tablectl.services.recording import RecordingError
from tablectl.simulate.felt import SimulatedFelt
from tests.referee.eye import PlainEye, doubting


class RecordedSession:
    """Plays hands with plain readings over a recorded bus."""

    def __init__(self, path: Path, rules: str, seed: int, unsure: float = 0.03) -> None:
        self.clock = RecordedClock(100.0)
        self.bus = Bus(self.clock)
        self.recorder = Recorder(self.bus, path, {"rules": rules}, frames=False)
        plan = SessionPlan(session="evening", table="t", rules=rules, names=("A", "B", "C", "D"))
        self.game = GameService(self.bus, plan)
        self.settled: dict[str, SettlementView] = {}
        self.bus.on(SettlementView, self._on_settlement, channels.SETTLEMENT)
        self.bus.on(TableCommand, self._on_command, channels.COMMAND)
        self.game.begin(self.clock.now())
        kit = self.game.referee.kit
        self.felt = SimulatedFelt(
            self.game.referee.geometry, kit.seats, kit.total, random.Random(seed)
        )
        self.eye = PlainEye(self.felt, doubting(seed, unsure))
        self.rules, self.seed = rules, seed

    def _on_settlement(self, entry: Entry[SettlementView]) -> None:
        if entry.message.final:
            self.settled[entry.message.hand_id] = entry.message

    def _on_command(self, entry: Entry[TableCommand]) -> None:
        if entry.message.name == "roll_dice":
            self.bus.publish(channels.TABLE, DiceRolled(first=2, second=5))
        self.bus.publish(channels.RESULT, CommandResult(id=entry.message.id, outcome="done"))

    def say(self, channel: str, message: object, after: float = 0.3) -> None:
        self.clock.jump(self.clock.now() + after)
        self.bus.publish(channel, message)

    def press(self, seat: int, button: Button) -> None:
        self.say(channels.TABLE, ButtonPressed(seat=seat, button=button, uptime_ms=0))

    def look(self) -> None:
        self.say(channels.READING, self.eye.look(self.clock.now()), after=1.0)
        self.say(channels.TICK, Tick())

    def hand(self, number: int, *, answer: bool = True, stop_after: int | None = None) -> None:
        self.press(0, Button.START)
        if number:
            self.felt.clear()
            self.look()
            self.press(0, Button.START)
        self.rename(1, f"Bob {number}")
        self.felt.raise_walls(7)
        next_ = self.game.referee.next
        deal = Deal(next_.dealer, next_.streak, next_.round_wind, 0, next_.session)
        for event in play_hand(self.rules, {}, self.seed + number, deal=deal)[:stop_after]:
            self._do(event)
        if answer and stop_after is None:
            self._answer_all()

    def _do(self, event: Event) -> None:
        if isinstance(event, Call):
            self.press(event.seat, Button[event.call.upper()])
        elif isinstance(event, Exhaust):
            self.press(0, Button.START)
        elif not isinstance(event, Reveal | End):
            self.felt.apply(event)
            if not isinstance(event, Draw | Start):
                self.look()
            if isinstance(event, Win):  # an own draw is believed after a while
                self.say(channels.TICK, Tick(), after=2.0)

    def _answer_all(self) -> None:
        """The host takes whatever is most likely."""
        for _ in range(30):
            hand = self.game.referee.hand
            if hand is None or not (open_ := self.game.referee.open_questions):
                return
            self.answer(open_[0], open_[0].alternatives[0].id)

    def answer(self, question: Question, reply: str) -> None:
        args: dict[str, object] = {"question": question.id, "answer": reply}
        self.say(channels.REQUEST, Request(id="a", verb="answer", args=args))

    def rename(self, seat: int, name: str) -> None:
        args: dict[str, object] = {"seat": seat, "name": name}
        self.say(channels.REQUEST, Request(id=f"n{name}", verb="seat", args=args))

    def close(self) -> None:
        self.recorder.close()


@pytest.fixture(scope="module", params=["hongkong", "hangzhou"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, SettlementView]]:
    path = tmp_path_factory.mktemp("recorded") / "session.mcap"
    session = RecordedSession(path, request.param, seed=5)
    session.rename(0, "")  # refused
    for number in range(2):
        session.hand(number)
    session.close()
    return path, session.settled


async def test_readings_give_the_same_event_stream_to_the_byte(
    recorded: tuple[Path, dict[str, SettlementView]],
) -> None:
    path, settled = recorded
    result = await replay(path, "readings")
    assert result.recorded
    assert result.events == result.recorded
    assert result.settlements == settled
    assert result.note == ""


async def test_events_settle_to_the_same_payments(
    recorded: tuple[Path, dict[str, SettlementView]],
) -> None:
    path, settled = recorded
    result = await replay(path, "events")
    assert result.same
    assert {k: v.delta for k, v in result.settlements.items()} == {
        k: v.delta for k, v in settled.items()
    }
    assert {k: v.lines for k, v in result.settlements.items()} == {
        k: v.lines for k, v in settled.items()
    }
    assert "Bob 0" in " ".join(result.settlements["evening/1"].lines)
    assert sum(totals(result.settlements, 4)) == 0


@pytest.mark.parametrize("seed", [44, 246])
async def test_whether_it_was_the_last_tile_is_replayed_as_the_host_said(
    seed: int, tmp_path: Path
) -> None:
    """The host says otherwise than the count: it was not the last tile; it was."""
    path = tmp_path / "session.mcap"
    session = RecordedSession(path, "hongkong", seed, unsure=0.0)
    session.hand(0, answer=False)
    (question,) = session.game.referee.open_questions
    assert "last tile of the wall" in question.text_en
    before = session.game.referee.hand
    assert before is not None
    by_count = before.settlement()
    session.answer(question, "no" if seed == 44 else "yes")
    (view,) = session.settled.values()
    assert by_count is not None
    assert view.delta != by_count.delta
    session.close()
    for source in ("events", "readings"):
        result = await replay(path, source)
        assert result.same
        assert [v.delta for v in result.settlements.values()] == [view.delta]
        assert [v.lines for v in result.settlements.values()] == [view.lines]


async def test_a_void_hand_is_void_in_a_replay_too(tmp_path: Path) -> None:
    path = tmp_path / "session.mcap"
    session = RecordedSession(path, "hongkong", 5, unsure=0.0)
    session.hand(0, stop_after=20)
    session.press(0, Button.START)
    session.say(channels.TICK, Tick(), after=2.0)
    (question,) = session.game.referee.open_questions
    session.answer(question, "void")
    session.hand(1)
    session.close()
    for source in ("events", "readings"):
        result = await replay(path, source)
        assert result.same
        assert result.hands == 2
        assert totals(result.settlements, 4) == totals(session.settled, 4)
    assert session.settled["evening/1"].delta == (0, 0, 0, 0)


async def test_a_cut_recording_is_replayed_up_to_the_cut(
    recorded: tuple[Path, dict[str, SettlementView]], tmp_path: Path
) -> None:
    data = recorded[0].read_bytes()
    whole = (await replay(recorded[0], "readings")).events
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 2])
    result = await replay(cut, "readings")
    assert "unfinished" in result.note
    assert 0 < len(result.events) < len(whole)
    assert result.events == whole[: len(result.events)]


async def test_what_cannot_be_replayed_says_why(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a recording")
    with pytest.raises(RecordingError, match="not a recording"):
        await replay(text)
    empty = tmp_path / "empty.mcap"
    Recorder(Bus(RecordedClock(1.0)), empty, {}).close()
    with pytest.raises(ReplayError, match="no session"):
        await replay(empty)


def test_speed_is_recorded_seconds_a_second(
    recorded: tuple[Path, dict[str, SettlementView]],
) -> None:
    async def timed() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(replay(recorded[0], "readings", speed=1.0), 0.5)
        return loop.time() - start

    assert asyncio.run(timed()) >= 0.5
