"""Options and readings of the Mainland rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablectl.rules.case import CaseError, Outcome, ScoreCase
from tablectl.rules.mainland.patterns import FAN
from tablectl.rules.registry import get, settle
from tablectl.rules.settlement import Settlement
from tablectl.rules.sheet import rule_sheet
from tablectl.tiles import format_tiles, parse_tile
from tests.rules import brute
from tests.rules.helpers import case, meld
from tests.rules.helpers import outcome as helper_outcome
from tests.rules.test_properties import sample, seeds

CHOWS = "789m345678p2344s"
"""Waits for 1s and 4s: all chows."""
CHICKEN = "45556p78999s"
"""Beside an open 123m: waits for 6s and 9s, no hand pattern."""


def outcome(hand: str, tile: str | None, **fields: Any) -> Settlement:
    return helper_outcome("mainland", hand, tile, **{"indicator": "1z"} | fields)


def patterns(hand: str, tile: str, **fields: Any) -> dict[str, int | float]:
    found = outcome(hand, tile, **fields)
    assert found.patterns is not None, found
    return found.patterns[fields.get("seat", 1)]


def joy(tiles: str, when: str = "deal") -> dict[str, Any]:
    return {"kind": "joy", "tiles": tiles, "from": None, "when": when}


# --- treasures (D-M2 to D-M5) -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("treasure", "indicator", "wild"),
    [
        ("basic", "3p", "3p"),
        ("upward", "3p", "34p"),
        ("downward", "3p", "23p"),
        ("up_and_down", "3p", "234p"),
        ("upward", "9s", "19s"),
        ("downward", "1s", "19s"),
        ("upward", "6z", "67z"),
        ("upward", "7z", "57z"),
        ("upward", "5z", "56z"),
        ("downward", "6z", "56z"),
        ("upward", "4z", "14z"),
        ("downward", "1z", "14z"),
        ("up_and_down", "2z", "123z"),
        ("none", "3p", ""),
        ("basic", "3f", ""),
    ],
)
def test_which_tiles_are_treasures(treasure: str, indicator: str, wild: str) -> None:
    rules = get("mainland")
    found = rules.wild(parse_tile(indicator), rules.options({"treasure": treasure})).tiles
    assert format_tiles(sorted(found)) == wild


def test_what_a_case_must_say() -> None:
    with pytest.raises(CaseError, match="round wind"):
        outcome(CHOWS, "1s", round_wind=None)
    with pytest.raises(CaseError, match="no tile is turned up"):
        outcome(CHOWS, "1s", indicator=None)
    with pytest.raises(CaseError, match="name the tile turned next"):
        outcome(CHOWS, "1s", indicator="1f")
    with pytest.raises(CaseError, match="needs 'when'"):
        outcome("45556p78999s", "6s", melds=[joy("567z") | {"when": None}])
    assert outcome(CHOWS, "1s", indicator=None, options={"treasure": "none"}).error is None


def test_called_sets_hold_natural_tiles() -> None:
    standing_in = [{"kind": "chow", "tiles": "12m1z", "from": 0}]
    assert outcome(CHICKEN, "6s", melds=standing_in).error == "invalid_meld"
    own = outcome("234p789s5566z", "6z", melds=[meld("222z", 0)], indicator="2z")
    assert own.error == "invalid_meld"
    # A claimed treasure counts as its own face.
    claimed: dict[str, Any] = {"melds": [meld("123m", 0)], "indicator": "2m"}
    assert patterns("345678p2344s", "1s", **claimed) == {"all_chows": 1, "own_tile": 1}


# --- chicken hands (D-M6, D-M7) ---------------------------------------------------------------


def test_chicken_hands() -> None:
    chow: dict[str, Any] = {"melds": [meld("123m", 0)]}
    assert patterns(CHICKEN, "6s", by="discard", source=3, **chow) == {"chicken_hand": 0}
    drawn = patterns(CHICKEN, "1z", **chow)
    assert drawn == {"chicken_hand_with_treasure": 1, "own_tile": 1}
    assert outcome("45556p7999s1z", "6s", **chow).error == "claim_not_allowed"
    assert outcome("45556p7999s1z", "1z", **chow).error == "claim_not_allowed"
    # A claimed treasure is one in the hand, though it plays as itself.
    claimed: dict[str, Any] = {"by": "discard", "source": 0, "indicator": "6s", **chow}
    assert outcome(CHICKEN, "6s", **claimed).error == "claim_not_allowed"


def test_a_hand_pattern_frees_the_treasure() -> None:
    fields: dict[str, Any] = {"melds": [meld("222z", 0)], "by": "discard", "source": 3}
    assert patterns("123m456p78s5z1z", "9s", **fields) == {"seat_wind": 1}


def test_the_best_reading_counts() -> None:
    found = patterns("123m456p789s55z1z9p", "9p")
    assert found == {"dragon_pung": 1, "own_tile": 1}


# --- fan (D-M9 to D-M11) ----------------------------------------------------------------------


def test_treasures_only_become_what_scores_most() -> None:
    options = {"treasure": "up_and_down"}
    found = patterns("111z22z33z555m9m55z", "9m", options=options, indicator="2z")
    assert found["mixed_one_suit"] == 3
    assert found["all_pungs"] == 3
    honors = {"dragon_pung", "seat_wind", "round_wind"}
    assert sum(n for name, n in found.items() if name in honors) == 3


def test_all_honors_with_a_joy() -> None:
    melds = [joy("1234z"), meld("555z", 0), meld("666z", 2)]
    assert patterns("222z7z", "7z", melds=melds, indicator="1m") == {
        "all_honors": 8, "dragon_pung": 2, "seat_wind": 1, "four_winds_joy": 2, "own_tile": 1,
    }  # fmt: skip


def test_every_kong_counts() -> None:
    melds = [meld("3333p"), meld("5555s")]
    found = patterns("12389m77s", "7m", melds=melds, indicator="9p")
    assert found == {"self_drawn_kong": 4, "own_tile": 1}


def test_a_double_wind_gives_both() -> None:
    fields: dict[str, Any] = {"seat": 0, "melds": [meld("111z", 1)], "indicator": "9p"}
    assert patterns("123m456p78s55z", "9s", **fields) == {
        "seat_wind": 1, "round_wind": 1, "own_tile": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "extra"),
    [
        ({"me": {"flowers": "26f3f"}}, {"own_tile": 1, "seat_flower": 2}),
        ({"flags": {"kong_draw": 2}}, {"own_tile": 1, "win_on_replacement": 1}),
        ({"flags": {"flower_draw": True}}, {"own_tile": 1, "win_on_replacement": 1}),
        ({"flags": {"last_tile": True}, "by": "discard", "source": 0}, {"last_tile": 1}),
        (
            {"by": "rob_kong", "source": 0, "others": {0: {"melds": [meld("111s", 2)]}}},
            {"robbing_kong": 1},
        ),
    ],
)
def test_extras(fields: dict[str, Any], extra: dict[str, int]) -> None:
    assert patterns(CHOWS, "1s", **fields) == {"all_chows": 1} | extra


def test_a_kong_is_robbed_of_a_pung_only() -> None:
    assert outcome(CHOWS, "1s", by="rob_kong", source=0).error == "claim_not_allowed"


# --- joys (D-M8, D-M9) ------------------------------------------------------------------------

JOYFUL = "89m123p45677s"
"""Beside a joy: waits for 7m."""


@pytest.mark.parametrize(
    ("tiles", "when", "options", "pattern"),
    [
        ("1234z", "deal", {}, "four_winds_joy"),
        ("5m124z", "deal", {}, "four_winds_joy"),
        ("55m12z", "deal", {}, "four_winds_joy"),
        ("1234z", "road", {}, "four_winds_joy"),
        ("5m124z", "road", {}, None),
        ("5m124z", "road", {"four_winds_any_time": True}, None),
        ("1234z", "late", {}, None),
        ("1234z", "late", {"four_winds_any_time": True}, "four_winds_joy"),
        ("567z", "deal", {}, "three_dragons_joy"),
        ("5m56z", "road", {}, "three_dragons_joy"),
        ("567z", "late", {"four_winds_any_time": True}, None),
        ("556z", "deal", {}, None),
        ("1235z", "deal", {}, None),
        ("567z", "deal", {"joys": ["four_winds"]}, None),
        ("1234z", "deal", {"joys": ["four_winds"]}, "four_winds_joy"),
        ("1234z", "deal", {"joys": []}, None),
    ],
)
def test_joys(tiles: str, when: str, options: dict[str, Any], pattern: str | None) -> None:
    fields: dict[str, Any] = {"melds": [joy(tiles, when)], "options": options, "indicator": "5m"}
    found = outcome(JOYFUL, "7m", by="discard", source=0, **fields)
    if pattern is None:
        assert found.error == "invalid_meld"
    else:
        assert found.patterns == {1: {pattern: FAN[pattern]}}


def test_no_joy_on_the_road_after_one_at_the_deal() -> None:
    for when, error in (("deal", None), ("road", "invalid_meld")):
        melds = [joy("567z"), joy("1234z", when)]
        assert outcome("89m45677s", "7m", melds=melds, indicator="5m").error == error


# --- payment ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "fields", "delta"),
    [
        ({}, {}, (-4, 12, -4, -4)),
        ({}, {"by": "discard", "source": 0}, (-4, 8, -2, -2)),
        ({"payment": "discarder_all"}, {"by": "discard", "source": 0}, (-8, 8, 0, 0)),
        ({"payment": "discarder_all"}, {}, (-4, 12, -4, -4)),
        ({"dealer_double": True}, {}, (-8, 16, -4, -4)),
        ({"dealer_double": True}, {"dealer": 1}, (-8, 24, -8, -8)),
        ({"dealer_double": True}, {"by": "discard", "source": 2}, (-4, 10, -4, -2)),
        (
            {"dealer_double": True, "payment": "discarder_all"},
            {"by": "discard", "source": 2},
            (0, 8, -8, 0),
        ),
        ({"base_points": 3}, {}, (-12, 36, -12, -12)),
        ({"limit_fan": 1}, {}, (-2, 6, -2, -2)),
        ({"fan": {"own_tile": 0, "all_chows": 3}}, {}, (-8, 24, -8, -8)),
    ],
)
def test_payment(options: dict[str, Any], fields: dict[str, Any], delta: tuple[int, ...]) -> None:
    assert outcome(CHOWS, "1s", options=options, **fields).delta == delta


def test_minimum() -> None:
    options = {"minimum_fan": 2}
    assert outcome(CHOWS, "1s", options=options).error is None
    claimed = outcome(CHOWS, "1s", options=options, by="discard", source=0)
    assert claimed.error == "below_minimum"
    assert claimed.lines[-1] == "1 fan · 2 to win"


def test_unknown_fan_are_malformed() -> None:
    with pytest.raises(CaseError, match=r"options\.fan"):
        outcome(CHOWS, "1s", options={"fan": {"nine_gates": 3}})


def test_a_false_win_costs_nothing() -> None:
    rules = get("mainland")
    assert rules.settle_false_win(case("mainland", CHOWS, "9p", indicator="1z")).delta == (0,) * 4


def test_the_sheet_says_whose_values_they_are() -> None:
    rules = get("mainland")
    sheet = rule_sheet(rules, rules.options({"fan": {"all_chows": 2}}))
    assert "not among the sources" in sheet
    assert "all_chows 2" in sheet


# --- best score against brute force -----------------------------------------------------------


def plain_fan(given_case: ScoreCase) -> tuple[str | None, int]:
    """The refusal or the best hand's fan, by exhaustive substitution."""
    (win,) = given_case.outcome.wins
    seat = given_case.seats[win.seat]
    table = {**FAN, **given_case.options.get("fan", {})}
    rules = get("mainland")
    treasures = rules.wild(given_case.indicator, rules.options(given_case.options)).tiles
    claimed = win.from_seat is not None
    naturals = [t for t in seat.hand if t not in treasures]
    wilds = len(seat.hand) - len(naturals)
    assert win.tile is not None
    if win.tile in treasures and not claimed:
        wilds += 1
    else:
        naturals.append(win.tile)
    laid = [tuple(sorted(m.tiles)) for m in seat.melds]
    scores = [
        patterns_fan(given_case, table, pair, [*sets, *laid])
        for chosen in brute.substitutions([], wilds)
        for pair, sets in brute.partitions([*naturals, *chosen])
        if len(sets) + len(laid) == 4
    ]
    if not scores:
        return "not_winning_shape", 0
    extra = int(win.by == "self_draw")
    extra += win.flags.last_tile
    number = (win.seat - given_case.dealer) % 4
    extra += sum((t - 34) % 4 == number for t in seat.flowers)
    held = [score for score in scores if score is not None]
    if held:
        return None, max(held) + extra
    shown = sum(t in treasures for t in (*seat.hand, win.tile))
    if shown == 0:
        return None, extra
    if shown == 1 and win.tile in treasures and not claimed:
        return None, 1 + extra
    return "claim_not_allowed", 0


