"""From pixels to table millimetres: the calibration of one camera over one table.

A calibration is a pinhole camera with radial distortion. The felt plane's homography is measured
(:mod:`vision.calibration_fit`); the focal length turns it into a full projection, so that places on
top of a tile or of a wall, which parallax shifts outwards, are mapped at their own height.

Distortion maps ideal to seen pixels, ``seen = ideal * (1 + k1 r^2 + k2 r^4)``, with coordinates
from the middle of the picture in units of half its diagonal.
"""

from __future__ import annotations

import json
import math
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

Array = NDArray[np.float64]
Matrix3 = tuple[
    tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]
]  # fmt: skip

CALIBRATION_VERSION = 1
_PLANES = 64
"""Heights above the felt whose projection is kept."""


class CalibrationError(Exception):
    """The camera can't be calibrated or a calibration can't be used; says why and what to do."""


class Calibration(BaseModel):
    """One camera over one table; saved as JSON.

    Attributes:
        version: of this format.
        image_size: (width, height) of the pictures it holds for, px.
        homography: undistorted pixels to table mm on the felt, row-major 3 x 3.
        k1, k2: radial distortion.
        focal_px: focal length in pixels.
        focal_known: false where the focal length is only the usual one of such cameras; heights
            above the felt are then mapped less exactly.
        method: how it was measured.
        reprojection_px: root mean square distance between measured and mapped points.
        tile_width_mm: of the tile set in use, for sizes in pixels.
        half_mm: half the side of the felt.
        marks: pixels of each marker's corners, by id, to notice a moved camera.
        light: brightness of the cloth (0 to 255) and the logarithms of red to green and of blue to
            green, when it was calibrated.
        around: share of the surroundings of the felt that has the cloth's colour.
        patches: grey pictures (PNG, base64) around the felt's corners with their centres in px, to
            notice it where no markers lie.
        created: date and time, for people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    image_size: tuple[int, int]
    homography: Matrix3
    k1: float = Field(default=0.0, ge=-0.5, le=0.5)
    k2: float = Field(default=0.0, ge=-0.5, le=0.5)
    focal_px: float = Field(gt=0)
    focal_known: bool = False
    method: Literal["markers", "corners"]
    reprojection_px: float = Field(ge=0)
    tile_width_mm: float = Field(gt=0)
    half_mm: float = Field(gt=0)
    marks: dict[int, tuple[tuple[float, float], ...]] = {}
    patches: tuple[tuple[float, float, str], ...] = ()
    light: tuple[float, float, float] | None = None
    around: float | None = None
    created: str = ""

    def to_table(self, points_px: ArrayLike, z_mm: float = 0.0) -> Array:
        """Pixels (n, 2) to table mm (n, 2) on the plane ``z_mm`` above the felt."""
        ideal = self._lens.undistort(np.asarray(points_px, dtype=float).reshape(-1, 2))
        return _apply(self._plane(z_mm)[1], ideal)

    def to_image(self, points_mm: ArrayLike, z_mm: float = 0.0) -> Array:
        """Table mm (n, 2) at height ``z_mm`` to pixels (n, 2)."""
        points = np.asarray(points_mm, dtype=float).reshape(-1, 2)
        return self._lens.distort(_apply(self._plane(z_mm)[0], points))

    def tile_px(self, x_mm: float = 0.0, y_mm: float = 0.0) -> float:
        """Width in pixels of a tile lying at a place of the felt (mean over directions)."""
        w = self.tile_width_mm
        corners = self.to_image(
            [(x_mm - w, y_mm), (x_mm + w, y_mm), (x_mm, y_mm - w), (x_mm, y_mm + w)]
        )
        (ax, ay), (bx, by) = corners[1] - corners[0], corners[3] - corners[2]
        return math.sqrt(abs(float(ax * by - ay * bx))) / 2

    def rotation_on_table(self, point_px: ArrayLike, rotation: float, z_mm: float = 0.0) -> float:
        """Rotation of a tile (clockwise degrees from the table's up) from that in the picture.

        Args:
            point_px: where it is seen.
            rotation: clockwise degrees from the picture's up.
            z_mm: height of its face.
        """
        x, y = np.asarray(point_px, dtype=float).reshape(2)
        angle = math.radians(rotation)
        step = 8.0
        ends = self.to_table(
            [(x, y), (x + step * math.sin(angle), y - step * math.cos(angle))], z_mm
        )
        dx, dy = ends[1] - ends[0]
        return math.degrees(math.atan2(dx, -dy)) % 360.0

    @property
    def camera_height_mm(self) -> float:
        """Height of the lens above the felt."""
        return float(self.camera_position[2])

    @cached_property
    def camera_position(self) -> Array:
        """(x, y, height) of the lens in table mm."""
        rotation, shift = self.pose
        position: Array = -rotation.T @ shift
        return position

    @cached_property
    def felt_outline(self) -> Array:
        """Corners of the felt in pixels, (4, 2), clockwise from the table's top left."""
        h = self.half_mm
        return self.to_image([(-h, -h), (h, -h), (h, h), (-h, h)])

    @cached_property
    def _lens(self) -> Lens:
        return Lens(self.image_size, self.k1, self.k2)

    @cached_property
    def pose(self) -> tuple[Array, Array]:
        """Rotation (3, 3) and shift (3,) from table (x, y, up) to camera coordinates."""
        to_px = np.linalg.inv(np.array(self.homography))
        return pose_from_homography(to_px, self.focal_px, self._lens.centre)

    @cached_property
    def _planes(self) -> dict[float, tuple[Array, Array]]:
        return {}

    def _plane(self, z_mm: float) -> tuple[Array, Array]:
        """The projection at a height and its inverse, kept: only a few heights are asked for."""
        known = self._planes.get(z_mm)
        if known is None:
            projection = self._projection(z_mm)
            known = projection, np.linalg.inv(projection).astype(float)
            if len(self._planes) < _PLANES:
                self._planes[z_mm] = known
        return known

    def _projection(self, z_mm: float) -> Array:
        """Homography from table mm at a height to undistorted pixels."""
        if z_mm == 0.0:
            return np.linalg.inv(np.array(self.homography))
        rotation, shift = self.pose
        plane = np.stack([rotation[:, 0], rotation[:, 1], shift + z_mm * rotation[:, 2]], axis=1)
        return _intrinsic(self.focal_px, self._lens.centre) @ plane

    def save(self, path: Path) -> None:
        """Write as JSON, replacing the file only when complete."""
        temporary = path.with_suffix(path.suffix + ".new")
        temporary.write_text(self.model_dump_json(indent=1) + "\n")
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read a saved calibration.

        Raises:
            CalibrationError: the file is missing, damaged, or of another version.
        """
        try:
            data: Any = json.loads(path.read_text())
        except OSError as error:
            raise CalibrationError(
                f"no calibration at {path} ({error.strerror}): run `tablectl calibrate`"
            ) from None
        except ValueError:
            raise CalibrationError(f"{path} is damaged: run `tablectl calibrate` again") from None
        version = data.get("version") if isinstance(data, dict) else None
        if version != CALIBRATION_VERSION:
            raise CalibrationError(
                f"{path} has calibration version {version}, this program reads "
                f"{CALIBRATION_VERSION}: run `tablectl calibrate` again"
            )
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise CalibrationError(
                f"{path}: {where}: {first['msg']}: run `tablectl calibrate` again"
            ) from None


class Lens:
    """Radial distortion about the middle of the picture."""

    def __init__(self, size: tuple[int, int], k1: float, k2: float) -> None:
        self.centre = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
        self.radius = math.hypot(*size) / 2
        self.k1, self.k2 = k1, k2

    def distort(self, ideal: Array) -> Array:
        """Pixels of an ideal lens to pixels as seen."""
        flat = (ideal - self.centre) / self.radius
        # Far outside the picture the polynomial folds back; such points must stay outside.
        r2 = np.minimum((flat**2).sum(axis=-1, keepdims=True), 3.0)
        seen: Array = flat * (1 + self.k1 * r2 + self.k2 * r2 * r2) * self.radius + self.centre
        return seen

    def undistort(self, seen: Array) -> Array:
        """Inverse of :meth:`distort` by fixed-point steps (12 leave < 0.001 px for |k1| < 0.3)."""
        if self.k1 == 0.0 and self.k2 == 0.0:
            return seen
        target = (seen - self.centre) / self.radius
        flat = target
        for _ in range(12):
            r2 = np.minimum((flat**2).sum(axis=-1, keepdims=True), 3.0)
            flat = target / (1 + self.k1 * r2 + self.k2 * r2 * r2)
        ideal: Array = flat * self.radius + self.centre
        return ideal


def pose_from_homography(to_px: Array, focal: float, centre: Array) -> tuple[Array, Array]:
    """Camera pose from the felt's homography.

    Args:
        to_px: table mm to undistorted pixels, (3, 3).
        focal: focal length, px.
        centre: principal point, px.

    Returns:
        Rotation (3, 3) whose columns are the table's x, y and up in camera coordinates, and the
        shift (3,) of the table's centre, mm.
    """
    m = np.linalg.inv(_intrinsic(focal, centre)) @ to_px
    scale = 2.0 / (np.linalg.norm(m[:, 0]) + np.linalg.norm(m[:, 1]))
    if m[2, 2] < 0:
        scale = -scale
    m = m * scale
    # With x right and y down seen from above, x cross y points into the table: up is its opposite.
    up = -np.cross(m[:, 0], m[:, 1])
    u, _, vt = np.linalg.svd(np.stack([m[:, 0], m[:, 1], up], axis=1))
    return np.asarray(u @ vt), np.asarray(m[:, 2])


def _intrinsic(focal: float, centre: Array) -> Array:
    return np.array([[focal, 0, centre[0]], [0, focal, centre[1]], [0, 0, 1.0]])


def _apply(homography: Array, points: Array) -> Array:
    mapped = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ homography.T
    result: Array = mapped[:, :2] / mapped[:, 2:]
    return result
