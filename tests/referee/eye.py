"""A reader of simulated felts without pictures: what the eye would report, with chosen doubts."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from tablectl.simulate.felt import SimulatedFelt
from tablectl.tiles import NAMES, Tile, format_tile
from vision.geometry import Zone
from vision.messages import SeenTile, TableReading, WallSeen
from vision.render.scene import Pose, SceneTile

ANY_FACE: Final = dict.fromkeys(NAMES, 1 / len(NAMES))
"""What the eye says of a thing like a tile that it can't read."""

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


@dataclass
class Blindness:
    """Tiles that the camera misses, for good or for a while.

    Attributes:
        share: of the tiles that are missed at all.
        for_good: share of those that are never found; the others are found after one to four looks.
        noticed: share of the missed tiles in rivers and strips of which the eye sees that something
            lies there (``vision.felt.unread``).
    """

    seed: int
    share: float
    for_good: float = 0.5
    noticed: float = 0.0

    def __post_init__(self) -> None:
        self._rng = random.Random(f"blind/{self.seed}")
        self._fates: dict[object, tuple[float, bool]] = {}
        self._looks: Counter[object] = Counter()

    def look(self, key: object, zone: Zone) -> Literal["seen", "unread", "missed"]:
        """What becomes of one look at a tile."""
        if key not in self._fates:
            self._fates[key] = self._fate(zone)
        looks, noticed = self._fates[key]
        self._looks[key] += 1
        if self._looks[key] > looks:
            return "seen"
        return "unread" if noticed else "missed"

    def _fate(self, zone: Zone) -> tuple[float, bool]:
        """Looks for which a tile is missed, and whether it is noticed."""
        if self._rng.random() >= self.share:
            return 0, False
        looks = math.inf if self._rng.random() < self.for_good else self._rng.randint(1, 4)
        noticed = self._rng.random() < self.noticed
        return looks, noticed and zone in (Zone.RIVER, Zone.EXPOSED)


SIGHTED: Final = Blindness(0, 0.0)
"""Misses nothing."""


class PlainEye:
    """Reports each tile at its place; a tile's belief is decided once and kept."""

    def __init__(
        self, felt: SimulatedFelt, doubt: Doubt = certain, blind: Blindness = SIGHTED
    ) -> None:
        self.felt = felt
        self.doubt = doubt
        self.blind = blind
        self.backs = {"back": 0.99}
        self._beliefs: dict[tuple[int, int, Tile], dict[str, float]] = {}
        self._seq = 0

    def look(self, t: float) -> TableReading:
        tiles = tuple(
            seen for tile in self.felt.scene().tiles if (seen := self._seen(tile)) is not None
        )
        self._seq += 1
        return TableReading(t=t, seq=self._seq, tiles=tiles, walls=self._walls())

    def _walls(self) -> tuple[WallSeen, ...]:
        """Stacks before each seat, those with the tile turned up included."""
        scene = self.felt.scene().tiles
        places: Counter[int] = Counter()
        for x, y in {(round(tile.x_mm), round(tile.y_mm)) for tile in scene}:
            zone, seat = self.felt.geometry.locate(x, y)
            if zone is Zone.WALL and seat is not None:
                places[seat] += 1
        return tuple(WallSeen(seat=s, stacks=places[s]) for s in range(self.felt.seats))

    def _seen(self, tile: SceneTile) -> SeenTile | None:
        geometry = self.felt.geometry
        zone, seat = geometry.locate(tile.x_mm, tile.y_mm)
        if tile.pose is Pose.STANDING:
            return None
        if tile.pose is Pose.FLAT_DOWN and zone is not Zone.EXPOSED:
            return None
        key = (round(tile.x_mm), round(tile.y_mm), tile.tile)
        if tile.pose is Pose.FLAT_DOWN:
            belief = self.backs
        else:
            belief = self._beliefs.setdefault(key, self.doubt(tile.tile))
        match self.blind.look(key, zone):
            case "missed":
                return None
            case "unread":
                belief = ANY_FACE
            case "seen":
                pass
        turned = 0.0 if seat is None else geometry.seat_angle(seat)
        return SeenTile(
            probabilities=belief, x=tile.x_mm, y=tile.y_mm,
            rotation=(tile.rotation_deg - turned) % 360.0, zone=zone, seat=seat, frames=3,
        )  # fmt: skip
