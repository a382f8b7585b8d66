"""The felt's four edges as rulers: what is straight on the table shows how the lens bends it.

The edge of the cloth is followed from corner to corner as the path of strongest contrast that does
not jump. With the distortion undone each path must be a line; where neighbouring lines meet lie the
felt's corners, more exactly than a person clicks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration import Array, Calibration, Lens
from vision.sources.frame import Image

_SAMPLES: Final = 72
"""Places along one side."""
_STEP_PX: Final = 0.5
_ENDS: Final = 0.94
"""Share of a side that is used: corners are round, and fingers rest there."""
_SMOOTH: Final = 0.6
"""Cost of a jump, for contrast that is 1 at the best edge in sight."""
_WEAK: Final = 0.12
"""Contrast (of the best on that side) below which a sample shows no edge."""
_LEAST_CONTRAST: Final = 5.0
"""Grey levels a px that an edge has at least."""
_NEAR_PX: Final = 0.6
"""Samples nearer to their curve than this belong to it."""
_STRAIGHT_PX: Final = 1.5
"""A side whose points stray further (root mean square) from any smooth curve is not the edge."""
_PRIOR: Final = (0.2, 0.03)
"""How large k1 and k2 of real lenses are; keeps k2 small where the felt does not show it."""
_SIGMA_PX: Final = 0.35
_GAUSS_NEWTON: Final = 12
_CROSSING: Final = 0.2
"""Sine of the angle under which neighbouring edges cross, at least."""

Residuals = Callable[[float, float], Array]
"""Misfits (n,) in px that a distortion k1, k2 leaves."""


@dataclass(frozen=True)
class LensFit:
    """A measured distortion.

    Attributes:
        k1, k2: see :mod:`vision.calibration`.
        rms_px: what is left of the misfits.
        sides: sides of the felt that were used.
    """

    k1: float
    k2: float
    rms_px: float
    sides: int


def trace_edges(image: Image, calibration: Calibration, reach_px: float) -> dict[int, Array]:
    """Follow the felt's edges.

    Args:
        image: (h, w, 3) BGR.
        calibration: roughly right: the corners nearly where they are, the lens unknown.
        reach_px: how far an edge may be from where the calibration puts it.

    Returns:
        Points (n, 2) px by side: 0 top, 1 right, 2 bottom, 3 left in table coordinates. A side that
        is hidden, outside the picture or without contrast is left out.
    """
    smooth = np.asarray(cv2.GaussianBlur(image, (0, 0), 1.0), dtype=np.float32)
    h = calibration.half_mm
    corners = np.array([(-h, -h), (h, -h), (h, h), (-h, h)])
    found: dict[int, Array] = {}
    for side in range(4):
        start, end = corners[side], corners[(side + 1) % 4]
        share = 0.5 + _ENDS * (np.linspace(0, 1, _SAMPLES) - 0.5)
        base = calibration.to_image(start + share[:, None] * (end - start))
        points = _follow(smooth, base, reach_px)
        if points is not None:
            found[side] = points
    return found


def _follow(smooth: NDArray[np.float32], base: Array, reach_px: float) -> Array | None:
    """The edge near a row of points, (n, 2), or None where there is none."""
    along = np.gradient(base, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1)
    offsets = np.arange(-reach_px, reach_px + _STEP_PX / 2, _STEP_PX)
    places = base[:, None] + offsets[None, :, None] * normal[:, None]
    height, width = smooth.shape[:2]
    if not _inside(places, width, height):
        return None
    x, y = (np.ascontiguousarray(places[..., k], dtype=np.float32) for k in (0, 1))
    colours = cv2.remap(smooth, x, y, cv2.INTER_LINEAR).astype(float)
    contrast = np.zeros(places.shape[:2])
    contrast[:, 1:-1] = np.linalg.norm(colours[:, 2:] - colours[:, :-2], axis=2) / (2 * _STEP_PX)
    best = float(np.percentile(contrast.max(axis=1), 60))
    if best < _LEAST_CONTRAST:
        return None
    path = _path(np.minimum(contrast / best, 1.5))
    rows = np.arange(len(base))
    strong = contrast[rows, path] > _WEAK * best
    shift = offsets[path] + _STEP_PX * _peak(contrast, path)
    kept = _smooth_ones(rows, shift, strong)
    if kept is None:
        return None
    points: Array = (base + shift[:, None] * normal)[kept]
    return points


def _inside(places: Array, width: int, height: int) -> bool:
    """Whether nearly the whole strip is in the picture."""
    x, y = places[..., 0], places[..., 1]
    return float(((x > 0) & (x < width - 1) & (y > 0) & (y < height - 1)).mean()) > 0.97


def _path(contrast: Array) -> NDArray[np.int64]:
    """Index of the edge in each row: most contrast, least jumping (dynamic programming)."""
    rows, columns = contrast.shape
    index = np.arange(columns)
    jump = _SMOOTH * np.minimum(((index[:, None] - index[None, :]) / 2.0) ** 2, 25.0)
    total: Array = contrast[0]
    came = np.zeros((rows, columns), np.int64)
    for row in range(1, rows):
        options = total[None, :] - jump
        came[row] = options.argmax(axis=1)
        total = contrast[row] + options[index, came[row]]
    path = np.zeros(rows, np.int64)
    path[-1] = int(total.argmax())
    for row in range(rows - 1, 0, -1):
        path[row - 1] = came[row, path[row]]
    return path


def _peak(contrast: Array, path: NDArray[np.int64]) -> Array:
    """Fraction of a step by which the true peak lies beside the path (parabola)."""
    rows = np.arange(len(path))
    at = np.clip(path, 1, contrast.shape[1] - 2)
    left, middle, right = (contrast[rows, at + d] for d in (-1, 0, 1))
    curve = left - 2 * middle + right
    shift = np.where(curve < -1e-9, (left - right) / (2 * np.minimum(curve, -1e-9)), 0.0)
    clipped: Array = np.clip(shift, -0.5, 0.5) + (at - path)
    return clipped


def _smooth_ones(
    rows: NDArray[np.int64], shift: Array, strong: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Which samples lie on one smooth curve; None when they make none."""
    kept = strong.copy()
    for _ in range(4):
        if kept.sum() < 0.6 * len(rows):
            return None
        # A lens bends an edge nearly into a parabola; a freer curve would follow its ends astray.
        curve = np.polyfit(rows[kept], shift[kept], 2)
        off = np.abs(shift - np.polyval(curve, rows))
        spread = 1.4826 * float(np.median(off[kept])) + 0.1
        kept = strong & (off < max(3 * spread, _NEAR_PX))
    rms = float(np.sqrt((off[kept] ** 2).mean()))
    return kept if kept.sum() >= 0.6 * len(rows) and rms < _STRAIGHT_PX else None


