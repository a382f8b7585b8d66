"""Fit the calibration on pictures kept out of training: ``python -m vision.training.calibrate``.

The reader never trained on these photographs (``is_held_out``) nor on the made pictures of
``--scenes`` nor on these pictures without tiles (``--clutter``); the finder did train on the
photographs. The temperature minimises the log loss of the names; two slopes and an offset, for
printed and for plain finds, make of the finder's score and of the reader's "no tile" the chance
that there is a tile.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import NAMES
from vision.detector import Detector
from vision.detector.boxes import share_inside
from vision.detector.crops import Box
from vision.detector.detector import BLANK, NO_TILE, safe_logit

from .clutter import CALIBRATED_ON, TRAINED_ON, listed, pictures
from .sources import (
    FloatArray,
    ImageArray,
    PhotoSetError,
    iou_matrix,
    is_held_out,
    load_split,
    unlabelled_areas,
    without_flawed_flowers,
)

Floats = npt.NDArray[np.float64]
CLASSES = 43
MOST_FALSE = 40
"""Finds on no tile of one picture: a chequered cloth alone would have as many as all others."""


@dataclass
class Evidence:
    """What was found: for each find the two scores and the truth, for each tile its logits."""

    logits: list[Floats] = field(default_factory=list)
    classes: list[Floats] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    outputs: list[Floats] = field(default_factory=list)
    truths: list[Floats] = field(default_factory=list)

    def add(
        self,
        detector: Detector,
        image: ImageArray,
        finds: tuple[FloatArray, FloatArray],
        tiles: tuple[FloatArray, npt.NDArray[np.int64]],
        hidden: FloatArray,
        complete: bool,
    ) -> None:
        """Finds (boxes, raw scores) of one picture against its tiles (boxes, classes).

        Finds in ``hidden`` areas and on no tile count for nothing; without ``complete`` labels only
        finds on labelled tiles count.
        """
        boxes, raw = finds
        if len(boxes) == 0:
            return
        plain: list[Box] = [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes]
        out = detector.raw_reader(detector.crops(image, plain))
        iou = iou_matrix(boxes, tiles[0])
        hit = iou.max(axis=1, initial=0.0) >= 0.5
        if hit.any():
            self.logits.append(out[hit, :CLASSES].astype(np.float64))
            self.classes.append(tiles[1][iou[hit].argmax(axis=1)].astype(np.float64))
        if complete:
            clear = hit | np.array([share_inside(box, hidden) <= 0.4 for box in boxes])
            wrong = np.flatnonzero(clear & ~hit)
            clear[wrong] = False
            clear[wrong[:: 1 + len(wrong) // MOST_FALSE]] = True
            self.scores.append(raw[clear].astype(np.float64))
            self.outputs.append(out[clear, : NO_TILE + 1].astype(np.float64))
            self.truths.append(hit[clear].astype(np.float64))


def add_photographs(evidence: Evidence, detector: Detector, folder: Path) -> int:
    """Held-out training photographs; returns their number."""
    photos = [photo for photo in load_split(folder, "train") if is_held_out(photo)]
    for photo in map(without_flawed_flowers, photos):
        image = photo.read()
        scale = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
        tiles = (photo.boxes * scale, photo.classes)
        finds = detector.find_photo(image)
        unlabelled = np.array(unlabelled_areas(photo.path.stem), np.float32).reshape(-1, 4)
        hidden = np.concatenate([photo.ignored * scale, unlabelled])
        evidence.add(detector, image, finds, tiles, hidden, not photo.partial)
    return len(photos)


def add_scenes(evidence: Evidence, detector: Detector, folder: Path) -> int:
    """Made pictures that training never saw; returns their number."""
    pictures = sorted(folder.glob("*.jpg"))
    names = {name: index for index, name in enumerate((*NAMES, "back"))}
    for picture in pictures:
        image = cv2.imread(str(picture))
        if image is None:
            raise PhotoSetError(f"{picture}: not a readable picture")
        rows = json.loads(picture.with_suffix(".json").read_text())
        quads = np.array([row["quad"] for row in rows], np.float32).reshape(-1, 4, 2)
        boxes = np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1)
        hidden = np.array([row.get("ignore", False) for row in rows], np.bool_)
        classes = np.array([names[row["tile"]] for row in rows], np.int64)
        view = np.asarray(image, np.uint8)
        tiles = (boxes[~hidden], classes[~hidden])
        evidence.add(detector, view, detector.find_table(view), tiles, boxes[hidden], True)
    return len(pictures)


def add_clutter(evidence: Evidence, detector: Detector, folders: list[Path]) -> int:
    """Pictures without tiles that training never saw; returns their number."""
    shown = list(pictures(listed(folders)[TRAINED_ON : TRAINED_ON + CALIBRATED_ON]))
    nothing = np.zeros((0, 4), np.float32), np.zeros(0, np.int64)
    for image in shown:
        finds = detector.find_photo(image)
        evidence.add(detector, image, finds, nothing, nothing[0], True)
    return len(shown)


def fit_temperature(logits: Floats, classes: Floats) -> float:
    """The divisor of the logits with the least log loss, by a fine search."""

    def loss(temperature: float) -> float:
        scaled = logits / temperature
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        normal = np.log(np.exp(scaled).sum(axis=1))
        return float(np.mean(normal - scaled[np.arange(len(classes)), classes.astype(int)]))

    return float(min(np.geomspace(0.3, 4, 120), key=loss))


def fit_logistic(features: Floats, truths: Floats, rounds: int = 40) -> Floats:
    """Weights of the columns of ``features`` and, last, the offset, of P = sigmoid(...).

    Newton steps, halved until they help, with a weak pull towards slopes of one.
    """
    design = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    prior = np.ones(design.shape[1])
    prior[-1] = 0

    def loss(theta: Floats) -> float:
        logit = design @ theta
        misfit = np.logaddexp(0, logit) - truths * logit
        return float(misfit.sum() + np.square(theta - prior).sum() / 2)

    theta = prior.copy()
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(design @ theta, -30, 30)))
        gradient = design.T @ (p - truths) + (theta - prior)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        while loss(theta - step) > loss(theta) and np.abs(step).max() > 1e-9:
            step = step / 2
        theta = theta - step
    return theta


def expected_error(confidence: Floats, right: Floats, bins: int = 15) -> float:
    """Expected calibration error over equal-width bins."""
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    total = 0.0
    for index in range(bins):
        inside = place == index
        if inside.any():
            total += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    return float(total)


def softmax(logits: Floats) -> Floats:
    """Probabilities by row."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    chance: Floats = power / power.sum(axis=1, keepdims=True)
    return chance


