"""Full settlements by rule set and number of wild tiles; the same hands scored by others.

Hands are valid wins of ``tests/rules/exhaustive/deals.py``. All times are processor time of one
settlement with warm caches, the best of three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from statistics import median
from time import thread_time

from benchmarks.rows import Row, Size, quantile
from tablectl.rules.case import ScoreCase
from tablectl.rules.decompose import counts_of, standard
from tablectl.rules.registry import IDS, settle
from tablectl.tiles import Tile

P99_MS = 5.0
MEDIAN_MS = 0.5
WORST_MS = 25.0
"""Of hands with eight wild tiles."""
BRUTE_TIMES = 100.0
ENOUGH = 50
"""Hands from which on a comparison with others is held to a budget."""


def scoring(size: Size) -> Iterator[Row]:
    """Settlements, the bare decomposer, the peer and the brute force."""
    from tests.rules.exhaustive.deals import MOST_WILDS

    worst = 0.0
    for rules in IDS:
        medians = []
        for wilds in range(MOST_WILDS[rules] + 1):
            times = [best_ms(partial(settle, case)) for case in wins(rules, wilds, size.scored)]
            medians.append(median(times))
            worst = max(worst, max(times) if wilds == 8 else 0.0)
            yield Row(
                f"{rules}, {wilds} wild, p99", quantile(times, 0.99), "ms CPU", P99_MS,
                note=f"p50 {median(times):.2f} ms, worst {max(times):.1f} ms",
            )  # fmt: skip
        yield Row(
            f"{rules}, slowest median", max(medians), "ms CPU", MEDIAN_MS,
            note=f"of 0 to {MOST_WILDS[rules]} wild tiles",
        )  # fmt: skip
    yield Row("8 wild tiles, worst", worst, "ms CPU", WORST_MS)
    for wilds in range(9):
        times = [best_ms(work) for work in decompositions(wilds, size.scored)]
        yield Row(
            f"decompose, {wilds} wild, p99", quantile(times, 0.99), "ms CPU",
            note=f"every reading; p50 {median(times):.2f} ms, worst {max(times):.1f} ms",
        )  # fmt: skip
    enough = size.scored >= ENOUGH
    yield against_peer(size.scored, budget=1.0 if enough else None)
    yield against_brute_force(size.scored, budget=BRUTE_TIMES if enough else None)


def best_ms(work: Callable[[], object]) -> float:
    """Processor time of the best of three runs after one that warms the caches."""
    times = []
    for _ in range(4):
        start = thread_time()
        work()
        times.append(thread_time() - start)
    return 1000 * min(times[1:])


def wins(rules: str, wilds: int, number: int) -> list[ScoreCase]:
    """Valid wins that hold that many wild tiles."""
    from tests.rules.exhaustive.deals import deal

    found: list[ScoreCase] = []
    seed = 0
    while len(found) < number:
        dealt = deal(rules, Random(f"bench/{rules}/{wilds}/{seed}"), wilds)
        seed += 1
        if dealt.wilds == wilds and settle(dealt.case).error is None:
            found.append(dealt.case)
    return found


def decompositions(wilds: int, number: int) -> Iterator[Callable[[], object]]:
    """Listing every reading of winning hands without melds, natural tiles taken away at random."""
    rng = Random(1)
    for case in plain_hands(number):
        (win,) = case.outcome.wins
        assert win.tile is not None
        tiles: list[Tile] = [*case.seats[win.seat].hand, win.tile]
        counts = counts_of(rng.sample(tiles, len(tiles) - wilds))
        yield lambda counts=counts: sum(1 for _ in standard(counts, wilds, 4))  # type: ignore[misc]


def plain_hands(number: int) -> list[ScoreCase]:
    """Concealed own-drawn hands of four sets and a pair, no wild tiles."""
    from tests.rules.exhaustive.blocks import completes

    found: list[ScoreCase] = []
    seed = 0
    while len(found) < number:
        for case in wins_of_seed(seed):
            (win,) = case.outcome.wins
            seat = case.seats[win.seat]
            if not seat.melds and win.by == "self_draw" and win.tile is not None:
                found += [case] if completes([*seat.hand, win.tile], 0, 4) else []
        seed += 1
    return found


def wins_of_seed(seed: int) -> list[ScoreCase]:
    """The Hong Kong hand of a seed, winning or not."""
    from tests.rules.exhaustive.deals import deal

    return [deal("hongkong", Random(f"bench/plain/{seed}"), 0).case]


def against_peer(number: int, budget: float | None) -> Row:
    """Hong Kong settlements against ``HandCalculator`` of the package ``mahjong``.

    Each goes through all hands in turn, so that neither meets a hand again soon.
    """
    from mahjong.hand_calculating.hand import HandCalculator
    from mahjong.hand_calculating.hand_config import HandConfig

    cases = plain_hands(max(number, 200) if budget else number)
    calculator, config = HandCalculator(), HandConfig(is_tsumo=True)
    hands = [numbered(case) for case in cases]
    ours = through(lambda: [settle(case) for case in cases])
    theirs = through(
        lambda: [calculator.estimate_hand_value(h, last, config=config) for h, last in hands]
    )
    return Row(
        "hongkong, times as fast as mahjong's HandCalculator", theirs / ours, "×", budget, "least",
        note=f"{1e6 * ours / len(cases):.0f} µs against {1e6 * theirs / len(cases):.0f} µs a hand",
    )  # fmt: skip


def through(work: Callable[[], object]) -> float:
    """Seconds of processor time, the best of ten."""
    times = []
    for _ in range(10):
        start = thread_time()
        work()
        times.append(thread_time() - start)
    return min(times)


def numbered(case: ScoreCase) -> tuple[list[int], int]:
    """Tiles as numbers of 136, and the winning one of them."""
    (win,) = case.outcome.wins
    assert win.tile is not None
    used: dict[int, int] = {}
    found = []
    for tile in (*case.seats[win.seat].hand, win.tile):
        found.append(4 * tile + used.get(tile, 0))
        used[tile] = used.get(tile, 0) + 1
    return sorted(found), found[-1]


def against_brute_force(number: int, budget: float | None) -> Row:
    """Mainland hands of three treasures: every substitution, every partition, against settling."""
    from tests.rules.test_mainland import plain_fan

    cases: Sequence[ScoreCase] = [
        case for case in wins("mainland", 3, number) if not any(s.melds for s in case.seats)
    ][:10]
    ours = sum(best_ms(partial(settle, case)) for case in cases)
    start = thread_time()
    for case in cases:
        plain_fan(case)
    brute = 1000 * (thread_time() - start)
    return Row(
        "3 wild tiles, times as fast as substituting", brute / ours, "×", budget, "least",
        note=f"{brute / len(cases):.0f} ms against {ours / len(cases):.2f} ms a hand",
    )  # fmt: skip
