"""Label what the photographs leave unlabelled: ``python -m vision.training.relabel``.

The finder of a first stage looks at the training photographs. Where it is sure of a tile without
a label, the tile is added (to the finder's training only: it has no name); where it half suspects
one, the area is ignored. Partly labelled pictures then serve whole, with their backgrounds.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.detector import Detector

from .sources import Photo, iou_matrix, load_split

SURE, SUSPECTED = 0.55, 0.22
"""Finder scores from which an unlabelled find becomes a label, or an ignored area."""


def unlabelled(detector: Detector, photo: Photo) -> dict[str, Any]:
    """``{"tiles": [[x1, y1, x2, y2]...], "ignored": [...]}`` in shares of the picture's size."""
    image = photo.read()
    scale = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
    boxes, scores = detector.find_photo(image)
    iou = iou_matrix(boxes, photo.boxes * scale).max(axis=1, initial=0.0)
    new = iou < 0.25
    sure = new & (scores >= SURE)
    doubt = new & ~sure
    return {
        "tiles": (boxes[sure] / scale).round(5).tolist(),
        "ignored": (boxes[doubt] / scale).round(5).tolist(),
    }


def apply_relabelling(photos: list[Photo], path: Path) -> list[Photo]:
    """The photographs with the finds of ``relabel`` added, none of them partial any more.

    Added tiles have class -1. In pictures that count as wholly labelled only what the finder is
    sure of is ignored (cut-off tiles at the border, tiles on a shelf), and nothing at all in
    ``home``: there it is the grid of a cutting mat.
    """
    content: dict[str, dict[str, Any]] = json.loads(path.read_text())
    return [_merged(photo, content[photo.path.name]) for photo in photos]


def _merged(photo: Photo, extra: dict[str, Any]) -> Photo:
    tiles = np.array(extra["tiles"], np.float32).reshape(-1, 4)
    ignored = np.array(extra["ignored"], np.float32).reshape(-1, 4)
    if photo.group == "home":
        return photo
    if not photo.partial:
        tiles, ignored = tiles[:0], tiles
    return replace(
        photo,
        boxes=np.concatenate([photo.boxes, tiles]),
        classes=np.concatenate([photo.classes, np.full(len(tiles), -1, np.int64)]),
        ignored=np.concatenate([photo.ignored, ignored]),
        partial=False,
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("runs/relabel.json"))
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=SUSPECTED)
    photos = load_split(options.photos, "train")
    found = {photo.path.name: unlabelled(detector, photo) for photo in photos}
    options.out.write_text(json.dumps(found))
    tiles = sum(len(entry["tiles"]) for entry in found.values())
    ignored = sum(len(entry["ignored"]) for entry in found.values())
    print(f"{len(photos)} pictures: {tiles} tiles without a label, {ignored} areas to ignore")


if __name__ == "__main__":
    main()
