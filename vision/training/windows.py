"""Training windows for the tile finder: cut, turn, scale and degrade labelled pictures.

Nothing here mirrors a picture: a mirrored tile is not a tile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from .sources import FloatArray, ImageArray, Photo

MASK_STRIDE = 8
"""The ignore mask has one cell for 8x8 pixels, the finest grid of the tile finder."""

MIN_VISIBLE = 0.4
"""A tile cut off by the window counts as one when this share of its box is inside."""


@dataclass(frozen=True)
class Labelled:
    """A picture with tile outlines.

    ``quads`` is (N, 4, 2) pixels, the corners of each tile's face; ``ignored`` likewise for areas
    without labels. ``partial``: everything away from the labelled tiles is unlabelled.
    ``quarter_turns``: outlines are loose, turn the picture only by 0, 90, 180 or 270 degrees.
    """

    image: ImageArray
    quads: FloatArray
    ignored: FloatArray
    partial: bool
    quarter_turns: bool


@dataclass(frozen=True)
class Window:
    """A training window: BGR picture, boxes (N, 4) x1 y1 x2 y2 pixels, ignore mask at 1/8 scale."""

    image: ImageArray
    boxes: FloatArray
    ignore: npt.NDArray[np.bool_]


def quads_of_boxes(boxes: FloatArray) -> FloatArray:
    """Corners (N, 4, 2) of axis-aligned boxes (N, 4), clockwise from the top left."""
    x1, y1, x2, y2 = boxes.reshape(-1, 4).T
    corners = np.stack([x1, y1, x2, y1, x2, y2, x1, y2], axis=1)
    return np.asarray(corners.reshape(-1, 4, 2), np.float32)


def labelled_of_photo(photo: Photo, image: ImageArray) -> Labelled:
    """The photograph's labels in pixels of ``image``."""
    height, width = image.shape[:2]
    scale = np.array([width, height, width, height], np.float32)
    return Labelled(
        image=image,
        quads=quads_of_boxes(photo.boxes * scale),
        ignored=quads_of_boxes(photo.ignored * scale),
        partial=photo.partial,
        quarter_turns=photo.tilted,
    )


def _transform(quads: FloatArray, matrix: FloatArray) -> FloatArray:
    moved = quads @ matrix[:, :2].T + matrix[:, 2]
    return np.asarray(moved, np.float32)


def _aabb(quads: FloatArray) -> FloatArray:
    return np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1)


def _draw_scaled(mask: ImageArray, quads: FloatArray, grow: float, value: int) -> None:
    for quad in quads:
        centre = quad.mean(axis=0)
        polygon = ((quad - centre) * grow + centre) / MASK_STRIDE
        cv2.fillConvexPoly(mask, np.round(polygon).astype(np.int32), value)


def random_angle(rng: np.random.Generator, quarter_turns: bool) -> float:
    """Degrees: quarter turns with a little play, half of the time any angle where allowed."""
    quarter = 90.0 * int(rng.integers(4))
    if quarter_turns:
        return quarter
    if rng.random() < 0.4:
        return float(rng.uniform(0, 360))
    return quarter + float(rng.normal(0, 4))


def sample_window(
    source: Labelled,
    width: int,
    height: int,
    rng: np.random.Generator,
    tile_px: tuple[float, float] = (22.0, 110.0),
) -> Window:
    """Cut a window around a random tile, its face scaled to a size drawn from ``tile_px``."""
    image, quads = source.image, source.quads
    if len(quads):
        quad = quads[int(rng.integers(len(quads)))]
        anchor = quad.mean(axis=0)
        span = quad.max(axis=0) - quad.min(axis=0)
        size = math.sqrt(max(float(span[0] * span[1]), 1.0))
    else:
        anchor = rng.uniform(0, 1, 2) * [image.shape[1], image.shape[0]]
        size = 50.0
    goal = math.exp(rng.uniform(math.log(tile_px[0]), math.log(tile_px[1])))
    zoom = min(goal / size, 2.2)
    if zoom < 0.75:
        image = np.asarray(
            cv2.resize(image, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA), np.uint8
        )
        pre, zoom = zoom, 1.0
    else:
        pre = 1.0
    stretch = math.exp(rng.normal(0, 0.12))
    angle = math.radians(random_angle(rng, source.quarter_turns))
    cos, sin = math.cos(angle), math.sin(angle)
    linear = np.array([[cos, -sin], [sin, cos]]) @ np.diag([zoom * stretch, zoom / stretch])
    place = np.array([rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.9) * height])
    matrix = np.concatenate([linear, (place - linear @ (anchor * pre))[:, None]], axis=1)
    fill = tuple(int(v) for v in rng.integers(0, 256, 3))
    view = cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderValue=fill)
    moved = _transform(quads * pre, matrix)
    boxes, mask = _visible_boxes(moved, width, height)
    if source.partial:
        mask[:] = 1
        _draw_scaled(mask, moved, 1.35, 0)
    _draw_scaled(mask, _transform(source.ignored * pre, matrix), 1.0, 1)
    return Window(np.asarray(view, np.uint8), boxes, mask.astype(np.bool_))


