"""The shipped weights read tiles: drawn here, and photographed where ../shared is at hand."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tablectl.tiles import NAMES, Tile
from vision.art.sets import own_art
from vision.detector import Detection, Detector
from vision.training.sources import iou_matrix, load_split

ROOT = Path(__file__).resolve().parents[2]
PHOTOS = ROOT.parent / "shared" / "data" / "photos"
PLAIN = ("2p", "5p", "8p", "3s", "6s", "9s", "1z", "2z", "4z", "6z", "7z", "5m", "8m", "4p")
"""Faces that look much the same in every set."""


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def felt(height: int, width: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(0)
    base = np.array([70, 110, 30], float) + rng.normal(0, 4, (height, width, 1))
    return np.clip(base, 0, 255).astype(np.uint8)


def tile_bitmap(name: str, width: int) -> NDArray[np.uint8]:
    """An upright face of the project's own set on an ivory body, BGR."""
    height = round(width * 1.35)
    face = own_art().faces[NAMES.index(name)]
    body = np.full((height, width, 3), (222, 236, 242), np.uint8)
    inner = (round(width * 0.8), round(height * 0.8))
    ink = cv2.resize(np.asarray(face), inner, interpolation=cv2.INTER_AREA).astype(float)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    part = body[top : top + inner[1], left : left + inner[0]]
    alpha = ink[:, :, 3:] / 255
    part[:] = (part * (1 - alpha) + ink[:, :, :3] * alpha).astype(np.uint8)
    cv2.rectangle(body, (0, 0), (width - 1, height - 1), (150, 170, 180), 1)
    return body


def paste(
    image: NDArray[np.uint8], name: str, centre: tuple[float, float], width: int, degrees: float = 0
) -> None:
    """Lay a tile, its up direction turned clockwise by ``degrees``, with a soft shadow."""
    bitmap = tile_bitmap(name, width)
    height = bitmap.shape[0]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)
    turn[:, 2] += np.array(centre) - [width / 2, height / 2]
    size = (image.shape[1], image.shape[0])
    cover = cv2.warpAffine(np.full((height, width), 255, np.uint8), turn, size)
    shadow = cv2.GaussianBlur(np.roll(cover, 3, axis=(0, 1)), (0, 0), 2.5)
    dark = image * (1 - 0.45 * shadow[:, :, None] / 255)
    laid = cv2.warpAffine(bitmap, turn, size)
    alpha = cover[:, :, None] / 255
    image[:] = (dark * (1 - alpha) + laid * alpha).astype(np.uint8)


def at(found: list[Detection], centre: tuple[float, float], within: float = 12) -> Detection | None:
    near = [d for d in found if math.dist(d.centre, centre) < within and d.confidence > 0.1]
    return max(near, key=lambda d: d.score, default=None)


def test_empty_felt_has_no_tiles(detector: Detector) -> None:
    assert detector.detect(felt(480, 480), tile_px=36) == []


def test_rivers_are_read_at_every_quarter_turn(detector: Detector) -> None:
    image = felt(640, 640)
    wanted: list[tuple[str, tuple[float, float], float]] = []
    for row, degrees in enumerate((0, 90, 180, 270)):
        for column, name in enumerate(PLAIN[:6] if row % 2 else PLAIN[6:12]):
            place = (110.0 + 80 * column, 100.0 + 140 * row)
            paste(image, name, place, 38, degrees)
            wanted.append((name, place, degrees))
    found = detector.detect(image, tile_px=38)
    assert len(found) == pytest.approx(len(wanted), abs=1)
    hits = [(at(found, place), name, degrees) for name, place, degrees in wanted]
    right = [d for d, name, _ in hits if d is not None and NAMES[d.tile] == name]
    assert len(right) >= 21
    letters = [(d, r) for d, name, r in hits if d is not None and name[1] == "z"]
    off = [abs((d.rotation - r + 180) % 360 - 180) for d, r in letters]
    assert sorted(off)[int(len(off) * 0.8)] < 15


def test_half_a_tile_is_no_tile_where_the_size_is_known(detector: Detector) -> None:
    """Each half of this 4p, by itself, is a good 2p, and the finder's first look finds halves."""
    file = Path(__file__).with_name("data") / "half_of_a_4p.png"
    picture = np.asarray(cv2.imread(str(file)), np.uint8)
    tile_px, length = 32.0, 1.33
    found = detector.detect(picture, tile_px=tile_px, least_area=0.8 * length * tile_px**2)
    assert sorted(NAMES[d.tile] for d in found) == ["1p", "4p"]
    four = next(d for d in found if NAMES[d.tile] == "4p")
    assert iou_matrix(np.array([four.box], np.float32), np.array([[64, 35, 98, 79]]))[0, 0] > 0.8


