"""Flowers for the reader, straight from made-up faces: ``python -m vision.training.face_bank``.

Reading the character and the numeral of a flower is the hardest thing that the reader learns: in
pictures of tables it hardly gets a hold on it. So it sees many more flowers, some of them large
and clear, and birds, lest every picture be a flower. Writes ``<out>`` (npz): ``faces``
(N, 9, 88, 66, 4) uint8 BGRA of N made-up sets, the bird last.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from .artwork import load_art
from .crops import Sample, random_linear, render_crop
from .faces.sets import BIRD, random_pictures
from .outside import load_folder
from .sources import FIRST_FLOWER, ImageArray

WIDTH, HEIGHT = 66, 88
KINDS = (*range(FIRST_FLOWER, FIRST_FLOWER + 8), BIRD)
BIRDS = 0.25
"""Share of birds among the samples."""
SIDE = 288
"""Of the little scene round the tile, px."""


def _laid(
    canvas: ImageArray, face: ImageArray, body: npt.NDArray[np.float64], left: int, top: int
) -> None:
    """One tile on the canvas: body, ink, a darker rim."""
    cover = face[:, :, 3].astype(np.float32) / 255
    plain = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    plain[:] = body.astype(np.uint8)
    ink = np.ascontiguousarray(face[:, :, :3])
    laid = cv2.blendLinear(ink, plain, cover, 1 - cover)
    canvas[top : top + HEIGHT, left : left + WIDTH] = laid
    rim = tuple(float(v) for v in body * 0.8)
    cv2.rectangle(canvas, (left, top), (left + WIDTH - 1, top + HEIGHT - 1), rim, 1)


def little_scene(faces: npt.NDArray[np.uint8], index: int, rng: np.random.Generator) -> ImageArray:
    """The picture ``index`` of a set in the middle (288, 288, 3), neighbours or felt round it."""
    felt = rng.uniform(10, 170, 3)
    coarse = np.clip(felt + rng.normal(0, 6, (SIDE // 6, SIDE // 6, 1)), 0, 255)
    canvas = np.asarray(cv2.resize(coarse.astype(np.uint8), (SIDE, SIDE)), np.uint8)
    body = np.array(
        [[238, 242, 244], [205, 228, 236], [170, 215, 230]][int(rng.integers(3))], np.float64
    )
    body = np.clip(body + rng.normal(0, 9, 3), 0, 255)
    left, top = (SIDE - WIDTH) // 2, (SIDE - HEIGHT) // 2
    down, right = (int(v) for v in rng.integers(-16, 17, 2))
    side = np.clip(body * rng.uniform(0.5, 0.85), 0, 255)
    cv2.rectangle(
        canvas,
        (min(left, left + right), min(top, top + down)),
        (max(left, left + right) + WIDTH, max(top, top + down) + HEIGHT),
        tuple(float(v) for v in side),
        -1,
    )
    for across, along in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if rng.random() < 0.3:
            gap = int(rng.choice([0, 1, 3, 8]))
            x, y = left + across * (WIDTH + gap), top + along * (HEIGHT + gap)
            _laid(canvas, faces[int(rng.integers(len(faces)))], body, x, y)
    _laid(canvas, faces[index], body, left, top)
    return canvas


class FlowerBank:
    """Samples of flowers and, where the bank has them, birds."""

    def __init__(self, path: Path) -> None:
        self.faces: npt.NDArray[np.uint8] = np.load(path)["faces"]

    def sample(self, rng: np.random.Generator) -> Sample:
        """A crop of a flower or a bird at any turn; two in five large and clear."""
        chosen, index = int(rng.integers(len(self.faces))), int(rng.integers(8))
        if self.faces.shape[1] > 8 and rng.random() < BIRDS:
            index = 8
        canvas = little_scene(self.faces[chosen], index, rng)
        degrees = 90.0 * int(rng.integers(4)) + float(rng.normal(0, 3))
        if rng.random() < 0.3:
            degrees = float(rng.uniform(0, 360))
        linear = random_linear(degrees, rng)
        half = np.array([WIDTH, HEIGHT], np.float32) / 2
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32) * half
        span = np.ptp(corners @ linear.T, axis=0)
        centre = np.full(2, SIDE / 2, np.float32)
        pixels = render_crop(canvas, linear, centre, span, rng, 0.6)
        return Sample(pixels, KINDS[index], degrees % 360, math.fmod(degrees, 180) % 180)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--art", type=Path, default=Path("../shared/data/art"))
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of faces to lend")
    parser.add_argument("--out", type=Path, default=Path("runs/flowers.npz"))
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=51)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    arts = [*load_art(options.art), *(load_folder(folder) for folder in options.sets)]
    made = []
    for number in range(options.count):
        faces = random_pictures(np.random.default_rng([options.seed, number]), arts)
        made.append([cv2.resize(f, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for f in faces])
    np.savez_compressed(options.out, faces=np.array(made, np.uint8))


if __name__ == "__main__":
    main()
