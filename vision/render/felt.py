"""The table without anything on it: felt, frame, floor and markers, as one lit picture."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import TableGeometry
from vision.render.camera import Camera
from vision.render.lighting import Lighting
from vision.render.markers import MARKER_SIZE_MM, marker_picture, marker_positions
from vision.render.style import Style

Floats = NDArray[np.floating[Any]]
RIM_MM = 62.0
"""Width of the frame around the felt."""
_STEP = 8
"""Coordinates and light are computed on every eighth pixel and interpolated."""


@lru_cache(maxsize=4)
def noise_field(side: int, smooth: float, seed: int) -> Floats:
    """Random field (side, side) that tiles seamlessly, mean 0, deviation 1."""
    field = np.random.default_rng(seed).normal(0, 1, (side, side)).astype(np.float32)
    if smooth > 0:
        pad = int(4 * smooth)
        wrapped = cv2.copyMakeBorder(field, pad, pad, pad, pad, cv2.BORDER_WRAP)
        blurred = np.asarray(cv2.GaussianBlur(wrapped, (0, 0), smooth), np.float32)
        field = blurred[pad:-pad, pad:-pad]
    result = (field - field.mean()) / field.std()
    return np.asarray(result, np.float32)


def table_coordinates(camera: Camera) -> tuple[Floats, Floats]:
    """Table mm (x, y) under every pixel, (h, w) each."""
    width, height = camera.size
    columns, rows = -(-width // _STEP) + 1, -(-height // _STEP) + 1
    grid = np.stack(
        np.meshgrid(np.arange(columns) * _STEP, np.arange(rows) * _STEP), axis=-1
    ).astype(float)
    coarse = np.clip(camera.unproject(grid), -6000, 6000).astype(np.float32)
    x, y = (_enlarge(np.ascontiguousarray(coarse[:, :, k]), camera.size) for k in (0, 1))
    return x, y


def _enlarge(coarse: Floats, size: tuple[int, int]) -> Floats:
    """Interpolate values given at every eighth pixel to every pixel."""
    matrix = np.array([[_STEP, 0, 0], [0, _STEP, 0]], np.float32)
    return np.asarray(
        cv2.warpAffine(
            coarse, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ),
        np.float32,
    )


def light_map(camera: Camera, lighting: Lighting) -> Floats:
    """Light on the felt under every pixel, (h, w, 3)."""
    width, height = camera.size
    grid = np.stack(
        np.meshgrid(
            np.arange(-(-width // _STEP) + 1) * _STEP, np.arange(-(-height // _STEP) + 1) * _STEP
        ),
        axis=-1,
    ).astype(float)
    plane = np.clip(camera.unproject(grid), -3000, 3000)
    points = np.concatenate([plane, np.zeros((*plane.shape[:-1], 1))], axis=-1)
    light = lighting.irradiance(points, np.array([0.0, 0.0, 1.0]))
    return _enlarge(light.astype(np.float32), camera.size)


def vignette_map(style: Style, camera: Camera) -> Floats:
    """Loss of light towards the corners, (h, w)."""
    width, height = camera.size
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    r2 = ((x - camera.centre[0]) ** 2 + (y - camera.centre[1]) ** 2) / camera.radius**2
    return np.asarray(1 - style.vignette * r2, np.float32)


def empty_table(
    style: Style, camera: Camera, lighting: Lighting, geometry: TableGeometry
) -> Floats:
    """Lit picture (h, w, 3) of the empty table, 0 to 255, before the lens's loss of light."""
    x, y = table_coordinates(camera)
    picture = _felt(style, x, y)
    edge = np.maximum(np.abs(x), np.abs(y)) - geometry.half_mm
    if float(edge.max()) > 0:
        _frame(picture, style, x, y, edge)
    picture *= light_map(camera, lighting)
    if style.markers:
        _markers(picture, camera, lighting, geometry)
    return picture


def _felt(style: Style, x: Floats, y: Floats) -> Floats:
    rng = np.random.default_rng((style.seed, 77))
    shift = rng.uniform(0, 1000, 4).astype(np.float32)
    # About 2 texture pixels a millimetre for the weave, one for every 3 mm for the blotches.
    weave = _field(noise_field(1024, 0.6, 11), x * 1.7 + shift[0], y * 1.7 + shift[1])
    cx, cy = x[::_STEP, ::_STEP] / 3 + shift[2], y[::_STEP, ::_STEP] / 3 + shift[3]
    blotch = cv2.resize(_field(noise_field(512, 9.0, 12), cx, cy), (x.shape[1], x.shape[0]))
    tone = 1 + style.weave * weave + style.blotch * blotch
    if style.wear > 0:
        tone *= 1 - 0.4 * style.wear * style.blotch * np.abs(blotch)
    if style.pattern != "plain":
        tone *= _pattern(style, x, y)
    return np.asarray(cv2.merge([tone * np.float32(v) for v in style.felt[::-1]]), np.float32)


