"""Options and readings of the Beijing rules."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings

from tablectl.rules.case import (
    CaseError,
    Outcome,
    ScoreCase,
    SeatState,
    Win,
    count_table_tiles,
    parse_case,
)
from tablectl.rules.registry import get, settle
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile, format_tile, parse_tile, parse_tiles
from tests.rules import brute
from tests.rules.helpers import case, meld
from tests.rules.helpers import outcome as helper_outcome
from tests.rules.test_properties import sample, seeds

STRAIGHT = "123m456p78s33555z"
"""Waits for 6s and 9s; 2z is wild under the indicator 1z."""
FIVE_MAN = parse_tile("5m")


def outcome(hand: str, tile: str | None, **fields: Any) -> Settlement:
    return helper_outcome("beijing", hand, tile, **{"indicator": "1z"} | fields)


def patterns(hand: str, tile: str, **fields: Any) -> dict[str, int | float]:
    found = outcome(hand, tile, **fields)
    assert found.patterns is not None, found
    return found.patterns[fields.get("seat", 1)]


def drawn(*seats: dict[str, Any], **fields: Any) -> tuple[int, ...] | None:
    whole = [{"hand": "", "melds": []} | seat for seat in seats]
    data = {
        "id": "drawn", "rules": "beijing", "dealer": 0, "indicator": "1z", "seats": whole,
        "outcome": {"wins": [], "flags": fields.pop("flags", {})},
    } | fields  # fmt: skip
    return settle(parse_case(data)).delta


# --- wild tiles (B24 to B26) ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indicator", "wild"),
    [("9p", "1p"), ("4s", "5s"), ("1z", "2z"), ("4z", "1z"), ("7z", "6z"), ("6z", "5z"),
     ("5z", "7z")],
)  # fmt: skip
def test_the_tile_after_the_indicator_is_wild(indicator: str, wild: str) -> None:
    rules = get("beijing")
    tiles = rules.wild(parse_tile(indicator), rules.options()).tiles
    assert [format_tile(tile) for tile in tiles] == [wild]


def test_an_indicator_is_needed() -> None:
    with pytest.raises(CaseError, match="need the wild indicator"):
        outcome(STRAIGHT, "9s", indicator=None)


def test_who_threw_a_wild_tile_has_forfeited() -> None:
    assert outcome(STRAIGHT, "9s", me={"aside": "2z"}).error == "forfeited"
    assert outcome(STRAIGHT, "9s", others={2: {"aside": "2z"}}).error is None


def test_no_wild_tile_in_open_sets() -> None:
    assert outcome("456p78s33555z", "9s", melds=[meld("222z", 0)]).error == "invalid_meld"
    wild_run = [{"kind": "chow", "tiles": "12m2z", "from": 0}]
    assert outcome("456p78s33555z", "9s", melds=wild_run).error == "invalid_meld"


# --- who may claim (B3, B4, B6) ---------------------------------------------------------------


def test_a_claim_needs_a_closed_hand() -> None:
    claim: dict[str, Any] = {"by": "discard", "source": 2}
    chow, kong = meld("123m", 0), meld("1111m")
    assert outcome("456p78s33555z", "9s", melds=[chow], **claim).error == "claim_not_allowed"
    assert outcome("456p78s33555z", "9s", melds=[kong], **claim).error is None
    assert outcome("456p78s33555z", "9s", melds=[chow]).error is None


def test_a_wild_tile_may_complete_what_is_claimed() -> None:
    claim: dict[str, Any] = {"by": "discard", "source": 2}
    assert outcome("123m456p7s2z33555z", "9s", **claim).error is None
    assert outcome("123m4p22z78s33555z", "9s", **claim).error is None


@pytest.mark.parametrize("hand", ["123m456p789s2555z", "1122m3355p88s66z2z"])
def test_an_eye_call_wins_by_an_own_draw_only(hand: str) -> None:
    assert outcome(hand, "9p", by="discard", source=2).error == "claim_not_allowed"
    assert outcome(hand, "9p").error is None


def test_a_closed_kong_is_robbed_for_a_flush_only() -> None:
    robbed: dict[str, Any] = {"by": "rob_kong", "source": 2}
    assert outcome("12345678p789s33z", "9p", **robbed).patterns == {
        1: {"closed": 1, "straight": 1, "flush": 1}
    }
    assert outcome(STRAIGHT, "9s", **robbed).error == "claim_not_allowed"
    shown = {2: {"melds": [meld("999s", 0)]}}
    assert outcome(STRAIGHT, "9s", others=shown, **robbed).error is None


def test_a_missed_win_locks_only_as_an_option() -> None:
    claim: dict[str, Any] = {"by": "discard", "source": 2, "flags": {"missed": True}}
    assert outcome(STRAIGHT, "9s", **claim).error is None
    locked = outcome(STRAIGHT, "9s", options={"missed_win_lock": True}, **claim)
    assert locked.error == "claim_not_allowed"


# --- doubles (B5 to B11, B20 to B23, B27) -----------------------------------------------------


def test_straight_takes_wild_tiles_at_face_value() -> None:
    assert patterns("123m456p78s22555z", "9s") == {"closed": 1, "own_tile": 1, "straight": 1}
    assert "straight" not in patterns("123m456p7s2z33555z", "9s")


def test_deluxe_is_natural() -> None:
    assert patterns("1111m3355p889s66z", "9s")["deluxe"] == 1
    assert patterns("1111m3333p889s66z", "9s")["deluxe"] == 2
    wild = patterns("111m2z3355p889s66z", "9s")
    assert "seven_pairs" in wild
    assert "deluxe" not in wild
    four_wild = patterns("2222z3355p889s66z", "9s")
    assert "deluxe" not in four_wild


@pytest.mark.parametrize(
    ("hand", "fields", "caught"),
    [
        ("46m123p789s33555z", {}, True),
        ("4m2z123p789s33555z", {}, True),  # the wild tile is the 6m
        ("6m2z123p789s33555z", {}, True),  # and here the 4m
        ("34m123p789s33555z", {}, False),  # 5m ends 3-4-5
        ("5m1133p7788s3366z", {}, True),
        ("2z1133p7788s3366z", {}, False),  # a wild tile paired it
        ("46m123p789s33555z", {"indicator": "4m"}, True),  # 5m is wild, drawn at face value
    ],
)
def test_catch_five(hand: str, fields: dict[str, Any], caught: bool) -> None:
    assert ("catch_five" in patterns(hand, "5m", **fields)) is caught


def test_only_characters_are_caught() -> None:
    assert "catch_five" not in patterns("46p123m789s33555z", "5p")


def test_wild_eye() -> None:
    options = {"wild_eye_double": True}
    hand = "123m456p789s2555z"
    assert patterns(hand, "9p", options=options)["wild_eye"] == 1
    assert "wild_eye" not in patterns(hand, "9p")
    straight = patterns(hand, "2z", options=options)
    assert straight["straight"] == 1
    assert "wild_eye" not in straight


def test_native_wild_flush() -> None:
    options = {"native_wild_flush_double": True}
    hand = "134566789p11m33z"
    assert patterns(hand, "1m", options=options, indicator="5p")["native_wild_flush"] == 1
    assert "native_wild_flush" not in patterns(hand, "1m", indicator="5p")
    other = patterns("13456789p2z11m33z", "1m", options=options)
    assert other["flush"] == 1
    assert "native_wild_flush" not in other


def test_void_suit() -> None:
    options = {"void_suit": True}
    assert outcome(STRAIGHT, "9s", options=options).error == "not_winning_shape"
    assert outcome("12345678m33555z", "9m", options=options).error is None
    # A wild 1s lacks bamboos if it stands for something else, not at face value.
    wild: dict[str, Any] = {"options": options, "indicator": "9s"}
    assert "straight" not in patterns("12m456m789p33555z", "1s", **wild)


def test_added_patterns() -> None:
    every = {"pure_one_suit": 2, "all_pung": 1, "single_tile": 1, "last_tile": 1}
    options = {"extra_doubles": every}
    melds = [meld(t, 0) for t in ("111p", "333p", "555p", "777p")]
    found = patterns("9p", "9p", melds=melds, options=options, flags={"last_tile": True})
    assert {name: found[name] for name in every} == every
    assert not set(every) & set(patterns(STRAIGHT, "9s", options=options))
    pairs = patterns("1133557799p22p4p", "4p", options=options)
    assert "all_pung" not in pairs
    assert pairs["pure_one_suit"] == 2


def test_weights() -> None:
    options = {"doubles": {"straight": 0, "closed": 3, "own_tile": 2, "banker": 2}}
    found = outcome(STRAIGHT, "9s", options=options)
    assert found.patterns == {1: {"closed": 3, "own_tile": 2}}
    assert found.delta == (-128, 192, -32, -32)
    claimed = outcome(STRAIGHT, "9s", by="discard", source=2, options=options)
    assert claimed.delta == (-32, 72, -32, -8)


def test_unknown_patterns_are_malformed() -> None:
    with pytest.raises(CaseError, match=r"options\.doubles"):
        outcome(STRAIGHT, "9s", options={"doubles": {"dragon": 1}})


# --- payment (B1, B2, B12 to B19) -------------------------------------------------------------


def test_a_claim_is_paid_by_all_and_by_the_giver_double() -> None:
    assert outcome(STRAIGHT, "9s", by="discard", source=2).delta == (-8, 20, -8, -4)
    assert outcome(STRAIGHT, "9s", by="discard", source=0).delta == (-16, 24, -4, -4)
    robbed = {0: {"melds": [meld("999s", 2)]}}
    assert outcome(STRAIGHT, "9s", by="rob_kong", source=0, others=robbed).delta == (
        -16, 24, -4, -4,
    )  # fmt: skip


def test_kong_points() -> None:
    melds = [meld("9999s", 2), meld("8888m"),
             {"kind": "added_kong", "tiles": "1111s", "from": 0}]  # fmt: skip
    hand: dict[str, Any] = {"melds": melds}
    assert outcome("45p66z", "6p", **hand).delta == (-12, 28, -8, -8)
    doubled = {"kong_points_banker_double": True}
    assert outcome("45p66z", "6p", options=doubled, **hand).delta == (-16, 32, -8, -8)
    bloom = outcome("45p66z", "6p", flags={"kong_draw": 3}, **hand)
    assert bloom.patterns == {1: {"own_tile": 1, "straight": 1, "kong_bloom": 1}}
    assert bloom.delta == (-24, 56, -16, -16)
    # Kongs of the others score nothing.
    assert outcome(STRAIGHT, "9s", others={2: {"melds": [meld("8888m")]}}).delta == (
        -16, 32, -8, -8,
    )  # fmt: skip


def test_rare_events() -> None:
    heavenly = outcome(STRAIGHT, "9s", seat=0, by="deal")
    assert heavenly.patterns == {0: {"heavenly_win": 20}}
    off = outcome(STRAIGHT, "9s", seat=0, by="deal", options={"heavenly_points": 0})
    assert off.delta == (48, -16, -16, -16)
    earthly: dict[str, Any] = {"by": "discard", "source": 0, "flags": {"first_turn": True}}
    assert outcome(STRAIGHT, "9s", **earthly).delta == (-20, 60, -20, -20)
    assert outcome(STRAIGHT, "9s", options={"earthly_points": 0}, **earthly).delta == (
        -16, 24, -4, -4,
    )  # fmt: skip
    liable = outcome(STRAIGHT, "9s", options={"discard_liability": True}, **earthly)
    assert liable.delta == (-60, 60, 0, 0)
    eye_call = outcome("123m456p789s2555z", "9p", **earthly)
    assert eye_call.error == "claim_not_allowed"


def test_a_wild_kong_is_paid_in_any_hand() -> None:
    held = {"hand": "123m789p4s222266z"}
    assert drawn({}, held, {}, {}) == (-20, 60, -20, -20)
    assert drawn({}, held, {}, {}, options={"wild_kong_points": 0}) == (0, 0, 0, 0)
    won = outcome(STRAIGHT, "9s", others={2: {"hand": "123m789p1s222266z"}})
    assert won.delta == (-16 - 20, 32 - 20, -8 + 60, -8 - 20)
    assert won.patterns == {1: {"closed": 1, "own_tile": 1, "straight": 1}}
    drew_the_fourth = outcome("123m789p45s22266z", "2z")
    assert (drew_the_fourth.patterns or {})[1]["wild_kong"] == 20


def test_upstairs_doubles_everything() -> None:
    up = {"outcome": {"wins": [{"seat": 1, "tile": "9s", "by": "self_draw", "from": None}],
                      "flags": {"upstairs": True}}}  # fmt: skip
    assert outcome(STRAIGHT, "9s", **up).delta == (-16, 32, -8, -8)
    on = {"options": {"upstairs": "after_draw"}}
    assert outcome(STRAIGHT, "9s", **up, **on).delta == (-32, 64, -16, -16)
    assert outcome(STRAIGHT, "9s", streak=3, **on).delta == (-16, 32, -8, -8)
    third = {"options": {"upstairs": "after_draw_or_streak3"}}
    assert outcome(STRAIGHT, "9s", streak=3, **third).delta == (-32, 64, -16, -16)
    assert outcome(STRAIGHT, "9s", streak=3, **up, **third).delta == (-32, 64, -16, -16)
    held = {"hand": "123m789p4s222266z"}
    assert drawn({}, held, {}, {}, flags={"upstairs": True}, **on) == (-40, 120, -40, -40)


def test_a_busted_banker_pays_in_a_won_hand() -> None:
    win = {"seat": 1, "tile": "9s", "by": "self_draw", "from": None}
    sacked = {"outcome": {"wins": [win], "flags": {"sacked": True}}}
    options = {"busted_banker": True}
    assert outcome(STRAIGHT, "9s", **sacked).delta == (-16, 32, -8, -8)
    assert outcome(STRAIGHT, "9s", options=options, **sacked).delta == (-46, 42, 2, 2)
    assert drawn({}, {}, {}, {}, flags={"sacked": True}, options=options) == (0, 0, 0, 0)


def test_discard_liability() -> None:
    options = {"discard_liability": True}
    found = outcome(STRAIGHT, "9s", by="discard", source=2, options=options)
    assert found.delta == (0, 20, -20, 0)
    assert outcome(STRAIGHT, "9s", options=options).delta == (-16, 32, -8, -8)


def test_false_wins() -> None:
    rules = get("beijing")
    made_up = case("beijing", "123m456p78s33555z", "1p", indicator="1z")
    assert rules.settle_false_win(made_up).delta == (8, -16, 4, 4)
    barred = case("beijing", "456p78s33555z", "9s", indicator="1z", melds=[meld("123m", 0)],
                  by="discard", source=2)  # fmt: skip
    assert rules.settle_false_win(barred).delta == (4, -10, 4, 2)
    fixed = made_up.model_copy(update={"options": {"false_win": "fixed"}})
    assert rules.settle_false_win(fixed).delta == (20, -60, 20, 20)


# --- best score against brute force -----------------------------------------------------------


def plain_doubles(given_case: ScoreCase) -> int | None:
    """The best hand's doubles by exhaustive substitution; ``None`` for no winning hand."""
    (win,) = given_case.outcome.wins
    seat, options = given_case.seats[win.seat], given_case.options
    rules = get("beijing")
    (wild,) = rules.wild(given_case.indicator, rules.options(options)).tiles
    assert win.tile is not None
    before = [t for t in seat.hand if t != wild]
    whole: list[int] = [*before, *([win.tile] if win.tile != wild else [])]
    wilds = len(seat.hand) + 1 - len(whole)
    spare = len(seat.hand) - len(before) - 1
    eye_call = spare >= 0 and (
        brute.any_substitution(before, spare, brute.is_sets)
        or (not seat.melds and brute.any_substitution(before, spare, brute.is_pairs))
    )
    common = (win.seat == given_case.dealer) * weigh(options, "banker")
    common += (not seat.melds) * weigh(options, "closed") + weigh(options, "own_tile")
    common += win.flags.last_tile * options.get("extra_doubles", {}).get("last_tile", 0)
    best = None
    for chosen in brute.substitutions([], wilds):
        for score in shape_doubles(given_case, whole, chosen, wild, eye_call):
            best = score if best is None else max(best, score)
    return None if best is None else best + common


