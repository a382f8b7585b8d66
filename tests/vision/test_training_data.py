"""Training data: labels, windows, crops and metrics (no torch needed)."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tablectl.tiles import parse_tile
from vision.detector import Detector
from vision.training.artwork import ArtSet
from vision.training.clutter import MOST, count, false_finds, listed, pictures
from vision.training.compose import art_style, compose
from vision.training.crops import (
    CROP_PX,
    NO_TILE,
    PATCH_PX,
    cut_patch,
    cut_sample,
    gather_patches,
    part_sample,
    scene_sample,
    turned_span,
)
from vision.training.metrics import Scored, average_precision, forgive, score
from vision.training.sources import Photo, PhotoSetError, load_photo, load_split
from vision.training.windows import Labelled, degrade, mosaic, quads_of_boxes, sample_window

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
TOOL = SHARED / "tools" / "eval_detector.py"

# A face with red, green, blue and white quarters, clockwise from the top left (BGR).
QUARTERS = np.zeros((60, 40, 3), np.uint8)
QUARTERS[:30, :20] = (0, 0, 255)
QUARTERS[:30, 20:] = (0, 255, 0)
QUARTERS[30:, 20:] = (255, 0, 0)
QUARTERS[30:, :20] = (255, 255, 255)


def one_tile() -> Labelled:
    image = np.full((300, 300, 3), 90, np.uint8)
    image[120:180, 130:170] = QUARTERS
    box = np.array([[130, 120, 170, 180]], np.float32)
    none = np.zeros((0, 4, 2), np.float32)
    return Labelled(image, quads_of_boxes(box), none, partial=False, quarter_turns=False)


def turns_clockwise(patch: NDArray[np.uint8]) -> bool:
    """Whether red, green, blue follow each other clockwise: False for a mirrored face."""
    channels = patch.astype(int)
    centres = []
    for channel in (2, 1, 0):
        others = [c for c in range(3) if c != channel]
        pure = (channels[:, :, channel] > 200) & (channels[:, :, others].max(axis=2) < 60)
        ys, xs = np.nonzero(pure)
        centres.append((float(xs.mean()), float(ys.mean())))
    (rx, ry), (gx, gy), (bx, by) = centres
    return (gx - rx) * (by - gy) - (gy - ry) * (bx - gx) > 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_window_boxes_hold_the_tile_and_never_mirror(seed: int) -> None:
    window = sample_window(one_tile(), 320, 320, np.random.default_rng(seed), (40.0, 70.0))
    assert len(window.boxes) <= 1
    if len(window.boxes) == 0:
        return
    x1, y1, x2, y2 = window.boxes[0]
    assert 0 <= x1 < x2 <= 320
    assert 0 <= y1 < y2 <= 320
    inside = x1 > 1 and y1 > 1 and x2 < 319 and y2 < 319
    if inside:
        part = window.image[int(y1) : int(y2) + 1, int(x1) : int(x2) + 1]
        assert (part.max(axis=2) > 200).mean() > 0.2
        area = (x2 - x1) * (y2 - y1)
        assert 20**2 < area < 160**2


def test_windows_keep_handedness() -> None:
    assert turns_clockwise(QUARTERS)
    assert not turns_clockwise(np.ascontiguousarray(QUARTERS[:, ::-1]))
    seen = 0
    for seed in range(40):
        window = sample_window(one_tile(), 320, 320, np.random.default_rng(seed), (60.0, 61.0))
        if len(window.boxes) == 0:
            continue
        x1, y1, x2, y2 = (int(v) for v in window.boxes[0])
        if min(x1, y1) < 2 or max(x2, y2) > 317:
            continue
        seen += 1
        assert turns_clockwise(window.image[y1 + 4 : y2 - 3, x1 + 4 : x2 - 3])
    assert seen > 10


def test_partial_pictures_ignore_what_is_far_from_labels() -> None:
    source = one_tile()
    partial = Labelled(source.image, source.quads, source.ignored, partial=True, quarter_turns=True)
    window = sample_window(partial, 320, 320, np.random.default_rng(4), (50.0, 51.0))
    x1, y1, x2, y2 = window.boxes[0]
    assert not window.ignore[int((y1 + y2) / 16), int((x1 + x2) / 16)]
    assert window.ignore.mean() > 0.7


def test_mosaic_is_reproducible_and_in_bounds() -> None:
    made = [mosaic([one_tile()] * 4, 416, np.random.default_rng(9), (30.0, 60.0)) for _ in range(2)]
    assert (made[0].image == made[1].image).all()
    assert made[0].image.shape == (416, 416, 3)
    assert (made[0].boxes >= 0).all()
    assert (made[0].boxes <= 416).all()
    assert made[0].ignore.shape == (52, 52)


def test_degrade_keeps_shape_and_type() -> None:
    image = np.random.default_rng(1).integers(0, 256, (64, 48, 3)).astype(np.uint8)
    for seed in range(30):
        out = degrade(image, np.random.default_rng(seed))
        assert out.shape == image.shape
        assert out.dtype == np.uint8


@pytest.mark.parametrize("degrees", [0.0, 37.0, 90.0, 200.0])
def test_turned_span_bounds_the_turned_rectangle(degrees: float) -> None:
    span = np.array([30.0, 40.0], np.float32)
    angle = math.radians(degrees)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    corners = np.array([[-15, -20], [15, -20], [15, 20], [-15, 20]]) @ turn.T
    assert turned_span(span, degrees) == pytest.approx(np.ptp(corners, axis=0), rel=1e-5)


def test_patch_has_the_tile_in_its_middle() -> None:
    image = one_tile().image
    patch, span = cut_patch(image, np.array([130, 120, 170, 180], np.float32))
    assert patch.shape == (PATCH_PX, PATCH_PX, 3)
    assert span[1] / span[0] == pytest.approx(1.5)
    middle = patch[50:110, 62:98]
    assert (middle.max(axis=2) > 200).mean() > 0.4


def test_scene_crops_carry_the_turn_of_the_face() -> None:
    """A face whose top is red and bottom blue: the label must point to the red end."""
    image = np.full((200, 200, 3), 60, np.uint8)
    image[70:100, 80:120] = (0, 0, 255)
    image[100:130, 80:120] = (255, 0, 0)
    quad = [[80, 70], [120, 70], [120, 130], [80, 130]]
    row = {"quad": quad, "tile": "1m", "rotation": 0.0}
    for seed in range(25):
        sample = scene_sample(image, row, np.random.default_rng(seed))
        assert sample is not None
        pixels = sample.pixels.astype(float)
        ys, xs = np.mgrid[:CROP_PX, :CROP_PX]
        inside = sample.pixels[3] > 0
        red = np.clip(pixels[0] - pixels[2], 0, None) * inside
        blue = np.clip(pixels[2] - pixels[0], 0, None) * inside
        if red.sum() < 1000 or blue.sum() < 1000:
            continue  # turned grey by the degrading
        up = [float((red * a).sum() / red.sum() - (blue * a).sum() / blue.sum()) for a in (xs, ys)]
        seen = math.degrees(math.atan2(up[0], -up[1]))
        assert abs((seen - sample.rotation + 180) % 360 - 180) < 25


def test_a_tile_cut_by_the_picture_is_still_that_tile() -> None:
    """Its box is what is left of it, and the picture's last pixels are repeated beyond its edge."""
    image = np.full((200, 200, 3), 60, np.uint8)
    image[70:130, 80:120] = (0, 0, 255)
    quad = [[80, 70], [120, 70], [120, 130], [80, 130]]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sample = cut_sample(image, {"quad": quad, "tile": "7z", "rotation": 0.0}, rng, 0.0)
        assert sample.tile == int(parse_tile("7z"))
        assert sample.rotation % 90 == 0
        red = sample.pixels[0].astype(int) - sample.pixels[2] > 100
        box = sample.pixels[3] > 0
        assert (red & box).sum() > 0.7 * box.sum(), "the box holds nothing but the tile"
        edges = (red[2], red[-3], red[:, 2], red[:, -3])
        assert max(edge.mean() for edge in edges) > 0.25, "the cut side goes on beyond the edge"


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_part_of_a_tile_is_one_end_of_it_and_no_tile(turn: int) -> None:
    """The tile is red at its top and blue at its bottom: a part shows more of one of them."""
    image = np.full((300, 300, 3), 90, np.uint8)
    image[100:150, 120:195], image[150:200, 120:195] = (0, 0, 255), (255, 0, 0)
    image = np.ascontiguousarray(np.rot90(image, -turn // 90))
    corners = np.array([[120, 100], [195, 100], [195, 200], [120, 200]], np.float64) - 150
    way = math.radians(turn)
    quad = corners @ np.array([[math.cos(way), math.sin(way)], [-math.sin(way), math.cos(way)]])
    row = {"quad": (quad + 150).tolist(), "tile": "4p", "rotation": float(turn)}
    ends = set()
    for seed in range(12):
        sample = part_sample(image, row, np.random.default_rng(seed), worsen=0.0)
        assert sample is not None
        assert sample.tile == NO_TILE
        assert math.isnan(sample.rotation)
        inside = sample.pixels[3] > 0
        red, blue = (int((sample.pixels[k][inside] > 200).sum()) for k in (0, 2))
        assert max(red, blue) > 0.75 * (red + blue)
        assert red + blue > 0.75 * inside.sum()
        ends.add(red > blue)
    assert ends == {True, False}


def test_a_part_outside_the_picture_is_not_drawn() -> None:
    image = np.zeros((60, 60, 3), np.uint8)
    row = {"quad": [[-40, -10], [-10, -10], [-10, 30], [-40, 30]], "tile": "4p", "rotation": 0.0}
    assert part_sample(image, row, np.random.default_rng(1)) is None


def test_made_scene_outlines_tiles_of_its_set() -> None:
    face = np.zeros((128, 96, 4), np.uint8)
    cv2.circle(face, (48, 64), 30, (0, 0, 200, 255), -1)
    art = ArtSet("dots", {9: [face], 33: [face]}, mono=False)
    faces, body = art_style(art, np.random.default_rng(0))
    assert {tile for tile, _ in faces} == {9, 33}
    assert body.shape == (3,)
    scene = compose([art], [], np.random.default_rng(5))
    assert scene.image.shape == (640, 640, 3)
    assert scene.rows
    assert {row["tile"] for row in scene.rows} <= {"1p", "7z", "back"}
    for row in scene.rows:
        quad = np.array(row["quad"])
        # Corners run clockwise from the face's own top left: it is not mirrored.
        a, b = quad[1] - quad[0], quad[3] - quad[0]
        assert a[0] * b[1] - a[1] * b[0] > 0


def test_labels_that_cannot_be_read_name_the_file(tmp_path: Path) -> None:
    bad = tmp_path / "x.txt"
    bad.write_text("3 0.5 oops 0.1 0.1\n")
    with pytest.raises(PhotoSetError, match=r"x\.txt"):
        load_photo(tmp_path / "x.jpg", bad)
    with pytest.raises(PhotoSetError, match=r"train\.txt"):
        load_split(tmp_path, "train")


def test_ignored_areas_are_kept_apart_from_tiles(tmp_path: Path) -> None:
    label = tmp_path / "a.txt"
    label.write_text("99 0.5 0.5 0.2 0.2\n4 0.1 0.1 0.1 0.1\n")
    photo = load_photo(tmp_path / "home__a.jpg", label)
    assert photo.classes.tolist() == [4]
    assert photo.ignored.tolist() == [pytest.approx([0.4, 0.4, 0.6, 0.6])]
    assert photo.group == "home"


def test_average_precision_of_known_curves() -> None:
    assert average_precision([1, 1], [0.9, 0.8], 2) == pytest.approx(1.0)
    assert average_precision([0, 1], [0.9, 0.8], 1) == pytest.approx(0.5)
    assert average_precision([], [], 3) == 0.0
    assert average_precision([1], [0.5], 2) == pytest.approx(51 / 101)


def test_forgiveness_is_for_unmatched_finds_at_the_border_or_in_ignored_areas() -> None:
    truth = np.array([[0, 0, 0, 20, 20.0]])
    found = np.array(
        [
            [0, 0.9, 0, 0, 20, 20.0],  # matched, stays
            [0, 0.9, 80, 40, 100, 60.0],  # cut off by the border
            [0, 0.9, 40, 40, 50, 50.0],  # in the ignored area
            [0, 0.9, 60, 60, 70, 70.0],  # false, stays
        ]
    )
    kept = forgive(found, truth, np.array([[35, 35, 55, 55.0]]), 100, 100)
    assert kept[:, 2].tolist() == [0, 60]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("eval_detector", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["eval_detector"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not TOOL.is_file(), reason="../shared/tools is not there")
@pytest.mark.parametrize("seed", range(6))
def test_metrics_agree_with_the_reference_tool(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    tool = load_tool()
    names, predictions = [], {}
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    pictures = []
    for number in range(4):
        name = f"g{number % 2}__{number}.png"
        names.append(name)
        cv2.imwrite(str(tmp_path / "images" / name), np.zeros((100, 200, 3), np.uint8))
        count = int(rng.integers(1, 9))
        classes = rng.integers(0, 4, count)
        corner = rng.uniform(0.0, 0.8, (count, 2))
        boxes = np.concatenate([corner, corner + rng.uniform(0.05, 0.2, (count, 2))], axis=1)
        centre, span = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
        table = np.concatenate([centre, span], axis=1)
        lines = [
            f"{c} " + " ".join(f"{value:.6f}" for value in row)
            for c, row in zip(classes, table, strict=True)
        ]
        lines.append("99 0.9 0.9 0.2 0.2")
        (tmp_path / "labels" / f"{Path(name).stem}.txt").write_text("\n".join(lines))
        photo = load_photo(
            tmp_path / "images" / name, tmp_path / "labels" / f"{Path(name).stem}.txt"
        )
        rows = []
        for c, b in zip(classes, boxes, strict=True):
            for _ in range(int(rng.integers(0, 3))):
                moved = b + rng.normal(0, 0.01, 4)
                kind = int(c) if rng.random() < 0.7 else int(rng.integers(0, 4))
                rows.append([kind, float(rng.random()), *(moved * [200, 100, 200, 100]).tolist()])
        rows.append([2, 0.7, 170.0, 85.0, 190.0, 95.0])
        predictions[name] = rows
        scale = np.array([200, 100, 200, 100], np.float64)
        truth = np.concatenate([photo.classes[:, None], photo.boxes * scale], axis=1)
        found = forgive(np.array(rows), truth, photo.ignored * scale, 200, 100)
        pictures.append(Scored(name, truth.astype(np.float64), found))
    file = tmp_path / "p.json"
    file.write_text(json.dumps(predictions))
    data = tool.load(str(file), str(tmp_path / "labels"), str(tmp_path / "images"), None)
    theirs = tool.score(data, 0.25, 0.5)[0]
    ours = score(pictures)
    assert ours.map50 == pytest.approx(theirs["mAP50"], abs=1e-6)
    assert ours.precision == pytest.approx(theirs["precision"])
    assert ours.recall == pytest.approx(theirs["recall"])
    assert ours.box_recall == pytest.approx(theirs["box_recall"])
    assert ours.class_accuracy == pytest.approx(theirs["class_acc_of_found"])
    assert ours.images_perfect == pytest.approx(theirs["images_perfect"])


@pytest.mark.parametrize(("group", "hard"), [("leo", 12), ("home", 4), ("tray", 0)])
def test_false_finds_are_learnt_where_all_tiles_have_labels(
    tmp_path: Path, group: str, hard: int
) -> None:
    """Of pictures that leave tiles unlabelled none is taken, nor what overlaps a label."""
    cv2.imwrite(str(tmp_path / "a.png"), np.full((600, 600, 3), 80, np.uint8))
    boxes = np.array([[0.4, 0.4, 0.5, 0.55]], np.float32)
    none = np.zeros((0, 4), np.float32)
    photo = Photo(tmp_path / "a.png", group, boxes, np.array([3]), none, False, False)
    elsewhere = [[x / 20, 0.7, x / 20 + 0.04, 0.76] for x in range(19)]
    finds = {"tiles": [*boxes.tolist(), *elsewhere], "ignored": []}
    without = gather_patches([photo], None)
    found = gather_patches([photo], None, {"a.png": finds})
    assert (found.classes == 3).sum() == 1
    assert (found.classes == NO_TILE).sum() == (without.classes == NO_TILE).sum() + hard


def test_clutter_is_no_tile(tmp_path: Path) -> None:
    """What the finder sees in a picture without tiles becomes crops of no tile."""
    (tmp_path / "deep").mkdir()
    rng = np.random.default_rng(1)
    sign = np.full((400, 500, 3), 60, np.uint8)
    for x in range(20, 460, 60):  # cards with a word on them
        cv2.rectangle(sign, (x, 100), (x + 40, 160), (235, 240, 240), -1)
        cv2.putText(sign, "Ab", (x + 6, 140), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (20, 20, 160), 2)
    cv2.imwrite(str(tmp_path / "deep" / "sign.jpg"), sign)
    cv2.imwrite(str(tmp_path / "icon.jpg"), rng.integers(0, 255, (32, 32, 3), np.uint8))
    seen = list(pictures(listed([tmp_path])))
    assert [image.shape for image in seen] == [(400, 500, 3)]
    finds = false_finds(Detector(min_score=0.05), seen[0])
    assert 0 < len(finds) <= MOST
    images, spans = zip(*finds, strict=True)
    np.savez(tmp_path / "clutter.npz", images=np.stack(images), spans=np.stack(spans))
    patches = gather_patches([], None, None, tmp_path / "clutter.npz")
    assert patches.images.shape == (len(finds), PATCH_PX, PATCH_PX, 3)
    assert set(patches.classes) == {NO_TILE}
    assert count(Detector(), iter(seen)).startswith("1 pictures without tiles: ")
