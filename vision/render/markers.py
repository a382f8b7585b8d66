"""The four printed markers at the felt's corners (ArUco, dictionary 4x4_50, ids 0 to 3)."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import TableGeometry

MARKER_SIZE_MM: Final = 38.0
"""Side of a marker's black square."""
MARKER_INSET_MM: Final = 30.0
"""Distance of a marker's centre from both edges of the felt."""
_SIGNS: Final = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def marker_positions(geometry: TableGeometry) -> dict[int, tuple[float, float]]:
    """Marker centres (table mm) by id, clockwise from the top left of the picture.

    All markers stand upright for seat 0's player.
    """
    at = geometry.half_mm - MARKER_INSET_MM
    return {number: (sx * at, sy * at) for number, (sx, sy) in enumerate(_SIGNS)}


def marker_corners_mm(geometry: TableGeometry) -> dict[int, NDArray[np.float64]]:
    """Corners of the black squares, (4, 2) table mm, clockwise from the top left."""
    half = MARKER_SIZE_MM / 2
    return {
        number: np.array([(x + sx * half, y + sy * half) for sx, sy in _SIGNS])
        for number, (x, y) in marker_positions(geometry).items()
    }


def marker_picture(number: int, side_px: int = 120) -> NDArray[np.uint8]:
    """Grey picture of a marker with its white margin of one module (an eighth of the whole)."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    inner = side_px * 6 // 8
    picture = cv2.aruco.generateImageMarker(dictionary, number, inner)
    margin = (side_px - inner) // 2
    padded = cv2.copyMakeBorder(
        picture, margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=255
    )
    return np.asarray(padded, np.uint8)
