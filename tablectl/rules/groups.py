"""Groups of tiles as they play in a winning hand: the vocabulary of readings."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from tablectl.tiles import Tile


class Kind(IntEnum):
    """What a group of concealed tiles is. A number, because groups are hashed all the time."""

    RUN = 1
    PUNG = 2
    PAIR = 3
    SINGLE = 4
    SET = 5
    """A set of wild tiles only, run or pung as the winner likes; it names no tiles."""


class Group(NamedTuple):
    """One group of a reading.

    Attributes:
        kind: what it is.
        tiles: the tiles it plays as, ascending; empty for groups of wild tiles only, which may
            play as anything.
        wild: bit ``i`` is set where member ``i`` is a wild tile standing for ``tiles[i]``.
    """

    kind: Kind
    tiles: tuple[Tile, ...]
    wild: int = 0

    @property
    def size(self) -> int:
        """Number of tiles."""
        return _SIZES[self.kind]

    @property
    def wild_count(self) -> int:
        """Number of wild tiles in it."""
        return self.wild.bit_count()

    @property
    def is_free(self) -> bool:
        """Whether it is made of wild tiles only."""
        return not self.tiles

    def stand_ins(self) -> tuple[Tile, ...]:
        """The tiles that its wild members stand for; nothing for a free group."""
        return tuple(t for i, t in enumerate(self.tiles) if self.wild >> i & 1)

    def naturals(self) -> tuple[Tile, ...]:
        """Its members that are no wild tiles."""
        return tuple(t for i, t in enumerate(self.tiles) if not self.wild >> i & 1)


_SIZES = {Kind.RUN: 3, Kind.PUNG: 3, Kind.SET: 3, Kind.PAIR: 2, Kind.SINGLE: 1}

FREE_SET = Group(Kind.SET, (), 0b111)
FREE_PAIR = Group(Kind.PAIR, (), 0b11)

Reading = tuple[Group, ...]
"""The concealed tiles of a winning hand, winning tile included, as groups in a fixed order."""


class Placement(NamedTuple):
    """Where a reading puts the winning tile.

    Attributes:
        group: index into the reading.
        tile: what the winning tile plays as; ``None`` in a free group.
        wild: whether the winning tile is a wild tile standing for it.
    """

    group: int
    tile: Tile | None
    wild: bool


def placements(reading: Reading, tile: Tile, *, wild: bool) -> list[Placement]:
    """Every way to say which group took the winning tile.

    Args:
        reading: the hand as groups.
        tile: the winning tile as it plays at face value (ignored for a wild tile).
        wild: whether the winning tile was used as a wild tile.
    """
    found: list[Placement] = []
    for index, group in enumerate(reading):
        if not wild:
            if tile in group.naturals():
                found.append(Placement(index, tile, wild=False))
        elif group.is_free:
            found.append(Placement(index, None, wild=True))
        else:
            found += [Placement(index, t, wild=True) for t in dict.fromkeys(group.stand_ins())]
    return found


def stand_ins(reading: Reading, fallback: Tile) -> list[Tile]:
    """The tiles that the wild tiles of a reading stand for, free groups as ``fallback``."""
    out: list[Tile] = []
    for group in reading:
        out += [fallback] * group.size if group.is_free else group.stand_ins()
    return out


def assign(faces: Iterable[Tile], needed: Iterable[Tile]) -> dict[Tile, list[Tile]]:
    """Give each wild tile something to stand for, itself where that is needed.

    Args:
        faces: faces of the wild tiles held.
        needed: the tiles that they must stand for, as many as there are faces.

    Returns:
        Wild tile's face to the tiles that its copies stand for, itself first.
    """
    left = list(needed)
    out: dict[Tile, list[Tile]] = {}
    waiting: list[Tile] = []
    for face in faces:
        out.setdefault(face, [])
        if face in left:
            left.remove(face)
            out[face].append(face)
        else:
            waiting.append(face)
    for face, tile in zip(waiting, left, strict=True):
        out[face].append(tile)
    return out
