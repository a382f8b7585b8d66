"""Sets of tile faces as pixels: the project's own, a folder of SVG or PNG faces, or a font.

Folders may name faces by tile notation (``1m.svg``, ``1m.png``), in English
(``08-characters-1.svg``, ``east-wind.svg``) or in Japanese (``Man1.svg``, ``Ton.svg``). Fonts must
have the Unicode tiles U+1F000 to U+1F029.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import NAMES, Tile, parse_tile
from vision.art import ART_DIR, ATLAS_CELL, ATLAS_COLUMNS
from vision.art.raster import ArtError, rasterise_glyphs, rasterise_svg

Faces = NDArray[np.uint8]

_SUIT_WORDS: Final = {
    "man": "m", "wan": "m", "characters": "m", "character": "m", "crak": "m", "craks": "m",
    "pin": "p", "circles": "p", "circle": "p", "dots": "p", "dot": "p", "tong": "p",
    "sou": "s", "bamboos": "s", "bamboo": "s", "bam": "s", "bams": "s", "tiao": "s",
}  # fmt: skip
_NAME_WORDS: Final = {
    "east": "1z", "south": "2z", "west": "3z", "north": "4z", "white": "5z", "green": "6z",
    "red": "7z", "ton": "1z", "nan": "2z", "shaa": "3z", "pei": "4z", "haku": "5z", "hatsu": "6z",
    "chun": "7z", "spring": "1f", "summer": "2f", "autumn": "3f", "fall": "3f", "winter": "4f",
    "plum": "5f", "orchid": "6f", "chrysanthemum": "7f", "mum": "7f",
}  # fmt: skip
_UNICODE: Final[tuple[str, ...]] = (
    "1z", "2z", "3z", "4z", "7z", "6z", "5z",
    *(f"{n}m" for n in range(1, 10)), *(f"{n}s" for n in range(1, 10)),
    *(f"{n}p" for n in range(1, 10)), "5f", "6f", "8f", "7f", "1f", "2f", "3f", "4f",
)  # fmt: skip
"""Tile notation of U+1F000, U+1F001, ... in Unicode's order (Mahjong Tiles block)."""

# Blue-green-red.
_BLUE, _GREEN, _RED, _INK = (150, 60, 24), (66, 112, 12), (40, 34, 190), (48, 30, 22)


@dataclass(frozen=True)
class ArtSet:
    """Faces of one artwork.

    Attributes:
        name: what to call it in messages.
        faces: (42, height, width, 4) BGRA by tile index, drawings on transparent ground.
        borrowed: tiles that this artwork lacks and that show the project's own face instead.
    """

    name: str
    faces: Faces
    borrowed: tuple[Tile, ...] = ()


@lru_cache(maxsize=1)
def own_art() -> ArtSet:
    """The project's own faces, read from the committed atlas."""
    sheet = cv2.imread(str(ART_DIR / "faces.png"), cv2.IMREAD_UNCHANGED)
    if sheet is None:
        raise ArtError(f"cannot read {ART_DIR / 'faces.png'}: run scripts/draw_faces.py")
    width, height = ATLAS_CELL
    cells = []
    for index in range(len(NAMES)):
        row, column = divmod(index, ATLAS_COLUMNS)
        cells.append(
            sheet[row * height : (row + 1) * height, column * width : (column + 1) * width]
        )
    return ArtSet("own", np.ascontiguousarray(np.stack(cells), dtype=np.uint8))


def tile_of_file(stem: str) -> Tile | None:
    """The tile that a face's file name means, ``None`` if it means none (or a red five)."""
    text = stem.lower()
    if text in NAMES:
        return parse_tile(text)
    words = re.findall(r"[a-z]+|\d+", re.sub(r"^\d+\s*[-_. ]\s*(?=[a-z])", "", text))
    if "dora" in words:
        return None
    digits = [word for word in words if word.isdigit()]
    for word in words:
        if word in _SUIT_WORDS and len(digits) == 1 and digits[0] in "123456789":
            return parse_tile(digits[0] + _SUIT_WORDS[word])
        if word in _NAME_WORDS:
            return parse_tile(_NAME_WORDS[word])
    return parse_tile("8f") if words == ["bamboo"] else None


