"""The hand decomposer shared by all rule sets.

Concealed tiles come as counts by identity (34 kinds, changed faces already applied) plus a number
of wild tiles, each of which may stand for any kind. :func:`standard` returns every distinct
reading as sets and a pair; the other functions read the hands that have no sets. Which group took
the winning tile is answered by :func:`tablectl.rules.groups.placements`, so that a rule set that
does not care does not pay for it.

A rule set whose wild tiles may not stand for some kinds passes those as ``barred``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tablectl.rules.groups import FREE_PAIR, FREE_SET, Group, Kind, Reading
from tablectl.rules.shape import (
    MIDDLES,
    ORPHANS,
    PLAIN_BLOCKS,
    SUIT_BLOCKS,
    Block,
    block_need,
    is_independent,
    runs_with,
    spare_places,
)
from tablectl.tiles import Tile

Counts = tuple[int, ...]
"""Copies by tile index, 34 kinds."""

_Part = tuple[int, int, tuple[Group, ...]]
"""Sets, pairs and the groups themselves, for one suit or one honour."""


def counts_of(tiles: Iterable[Tile]) -> Counts:
    """Copies by tile index of suit and honour tiles."""
    counts = [0] * 34
    for tile in tiles:
        counts[tile] += 1
    return tuple(counts)


def standard(
    counts: Sequence[int],
    wilds: int,
    sets: int,
    *,
    barred: frozenset[Tile] = frozenset(),
    blocks: Sequence[Block] = PLAIN_BLOCKS,
) -> Iterator[Reading]:
    """Every distinct reading as ``sets`` sets and a pair.

    Args:
        counts: natural tiles by identity, winning tile included.
        wilds: number of wild tiles.
        sets: sets that the concealed tiles must make (four, or five, less the melds).
        barred: kinds that no wild tile may stand for.
        blocks: which tiles may share a group; ``shape.HONOUR_RUN_BLOCKS`` adds runs of honours.

    Yields:
        Readings without duplicates; groups of one reading stand in tile order, free groups last.
        Nothing where the tiles do not fit. Plain readings tend to come first.
    """
    yield from _readings(counts, wilds, sets, barred, blocks, None)


Sort = Callable[[tuple[Group, ...]], Hashable]
"""What matters of the groups of one block, beside how many sets and pairs they are."""


def condensed(
    counts: Sequence[int],
    wilds: int,
    sets: int,
    sort: Sort,
    *,
    barred: frozenset[Tile] = frozenset(),
    blocks: Sequence[Block] = PLAIN_BLOCKS,
) -> Iterator[Reading]:
    """One reading of every sort: as :func:`standard`, where the score depends on few things.

    Two ways to use up a suit (or an honour) are of one sort if they make as many sets and pairs and
    ``sort`` says the same of both; one of them, with the fewest wild tiles, stands for all. With
    many wild tiles that leaves tens of readings in place of thousands.

    Args:
        counts, wilds, sets, barred, blocks: as for :func:`standard`.
        sort: what matters of one block's groups; hashable itself, and the same object or an equal
            one in every call, because its answers are kept.
    """
    yield from _readings(counts, wilds, sets, barred, blocks, sort)


def _readings(
    counts: Sequence[int],
    wilds: int,
    sets: int,
    barred: frozenset[Tile],
    blocks: Sequence[Block],
    sort: Sort | None,
) -> Iterator[Reading]:
    if sum(counts) + wilds != 3 * sets + 2:
        return
    parts: list[tuple[_Part, ...]] = []
    budget = _Budget(wilds, sets, 1, barred)
    for low, high in blocks:
        block = tuple(counts[low:high])
        if any(block):
            if sort is None:
                options = _block_parts(block, low, budget)
            else:
                options = _block_sorts(block, low, budget, sort)
            if not options:
                return
            parts.append(options)
    yield from _combine(parts, 0, sets, 1, ())


def _combine(
    parts: Sequence[tuple[_Part, ...]], at: int, sets: int, pairs: int, done: Reading
) -> Iterator[Reading]:
    """Choose one part a block so that sets and pair come out right; wild tiles fill up."""
    if at == len(parts):
        yield done + (FREE_SET,) * sets + (FREE_PAIR,) * pairs
        return
    for part_sets, part_pairs, groups in parts[at]:
        if part_sets <= sets and part_pairs <= pairs:
            yield from _combine(parts, at + 1, sets - part_sets, pairs - part_pairs, done + groups)


class _Budget(NamedTuple):
    """What a block may use at most."""

    wilds: int
    sets: int
    pairs: int
    barred: frozenset[Tile]


@lru_cache(maxsize=1 << 14)
def _block_parts(block: Counts, low: int, budget: _Budget) -> tuple[_Part, ...]:
    """Every way to use up the naturals of a block in groups that hold one at least.

    Fewest wild tiles come first, so that plain readings precede borrowed ones.
    """
    parts = _parts(block, low, 0, budget)
    return tuple(sorted(parts, key=lambda part: sum(g.wild_count for g in part[2])))


@lru_cache(maxsize=1 << 14)
def _block_sorts(block: Counts, low: int, budget: _Budget, sort: Sort) -> tuple[_Part, ...]:
    """The first way of every sort to use up a block."""
    found: dict[Hashable, _Part] = {}
    for part in _block_parts(block, low, budget):
        found.setdefault((part[0], part[1], sort(part[2])), part)
    return tuple(found.values())


@lru_cache(maxsize=1 << 16)
def _parts(block: Counts, low: int, floor: int, budget: _Budget) -> tuple[_Part, ...]:
    """Group the lowest natural tile left in every possible way, the rest likewise.

    Groups around the same lowest tile are taken in the order of their shape (``floor`` is the
    least one allowed), so that no reading is found twice.
    """
    first = next((i for i, n in enumerate(block) if n), None)
    if first is None:
        return ((0, 0, ()),)
    if min(block_need(block)[: 1 + budget.pairs]) > budget.wilds:
        return ()
    found: list[_Part] = []
    for shape, kind, members, mask in _groups_with(block, first):
        borrowed, pair = mask.bit_count(), kind is Kind.PAIR
        no_room = not budget.pairs if pair else not budget.sets
        if shape < floor or borrowed > budget.wilds or no_room:
            continue
        tiles = tuple(Tile(low + i) for i in members)
        if budget.barred and any(mask >> i & 1 and t in budget.barred for i, t in enumerate(tiles)):
            continue
        rest = list(block)
        for i, member in enumerate(members):
            rest[member] -= not mask >> i & 1
        left = _Budget(
            budget.wilds - borrowed, budget.sets - (not pair), budget.pairs - pair, budget.barred
        )
        group = (Group(kind, tiles, mask),)
        for sets, pairs, groups in _parts(tuple(rest), low, shape if rest[first] else 0, left):
            found.append((sets + (not pair), pairs + pair, group + groups))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _groups_with(block: Counts, first: int) -> tuple[tuple[int, Kind, tuple[int, ...], int], ...]:
    """Groups that hold the natural tile at ``first``, the lowest one left.

    Copies of one tile are interchangeable, so of a pung or a pair only the number of wild members
    matters; they take the last places.

    Returns:
        Rank of the shape, kind, members as positions in the block, mask of wild members.
    """
    have = block[first]
    out: list[tuple[int, Kind, tuple[int, ...], int]] = []
    for rank, (kind, size) in enumerate(((Kind.PUNG, 3), (Kind.PAIR, 2))):
        for naturals in range(min(have, size), 0, -1):
            mask = (1 << size) - (1 << naturals)
            out.append((4 * rank + mask.bit_count(), kind, (first,) * size, mask))
    for place, members in enumerate(runs_with(len(block), first)):
        # Places below the lowest natural tile, or without one, can only be wild.
        must = sum(1 << i for i, m in enumerate(members) if m != first and not block[m])
        may = [1 << i for i, m in enumerate(members) if m != first and block[m]]
        rank = 8 * (1 + place)
        out += [(rank + (must | extra), Kind.RUN, members, must | extra) for extra in _subsets(may)]
    return tuple(out)


def _subsets(bits: list[int]) -> Iterator[int]:
    for chosen in range(1 << len(bits)):
        yield sum(bit for i, bit in enumerate(bits) if chosen >> i & 1)


def seven_pairs(
    counts: Sequence[int], wilds: int, *, barred: frozenset[Tile] = frozenset()
) -> Reading | None:
    """The reading as seven pairs (four alike are two pairs), natural pairs first; or nothing.

    How many naturals of each kind there are decides everything that matters, so there is one.
    """
    if sum(counts) + wilds != 14:
        return None
    groups: list[Group] = []
    for i, n in enumerate(counts):
        if n:
            tile = Tile(i)
            groups += [Group(Kind.PAIR, (tile, tile))] * (n // 2)
            if n % 2:
                if tile in barred:
                    return None
                groups.append(Group(Kind.PAIR, (tile, tile), 0b10))
    if len(groups) > 7:
        return None
    return (*groups, *(FREE_PAIR,) * (7 - len(groups)))


def independent(
    counts: Sequence[int], wilds: int, *, suits: Sequence[int] = (0, 1, 2)
) -> Reading | None:
    """A reading as fourteen independent tiles, or nothing; wild tiles stand for honours first.

    What the wild tiles stand for beyond being independent is free, so this is one of many readings.

    Args:
        suits: the order in which suits are filled up with wild tiles.
    """
    if not is_independent(counts, wilds):
        return None
    places = [Tile(i) for i in range(27, 34) if not counts[i]]
    for low, high in (SUIT_BLOCKS[suit] for suit in suits):
        places += [Tile(low + i) for i in spare_places(tuple(counts[low:high]))]
    held = [(Tile(i), 0) for i, n in enumerate(counts) if n]
    tiles = sorted([*held, *((tile, 1) for tile in places[:wilds])])
    return tuple(Group(Kind.SINGLE, (tile,), wild) for tile, wild in tiles)


def thirteen_orphans(
    counts: Sequence[int], wilds: int, *, barred: frozenset[Tile] = frozenset()
) -> Reading | None:
    """The reading as thirteen orphans: singles and one pair; or nothing.

    Where no orphan is held twice, a wild tile doubles the first kind that it may stand for.
    """
    if any(counts[t] for t in MIDDLES) or sum(counts) + wilds != 14:
        return None
    doubled = [t for t in ORPHANS if counts[t] > 1]
    missing = [t for t in ORPHANS if not counts[t]]
    if len(doubled) > 1 or any(counts[t] > 2 for t in doubled) or barred.intersection(missing):
        return None
    if not doubled and all(t in barred for t in ORPHANS):
        return None
    pair = doubled[0] if doubled else next(t for t in ORPHANS if t not in barred)
    return tuple(_orphan_group(t, counts[t], paired=t == pair) for t in ORPHANS)


@lru_cache(maxsize=128)
def _orphan_group(tile: Tile, have: int, *, paired: bool) -> Group:
    if paired:
        return Group(Kind.PAIR, (tile, tile), (0b11, 0b10, 0)[have])
    return Group(Kind.SINGLE, (tile,), 0 if have else 1)
