"""Where things lie on a table: coordinates, seats and zones.

Table coordinates are millimetres from the centre of the felt, x to the right and y down as the
camera sees it, with seat 0 at the bottom edge. Seats run counter-clockwise, the direction of play:
seat 1 at the right edge, seat 2 at the top, seat 3 at the left. A seat's own frame has its x to
that player's right and its y from the centre towards that player, so one description of the zones
serves all four.

The zones are bands of a seat's frame, in widths of a tile, from the centre outwards: panel, river,
wall, exposed (melds from the right, flowers from the left) and rack (the concealed hand, laid open
at the end).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Zone(StrEnum):
    """What a place on the felt is for."""

    PANEL = "panel"
    RIVER = "river"
    WALL = "wall"
    EXPOSED = "exposed"
    RACK = "rack"
    OUTSIDE = "outside"


@dataclass(frozen=True)
class TableGeometry:
    """Measures of one table and its tile set.

    Bands are distances from the centre in tile widths; the defaults suit tiles of 1 x 1.35 widths,
    rivers of six tiles in up to four rows, and walls of 18 stacks.

    Attributes:
        tile_width_mm: short side of a tile's face.
        tile_length: long side of a face in tile widths.
        tile_depth: thickness of a tile in tile widths.
        half: half the side of the square felt in tile widths.
        seats: number of players; three-player tables leave seat 3's edge empty.
        panel: half side of the centre panel.
        river, wall, exposed, rack: nearest and farthest distance of the band from the centre.
        river_columns: tiles in a row of a river before the next row begins.
        marker_size_mm: side of a calibration marker's black square.
        marker_inset_mm: distance of a marker's centre from the two nearest edges of the felt.
    """

    tile_width_mm: float = 28.0
    tile_length: float = 1.35
    tile_depth: float = 0.75
    half: float = 15.6
    seats: int = 4
    panel: float = 2.7
    river: tuple[float, float] = (2.9, 8.7)
    wall: tuple[float, float] = (8.9, 10.5)
    exposed: tuple[float, float] = (10.7, 12.5)
    rack: tuple[float, float] = (12.7, 14.8)
    river_columns: int = 6
    marker_size_mm: float = 38.0
    marker_inset_mm: float = 30.0

    @property
    def half_mm(self) -> float:
        """Half the side of the felt in millimetres."""
        return self.half * self.tile_width_mm

    def seat_angle(self, seat: int) -> float:
        """Clockwise angle (degrees, y down) that turns seat 0's frame into ``seat``'s."""
        return (-90.0 * seat) % 360.0

    def to_table(self, seat: int, x: float, y: float) -> tuple[float, float]:
        """Seat frame (tile widths) to table coordinates (mm)."""
        angle = math.radians(self.seat_angle(seat))
        c, s = math.cos(angle), math.sin(angle)
        w = self.tile_width_mm
        return ((x * c - y * s) * w, (x * s + y * c) * w)

    def to_seat(self, seat: int, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Table coordinates (mm) to a seat's frame (tile widths)."""
        angle = math.radians(self.seat_angle(seat))
        c, s = math.cos(angle), math.sin(angle)
        w = self.tile_width_mm
        return ((x_mm * c + y_mm * s) / w, (-x_mm * s + y_mm * c) / w)

    def locate(self, x_mm: float, y_mm: float) -> tuple[Zone, int | None]:
        """Zone and seat of a tile's centre.

        The seat is the one towards whose edge the point lies; ``None`` in the panel and outside.
        Rivers spread sideways past the diagonal near the centre, so there the seat is decided by
        the river's columns first.
        """
        w = self.tile_width_mm
        if max(abs(x_mm), abs(y_mm)) / w > self.half:
            return Zone.OUTSIDE, None
        if max(abs(x_mm), abs(y_mm)) / w < self.panel:
            return Zone.PANEL, None
        best = max(range(4), key=lambda seat: self.to_seat(seat, x_mm, y_mm)[1])
        distance = self.to_seat(best, x_mm, y_mm)[1]
        # A grown kong's fourth tile reaches towards the wall, whose own tiles lie along its middle.
        behind_wall = sum(self.wall) / 2 + 0.6
        for zone, (near, far) in (
            (Zone.RIVER, self.river),
            (Zone.WALL, (self.wall[0], behind_wall - 0.1)),
            (Zone.EXPOSED, (behind_wall + 0.1, self.exposed[1])),
            (Zone.RACK, self.rack),
        ):
            if near - 0.1 <= distance <= far + 0.1:
                return zone, best
        return Zone.OUTSIDE, None

    def river_slot(self, index: int) -> tuple[float, float]:
        """Centre of the river's n-th tile (0-based) in the seat's frame, in tile widths."""
        column, row = index % self.river_columns, index // self.river_columns
        if row > 3:
            row, column = 3, self.river_columns + index - 4 * self.river_columns
        x = (column - (self.river_columns - 1) / 2) * 1.04
        return x, self.river[0] + self.tile_length * (row + 0.5) * 1.04

    def markers(self) -> dict[int, tuple[tuple[float, float], ...]]:
        """Corners (mm) of the four printed calibration markers, ArUco 4x4 ids 0 to 3.

        Marker 0 lies in the corner between seats 3 and 2 (top left in table coordinates), then
        clockwise: 1 top right, 2 bottom right, 3 bottom left. All are printed upright for seat 0
        and listed clockwise from their own top-left corner, as OpenCV reports them.
        """
        near = self.half_mm - self.marker_inset_mm
        r = self.marker_size_mm / 2
        square = ((-r, -r), (r, -r), (r, r), (-r, r))
        centres = ((-near, -near), (near, -near), (near, near), (-near, near))
        return {
            i: tuple((cx + dx, cy + dy) for dx, dy in square) for i, (cx, cy) in enumerate(centres)
        }