def patterns_fan(
    given_case: ScoreCase, table: dict[str, int], pair: int, sets: list[tuple[int, ...]]
) -> int | None:
    """Fan of the hand patterns, ``None`` where there is none."""
    (win,) = given_case.outcome.wins
    pungs = [s[0] for s in sets if s[0] == s[1]]
    tiles = [pair, *(t for s in sets for t in s)]
    suits, honors = {t // 9 for t in tiles if t < 27}, any(t >= 27 for t in tiles)
    found: list[str] = []
    if not suits:
        found.append("all_honors")
    elif len(suits) == 1:
        found.append("mixed_one_suit" if honors else "pure_one_suit")
    if len(pungs) == 4 and suits:
        found.append("all_pungs")
    if not pungs:
        found.append("all_chows")
    found += ["dragon_pung" for t in pungs if t >= 31]
    own, around = (win.seat - given_case.dealer) % 4, "ESWN".index(given_case.round_wind or "E")
    found += ["seat_wind"] * (27 + own in pungs) + ["round_wind"] * (27 + around in pungs)
    return sum(table[name] for name in found) if found else None


def check_mainland(given_case: ScoreCase) -> None:
    error, fan = plain_fan(given_case)
    found = settle(given_case)
    if error is None and fan < given_case.options.get("minimum_fan", 0):
        error = "below_minimum"
    assert found.error == error, found
    if error is None:
        assert found.patterns is not None
        (counted,) = found.patterns.values()
        assert sum(counted.values()) == fan, found


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_scores_agree_with_substitution(seed: int) -> None:
    check_mainland(sample("mainland", seed, max_wilds=2))


@given(seeds, st.sampled_from(["upward", "downward", "up_and_down"]))
@settings(max_examples=50, deadline=None)
def test_more_kinds_of_treasures_agree_with_substitution(seed: int, treasure: str) -> None:
    given_case = sample("mainland", seed, max_wilds=1)
    options = given_case.options | {"treasure": treasure}
    given_case = given_case.model_copy(update={"options": options})
    rules, (win,) = get("mainland"), given_case.outcome.wins
    treasures = rules.wild(given_case.indicator, rules.options(options)).tiles
    seat = given_case.seats[win.seat]
    assume(sum(t in treasures for t in (*seat.hand, win.tile)) <= 2)
    assume(not any(t in treasures for m in seat.melds for t in m.tiles))
    check_mainland(given_case)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(seeds)
@settings(max_examples=300, deadline=None)
def test_scores_at_length(seed: int) -> None:
    check_mainland(sample("mainland", seed))


def test_a_claimed_treasure_is_its_own_face() -> None:
    hand = case("mainland", CHOWS, "1s", indicator="1s", by="discard", source=0)
    assert settle(hand).patterns == {1: {"all_chows": 1}}
    other = hand.model_copy(
        update={"outcome": Outcome(wins=(hand.outcome.wins[0].model_copy(
            update={"tile": parse_tile("9s")}),))}
    )  # fmt: skip
    assert settle(other).error == "not_winning_shape"
