"""Fenghua: readings F1 to F24 and S1 to S8, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.rules.case import CaseError
from tablectl.rules.fenghua.patterns import POINTS, points_of
from tablectl.rules.registry import get
from tablectl.rules.settlement import Settlement
from tests.rules.helpers import case, meld, outcome

PLAIN = "123456m22789p45s"
"""Waits for 3s and 6s: base, common win and no wild are three points."""
PAIRS = "1133m5588p77s6z22z"
STARS = "147m258p1234567z"


def fh(hand: str = PLAIN, tile: str | None = "6s", **fields: Any) -> Settlement:
    return outcome("fenghua", hand, tile, **{"indicator": "9s", **fields})


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None, settlement
    (found,) = settlement.patterns.values()
    return found


def has(settlement: Settlement, **wanted: int) -> None:
    """The patterns named have these points; 0 = not there."""
    found = patterns(settlement)
    assert {name: found.get(name, 0) for name in wanted} == wanted


# --- payment ----------------------------------------------------------------------------------


def test_payment() -> None:
    assert fh().delta == (-20, 60, -20, -20)
    claim = fh("123456m22789p46s", "5s", by="discard", source=3)
    assert claim.delta == (-10, 40, -10, -20)
    assert fh(streak=3, dealer=1).delta == (-20, 60, -20, -20)


def test_a_multiple_of_ten_stays() -> None:
    laid = [meld("555z", 2), meld("666z", 3)]
    found = fh("13m22p111z", "2m", seat=0, melds=laid, me={"flowers": "1f"})
    assert sum(patterns(found).values()) == 10
    assert found.delta == (60, -20, -20, -20)


def test_robbing_a_kong_is_paid_by_the_robbed_seat() -> None:
    robbed = {3: {"melds": [meld("666s", 0)]}}
    found = fh(by="rob_kong", source=3, others=robbed)
    has(found, own_tile=1)
    assert found.delta == (0, 60, 0, -60)
    assert fh(by="rob_kong", source=3).error == "claim_not_allowed"


def test_a_claimed_bottom_tile_is_paid_by_its_discarder() -> None:
    about: dict[str, Any] = {"by": "discard", "source": 3, "flags": {"last_tile": True}}
    assert fh("123456m22789p46s", "5s", **about).delta == (0, 40, 0, -40)
    assert fh(**about).error == "below_minimum"


@pytest.mark.parametrize(
    ("melds", "hand", "tile", "liable"),
    [
        ([meld("123p", 0), meld("456p", 0), meld("999p", 0)], "78p11z", "6p", True),
        ([meld("123p", 0), meld("456p", 0), meld("999p", 2)], "78p11z", "6p", False),
        ([meld("123p", 0), meld("456p", 0), meld("999m", 0)], "78p11z", "6p", False),
        ([meld("111p", 0), meld("444s", 0), meld("9999m", 0, "added_kong")], "7711z", "7z", True),
        ([meld("111p", 0), meld("444s", 0), meld("9999m")], "7711z", "7z", False),
        ([meld("111p", 0), meld("444s", 0), meld("999m", 0), meld("789s", 0)], "7z", "7z", True),
    ],
)
def test_liability_for_fed_sets(melds: list[Any], hand: str, tile: str, liable: bool) -> None:
    found = fh(hand, tile, melds=melds, indicator="8m")
    assert found.delta is not None
    assert (found.delta[2] == 0) == liable
    assert sum(found.delta) == 0


# --- small points -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seat", "wind", "pung", "name", "points"),
    [
        (1, "E", "222z", "seat_wind_pung", 1), (1, "W", "333z", "prevailing_wind_pung", 1),
        (1, "S", "222z", "right_wind_pung", 2), (1, "E", "777z", "dragon_pung", 1),
    ],
)  # fmt: skip
def test_honour_pungs(seat: int, wind: str, pung: str, name: str, points: int) -> None:
    found = patterns(fh("123456m22p45s" + pung, "6s", seat=seat, round_wind=wind))
    assert found == {"base": 1, "no_wild": 1, "own_tile": 1, name: points}
    kong = [meld(f"{pung[0]}{pung}")]
    has(fh("123456m22p45s", "6s", round_wind=wind, melds=kong), **{name: points})


@pytest.mark.parametrize(
    ("hand", "tile", "call"),
    [
        ("123456m22789p46s", "5s", 1),  # gap
        ("123456m22789p12s", "3s", 1),  # end
        ("123456m789p1233s", "3s", 1),  # end and eye, one kind
        ("123456m789p4567s", "4s", 0),  # two eyes
        ("123456m789p456s5z", "5z", 1),  # eye
        (PLAIN, "6s", 0),
        ("23456m22789p123s", "1m", 0),  # three ends
        (PAIRS, "6z", 1),
        ("1133m5588p777s66z", "7s", 1),
    ],
)
def test_single_call(hand: str, tile: str, call: int) -> None:
    has(fh(hand, tile), single_call=call)


def test_kinds_that_the_winner_has_all_of_are_no_call() -> None:
    # 12345s calls for 3s and 6s, but all four 3s are there already.
    has(fh("12345s789p11z", "6s", melds=[meld("333s", 0)], indicator="9m"), single_call=1)


def test_a_wild_tile_drawn_in_its_stead_changes_nothing() -> None:
    has(fh("123456m22789p46s", "9s"), single_call=1, one_wild=1)


def test_pair_call() -> None:
    has(fh("123456m22p44s789p", "4s"), pair_call=1, single_call=0)
    has(fh("123456m22p44s789p", "9s"), pair_call=1)
    # Beside a wild tile in the eye it is none (F8).
    has(fh("123456m2p9s44s789p", "4s"), pair_call=0)


def test_wild_tiles() -> None:
    has(fh(), no_wild=1, one_wild=0)
    has(fh("123456m2p9s789p45s", "6s"), one_wild=1, no_wild=0, tame_wild=0)
    has(fh("123456m22789p45s", "9s"), one_wild=1)
    has(fh("123456m22p789p78s", "9s"), one_wild=1, tame_wild=1)
    has(fh("123456m99s789p45s", "6s"), two_wild=2, tame_wild=1, common_win=1)
    three = fh("123456m99s789p45s", "9s")
    has(three, three_normal_wilds=150, one_wild=0, two_wild=0, no_wild=0)


def test_flower_wild_tiles() -> None:
    found = fh("123456m78p22z234f", "9p", indicator="1f")
    has(found, three_flower_wilds=300, tame_wild=0)
    has(fh("123456m78p22z78s2f", "9p", indicator="1f"), one_wild=1, tame_wild=0)
    assert fh("123456m78p22z78s5f", "9p", indicator="1f").error == "not_winning_shape"
    # Wild seasons make no set of four and are no own flowers (F23).
    has(fh(indicator="2f", me={"flowers": "1567f"}), own_flower=2, four_flowers=0)


# --- large patterns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "tile", "wild", "name", "points"),
    [
        ("111m444p999s22z77z", "7z", "8m", "straight_all_pung", 100),
        ("111m444p99s222z78s", "7s", "8s", "wild_all_pung", 50),
        (PAIRS, "6z", "9s", "straight_seven_pairs", 150),
        ("1133m5588p77s6z9s2z", "2z", "9s", "wild_seven_pairs", 50),
        ("123456m123m5588m", "5m", "9s", "pure_one_suit", 150),
        ("123456m123m55z88m", "5z", "9s", "mixed_one_suit", 70),
        ("123456m123m9s888m", "5m", "9s", "pure_one_suit", 150),
    ],
)
def test_large_patterns(hand: str, tile: str, wild: str, name: str, points: int) -> None:
    has(fh(hand, tile, indicator=wild), **{name: points})


def test_bombs() -> None:
    has(fh("1111m3355p88s66z2z", "2z", indicator="9m"), closed_bomb=100, straight_seven_pairs=150)
    two = fh("1111m3333p88s66z2z", "2z", indicator="9m")
    has(two, closed_bomb=200)
    claim = fh("1133m5588p777s66z", "7s", indicator="9m", by="discard", source=0)
    has(claim, open_bomb=50, closed_bomb=0)
    has(fh("1133m5588p777s66z", "7s", indicator="9m"), closed_bomb=100, open_bomb=0)


def test_loner() -> None:
    laid = [meld("123m", 0), meld("456p", 0), meld("777s", 2), meld("222p", 3)]
    has(fh("5z", "5z", melds=laid), straight_loner=100, single_call=1)
    has(fh("5z", "9s", melds=laid), wild_loner=50)
    has(fh("9s", "5z", melds=laid), wild_loner=50)
    closed = [*laid[:3], meld("2222p")]
    has(fh("5z", "5z", melds=closed), straight_loner=0)
    assert fh("9s", "5z", melds=laid, by="discard", source=0).error == "claim_not_allowed"
    has(fh("5z", "5z", melds=laid, by="discard", source=0), straight_loner=100)


def test_independence() -> None:
    has(fh("147m258p36s12345z", "9s", indicator="1s"), independence=50)
    has(fh("147m25p3s1234567z", "8p", indicator="9m"), closed_seven_stars=150)
    has(fh("147m258p3s123456z", "7z", indicator="9m"), open_seven_stars=100)
    missing = fh(STARS, "5s", indicator="9m")
    has(missing, independence_missing_suit=150, closed_seven_stars=0, independence=0)
    # Wild tiles stand for anything, honours too (F13).
    has(fh("147m25p3s123456z9s", "8p"), closed_seven_stars=150, one_wild=1)
    has(fh("147m258p123456z9s", "5s"), independence_missing_suit=150)
    has(fh(STARS, "9s"), independence_missing_suit=150)
    # A single wild tile at face value is tame.
    has(fh("147m258p36s12345z", "9s"), independence=50, tame_wild=1)
    assert fh("147m25p1234567z", "5s", melds=[]).error == "wrong_tile_count"
    assert fh("58p36s123456z", "9s", melds=[meld("777m", 0)]).error == "not_winning_shape"


def test_all_honours() -> None:
    loose = fh("1122455667z", "7z", melds=[meld("333z", 0)], indicator="9m")
    has(loose, uncompleted_all_honors=400, completed_all_honors=0)
    # An open dragon pung among them scores (F3).
    dragons = fh("1122446677z", "6z", melds=[meld("555z", 0)], indicator="9m")
    has(dragons, dragon_pung=2, uncompleted_all_honors=400)
    whole = fh("111222z44z55z", "5z", melds=[meld("333z", 0)], indicator="9m")
    has(whole, completed_all_honors=800, straight_all_pung=0, uncompleted_all_honors=0)
    pairs = fh("112233445566z7z", "7z", indicator="9m")
    has(pairs, uncompleted_all_honors=400, straight_seven_pairs=150)
    wild = fh("11223344556z9m7z", "7z", indicator="9m")
    has(wild, uncompleted_all_honors=400, wild_seven_pairs=50)


def test_celebrated_honours() -> None:
    options = {"all_honors_award": "celebration"}
    whole = fh("111222z44z55z", "5z", melds=[meld("333z", 0)], indicator="9m", options=options)
    has(whole, completed_all_honors=0, straight_all_pung=100)
    loose = fh("1122455667z", "7z", melds=[meld("333z", 0)], indicator="9m", options=options)
    assert patterns(loose) == {"base": 1, "no_wild": 1, "own_tile": 1}
    claim = {"by": "discard", "source": 0, "options": options, "indicator": "9m"}
    assert fh("1122455667z", "7z", melds=[meld("333z", 0)], **claim).error == "below_minimum"


@pytest.mark.parametrize(("award", "points"), [("points", True), ("celebration", False)])
def test_eight_flowers(award: str, points: bool) -> None:
    options, eight = {"eight_flowers_award": award}, {"flowers": "12345678f"}
    whole = fh(me=eight, options=options)
    has(whole, completed_eight_flowers=800 * points, four_flowers=300 * (not points), own_flower=4)
    alone = fh("147m258p369s1123z", None, by="flowers", me=eight, options=options)
    wanted = {"base": 1, "own_tile": 1, "one_wild": 1, "own_flower": 4}
    large = {"uncompleted_eight_flowers": 400} if points else {"four_flowers": 300}
    assert patterns(alone) == {**wanted, **large}
    assert fh("147m258p369s1123z", None, by="flowers").error == "not_winning_shape"


def test_flowers() -> None:
    has(fh(me={"flowers": "26f"}), own_flower=4, four_flowers=0)
    has(fh(me={"flowers": "15f"}), own_flower=0)
    has(fh(me={"flowers": "1234f"}), own_flower=2, four_flowers=150)


@pytest.mark.parametrize(
    ("kong", "budding", "blooming"),
    [
        (meld("5555p", 0), ("budding_direct_kong", 50), ("blooming_direct_kong", 100)),
        (meld("5555p"), ("budding_closed_kong", 100), ("blooming_closed_kong", 150)),
        (meld("5555p", 0, "added_kong"), ("budding_risky_kong", 100), ("blooming_risky_kong", 200)),
    ],
)
def test_kongs(kong: dict[str, Any], budding: Any, blooming: Any) -> None:
    hand = "123456m22z45s"
    has(fh(hand, melds=[kong]), **dict([budding]))
    has(fh(hand, melds=[kong], flags={"kong_draw": 1}), **dict([blooming]))
    flower = fh(hand, melds=[kong], flags={"flower_draw": True})
    has(flower, blooming_flower_kong=50, **dict([budding]))
    robbed = {3: {"melds": [meld("666s", 0)]}}
    has(fh(hand, melds=[kong], by="rob_kong", source=3, others=robbed), **dict([budding]))


def test_only_the_last_kong_blooms() -> None:
    found = fh("123m22z45s", melds=[meld("5555p"), meld("7777p")], flags={"kong_draw": 2})
    has(found, budding_closed_kong=100, blooming_closed_kong=150)


# --- claims -----------------------------------------------------------------------------------


def test_minimum() -> None:
    assert fh(by="discard", source=0).error == "below_minimum"
    assert fh(by="discard", source=0, options={"claim_minimum": 3}).error is None
    # Kongs and flowers do not count for it (F9).
    kong: dict[str, Any] = {"melds": [meld("5555p")], "me": {"flowers": "26f"}}
    assert fh("123456m22z45s", **kong, by="discard", source=0).error == "below_minimum"
    assert fh("123456m22789p46s", "5s", by="discard", source=0).error is None


def test_a_claimed_tile_never_pairs_a_wild_one() -> None:
    lone = "123456m789p789p9s"
    assert fh(lone, "5z", by="discard", source=0).error == "claim_not_allowed"
    robbed = {0: {"melds": [meld("555z", 2)]}}
    assert fh(lone, "5z", by="rob_kong", source=0, others=robbed).error == "claim_not_allowed"
    assert fh("1133m5588p779s66z", "2z", by="discard", source=0).error == "claim_not_allowed"
    # In a set with a wild tile it is fine (S2).
    assert (
        fh("123456m7789p9s55z", "8p", by="discard", source=0, options={"claim_minimum": 3}).error
        is None
    )


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"hand": "123456m22789p4s"}, "wrong_tile_count"),
        ({"me": {"forfeited": True}}, "forfeited"),
        ({"hand": "123m22789p45s", "melds": [meld("456m", 3)]}, "invalid_meld"),
        ({"hand": "123456m22p45s", "melds": [meld("789s", 0)]}, "invalid_meld"),
        ({"tile": "9s", "by": "discard", "source": 0}, "wild_tile_claimed"),
        ({"tile": "9p"}, "not_winning_shape"),
        ({"hand": "123456m22789p4s1f"}, "not_winning_shape"),
        ({"by": "indicator"}, "claim_not_allowed"),
        ({"by": "deal"}, "claim_not_allowed"),
    ],
)
def test_errors(fields: dict[str, Any], error: str) -> None:
    assert fh(**fields).error == error


def test_heavenly_and_earthly_score_nothing() -> None:
    assert set(patterns(fh(by="deal", seat=0))) == {"base", "common_win", "no_wild", "own_tile"}
    first: dict[str, Any] = {"by": "discard", "source": 0, "flags": {"first_turn": True}}
    assert fh(**first).error == "below_minimum"


def test_malformed() -> None:
    with pytest.raises(CaseError):
        fh(round_wind=None)
    with pytest.raises(CaseError):
        fh(indicator=None)


def test_older_scale() -> None:
    options = get("fenghua").options({"limit_unit": 30})
    scaled = {name: points_of(name, options) for name in POINTS}
    assert scaled["mixed_one_suit"] == 40
    assert scaled["completed_all_honors"] == 480
    assert scaled["blooming_flower_kong"] == 30
    assert scaled["closed_seven_stars"] == 90
    assert scaled["own_flower"] == 2
    assert all(n == POINTS[name] for name, n in scaled.items() if POINTS[name] < 10)
    has(fh("123456m123m55z88m", "5z", options={"limit_unit": 30}), mixed_one_suit=40)


def test_ties_go_to_the_pattern_that_stands_first() -> None:
    has(fh("123456m78p22z234f", "9p", indicator="1f"), common_win=1, seat_wind_pung=0)


def test_a_false_win_pays_what_it_meant_to_receive() -> None:
    """M32: the way of winning, wild tiles, flowers, sets laid out."""

    def penalty(hand: str, tile: str, **fields: Any) -> tuple[int, ...] | None:
        wrong = case("fenghua", hand, tile, indicator="9s", **fields)
        return get("fenghua").settle_false_win(wrong).delta

    assert penalty(PLAIN, "9p") == (20, -60, 20, 20)
    laid: dict[str, Any] = {"melds": [meld("777z", 0), meld("2222p")], "me": {"flowers": "26f"}}
    claimed = penalty("19m28m45s1z", "9m", by="discard", source=3, **laid)
    assert claimed == (110, -440, 110, 220)  # base, no wild, dragon, closed kong 100, flowers 4


def test_sheet() -> None:
    declared = get("fenghua")
    plain = str(declared.articles(declared.options()))
    other = str(declared.articles(declared.options({
        "claim_minimum": 3, "limit_unit": 30, "all_honors_award": "celebration",
        "eight_flowers_award": "celebration",
    })))  # fmt: skip
    for words in ("with 3 points", "older scale", "All honours win and", "Eight flowers win and"):
        assert words in other
        assert words not in plain
