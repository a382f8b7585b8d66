"""Wuhan and its three-player version: readings D-W1 to D-W27 and D-J1 to D-J6."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules.case import CaseError, ScoreCase, parse_case
from tablectl.rules.registry import get, settle
from tablectl.rules.settlement import Settlement
from tablectl.rules.waits import distance, waits
from tablectl.tiles import Tile, format_tile, format_tiles, parse_tile, parse_tiles
from tests.rules.helpers import case, meld, outcome
from tests.rules.wuhan_plain import Table, random_case, verdict

PUNG = meld("999m", 2)
SOFT = "123456p55m47s"  # 4s is wild under 3s; 9s completes
HARD = "123456p55m78s"
FOUR_PUNGS = [meld("111p", 0), meld("444p", 2), meld("999p", 2), meld("333z", 0)]


def wh(hand: str = HARD, tile: str | None = "9s", **fields: Any) -> Settlement:
    return outcome("wuhan", hand, tile, **{"indicator": "3s", "melds": [PUNG], **fields})


def jz(hand: str, tile: str | None, **fields: Any) -> Settlement:
    chosen = {"indicator": "3s", "melds": [meld("999p", 2)], **fields}
    return outcome("jingzhou", hand, tile, players=3, **chosen)


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None, settlement
    (found,) = settlement.patterns.values()
    return found


def lone(tile: str) -> dict[str, Any]:
    return meld(tile, kind="lone_kong")


# --- wild tiles -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "indicator", "wild", "kong_tiles"),
    [
        ("red", "3s", "4s", "7z"), ("red", "9m", "1m", "7z"), ("red", "1z", "2z", "7z"),
        ("red", "4z", "6z", "7z"), ("red", "7z", "6z", "7z"), ("red", "6z", "5z", "7z"),
        ("red", "5z", "1z", "7z"), ("red_green", "4z", "5z", "67z"),
        ("red_green", "7z", "5z", "67z"), ("red_green", "6z", "5z", "67z"),
        ("red_green", "3z", "4z", "67z"), ("peel", "4z", "7z", "34z"),
        ("peel", "1z", "2z", "15z"), ("peel", "7z", "6z", "47z"), ("peel", "5z", "1z", "56z"),
        ("peel", "6z", "5z", "67z"), ("peel", "1m", "2m", "19m"), ("peel", "9s", "1s", "89s"),
    ],
)  # fmt: skip
def test_wild_and_kong_tiles(mode: str, indicator: str, wild: str, kong_tiles: str) -> None:
    rules = get("wuhan")
    found = rules.wild(parse_tile(indicator), rules.options({"kong_tiles": mode}))
    assert (format_tiles(found.tiles), format_tiles(sorted(found.barred))) == (wild, kong_tiles)


@pytest.mark.parametrize(
    ("indicator", "wild"),
    [("2z", "3z"), ("4z", "6z"), ("7z", "6z"), ("6z", "5z"), ("5z", "2z"), ("9p", "1p")],
)
def test_wild_tiles_for_three(indicator: str, wild: str) -> None:
    rules = get("jingzhou")
    assert format_tiles(rules.wild(parse_tile(indicator), rules.options()).tiles) == wild


def test_equipment_for_three() -> None:
    kit = get("jingzhou").equipment(get("jingzhou").options())
    assert (kit.total, kit.dealt, kit.seats, kit.reserve) == (96, 40, 3, 11)
    with pytest.raises(CaseError, match="1z is not in this set"):
        jz("123456p55s78s1z", "9s")


# --- what wins --------------------------------------------------------------------------------


def test_an_open_set_is_needed() -> None:
    hand = "123456p55m78s999m"
    assert wh(hand, melds=[]).error == "not_winning_shape"
    closed = [meld("8888m")]
    assert wh("123456p55m78s", melds=closed).error == "not_winning_shape"
    assert wh("123456p55m78s", melds=[meld("8888m", 2, "added_kong")]).error is None


def test_a_pair_of_2_5_8() -> None:
    assert wh("123456p66m78s").error == "not_winning_shape"
    for eyes in ("22m", "55p", "88s"):
        assert wh(f"123456p{eyes}78s").error is None
    # A natural 2 and a wild tile; two wild tiles are none, unless their own face is one.
    assert patterns(wh("123456p5m4s78s", by="discard", source=0, options={"minimum": 0})) == {
        "common_win": 1, "open_set": 1,
    }  # fmt: skip
    assert wh("123456p3m4s78s").error == "not_winning_shape"
    bloom: dict[str, Any] = {"flags": {"kong_draw": 1}}
    as_itself = wh("123456p55s78m", "9m", indicator="4s", melds=[meld("999p", 2)], **bloom)
    assert patterns(as_itself) == {"kong_bloom": 10, "open_set": 1, "hard_win": 1}


def test_pungs_and_one_suit_need_no_such_pair() -> None:
    assert "all_pung" in patterns(wh("111p333p777p4z", "4z"))
    suit = [meld("999s", 2)]
    assert "pure_one_suit" in patterns(wh("123567s1178s", "9s", melds=suit, indicator="3p"))


def test_kong_tiles_never_win() -> None:
    assert wh("123456p55m7s7z", "9s").error == "not_winning_shape"
    assert wh("123456p55m78s", "7z", by="discard", source=0).error == "not_winning_shape"
    green = {"options": {"kong_tiles": "red_green"}}
    assert wh("111p333p777p6z", "6z").error is None
    assert wh("111p333p777p6z", "6z", **green).error == "not_winning_shape"
    peel = {"options": {"kong_tiles": "peel"}}
    assert wh("111p333p777p7z", "7z", **peel).error is None
    assert wh("123456p55m12s", "3s", **peel).error == "not_winning_shape"  # the indicator's kind
    # Nor does a wild tile stand for one: 2s and 3s are peel tiles under 3s.
    assert wh("123456p55m14s", "2s", **peel).error == "not_winning_shape"
    assert wh("123456p55m4s1s", "9s", **peel).error == "not_winning_shape"


def test_melds_of_the_winner() -> None:
    fine = [PUNG, lone("7z"), lone("4s")]
    assert wh(melds=fine).error is None
    for bad in (lone("8s"), meld("777z", 0), meld("345s", 0)):
        hand = HARD if bad["kind"] == "lone_kong" else "123p55m78s"
        assert wh(hand, melds=[PUNG, bad]).error == "invalid_meld"
    assert wh(melds=[PUNG, lone("6z")]).error == "invalid_meld"
    green: dict[str, Any] = {"options": {"kong_tiles": "red_green", "minimum": 0}}
    assert wh(melds=[PUNG, lone("6z")], **green).error is None


def test_wild_tiles_are_never_claimed() -> None:
    assert wh("123456p55m56s", "4s", by="discard", source=0).error == "wild_tile_claimed"


def test_two_wild_tiles_need_a_major() -> None:
    minor = wh("123p46p55m478s", "4s")  # the second one is drawn
    assert minor.error == "claim_not_allowed"
    for flags in ({"kong_draw": 1}, {"last_tile": True}):
        assert wh("123p46p55m478s", "4s", flags=flags).error is None
    laid = wh("123p46p55m478s", "9s", melds=[PUNG, lone("4s")])
    assert laid.error is None  # the other one is laid


@pytest.mark.parametrize(
    ("hand", "melds", "allowed"),
    [
        ("4s", FOUR_PUNGS, False),
        ("4s", [meld("123p", 0), *FOUR_PUNGS[1:]], True),  # 2, 5 and 8 alone
        ("5s", FOUR_PUNGS, True),
        ("111m4s", FOUR_PUNGS[1:], False),
        ("4678s", FOUR_PUNGS[1:], True),
        # All four of a kind held: that kind cannot come, any other completes.
        ("1111m444s", FOUR_PUNGS[2:], False),
    ],
)
def test_a_hand_that_anything_completes(
    hand: str, melds: list[dict[str, Any]], allowed: bool
) -> None:
    fields: dict[str, Any] = {"melds": melds, "source": 3, "options": {"minimum": 0}}
    found = wh(hand, "5s", by="discard", others={3: {"ready": True}}, **fields)
    assert (found.error != "claim_not_allowed") is allowed
    if hand != "5s":
        robbed = {3: {"melds": [meld("555s", 0)]}}
        assert wh(hand, "5s", by="rob_kong", others=robbed, **fields).error is None


def test_robbing_needs_the_pung() -> None:
    assert wh(by="rob_kong", source=0).error == "claim_not_allowed"
    others = {0: {"melds": [meld("999s", 3)]}}
    found = wh(by="rob_kong", source=0, others=others)
    assert patterns(found) == {"robbing_kong": 10, "open_set": 1, "hard_win": 1}
    # 10 x 4 each, seat 0 x2 for its open set and nothing for being claimed; it pays for all.
    assert found.delta == (-160, 160, 0, 0)


def test_robbing_is_liable_even_where_it_is_not_scored() -> None:
    others = {0: {"melds": [meld("111s", 3)]}}
    found = wh("23s555s999s66s", "1s", melds=[meld("777s", 2)], indicator="1p", by="rob_kong",
               source=0, others=others)  # fmt: skip
    assert patterns(found) == {"pure_one_suit": 10, "open_set": 1, "hard_win": 1}
    assert found.delta == (-160, 160, 0, 0)


# --- counting ---------------------------------------------------------------------------------


def test_minor_and_major_doubles() -> None:
    drawn = wh()  # 1 x open x hard x own = 8, the banker twice
    assert drawn.delta == (-16, 32, -8, -8)
    claimed = wh(by="discard", source=0, options={"minimum": 0})
    assert claimed.delta == (-16, 24, -4, -4)
    assert wh(by="discard", source=0).error == "below_minimum"
    pungs = wh("111p333p777p4z", "4z")
    assert patterns(pungs)["own_tile"] == 0.5
    assert pungs.delta == (-60, 180, -60, -60)  # the banker pays no more in a major win
    called = wh("111p333p777p4z", "4z", by="discard", source=0)
    assert called.delta == (-60, 140, -40, -40)


def test_banker_wins() -> None:
    assert wh(seat=0).delta == (48, -16, -16, -16)
    assert patterns(wh(seat=0))["banker"] == 1
    assert "banker" not in patterns(wh("111p333p777p4z", "4z", seat=0))


@pytest.mark.parametrize(
    ("special", "factor"), [("7z", 2), ("77z", 4), ("4s", 4), ("44s7z", 32), ("8m", 1)]
)
def test_special_tiles_count_laid_or_thrown(special: str, factor: int) -> None:
    thrown = wh(others={2: {"aside": special}})
    assert thrown.delta is not None
    assert thrown.delta[2] == -8 * factor
    if special == "8m":
        return
    laid = [lone(format_tile(t)) for t in parse_tiles(special)]
    also = wh(others={2: {"melds": laid}})
    assert also.delta == thrown.delta


def test_kongs_of_losers() -> None:
    def pays(kind: str, source: int | None) -> int:
        found = wh(others={2: {"melds": [meld("8888m", source, kind)]}})
        assert found.delta is not None
        return -found.delta[2]

    assert pays("closed_kong", None) == 8 * 4
    assert pays("kong", 3) == pays("added_kong", 3) == 8 * 2 * 2


def test_hard_and_soft() -> None:
    assert "hard_win" not in patterns(wh(SOFT, options={"minimum": 0}))
    assert "hard_win" in patterns(wh("123456p55m56s", "4s", options={"minimum": 0}))
    # Laid or thrown wild tiles do not matter.
    assert "hard_win" in patterns(wh(me={"aside": "4s"}))


def test_hands_without_sets() -> None:
    honours = {"melds": [meld("111z", 0)]}
    found = wh("2234455566z", "3z", **honours)
    assert patterns(found) == {"all_honors": 10, "open_set": 1, "hard_win": 1, "own_tile": 0.5}
    soft = wh("223445556z4s", "3z", **honours)
    assert "hard_win" not in patterns(soft)
    face = wh("2344556666z", "3z", indicator="1z", **honours)  # 2z is wild and an honour
    assert patterns(face) == patterns(found)
    eyes = wh("255588p228m5s", "8s", melds=[meld("222s", 0)], flags={"kong_draw": 1})
    assert patterns(eyes) == {"all_eyes": 10, "open_set": 1, "hard_win": 1, "own_tile": 0.5}
    other_wild = wh("255588p228m4s", "8s", melds=[meld("222s", 0)])
    assert "hard_win" not in patterns(other_wild)
    assert wh("255588p228m6s", "8s", melds=[meld("222s", 0)]).error == "not_winning_shape"
    assert wh("255588p228m5s", "8s", melds=[PUNG]).error == "not_winning_shape"


def test_all_honours_with_sets() -> None:
    regular = wh("2223334455z", "5z", melds=[meld("111z", 0)])
    assert {"all_honors": 10, "all_pung": 10}.items() <= patterns(regular).items()
    assert "pure_one_suit" not in patterns(regular)


@pytest.mark.parametrize(("multi_major", "expected"), [("linear", 120), ("exponential", 160)])
def test_bases_of_several_majors(multi_major: str, expected: int) -> None:
    three = wh("5m", "5m", melds=[meld("222m", 0), meld("888m", 3), meld("555s", 2),
               meld("222p", 0)], by="discard", source=3, others={3: {"ready": True}},
               options={"multi_major": multi_major})  # fmt: skip
    assert patterns(three) == {
        "all_eyes": 10, "all_pung": 10, "all_claimed": 10, "open_set": 1, "hard_win": 1,
    }  # fmt: skip
    assert three.delta == (-expected, expected * 7 // 2, -expected, -expected * 3 // 2)


def test_kong_bloom_and_bottom_tile_need_eyes() -> None:
    bloom: dict[str, Any] = {"flags": {"kong_draw": 1}}
    assert patterns(wh(**bloom)) == {"kong_bloom": 10, "open_set": 1, "hard_win": 1}
    bottom: dict[str, Any] = {"flags": {"last_tile": True}}
    assert patterns(wh(**bottom)) == {"bottom_tile": 10, "open_set": 1, "hard_win": 1}
    pungs = patterns(wh("111p333p777p4z", "4z", **bloom))
    assert pungs == {"all_pung": 10, "open_set": 1, "hard_win": 1, "own_tile": 0.5}
    assert patterns(wh(by="discard", source=0, options={"minimum": 0}, **bottom)) == {
        "common_win": 1, "open_set": 1, "hard_win": 1,
    }  # fmt: skip


def test_each_open_set() -> None:
    options = {"double_each_open_set": True}
    others = {2: {"melds": [meld("111m", 0), meld("222m", 0)]}}
    melds = [PUNG, meld("888p", 0)]
    two = wh("123p55m78s", "9s", melds=melds, options=options, others=others)
    assert patterns(two)["open_set"] == 2
    assert two.delta == (-32, 16 + 32 + 64, -64, -16)


# --- minimum, limits, division ----------------------------------------------------------------


def test_minimum_is_asked_of_each_loser() -> None:
    soft = wh(SOFT)  # open, own: 4; the banker 8
    assert soft.error == "below_minimum"
    assert "4 points" in soft.lines[-1]
    assert wh(SOFT, options={"minimum": 4}).error is None
    assert wh(options={"kong_tiles": "red_green"}).error == "below_minimum"  # 16
    assert wh(options={"kong_tiles": "red_green", "minimum": 8}).error is None
    assert wh(options={"kong_tiles": "peel"}).error is None


BIG = {"hand": "1113334447z", "tile": "", "melds": [meld("222z", 0)]}


def all_pungs(kongs: int, others: dict[int, dict[str, Any]], **fields: Any) -> Settlement:
    """All pungs with closed kongs: 10 x open x hard x 4 a kong, 1.5 for the own tile."""
    closed = [meld("1111p"), meld("4444p"), meld("9999p")][:kongs]
    hand = "111p444p999p"[4 * kongs :] + "3z"
    return wh(hand, "3z", melds=[PUNG, *closed], others=others, **fields)


OPEN = {"melds": [meld("888s", 1)]}
ALSO_OPEN = {"melds": [meld("111s", 1)]}


def test_limits() -> None:
    each = 10 * 2 * 2 * 16 * 3 // 2
    assert each == 960
    trinity = all_pungs(2, {})
    assert trinity.delta == (-600, 1800, -600, -600)
    radiant = all_pungs(2, {0: OPEN, 2: ALSO_OPEN})
    assert radiant.delta is not None
    assert sorted(radiant.delta) == [-500, -400, -400, 1300]
    one = all_pungs(1, {0: {"aside": "4s"}, 2: {"aside": "7z"}})  # 240, x4, x2
    assert one.delta == (-300, 840, -300, -240)
    exact = all_pungs(1, {}, options={"limit": 240})  # reached is hit
    assert exact.delta == (-600, 1800, -600, -600)
    named = all_pungs(1, {0: OPEN}, options={"limit": 240, "golden_limit": 7, "radiant_limit": 8})
    assert named.delta == (-7, 23, -8, -8)
    assert all_pungs(1, {}, options={"limit": 9, "trinity_limit": 11}).delta == (-11, 33, -11, -11)


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({}, (300, 400, 500, 600)),
        ({"kong_tiles": "red_green"}, (400, 500, 600, 700)),
        ({"kong_tiles": "peel"}, (400, 500, 600, 700)),
        ({"double_each_open_set": True}, (600, 800, 1000, 1200)),
        ({"double_each_open_set": True, "kong_tiles": "peel"}, (600, 800, 1000, 1200)),
    ],
)
def test_limits_of_variations(options: dict[str, Any], limits: tuple[int, ...]) -> None:
    limit, golden, radiant, trinity = limits
    assert all_pungs(2, {}, options=options).delta == (-trinity, 3 * trinity, -trinity, -trinity)
    mixed = all_pungs(2, {0: OPEN}, options=options).delta
    assert mixed == (-golden, golden + 2 * radiant, -radiant, -radiant)
    single = all_pungs(1, {0: {"aside": "4s"}}, options=options).delta
    assert single is not None
    assert single[0] == -min(960, limit)


@pytest.mark.parametrize(("by", "paid"), [(1, (16, 8)), (10, (2, 1)), (20, (1, 0))])
def test_division_rounds_each_amount(by: int, paid: tuple[int, int]) -> None:
    banker, other = paid
    found = wh(options={"divide_by": by})
    assert found.delta == (-banker, banker + 2 * other, -other, -other)


def test_halves_round_up() -> None:
    found = wh("111p333p777p4z", "4z", options={"divide_by": 20, "limit": 50})
    assert found.error is None  # 60 each: golden without open sets, 600 / 20
    assert found.delta == (-30, 90, -30, -30)
    half = wh("111p333p777p4z", "4z", by="discard", source=0, options={"divide_by": 20,
              "limit": 50, "golden_limit": 50})  # fmt: skip
    assert half.delta == (-3, 7, -2, -2)  # 50 / 20 = 2.5; 40 / 20


# --- liability --------------------------------------------------------------------------------


def pure(*melds: dict[str, Any], **fields: Any) -> Settlement:
    return wh("3499m", "2m", melds=list(melds), **fields)


def test_third_open_set_of_pure() -> None:
    first, second, third = meld("123m", 0), meld("555m", 3), meld("678m", 0)
    own = pure(first, second, third)
    assert own.delta == (-180, 180, 0, 0)
    assert pure(first, third, second).delta == (0, 180, 0, -180)
    between = pure(first, meld("5555m"), third)
    assert (between.delta or ())[2] < 0  # two open sets: everybody pays
    singles = pure(lone("7z"), first, second, third)
    assert singles.delta is not None
    assert singles.delta[2:] == (0, 0)
    grown = pure(first, third, meld("5555m", 3, "added_kong"))
    assert grown.delta is not None
    assert grown.delta[:1] == (0,)


def claimed_all(ready: bool | None, hand: str = "", **fields: Any) -> Settlement:
    melds = [meld("123p", 0), meld("444z", 3), meld("789m", 0), meld("999s", 2)]
    others = {3: {"hand": hand, "ready": ready}}
    return wh("5m", "5m", melds=melds, by="discard", source=3, others=others, **fields)


def test_all_claimed_liability() -> None:
    assert claimed_all(True).delta == (-40, 140, -40, -60)
    assert claimed_all(False).delta == (0, 140, 0, -140)


def test_whether_the_discarder_was_ready_is_asked() -> None:
    with pytest.raises(CaseError, match="ready") as caught:
        claimed_all(None)
    assert caught.value.field == "seats.3.ready"


def test_readiness_is_read_off_a_hand_that_is_known() -> None:
    def settled(hand: str, *melds: dict[str, Any]) -> tuple[int, ...] | None:
        data = case(
            "wuhan", "5m", "5m", by="discard", source=3, indicator="3s",
            melds=[meld("123p", 0), meld("444z", 3), meld("789m", 0), meld("999s", 2)],
            others={3: {"hand": hand, "melds": list(melds)}},
        )  # fmt: skip
        return settle(data).delta

    waiting = settled("234m234p22s67s", meld("111z", 0))
    assert waiting is not None
    assert waiting[0] < 0
    closed = settled("234m234p22s67s111z")
    assert closed is not None
    assert closed[0] == 0  # no open set: not ready, liable
    far = settled("234m247p22s68s", meld("111z", 0))
    assert far is not None
    assert far[0] == 0


def test_all_claimed_is_not_all_claimed_without_eyes() -> None:
    found = wh("4z", "4z", melds=[*FOUR_PUNGS[:3], meld("777s", 0)], by="discard", source=3,
               indicator="1m")  # fmt: skip
    assert patterns(found) == {"all_pung": 10, "open_set": 1, "hard_win": 1}
    assert found.delta == (-40, 140, -40, -60)


def test_robbing_goes_before_the_third_open_set() -> None:
    first, second, third = meld("345m", 0), meld("555m", 0), meld("678m", 0)
    others = {3: {"melds": [meld("222m", 0)]}}
    found = pure(first, second, third, by="rob_kong", source=3, others=others)
    assert found.delta is not None
    assert found.delta[0] == 0
    assert found.delta[3] < 0


# --- Jingzhou ---------------------------------------------------------------------------------


def test_one_loser_reaching_the_minimum_is_enough() -> None:
    soft = jz("123456p55s67s", "4s", options={})
    assert soft.error is None
    one = jz("123456p55s1s4s", "3s", options={})  # 1 4s 3s: soft, open, own 4; the banker 8
    assert patterns(one) == {"common_win": 1, "open_set": 1, "own_tile": 1}
    assert one.delta == (-8, 12, -4)
    assert jz("123456p55s1s4s", "3s", seat=0, melds=[meld("999p", 1)]).error is None
    assert jz("123456p55s1s4s", "3s", dealer=1, options={"minimum": 9}).error == "below_minimum"


def test_full_doubles_in_a_major_win() -> None:
    own = jz("111333p777s4z", "4z")
    assert patterns(own) == {"all_pung": 10, "open_set": 1, "hard_win": 1, "own_tile": 1}
    assert own.delta == (-80, 160, -80)
    claimed = jz("111333p777s4z", "4z", by="discard", source=2)
    assert claimed.delta == (-40, 120, -80)
    bloom = jz("123456p55s78s", "9s", flags={"kong_draw": 1})
    assert patterns(bloom) == {"kong_bloom": 10, "open_set": 1, "hard_win": 1}


def test_there_is_no_bottom_tile() -> None:
    found = jz("123456p55s78s", "9s", flags={"last_tile": True})
    assert patterns(found) == {"common_win": 1, "open_set": 1, "hard_win": 1, "own_tile": 1}
    with pytest.raises(CaseError, match="no such option"):
        jz("123456p55s78s", "9s", options={"kong_tiles": "peel"})


def test_all_honours_of_sets_contains_pure_and_its_liability() -> None:
    melds = [meld("222z", 2), meld("333z", 2), meld("555z", 0)]
    found = jz("4466z", "6z", melds=melds)
    assert {"all_honors", "pure_one_suit", "all_pung"} <= patterns(found).keys()
    assert found.delta is not None
    assert found.delta[2] == 0
    loose = jz("2444566z", "3z", melds=[meld("333z", 2), meld("555z", 0)])
    assert "pure_one_suit" not in patterns(loose)


def test_golden_and_trinity_for_two() -> None:
    closed = [meld("999p", 2), meld("1111p"), meld("4444p")]
    assert jz("777s4z", "4z", melds=closed).delta == (-600, 1200, -600)
    others = {0: {"melds": [meld("888s", 2)]}}
    assert jz("777s4z", "4z", melds=closed, others=others).delta == (-400, 900, -500)


# --- false wins, drawn hands, looking ahead ---------------------------------------------------


def test_a_false_win_pays_what_it_meant_to_receive() -> None:
    claim = case("wuhan", "19m28p4567s12z", "9s", indicator="3s", melds=[PUNG])
    assert get("wuhan").settle_false_win(claim).delta == (8, -16, 4, 4)
    thrown = case("wuhan", "19m28p4567s12z", "9s", indicator="3s", by="discard", source=3,
                  melds=[PUNG, lone("7z")])  # fmt: skip
    assert get("wuhan").settle_false_win(thrown).delta == (8, -20, 4, 8)


def test_nobody_pays_in_a_drawn_hand() -> None:
    data = case("wuhan", HARD, "9s", indicator="3s").model_dump(mode="json", by_alias=True)
    data["outcome"]["wins"] = []
    assert settle(parse_case(data)).delta == (0, 0, 0, 0)
    with pytest.raises(CaseError, match="indicator"):
        wh(indicator=None)


def test_looking_ahead_leaves_kong_tiles_out() -> None:
    rules, turned = get("wuhan"), parse_tile("3s")
    laid = parse_case(
        {**case("wuhan", HARD, "9s", indicator="3s", melds=[PUNG]).model_dump(by_alias=True)}
    ).seats[1].melds  # fmt: skip
    assert format_tiles(waits(rules, parse_tiles(HARD), laid, indicator=turned)) == "469s"
    assert waits(rules, parse_tiles("123456p55m7s7z"), laid, indicator=turned) == ()
    assert distance(rules, parse_tiles("123456p55m7s7z"), laid, indicator=turned) == 2
    assert distance(rules, parse_tiles("1122334455566z")) == 1  # all honours


# --- against plain counting -------------------------------------------------------------------


def as_case(plain: dict[str, Any], options: dict[str, Any]) -> ScoreCase:
    winner = plain["winner"]
    seats = [
        {
            "hand": format_tiles(map(Tile, seat["hand"])),
            "aside": format_tiles(map(Tile, seat["aside"])),
            "melds": [_as_meld(kind, tiles, owner, len(plain["seats"]))
                      for kind, tiles in seat["melds"]],
            "ready": True,
        }
        for owner, seat in enumerate(plain["seats"])
    ]  # fmt: skip
    flags = {"last_tile": plain["last_tile"], "kong_draw": int(plain["kong_draw"])}
    win = {"seat": winner, "tile": format_tile(Tile(plain["tile"])), "by": plain["by"],
           "from": plain["source"], "flags": flags}  # fmt: skip
    return parse_case(
        {
            "id": "plain", "rules": plain["rules"], "options": options,
            "dealer": plain["dealer"], "streak": 1,
            "indicator": format_tile(Tile(plain["indicator"])),
            "seats": seats, "outcome": {"wins": [win]},
        }
    )  # fmt: skip


def _as_meld(kind: str, tiles: list[int], owner: int, seats: int) -> dict[str, Any]:
    giver = None if kind in ("lone_kong", "closed_kong") else (owner - 1) % seats
    return {"kind": kind, "tiles": format_tiles(map(Tile, tiles)), "from": giver}


def check(seed: int, rules: str, *, most_wilds: int) -> None:
    plain, options = random_case(Random(seed), rules, most_wilds=most_wilds)
    found, expected = settle(as_case(plain, options)), verdict(plain, options)
    if isinstance(expected, str):
        assert found.error == expected, (plain, options, found)
    else:
        assert found.delta is not None, (plain, options, expected, found)
        assert found.delta[plain["winner"]] == expected, (plain, options, found)


@pytest.mark.parametrize("rules", ["wuhan", "jingzhou"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_scores_agree_with_substitution(rules: str, seed: int) -> None:
    check(seed, rules, most_wilds=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("most_wilds", "hands"), [(1, 100_000), (2, 2_000), (4, 200)])
@pytest.mark.parametrize("rules", ["wuhan", "jingzhou"])
def test_scores_at_length(rules: str, most_wilds: int, hands: int) -> None:
    for seed in range(hands):
        check(seed, rules, most_wilds=most_wilds)


def test_the_plain_wild_rule_is_the_documents() -> None:
    assert Table("wuhan", "red", 30).wild == 32  # North makes green wild
    assert Table("wuhan", "peel", 30).wild == 33
    assert Table("jingzhou", "red", 31).wild == 28
