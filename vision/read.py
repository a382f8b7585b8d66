"""Read the tiles of a photograph: what ``tablectl read`` prints and draws."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import format_tile
from vision.detector import Detection, Detector
from vision.one_set import within_one_set

ImageArray = npt.NDArray[np.uint8]

MAX_PIXELS: Final = 120_000_000
"""Larger pictures are refused: they would not fit the memory of a Raspberry Pi."""

LISTED: Final = 0.35
"""Score from which a tile is listed: at 0.25 half as many again of the things that are no tiles are
listed in pictures full of them, at 0.5 a hundredth of the tiles of unseen sets is missing."""

SURE: Final = 0.8
"""Confidence from which a tile is drawn in green."""


class PhotoError(ValueError):
    """The picture can't be read or written; the message names the file and the reason."""


@dataclass(frozen=True)
class PhotoReading:
    """The tiles of one picture.

    Attributes:
        image: the path as given.
        width, height: of the picture as displayed (its EXIF orientation applied), pixels.
        detections: tiles in reading order: rows from the top, each from the left.
    """

    image: str
    width: int
    height: int
    detections: tuple[Detection, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of ``tablectl read --json``; boxes in pixels of the displayed picture."""
        return {
            "image": self.image,
            "width": self.width,
            "height": self.height,
            "tiles": [
                {
                    "tile": format_tile(found.tile),
                    "confidence": round(found.confidence, 4),
                    "box": [round(value, 1) for value in found.box],
                    "rotation": round(found.rotation, 1) % 360,
                }
                for found in self.detections
            ],
        }

    def as_json(self) -> str:
        """One line."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


def load_image(path: Path) -> ImageArray:
    """A picture as BGR (H, W, 3), turned as its EXIF orientation says.

    Raises:
        PhotoError: no such file, a folder, not a picture, or too large.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PhotoError(f"{path}: {error.strerror or error}") from error
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    except cv2.error as error:
        raise PhotoError(f"{path}: can't be decoded ({error.err})") from error
    if image is None:
        raise PhotoError(
            f"{path}: not a picture that OpenCV can decode (JPEG, PNG, WebP, BMP, TIFF)"
        )
    if image.shape[0] * image.shape[1] > MAX_PIXELS:
        raise PhotoError(
            f"{path}: {image.shape[1]}x{image.shape[0]} px is too large; scale it down"
        )
    return np.asarray(image, np.uint8)


def tiles_of(image: ImageArray, detector: Detector) -> list[Detection]:
    """The tiles of a picture (BGR) of unknown scale, read as tiles of one set."""
    return within_one_set(detector.detect(image))


def read_image(image: ImageArray, detector: Detector, name: str = "") -> PhotoReading:
    """Read a picture that is already in memory (BGR)."""
    found = in_reading_order(tiles_of(image, detector))
    return PhotoReading(name, image.shape[1], image.shape[0], tuple(found))


def read_photo(path: Path, detector: Detector) -> PhotoReading:
    """Read the tiles of a picture file.

    Raises:
        PhotoError: the file is not a readable picture.
    """
    return read_image(load_image(path), detector, str(path))


def in_reading_order(detections: list[Detection]) -> list[Detection]:
    """Rows from the top (middles within half a tile's height), each from the left."""
    rows: list[list[Detection]] = []
    for found in sorted(detections, key=lambda d: d.centre[1]):
        height = found.box[3] - found.box[1]
        if rows and found.centre[1] - rows[-1][0].centre[1] < height / 2:
            rows[-1].append(found)
        else:
            rows.append([found])
    return [found for row in rows for found in sorted(row, key=lambda d: d.centre[0])]


def draw(reading: PhotoReading, image: ImageArray) -> ImageArray:
    """A copy of the picture with boxes, names and confidences; unsure tiles in orange."""
    canvas = image.copy()
    unit = max(1, round(max(image.shape[:2]) / 900))
    for found in reading.detections:
        colour = (60, 200, 60) if found.confidence >= SURE else (0, 140, 255)
        x1, y1, x2, y2 = (round(value) for value in found.box)
        cv2.rectangle(canvas, (x1, y1), (x2, y2), colour, unit)
        text = format_tile(found.tile)
        if found.confidence < SURE:
            text += f" {found.confidence:.2f}"
        scale = min(max((x2 - x1) / 70, 0.35), 2.0)
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, unit)
        top = max(y1 - height - 3, 0)
        cv2.rectangle(canvas, (x1, top), (x1 + width + 2, top + height + 3), colour, -1)
        place = (x1 + 1, top + height + 1)
        cv2.putText(
            canvas, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), unit, cv2.LINE_AA
        )
    return canvas


def draw_to(reading: PhotoReading, folder: Path) -> Path:
    """Draw the reading of a picture file into ``folder`` as ``<stem>.tiles.png``; returns the path.

    Raises:
        PhotoError: the picture is gone, or the folder can't be written.
    """
    source = Path(reading.image)
    target = folder / f"{source.stem}.tiles.png"
    picture = draw(reading, load_image(source))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        encoded = cv2.imencode(".png", picture)[1]
        target.write_bytes(encoded.tobytes())
    except OSError as error:
        raise PhotoError(f"{target}: {error.strerror or error}") from error
    return target
