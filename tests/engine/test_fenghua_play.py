"""How Fenghua mahjong is played: readings M5, M8, M17, M22, M23, M29 to M32, F12, F23."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.legal import options as options_of
from tests.engine.playing import Played, call, draw, flower, indicator, meld, start, throw, win

GAP = "123456m78999p46s"
"""Waits for 5s: four points, enough for a claim."""
ROUND = {"round_wind": "E"}


def fh(*lines: Any, turned: str = "7z", **fields: Any) -> Played:
    return Played(start("fenghua", **(ROUND | fields)), indicator(turned), *lines)


def to_the_bottom(thrown: int = 90) -> list[dict[str, Any]]:
    """Discards until one tile is left: the dealer's and 89 drawn ones."""
    kinds = [f"{n}{s}" for s in "mps" for n in range(1, 10)] + [f"{n}z" for n in range(1, 7)]
    tiles = [kind for _ in range(3) for kind in kinds if kind != "5s"][:thrown]
    return throw(0, *tiles)


def refuse(seat: int) -> dict[str, Any]:
    return {"e": "refuse", "seat": seat}


def test_the_last_tile_is_the_bottom_tile() -> None:
    played = fh(*to_the_bottom())
    assert played.issues == []
    assert (played.last.wall, played.last.turn) == (1, 2)


def test_each_seat_may_refuse_once_and_then_the_hand_is_drawn() -> None:
    played = fh(*to_the_bottom(), refuse(2), refuse(3), refuse(0), refuse(1), {"e": "exhaust"})
    assert played.issues == []
    assert [step.turn for step in played.steps[-6:]] == [2, 3, 0, 1, 2, None]
    assert played.last.wall == 1
    assert played.delta == (0, 0, 0, 0)
    assert (played.next["dealer"], played.next["streak"]) == (0, 2)


def test_refusing_is_offered() -> None:
    played = fh(*to_the_bottom())
    assert [option.kind for option in options_of(played.state, 2)][:2] == ["draw", "refuse"]
    later = fh(*to_the_bottom(), refuse(2), refuse(3), refuse(0), refuse(1))
    assert [option.kind for option in options_of(later.state, 2)][:1] == ["exhaust"]


def test_refusing_out_of_place() -> None:
    assert fh(throw(0, "1z"), refuse(1)).issues == [(3, "out_of_turn", 1)]
    twice = fh(*to_the_bottom(), refuse(2), refuse(2))
    assert [name for _, name, _ in twice.issues] == ["out_of_turn"]
    early = fh(*to_the_bottom(), refuse(2), {"e": "exhaust"})
    assert [name for _, name, _ in early.issues] == ["early_exhaust"]


def test_the_bottom_tile_is_not_exchanged() -> None:
    taken = [*to_the_bottom(), draw(2, "5s")]
    assert fh(*taken, throw(2, "5s")).issues == []
    assert [i[1:] for i in fh(*taken, throw(2, "6s")).issues] == [("bottom_exchange", 2)]
    # A tile that nobody saw drawn proves nothing.
    assert fh(*to_the_bottom(), draw(2), throw(2, "5s")).issues == []


def test_the_bottom_tile_is_claimed_for_a_win_only() -> None:
    thrown = [*to_the_bottom(), draw(2, "5s"), *throw(2, "5s")]
    pung = fh(*thrown, meld(0, "pung", "555s", 2))
    assert [i[1:] for i in pung.issues] == [("claim_not_allowed", 0)]
    won = fh(*thrown, win(0, "discard", "5s", "123456m78p22z46s9p", 2))
    assert won.issues == []
    assert won.delta == (40, 0, -40, 0)  # the discarder pays for all (F22)
    own = fh(*to_the_bottom(), draw(2, "5s"), win(2, "self_draw", "5s", "123456m789p22z46s"))
    assert own.issues == []


def test_no_kong_at_the_bottom() -> None:
    played = fh(*to_the_bottom(), draw(2, "5s"), meld(2, "closed_kong", "5555s"))
    assert [i[1:] for i in played.issues] == [("no_supplement", 2)]


def test_wild_flowers_stay_in_hand() -> None:
    played = fh(flower(1, "2f"), flower(2, "5f"), turned="1f")
    assert played.issues == [(2, "invalid_meld", 1)]
    hands = ["", "123456m78p22z234f", "", ""]
    won = fh(throw(0, "1z"), draw(1, "9p"), turned="1f", hands=hands)
    kinds = {option.kind for option in options_of(won.state, 1)}
    assert "flower" not in kinds
    assert "hu" in kinds


def test_wild_tiles_in_sets_and_claimed() -> None:
    assert fh(throw(0, "7z"), meld(1, "pung", "777z", 0)).issues == [(3, "wild_in_meld", 1)]
    claim = win(1, "discard", "7z", "123456m78999p67z", 0)
    assert [name for _, name, _ in fh(throw(0, "7z"), claim).issues] == ["wild_tile_claimed"]


def test_a_robbed_kong_pays_for_all() -> None:
    played = fh(
        throw(0, "5s"), meld(3, "pung", "555s", 0), throw(3, "1z", "2z", "3z", "4z"), draw(3),
        meld(3, "added_kong", "5555s", 0), win(1, "rob_kong", "5s", GAP, 3),
    )  # fmt: skip
    assert played.issues == []
    assert played.delta == (0, 60, 0, -60)


def test_eight_flowers_win_at_once() -> None:
    flowers = [flower(1, f"{n}f") for n in range(1, 9)]
    hand = "147m258p369s12344z"
    played = fh(*flowers, throw(0, "1z"), win(1, "flowers", None, hand))
    assert played.issues == []
    assert played.state.settlement is not None
    assert played.state.settlement.patterns is not None
    assert played.state.settlement.patterns[1]["uncompleted_eight_flowers"] == 400


def test_the_minimum_binds_discards_only() -> None:
    open_call = "123456m78999p45s"
    claim = fh(throw(0, "6s"), win(1, "discard", "6s", open_call, 0))
    assert claim.issues == [(3, "below_minimum", 1)]
    own = fh(throw(0, "1z"), draw(1), win(1, "self_draw", "6s", open_call))
    assert own.issues == []


@pytest.mark.parametrize(("first", "second", "problem"), [(3, 1, "wrong_claimant"), (1, 3, "")])
def test_the_nearest_wins(first: int, second: int, problem: str) -> None:
    calls = [call(3, "hu"), call(1, "hu")]
    played = fh(throw(0, "5s"), *calls, win(first, "discard", "5s", GAP, 0))
    assert [name for _, name, _ in played.issues] == ([problem] if problem else [])
    assert second != first


@pytest.mark.parametrize(
    ("dealer", "wind", "first", "after", "over"),
    [(0, "E", 0, "E", False), (3, "E", 0, "S", False), (3, "N", 0, "E", True)],
)
def test_rotation(dealer: int, wind: str, first: int, after: str, over: bool) -> None:
    winner = (dealer + 1) % 4
    played = fh(
        throw(dealer, "5s"), win(winner, "discard", "5s", GAP, dealer),
        dealer=dealer, first_dealer=first, round_wind=wind,
    )  # fmt: skip
    found = played.next
    assert (found["dealer"], found["round_wind"], found["over"]) == (winner, after, over)
