"""Accuracy by disturbance: ``python -m vision.training.robustness --frames 4``.

The same rendered tables (test split: artwork, felts and lamps that training never saw; with
``--sets`` other unseen artwork in turn) are spoilt in steps, one disturbance at a time, and read.
Prints a Markdown table: share of the tiles found, share read exactly right (found and named), and
precision of the readings at the confidence asked for. Tilt and tile width move the camera, so the
tables are rendered anew for them; everything else changes the same pictures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.art.sets import load_art
from vision.detector import Detector
from vision.geometry import TableGeometry
from vision.read import LISTED
from vision.render.renderer import Renderer, TileTruth
from vision.render.scene import Scene
from vision.render.style import Style

from .evaluate_scenes import against_truth, rows_of
from .metrics import Scored, score
from .scenes import random_scene
from .sources import FloatArray, ImageArray

SIZE: Final = (1080, 1080)
Spoil = Callable[[ImageArray, float], ImageArray]


def _clipped(work: FloatArray) -> ImageArray:
    return np.clip(work, 0, 255).astype(np.uint8)


def exposure(image: ImageArray, gain: float) -> ImageArray:
    """All light times ``gain``."""
    return _clipped(image * gain)


def white_balance(image: ImageArray, warm: float) -> ImageArray:
    """Red times 1 + ``warm``, blue times 1 - ``warm``."""
    return _clipped(image * np.array([1 - warm, 1.0, 1 + warm]))


def blur(image: ImageArray, sigma: float) -> ImageArray:
    """Defocus: a Gaussian of ``sigma`` px."""
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.uint8)


def motion(image: ImageArray, length: float) -> ImageArray:
    """A slanting smear of ``length`` px."""
    side = int(length) | 1
    kernel = np.zeros((side, side), np.float32)
    cv2.line(kernel, (0, side - 1), (side - 1, 0), 1.0)
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.uint8)


def noise(image: ImageArray, sigma: float) -> ImageArray:
    """Sensor noise of ``sigma`` levels."""
    rng = np.random.default_rng(4)
    return _clipped(image + rng.normal(0, sigma, image.shape))


def jpeg(image: ImageArray, quality: float) -> ImageArray:
    """Saved and loaded as JPEG."""
    data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def shadow(image: ImageArray, left: float) -> ImageArray:
    """Half of the table in a shadow that leaves ``left`` of the light."""
    ramp = np.clip((np.arange(image.shape[1]) / image.shape[1] - 0.45) * 10, 0, 1)
    return _clipped(image * (left + (1 - left) * ramp)[None, :, None])


def glare(image: ImageArray, light: float) -> ImageArray:
    """Nine lamps mirrored: soft spots that add ``light`` levels in their middle."""
    y, x = np.mgrid[0 : image.shape[0], 0 : image.shape[1]].astype(np.float32)
    spots = np.zeros(image.shape[:2], np.float32)
    for row in (0.2, 0.5, 0.8):
        for column in (0.2, 0.5, 0.8):
            away = np.hypot(x - column * image.shape[1], y - row * image.shape[0])
            spots = np.maximum(spots, np.exp(-((away / 95) ** 2)))
    return _clipped(image + light * spots[:, :, None])


SPOILERS: Final[tuple[tuple[str, str, Spoil, tuple[float, ...]], ...]] = (
    ("exposure", "x", exposure, (0.2, 0.35, 0.6, 1.4, 1.8)),
    ("white balance", "", white_balance, (-0.3, -0.15, 0.15, 0.3)),
    ("defocus", " px", blur, (0.7, 1.2, 2.0, 3.0)),
    ("motion", " px", motion, (3, 5, 9)),
    ("noise", "", noise, (5, 12, 25)),
    ("JPEG quality", "", jpeg, (70, 40, 20)),
    ("shadow, light left", "", shadow, (0.6, 0.4, 0.25)),
    ("glare", "", glare, (50, 100, 180)),
)
TILTS: Final = (10.0, 20.0, 30.0, 45.0)
WIDTHS: Final = (16.0, 22.0, 30.0, 44.0)


@dataclass(frozen=True)
class Frame:
    """A rendered table with its truth; ``tile_px`` is what a calibrated table would know."""

    image: ImageArray
    truths: tuple[TileTruth, ...]
    tile_px: float


def render(scene: Scene, style: Style, tile_px: float | None, tilt: float | None) -> Frame:
    """The scene through the style's camera, moved where ``tile_px`` or ``tilt`` says so."""
    geometry = TableGeometry()
    camera = style.camera
    if tilt is not None:
        camera = replace(camera, tilt_deg=tilt, azimuth_deg=30.0, roll_deg=30.0)
    if tile_px is not None:
        camera = replace(camera, mm_per_px=geometry.tile_width_mm / tile_px)
    renderer = Renderer(replace(style, camera=camera), geometry, SIZE)
    image = np.asarray(renderer.render(scene), np.uint8)
    return Frame(image, tuple(renderer.truth(scene)), renderer.tile_px)


def compare(frame: Frame, image: ImageArray, detector: Detector) -> Scored:
    """What is read in ``image`` beside the truth of the frame."""
    found = detector.detect(image, tile_px=frame.tile_px)
    return against_truth("", frame.truths, rows_of(found), SIZE)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--frames", type=int, default=4)
    parser.add_argument("--seed", type=int, default=79)
    parser.add_argument("--confidence", type=float, default=0.5)
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of faces")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=LISTED)
    arts = [None, *(load_art(folder) for folder in options.sets)]
    tables: list[tuple[Scene, Style]] = []
    for number in range(options.frames):
        rng = np.random.default_rng([options.seed, number])
        style, art = Style.random(rng, "test"), arts[number % len(arts)]
        scene = random_scene(TableGeometry(), rng)
        tables.append((scene, replace(style, art=art) if art else style))

    def row(name: str, step: str, results: list[Scored]) -> None:
        total = score(results, options.confidence)
        print(
            f"| {name} | {step} | {total.tiles} | {total.box_recall:.3f} | {total.recall:.3f} | "
            f"{total.precision:.3f} |",
            flush=True,
        )

    print("| disturbance | step | tiles | found | read right | precision |")
    print("| --- | --- | --- | --- | --- | --- |")
    frames = [render(scene, style, None, None) for scene, style in tables]
    row("none", "", [compare(f, f.image, detector) for f in frames])
    for name, unit, spoil, steps in SPOILERS:
        for step in steps:
            results = [compare(f, spoil(f.image, step), detector) for f in frames]
            row(name, f"{step:g}{unit}", results)
    for tilt in TILTS:
        moved = [render(scene, style, None, tilt) for scene, style in tables]
        row("tilt", f"{tilt:g} deg", [compare(f, f.image, detector) for f in moved])
    for width in WIDTHS:
        moved = [render(scene, style, width, None) for scene, style in tables]
        row("tile width", f"{width:g} px", [compare(f, f.image, detector) for f in moved])


if __name__ == "__main__":
    main()
