"""Xiamen, Nanchang, Fenghua: the best arrangement against plain counting over everything.

A second counting beside ``tests/rules/exhaustive``, literal and slow, so for fewer hands.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from tablectl.rules.case import Outcome, ScoreCase
from tablectl.rules.nanchang.hand import second_fine
from tablectl.rules.registry import settle
from tests.rules.south_plain import fenghua_points, nanchang_total, xiamen_total
from tests.rules.test_properties import sample

QUICK = 60


def hand(rules: str, seed: int, wilds: int, spoil: float = 0.3) -> ScoreCase:
    """A sample that is no last tile and no first turn, with few wild tiles."""
    case = sample(rules, seed, max_wilds=wilds, spoil=spoil)
    (win,) = case.outcome.wins
    plain = win.model_copy(update={"flags": win.flags.model_copy(update={"last_tile": False})})
    return case.model_copy(update={"outcome": Outcome(wins=(plain,))})


def check_xiamen(seed: int, wilds: int) -> None:
    case = hand("xiamen", seed, wilds)
    expected, found = xiamen_total(case), settle(case)
    (win,) = case.outcome.wins
    assert (found.error or (found.delta or ())[win.seat]) == expected


def check_nanchang(seed: int, wilds: int) -> None:
    case = hand("nanchang", seed, wilds)
    (win,) = case.outcome.wins
    assert case.indicator is not None
    fines = {case.indicator, second_fine(case.indicator)}
    if sum(t in fines for t in (*case.seats[win.seat].hand, win.tile)) > wilds:
        return
    expected, found = nanchang_total(case), settle(case)
    if found.delta is None:
        assert found.error == expected
        return
    assert found.patterns is not None
    patterns = found.patterns[win.seat]
    doubles, german = len(patterns), "german" in patterns
    total = 0
    for loser in ((win.seat + i) % 4 for i in (1, 2, 3)):
        own = (case.dealer in (loser, win.seat)) + (loser == win.from_seat)
        total += int(2 ** (doubles + own)) + 5 * german
    assert total == expected


def check_fenghua(seed: int, wilds: int) -> None:
    case = hand("fenghua", seed, wilds)
    expected, found = fenghua_points(case), settle(case)
    if found.patterns is None:
        assert found.error == expected
    else:
        ((_, points),) = found.patterns.items()
        assert sum(points.values()) == expected


CHECKS: dict[str, Callable[[int, int], None]] = {
    "xiamen": check_xiamen,
    "nanchang": check_nanchang,
    "fenghua": check_fenghua,
}


@pytest.mark.parametrize("rules", sorted(CHECKS))
def test_best_arrangement(rules: str) -> None:
    rng = Random(7)
    for _ in range(QUICK):
        CHECKS[rules](rng.randrange(2**32), 1)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rules", sorted(CHECKS))
def test_best_arrangement_at_length(rules: str) -> None:
    for seed in range(2_000):
        CHECKS[rules](seed, 1 if seed % 20 else 2)
