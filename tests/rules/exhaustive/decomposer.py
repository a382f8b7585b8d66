"""The shared decomposer with 0 to 8 wild tiles against every complete hand.

``python -m tests.rules.exhaustive.decomposer [--hands N] [--first SEED]`` prints figures.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random

from tablectl.rules.decompose import condensed, counts_of, standard
from tablectl.rules.groups import Group, Kind
from tablectl.rules.shape import (
    HONOUR_RUN_BLOCKS,
    PLAIN_BLOCKS,
    is_independent,
    is_pairs,
    is_sets,
    is_sets_and_pair,
)
from tablectl.tiles import Tile
from tests.rules.exhaustive import blocks
from tests.rules.exhaustive.blocks import Lay, Vector

MOST = 8


def random_tiles(rng: Random) -> tuple[list[int], int, int]:
    """Naturals, wild tiles and sets: near a complete hand, or of chance."""
    sets = rng.choice((5, 4, 4, 4, 3, 2, 1, 0))
    size = 3 * sets + 2
    wilds = min(rng.choices(range(MOST + 1), (3, 3, 3, 2, 2, 1, 1, 1, 1))[0], size)
    while True:
        suits = rng.choice(((0, 9, 18), (0, 9), (18,)))
        tiles: list[int] = []
        for _ in range(sets):
            low = rng.choice(suits) + rng.randrange(9)
            if rng.random() < 0.2:
                tiles += rng.choice(([rng.randrange(27, 34)] * 3, [27, 29, 30], [31, 32, 33]))
            else:
                run = low % 9 < 7 and rng.random() < 0.65
                tiles += [low, low + 1, low + 2] if run else [low] * 3
        tiles += [rng.randrange(34)] * 2
        rng.shuffle(tiles)
        tiles = tiles[wilds:]
        change = rng.choice((0, 0, 1, 2, len(tiles)))
        for at in range(min(change, len(tiles))):
            tiles[at] = rng.choice(suits) + rng.randrange(9) if rng.random() < 0.8 else (
                rng.randrange(34)
            )  # fmt: skip
        if all(tiles.count(t) <= 4 for t in set(tiles)):
            return tiles, wilds, sets


def _has_run(_block: int, _naturals: Vector, lay: Lay, _context: object) -> int:
    return len(lay.runs)


def _runs(groups: tuple[Group, ...]) -> int:
    return sum(group.kind is Kind.RUN for group in groups)


def differs(seed: int) -> tuple[str, bool, int]:
    """What is wrong about the hand of a seed (``""`` = nothing), whether it wins, its wilds."""
    rng = Random(f"decomposer/{seed}")
    tiles, wilds, sets = random_tiles(rng)
    runs = rng.random() < 0.3
    product_blocks = HONOUR_RUN_BLOCKS if runs else PLAIN_BLOCKS
    counts = counts_of(map(Tile, tiles))
    most = max(sets, 4)
    # Wild tiles only are left free by the product, so that they count as no runs there.
    found = blocks.hands(tiles, wilds, sets, feature=_has_run, honour_runs=runs, most=most)
    wins = bool(found)
    said = {
        "is_sets_and_pair": is_sets_and_pair(counts, wilds, product_blocks),
        "standard": next(standard(counts, wilds, sets, blocks=product_blocks), None) is not None,
    }
    wrong = [name for name, value in said.items() if value != wins]
    if wilds <= 4:
        most_runs = max((sum(f) for f in found), default=-1)
        readings = condensed(counts, wilds, sets, _runs, blocks=product_blocks)
        product_runs = max(
            (_runs(r) + sum(g.kind is Kind.SET for g in r) for r in readings), default=-1
        )
        wrong += ["condensed"] if product_runs != most_runs else []
    if wilds:
        only = blocks.completes(tiles, wilds - 1, sets, pairs=0, honour_runs=runs)
        fits = len(tiles) + wilds - 1 == 3 * sets
        wrong += ["is_sets"] if fits and is_sets(counts, wilds - 1, product_blocks) != only else []
    if sets == 4:
        pairs, apart = blocks.is_pairs(tiles, wilds), blocks.is_independent(tiles, wilds)
        wrong += ["is_pairs"] if is_pairs(counts, wilds) != pairs else []
        wrong += ["is_independent"] if is_independent(counts, wilds) != apart else []
    detail = f"{sorted(tiles)} + {wilds}, {sets} sets: {', '.join(wrong)}" if wrong else ""
    return detail, wins, wilds


def main() -> int:
    """Compare and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    wins, by_wilds, wrong = 0, Counter[int](), list[str]()
    for seed in range(given.first, given.first + given.hands):
        detail, won, wilds = differs(seed)
        wins += won
        by_wilds[wilds] += 1
        wrong += [detail] if detail else []
    told = " ".join(f"{n}:{count}" for n, count in sorted(by_wilds.items()))
    print(  # noqa: T201
        f"decomposer: {given.hands} hands, {wins} complete, {len(wrong)} differences; wild {told}"
    )
    for line in wrong[:10]:
        print(f"  {line}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
