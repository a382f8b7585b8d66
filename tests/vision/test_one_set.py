"""A picture of one set: four of each face, each flower once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.tiles import BACK, parse_tile
from vision.detector import Detection
from vision.one_set import COPIES, within_one_set

CLASSES = 43


def find(score: float = 1.0, **chances: float) -> Detection:
    """A find whose probabilities go to the named tiles (``f3`` is 3f, ``back`` the back)."""
    row = [0.0] * CLASSES
    for name, chance in chances.items():
        row[BACK if name == "back" else int(parse_tile(name[1:] + name[0]))] = chance
    return Detection((0.0, 0.0, 30.0, 40.0), score, tuple(row), 0.0)


def chance_of(found: Detection, name: str) -> float:
    return found.probabilities[BACK if name == "back" else int(parse_tile(name))]


def test_a_flower_that_lies_there_already_is_not_there_twice() -> None:
    sure, unsure = within_one_set([find(f3=0.99, f7=0.01), find(f3=0.6, f7=0.4)])
    assert sure.tile == parse_tile("3f")
    assert chance_of(unsure, "7f") > 0.98


def test_four_of_a_face_leave_none_for_a_fifth() -> None:
    four = [find(m4=0.94, m1=0.06)] * 4
    *kept, fifth = within_one_set([*four, find(m1=0.4, m4=0.6)])
    assert all(seen.tile == parse_tile("4m") for seen in kept)
    assert fifth.tile == parse_tile("1m")


def test_three_of_a_face_change_little() -> None:
    *_, fourth = within_one_set([find(m4=0.94, m1=0.06)] * 3 + [find(m1=0.4, m4=0.6)])
    assert chance_of(fourth, "4m") == pytest.approx(0.6, abs=0.01)


def test_backs_are_without_number() -> None:
    many = [find(back=0.7, z5=0.3)] * 60
    assert all(seen.tile == BACK for seen in within_one_set(many))


@pytest.mark.parametrize("chance", [0.97, 0.9])
def test_more_than_a_set_has_is_no_set(chance: float) -> None:
    """Six Whites, each sure or none of them quite: the picture is left as it was read."""
    whites = [find(z5=chance, back=1 - chance)] * 6
    assert within_one_set(whites) == whites


def test_an_unlikely_tile_hardly_takes_a_place() -> None:
    _, other = within_one_set([find(0.1, f3=1.0), find(f3=0.6, f7=0.4)])
    assert chance_of(other, "3f") == pytest.approx(0.54 / 0.94)


def test_nothing_found() -> None:
    assert within_one_set([]) == []


rows = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3).map(lambda v: np.array(v) / sum(v))


@given(st.lists(rows, min_size=2, max_size=2), st.floats(0.3, 1.0), st.floats(0.3, 1.0))
def test_two_tiles_are_weighed_as_enumeration_does(
    chances: list[np.ndarray[tuple[int], np.dtype[np.float64]]], one: float, other: float
) -> None:
    """Against every assignment of 3f, 7f and back to two finds that may also be no tile."""
    names, scores = ("f3", "f7", "back"), (one, other)
    finds = [
        find(score, **dict(zip(names, (float(p) for p in row), strict=True)))
        for score, row in zip(scores, chances, strict=True)
    ]
    got = within_one_set(finds)
    if got == finds:
        return  # both surely the same flower: not one set
    for index in (0, 1):
        sums = np.zeros(3)
        for mine, theirs in product(range(3), (0, 1, 2, None)):
            away = 1 - index
            rest = 1 - scores[away] if theirs is None else scores[away] * chances[away][theirs]
            if mine == theirs and mine < 2:
                continue
            sums[mine] += chances[index][mine] * rest
        wanted = sums / sums.sum()
        seen = [chance_of(got[index], name) for name in ("3f", "7f", "back")]
        assert seen == pytest.approx(wanted, abs=1e-9)


def test_a_set_has_144_tiles() -> None:
    assert sum(COPIES) == 144
