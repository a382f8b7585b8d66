"""Faces lettered from a CJK font, for variety: characters, honours, and flowers with a drawing.

Real flowers share nothing but what is written on them, so here any drawing may stand under any
writing: the reader has to read the character and the numeral.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .artwork import FACE_HEIGHT, FACE_WIDTH, INKS, ArtSet
from .sources import FloatArray, ImageArray

NUMERALS: Final = ("一", "二", "三", "四", "五伍", "六", "七", "八", "九")
MYRIAD: Final = "萬萬萬万"
HONOURS: Final = ("東", "南", "西", "北", "", "發", "中")
FLOWERS: Final = "春夏秋冬梅蘭菊竹"
DIGITS: Final = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
)


def _glyph(
    font: ImageFont.FreeTypeFont, char: str, width: int, height: int, bold: int
) -> ImageArray:
    """Coverage (height, width) of a character stretched to fill the box, strokes thickened."""
    page = Image.new("L", (320, 320), 0)
    ImageDraw.Draw(page).text((60, 20), char, font=font, fill=255)
    ink = np.asarray(page.crop(page.getbbox() or (0, 0, 1, 1)))
    if bold:
        kernel = np.ones((abs(bold), abs(bold)), np.uint8)
        ink = np.asarray((cv2.dilate if bold > 0 else cv2.erode)(ink, kernel), np.uint8)
    flat = ink.shape[0] < 0.45 * ink.shape[1]  # a dash such as the numeral one keeps its aspect
    if flat:
        height = max(2, round(width * ink.shape[0] / ink.shape[1]))
    return np.asarray(cv2.resize(ink, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def _put(
    face: ImageArray, ink: ImageArray, centre: tuple[float, float], colour: FloatArray
) -> None:
    """Lay coverage in one colour on a BGRA face, clipped to it."""
    height, width = ink.shape
    left, top = round(centre[0] - width / 2), round(centre[1] - height / 2)
    x1, y1 = max(left, 0), max(top, 0)
    x2, y2 = min(left + width, FACE_WIDTH), min(top + height, FACE_HEIGHT)
    part = face[y1:y2, x1:x2]
    cover = ink[y1 - top : y2 - top, x1 - left : x2 - left]
    part[cover > 60, :3] = colour
    part[:, :, 3] = np.maximum(part[:, :, 3], cover)


def _ink(rng: np.random.Generator, choice: tuple[int, ...]) -> FloatArray:
    base = np.array(INKS[int(rng.choice(choice))], np.float32)
    return np.clip(base + rng.normal(0, 15, 3), 0, 255).astype(np.float32)


def _blank() -> ImageArray:
    return np.zeros((FACE_HEIGHT, FACE_WIDTH, 4), np.uint8)


def _character(
    font: ImageFont.FreeTypeFont,
    numeral: str,
    bold: int,
    inks: tuple[FloatArray, FloatArray],
    myriad: str,
) -> ImageArray:
    face = _blank()
    _put(face, _glyph(font, numeral, 66, 48, bold), (48, 32), inks[0])
    _put(face, _glyph(font, myriad, 70, 56, bold), (48, 94), inks[1])
    return face


def _drawing(drawings: list[ImageArray], rng: np.random.Generator) -> ImageArray:
    """The lower part of a flower's face: cut from a drawn set, or a bold flower made up here."""
    if rng.random() < 0.4:
        return drawings[int(rng.integers(len(drawings)))][44:].copy()
    face = np.zeros((FACE_HEIGHT - 44, FACE_WIDTH, 4), np.uint8)
    for _ in range(int(rng.integers(1, 4))):
        leaf = tuple(float(v) for v in (*rng.integers(0, 200, 3), 255))
        start, end = rng.uniform(10, 86, 2), rng.uniform(5, 80, 2)
        line = (int(start[0]), 80), (int(start[1]), int(end[0]))
        cv2.line(face, *line, leaf, int(rng.integers(2, 8)), cv2.LINE_AA)
        size, turn = (int(rng.integers(6, 24)), int(rng.integers(3, 9))), float(rng.uniform(0, 180))
        cv2.ellipse(face, line[1], size, turn, 0, 360, leaf, -1, cv2.LINE_AA)
    for _ in range(int(rng.integers(0, 4))):
        centre = (int(rng.integers(18, 78)), int(rng.integers(15, 70)))
        petal = tuple(float(v) for v in (*rng.integers(0, 256, 3), 255))
        count, reach = int(rng.integers(3, 13)), int(rng.integers(8, 28))
        for turn in np.linspace(0, 360, count, endpoint=False):
            way = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
            place = np.round(centre + way * reach * 0.6)
            size = (reach // 2, max(2, int(reach * rng.uniform(0.15, 0.3))))
            spot = (int(place[0]), int(place[1]))
            cv2.ellipse(face, spot, size, float(turn), 0, 360, petal, -1, cv2.LINE_AA)
        middle = tuple(float(v) for v in (*rng.integers(0, 256, 3), 255))
        cv2.circle(face, centre, max(2, reach // 4), middle, -1, cv2.LINE_AA)
    return face


def _flower(
    font: ImageFont.FreeTypeFont,
    index: int,
    bold: int,
    drawings: list[ImageArray],
    rng: np.random.Generator,
) -> ImageArray:
    """A drawing below, the character and the numeral in the upper corners or one of them."""
    face = _blank()
    drawing = _drawing(drawings, rng)
    width, height = int(rng.integers(55, 92)), int(rng.integers(60, 86))
    small = cv2.resize(drawing, (width, height), interpolation=cv2.INTER_AREA)
    left = (FACE_WIDTH - width) // 2
    hsv = cv2.cvtColor(np.ascontiguousarray(small[:, :, :3]), cv2.COLOR_BGR2HSV)
    hsv[:, :, 0] = (hsv[:, :, 0].astype(int) + int(rng.normal(0, 20))) % 180
    small[:, :, :3] = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)
    face[FACE_HEIGHT - height :, left : left + width] = small
    usual = (1,) if index < 4 else (2, 4)
    ink = _ink(rng, usual if rng.random() < 0.75 else (0, 1, 2, 3, 4, 5))
    sides = (22.0, 74.0) if rng.random() < 0.6 else (74.0, 22.0)
    shown = rng.random()
    size = int(rng.integers(28, 42))
    if shown < 0.88:
        _put(face, _glyph(font, FLOWERS[index], size, size, bold), (sides[0], 20), ink)
    if shown > 0.25:
        digit = np.zeros((36, 30), np.uint8)
        style = DIGITS[int(rng.integers(len(DIGITS)))]
        cv2.putText(
            digit,
            str(index % 4 + 1),
            (2, 32),
            style,
            1.3,
            255,
            int(rng.integers(2, 5)),
            cv2.LINE_AA,
        )
        scale = float(rng.uniform(0.7, 1.1))
        digit = np.asarray(cv2.resize(digit, None, fx=scale, fy=scale), np.uint8)
        _put(face, digit, (sides[1], 20), ink)
    return face


def lettered_set(font_path: Path, arts: list[ArtSet], rng: np.random.Generator) -> ArtSet:
    """A set with lettered characters, honours and flowers; circles and bamboos are borrowed."""
    font = ImageFont.truetype(str(font_path), 200)
    lender = arts[int(rng.integers(len(arts)))]
    coloured = [art for art in arts if not art.mono]
    drawings = [
        face for art in coloured for tile in range(34, 42) for face in art.faces.get(tile, [])
    ]
    bold = int(rng.choice([0, 4, 6, 9]))
    inks = (_ink(rng, (0, 2, 4)), _ink(rng, (1, 1, 0)))
    myriad = MYRIAD[int(rng.integers(len(MYRIAD)))]
    faces: dict[int, list[ImageArray]] = {}
    for number in range(9):
        numeral = NUMERALS[number][int(rng.integers(len(NUMERALS[number])))]
        faces[number] = [_character(font, numeral, bold, inks, myriad)]
    wind = _ink(rng, (0, 2, 4))
    for index, char in enumerate(HONOURS):
        if char:
            face = _blank()
            ink = {5: _ink(rng, (3,)), 6: _ink(rng, (1,))}.get(index, wind)
            side = int(rng.integers(70, 92))
            _put(face, _glyph(font, char, side, round(side * 1.1), bold), (48, 64), ink)
            faces[27 + index] = [face]
    for index in range(8):
        faces[34 + index] = [_flower(font, index, bold, drawings, rng) for _ in range(4)]
    if lender.mono:
        lender = coloured[int(rng.integers(len(coloured)))]
    for tile, borrowed in lender.faces.items():
        faces.setdefault(tile, borrowed)
    return ArtSet(f"{font_path.stem} lettered", faces, mono=False)
