"""Complete hands of simulated players end without an error under every value of every option."""

from __future__ import annotations

import pytest

from tablectl.rules.registry import IDS
from tests.engine.many_hands import never_switched, play

RULES = sorted(IDS)


@pytest.mark.parametrize("rules", RULES)
def test_some_hands(rules: str) -> None:
    assert play(rules, range(5_000, 5_004), hidden_each=2).hands == 4


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rules", RULES)
def test_a_thousand_hands(rules: str) -> None:
    figures = play(rules, range(1000))
    assert figures.hands == 1000
    assert figures.won > 100
    assert not never_switched(rules, figures)
