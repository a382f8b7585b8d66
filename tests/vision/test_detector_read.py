"""Reading photographs from files: JSON, orientation, drawing, errors."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tablectl.tiles import NAMES
from vision.detector import Detection, Detector
from vision.read import (
    LISTED,
    PhotoError,
    draw,
    draw_to,
    in_reading_order,
    load_image,
    read_photo,
)

from .test_detector import felt, paste


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def detection(x: float, y: float, size: float = 40) -> Detection:
    probabilities = tuple([1.0] + [0.0] * 42)
    return Detection((x, y, x + size, y + size), 0.9, probabilities, 0.0)


def test_json_is_the_agreed_object(tmp_path: Path, detector: Detector) -> None:
    image = felt(300, 400)
    paste(image, "6z", (100, 150), 44)
    paste(image, "7z", (250, 150), 44)
    path = tmp_path / "two tiles.png"
    cv2.imwrite(str(path), image)
    content = json.loads(read_photo(path, detector).as_json())
    assert set(content) == {"image", "width", "height", "tiles"}
    assert (content["image"], content["width"], content["height"]) == (str(path), 400, 300)
    assert [tile["tile"] for tile in content["tiles"]] == ["6z", "7z"]
    for tile, x in zip(content["tiles"], (100, 250), strict=True):
        assert set(tile) == {"tile", "confidence", "box", "rotation"}
        assert 0 <= tile["confidence"] <= 1
        assert 0 <= tile["rotation"] < 360
        x1, y1, x2, y2 = tile["box"]
        assert x1 < x < x2
        assert y1 < 150 < y2


def test_exif_orientation_is_applied(tmp_path: Path) -> None:
    image = felt(200, 300)
    image[:40, :60] = (0, 0, 255)
    upright, turned = tmp_path / "a.jpg", tmp_path / "b.jpg"
    rgb = Image.fromarray(image[:, :, ::-1])
    rgb.save(upright, quality=95)
    exif = Image.Exif()
    exif[0x0112] = 6  # stored turned: to be shown turned clockwise by 90 degrees
    rgb.transpose(Image.Transpose.ROTATE_90).save(turned, quality=95, exif=exif)
    a, b = load_image(upright), load_image(turned)
    assert a.shape == b.shape == (200, 300, 3)
    assert float(np.abs(a.astype(int) - b.astype(int)).mean()) < 6


@pytest.mark.parametrize("content", [b"", b"this is no picture", b"\xff\xd8\xff\xe0" + b"\0" * 20])
def test_unreadable_pictures_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(content)
    with pytest.raises(PhotoError, match=r"x\.jpg"):
        load_image(path)


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(PhotoError, match="No such file"):
        load_image(tmp_path / "none.jpg")
    with pytest.raises(PhotoError, match="directory"):
        load_image(tmp_path)


def test_reading_order_is_by_rows() -> None:
    rows = [detection(200, 104), detection(10, 100), detection(100, 96), detection(5, 200)]
    order = in_reading_order(rows)
    assert [d.box[0] for d in order] == [10, 100, 200, 5]


def test_drawing_marks_the_tiles_and_keeps_the_picture(tmp_path: Path, detector: Detector) -> None:
    image = felt(300, 300)
    paste(image, "6z", (150, 150), 44)
    path = tmp_path / "one.png"
    cv2.imwrite(str(path), image)
    reading = read_photo(path, detector)
    drawn = draw(reading, image)
    assert drawn.shape == image.shape
    changed = (drawn != image).any(axis=2)
    assert 50 < changed.sum() < 0.2 * changed.size
    target = draw_to(reading, tmp_path / "out" / "deep")
    assert target.name == "one.tiles.png"
    assert load_image(target).shape == image.shape
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(PhotoError, match="file"):
        draw_to(reading, blocked)


def test_names_are_tile_notation(tmp_path: Path, detector: Detector) -> None:
    image = felt(200, 200)
    paste(image, "8p", (100, 100), 44)
    path = tmp_path / "p.png"
    cv2.imwrite(str(path), image)
    names = [tile["tile"] for tile in read_photo(path, detector).as_dict()["tiles"]]
    assert names
    assert all(name in (*NAMES, "back") for name in names)


class Shrunk(Detector):
    """Sees the panel alone in a picture shrunk to a third, and forty tiles from two thirds on."""

    def __init__(self) -> None:
        super().__init__(min_score=LISTED)
        self.scales: list[float] = []

    def _find(
        self, image: NDArray[np.uint8], scale: float
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        self.scales.append(scale)
        if scale < 0.6:
            return np.array([[900, 500, 1056, 656]], np.float32), np.array([0.64], np.float32)
        corners = [(60 * (i % 9) + 200, 60 * (i // 9) + 600) for i in range(40)]
        boxes = np.array([(x, y, x + 28, y + 38) for x, y in corners], np.float32)
        return boxes, np.full(40, 0.8, np.float32)


def test_a_picture_that_shows_hardly_a_tile_is_looked_at_closer() -> None:
    """Of path-traced tables with few tiles none were read: the panel had a tile's size."""
    detector = Shrunk()
    boxes, _ = detector.find_photo(np.zeros((1080, 1920, 3), np.uint8))
    assert len(boxes) == 40
    assert detector.scales[:2] == pytest.approx([1 / 3, 2 / 3])
    detector.scales.clear()
    assert len(detector.find_photo(np.zeros((360, 640, 3), np.uint8))[0]) == 40
    assert detector.scales[0] == 1.0
