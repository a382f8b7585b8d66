"""How Nanchang mahjong is played: readings M2, M3, M12, M17, M22, M29 to M33, N3, N19."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.game import apply
from tablectl.engine.legal import options as options_of
from tests.engine.playing import Played, call, draw, indicator, meld, start, throw, win

WAITING = "123456789m99p67s"
"""Waits for 5s and 8s; no fine tile under 1p."""
END = {"e": "end"}


def nc(*lines: Any, turned: str = "1p", **fields: Any) -> Played:
    return Played(start("nanchang", **fields), indicator(turned), *lines)


def reveal(seat: int, hand: str) -> dict[str, Any]:
    return {"e": "reveal", "seat": seat, "hand": hand}


@pytest.mark.parametrize(
    ("kind", "tiles", "problem"),
    [
        ("chow", "124z", ""), ("chow", "567z", ""), ("chow", "145z", "invalid_meld"),
        ("chow", "123p", ""), ("pung", "222p", ""), ("chow", "134m", "invalid_meld"),
    ],
)  # fmt: skip
def test_sets(kind: str, tiles: str, problem: str) -> None:
    thrown = tiles[0] + tiles[-1]
    played = nc(throw(0, thrown), meld(1, kind, tiles, 0))
    assert [name for _, name, _ in played.issues] == ([problem] if problem else [])


def test_a_kong_of_fine_tiles_may_be_laid_out() -> None:
    played = nc(throw(0, "9s"), draw(1), meld(1, "closed_kong", "2222p"), draw(1, None, "tail"))
    assert played.issues == []


def test_chows_of_honours_and_of_fine_tiles_are_offered() -> None:
    hands = ["", "13579m2457s12z13p", "", ""]
    for thrown, chow in (("4z", "124z"), ("2p", "123p")):
        played = nc(throw(0, thrown), hands=hands)
        offered = [option.event for option in options_of(played.state, 1) if option.legal]
        assert chow in [getattr(event, "tiles", "") for event in offered]


@pytest.mark.parametrize(("wall", "after"), [("tiles_34", 47), ("stacks_17", 48)])
def test_dead_wall(wall: str, after: int) -> None:
    played = nc(
        throw(0, "9s"), draw(1), meld(1, "closed_kong", "5555z"), draw(1, None, "tail"),
        options={"dead_wall": wall},
    )  # fmt: skip
    assert [step.wall for step in played.steps] == [49, 49, 49, 48, 48, after]


def test_the_indicator_may_be_drawn() -> None:
    lines = [throw(0, "9s"), draw(1), meld(1, "closed_kong", "1111p"), draw(1, None, "tail")]
    assert (4, "fifth_copy", 1) in nc(*lines).issues
    assert nc(*lines, options={"indicator_as_supplement": True}).issues == []


def test_a_missed_win_locks_every_tile_until_the_own_turn() -> None:
    lines = throw(0, "9s", "1s", "4z", "5s", "8s")
    locked = nc(lines, win(2, "discard", "8s", WAITING, 0))
    assert locked.issues == [(7, "missed_lock", 2)]
    passed = nc(
        throw(0, "9s", "1s", "4z", "5s", "3z", "7z"), meld(3, "pung", "777z", 1),
        throw(3, "8s"), win(2, "discard", "8s", WAITING, 3),
    )  # fmt: skip
    assert passed.issues == []
    called = nc(
        throw(0, "9s", "1s", "4z", "5s"), call(2, "hu"), throw(0, "8s"),
        win(2, "discard", "8s", WAITING, 0),
    )  # fmt: skip
    assert called.issues == []


def sacked(*lines: Any, **fields: Any) -> Played:
    return nc(throw(0, "1z", "1z", "1z", "1z"), *lines, **fields)


def test_a_sacked_banker_pays_and_moves_on() -> None:
    won = sacked(
        draw(0), win(0, "self_draw", "5s", WAITING), reveal(1, "1479m258p369s234z"),
        reveal(2, "1479m258p369s234z"), reveal(3, "147m58p369s22345z"), END,
    )  # fmt: skip
    assert won.next["dealer"] == 1
    # Own tile, German, banker 8 + 5; seats 1 and 2 hold a second fine tile each; 5 to each.
    assert won.delta == (39 - 2 - 15, -13 + 3 - 1 + 5, -13 + 3 - 1 + 5, -13 - 2 + 5)


def test_a_set_before_the_fourth_discard_saves_the_banker() -> None:
    kong = nc(
        throw(0, "1z"), draw(1), meld(1, "closed_kong", "2222z"), draw(1, None, "tail"),
        throw(1, "1z", "1z", "1z"),
    )  # fmt: skip
    after = nc(throw(0, "1z", "1z", "1z", "1z"), draw(0), meld(0, "closed_kong", "2222z"))
    assert kong.state.play.table_flags(kong.state) == {"sacked": False}
    assert after.state.play.table_flags(after.state) == {"sacked": True}
    other = nc(throw(0, "1z", "1z", "2z", "1z"))
    assert other.state.play.table_flags(other.state) == {"sacked": False}


HANDS = ("1479m258p369s234z", "1479m258p369s234z", "147m58p369s22345z", "258m147s34567z35p")


def test_a_drawn_hand_is_settled_once_all_hands_lie_open() -> None:
    kinds = [f"{n}{s}" for s in "ms" for n in range(1, 10) for _ in range(3)][:50]
    drawn = [throw(0, *kinds), {"e": "exhaust"}]
    shown = [reveal(seat, hand) for seat, hand in enumerate(HANDS)]
    partly = nc(*drawn, *shown[:3])
    assert partly.state.settlement is None
    assert "seat 3" in partly.state.unsettled
    whole = nc(*drawn, *shown, END)
    assert whole.steps[52].wall == 0
    # Seats 0 and 1 hold a second fine tile each.
    assert whole.delta == (2, 2, -2, -2)
    assert (whole.next["dealer"], whole.next["streak"]) == (0, 2)


def test_the_discard_after_the_last_tile() -> None:
    kinds = [f"{n}{s}" for s in "ms" for n in range(1, 10) for _ in range(3)][:50]
    assert kinds[-1] == "8s"
    played = nc(throw(0, *kinds), meld(2, "chow", "789s", 1))
    assert played.issues == [(52, "claim_not_allowed", 2)]


def test_other_hands_do_not_decide_whether_a_win_is_valid() -> None:
    state = nc(throw(0, "9s", "1s", "4z", "3z", "8s")).state
    from tablectl.engine.events import parse_event

    after, step = apply(state, parse_event(win(2, "discard", "8s", WAITING, 0)))
    assert step.issues == ()
    assert after.settlement is None
    assert "seat 0" in after.unsettled


@pytest.mark.parametrize(
    ("dealer", "first", "session", "over", "rotation"),
    [
        (0, 0, {}, False, 1), (3, 0, {}, False, 2), (3, 0, {"rotation": 4}, True, 1),
        (2, 3, {"rotation": 3}, False, 4), (2, 0, {"rotation": 4}, False, 4),
    ],
)  # fmt: skip
def test_rotation(dealer: int, first: int, session: Any, over: bool, rotation: int) -> None:
    winner = (dealer + 1) % 4
    played = nc(
        throw(dealer, "8s"), win(winner, "discard", "8s", WAITING, dealer),
        *(reveal(s, HANDS[0]) for s in range(4) if s != winner), END,
        dealer=dealer, first_dealer=first, session=session,
    )  # fmt: skip
    found = played.next
    assert (found["dealer"], found["streak"], found["round_wind"]) == (winner, 1, None)
    assert (found["over"], found["session"]) == (over, {"rotation": rotation})
