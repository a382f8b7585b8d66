"""Hands with sleeves over the table, drawn once as flat pictures with rounded shading."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
SCALE = 1.0
"""Texture pixels a millimetre."""
WIDTH_MM = 190
MARGIN_MM = 24
"""Texture beyond the finger tips."""
_WRIST_MM = 178.0


@lru_cache(maxsize=16)
def hand_texture(
    skin: tuple[int, int, int], sleeve: tuple[int, int, int], reach_mm: float
) -> tuple[Floats, Floats]:
    """Colour (h, w, 3) and alpha (h, w) of a hand pointing up.

    The finger tips are ``MARGIN_MM`` below the upper edge, in the middle; the sleeve runs out of
    the lower edge. Not premultiplied; 0 to 255.
    """
    width, height = round(WIDTH_MM * SCALE), round((reach_mm + MARGIN_MM) * SCALE)
    skin_mask = np.zeros((height, width), np.float32)
    sleeve_mask = np.zeros((height, width), np.float32)
    for points, radii in _hand_parts():
        _limb(skin_mask, points, radii)
    _limb(sleeve_mask, [(0, _WRIST_MM + 28), (14, reach_mm + 80)], [44, 66])
    shade_skin, shade_sleeve = _rounding(skin_mask, 17), _rounding(sleeve_mask, 46)
    # Lines between the fingers, folds in the sleeve.
    y = np.arange(height, dtype=np.float32)[:, None]
    folds = 1 + 0.06 * np.sin(y / 13 + 2 * np.sin(y / 57)) * (sleeve_mask > 0)
    colour = shade_skin[:, :, None] * np.array(skin[::-1], np.float32)
    cloth = (shade_sleeve * folds)[:, :, None] * np.array(sleeve[::-1], np.float32)
    cover = sleeve_mask[:, :, None]
    colour = colour * (1 - cover) + cloth * cover
    cuff = _edge_shadow(sleeve_mask) * skin_mask * (1 - sleeve_mask)
    colour *= 1 - 0.4 * cuff[:, :, None]
    return np.asarray(colour, np.float32), np.maximum(skin_mask, sleeve_mask)


_Limbs = list[tuple[list[tuple[float, float]], list[float]]]


def _hand_parts() -> _Limbs:
    """Capsules of a hand about to pinch a tile: (points, radii) in mm from the finger tips."""
    fingers: _Limbs = [
        ([(-4, 4), (-16, 44), (-24, 84)], [8.5, 9.5, 11]),
        ([(8, 0), (2, 42), (-4, 82)], [9, 10, 11.5]),
        ([(24, 12), (20, 50), (14, 86)], [8.5, 9.5, 11]),
        ([(40, 34), (38, 62), (31, 92)], [7.5, 8.5, 10]),
        ([(-22, 26), (-46, 64), (-42, 104), (-18, 132)], [9.5, 11.5, 14, 18]),
    ]
    palm: _Limbs = [
        ([(-24, 86), (-20, 132)], [12, 22]),
        ([(4, 88), (2, 134)], [18, 30]),
        ([(28, 94), (18, 136)], [13, 22]),
        ([(2, 134), (2, _WRIST_MM), (6, _WRIST_MM + 60)], [30, 27, 31]),
    ]
    return palm + fingers


def _limb(mask: Floats, points: list[tuple[float, float]], radii: list[float]) -> None:
    """Fill a chain of tapering capsules."""
    middle = WIDTH_MM / 2
    for (ax, ay), (bx, by), ra, rb in zip(points, points[1:], radii, radii[1:], strict=False):
        length = max(math.hypot(bx - ax, by - ay), 1e-6)
        nx, ny = -(by - ay) / length, (bx - ax) / length
        quad = np.array(
            [
                (ax + nx * ra, ay + ny * ra), (bx + nx * rb, by + ny * rb),
                (bx - nx * rb, by - ny * rb), (ax - nx * ra, ay - ny * ra),
            ]
        )  # fmt: skip
        fixed = ((quad + np.array([middle, MARGIN_MM])) * SCALE * 16).round().astype(np.int32)
        cv2.fillConvexPoly(mask, fixed, 1.0, cv2.LINE_8, 4)
        for (x, y), r in (((ax, ay), ra), ((bx, by), rb)):
            centre = (round((x + middle) * SCALE * 16), round((y + MARGIN_MM) * SCALE * 16))
            cv2.circle(mask, centre, round(r * SCALE * 16), 1.0, -1, cv2.LINE_8, 4)


def _rounding(mask: Floats, radius: float) -> Floats:
    """Shade of a rounded surface from its outline, about 0.5 at the edge to 1 on top."""
    inside = (mask > 0.5).astype(np.uint8)
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 5) / (radius * SCALE)
    height = np.sqrt(np.clip(1 - (1 - np.minimum(depth, 1)) ** 2, 0, 1)).astype(np.float32)
    height = cv2.GaussianBlur(height, (0, 0), 2.2)
    slope_x = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3)
    slope_y = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3)
    shade = 0.62 + 0.38 * height - 0.55 * (slope_x * 0.6 + slope_y * 0.4)
    return np.asarray(np.clip(shade, 0.35, 1.2), np.float32)


def _edge_shadow(mask: Floats) -> Floats:
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), 7.0), np.float32)
