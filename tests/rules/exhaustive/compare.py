"""Many claims, by the product and by exhaustive substitution, and where they differ.

``python -m tests.rules.exhaustive.compare RULES [--hands N] [--first SEED]`` prints figures. Every
hand has its own seed, so that any part of a run can be repeated by itself.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from time import process_time

from tablectl.rules.case import ScoreCase
from tablectl.rules.registry import IDS, settle
from tablectl.rules.settlement import Settlement
from tests.rules.exhaustive import plain, scores
from tests.rules.exhaustive.deals import MOST_WILDS, Deal, deal
from tests.rules.exhaustive.scores import Verdict

EXPECTED: dict[str, Callable[[ScoreCase], Verdict]] = {
    "kawuxing": plain.kawuxing, "hangzhou": scores.hangzhou, "xiamen": scores.xiamen,
    "beijing": scores.beijing, "nanchang": scores.nanchang, "yangzhou": plain.yangzhou,
    "fenghua": scores.fenghua, "wuhan": scores.wuhan, "jingzhou": scores.wuhan,
    "hongkong": plain.hongkong, "mainland": scores.mainland,
}  # fmt: skip

FOUND: dict[str, Callable[[ScoreCase, Settlement], Verdict]] = {
    **dict.fromkeys(IDS, scores.pattern_sum),
    "kawuxing": plain.kawuxing_paid, "hangzhou": scores.product, "xiamen": scores.received,
    "beijing": scores.beijing_doubles,
    "nanchang": scores.nanchang_received, "wuhan": scores.received, "jingzhou": scores.received,
    "hongkong": plain.hongkong_faan,
}  # fmt: skip


@dataclass
class Figures:
    """What a run came to.

    Attributes:
        hands: claims compared.
        wins: valid ones.
        by_wilds: claims by number of wild tiles.
        verdicts: refusals by reason.
        differences: seed, expected, found.
        brute_s, product_s: processor time.
    """

    hands: int = 0
    wins: int = 0
    by_wilds: Counter[int] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[int, Verdict, Verdict]] = field(default_factory=list)
    brute_s: float = 0.0
    product_s: float = 0.0


def wilds_for(rules: str, seed: int) -> int:
    """How many wild tiles a hand gets: all numbers that the rule set can have, few more often."""
    most = MOST_WILDS[rules]
    weights = [4, 4, 3, 2, 1, 1, 1, 1, 1][: most + 1]
    return Random(f"{rules}/{seed}/wilds").choices(range(most + 1), weights)[0]


def claim(rules: str, seed: int) -> Deal:
    """The claim of that seed."""
    return deal(rules, Random(f"{rules}/{seed}"), wilds_for(rules, seed))


def verdicts(rules: str, case: ScoreCase) -> tuple[Verdict, Verdict]:
    """Expected and found."""
    return EXPECTED[rules](case), FOUND[rules](case, settle(case))


def compare(rules: str, seeds: range) -> Iterator[Figures]:
    """Compare the claims of some seeds; yields the growing figures after every claim."""
    figures = Figures()
    for seed in seeds:
        dealt = claim(rules, seed)
        start = process_time()
        expected = EXPECTED[rules](dealt.case)
        middle = process_time()
        settled = settle(dealt.case)
        end = process_time()
        found = FOUND[rules](dealt.case, settled)
        figures.brute_s += middle - start
        figures.product_s += end - middle
        figures.hands += 1
        figures.by_wilds[dealt.wilds] += 1
        if settled.error is None:
            figures.wins += 1
            assert sum(settled.delta or ()) == 0
        else:
            figures.verdicts[settled.error] += 1
        if expected != found:
            figures.differences.append((seed, expected, found))
        yield figures


def main() -> int:
    """Run a part of the comparison and print what it came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", choices=IDS, nargs="+")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    wrong = 0
    for rules in given.rules:
        figures = Figures()
        for figures in compare(rules, range(given.first, given.first + given.hands)):
            if figures.hands % 20_000 == 0:
                print(f"{rules}: {figures.hands} hands", file=sys.stderr, flush=True)  # noqa: T201
        wilds = " ".join(f"{n}:{count}" for n, count in sorted(figures.by_wilds.items()))
        refusals = " ".join(f"{name} {n}" for name, n in figures.verdicts.most_common())
        print(  # noqa: T201
            f"{rules}: {figures.hands} hands, {figures.wins} valid wins, "
            f"{len(figures.differences)} differences; wild tiles {wilds}; {refusals}; "
            f"brute force {figures.brute_s:.0f} s, product {figures.product_s:.0f} s",
            flush=True,
        )
        for seed, expected, found in figures.differences[:5]:
            print(f"  seed {seed}: expected {expected}, found {found}", flush=True)  # noqa: T201
        wrong += len(figures.differences)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
