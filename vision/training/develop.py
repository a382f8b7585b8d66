"""What a camera makes of a made picture: tilt, glare, light, focus, motion, noise."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np

from .sources import FloatArray, ImageArray


def tilted(
    image: ImageArray, rows: list[dict[str, Any]], rng: np.random.Generator
) -> tuple[ImageArray, list[dict[str, Any]]]:
    """The flat picture seen at a slant, up to 45 degrees; outlines and rotations follow."""
    height, width = image.shape[:2]
    slant = math.radians(float(rng.uniform(3, 14) if rng.random() < 0.5 else rng.uniform(10, 45)))
    towards = float(rng.uniform(0, 2 * math.pi))
    distance = float(rng.uniform(1.3, 3.5)) * width
    axis = np.array([math.cos(towards), math.sin(towards), 0.0]) * slant
    turn = cv2.Rodrigues(axis)[0]
    lens = np.diag([distance, distance, 1.0])
    plane = np.column_stack([turn[:, 0], turn[:, 1], np.array([0.0, 0.0, distance])])
    centre = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1.0]])
    matrix = np.linalg.inv(centre) @ lens @ plane @ centre
    out = cv2.warpPerspective(
        image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )
    kept = []
    for row in rows:
        corners = np.array(row["quad"], np.float64).reshape(1, 4, 2)
        quad = cv2.perspectiveTransform(corners, matrix)[0]
        known = row.get("rotation")
        if known is not None:
            up = quad[0] + quad[1] - quad[2] - quad[3]
            known = math.degrees(math.atan2(up[0], -up[1])) % 360
        kept.append({**row, "quad": quad.round(2).tolist(), "rotation": known})
    return np.asarray(out, np.uint8), kept


def _glare(work: FloatArray, rng: np.random.Generator) -> None:
    """Reflections of lamps: soft bright spots added to the picture."""
    height, width = work.shape[:2]
    light = np.zeros((height // 4, width // 4), np.float32)
    for _ in range(int(rng.integers(1, 5))):
        spot = (int(rng.integers(light.shape[1])), int(rng.integers(light.shape[0])))
        size = (int(rng.integers(4, 40)), int(rng.integers(3, 20)))
        cv2.ellipse(light, spot, size, float(rng.uniform(0, 180)), 0, 360, 1.0, -1)
    soft = cv2.GaussianBlur(light, (0, 0), float(rng.uniform(2, 10)))
    soft = cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR)
    work += soft[:, :, None] * float(rng.uniform(20, 130))


def _light(work: FloatArray, rng: np.random.Generator) -> None:
    """Exposure, white balance, uneven light, shadows of people."""
    height, width = work.shape[:2]
    gain = np.exp(rng.normal(-0.1, 0.22)) * np.exp(rng.normal(0, 0.08, 3))
    work *= gain.astype(np.float32)
    if rng.random() < 0.5:
        field = np.exp(rng.normal(0, 0.28, (3, 3))).astype(np.float32)
        work *= cv2.resize(field, (width, height), interpolation=cv2.INTER_CUBIC)[:, :, None]
    if rng.random() < 0.2:
        mask = np.zeros((height // 4, width // 4), np.float32)
        points = rng.uniform(-0.2, 1.2, (4, 2)) * [mask.shape[1], mask.shape[0]]
        hull = cv2.convexHull(points.astype(np.float32)).astype(np.int32)
        cv2.fillConvexPoly(mask, hull, 1.0)
        soft = cv2.GaussianBlur(mask, (0, 0), float(rng.uniform(1, 12)))
        soft = cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR)
        work *= 1 - soft[:, :, None] * float(rng.uniform(0.15, 0.6))


def develop(
    image: ImageArray, rows: list[dict[str, Any]], rng: np.random.Generator
) -> tuple[ImageArray, list[dict[str, Any]], int]:
    """Picture, rows with outlines that follow it, and the JPEG quality to save it with."""
    if rng.random() < 0.6:
        image, rows = tilted(image, rows, rng)
    work = image.astype(np.float32)
    if rng.random() < 0.25:
        _glare(work, rng)
    _light(work, rng)
    work = np.clip(work, 0, 255)
    if rng.random() < 0.4:
        work = 255 * (work / 255) ** np.float32(np.exp(rng.normal(0, 0.28)))
    if rng.random() < 0.6:
        grey = work.mean(axis=2, keepdims=True)
        work = np.clip(grey + (work - grey) * np.float32(rng.uniform(0.35, 1.4)), 0, 255)
    if rng.random() < 0.7:
        work = cv2.GaussianBlur(work, (0, 0), float(np.exp(rng.uniform(np.log(0.3), np.log(1.7)))))
    if rng.random() < 0.12:
        length = int(rng.integers(3, 6))
        kernel = np.zeros((length, length), np.float32)
        middle, way = (length - 1) / 2, float(rng.uniform(0, math.pi))
        ends = [
            (round(middle + s * middle * math.cos(way)), round(middle + s * middle * math.sin(way)))
            for s in (-1, 1)
        ]
        cv2.line(kernel, ends[0], ends[1], 1.0)
        work = cv2.filter2D(work, -1, kernel / kernel.sum())
    if rng.random() < 0.2:
        soft = cv2.GaussianBlur(work, (0, 0), 1.2)
        work = work + (work - soft) * float(rng.uniform(0.3, 1.2))
    if rng.random() < 0.6:
        level = float(np.exp(rng.uniform(np.log(1), np.log(11))))
        work = work + rng.standard_normal(work.shape, np.float32) * level
    quality = int(rng.integers(45, 97))
    return np.clip(work, 0, 255).astype(np.uint8), rows, quality
