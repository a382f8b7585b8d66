"""Measuring a calibration: from four printed markers or from four clicked corners.

Both use the felt's edges, where they can be seen, to measure the lens's distortion.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.calibration import (
    Array,
    Calibration,
    CalibrationError,
    Lens,
    pose_from_homography,
)
from vision.calibration_edges import corners_from_edges, fit_lens, trace_edges
from vision.calibration_outline import look_along
from vision.geometry import TableGeometry
from vision.picture_watch import PictureWatch
from vision.sources.frame import Image

USUAL_FIELD_OF_VIEW: Final = 66.0
"""Horizontal degrees of the usual Pi camera; used where nothing better is known."""
_MAX_REPROJECTION: Final = 0.08
"""Of a tile's width: more means a wrong marker, a bent sheet or a wrong corner."""
PATCH_PX: Final = 48
_GOLDEN: Final = (5**0.5 - 1) / 2
_LEAST_EDGES: Final = 2
"""Edges of the felt that must be followed before they say anything about the lens."""
_EDGES_MAY_COST_PX: Final = 0.4
"""By how much the markers may fit worse with the edges: cloth is not cut along a ruler."""
_REACH_OF_CLICKS: Final = (0.75, 0.35, 0.25)
"""How far, in tiles, the felt's edges are looked for around clicked corners, pass by pass."""
_SNAP_TILES: Final = 0.6
"""A corner is not moved further than this."""


@dataclass(frozen=True)
class _Fit:
    homography: Array
    k1: float
    k2: float
    error_px: float


def find_markers(image: Image) -> dict[int, Array]:
    """Corners (4, 2) in px of every printed marker 0 to 3 in a picture."""
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    found = _markers_in(grey, 1)
    if len(found) < 4:
        # Small markers are found only in an enlarged picture.
        found = _markers_in(grey, 2) | found
    return found | find_markers_near(image, found, reach=0.5)


def find_markers_near(
    image: Image, expected: Mapping[int, ArrayLike], reach: float = 1.5
) -> dict[int, Array]:
    """Like :func:`find_markers`, looking only about where markers were before.

    Args:
        image: (h, w, 3) BGR.
        expected: earlier corners, px, by id.
        reach: how far to look around a marker, in its own size.
    """
    found: dict[int, Array] = {}
    for marker, corners in expected.items():
        px = np.asarray(corners, dtype=float)
        low, high = px.min(axis=0), px.max(axis=0)
        margin = float((high - low).max()) * reach
        x1, y1 = np.maximum(low - margin, 0).astype(int)
        x2, y2 = (high + margin).astype(int)
        part = image[y1:y2, x1:x2]
        if part.shape[0] < 8 or part.shape[1] < 8:
            continue
        grey = np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        # Corners are measured best in an enlarged picture.
        inside = _markers_in(grey, 2)
        inside = inside if marker in inside else _markers_in(grey, 1)
        if marker in inside:
            found[marker] = inside[marker] + np.array([x1, y1])
    return found


def _markers_in(grey: NDArray[np.uint8], scale: int) -> dict[int, Array]:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    # The window must not reach beyond the outermost module.
    parameters.cornerRefinementWinSize = 5
    parameters.relativeCornerRefinmentWinSize = 0.6
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    picture = grey if scale == 1 else cv2.resize(
        grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC
    )  # fmt: skip
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(picture)
    found: dict[int, Array] = {}
    for marker, four in zip([] if ids is None else ids.ravel(), corners, strict=True):
        if 0 <= marker < 4:
            points = (np.asarray(four, dtype=float).reshape(4, 2) + 0.5) / scale - 0.5
            found.setdefault(int(marker), points)
    return found


