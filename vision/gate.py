"""The motion gate: which parts of the felt changed and have come to rest.

The gate keeps an idle felt cheap and keeps hands out of the readings. It works on a picture a
quarter as large, in grey, split into *cells* of a few pixels. For each cell it asks two things:

* does it move? Compared with the cell's *anchor*, a picture of it that is replaced whenever the
  cell departs from it. A cell that keeps its anchor for long enough is at rest.
* has it changed? Compared with the *reference*, what the cell looked like when it was last read.

Both comparisons use detail (what remains after subtracting a blurred copy), which light, shadows,
exposure and white balance hardly touch, and brightness only where it differs much. Neighbouring
cells that move or changed form one patch; a patch with anything moving in it is held back whole,
so a hand holds all that is beneath it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration import Calibration
from vision.geometry import TableGeometry
from vision.sources.frame import Frame, Image

Mask = NDArray[np.bool_]
Grid = NDArray[np.float32]
Box = tuple[int, int, int, int]
"""x1, y1, x2, y2 in px, x2 and y2 not included."""

_CELL: Final = 4
"""Side of a cell in pixels of the small picture."""
_SHADE: Final = 0.4
"""Change of brightness, as a share of what was, that shadows and lamps may make."""
_LIGHT_SHARE: Final = 0.5
"""More of the felt changing at once is a lamp, a new set of walls, or a bumped camera."""


@dataclass(frozen=True)
class GateOptions:
    """Settings of the gate.

    Attributes:
        rest_s, rest_frames: how long, and in how many pictures, a cell must be still.
        detail: mean difference of detail (percent of the surroundings' brightness) by which a cell
            counts as different; raised automatically with the camera's noise.
        brightness: difference of brightness (grey levels) that counts even without detail.
        hand_tiles: a moving patch of more tile areas than this is a hand (or an arm).
        small_width: the small picture is about so wide.
    """

    rest_s: float = 0.25
    rest_frames: int = 2
    detail: float = 4.0
    brightness: float = 26.0
    hand_tiles: float = 6.0
    small_width: int = 480


@dataclass(frozen=True)
class Region:
    """A part of the picture that changed and is at rest again.

    Attributes:
        box: its bounding box in px.
        cells: which cells of the grid it is made of.
    """

    box: Box
    cells: Mask


@dataclass(frozen=True)
class GateResult:
    """What the gate says about one picture.

    Attributes:
        t: time of the picture.
        regions: to be read now; the gate won't name them again until they change once more.
        moving: cells of patches in which something moves; nothing there can be trusted.
        covered: whether one of those patches is as large as a hand.
        waiting: whether something has changed that is not at rest yet.
        everything: most of the felt changed at once.
        brightness: mean grey of the felt, 0 to 255.
        cell_px, origin: side of a cell, and the grid's top left corner, in px of the full picture.
    """

    t: float
    regions: tuple[Region, ...]
    moving: Mask
    covered: bool
    waiting: bool
    everything: bool
    brightness: float
    cell_px: int
    origin: tuple[int, int]

    @property
    def steady(self) -> bool:
        """Nothing moves anywhere on the felt."""
        return not self.waiting and not self._moves_anywhere

    def moves_at(self, points_px: NDArray[np.float64]) -> bool:
        """Whether any of the points (n, 2) lies in a moving patch."""
        return self._moves_anywhere and self.share_moving(points_px) > 0

    @cached_property
    def _moves_anywhere(self) -> bool:
        return bool(self.moving.any())

    def share_moving(self, points_px: NDArray[np.float64]) -> float:
        """Share of the points (n, 2) that lies in moving patches."""
        cells = ((points_px - np.array(self.origin)) / self.cell_px).astype(int)
        height, width = self.moving.shape
        # Many times a picture and for few points: numpy's clip and mean would cost more than this.
        x = np.minimum(np.maximum(cells[:, 0], 0), width - 1)
        y = np.minimum(np.maximum(cells[:, 1], 0), height - 1)
        return int(np.count_nonzero(self.moving[y, x])) / len(cells)


class MotionGate:
    """Decides picture by picture; deterministic in the pictures and their times.

    Args:
        calibration: tells where the felt is; the rest of the picture is ignored, and so is the
            centre panel with its lamps.
        geometry: of the table.
        options: see :class:`GateOptions`.
    """

    def __init__(
        self,
        calibration: Calibration,
        geometry: TableGeometry,
        options: GateOptions | None = None,
    ) -> None:
        self._options = options or GateOptions()
        width, height = calibration.image_size
        self._halvings = max(0, round(math.log2(width / self._options.small_width)))
        self._scale = 2**self._halvings
        self.cell_px = self._scale * _CELL
        x1, y1, x2, y2 = _bounds(calibration, width, height, self.cell_px)
        self._crop = (x1, y1, x2, y2)
        self._grid = ((y2 - y1) // self.cell_px, (x2 - x1) // self.cell_px)
        self._mask = self._felt_mask(calibration, geometry)
        tile_px = calibration.tile_px()
        self._tile_cells = tile_px * tile_px * geometry.tile_length / self.cell_px**2
        self._ready = False

    def process(self, frame: Frame) -> GateResult:
        """Take the next picture; pictures must come in order of time."""
        small = self._shrink(frame.image)
        if not self._ready:
            self._begin(small, frame.t)
            return self._result(frame.t, (), self._mask.copy(), waiting=True)
        bright = _cell_means(small, self._grid)
        bright /= self._gain(bright)
        detail = _detail(small)
        moved = self._update_rest(detail, bright, frame.t)
        changed = self._differs(detail, bright, self._ref_detail, self._ref_bright)
        changed |= self._unread
        self._adapt_reference(detail, bright, ~changed & ~moved & self._resting(frame.t))
        return self._judge(changed & self._mask, detail, bright, frame.t)

    def _begin(self, small: Grid, t: float) -> None:
        bright = _cell_means(small, self._grid)
        detail = _detail(small)
        self._anchor_detail, self._anchor_bright = detail, bright.copy()
        self._ref_detail, self._ref_bright = detail.copy(), bright.copy()
        self._unread = self._mask.copy()
        self._still_since = np.full(self._grid, t)
        self._still_frames = np.zeros(self._grid, np.int32)
        self._departed = np.zeros(self._grid, bool)
        self._noise = 0.0
        self._gain_now = 1.0
        self._ready = True

    # Light.

    def _gain(self, bright: Grid) -> float:
        """How much brighter the felt is than the reference, robust against half of it changing."""
        ratio = bright[self._mask] / np.maximum(self._ref_bright[self._mask], 1.0)
        self._gain_now = float(np.clip(np.median(ratio), 0.05, 20.0))
        return self._gain_now

    def _adapt_reference(self, detail: Grid, bright: Grid, quiet: Mask) -> None:
        """Let the reference follow slow drifts where nothing happens."""
        pixels = _spread(quiet) * np.float32(0.05)
        self._ref_detail += (detail - self._ref_detail) * pixels
        self._ref_bright += (bright - self._ref_bright) * quiet * np.float32(0.05)

    # Motion.

    def _differs(self, detail: Grid, bright: Grid, old_detail: Grid, old_bright: Grid) -> Mask:
        by_detail = _cell_means(cv2.absdiff(detail, old_detail), self._grid)
        limit = max(self._options.detail, 4.0 * self._noise)
        by_light = np.abs(bright - old_bright) > self._options.brightness + _SHADE * old_bright
        result: Mask = (by_detail > limit) | by_light
        return result

    def _update_rest(self, detail: Grid, bright: Grid, t: float) -> Mask:
        by_detail = _cell_means(cv2.absdiff(detail, self._anchor_detail), self._grid)
        self._noise += (float(np.median(by_detail[self._mask])) - self._noise) * 0.2
        limit = max(self._options.detail, 4.0 * self._noise)
        by_light = np.abs(bright - self._anchor_bright)
        moved: Mask = by_detail > limit
        moved |= by_light > self._options.brightness + _SHADE * self._anchor_bright
        self._departed |= moved
        self._still_since[moved] = t
        self._still_frames += 1
        self._still_frames[moved] = 0
        rate = np.where(moved, np.float32(1.0), np.float32(0.1)).astype(np.float32)
        self._anchor_detail += (detail - self._anchor_detail) * _spread(rate)
        self._anchor_bright += (bright - self._anchor_bright) * rate
        return moved

    def _resting(self, t: float) -> Mask:
        long_enough = t - self._still_since >= self._options.rest_s - 1e-6
        result: Mask = long_enough & (self._still_frames >= self._options.rest_frames)
        return result

    # Patches.

    def _judge(self, changed: Mask, detail: Grid, bright: Grid, t: float) -> GateResult:
        restless = ~self._resting(t) & self._mask
        patches = cv2.dilate((changed | restless).astype(np.uint8), np.ones((3, 3), np.uint8))
        patches = np.asarray(patches * self._mask, dtype=np.uint8)
        count, labels = cv2.connectedComponents(patches, connectivity=8)
        in_motion = np.zeros(count, bool)
        in_motion[np.unique(labels[restless])] = True
        in_motion[0] = False
        moving: Mask = in_motion[labels]
        # At the start every cell is unread and none has moved: that is no hand.
        self._departed &= changed | restless
        sizes = np.bincount(labels[_body(self._departed)], minlength=count)
        covered = bool((sizes[in_motion] > self._options.hand_tiles * self._tile_cells).any())
        at_rest = [n for n in np.unique(labels[changed]) if n and not in_motion[n]]
        regions = tuple(self._region(labels == n) for n in at_rest)
        for region in regions:
            self._accept(region.cells, detail, bright)
        everything = float(changed.sum()) > _LIGHT_SHARE * float(self._mask.sum())
        return self._result(
            t, regions, moving, waiting=bool(moving.any()), covered=covered, everything=everything
        )

    def _region(self, cells: Mask) -> Region:
        rows, columns = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(cells.any(axis=0))
        x0, y0 = self._crop[:2]
        side = self.cell_px
        return Region(
            (
                x0 + int(columns[0]) * side,
                y0 + int(rows[0]) * side,
                x0 + int(columns[-1] + 1) * side,
                y0 + int(rows[-1] + 1) * side,
            ),
            cells,
        )

    def _accept(self, cells: Mask, detail: Grid, bright: Grid) -> None:
        """From now on these cells are compared with how they look now."""
        pixels = _spread(cells)
        np.copyto(self._ref_detail, detail, where=pixels)
        np.copyto(self._ref_bright, bright, where=cells)
        self._unread &= ~cells
        self._departed &= ~cells

    def _result(
        self,
        t: float,
        regions: tuple[Region, ...],
        moving: Mask,
        *,
        waiting: bool,
        covered: bool = False,
        everything: bool = False,
    ) -> GateResult:
        level = float(self._ref_bright[self._mask].mean()) * self._gain_now
        return GateResult(
            t=t,
            regions=regions,
            moving=moving,
            covered=covered,
            waiting=waiting,
            everything=everything,
            brightness=level,
            cell_px=self.cell_px,
            origin=self._crop[:2],
        )

    # Pixels.

    def _shrink(self, image: Image) -> Grid:
        x1, y1, x2, y2 = self._crop
        small: NDArray[Any] = image[y1:y2, x1:x2]
        # Halving by bilinear sampling is an exact mean of 2 x 2 and many times cheaper than area.
        for _ in range(self._halvings):
            small = cv2.resize(
                small, (small.shape[1] // 2, small.shape[0] // 2), interpolation=cv2.INTER_LINEAR
            )
        return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), dtype=np.float32)

    def _felt_mask(self, calibration: Calibration, geometry: TableGeometry) -> Mask:
        rows, columns = self._grid
        y, x = np.mgrid[0:rows, 0:columns]
        px = np.stack([x.ravel(), y.ravel()], axis=1) * self.cell_px + self.cell_px / 2
        mm = calibration.to_table(px + np.array(self._crop[:2]))
        far = np.abs(mm).max(axis=1) / geometry.tile_width_mm
        mask: Mask = ((far <= geometry.half) & (far >= geometry.panel)).reshape(rows, columns)
        return mask


def _bounds(calibration: Calibration, width: int, height: int, step: int) -> Box:
    """The felt's bounding box, whole cells, inside the picture."""
    outline = calibration.felt_outline
    x1, y1 = np.floor(outline.min(axis=0).clip(0, None) / step).astype(int) * step
    x2, y2 = np.ceil(outline.max(axis=0) / step).astype(int) * step
    x2, y2 = min(int(x2), width // step * step), min(int(y2), height // step * step)
    if x2 - x1 < 4 * step or y2 - y1 < 4 * step:
        raise ValueError("the calibration puts the felt outside the picture: calibrate again")
    return int(x1), int(y1), x2, y2


def _detail(small: Grid) -> Grid:
    """What a blurred copy doesn't have, relative to it: edges and print, whatever the light.

    Light multiplies, so the ratio to the surroundings stays when a lamp or a shadow changes both.
    """
    smooth = cv2.blur(small, (3, 3))
    wide = cv2.blur(small, (11, 11))
    return np.asarray((smooth - wide) * (100.0 / (wide + 8.0)), dtype=np.float32)


def _body(cells: Mask) -> Mask:
    """Patches with holes closed and without the fringe that blurring gives them."""
    closed = cv2.morphologyEx(cells.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    return np.asarray(cv2.erode(closed, np.ones((3, 3), np.uint8)), dtype=bool)


def _cell_means(small: NDArray[Any], grid: tuple[int, int]) -> Grid:
    return np.asarray(
        cv2.resize(small, (grid[1], grid[0]), interpolation=cv2.INTER_AREA), dtype=np.float32
    )


def _spread(cells: NDArray[Any]) -> NDArray[Any]:
    """Cell values repeated for each pixel of the small picture."""
    return np.repeat(np.repeat(cells, _CELL, axis=0), _CELL, axis=1)
