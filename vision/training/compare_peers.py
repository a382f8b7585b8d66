"""Speed and accuracy beside other recognisers: ``python -m vision.training.compare_peers``.

The peers, on the same pictures in the same run:

- `mahjong-detector` 0.0.6, a YOLO11 nano of 34 classes, 640 px, through onnxruntime;
- ultralytics' own ``predict`` of a YOLO11 nano of 43 classes, 640 px. There are no weights for it:
  it runs with random ones, finds nothing and so has no non-maximum suppression to do; only its
  speed counts.

Pictures: every ``--every``-th validation photograph, looked at as a whole by all; and rendered
tables of 1080p in the test split's faces, felts and lamps, for which the peers look through windows
of 640 px that overlap as ours do. Needs the train extra and ``mahjong-detector``.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import onnxruntime as ort
import torch
from mahjong_detector.preprocess import preprocess_image
from PIL import Image
from ultralytics import YOLO

from tablectl.tiles import NAMES
from vision.detector import Detector
from vision.detector.boxes import merged, window_starts
from vision.detector.detector import BEST_TILE_PX, WINDOW_PX
from vision.geometry import TableGeometry
from vision.read import LISTED
from vision.render.renderer import Renderer, TileTruth

from .evaluate import scored, with_whole_flowers
from .evaluate_scenes import against_truth, rows_of, styled
from .metrics import Scored, score
from .scenes import random_scene
from .sources import ImageArray, Photo, load_split, unlabelled_areas

peer = importlib.import_module("mahjong_detector.predict")  # a function hides it in its package

Rows = list[list[float]]
"""Class, confidence, x1, y1, x2, y2 px of each find."""

SIZE = (1920, 1080)
PEER_NAMES = {
    "chun": "7z", "haku": "5z", "hatsu": "6z", "tou": "1z", "nan": "2z", "sha": "3z", "pe": "4z",
}  # fmt: skip


class MahjongDetector:
    """The public detector, with a number of threads of its own."""

    name = "mahjong-detector 0.0.6"

    def __init__(self, threads: int) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        peer.threadlocal.session = ort.InferenceSession(
            str(peer.model_path), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, image: ImageArray) -> Rows:
        """Everything it finds in a BGR picture."""
        picture = Image.fromarray(np.ascontiguousarray(image[:, :, ::-1]))
        found = peer.predict(*preprocess_image(picture))
        names = [peer.CLASS_NAMES[item.class_id] for item in found]
        return [
            [float(NAMES.index(PEER_NAMES.get(name, name))), item.confidence,
             item.x1, item.y1, item.x2, item.y2]
            for name, item in zip(names, found, strict=True)
        ]  # fmt: skip


class UltralyticsPredict:
    """``YOLO.predict`` of a YOLO11 nano with random weights."""

    name = "ultralytics predict, YOLO11 nano (random weights)"

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        self._model = YOLO("yolo11n.yaml", task="detect")

    def __call__(self, image: ImageArray) -> Rows:
        """Nothing, in the time that it takes."""
        self._model.predict(image, imgsz=640, conf=0.25, verbose=False, device="cpu")
        return []


def in_windows(look: Callable[[ImageArray], Rows], image: ImageArray) -> Rows:
    """What a recogniser finds in overlapping windows, doubles merged."""
    height, width = image.shape[:2]
    overlap = round(3.2 * BEST_TILE_PX)
    rows: Rows = []
    for top in window_starts(height, WINDOW_PX, overlap):
        for left in window_starts(width, WINDOW_PX, overlap):
            window = np.ascontiguousarray(image[top : top + WINDOW_PX, left : left + WINDOW_PX])
            for tile, sure, x1, y1, x2, y2 in look(window):
                rows.append([tile, sure, x1 + left, y1 + top, x2 + left, y2 + top])
    if not rows:
        return rows
    table = np.array(rows, np.float32)
    boxes, sures = merged(table[:, 2:], table[:, 1])
    kinds = [table[np.abs(table[:, 2:] - box).sum(axis=1).argmin(), 0] for box in boxes]
    return np.column_stack([kinds, sures, boxes]).tolist()


@dataclass
class Column:
    """One recogniser over one kind of pictures."""

    look: Callable[[ImageArray], Rows]
    seconds: list[float] = field(default_factory=list)
    pictures: list[Scored] = field(default_factory=list)

    def line(self, name: str, threads: int) -> str:
        """A row of the table."""
        result = score(self.pictures)
        return (
            f"| {name} | {threads} | {1000 * float(np.median(self.seconds)):.0f} | "
            f"{result.precision:.3f} | {result.recall:.3f} |"
        )


def recognisers(threads: int) -> dict[str, Callable[[ImageArray], Rows]]:
    """Ours, not told the size of the tiles like ``tablectl read``, and the peers."""
    ours = Detector(threads=threads, min_score=LISTED)
    return {
        "tablectl": lambda image: rows_of(ours.detect(image)).tolist(),
        MahjongDetector.name: MahjongDetector(threads),
        UltralyticsPredict.name: UltralyticsPredict(threads),
    }


Picture = tuple[ImageArray, Callable[[Rows], Scored]]
"""A picture, and what sets finds in it beside the truth."""


def photographs(photos: list[Photo]) -> Iterator[Picture]:
    """Photographs with their reviewed labels."""
    for photo in photos:
        image = photo.read()
        size = (image.shape[1], image.shape[0])
        whole, extra = with_whole_flowers(photo, size), unlabelled_areas(photo.path.stem)
        yield image, partial(scored, whole, size=size, extra=extra)


def tables(count: int, seed: int) -> Iterator[Picture]:
    """Rendered tables in looks that training never saw."""
    geometry = TableGeometry()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        renderer = Renderer(styled(rng, None, None), geometry, SIZE)
        scene = random_scene(geometry, rng)
        truths = renderer.truth(scene)

        def beside(rows: Rows, truths: list[TileTruth] = truths) -> Scored:
            return against_truth("", truths, np.array(rows, np.float64).reshape(-1, 6), SIZE)

        yield np.asarray(renderer.render(scene), np.uint8), beside


def measure(kind: str, pictures: Iterable[Picture], threads: int, *, windows: bool) -> None:
    """Print a row for each recogniser; ``windows``: the peers look through windows."""
    columns = {name: Column(look) for name, look in recognisers(threads).items()}
    for number, (image, beside) in enumerate(pictures):
        for name, column in columns.items():
            look = column.look
            if windows and name != "tablectl":
                look = partial(in_windows, column.look)
            if number == 0:
                look(image)  # warms up
            began = time.perf_counter()
            rows = look(image)
            column.seconds.append(time.perf_counter() - began)
            column.pictures.append(beside(rows))
    for name, column in columns.items():
        print(f"| {kind} {column.line(name, threads)}", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--every", type=int, default=4, help="only every n-th photograph")
    parser.add_argument("--tables", type=int, default=6, help="rendered ones")
    parser.add_argument("--seed", type=int, default=77)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    photos = load_split(options.photos, "val")[:: options.every]
    print("| pictures | recogniser | threads | ms a picture, median | precision | recall |")
    print("| --- | --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        measure("photographs", photographs(photos), threads, windows=False)
        drawn = tables(options.tables, options.seed)
        measure("rendered tables, 1080p", drawn, threads, windows=True)


if __name__ == "__main__":
    main()
