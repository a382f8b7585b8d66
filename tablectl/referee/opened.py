"""Hands laid open: who has won, on which tile, and whether the whole hand is seen.

A hand that is short of a tile must not pass for another win: an own draw whose last tile the camera
misses has as many tiles as a win on a discard. So the count, gaps in the row and the place of the
tile set apart must agree before a win is believed; if they don't, the reading waits for the tile to
be seen and then asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tablectl.referee.felt import FeltTile
from vision.geometry import TableGeometry

_PITCH: Final = 1.02
"""Tile widths from one tile of a row to the next."""
_GAP: Final = 0.4
"""Room between two tiles, in tile widths, that nobody leaves in a row pushed together."""
_HOLE: Final = 0.75
"""Room in which a tile may lie that is not seen."""

Short = Literal["whole", "maybe", "short", "long"]
"""``whole``: as many tiles as a winner lays open; ``maybe``: so many, but one is set apart, as if
another were missing; ``short``: too few; ``long``: too many."""


@dataclass(frozen=True)
class Opened:
    """The tiles that one seat has laid open and that no fact explains.

    Attributes:
        row: from the left, without the one set apart.
        apart: the tile set apart, if one is.
        whole: tiles that the seat holds between turns.
        holes: places in table mm where a tile of the row may lie unseen.
        set_apart: whether a gap sets ``apart`` apart, not only how it lies.
    """

    seat: int
    row: tuple[FeltTile, ...]
    apart: FeltTile | None
    whole: int
    holes: tuple[tuple[float, float], ...] = ()
    set_apart: bool = False

    @property
    def tiles(self) -> tuple[FeltTile, ...]:
        """All of them, the one set apart last."""
        return self.row if self.apart is None else (*self.row, self.apart)

    @property
    def extra(self) -> int:
        """Tiles beyond those held between turns."""
        return len(self.tiles) - self.whole

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the tiles."""
        return frozenset(tile.id for tile in self.tiles)

    @property
    def short(self) -> Short:
        """Whether all of the hand is seen, by its count and how it lies."""
        if self.extra > 1:
            return "long"
        if self.extra < 0:
            return "short"
        return "maybe" if self.extra == 0 and self.set_apart else "whole"

    def next_place(self, geometry: TableGeometry) -> tuple[float, float]:
        """Where a tile that is missing most likely lies: in a hole, else at an end of the row."""
        if self.holes:
            return self.holes[0]
        xs = [geometry.to_seat(self.seat, t.x, t.y)[0] for t in self.row]
        x = max(xs) + _PITCH
        if (
            self.apart is not None
            and geometry.to_seat(self.seat, self.apart.x, self.apart.y)[0] > x
        ):
            x = min(xs) - _PITCH
        return geometry.to_table(self.seat, x, sum(geometry.rack) / 2)


def opened(
    seat: int, row: Sequence[FeltTile], apart: FeltTile | None, whole: int, geometry: TableGeometry
) -> Opened:
    """A hand laid open, with what its gaps tell.

    Args:
        row: tiles from the left, without ``apart``.
    """
    if apart is None:
        row, apart = _end_beyond_a_gap(seat, row, geometry)
    xs = [geometry.to_seat(seat, t.x, t.y)[0] for t in row]
    if apart is not None:
        # One that only lies across fills its place in the row.
        x = geometry.to_seat(seat, apart.x, apart.y)[0]
        xs = sorted([*xs, x]) if xs and xs[0] < x < xs[-1] else xs
    y = sum(geometry.rack) / 2
    holes: list[tuple[float, float]] = []
    for left, right in itertools.pairwise(xs):
        missing = round((right - left) / _PITCH) - 1 if right - left > 1.0 + _HOLE else 0
        holes += [geometry.to_table(seat, left + _PITCH * (i + 1), y) for i in range(missing)]
    set_apart = False
    if apart is not None and xs:
        x = geometry.to_seat(seat, apart.x, apart.y)[0]
        gap = max(xs[0] - x, x - xs[-1]) - 1.0
        set_apart = gap > _GAP
        if gap > _GAP + 1.0:
            end = xs[-1] + _PITCH if x > xs[-1] else xs[0] - _PITCH
            holes.append(geometry.to_table(seat, end, y))
    return Opened(seat, tuple(row), apart, whole, tuple(holes), set_apart)


def _end_beyond_a_gap(
    seat: int, row: Sequence[FeltTile], geometry: TableGeometry
) -> tuple[Sequence[FeltTile], FeltTile | None]:
    """The tile at an end beyond a gap, in a row that has a hole elsewhere too.

    Such a row looks like sets laid loosely, so it is only taken apart where a tile is missing.
    """
    xs = [geometry.to_seat(seat, t.x, t.y)[0] for t in row]
    gaps = [right - left - 1.0 for left, right in itertools.pairwise(xs)]
    wide = [i for i, gap in enumerate(gaps) if gap > _GAP]
    if len(wide) < 2 or not any(gaps[i] > _HOLE for i in wide):
        return row, None
    if wide[-1] == len(gaps) - 1:
        return row[:-1], row[-1]
    return (row[1:], row[0]) if wide[0] == 0 else (row, None)
