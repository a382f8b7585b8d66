"""Calibration against a camera whose truth is known, drawn with OpenCV only."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import check_calibration, score_calibration, view_shift
from vision.calibration_fit import (
    calibrate_from_corners,
    calibrate_from_markers,
    find_markers,
)
from vision.calibration_shift import realign
from vision.geometry import TableGeometry
from vision.messages import CameraState
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.render.style import Style

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


LENSES = {"plain": (0.0, 0.0), "barrel": (-0.15, 0.03), "pincushion": (0.05, -0.01)}


def look(k1: float, k2: float, *, markers: bool, **pose: float) -> Renderer:
    camera = CameraPose(k1=k1, k2=k2, **pose)  # type: ignore[arg-type]
    return Renderer(Style(camera=camera, markers=markers), GEOMETRY, (1280, 720))


def true_corners(
    renderer: Renderer, off: tuple[float, float] = (0, 0)
) -> list[tuple[float, float]]:
    h = GEOMETRY.half_mm
    seen = renderer.project([(-h, -h), (h, -h), (h, h), (-h, h)])
    signs = ((1, -1), (-1, 1), (1, 1), (-1, -1))
    return [
        (float(x) + a * off[0], float(y) + b * off[1])
        for (x, y), (a, b) in zip(seen, signs, strict=True)
    ]


def off_by(calibration: Calibration, renderer: Renderer) -> float:
    """Largest error over the felt, mm."""
    seen = renderer.project(places())
    return float(np.linalg.norm(calibration.to_table(seen) - places(), axis=1).max())


@pytest.mark.parametrize("lens", LENSES)
def test_the_felts_edges_show_the_lens(lens: str) -> None:
    """On the product's own rendered table, with markers and with careless clicks."""
    k1, k2 = LENSES[lens]
    marked = look(k1, k2, markers=True)
    by_markers = calibrate_from_markers(marked.render(Scene()), GEOMETRY)
    assert off_by(by_markers, marked) < 1.6  # a pixel is 1.3 mm here
    bare = look(k1, k2, markers=False)
    picture = bare.render(Scene())
    clicked = true_corners(bare, off=(4.0, 3.0))
    snapped = calibrate_from_corners(picture, clicked, GEOMETRY, snap=True)
    assert off_by(snapped, bare) < 1.0
    assert np.abs(snapped.felt_outline - true_corners(bare)).max() < 0.7
    as_clicked = calibrate_from_corners(picture, true_corners(bare), GEOMETRY)
    assert off_by(as_clicked, bare) < 1.0
    if k1:
        ignored = calibrate_from_corners(picture, true_corners(bare), GEOMETRY, k1=0.0)
        assert off_by(ignored, bare) > 4.0


def test_edges_that_cannot_be_seen_leave_the_corners_as_they_were_clicked() -> None:
    grey = np.full((720, 1280, 3), 90, np.uint8)
    corners = [(300.0, 40.0), (980.0, 42.0), (985.0, 690.0), (295.0, 688.0)]
    calibration = calibrate_from_corners(grey, corners, GEOMETRY, snap=True)
    assert (calibration.k1, calibration.k2) == (0.0, 0.0)
    assert np.abs(calibration.felt_outline - corners).max() < 0.01


def test_a_far_click_is_not_snapped_to_another_edge() -> None:
    bare = look(0.0, 0.0, markers=False)
    clicked = true_corners(bare)
    clicked[2] = (clicked[2][0] - 90, clicked[2][1] - 90)
    calibration = calibrate_from_corners(bare.render(Scene()), clicked, GEOMETRY, snap=True)
    assert np.abs(calibration.felt_outline[2] - clicked[2]).max() < 1.0


@pytest.mark.parametrize(
    "bump", [{"roll_deg": 0.7}, {"tilt_deg": 3.0, "azimuth_deg": 30.0, "roll_deg": 30.5}, {}]
)
def test_a_bumped_camera_goes_on_from_the_felts_corners(bump: dict[str, float]) -> None:
    """No markers: small turns of the camera are measured from the four corners of the felt."""
    before = look(-0.04, 0.0, markers=False)
    calibration = calibrate_from_corners(before.render(Scene()), true_corners(before), GEOMETRY)
    after = look(-0.04, 0.0, markers=False, **bump)
    if not bump:
        pose = replace(after.style.camera, target_mm=(11.0, -7.0))
        after = Renderer(replace(after.style, camera=pose), GEOMETRY, (1280, 720))
    picture = after.render(Scene())
    assert check_calibration(calibration, picture).state is CameraState.MOVED
    again = realign(calibration, picture, GEOMETRY)
    assert off_by(again, after) < 2.0
    assert check_calibration(again, after.render(Scene())).state is CameraState.FINE


def test_a_view_that_is_not_recognised_is_not_guessed_at() -> None:
    before = look(0.0, 0.0, markers=False)
    calibration = calibrate_from_corners(before.render(Scene()), true_corners(before), GEOMETRY)
    turned = look(0.0, 0.0, markers=False, roll_deg=25.0)
    with pytest.raises(CalibrationError, match="corners"):
        realign(calibration, turned.render(Scene()), GEOMETRY)
    hidden = before.render(Scene()).copy()
    hidden[:200, :600] = (60, 40, 30)
    with pytest.raises(CalibrationError, match="only 3"):
        realign(calibration, hidden, GEOMETRY)


@pytest.mark.parametrize("knock", [{"roll_deg": 25.0}, {"mm_per_px": 1.1}, {"mm_per_px": 2.4}])
def test_a_hard_knock_is_noticed_and_not_guessed_at(knock: dict[str, float]) -> None:
    before = look(0.0, 0.0, markers=False)
    calibration = calibrate_from_corners(before.render(Scene()), true_corners(before), GEOMETRY)
    picture = look(0.0, 0.0, markers=False, **knock).render(Scene())
    check = check_calibration(calibration, picture)
    assert check.state is CameraState.MOVED
    assert "#calibrate" in check.remedy
    with pytest.raises(CalibrationError):
        realign(calibration, picture, GEOMETRY)


def test_arms_over_the_felts_corners_are_no_knock() -> None:
    table = look(0.0, 0.0, markers=False)
    calibration = calibrate_from_corners(table.render(Scene()), true_corners(table), GEOMETRY)
    picture = table.render(Scene()).copy()
    for x, y in true_corners(table):
        cv2.circle(picture, (int(x), int(y)), 90, (70, 60, 120), -1)
    for x in (400, 640, 880):
        cv2.rectangle(picture, (x - 50, 560), (x + 50, 719), (30, 90, 60), -1)
    assert view_shift(calibration, picture) is None
    assert check_calibration(calibration, picture).state is CameraState.FINE


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
