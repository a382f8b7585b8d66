"""Every complete hand, written down: the brute force behind the long comparisons.

Knows nothing of the product's code. A hand falls into four blocks (three suits, the honours) that
share no set. For a block every multiset of sets, with and without a pair, is listed once. Wild
tiles are put in exhaustively: a block's natural tiles can be completed by ``k`` of them exactly if
they are contained in a listed multiset with ``k`` tiles more; what is missing is what they stand
for. Nothing is searched cleverly and nothing is pruned but by size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

Vector = tuple[int, ...]
"""Copies by place in a block: nine places of a suit, seven honours."""
Group = tuple[int, int, int]

SUIT, HONOURS, HONOUR_RUNS = "suit", "honours", "honour_runs"
LOWS = (0, 9, 18, 27)
"""First tile of each block."""


class Lay(NamedTuple):
    """One way to complete a block's tiles.

    Attributes:
        sets: its sets, as places in the block, ascending.
        pair: the pair's place; ``None`` where the block gives no pair.
        added: what the wild tiles stand for.
    """

    sets: tuple[Group, ...]
    pair: int | None
    added: tuple[int, ...]

    @property
    def pungs(self) -> list[int]:
        """Places of its pungs."""
        return [g[0] for g in self.sets if g[0] == g[1]]

    @property
    def runs(self) -> list[Group]:
        """Its runs."""
        return [g for g in self.sets if g[0] != g[1]]

    @property
    def tiles(self) -> list[int]:
        """Every tile as it plays."""
        eyes = [] if self.pair is None else [self.pair] * 2
        return [*(t for g in self.sets for t in g), *eyes]


def groups_of(kind: str) -> list[Group]:
    """Every set of a block."""
    if kind == SUIT:
        return [(i, i + 1, i + 2) for i in range(7)] + [(i, i, i) for i in range(9)]
    found: list[Group] = [(i, i, i) for i in range(7)]
    if kind == HONOUR_RUNS:
        found += list(combinations(range(4), 3))  # three different winds
        found.append((4, 5, 6))
    return found


class Table:
    """Every multiset of at most ``most`` sets of a block, alone and with each pair."""

    def __init__(self, kind: str, most: int) -> None:
        size = 9 if kind == SUIT else 7
        groups = groups_of(kind)
        self.ways: dict[Vector, list[tuple[tuple[Group, ...], int | None]]] = {}
        for number in range(most + 1):
            for sets in combinations_with_replacement(groups, number):
                held = [0] * size
                for group in sets:
                    for place in group:
                        held[place] += 1
                self._list(tuple(held), sets, None)
                for pair in range(size):
                    held[pair] += 2
                    self._list(tuple(held), sets, pair)
                    held[pair] -= 2
        by_size: dict[int, list[Vector]] = {}
        for vector in self.ways:
            by_size.setdefault(sum(vector), []).append(vector)
        self.by_size = {n: (found, np.array(found, np.int8)) for n, found in by_size.items()}

    def _list(self, held: Vector, sets: tuple[Group, ...], pair: int | None) -> None:
        self.ways.setdefault(held, []).append((sets, pair))

    def lays(self, naturals: Vector, wilds: int) -> Iterator[Lay]:
        """Every way to complete natural tiles with exactly that many wild ones."""
        for whole in self._containing(naturals, wilds):
            added = tuple(
                place
                for place, (n, have) in enumerate(zip(whole, naturals, strict=True))
                for _ in range(n - have)
            )
            for sets, pair in self.ways[whole]:
                yield Lay(sets, pair, added)

    def _containing(self, naturals: Vector, wilds: int) -> Iterable[Vector]:
        if wilds == 0:
            return (naturals,) if naturals in self.ways else ()
        entry = self.by_size.get(sum(naturals) + wilds)
        if entry is None:
            return ()
        vectors, array = entry
        fits = np.all(array >= np.array(naturals, np.int8), axis=1)
        return [vectors[i] for i in np.flatnonzero(fits)]


@cache
def table(kind: str, most: int) -> Table:
    """The table of a kind of block, made once."""
    return Table(kind, most)


Feature = Callable[[int, Vector, Lay, Any], Hashable]
"""(block, naturals, lay, context of the block): what matters of a lay to a score; ``None`` drops
the lay."""

_parts: dict[Hashable, frozenset[tuple[int, int, Hashable]]] = {}


def parts(
    kind: str, most: int, block: int, naturals: Vector, wilds: int, feature: Feature, context: Any
) -> frozenset[tuple[int, int, Hashable]]:
    """What a block can come to with exactly that many wild tiles: sets, pairs, feature."""
    key = (kind, most, block, naturals, wilds, feature, context)
    if key not in _parts:
        if len(_parts) > 400_000:
            _parts.clear()
        found = set()
        for lay in table(kind, most).lays(naturals, wilds):
            what = feature(block, naturals, lay, context)
            if what is not None:
                found.add((len(lay.sets), int(lay.pair is not None), what))
        _parts[key] = frozenset(found)
    return _parts[key]


def no_feature(_block: int, _naturals: Vector, _lay: Lay, _context: Any) -> Hashable:
    """Nothing matters: only whether the tiles fit."""
    return ()


def vectors(tiles: Iterable[int]) -> list[Vector]:
    """Tiles as the copies in each block."""
    counts = [0] * 34
    for tile in tiles:
        counts[tile] += 1
    return [tuple(counts[low : 34 if low == 27 else low + 9]) for low in LOWS]


def hands(
    tiles: Iterable[int],
    wilds: int,
    sets: int,
    *,
    pairs: int = 1,
    feature: Feature = no_feature,
    contexts: Sequence[Any] = (None,) * 4,
    honour_runs: bool = False,
    most: int | None = None,
) -> set[tuple[Any, ...]]:
    """Every way to complete a hand, as the features of its blocks.

    Args:
        tiles: the naturals.
        wilds: wild tiles, all of which are put in.
        sets: sets that the concealed tiles make.
        pairs: 1 for sets and a pair, 0 for sets alone.
        feature: what matters of a block.
        contexts: what the feature must know beside the tiles, a block each; hashable.
        honour_runs: whether winds and dragons make runs.
        most: sets that the tables list; by default as many as are asked for.
    """
    held = vectors(tiles)
    if sum(map(sum, held)) + wilds != 3 * sets + 2 * pairs:
        return set()
    size = max(sets, 4) if most is None else most
    state: dict[tuple[int, int, int], set[tuple[Any, ...]]] = {(sets, pairs, wilds): {()}}
    for block, naturals in enumerate(held):
        kind = SUIT if block < 3 else HONOUR_RUNS if honour_runs else HONOURS
        following: dict[tuple[int, int, int], set[tuple[Any, ...]]] = {}
        for (left, eyes, wild), done in state.items():
            for used in range(wild + 1):
                if (sum(naturals) + used) % 3 == 1:
                    continue
                for made, pair, what in parts(
                    kind, size, block, naturals, used, feature, contexts[block]
                ):
                    if made <= left and pair <= eyes:
                        key = (left - made, eyes - pair, wild - used)
                        following.setdefault(key, set()).update((*d, what) for d in done)
        state = following
        if not state:
            return set()
    return state.get((0, 0, 0), set())


def completes(
    tiles: Iterable[int], wilds: int, sets: int, *, pairs: int = 1, honour_runs: bool = False
) -> bool:
    """Whether the tiles can be completed at all."""
    return bool(hands(tiles, wilds, sets, pairs=pairs, honour_runs=honour_runs))


def is_pairs(tiles: Sequence[int], wilds: int) -> bool:
    """Whether tiles and wild ones make pairs: every odd tile takes one, the rest pair up."""
    odd = sum(list(tiles).count(t) % 2 for t in set(tiles))
    return odd <= wilds and (wilds - odd) % 2 == 0


@cache
def apart_sizes(places: frozenset[int]) -> frozenset[int]:
    """How many tiles of a suit can be added to those places so that all are three apart."""
    found = set()
    for number in range(4):
        for chosen in combinations(range(9), number):
            whole = set(chosen)
            if places <= whole and all(abs(a - b) >= 3 for a, b in combinations(whole, 2)):
                found.add(number - len(places))
    return frozenset(found)


def is_independent(tiles: Sequence[int], wilds: int) -> bool:
    """Whether fourteen tiles can be all different, those of a suit three apart."""
    if len(tiles) + wilds != 14 or len(set(tiles)) < len(tiles):
        return False
    honours = sum(t >= 27 for t in tiles)
    reachable = set(range(8 - honours))
    for low in LOWS[:3]:
        sizes = apart_sizes(frozenset(t - low for t in tiles if low <= t < low + 9))
        reachable = {a + b for a in reachable for b in sizes}
    return wilds in reachable
