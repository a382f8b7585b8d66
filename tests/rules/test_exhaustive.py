"""Win or no win, and the best score, against exhaustive substitution; the same for the decomposer.

Quick samples; the long runs (``make check-long``) take 100,000 claims a rule set. One set alone:
``pytest -m slow tests/rules/test_exhaustive.py -k fenghua``, or ``python -m
tests.rules.exhaustive.compare fenghua --hands 20000 --first 40000`` for a part of it.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tablectl.rules.registry import IDS, settle
from tests.rules.exhaustive import decomposer, payments
from tests.rules.exhaustive.compare import Figures, compare
from tests.rules.exhaustive.deals import MOST_WILDS

QUICK, LONG = 250, 100_000
RULES = sorted(IDS)


def run(rules: str, seeds: range) -> Figures:
    figures = Figures()
    for figures in compare(rules, seeds):
        if figures.differences:
            break
    assert not figures.differences
    return figures


@pytest.mark.parametrize("rules", RULES)
def test_claims_agree_with_exhaustive_substitution(rules: str) -> None:
    figures = run(rules, range(1_000_000, 1_000_000 + QUICK))
    assert set(figures.by_wilds) == set(range(MOST_WILDS[rules] + 1))
    assert QUICK / 8 < figures.wins < QUICK  # winning hands and others


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rules", RULES)
def test_a_hundred_thousand_claims(rules: str) -> None:
    assert run(rules, range(LONG)).hands == LONG


def check_payments(rules: str, seeds: range) -> None:
    paid = 0
    for seed in seeds:
        case = payments.full_table(rules, seed)
        found = settle(case)
        if found.delta is not None:
            assert list(found.delta) == payments.expected(case, found), seed
            paid += 1
    assert paid > len(seeds) / 5


@pytest.mark.parametrize("rules", RULES)
def test_everybody_pays_as_the_documents_say(rules: str) -> None:
    check_payments(rules, range(1_000_000, 1_000_150))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("rules", RULES)
def test_payments_at_length(rules: str) -> None:
    check_payments(rules, range(20_000))


def check_decomposer(seeds: range) -> None:
    wilds = Counter[int]()
    for seed in seeds:
        wrong, _, number = decomposer.differs(seed)
        assert not wrong
        wilds[number] += 1
    assert set(wilds) == set(range(9))


def test_the_decomposer_agrees_with_every_complete_hand() -> None:
    check_decomposer(range(1_000_000, 1_000_400))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_decomposer_at_length() -> None:
    check_decomposer(range(LONG))
