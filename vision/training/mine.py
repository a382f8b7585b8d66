"""Collect the finder's false finds in made pictures: ``python -m vision.training.mine FOLDER...``.

Writes ``<stem>.none.json`` beside each picture: boxes (px) where a first finder saw a tile that
is not there: dice, chips, markers, standing tiles, hands. The reader learns them as "no tile".
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

from vision.detector import Detector

from .sources import PhotoSetError, iou_matrix

MIN_SCORE = 0.15


def false_finds(detector: Detector, picture: Path) -> list[list[float]]:
    """Boxes of finds that overlap no tile of the picture, visible or covered, by more than 0.15."""
    image = cv2.imread(str(picture))
    if image is None:
        raise PhotoSetError(f"{picture}: not a readable picture")
    rows = json.loads(picture.with_suffix(".json").read_text())
    quads = np.array([row["quad"] for row in rows], np.float32).reshape(-1, 4, 2)
    tiles = np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1)
    boxes, _ = detector.find_table(np.asarray(image, np.uint8))
    apart = iou_matrix(boxes, tiles).max(axis=1, initial=0.0) < 0.15
    found: list[list[float]] = boxes[apart].round(1).tolist()
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=MIN_SCORE)
    total = 0
    for folder in options.folders:
        for picture in sorted(folder.glob("*.jpg"))[:: options.every]:
            found = false_finds(detector, picture)
            total += len(found)
            picture.with_suffix(".none.json").write_text(json.dumps(found))
    print(f"{total} false finds")


if __name__ == "__main__":
    main()
