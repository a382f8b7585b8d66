"""Fast questions about shape: does it win, how far is it, what does it wait for.

These answer yes or no (or a number) from cached tables a suit and never list readings. Counts are
by identity (34 kinds) as in :mod:`tablectl.rules.decompose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final

from tablectl.tiles import Tile

ORPHANS: tuple[Tile, ...] = tuple(
    Tile(i) for i in (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)
)
"""The terminals and honours of thirteen orphans."""

MIDDLES: Final = tuple(Tile(i) for i in range(27) if i % 9 not in (0, 8))
"""The tiles that are none of them."""

_NEVER = 99

Block = tuple[int, int]
"""First tile and end of tiles that may share a set."""

SUIT_BLOCKS: Final[tuple[Block, ...]] = ((0, 9), (9, 18), (18, 27))
PLAIN_BLOCKS: Final = (*SUIT_BLOCKS, *((i, i + 1) for i in range(27, 34)))
"""The three suits, and each honour by itself."""
HONOUR_RUN_BLOCKS: Final = (*SUIT_BLOCKS, (27, 31), (31, 34))
"""The three suits, the winds and the dragons: any three different winds, or dragons, are a run."""
SINGLE_BLOCKS: Final = tuple((i, i + 1) for i in range(34))
"""Every kind by itself: sets are pungs only."""

RUNS: Final = {
    1: (),
    3: ((0, 1, 2),),
    4: tuple(combinations(range(4), 3)),
    9: tuple((i, i + 1, i + 2) for i in range(7)),
}
"""Runs of a block by its length, as positions in it."""


@lru_cache(maxsize=64)
def runs_with(length: int, at: int) -> tuple[tuple[int, ...], ...]:
    """Runs of a block of that length that hold the tile at ``at``."""
    return tuple(run for run in RUNS[length] if at in run)


@lru_cache(maxsize=1 << 16)
def block_need(suit: tuple[int, ...]) -> tuple[int, int]:
    """Fewest wild tiles that complete a block's tiles to sets: without a pair, and with one.

    The pair holds a natural tile of the block at least (else ``_NEVER``). Wild tiles and naturals
    of a target tile are interchangeable here, so a place that can be natural is.
    """
    first = next((i for i, n in enumerate(suit) if n), None)
    if first is None:
        return 0, _NEVER
    have = suit[first]
    plain = paired = _NEVER
    take = min(have, 3)
    for used in range(take, 0, -1):
        rest = block_need(_without(suit, first, used))
        plain, paired = min(plain, 3 - used + rest[0]), min(paired, 3 - used + rest[1])
    for used in range(min(have, 2), 0, -1):
        paired = min(paired, 2 - used + block_need(_without(suit, first, used))[0])
    for run in runs_with(len(suit), first):
        left, wild = list(suit), 0
        for i in run:
            if left[i]:
                left[i] -= 1
            else:
                wild += 1
        rest = block_need(tuple(left))
        plain, paired = min(plain, wild + rest[0]), min(paired, wild + rest[1])
    return plain, paired


def _without(suit: tuple[int, ...], at: int, used: int) -> tuple[int, ...]:
    return (*suit[:at], suit[at] - used, *suit[at + 1 :])


def _needs(counts: Sequence[int], blocks: Sequence[Block]) -> list[tuple[int, int]]:
    held = (tuple(counts[low:high]) for low, high in blocks)
    return [block_need(block) for block in held if any(block)]


def sets_need(counts: Sequence[int], blocks: Sequence[Block] = PLAIN_BLOCKS) -> int:
    """Fewest wild tiles that complete the tiles to sets alone, without a pair.

    Args:
        counts: copies by identity, 34 kinds.
        blocks: which tiles may share a set: :data:`PLAIN_BLOCKS`, :data:`HONOUR_RUN_BLOCKS` or
            :data:`SINGLE_BLOCKS`.
    """
    return sum(plain for plain, _ in _needs(counts, blocks))


def sets_and_pair_need(counts: Sequence[int], blocks: Sequence[Block] = PLAIN_BLOCKS) -> int:
    """Fewest wild tiles that complete the tiles to sets and one pair."""
    needs = _needs(counts, blocks)
    total = sum(plain for plain, _ in needs)
    return min([total + 2, *(total - plain + paired for plain, paired in needs)])


def is_sets_and_pair(
    counts: Sequence[int], wilds: int, blocks: Sequence[Block] = PLAIN_BLOCKS
) -> bool:
    """Whether naturals and wild tiles make sets and a pair; their number must be 3n + 2."""
    return (sum(counts) + wilds) % 3 == 2 and sets_and_pair_need(counts, blocks) <= wilds


def is_sets(counts: Sequence[int], wilds: int, blocks: Sequence[Block] = PLAIN_BLOCKS) -> bool:
    """Whether naturals and wild tiles make sets alone; their number must be 3n."""
    return (sum(counts) + wilds) % 3 == 0 and sets_need(counts, blocks) <= wilds


def fits_in_set(
    counts: Sequence[int], wilds: int, tile: Tile, blocks: Sequence[Block] = PLAIN_BLOCKS
) -> bool:
    """Whether the hand can be arranged so that a natural ``tile`` lies in a set.

    As natural tiles and wild ones are interchangeable, a place that can be natural is.
    """
    if (sum(counts) + wilds) % 3 != 2 or not counts[tile]:
        return False
    low, high = next(block for block in blocks if block[0] <= tile < block[1])
    groups = [(tile,) * 3, *(tuple(low + i for i in r) for r in runs_with(high - low, tile - low))]
    for group in groups:
        rest, used = list(counts), 0
        for member in group:
            if rest[member]:
                rest[member] -= 1
            else:
                used += 1
        if used <= wilds and sets_and_pair_need(rest, blocks) <= wilds - used:
            return True
    return False


def is_near(counts: Sequence[int], tile: Tile) -> bool:
    """Whether tiles are held that could share a run, a pung or a pair with this one.

    Without wild tiles no other tile completes sets and a pair, or pairs.
    """
    if counts[tile]:
        return True
    if tile >= 27:
        return False
    low = tile // 9 * 9
    return any(counts[max(low, tile - 2) : min(low + 9, tile + 3)])


def is_pairs(counts: Sequence[int], wilds: int) -> bool:
    """Whether naturals and wild tiles make pairs alone (four alike are two pairs)."""
    singles = sum(n % 2 for n in counts)
    return singles <= wilds and (wilds - singles) % 2 == 0


INDEPENDENT_TILES: Final = 14


def is_independent(counts: Sequence[int], wilds: int) -> bool:
    """Whether fourteen tiles are independent: all different, three apart at least in a suit."""
    return (
        sum(counts) + wilds == INDEPENDENT_TILES
        and max(counts) <= 1
        and all(apart(counts[low:high]) for low, high in SUIT_BLOCKS)
        and wilds <= counts[27:34].count(0) + sum(suit_room(counts))
    )


def apart(suit: Sequence[int]) -> bool:
    """Whether a suit's different tiles are three apart at least: no pair, no run or part of one."""
    held = [i for i, n in enumerate(suit) if n]
    return all(high - low >= 3 for low, high in pairwise(held))


