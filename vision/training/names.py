"""How well a reader names tiles of photographs whose source it never saw.

``python -m vision.training.names --reader runs/reader/last.pt --groups home leo tray crops`` reads
every labelled tile of these sources (training and validation split alike: for a reader trained
with ``train_reader --groups`` on the others) in its labelled box, once, and prints the share named
right. It answers whether made pictures help: train twice, with and without them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import torch

from tablectl.tiles import NAMES
from vision.detector.crops import Box, cut_crops

from .crops import CROP_PX
from .reader_net import CLASSES, TileReader
from .sources import FIRST_FLOWER, PhotoSetError, load_split, without_flawed_flowers
from .train_reader import shrunk

Shown = tuple[str, npt.NDArray[np.uint8], npt.NDArray[np.int64]]
"""Source, crops (N, 4, side, side), and which tiles they show (N,)."""


def photographed(folder: Path, groups: list[str]) -> Iterator[Shown]:
    """Labelled tiles of the photographs of some sources, picture by picture."""
    listed = [*load_split(folder, "train"), *load_split(folder, "val")]
    for photo in map(without_flawed_flowers, listed):
        if photo.group in groups and len(photo.boxes):
            image = photo.read()
            scale = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
            boxes: list[Box] = [(float(a), float(b), float(c), float(d))
                                for a, b, c, d in photo.boxes * scale]  # fmt: skip
            yield photo.group, cut_crops(image, boxes, CROP_PX), photo.classes


def single_crops(folder: Path) -> Iterator[Shown]:
    """The pictures of one tile each.

    Raises:
        PhotoSetError: one can't be read.
    """
    for path in sorted((folder / "crops").glob("*/*.jpg")):
        image = cv2.imread(str(path))
        if image is None:
            raise PhotoSetError(f"{path}: not a readable picture")
        whole: Box = (0.0, 0.0, float(image.shape[1]), float(image.shape[0]))
        crops = cut_crops(np.asarray(image, np.uint8), [whole], CROP_PX)
        yield "crops", crops, np.array([NAMES.index(path.parent.name)])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--reader", type=Path, required=True, help="checkpoint")
    parser.add_argument("--groups", nargs="+", default=["home", "leo", "tray", "crops"])
    parser.add_argument("--input-px", type=int, default=CROP_PX, help="as it was trained")
    options = parser.parse_args()
    torch.set_num_threads(1)
    reader = TileReader()
    reader.load_state_dict(torch.load(options.reader, weights_only=True)["average"])
    reader.eval()
    right: dict[str, list[bool]] = {}
    shown = [photographed(options.photos, options.groups)]
    if "crops" in options.groups:
        shown.append(single_crops(options.photos))
    for group, crops, tiles in (item for source in shown for item in source):
        with torch.no_grad():
            out = reader(shrunk(torch.from_numpy(crops), options.input_px))
        named = out[:, :CLASSES].argmax(dim=1).numpy()
        for tile, name in zip(tiles.tolist(), named.tolist(), strict=True):
            keys = ["all", group, "flowers" if tile >= FIRST_FLOWER else "suits and honours"]
            for key in keys:
                right.setdefault(key, []).append(tile == name)
    for key, hits in right.items():
        print(f"{key}: {np.mean(hits):.3f} of {len(hits)} tiles named right")


if __name__ == "__main__":
    main()
