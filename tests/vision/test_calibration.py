"""Calibration against a camera whose truth is known, drawn with OpenCV only."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import check_calibration, score_calibration
from vision.calibration_fit import (
    calibrate_from_corners,
    calibrate_from_markers,
    find_markers,
    realign,
)
from vision.geometry import TableGeometry
from vision.messages import CameraState

from .cameras import TrueCamera

GEOMETRY = TableGeometry()
CAMERAS = {
    "overhead": TrueCamera(),
    "barrel": TrueCamera(k1=-0.12),
    "pincushion": TrueCamera(k1=0.06),
    "tilted": TrueCamera(tilt=18, azimuth=30),
    "tilted barrel": TrueCamera(tilt=12, azimuth=200, roll=8, k1=-0.08),
    "turned": TrueCamera(roll=180),
    "small": TrueCamera(size=(1280, 720)),
}


def places() -> np.ndarray:
    h = GEOMETRY.half_mm * 0.9
    return np.array([(x, y) for x in np.linspace(-h, h, 7) for y in np.linspace(-h, h, 7)])


@pytest.mark.parametrize("name", CAMERAS)
def test_markers_give_places_to_a_fraction_of_a_tile(name: str) -> None:
    camera = CAMERAS[name]
    calibration = calibrate_from_markers(camera.felt_with_markers(), GEOMETRY)
    seen = camera.project(places(), 0.0)
    error = np.linalg.norm(calibration.to_table(seen) - places(), axis=1)
    assert error.max() < 0.12 * GEOMETRY.tile_width_mm
    assert calibration.reprojection_px < 1.0
    back = calibration.to_image(calibration.to_table(seen))
    assert np.abs(back - seen).max() < 0.05


@pytest.mark.parametrize("name", CAMERAS)
def test_heights_are_mapped_without_parallax(name: str) -> None:
    """Tops of tiles and walls; camera height given by tape measure."""
    camera = CAMERAS[name]
    calibration = calibrate_from_markers(
        camera.felt_with_markers(), GEOMETRY, camera_height_mm=camera.height
    )
    assert calibration.camera_height_mm == pytest.approx(camera.height, rel=0.03)
    for z in (21.0, 42.0):
        seen = camera.project(places(), z)
        error = np.linalg.norm(calibration.to_table(seen, z) - places(), axis=1)
        assert error.max() < 0.15 * GEOMETRY.tile_width_mm
        flat = np.linalg.norm(calibration.to_table(seen) - places(), axis=1)
        assert flat.max() > 2 * error.max()


def test_without_a_height_the_usual_lens_still_helps() -> None:
    camera = TrueCamera()
    calibration = calibrate_from_markers(camera.felt_with_markers(), GEOMETRY)
    assert not calibration.focal_known
    seen = camera.project(places(), 21.0)
    error = np.linalg.norm(calibration.to_table(seen, 21.0) - places(), axis=1)
    assert error.max() < 0.15 * GEOMETRY.tile_width_mm


def test_four_clicked_corners() -> None:
    camera = TrueCamera(tilt=10)
    h = GEOMETRY.half_mm
    corners = camera.project(np.array([(-h, -h), (h, -h), (h, h), (-h, h)]), 0.0)
    image = camera.felt_with_markers()
    calibration = calibrate_from_corners(image, [(x, y) for x, y in corners], GEOMETRY)
    seen = camera.project(places(), 0.0)
    error = np.linalg.norm(calibration.to_table(seen) - places(), axis=1)
    assert error.max() < 1.0


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        ([(0, 0), (100, 0), (100, 100)], "four corners"),
        ([(0, 0), (0, 100), (100, 100), (100, 0)], "clockwise"),
        ([(0, 0), (100, 0), (100, 100), (-50, 100)], "outside"),
        ([(0, 0), (50, 0), (100, 0), (0, 100)], "clockwise"),
    ],
)
def test_wrong_corners_are_named(corners: list[tuple[float, float]], message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        calibrate_from_corners(np.zeros((200, 200, 3), np.uint8), corners, GEOMETRY)


def test_tile_size_and_rotation() -> None:
    camera = TrueCamera(roll=180)
    calibration = calibrate_from_markers(camera.felt_with_markers(), GEOMETRY)
    px_per_mm = camera.focal / camera.height
    assert calibration.tile_px() == pytest.approx(28 * px_per_mm, rel=0.02)
    at = camera.project(np.array([(100.0, 50.0)]), 0.0)[0]
    # The camera is mounted upside down: upright in the picture is upside down on the table.
    assert calibration.rotation_on_table(at, 0.0) == pytest.approx(180, abs=0.5)
    assert calibration.rotation_on_table(at, 90.0) == pytest.approx(270, abs=0.5)


def test_missing_and_swapped_markers_are_named() -> None:
    camera = TrueCamera()
    image = camera.felt_with_markers(leave_out=(2,))
    with pytest.raises(CalibrationError, match=r"marker 2 \(bottom right\) not found"):
        calibrate_from_markers(image, GEOMETRY)
    swapped = camera.felt_with_markers(order=(1, 0, 2, 3))
    with pytest.raises(CalibrationError, match="don't lie where they should"):
        calibrate_from_markers(swapped, GEOMETRY)


def test_small_markers_are_found() -> None:
    """16 px a tile: the whole table in 640 lines."""
    found = find_markers(TrueCamera(size=(1138, 640), fill=0.82).felt_with_markers())
    assert sorted(found) == [0, 1, 2, 3]


def test_save_and_load(tmp_path: Path) -> None:
    calibration = calibrate_from_markers(TrueCamera().felt_with_markers(), GEOMETRY)
    path = tmp_path / "camera.json"
    calibration.save(path)
    assert Calibration.load(path) == calibration
    path.write_text(path.read_text().replace('"version": 1', '"version": 9'))
    with pytest.raises(CalibrationError, match="version 9"):
        Calibration.load(path)
    path.write_text("{")
    with pytest.raises(CalibrationError, match="damaged"):
        Calibration.load(path)
    path.write_text('{"version": 1, "image_size": [4, 4]}')
    with pytest.raises(CalibrationError, match=r"homography.*calibrate"):
        Calibration.load(path)
    with pytest.raises(CalibrationError, match="run `tablectl calibrate`"):
        Calibration.load(tmp_path / "none.json")


@pytest.mark.parametrize("clicked", [False, True])
def test_a_moved_camera_is_noticed(clicked: bool) -> None:
    before, after = TrueCamera(), TrueCamera(offset=(9.0, 6.0), roll=0.6)
    image = before.felt_with_markers()
    if clicked:
        h = GEOMETRY.half_mm
        corners = before.project(np.array([(-h, -h), (h, -h), (h, h), (-h, h)]), 0.0)
        calibration = calibrate_from_corners(image, [(x, y) for x, y in corners], GEOMETRY)
    else:
        calibration = calibrate_from_markers(image, GEOMETRY)
    assert check_calibration(calibration, before.felt_with_markers(seed=5)).state is (
        CameraState.FINE
    )
    moved = check_calibration(calibration, after.felt_with_markers(seed=6))
    assert moved.state is CameraState.MOVED
    assert moved.shift_px is not None
    assert moved.shift_px > 4
    assert "tablectl calibrate" in moved.remedy
    again = realign(calibration, after.felt_with_markers(), GEOMETRY)
    seen = after.project(places(), 0.0)
    assert np.linalg.norm(again.to_table(seen) - places(), axis=1).max() < 3.5


def test_hidden_markers_are_no_sign_of_a_moved_camera() -> None:
    camera = TrueCamera()
    calibration = calibrate_from_markers(camera.felt_with_markers(), GEOMETRY)
    hidden = camera.felt_with_markers(leave_out=(0, 1, 2, 3))
    assert check_calibration(calibration, hidden).state is CameraState.FINE


def test_wrong_size_and_darkness() -> None:
    camera = TrueCamera()
    image = camera.felt_with_markers()
    calibration = calibrate_from_markers(image, GEOMETRY)
    half = np.asarray(cv2.resize(image, None, fx=0.5, fy=0.5), dtype=np.uint8)
    wrong = check_calibration(calibration, half)
    assert wrong.state is CameraState.WRONG_SIZE
    assert "1920x1080" in wrong.remedy
    dark = check_calibration(calibration, (image * 0.08).astype(np.uint8))
    assert dark.state is CameraState.DARK


def test_the_score_names_what_is_wrong() -> None:
    camera = TrueCamera()
    good = score_calibration(
        calibrate_from_markers(camera.felt_with_markers(), GEOMETRY, camera_height_mm=camera.height)
    )
    small = TrueCamera(size=(1138, 640), fill=0.82)
    poor = score_calibration(calibrate_from_markers(small.felt_with_markers(), GEOMETRY))
    assert good.score >= 85
    assert poor.score < good.score - 15
    assert any("px wide" in note for note in poor.notes)
    assert math.isclose(poor.tile_px, 16, rel_tol=0.2)