def _pattern(style: Style, x: Floats, y: Floats) -> Floats:
    """Tone of a surface that is no plain felt, (h, w): table tops and mats in training."""
    rng = np.random.default_rng((style.seed, 78))
    if style.pattern == "wood":
        along, across = float(rng.uniform(0.02, 0.06)), float(rng.uniform(0.25, 0.7))
        coarse = _field(noise_field(512, 9.0, 12), x * along * 2, y * across * 2)
        grain = _field(noise_field(1024, 0.6, 11), x * along, y * across)
        return np.asarray(1 + 0.12 * coarse + 0.06 * grain, np.float32)
    if style.pattern == "speckles":
        spots = _field(noise_field(1024, 0.6, 11), x * 0.45, y * 0.45)
        return np.asarray(1 + np.where(np.abs(spots) > 1.3, 0.35 * np.sign(spots), 0), np.float32)
    pitch, bright = float(rng.uniform(10, 90)), float(rng.uniform(-0.5, 0.9))
    near = np.minimum(np.abs((x / pitch) % 1 - 0.5), np.abs((y / pitch) % 1 - 0.5)) * pitch
    return np.asarray(1 + bright * np.clip(1.2 - near, 0, 1), np.float32)


def _field(field: Floats, x: Floats, y: Floats) -> Floats:
    """Values of a tiling random field at coordinates (h, w)."""
    found = cv2.remap(field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return np.asarray(found, np.float32)


def _frame(picture: Floats, style: Style, x: Floats, y: Floats, edge: Floats) -> None:
    """Wooden or plastic frame, the dark joint along the felt, the floor."""
    half_x, half_y, half_edge = (np.ascontiguousarray(m[::2, ::2]) for m in (x, y, edge))
    grain = _field(noise_field(1024, 0.6, 11), half_x * 0.12, half_y * 1.1)
    coarse = _field(noise_field(512, 9.0, 12), half_x / 9, half_y / 9)
    wood = (1.12 - 0.5 * np.abs(half_edge / RIM_MM - 0.35)) * (1 + 0.05 * grain)
    ground = (0.45 + 0.4 * np.clip((half_edge - RIM_MM) / 200, 0, 1)) * (1 + 0.07 * coarse)
    size = (picture.shape[1], picture.shape[0])
    rim, floor = style.rim[::-1], style.floor[::-1]
    joint = 1 - 0.45 * np.exp(-np.square(np.minimum(edge, 0) / 9.0))
    inside, outside = ((edge > 0) & (edge <= RIM_MM)).astype(np.uint8), edge > RIM_MM
    # Half resolution is enough for grain and floor; only the outlines are sharp.
    near, far = cv2.resize(wood, size), cv2.resize(ground, size)
    picture *= np.where(edge <= 0, joint, 1)[:, :, None]
    cv2.copyTo(cv2.merge([near * np.float32(v) for v in rim]), inside, picture)
    cv2.copyTo(cv2.merge([far * np.float32(v) for v in floor]), outside.astype(np.uint8), picture)


def _markers(picture: Floats, camera: Camera, lighting: Lighting, geometry: TableGeometry) -> None:
    """Print the four markers; white paper a module wider than the black square."""
    height, width = picture.shape[:2]
    for number, (mx, my) in marker_positions(geometry).items():
        half = MARKER_SIZE_MM * 8 / 6 / 2
        corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
        quad = camera.project(corners + np.array([mx, my]))
        low, high = np.floor(quad.min(axis=0)) - 1, np.ceil(quad.max(axis=0)) + 2
        if high[0] <= 0 or high[1] <= 0 or low[0] >= width or low[1] >= height:
            continue
        light = lighting.irradiance((mx, my, 0.0), (0.0, 0.0, 1.0))
        size = tuple(int(v) for v in high - low)
        grey = marker_picture(number, 128).astype(np.float32) / 255 * 205 + 22
        colour = grey[:, :, None] * light.astype(np.float32)
        paste_quad(picture, colour, quad, (int(low[0]), int(low[1])), (size[0], size[1]))


def paste_quad(
    picture: Floats, texture: Floats, quad: NDArray[np.float64], origin: tuple[int, int],
    size: tuple[int, int],
) -> None:  # fmt: skip
    """Warp a texture onto a quad of the picture, supersampled."""
    samples = 3
    h, w = texture.shape[:2]
    source = np.array(
        [(-0.5, -0.5), (w - 0.5, -0.5), (w - 0.5, h - 0.5), (-0.5, h - 0.5)], np.float32
    )
    target = ((quad - np.array(origin) + 0.5) * samples - 0.5).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(source, target)
    large = (size[0] * samples, size[1] * samples)
    stacked = np.dstack([texture, np.ones((h, w), np.float32)])
    large_picture = cv2.warpPerspective(stacked, matrix, large, flags=cv2.INTER_LINEAR)
    warped = np.asarray(cv2.resize(large_picture, size, interpolation=cv2.INTER_AREA), np.float32)
    lay(picture, origin, warped[:, :, :3], warped[:, :, 3])


def lay(picture: Floats, origin: tuple[int, int], colour: Floats, alpha: Floats) -> None:
    """Lay premultiplied colour with alpha on a picture, clipped to it, in place."""
    height, width = picture.shape[:2]
    h, w = alpha.shape
    x0, y0 = max(origin[0], 0), max(origin[1], 0)
    x1, y1 = min(origin[0] + w, width), min(origin[1] + h, height)
    if x0 >= x1 or y0 >= y1:
        return
    ys, xs = slice(y0 - origin[1], y1 - origin[1]), slice(x0 - origin[0], x1 - origin[0])
    part = picture[y0:y1, x0:x1]
    part *= 1 - alpha[ys, xs, None]
    part += colour[ys, xs]
