"""How Hong Kong is played: LC1 to LC4, swap restriction, flowers, faan of the moment, rotation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.playing import (
    Played,
    call,
    draw,
    flower,
    meld,
    start,
    tedious_wall,
    throw,
    win,
)

WAITING = "12345678s444z66z"
"""Waits for 9s: mixed one suit, concealed."""


@pytest.mark.parametrize(
    ("called", "run", "thrown", "barred"),
    [
        ("3s", "345s", "3s", True),
        ("3s", "345s", "6s", True),
        ("3s", "345s", "4s", False),
        ("5s", "345s", "2s", True),
        ("5s", "345s", "5s", True),
        ("4s", "345s", "4s", True),
        ("4s", "345s", "6s", False),
        ("7p", "789p", "7p", True),
        ("7p", "789p", "6p", False),
        ("9p", "789p", "6p", True),
        ("3m", "123m", "9s", False),
        ("3m", "123m", "4m", False),
        ("1m", "123m", "4m", True),
    ],
)
def test_lc2_what_may_not_be_thrown_after_a_chow(
    called: str, run: str, thrown: str, barred: bool
) -> None:
    played = Played(start(), throw(0, called), meld(1, "chow", run, 0), throw(1, thrown))
    assert played.issues == ([(3, "swap_discard", 1)] if barred else [])


def test_lc2_the_bar_ends_with_the_discard() -> None:
    played = Played(
        start(),
        throw(0, "3s"),
        meld(1, "chow", "345s", 0),
        throw(1, "9m", "9p", "1z", "2z", "6s"),
    )
    assert played.issues == []


def test_lc2_no_bar_after_a_kong() -> None:
    played = Played(start(), throw(0, "3s"), meld(1, "kong", "3333s", 0), throw(1, "6s"))
    assert played.issues == []


def test_lc1_flowers_at_the_deal_by_any_seat() -> None:
    played = Played(
        start(), flower(2, "1f"), draw(2, None, "tail"), flower(0, "2f"), throw(0, "1m")
    )
    assert [s.wall for s in played.steps] == [77, 76, 76, 75, 75]
    assert [s.turn for s in played.steps] == [0, 0, 0, 0, 1]
    assert played.issues == []


def test_a_flower_out_of_turn_later() -> None:
    played = Played(start(), throw(0, "1m"), flower(3, "1f"))
    assert played.issues == [(2, "out_of_turn", 3)]


def test_a_flower_on_the_last_tile_ends_the_hand() -> None:
    played = Played(start(), tedious_wall(0, 77), draw(1, "1f"), flower(1, "1f"), {"e": "exhaust"})
    assert played.issues == []
    assert played.steps[-2].wall == 0


def test_lc3_hu_after_a_pung_settles_as_a_claim() -> None:
    base = [start(), throw(0, "1m", "4z"), meld(2, "pung", "444z", 1)]
    hand = "123456789s4466z"
    undone = Played(*base, win(2, "discard", "4z", hand, 1))
    plain = Played(*base[:-1], win(2, "discard", "4z", hand, 1))
    assert undone.issues == []
    assert undone.delta == plain.delta
    assert undone.state.players[2].melds == ()


def test_lc3_not_after_the_throw_and_not_on_another_tile() -> None:
    base = [start(), throw(0, "1m", "4z"), meld(2, "pung", "444z", 1)]
    thrown = Played(*base, throw(2, "6z"), win(2, "discard", "4z", "123456789s4466z", 1))
    assert (5, "not_last_discard", 2) in thrown.issues
    other = Played(*base, win(2, "discard", "9s", "12345678s444z66z", 1))
    assert (4, "not_last_discard", 2) in other.issues


def test_lc3_a_refused_hu_after_a_call_leaves_the_call() -> None:
    played = Played(
        start(),
        flower(2, "1f"),
        throw(0, "1m", "5p"),
        meld(2, "chow", "456p", 1),
        win(2, "discard", "5p", "123m46789p123s22z", 1),
    )
    assert played.issues == [(5, "below_minimum", 2)]
    assert played.last.turn == 2
    assert [m.kind for m in played.state.players[2].melds] == ["chow"]
    assert played.state.claim is not None


@pytest.mark.parametrize(
    ("dealer", "first", "wind", "winner", "expected"),
    [
        (0, 0, "E", 0, (0, 2, "E")),
        (0, 0, "E", 2, (1, 1, "E")),
        (3, 0, "E", 1, (0, 1, "S")),
        (3, 0, "N", 1, (0, 1, "E")),
        (2, 3, "S", 0, (3, 1, "W")),
        (3, 3, "S", 3, (3, 2, "S")),
        (3, 0, "E", None, (0, 1, "S")),
        (1, 0, "E", None, (2, 1, "E")),
    ],
)
def test_lc4_rotation(
    dealer: int, first: int, wind: str, winner: int | None, expected: tuple[int, int, str]
) -> None:
    begin = start(dealer=dealer, first_dealer=first, round_wind=wind)
    if winner is None:
        played = Played(begin, tedious_wall(dealer, 78), {"e": "exhaust"})
    else:
        before = throw(dealer, *["1m", "2m", "3m", "4m"][: (winner - dealer) % 4 or 4])
        played = Played(begin, before, win(winner, "self_draw", "9s", WAITING))
    assert played.issues == []
    following = played.next
    assert (following["dealer"], following["streak"], following["round_wind"]) == expected
    assert following["over"] is False
    assert following["session"] == {}


def test_a_streak_goes_on_counting() -> None:
    played = Played(start(streak=3), win(0, "self_draw", "9s", WAITING))
    assert played.next["streak"] == 4


def patterns(played: Played, seat: int) -> dict[str, Any]:
    assert played.state.settlement is not None, played.state.unsettled
    assert played.state.settlement.patterns is not None
    return dict(played.state.settlement.patterns[seat])


def test_the_dealt_hand_and_the_first_discard() -> None:
    heavenly = Played(start(), win(0, "deal", "9s", WAITING))
    assert patterns(heavenly, 0) == {"heavenly_hand": 10}
    earthly = Played(start(), throw(0, "9s"), win(2, "discard", "9s", WAITING, 0))
    assert patterns(earthly, 2) == {"earthly_hand": 10}
    later = Played(start(), throw(0, "1m", "9s"), win(2, "discard", "9s", WAITING, 1))
    assert "earthly_hand" not in patterns(later, 2)


def test_a_dealt_win_after_the_first_discard() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "deal", "9s", WAITING))
    assert played.issues == [(2, "claim_not_allowed", 1)]


def test_won_on_a_kongs_supplement() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        draw(1),
        meld(1, "closed_kong", "4444z"),
        draw(1, "9s", "tail"),
        win(1, "self_draw", "9s", "12345678s66z"),
    )
    assert patterns(played, 1)["kong_win"] == 1
    assert played.issues == []


def test_won_on_the_second_kongs_supplement() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        meld(1, "closed_kong", "4444z"),
        meld(1, "closed_kong", "1111s"),
        win(1, "self_draw", "9s", "45678s66z"),
    )
    assert [m.chain for m in played.state.players[1].melds] == [0, 1]
    assert played.state.wins[0].flags["kong_draw"] == 2
    assert patterns(played, 1)["double_kong_win"] == 8


def test_a_flower_between_kong_and_win() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        meld(1, "closed_kong", "4444z"),
        draw(1, "1f", "tail"),
        flower(1, "1f"),
        draw(1, "9s", "tail"),
        win(1, "self_draw", "9s", "12345678s66z"),
    )
    assert played.issues == []
    assert played.state.wins[0].flags == {"flower_draw": True}
    assert played.last.wall == 74


def test_two_kongs_with_a_discard_between_are_no_streak() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        meld(1, "closed_kong", "4444z"),
        throw(1, "9m", "9m", "8m", "7m"),
        meld(1, "closed_kong", "1111s"),
        win(1, "self_draw", "9s", "23478s6z6z"),
    )
    assert [m.chain for m in played.state.players[1].melds] == [0, 0]
    assert patterns(played, 1)["kong_win"] == 1
    assert "double_kong_win" not in patterns(played, 1)


def test_last_tile_by_draw_and_by_discard() -> None:
    # The discards of the long hand hold tiles of the winning hands: only that may be remarked.
    drawn = Played(start(), tedious_wall(0, 77), win(1, "self_draw", "9s", WAITING))
    assert {name for _, name, _ in drawn.issues} <= {"fifth_copy"}
    assert drawn.last.wall == 0
    assert patterns(drawn, 1)["last_tile"] == 1
    thrown = Played(
        start(), tedious_wall(0, 77), throw(1, "9s"), win(3, "discard", "9s", WAITING, 1)
    )
    assert patterns(thrown, 3)["last_tile"] == 1
    earlier = Played(
        start(), tedious_wall(0, 76), throw(0, "9s"), win(3, "discard", "9s", WAITING, 0)
    )
    assert "last_tile" not in patterns(earlier, 3)


def test_two_call_hu_the_nearer_takes_it() -> None:
    base = [start(), throw(0, "1m", "9s"), call(0, "hu"), call(2, "hu")]
    near = Played(*base, win(2, "discard", "9s", WAITING, 1))
    assert near.issues == []
    assert near.state.wins[0].seat == 2


def test_a_false_win_pays_nothing_and_passes_the_deal() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        win(2, "discard", "1m", WAITING, 0),
        {"e": "ruling", "seat": 2, "kind": "false_win"},
        {"e": "end"},
    )
    assert played.delta == (0, 0, 0, 0)
    assert played.steps[-2].turn is None
    assert played.next["dealer"] == 1
