"""The decomposer against exhaustive substitution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules import shape
from tablectl.rules.decompose import (
    condensed,
    counts_of,
    seven_pairs,
    standard,
    thirteen_orphans,
)
from tablectl.rules.groups import Group, Kind, Reading, assign, placements, stand_ins
from tablectl.tiles import Tile, parse_tile, parse_tiles
from tests.rules import brute
from tests.rules.strategies import naturals_and_wilds


def readings(text: str, wilds: int = 0, sets: int = 4) -> list[Reading]:
    return list(standard(counts_of(parse_tiles(text)), wilds, sets))


def as_tiles(reading: Reading, fill: int) -> list[int]:
    return [*(t for g in reading for t in g.naturals()), *stand_ins(reading, Tile(fill))]


def counts(tiles: list[int]) -> tuple[int, ...]:
    return counts_of(Tile(t) for t in tiles)


def test_three_pungs_in_a_row_are_read_as_runs_too() -> None:
    found = readings("111222333m456p99s")
    kinds = {tuple(sorted(g.kind.name.lower() for g in r)) for r in found}
    assert len(found) == 2
    assert kinds == {("pair", "pung", "pung", "pung", "run"), ("pair", "run", "run", "run", "run")}


def test_a_wild_tile_may_fill_any_place_that_fits() -> None:
    # 3m 4m wait for 2m or 5m; the pair is fixed.
    found = readings("34m456p789s111z99s", 1)
    assert {t for r in found for t in stand_ins(r, Tile(0))} == {
        parse_tile("2m"),
        parse_tile("5m"),
    }


def test_barred_kinds_are_never_stood_in_for() -> None:
    tiles = counts_of(parse_tiles("34m456p789s111z99s"))
    found = list(standard(tiles, 1, 4, barred=frozenset({parse_tile("2m")})))
    assert [stand_ins(r, Tile(0)) for r in found] == [[parse_tile("5m")]]
    pairs = counts_of(parse_tiles("1122m3344p5566s7z"))
    assert seven_pairs(pairs, 1) is not None
    assert seven_pairs(pairs, 1, barred=frozenset({parse_tile("7z")})) is None


def test_placements_name_every_group_that_can_hold_the_winning_tile() -> None:
    (reading,) = readings("123m345m678p999s55z")
    three = parse_tile("3m")
    assert [reading[p.group].kind for p in placements(reading, three, wild=False)] == [
        Kind.RUN,
        Kind.RUN,
    ]
    borrowed = (Group(Kind.PAIR, (three, three), 0b10),)
    assert [p.wild for p in placements(borrowed, three, wild=False)] == [False]
    assert [p.tile for p in placements(borrowed, Tile(0), wild=True)] == [three]


def test_wild_tiles_stand_for_themselves_first() -> None:
    one, two, nine = Tile(0), Tile(1), Tile(8)
    assert assign([one, two], [nine, two]) == {one: [nine], two: [two]}


def test_five_sets_of_a_sixteen_tile_game() -> None:
    assert len(readings("123m456m789m123p456p77z", sets=5)) == 1
    assert not readings("123m456m789m123p456p7z", sets=5)


@given(naturals_and_wilds(max_wilds=2))
@settings(max_examples=80, deadline=None)
def test_standard_hands_agree_with_substitution(hand: tuple[list[int], int]) -> None:
    check_standard(*hand)


@given(naturals_and_wilds(max_wilds=4))
@settings(max_examples=6, deadline=None)
def test_standard_hands_with_up_to_four_wild_tiles(hand: tuple[list[int], int]) -> None:
    check_standard(*hand)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(naturals_and_wilds(max_wilds=4))
@settings(max_examples=1000, deadline=None)
def test_standard_hands_at_length(hand: tuple[list[int], int]) -> None:
    check_standard(*hand)


def check_standard(tiles: list[int], wilds: int) -> None:
    expected = brute.any_substitution(tiles, wilds, brute.is_standard)
    found = list(standard(counts(tiles), wilds, 4))
    assert bool(found) == expected
    assert shape.is_sets_and_pair(counts(tiles), wilds) == expected
    assert len(set(found)) == len(found)
    for reading in found:
        whole = as_tiles(reading, 33)
        assert brute.is_standard(whole)
        assert not Counter(tiles) - Counter(whole)


@given(naturals_and_wilds(max_wilds=2))
@settings(max_examples=60, deadline=None)
def test_no_partition_is_missed(hand: tuple[list[int], int]) -> None:
    """Every split of every substituted hand is one of the readings, free groups filled in."""
    tiles, wilds = hand
    found = set()
    for reading in standard(counts(tiles), wilds, 4):
        shown = tuple(sorted(g.tiles for g in reading if not g.is_free))
        found.add((shown, sum(g.is_free for g in reading)))
    for whole in brute.substitutions(tiles, wilds):
        for pair, sets in brute.partitions(whole):
            groups: list[tuple[int, ...]] = sorted([(pair, pair), *sets])
            assert any(
                not Counter[tuple[int, ...]](shown) - Counter(groups)
                and len(shown) + free == len(groups)
                for shown, free in found
            )


@given(st.lists(st.integers(0, 33), min_size=10, max_size=14), st.integers(0, 2))
@settings(max_examples=80, deadline=None)
def test_pairs_sets_and_orphans_agree_with_substitution(tiles: list[int], wilds: int) -> None:
    check_irregular(tiles, wilds)


@given(st.lists(st.sampled_from((0, 8, 9, 17, 18, 26, *range(27, 34))), min_size=12, max_size=14))
@settings(max_examples=60, deadline=None)
def test_orphans_among_terminals_and_honours(tiles: list[int]) -> None:
    check_irregular(tiles, 14 - len(tiles))


def check_irregular(tiles: list[int], wilds: int) -> None:
    if (len(tiles) + wilds) % 3 == 0:
        expected = brute.any_substitution(tiles, wilds, brute.is_sets)
        assert shape.is_sets(counts(tiles), wilds) == expected
    assert shape.is_pairs(counts(tiles), wilds) == brute.any_substitution(
        tiles, wilds, brute.is_pairs
    )
    expected = brute.any_substitution(tiles, wilds, brute.is_orphans)
    assert shape.is_thirteen_orphans(counts(tiles), wilds) == expected
    reading = thirteen_orphans(counts(tiles), wilds)
    assert (reading is not None) == expected
    if reading is not None:
        assert brute.is_orphans(as_tiles(reading, 33))


@given(naturals_and_wilds(max_wilds=0))
@settings(max_examples=60, deadline=None)
def test_distance_is_one_exactly_where_a_tile_completes(hand: tuple[list[int], int]) -> None:
    tiles = hand[0][:13]
    near = any(brute.is_standard([*tiles, t]) for t in range(34))
    assert (shape.distance(counts(tiles), 0, 4) == 1) == near
    # A tile exchanged changes the distance by one at most.
    other = [*tiles[1:], (tiles[0] + 1) % 34]
    assert abs(shape.distance(counts(tiles), 0, 4) - shape.distance(counts(other), 0, 4)) <= 1


def test_distance_counts_wild_tiles_as_fitting() -> None:
    assert shape.distance(counts_of(parse_tiles("123m456p789s11z5z")), 1, 4) == 1
    assert shape.distance(counts_of(parse_tiles("123m456p789s11z")), 3, 4) == 0
    assert shape.distance(counts_of(parse_tiles("147m258p369s1234z")), 0, 4) == 9


@given(naturals_and_wilds(max_wilds=8))
@settings(max_examples=80, deadline=None)
def test_a_wild_tile_is_some_tile(hand: tuple[list[int], int]) -> None:
    """With ``n`` wild tiles a hand wins exactly if it wins with one of them made some tile.

    By induction this carries the exhaustive checks of few wild tiles on to eight.
    """
    tiles, wilds = hand
    tests = (shape.is_sets_and_pair, shape.is_pairs, shape.is_thirteen_orphans)
    for test in tests:
        if wilds:
            one_less = any(test(counts([*tiles, t]), wilds - 1) for t in range(34))
            assert test(counts(tiles), wilds) == one_less
    assert shape.is_sets_and_pair(counts(tiles), wilds) == any(standard(counts(tiles), wilds, 4))
    if wilds:
        before = counts(tiles)
        as_sets = any(shape.is_sets(counts([*tiles, t]), wilds - 2) for t in range(34))
        assert shape.is_sets(before, wilds - 1) == (as_sets if wilds > 1 else brute.is_sets(tiles))


@given(naturals_and_wilds(max_wilds=8))
@settings(max_examples=50, deadline=None)
def test_readings_use_every_tile_once(hand: tuple[list[int], int]) -> None:
    tiles, wilds = hand
    seen = set()
    for reading in standard(counts(tiles), wilds, 4):
        assert sorted(t for g in reading for t in g.naturals()) == sorted(tiles)
        assert sum(g.wild_count for g in reading) == wilds
        assert len(reading) == 5
        seen.add(reading)
    assert len(seen) == sum(1 for _ in standard(counts(tiles), wilds, 4))


def _kinds(groups: tuple[Group, ...]) -> frozenset[Kind]:
    return frozenset(group.kind for group in groups)


@given(naturals_and_wilds(max_wilds=6))
@settings(max_examples=60, deadline=None)
def test_condensed_readings_are_one_of_every_sort(hand: tuple[list[int], int]) -> None:
    tiles, wilds = hand
    held = counts(tiles)

    def sorts(readings: Iterable[Reading]) -> list[tuple[object, ...]]:
        told: list[tuple[object, ...]] = []
        for reading in readings:
            suits = [tuple(g for g in reading if g.tiles and low <= g.tiles[0] < low + 9)
                     for low in (0, 9, 18)]  # fmt: skip
            rest = [g for g in reading if not g.tiles or g.tiles[0] >= 27]
            sizes = [(sum(g.kind is not Kind.PAIR for g in s), _kinds(s)) for s in suits]
            told.append((*sizes, tuple((g.kind, g.tiles) for g in rest)))
        return told

    every = sorts(standard(held, wilds, 4))
    one_each = sorts(condensed(held, wilds, 4, _kinds))
    assert set(one_each) == set(every)
    assert len(set(one_each)) == len(one_each)
