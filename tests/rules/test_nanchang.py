"""Nanchang: readings N1 to N21 and S1 to S8, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.rules.case import CaseError, parse_case
from tablectl.rules.nanchang.hand import second_fine
from tablectl.rules.registry import get, settle
from tablectl.rules.settlement import Settlement
from tablectl.tiles import parse_tile, parse_tiles
from tests.rules.helpers import case, meld, outcome

PLAIN = "123456m45789s11z"
"""Waits for 3s and 6s; no fine tile under 5p."""
FINE_CALL = "123456m5p123789s"
FINE_LOSER = {2: {"melds": [meld("345p", 1)]}}
"""A loser with one first fine tile: two points, doubled while nobody else has one."""


def nc(hand: str = PLAIN, tile: str | None = "6s", **fields: Any) -> Settlement:
    """A hand beside one loser with a fine tile, so that it is no double German."""
    return outcome("nanchang", hand, tile, **{"indicator": "5p", "others": FINE_LOSER, **fields})


def patterns(settlement: Settlement) -> set[str]:
    assert settlement.patterns is not None, settlement
    (found,) = settlement.patterns.values()
    assert set(found.values()) <= {1, 20}
    return set(found)


@pytest.mark.parametrize(
    ("first", "second"),
    [("5p", "6p"), ("9s", "1s"), ("9m", "1m"), ("1z", "2z"), ("4z", "1z"), ("7z", "6z"),
     ("6z", "5z"), ("5z", "7z")],
)  # fmt: skip
def test_second_fine_tiles(first: str, second: str) -> None:
    assert second_fine(parse_tile(first)) == parse_tile(second)


def test_plain_hands_are_german() -> None:
    assert patterns(nc()) == {"own_tile", "german"}
    assert patterns(nc(by="discard", source=2)) == {"german"}
    assert patterns(nc(others={})) == {"own_tile", "german", "double_german"}


def test_double_german_looks_at_sets_and_hands_of_losers() -> None:
    for loser in ({"melds": [meld("456p", 3)]}, {"hand": "258m6p258s34567z"}):
        assert "double_german" not in patterns(nc(others={0: loser}))
    # The winner may hold fine tiles at face value.
    assert "double_german" in patterns(nc("123456m55p45789s", "6s", others={}))


def test_german_at_face_value() -> None:
    assert patterns(nc("123456m55p45789s", "6s")) == {"own_tile", "german"}
    assert patterns(nc("123m4599s123p", "6s", melds=[meld("456p", 0)])) == {"own_tile", "german"}
    assert "german" not in patterns(nc("123456m5p4789s11z", "6s"))


def test_payment() -> None:
    # own tile, German: 4 + 5, the banker 8 + 5; seat 2 has a first fine tile alone: 2 x 2.
    assert nc().delta == (-13 - 4, 31 - 4, -9 + 12, -9 - 4)
    assert nc(by="discard", source=2).delta == (-9 - 4, 25 - 4, -9 + 12, -7 - 4)
    assert nc(by="discard", source=0).delta == (-13 - 4, 27 - 4, -7 + 12, -7 - 4)
    assert nc(seat=0).delta == (39 - 4, -13 - 4, -13 + 12, -13 - 4)


def test_robbing_a_kong() -> None:
    robbed = FINE_LOSER | {3: {"melds": [meld("666s", 0)]}}
    found = nc(by="rob_kong", source=3, others=robbed)
    assert patterns(found) == {"robbing_kong", "german"}
    assert found.delta == (-13 - 4, 31 - 4, -9 + 12, -9 - 4)
    assert nc(by="rob_kong", source=3).error == "claim_not_allowed"


def test_fine_call() -> None:
    assert patterns(nc(FINE_CALL, "4z")) == {"own_tile", "fine_call"}
    assert patterns(nc(FINE_CALL, "5p")) == {"own_tile", "fine_call", "german"}
    assert patterns(nc(FINE_CALL, "6p")) == {"own_tile", "fine_call"}
    assert patterns(nc(FINE_CALL, "4z", flags={"kong_draw": 2})) == {
        "own_tile", "fine_call", "kong_bloom",
    }  # fmt: skip
    assert nc(FINE_CALL, "4z", by="discard", source=0).error == "claim_not_allowed"
    # A German hand may claim, and is not doubled for the call.
    assert patterns(nc(FINE_CALL, "5p", by="discard", source=0)) == {"german"}
    # Drawn into a plain pair call: the fine tile was not held before.
    assert "fine_call" not in patterns(nc("123456m123789s4z", "5p"))


def test_fine_call_of_six_pairs() -> None:
    assert patterns(nc("1133m5588s2266z5p", "3z")) == {"own_tile", "fine_call", "seven_pairs"}
    assert nc("1133m5588s2266z5p", "3z", by="discard", source=0).error == "claim_not_allowed"
    # Beside a natural tile it may claim.
    assert patterns(nc("1133m5588s226z55p", "6z", by="discard", source=0)) == {
        "seven_pairs", "german",
    }  # fmt: skip


def test_a_claim_that_lies_in_a_set_is_fine() -> None:
    assert patterns(nc("123456m5p45789s1z", "6s", by="discard", source=0)) == set()


def test_claimed_fine_tiles_are_their_face() -> None:
    assert patterns(nc("123456m46p789s11z", "5p", by="discard", source=0)) == {"german"}
    assert nc("123456m46s789s11z", "5p", by="discard", source=0).error == "not_winning_shape"
    assert patterns(nc("123456m46s789s11z", "5p")) == {"own_tile"}


def test_honour_runs() -> None:
    assert patterns(nc("124z567z123m45s99p", "6s")) == {"own_tile", "german"}
    assert nc("125z567z123m45s99p", "6s").error == "not_winning_shape"
    assert patterns(nc("12z5p567z123m45s99p", "6s")) == {"own_tile"}
    laid = [meld("234z", 0, "chow"), meld("567z", 0, "chow")]
    assert nc("123m45s99p", "6s", melds=laid).error is None
    assert nc("123m45s99p", "6s", melds=[meld("345z", 0, "chow"), laid[1]]).error == "invalid_meld"
    assert nc("123m45s99p", "6s", melds=[meld("234z", 3, "chow"), laid[1]]).error == "invalid_meld"


def test_all_pungs() -> None:
    laid = [meld("222m", 0), meld("7777s")]
    assert "all_pung" in patterns(nc("888p99s11z", "1z", melds=laid))
    assert "all_pung" not in patterns(nc("123p99s11z", "1z", melds=laid))
    run = [meld("124z", 0, "chow"), meld("7777s")]
    assert "all_pung" not in patterns(nc("888p99s11z", "1z", melds=run))
    assert patterns(nc("888p5p9s11z", "1z", melds=laid)) == {"own_tile", "all_pung"}
    assert patterns(nc("888p999s5p", "1z", melds=laid)) == {"own_tile", "all_pung", "fine_call"}


def test_seven_pairs_and_independent() -> None:
    assert "seven_pairs" in patterns(nc("1133m5588s22266z", "2z"))
    assert nc("33m5588s2266z", "1m", melds=[meld("111m", 0)]).error == "not_winning_shape"
    star = "147m258p1234567z"
    assert patterns(nc("147m28p36s123456z", "9s")) == {"own_tile", "independent", "german"}
    assert patterns(nc(star, "9s", indicator="3s")) >= {"independent", "seven_stars"}
    # A fine tile stands for an honour: independent, but no seven stars (N13).
    short = patterns(nc("147m2p5p36s123456z", "9s"))
    assert "independent" in short
    assert "seven_stars" not in short
    # An honour that is a fine tile at face value is real.
    found = patterns(nc("147m28p36s123456z", "7z", indicator="1z"))
    assert found >= {"independent", "seven_stars"}


def test_kong_bloom_counts_once_and_beside_the_kong_bonus() -> None:
    found = nc("123456m45s11z", melds=[meld("7777s")], flags={"kong_draw": 3})
    assert patterns(found) == {"own_tile", "kong_bloom", "german"}
    assert found.delta is not None
    assert found.delta[3] == -13 - 2 - 4


def test_flat_wins() -> None:
    assert patterns(nc(seat=0, by="deal")) == {"heavenly_win"}
    assert nc(by="deal").error == "claim_not_allowed"
    first: dict[str, Any] = {"by": "discard", "source": 0, "flags": {"first_turn": True}}
    assert nc(**first).delta == (-20 - 4, 60 - 4, -20 + 12, -20 - 4)
    later: dict[str, Any] = {"by": "discard", "source": 2, "flags": {"first_turn": True}}
    assert patterns(nc(**later)) == {"german"}


def test_a_missed_win_bars_claims() -> None:
    assert nc(by="discard", source=2, flags={"missed": True}).error == "claim_not_allowed"
    assert nc(flags={"missed": True}).error is None


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"hand": "123456m4578s11z"}, "wrong_tile_count"),
        ({"me": {"forfeited": True}}, "forfeited"),
        ({"hand": "123456m45s11z", "melds": [meld("789s", 3)]}, "invalid_meld"),
        ({"tile": "9s"}, "not_winning_shape"),
        ({"tile": None, "by": "flowers"}, "not_winning_shape"),
        ({"by": "indicator", "tile": "6s"}, "claim_not_allowed"),
    ],
)
def test_errors(fields: dict[str, Any], error: str) -> None:
    assert nc(**fields).error == error


# --- bonuses ----------------------------------------------------------------------------------


FILL = [f"{n}{s}" for s in "ms" for n in range(1, 10)]


def drawn(*seats: Any, dealer: int = 0, flags: Any = None, **fields: Any) -> tuple[int, ...]:
    """Payments of a drawn hand; hands are filled up with tiles that are not fine."""
    rows = []
    for seat in seats:
        row = dict(seat or {"hand": ""})
        if row["hand"]:
            held = len(parse_tiles(row["hand"])) + 3 * len(row.get("melds", ()))
            row["hand"] += "".join(FILL[: 13 - held])
        rows.append(row)
    found = settle(parse_case({
        "id": "drawn", "rules": "nanchang", "dealer": dealer, "streak": 1, "indicator": "5p",
        "seats": rows, "outcome": {"wins": [], "flags": flags or {}}, **fields,
    }))  # fmt: skip
    assert found.delta is not None
    return found.delta


@pytest.mark.parametrize(
    ("held", "points"),
    [("6p", 1), ("5p", 2), ("55p", 4), ("556p", 10), ("555p", 18), ("5556p", 28), ("55566p", 40),
     ("555666p", 54), ("5556666p", 70)],
)  # fmt: skip
def test_fine_bonus_and_limit_breaker(held: str, points: int) -> None:
    if held != "5556666p":
        other = {"hand": "6p"}
        delta = drawn({"hand": held}, other, None, None)
        assert delta == (3 * points - 1, -points + 3, -points - 1, -points - 1)
    assert drawn({"hand": held}, None, None, None)[1] == -2 * points  # domination


def test_kong_bonuses_go_to_any_seat() -> None:
    closed = {"hand": "", "melds": [meld("7777s")]}
    opened = {"hand": "", "melds": [meld("2222m", 0), meld("3333m", 0, "added_kong")]}
    assert drawn(closed, None, None, None) == (6, -2, -2, -2)
    assert drawn(None, None, opened, None) == (-2, -2, 6, -2)


@pytest.mark.parametrize("kong", [meld("6666p", 3), meld("6666p"), meld("6666p", 3, "added_kong")])
def test_a_kong_of_fine_tiles(kong: dict[str, Any]) -> None:
    other = {"hand": "5p"}
    # 4 tiles of 1 point; ten for the kong, which nothing multiplies, and no kong bonus.
    assert drawn({"hand": "", "melds": [kong]}, other, None, None)[2] == -4 - 10 - 2
    assert drawn({"hand": "", "melds": [kong]}, None, None, None)[2] == -8 - 10


def test_an_open_pung_of_fines_is_no_fine_kong() -> None:
    assert drawn({"hand": "", "melds": [meld("666p", 3)]}, {"hand": "5p"}, None, None)[2] == -3 - 2


def test_a_winning_fine_tile_counts_for_the_winner_only() -> None:
    found = nc("123456m46p789s11z", "5p", by="discard", source=0)
    assert found.delta == (-13 - 3 - 2 + 0, 3 * 3 + 27 - 2, -7 - 3 + 6, -7 - 3 - 2)


def test_sacked_banker_and_drawn_hands() -> None:
    assert drawn(None, None, None, None, dealer=2, flags={"sacked": True}) == (5, 5, -15, 5)
    options = {"draw_banker_pays": True}
    assert drawn(None, None, None, None, options=options) == (-15, 5, 5, 5)
    both = drawn(None, None, None, None, options=options, flags={"sacked": True})
    assert both == (-30, 10, 10, 10)
    won = case("nanchang", PLAIN, "6s", indicator="5p", options=options)
    assert settle(won).delta == settle(won.model_copy(update={"options": {}})).delta


def test_an_indicator_drawn_as_a_supplement_is_a_first_fine_tile() -> None:
    four = {"hand": "5555p"}
    with pytest.raises(CaseError):
        drawn(four, None, None, None)
    options = {"indicator_as_supplement": True}
    assert drawn(four, {"hand": "6p"}, None, None, options=options)[2] == -40 - 1
    kong = {"hand": "", "melds": [meld("5555p")]}
    assert drawn(kong, {"hand": "6p"}, None, None, options=options)[2] == -40 - 10 - 1


def test_an_unknown_hand_is_said() -> None:
    found = outcome("nanchang", PLAIN, "6s", indicator="5p")
    assert sum("not known" in line for line in found.lines) == 3


def test_a_false_win_pays_what_it_meant_to_receive() -> None:
    """M32: the way of winning, and the caller's own fine tiles and kongs."""

    def penalty(hand: str, tile: str, **fields: Any) -> tuple[int, ...] | None:
        wrong = case("nanchang", hand, tile, indicator="5p", **fields)
        return get("nanchang").settle_false_win(wrong).delta

    assert penalty(PLAIN, "9s") == (4, -8, 2, 2)
    items: dict[str, Any] = {"melds": [meld("1111s")], "by": "discard", "source": 2}
    assert penalty("123m456m7s55p3z", "9s", **items) == (2 + 6, -23, 2 + 6, 1 + 6)
    assert penalty(PLAIN, "9s", by="deal", seat=0) == (-60, 20, 20, 20)


def test_sheet() -> None:
    declared = get("nanchang")
    plain = str(declared.articles(declared.options()))
    other = str(declared.articles(declared.options({
        "indicator_as_supplement": True, "dead_wall": "stacks_17", "draw_banker_pays": True,
    })))  # fmt: skip
    assert "skips it" in plain
    for words in ("may be drawn as a kong's supplement", "17 stacks", "In a drawn hand the banker"):
        assert words in other
        assert words not in plain
