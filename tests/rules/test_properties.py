"""What holds for every hand: best score, zero sum, symmetries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules.case import Meld, Outcome, ScoreCase
from tablectl.rules.registry import IDS, get, settle
from tablectl.rules.samples import winning_case
from tablectl.tiles import WHITE, Tile
from tests.rules import brute
from tests.rules.test_cases import HERE, every

seeds = st.integers(0, 2**32 - 1)


CHOICES: dict[str, dict[str, list[Any]]] = {
    "hongkong": {"payment": ["thrower_all", "thrower_half"]},
    "kawuxing": {"max_doubles": [None, 2, 5], "double_dragon_exception": [True]},
    "beijing": {
        "wild_eye_double": [True],
        "native_wild_flush_double": [True],
        "void_suit": [True],
        "discard_liability": [True],
        "extra_doubles": [{"pure_one_suit": 2, "all_pung": 1, "single_tile": 1, "last_tile": 1}],
        "doubles": [{"straight": 0, "catch_five": 2}, {"closed": 0, "own_tile": 2}],
        "wild_kong_points": [0],
    },
    "fenghua": {
        "claim_minimum": [3],
        "limit_unit": [30],
        "all_honors_award": ["celebration"],
    },
    "xiamen": {
        "scoring": ["quanzhou"],
        "quanzhou_open_pung_as_closed": [True],
        "required_float": [True],
        "base_factor": [1, 5],
    },
    "mainland": {
        "fan": [{"all_pungs": 1, "dragon_pung": 3}],
        "payment": ["discarder_all"],
        "dealer_double": [True],
        "minimum_fan": [2],
    },
    "yangzhou": {
        "schedule": ["old", "new"],
        "minimum": [0],
        "count_contained": [True],
        "all_honors_factor": [2],
        "quadruplet_runs_factor": [2],
    },
    "wuhan": {
        "kong_tiles": ["red_green", "peel"],
        "double_each_open_set": [True],
        "multi_major": ["exponential"],
        "minimum": [0, 32],
        "divide_by": [10, 20],
        "limit": [50],
    },
    "jingzhou": {
        "double_each_open_set": [True],
        "multi_major": ["exponential"],
        "minimum": [0],
        "divide_by": [10],
    },
}
"""Options that the samples of a rule set switch now and then."""

NO_CHOWS = ("kawuxing",)


def sample(rules: str, seed: int, *, max_wilds: int = 4, spoil: float = 0.3) -> ScoreCase:
    """A random case; four Hangzhou wild tiles only with permanent fortune."""
    rng = Random(seed)
    options = {
        name: rng.choice(values)
        for name, values in CHOICES.get(rules, {}).items()
        if rng.random() < 0.4
    }
    declared = get(rules)
    kit = declared.equipment(declared.options(options))
    wilds, wild, indicator = 0, None, None
    if rules == "hangzhou":
        wilds = rng.randrange(max_wilds + 1)
        if wilds == 4 or rng.random() < 0.3:
            options, wild = {"permanent_fortune": True}, WHITE
            kit = declared.equipment(declared.options(options))
    if kit.indicator:
        turned = rng.choice([t for t in kit.kinds if t != WHITE])
        tiles = declared.wild(turned, declared.options(options)).tiles
        wild = turned if turned in tiles else min(tiles)
        indicator = turned if wild != turned else None
        if rules != "hangzhou":
            wilds = rng.randrange(min(max_wilds, kit.copies[wild] - (wild == turned)) + 1)
    return winning_case(
        rng, rules, kit, options=options, wild=wild, wilds=wilds, indicator=indicator,
        spoil=spoil, chows=rules not in NO_CHOWS,
    )  # fmt: skip


# --- best score against brute force -----------------------------------------------------------


def hangzhou_multiplier(case: ScoreCase) -> int | None:
    """The multiplier by exhaustive substitution; ``None`` for no winning shape."""
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    fortune = WHITE if case.options.get("permanent_fortune") else case.indicator
    white_face = WHITE if case.options.get("permanent_fortune") else case.indicator
    assert win.tile is not None

    def naturals(tiles: Sequence[Tile]) -> list[int]:
        kept = [t for t in tiles if t != fortune]
        return [white_face if t == WHITE else t for t in kept]  # type: ignore[misc]

    before = naturals(seat.hand)
    wild_before = len(seat.hand) - len(before)
    whole = [*before, *naturals([win.tile])]
    wilds = len(seat.hand) + 1 - len(whole)
    calls_any = wild_before > 0 and (
        brute.any_substitution(before, wild_before - 1, brute.is_sets)
        or (not seat.melds and brute.any_substitution(before, wild_before - 1, brute.is_pairs))
    )
    scores = []
    if brute.any_substitution(whole, wilds, brute.is_standard):
        scores.append(1)
    if not seat.melds and brute.any_substitution(whole, wilds, brute.is_pairs):
        fours = sum(whole.count(t) == 4 for t in set(whole))
        scores.append((2 if wilds else 4) * 2**fours)
    if not scores:
        return None
    return max(scores) * (2 if calls_any and win.by == "self_draw" else 1)


def check_hangzhou(case: ScoreCase) -> None:
    win = case.outcome.wins[0].model_copy(update={"by": "self_draw", "from_seat": None})
    case = case.model_copy(update={"outcome": Outcome(wins=(win,))})
    expected, found = hangzhou_multiplier(case), settle(case)
    if expected is None:
        assert found.error == "not_winning_shape"
        return
    assert found.patterns is not None
    product = 1
    for value in found.patterns[win.seat].values():
        product *= int(value)
    assert product == expected


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_hangzhou_scores_agree_with_substitution(seed: int) -> None:
    check_hangzhou(sample("hangzhou", seed, max_wilds=2))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(seeds)
@settings(max_examples=300, deadline=None)
def test_hangzhou_scores_at_length(seed: int) -> None:
    check_hangzhou(sample("hangzhou", seed))


def hongkong_faan(case: ScoreCase) -> int:
    """The best hand's faan, counted plainly over every partition; -1 for no winning shape."""
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    assert win.tile is not None
    held = [*seat.hand, win.tile]
    laid = [tuple(sorted(m.tiles[:3])) for m in seat.melds]
    return max(
        (
            _faan(case, pair, [*sets, *laid])
            for pair, sets in brute.partitions(held)
            if len(sets) + len(laid) == 4
        ),
        default=-1,
    )


