"""Detections put on the table: size, cut edges, rotation, and thinning out."""

from __future__ import annotations

from functools import cache

import pytest

from vision.calibration import Calibration
from vision.detector.detection import Detection
from vision.felt.finder import Placer, Sighting, thin_out
from vision.geometry import TableGeometry, Zone

GEOMETRY = TableGeometry()
WHOLE = (0, 0, 1920, 1080)
KINDS = (1.0, *(0.0 for _ in range(42)))


@cache
def calibration() -> Calibration:
    """Straight from above, 1 px a mm, table centre in the middle of the picture."""
    return Calibration(
        image_size=(1920, 1080),
        homography=((1, 0, -959.5), (0, 1, -539.5), (0, 0, 1)),
        focal_px=1250,
        focal_known=True,
        method="corners",
        reprojection_px=0,
        tile_width_mm=28,
        half_mm=GEOMETRY.half_mm,
    )


def seen(
    x: float, y: float, w: float = 28.0, h: float = 37.8, rotation: float = 0.0, score: float = 0.9
) -> Detection:
    cx, cy = calibration().to_image([(x, y)], 21.0)[0]
    return Detection((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), score, KINDS, rotation)


def placed(detection: Detection, crop: tuple[int, int, int, int] = WHOLE) -> Sighting | None:
    return Placer(calibration(), GEOMETRY).place(detection, crop)


def test_a_tile_is_placed_without_parallax() -> None:
    sighting = placed(seen(-70, 170))
    assert sighting is not None
    assert (sighting.x, sighting.y) == pytest.approx((-70, 170), abs=0.01)
    assert (sighting.zone, sighting.seat) == (Zone.RIVER, 0)
    assert sighting.rotation == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize(
    ("w", "h"),
    [(14.0, 18.0), (28.0, 90.0), (80.0, 100.0), (15.0, 37.0)],
    ids=["half", "two in a row", "huge", "a side"],
)
def test_what_has_not_a_tiles_size_is_none(w: float, h: float) -> None:
    assert placed(seen(0, 170, w, h)) is None


def test_upper_edges_of_a_standing_hand_are_no_faces() -> None:
    rack = 13.7 * 28
    assert placed(seen(0, rack)) is not None
    assert placed(seen(0, rack, 28.0, 21.0)) is None


def test_the_panel_and_the_floor_are_left_out() -> None:
    assert placed(seen(0, 0)) is None
    assert placed(seen(600, 0)) is None


@pytest.mark.parametrize("edge", [(960, 0, 1600, 1080), (300, 0, 960, 1080), (0, 713, 1920, 1080)])
def test_a_tile_cut_by_the_crop_is_left_to_another(edge: tuple[int, int, int, int]) -> None:
    x1, y1, x2, y2 = edge
    whole = seen(0, 170)
    left, top, right, bottom = whole.box
    cut = (
        max(left, x1) - x1, max(top, y1) - y1, min(right, x2) - x1, min(bottom, y2) - y1
    )  # fmt: skip
    assert placed(Detection(cut, 0.9, KINDS, 0.0), edge) is None


@pytest.mark.parametrize(
    ("w", "h", "told", "true"),
    [
        (37.8, 28.0, 0.0, 90.0),
        (37.8, 28.0, 100.0, 100.0),
        (28.0, 37.8, 268.0, 178.0),
        (28.0, 37.8, 5.0, 5.0),
        (46.5, 46.5, 45.0, 45.0),
    ],
)
def test_the_outline_corrects_the_rotation(w: float, h: float, told: float, true: float) -> None:
    sighting = placed(seen(0, 170, w, h, told))
    assert sighting is not None
    assert (sighting.rotation - true + 90) % 180 - 90 == pytest.approx(0, abs=0.5)


def test_of_two_in_one_place_the_better_stays() -> None:
    sightings = [
        s
        for s in (
            placed(seen(0, 170, score=0.6)),
            placed(seen(4, 172, score=0.9)),
            placed(seen(29, 170, score=0.5)),
        )
        if s is not None
    ]
    kept = thin_out(sightings, lambda _: 0.6 * 28)
    assert [(round(s.x), s.score) for s in kept] == [(4, 0.9), (29, 0.5)]
