"""All rule sets by id."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

from tablectl.rules.case import CaseError, ScoreCase
from tablectl.rules.options import nearest
from tablectl.rules.ruleset import Names, RuleSet
from tablectl.rules.settlement import Settlement

IDS: Final = (
    "kawuxing",
    "hangzhou",
    "xiamen",
    "beijing",
    "nanchang",
    "yangzhou",
    "fenghua",
    "wuhan",
    "jingzhou",
    "hongkong",
    "mainland",
)
"""Rule sets in the order in which they are listed; each is a package with ``RULES``."""


@cache
def get(rule_set: str) -> RuleSet[Any]:
    """The rule set of that id.

    Raises:
        CaseError: there is none; the nearest is named.
    """
    if rule_set not in IDS:
        raise CaseError(f"no rule set {rule_set!r}{nearest(rule_set, list(IDS))}", field="rules")
    declared = import_module(f"tablectl.rules.{rule_set}").RULES
    assert isinstance(declared, RuleSet)
    return declared


def all_rule_sets() -> tuple[RuleSet[Any], ...]:
    """Every rule set."""
    return tuple(get(rule_set) for rule_set in IDS)


def settle(case: ScoreCase, names: Names | None = None) -> Settlement:
    """Settle a case under the rule set that it names.

    Raises:
        CaseError: unknown rule set, or the case is malformed under it.
    """
    try:
        return get(case.rules).settle(case, names)
    except CaseError as error:
        raise error.at(case_id=case.id) from None
