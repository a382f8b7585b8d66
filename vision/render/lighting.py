"""Light falling on the table: how bright a surface is, and where shadows fall."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.render.style import Style

Array = NDArray[np.float64]


class Lighting:
    """Lamps and camera gains of a style, normalised to the middle of the felt."""

    def __init__(self, style: Style) -> None:
        """Prepare the lamps of ``style``."""
        self.style = style
        lights = style.lights
        self.positions: Array = np.array([(li.x_mm, li.y_mm, li.z_mm) for li in lights], float)
        self.colours: Array = np.array([li.colour[::-1] for li in lights], float)
        power = np.array([li.power for li in lights], float)
        distance = np.linalg.norm(self.positions, axis=1)
        facing = self.positions[:, 2] / distance
        self.shares: Array = power * facing / max(float((power * facing).sum()), 1e-6)
        # Strength such that the shares add up to 1 on the felt in the middle.
        self._strength: Array = self.shares * distance**2 / facing
        self._gains: Array = (1 - style.ambient) * self._strength[:, None] * self.colours
        wb = np.array(style.white_balance[::-1], float)
        self.gain: Array = wb * style.exposure

    def irradiance(self, points: ArrayLike, normals: ArrayLike) -> Array:
        """Light (…, 3) blue, green, red on points (…, 3) with unit normals (…, 3).

        1.0 in every colour is a felt in the middle of the table under neutral light.
        """
        p, n = np.asarray(points, float), np.asarray(normals, float)
        towards = self.positions - p[..., None, :]
        d2 = np.einsum("...k,...k->...", towards, towards)
        facing = np.maximum(np.einsum("...k,...k->...", towards, n[..., None, :]), 0)
        lit = facing * d2**-1.5 @ self._gains
        result: Array = (lit + self.style.ambient) * self.gain
        return result

    def directions(self, point: Array) -> Array:
        """Unit vectors (lamps, 3) from a point to the lamps."""
        towards = self.positions - point
        result: Array = towards / np.linalg.norm(towards, axis=1, keepdims=True)
        return result

    def cast(self, points: Array, heights: ArrayLike, lamp: int) -> Array:
        """Where points (n, 2) at heights (mm) throw their shadow on the felt, (n, 2)."""
        x, y, z = self.positions[lamp]
        h = np.asarray(heights, float)
        factor = h / np.maximum(z - h, 100.0)
        result: Array = points + (points - np.array([x, y])) * np.asarray(factor)[..., None]
        return result
