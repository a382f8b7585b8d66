"""Sources run as real processes here; the waits are those the limits name."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from tablectl.services.bus import Bus
from tablectl.services.clock import RecordedClock
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame
from tablectl.services.recorder import Recorder
from vision.messages import CameraState
from vision.sources import (
    Frame,
    MemorySource,
    SourceError,
    SourceSpecError,
    open_source,
    parse_spec,
)
from vision.sources.feed import FeedError, FeedServer
from vision.sources.slot import FrameSlot, create_slot_memory
from vision.sources.source import CameraSource, Limits
from vision.sources.worker import ChangeWatch

QUICK = Limits(
    stale_after=0.5,
    lost_after=0.6,
    start_within=5.0,
    restart_stale_after=1.5,
    backoff=0.1,
    backoff_max=0.2,
)


def picture(n: int, size: tuple[int, int] = (64, 48)) -> np.ndarray:
    rng = np.random.default_rng(n)
    return rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)


class Simulator:
    """Serves pictures at ``interval`` from a thread; can freeze and die."""

    def __init__(self, path: Path, interval: float = 0.03, repeats: bool = False) -> None:
        self.feed = FeedServer(path, repeats=repeats)
        self.interval = interval
        self.frozen = threading.Event()
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        n = 0
        while not self.stop.is_set():
            if not self.frozen.is_set():
                n += 1
            self.feed.send(n * 0.1, picture(n))
            self.stop.wait(self.interval)
        self.feed.close()

    def __enter__(self) -> Simulator:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop.set()
        self._thread.join()


async def until(source: CameraSource, state: CameraState, within: float) -> float:
    """Seconds until the source is in ``state``."""
    start = time.monotonic()
    while time.monotonic() - start < within:
        if source.status().state is state:
            return time.monotonic() - start
        await asyncio.sleep(0.02)
    raise AssertionError(f"not {state} within {within} s but {source.status()}")


@pytest.mark.parametrize(
    ("text", "kind", "target", "live"),
    [
        ("v4l2:/dev/v4l/by-id/cam", "v4l2", "/dev/v4l/by-id/cam", True),
        ("file:a.mp4", "file", "a.mp4", False),
        ("rtsp://cam/1", "rtsp", "rtsp://cam/1", True),
        ("http://cam:8080/mjpeg", "http", "http://cam:8080/mjpeg", True),
        ("folder:photos", "folder", "photos", False),
        ("feed:/run/x.sock", "feed", "/run/x.sock", False),
    ],
)
def test_specs(text: str, kind: str, target: str, live: bool) -> None:
    spec = parse_spec(text)
    assert (spec.kind, spec.target, spec.live) == (kind, target, live)
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["", "camera", "usb:1", "file:", "rtsp:cam"])
def test_unknown_specs_show_the_forms(text: str) -> None:
    with pytest.raises(SourceSpecError, match="v4l2:/dev/v4l/by-id"):
        parse_spec(text)


def test_slot_gives_the_newest_and_refuses_what_is_no_picture() -> None:
    fd = create_slot_memory()
    writer, reader = FrameSlot(fd), FrameSlot(fd)
    assert reader.read() is None
    for n in range(3):
        writer.write(n / 10, n, picture(n, (64 + n, 48)))
    frame = reader.read()
    assert frame is not None
    assert (frame.t, frame.seq) == (0.2, 2)
    np.testing.assert_array_equal(frame.image, picture(2, (66, 48)))
    with pytest.raises(SourceError, match="uint8"):
        writer.write(0, 0, np.zeros((4, 4), np.uint8))
    writer.close()
    reader.close()
    os.close(fd)


def test_slot_never_shows_half_a_picture() -> None:
    """A writer at full speed; every picture read is of one colour."""
    fd = create_slot_memory()
    writer, reader = FrameSlot(fd), FrameSlot(fd)
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            writer.write(0.0, n, np.full((240, 320, 3), n % 256, np.uint8))
            n += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        seen = 0
        end = time.monotonic() + 0.7
        while time.monotonic() < end:
            frame = reader.read()
            if frame is not None:
                assert (frame.image == frame.seq % 256).all()
                seen += 1
        assert seen > 50
    finally:
        stop.set()
        thread.join()


def test_a_single_pixel_counts_as_change() -> None:
    watch = ChangeWatch()
    image = picture(1)
    assert watch.see(image, 1.0) == 1.0
    assert watch.see(image.copy(), 2.0) == 1.0
    other = image.copy()
    other[5, 7, 1] ^= 1
    assert watch.see(other, 3.0) == 3.0


async def test_lockstep_drops_nothing_and_keeps_the_stamps(tmp_path: Path) -> None:
    feed = FeedServer(tmp_path / "feed")
    sent: list[tuple[float, bytes]] = []
    worked_on: list[int] = []
    overtaken: list[int] = []

    def simulate() -> None:
        feed.wait_for_viewer(10)
        for n in range(40):
            image = picture(n)
            sent.append((n * 0.1, image.tobytes()))
            assert feed.send(n * 0.1, image)
            # The sender may go on only after the consumer has worked on the picture.
            if len(worked_on) <= n:
                overtaken.append(n)
        feed.end()
        feed.close()

    thread = threading.Thread(target=simulate)
    thread.start()
    async with open_source(f"feed:{tmp_path / 'feed'}", lockstep=True) as source:
        got = []
        async for frame in source.frames():
            if frame.seq % 10 == 0:
                await asyncio.sleep(0.05)
            got.append((frame.t, frame.image.tobytes()))
            worked_on.append(frame.seq)
        assert source.status().dropped == 0
        assert source.status().state is CameraState.FINE
    thread.join()
    assert got == sent
    assert worked_on == list(range(40))
    assert overtaken == []


async def test_a_slow_reader_gets_the_newest_and_drops_are_counted(tmp_path: Path) -> None:
    with Simulator(tmp_path / "feed", interval=0.01):
        async with open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK) as source:
            got: list[Frame] = []
            async for frame in source.frames():
                assert time.monotonic() - frame.t < 0.3
                got.append(frame)
                await asyncio.sleep(0.1)
                if len(got) == 5:
                    break
            status = source.status()
    assert status.dropped == got[-1].seq + 1 - len(got)
    assert status.dropped >= 10


async def test_a_frozen_camera_is_stale_and_recovers(tmp_path: Path) -> None:
    with Simulator(tmp_path / "feed") as simulator:
        async with open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK) as source:
            await until(source, CameraState.FINE, 5)
            simulator.frozen.set()
            assert await until(source, CameraState.STALE, 2) > 0.2
            assert "same picture" in source.status().remedy
            # It is reopened, still gives the old picture, and stays stale.
            await asyncio.sleep(2.2)
            assert source.status().restarts >= 1
            assert source.status().state is not CameraState.FINE
            simulator.frozen.clear()
            await until(source, CameraState.FINE, 3)


async def test_pictures_without_noise_may_repeat(tmp_path: Path) -> None:
    with Simulator(tmp_path / "feed", repeats=True) as simulator:
        simulator.frozen.set()
        async with open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK) as source:
            await until(source, CameraState.FINE, 5)
            await asyncio.sleep(1.0)
            assert source.status().state is CameraState.FINE


async def test_silence_is_lost_and_the_sender_may_come_back(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    async with open_source(f"feed:{path}", limits=QUICK) as source:
        await until(source, CameraState.LOST, 5)
        assert "start it first" in source.status().remedy
        with Simulator(path):
            await until(source, CameraState.FINE, 5)
        await until(source, CameraState.LOST, 3)
        with Simulator(path):
            await until(source, CameraState.FINE, 5)
        assert source.status().restarts >= 2


async def test_a_killed_capture_process_is_replaced(tmp_path: Path) -> None:
    with Simulator(tmp_path / "feed"):
        async with open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK) as source:
            await until(source, CameraState.FINE, 5)
            process = source._process
            assert process is not None
            os.kill(process.pid, signal.SIGKILL)
            await until(source, CameraState.LOST, 2)
            await until(source, CameraState.FINE, 5)
            assert source.status().restarts == 1
            before = source.status().frames
            await asyncio.sleep(0.3)
            assert source.status().frames > before


async def test_a_capture_process_that_hangs_is_replaced(tmp_path: Path) -> None:
    """``read()`` that never returns: the process is alive but silent."""
    with Simulator(tmp_path / "feed"):
        async with open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK) as source:
            await until(source, CameraState.FINE, 5)
            process = source._process
            assert process is not None
            os.kill(process.pid, signal.SIGSTOP)
            await until(source, CameraState.LOST, 3)
            await until(source, CameraState.FINE, 8)
            assert source.status().restarts == 1


async def test_the_capture_process_ends_with_the_source(tmp_path: Path) -> None:
    with Simulator(tmp_path / "feed"):
        source = open_source(f"feed:{tmp_path / 'feed'}", limits=QUICK)
        source.start()
        await until(source, CameraState.FINE, 5)
        process = source._process
        assert process is not None
        await source.close()
        assert process.poll() is not None


async def test_folder_in_order_with_its_own_times(tmp_path: Path) -> None:
    for n in (2, 0, 1):
        cv2.imwrite(str(tmp_path / f"{n}.png"), picture(n))
    async with open_source(f"folder:{tmp_path}", lockstep=True, fps=5) as source:
        frames = [frame async for frame in source.frames()]
    assert [frame.t for frame in frames] == pytest.approx([0.0, 0.2, 0.4])
    for n, frame in enumerate(frames):
        np.testing.assert_array_equal(frame.image, picture(n))


async def test_video_file(tmp_path: Path) -> None:
    path = tmp_path / "x.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20.0, (64, 48))
    assert writer.isOpened()
    for n in range(12):
        writer.write(np.full((48, 64, 3), n * 20, np.uint8))
    writer.release()
    async with open_source(f"file:{path}", lockstep=True) as source:
        frames = [frame async for frame in source.frames()]
    assert [frame.t for frame in frames] == pytest.approx([n / 20 for n in range(12)])
    assert [round(float(frame.image.mean()) / 20) for frame in frames] == list(range(12))


@pytest.mark.parametrize(
    ("spec", "message"),
    [("folder:{}/none", "no folder"), ("folder:{}", "no pictures"), ("file:{}/x.mp4", "no video")],
)
async def test_a_file_that_is_not_there_is_one_clear_error(
    tmp_path: Path, spec: str, message: str
) -> None:
    async with open_source(spec.format(tmp_path), lockstep=True) as source:
        with pytest.raises(SourceError, match=message):
            async for _ in source.frames():
                pass


async def test_a_camera_that_is_not_there_has_a_remedy() -> None:
    async with open_source("v4l2:/dev/v4l/by-id/none", limits=QUICK) as source:
        await until(source, CameraState.LOST, 5)
        assert "/dev/v4l/by-id" in source.status().remedy


def test_a_camera_can_not_be_in_lockstep() -> None:
    with pytest.raises(SourceError, match="lock-step"):
        open_source("rtsp://cam/1", lockstep=True)


def test_the_feed_refuses_a_missing_sender(tmp_path: Path) -> None:
    from vision.sources.feed import FeedClient

    with pytest.raises(FeedError, match="start it first"):
        FeedClient(tmp_path / "none", lockstep=False)


async def test_memory_source_gives_what_it_was_given() -> None:
    given = [Frame(n * 0.1, n, picture(n)) for n in range(3)]
    source = MemorySource(given)
    assert [frame.seq async for frame in source.frames()] == [0, 1, 2]
    assert source.status().frames == 3


async def test_a_recording_is_a_source_at_its_own_times(tmp_path: Path) -> None:
    bus = Bus(RecordedClock(50.0))
    path = tmp_path / "session.mcap"
    recorder = Recorder(bus, path, {}, frames_per_second=100.0)
    for n in range(4):
        image = np.full((240, 320, 3), 60 * n, np.uint8)
        bus.publish(CAMERA_CHANNEL, CameraFrame(50.0 + n, n, image), 50.0 + n)
    recorder.close()
    source = open_source(f"recording:{path}", lockstep=True)
    async with source:
        source.start()
        frames = [frame async for frame in source.frames()]
    assert [frame.t for frame in frames] == [50.0, 51.0, 52.0, 53.0]
    assert [round(float(frame.image.mean())) for frame in frames] == [0, 60, 120, 180]


async def test_a_file_that_is_no_recording_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no MCAP file at all, but long enough to be read as one")
    async with open_source(f"recording:{path}", lockstep=True) as source:
        source.start()
        with pytest.raises(SourceError, match="no recording"):
            await anext(aiter(source.frames()))
