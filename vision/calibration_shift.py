"""Going on with a camera that was bumped: the new view from the markers or the felt's corners."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from vision.calibration import Array, Calibration, CalibrationError, Lens
from vision.calibration_fit import PATCH_PX, calibrate_from_markers, find_markers, with_patches
from vision.geometry import TableGeometry
from vision.sources.frame import Image

SEARCH_PX: Final = 60
"""How far a remembered corner of the felt is looked for."""
ALIKE: Final = 0.6
"""Correlation from which something looks like a remembered corner."""
_SURE: Final = 0.72
"""The same for going on without asking."""
_FITS_PX: Final = 1.0
"""Error up to which four corners agree on one new place of the camera."""


@dataclass(frozen=True)
class PatchFound:
    """A remembered patch in a new picture.

    Attributes:
        was, now: its centre, px.
        score: correlation, at most 1.
    """

    was: tuple[float, float]
    now: tuple[float, float]
    score: float

    @property
    def shift_px(self) -> float:
        """How far it has moved."""
        return float(np.hypot(self.now[0] - self.was[0], self.now[1] - self.was[1]))


def find_patch(patch: tuple[float, float, str], image: Image) -> PatchFound | None:
    """Look for a patch near its place; None when nothing there looks like it."""
    x, y, data = patch
    template = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_GRAYSCALE)
    if template is None or template.std() < 3:
        return None
    reach = PATCH_PX // 2 + SEARCH_PX
    left, top = max(0, int(x) - reach), max(0, int(y) - reach)
    window = image[top : int(y) + reach, left : int(x) + reach]
    if window.shape[0] < PATCH_PX or window.shape[1] < PATCH_PX:
        return None
    scores = cv2.matchTemplate(
        cv2.cvtColor(window, cv2.COLOR_BGR2GRAY), template, cv2.TM_CCOEFF_NORMED
    )
    _, best, _, (bx, by) = cv2.minMaxLoc(scores)
    if best < ALIKE:
        return None
    across, down = (np.asarray(row, dtype=float) for row in (scores[by], scores[:, bx]))
    fx, fy = _between(across, bx), _between(down, by)
    half = PATCH_PX // 2
    return PatchFound((x, y), (left + bx + fx + half, top + by + fy + half), float(best))


def _between(scores: Array, at: int) -> float:
    """Fraction of a pixel by which the peak lies beside its highest sample (parabola)."""
    if not 0 < at < len(scores) - 1:
        return 0.0
    left, middle, right = (float(v) for v in scores[at - 1 : at + 2])
    curve = left - 2 * middle + right
    return 0.0 if curve > -1e-9 else float(np.clip((left - right) / (2 * curve), -0.5, 0.5))


def realign(calibration: Calibration, image: Image, geometry: TableGeometry) -> Calibration:
    """A new calibration for a camera that was bumped, keeping its lens.

    From the printed markers where all four lie there, else from the felt's four corners.

    Raises:
        CalibrationError: it can't be told with certainty where the camera is now.
    """
    if len(find_markers(image)) == 4:
        again = calibrate_from_markers(
            image, geometry, focal_px=calibration.focal_px, k1=calibration.k1, k2=calibration.k2
        )
        return again.model_copy(update={"focal_known": calibration.focal_known})
    return _realign_from_patches(calibration, image)


def _realign_from_patches(calibration: Calibration, image: Image) -> Calibration:
    found = [find_patch(patch, image) for patch in calibration.patches]
    seen = [patch for patch in found if patch is not None and patch.score >= _SURE]
    if len(seen) < 4:
        raise CalibrationError(
            f"only {len(seen)} of the felt's 4 corners are recognised in the new view"
        )
    was = np.array([patch.was for patch in seen])
    now = np.array([patch.now for patch in seen])
    turn, error = _camera_turn(calibration, was, now)
    if error > _FITS_PX:
        raise CalibrationError(
            f"the felt's corners don't agree on one new place of the camera (error {error:.1f} px)"
        )
    to_px = turn @ np.linalg.inv(np.array(calibration.homography))
    inverse = np.linalg.inv(to_px)
    inverse /= inverse[2, 2]
    moved = calibration.model_copy(
        update={
            "homography": tuple(tuple(float(v) for v in row) for row in inverse),
            "marks": {},
            "reprojection_px": round(max(calibration.reprojection_px, error), 3),
        }
    )
    # A copy keeps what its original had worked out; a new one from the same values does not.
    return with_patches(Calibration.model_validate(moved.model_dump()), image)


def _camera_turn(calibration: Calibration, was: Array, now: Array) -> tuple[Array, float]:
    """How the view has changed, for a camera that moved as a whole.

    A camera has six ways to move and four corners give eight numbers, so wrong matches show.

    Args:
        calibration: from before.
        was, now: the same points of the felt in the old and the new picture, (n, 2) px.

    Returns:
        Homography (3, 3) from old to new undistorted px, and its error in px.
    """
    lens = Lens(calibration.image_size, calibration.k1, calibration.k2)
    focal, (cx, cy) = calibration.focal_px, lens.centre
    camera = np.array([[focal, 0, cx], [0, focal, cy], [0, 0, 1.0]])
    table = np.column_stack([calibration.to_table(was), np.zeros(len(was))])
    before, after = (_pose(table, lens.undistort(px), camera, calibration) for px in (was, now))
    turn = after @ np.linalg.inv(before)
    mapped = cv2.perspectiveTransform(lens.undistort(was).reshape(-1, 1, 2), turn)
    off = lens.distort(mapped.reshape(-1, 2).astype(float)) - now
    return turn, float(np.sqrt((off**2).sum(axis=1).mean()))


def _pose(table: Array, ideal_px: Array, camera: Array, calibration: Calibration) -> Array:
    """Homography (3, 3) from table mm to undistorted px of the camera pose that fits best."""
    rotation, shift = calibration.pose
    # OpenCV's third axis points into the table, ours up.
    guess = np.column_stack([rotation[:, 0], rotation[:, 1], -rotation[:, 2]])
    turned, _ = cv2.Rodrigues(guess)
    done, turned, moved = cv2.solvePnP(
        table, ideal_px, camera, None, turned, shift.reshape(3, 1).copy(), True,
        cv2.SOLVEPNP_ITERATIVE,
    )  # fmt: skip
    if not done:
        raise CalibrationError("no place of the camera fits the felt's corners")
    axes, _ = cv2.Rodrigues(turned)
    plane = np.column_stack([axes[:, 0], axes[:, 1], np.ravel(moved)])
    result: Array = camera @ plane
    return result
