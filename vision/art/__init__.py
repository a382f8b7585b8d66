"""Tile artwork: the project's own faces, and faces handed in from outside.

``vision/art`` holds 42 SVG faces named by tile notation (``1m.svg`` .. ``8f.svg``) and
``back.svg``, all 300 x 400 units on transparent ground, drawn by ``scripts/draw_faces.py``;
``faces.png`` is the same set as pixels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tablectl.tiles import NAMES

ART_DIR: Final = Path(__file__).resolve().parent
FACE_NAMES: Final[tuple[str, ...]] = (*NAMES, "back")
ATLAS_CELL: Final = (150, 200)
"""Width and height in pixels of a face in the atlas."""
ATLAS_COLUMNS: Final = 9
