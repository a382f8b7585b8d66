"""The scene that ``tablectl teach`` wants to see: one of each tile in rows on the bare table."""

from __future__ import annotations

import random
from typing import Final

from vision.geometry import TableGeometry
from vision.render.scene import Scene, SceneTile
from vision.teaching import laid_out

JITTER: Final = 0.035
"""How far a tidy person lays a tile beside its place: standard deviation, tile widths."""

TURN: Final = 1.6
"""By how much it is turned, degrees."""


def layout_scene(geometry: TableGeometry, seed: int, seat: int = 0) -> Scene:
    """The layout before a seat, as tidy as people are."""
    rng = random.Random(seed)
    off = JITTER * geometry.tile_width_mm
    tiles = [
        SceneTile(
            tile, x + rng.gauss(0, off), y + rng.gauss(0, off), (turn + rng.gauss(0, TURN)) % 360
        )
        for tile, x, y, turn in laid_out(geometry, seat)
    ]
    return Scene(tiles=tuple(tiles))
