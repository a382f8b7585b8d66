"""The tile set in a recording: when it is put there, and what a damaged one says."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

from tablectl import channels
from tablectl.config import parse
from tablectl.daemon import Daemon
from tablectl.referee.inputs import SessionPlan
from tablectl.replay import ReplayError
from tablectl.reread import camera_eyes
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import RecordedClock
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame
from tablectl.services.recorder import SessionWriter
from tablectl.services.recording import Recording
from tests.test_recalibrate import BEFORE, GEOMETRY, Nothing, calibrated, pictures
from vision.detector import TileSet
from vision.eye import Eye
from vision.messages import Taught
from vision.sources import MemorySource


def small_set(side: int = 96) -> TileSet:
    crops = np.random.default_rng(1).integers(0, 255, (3, 4, side, side), np.uint8)
    return TileSet(crops, np.array([0, 41, 41]), "2026-12-01", 28.5)


@pytest.mark.parametrize(
    ("recording", "recorded"),
    [({}, True), ({"frames": False}, False), ({"enabled": False}, False)],
)
async def test_it_is_put_there_with_each_change_where_pictures_are_recorded(
    tmp_path: Path, recording: dict[str, bool], *, recorded: bool
) -> None:
    config = parse({"state_dir": str(tmp_path), "recording": recording}, "t", tmp_path)
    bus = Bus(RecordedClock())
    told: list[Entry[Taught]] = []
    bus.on(Taught, told.append, channels.TILE_SET)
    async with Eye(MemorySource(()), calibrated(BEFORE), Nothing(), GEOMETRY) as eye:
        desk = Daemon(config)._teaching_desk(bus, eye, None)
        assert desk is not None
        await desk.use(small_set())
        await desk.use(None)
    if not recorded:
        assert told == []
        return
    first, second = (entry.message for entry in told)
    assert first.t <= second.t
    assert second.tile_set is None
    assert first.tile_set is not None
    again = TileSet.from_bytes(base64.b64decode(first.tile_set))
    np.testing.assert_array_equal(again.crops, small_set().crops)


def session(path: Path, tile_set: str) -> tuple[Recording, SessionPlan]:
    """Some pictures of a bare table after a set."""
    frames = pictures(BEFORE, 6)
    writer = SessionWriter(path, {"session": "s", "rules": "hongkong"})
    writer.write(Entry(0, 0.0, channels.TILE_SET, Taught(t=0.0, tile_set=tile_set)))
    for n, f in enumerate(frames, 1):
        writer.write(Entry(n, f.t, CAMERA_CHANNEL, CameraFrame(f.t, f.seq, f.image)))
    writer.close()
    calibration = calibrated(BEFORE).model_dump(mode="json")
    plan = SessionPlan(session="s", table="t1", rules="hongkong", calibration=calibration)
    return Recording(path), plan


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no base64", "is damaged"),
        ("十", "is damaged"),
        (base64.b64encode(b"no set").decode(), "is damaged"),
        (base64.b64encode(small_set().to_bytes()[:-9]).decode(), "is damaged"),
        (base64.b64encode(small_set(64).to_bytes()).decode(), "recogniser with other inputs"),
    ],
)
async def test_one_that_cannot_be_used_is_named(tmp_path: Path, content: str, said: str) -> None:
    recording, plan = session(tmp_path / "s.mcap", content)
    with pytest.raises(ReplayError, match=rf"s\.mcap: the tile set in it .*{said}") as caught:
        _ = [seen async for seen in camera_eyes(recording, plan)]
    assert str(caught.value).endswith("; replay from readings")
    assert "tablectl teach" not in str(caught.value)
