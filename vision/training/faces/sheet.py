"""Contact sheet of made-up sets: ``python -m vision.training.faces.sheet --out sheet.png``."""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np

from ..artwork import FACE_HEIGHT, FACE_WIDTH, load_art
from .sets import random_set


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--art", type=Path, default=Path("../shared/data/art"))
    parser.add_argument("--out", type=Path, default=Path("runs/sheet.png"))
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    arts = load_art(options.art)
    rows = []
    for number in range(options.count):
        made = random_set(np.random.default_rng([options.seed, number]), arts)
        cells = []
        for tile in range(42):
            ink = made.faces[tile][0].astype(np.float32)
            body = np.full((FACE_HEIGHT, FACE_WIDTH, 3), (225, 238, 242), np.float32)
            alpha = ink[:, :, 3:] / 255
            cell = body * (1 - alpha) + ink[:, :, :3] * alpha
            cells.append(
                cv2.copyMakeBorder(cell, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=(60, 90, 40))
            )
        rows += [np.hstack(cells[:21]), np.hstack(cells[21:])]
    cv2.imwrite(str(options.out), np.vstack(rows))


if __name__ == "__main__":
    main()
