"""Tile faces for made pictures: drawn from folders of SVG or fonts, or cut from photographs.

A face is a BGRA bitmap of the ink only, 96x128, upright; the tile's body is painted under it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import resvg_py
from PIL import Image, ImageDraw, ImageFont

from tablectl.tiles import NAMES

from .sources import ImageArray, Photo

FACE_WIDTH, FACE_HEIGHT = 96, 128

_HONGKONG = tuple(
    f"{number}{suit}"
    for suit, numbers in (
        ("z", (5, 6, 7, 1, 2, 3, 4)),
        ("m", range(1, 10)),
        ("p", range(1, 10)),
        ("s", range(1, 10)),
        ("f", range(1, 9)),
    )
    for number in numbers
)
_UNICODE = tuple(
    f"{number}{suit}"
    for suit, numbers in (
        ("z", (1, 2, 3, 4, 7, 6, 5)),
        ("m", range(1, 10)),
        ("s", range(1, 10)),
        ("p", range(1, 10)),
        ("f", (5, 6, 8, 7, 1, 2, 3, 4)),
    )
    for number in numbers
)
_RIICHI = {
    "Ton": "1z",
    "Nan": "2z",
    "Shaa": "3z",
    "Pei": "4z",
    "Haku": "5z",
    "Hatsu": "6z",
    "Chun": "7z",
}
_RIICHI_SUITS = {"Man": "m", "Pin": "p", "Sou": "s"}

INKS = ((20, 20, 20), (60, 50, 170), (150, 60, 20), (40, 110, 20), (90, 40, 30), (50, 30, 60))
"""Ink colours of real sets, BGR: black, red, blue, green, dark blue, dark red."""


@dataclass(frozen=True)
class ArtSet:
    """Faces by class index (maybe several a tile); ``mono`` faces are black and to be coloured."""

    name: str
    faces: dict[int, list[ImageArray]]
    mono: bool


def _index(name: str) -> int:
    return NAMES.index(name)


def _fit(ink: ImageArray) -> ImageArray:
    """Centre a BGRA bitmap on the face, keeping its aspect."""
    height, width = ink.shape[:2]
    scale = min(FACE_WIDTH / width, FACE_HEIGHT / height)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(ink, size, interpolation=cv2.INTER_AREA)
    face = np.zeros((FACE_HEIGHT, FACE_WIDTH, 4), np.uint8)
    top, left = (FACE_HEIGHT - size[1]) // 2, (FACE_WIDTH - size[0]) // 2
    face[top : top + size[1], left : left + size[0]] = small
    return face


def _svg(path: Path) -> ImageArray:
    data = resvg_py.svg_to_bytes(svg_path=str(path), height=2 * FACE_HEIGHT, skip_system_fonts=True)
    rgba = np.asarray(Image.open(io.BytesIO(bytes(data))).convert("RGBA"))
    return _fit(np.ascontiguousarray(rgba[:, :, [2, 1, 0, 3]]))


def load_hongkong(folder: Path) -> ArtSet:
    """The 42 numbered SVG files of samoheen/mahjong-tiles."""
    faces = {
        _index(name): [_svg(next(folder.glob(f"{number:02d}-*.svg")))]
        for number, name in enumerate(_HONGKONG, start=1)
    }
    return ArtSet("hongkong", faces, mono=False)


def load_riichi(folder: Path) -> ArtSet:
    """The SVG files of FluffyStuff/riichi-mahjong-tiles; red fives count as fives."""
    faces: dict[int, list[ImageArray]] = {}
    for path in sorted(folder.glob("*.svg")):
        stem = path.stem.removesuffix("-Dora")
        name = _RIICHI.get(stem)
        if name is None and stem[:3] in _RIICHI_SUITS:
            name = stem[3:] + _RIICHI_SUITS[stem[:3]]
        if name is not None:
            faces.setdefault(_index(name), []).append(_svg(path))
    return ArtSet("riichi", faces, mono=False)


def load_font(path: Path) -> ArtSet:
    """The Unicode tiles U+1F000.. of a font, without the frame round them."""

    font = ImageFont.truetype(str(path), 300)
    faces: dict[int, list[ImageArray]] = {}
    for offset, name in enumerate(_UNICODE):
        page = Image.new("L", (400, 500), 0)
        ImageDraw.Draw(page).text((40, 20), chr(0x1F000 + offset), font=font, fill=255)
        left, top, right, bottom = page.getbbox() or (0, 0, 1, 1)
        rim = round((right - left) * 0.06)
        ink = np.asarray(page.crop((left + rim, top + rim, right - rim, bottom - rim)))
        face = np.zeros((*ink.shape, 4), np.uint8)
        face[:, :, 3] = ink
        faces[_index(name)] = [_fit(face)]
    return ArtSet(path.stem, faces, mono=True)


def load_art(folder: Path) -> list[ArtSet]:
    """All artwork of ``../shared/data/art``."""
    fonts = [load_font(path) for path in sorted((folder / "fonts").glob("*.otf"))]
    return [load_hongkong(folder / "hongkong"), load_riichi(folder / "riichi-regular"), *fonts]


def load_face_folder(folder: Path) -> ArtSet:
    """A folder of ``<tile name>.svg``, such as the project's own faces."""
    faces = {
        _index(path.stem): [_svg(path)]
        for path in sorted(folder.glob("*.svg"))
        if path.stem in NAMES
    }
    return ArtSet(folder.name, faces, mono=False)


