"""What the gate and the recogniser cost on this machine: the rows of ``make bench`` on vision.

Pictures are rendered, so that no camera is needed. Times are CPU times of one thread where that is
what counts (the gate), else wall time (the recogniser with its own threads).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tablectl.tiles import Tile
from vision.calibration import Calibration
from vision.calibration_check import check_calibration
from vision.calibration_fit import calibrate_from_markers
from vision.felt.finder import TileFinder
from vision.felt.reader import FeltReader
from vision.gate import MotionGate
from vision.geometry import TableGeometry
from vision.picture_watch import PictureWatch
from vision.render.renderer import Renderer
from vision.render.scene import Scene, SceneTile
from vision.sources.frame import Frame, Image
from vision.walls import WallCounter

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


def rows_of_gate() -> Iterator[BenchRow]:
    """The gate over an idle felt; takes seconds. OpenCV's threads are the caller's choice."""
    geometry, calibration, idle, _ = _pictures()
    gate_ms = _gate_ms(calibration, geometry, idle)
    yield BenchRow("gate, one picture of an idle felt", gate_ms, "ms CPU", 5.0)
    share = gate_ms * _FPS / 10
    yield BenchRow("gate at 10 pictures a second, of one core", share, "%", _IDLE_BUDGET)
    yield BenchRow("gate, pictures a second", 1000 / gate_ms, "1/s")
    watch = PictureWatch(calibration, geometry)
    frames = [Frame(n / _FPS, n, image) for n, image in enumerate(idle)]
    seen = _cpu_ms(lambda n: watch.see(frames[n % len(frames)], quiet=True))
    yield BenchRow("watch over light and view, one picture", seen, "ms CPU", 3.0)
    walls = WallCounter(calibration, geometry)
    counted = _cpu_ms(lambda n: walls.see(idle[n % len(idle)]))
    yield BenchRow("walls counted, once a reading", counted, "ms CPU")
    checked = _cpu_ms(lambda n: check_calibration(calibration, idle[n % len(idle)]), 8)
    yield BenchRow("has the camera moved, once in 30 s", checked, "ms CPU")


def look_rows(finder: TileFinder, threads: int) -> Iterator[BenchRow]:
    """Looks of the felt reader, wall time.

    Args:
        finder: recogniser to measure.
        threads: of the recogniser, for the rows' names.
    """
    geometry, calibration, idle, changed = _pictures()
    whole, one = _look_ms(calibration, geometry, finder, idle, changed)
    plural = "" if threads == 1 else "s"
    yield BenchRow(f"first look at the whole felt, {threads} thread{plural}", whole, "ms")
    yield BenchRow(f"look at one changed tile, {threads} thread{plural}", one, "ms")
    yield BenchRow(f"looks at one tile a second, {threads} thread{plural}", 1000 / one, "1/s")


def _pictures() -> tuple[TableGeometry, Calibration, list[Image], list[Image]]:
    """An idle felt with a river, and the same with one more tile; four pictures each."""
    geometry = TableGeometry()
    renderer = Renderer(geometry=geometry, size=_SIZE)
    calibration = calibrate_from_markers(renderer.render(Scene()), geometry)
    idle = [renderer.render(Scene(tiles=_river(geometry, 11))) for _ in range(4)]
    changed = [renderer.render(Scene(tiles=_river(geometry, 12))) for _ in range(4)]
    return geometry, calibration, idle, changed


def _cpu_ms(work: Callable[[int], object], count: int = 30) -> float:
    """Median processor time of one call."""
    costs = []
    for n in range(count):
        start = time.thread_time()
        work(n)
        costs.append(time.thread_time() - start)
    return 1000 * float(np.median(costs[count // 4 :]))


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