def _faan(case: ScoreCase, pair: int, sets: list[tuple[int, ...]]) -> int:
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    tiles = [pair, *(t for s in sets for t in s)]
    pungs = [s[0] for s in sets if s[0] == s[1]]
    honours, suits = [t for t in tiles if t >= 27], {t // 9 for t in tiles if t < 27}
    dragons, winds = [t for t in pungs if t >= 31], [t for t in pungs if 27 <= t < 31]
    closed, drawn = not seat.melds, win.by == "self_draw"
    if len(winds) == 4 or not suits or all(t < 27 and t % 9 in (0, 8) for t in tiles):
        return 10
    if len(pungs) == 4 and closed and drawn:
        return 10
    ranks = sorted(t % 9 for t in seat.hand)
    one_suit = len({t // 9 for t in [*seat.hand, win.tile or 0]}) == 1 and not honours
    if closed and one_suit and ranks == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]:
        return 10
    own, wind = (win.seat - case.dealer) % 4, "ESWN".index(case.round_wind or "E")
    total = drawn + closed + win.flags.last_tile
    total += 3 if len(pungs) == 4 else 1 if not pungs else 0
    total += 0 if len(suits) > 1 else 3 if honours else 7
    if len(dragons) == 3:
        total += 8
    elif len(dragons) == 2 and pair >= 31:
        total += 5
    else:
        total += len(dragons)
    if len(winds) == 3 and 27 <= pair < 31:
        total += 6
    else:
        total += (27 + own in winds) + (27 + wind in winds)
    flowers = {t - 34 for t in seat.flowers}
    for low in (0, 4):
        whole = {low, low + 1, low + 2, low + 3}
        total += 2 if whole <= flowers else int(low + own in flowers)
    return min(10, total + (not flowers))


def check_hongkong(case: ScoreCase) -> None:
    expected, found = hongkong_faan(case), settle(case)
    if expected < 0:
        assert found.error == "not_winning_shape"
    elif expected < 3:
        assert found.error == "below_minimum"
    else:
        assert found.patterns is not None
        (counted,) = found.patterns.values()
        assert min(10, sum(counted.values())) == expected


@given(seeds)
@settings(max_examples=200, deadline=None)
def test_hongkong_scores_agree_with_plain_counting(seed: int) -> None:
    check_hongkong(sample("hongkong", seed))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(seeds)
@settings(max_examples=5_000, deadline=None)
def test_hongkong_scores_at_length(seed: int) -> None:
    check_hongkong(sample("hongkong", seed))


# --- zero sum and symmetries ------------------------------------------------------------------


def mapped(case: ScoreCase, face: Callable[[Tile], Tile]) -> ScoreCase:
    """The case with every tile exchanged."""

    def tiles(row: tuple[Tile, ...]) -> tuple[Tile, ...]:
        return tuple(face(t) for t in row)

    def meld(m: Meld) -> Meld:
        return m.model_copy(update={"tiles": tiles(m.tiles)})

    seats = tuple(
        s.model_copy(
            update={
                "hand": tiles(s.hand),
                "aside": tiles(s.aside),
                "melds": tuple(meld(m) for m in s.melds),
            }
        )
        for s in case.seats
    )
    wins = tuple(
        w.model_copy(update={"tile": None if w.tile is None else face(w.tile)})
        for w in case.outcome.wins
    )
    indicator = None if case.indicator is None else face(case.indicator)
    return case.model_copy(
        update={
            "seats": seats, "indicator": indicator,
            "outcome": case.outcome.model_copy(update={"wins": wins}),
        }
    )  # fmt: skip


def rotated(case: ScoreCase, by: int) -> ScoreCase:
    """The case with everybody moved ``by`` seats on."""
    n = len(case.seats)

    def seat(s: int | None) -> int | None:
        return None if s is None else (s + by) % n

    moved = [
        s.model_copy(
            update={
                "melds": tuple(
                    m.model_copy(update={"from_seat": seat(m.from_seat)}) for m in s.melds
                )
            }
        )
        for s in case.seats
    ]
    wins = tuple(
        w.model_copy(update={"seat": seat(w.seat), "from_seat": seat(w.from_seat)})
        for w in case.outcome.wins
    )
    return case.model_copy(
        update={
            "dealer": seat(case.dealer),
            "seats": tuple(moved[(i - by) % n] for i in range(n)),
            "outcome": case.outcome.model_copy(update={"wins": wins}),
        }
    )


@cache
def published(rules: str) -> tuple[ScoreCase, ...]:
    return tuple(c for c in every(HERE) if c.rules == rules)


def all_cases(rules: str, seed: int) -> list[ScoreCase]:
    cases = published(rules)
    return [sample(rules, seed), cases[seed % len(cases)]]


@pytest.mark.parametrize("rules", IDS)
@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_payments_sum_to_zero(rules: str, seed: int) -> None:
    for case in all_cases(rules, seed):
        found = settle(case)
        assert (found.delta is None) == (found.error is not None)
        assert sum(found.delta or ()) == 0


CHARACTERS_DIFFER = ("kawuxing", "beijing", "jingzhou")
"""Characters are left out of the set, or score by themselves (B10)."""


@pytest.mark.parametrize("rules", IDS)
@given(seed=seeds, order=st.sampled_from(list(permutations(range(3)))))
@settings(max_examples=30, deadline=None)
def test_suits_may_be_relabelled(rules: str, seed: int, order: tuple[int, ...]) -> None:
    if rules in CHARACTERS_DIFFER and order[0] != 0:
        return

    def face(tile: Tile) -> Tile:
        return Tile(order[tile // 9] * 9 + tile % 9) if tile < 27 else tile

    for case in all_cases(rules, seed):
        before, after = settle(case), settle(mapped(case, face))
        assert (before.delta, before.patterns, before.error) == (
            after.delta, after.patterns, after.error,
        )  # fmt: skip


@pytest.mark.parametrize("rules", IDS)
@given(seed=seeds, by=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_seats_may_be_rotated(rules: str, seed: int, by: int) -> None:
    for case in all_cases(rules, seed):
        before, after = settle(case), settle(rotated(case, by))
        assert before.error == after.error
        if before.delta is not None and after.delta is not None:
            n = len(before.delta)
            assert after.delta == tuple(before.delta[(i - by) % n] for i in range(n))
        assert list((before.patterns or {}).values()) == list((after.patterns or {}).values())


@pytest.mark.parametrize("rules", IDS)
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_the_order_of_tiles_means_nothing(rules: str, seed: int) -> None:
    for case in all_cases(rules, seed):
        shuffled = [
            s.model_copy(update={"hand": tuple(Random(seed).sample(s.hand, len(s.hand)))})
            for s in case.seats
        ]
        assert settle(case.model_copy(update={"seats": tuple(shuffled)})) == settle(case)


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_wild_tiles_are_accounted_for(seed: int) -> None:
    case = sample("hangzhou", seed)
    (win,) = case.outcome.wins
    fortune = WHITE if case.options else case.indicator
    held = [t for t in (*case.seats[win.seat].hand, win.tile) if t == fortune]
    found = settle(case)
    if found.delta is not None:
        told = [t for tiles in found.wild_as.get(win.seat, {}).values() for t in tiles]
        assert len(told) == len(held)
