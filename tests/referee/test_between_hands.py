"""The end of one hand and the beginning of the next, where eyes and machine are out of step."""

from __future__ import annotations

import pytest

from firmware_protocol.messages import Button
from tablectl.engine.events import Discard, Event, Exhaust
from tablectl.engine.selfplay import play_hand
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.referee.remains import still_lying, without
from tests.referee.drive import Drive
from tests.referee.test_whole_hands import as_played, deal_of, truth_of
from vision.geometry import Zone
from vision.messages import SeenTile, TableReading

PLAIN_TURN = ("discard", "draw", "discard", "exhaust")
CLAIMED_TURN = ("discard", "call", "meld", "discard", "exhaust")


def drawn_hand(drive: Drive, ending: tuple[str, ...] = PLAIN_TURN) -> list[Event]:
    """A hand that nobody wins, dealt on ``drive``."""
    drive.deal()
    for seed in range(2000):
        events: list[Event] = list(play_hand("hongkong", {}, seed, deal=deal_of(drive)))
        if tuple(event.e for event in events[-1 - len(ending) : -1]) == ending:
            return events
    raise AssertionError("no drawn hand")


def start() -> Drive:
    return Drive(SessionPlan(session="s", table="t", rules="hongkong"))


def discards(drive: Drive) -> int:
    assert drive.referee.hand is not None
    return sum(entry.event.e == "discard" for entry in drive.referee.hand.book.entries)


@pytest.mark.parametrize("late", [0.4, 1.4])
@pytest.mark.parametrize("ending", [PLAIN_TURN, CLAIMED_TURN])
def test_a_last_discard_seen_after_start_ends_the_hand_without_a_question(
    late: float, ending: tuple[str, ...]
) -> None:
    drive = start()
    played = as_played(drawn_hand(drive, ending))
    end = next(n for n, event in enumerate(played) if isinstance(event, Exhaust))
    assert isinstance(played[end - 1], Discard)
    drive.play(played[: end - 1])
    drive.felt.apply(played[end - 1])
    drive.press(0, Button.START)
    assert drive.last.questions is None or not drive.last.questions.open
    before = discards(drive)
    drive.feed(drive.eye.look(drive.t), after=late)
    assert drive.last.questions is None or not drive.last.questions.open
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(played)
    assert [e["e"] for e in drive.log()][-2:] == ["discard", "exhaust"]
    assert sum(e["e"] == "discard" for e in drive.log()) == before + 1
    commands = list(drive.commands)
    drive.press(0, Button.START)
    assert drive.commands[len(commands) :] == ["open_centre"], "the machine waits for this press"


def test_start_pressed_long_before_the_end_does_not_end_the_hand_later() -> None:
    drive = start()
    played = as_played(drawn_hand(drive))
    drive.play(played[:8])
    drive.press(0, Button.START)
    drive.feed(Tick(), after=2.0)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert question.id == "s/1/wall"
    end = next(n for n, event in enumerate(played) if isinstance(event, Exhaust))
    drive.play(played[8:end])
    assert drive.referee.hand is not None
    assert not drive.referee.hand.over


def test_tiles_that_remain_of_the_last_hand_are_not_the_new_ones() -> None:
    """The machine has dealt while a hand covers what is pushed away: the eye tells the old felt."""
    drive = start()
    drive.play(as_played(drawn_hand(drive)))
    old, told = drive.eye.look(drive.t), len(drive.events)
    drive.press(0, Button.START)
    drive.felt.clear()
    drive.felt.panel_open = False
    drive.press(0, Button.START)
    drive.felt.raise_walls(7)
    drive.feed(old)
    drive.feed(Tick(), after=2.0)
    half = tuple(tile for tile in old.tiles if tile.seat in (0, 1))
    drive.feed(old.model_copy(update={"tiles": half}))
    drive.feed(Tick(), after=3.0)
    assert drive.referee.number == 2
    drive.feed(drive.eye.look(drive.t))
    new = [view.event["e"] for view in drive.events[told:]]
    assert new[-1] == "start"
    assert not {"discard", "flower", "meld"} & set(map(str, new))
    second: list[Event] = list(play_hand("hongkong", {}, 7, deal=deal_of(drive)))
    drive.play(as_played(second))
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(second)


def tile(face: str, x: float, y: float) -> SeenTile:
    return SeenTile(
        probabilities={face: 0.99}, x=x, y=y, rotation=0.0, zone=Zone.RIVER, seat=0, frames=3
    )


def test_a_tile_gone_once_remains_no_more() -> None:
    old = (tile("1m", 0, 0), tile("2m", 30, 0))
    left = still_lying(old, [tile("1m", 2, 1), tile("9p", 30, 0)])
    assert left == (old[0],)
    new = tile("2m", 30, 0)
    assert without([tile("1m", 2, 1), new], left) == (new,)
    assert without([tile("1m", 20, 0)], left) == (tile("1m", 20, 0),)


def test_readings_without_remains_are_passed_on_whole() -> None:
    seen = (tile("1m", 0, 0),)
    reading = TableReading(t=0.0, seq=0, tiles=seen)
    assert without(reading.tiles, ()) == seen
