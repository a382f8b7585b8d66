"""Is a calibration good, and does it still hold for the picture at hand?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from vision.calibration import Calibration, CalibrationError
from vision.calibration_fit import find_markers_near
from vision.calibration_outline import lies_elsewhere
from vision.calibration_shift import find_patch
from vision.messages import CameraState
from vision.sources.frame import Image

DARK_LEVEL: Final = 18.0
"""Mean grey (0 to 255) over the felt below which tiles can't be read."""
GOOD_TILE_PX: Final = 28.0
POOR_TILE_PX: Final = 16.0
_MOVED_TILES: Final = 0.12


@dataclass(frozen=True)
class CalibrationCheck:
    """What a picture says about a calibration.

    Attributes:
        state: FINE, MOVED, WRONG_SIZE or DARK.
        shift_px: how far the camera's view has moved; ``None`` when it can't be told.
        remedy: one sentence, empty when fine.
    """

    state: CameraState
    shift_px: float | None
    remedy: str = ""


@dataclass(frozen=True)
class CalibrationScore:
    """How good a calibration is for reading tiles.

    Attributes:
        score: 0 (useless) to 100.
        tile_px: smallest width of a tile anywhere on the felt, px.
        notes: what costs points and what to do, worst first.
    """

    score: int
    tile_px: float
    notes: tuple[str, ...]


def check_calibration(calibration: Calibration, image: Image) -> CalibrationCheck:
    """Compare a picture with what the calibration was made from."""
    size = (image.shape[1], image.shape[0])
    if size != calibration.image_size:
        want = "x".join(map(str, calibration.image_size))
        return CalibrationCheck(
            CameraState.WRONG_SIZE,
            None,
            f"The camera gives {size[0]}x{size[1]} pictures but was calibrated with {want}: set "
            f"the size to {want}, or calibrate again.",
        )
    if felt_brightness(calibration, image) < DARK_LEVEL:
        return CalibrationCheck(
            CameraState.DARK, None, "The table is dark: switch on a lamp or open the lens cover."
        )
    shift = view_shift(calibration, image)
    limit = max(2.5, _MOVED_TILES * calibration.tile_px())
    if shift is not None and shift > limit:
        return CalibrationCheck(
            CameraState.MOVED,
            shift,
            f"The camera has moved by about {shift:.0f} px: fix it in place, then calibrate on the "
            "display's page #calibrate or with `tablectl calibrate`.",
        )
    if shift is None and lies_elsewhere(calibration, image):
        return CalibrationCheck(
            CameraState.MOVED,
            None,
            "The felt is not where it was: the camera has moved far. Fix it in place, then "
            "calibrate on the display's page #calibrate or with `tablectl calibrate`.",
        )
    return CalibrationCheck(CameraState.FINE, shift)


def felt_brightness(calibration: Calibration, image: Image) -> float:
    """Mean grey over the felt, 0 to 255, from a coarse sample."""
    step = 8
    small = image[::step, ::step].mean(axis=2)
    mask = np.zeros(small.shape, np.uint8)
    cv2.fillConvexPoly(mask, (calibration.felt_outline / step).astype(np.int32), 1)
    return float(small[mask > 0].mean()) if mask.any() else float(small.mean())


def view_shift(calibration: Calibration, image: Image) -> float | None:
    """Median shift in px of what should stand still; ``None`` when too little of it is seen."""
    if calibration.marks:
        near = find_markers_near(image, calibration.marks)
        shifts = [
            float(np.linalg.norm(near[i] - np.array(four), axis=1).mean())
            for i, four in calibration.marks.items()
            if i in near
        ]
        if len(shifts) >= 3:
            return float(np.median(shifts))
    found = [find_patch(patch, image) for patch in calibration.patches]
    shifts = [patch.shift_px for patch in found if patch is not None]
    return float(np.median(shifts)) if len(shifts) >= 3 else None


def score_calibration(calibration: Calibration, image: Image | None = None) -> CalibrationScore:
    """Judge a calibration: tile size, error, whether the whole felt is seen, light."""
    h = calibration.half_mm * 0.95
    places = [(sx * h, sy * h) for sx in (-1, 0, 1) for sy in (-1, 0, 1)]
    tile_px = min(calibration.tile_px(x, y) for x, y in places)
    losses: list[tuple[float, str]] = []
    if tile_px < GOOD_TILE_PX:
        loss = min(1.0, (GOOD_TILE_PX - tile_px) / (GOOD_TILE_PX - POOR_TILE_PX) * 0.5)
        losses.append(
            (loss, f"tiles are {tile_px:.0f} px wide, {GOOD_TILE_PX:.0f} or more read best: "
             "lower the camera or use a larger picture")
        )  # fmt: skip
    error = calibration.reprojection_px / calibration.tile_px()
    if error > 0.02:
        losses.append(
            (min(0.5, error * 5), f"points are off by {calibration.reprojection_px:.1f} px: "
             "lay the markers flat, at the sheet's distances")
        )  # fmt: skip
    width, height = calibration.image_size
    outline = calibration.felt_outline
    if (outline < 0).any() or (outline > np.array([width, height])).any():
        losses.append((0.3, "a corner of the felt is not in the picture: raise or turn the camera"))
    if image is not None and felt_brightness(calibration, image) < 3 * DARK_LEVEL:
        losses.append((0.3, "the table is dim: more light makes tiles surer"))
    if not calibration.focal_known:
        losses.append((0.03, "camera height unknown: give --height in mm for exact places"))
    losses.sort(reverse=True)
    score = float(np.prod([1 - loss for loss, _ in losses])) if losses else 1.0
    return CalibrationScore(round(100 * score), tile_px, tuple(note for _, note in losses))


def tile_px_in(image: Image, calibration: Calibration) -> float:
    """Width in px of a tile in the middle of a picture by its camera's calibration.

    Raises:
        CalibrationError: the picture has another size than was calibrated.
    """
    if calibration.image_size != (image.shape[1], image.shape[0]):
        raise CalibrationError(check_calibration(calibration, image).remedy)
    return calibration.tile_px()