def colour_ink(face: ImageArray, tile: int, rng: np.random.Generator) -> ImageArray:
    """Colour a black face the way real sets do: by halves, by parts, or in one ink."""
    out = face.copy()
    suit = NAMES[tile][1]
    inks = np.array(INKS, np.float64) + rng.normal(0, 15, (len(INKS), 3))
    inks = np.clip(inks, 0, 255)
    out[:, :, :3] = inks[int(rng.integers(len(inks)))]
    if suit == "m" and rng.random() < 0.8:
        out[:62, :, :3] = inks[int(rng.choice([0, 2, 4]))]
        out[62:, :, :3] = inks[1]
    elif suit in "psf" and rng.random() < 0.8:
        count, parts = cv2.connectedComponents((face[:, :, 3] > 90).astype(np.uint8))
        palette = inks[rng.integers(0, 5 if rng.random() < 0.7 else 2, count)]
        out[:, :, :3] = palette[parts] if count > 2 else out[:, :, :3]
    elif suit == "z":
        natural = {31: 2, 32: 3, 33: 1}.get(tile, int(rng.choice([0, 2, 4])))
        if rng.random() < 0.8:
            out[:, :, :3] = inks[natural]
    return out


def shift_hue(face: ImageArray, rng: np.random.Generator) -> ImageArray:
    """Vary the colours of a coloured face, at times to nearly black."""
    out = face.copy()
    hsv = cv2.cvtColor(np.ascontiguousarray(face[:, :, :3]), cv2.COLOR_BGR2HSV).astype(np.int32)
    hsv[:, :, 0] = (hsv[:, :, 0] + int(rng.normal(0, 6))) % 180
    hsv[:, :, 1] = np.clip(hsv[:, :, 1] * rng.uniform(0.4, 1.15), 0, 255)
    hsv[:, :, 2] = np.clip(hsv[:, :, 2] * rng.uniform(0.35, 1.2), 0, 255)
    out[:, :, :3] = cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2BGR)
    return out


def photo_faces(photo: Photo, limit: int, rng: np.random.Generator) -> list[tuple[int, ImageArray]]:
    """Tiles cut from a photograph of straight tiles, up or upside down: (class, BGR bitmap)."""
    image = photo.read()
    height, width = image.shape[:2]
    faces: list[tuple[int, ImageArray]] = []
    for row in rng.permutation(len(photo.boxes))[:limit]:
        x1, y1, x2, y2 = photo.boxes[row] * np.array([width, height, width, height])
        left, top, right, bottom = round(max(x1, 0)), round(max(y1, 0)), round(x2), round(y2)
        cut = image[top:bottom, left:right]
        if min(cut.shape[:2]) < 24:
            continue
        if cut.shape[1] > cut.shape[0]:
            cut = np.rot90(cut)
        bitmap = cv2.resize(cut, (FACE_WIDTH, FACE_HEIGHT), interpolation=cv2.INTER_AREA)
        faces.append((int(photo.classes[row]), np.asarray(bitmap, np.uint8)))
    return faces
