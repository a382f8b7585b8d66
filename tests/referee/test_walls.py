"""What the stacks of the walls tell about tiles that nobody saw."""

from __future__ import annotations

from typing import Literal

import pytest

from tablectl.engine.events import Flower, Win
from tablectl.engine.selfplay import play_hand
from tablectl.referee.inputs import SessionPlan
from tablectl.referee.walls import Walls
from tablectl.tiles import format_tile
from tests.referee.drive import Drive
from tests.referee.eye import Blindness, certain
from tests.referee.test_unseen import Evening
from tests.referee.test_whole_hands import as_played, deal_of, truth_of
from vision.geometry import Zone
from vision.messages import WallSeen

ENDS_WHOLE = 6
"""Seed of a hand whose winner lays a flower that counts; both ends of the wall are whole stacks."""


class MissesAFlower(Blindness):
    """Never sees one flower of one seat."""

    def __init__(self, drive: Drive, seat: int, tile: str) -> None:
        super().__init__(0, 0.0)
        self._drive, self._seat, self._tile = drive, seat, tile

    def look(self, key: object, zone: Zone) -> Literal["seen", "unread", "missed"]:
        assert isinstance(key, tuple)
        x, y, tile = key
        seat = self._drive.referee.geometry.locate(x, y)[1]
        return "missed" if (seat, format_tile(tile)) == (self._seat, self._tile) else "seen"


def without_the_last_flower() -> Evening:
    """A hand of which the winner's last flower is missed."""
    drive = Drive(SessionPlan(session="s", table="t", rules="hongkong"), certain, ENDS_WHOLE)
    drive.deal()
    events = play_hand("hongkong", {}, ENDS_WHOLE, deal=deal_of(drive))
    winner = next(e.seat for e in events if isinstance(e, Win))
    last = [e for e in events if isinstance(e, Flower) and e.seat == winner][-1]
    drive.eye.blind = MissesAFlower(drive, winner, last.tile)
    drive.play(as_played(events))
    return Evening(drive, events, [])


def test_the_last_flower_of_a_row_is_asked_about_where_the_wall_lacks_a_tile() -> None:
    evening = without_the_last_flower()
    evening.settle()
    first = evening.asked[0]
    winner = next(e.seat for e in evening.events if isinstance(e, Win))
    assert "The wall lacks a tile" in first.text_en
    assert first.seat == winner
    settled = evening.drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(evening.events)


def test_the_host_may_say_that_nobody_has_another_flower() -> None:
    evening = without_the_last_flower()
    drive = evening.drive
    for _ in range(3):
        drive.feed(drive.eye.look(drive.t), after=1.0)
    asked = set()
    while drive.last.questions is not None and drive.last.questions.open:
        (question,) = drive.last.questions.open
        assert question.id not in asked
        asked.add(question.id)
        drive.request("answer", question=question.id, answer="no")
    assert asked
    assert drive.last.settlement is not None
    assert drive.last.settlement.final


def seen(stacks: int, *, covered: bool = False) -> list[WallSeen]:
    """Four walls with so many stacks in all."""
    return [WallSeen(seat=s, stacks=stacks if s == 0 else 0, covered=covered) for s in range(4)]


@pytest.mark.parametrize(
    ("left", "missing"), [(18, 0), (19, 0), (20, 0), (21, 1), (22, 2), (23, 0), (60, 0)]
)
def test_stacks_hold_at_most_two_tiles_each(left: int, missing: int) -> None:
    """Where much more is missing, the walls are not seen whole."""
    walls = Walls(4)
    for _ in range(2):
        walls.see(seen(10), 20)
    assert walls.missing(left) == missing


def test_an_unsure_count_tells_nothing() -> None:
    walls = Walls(4)
    walls.see(seen(10), 21)
    assert walls.missing(21) == 0  # one look
    walls.see(seen(10, covered=True), 21)
    assert walls.missing(21) == 0  # a hand over it
    walls.see(seen(10)[:3], 21)
    assert walls.missing(21) == 0  # a wall not seen
    walls.see(seen(10), 21)
    assert walls.missing(21) == 1
    walls.see(seen(11), 21)
    assert walls.missing(21) == 0  # counts that differ


def test_a_count_that_was_wrong_once_is_not_believed_again() -> None:
    walls = Walls(4)
    walls.see(seen(0), 90)  # the walls are not up yet
    for stacks in (40, 40):
        walls.see(seen(stacks), 81)
    assert walls.missing(81) == 1
    walls.see(seen(38), 80)
    for _ in range(2):
        walls.see(seen(39), 79)
    assert walls.missing(79) == 0