def calibrate_from_markers(
    image: Image,
    geometry: TableGeometry,
    *,
    focal_px: float | None = None,
    camera_height_mm: float | None = None,
    k1: float | None = None,
    k2: float = 0.0,
) -> Calibration:
    """Calibrate from one picture in which the four printed markers lie at the felt's corners.

    Args:
        image: (h, w, 3) BGR, without hands over the markers.
        geometry: of the table.
        focal_px: where known.
        camera_height_mm: lens above felt by tape measure, instead of the focal length.
        k1, k2: where known; else measured, from the markers and the felt's edges.

    Raises:
        CalibrationError: a marker is missing or they don't lie as they should.
    """
    found = find_markers(image)
    missing = sorted({0, 1, 2, 3} - found.keys())
    if missing:
        raise CalibrationError(_missing_text(missing))
    layout = geometry.markers()
    ids = sorted(found)
    px = np.concatenate([found[i] for i in ids])
    mm = np.concatenate([np.array(layout[i]) for i in ids])
    size = (image.shape[1], image.shape[0])
    fit = _fit_lens(px, mm, size) if k1 is None else _fit_plane(px, mm, size, k1, k2)

    def finished(fit: _Fit) -> Calibration:
        return _finish(
            fit, size, geometry, "markers", focal_px=focal_px, height_mm=camera_height_mm,
            marks={i: found[i] for i in ids},
        )  # fmt: skip

    calibration = finished(fit)
    if k1 is None:
        better = _fit_with_edges(image, calibration, px, mm)
        if better is not None and better.error_px < fit.error_px + _EDGES_MAY_COST_PX:
            fit, calibration = better, finished(better)
    if fit.error_px > _MAX_REPROJECTION * calibration.tile_px():
        raise CalibrationError(
            f"the markers don't lie where they should (error {fit.error_px:.1f} px): put marker 0 "
            "top left, 1 top right, 2 bottom right, 3 bottom left as the sheet shows, flat, "
            f"{geometry.marker_inset_mm:.0f} mm from both edges, printed at 100 %"
        )
    return with_patches(calibration, image)


def calibrate_from_corners(
    image: Image,
    corners_px: Sequence[tuple[float, float]],
    geometry: TableGeometry,
    *,
    focal_px: float | None = None,
    camera_height_mm: float | None = None,
    k1: float | None = None,
    k2: float = 0.0,
    snap: bool = False,
) -> Calibration:
    """Calibrate from the four corners of the felt, clicked by a person.

    Args:
        image: the picture in which they were clicked, (h, w, 3) BGR.
        corners_px: top left, top right, bottom right, bottom left with seat 0 at the bottom.
        geometry: of the table.
        focal_px: where known.
        camera_height_mm: lens above felt by tape measure.
        k1, k2: radial distortion where known; else measured from the felt's edges, and taken as
            none where they can't be followed.
        snap: move each corner to where the felt's edges meet, if that is near.

    Raises:
        CalibrationError: not four corners of a convex figure in clockwise order inside the picture.
    """
    size = (image.shape[1], image.shape[0])
    px = np.array(corners_px, dtype=float)
    if px.shape != (4, 2):
        raise CalibrationError(f"expected four corners x,y but got {len(corners_px)}")
    if (px < -0.5).any() or (px > np.array(size)).any():
        raise CalibrationError(f"a corner lies outside the picture of {size[0]}x{size[1]}")
    turns = _turns(px)
    if not (turns > 0).all():
        raise CalibrationError(
            "the corners must be top left, top right, bottom right, bottom left (clockwise, seat 1 "
            "at the bottom)"
        )
    h = geometry.half_mm
    mm = np.array([(-h, -h), (h, -h), (h, h), (-h, h)])

    def finished(fit: _Fit) -> Calibration:
        return _finish(
            fit, size, geometry, "corners", focal_px=focal_px, height_mm=camera_height_mm, marks={}
        )

    calibration = finished(_fit_plane(px, mm, size, k1 or 0.0, k2))
    # The first pass looks far, for an edge that the lens bends away; the next one closely.
    for reach in _REACH_OF_CLICKS if k1 is None or snap else ():
        edges = trace_edges(image, calibration, reach * calibration.tile_px())
        if k1 is None and len(edges) >= _LEAST_EDGES:
            lens = fit_lens(
                list(edges.values()), size, start=(calibration.k1, calibration.k2)
            )  # fmt: skip
            calibration = finished(_fit_plane(px, mm, size, lens.k1, lens.k2))
        if snap:
            px = _snapped(px, edges, calibration)
            fit = _fit_plane(px, mm, size, calibration.k1, calibration.k2)
            calibration = finished(fit)
    return with_patches(calibration, image)