def suit_room(counts: Sequence[int]) -> tuple[int, ...]:
    """How many further tiles of each suit keep an independent hand independent."""
    return tuple(len(spare_places(tuple(counts[low:high]))) for low, high in SUIT_BLOCKS)


@lru_cache(maxsize=1 << 10)
def spare_places(suit: tuple[int, ...]) -> tuple[int, ...]:
    """The most places of a suit that can be filled beside its independent tiles, lowest first."""
    held = [i for i, n in enumerate(suit) if n]
    free: list[int] = []
    for place in range(9):  # the lowest that fits leaves most room for the next
        if all(abs(place - other) >= 3 for other in (*held, *free)):
            free.append(place)
    return tuple(free)


def is_thirteen_orphans(counts: Sequence[int], wilds: int) -> bool:
    """Whether fourteen tiles are thirteen orphans."""
    held = [counts[t] for t in ORPHANS]
    if sum(counts) + wilds != 14 or sum(held) != sum(counts):
        return False
    return max(held) <= 2 and sum(n == 2 for n in held) <= 1


def distance(
    counts: Sequence[int], wilds: int, sets: int, blocks: Sequence[Block] = PLAIN_BLOCKS
) -> int:
    """Tiles that must be exchanged until sets and a pair are complete.

    Args:
        counts: concealed naturals, ``3 * sets + 1`` or ``+ 2`` tiles with the wild ones.
        wilds: wild tiles held.
        sets: sets that the concealed tiles must still make.
        blocks: which tiles may share a set.

    Returns:
        0 for a complete hand, 1 for a hand that waits for its last tile, and so on (one more than
        the customary count, which calls a waiting hand 0).
    """
    best: _Use = ((0,) * (sets + 1), (-_NEVER,) * (sets + 1))
    for low, high in blocks:
        block = tuple(counts[low:high])
        if any(block):
            best = _merge(best, _block_use(block, sets), sets)
    used = max(best[0][sets], best[1][sets])
    return max(0, 3 * sets + 2 - used - wilds)


