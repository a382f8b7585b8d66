"""Score the recogniser on rendered tables that training never saw.

``python -m vision.training.evaluate_scenes --count 20`` renders random tables with the *test* split
of :mod:`vision.render` (the project's own faces, other felts and lamps), reads them at native scale
as the daemon does, and prints the figures of :mod:`vision.training.metrics` plus the error of the
rotation and the calibration of the confidence.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from tablectl.tiles import BACK, Tile, format_tile
from vision.detector import Detection, Detector
from vision.geometry import TableGeometry
from vision.render.renderer import Renderer, TileTruth
from vision.render.style import Style

from .calibrate import expected_error
from .crops import HALF_TURN_SYMMETRIC
from .evaluate import report
from .metrics import Scored, forgive, score
from .scenes import MIN_VISIBLE, random_scene
from .sources import iou_matrix


@dataclass
class Tally:
    """Sums over pictures."""

    pictures: list[Scored] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    misread: Counter[tuple[str, str]] = field(default_factory=Counter)


def add_picture(
    tally: Tally, name: str, truths: list[TileTruth], found: list[Detection], size: tuple[int, int]
) -> None:
    """Compare one picture's detections with the renderer's truth."""
    clear = [t for t in truths if t.visible >= MIN_VISIBLE]
    hidden = [t.box for t in truths if t.visible < MIN_VISIBLE]
    truth = np.array([[t.tile, *t.box] for t in clear], np.float64).reshape(-1, 5)
    rows = np.array([[d.tile, d.confidence, *d.box] for d in found], np.float64).reshape(-1, 6)
    ignored = np.array(hidden, np.float64).reshape(-1, 4)
    tally.pictures.append(Scored(name, truth, forgive(rows, truth, ignored, *size)))
    iou = iou_matrix(rows[:, 2:], truth[:, 1:])
    for number, seen in enumerate(found):
        if not len(truth) or iou[number].max() < 0.5:
            continue
        wanted = clear[int(iou[number].argmax())]
        same = seen.tile == wanted.tile
        tally.confidences.append(max(seen.probabilities))
        tally.right.append(float(same))
        if not same:
            tally.misread[format_tile(wanted.tile), format_tile(seen.tile)] += 1
        elif wanted.tile != BACK and int(wanted.tile) not in HALF_TURN_SYMMETRIC:
            off = (seen.rotation - wanted.rotation_deg + 180) % 360 - 180
            tally.turns.append(abs(off))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--min-score", type=float, default=0.25)
    parser.add_argument("--draw", type=Path, help="folder for pictures with boxes drawn")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=options.min_score)
    geometry = TableGeometry()
    tally = Tally()
    for number in range(options.count):
        rng = np.random.default_rng([options.seed, number])
        renderer = Renderer(Style.random(rng, "test"), geometry, (1920, 1080))
        scene = random_scene(geometry, rng)
        image = renderer.render(scene)
        found = detector.detect(image, tile_px=renderer.tile_px)
        add_picture(tally, f"scene__{number}", renderer.truth(scene), found, (1920, 1080))
        if options.draw:
            _draw(options.draw / f"{number:03d}.png", np.asarray(image), found)
    result = score(tally.pictures)
    report("rendered, test split", result)
    turns = np.array(tally.turns)
    print(
        f"rotation of {len(turns)} faces: median error {np.median(turns):.1f} deg, "
        f"{(turns < 15).mean():.3f} within 15 deg, {(turns > 90).mean():.4f} upside down"
    )
    error = expected_error(np.array(tally.confidences), np.array(tally.right))
    print(f"calibration error of the names {error:.4f}, read right {np.mean(tally.right):.4f}")
    worst = sorted(result.ap50.items(), key=lambda item: item[1])[:12]
    print("worst classes:", "  ".join(f"{name} {value:.2f}" for name, value in worst))
    listed = tally.misread.most_common(15)
    print("confusions:", "  ".join(f"{a}->{b} {n}" for (a, b), n in listed))


def _draw(
    path: Path, image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], found: list[Detection]
) -> None:
    canvas = image.copy()
    for seen in found:
        x1, y1, x2, y2 = (round(v) for v in seen.box)
        cv2.rectangle(canvas, (x1, y1), (x2, y2), (0, 0, 255), 1)
        name = format_tile(Tile(seen.tile))
        cv2.putText(canvas, name, (x1, y1 + 9), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 0, 255), 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), canvas)


if __name__ == "__main__":
    main()
