"""The operating panel in the middle of the table: dome with dice, displays, lamps, hole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.scene import Scene

Floats = NDArray[np.floating[Any]]
PANEL_SHARE = 0.97
"""Side of the panel's plate as a share of the square that the geometry keeps for it."""
_SIDE = 480
_PIPS = {
    1: ((0, 0),), 2: ((-1, -1), (1, 1)), 3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}  # fmt: skip
_SEGMENTS = {
    "0": "abcdef", "1": "bc", "2": "abged", "3": "abgcd", "4": "fgbc", "5": "afgcd",
    "6": "afgedc", "7": "abc", "8": "abcdefg", "9": "abcdfg", "-": "g", "H": "fbgec", "U": "fbedc",
    "E": "afged", "P": "abfge", "o": "gedc", "n": "gec", "r": "ge", "t": "fged", "c": "ged",
    "d": "bcdeg", "A": "abcefg", "L": "fed", " ": "",
}  # fmt: skip


@dataclass(frozen=True)
class PanelState:
    """What of a scene the panel shows."""

    dice: tuple[int, int] | None
    is_open: bool
    texts: tuple[str, ...]
    active_seat: int | None
    shown: bool = True

    @classmethod
    def of(cls, scene: Scene) -> PanelState:
        """The panel's part of a scene."""
        return cls(scene.dice, scene.panel_open, scene.led_texts, scene.active_seat, scene.panel)


@lru_cache(maxsize=8)
def panel_texture(state: PanelState) -> tuple[Floats, Floats, Floats]:
    """Unlit colour (s, s, 3), glowing colour (s, s, 3) and alpha (s, s) of the panel's plate."""
    s = _SIDE
    colour = np.zeros((s, s, 3), np.float32)
    glow = np.zeros((s, s, 3), np.float32)
    alpha = np.zeros((s, s), np.float32)
    _rounded(alpha, 6, s - 6, 70, 1.0)
    _rounded(colour, 6, s - 6, 70, (54, 50, 48))
    _rounded(colour, 16, s - 16, 64, (38, 35, 33))
    if state.is_open:
        _rounded(colour, 34, s - 34, 52, (12, 11, 11))
        _rounded(colour, 100, s - 100, 40, (46, 43, 41))
    else:
        cv2.circle(colour, (s // 2, s // 2), 104, (70, 66, 62), 8, cv2.LINE_AA)
        cv2.circle(colour, (s // 2, s // 2), 98, (46, 60, 42), -1, cv2.LINE_AA)
        if state.dice:
            for k, value in enumerate(state.dice):
                _die(colour, (s // 2 + (-44, 44)[k], s // 2 + (14, -16)[k]), (18, -31)[k], value)
        cv2.ellipse(
            colour, (s // 2, s // 2), (82, 82), 0, 200, 250, (150, 150, 146), 4, cv2.LINE_AA
        )
    for seat in range(4):
        _side(colour, glow, seat, state)
    return colour, glow, alpha


def _side(colour: Floats, glow: Floats, seat: int, state: PanelState) -> None:
    """One seat's display, key and lamp, drawn for seat 0 and turned to the seat."""
    s = _SIDE
    turns = seat % 4
    view, shine = (np.ascontiguousarray(np.rot90(m, -turns)) for m in (colour, glow))
    cv2.rectangle(view, (s // 2 - 62, s - 92), (s // 2 + 62, s - 42), (14, 13, 13), -1)
    text = state.texts[seat] if seat < len(state.texts) else ""
    for k, char in enumerate(text[:4].rjust(4)):
        _character(shine, s // 2 - 54 + k * 28, s - 84, char)
    if not state.is_open:
        lit = state.active_seat == seat
        cv2.rectangle(view, (s // 2 - 62, s - 30), (s // 2 + 62, s - 22), (60, 80, 60), -1)
        if lit:
            cv2.rectangle(shine, (s // 2 - 62, s - 31), (s // 2 + 62, s - 21), (70, 235, 90), -1)
        cv2.circle(view, (s // 2 + 96, s - 66), 13, (52, 52, 170), -1, cv2.LINE_AA)
    colour[:] = np.rot90(view, turns)
    glow[:] = np.rot90(shine, turns)


def _character(glow: Floats, x: int, y: int, char: str) -> None:
    w, h = 17, 34
    ends = {
        "a": ((0, 0), (w, 0)), "b": ((w, 0), (w, h // 2)), "c": ((w, h // 2), (w, h)),
        "d": ((0, h), (w, h)), "e": ((0, h // 2), (0, h)), "f": ((0, 0), (0, h // 2)),
        "g": ((0, h // 2), (w, h // 2)),
    }  # fmt: skip
    for name in _SEGMENTS.get(char, _SEGMENTS.get(char.upper(), "")):
        (x0, y0), (x1, y1) = ends[name]
        cv2.line(glow, (x + x0, y + y0), (x + x1, y + y1), (50, 60, 250), 5, cv2.LINE_AA)


def _die(colour: Floats, centre: tuple[int, int], angle: float, value: int) -> None:
    half = 34
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    matrix = np.array([[c, -s], [s, c]])
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
    for shift, tone in ((5, (20, 22, 20)), (0, (232, 238, 240))):
        corners = square @ matrix.T + centre + shift
        cv2.fillConvexPoly(colour, np.round(corners).astype(np.int32), tone, cv2.LINE_AA)
    for px, py in _PIPS[value]:
        at = np.array([px, py]) * 18 @ matrix.T + centre
        red = value in {1, 4}
        tone = (30, 30, 205) if red else (40, 36, 34)
        radius = 11 if value == 1 else 7
        cv2.circle(colour, (round(at[0]), round(at[1])), radius, tone, -1, cv2.LINE_AA)


def _rounded(
    picture: Floats, low: int, high: int, radius: int, value: float | tuple[float, float, float]
) -> None:
    colour = (value,) if isinstance(value, int | float) else value
    cv2.rectangle(picture, (low + radius, low), (high - radius, high), colour, -1)
    cv2.rectangle(picture, (low, low + radius), (high, high - radius), colour, -1)
    for x in (low + radius, high - radius):
        for y in (low + radius, high - radius):
            cv2.circle(picture, (x, y), radius, colour, -1, cv2.LINE_AA)
