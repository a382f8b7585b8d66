"""Gate, recogniser and renderer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import cv2
import numpy as np

from benchmarks.rows import Row, Size, quantile
from tablectl.tiles import N_PLAYING, Tile
from vision.bench import look_rows, rows_of_gate
from vision.detector import Detector
from vision.render.__main__ import sample_scene
from vision.render.renderer import Renderer
from vision.render.scene import SceneTile

_WINDOW = 640


def gate(_: Size) -> Iterator[Row]:
    """The gate over an idle felt, and the recogniser with one and two threads."""
    cv2.setNumThreads(1)
    for row in rows_of_gate():
        yield Row(row.name, row.value, row.unit, row.budget)


def detector(size: Size) -> Iterator[Row]:
    """Looks of all sizes, wall time, by number of threads."""
    cv2.setNumThreads(1)
    camera = Renderer()
    picture = camera.render(sample_scene())
    middle_y, middle_x = picture.shape[0] // 2, picture.shape[1] // 2
    window = np.ascontiguousarray(
        picture[middle_y - _WINDOW // 2 :, middle_x - _WINDOW // 2 :][:_WINDOW, :_WINDOW]
    )
    for threads in (1, 2):
        recogniser = Detector(threads=threads)
        suffix = f"{threads} thread" + ("s" if threads > 1 else "")
        find, find_cpu = _median_ms(
            partial(recogniser.find_table, window, camera.tile_px), size.repeats
        )
        yield Row(
            f"finder, window of {_WINDOW} x {_WINDOW} px, {suffix}", find, "ms",
            note=f"{find_cpu:.0f} ms CPU",
        )  # fmt: skip
        tiles = len(recogniser.detect(window, tile_px=camera.tile_px))
        read, read_cpu = _median_ms(
            partial(recogniser.detect, window, tile_px=camera.tile_px), size.repeats
        )
        yield Row(
            f"finder and reader, that window, {suffix}", read, "ms",
            note=f"{tiles} tiles, {read_cpu:.0f} ms CPU",
        )  # fmt: skip
        yield Row(f"finder and reader, windows a second, {suffix}", 1000 / read, "1/s")
        for row in look_rows(recogniser, threads):
            yield Row(row.name, row.value, row.unit, row.budget)


def renderer(size: Size) -> Iterator[Row]:
    """Simulated pictures of a game in its middle, processor time of one thread."""
    cv2.setNumThreads(1)
    scene = sample_scene()
    start = time.thread_time()
    camera = Renderer()
    ready = time.thread_time()
    camera.render(scene)
    first = time.thread_time()
    later = []
    for step in range(size.pictures):
        hand = replace(scene.hands[0], x_mm=90.0 + 6 * step)
        new = SceneTile(Tile(step % N_PLAYING), 60.0 + 30 * (step % 6), 210.0)
        begin = time.thread_time()
        camera.render(replace(scene, tiles=(*scene.tiles, new), hands=(hand,)))
        later.append(1000 * (time.thread_time() - begin))
    yield Row("set-up of a look", 1000 * (ready - start), "ms CPU")
    yield Row("first picture", 1000 * (first - ready), "ms CPU", note=f"{len(scene.tiles)} tiles")
    yield Row("picture with a moved hand, p50", quantile(later, 0.5), "ms CPU", 100.0,
              note="10 pictures a second in real time")  # fmt: skip
    yield Row("picture with a moved hand, p95", quantile(later, 0.95), "ms CPU")


def _median_ms(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Medians of wall time and of processor time of all threads, after one run that warms up."""
    work()
    wall, cpu = [], []
    for _ in range(repeats):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        wall.append(1000 * (time.perf_counter() - start))
        cpu.append(1000 * (time.process_time() - start_cpu))
    return quantile(wall, 0.5), quantile(cpu, 0.5)
