"""Vector artwork to pixels, through the optional package ``resvg-py``.

The renderer's default faces come from the committed atlas and need none of this; only artwork
handed in by ``--art`` does.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from types import ModuleType


class ArtError(Exception):
    """Artwork cannot be used; the message says which and what to do."""


def _resvg() -> ModuleType:
    try:
        import resvg_py
    except ImportError:
        raise ArtError(
            "drawing other artwork needs the package resvg-py: pip install resvg-py"
        ) from None
    module: ModuleType = resvg_py
    return module


def _decode(data: bytes, size: tuple[int, int]) -> NDArray[np.uint8]:
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.ndim != 3 or picture.shape[2] != 4:
        raise ArtError("the SVG library returned no picture with transparency")
    if (picture.shape[1], picture.shape[0]) != size:
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return np.asarray(picture, np.uint8)


def rasterise_svg(svg: str, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw an SVG document into (height, width, 4) BGRA of ``size`` = (width, height) pixels.

    Raises:
        ArtError: the library is missing or the document is not a drawable SVG.
    """
    options: dict[str, Any] = {"width": size[0], "skip_system_fonts": True}
    try:
        data = _resvg().svg_to_bytes(svg_string=svg, **options)
    except (ValueError, RuntimeError) as error:
        raise ArtError(f"not a drawable SVG: {error}") from None
    return _decode(data, size)


def font_family(font: Path) -> str:
    """Family name of an OpenType file (its ``name`` table, entry 1).

    Raises:
        ArtError: the file is not a single OpenType font.
    """
    data = font.read_bytes()
    try:
        tables = struct.unpack_from(">H", data, 4)[0]
        entries = {
            data[at : at + 4]: struct.unpack_from(">II", data, at + 8)
            for at in range(12, 12 + 16 * tables, 16)
        }
        start = entries[b"name"][0]
        count, strings = struct.unpack_from(">HH", data, start + 2)
        for k in range(count):
            platform, _, language, name, length, offset = struct.unpack_from(
                ">6H", data, start + 6 + 12 * k
            )
            if platform == 3 and name == 1 and language == 0x409:
                at = start + strings + offset
                return data[at : at + length].decode("utf-16-be")
    except (struct.error, KeyError, UnicodeDecodeError):
        pass
    raise ArtError(f"{font} is not an OpenType font with an English family name")


def rasterise_glyphs(
    font: Path, chars: Sequence[str], size: tuple[int, int]
) -> list[NDArray[np.uint8] | None]:
    """Draw characters of a font file in black on transparent ground, each cropped to its ink.

    Returns (height, width, 4) BGRA of ``size`` = (width, height) pixels for each character,
    ``None`` where the font draws nothing.

    Raises:
        ArtError: the library is missing or cannot use the font.
    """
    # All in one document, because reading the font takes longer than drawing a character.
    em, columns = size[1], 8
    cell, rows = 2 * em, -(-len(chars) // columns)
    texts = "".join(
        f'<text x="{k % columns * cell + em // 2}" y="{k // columns * cell + em * 3 // 2}">'
        f"{char}</text>"
        for k, char in enumerate(chars)
    )
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {columns * cell} {rows * cell}" font-size="{em}" '
        f'font-family="&apos;{font_family(font)}&apos;">{texts}</svg>'
    )
    options: dict[str, Any] = {"width": columns * cell, "font_files": [str(font)]}
    try:
        data = _resvg().svg_to_bytes(svg_string=svg, skip_system_fonts=True, **options)
    except (ValueError, RuntimeError) as error:
        raise ArtError(f"cannot draw with {font.name}: {error}") from None
    sheet = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if sheet is None:
        raise ArtError(f"the SVG library returned no picture for {font.name}")
    corners = [(k // columns * cell, k % columns * cell) for k in range(len(chars))]
    return [_ink_of(sheet[y : y + cell, x : x + cell], size) for y, x in corners]


def _ink_of(picture: cv2.typing.MatLike, size: tuple[int, int]) -> NDArray[np.uint8] | None:
    """The drawn part of a picture, resized; ``None`` if nothing is drawn."""
    ink = cv2.findNonZero((picture[:, :, 3] > 8).astype(np.uint8))
    if ink is None:
        return None
    x, y, w, h = cv2.boundingRect(ink)
    cropped = picture[y : y + h, x : x + w]
    return np.asarray(cv2.resize(cropped, size, interpolation=cv2.INTER_AREA), np.uint8)
