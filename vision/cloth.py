"""The cloth's colour in a picture, whatever the shade: brightness and two tints."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.calibration import Array
from vision.sources.frame import Image

ALIKE: Final = 0.13
"""Difference of tint up to which something has the cloth's colour."""
_GREY: Final = np.array([0.114, 0.587, 0.299])


def tinted(pixels: Array) -> Array:
    """Blue, green, red (n, 3) to brightness and two tints that shadows leave alone, (n, 3)."""
    grey = pixels @ _GREY
    tint = (pixels[:, (0, 2)] - grey[:, None]) / (grey[:, None] + 14.0)
    return np.column_stack([grey, tint])


def most_common(values: Array) -> Array:
    """(3,) brightness and tints of the most common colour among :func:`tinted` values (n, 3)."""
    bins = ((values[:, 1:] + 2) * 8).astype(int).clip(0, 63)
    labels = bins[:, 0] * 64 + bins[:, 1]
    middle = np.median(values[labels == np.bincount(labels).argmax()], axis=0)
    near = np.abs(values[:, 1:] - middle[1:]).max(axis=1) < ALIKE
    return np.asarray(np.median(values[near], axis=0) if near.any() else middle, dtype=float)


def colours_at(image: Image, points_px: Array) -> tuple[Array, NDArray[np.bool_]]:
    """:func:`tinted` values at pixels (n, 2), and which of the points are in the picture."""
    px = np.round(points_px).astype(np.int64)
    height, width = image.shape[:2]
    inside = (px >= 0).all(axis=1) & (px[:, 0] < width) & (px[:, 1] < height)
    x, y = px[inside].T
    return tinted(image[y, x].astype(float)), inside
