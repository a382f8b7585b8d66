"""Fit the calibration on held-out training photographs: ``python -m vision.training.calibrate``.

The reader never trained on these pictures (``is_held_out``); the finder did. Temperature minimises
the log loss of the names; slope and offset make the finder's score the chance that there is a tile.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.detector import Detector
from vision.detector.crops import cut_crops

from .sources import Photo, iou_matrix, is_held_out, load_split

Floats = npt.NDArray[np.float64]


def collect(detector: Detector, photos: list[Photo]) -> tuple[Floats, Floats, Floats, Floats]:
    """Reader logits (N, 43) and classes (N,) of found tiles; finder logits (M,) and truth (M,)."""
    logits: list[Floats] = []
    classes: list[Floats] = []
    scores: list[Floats] = []
    truths: list[Floats] = []
    for photo in photos:
        image = photo.read()
        scale = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
        boxes, raw = detector.find_photo(image)
        iou = iou_matrix(boxes, photo.boxes * scale)
        best = iou.max(axis=1, initial=0.0)
        hit = best >= 0.5
        if hit.any():
            chosen = boxes[hit]
            out = detector.raw_reader(cut_crops(image, [tuple(map(float, b)) for b in chosen]))
            logits.append(out[:, :43].astype(np.float64))
            classes.append(photo.classes[iou[hit].argmax(axis=1)].astype(np.float64))
        if not photo.partial:
            safe = np.clip(raw.astype(np.float64), 1e-6, 1 - 1e-6)
            scores.append(np.log(safe / (1 - safe)))
            truths.append(hit.astype(np.float64))
    return tuple(np.concatenate(part) for part in (logits, classes, scores, truths))  # type: ignore[return-value]


def fit_temperature(logits: Floats, classes: Floats) -> float:
    """The divisor of the logits with the least log loss, by a fine search."""

    def loss(temperature: float) -> float:
        scaled = logits / temperature
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        normal = np.log(np.exp(scaled).sum(axis=1))
        return float(np.mean(normal - scaled[np.arange(len(classes)), classes.astype(int)]))

    return float(min(np.geomspace(0.3, 4, 120), key=loss))


def fit_logistic(x: Floats, y: Floats, rounds: int = 60) -> tuple[float, float]:
    """Slope and offset of P(y) = sigmoid(slope * x + offset), by Newton steps with a weak prior."""
    theta = np.array([1.0, 0.0])
    design = np.stack([x, np.ones_like(x)], axis=1)
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(design @ theta, -30, 30)))
        gradient = design.T @ (p - y) + (theta - [1.0, 0.0])
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.eye(2)
        theta = theta - np.linalg.solve(hessian, gradient)
    return float(theta[0]), float(theta[1])


def expected_error(confidence: Floats, right: Floats, bins: int = 15) -> float:
    """Expected calibration error over equal-width bins."""
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    total = 0.0
    for index in range(bins):
        inside = place == index
        if inside.any():
            total += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    return float(total)


def main() -> None:
    """Command line: fits and writes ``tiles.json`` in the weights folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--weights", type=Path, default=Path("models"))
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=0.05)
    photos = [photo for photo in load_split(options.photos, "train") if is_held_out(photo)]
    logits, classes, scores, truths = collect(detector, photos)
    temperature = fit_temperature(logits, classes)
    slope, offset = fit_logistic(scores, truths)
    power = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    chance = power / power.sum(axis=1, keepdims=True)
    right = (chance.argmax(axis=1) == classes).astype(np.float64)
    print(
        f"{len(photos)} pictures, {len(classes)} tiles: read right {right.mean():.4f}, "
        f"temperature {temperature:.3f}, "
        f"calibration error {expected_error(chance.max(axis=1), right):.4f}; "
        f"finder score: slope {slope:.3f}, offset {offset:.3f} from {len(truths)} finds"
    )
    path = options.weights / "tiles.json"
    manifest = json.loads(path.read_text())
    manifest["temperature"] = round(temperature, 4)
    manifest["score_calibration"] = {"slope": round(slope, 4), "offset": round(offset, 4)}
    path.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
