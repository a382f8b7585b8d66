"""How long it takes to score a hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from tablectl.rules.decompose import Counts, counts_of, standard
from tablectl.rules.registry import all_rule_sets
from tablectl.rules.ruleset import RuleSet
from tablectl.rules.samples import winning_case
from tablectl.tiles import WHITE, Tile


@dataclass(frozen=True, slots=True)
class BenchRow:
    """Times of one kind of hand, in milliseconds, caches warm.

    Attributes:
        what: a rule set's id (a full settlement), or ``decompose`` (all readings).
        wilds: wild tiles in the hand.
        hands: how many were timed.
        median_ms, p99_ms, worst_ms: of a single hand.
    """

    what: str
    wilds: int
    hands: int
    median_ms: float
    p99_ms: float
    worst_ms: float


def bench(hands: int = 300, seed: int = 1) -> list[BenchRow]:
    """Full settlements of every rule set, and the bare decomposer, by number of wild tiles."""
    rows = [
        _settlements(rules, wilds, hands, seed)
        for rules in all_rule_sets()
        for wilds in range(_most_wilds(rules) + 1)
    ]
    return rows + [_decompositions(wilds, hands, seed) for wilds in range(9)]


def _most_wilds(rules: RuleSet[Any]) -> int:
    """Wild tiles that a hand can hold: three copies beside an indicator, four if permanent."""
    if "permanent_fortune" in rules.model.model_fields:
        return 4
    return 3 if rules.equipment(rules.options()).indicator else 0


def _settlements(rules: RuleSet[Any], wilds: int, hands: int, seed: int) -> BenchRow:
    rng = Random(seed)
    values = {"permanent_fortune": True} if wilds > 3 else {}
    kit = rules.equipment(rules.options(values))
    times = []
    for _ in range(hands):
        wild = None
        if kit.indicator:
            wild = rng.choice([t for t in kit.kinds if t != WHITE])
        elif wilds:
            wild = WHITE
        case = winning_case(rng, rules.id, kit, options=values, wild=wild, wilds=wilds)
        times.append(_best_time(partial(rules.settle, case)))
    return _row(rules.id, wilds, times)


def _decompositions(wilds: int, hands: int, seed: int) -> BenchRow:
    """Every reading of winning hands without melds (never more natural tiles than exist)."""
    rng = Random(seed)
    kit = next(rules for rules in all_rule_sets() if rules.id == "hongkong")
    times = []
    for _ in range(hands):
        case = winning_case(rng, kit.id, kit.equipment(kit.options()))
        win = case.outcome.wins[0]
        seat = case.seats[win.seat]
        tiles = [*seat.hand, *([win.tile] if win.tile is not None else [])]
        naturals: list[Tile] = rng.sample(tiles, max(0, len(tiles) - wilds))
        counts, sets = counts_of(naturals), 4 - len(seat.melds)
        times.append(_best_time(partial(_exhaust, counts, wilds, sets)))
    return _row("decompose", wilds, times)


def _exhaust(counts: Counts, wilds: int, sets: int) -> None:
    for _ in standard(counts, wilds, sets):
        pass


def _best_time(work: Callable[[], object]) -> float:
    """Seconds of the best of three runs after one that warms the caches.

    The best, because other programs on a busy machine only ever add to a time.
    """
    times = []
    for _ in range(4):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times[1:])


def _row(what: str, wilds: int, times: list[float]) -> BenchRow:
    ms = [1000 * t for t in times]
    p99 = quantiles(ms, n=100)[98]
    return BenchRow(what, wilds, len(ms), median(ms), p99, max(ms))
