"""What a seat may do, and why not."""

from __future__ import annotations

from tablectl.engine.legal import options
from tablectl.tiles import parse_tile
from tests.engine.playing import Played, draw, indicator, meld, start, throw


def by_kind(played: Played, seat: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for option in options(played.state, seat):
        found.setdefault(option.kind, []).append(option.why_not)
    return found


def test_a_complete_hand_may_win() -> None:
    hand = "123m456p789s33p78p"
    fine = Played(start(hands=["", "", hand, ""]), throw(0, "1z", "9p"))
    assert by_kind(fine, 2)["hu"] == [""]
    unknown = Played(start(hands=["", "", "", ""]), throw(0, "1z", "9p"))
    assert by_kind(unknown, 2) == {"draw": [""], "pass": [""]}


def test_two_faan_are_not_enough() -> None:
    played = Played(start(hands=["", "", "444z456p789s33p78p", ""]), throw(0, "1z", "9p"))
    told = by_kind(played, 2)
    assert told["hu"] == ["2 faan · 3 to win"]


def test_claims_and_their_reasons() -> None:
    hands = ["", "56s777p123789m22z", "55777s123789m22z", ""]
    played = Played(start(hands=hands), throw(0, "7s"))
    assert by_kind(played, 1)["chow"] == [""]
    assert by_kind(played, 2)["kong"] == [""]
    assert by_kind(played, 2)["pung"] == [""]
    assert "chow" not in by_kind(played, 2)
    assert by_kind(played, 3) == {"pass": [""]}
    assert "draw" in by_kind(played, 1)
    assert by_kind(played, 0) == {}


def test_what_may_not_be_thrown_is_said() -> None:
    played = Played(
        start(hands=["", "456s777p123789m2z", "", ""]),
        throw(0, "3s"),
        meld(1, "chow", "345s", 0),
    )
    why = {
        option.tile: option.why_not
        for option in options(played.state, 1)
        if option.kind == "discard"
    }
    assert why[parse_tile("6s")]  # the far end
    assert not why[parse_tile("2z")]


def test_wild_tiles_are_not_offered_for_sets() -> None:
    hands = ["", "45s77p123789m225z", "", ""]
    played = Played(start("hangzhou", hands=hands), indicator("4s"), throw(0, "3s"))
    melds = [
        option.event.to_json()["tiles"]
        for option in options(played.state, 1)
        if option.kind == "chow"
    ]
    assert melds == ["35s5z"]


def test_a_claim_that_leaves_nothing_to_throw_is_not_offered() -> None:
    hands = ["", "4566s77p888999m1z", "", ""]
    played = Played(
        start(hands=hands),
        throw(0, "7p"),
        meld(1, "pung", "777p", 0),
        throw(1, "1z", "2z", "8m"),
        meld(1, "kong", "8888m", 3),
        draw(1, "9p", "tail"),
        throw(1, "9p", "2z", "9m"),
        meld(1, "kong", "9999m", 3),
        draw(1, "9p", "tail"),
        throw(1, "9p", "1s", "2s", "3s"),
    )
    assert played.issues == []
    # 4566s are left: 345s would leave 6s 6s, and neither may be thrown.
    chows = [o for o in options(played.state, 1) if o.kind == "chow"]
    assert [o.issue for o in chows] == ["swap_discard"]
    assert not chows[0].legal


def test_nothing_can_be_done_once_it_is_over() -> None:
    played = Played(start(), {"e": "exhaust"})
    assert options(played.state, 0) == ()
