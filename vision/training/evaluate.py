"""Score the recogniser on labelled photographs.

``python -m vision.training.evaluate --photos ../shared/data/photos --split val --out runs/eval``
writes ``predictions.json`` (the form that ``../shared/tools/eval_detector.py`` reads), a ``labels``
and an ``images`` folder of links to the pictures of the split for that tool, and ``score.json``;
prints the figures.
The labels of the validation split are flawed in two ways, seen by looking at every picture: nine
pictures box flowers round the numeral and character only (72 labels), and sixteen show face-up
tiles or backs that have no label (areas in ``val_unlabelled.json``). So there are two figures:
*as labelled*, which is what the shared tool gives, and *reviewed*, with both treated as areas to
ignore (``score_reviewed.json``).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.detector import Detector

from .metrics import Score, Scored, forgive, score
from .sources import (
    FIRST_FLOWER,
    Photo,
    has_flawed_flowers,
    load_split,
    without_flawed_flowers,
)

UNLABELLED = Path(__file__).with_name("val_unlabelled.json")

PREDICTION_FLOOR = 0.05
"""Finder score from which predictions count towards the precision-recall curve."""


def predict(detector: Detector, photo: Photo) -> tuple[list[list[float]], tuple[int, int]]:
    """Rows class, confidence, x1, y1, x2, y2 and the picture's width and height."""
    image = photo.read()
    rows = [
        [float(found.tile), round(found.confidence, 5), *(round(v, 2) for v in found.box)]
        for found in detector.detect(image)
    ]
    return rows, (image.shape[1], image.shape[0])


def scored(photo: Photo, rows: list[list[float]], size: tuple[int, int], extra: Any) -> Scored:
    """Labels beside predictions; ``extra`` areas (x1 y1 x2 y2 px) are ignored too."""
    scale = np.array([size[0], size[1]] * 2, np.float64)
    truth = np.concatenate([photo.classes[:, None].astype(np.float64), photo.boxes * scale], axis=1)
    found = np.array(rows, np.float64).reshape(-1, 6)
    ignored = np.concatenate([photo.ignored * scale, np.array(extra, np.float64).reshape(-1, 4)])
    return Scored(photo.path.name, truth, forgive(found, truth, ignored, *size))


def unlabelled_areas(stem: str) -> list[list[float]]:
    """Areas (px) of unlabelled tiles in a validation picture, by the start of its name."""
    areas: dict[str, list[list[float]]] = json.loads(UNLABELLED.read_text())
    return [area for start, listed in areas.items() if stem.startswith(start) for area in listed]


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
    parser.add_argument("--confidence", type=float, default=0.25)
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
        reviewed.append(scored(without_flawed_flowers(photo), rows, size, extra))
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
    for group in sorted({photo.group for photo in photos}):
        for kind, chosen in (("as labelled", pictures), ("reviewed", reviewed)):
            part = [p for p in chosen if p.name.startswith(f"{group}__")]
            report(f"{group}, {kind}", score(part, options.confidence))
    worst = sorted(better.ap50.items(), key=lambda item: item[1])[:12]
    print("worst classes:", "  ".join(f"{name} {value:.2f}" for name, value in worst))
    print("confusions:", "  ".join(f"{a}->{b} {n}" for a, b, n in better.confusions))


if __name__ == "__main__":
    main()
