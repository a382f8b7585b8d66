"""Score the recogniser on labelled photographs.

``python -m vision.training.evaluate --photos ../shared/data/photos --split val --out runs/eval``
writes ``predictions.json`` (the form that ``../shared/tools/eval_detector.py`` reads), a ``labels``
and an ``images`` folder of links to the pictures of the split for that tool, and ``score.json``;
prints the figures.
The labels of the validation split are flawed in two ways, seen by looking at every picture: nine
pictures box flowers round the numeral and character only (72 labels), and seventeen show face-up
tiles or backs that have no label (areas in ``unlabelled.json``). So there are two figures:
*as labelled*, which is what the shared tool gives, and *reviewed*, with the flowers boxed round the
whole face (``val_flowers.json``, drawn from the pictures, not from what a detector found) and the
unlabelled areas ignored (``score_reviewed.json``).
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tablectl.tiles import parse_tile
from vision.detector import Detector
from vision.read import LISTED, tiles_of

from .calibrate import expected_error
from .metrics import Score, Scored, forgive, score
from .sources import (
    FIRST_FLOWER,
    Photo,
    has_flawed_flowers,
    iou_matrix,
    load_split,
    unlabelled_areas,
)

WHOLE_FLOWERS = Path(__file__).with_name("val_flowers.json")
"""Boxes (tile, x1, y1, x2, y2 px) of the flowers of nine pictures, by stem."""

ASKING = 0.97
"""Confidence from which the referee believes a tile without asking (``tablectl.referee``)."""

FLOWERS_END = 42
"""Class index after 8f."""

PREDICTION_FLOOR = 0.05
"""Finder score from which predictions count towards the precision-recall curve."""


def predict(detector: Detector, photo: Photo) -> tuple[list[list[float]], tuple[int, int]]:
    """Rows class, confidence, x1, y1, x2, y2 and the picture's width and height."""
    image = photo.read()
    rows = [
        [float(found.tile), round(found.confidence, 5), *(round(v, 2) for v in found.box)]
        for found in tiles_of(image, detector)
    ]
    return rows, (image.shape[1], image.shape[0])


def scored(photo: Photo, rows: list[list[float]], size: tuple[int, int], extra: Any) -> Scored:
    """Labels beside predictions; ``extra`` areas (x1 y1 x2 y2 px) are ignored too."""
    scale = np.array([size[0], size[1]] * 2, np.float64)
    truth = np.concatenate([photo.classes[:, None].astype(np.float64), photo.boxes * scale], axis=1)
    found = np.array(rows, np.float64).reshape(-1, 6)
    ignored = np.concatenate([photo.ignored * scale, np.array(extra, np.float64).reshape(-1, 4)])
    return Scored(photo.path.name, truth, forgive(found, truth, ignored, *size))


def with_whole_flowers(photo: Photo, size: tuple[int, int]) -> Photo:
    """The photograph with the flawed boxes of its flowers replaced by boxes of the whole face.

    Raises:
        KeyError: nobody has drawn the boxes of this picture yet.
    """
    if not has_flawed_flowers(photo):
        return photo
    drawn: dict[str, list[tuple[str, float, float, float, float]]]
    drawn = json.loads(WHOLE_FLOWERS.read_text())
    rows = drawn[photo.path.stem]
    scale = np.array([size[0], size[1]] * 2, np.float32)
    boxes = np.array([row[1:] for row in rows], np.float32) / scale
    kinds = np.array([int(parse_tile(row[0])) for row in rows], np.int64)
    playing = photo.classes < FIRST_FLOWER
    return replace(
        photo,
        boxes=np.concatenate([photo.boxes[playing], boxes]),
        classes=np.concatenate([photo.classes[playing], kinds]),
    )


def flower_figures(pictures: list[Scored], confidence: float) -> str:
    """Precision and recall of flowers and seasons on their own."""
    only = []
    for picture in pictures:
        flowers = picture.truth[:, 0] >= FIRST_FLOWER
        iou = iou_matrix(picture.found[:, 2:], picture.truth[:, 1:])
        near = np.zeros(len(picture.found), np.bool_)
        if flowers.any() and len(picture.found):
            near = iou[:, flowers].max(axis=1) >= 0.5
        called = picture.found[:, 0] >= FIRST_FLOWER if len(picture.found) else near
        called = called & (picture.found[:, 0] < FLOWERS_END) if len(picture.found) else near
        only.append(Scored(picture.name, picture.truth[flowers], picture.found[near | called]))
    result = score(only, confidence)
    return (
        f"flowers and seasons: {result.tiles} tiles, precision {result.precision:.4f}, recall "
        f"{result.recall:.4f}, found {result.box_recall:.4f}, of those named right "
        f"{result.class_accuracy:.4f}"
    )