def fit_scores(evidence: Evidence, temperature: float) -> dict[str, dict[str, float]]:
    """What scores mean, for printed and for plain finds, as ``tiles.json`` has it."""
    outputs = softmax(np.concatenate(evidence.outputs) / temperature)
    scores = safe_logit(np.concatenate(evidence.scores))
    tile = safe_logit(1 - outputs[:, NO_TILE])
    truths = np.concatenate(evidence.truths)
    plain = np.isin(outputs[:, :CLASSES].argmax(axis=1), BLANK)
    fits = {}
    for name, chosen in (("printed", ~plain), ("plain", plain)):
        features = np.stack([scores[chosen], tile[chosen]], axis=1)
        finder, reader, offset = (float(v) for v in fit_logistic(features, truths[chosen]))
        fitted = 1 / (1 + np.exp(-(features @ [finder, reader] + offset)))
        print(
            f"{name}: {finder:.3f} finder + {reader:.3f} reader + {offset:.3f} from {chosen.sum()} "
            f"finds, calibration error {expected_error(fitted, truths[chosen]):.4f}, wrong at 0.5 "
            f"{((fitted > 0.5) != (truths[chosen] > 0.5)).mean():.4f}"
        )
        fits[name] = {
            "finder": round(finder, 4), "reader": round(reader, 4), "offset": round(offset, 4)
        }  # fmt: skip
    return fits


def main() -> None:
    """Command line: fits and writes ``tiles.json`` in the weights folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument(
        "--scenes", type=Path, nargs="*", default=[], help="made pictures that training never saw"
    )
    parser.add_argument("--weights", type=Path, default=Path("models"))
    parser.add_argument(
        "--clutter", type=Path, nargs="*", default=[], help="folders of pictures without tiles"
    )
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=0.05)
    evidence = Evidence()
    count = add_photographs(evidence, detector, options.photos)
    for folder in options.scenes:
        count += add_scenes(evidence, detector, folder)
    count += add_clutter(evidence, detector, options.clutter)
    logits, classes = np.concatenate(evidence.logits), np.concatenate(evidence.classes)
    temperature = fit_temperature(logits, classes)
    chance = softmax(logits / temperature)
    right = (chance.argmax(axis=1) == classes).astype(np.float64)
    print(
        f"{count} pictures, {len(classes)} tiles: read right {right.mean():.4f}, "
        f"temperature {temperature:.3f}, "
        f"calibration error {expected_error(chance.max(axis=1), right):.4f}"
    )
    path = options.weights / "tiles.json"
    manifest = json.loads(path.read_text())
    manifest["temperature"] = round(temperature, 4)
    manifest["score_calibration"] = fit_scores(evidence, temperature)
    path.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
