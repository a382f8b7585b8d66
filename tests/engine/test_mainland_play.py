"""How Mainland mahjong is played: LM1 to LM7, joys and treasures."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.legal import options
from tests.engine.playing import Played, call, draw, flower, indicator, meld, throw, win
from tests.engine.playing import start as plain_start


def start(turned: str = "5m", **fields: Any) -> list[dict[str, Any]]:
    begin = plain_start("mainland", **{"round_wind": "E"} | fields)
    return [begin, indicator(turned)] if turned else [begin]


def joy(seat: int, tiles: str) -> dict[str, Any]:
    return {"e": "joy", "seat": seat, "tiles": tiles}


CHOWS = "789m345678p2344s"
"""Waits for 1s and 4s: all chows."""


# --- walls (LM1 to LM3, LM7) ------------------------------------------------------------------


def test_supplements_leave_the_live_wall_alone() -> None:
    played = Played(
        *start(),
        throw(0, "9m"),
        draw(1),
        flower(1, "1f"),
        draw(1, None, "tail"),
        meld(1, "closed_kong", "1111p"),
        draw(1, None, "tail"),
        throw(1, "9m"),
    )
    assert played.issues == []
    assert [step.wall for step in played.steps[1:]] == [76, 76, 75, 75, 75, 75, 75, 75]


def test_refilling_takes_the_last_live_tile_for_kongs() -> None:
    options = {"refill_dead_wall": True}
    played = Played(
        *start(options=options),
        throw(0, "9m"),
        draw(1),
        flower(1, "1f"),
        draw(1, None, "tail"),
        meld(1, "closed_kong", "1111p"),
        draw(1, None, "tail"),
        throw(1, "9m"),
    )
    assert [step.wall for step in played.steps[1:]] == [76, 76, 75, 75, 75, 75, 74, 74]


def test_without_treasures_nothing_is_turned() -> None:
    played = Played(*start("", options={"treasure": "none"}), throw(0, "9m", "9m"))
    assert [step.wall for step in played.steps] == [77, 77, 76]


def test_no_supplement_once_the_dead_wall_is_gone() -> None:
    body: list[Any] = [throw(0, "9m"), draw(1)]
    for i in range(8):
        body += [flower(1, f"{i + 1}f"), draw(1, None, "tail")]
    for tile in ("1p", "2p", "3p"):
        body += [meld(1, "closed_kong", tile[0] * 4 + "p"), draw(1, None, "tail")]
    body += [throw(1, "9m"), draw(2)]
    for tile in ("1s", "2s", "3s"):
        body += [meld(2, "closed_kong", tile[0] * 4 + "s"), draw(2, None, "tail")]
    full = Played(*start(), *body)
    assert full.issues == []
    kong = Played(*start(), *body, throw(2, "9m"), draw(3), meld(3, "closed_kong", "4444s"))
    assert [name for _, name, _ in kong.issues] == ["no_supplement"]


# --- treasures (D-M4, D-M5) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "tiles", "thrown", "issue"),
    [
        ("pung", "99p5m", "9p", "wild_in_meld"),
        ("chow", "45m7p", "4m", "wild_in_meld"),
        ("chow", "456m", "4m", "wild_in_meld"),  # the own treasure is not natural
        ("chow", "456m", "5m", None),  # the claimed one is its own face
        ("pung", "555m", "5m", "wild_in_meld"),
        ("chow", "457m", "4m", "wild_in_meld"),
        ("chow", "346m", "4m", "invalid_meld"),
    ],
)
def test_called_sets(kind: str, tiles: str, thrown: str, issue: str | None) -> None:
    played = Played(*start(), throw(0, thrown), meld(1, kind, tiles, 0))
    assert played.issues == ([(3, issue, 1)] if issue else [])


def test_kongs_of_treasures() -> None:
    options = {"treasure": "upward"}
    played = Played(*start(options=options), throw(0, "9p"), meld(1, "closed_kong", "6666m"))
    assert played.issues == [(3, "wild_in_meld", 1)]


def test_a_win_on_a_claimed_treasure() -> None:
    hand = win(1, "discard", "1s", CHOWS, 0)
    assert Played(*start("1s"), throw(0, "1s"), hand).issues == []
    other = win(1, "discard", "9p", CHOWS, 0)
    assert Played(*start("9p"), throw(0, "9p"), other).issues == [(3, "not_winning_shape", 1)]


def test_kong_and_pung_are_equal() -> None:
    body = (throw(0, "7p"), call(1, "pung"), call(2, "kong"))
    assert Played(*start(), *body, meld(1, "pung", "777p", 0)).issues == []


# --- joys (LM6, D-M8, D-M9) -------------------------------------------------------------------


def test_joys_at_the_deal() -> None:
    played = Played(
        *start(),
        joy(2, "1234z"),
        draw(2, None, "tail"),
        joy(0, "567z"),
        throw(0, "9m", "8m", "7m"),
    )
    assert played.issues == []
    assert [step.turn for step in played.steps[1:]] == [0, 0, 0, 0, 1, 2, 3]
    assert played.last.wall == 74
    assert played.state.players[2].concealed == 10
    assert [m.when for m in played.state.players[2].melds] == ["deal"]


@pytest.mark.parametrize(
    ("tiles", "options", "issue"),
    [
        ("567z", {}, None),
        ("5m67z", {}, None),
        ("1234z", {}, None),
        ("5m234z", {}, "wild_in_meld"),
        ("556z", {}, "invalid_meld"),
        ("567z", {"joys": ["four_winds"]}, "invalid_meld"),
    ],
)
def test_a_joy_on_the_road(tiles: str, options: dict[str, Any], issue: str | None) -> None:
    played = Played(*start(options=options), throw(0, "9m"), joy(1, tiles), throw(1, "8m"))
    assert played.issues == ([(3, issue, 1)] if issue else [])
    assert played.last.wall == 75
    if issue is None:
        assert played.state.players[1].melds[0].when == "road"
        assert played.state.players[1].concealed == 10


@pytest.mark.parametrize(
    ("tiles", "any_time", "issue"),
    [
        ("567z", False, "joy_not_allowed"),
        ("567z", True, "joy_not_allowed"),
        ("1234z", False, "joy_not_allowed"),
        ("1234z", True, None),
        ("5m234z", True, "wild_in_meld"),
    ],
)
def test_late_joys(tiles: str, any_time: bool, issue: str | None) -> None:
    options = {"four_winds_any_time": any_time}
    played = Played(
        *start(options=options), throw(0, "9m", "8m", "7m", "6m", "9p"), draw(1), joy(1, tiles)
    )
    assert played.issues == ([(8, issue, 1)] if issue else [])


def test_no_joy_on_the_road_after_one_at_the_deal() -> None:
    played = Played(*start(), joy(1, "567z"), throw(0, "9m"), draw(1), joy(1, "1234z"))
    assert played.issues == [(5, "joy_not_allowed", 1)]
    others = Played(*start(), joy(2, "567z"), throw(0, "9m"), draw(1), joy(1, "1234z"))
    assert others.issues == []


def test_a_called_turn_is_no_drawn_one() -> None:
    pung = (throw(0, "9m"), meld(2, "pung", "999m", 0))
    early = Played(*start(), *pung, joy(2, "567z"))
    assert early.issues == [(4, "joy_not_allowed", 2)]
    later = Played(*start(), *pung, throw(2, "8m", "7m", "6m", "9p"), draw(2), joy(2, "567z"))
    assert later.issues == []


def test_a_win_with_a_joy() -> None:
    played = Played(
        *start(),
        joy(1, "1234z"),
        draw(1, None, "tail"),
        throw(0, "7m"),
        win(1, "discard", "7m", "89m123p45677s", 0),
    )
    assert played.issues == []
    assert played.delta == (-8, 16, -4, -4)


def test_a_replacement_of_a_joy_wins() -> None:
    played = Played(
        *start(),
        throw(0, "9p"),
        draw(1),
        joy(1, "1234z"),
        draw(1, "7m", "tail"),
        win(1, "self_draw", "7m", "89m123p45677s"),
    )
    assert played.issues == []
    # Four winds 2, own tile 1, win on a replacement 1: 16 from each.
    assert played.delta == (-16, 48, -16, -16)


def test_other_rule_sets_have_no_joys() -> None:
    played = Played(plain_start("hongkong"), throw(0, "9m"), joy(1, "567z"))
    assert played.issues == [(2, "invalid_meld", 1)]


# --- rotation (LM4, LM5) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dealer", "wind", "expected"),
    [
        (0, "E", (1, "E", False)),
        (3, "E", (0, "S", False)),
        (3, "N", (0, "E", True)),
        (1, "N", (1, "N", False)),
    ],
)
def test_rotation(dealer: int, wind: str, expected: tuple[int, str, bool]) -> None:
    tiles = ("9m", "8m", "7m", "9s", "8s")
    throws = throw(dealer, *tiles[: (1 - dealer) % 4 or 4])
    played = Played(
        *start(dealer=dealer, round_wind=wind), throws, win(1, "self_draw", "1s", CHOWS)
    )
    assert played.issues == []
    following = played.next
    assert (following["dealer"], following["round_wind"], following["over"]) == expected


def test_a_drawn_hand_keeps_the_dealer() -> None:
    played = Played(*start(dealer=2, round_wind="N", first_dealer=2), {"e": "exhaust"})
    assert (played.next["dealer"], played.next["streak"], played.next["over"]) == (2, 2, False)


# --- what is offered --------------------------------------------------------------------------


def offered(turned: str, hand: str, **rule_options: Any) -> dict[str, str]:
    """Joys offered to the dealer before the first discard, with the issue of each."""
    begin = start(turned, options=rule_options, hands=[hand, "", "", ""])
    return {
        option.event.to_json()["tiles"]: option.issue
        for option in options(Played(*begin).state, 0)
        if option.kind == "joy"
    }


def test_joys_are_offered() -> None:
    hand = "1234567z123m456p9s"
    assert offered("9p", hand) == {"1234z": "", "567z": ""}
    assert offered("9p", hand, joys=["three_dragons"]) == {"567z": ""}
    assert offered("9p", "123m456p789s13456z") == {}
    # A treasure takes the place of South, or of White.
    assert offered("9s", "123m456p789s13467z") == {"134z9s": "", "67z9s": ""}
