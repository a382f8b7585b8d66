"""How exact calibrations are, on rendered tables whose camera is known: ``measure_calibration.py``.

Prints, for each camera and method, by how many millimetres places on the felt and on top of tiles
are off (mean and largest over a grid), and the measured distortion beside the true one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_corners, calibrate_from_markers
from vision.geometry import TableGeometry
from vision.render.camera import CameraPose
from vision.render.renderer import Picture, Renderer
from vision.render.scene import Scene
from vision.render.style import Style

GEOMETRY: Final = TableGeometry()
CAMERAS: Final[dict[str, CameraPose]] = {
    "plain lens": CameraPose(),
    "barrel": CameraPose(k1=-0.08),
    "strong barrel": CameraPose(k1=-0.15, k2=0.03),
    "pincushion": CameraPose(k1=0.05, k2=-0.01),
    "tilted 15 deg": CameraPose(tilt_deg=15, azimuth_deg=30, roll_deg=30, k1=-0.05),
}
CLICK_PX: Final = 2.0
"""Error of a person's click, standard deviation."""


@dataclass(frozen=True)
class Row:
    """Errors of one calibration, mm."""

    name: str
    felt_mean: float
    felt_max: float
    tops_max: float
    calibration: Calibration


def measure(
    name: str, calibration: Calibration, truth: Callable[[np.ndarray], np.ndarray]
) -> Row:  # fmt: skip
    """Compare with where the renderer says that points are."""
    h = GEOMETRY.half_mm * 0.95
    grid = np.array([(x, y) for x in np.linspace(-h, h, 9) for y in np.linspace(-h, h, 9)])
    top = GEOMETRY.tile_depth * GEOMETRY.tile_width_mm
    off = {}
    for z in (0.0, top):
        seen = truth(np.column_stack([grid, np.full(len(grid), z)]))
        off[z] = np.linalg.norm(calibration.to_table(seen, z) - grid, axis=1)
    return Row(
        name, float(off[0.0].mean()), float(off[0.0].max()), float(off[top].max()), calibration
    )


def rows(camera: CameraPose, size: tuple[int, int] = (1920, 1080), seed: int = 0) -> list[Row]:
    """Every method over one camera."""
    with_markers = Renderer(Style(camera=camera), GEOMETRY, size)
    bare = Renderer(replace(Style(camera=camera), markers=False), GEOMETRY, size)
    height = float(with_markers.camera.position[2])
    h = GEOMETRY.half_mm
    rng = np.random.default_rng(seed)
    corners = bare.project([(-h, -h), (h, -h), (h, h), (-h, h)])
    clicked = [(float(x), float(y)) for x, y in corners + rng.normal(0, CLICK_PX, (4, 2))]
    plain: Picture = bare.render(Scene())

    def by_clicks(*, snap: bool, k1: float | None = None) -> Calibration:
        return calibrate_from_corners(
            plain, clicked, GEOMETRY, camera_height_mm=height, snap=snap, k1=k1
        )

    found = {
        "markers": calibrate_from_markers(
            with_markers.render(Scene()), GEOMETRY, camera_height_mm=height
        ),
        "clicks, snapped": by_clicks(snap=True),
        "clicks": by_clicks(snap=False),
        "clicks, lens ignored": by_clicks(snap=False, k1=0.0),
    }
    return [measure(name, calibration, bare.project) for name, calibration in found.items()]


def main() -> int:
    """Print the table."""
    print("| camera | method | felt: mean | felt: largest | tile tops: largest | k1, k2 (true) |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, camera in CAMERAS.items():
        for row in rows(camera):
            c = row.calibration
            print(
                f"| {name} | {row.name} | {row.felt_mean:.1f} mm | {row.felt_max:.1f} mm | "
                f"{row.tops_max:.1f} mm | {c.k1:+.3f}, {c.k2:+.3f} "
                f"({camera.k1:+.3f}, {camera.k2:+.3f}) |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
