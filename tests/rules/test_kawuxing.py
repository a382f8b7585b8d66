"""Options and readings of the three-player rules of north-west Hubei."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tablectl.rules.case import CaseError, ScoreCase, parse_case
from tablectl.rules.registry import get, settle
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile
from tests.rules import brute
from tests.rules.helpers import meld
from tests.rules.helpers import outcome as four_seats
from tests.rules.test_properties import sample, seeds

PLAIN = "123456p23789s55z"
"""Waits for 1s and 4s, no double."""


def outcome(hand: str, tile: str | None, **fields: Any) -> Settlement:
    return four_seats("kawuxing", hand, tile, players=3, **fields)


def patterns(hand: str, tile: str, **fields: Any) -> dict[str, int | float]:
    found = outcome(hand, tile, **fields)
    assert found.patterns is not None, found
    return found.patterns[fields.get("seat", 1)]


def drawn(*seats: dict[str, Any]) -> tuple[int, ...] | None:
    whole = [{"hand": "", "melds": []} | seat for seat in seats]
    data = {
        "id": "drawn", "rules": "kawuxing", "dealer": 0, "seats": whole, "outcome": {"wins": []},
    }  # fmt: skip
    return settle(parse_case(data)).delta


# --- who may win (K1, K19, K21, G4) -----------------------------------------------------------


def test_a_plain_hand_wins_by_an_own_draw_only() -> None:
    assert outcome(PLAIN, "1s").delta == (-1, 2, -1)
    assert outcome(PLAIN, "1s", by="discard", source=0).error == "below_minimum"


@pytest.mark.parametrize(
    ("fields", "pattern"),
    [
        ({"flags": {"kong_discard": True}}, "claimed_on_kong"),
        ({"me": {"disclosed": True}}, "disclosure"),
    ],
)
def test_doubles_of_the_situation_let_a_claim_win(fields: dict[str, Any], pattern: str) -> None:
    assert patterns(PLAIN, "1s", by="discard", source=0, **fields) == {pattern: 1}


def test_a_missed_win_frees_only_a_better_one() -> None:
    fields: dict[str, Any] = {"by": "discard", "source": 0}
    hand = "46p123789s66677z"
    for missed, error in ((True, "claim_not_allowed"), (2, "claim_not_allowed"), (1, None)):
        assert outcome(hand, "5p", flags={"missed": missed}, **fields).error == error
    assert outcome(hand, "5p", flags={"missed": True}).error is None


def test_seven_pairs_take_no_meld() -> None:
    kong = meld("2222p")
    assert outcome("3344s5566z88p", "8p", melds=[kong]).error == "not_winning_shape"


def test_a_chow_is_no_set() -> None:
    assert outcome("456p789s5577z", "5z", melds=[meld("123p", 0)]).error == "invalid_meld"


def test_only_an_own_pung_is_robbed() -> None:
    robbed = {"by": "rob_kong", "source": 2}
    shown = {2: {"melds": [meld("111s", 0)]}}
    assert patterns(PLAIN, "1s", others=shown, **robbed) == {"robbing_kong": 1}
    assert outcome(PLAIN, "1s", **robbed).error == "claim_not_allowed"


def test_wins_that_do_not_go_together_are_malformed() -> None:
    seats = [{"hand": PLAIN, "melds": []}, {"hand": PLAIN, "melds": []}, {"hand": "", "melds": []}]
    wins = [{"seat": i, "tile": "1s", "by": "self_draw", "from": None} for i in (0, 1)]
    data = {
        "id": "two", "rules": "kawuxing", "dealer": 0, "seats": seats, "outcome": {"wins": wins},
    }  # fmt: skip
    with pytest.raises(CaseError, match="several win only on one discard"):
        settle(parse_case(data))


def test_tiles_of_the_suit_left_out_do_not_exist() -> None:
    with pytest.raises(CaseError, match="1m is not in this set"):
        outcome("123m456p23789s55z", "1s")
    assert outcome("123m456p23789m55z", "1m", options={"removed_suit": "s"}).delta == (-1, 2, -1)


# --- doubles (K2 to K13, K22) -----------------------------------------------------------------


def test_fit_five_needs_the_middle_of_a_run() -> None:
    assert patterns("46p123789s66677z", "5p") == {"fit_five": 1}
    assert "fit_five" not in patterns("34p123789s66677z", "5p")
    # 4 5 5 5 6: the five may be taken into the run or into the pung.
    assert patterns("4556p123789s666z", "5p")["fit_five"] == 1


def test_four_in_one_open() -> None:
    fields: dict[str, Any] = {"melds": [meld("444p", 2)]}
    assert patterns("56p123789s77z", "4p", **fields) == {"open_four_in_one": 1}
    assert patterns("456p23789s77z", "1s", **fields) == {}


def test_a_pattern_of_two_doubles_frees_the_winning_tile() -> None:
    lesser = [meld("444p", 2), meld("666z", 0), meld("555z", 0)]
    assert patterns("456p7z", "7z", melds=lesser) == {
        "lesser_three_elements": 2,
        "open_four_in_one": 1,
    }
    # Two kongs in a row are two doubles of one pattern each: no licence.
    bloom = patterns("456p23s77z", "1s", melds=[meld("444p", 2), meld("9999s")],
                     flags={"kong_draw": 2})  # fmt: skip
    assert bloom == {"bloom_on_kong": 2}


def test_four_in_one_closed() -> None:
    assert patterns("123456p67888s55z", "8s") == {"closed_four_in_one": 2}
    assert patterns("123456p78888s55z", "6s") == {}
    assert patterns("123456p66678s55z", "6s") == {"closed_four_in_one": 2}


def test_two_fours_in_one_count_once() -> None:
    assert patterns("22234p333345s55z", "2p") == {"closed_four_in_one": 2}


def test_lone_tile_takes_the_place_of_all_pung() -> None:
    melds = [meld("222p", 0), meld("8888s"), meld("555z", 2), meld("999p", 2)]
    assert patterns("7s", "7s", melds=melds) == {"lone_tile": 2}
    assert patterns("77s55z", "5z", melds=[*melds[:2], melds[3]]) == {"all_pung": 1}


def test_grades() -> None:
    assert patterns("1122p33557799s6z", "6z") == {"seven_pairs": 2}
    assert patterns("1111p33557799s6z", "6z") == {"dragon_seven_pairs": 3}
    assert patterns("1111p3333557s66z", "7s") == {"double_dragon_seven_pairs": 4}
    assert patterns("1111p33335555s6z", "6z") == {"double_dragon_seven_pairs": 4}


def test_greater_three_elements() -> None:
    melds = [meld("555z", 0), meld("666z", 0)]
    found = patterns("777z22s99s", "9s", melds=melds)
    assert found == {"greater_three_elements": 3, "all_pung": 1}
    runs = patterns("777z23s99s", "1s", melds=melds)
    assert runs == {"greater_three_elements": 3}


def test_everything_else_adds_up() -> None:
    found = patterns("1122335577889s", "9s", flags={"last_tile": True})
    assert found == {"fishing_bottom": 1, "pure_one_suit": 2, "seven_pairs": 2}


def test_dragons_break_one_suit() -> None:
    assert patterns("12345678923s55z", "1s") == {}


def test_flags_that_need_an_own_draw_or_a_discard() -> None:
    claimed = {"by": "discard", "source": 0, "flags": {"last_tile": True, "kong_discard": True}}
    assert patterns(PLAIN, "1s", **claimed) == {"claimed_on_kong": 1}
    own = patterns(PLAIN, "1s", flags={"last_tile": True, "kong_draw": 1})
    assert own == {"bloom_on_kong": 1, "fishing_bottom": 1}


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({}, 8),
        ({"max_doubles": 2}, 4),
        ({"max_doubles": None}, 16),
        ({"double_dragon_exception": True}, 16),
        ({"double_dragon_exception": True, "max_doubles": 2}, 16),
        ({"double_dragon_exception": True, "max_doubles": 6}, 16),
    ],
)
def test_caps(options: dict[str, Any], score: int) -> None:
    hand = outcome("1111p3333557s66z", "7s", by="discard", source=0, options=options)
    assert hand.delta == (-score, score, 0)


def test_the_exception_is_for_double_dragons_only() -> None:
    options = {"double_dragon_exception": True}
    assert outcome("1122335577889s", "9s", options=options).delta == (-8, 16, -8)


# --- payment (K14 to K18, K20) ----------------------------------------------------------------


def test_a_disclosed_winner_is_paid_for_all_by_the_giver() -> None:
    hand = outcome(PLAIN, "1s", by="discard", source=0, me={"disclosed": True})
    assert hand.delta == (-4, 4, 0)


def test_drawn_hands() -> None:
    assert drawn({}, {}, {}) == (0, 0, 0)
    first = {"disclosed": True, "disclosed_order": 1}
    second = {"disclosed": True, "disclosed_order": 2}
    assert drawn(second, {}, first) == (1, 1, -2)
    assert drawn({}, {"disclosed": True}, {}) == (1, -2, 1)
    with pytest.raises(CaseError, match="who was first"):
        drawn({"disclosed": True}, {"disclosed": True}, {})


def test_kongs_are_paid_whatever_happens() -> None:
    grown = {"kind": "added_kong", "tiles": "2222p", "from": 0}
    assert drawn({}, {"melds": [grown]}, {}) == (-1, 2, -1)
    assert drawn({}, {"melds": [meld("2222p", 2)]}, {}) == (0, 2, -2)
    chained = meld("2222p") | {"chain": 2}
    assert drawn({"melds": [chained]}, {}, {}) == (16, -8, -8)


def test_banker_and_streak_do_not_matter() -> None:
    for dealer in range(3):
        assert outcome(PLAIN, "1s", dealer=dealer, streak=5).delta == (-1, 2, -1)


def test_a_false_win_costs_nothing_but_kongs_stay_paid() -> None:
    from tests.rules.helpers import case

    claim = case("kawuxing", PLAIN, "9p", players=3, others={0: {"melds": [meld("6666z")]}})
    assert get("kawuxing").settle_false_win(claim).delta == (4, -2, -2)


# --- best score against plain counting --------------------------------------------------------


def plain_doubles(given_case: ScoreCase) -> tuple[int, int] | None:
    """Doubles of the best hand, capped and not, over every partition; ``None`` for no hand."""
    (win,) = given_case.outcome.wins
    seat = given_case.seats[win.seat]
    assert win.tile is not None
    tiles = [*seat.hand, win.tile]
    melds = [tuple(m.tiles[:3]) for m in seat.melds]
    whole = [*tiles, *(t for m in melds for t in m)]
    pure = 2 * (all(t < 27 for t in whole) and len({t // 9 for t in whole}) == 1)
    cap = given_case.options.get("max_doubles", 3)
    extra = int(win.by == "self_draw" and win.flags.last_tile)
    scores: list[tuple[int, int]] = []

    def score(total: int, least_cap: int = 0) -> None:
        held = total if cap is None else min(total, max(cap, least_cap))
        scores.append((held, total))

    if not melds and brute.is_pairs(tiles):
        fours = sum(tiles.count(t) == 4 for t in set(tiles))
        exception = given_case.options.get("double_dragon_exception") and fours >= 2
        score(pure + extra + 2 + min(fours, 2), 4 if exception else 0)
    for pair, sets in brute.partitions(tiles):
        if len(sets) + len(melds) == 4:
            shape = sets_doubles(win.tile, tiles, melds, pair, sets, free=pure > 0)
            score(pure + extra + shape)
    return max(scores, default=None)


def sets_doubles(
    tile: int,
    tiles: list[Tile],
    melds: list[tuple[Tile, ...]],
    pair: int,
    sets: tuple[tuple[int, ...], ...],
    *,
    free: bool,
) -> int:
    pungs = [s[0] for s in (*sets, *melds) if s[0] == s[1]]
    dragons = sum(t >= 31 for t in pungs)
    total = 0
    if len(melds) == 4:
        total += 2
    elif len(pungs) == 4:
        total += 1
    if dragons == 3:
        total += 3
    elif dragons == 2 and pair >= 31:
        total += 2
    free = free or len(melds) == 4 or dragons == 3 or (dragons == 2 and pair >= 31)
    total += tile % 9 == 4 and tile < 27 and (tile - 1, tile, tile + 1) in sets
    total += any(m[0] in tiles and m[0] == m[1] and (free or m[0] == tile) for m in melds)
    total += 2 * any(tiles.count(t) == 4 and (free or t == tile) for t in set(tiles))
    return total


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_scores_agree_with_plain_counting(seed: int) -> None:
    check_kawuxing(sample("kawuxing", seed))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(seeds)
@settings(max_examples=5_000, deadline=None)
def test_scores_at_length(seed: int) -> None:
    check_kawuxing(sample("kawuxing", seed))


def check_kawuxing(given_case: ScoreCase) -> None:
    expected, found = plain_doubles(given_case), settle(given_case)
    if expected is None:
        assert found.error == "not_winning_shape"
    elif expected == (0, 0) and given_case.outcome.wins[0].from_seat is not None:
        assert found.error == "below_minimum"
    else:
        assert found.patterns is not None, found
        assert found.delta is not None
        (counted,) = found.patterns.values()
        assert sum(counted.values()) == expected[1]
        assert -min(found.delta) == 2 ** expected[0]
