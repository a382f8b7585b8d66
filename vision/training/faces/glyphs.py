"""Characters and digits from the fonts at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_letters
from typing import Final

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..sources import ImageArray

FONT_ROOT: Final = Path("/usr/share/fonts")
SIZE: Final = 150
NEEDED: Final = "一二三四五六七八九萬東南西北發中春夏秋冬梅菊竹"
_FAVOURED: Final = {
    "noto": 4.0,
    "arphic": 2.0,
    "lxgw-wenkai": 2.0,
    "kouzan-mouhitsu": 2.0,
    "yozvox": 0.7,
}
"""Shares of folders that hold many faces, or writing like that on tiles; others count 1."""
TOO_FREE: Final = ("Sousyo", "DotGothic", "unifont", "train", "Pixel", "Bitmap")
"""Grass script that even people misread, and bitmap lettering."""


class FontsMissingError(RuntimeError):
    """No CJK font is installed; the message says which packages bring some."""


@lru_cache(maxsize=256)
def load(path: str, index: int) -> ImageFont.FreeTypeFont:
    """A face of a font file at the size glyphs are cut from."""
    return ImageFont.truetype(path, SIZE, index=index)


@lru_cache(maxsize=20_000)
def ink_of(path: str, index: int, char: str) -> ImageArray | None:
    """Coverage of a writing cropped to its ink; None where the font has no such character."""
    font = load(path, index)
    page = Image.new("L", ((1 + len(char)) * SIZE, 2 * SIZE), 0)
    ImageDraw.Draw(page).text((SIZE // 2, SIZE // 2), char, font=font, fill=255)
    box = page.getbbox()
    if box is None:
        return None
    cover = np.asarray(page.crop(box))
    if char != "\U0010fffe":
        unknown = ink_of(path, index, "\U0010fffe")
        if unknown is not None and unknown.shape == cover.shape and (unknown == cover).all():
            return None
    return cover


@lru_cache(maxsize=4)
def cjk_fonts(root: Path = FONT_ROOT) -> tuple[tuple[str, int], ...]:
    """Faces (file, index) under ``root`` that have all characters of a tile set, in fixed order.

    Raises:
        FontsMissingError: there is none.
    """
    found: list[tuple[str, int]] = []
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() not in {".ttf", ".otf", ".ttc"} or "Mono" in path.name:
            continue
        if any(word in path.name or word in str(path) for word in TOO_FREE):
            continue
        indices = (0, 2, 3) if path.suffix.lower() == ".ttc" and "Noto" in path.name else (0,)
        for index in indices:
            try:
                covered = [ink_of(str(path), index, char) is not None for char in NEEDED]
            except OSError:
                continue
            if all(covered):
                found.append((str(path), index))
    if not found:
        raise FontsMissingError(
            f"no CJK font under {root}: install the packages listed in models/recipe.sh"
        )
    return tuple(found)


@lru_cache(maxsize=4)
def latin_fonts(root: Path = FONT_ROOT) -> tuple[tuple[str, int], ...]:
    """Faces for digits, letters and words; those CJK fonts that have all letters do, too."""
    chosen = [
        (str(path), 0)
        for path in sorted([*root.rglob("*.ttf"), *root.rglob("*.otf")])
        if any(word.lower() in str(path).lower() for word in ("dejavu", "liberation", "freefont"))
        and "Mono" not in path.name
    ]
    spelling = (
        font
        for font in cjk_fonts(root)
        if all(ink_of(*font, letter) is not None for letter in ascii_letters)
    )
    return (*chosen, *spelling)


def _ink_in_any(font: tuple[str, int], char: str) -> ImageArray:
    """Coverage of a character in ``font``, or in the first face that has it.

    Raises:
        FontsMissingError: no installed face has it.
    """
    for candidate in (font, *cjk_fonts()):
        cover = ink_of(*candidate, char)
        if cover is not None:
            return cover
    raise FontsMissingError(f"no installed font writes {char}")


@dataclass(frozen=True)
class Hand:
    """One manner of writing: a font, heavier or lighter strokes, a slant, a stretch."""

    font: tuple[str, int]
    weight: int
    slant: float
    wide: float

    @classmethod
    def random(
        cls, rng: np.random.Generator, fonts: tuple[tuple[str, int], ...], bold: bool = True
    ) -> Hand:
        """Any of the fonts: first a family, so that large families do not crowd out others."""
        folders = sorted({Path(font[0]).parent for font in fonts})
        shares = np.array([_FAVOURED.get(folder.name, 1.0) for folder in folders])
        folder = folders[int(rng.choice(len(folders), p=shares / shares.sum()))]
        fonts = tuple(font for font in fonts if Path(font[0]).parent == folder)
        return cls(
            font=fonts[int(rng.integers(len(fonts)))],
            weight=int(rng.choice([0, 0, 3, 5, 7, 9] if bold else [0, 0, 3, 5])),
            slant=float(rng.choice([0.0, 0.0, rng.normal(0, 0.09)])),
            wide=float(np.exp(rng.normal(0, 0.1))),
        )

    def write(self, char: str, width: float, height: float, stretch: bool = True) -> ImageArray:
        """Coverage of ``char`` in about ``width`` x ``height`` px; a dash keeps its proportions.

        ``stretch``: fill the box; otherwise keep the character's aspect inside it.
        """
        cover = _ink_in_any(self.font, char)
        if self.weight:
            cover = cv2.copyMakeBorder(
                np.ascontiguousarray(cover), 5, 5, 5, 5, cv2.BORDER_CONSTANT, value=0
            )
            kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (self.weight, self.weight))
            cover = np.asarray(cv2.dilate(cover, kernel), np.uint8)
        if self.slant:
            high, wide = cover.shape
            room = abs(round(self.slant * high))
            matrix = np.array([[1, -self.slant, max(0.0, self.slant * high)], [0, 1, 0]])
            cover = np.asarray(cv2.warpAffine(cover, matrix, (wide + room, high)), np.uint8)
        ratio = cover.shape[0] / cover.shape[1]
        if ratio < 0.5:
            height = width * ratio
        elif ratio > 2.6 or not stretch:
            scale = min(width / cover.shape[1], height / cover.shape[0])
            width, height = cover.shape[1] * scale, cover.shape[0] * scale
        size = (max(2, round(width)), max(2, round(height)))
        return np.asarray(cv2.resize(cover, size, interpolation=cv2.INTER_AREA), np.uint8)
