"""A reader of simulated felts without pictures: what the eye would report, with chosen doubts."""

from __future__ import annotations

import random
from collections.abc import Callable

from tablectl.simulate.felt import SimulatedFelt
from tablectl.tiles import Tile, format_tile
from vision.geometry import Zone
from vision.messages import SeenTile, TableReading
from vision.render.scene import Pose, SceneTile

Doubt = Callable[[Tile], dict[str, float]]


def certain(tile: Tile) -> dict[str, float]:
    return {format_tile(tile): 0.999}


def doubting(seed: int, share: float) -> Doubt:
    """Reads that are unsure of a share of the tiles, the wrong face first in half of them."""
    rng = random.Random(seed)

    def doubt(tile: Tile) -> dict[str, float]:
        if rng.random() >= share or tile >= 27:
            return certain(tile)
        other = Tile(tile // 9 * 9 + (tile + 1) % 9)
        p = rng.uniform(0.35, 0.65)
        pair = {format_tile(tile): p, format_tile(other): 1 - p}
        return dict(sorted(pair.items(), key=lambda item: -item[1]))

    return doubt


class PlainEye:
    """Reports each tile at its place; a tile's belief is decided once and kept."""

    def __init__(self, felt: SimulatedFelt, doubt: Doubt = certain) -> None:
        self.felt = felt
        self.doubt = doubt
        self._beliefs: dict[tuple[int, int, Tile], dict[str, float]] = {}
        self._seq = 0

    def look(self, t: float) -> TableReading:
        tiles = tuple(
            seen for tile in self.felt.scene().tiles if (seen := self._seen(tile)) is not None
        )
        self._seq += 1
        return TableReading(t=t, seq=self._seq, tiles=tiles)

    def _seen(self, tile: SceneTile) -> SeenTile | None:
        geometry = self.felt.geometry
        zone, seat = geometry.locate(tile.x_mm, tile.y_mm)
        if tile.pose is Pose.STANDING:
            return None
        if tile.pose is Pose.FLAT_DOWN and zone is not Zone.EXPOSED:
            return None
        key = (round(tile.x_mm), round(tile.y_mm), tile.tile)
        if tile.pose is Pose.FLAT_DOWN:
            belief = {"back": 0.99}
        else:
            belief = self._beliefs.setdefault(key, self.doubt(tile.tile))
        turned = 0.0 if seat is None else geometry.seat_angle(seat)
        return SeenTile(
            probabilities=belief, x=tile.x_mm, y=tile.y_mm,
            rotation=(tile.rotation_deg - turned) % 360.0, zone=zone, seat=seat, frames=3,
        )  # fmt: skip
