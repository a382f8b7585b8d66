"""How many pixels a tile gets: from camera, lens and height; ``python -m vision.resolution``.

Prints the tables of ``docs/camera.md``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Final

from vision.geometry import TableGeometry

FILL: Final = 0.95
"""Share of the picture's height that the felt should take: some room for the edges to be seen."""


@dataclass(frozen=True)
class CameraModel:
    """A camera in the mode in which it is used.

    Attributes:
        name: for people.
        width, height: of the picture, px.
        field_deg: horizontal field of view in that mode, by its maker.
    """

    name: str
    width: int
    height: int
    field_deg: float

    @property
    def focal_px(self) -> float:
        """Focal length in pixels of an undistorted picture."""
        return self.width / 2 / math.tan(math.radians(self.field_deg / 2))


CAMERAS: Final = (
    CameraModel("Pi Camera Module 3, 1080p", 1920, 1080, 66.0),
    CameraModel("Pi Camera Module 3, 2304x1296", 2304, 1296, 66.0),
    CameraModel("Pi Camera Module 3 Wide, 2304x1296", 2304, 1296, 102.0),
    CameraModel("Pi Camera Module 2, 1640x1232", 1640, 1232, 62.2),
    CameraModel("Pi HQ Camera with 6 mm lens, 2028x1520", 2028, 1520, 63.0),
    CameraModel("USB webcam of the C920 kind, 1080p", 1920, 1080, 70.4),
    CameraModel("USB webcam of the C920 kind, 720p", 1280, 720, 70.4),
)
HEIGHTS_MM: Final = (800, 1000, 1200, 1400, 1600, 1800)
LINES: Final = (480, 720, 1080, 1296, 1440, 2160)
TILES_MM: Final = (24, 28, 32, 36)


def tile_px(tile_mm: float, height_mm: float, camera: CameraModel) -> float:
    """Width in pixels of a tile in the middle under a camera straight above it.

    Args:
        tile_mm: short side of the face.
        height_mm: lens above the felt.
        camera: model and mode.
    """
    return tile_mm * camera.focal_px / height_mm


def least_height(felt_mm: float, camera: CameraModel) -> float:
    """Height (mm) at which the whole felt, ``felt_mm`` wide, takes :data:`FILL` of the picture."""
    short = min(camera.width, camera.height)
    return felt_mm * camera.focal_px / (FILL * short)


def best_tile_px(tile_mm: float, felt_mm: float, lines: int) -> float:
    """Width of a tile when the felt takes :data:`FILL` of a picture of so many lines."""
    return tile_mm * FILL * lines / felt_mm


def tables() -> str:
    """Both tables of the document, in Markdown."""
    felt = 2 * TableGeometry().half_mm
    out = [
        "| picture lines | " + " | ".join(f"{t} mm tiles" for t in TILES_MM) + " |",
        "|---" * (len(TILES_MM) + 1) + "|",
    ]
    for lines in LINES:
        # A larger tile set has a larger table in the same proportion only if it is built for it.
        cells = [f"{best_tile_px(t, felt, lines):.0f} px" for t in TILES_MM]
        out.append(f"| {lines} | " + " | ".join(cells) + " |")
    out += [
        "",
        "| camera and mode | lowest height | "
        + " | ".join(f"{h / 1000:.1f} m" for h in HEIGHTS_MM) + " |",
        "|---" * (len(HEIGHTS_MM) + 2) + "|",
    ]  # fmt: skip
    for camera in CAMERAS:
        low = least_height(felt, camera)
        cells = [f"{tile_px(28.0, h, camera):.0f} px" if h >= low - 1 else "-" for h in HEIGHTS_MM]
        out.append(f"| {camera.name} | {low / 1000:.2f} m | " + " | ".join(cells) + " |")
    return "\n".join(out)


if __name__ == "__main__":
    sys.stdout.write(tables() + "\n")
