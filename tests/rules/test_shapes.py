"""Runs of honours, pungs only, independent tiles: shapes of few rule sets, against brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import pytest

from tablectl.rules import shape
from tablectl.rules.decompose import counts_of, independent, standard
from tablectl.rules.groups import Kind
from tablectl.tiles import Tile, parse_tile, parse_tiles
from tests.rules import brute

WINDS, DRAGONS = range(27, 31), range(31, 34)


def groups_of(first: int, kinds: str) -> Iterator[tuple[int, ...]]:
    yield (first,) * 3
    if kinds != "pungs" and first < 27 and first % 9 <= 6:
        yield (first, first + 1, first + 2)
    if kinds == "honour_runs":
        for block in (WINDS, DRAGONS):
            yield from (run for run in combinations(block, 3) if run[0] == first)


def splits(tiles: tuple[int, ...], kinds: str) -> bool:
    """Whether sorted natural tiles split into sets."""
    if not tiles:
        return True
    for group in groups_of(tiles[0], kinds):
        rest = list(tiles)
        for tile in group:
            if tile not in rest:
                break
            rest.remove(tile)
        else:
            if splits(tuple(rest), kinds):
                return True
    return False


def is_hand(tiles: Sequence[int], kinds: str) -> bool:
    for pair in set(tiles):
        if list(tiles).count(pair) >= 2:
            rest = sorted(tiles)
            rest.remove(pair)
            rest.remove(pair)
            if splits(tuple(rest), kinds):
                return True
    return False


def near_hand(rng: Random, kinds: str, sets: int) -> list[int]:
    tiles = [rng.randrange(34)] * 2
    for _ in range(sets):
        tiles += rng.choice(
            list(groups_of(rng.choice((rng.randrange(34), rng.randrange(27, 34))), kinds))
        )
    while rng.random() < 0.5:
        tiles[rng.randrange(len(tiles))] = rng.randrange(34)
    return tiles


BLOCKS = {
    "plain": shape.PLAIN_BLOCKS,
    "honour_runs": shape.HONOUR_RUN_BLOCKS,
    "pungs": shape.SINGLE_BLOCKS,
}


def check_sets(seed: int, kinds: str, wilds: int) -> None:
    rng = Random(seed)
    tiles = near_hand(rng, kinds, 3)
    rng.shuffle(tiles)
    tiles = tiles[wilds:]
    counts = counts_of(Tile(t) for t in tiles)
    expected = brute.any_substitution(tiles, wilds, lambda hand: is_hand(hand, kinds))
    assert shape.is_sets_and_pair(counts, wilds, BLOCKS[kinds]) == expected
    found = list(standard(counts, wilds, 3, blocks=BLOCKS[kinds]))
    assert bool(found) == expected
    assert len(set(found)) == len(found)
    for tile in set(tiles):
        in_set = any(
            tile in group.naturals() for r in found for group in r if group.kind is not Kind.PAIR
        )
        assert shape.fits_in_set(counts, wilds, Tile(tile), BLOCKS[kinds]) == in_set
    assert (shape.distance(counts, wilds, 3, BLOCKS[kinds]) == 0) == expected


@pytest.mark.parametrize("kinds", sorted(BLOCKS))
@pytest.mark.parametrize("wilds", [0, 1])
def test_sets_agree_with_substitution(kinds: str, wilds: int) -> None:
    for seed in range(60):
        check_sets(seed, kinds, wilds)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kinds", sorted(BLOCKS))
def test_sets_at_length(kinds: str) -> None:
    for seed in range(2000):
        check_sets(seed, kinds, seed % 3)


def test_five_sets_of_pungs_and_runs() -> None:
    tiles = counts_of(parse_tiles("111222333m456p77799s"))
    assert shape.is_sets_and_pair(tiles, 0)
    assert not shape.is_sets_and_pair(tiles, 0, shape.SINGLE_BLOCKS)
    assert len(list(standard(tiles, 0, 5))) == 2


def test_runs_of_honours() -> None:
    counts = counts_of(parse_tiles("124z567z134z12399m"))
    assert shape.is_sets_and_pair(counts, 0, shape.HONOUR_RUN_BLOCKS)
    assert not shape.is_sets_and_pair(counts, 0)
    mixed = counts_of(parse_tiles("145z567z134z12399m"))
    assert not shape.is_sets_and_pair(mixed, 0, shape.HONOUR_RUN_BLOCKS)


def is_independent(tiles: Sequence[int]) -> bool:
    """Literally: no two alike, no two that a run could hold."""
    return len(tiles) == 14 and not any(
        a == b or (max(a, b) < 27 and a // 9 == b // 9 and abs(a - b) < 3)
        for a, b in combinations(tiles, 2)
    )


@pytest.mark.parametrize(
    ("tiles", "wilds", "holds"),
    [
        ("147m258p369s12345z", 0, True),
        ("147m258p369s12344z", 0, False),
        ("137m258p369s12345z", 0, False),
        ("147m258p1234567z", 1, True),
        ("27m27p27s1234567z", 1, False),
        ("27m27p28s1234567z", 1, True),
        ("27m27p19s1234567z", 1, True),
        ("147m258p36s12345z", 0, False),
    ],
)
def test_independent_tiles(tiles: str, wilds: int, holds: bool) -> None:
    counts = counts_of(parse_tiles(tiles))
    assert shape.is_independent(counts, wilds) is holds
    assert (independent(counts, wilds) is not None) is holds


def check_independent(seed: int, wilds: int) -> None:
    rng = Random(seed)
    honours = rng.sample(range(27, 34), rng.randrange(4, 8))
    tiles = [*honours, *rng.sample(range(27), 14 - len(honours))]
    if rng.random() < 0.8:
        suits = [
            9 * s + t
            for s in range(3)
            for t in rng.choice(((0, 3, 6), (1, 4, 8), (2, 7), (0, 4, 7)))
        ]
        tiles = [*honours, *rng.sample(suits, min(len(suits), 14 - len(honours)))]
    tiles = tiles[: 14 - wilds]
    counts, missing = counts_of(Tile(t) for t in tiles), 14 - len(tiles)
    expected = missing <= 2 and brute.any_substitution(tiles, missing, is_independent)
    if missing <= 2:
        assert shape.is_independent(counts, missing) == expected
        reading = independent(counts, missing)
        assert (reading is not None) == expected
        if reading:
            assert is_independent([g.tiles[0] for g in reading])
            assert sum(g.wild_count for g in reading) == missing
            assert shape.independent_distance(counts, missing) == 0


def test_independent_tiles_agree_with_substitution() -> None:
    for seed in range(80):
        check_independent(seed, seed % 3)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_independent_tiles_at_length() -> None:
    for seed in range(5000):
        check_independent(seed, seed % 3)


def test_distances() -> None:
    assert shape.independent_distance(counts_of(parse_tiles("147m258p369s1234z")), 0) == 1
    assert shape.independent_distance(counts_of(parse_tiles("1123m258p369s111z")), 0) == 6
    assert shape.spare_places((1, 0, 0, 0, 0, 0, 0, 0, 0)) == (3, 6)
    assert parse_tile("1m") == 0
