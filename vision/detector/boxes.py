"""Box arithmetic of the tile finder: decoding its grids, suppressing doubles, windows."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

MAX_IOU: Final = 0.55
MAX_INSIDE: Final = 0.85
"""Overlap from which two boxes are of one tile: IoU, share of the smaller one."""

ALIKE_IOU: Final = 0.6
"""IoU from which boxes of one tile are averaged."""

REG_MAX: Final = 16
"""Bins of the distance distribution of each box side (ultralytics' DFL)."""


def decode_grid(grid: FloatArray, stride: int, min_score: float) -> tuple[FloatArray, FloatArray]:
    """Boxes (N, 4) x1 y1 x2 y2 px and scores (N,) of one output grid (65, H, W).

    Channels: 4 sides x 16 bins of the distance from the cell's centre (left, top, right, bottom, in
    strides), then the logit of "here is a tile".
    """
    logit_floor = float(np.log(min_score / (1 - min_score)))
    rows, columns = np.nonzero(grid[4 * REG_MAX] > logit_floor)
    if len(rows) == 0:
        return np.zeros((0, 4), np.float32), np.zeros(0, np.float32)
    scores = 1 / (1 + np.exp(-grid[4 * REG_MAX, rows, columns]))
    bins = grid[: 4 * REG_MAX, rows, columns].T.reshape(-1, 4, REG_MAX)
    weight = np.exp(bins - bins.max(axis=2, keepdims=True))
    distance = (weight * np.arange(REG_MAX)).sum(axis=2) / weight.sum(axis=2)
    centre = np.stack([columns + 0.5, rows + 0.5], axis=1)
    boxes = np.concatenate([centre - distance[:, :2], centre + distance[:, 2:]], axis=1) * stride
    return boxes.astype(np.float32), scores.astype(np.float32)


def area_of(boxes: FloatArray) -> FloatArray:
    """Areas (N,) of boxes (N, 4)."""
    return np.asarray(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1), np.float32)


def shared_area(box: FloatArray, boxes: FloatArray) -> FloatArray:
    """Areas (N,) that a box (4,) shares with each of others (N, 4)."""
    top_left = np.maximum(box[:2], boxes[:, :2])
    bottom_right = np.minimum(box[2:], boxes[:, 2:])
    return np.asarray(np.prod(np.clip(bottom_right - top_left, 0, None), axis=1), np.float32)


def share_inside(box: FloatArray, boxes: FloatArray) -> float:
    """Largest share of a box (4,) that one of others (N, 4) covers."""
    shared = shared_area(box, boxes).max(initial=0.0)
    return float(shared / max(area_of(box[None])[0], 1e-9))


def merged(boxes: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Boxes (M, 4) and scores (M,), one for each tile, best score first.

    Greedy non-maximum suppression: a box goes when a better one overlaps it by IoU ``MAX_IOU``, or
    covers ``MAX_INSIDE`` of the smaller of the two. Of each that stays the corners are the mean of
    its own and of its doubles that are much alike, by score: single boxes jitter.
    """
    area = area_of(boxes)
    alive = np.ones(len(boxes), np.bool_)
    kept: list[int] = []
    means: list[FloatArray] = []
    for index in np.argsort(-scores, kind="stable"):
        if not alive[index]:
            continue
        shared = shared_area(boxes[index], boxes)
        iou = shared / np.maximum(area + area[index] - shared, 1e-9)
        inside = shared / np.maximum(np.minimum(area, area[index]), 1e-9)
        alike = iou >= ALIKE_IOU
        kept.append(int(index))
        means.append(np.average(boxes[alike], axis=0, weights=scores[alike]).astype(np.float32))
        alive &= (iou <= MAX_IOU) & (inside <= MAX_INSIDE)
    return np.array(means, np.float32).reshape(-1, 4), scores[kept]


def window_starts(length: int, window: int, overlap: int) -> list[int]:
    """Starts of windows of ``window`` px covering ``length`` px, sharing ``overlap`` px or more."""
    if length <= window:
        return [0]
    count = int(np.ceil((length - overlap) / (window - overlap)))
    return [round(i * (length - window) / (count - 1)) for i in range(count)]


def cut_by_window(
    boxes: FloatArray, origin: tuple[int, int], size: tuple[int, int], whole: tuple[int, int]
) -> npt.NDArray[np.bool_]:
    """Which boxes (N, 4, px of the window) touch a window edge that is not the picture's edge.

    ``origin`` x y of the window in the picture, ``size`` and ``whole`` width and height. The
    neighbouring window sees such a tile whole.
    """
    margin = 2.0
    cut = np.zeros(len(boxes), np.bool_)
    for axis in (0, 1):
        if origin[axis] > 0:
            cut |= boxes[:, axis] < margin
        if origin[axis] + size[axis] < whole[axis]:
            cut |= boxes[:, axis + 2] > size[axis] - margin
    return cut
