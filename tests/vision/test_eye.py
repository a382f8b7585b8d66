"""The eye from source to messages: lock-step, freezing, darkness, a bumped camera."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.calibration import Calibration
from vision.detector.detection import Detection
from vision.detector.plain import Colours
from vision.eye import Eye, EyeCore, EyeMessage, EyeOptions
from vision.messages import CameraState, CameraStatus, SightChange, TableReading
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.style import Style
from vision.sources import Frame, MemorySource, SourceError, open_source
from vision.sources.feed import FeedServer
from vision.sources.source import Limits

from .felt_world import GEOMETRY, TruthDetector, World, river

SIZE = (960, 540)
QUICK = Limits(stale_after=0.6, lost_after=0.8, restart_stale_after=5.0, backoff=0.1)


@cache
def prepared() -> tuple[World, Calibration]:
    world = World(Style(camera=CameraPose(tilt_deg=2.0)), size=SIZE)
    return world, world.calibrate()


def fresh() -> tuple[World, Calibration]:
    world, calibration = prepared()
    world.reset()
    return world, calibration


def readings(messages: list[EyeMessage]) -> list[list[str]]:
    return [sorted(t.best for t in m.tiles) for m in messages if isinstance(m, TableReading)]


def states(messages: list[EyeMessage]) -> list[CameraState]:
    return [m.state for m in messages if isinstance(m, CameraStatus)]


def sights(messages: list[EyeMessage]) -> list[str]:
    return [m.sight for m in messages if isinstance(m, SightChange)]


def core(calibration: Calibration, world: World, **options: float) -> EyeCore:
    return EyeCore(
        calibration,
        GEOMETRY,
        TruthDetector(world),
        EyeOptions(**options),  # type: ignore[arg-type]
    )


def show(
    eye: EyeCore, world: World, count: int, change: Callable[[np.ndarray], np.ndarray] | None = None
) -> list[EyeMessage]:
    said: list[EyeMessage] = []
    for frame in world.frames(count):
        shown = frame
        if change is not None:
            world.image = change(frame.image)
            shown = replace(frame, image=world.image)
        said += eye.process(shown)
    return said


def test_a_dark_table_blinds_the_eye_and_light_brings_it_back() -> None:
    world, calibration = fresh()
    eye = core(calibration, world)
    world.put(*river(0, "12m"))
    said = show(eye, world, 8)
    assert states(said) == [CameraState.FINE]
    assert readings(said) == [["1m", "2m"]]
    said = show(eye, world, 6, lambda im: (im * 0.05).astype(np.uint8))
    assert states(said) == [CameraState.DARK]
    assert sights(said) == ["blind"]
    assert readings(said) == []
    (status,) = [m for m in said if isinstance(m, CameraStatus)]
    assert "lamp" in status.remedy
    # What changed in the dark is seen when the light is back.
    world.put(*river(1, "9s"))
    said = show(eye, world, 10)
    assert states(said) == [CameraState.FINE]
    assert readings(said) == [["1m", "2m", "9s"]]
    assert sights(said)[-1] == "steady"


class NextKind(TruthDetector):
    """Takes every tile for the next kind."""

    def detect(
        self,
        image: np.ndarray,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> Sequence[Detection]:
        found = super().detect(image, tile_px=tile_px, least_area=least_area, colours=colours)
        return [replace(seen, probabilities=self._next(seen.probabilities)) for seen in found]

    @staticmethod
    def _next(probabilities: tuple[float, ...]) -> tuple[float, ...]:
        return (*probabilities[-1:], *probabilities[:-1])


def test_another_recogniser_reads_everything_anew() -> None:
    world, calibration = fresh()
    eye = core(calibration, world)
    world.put(*river(0, "12m"))
    assert readings(show(eye, world, 8)) == [["1m", "2m"]]
    assert readings(show(eye, world, 4)) == []
    eye.use_finder(NextKind(world))
    said = show(eye, world, 8)
    assert readings(said) == [["2m", "3m"]]
    assert states(said) == [], "the camera is as it was"


def test_pictures_of_another_size_are_refused_by_name() -> None:
    world, calibration = fresh()
    eye = core(calibration, world)
    said = eye.process(Frame(0.0, 0, np.full((480, 640, 3), 90, np.uint8)))
    (status,) = [m for m in said if isinstance(m, CameraStatus)]
    assert status.state is CameraState.WRONG_SIZE
    assert "640x480" in status.remedy
    assert "960x540" in status.remedy
    world.put(*river(0, "1m"))
    said = show(eye, world, 8)
    assert states(said) == [CameraState.FINE]
    assert readings(said) == [["1m"]]


class BumpedWorld(World):
    """The same table through a camera that somebody pushes."""

    def bump(self) -> None:
        pose = replace(self.style.camera, target_mm=(14.0, -9.0))
        self.style = replace(self.style, camera=pose)
        self.renderer = Renderer(self.style, GEOMETRY, self.size)
        self._truth = None


@pytest.mark.parametrize("realign", [True, False])
def test_a_bumped_camera_is_realigned_or_asks(realign: bool) -> None:
    world = BumpedWorld(Style(camera=CameraPose(tilt_deg=2.0)), size=SIZE)
    calibration = world.calibrate()
    eye = core(calibration, world, auto_realign=realign)
    world.put(*river(0, "12m"), *river(2, "5p"))
    assert readings(show(eye, world, 8)) == [["1m", "2m", "5p"]]
    before = eye.reader.tiles()
    world.bump()
    said = show(eye, world, 16)
    assert states(said)[0] is CameraState.MOVED
    moved = next(m for m in said if isinstance(m, CameraStatus))
    assert "tablectl calibrate" in moved.remedy
    assert "blind" in sights(said)
    if realign:
        assert states(said) == [CameraState.MOVED, CameraState.FINE]
        after = eye.reader.tiles()
        assert [t.best for t in after] == [t.best for t in before]
        for old, new in zip(before, after, strict=True):
            assert abs(old.x - new.x) < 4
            assert abs(old.y - new.y) < 4
    else:
        assert states(said) == [CameraState.MOVED]
        assert readings(said) == [], "what a moved camera sees lies elsewhere"
        said = show(eye, world, 30)
        assert readings(said) == []


def test_a_moved_camera_is_noticed_at_the_start() -> None:
    world = BumpedWorld(Style(camera=CameraPose(tilt_deg=2.0)), size=SIZE)
    calibration = world.calibrate()
    world.bump()
    eye = core(calibration, world, auto_realign=False)
    world.put(*river(0, "12m"))
    said = show(eye, world, 12)
    assert states(said) == [CameraState.MOVED]
    assert readings(said) == []


class Blobs:
    """A recogniser of white blobs, for tests where another process makes the pictures."""

    def detect(
        self,
        image: np.ndarray,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> list[Detection]:
        import cv2

        bright = (image.min(axis=2) > 150).astype(np.uint8)
        found = []
        count, _, stats, _ = cv2.connectedComponentsWithStats(bright)
        for x, y, w, h, area in stats[1:count]:
            if area > 60:
                kinds = [0.0] * 43
                kinds[0] = 1.0
                box = (float(x), float(y), float(x + w), float(y + h))
                found.append(Detection(box, 0.99, tuple(kinds), 0.0))
        return found

    def classify(
        self, image: np.ndarray, boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.full((len(boxes), 43), 1 / 43, np.float32), np.zeros(len(boxes), np.float32)


async def collect(eye: Eye) -> list[str]:
    return [m.model_dump_json() async for m in eye.messages()]


async def test_lock_step_through_a_feed_is_the_same_every_time(tmp_path: Path) -> None:
    world, calibration = fresh()
    images = [(f.t, f.image) for f in world.frames(6)]
    world.put(*river(0, "1m"))
    images += [(f.t, f.image) for f in world.sweep(0.0, 100.0, 0.0, steps=3)]
    images += [(f.t, f.image) for f in world.frames(7)]

    def serve(feed: FeedServer) -> None:
        feed.wait_for_viewer(20)
        for t, image in images:
            assert feed.send(t, image)
        feed.end()
        feed.close()

    async def once(name: str) -> list[str]:
        feed = FeedServer(tmp_path / name)
        thread = threading.Thread(target=serve, args=(feed,))
        thread.start()
        source = open_source(f"feed:{tmp_path / name}", lockstep=True)
        async with Eye(source, calibration, Blobs(), GEOMETRY) as eye:
            said = await collect(eye)
            assert source.status().dropped == 0
            assert eye.counters.frames == len(images)
            assert eye.counters.looks >= 2
        thread.join()
        return said

    first = await once("a")
    assert first == await once("b")
    memory = MemorySource([Frame(t, n, image) for n, (t, image) in enumerate(images)])
    async with Eye(memory, calibration, Blobs(), GEOMETRY) as eye:
        replayed = await collect(eye)
    only = [m for m in first if '"tiles"' in m or '"sight"' in m]
    assert only == [m for m in replayed if '"tiles"' in m or '"sight"' in m]
    assert sum('"tiles"' in m for m in first) == 2


async def test_a_camera_that_freezes_is_stale_and_nothing_is_read_meanwhile(
    tmp_path: Path,
) -> None:
    world, calibration = fresh()
    empty = [f.image for f in world.frames(4)]
    world.put(*river(0, "1m"))
    full = [f.image for f in world.frames(4)]
    frozen, stop, tile = threading.Event(), threading.Event(), threading.Event()
    feed = FeedServer(tmp_path / "feed")

    def serve() -> None:
        n = 0
        while not stop.is_set():
            if not frozen.is_set():
                n += 1
            feed.send(time.monotonic(), (full if tile.is_set() else empty)[n % 4])
            stop.wait(0.05)
        feed.close()

    thread = threading.Thread(target=serve)
    thread.start()
    said: list[EyeMessage] = []

    async def listen(eye: Eye) -> None:
        async for message in eye.messages():
            said.append(message)  # noqa: PERF401 - seen from outside while it goes on

    async def until(true: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not true():  # noqa: ASYNC110 - the camera tells nobody
                await asyncio.sleep(0.02)

    source = open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK)
    try:
        async with Eye(source, calibration, Blobs(), GEOMETRY) as eye:
            task = asyncio.create_task(listen(eye))
            await until(lambda: len(readings(said)) == 1)
            assert readings(said) == [[]]
            frozen.set()
            await until(lambda: CameraState.STALE in states(said))
            assert sights(said)[-1] == "blind"
            count = len(said)
            await asyncio.sleep(0.5)
            assert len(said) == count
            tile.set()
            frozen.clear()
            await until(lambda: len(readings(said)) == 2)
            assert readings(said)[-1] == ["1m"]
            assert states(said) == [
                CameraState.STARTING, CameraState.FINE, CameraState.STALE, CameraState.FINE
            ]  # fmt: skip
            assert eye.status().state is CameraState.FINE
            task.cancel()
    finally:
        stop.set()
        thread.join()


async def test_pictures_can_be_recorded_on_the_way() -> None:
    world, calibration = fresh()
    frames = list(world.frames(3))
    kept: list[Frame] = []
    source = MemorySource(frames)
    async with Eye(source, calibration, Blobs(), GEOMETRY, on_frame=kept.append) as eye:
        await collect(eye)
    assert kept == frames


async def test_a_missing_file_ends_the_messages_with_its_reason(tmp_path: Path) -> None:
    _, calibration = fresh()
    source = open_source(f"file:{tmp_path / 'none.mp4'}", lockstep=True)
    async with Eye(source, calibration, Blobs(), GEOMETRY) as eye:
        with pytest.raises(SourceError, match="no video file"):
            await collect(eye)