def load_art(path: Path, fallback: ArtSet | None = None) -> ArtSet:
    """Faces from a folder of SVG or PNG files, a font file, or a folder that holds one font.

    PNG faces are drawings on transparent ground; they are stretched to the shape of a face.
    Faces that the artwork lacks are taken from ``fallback``, by default the project's own set.

    Raises:
        ArtError: nothing there can be used, or drawing it needs a package that is missing.
    """
    if not path.exists():
        raise ArtError(f"no artwork at {path}: give a folder of SVG or PNG faces or a font file")
    if path.is_file():
        return _from_font(path, fallback)
    files = sorted(path.glob("*.svg")) or sorted(path.glob("*.png"))
    if files:
        return _from_folder(path, files, fallback)
    fonts = sorted(p for p in path.iterdir() if p.suffix.lower() in {".otf", ".ttf"})
    if len(fonts) == 1:
        return _from_font(fonts[0], fallback)
    if fonts:
        names = ", ".join(font.name for font in fonts)
        raise ArtError(f"{path} holds several fonts: name one of {names}")
    raise ArtError(f"{path} holds neither SVG nor PNG faces nor a font")


def _from_folder(path: Path, files: list[Path], fallback: ArtSet | None) -> ArtSet:
    found: dict[Tile, NDArray[np.uint8]] = {}
    for file in files:
        tile = tile_of_file(file.stem)
        if tile is not None and tile not in found:
            try:
                found[tile] = _drawn(file)
            except (ArtError, UnicodeDecodeError, OSError) as error:
                raise ArtError(f"cannot draw {file}: {error}") from None
    if not found:
        raise ArtError(f"no file name in {path} means a tile: use 1m.svg .. 8f.svg")
    return _complete(path.name, found, fallback)


def _drawn(file: Path) -> NDArray[np.uint8]:
    if file.suffix == ".svg":
        return rasterise_svg(file.read_text(encoding="utf-8"), ATLAS_CELL)
    face = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    if face is None or face.ndim != 3 or face.shape[2] != 4 or face.dtype != np.uint8:
        raise ArtError("not a PNG picture with transparent ground")
    small = cv2.resize(face, ATLAS_CELL, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def _from_font(font: Path, fallback: ArtSet | None) -> ArtSet:
    chars = [chr(0x1F000 + offset) for offset in range(len(_UNICODE))]
    found: dict[Tile, NDArray[np.uint8]] = {}
    pictures = rasterise_glyphs(font, chars, ATLAS_CELL)
    for tile, picture in zip(map(parse_tile, _UNICODE), pictures, strict=True):
        if picture is not None:
            found[tile] = _coloured(_without_frame(picture), tile)
    if not found:
        raise ArtError(f"the font {font} has none of the Unicode tiles U+1F000 to U+1F029")
    return _complete(font.stem, found, fallback)


def _complete(name: str, found: dict[Tile, NDArray[np.uint8]], fallback: ArtSet | None) -> ArtSet:
    faces = (fallback or own_art()).faces.copy()
    for tile, picture in found.items():
        faces[tile] = picture
    borrowed = tuple(Tile(i) for i in range(len(NAMES)) if i not in found)
    return ArtSet(name, faces, borrowed)


def _without_frame(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Drop the tile's outline, which fonts draw around the face: the ink touching the border."""
    ink = (picture[:, :, 3] > 64).astype(np.uint8)
    _, labels = cv2.connectedComponents(ink)
    edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    frame = np.isin(labels, np.unique(edge[edge > 0])).astype(np.uint8)
    result = picture.copy()
    result[cv2.dilate(frame, np.ones((5, 5), np.uint8)) > 0] = 0
    return result


def _coloured(picture: NDArray[np.uint8], tile: Tile) -> NDArray[np.uint8]:
    """Give a black glyph the customary colours of its tile."""
    name = NAMES[tile]
    number, suit = int(name[0]), name[1]
    height, width = picture.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    y, x = y / height, x / width
    if suit == "m":
        regions = [(_BLUE, y < 0.48), (_RED, y >= 0.48)]
    elif suit == "p":
        core = np.hypot(x - 0.5, (y - 0.5) * height / width)
        red = {1: core < 0.16, 3: abs(y - 0.5) < 0.16, 5: core < 0.2, 6: y > 0.4, 7: y > 0.46,
               9: abs(y - 0.5) < 0.17}.get(number, y < 0)  # fmt: skip
        regions = [(_GREEN if number in {1, 2, 6, 7} else _BLUE, ~red), (_RED, red)]
    elif suit == "s":
        red = (abs(x - 0.5) < 0.13) & {5: abs(y - 0.5) < 0.24, 7: y < 0.34, 9: y > -1}.get(
            number, y < 0
        )
        regions = [(_GREEN, ~red), (_RED, red)]
    elif suit == "z":
        colour = (_INK, _INK, _INK, _INK, _BLUE, _GREEN, _RED)[number - 1]
        regions = [(colour, y >= 0)]
    else:
        regions = [(_GREEN, y >= 0.3), (_RED if number <= 4 else _BLUE, y < 0.3)]
    result = picture.copy()
    for colour, where in regions:
        result[where, :3] = colour
    return result
