"""How Beijing mahjong is played: LB1 to LB5, thrown wild tiles, call limits, reserves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.playing import Played, call, draw, indicator, meld, tedious_wall, throw, win
from tests.engine.playing import start as plain_start

STRAIGHT = "123m456p78s33555z"
"""Waits for 6s and 9s."""


def start(**fields: Any) -> list[dict[str, Any]]:
    return [plain_start("beijing", **fields), indicator("1z")]


# --- walls (LB4) ------------------------------------------------------------------------------


def kongs(number: int) -> list[Any]:
    """Closed kongs of seat 1 one after another, each with its supplement, and a discard."""
    body: list[Any] = [throw(0, "9m"), draw(1)]
    for i in range(number):
        body += [meld(1, "closed_kong", f"{i + 1}{i + 1}{i + 1}{i + 1}s"), draw(1, None, "tail")]
    return [*body, throw(1, "9m")]


@pytest.mark.parametrize(
    ("reserve", "walls"),
    [
        ("seven_stacks", (67, 66, 65, 64)),
        ("seven_or_eight_stacks", (67, 66, 63, 62)),
        ("fourteen_plus_kongs", (67, 65, 63, 61)),
    ],
)
def test_reserves(reserve: str, walls: tuple[int, ...]) -> None:
    options = {"wall_reserve": reserve}
    for number, wall in enumerate(walls):
        played = Played(*start(options=options), *kongs(number))
        assert (played.issues, played.last.wall) == ([], wall)


def nearly_empty(left: int, *lines: Any) -> Played:
    """The wall drawn down to ``left`` tiles, then the lines; 7z is wild and nobody throws it."""
    begin = plain_start("beijing", options={"wall_reserve": "fourteen_plus_kongs"})
    return Played(begin, indicator("5z"), tedious_wall(0, 69 - left), *lines)


def test_a_kong_is_never_denied_its_tile_by_its_own_growth() -> None:
    # One tile is left: the kong's own growth would take it.
    played = nearly_empty(2, draw(3), meld(3, "closed_kong", "1111s"), draw(3, None, "tail"))
    assert played.steps[-3].wall == 1
    assert played.last.wall == 0
    assert played.issues == []


def test_no_kong_without_a_tile() -> None:
    played = nearly_empty(1, draw(0), meld(0, "closed_kong", "1111s"))
    assert [name for _, name, _ in played.issues] == ["no_supplement"]


# --- thrown wild tiles, call limits -----------------------------------------------------------


def test_a_thrown_wild_tile_costs_the_right_to_win() -> None:
    played = Played(*start(), throw(0, "2z"))
    assert played.issues == [(2, "wild_discarded", 0)]
    assert played.state.players[0].forfeited
    assert played.state.players[0].aside == played.state.players[0].river


def test_a_thrown_wild_tile_is_not_claimed() -> None:
    pung = Played(*start(), throw(0, "2z"), meld(1, "pung", "222z", 0))
    assert pung.issues[1:] == [(3, "wild_in_meld", 1)]
    hu = Played(*start(), throw(0, "2z"), win(1, "discard", "2z", STRAIGHT, 0))
    assert hu.issues[1:] == [(3, "wild_tile_claimed", 1)]


def test_at_most_one_call() -> None:
    body = (
        throw(0, "9m"),
        meld(1, "pung", "999m", 0),
        throw(1, "1s", "2s", "3s", "5p"),
        meld(1, "chow", "567p", 0),
    )
    assert Played(*start(), *body).issues == []
    once = Played(*start(options={"at_most_once": True}), *body)
    assert once.issues == [(8, "call_limit", 1)]
    kong = Played(
        *start(options={"at_most_once": True}),
        throw(0, "9m"),
        meld(1, "kong", "9999m", 0),
        draw(1, None, "tail"),
        throw(1, "1s", "2s", "3s", "5p"),
        meld(1, "pung", "555p", 0),
    )
    assert kong.issues == []


# --- locks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [False, True])
def test_missed_wins(option: bool) -> None:
    begin = start(options={"missed_win_lock": option}, hands=["", "", STRAIGHT, ""])
    played = Played(*begin, throw(0, "9s", "6s"), win(2, "discard", "6s", STRAIGHT, 1))
    assert played.issues == ([(4, "missed_lock", 2)] if option else [])


def test_the_nearest_after_the_discarder_wins() -> None:
    other = "345m456p78s33666z"
    played = Played(
        *start(),
        throw(0, "9s"),
        call(3, "hu"),
        call(1, "hu"),
        win(3, "discard", "9s", other, 0),
    )
    assert played.issues == [(5, "wrong_claimant", 3)]


# --- the whole hand ---------------------------------------------------------------------------


def test_all_four_threw_the_same() -> None:
    options = {"busted_banker": True}
    hand = win(1, "self_draw", "9s", STRAIGHT)
    busted = Played(*start(options=options), throw(0, "9m", "9m", "9m", "9m", "1s"), hand)
    assert busted.issues == []
    assert busted.state.settlement is not None
    # First 16, 8 and 8 for the hand, then 10 from the banker to each.
    assert busted.delta == (-16 - 30, 32 + 10, -8 + 10, -8 + 10)
    other = Played(*start(options=options), throw(0, "9m", "9m", "9m", "8m", "1s"), hand)
    assert other.delta == (-16, 32, -8, -8)
    broken = Played(
        *start(options=options),
        throw(0, "9m"),
        meld(1, "chow", "789m", 0),
        throw(1, "9m", "9m", "9m", "1s"),
        draw(1, "9s"),
        win(1, "self_draw", "9s", "456p78s33555z"),
    )
    assert broken.delta == (-8, 16, -4, -4)


def test_upstairs_is_carried() -> None:
    on = {"upstairs": "after_draw"}
    played = Played(*start(options=on), tedious_wall(0, 69), {"e": "exhaust"})
    assert played.next["session"] == {"rotation": 1, "upstairs": True}
    off = Played(*start(), tedious_wall(0, 69), {"e": "exhaust"})
    assert off.next["session"] == {"rotation": 1}
    hand = (throw(0, "9m"), win(1, "self_draw", "9s", STRAIGHT))
    up = Played(*start(options=on, session={"upstairs": True}), *hand)
    assert up.delta == (-32, 64, -16, -16)
    assert up.next["session"] == {"rotation": 1}
    assert Played(*start(session={"upstairs": True}), *hand).delta == (-16, 32, -8, -8)


def test_a_wild_kong_shown_after_the_win() -> None:
    hand = (throw(0, "9m"), win(1, "self_draw", "9s", STRAIGHT))
    shown = {"e": "reveal", "seat": 3, "hand": "2222z12345678p9m"}
    played = Played(*start(), *hand, shown, {"e": "end"})
    assert played.delta == (-16 - 20, 32 - 20, -8 - 20, -8 + 60)


# --- rotation (LB1, LB2) ----------------------------------------------------------------------


def test_rotation() -> None:
    hand = win(1, "self_draw", "9s", STRAIGHT)
    moved = Played(*start(dealer=0, streak=2), throw(0, "9m"), hand).next
    assert (moved["dealer"], moved["streak"], moved["over"]) == (1, 1, False)
    stays = Played(*start(dealer=1, streak=2), throw(1, "9m", "8m", "7m", "6m"), hand).next
    assert (stays["dealer"], stays["streak"], stays["session"]) == (1, 3, {"rotation": 1})
    round_done = Played(*start(dealer=3), throw(3, "9m", "8m"), hand).next
    assert (round_done["dealer"], round_done["session"]) == (0, {"rotation": 2})
    assert not round_done["over"]
    last = Played(*start(dealer=3, session={"rotation": 4}), throw(3, "9m", "8m"), hand).next
    assert last["over"]
    # The first dealer who keeps the deal ends nothing.
    kept = Played(
        *start(dealer=1, first_dealer=1, session={"rotation": 4}),
        throw(1, "9m", "8m", "7m", "6m"),
        hand,
    ).next
    assert not kept["over"]


def test_the_very_first_discard_after_a_kong_is_still_the_first() -> None:
    played = Played(
        *start(),
        meld(0, "closed_kong", "1111p"),
        draw(0, None, "tail"),
        throw(0, "9s"),
        win(2, "discard", "9s", STRAIGHT, 0),
    )
    assert played.delta == (-20, -20, 60, -20)


def test_a_false_win_pays_what_it_claimed() -> None:
    played = Played(
        *start(),
        throw(0, "9m"),
        win(1, "self_draw", "8s", STRAIGHT),
        {"e": "ruling", "seat": 1, "kind": "false_win"},
        {"e": "end"},
    )
    assert played.issues == [(3, "not_winning_shape", 1)]
    assert played.delta == (8, -16, 4, 4)
    assert (played.next["dealer"], played.next["streak"]) == (0, 2)
