"""The recogniser's arithmetic: boxes, windows, crops, rotation, weights."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.tiles import BACK
from vision.detector import Detector, WeightsError, find_weights
from vision.detector.boxes import (
    ALIKE_IOU,
    MAX_INSIDE,
    MAX_IOU,
    REG_MAX,
    area_of,
    cut_by_window,
    decode_grid,
    merged,
    share_inside,
    shared_area,
    window_starts,
)
from vision.detector.crops import CROP_SCALE, cut_crop, square_of
from vision.detector.detector import less_likely, rotation_of
from vision.detector.plain import WHITE, colours_of, weighed
from vision.detector.sizes import LARGEST, SMALLEST, odd_sized, straight_area
from vision.training.sources import iou_matrix

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"

boxes_lists = st.lists(
    st.tuples(
        st.floats(0, 500),
        st.floats(0, 500),
        st.floats(5, 120),
        st.floats(5, 120),
        st.floats(0.05, 1),
    ),
    min_size=1,
    max_size=25,
)


def test_decode_grid_gives_the_box_round_the_cell() -> None:
    grid = np.full((4 * REG_MAX + 1, 5, 7), -9, np.float32)
    for side, bins in enumerate((2, 3, 4, 5)):
        grid[side * REG_MAX + bins, 1, 2] = 30
    grid[4 * REG_MAX, 1, 2] = 2.0
    boxes, scores = decode_grid(grid, 8, 0.25)
    # Cell (row 1, column 2) has its centre at (2.5, 1.5) strides of 8 px.
    assert boxes.tolist() == [
        pytest.approx([(2.5 - 2) * 8, (1.5 - 3) * 8, (2.5 + 4) * 8, (1.5 + 5) * 8])
    ]
    assert scores.tolist() == [pytest.approx(1 / (1 + math.exp(-2)))]


def test_decode_grid_of_nothing_is_empty() -> None:
    boxes, scores = decode_grid(np.full((65, 4, 4), -9, np.float32), 16, 0.25)
    assert boxes.shape == (0, 4)
    assert scores.shape == (0,)


@settings(deadline=None, max_examples=50)
@given(boxes_lists)
def test_every_box_belongs_to_a_better_one_and_the_best_stays(
    rows: list[tuple[float, ...]],
) -> None:
    table = np.array(rows, np.float32)
    boxes = np.concatenate([table[:, :2], table[:, :2] + table[:, 2:4]], axis=1)
    scores = table[:, 4]
    found, kept = merged(boxes, scores)
    assert kept[0] == scores.max()
    assert list(kept) == sorted(kept, reverse=True)
    assert set(kept.tolist()) <= set(scores.tolist())
    # Each mean lies among boxes that are much alike, so it is much like the one that stayed.
    for mean, score in zip(found, kept, strict=True):
        same = iou_matrix(mean[None], boxes[scores == score])[0]
        assert same.max() > ALIKE_IOU / 2
    for box, score in zip(boxes, scores, strict=True):
        better = boxes[scores >= score]
        shared = shared_area(box, better)
        own, theirs = area_of(box[None])[0], area_of(better)
        iou = shared / (own + theirs - shared)
        inside = shared / np.minimum(own, theirs)
        goes = bool(((iou > MAX_IOU) | (inside > MAX_INSIDE)).sum() > 1)
        assert score in kept or goes


def test_a_box_inside_a_better_one_goes() -> None:
    boxes = np.array([[0, 0, 100, 100], [10, 10, 40, 40]], np.float32)
    found, scores = merged(boxes, np.array([0.9, 0.8], np.float32))
    assert found.tolist() == [[0, 0, 100, 100]]
    assert scores.tolist() == [np.float32(0.9)]


def test_jitter_is_averaged_and_a_half_is_not() -> None:
    boxes = np.array([[0, 0, 40, 50], [4, 0, 44, 50], [0, 25, 40, 50]], np.float32)
    found, scores = merged(boxes, np.array([0.6, 0.6, 0.5], np.float32))
    assert found.tolist() == [[2, 0, 42, 50]]
    assert scores.tolist() == [np.float32(0.6)]


def upright(x: float, y: float, width: float, height: float) -> list[float]:
    return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]


@settings(deadline=None, max_examples=50)
@given(st.floats(10, 100), st.floats(0, 359.9))
def test_a_turned_tile_has_the_area_of_a_straight_one(width: float, degrees: float) -> None:
    cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    length = width * 4 / 3
    boxes = [upright(0, 0, width * cos + length * sin, width * sin + length * cos)]
    area = straight_area(np.array(boxes, np.float32), np.array([degrees], np.float32))
    assert area.tolist() == [pytest.approx(width * length, rel=1e-3)]


def test_sizes_are_odd_by_the_faces_round_them() -> None:
    """Tiles shrink from 60 px to 36 px down the row, so 36 px is odd at its near end only."""
    row = [upright(100 * i, 0, 60 - 1.6 * i, 80 - 2.13 * i) for i in range(16)]
    asked = [
        upright(0, 90, 36, 48),
        upright(1500, 90, 36, 48),
        upright(1500, 180, 36 * 7 / 3 / 2**0.5, 36 * 7 / 3 / 2**0.5),
        upright(1500, 270, 2.5 * 36, 2 * 48),
    ]
    boxes = np.array(row + asked, np.float32) + 100
    faces = np.arange(len(boxes)) < len(row)
    odd = odd_sized(boxes, np.zeros(len(boxes), np.float32), faces, (1800, 500))
    assert odd.tolist() == [False] * len(row) + [True, False, False, True]
    assert SMALLEST < 1 < 2.04 < LARGEST


def test_what_the_edge_of_the_picture_cuts_may_be_small() -> None:
    faces = [upright(100 + 50 * i, 100, 30, 40) for i in range(3)]
    asked = [upright(100, 190, 30, 20), upright(100, 150, 30, 20), upright(80, 60, 156, 60)]
    boxes = np.array(faces + asked, np.float32)
    odd = odd_sized(boxes, np.zeros(6, np.float32), np.arange(6) < 3, (400, 200))
    assert odd.tolist() == [False] * 4 + [True] * 2


def test_two_faces_say_nothing_of_size() -> None:
    boxes = np.array([upright(50, 50, 30, 40), upright(90, 50, 30, 40), upright(150, 50, 9, 12)])
    faces = np.array([True, True, False])
    assert not odd_sized(boxes.astype(np.float32), np.zeros(3, np.float32), faces, (200, 99)).any()


def test_evidence_against_lowers_the_odds() -> None:
    less = less_likely(np.array([0.0, 0.5, 0.99, 1.0], np.float32), math.log(20))
    assert less.tolist() == [0, pytest.approx(1 / 21), pytest.approx(99 / 119), 1]


def test_no_boxes_are_no_boxes() -> None:
    found, scores = merged(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))
    assert found.shape == (0, 4)
    assert scores.shape == (0,)
    assert share_inside(np.array([0, 0, 2, 2], np.float32), found) == 0.0


def test_share_inside_is_of_the_box_asked_for() -> None:
    box = np.array([0, 0, 10, 10], np.float32)
    others = np.array([[5, 0, 100, 100], [0, 0, 2, 2]], np.float32)
    assert share_inside(box, others) == pytest.approx(0.5)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5000), st.integers(0, 200))
def test_windows_cover_every_pixel_with_overlap(length: int, overlap: int) -> None:
    starts = window_starts(length, 640, overlap)
    assert starts[0] == 0
    assert starts[-1] + 640 >= length
    if length > 640:
        assert starts[-1] + 640 == length
    for a, b in itertools.pairwise(starts):
        assert a < b <= a + 640 - overlap + 1


def test_only_inner_window_edges_cut() -> None:
    boxes = np.array([[0, 50, 30, 90], [600, 50, 640, 90], [100, 100, 140, 150]], np.float32)
    left = cut_by_window(boxes, (0, 0), (640, 640), (1000, 640))
    assert left.tolist() == [False, True, False]
    right = cut_by_window(boxes, (360, 0), (640, 640), (1000, 640))
    assert right.tolist() == [True, False, False]


@pytest.mark.parametrize("side", [64, 96])
@pytest.mark.parametrize("size", [20, 40, 64, 200])
def test_crop_shows_the_box_in_the_middle(size: int, side: int) -> None:
    image = np.zeros((400, 500, 3), np.uint8)
    x1, y1 = 150, 100
    image[y1 : y1 + size, x1 : x1 + size // 2] = (0, 0, 255)
    crop = cut_crop(image, (x1, y1, x1 + size // 2, y1 + size), side)
    assert crop.shape == (4, side, side)
    height = side / CROP_SCALE
    red = crop[0] > 127
    assert red.sum() == pytest.approx(height * height / 2, rel=0.12)
    assert (crop[3] > 0).sum() == pytest.approx(height * height / 2, rel=0.12)
    agree = (red == (crop[3] > 0)).mean()
    assert agree > 0.95
    assert crop[2].max() == 0  # blue: channels are red, green, blue


def test_crop_beyond_the_border_is_filled() -> None:
    image = np.full((50, 50, 3), 200, np.uint8)
    crop = cut_crop(image, (-20.0, -20.0, 30.0, 40.0), 64)
    assert (crop[:3] == 200).all()


@pytest.mark.parametrize("box", [(-90.0, -90.0, -40.0, -40.0), (60.0, 60.0, 90.0, 99.0)])
def test_crop_of_a_box_outside_the_picture_is_no_error(
    box: tuple[float, float, float, float],
) -> None:
    image = np.full((50, 50, 3), 200, np.uint8)
    assert cut_crop(image, box, 64).shape == (4, 64, 64)


def test_square_is_centred() -> None:
    left, top, right, bottom = square_of((10, 20, 30, 60))
    assert (left + right) / 2 == 20
    assert (top + bottom) / 2 == 40
    assert right - left == pytest.approx(40 * CROP_SCALE)


@settings(deadline=None, max_examples=50)
@given(st.floats(0, 359.9), st.floats(-60, 60))
def test_rotation_takes_axis_from_the_double_angle(degrees: float, error: float) -> None:
    a, coarse = math.radians(degrees), math.radians(degrees + error)
    row = [[math.cos(coarse), math.sin(coarse), math.cos(2 * a), math.sin(2 * a)]]
    got = float(rotation_of(np.array(row, np.float32))[0])
    assert abs((got - degrees + 180) % 360 - 180) < 0.1


def test_missing_weights_name_the_folder(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=str(tmp_path)):
        find_weights(tmp_path)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    shutil.copytree(MODELS, tmp_path / "m")
    weights = find_weights(tmp_path / "m")
    data = bytearray(weights.finder.read_bytes())
    data[1000] ^= 0xFF
    weights.finder.write_bytes(bytes(data))
    with pytest.raises(WeightsError, match="damaged"):
        Detector(tmp_path / "m")
    weights.finder.unlink()
    with pytest.raises(WeightsError, match="reinstall"):
        Detector(tmp_path / "m")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 1, "finder": 3}'])
def test_bad_manifest_is_one_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "tiles.json").write_text(content)
    with pytest.raises(WeightsError, match=r"tiles\.json"):
        find_weights(tmp_path)


def test_unloadable_network_is_a_weights_error(tmp_path: Path) -> None:
    import hashlib

    shutil.copytree(MODELS, tmp_path / "m")
    path = tmp_path / "m" / "tile_reader.onnx"
    path.write_bytes(b"not a network")
    manifest = json.loads((tmp_path / "m" / "tiles.json").read_text())
    manifest["reader"]["sha256"] = hashlib.sha256(b"not a network").hexdigest()
    (tmp_path / "m" / "tiles.json").write_text(json.dumps(manifest))
    with pytest.raises(WeightsError, match="onnxruntime"):
        Detector(tmp_path / "m")


def test_shipped_weights_are_small() -> None:
    weights = find_weights(MODELS)
    assert weights.finder.stat().st_size + weights.reader.stat().st_size < 15_000_000


IVORY, GREEN, WOOD = (205, 225, 232), (60, 140, 40), (70, 110, 160)


def tiles_of_colours(*colours: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A picture of five printed ivory tiles and one plain tile for each colour; boxes; kinds."""
    image = np.full((220, 620, 3), (80, 60, 30), np.uint8)
    boxes = []
    for place in range(5):
        x, ink = 20 + 60 * place, (30, 30, 190)
        cv2.rectangle(image, (x, 20), (x + 41, 75), IVORY, -1)
        cv2.putText(image, "B", (x + 10, 60), cv2.FONT_HERSHEY_SIMPLEX, 1.0, ink, 2)
        boxes.append((x, 20, x + 42, 76))
    for place, colour in enumerate(colours):
        x = 20 + 60 * place
        cv2.rectangle(image, (x, 120), (x + 41, 175), colour, -1)
        boxes.append((x, 120, x + 42, 176))
    kinds = np.zeros((len(boxes), 43), np.float32)
    kinds[range(5), range(5)] = 1.0
    kinds[5:, WHITE] = kinds[5:, BACK] = 0.5
    return image, np.array(boxes, np.float32), kinds


