"""What looks like a tile and is none: ``python -m vision.training.clutter FOLDER... --out FILE``.

Looks for tiles in pictures that show none (wallpapers, textures, pictures of a library's manual)
and keeps the finds, those first that the reader believes most. Writes ``<out>`` (npz): ``images``
(N, 160, 160, 3) uint8 BGR and ``spans`` (N, 2) px, as :class:`vision.training.crops.Patches` has
them. The reader learns them as "no tile". Of the pictures in a seeded order the first serve this,
the next to calibrate on; without ``--out`` it counts what is read as tiles in the rest.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from vision.detector import Detector
from vision.read import LISTED, tiles_of

from .crops import cut_patch
from .sources import FloatArray, ImageArray

TRAINED_ON, CALIBRATED_ON = 900, 150
"""Pictures, small ones included, from which the reader learns and on which it is calibrated."""

SMALLEST_PX = 256
"""Shorter side of a picture that is looked at."""

LARGEST_PX = 1280
"""Longer side to which larger ones are shrunk."""

MOST = 16
"""Finds kept of one picture."""

MIN_SCORE = 0.05
SURE = 0.5


def listed(folders: list[Path]) -> list[Path]:
    """Photographs and textures (JPEG) below ``folders``, in a seeded order."""
    files = (path for folder in folders for path in folder.rglob("*"))
    paths = sorted(path for path in files if path.suffix.lower() in (".jpg", ".jpeg"))
    random.Random(1).shuffle(paths)
    return paths


def pictures(paths: list[Path]) -> Iterator[ImageArray]:
    """Those that are large enough to show anything, shrunk where very large."""
    for path in paths:
        image = cv2.imread(str(path))
        if image is None or min(image.shape[:2]) < SMALLEST_PX:
            continue
        scale = min(1.0, LARGEST_PX / max(image.shape[:2]))
        shrunk = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        yield np.asarray(shrunk, np.uint8)


def false_finds(detector: Detector, image: ImageArray) -> list[tuple[ImageArray, FloatArray]]:
    """Patch and box size of up to ``MOST`` finds in a picture without tiles."""
    boxes, _ = detector.find_photo(image)
    if len(boxes) == 0:
        return []
    plain = [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes]
    _, chance, _ = detector.read(image, plain)
    return [cut_patch(image, boxes[i]) for i in np.argsort(-chance)[:MOST]]


def count(detector: Detector, seen: Iterator[ImageArray]) -> str:
    """How many tiles are read in pictures that show none."""
    scores = [[found.score for found in tiles_of(image, detector)] for image in seen]
    flat = np.array([score for row in scores for score in row])
    clean = np.mean([not any(score >= LISTED for score in row) for row in scores])
    return (
        f"{len(scores)} pictures without tiles: {(flat >= LISTED).sum() / len(scores):.3f} read in "
        f"each at score {LISTED}, {(flat >= SURE).sum() / len(scores):.3f} at {SURE}; "
        f"none in {clean:.3f} of them"
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--weights", type=Path, default=Path("models"))
    parser.add_argument("--out", type=Path, help="npz to write")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    paths = listed(options.folders)
    detector = Detector(options.weights, min_score=MIN_SCORE)
    if options.out is None:
        print(count(detector, pictures(paths[TRAINED_ON + CALIBRATED_ON :])))
        return
    seen = list(pictures(paths[:TRAINED_ON]))
    finds = [find for image in seen for find in false_finds(detector, image)]
    images, spans = zip(*finds, strict=True)
    np.savez_compressed(options.out, images=np.stack(images), spans=np.stack(spans))
    print(f"{len(finds)} finds in {len(seen)} pictures without tiles")


if __name__ == "__main__":
    main()