def _snapped(px: Array, edges: dict[int, Array], calibration: Calibration) -> Array:
    """Corners moved to where the edges meet, those that are near."""
    lens = Lens(calibration.image_size, calibration.k1, calibration.k2)
    meets = corners_from_edges(edges, lens)
    off = np.linalg.norm(meets - px, axis=1, keepdims=True)
    near = np.nan_to_num(off, nan=np.inf) < _SNAP_TILES * calibration.tile_px()
    return np.where(near, meets, px)


def corners_snap(image: Image, calibration: Calibration) -> int:
    """How many of the felt's corners can be moved to its edges: those with both in sight."""
    edges = trace_edges(image, calibration, _REACH_OF_CLICKS[1] * calibration.tile_px())
    lens = Lens(calibration.image_size, calibration.k1, calibration.k2)
    return int(np.isfinite(corners_from_edges(edges, lens)[:, 0]).sum())


def _fit_with_edges(image: Image, calibration: Calibration, px: Array, mm: Array) -> _Fit | None:
    """Markers and edges together; None where too few edges can be followed."""
    size = calibration.image_size
    edges = trace_edges(image, calibration, 0.5 * calibration.tile_px())
    if len(edges) < _LEAST_EDGES:
        return None

    def off_markers(k1: float, k2: float) -> Array:
        return _misfits(px, mm, size, k1, k2).ravel()

    lens = fit_lens(list(edges.values()), size, off_markers, (calibration.k1, 0.0))
    return _fit_plane(px, mm, size, lens.k1, lens.k2)


def _missing_text(missing: list[int]) -> str:
    names = {0: "top left", 1: "top right", 2: "bottom right", 3: "bottom left"}
    which = ", ".join(f"{i} ({names[i]})" for i in missing)
    noun = "marker" if len(missing) == 1 else "markers"
    return (
        f"{noun} {which} not found: lay the printed markers flat in the corners of the felt, the "
        "whole felt in the picture, nothing over them, no glare; print a sheet with "
        "`tablectl calibrate --sheet markers.svg`"
    )


def _turns(px: Array) -> Array:
    """Cross products at each corner: all positive for a convex, clockwise (y down) figure."""
    ahead = np.roll(px, -1, axis=0) - px
    behind = px - np.roll(px, 1, axis=0)
    turns: Array = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
    return turns


def _fit_plane(px: Array, mm: Array, size: tuple[int, int], k1: float, k2: float = 0.0) -> _Fit:
    """Homography undistorted px to mm for a given distortion, with its error in seen px."""
    inverse = np.linalg.inv(_plane_to_px(px, mm, size, k1, k2))
    error = float(np.sqrt((_misfits(px, mm, size, k1, k2) ** 2).sum(axis=1).mean()))
    return _Fit(inverse / inverse[2, 2], k1, k2, error)


def _plane_to_px(px: Array, mm: Array, size: tuple[int, int], k1: float, k2: float) -> Array:
    """Best homography from table mm to undistorted px."""
    to_px, _ = cv2.findHomography(mm, Lens(size, k1, k2).undistort(px), 0)
    if to_px is None:
        raise CalibrationError("the points lie on a line: is the camera over the table?")
    return np.asarray(to_px, dtype=float)


def _misfits(px: Array, mm: Array, size: tuple[int, int], k1: float, k2: float) -> Array:
    """By how much (n, 2) seen px the points miss under the best homography."""
    to_px = _plane_to_px(px, mm, size, k1, k2)
    mapped = cv2.perspectiveTransform(mm.reshape(-1, 1, 2), to_px).reshape(-1, 2).astype(float)
    result: Array = Lens(size, k1, k2).distort(mapped) - px
    return result


def _fit_lens(px: Array, mm: Array, size: tuple[int, int]) -> _Fit:
    """The distortion with the least error: each marker shows how the scale changes outwards."""
    k1 = _minimise(lambda k: _fit_plane(px, mm, size, k).error_px, -0.35, 0.35)
    return _fit_plane(px, mm, size, round(k1, 5))


