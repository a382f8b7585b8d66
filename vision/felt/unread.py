"""Things that lie on the felt like tiles and that the recogniser has not found.

A tile that is missed would be missing from the game without a word. But it lies on cloth, and cloth
is easy to tell: what is neither cloth nor a known tile, and has a tile's outline, is reported as a
tile. The recogniser says which it would be, if it is one, and is believed in part: enough to name a
blank White, too little to settle anything without a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import BACK, NAMES
from vision.calibration import Calibration
from vision.felt.bare import FeltColour
from vision.felt.finder import Placer, Sighting
from vision.felt.place import Place
from vision.gate import Box
from vision.geometry import TableGeometry, Zone
from vision.sources.frame import Image

Mask = NDArray[np.uint8]
Floats = NDArray[np.float64]

_AREA: Final = (0.6, 1.75)
"""Area of one thing, in faces of a tile: its side may show too, or its edge look like cloth."""
_MOST: Final = 4
"""Tiles side by side that one thing may be."""
_SHORT: Final = (0.72, 1.75)
"""Short side of a thing in tile widths."""
_FILLED: Final = 0.78
"""Share of its upright or turned rectangle that a tile fills; hands, cups and cables fill less."""
_SLIVER: Final = 0.45
"""What is narrower than this (tile widths) is the rim of a known tile."""
_WALL_LEAN: Final = 0.35
"""How far behind a wall (tile widths) a camera over the middle does not see the cloth."""
_FACE_LEAN: Final = 0.35
"""How far outside its strip such a camera sees the face of a tile."""
_RIM: Final = 0.3
"""Width of the cloth before the hands where only arms are."""
_BELIEVED: Final = 0.6
"""How far the recogniser is believed about a thing that it did not find to be a tile."""
_ZONES: Final = (Zone.RIVER, Zone.EXPOSED)


@dataclass(frozen=True)
class Unread:
    """Something like a tile.

    Attributes:
        x, y: centre in table mm.
        rotation: clockwise degrees from the table's up, of its long axis.
        box: in px of the whole picture.
    """

    x: float
    y: float
    rotation: float
    zone: Zone
    seat: int | None
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Suspect:
    """An unread thing that has been there for some looks.

    Attributes:
        box_px: where it is in the picture.
        looks: in how many looks in a row.
        last_look: time of the newest of them.
    """

    thing: Unread
    box_px: Box
    looks: int
    last_look: float

    @classmethod
    def of(cls, thing: Unread, looks: int, t: float) -> Suspect:
        """As seen at time ``t``."""
        x1, y1, x2, y2 = thing.box
        return cls(thing, (int(x1), int(y1), int(x2) + 1, int(y2) + 1), looks, t)

    @property
    def x(self) -> float:
        """Table mm."""
        return self.thing.x

    @property
    def y(self) -> float:
        """Table mm."""
        return self.thing.y

    def place(self, kinds: Floats, t: float) -> Place:
        """A place of the map with a tile of such ``kinds`` (43,)."""
        sighting = Sighting(
            self.x, self.y, self.thing.rotation, self.thing.zone, self.thing.seat, 1.0, kinds
        )
        place = Place.of(sighting, t)
        for _ in range(1, self.looks):
            place.see(sighting, t)
        place.unread = True
        return place


def perhaps(kinds: Floats, zone: Zone) -> Floats:
    """What a thing may be (43,) by the kinds (43,) it would be, were it surely a tile.

    It lies face up, but for what is laid down closed among the melds: that may be any.
    """
    any_face = np.full(len(NAMES) + 1, 1.0 / len(NAMES))
    any_face[BACK] = 0.0
    faces = np.asarray(kinds, dtype=float).copy()
    closed = zone is Zone.EXPOSED and faces[BACK] >= 0.5
    faces[BACK] = 0.0
    if closed or not faces.any():
        return any_face
    return np.asarray(_BELIEVED * faces / faces.sum() + (1 - _BELIEVED) * any_face)


class UnreadFinder:
    """Looks for things on the cloth of one calibrated table."""

    def __init__(self, calibration: Calibration, geometry: TableGeometry, placer: Placer) -> None:
        self._calibration = calibration
        self._geometry = geometry
        self._placer = placer
        self._thickness = geometry.tile_depth * geometry.tile_width_mm
        self._lying, self._rim = self._where_tiles_lie()

    def find(
        self, image: Image, box: Box, felt: FeltColour, known: Iterable[Place]
    ) -> list[Unread]:
        """Things in a part of the picture that no known place explains."""
        x1, y1, x2, y2 = box
        part = image[y1:y2, x1:x2]
        other = (~(felt.like(part) | felt.shaded(part))).astype(np.uint8)
        middle = self._calibration.to_table([((x1 + x2) / 2, (y1 + y2) / 2)])[0]
        tile_px = self._calibration.tile_px(float(middle[0]), float(middle[1]))
        kernel = np.ones((max(3, round(_SLIVER * tile_px)),) * 2, np.uint8)
        # Print may have the cloth's colour: first closed over, then cut off what is known.
        other = np.asarray(cv2.morphologyEx(other, cv2.MORPH_CLOSE, kernel), np.uint8)
        arms = other & self._rim[y1:y2, x1:x2]
        other &= self._lying[y1:y2, x1:x2]
        for place in known:
            cv2.fillConvexPoly(other, self._outline(place) - np.array([x1, y1]), 0)
        other = np.asarray(cv2.morphologyEx(other, cv2.MORPH_OPEN, kernel), np.uint8)
        outlines, _ = cv2.findContours(other, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        found: list[Unread] = []
        for outline in outlines:
            points = outline.reshape(-1, 2).astype(np.float32)
            if not _reaches(points, arms, round(0.3 * tile_px)):
                found += self._things(points, (x1, y1), tile_px)
        return found

    def _things(
        self, outline: NDArray[np.float32], origin: tuple[int, int], tile_px: float
    ) -> list[Unread]:
        """One thing, or several side by side; nothing where the outline is not a tile's."""
        (cx, cy), (width, height), angle = cv2.minAreaRect(outline)
        if width > height:
            width, height, angle = height, width, angle + 90.0
        face = self._geometry.tile_length * tile_px**2
        area = float(cv2.contourArea(outline))
        if not (_SHORT[0] < width / tile_px < _SHORT[1]) or area < _FILLED * width * height:
            return []
        if not _AREA[0] * face <= area <= _MOST * _AREA[1] * face:
            return []
        # The long side of the rectangle points along ``angle`` + 90 in the picture, y down.
        count = max(1, round(area / (1.15 * face)))
        along = np.array([-np.sin(np.radians(angle)), np.cos(np.radians(angle))])
        side_by_side = count > 1
        axis = angle if not side_by_side else angle + 90.0
        out = []
        for i in range(count):
            shift = along * height * ((i + 0.5) / count - 0.5)
            centre = (cx + origin[0] + shift[0], cy + origin[1] + shift[1])
            thing = self._placed(centre, axis, tile_px)
            if thing is not None:
                out.append(thing)
        return out

    def _placed(
        self, centre: tuple[float, float], rotation: float, tile_px: float
    ) -> Unread | None:
        z = self._thickness / 2  # the outline shows face and side
        x, y = (float(v) for v in self._calibration.to_table([centre], z)[0])
        zone, seat = self._geometry.locate(x, y)
        if zone not in _ZONES:
            return None
        turned = self._calibration.rotation_on_table(centre, rotation, z)
        across = abs((rotation + 90) % 180 - 90) > 45
        short, long = tile_px / 2, self._geometry.tile_length * tile_px / 2
        half = (long, short) if across else (short, long)
        box = (centre[0] - half[0], centre[1] - half[1], centre[0] + half[0], centre[1] + half[1])
        return Unread(x, y, turned, zone, seat, box)

    def _where_tiles_lie(self) -> tuple[Mask, Mask]:
        """Pixels of rivers and strips, and those of the cloth between strips and hands.

        What lies in a strip and reaches over that cloth is an arm.
        """
        geometry = self._geometry
        near, far = geometry.river
        inner, outer = geometry.wall[1] + _WALL_LEAN, geometry.exposed[1] + _FACE_LEAN
        rim = outer + _RIM
        lying, rims = self._blank(), self._blank()
        for seat in range(4):
            self._fill(lying, seat, [(-near, near), (near, near), (far, far), (-far, far)])
            self._fill(lying, seat, _band(inner, outer))
            self._fill(rims, seat, _band(outer, rim))
        return lying, rims

    def _blank(self) -> Mask:
        width, height = self._calibration.image_size
        return np.zeros((height, width), np.uint8)

    def _fill(self, mask: Mask, seat: int, corners: Sequence[tuple[float, float]]) -> None:
        points = [self._geometry.to_table(seat, x, y) for x, y in corners]
        cv2.fillConvexPoly(mask, self._calibration.to_image(points).astype(np.int32), 1)

    def _outline(self, place: Place) -> NDArray[np.int32]:
        """Hull of a lying tile's base and face in px, a little larger."""
        corners = self._placer.footprint(place.x, place.y, place.rotation, share=1.15)
        top = self._placer.footprint(place.x, place.y, place.rotation, share=1.15, height=1.0)
        points = np.concatenate([corners, top]).astype(np.float32)
        return np.asarray(cv2.convexHull(points).reshape(-1, 2), np.int32)


def _band(near: float, far: float) -> list[tuple[float, float]]:
    """Corners of a strip along a seat's edge."""
    return [(-near, near), (near, near), (near, far), (-near, far)]


def _reaches(outline: NDArray[np.float32], arms: Mask, width: int) -> bool:
    """Whether a thing goes on in ``arms``, in a strip of more than a sliver."""
    x, y, w, h = cv2.boundingRect(outline)
    top, left = max(0, y - width), max(0, x - width)
    around = arms[top : y + h + width, left : x + w + width]
    return int(around.sum()) > 2 * width * width


def nowhere_near(
    things: Sequence[Unread], places: Iterable[tuple[float, float]], reach_mm: float
) -> list[Unread]:
    """Things that are farther than ``reach_mm`` from every place."""
    taken = list(places)
    return [
        thing
        for thing in things
        if all((thing.x - x) ** 2 + (thing.y - y) ** 2 >= reach_mm**2 for x, y in taken)
    ]
