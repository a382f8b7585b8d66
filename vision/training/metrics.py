"""Detection metrics of tiles: mAP50, tiles read exactly right, confusions, per group.

The definitions are those of ``../shared/tools/eval_detector.py`` (a test compares the two).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tablectl.tiles import Tile, format_tile

from .sources import FloatArray, iou_matrix

EDGE = 0.01
"""An unmatched detection reaching within this share of the border is not counted."""

CLASSES = 43


@dataclass(frozen=True)
class Scored:
    """One picture: labels and predictions in pixels.

    ``truth`` (N, 5): class, x1, y1, x2, y2. ``found`` (M, 6): class, confidence, x1, y1, x2, y2.
    """

    name: str
    truth: npt.NDArray[np.float64]
    found: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Figures of some pictures; ``ap50`` by tile name, ``confusions``: (truth, read, count)."""

    images: int
    tiles: int
    detections: int
    map50: float
    precision: float
    recall: float
    box_recall: float
    box_precision: float
    class_accuracy: float
    images_perfect: float
    ap50: dict[str, float]
    confusions: list[tuple[str, str, int]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _greedy(iou: FloatArray, order: npt.NDArray[np.intp], floor: float) -> dict[int, int]:
    """Match rows in the given order to their best free column."""
    used: set[int] = set()
    matched: dict[int, int] = {}
    for row in order:
        best, chosen = floor, -1
        for column in range(iou.shape[1]):
            if column not in used and iou[row, column] >= best:
                best, chosen = float(iou[row, column]), column
        if chosen >= 0:
            used.add(chosen)
            matched[int(row)] = chosen
    return matched


def average_precision(hits: list[int], confidences: list[float], positives: int) -> float:
    """101-point interpolated average precision."""
    if not hits:
        return 0.0
    order = np.argsort(-np.asarray(confidences), kind="stable")
    right = np.asarray(hits, float)[order]
    true, false = np.cumsum(right), np.cumsum(1 - right)
    recall, precision = true / positives, true / np.maximum(true + false, 1e-9)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
    return float(np.mean([precision[k] if k < len(precision) else 0.0 for k in places]))


def forgive(
    found: npt.NDArray[np.float64],
    truth: npt.NDArray[np.float64],
    ignored: npt.NDArray[np.float64],
    width: int,
    height: int,
) -> npt.NDArray[np.float64]:
    """Drop unmatched detections cut off by the border or lying in an ignored area (N, 4)."""
    if len(found) == 0:
        return found
    edge_x, edge_y = EDGE * width, EDGE * height
    free = (found[:, 2] <= edge_x) | (found[:, 3] <= edge_y)
    free |= (found[:, 4] >= width - edge_x) | (found[:, 5] >= height - edge_y)
    area = np.maximum((found[:, 4] - found[:, 2]) * (found[:, 5] - found[:, 3]), 1e-9)
    for x1, y1, x2, y2 in ignored:
        across = np.clip(np.minimum(found[:, 4], x2) - np.maximum(found[:, 2], x1), 0, None)
        down = np.clip(np.minimum(found[:, 5], y2) - np.maximum(found[:, 3], y1), 0, None)
        free |= across * down >= 0.5 * area
    if len(truth):
        free &= iou_matrix(found[:, 2:], truth[:, 1:]).max(axis=1) < 0.3
    kept: npt.NDArray[np.float64] = found[~free]
    return kept


def score(pictures: list[Scored], min_confidence: float = 0.25, min_iou: float = 0.5) -> Score:
    """Figures over all pictures; precision and recall at ``min_confidence``."""
    totals: Counter[str] = Counter()
    confusions: Counter[tuple[int, int]] = Counter()
    for picture in pictures:
        _count_picture(picture, min_confidence, min_iou, totals, confusions)
    aps = _class_aps(pictures, min_iou)
    return Score(
        images=len(pictures),
        tiles=totals["tiles"],
        detections=totals["found"],
        map50=float(np.mean(list(aps.values()))) if aps else 0.0,
        precision=totals["exact"] / max(totals["found"], 1),
        recall=totals["exact"] / max(totals["tiles"], 1),
        box_recall=totals["boxes"] / max(totals["tiles"], 1),
        box_precision=totals["boxes"] / max(totals["found"], 1),
        class_accuracy=(totals["boxes"] - confusions.total()) / max(totals["boxes"], 1),
        images_perfect=totals["perfect"] / max(len(pictures), 1),
        ap50={format_tile(Tile(tile)): value for tile, value in sorted(aps.items())},
        confusions=[
            (format_tile(Tile(a)), format_tile(Tile(b)), n)
            for (a, b), n in confusions.most_common(20)
        ],
    )


def _count_picture(
    picture: Scored,
    min_confidence: float,
    min_iou: float,
    totals: Counter[str],
    confusions: Counter[tuple[int, int]],
) -> None:
    truth = picture.truth
    found = picture.found[picture.found[:, 1] >= min_confidence]
    order = np.argsort(-found[:, 1], kind="stable")
    iou = iou_matrix(found[:, 2:], truth[:, 1:])
    same = found[:, 0][:, None] == truth[:, 0][None, :]
    exact = _greedy(np.where(same, iou, 0), order, min_iou)
    boxes = _greedy(iou, order, min_iou)
    totals["tiles"] += len(truth)
    totals["found"] += len(found)
    totals["exact"] += len(exact)
    totals["boxes"] += len(boxes)
    totals["perfect"] += int(len(exact) == len(truth) == len(found))
    for row, column in boxes.items():
        pair = (int(truth[column, 0]), int(found[row, 0]))
        if pair[0] != pair[1]:
            confusions[pair] += 1


def _class_aps(pictures: list[Scored], min_iou: float) -> dict[int, float]:
    """Average precision of every class that occurs in the labels."""
    hits: dict[int, list[int]] = {tile: [] for tile in range(CLASSES)}
    confidences: dict[int, list[float]] = {tile: [] for tile in range(CLASSES)}
    positives: Counter[int] = Counter()
    for picture in pictures:
        truth, found = picture.truth, picture.found
        for tile in {int(v) for v in truth[:, 0]} | {int(v) for v in found[:, 0]}:
            wanted, given = truth[truth[:, 0] == tile], found[found[:, 0] == tile]
            order = np.argsort(-given[:, 1], kind="stable")
            matched = _greedy(iou_matrix(given[:, 2:], wanted[:, 1:]), order, min_iou)
            positives[tile] += len(wanted)
            hits[tile] += [int(row in matched) for row in range(len(given))]
            confidences[tile] += given[:, 1].tolist()
    return {
        tile: average_precision(hits[tile], confidences[tile], positives[tile])
        for tile in range(CLASSES)
        if positives[tile]
    }