def _minimise(cost: Callable[[float], float], low: float, high: float, steps: int = 30) -> float:
    """Golden-section search of a function with one valley."""
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = cost(a), cost(b)
    for _ in range(steps):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = cost(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = cost(b)
    return (low + high) / 2


def _focal(
    to_px: Array, size: tuple[int, int], given: float | None, height_mm: float | None
) -> tuple[float, bool]:
    """Focal length, and whether it is more than a guess."""
    if given is not None:
        return given, True
    centre = Lens(size, 0, 0).centre
    usual = size[0] / 2 / np.tan(np.radians(USUAL_FIELD_OF_VIEW / 2))
    candidates = usual * np.exp(np.linspace(-1.2, 1.2, 481))
    if height_mm is not None:
        heights = np.array([_height(to_px, float(f), centre) for f in candidates])
        return float(candidates[np.abs(heights - height_mm).argmin()]), True
    # A tilted view tells the focal length, a vertical one doesn't: weigh both with what is usual.
    costs = [_skew(to_px, float(f), centre) / 0.003**2 for f in candidates]
    prior = (np.log(candidates / usual) / 0.35) ** 2
    return float(candidates[(np.array(costs) + prior).argmin()]), False


def _height(to_px: Array, focal: float, centre: Array) -> float:
    rotation, shift = pose_from_homography(to_px, focal, centre)
    return float((-rotation.T @ shift)[2])


def _skew(to_px: Array, focal: float, centre: Array) -> float:
    """How far the table's axes are from equally long and square under this focal length."""
    flat = to_px.copy()
    flat[0] -= centre[0] * flat[2]
    flat[1] -= centre[1] * flat[2]
    flat[:2] /= focal
    x, y = flat[:, 0], flat[:, 1]
    length = np.linalg.norm(x) / np.linalg.norm(y)
    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    return float(np.log(length) ** 2 + cosine**2)


def _finish(
    fit: _Fit,
    size: tuple[int, int],
    geometry: TableGeometry,
    method: Literal["markers", "corners"],
    *,
    focal_px: float | None,
    height_mm: float | None,
    marks: Mapping[int, ArrayLike],
) -> Calibration:
    focal, known = _focal(np.linalg.inv(fit.homography).astype(float), size, focal_px, height_mm)
    h = fit.homography
    return Calibration(
        image_size=size,
        homography=(
            (float(h[0, 0]), float(h[0, 1]), float(h[0, 2])),
            (float(h[1, 0]), float(h[1, 1]), float(h[1, 2])),
            (float(h[2, 0]), float(h[2, 1]), float(h[2, 2])),
        ),
        k1=fit.k1,
        k2=fit.k2,
        focal_px=focal,
        focal_known=known,
        method=method,
        reprojection_px=round(fit.error_px, 3),
        tile_width_mm=geometry.tile_width_mm,
        half_mm=geometry.half_mm,
        marks={
            i: tuple((round(float(x), 2), round(float(y), 2)) for x, y in np.asarray(four))
            for i, four in marks.items()
        },
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def with_patches(calibration: Calibration, image: Image) -> Calibration:
    """Remember how the felt's corners look, where they are inside the picture, and the light."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    half = PATCH_PX // 2
    patches = []
    for x, y in calibration.felt_outline:
        cx = int(np.clip(round(x), half, image.shape[1] - half))
        cy = int(np.clip(round(y), half, image.shape[0] - half))
        ok, data = cv2.imencode(".png", grey[cy - half : cy + half, cx - half : cx + half])
        if ok:
            patches.append((float(cx), float(cy), base64.b64encode(data.tobytes()).decode()))
    look = PictureWatch(calibration, _geometry_of(calibration)).measure(image)
    light = (round(look.level, 1), *(round(v, 3) for v in look.tint))
    around = look_along(calibration, image).outside
    return calibration.model_copy(
        update={
            "patches": tuple(patches), "light": light,
            "around": None if around is None else round(around, 3),
        }
    )  # fmt: skip


def _geometry_of(calibration: Calibration) -> TableGeometry:
    """As much of the table's measures as a calibration knows."""
    width = calibration.tile_width_mm
    return TableGeometry(tile_width_mm=width, half=calibration.half_mm / width)