def fit_lens(
    edges: Sequence[Array], size: tuple[int, int], others: Residuals | None = None,
    start: tuple[float, float] = (0.0, 0.0),
) -> LensFit:  # fmt: skip
    """The distortion that makes traced edges straight, and fits what else is known.

    Args:
        edges: points (n, 2) px of each straight edge.
        size: of the picture, (width, height).
        others: further misfits, of markers; weighed as much as all edges together.
        start: first guess of k1, k2.
    """
    count = sum(len(points) for points in edges)

    def misfit(k1: float, k2: float) -> Array:
        lens = Lens(size, k1, k2)
        straight = np.concatenate([_off_line(points, lens) for points in edges])
        if others is None:
            return straight
        rest = others(k1, k2)
        return np.concatenate([straight * np.sqrt(len(rest) / count), rest])

    guess = np.asarray(start, dtype=np.float64)
    for _ in range(_GAUSS_NEWTON):
        step = _newton_step(misfit, guess)
        guess = np.asarray(np.clip(guess + step, -0.45, 0.45), dtype=float)
        if np.abs(step).max() < 1e-6:
            break
    k1, k2 = (round(float(k), 5) for k in guess)
    left = misfit(k1, k2)
    return LensFit(k1, k2, float(np.sqrt((left**2).mean())), len(edges))


def _newton_step(misfit: Residuals, guess: Array) -> Array:
    """One damped Gauss-Newton step with the prior on both parameters."""
    here = misfit(*guess)
    small = 1e-4
    slope = np.stack(
        [(misfit(*(guess + small * unit)) - here) / small for unit in np.eye(2)], axis=1
    )
    precision = np.diag(1 / np.square(_PRIOR)) * _SIGMA_PX**2
    step = -np.linalg.solve(slope.T @ slope + precision, slope.T @ here + precision @ guess)
    return np.asarray(np.clip(step, -0.15, 0.15), dtype=float)


def _off_line(points: Array, lens: Lens) -> Array:
    """Signed distances (n,) of an edge's points from the best line, the distortion undone.

    Measured in px as seen: else a lens that shrinks the picture would seem to fit better.
    """
    flat = lens.undistort(points)
    middle = flat.mean(axis=0)
    _, _, axes = np.linalg.svd(flat - middle, full_matrices=False)
    off = (flat - middle) @ axes[1]
    seen = lens.distort(flat - off[:, None] * axes[1])
    result: Array = np.sign(off) * np.linalg.norm(points - seen, axis=1)
    return result


def corners_from_edges(edges: dict[int, Array], lens: Lens) -> Array:
    """Where neighbouring edges meet, (4, 2) px clockwise from the top left; NaN without one.

    Args:
        edges: from :func:`trace_edges`.
        lens: measured with them.
    """
    lines: dict[int, tuple[Array, float]] = {}
    for side, points in edges.items():
        flat = lens.undistort(points)
        middle = flat.mean(axis=0)
        _, _, axes = np.linalg.svd(flat - middle, full_matrices=False)
        lines[side] = (axes[1], float(axes[1] @ middle))
    meets = np.full((4, 2), np.nan)
    for corner in range(4):
        before, after = lines.get((corner - 1) % 4), lines.get(corner)
        if before is None or after is None:
            continue
        matrix = np.stack([before[0], after[0]])
        if abs(np.linalg.det(matrix)) > _CROSSING:
            ideal = np.linalg.solve(matrix, np.array([before[1], after[1]]))
            meets[corner] = lens.distort(ideal[None])[0]
    return meets
