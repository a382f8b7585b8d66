"""A camera of known truth over a plain felt, independent of the product's own renderer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np

from vision.geometry import TableGeometry

GEOMETRY = TableGeometry()


@dataclass(frozen=True)
class TrueCamera:
    """Pinhole with radial distortion; angles in degrees, lengths in mm.

    ``fill`` is the share of the picture's height that the felt takes.
    """

    size: tuple[int, int] = (1920, 1080)
    distance: float = 1200.0
    tilt: float = 0.0
    azimuth: float = 0.0
    roll: float = 0.0
    offset: tuple[float, float] = (0.0, 0.0)
    k1: float = 0.0
    fill: float = 0.88

    @cached_property
    def focal(self) -> float:
        return self.distance * self.fill * self.size[1] / (2 * GEOMETRY.half_mm)

    @property
    def height(self) -> float:
        return self.distance * math.cos(math.radians(self.tilt))

    def project(self, places_mm: np.ndarray, z: float) -> np.ndarray:
        """(n, 2) table mm at height z to (n, 2) px."""
        tilt, azimuth, roll = (math.radians(a) for a in (self.tilt, self.azimuth, self.roll))
        points = np.column_stack([places_mm - np.array(self.offset), np.full(len(places_mm), -z)])
        turn = _about_z(-azimuth)
        lean = np.array(
            [
                [1, 0, 0],
                [0, math.cos(tilt), -math.sin(tilt)],
                [0, math.sin(tilt), math.cos(tilt)],
            ]
        )
        seen = points @ (_about_z(roll + azimuth) @ lean @ turn).T + np.array([0, 0, self.distance])
        flat = seen[:, :2] / seen[:, 2:] * self.focal
        radius = math.hypot(*self.size) / 2
        r2 = ((flat / radius) ** 2).sum(axis=1, keepdims=True)
        centre = np.array([(self.size[0] - 1) / 2, (self.size[1] - 1) / 2])
        return np.asarray(flat * (1 + self.k1 * r2) + centre)

    def felt_with_markers(
        self,
        leave_out: tuple[int, ...] = (),
        order: tuple[int, ...] = (0, 1, 2, 3),
        seed: int = 0,
    ) -> np.ndarray:
        """Green felt with a wooden rim, four markers and sensor noise, (h, w, 3) BGR uint8."""
        rng = np.random.default_rng(seed)
        image = _clean_felt(self, leave_out, order)
        # The sensor's noise is new in every picture.
        noise = rng.normal(0, 2, image.shape).astype(np.float32)
        return np.asarray(np.clip(image + noise, 0, 255), dtype=np.uint8)


@lru_cache(maxsize=32)
def _clean_felt(
    camera: TrueCamera, leave_out: tuple[int, ...], order: tuple[int, ...]
) -> np.ndarray:
    scale = 2
    width, height = camera.size
    big = np.full((height * scale, width * scale, 3), (60, 90, 120), np.uint8)
    h = GEOMETRY.half_mm

    def fill(corners: np.ndarray, colour: tuple[int, int, int]) -> None:
        px = _dense(corners)
        px = (camera.project(px, 0.0) + 0.5) * scale - 0.5
        cv2.fillPoly(big, [np.round(px * 256).astype(np.int32)], colour, cv2.LINE_AA, shift=8)

    square = np.array([(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)])
    fill(square * h, (70, 120, 40))
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    for place, corners in GEOMETRY.markers().items():
        if place in leave_out:
            continue
        bits = cv2.aruco.generateImageMarker(dictionary, order[place], 6)
        four = np.array(corners)
        middle = four.mean(axis=0)
        half = GEOMETRY.marker_size_mm / 2
        fill(middle + square * half * 8 / 6, (235, 235, 235))
        module = GEOMETRY.marker_size_mm / 6
        fill(middle + square * half, (25, 25, 25))
        for (row, column), bit in np.ndenumerate(bits):
            if bit:
                at = middle - half + module * np.array([column + 0.5, row + 0.5])
                fill(at + square * module / 2, (235, 235, 235))
    small = cv2.resize(big, camera.size, interpolation=cv2.INTER_AREA)
    # Cloth has a weave that stays.
    weave = np.random.default_rng(1).normal(0, 3, (height, width, 1)).astype(np.float32)
    return np.asarray(small, dtype=np.float32) + weave


def _about_z(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _dense(corners: np.ndarray, steps: int = 12) -> np.ndarray:
    """Points along a polygon's sides, so that a lens may bend them."""
    share = np.linspace(0, 1, steps, endpoint=False)[:, None]
    ends = np.roll(corners, -1, axis=0)
    return np.concatenate([a + share * (b - a) for a, b in zip(corners, ends, strict=True)])
