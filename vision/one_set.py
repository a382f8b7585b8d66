"""What one set of tiles allows: four of each face, each flower and season once.

A picture nearly always shows tiles of one set (of the labelled photographs 12 of 1,014 have more of
a kind). So a face that others surely are is less likely for the next one. That is the whole prior
of a single picture; the referee, which knows the game, has a stronger one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tablectl.tiles import N_KINDS
from vision.detector import Detection

FloatArray = npt.NDArray[np.float64]

FIRST_FLOWER: Final = 34
COPIES: Final = tuple(4 if kind < FIRST_FLOWER else 1 for kind in range(N_KINDS))
"""Of each face in a set."""

SURE: Final = 0.95
"""Probability from which a reading counts against the picture showing one set only."""

EXCESS: Final = 1.0
"""How many more of a kind than a set has must be expected for the same."""


def within_one_set(found: Sequence[Detection]) -> list[Detection]:
    """The same finds, their probabilities weighed with what is left of the set for each.

    The chance of a kind is multiplied with the chance that fewer of the others are of it than the
    set has: exact for two tiles that compete for one place, a good approximation for more. Nothing
    changes where the picture clearly shows more of a kind than a set has: it is not one set then.
    """
    if not found:
        return []
    chances = np.array([seen.probabilities for seen in found], np.float64)
    there = chances * np.array([seen.score for seen in found])[:, None]
    faces = there[:, :N_KINDS]
    sure, expected = (faces >= SURE).sum(axis=0), faces.sum(axis=0)
    if (sure > COPIES).any() or (expected > np.array(COPIES) + EXCESS).any():
        return list(found)
    weighed = chances.copy()
    for kind, copies in enumerate(COPIES):
        weighed[:, kind] *= _chance_of_fewer(there[:, kind], copies)
    total = weighed.sum(axis=1, keepdims=True)
    weighed = np.where(total > 0, weighed / np.maximum(total, 1e-300), chances)
    return [
        replace(seen, probabilities=tuple(float(p) for p in row))
        for seen, row in zip(found, weighed, strict=True)
    ]


def _chance_of_fewer(chances: FloatArray, limit: int) -> FloatArray:
    """For each of N independent events: the chance that fewer than ``limit`` of the others happen.

    ``chances`` (N,) of the events. The counts of the others come from the counts of those before
    and of those after.
    """
    before = _running_counts(chances, limit)
    after = _running_counts(chances[::-1], limit)[::-1]
    return np.array(
        [
            sum(before[i, a] * after[i, : limit - a].sum() for a in range(limit))
            for i in range(len(chances))
        ]
    )


def _running_counts(chances: FloatArray, limit: int) -> FloatArray:
    """(N, limit): the chance that 0, 1, ... of the events before each have happened."""
    counts = np.zeros((len(chances), limit))
    now = np.zeros(limit)
    now[0] = 1.0
    for i, chance in enumerate(chances):
        counts[i] = now
        shifted = np.concatenate([[0.0], now[:-1]])
        now = now * (1 - chance) + shifted * chance
    return counts
