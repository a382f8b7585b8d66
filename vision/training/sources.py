"""The labelled photographs: where they are, what they hold, which are only partly labelled."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
ImageArray = npt.NDArray[np.uint8]

IGNORE_CLASS = 99
"""Label class of an area whose tiles were not labelled."""

UNLABELLED = Path(__file__).with_name("unlabelled.json")

FIRST_FLOWER = 34
"""Class index of 1f."""

TILTED_IOU = 0.04
"""Neighbouring axis-aligned boxes of straight tiles touch; those of turned tiles overlap."""


class PhotoSetError(RuntimeError):
    """The photograph set is missing or malformed; the message names the file."""


@dataclass(frozen=True)
class Photo:
    """One labelled photograph.

    ``boxes`` is (N, 4) float32, x1 y1 x2 y2 in units of the picture's width and height (0 to 1),
    ``classes`` (N,) int64 canonical indices. ``partial``: tiles outside the labelled area are not
    labelled. ``tilted``: boxes are of turned tiles, so turning the picture further by anything but
    quarter turns would make them loose.
    """

    path: Path
    group: str
    boxes: FloatArray
    classes: npt.NDArray[np.int64]
    ignored: FloatArray
    partial: bool
    tilted: bool

    def read(self) -> ImageArray:
        """The picture, BGR."""
        image = cv2.imread(str(self.path), cv2.IMREAD_COLOR)
        if image is None:
            raise PhotoSetError(f"{self.path}: not a readable picture")
        return np.asarray(image, np.uint8)


def iou_matrix(a: FloatArray, b: FloatArray) -> FloatArray:
    """Intersection over union of every box of ``a`` (N, 4) with every box of ``b`` (M, 4)."""
    if len(a) == 0 or len(b) == 0:
        return np.zeros((len(a), len(b)), np.float32)
    top_left = np.maximum(a[:, None, :2], b[None, :, :2])
    bottom_right = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.clip(bottom_right - top_left, 0, None), axis=2)
    area_a = np.prod(a[:, 2:] - a[:, :2], axis=1)
    area_b = np.prod(b[:, 2:] - b[:, :2], axis=1)
    iou: FloatArray = inter / np.maximum(area_a[:, None] + area_b[None, :] - inter, 1e-9)
    return iou


def _is_tilted(boxes: FloatArray) -> bool:
    if len(boxes) < 2:
        return False
    iou = iou_matrix(boxes, boxes)
    np.fill_diagonal(iou, 0)
    return bool(np.median(iou.max(axis=1)) > TILTED_IOU)


def _is_partial(group: str, count: int) -> bool:
    # SOURCES.md: hands are labelled, the discards behind them are not. Trays are whole.
    return group.startswith("cmd") and count <= 20


def is_held_out(photo: Photo) -> bool:
    """Whether the photograph serves calibration instead of training; a hash of its name decides."""
    return zlib.crc32(photo.path.stem.encode()) % 12 == 0


def load_photo(image: Path, labels: Path) -> Photo:
    """Read the labels of one picture.

    Raises:
        PhotoSetError: the label file is missing or a line is malformed.
    """
    group = image.name.split("__")[0]
    try:
        lines = [line.split() for line in labels.read_text().splitlines() if line.strip()]
        rows = [[float(value) for value in words[:5]] for words in lines]
    except (OSError, ValueError) as error:
        raise PhotoSetError(f"{labels}: {error}") from error
    table = np.array(rows, np.float32).reshape(-1, 5)
    centre, size = table[:, 1:3], table[:, 3:5]
    corners = np.concatenate([centre - size / 2, centre + size / 2], axis=1)
    ignored = table[:, 0] == IGNORE_CLASS
    boxes = corners[~ignored]
    return Photo(
        path=image,
        group=group,
        boxes=boxes,
        classes=table[~ignored, 0].astype(np.int64),
        ignored=corners[ignored],
        partial=_is_partial(group, len(boxes)),
        tilted=_is_tilted(boxes),
    )


def has_flawed_flowers(photo: Photo) -> bool:
    """Whether flower boxes of the picture hold only the numeral and character, not the tile.

    So it is in every ``home`` picture that shows flowers (7 of the training split, 9 of the
    validation split; found by looking at all of them).
    """
    return photo.group == "home" and bool((photo.classes >= FIRST_FLOWER).any())


def without_flawed_flowers(photo: Photo) -> Photo:
    """The photograph with flawed flower labels turned into ignored areas, twice their size."""
    if not has_flawed_flowers(photo):
        return photo
    flower = photo.classes >= FIRST_FLOWER
    boxes = photo.boxes[flower]
    span = (boxes[:, 2:] - boxes[:, :2]) / 2
    grown = np.concatenate([boxes[:, :2] - span, boxes[:, 2:] + span], axis=1)
    return replace(
        photo,
        boxes=photo.boxes[~flower],
        classes=photo.classes[~flower],
        ignored=np.concatenate([photo.ignored, np.asarray(grown, np.float32)]),
    )


def unlabelled_areas(stem: str) -> list[list[float]]:
    """Areas (px) of unlabelled tiles in a picture, by the start of its name.

    Reviewed by eye: pictures of the validation split and those kept to calibrate on.
    """
    areas: dict[str, list[list[float]]] = json.loads(UNLABELLED.read_text())
    return [area for start, listed in areas.items() if stem.startswith(start) for area in listed]


def load_split(photos: Path, split: str) -> list[Photo]:
    """Photographs listed in ``<photos>/<split>.txt`` in the order of the file, as labelled.

    Raises:
        PhotoSetError: the list or one of its labels is missing.
    """
    listing = photos / f"{split}.txt"
    if not listing.is_file():
        raise PhotoSetError(f"{listing}: no such file; --photos takes the folder with train.txt")
    images = [photos / line.strip() for line in listing.read_text().splitlines() if line.strip()]
    return [load_photo(image, photos / "labels" / f"{image.stem}.txt") for image in images]
