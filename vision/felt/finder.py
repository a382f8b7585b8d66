"""What the felt reader asks of a recogniser, and detections placed on the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vision.calibration import Calibration
from vision.detector.detection import Detection
from vision.detector.plain import Colours
from vision.gate import Box
from vision.geometry import TableGeometry, Zone
from vision.sources.frame import Image

_WHOLE: Final = 0.8
"""Share of a tile's face that the box of a whole one covers at least."""


class TileFinder(Protocol):
    """Finds and names tiles in a picture; :class:`vision.detector.Detector` is one."""

    def detect(
        self,
        image: Image,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> Sequence[Detection]:
        """Tiles of a (h, w, 3) BGR picture.

        ``tile_px`` is a tile's width in it where known, ``least_area`` the smallest box of a whole
        tile in px², ``colours`` those of tiles seen nearby.
        """
        ...

    def classify(
        self, image: Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Probabilities (N, 43) and rotations (N,) degrees of tiles known to lie in some boxes."""
        ...


@dataclass(frozen=True)
class Sighting:
    """A detection placed on the table.

    Attributes:
        x, y: centre of the face in table mm.
        rotation: clockwise degrees from the table's up.
        zone, seat: where that is.
        score: probability that there is a tile.
        probabilities: (43,) given that there is one.
    """

    x: float
    y: float
    rotation: float
    zone: Zone
    seat: int | None
    score: float
    probabilities: NDArray[np.float64]

    @property
    def best(self) -> int:
        """Index of the most likely kind."""
        return int(self.probabilities.argmax())


class Placer:
    """Turns detections of one crop of the picture into sightings."""

    def __init__(self, calibration: Calibration, geometry: TableGeometry) -> None:
        self._calibration = calibration
        self._geometry = geometry
        self._kept = lru_cache(maxsize=2048)(self._footprint)
        self.box = lru_cache(maxsize=2048)(self._box)
        self._markers = (
            [np.mean(corners, axis=0) for corners in geometry.markers().values()]
            if calibration.method == "markers"
            else []
        )
        self._thickness = geometry.tile_depth * geometry.tile_width_mm

    def place(self, detection: Detection, crop: Box) -> Sighting | None:
        """Where a detection lies; ``None`` when it is no tile lying in the crop and on the felt.

        A tile cut by the crop's border is left to the crop that has it whole; what is much larger
        or smaller than a tile at that place is none.
        """
        x1, y1, x2, y2 = detection.box
        width, height = crop[2] - crop[0], crop[3] - crop[1]
        if not self._whole(detection, width, height, crop):
            return None
        centre = (crop[0] + (x1 + x2) / 2, crop[1] + (y1 + y2) / 2)
        z = self._thickness
        x, y = self._calibration.to_table([centre], z)[0]
        zone, seat = self._geometry.locate(float(x), float(y))
        if zone is Zone.WALL:
            # On a wall the face lies two tiles high, which moves it inwards.
            z = 2 * self._thickness
            x, y = self._calibration.to_table([centre], z)[0]
            zone, seat = self._geometry.locate(float(x), float(y))
        if zone in (Zone.PANEL, Zone.OUTSIDE) or self._on_marker(float(x), float(y)):
            return None
        tile_px = self._calibration.tile_px(float(x), float(y))
        if not self._sized(x2 - x1, y2 - y1, tile_px, zone):
            return None
        rotation = _along_box(detection.rotation, x2 - x1, y2 - y1)
        return Sighting(
            x=float(x),
            y=float(y),
            rotation=self._calibration.rotation_on_table(centre, rotation, z),
            zone=zone,
            seat=seat,
            score=float(detection.score),
            probabilities=np.asarray(detection.probabilities, dtype=float),
        )

    def least_area(self, crop: Box) -> float:
        """Area in px² below which a box anywhere in the crop is no whole lying tile.

        A tile's box is smallest where it lies along the picture's edges.
        """
        x1, y1, x2, y2 = crop
        corners = self._calibration.to_table([(x1, y1), (x2, y1), (x1, y2), (x2, y2)])
        tile_px = min(self._calibration.tile_px(float(x), float(y)) for x, y in corners)
        return _WHOLE * self._geometry.tile_length * tile_px**2

    def _on_marker(self, x: float, y: float) -> bool:
        """The printed markers are black on white and square: never tiles."""
        reach = 0.6 * self._geometry.marker_size_mm
        return any(abs(x - mx) < reach and abs(y - my) < reach for mx, my in self._markers)

    def _whole(self, detection: Detection, width: int, height: int, crop: Box) -> bool:
        x1, y1, x2, y2 = detection.box
        full_width, full_height = self._calibration.image_size
        return not (
            (x1 < 1.5 and crop[0] > 0)
            or (y1 < 1.5 and crop[1] > 0)
            or (x2 > width - 1.5 and crop[2] < full_width)
            or (y2 > height - 1.5 and crop[3] < full_height)
        )

    def _sized(self, width: float, height: float, tile_px: float, zone: Zone) -> bool:
        """Whether a box can be a lying tile: between upright and turned by 45 degrees."""
        length = self._geometry.tile_length
        short, long = min(width, height) / tile_px, max(width, height) / tile_px
        if not (short > 0.7 and long < 1.25 * math.hypot(1, length)):
            return False
        # A hand that stands shows its upper edges, which are smaller and look like blank faces.
        return zone is not Zone.RACK or short * long > 0.8 * length

    def footprint(
        self, x: float, y: float, rotation: float, share: float = 0.7, height: float = 0.0
    ) -> NDArray[np.float64]:
        """Pixels (25, 2) of a grid over a tile at a place, ``share`` of its sides.

        Of its base, or ``height`` tile thicknesses above that.

        Kept for the places asked for lately: tiles lie still. Not to be written to.
        """
        return self._kept(x, y, rotation, share, height)

    def _box(self, x: float, y: float, rotation: float) -> Box:
        """Bounding box in px of a tile at a place, with a narrow margin."""
        points = self.footprint(x, y, rotation, share=1.15)
        (x1, y1), (x2, y2) = points.min(axis=0), points.max(axis=0)
        return int(x1), int(y1), int(x2) + 1, int(y2) + 1

    def _footprint(
        self, x: float, y: float, rotation: float, share: float, height: float
    ) -> NDArray[np.float64]:
        steps = np.linspace(-share / 2, share / 2, 5)
        u, v = np.meshgrid(steps, steps * self._geometry.tile_length)
        angle = math.radians(rotation)
        c, s = math.cos(angle), math.sin(angle)
        w = self._geometry.tile_width_mm
        px = (x + (u * c - v * s) * w).ravel()
        py = (y + (u * s + v * c) * w).ravel()
        return self._calibration.to_image(np.stack([px, py], axis=1), height * self._thickness)


def _along_box(rotation: float, width: float, height: float) -> float:
    """The rotation, turned by a quarter where a clearly long box contradicts it.

    Round faces look alike however they lie; their outline does not.
    """
    if 0.89 < width / height < 1.12:
        return rotation
    long_axis = 90.0 if width > height else 0.0
    off = (rotation - long_axis + 90) % 180 - 90
    if abs(off) <= 45:
        return rotation
    return (rotation + (90 if off < 0 else -90)) % 360


def thin_out(
    sightings: Sequence[Sighting], min_distance_mm: Callable[[Sighting], float]
) -> list[Sighting]:
    """Non-maximum suppression by distance: of sightings closer than that, the best score stays.

    Two lying tiles can't be closer than a tile's width, whatever the boxes look like.
    """
    kept: list[Sighting] = []
    for sighting in sorted(sightings, key=lambda s: (-s.score, s.x, s.y)):
        apart = min_distance_mm(sighting)
        if all(math.hypot(sighting.x - k.x, sighting.y - k.y) >= apart for k in kept):
            kept.append(sighting)
    return kept
