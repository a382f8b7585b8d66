"""A pinhole camera with radial lens distortion over the table.

World coordinates are millimetres: x and y as in table coordinates, z upwards from the felt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CameraPose:
    """Where the camera is and how it looks.

    Attributes:
        target_mm: point of the felt in the middle of the picture.
        distance_mm: from the camera to that point.
        tilt_deg: angle off the vertical.
        azimuth_deg: direction from which a tilted camera looks, clockwise, 0 from seat 0's side.
        roll_deg: turn of the camera about the line of sight; a roll equal to the azimuth keeps
            seat 0 at the bottom of the picture.
        mm_per_px: size of a pixel on the felt at the target; 0 fits the whole felt.
        k1, k2: radial distortion for coordinates in units of half the picture's diagonal
            (negative k1 is a barrel).
    """

    target_mm: tuple[float, float] = (0.0, 0.0)
    distance_mm: float = 1250.0
    tilt_deg: float = 0.0
    azimuth_deg: float = 0.0
    roll_deg: float = 0.0
    mm_per_px: float = 0.0
    k1: float = 0.0
    k2: float = 0.0


class Camera:
    """Projection between table millimetres and pixels of one picture size."""

    def __init__(self, pose: CameraPose, size: tuple[int, int], half_mm: float) -> None:
        """Set up for pictures of ``size`` (width, height); ``half_mm`` is half the felt's side."""
        self.pose, self.size = pose, size
        mm_per_px = pose.mm_per_px or 2 * half_mm * 1.1 / size[1]
        self.focal = pose.distance_mm / mm_per_px
        self.centre = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
        self.radius = math.hypot(*size) / 2
        tilt, azimuth, roll = (
            math.radians(a) for a in (pose.tilt_deg, pose.azimuth_deg, pose.roll_deg)
        )
        # Away from the target towards the camera; azimuth 0 puts the camera on seat 0's side (+y).
        outward = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        to_camera = math.sin(tilt) * outward + math.cos(tilt) * up
        right = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
        down = math.cos(tilt) * outward - math.sin(tilt) * up
        cr, sr = math.cos(roll), math.sin(roll)
        self.rotation: Array = np.stack(
            [cr * right - sr * down, sr * right + cr * down, -to_camera]
        )
        self.position: Array = np.array([*pose.target_mm, 0.0]) + pose.distance_mm * to_camera
        self._offset: Array = self.rotation @ self.position

    def project(self, points_mm: ArrayLike) -> Array:
        """World points (n, 3), or felt points (n, 2), to pixels (n, 2) with distortion."""
        points = np.asarray(points_mm, dtype=float)
        axes = points.shape[-1]  # a felt point has no third coordinate, which is zero
        seen = points @ self.rotation.T[:axes] - self._offset
        flat = seen[..., :2] * (self.focal / np.maximum(seen[..., 2:], 1.0))
        result: Array = self._distort(flat) + self.centre
        return result

    def unproject(self, points_px: ArrayLike, z_mm: float = 0.0) -> Array:
        """Pixels (n, 2) to table millimetres (n, 2) on the plane at height ``z_mm``."""
        flat = self.undistorted(points_px) - self.centre
        rays = np.concatenate([flat / self.focal, np.ones((*flat.shape[:-1], 1))], axis=-1)
        rays = rays @ self.rotation
        down = np.minimum(rays[..., 2:], -1e-3)
        result: Array = (self.position + rays * (z_mm - self.position[2]) / down)[..., :2]
        return result

    def undistorted(self, points_px: ArrayLike) -> Array:
        """Pixels as a lens without distortion would have them."""
        target = (np.asarray(points_px, dtype=float) - self.centre) / self.radius
        point = target.copy()
        for _ in range(12):
            r2 = (point**2).sum(axis=-1, keepdims=True)
            point = target / (1 + self.pose.k1 * r2 + self.pose.k2 * r2 * r2)
        result: Array = point * self.radius + self.centre
        return result

    def homography_px_to_mm(self, z_mm: float = 0.0) -> Array:
        """(3, 3) homography from *undistorted* pixels to table mm on the plane at ``z_mm``."""
        shift = np.array([0.0, 0.0, z_mm]) - self.position
        plane = np.stack([[1.0, 0, 0], [0, 1.0, 0], shift], axis=1)
        intrinsic = np.array(
            [[self.focal, 0, self.centre[0]], [0, self.focal, self.centre[1]], [0, 0, 1.0]]
        )
        inverse: Array = np.linalg.inv(intrinsic @ self.rotation @ plane)
        result: Array = inverse / inverse[2, 2]
        return result

    def _distort(self, flat: Array) -> Array:
        if self.pose.k1 == 0 == self.pose.k2:
            return flat
        r2 = np.einsum("...k,...k->...", flat, flat)[..., None] / self.radius**2
        # The polynomial folds back far outside the picture; points there must stay outside.
        r2 = np.minimum(r2, 3.0)
        result: Array = flat * (1 + self.pose.k1 * r2 + self.pose.k2 * r2 * r2)
        return result
