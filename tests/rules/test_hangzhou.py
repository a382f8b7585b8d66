"""Hangzhou: readings H1 to H22, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.rules.case import CaseError
from tablectl.rules.registry import get
from tablectl.rules.settlement import Settlement
from tests.rules.helpers import case, meld, outcome

PLAIN = "123m456p23789s77z"
WILD_EYE = "123m456p4789s111z"
PAIRS = "1122m3355p889s66z"
THREE_FROM_0 = [meld("123m", 0), meld("777p", 0), meld("678s", 0)]


def hz(hand: str = PLAIN, tile: str | None = "1s", **fields: Any) -> Settlement:
    return outcome("hangzhou", hand, tile, **{"indicator": "4s", **fields})


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None
    (found,) = settlement.patterns.values()
    return found


@pytest.mark.parametrize(("streak", "factor"), [(1, 2), (2, 4), (3, 8), (7, 8)])
def test_banker_factor(streak: int, factor: int) -> None:
    assert hz(streak=streak).delta == (-factor, factor + 2, -1, -1)
    assert hz(seat=0, streak=streak).delta == (3 * factor, -factor, -factor, -factor)


def test_wild_eye_needs_the_fortune_in_the_calling_hand() -> None:
    assert patterns(hz(WILD_EYE, "9p")) == {"wild_eye": 2}
    assert patterns(hz(WILD_EYE, "4s")) == {"wild_eye": 2}
    assert patterns(hz("123m4569p789s111z", "4s")) == {}
    assert patterns(hz("456p4478s111z", "9s", melds=[meld("123m", 0)])) == {"wild_eye": 2}


def test_wild_eye_of_six_pairs() -> None:
    found = hz("1122m3355p488s66z", "1z")
    assert patterns(found) == {"wild_eye": 2, "seven_pairs": 2}
    assert found.wild_as == {1: {"4s": ("1z",)}}


@pytest.mark.parametrize("by", ["discard", "rob_kong"])
def test_an_eye_call_never_claims(by: str) -> None:
    others = {0: {"melds": [meld("999p", 2)]}}
    found = hz(WILD_EYE, "9p", by=by, source=0, streak=3, others=others)
    assert found.error == "claim_not_allowed"


@pytest.mark.parametrize(
    ("floats", "aside", "expected"),
    [(1, "4s", {"fortune_float": 2}), (2, "44s", {"double_float": 4})],
)
def test_floats_build_on_the_wild_eye(floats: int, aside: str, expected: dict[str, int]) -> None:
    fields: dict[str, Any] = {"flags": {"float": floats}, "me": {"aside": aside}}
    assert patterns(hz(WILD_EYE, "9p", **fields)) == {"wild_eye": 2, **expected}
    assert patterns(hz(PLAIN, "1s", **fields)) == {}


def test_three_floats_with_permanent_fortune() -> None:
    found = hz(
        "123m456p789s111z5z", "9p", indicator=None, options={"permanent_fortune": True},
        flags={"float": 3}, me={"aside": "555z"},
    )  # fmt: skip
    assert patterns(found) == {"wild_eye": 2, "double_float": 8}


def test_kong_streak_outlives_a_float() -> None:
    kongs = [meld("8888m"), meld("2222p")]
    fields: dict[str, Any] = {"melds": kongs, "me": {"aside": "4s"}}
    found = hz("4789s111z", "9m", flags={"kong_draw": 2, "float": 1}, **fields)
    assert patterns(found) == {"wild_eye": 2, "fortune_float": 2, "kong_bloom": 4}


def test_seven_pairs_with_and_without_fortune() -> None:
    assert patterns(hz(PAIRS, "9s")) == {"seven_pairs": 4}
    assert patterns(hz("1122m3355p48s66z8s", "9s"))["seven_pairs"] == 2
    # A fortune tile playing as itself is a fortune all the same (H8).
    assert patterns(hz("1122m3355p4499s6z", "6z"))["seven_pairs"] == 2


@pytest.mark.parametrize(("extra", "value"), [(True, 4), (False, 2)])
def test_pairs_extra_on_claim(extra: bool, value: int) -> None:
    options = {"pairs_extra_on_claim": extra}
    claimed = hz(PAIRS, "9s", by="discard", source=0, streak=3, options=options)
    assert patterns(claimed) == {"seven_pairs": value}
    assert patterns(hz(PAIRS, "9s", options=options)) == {"seven_pairs": 4}


def test_deluxe() -> None:
    assert patterns(hz("1111m3333p889s66z", "9s")) == {"seven_pairs": 4, "deluxe": 4}
    assert patterns(hz("1122m33p889s5555z", "9s")) == {"seven_pairs": 4, "deluxe": 2}
    permanent = hz("1122m33p889s5555z", "9s", indicator=None, options={"permanent_fortune": True})
    assert patterns(permanent) == {"wild_eye": 2, "seven_pairs": 2}


def test_three_naturals_and_a_fortune_are_no_deluxe() -> None:
    assert patterns(hz("111m4s3s3355p88s66z", "3s")) == {"seven_pairs": 2}


def test_white_dragons_play_as_the_indicator() -> None:
    assert hz("123m456p35s5z789s7z", "7z").error is None
    assert hz("123m456p12789s15z", "1z").error == "not_winning_shape"
    melds = [meld("35s5z", 0, "chow")]
    assert hz("123m456p78s77z", "9s", melds=melds).error is None
    assert hz("123m456p78s77z", "9s", melds=[meld("345s", 0)]).error == "invalid_meld"
    assert hz("456p789s2s", "2s", melds=[meld("111m", 0), meld("5555z")]).error is None


def test_white_dragon_as_indicator_leaves_three_fortunes() -> None:
    fields: dict[str, Any] = {"indicator": "5z"}
    assert patterns(hz("123m456p789s1115z", "2p", **fields)) == {"wild_eye": 2}
    assert hz("123m456p78s77z", "9s", melds=[meld("555z", 0)], **fields).error == "invalid_meld"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"hand": "123m456p2378s77z"}, "wrong_tile_count"),
        ({"me": {"forfeited": True}}, "forfeited"),
        ({"hand": "456p23789s77z", "melds": [meld("123m", 3)]}, "invalid_meld"),
        ({"tile": "4s", "by": "discard", "source": 0}, "wild_tile_claimed"),
        ({"tile": "9s"}, "not_winning_shape"),
        ({"tile": None, "by": "flowers"}, "not_winning_shape"),
        ({"by": "discard", "source": 0, "streak": 2}, "claim_not_allowed"),
        ({"by": "discard", "source": 2, "streak": 3}, "claim_not_allowed"),
        ({"by": "rob_kong", "source": 0, "streak": 3}, "claim_not_allowed"),
        ({"by": "indicator"}, "claim_not_allowed"),
        ({"by": "deal"}, "claim_not_allowed"),
    ],
)  # fmt: skip
def test_refusals(fields: dict[str, Any], error: str) -> None:
    found = hz(**fields)
    assert found.error == error
    assert found.delta is None
    assert found.lines


@pytest.mark.parametrize(
    ("least", "streak", "allowed"), [(3, 2, False), (3, 3, True), (2, 2, True), (2, 1, False)]
)
def test_rob_kong_min_streak(least: int, streak: int, allowed: bool) -> None:
    others = {0: {"melds": [meld("111s", 3)]}}
    found = hz(
        by="rob_kong", source=0, streak=streak, others=others,
        options={"rob_kong_min_streak": least},
    )  # fmt: skip
    assert (found.error is None) == allowed
    if allowed:
        total = 2 * ((4, 8)[streak - 2] + 1 + 1)
        assert found.delta == (-total, total, 0, 0)


def test_banker_robs_a_non_banker_and_gets_everything() -> None:
    others = {2: {"melds": [meld("111s", 3)]}}
    found = hz(seat=0, by="rob_kong", source=2, streak=3, others=others)
    assert found.delta == (48, 0, -48, 0)


@pytest.mark.parametrize("by", ["discard", "rob_kong"])
def test_wall_only(by: str) -> None:
    others = {0: {"melds": [meld("111s", 3)]}} if by == "rob_kong" else {}
    fields: dict[str, Any] = {"by": by, "source": 0, "streak": 3, "others": others}
    assert hz(**fields).error is None
    assert hz(options={"wall_only": True}, **fields).error == "claim_not_allowed"
    assert hz(options={"wall_only": True}).error is None


def test_missed_win_lock() -> None:
    fields: dict[str, Any] = {"by": "discard", "source": 0, "streak": 3, "flags": {"missed": True}}
    assert hz(**fields).error is None
    assert hz(options={"missed_win_lock": True}, **fields).error == "claim_not_allowed"


def test_liable_seat_pays_for_all() -> None:
    found = hz("99m23s", "1s", melds=THREE_FROM_0)
    assert found.delta == (-4, 4, 0, 0)
    assert any("pays for all: 1 + 1 + 2 = 4" in line for line in found.lines)


def test_counter_liable_seat_pays_twice() -> None:
    others = {2: {"melds": [meld("222z", 1), meld("3333z", 1), meld("666z", 1)]}}
    assert hz(others=others).delta == (0, 8, -8, 0)


def test_liable_both_ways_pays_three_times() -> None:
    others = {0: {"melds": [meld("222z", 1), meld("3333z", 1), meld("666z", 1)]}}
    assert hz("99m23s", "1s", melds=THREE_FROM_0, others=others).delta == (-12, 12, 0, 0)


def test_several_related_seats_pay_in_full_each() -> None:
    others = {2: {"melds": [meld("222z", 1), meld("3333z", 1), meld("666z", 1)]}}
    found = hz("99m23s", "1s", melds=THREE_FROM_0, others=others)
    assert found.delta == (-4, 12, -8, 0)


def test_filled_kongs_count_for_who_gave_the_pung_and_closed_ones_never() -> None:
    filled = [meld("123m", 0), meld("777p", 0), meld("8888m", 0, "added_kong")]
    assert hz("99m23s", "1s", melds=filled).delta == (-4, 4, 0, 0)
    closed = [meld("123m", 0), meld("777p", 0), meld("8888m")]
    assert hz("99m23s", "1s", melds=closed).delta == (-2, 4, -1, -1)


@pytest.mark.parametrize(
    ("melds", "others", "delta"),
    [
        # A liable discarder pays 2P, a counter-liable one 3P, both 4P.
        (THREE_FROM_0, {}, (-16, 16, 0, 0)),
        ([], {0: 1}, (-24, 24, 0, 0)),
        (THREE_FROM_0, {0: 1}, (-32, 32, 0, 0)),
        # A liable bystander adds P, a counter-liable one 2P.
        ([meld("111m", 2), meld("777p", 2), meld("888s", 2)], {}, (-8, 16, -8, 0)),
        ([], {2: 1}, (-8, 24, -16, 0)),
    ],
)
def test_liability_on_claim(
    melds: list[dict[str, Any]], others: dict[int, int], delta: tuple[int, ...]
) -> None:
    fed = {
        seat: {"melds": [meld("222z", giver), meld("3333z", giver), meld("666z", giver)]}
        for seat, giver in others.items()
    }
    fields: dict[str, Any] = {
        "hand": "99m23s" if melds else PLAIN, "melds": melds, "others": fed,
        "by": "discard", "source": 0, "streak": 3,
    }  # fmt: skip
    assert hz(options={"liability_on_claim": True}, **fields).delta == delta
    assert hz(**fields).delta == (-8, 8, 0, 0)


def test_robbery_ignores_liability() -> None:
    others = {0: {"melds": [meld("111s", 3), meld("222z", 1), meld("3333z", 1), meld("666z", 1)]}}
    fields: dict[str, Any] = {"by": "rob_kong", "source": 0, "streak": 3, "others": others}
    for option in (True, False):
        assert hz(options={"liability_on_claim": option}, **fields).delta == (-20, 20, 0, 0)


def test_second_half_of_a_float() -> None:
    fields: dict[str, Any] = {
        "melds": [meld("8888m", 2)], "hand": "456p789s111z4s", "tile": "9p",
        "me": {"aside": "44s"},
        "flags": {"float": 2, "kong_draw": 1, "float_gift": {"seat": 2, "before": 4}},
    }  # fmt: skip
    normal = hz(**fields)
    assert patterns(normal) == {"wild_eye": 2, "double_float": 4, "kong_bloom": 2}
    assert normal.delta == (-32, 64, -16, -16)
    half = {"float_second_half_liability": True}
    assert hz(options=half, **fields).delta == normal.delta
    fed = hz(options={**half, "float_calls": "calls_allowed"}, **fields)
    # x4 is paid normally (8 + 4 + 4), the rest of all three by the feeder: 12 x (2 + 1 + 1).
    assert fed.delta == (-8, 64, -4 - 48, -4)


@pytest.mark.parametrize(
    ("option", "honours", "multiplier"),
    [
        ("own_tile_at_10", 10, 1),
        ("own_tile_at_10", 12, 4),
        ("wild_eye_at_10", 10, 2),
        ("wild_eye_at_10", 11, 4),
        ("own_tile_at_10", 9, None),
        ("off", 10, None),
    ],
)
def test_ten_honours(option: str, honours: int, multiplier: int | None) -> None:
    fields: dict[str, Any] = {"by": "ten_honours", "flags": {"honours": honours}}
    fields["options"] = {"ten_honours": option}
    found = hz("147m258p369s1125s", None, **fields)
    if multiplier is None:
        assert found.error == "not_winning_shape"
        return
    m = multiplier
    assert found.delta == (-2 * m, 4 * m, -m, -m)
    called = hz("147m258p369s1125s", None, others={3: {"melds": [meld("222z", 1)]}}, **fields)
    assert called.error == "not_winning_shape"


def test_chips_bound_what_is_paid() -> None:
    others = {0: {"chips": 3}, 2: {"chips": 50}, 3: {"chips": 0}}
    fields: dict[str, Any] = {"hand": WILD_EYE, "tile": "9p", "others": others}
    found = hz(**fields)
    assert found.delta == (-3, 5, -2, 0)
    assert any("no debt" in line for line in found.lines)
    assert hz(options={"max_loss": None}, **fields).delta == (-4, 8, -2, -2)
    liable = hz("99m23s", "1s", melds=THREE_FROM_0, others={0: {"chips": 1}})
    assert liable.delta == (-1, 1, 0, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("instant_third", "doubles"),
        ("liability_restriction", "max_two"),
        ("liability_restriction_when", "banker_third"),
        ("missed_pung_lock", True),
        ("first_banker", "highest_roll"),
        ("seat_draw", "free"),
        ("minutes", 90),
        ("reseat_minutes", 60),
        ("point_value", 0.5),
    ],
)
def test_table_options_change_no_score(name: str, value: object) -> None:
    assert hz(options={name: value}) == hz()


def test_an_indicator_is_needed_unless_the_fortune_is_permanent() -> None:
    with pytest.raises(CaseError, match="indicator"):
        hz(indicator=None)
    assert hz(indicator=None, options={"permanent_fortune": True}).error is None


def test_false_win_pays_what_it_meant_to_receive() -> None:
    rules = get("hangzhou")
    claim = case("hangzhou", PLAIN, "9s", indicator="4s", streak=2)
    found = rules.settle_false_win(claim)
    assert found.delta == (4, -6, 1, 1)
    off_discard = case("hangzhou", PLAIN, "9s", indicator="4s", streak=3, by="discard", source=0)
    assert rules.settle_false_win(off_discard).delta == (8, -8, 0, 0)
    assert get("hongkong").settle_false_win(case("hongkong", PLAIN, "9s")).delta == (0, 0, 0, 0)
