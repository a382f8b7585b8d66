"""Which tiles are wild in a hand, and which play with another tile's face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tablectl.tiles import Tile


@dataclass(frozen=True, slots=True)
class Wild:
    """The wild rule applied to one indicator.

    Attributes:
        tiles: kinds that may stand for another tile.
        faces: kinds that always play as another tile without being wild, e.g. the white dragon
            as the indicator's face.
        barred: kinds that belong to no set, pair or winning hand, and that no wild tile may stand
            for: the kong tiles of Wuhan.
    """

    tiles: frozenset[Tile] = frozenset()
    faces: Mapping[Tile, Tile] = field(default_factory=lambda: MappingProxyType({}))
    barred: frozenset[Tile] = frozenset()

    def plays_as(self, tile: Tile) -> Tile:
        """The tile that a physical tile is at face value."""
        return self.faces.get(tile, tile)

    def identities(self, tiles: Iterable[Tile]) -> list[Tile]:
        """Faces of physical tiles, in the given order (wild tiles keep their own)."""
        return [self.faces.get(tile, tile) for tile in tiles]


NO_WILD = Wild()
"""Nothing is wild and every tile is what it shows."""