def _visible_boxes(quads: FloatArray, width: int, height: int) -> tuple[FloatArray, ImageArray]:
    """Boxes of the tiles that are visible enough, and the mask of those that are barely so."""
    mask = np.zeros((height // MASK_STRIDE, width // MASK_STRIDE), np.uint8)
    if len(quads) == 0:
        return np.zeros((0, 4), np.float32), mask
    whole = _aabb(quads)
    limit = np.array([width, height, width, height], np.float32)
    clipped = np.clip(whole, 0, limit)
    area = np.prod(whole[:, 2:] - whole[:, :2], axis=1)
    seen = np.prod(clipped[:, 2:] - clipped[:, :2], axis=1) / np.maximum(area, 1e-6)
    small = (clipped[:, 2:] - clipped[:, :2]).min(axis=1) < 6
    keep = (seen >= MIN_VISIBLE) & ~small
    _draw_scaled(mask, quads[~keep & (seen > 0)], 1.1, 1)
    return clipped[keep], mask


def mosaic(
    sources: list[Labelled], size: int, rng: np.random.Generator, tile_px: tuple[float, float]
) -> Window:
    """Four windows (or one source: one window) in one square picture, split at a random point."""
    if len(sources) == 1:
        return sample_window(sources[0], size, size, rng, tile_px)
    steps = size // 32
    cut_x, cut_y = (32 * int(rng.integers(steps // 4, steps - steps // 4 + 1)) for _ in range(2))
    image = np.zeros((size, size, 3), np.uint8)
    ignore = np.zeros((size // MASK_STRIDE, size // MASK_STRIDE), np.bool_)
    boxes: list[FloatArray] = []
    corners = [(0, 0), (cut_x, 0), (0, cut_y), (cut_x, cut_y)]
    for source, (left, top) in zip(sources, corners, strict=True):
        width = cut_x if left == 0 else size - cut_x
        height = cut_y if top == 0 else size - cut_y
        part = sample_window(source, width, height, rng, tile_px)
        image[top : top + height, left : left + width] = part.image
        rows = slice(top // MASK_STRIDE, (top + height) // MASK_STRIDE)
        columns = slice(left // MASK_STRIDE, (left + width) // MASK_STRIDE)
        ignore[rows, columns] = part.ignore
        boxes.append(part.boxes + np.array([left, top, left, top], np.float32))
    return Window(image, np.concatenate(boxes), ignore)


def degrade(image: ImageArray, rng: np.random.Generator, strength: float = 1.0) -> ImageArray:
    """Light, colour, blur, noise and JPEG of a worse camera."""
    out = image.astype(np.float32)
    gain = np.exp(rng.normal(0, 0.22 * strength)) * np.exp(rng.normal(0, 0.07 * strength, 3))
    gain = gain.astype(np.float32)
    out = np.clip(out * gain + rng.normal(0, 12 * strength), 0, 255)
    if rng.random() < 0.4:
        out = 255 * (out / 255) ** float(np.exp(rng.normal(0, 0.3 * strength)))
    if rng.random() < 0.4 * strength:
        out = _shade(out, rng)
    grey = out.mean(axis=2, keepdims=True)
    out = np.clip(grey + (out - grey) * rng.uniform(0.3, 1.5), 0, 255)
    if rng.random() < 0.04:
        out = np.repeat(grey, 3, axis=2)
    kind = rng.random()
    if kind < 0.25 * strength:
        out = np.asarray(cv2.GaussianBlur(out, (0, 0), float(rng.uniform(0.4, 1.3))), np.float32)
    elif kind < 0.33 * strength:
        out = np.asarray(cv2.filter2D(out, -1, _motion_kernel(rng)), np.float32)
    if rng.random() < 0.3 * strength:
        out = out + rng.standard_normal(out.shape, np.float32) * rng.uniform(2, 12)
    result = np.clip(out, 0, 255).astype(np.uint8)
    if rng.random() < 0.4 * strength:
        quality = [int(cv2.IMWRITE_JPEG_QUALITY), int(rng.integers(35, 92))]
        _, data = cv2.imencode(".jpg", result, quality)
        result = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return result


def _shade(image: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Uneven light: a coarse random field of brightness."""
    field = np.exp(rng.normal(0, 0.3, (3, 3))).astype(np.float32)
    height, width = image.shape[:2]
    light = cv2.resize(field, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.clip(image * light[:, :, None], 0, 255), np.float32)


def _motion_kernel(rng: np.random.Generator) -> FloatArray:
    length = int(rng.integers(3, 7))
    kernel = np.zeros((length, length), np.float32)
    angle = float(rng.uniform(0, math.pi))
    centre = (length - 1) / 2
    for step in np.linspace(-centre, centre, 2 * length):
        row, column = centre + step * math.sin(angle), centre + step * math.cos(angle)
        kernel[round(row), round(column)] = 1
    return np.asarray(kernel / kernel.sum(), np.float32)
