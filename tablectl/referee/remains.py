"""Tiles of the last hand that still lie on the felt when the next one begins.

The machine may deal before everybody has pushed everything into it, and the eye tells of a covered
area what it saw there last. Such tiles are not the new hand's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from vision.messages import SeenTile

SAME_PLACE_MM: Final = 8.0
"""A tile that nobody has touched is seen within this."""


def same(a: SeenTile, b: SeenTile) -> bool:
    """Whether both are the same face at the same place."""
    return a.best == b.best and math.hypot(a.x - b.x, a.y - b.y) <= SAME_PLACE_MM


def still_lying(remains: Iterable[SeenTile], seen: Iterable[SeenTile]) -> tuple[SeenTile, ...]:
    """Those of the remains that are seen; one that was gone once is none any more."""
    there = tuple(seen)
    return tuple(old for old in remains if any(same(old, tile) for tile in there))


def without(seen: Iterable[SeenTile], remains: tuple[SeenTile, ...]) -> tuple[SeenTile, ...]:
    """What is seen and does not remain of the last hand."""
    return tuple(tile for tile in seen if not any(same(tile, old) for old in remains))
