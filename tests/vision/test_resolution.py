"""The document's figures on resolution are the formula's, and the formula is the camera's."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.vision.cameras import TrueCamera
from vision.calibration_fit import calibrate_from_markers
from vision.geometry import TableGeometry
from vision.resolution import (
    CAMERAS,
    FILL,
    CameraModel,
    best_tile_px,
    least_height,
    tables,
    tile_px,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "camera.md"
FELT = 2 * TableGeometry().half_mm


def test_the_document_holds_the_tables() -> None:
    assert tables() in DOCUMENT.read_text(encoding="utf-8"), "python -m vision.resolution"


def test_the_formula_agrees_with_a_calibrated_camera() -> None:
    camera = TrueCamera(fill=0.9)
    field = 2 * math.degrees(math.atan(camera.size[0] / 2 / camera.focal))
    model = CameraModel("true", *camera.size, field)
    measured = calibrate_from_markers(camera.felt_with_markers(), TableGeometry()).tile_px()
    assert tile_px(28.0, camera.height, model) == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_at_the_lowest_height_tiles_are_as_wide_as_the_lines_allow(camera: CameraModel) -> None:
    height = least_height(FELT, camera)
    assert tile_px(28.0, height, camera) == pytest.approx(best_tile_px(28.0, FELT, camera.height))
    covered = FELT * camera.focal_px / height
    assert covered == pytest.approx(FILL * camera.height)