def independent_distance(counts: Sequence[int], wilds: int) -> int:
    """Tiles that must be exchanged until fourteen tiles are independent."""
    useful = sum(n > 0 for n in counts[27:34])
    useful += sum(_most_apart(tuple(counts[low:high])) for low, high in SUIT_BLOCKS)
    return max(0, INDEPENDENT_TILES - useful - wilds)


@lru_cache(maxsize=1 << 12)
def _most_apart(suit: tuple[int, ...]) -> int:
    """Most tiles of a suit that can stay in an independent hand."""
    held = [i for i, n in enumerate(suit) if n]
    sizes = [
        size
        for size in range(1, 4)
        for kept in combinations(held, size)
        if all(high - low >= 3 for low, high in pairwise(kept))
    ]
    return max(sizes, default=0)


def pairs_distance(counts: Sequence[int], wilds: int) -> int:
    """Tiles that must be exchanged until seven pairs are complete (four alike are two pairs)."""
    missing = max(0, 7 - sum(n // 2 for n in counts))
    started = min(missing, sum(n % 2 for n in counts))
    return max(0, 2 * missing - started - wilds)


def orphans_distance(counts: Sequence[int], wilds: int) -> int:
    """Tiles that must be exchanged until thirteen orphans are complete."""
    held = [counts[t] for t in ORPHANS]
    used = sum(n > 0 for n in held) + any(n > 1 for n in held)
    return max(0, 14 - used - wilds)


_Use = tuple[tuple[int, ...], ...]
"""Most naturals that can be used, by pairs and sets."""


@lru_cache(maxsize=1 << 15)
def _merge(left: _Use, right: _Use, sets: int) -> _Use:
    """Best use of two blocks together; at most one of them gives the pair."""
    out = [[-_NEVER] * (sets + 1) for _ in range(2)]
    for pairs, choices in enumerate((((0, 0),), ((0, 1), (1, 0)))):
        for a, b in choices:
            for s in range(sets + 1):
                for t in range(sets + 1 - s):
                    value = left[a][s] + right[b][t]
                    out[pairs][s + t] = max(out[pairs][s + t], value)
    return tuple(map(tuple, out))


@lru_cache(maxsize=1 << 14)
def _block_use(block: tuple[int, ...], sets: int) -> _Use:
    """Most naturals that ``s`` sets (and a pair) of one block can use, by pairs and sets.

    Index ``[p][s]``; sets beyond what the naturals serve count as filled by other tiles.
    """
    best = [[0] * (sets + 1), [0] * (sets + 1)]
    for made, pairs, used in _uses(block, sets, 1):
        best[pairs][made] = max(best[pairs][made], used)
    for row in best:
        for s in range(1, sets + 1):
            row[s] = max(row[s], row[s - 1])
    best[1] = [max(a, b) for a, b in zip(best[0], best[1], strict=True)]
    return tuple(tuple(row) for row in best)


@lru_cache(maxsize=1 << 16)
def _uses(block: tuple[int, ...], sets: int, pairs: int) -> frozenset[tuple[int, int, int]]:
    """What ``sets`` sets and ``pairs`` pairs at most can use: sets, pairs, naturals used.

    Groups hold one natural tile at least; the lowest tile left is used or passed over.
    """
    at = next((i for i, n in enumerate(block) if n), None)
    if at is None:
        return frozenset({(0, 0, 0)})
    out = set(_uses(_without(block, at, block[at]), sets, pairs))
    if sets:
        take = min(3, block[at])
        rests = [(take, _without(block, at, take))]
        for places in _parts_of_runs(len(block), at):
            if all(block[i] for i in places):
                rest = tuple(n - (i in places) for i, n in enumerate(block))
                rests.append((len(places), rest))
        for used, rest in rests:
            out |= {(s + 1, p, u + used) for s, p, u in _uses(rest, sets - 1, pairs)}
    if pairs:
        take = min(2, block[at])
        rest = _without(block, at, take)
        out |= {(s, p + 1, u + take) for s, p, u in _uses(rest, sets, 0)}
    best: dict[tuple[int, int], int] = {}
    for s, p, u in out:
        best[s, p] = max(best.get((s, p), 0), u)
    return frozenset((s, p, u) for (s, p), u in best.items())


@lru_cache(maxsize=64)
def _parts_of_runs(length: int, at: int) -> tuple[tuple[int, ...], ...]:
    """Two or three places of a run of which ``at`` is the lowest."""
    found: set[tuple[int, ...]] = set()
    for run in runs_with(length, at):
        above = [i for i in run if i > at]
        found |= {(at, *rest) for n in (1, 2) for rest in combinations(above, n)}
    return tuple(sorted(found, key=lambda places: (-len(places), places)))
