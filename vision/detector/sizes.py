"""Which finds have the size of a whole tile, in a picture whose tile size is not known."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .boxes import area_of

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

ASPECT: Final = 4 / 3
"""Length of a tile over its width."""

NEIGHBOURS: Final = 6
"""Faces nearby whose median is the size of a tile there: perspective changes it slowly."""

FEWEST: Final = 3
"""Fewer faces in the whole picture say nothing about size."""

SMALLEST: Final = 0.7
LARGEST: Final = 2.7
"""Box areas of a whole tile, over the area of a tile lying straight nearby.

The box of a tile that lies askew is up to 2.04 times as large, never smaller; the rest is
perspective. The end of a standing tile and a die have less than 0.6, half a tile 0.5.
"""

EDGE: Final = 3.0
"""Distance from the picture's edge within which a tile may be cut by it, px."""


def straight_area(boxes: FloatArray, rotations: FloatArray) -> FloatArray:
    """Areas (N,) px² that tiles with these boxes (N, 4) would cover if they lay straight.

    ``rotations`` (N,) degrees. A tile w wide, turned by r, has a box w (|cos r| + a |sin r|) by
    w (a |cos r| + |sin r|), with a its aspect.
    """
    cos, sin = np.abs(np.cos(np.radians(rotations))), np.abs(np.sin(np.radians(rotations)))
    share = ASPECT / ((cos + ASPECT * sin) * (ASPECT * cos + sin))
    return np.asarray(area_of(boxes) * share, np.float32)


def odd_sized(
    boxes: FloatArray, rotations: FloatArray, faces: BoolArray, size: tuple[int, int]
) -> BoolArray:
    """Which boxes (N, 4) are too small or too large for a tile, by the faces round them.

    Args:
        boxes: x1 y1 x2 y2 px.
        rotations: degrees (N,).
        faces: (N,) which are certainly whole faces; the others are not measured by.
        size: width and height of the picture; what its edge cuts may be small.
    """
    odd = np.zeros(len(boxes), np.bool_)
    straight, area = straight_area(boxes, rotations), area_of(boxes)
    cut = np.asarray(((boxes[:, :2] < EDGE) | (boxes[:, 2:] > np.array(size) - EDGE)).any(axis=1))
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    for index in range(len(boxes)):
        others = np.flatnonzero(faces & (np.arange(len(boxes)) != index))
        if len(others) < FEWEST:
            continue
        distance = np.linalg.norm(centres[others] - centres[index], axis=1)
        near = others[np.argsort(distance, kind="stable")[:NEIGHBOURS]]
        ratio = area[index] / np.median(straight[near])
        odd[index] = ratio > LARGEST or (ratio < SMALLEST and not cut[index])
    return odd
