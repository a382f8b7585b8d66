"""What the referee asks where readings can't be true together."""

from __future__ import annotations

import pytest

from firmware_protocol.messages import Button
from tablectl.engine.events import Event, Flower, Meld
from tablectl.engine.game import play_out
from tablectl.engine.selfplay import play_hand
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.tiles import Tile, format_tile
from tests.referee.drive import Drive
from tests.referee.eye import certain
from tests.referee.test_whole_hands import answer_truly, as_played, deal_of, play_one, truth_of


def flowers_look_alike(tile: Tile) -> dict[str, float]:
    """All flowers and seasons look most like the plum, of which the set has one."""
    if tile < 34:
        return certain(tile)
    return {"1f": 0.4, "2f": 0.3, "3f": 0.2, format_tile(tile): 0.1}


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_more_copies_than_the_set_has_are_asked_about(seed: int) -> None:
    """A hand whose tiles can't be settled must ask, not hang; true answers settle it."""
    drive, events = play_one("hongkong", seed, flowers_look_alike)
    truth = truth_of(events)
    settled = drive.last.settlement
    assert settled is None or not settled.final or settled.delta == truth
    asked = 0
    while drive.last.questions is not None and drive.last.questions.open:
        answer_truly(drive, drive.last.questions.open[0], events)
        asked += 1
        assert asked <= 12, drive.last.questions
    settled = drive.last.settlement
    assert settled is not None, "neither a settlement nor a question"
    assert settled.final
    assert settled.delta == truth


def has_closed_kong_and_flower(events: list[Event]) -> bool:
    kongs = any(isinstance(e, Meld) and e.kind == "closed_kong" for e in events)
    return kongs and any(isinstance(e, Flower) for e in events)


def test_a_back_that_looks_a_little_like_a_flower_is_not_exchanged_with_it() -> None:
    """What a face-down tile of a kong might be must not turn a flower face down."""
    for seed in range(300):
        drive = Drive(SessionPlan(session="s", table="t", rules="hongkong"), seed=seed)
        drive.deal()
        events = play_hand("hongkong", {}, seed, deal=deal_of(drive))
        if has_closed_kong_and_flower(events):
            break
    flower = next(e.tile for e in events if isinstance(e, Flower))

    def unsure_of_flowers(tile: Tile) -> dict[str, float]:
        other = "1f" if flower != "1f" else "2f"
        return {flower: 0.6, other: 0.4} if format_tile(tile) == flower else certain(tile)

    drive.eye.doubt = unsure_of_flowers
    drive.eye.backs = {"back": 0.7, flower: 0.3}
    drive.play(as_played(events))
    while drive.last.questions is not None and drive.last.questions.open:
        answer_truly(drive, drive.last.questions.open[0], events)
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(events)


@pytest.mark.parametrize(("left", "asked"), [(4, False), (5, True)])
def test_start_is_asked_about_while_tiles_must_be_thrown(left: int, asked: bool) -> None:
    """Wuhan's last four tiles are drawn by the seats in turn, and nobody throws (M19)."""
    drive = Drive(SessionPlan(session="s", table="t", rules="wuhan"))
    drive.deal()
    events = play_hand("wuhan", {}, 9, deal=deal_of(drive))
    end = next(n for n, (_, step) in enumerate(play_out(events)) if step.wall == left)
    drive.play(as_played(events[: end + 2]))  # with the discard after that draw
    drive.press(0, Button.START)
    drive.feed(Tick(), after=2.0)
    open_ = drive.last.questions.open if drive.last.questions else ()
    assert [question.id for question in open_] == (["s/1/wall"] if asked else [])
    drawn = [e for e in drive.log() if e["e"] == "draw"]
    assert len(drawn) == (0 if asked else left)
