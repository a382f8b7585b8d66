"""Walls counted from above: how many stacks stand before each seat.

Along each wall the picture is sampled at the height of its top, and where the camera sees the
wall's inner side, whose bodies are pale. What has not the cloth's colour there, whatever the
shadow, is wall; the length of a run says how many stacks it is. A stack of which only the lower
tile is left counts: seen from above it can hardly be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration import Array, Calibration
from vision.cloth import ALIKE, most_common, tinted
from vision.gate import GateResult
from vision.geometry import TableGeometry
from vision.messages import WallSeen
from vision.sources.frame import Image

_STEP: Final = 0.08
"""Distance of samples along a wall, tile widths."""
_ACROSS: Final = (-0.42, -0.28, -0.14, 0.0, 0.14, 0.28, 0.42)
"""Places of samples across a wall, tile widths from its middle."""
_INNER: Final = (0.05, 0.1, 0.15, 0.2, 0.25)
"""Places of samples on the inner side: tile widths from the wall's edge towards the middle."""
_REACH: Final = 9.3
"""Half the longest wall, tile widths; beyond stands the next seat's."""
_PITCH: Final = 1.01
"""Width of a stack with its gap, tile widths."""
_SHADOW: Final = 0.5
_SHADOW_TINT: Final = 0.35
"""Difference of tint that is no cloth where it is darker than so much of the cloth."""
_SHADE: Final = (0.15, 1.7)
"""Brightness of cloth in shadow and in full light, relative to its usual one."""
_SHARE: Final = 0.55
"""Share of the samples across that must be wall."""
_CORNER: Final = 8.6
"""How far out the inner side is looked at; then comes the next seat's, which has its own."""
_SIDE_TINT: Final = 0.22
_SIDE_LIGHT: Final = 1.35
_SIDE_SAMPLES: Final = 2
"""The inner side shows in so many samples, by its tint or by being paler than the cloth."""
_LEAST: Final = 0.55
"""Shorter runs, in stacks, are something else."""
_HOLE: Final = 0.4
"""A gap shorter than this, in stacks, is none."""


@dataclass(frozen=True)
class _Side:
    """Where one wall is sampled.

    Attributes:
        x: places along it in the seat's frame, (n,) tile widths.
        px: (n, m, 2) pixels of the samples, as OpenCV maps them: first those on top, then those of
            the inner side.
        points: the same as a list, (n * m, 2).
    """

    x: Array
    px: NDArray[np.float32]
    points: Array


class WallCounter:
    """Counts stacks in pictures of one camera.

    Args:
        calibration: of the camera.
        geometry: of the table.
    """

    def __init__(self, calibration: Calibration, geometry: TableGeometry) -> None:
        self._geometry = geometry
        self._height = 2 * geometry.tile_depth * geometry.tile_width_mm
        self._camera = calibration.camera_position
        self._sides = [self._side(calibration, seat) for seat in range(geometry.seats)]
        self._cloth = _cloth_points(calibration, geometry)
        self._seen: dict[int, WallSeen] = {}

    def _side(self, calibration: Calibration, seat: int) -> _Side:
        middle = sum(self._geometry.wall) / 2
        x = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
        edge = -self._geometry.tile_length / 2
        across = [*_ACROSS, *(edge - v for v in _INNER)]
        mm = [self._geometry.to_table(seat, u, middle + v) for u in x for v in across]
        points = calibration.to_image(mm, self._height)
        px = points.reshape(len(x), len(across), 2).astype(np.float32)
        return _Side(x, px, points)

    def see(self, image: Image, gate: GateResult | None = None) -> tuple[WallSeen, ...]:
        """The walls in a picture; a side over which something moves keeps its former count.

        Args:
            image: (h, w, 3) BGR of the calibrated size.
            gate: what moves in it; None when nothing does.
        """
        cloth = self._cloth_colour(image)
        for seat, side in enumerate(self._sides):
            moves = gate is not None and gate.moves_at(side.points)
            if moves:
                known = self._seen.get(seat)
                if known is not None:
                    self._seen[seat] = known.model_copy(update={"covered": True})
                continue
            runs = self._runs(image, side, seat, cloth)
            self._seen[seat] = WallSeen(seat=seat, stacks=sum(runs), runs=runs)
        return tuple(self._seen[seat] for seat in sorted(self._seen))

    def _cloth_colour(self, image: Image) -> Array:
        """(3,) brightness and tints of the cloth: the most common over the felt."""
        return most_common(tinted(image[self._cloth[:, 1], self._cloth[:, 0]].astype(float)))

    def _runs(self, image: Image, side: _Side, seat: int, cloth: Array) -> tuple[int, ...]:
        colours = cv2.remap(
            image, np.ascontiguousarray(side.px[..., 0]), np.ascontiguousarray(side.px[..., 1]),
            cv2.INTER_LINEAR,
        )  # fmt: skip
        values = tinted(colours.reshape(-1, 3).astype(float)).reshape(*colours.shape[:2], 3)
        tint = np.abs(values[..., 1:] - cloth[1:]).max(axis=2)
        shade = values[..., 0] / max(float(cloth[0]), 1.0)
        # Deep shadow takes on the colour of the other lamp; tops lie too high for such shadows.
        limit = np.where(shade < _SHADOW, _SHADOW_TINT, ALIKE)
        other = (tint > limit) | (shade < _SHADE[0]) | (shade > _SHADE[1])
        top = len(_ACROSS)
        pale = (tint > np.maximum(limit, _SIDE_TINT)) | (shade > _SIDE_LIGHT)
        solid = other[:, :top].mean(axis=1) >= _SHARE
        inner = pale[:, top:].sum(axis=1) >= _SIDE_SAMPLES
        solid |= inner & (np.abs(side.x) < _CORNER)
        counts = [self._stacks(seat, a, b) for a, b in _intervals(side.x, solid)]
        return tuple(n for n in counts if n)

    def _stacks(self, seat: int, start: float, end: float) -> int:
        """Stacks in a run, without the sides of its ends that the camera sees."""
        width = self._geometry.tile_width_mm
        camera, _ = self._geometry.to_seat(seat, float(self._camera[0]), float(self._camera[1]))
        slope = self._height / max(float(self._camera[2]), width)
        end -= max(0.0, camera - end) * slope
        start += max(0.0, start - camera) * slope
        stacks = (end - start) / _PITCH
        return max(1, round(stacks)) if stacks >= _LEAST else 0


def _intervals(x: Array, solid: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Runs of wall along a side, (from, to); short holes (seams, glints) are closed."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], solid.astype(np.int8), [0]])))
    runs: list[tuple[float, float]] = []
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        start, end = float(x[first]) - _STEP / 2, float(x[after - 1]) + _STEP / 2
        if runs and start - runs[-1][1] < _HOLE:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def _cloth_points(calibration: Calibration, geometry: TableGeometry) -> NDArray[np.int64]:
    """Pixels (n, 2) spread over the felt."""
    h = geometry.half_mm * 0.97
    steps = np.linspace(-h, h, 56)
    mm = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    clear = np.abs(mm).max(axis=1) > geometry.panel * geometry.tile_width_mm
    px = np.round(calibration.to_image(mm[clear])).astype(np.int64)
    width, height = calibration.image_size
    inside = (px >= 0).all(axis=1) & (px[:, 0] < width) & (px[:, 1] < height)
    return px[inside]
