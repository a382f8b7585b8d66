"""Hands with sleeves over the table, drawn once as flat pictures with rounded shading."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
SCALE = 1.25
"""Texture pixels a millimetre."""
WIDTH_MM = 190
MARGIN_MM = 24
"""Texture beyond the finger tips."""
_WRIST_MM = 178.0
_Limb = tuple[list[tuple[float, float]], list[float]]

# Chains of tapering capsules, (points, radii) in mm from the finger tips, in painting order.
_PALM: list[_Limb] = [
    ([(2, 134), (2, _WRIST_MM), (6, _WRIST_MM + 60)], [30, 27, 31]),
    ([(-22, 88), (-18, 132)], [14, 22]),
    ([(0, 86), (0, 134)], [16, 30]),
    ([(27, 94), (18, 136)], [13, 22]),
]
_FINGERS: list[_Limb] = [
    ([(40, 36), (39, 62), (30, 96)], [7.5, 8.5, 10.5]),
    ([(25, 13), (23, 50), (15, 92)], [8.5, 9.5, 11.5]),
    ([(7, 0), (3, 42), (-2, 88)], [9, 10, 12]),
    ([(-10, 4), (-19, 44), (-22, 90)], [8.5, 9.5, 12]),
    ([(-26, 30), (-50, 66), (-44, 108), (-20, 136)], [9.5, 11.5, 14, 19]),
]


@lru_cache(maxsize=16)
def hand_texture(
    skin: tuple[int, int, int], sleeve: tuple[int, int, int], reach_mm: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Colour (h, w, 3) and alpha (h, w) of a hand pointing up, 0 to 255, not premultiplied.

    The finger tips are ``MARGIN_MM`` below the upper edge, in the middle; the sleeve runs out of
    the lower edge.
    """
    rows = round((reach_mm + MARGIN_MM) * SCALE)
    shade, nails, cover = _hand_shades()
    bare = min(len(shade), rows)
    cloth, sleeve_mask = _sleeve_shades(reach_mm, rows)
    cuff = np.asarray(cv2.GaussianBlur(sleeve_mask[:bare], (0, 0), 6 * SCALE), np.float32)
    tone = np.array(skin[::-1], np.float32)
    pale = np.minimum(tone * 1.08 + np.array([10, 6, 12], np.float32), 250)
    lit = shade[:bare] * (1 - 0.45 * cuff) * (1 - 0.6 * nails[:bare])
    colour = cv2.merge([cloth * np.float32(v) for v in sleeve[::-1]])
    over = 1 - sleeve_mask[:bare]
    fingers = cv2.merge([(lit * v + 0.6 * nails[:bare] * w) * over
                         for v, w in zip(tone, pale, strict=True)])  # fmt: skip
    colour[:bare] += fingers
    alpha = sleeve_mask.copy()
    np.maximum(alpha[:bare], cover[:bare], out=alpha[:bare])
    soft = cv2.GaussianBlur(alpha, (0, 0), 0.7)
    return (
        np.asarray(cv2.convertScaleAbs(colour), np.uint8),
        np.asarray(cv2.convertScaleAbs(soft, alpha=255), np.uint8),
    )


@lru_cache(maxsize=1)
def _hand_shades() -> tuple[Floats, Floats, Floats]:
    """Shade, nails and cover of the bare hand, (h, w) each."""
    shape = (round((_WRIST_MM + MARGIN_MM + 90) * SCALE), round(WIDTH_MM * SCALE))
    palm = np.zeros(shape, np.float32)
    for limb in _PALM:
        _fill_limb(palm, limb)
    shade: Floats = np.where(palm > 0, _rounding(palm, 21), 0.8).astype(np.float32)
    nails, cover = np.zeros(shape, np.float32), palm.copy()
    for limb in _FINGERS:
        finger = np.zeros(shape, np.float32)
        _fill_limb(finger, limb)
        # A finger is darker in the groove beside it; at its root it runs into the back of the hand.
        fade = _towards_root(shape[0], limb)
        groove = np.asarray(cv2.GaussianBlur(finger, (0, 0), 2.6 * SCALE), np.float32)
        shade *= 1 - 0.3 * groove * (1 - finger) * fade
        longer = finger.copy()
        _fill_limb(longer, _lengthened(limb))
        mask = np.maximum(finger * fade, finger - palm)
        shade = shade * (1 - mask) + _rounding(longer, 9.5) * mask
        nails *= 1 - finger
        _nail(nails, limb)
        np.maximum(cover, finger, out=cover)
    return shade, nails, cover


