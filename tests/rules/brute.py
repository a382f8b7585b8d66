"""Obviously right, slow answers, independent of the product's code.

Wild tiles are dealt with by exhaustive substitution: every multiset of kinds is put in their place
and the natural hand looked at by trying everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement


def set_partitions(tiles: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to split sorted natural tiles into pungs and runs."""
    if not tiles:
        yield ()
        return
    first = tiles[0]
    candidates = [(first,) * 3]
    if first < 27 and first % 9 <= 6:
        candidates.append((first, first + 1, first + 2))
    for candidate in candidates:
        rest = list(tiles)
        try:
            for tile in candidate:
                rest.remove(tile)
        except ValueError:
            continue
        for others in set_partitions(tuple(rest)):
            yield (candidate, *others)


def partitions(tiles: Sequence[int]) -> Iterator[tuple[int, tuple[tuple[int, ...], ...]]]:
    """Every way to split natural tiles into a pair and sets: the pair's tile, the sets."""
    ordered = tuple(sorted(tiles))
    for pair in sorted(set(ordered)):
        if ordered.count(pair) >= 2:
            rest = list(ordered)
            rest.remove(pair)
            rest.remove(pair)
            for sets in set_partitions(tuple(rest)):
                yield pair, sets


def is_standard(tiles: Sequence[int]) -> bool:
    return next(partitions(tiles), None) is not None


def is_sets(tiles: Sequence[int]) -> bool:
    return next(set_partitions(tuple(sorted(tiles))), None) is not None


def is_pairs(tiles: Sequence[int]) -> bool:
    return all(count % 2 == 0 for count in Counter(tiles).values())


def is_orphans(tiles: Sequence[int]) -> bool:
    orphans = {0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33}
    return len(tiles) == 14 and set(tiles) == orphans


def substitutions(tiles: Sequence[int], wilds: int) -> Iterator[list[int]]:
    """The tiles with every choice of what the wild tiles stand for."""
    for chosen in combinations_with_replacement(range(34), wilds):
        yield [*tiles, *chosen]


def any_substitution(tiles: Sequence[int], wilds: int, test: object) -> bool:
    assert callable(test)
    return any(test(hand) for hand in substitutions(tiles, wilds))
