"""Transparent faces to draw on, and the inks of a set."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, field

import cv2
import numpy as np

from ..artwork import FACE_HEIGHT, FACE_WIDTH
from ..sources import FloatArray, ImageArray

WIDTH, HEIGHT = 2 * FACE_WIDTH, 2 * FACE_HEIGHT
"""Drawn at twice the size of a face, then averaged."""

Ink = tuple[int, int, int, int]
"""Blue, green, red, alpha."""


def blank() -> ImageArray:
    """An empty face (256, 192, 4) to draw on."""
    return np.zeros((HEIGHT, WIDTH, 4), np.uint8)


def finish(face: ImageArray) -> ImageArray:
    """A drawn face at the size of artwork (128, 96, 4), colour not darkened at soft edges."""
    small = cv2.resize(face, (FACE_WIDTH, FACE_HEIGHT), interpolation=cv2.INTER_AREA)
    alpha = small[:, :, 3:].astype(np.float32)
    colour = np.where(alpha > 0, small[:, :, :3] * 255.0 / np.maximum(alpha, 1), 0)
    out = np.concatenate([np.clip(colour, 0, 255), alpha], axis=2)
    return np.asarray(np.round(out), np.uint8)


def put(face: ImageArray, cover: ImageArray, centre: tuple[float, float], ink: Ink) -> None:
    """Lay coverage (h, w) in one ink on a face, clipped to it."""
    height, width = cover.shape
    left, top = round(centre[0] - width / 2), round(centre[1] - height / 2)
    x1, y1 = max(left, 0), max(top, 0)
    x2, y2 = min(left + width, face.shape[1]), min(top + height, face.shape[0])
    if x2 <= x1 or y2 <= y1:
        return
    part = face[y1:y2, x1:x2]
    part[cover[y1 - top : y2 - top, x1 - left : x2 - left] > 110] = ink


def hsv(hue: float, saturation: float, value: float) -> Ink:
    """An ink by hue (degrees), saturation and value (0 to 1)."""
    red, green, blue = colorsys.hsv_to_rgb(
        (hue % 360) / 360, min(max(saturation, 0), 1), min(max(value, 0), 1)
    )
    return round(blue * 255), round(green * 255), round(red * 255), 255


@dataclass(frozen=True)
class Palette:
    """The inks of one set, by their customary names."""

    black: Ink
    red: Ink
    green: Ink
    blue: Ink
    other: tuple[Ink, ...] = field(default=())

    def any(self, rng: np.random.Generator) -> Ink:
        """Any of the four main inks."""
        return (self.black, self.red, self.green, self.blue)[int(rng.integers(4))]


def random_palette(rng: np.random.Generator, light: bool = False) -> Palette:
    """Inks of one set; ``light``: for dark tiles. One set in fourteen knows a single ink."""

    def tone(hue: float, spread: float, value: tuple[float, float]) -> Ink:
        low, high = (0.75, 1.0) if light else value
        strength = rng.uniform(0.25, 0.8) if light else rng.uniform(0.5, 1.0)
        return hsv(hue + rng.normal(0, spread), float(strength), float(rng.uniform(low, high)))

    grey = float(rng.uniform(0.85, 1.0) if light else rng.uniform(0.04, 0.3))
    black = hsv(float(rng.uniform(0, 360)), float(rng.uniform(0, 0.35)), grey)
    red = tone(2, 9, (0.45, 0.9))
    green = tone(float(rng.choice([120, 140, 150, 165])), 10, (0.22, 0.65))
    blue = tone(float(rng.choice([205, 218, 230, 240])), 8, (0.25, 0.75))
    if rng.random() < 0.07:
        red = green = blue = black
    elif rng.random() < 0.12:
        blue = black
    elif rng.random() < 0.06:
        green = blue
    other = tuple(
        hsv(float(rng.uniform(0, 360)), float(rng.uniform(0.3, 1)), float(rng.uniform(0.3, 0.95)))
        for _ in range(3)
    )
    return Palette(black, red, green, blue, other)


def dot(face: ImageArray, centre: FloatArray, radius: float, ink: Ink, thickness: int = -1) -> None:
    """A circle, filled or as a ring."""
    middle = (round(float(centre[0]) * 8), round(float(centre[1]) * 8))
    cv2.circle(face, middle, max(8, round(radius * 8)), ink, thickness, cv2.LINE_8, 3)


def ellipse(
    face: ImageArray,
    centre: FloatArray,
    radii: tuple[float, float],
    turn: float,
    ink: Ink,
    thickness: int = -1,
) -> None:
    """An ellipse whose first axis is turned by ``turn`` degrees."""
    middle = (round(float(centre[0])), round(float(centre[1])))
    size = (max(1, round(radii[0])), max(1, round(radii[1])))
    cv2.ellipse(face, middle, size, turn, 0, 360, ink, thickness)


def polygon(face: ImageArray, points: FloatArray, ink: Ink, outline: int = 0) -> None:
    """A filled polygon, or its outline."""
    corners = np.round(points).astype(np.int32)
    if outline:
        cv2.polylines(face, [corners], True, ink, outline)
    else:
        cv2.fillPoly(face, [corners], ink)


def curve(face: ImageArray, points: FloatArray, ink: Ink, thickness: float) -> None:
    """A smooth stroke through three points (a quadratic Bezier curve)."""
    t = np.linspace(0, 1, 14)[:, None]
    line = (1 - t) ** 2 * points[0] + 2 * t * (1 - t) * points[1] + t**2 * points[2]
    cv2.polylines(face, [np.round(line).astype(np.int32)], False, ink, max(1, round(thickness)))
