"""How the tile reader sees a detected tile. Shared by training and run time, so that they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

CROP_SCALE: Final = 1.12
"""Side of the square that is cut, over the longer side of the detector's box."""

Box = tuple[float, float, float, float]


def square_of(box: Box) -> Box:
    """The square x1 y1 x2 y2 (px) that is cut for a detected box."""
    x1, y1, x2, y2 = box
    half = max(x2 - x1, y2 - y1, 4.0) * CROP_SCALE / 2
    cx, cy = (x1 + x2) / 2, (y1 + y2) / 2
    return cx - half, cy - half, cx + half, cy + half


def cut_crop(image: npt.NDArray[np.uint8], box: Box, side: int) -> npt.NDArray[np.uint8]:
    """One input of the tile reader: (4, side, side) uint8, R G B and the box as a mask.

    ``image`` is BGR (H, W, 3); parts of the square outside it repeat the border pixels.
    """
    left, top, right, bottom = square_of(box)
    scale = side / (right - left)
    height, width = image.shape[:2]
    x1, y1 = (int(np.clip(v - 2, 0, n - 1)) for v, n in ((left, width), (top, height)))
    x2, y2 = int(max(right + 3, x1 + 1)), int(max(bottom + 3, y1 + 1))
    part = image[y1:y2, x1:x2]
    offset = ((x1 - left) * scale, (y1 - top) * scale)
    zoom = scale
    if scale < 0.75:
        part = np.asarray(
            cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
        zoom = 1.0
    matrix = np.array([[zoom, 0, offset[0]], [0, zoom, offset[1]]], np.float32)
    crop = cv2.warpAffine(
        part, matrix, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    mask = np.zeros((1, side, side), np.uint8)
    half = np.array([box[2] - box[0], box[3] - box[1]]) * scale / 2
    low = np.maximum(np.round(side / 2 - half).astype(int), 0)
    high = np.round(side / 2 + half).astype(int)
    mask[0, low[1] : high[1], low[0] : high[0]] = 255
    return np.concatenate([np.asarray(crop, np.uint8)[:, :, ::-1].transpose(2, 0, 1), mask])


def cut_crops(
    image: npt.NDArray[np.uint8], boxes: Sequence[Box], side: int
) -> npt.NDArray[np.uint8]:
    """Inputs (N, 4, side, side) for the boxes, in their order."""
    if not boxes:
        return np.zeros((0, 4, side, side), np.uint8)
    return np.stack([cut_crop(image, box, side) for box in boxes])
