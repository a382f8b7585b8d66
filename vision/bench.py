"""What the gate and the recogniser cost on this machine: the rows of ``make bench`` on vision.

Pictures are rendered, so that no camera is needed. Times are CPU times of one thread where that is
what counts (the gate), else wall time (the recogniser with its own threads).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from tablectl.tiles import Tile
from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_markers
from vision.detector import Detector
from vision.felt.finder import TileFinder
from vision.felt.reader import FeltReader
from vision.gate import MotionGate
from vision.geometry import TableGeometry
from vision.render.renderer import Renderer
from vision.render.scene import Scene, SceneTile
from vision.sources.frame import Frame, Image

_SIZE: Final = (1920, 1080)
_FPS: Final = 10
_IDLE_BUDGET: Final = 10.0


@dataclass(frozen=True)
class BenchRow:
    """One measured figure.

    Attributes:
        name: what was measured.
        value, unit: the figure.
        budget: what it may be at most; ``None`` where there is no budget.
    """

    name: str
    value: float
    unit: str
    budget: float | None = None


def run(finder: TileFinder | None = None, threads: int = 1) -> Iterator[BenchRow]:
    """Measure; takes some seconds.

    Args:
        finder: recogniser to measure; ``None`` loads the product's own.
        threads: of the recogniser loaded here.

    Raises:
        WeightsError: the recogniser's weights can't be loaded.
    """
    opencv_threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield from _rows(finder or Detector(threads=threads), threads)
    finally:
        cv2.setNumThreads(opencv_threads)


def _rows(finder: TileFinder, threads: int) -> Iterator[BenchRow]:
    geometry = TableGeometry()
    renderer = Renderer(geometry=geometry, size=_SIZE)
    calibration = calibrate_from_markers(renderer.render(Scene()), geometry)
    before = _river(geometry, 11)
    after = _river(geometry, 12)
    idle = [renderer.render(Scene(tiles=before)) for _ in range(4)]
    changed = [renderer.render(Scene(tiles=after)) for _ in range(4)]
    gate_ms = _gate_ms(calibration, geometry, idle)
    yield BenchRow("gate, one 1080p picture of an idle felt", gate_ms, "ms CPU", 5.0)
    share = gate_ms * _FPS / 10
    yield BenchRow("idle felt at 10 fps 1080p, of one core", share, "%", _IDLE_BUDGET)
    yield BenchRow("gate, pictures a second", 1000 / gate_ms, "1/s")
    whole, one = _look_ms(calibration, geometry, finder, idle, changed)
    yield BenchRow(f"first look at the whole felt, {threads} thread(s)", whole, "ms")
    yield BenchRow(f"look at one changed tile, {threads} thread(s)", one, "ms")


def _gate_ms(calibration: Calibration, geometry: TableGeometry, idle: list[Image]) -> float:
    gate = MotionGate(calibration, geometry)
    costs = []
    for n in range(40):
        start = time.thread_time()
        gate.process(Frame(n / _FPS, n, idle[n % len(idle)]))
        costs.append(time.thread_time() - start)
    return 1000 * float(np.median(costs[10:]))


def _look_ms(
    calibration: Calibration,
    geometry: TableGeometry,
    finder: TileFinder,
    idle: list[Image],
    changed: list[Image],
) -> tuple[float, float]:
    """Wall time of the first look at the whole felt, and of the looks after one tile came."""
    gate = MotionGate(calibration, geometry)
    reader = FeltReader(calibration, geometry, finder)
    whole, single = 0.0, []
    for n in range(24):
        image = (idle if n < 12 else changed)[n % 4]
        frame = Frame(n / _FPS, n, image)
        looks = reader.counters.looks
        reader.process(frame, gate.process(frame))
        if reader.counters.looks > looks:
            if whole == 0.0:
                whole = reader.counters.last_detect_ms
            elif n >= 12:
                single.append(reader.counters.last_detect_ms)
    return whole, float(np.median(single)) if single else float("nan")


def _river(geometry: TableGeometry, count: int) -> tuple[SceneTile, ...]:
    tiles = []
    for n in range(count):
        x, y = geometry.to_table(0, *geometry.river_slot(n))
        tiles.append(SceneTile(Tile(n), x, y))
    return tuple(tiles)
