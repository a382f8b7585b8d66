"""The eye alone, picture by picture in the camera's own time: the same on a busy machine."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

import cv2

from benchmarks.rows import Row, Size, quantile
from tablectl.engine.events import Discard, End, Event, Reveal
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.rules import registry
from tablectl.simulate.choreography import LIVELY, Choreography, Moment
from tablectl.simulate.felt import SimulatedFelt
from tablectl.tiles import parse_tile
from vision.calibration_fit import calibrate_from_markers
from vision.detector import Detector
from vision.eye import EyeCore
from vision.geometry import TableGeometry
from vision.messages import TableReading
from vision.render.renderer import Renderer
from vision.sources.frame import Frame

RULES = "hongkong"
_NEAR_MM = 14.0


@dataclass(frozen=True)
class _Waiting:
    """A discard that no reading has shown yet."""

    since: float
    tile: int
    x: float
    y: float

    def shown_by(self, reading: TableReading) -> bool:
        return any(
            abs(s.x - self.x) + abs(s.y - self.y) < _NEAR_MM and parse_tile(s.best) == self.tile
            for s in reading.tiles
            if s.best != "back"
        )


def eye(size: Size) -> Iterator[Row]:
    """From a discard at rest to the reading that shows it, and what a picture costs meanwhile."""
    cv2.setNumThreads(1)
    rules = registry.get(RULES)
    kit = rules.equipment(rules.options())
    geometry = TableGeometry(seats=kit.seats)
    felt = SimulatedFelt(geometry, kit.seats, kit.total, random.Random(1))
    renderer = Renderer(geometry=geometry, fps=LIVELY.fps)
    calibration = calibrate_from_markers(renderer.render(felt.scene()), geometry)
    core = EyeCore(calibration, geometry, Detector(threads=1))
    waiting: list[_Waiting] = []
    lags, costs = [], []
    for n, moment in enumerate(itertools.islice(_film(felt), size.eye_pictures)):
        t = n / LIVELY.fps
        if moment.rested is not None:
            waiting.append(_newest(felt, moment.rested, t))
        picture = renderer.render(moment.scene)
        start = time.thread_time()
        messages = core.process(Frame(t, n, picture))
        costs.append(1000 * (time.thread_time() - start))
        for reading in (m for m in messages if isinstance(m, TableReading)):
            shown = [w for w in waiting if w.shown_by(reading)]
            lags += [1000 * (t - w.since) for w in shown]
            waiting = [w for w in waiting if w not in shown]
    note = f"{len(lags)} discards, {len(waiting)} read otherwise or not yet"
    yield Row("tile at rest to reading, p50", quantile(lags, 0.5), "ms camera", note=note)
    yield Row("tile at rest to reading, p95", quantile(lags, 0.95), "ms camera", 500.0)
    yield Row("a picture during play, mean", sum(costs) / len(costs), "ms CPU", 50.0)
    yield Row("a picture during play, p95", quantile(costs, 0.95), "ms CPU")
    looks = core.counters.looks / max(1, len(lags))
    yield Row("looks of the recogniser for each discard", looks, "looks",
              note="draws from the wall included")  # fmt: skip


def _film(felt: SimulatedFelt) -> Iterator[Moment]:
    """A hand from its first discard on, as the players of the live demonstration play it."""
    film = Choreography(felt, LIVELY, random.Random(1))
    events: list[Event] = [
        e for e in play_hand(RULES, {}, 1000, deal=Deal(round_wind="E"))
        if not isinstance(e, Reveal | End)
    ]  # fmt: skip
    felt.raise_walls(7)
    first = next(n for n, event in enumerate(events) if isinstance(event, Discard))
    for event in events[:first]:
        felt.apply(event)
    yield from film.still(2.0)
    for event in events[first:]:
        yield from film.perform(event)


def _newest(felt: SimulatedFelt, discard: Discard, t: float) -> _Waiting:
    placed = felt.rivers[discard.seat][-1]
    x_mm, y_mm = felt.geometry.to_table(discard.seat, placed.x, placed.y)
    return _Waiting(t, placed.tile, x_mm, y_mm)