@lru_cache(maxsize=4)
def _sleeve_shades(reach_mm: float, rows: int) -> tuple[Floats, Floats]:
    """Shade of the cloth, 0 outside it, and the sleeve's mask, (rows, w) each."""
    shape = (rows, round(WIDTH_MM * SCALE))
    mask = np.zeros(shape, np.float32)
    _fill_limb(mask, ([(0, _WRIST_MM + 34), (14, reach_mm + 90)], [40, 66]))
    y = np.arange(shape[0], dtype=np.float32)[:, None] / SCALE
    x = np.arange(shape[1], dtype=np.float32)[None, :] / SCALE
    folds = 1 + 0.05 * np.sin(y / 11 + x / 60 + 2 * np.sin(y / 57))
    hem = 1 - 0.25 * np.exp(-np.square((y - _WRIST_MM - MARGIN_MM - 8) / 5))
    return np.asarray(_rounding(mask, 46) * folds * hem * mask, np.float32), mask


def _towards_root(rows: int, limb: _Limb) -> Floats:
    """1 along a finger, falling to 0 at its root, (rows, 1)."""
    root = limb[0][-1][1] + MARGIN_MM
    y = np.arange(rows, dtype=np.float32) / SCALE
    return np.asarray(np.clip((root - 2 - y) / 24, 0, 1)[:, None], np.float32)


def _lengthened(limb: _Limb) -> _Limb:
    """A finger that goes on 45 mm behind its root, so that its shading has no end there."""
    (ax, ay), (bx, by) = limb[0][-2:]
    share = 45 / math.hypot(bx - ax, by - ay)
    radius = limb[1][-1]
    return [(bx, by), (bx + (bx - ax) * share, by + (by - ay) * share)], [radius, radius]


def _nail(nails: Floats, limb: _Limb) -> None:
    """Mark the nail at a finger's tip, in place."""
    (ax, ay), (bx, by) = limb[0][:2]
    length = math.hypot(bx - ax, by - ay)
    dx, dy, r = (bx - ax) / length, (by - ay) / length, limb[1][0]
    centre = ((ax + dx * 2 + WIDTH_MM / 2) * SCALE, (ay + dy * 2 + MARGIN_MM) * SCALE)
    box = (centre, (r * 1.25 * SCALE, r * 0.95 * SCALE), math.degrees(math.atan2(dy, dx)))
    cv2.ellipse(nails, box, 1.0, -1, cv2.LINE_AA)


def _fill_limb(mask: Floats, limb: _Limb) -> None:
    """Fill a chain of tapering capsules."""
    middle = WIDTH_MM / 2
    points, radii = limb
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
    """Shade of a rounded surface from its outline: dark at the edge, lit from the upper left."""
    inside = (mask > 0.5).astype(np.uint8)
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 5) / (radius * SCALE)
    height = np.sqrt(np.clip(1 - (1 - np.minimum(depth, 1)) ** 2, 0, 1)).astype(np.float32)
    height = np.asarray(cv2.GaussianBlur(height, (0, 0), 1.8 * SCALE), np.float32)
    slope_x = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3)
    slope_y = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3)
    shade = 0.66 + 0.36 * height + 0.28 * (slope_x * 0.6 + slope_y * 0.6)
    return np.asarray(np.clip(shade, 0.4, 1.2), np.float32)
