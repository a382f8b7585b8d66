"""Yangzhou at the table: missed wins, several winners, the last tiles, rotation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.playing import Played, call, draw, meld, start, throw, win

STRAIGHT = "123456789p34m66s"
"""Waits for 2m and 5m; a straight, 17 points on a claim."""


def yangzhou(*lines: Any, **fields: Any) -> Played:
    return Played(start("yangzhou", **{"round_wind": "E"} | fields), *lines)


def names(played: Played) -> list[str]:
    return [name for _, name, _ in played.issues]


# --- missed wins ------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "then"), [("5m", "2m"), ("2m", "5m"), ("5m", "5m")])
def test_no_win_after_a_winning_tile_let_go(first: str, then: str) -> None:
    lines = [*throw(0, "9s", "1z", "2z", first, then)]
    locked = yangzhou(lines, win(2, "discard", then, STRAIGHT, 0))
    assert names(locked) == ["missed_lock"]
    assert locked.last.turn == 1
    # An own draw always wins.
    own = yangzhou(lines, throw(1, "9m"), draw(2, "5m"), win(2, "self_draw", "5m", STRAIGHT))
    assert own.issues == []


def test_a_winning_tile_that_another_took_was_let_go_too() -> None:
    lines = [*throw(0, "9s", "1z", "2z", "5m"), meld(0, "pung", "555m", 3), *throw(0, "2m")]
    holding = "123456789m34m66s"  # waits for 2m and 5m, and holds a 5m
    assert names(yangzhou(lines, win(2, "discard", "2m", holding, 0))) == ["missed_lock"]


def test_the_own_turn_frees() -> None:
    lines = throw(0, "9s", "1z", "2z", "5m", "9m", "4z", "4z", "2m")
    assert yangzhou(lines, win(2, "discard", "2m", STRAIGHT, 3)).issues == []


def test_a_turn_jumped_over_frees() -> None:
    lines = [*throw(0, "9s", "1z", "2z", "5m", "7m"), meld(3, "pung", "777m", 0), *throw(3, "2m")]
    # The pung of seat 3 jumped over seats 1 and 2.
    assert yangzhou(lines, win(2, "discard", "2m", STRAIGHT, 3)).issues == []
    near = [*throw(0, "9s", "1z", "2z", "5m", "7m"), meld(1, "pung", "777m", 0), *throw(1, "2m")]
    assert names(yangzhou(near, win(2, "discard", "2m", STRAIGHT, 1))) == ["missed_lock"]


def test_what_would_have_been_worth_too_little_does_not_lock() -> None:
    poor = "45m456p123789s55p"  # high-low, common, closed: too little for 10
    lines = throw(0, "9s", "1z", "2z", "3m", "6m")
    assert names(yangzhou(lines, win(2, "discard", "6m", poor, 0))) == ["below_minimum"]
    fine = {"options": {"minimum": 0}}
    assert names(yangzhou(lines, win(2, "discard", "6m", poor, 0), **fine)) == ["missed_lock"]


def test_a_win_called_is_not_let_go() -> None:
    lines = [*throw(0, "9s", "1z", "2z", "5m"), call(2, "hu"), *throw(0, "2m")]
    assert yangzhou(lines, win(2, "discard", "2m", STRAIGHT, 0)).issues == []


def test_a_kong_not_robbed_is_let_go() -> None:
    lines = [
        *throw(0, "9s", "1z", "2z", "1s"), meld(0, "pung", "111s", 3), *throw(0, "3z"),
        *throw(1, "5m"), meld(0, "pung", "555m", 1), *throw(0, "9s"), *throw(1, "1z", "2z", "3z"),
        meld(0, "added_kong", "5555m", 1), draw(0, None, "tail"), *throw(0, "2m"),
    ]  # fmt: skip
    assert names(yangzhou(lines, win(2, "discard", "2m", STRAIGHT, 0))) == ["missed_lock"]
    robbed = [*lines[:-2], win(2, "rob_kong", "5m", STRAIGHT, 0)]
    played = yangzhou(robbed)
    assert played.issues == []
    assert played.delta == (-34, 0, 34, 0)


# --- several winners --------------------------------------------------------------------------


def test_all_who_call_win() -> None:
    other = "123456789s34m66p"
    played = yangzhou(
        throw(0, "9s", "1z", "2z", "5m"), call(0, "hu"), call(2, "hu"),
        win(0, "discard", "5m", STRAIGHT, 3), win(2, "discard", "5m", other, 3),
    )  # fmt: skip
    assert played.issues == []
    assert played.delta == (34, 0, 34, -68)
    assert played.next["dealer"] == 0  # the banker is among them
    assert played.next["streak"] == 2


def test_one_valid_claim_stands_beside_an_invalid_one() -> None:
    played = yangzhou(
        throw(0, "9s", "1z", "2z", "5m"), win(0, "discard", "5m", STRAIGHT, 3),
        win(2, "discard", "5m", "123456789s35m66p", 3),
    )  # fmt: skip
    assert names(played) == ["not_winning_shape"]
    assert played.delta == (34, 0, 0, -34)


# --- the end of the wall ----------------------------------------------------------------------


def the_whole_wall() -> list[dict[str, Any]]:
    kinds = [f"{n}{s}" for s in "mps" for n in range(1, 10) if f"{n}{s}" != "9m"]
    tiles = [*(kinds * 3), "1z", "2z", "3z", "4z", "5z"]
    return [*throw(0, *tiles), *throw(len(tiles) % 4, "9m")]


@pytest.mark.parametrize(
    ("kind", "tiles", "issue"),
    [("chow", "789m", "claim_not_allowed"), ("pung", "999m", "claim_not_allowed"),
     ("kong", "9999m", "no_supplement")],
)  # fmt: skip
def test_the_last_discard_is_claimed_for_a_win_only(kind: str, tiles: str, issue: str) -> None:
    lines = the_whole_wall()
    played = yangzhou(lines)
    assert (played.issues, played.last.wall) == ([], 0)
    assert names(yangzhou(lines, meld(played.last.turn or 0, kind, tiles, 3))) == [issue]
    assert yangzhou(lines, {"e": "exhaust"}).issues == []


def test_kongs_are_sets_of_four_alone() -> None:
    assert names(yangzhou(meld(0, "lone_kong", "7z"))) == ["invalid_meld"]
    assert names(yangzhou(meld(0, "closed_kong", "7777z"))) == []


# --- rotation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("stays", "dealer", "streak"), [(False, 1, 1), (True, 0, 4)])
def test_the_banker_after_a_drawn_hand(stays: bool, dealer: int, streak: int) -> None:
    fields = {"options": {"banker_stays_on_draw": stays}, "streak": 3}
    played = yangzhou(the_whole_wall(), {"e": "exhaust"}, **fields)
    assert (played.next["dealer"], played.next["streak"]) == (dealer, streak)


def loses(dealer: int, **fields: Any) -> dict[str, Any]:
    seat = (dealer + 1) % 4
    lines = [*throw(dealer, "9s"), draw(seat, "5m"), win(seat, "self_draw", "5m", STRAIGHT)]
    played = yangzhou(lines, dealer=dealer, **fields)
    assert played.issues == []
    return played.next


def test_winds_and_sessions() -> None:
    assert loses(3) == {
        "dealer": 0, "streak": 1, "round_wind": "S", "over": False, "session": {"rotation": 2},
    }  # fmt: skip
    assert loses(1)["round_wind"] == "E"
    end = loses(3, round_wind="N")
    assert (end["over"], end["round_wind"]) == (True, "E")
    eight = {"session_rotations": 8}
    half = loses(3, round_wind="N", options=eight)
    assert (half["over"], half["round_wind"], half["session"]) == (False, "E", {"rotation": 5})
    assert loses(3, round_wind="N", options=eight, session={"rotation": 8})["over"] is True
    assert loses(1, round_wind="E", first_dealer=2, session={"rotation": 4})["over"] is True


def test_a_false_win() -> None:
    played = yangzhou(
        throw(0, "9s"), win(1, "discard", "9s", "19p28p37p55s78s2z6z6z", 0),
        {"e": "ruling", "seat": 1, "kind": "false_win"}, {"e": "end"}, streak=2,
    )  # fmt: skip
    assert (played.next["dealer"], played.next["streak"]) == (0, 3)
    assert played.delta == (2, -2, 0, 0)


def test_impossible_sets_leave_a_lock_open() -> None:
    """A kong grown from no pung is an issue, and whether a win was let go cannot be said."""
    lines = [
        *throw(0, "9s", "1z"), draw(2), meld(2, "added_kong", "1111s", None),
        draw(2, None, "tail"), *throw(2, "2z", "5m", "2m"),
    ]  # fmt: skip
    played = yangzhou(lines, win(2, "discard", "2m", "456789p34m66s", 0))
    assert "missed_lock" not in names(played)