def report(name: str, result: Score) -> None:
    """One line of figures."""
    print(
        f"[{name}] images={result.images} tiles={result.tiles} mAP50={result.map50:.4f} "
        f"P={result.precision:.4f} R={result.recall:.4f} boxR={result.box_recall:.4f} "
        f"boxP={result.box_precision:.4f} class={result.class_accuracy:.4f} "
        f"perfect={result.images_perfect:.3f}"
    )


def best_possible(photo: Photo, size: tuple[int, int]) -> Scored:
    """What a faultless detector that boxes whole tiles gets from the labels as they are."""
    scale = np.array([size[0], size[1]] * 2, np.float64)
    rows = [[float(c), 1.0, *b] for c, b in zip(photo.classes, photo.boxes * scale, strict=True)]
    if has_flawed_flowers(photo):
        rows = [row for row in rows if row[0] < FIRST_FLOWER]
    return scored(photo, rows, size, [])


def calibration_figures(pictures: list[Scored], asking: float) -> str:
    """Calibration error of the confidence, and the share right where nobody is asked.

    Over detections that lie on a labelled tile or, not being one, would be believed.
    """
    sure: list[float] = []
    right: list[float] = []
    for picture in pictures:
        if not len(picture.found):
            continue
        iou = iou_matrix(picture.found[:, 2:], picture.truth[:, 1:])
        for number, row in enumerate(picture.found):
            column = int(iou[number].argmax()) if len(picture.truth) else -1
            hit = column >= 0 and iou[number, column] >= 0.5
            sure.append(float(row[1]))
            right.append(float(hit and picture.truth[column, 0] == row[0]))
    confidence, truth = np.array(sure), np.array(right)
    believed = confidence >= asking
    return (
        f"calibration error {expected_error(confidence, truth):.4f}; at confidence {asking} and "
        f"more: {believed.sum()} readings, {truth[believed].mean():.4f} of them right"
    )


def link_for_tool(photos: list[Photo], out: Path) -> None:
    """Folders ``images`` and ``labels`` of links, as the shared tool wants them."""
    for kind in ("images", "labels"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    for photo in photos:
        label = photo.path.parent.parent / "labels" / f"{photo.path.stem}.txt"
        for kind, path in (("images", photo.path), ("labels", label)):
            link = out / kind / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path.resolve())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--split", default="val")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/eval"))
    parser.add_argument("--every", type=int, default=1, help="only every n-th picture")
    parser.add_argument("--confidence", type=float, default=LISTED)
    parser.add_argument("--asking", type=float, default=ASKING, help="nobody is asked from here")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=PREDICTION_FLOOR)
    photos = load_split(options.photos, options.split)[:: options.every]
    predictions: dict[str, list[list[float]]] = {}
    pictures: list[Scored] = []
    reviewed: list[Scored] = []
    faultless: list[Scored] = []
    began = time.monotonic()
    for photo in photos:
        rows, size = predict(detector, photo)
        predictions[photo.path.name] = rows
        pictures.append(scored(photo, rows, size, []))
        faultless.append(best_possible(photo, size))
        extra = unlabelled_areas(photo.path.stem)
        whole = with_whole_flowers(photo, size) if options.split == "val" else photo
        reviewed.append(scored(whole, rows, size, extra))
    print(f"{(time.monotonic() - began) / len(photos) * 1000:.0f} ms a picture")
    link_for_tool(photos, options.out)
    (options.out / "predictions.json").write_text(json.dumps(predictions))
    total = score(pictures, options.confidence)
    (options.out / "score.json").write_text(json.dumps(total.as_dict(), indent=1))
    report("as labelled", total)
    playing = [value for name, value in total.ap50.items() if name[1] != "f"]
    print(
        f"  mean AP50 of suits and honours {np.mean(playing):.4f}; mAP50 of a faultless detector "
        f"of whole tiles on these labels {score(faultless).map50:.4f}"
    )
    better = score(reviewed, options.confidence)
    (options.out / "score_reviewed.json").write_text(json.dumps(better.as_dict(), indent=1))
    report("reviewed", better)
    print("  " + flower_figures(reviewed, options.confidence))
    print("  " + calibration_figures(reviewed, options.asking))
    for group in sorted({photo.group for photo in photos}):
        for kind, chosen in (("as labelled", pictures), ("reviewed", reviewed)):
            part = [p for p in chosen if p.name.startswith(f"{group}__")]
            report(f"{group}, {kind}", score(part, options.confidence))
    worst = sorted(better.ap50.items(), key=lambda item: item[1])[:12]
    print("worst classes:", "  ".join(f"{name} {value:.2f}" for name, value in worst))
    print("confusions:", "  ".join(f"{a}->{b} {n}" for a, b, n in better.confusions))


if __name__ == "__main__":
    main()