def test_nothing_smaller_than_a_tile_is_found_where_the_size_is_known(detector: Detector) -> None:
    image = felt(320, 320)
    paste(image, "6z", (90, 160), 40)
    paste(image, "7z", (230, 160), 26)
    (found,) = detector.detect(image, tile_px=40, least_area=0.8 * 40 * 53)
    assert NAMES[found.tile] == "6z"


def test_the_end_of_a_standing_tile_is_no_white_beside_faces() -> None:
    """An ivory patch 0.65 tiles deep looks like a White, save for the size of the faces nearby."""
    detector = Detector(min_score=0.25)
    image = felt(400, 400)
    for left in range(100, 300, 40):
        cv2.rectangle(image, (left, 236), (left + 39, 261), (190, 205, 210), -1)
        cv2.rectangle(image, (left, 262), (left + 39, 275), (30, 120, 40), -1)
        cv2.rectangle(image, (left, 236), (left + 39, 275), (150, 170, 180), 1)
    for column, name in enumerate(("6z", "7z", "8p", "5p")):
        paste(image, name, (80 + 70 * column, 120), 40, 90 * column)
    assert sorted(NAMES[d.tile] for d in detector.detect(image)) == ["5p", "6z", "7z", "8p"]


def test_detections_are_complete_and_consistent(detector: Detector) -> None:
    image = felt(320, 320)
    paste(image, "6z", (160, 160), 40)
    (found,) = detector.detect(image, tile_px=40)
    assert len(found.probabilities) == 43
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-4)
    assert found.tile == Tile(NAMES.index("6z"))
    assert 0 < found.confidence <= found.score <= 1
    assert 0 <= found.rotation < 360
    truth = np.array([[140, 133, 180, 187]], np.float32)
    assert iou_matrix(np.array([found.box], np.float32), truth)[0, 0] > 0.7


def test_windows_read_a_large_picture_like_a_small_one(detector: Detector) -> None:
    """Tiles on the seams of the windows are found once, whole, and where they are."""
    image = felt(1080, 1920)
    places = [(x, y) for y in (100, 540, 640, 1000) for x in (320, 560, 640, 960, 1280, 1600)]
    for number, place in enumerate(places):
        paste(image, PLAIN[number % len(PLAIN)], place, 40, 90 * (number % 4))
    found = [d for d in detector.detect(image, tile_px=40) if d.score > 0.4]
    assert len(found) == pytest.approx(len(places), abs=1)
    assert all(sum(math.dist(d.centre, p) < 14 for d in found) <= 1 for p in places)
    assert sum(at(found, p) is not None for p in places) >= len(places) - 1


def test_small_tiles_are_read_with_the_scale_given(detector: Detector) -> None:
    image = felt(200, 320)
    names = ("6z", "7z", "8p", "5p")
    for column, name in enumerate(names):
        paste(image, name, (50 + 70 * column, 100), 20)
    found = detector.detect(image, tile_px=20)
    assert sum(at(found, (50 + 70 * i, 100)) is not None for i in range(4)) == 4


def test_classify_names_known_places(detector: Detector) -> None:
    image = felt(200, 320)
    paste(image, "7z", (100, 100), 40)
    paste(image, "8p", (220, 100), 40, 90)
    boxes = [(80.0, 73.0, 120.0, 127.0), (193.0, 80.0, 247.0, 120.0)]
    probabilities, rotations = detector.classify(image, boxes)
    assert [NAMES[int(i)] for i in probabilities.argmax(axis=1)] == ["7z", "8p"]
    assert rotations.shape == (2,)
    assert abs((rotations[1] + 90) % 180 - 0) < 12 or abs((rotations[1] + 90) % 180 - 180) < 12
    empty, none = detector.classify(image, [])
    assert empty.shape == (0, 43)
    assert none.shape == (0,)


def test_the_same_picture_gives_the_same_answer(detector: Detector) -> None:
    image = felt(320, 320)
    paste(image, "5p", (100, 160), 40, 20)
    assert detector.detect(image) == detector.detect(image)


@pytest.mark.skipif(not PHOTOS.is_dir(), reason="../shared/data/photos is not there")
def test_photographs_of_the_validation_split(detector: Detector) -> None:
    photos = load_split(PHOTOS, "val")[::16]
    tiles = boxes = names = 0
    for photo in photos:
        image = photo.read()
        found = detector.detect(image)
        scale = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
        seen = np.array([d.box for d in found], np.float32).reshape(-1, 4)
        iou = iou_matrix(seen, photo.boxes * scale)
        tiles += len(photo.boxes)
        for column, truth in enumerate(photo.classes):
            if len(found) and iou[:, column].max() >= 0.5:
                boxes += 1
                names += int(found[int(iou[:, column].argmax())].tile == truth)
    assert tiles > 100
    assert boxes / tiles > 0.93
    assert names / tiles > 0.9
