"""Every published case of the implemented rule sets, and cases of our own reading of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablectl.cli.score import agrees
from tablectl.rules.case import ScoreCase, read_cases
from tablectl.rules.registry import IDS, settle

HERE = Path(__file__).parent / "cases"
OWN = Path(__file__).parent / "own"
"""Worked out from the documents by hand, before the product was asked."""
SHARED = Path(__file__).parents[3] / "shared" / "cases"


def load(folder: Path, rules: str) -> list[ScoreCase]:
    cases = list(read_cases(folder / f"{rules}.json"))
    return [c for c in cases if isinstance(c, ScoreCase)]


def every(folder: Path) -> list[ScoreCase]:
    return [c for rules in IDS for c in load(folder, rules)]


@pytest.mark.parametrize("case", [*every(HERE), *every(OWN)], ids=lambda c: c.id)
def test_case(case: ScoreCase) -> None:
    settlement = settle(case)
    assert case.expect is not None
    assert agrees(settlement, case.expect), (settlement, case.expect)
    assert settlement.lines


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/cases is not there")
def test_the_copies_are_the_published_cases() -> None:
    assert every(HERE) == every(SHARED)
    assert len(every(HERE)) >= 44


@pytest.mark.parametrize("rules", IDS)
def test_own_cases_can_be_read(rules: str) -> None:
    cases = list(read_cases(OWN / f"{rules}.json"))
    assert all(isinstance(case, ScoreCase) for case in cases)
    assert len(cases) >= 5