def test_plain_tiles_are_told_apart_by_colour() -> None:
    """Of the faces' ground: a blank White; of the sure back's colour: a back."""
    image, boxes, kinds = tiles_of_colours(GREEN, GREEN, IVORY, WOOD)
    kinds[5] = np.eye(43)[BACK]
    certainty = np.array([0.95] * 6 + [0.3] * 3, np.float32)
    after, sure = weighed(image, boxes, kinds, certainty)
    assert after[6, BACK] > 0.95
    assert sure[6] > 0.6
    assert after[7, WHITE] > 0.95
    assert sure[7] > 0.6
    assert sure[8] < 0.3
    assert np.array_equal(after[:5], kinds[:5])
    assert np.array_equal(sure[:5], certainty[:5])
    assert after.sum(axis=1) == pytest.approx(np.ones(9), abs=1e-5)


def test_colour_does_not_overrule_what_is_certain() -> None:
    """Backs as light as the faces stay backs where the reader is sure of them."""
    image, boxes, kinds = tiles_of_colours(IVORY, IVORY)
    kinds[5:] = 0.001 * np.eye(43)[WHITE] + 0.999 * np.eye(43)[BACK]
    after, sure = weighed(image, boxes, kinds, np.full(7, 0.95, np.float32))
    assert (after[5:, BACK] > 0.9).all()
    assert (sure > 0.9).all()


def test_without_faces_colour_says_nothing() -> None:
    image, boxes, kinds = tiles_of_colours(GREEN, IVORY)
    certainty = np.full(7, 0.4, np.float32)
    after, sure = weighed(image, boxes, kinds, certainty)
    assert np.array_equal(after, kinds)
    assert np.array_equal(sure, certainty)


def test_colours_seen_before_serve_where_faces_are_few() -> None:
    image, boxes, kinds = tiles_of_colours(GREEN, IVORY)
    known = colours_of(image, list(boxes[:5]), [boxes[5]])
    after, sure = weighed(image, boxes[5:], kinds[5:], np.full(2, 0.4, np.float32), known)
    assert after[0, BACK] > 0.95
    assert after[1, WHITE] > 0.95
    assert (sure > 0.6).all()
    assert colours_of(image, list(boxes[:2]), []) is None