def weigh(options: dict[str, Any], name: str) -> int:
    return int(options.get("doubles", {}).get(name, 1))


def shape_doubles(
    given_case: ScoreCase, naturals: list[int], chosen: list[int], wild: int, eye_call: bool
) -> Iterator[int]:
    (win,) = given_case.outcome.wins
    options, laid = given_case.options, given_case.seats[win.seat].melds
    tiles = [*naturals, *chosen]
    melds = [tuple(sorted(m.tiles[:3])) for m in laid]
    suits = {t // 9 for t in [*tiles, *(t for m in melds for t in m)] if t < 27}
    honours = any(t >= 27 for t in [*tiles, *(t for m in melds for t in m)])
    if options.get("void_suit") and len(suits) == 3:
        return
    straight = all(t == wild for t in chosen)
    base = weigh(options, "straight") if straight else 0
    if options.get("wild_eye_double") and eye_call and not straight:
        base += weigh(options, "wild_eye")
    added = options.get("extra_doubles", {})
    if len(suits) == 1 and not honours:
        base += added.get("pure_one_suit", 0)
    fives = chosen.count(FIVE_MAN) if wild == FIVE_MAN else naturals.count(FIVE_MAN)
    if not laid and brute.is_pairs(tiles):
        fours = sum(naturals.count(t) == 4 for t in set(naturals))
        caught = win.tile == FIVE_MAN and fives >= 2
        yield (
            base + weigh(options, "seven_pairs") + fours * weigh(options, "deluxe")
            + caught * weigh(options, "catch_five")
        )  # fmt: skip
    for _, sets in brute.partitions(tiles):
        every = [*sets, *melds]
        if len(every) != 4:
            continue
        score = base
        for low in (0, 9, 18):
            runs = {(low + i, low + i + 1, low + i + 2) for i in (0, 3, 6)}
            if runs <= set(every):
                score += weigh(options, "flush")
                native = any(t != wild and t // 9 == low // 9 for t in chosen)
                if options.get("native_wild_flush_double") and native and wild // 9 == low // 9:
                    score += 1
        if win.tile == FIVE_MAN and fives and (3, 4, 5) in sets:
            score += weigh(options, "catch_five")
        if all(s[0] == s[1] for s in every):
            score += added.get("all_pung", 0)
        yield score


def check_beijing(given_case: ScoreCase) -> None:
    (win,) = given_case.outcome.wins
    own = win.model_copy(update={"by": "self_draw", "from_seat": None})
    given_case = given_case.model_copy(update={"outcome": Outcome(wins=(own,))})
    expected, found = plain_doubles(given_case), settle(given_case)
    if expected is None:
        assert found.error == "not_winning_shape"
        return
    assert found.patterns is not None, found
    counted = found.patterns[win.seat]
    assert sum(n for name, n in counted.items() if name != "wild_kong") == expected, found


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_scores_agree_with_substitution(seed: int) -> None:
    check_beijing(sample("beijing", seed, max_wilds=2))


def with_fives(seed: int) -> ScoreCase:
    """A sample whose winner draws 5m to tiles around it, now and then with 5m as the wild kind."""
    rng = Random(seed)
    given_case = sample("beijing", seed, max_wilds=0)
    indicator = parse_tile(rng.choice(["4m", "3m", "5m", "1z", "4p"]))
    (wild,) = get("beijing").wild(indicator, get("beijing").options()).tiles
    starts = ["46m", "55m", "5m", "4556m", "45567m", "44566m"]
    shown = format_tile(wild)
    starts += [f"4m{shown}", f"{shown}6m", f"5m{shown}", shown]
    tiles = list(parse_tiles(rng.choice(starts)))
    paired = rng.random() < 0.4
    while len(tiles) < 13:
        kind = Tile(rng.randrange(34))
        low = Tile(rng.choice((0, 3, 6, 9, 12, 15, 18, 24)))
        if paired or 13 - len(tiles) < 3:
            tiles += [kind] * 2
        else:
            tiles += [low, Tile(low + 1), Tile(low + 2)] if rng.random() < 0.7 else [kind] * 3
    hand = tuple(tiles[:13])
    seats = [SeatState() for _ in range(4)]
    seats[1] = SeatState(hand=hand)
    win = Win(seat=1, tile=FIVE_MAN, by="self_draw")
    return given_case.model_copy(
        update={"indicator": indicator, "seats": tuple(seats), "outcome": Outcome(wins=(win,))}
    )


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_fives_agree_with_substitution(seed: int) -> None:
    given_case = with_fives(seed)
    tiles = count_table_tiles(given_case)
    (wild,) = get("beijing").wild(given_case.indicator, get("beijing").options()).tiles
    assume(max(tiles) <= 4 and tiles[wild] <= 2)
    check_beijing(given_case)


def test_a_wild_eye_at_face_value_is_straight_and_no_wild_eye() -> None:
    options = {"wild_eye_double": True, "doubles": {"straight": 0}}
    found = patterns("4456633m44z77p77z", "5m", options=options, indicator="4m")
    assert "wild_eye" not in found
    assert found["catch_five"] == 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(seeds)
@settings(max_examples=300, deadline=None)
def test_scores_at_length(seed: int) -> None:
    check_beijing(sample("beijing", seed))
