"""Patterns of runs in a Yangzhou hand, and which of them lie within larger ones. D-Y2, D-Y3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import points
from tablectl.tiles import Tile

SUITS = 3


class RunPattern(NamedTuple):
    """A pattern of runs.

    Attributes:
        id: as in score cases.
        runs: the runs that make it, each as its lowest tile and the number of its copy.
    """

    id: str
    runs: frozenset[tuple[Tile, int]]


def _make(pattern: str, *lows: Tile) -> RunPattern:
    counts = Counter(lows)
    return RunPattern(pattern, frozenset((low, i) for low, n in counts.items() for i in range(n)))


def _side_by_side(a: Tile, b: Tile) -> bool:
    return a // 9 != b // 9 and a % 9 == b % 9


def _tandem(a: Tile, b: Tile) -> bool:
    return a // 9 == b // 9 and abs(a - b) == 3


def _high_low(a: Tile, b: Tile) -> bool:
    return a // 9 == b // 9 and {a % 9, b % 9} == {0, 6}


PAIRS: dict[str, Callable[[Tile, Tile], bool]] = {
    "side_by_side": _side_by_side,
    "tandem": _tandem,
    "high_low": _high_low,
}
"""Minor patterns of two runs."""

_DOUBLE_TWINS = {
    "side_by_side": "double_twins_side_by_side",
    "tandem": "double_twins_in_tandem",
    "high_low": "double_twins_high_low",
}


def run_patterns(lows: Sequence[Tile]) -> list[RunPattern]:
    """Every pattern of runs in a hand, contained ones included, each once.

    Args:
        lows: lowest tile of each run of the hand, four at most.
    """
    counts = Counter(lows)
    return [*_identical(counts), *_across_suits(counts), *_along_a_suit(counts)]


def _identical(counts: Counter[Tile]) -> Iterator[RunPattern]:
    for low, number in counts.items():
        for least, name in ((2, "twin_runs"), (3, "triplet_runs"), (4, "quadruplet_runs")):
            if number >= least:
                yield _make(name, *[low] * least)
    twins = sorted(low for low, number in counts.items() if number >= 2)
    for a, b in combinations(twins, 2):
        yield _make("double_twin_runs", a, a, b, b)
        for pair, fits in PAIRS.items():
            if fits(a, b):
                yield _make(_DOUBLE_TWINS[pair], a, a, b, b)


def _across_suits(counts: Counter[Tile]) -> Iterator[RunPattern]:
    for number in sorted({low % 9 for low in counts}):
        same = [low for low in counts if low % 9 == number]
        if len(same) == SUITS:
            yield _make("three_runs_side_by_side", *same)
            yield from (
                _make("four_runs_side_by_side", *same, low) for low in same if counts[low] >= 2
            )
    for name, a, b in _pairs_in_two_suits(counts):
        yield _make(name, *a, *b)


def _pairs_in_two_suits(
    counts: Iterable[Tile],
) -> Iterator[tuple[str, tuple[Tile, Tile], tuple[Tile, Tile]]]:
    names = {"tandem": "two_tandems_side_by_side", "high_low": "two_high_lows_side_by_side"}
    for pair, name in names.items():
        found = [p for p in combinations(sorted(counts), 2) if PAIRS[pair](*p)]
        for a, b in combinations(found, 2):
            if _side_by_side(a[0], b[0]) and _side_by_side(a[1], b[1]):
                yield name, a, b


def _along_a_suit(counts: Counter[Tile]) -> Iterator[RunPattern]:
    for low in (0, 9, 18):
        straight = (Tile(low), Tile(low + 3), Tile(low + 6))
        if all(counts[tile] for tile in straight):
            yield _make("straight_flush", *straight)


def scored_runs(lows: Sequence[Tile], options: YangzhouOptions) -> dict[str, int]:
    """Points of the run patterns that count, minor ones of two runs included.

    A pattern whose runs all lie in a larger scored one is left out (D-Y2), and so is a pair of
    runs within one scored pattern (D-Y3), unless contained patterns count.
    """
    found = run_patterns(lows)
    values = {pattern.id: points(pattern.id, options) for pattern in found}
    if not options.count_contained:
        found = [p for p in found if not _contained(p, found, values)]
    scored: dict[str, int] = {}
    for pattern in found:
        scored[pattern.id] = scored.get(pattern.id, 0) + values[pattern.id]
    for name, fits in PAIRS.items():
        number = sum(
            fits(a, b) and (options.count_contained or not _within_one(a, b, found))
            for a, b in combinations(sorted(set(lows)), 2)
        )
        if number:
            scored[name] = number
    return scored


def _contained(pattern: RunPattern, found: list[RunPattern], values: dict[str, int]) -> bool:
    return any(
        values[other.id] > values[pattern.id] and pattern.runs <= other.runs for other in found
    )


def _within_one(a: Tile, b: Tile, found: list[RunPattern]) -> bool:
    return any({(a, 0), (b, 0)} <= pattern.runs for pattern in found)
