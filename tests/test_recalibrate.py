"""A camera calibrated anew in the middle of a session: in the daemon, and when it is replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tablectl import channels
from tablectl.config import load
from tablectl.daemon import Daemon
from tablectl.referee.inputs import SessionPlan
from tablectl.reread import camera_eyes
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import RecordedClock
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame
from tablectl.services.recorder import SessionWriter
from tablectl.services.recording import Recording
from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_corners
from vision.detector.detection import Detection
from vision.detector.plain import Colours
from vision.eye import Eye, EyeCore, EyeOptions
from vision.geometry import TableGeometry
from vision.messages import CameraState, CameraStatus, Recalibrated, TableReading
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.render.style import Style
from vision.sources import MemorySource
from vision.sources.frame import Frame, Image

GEOMETRY = TableGeometry()
SIZE = (960, 540)
FAR = CameraPose(mm_per_px=2.1)
BEFORE = Renderer(Style(markers=False, camera=FAR), GEOMETRY, SIZE)
AFTER = Renderer(Style(markers=False, camera=replace(FAR, roll_deg=15.0)), GEOMETRY, SIZE)


class Nothing:
    """A recogniser of an empty table."""

    def detect(
        self,
        image: Image,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> Sequence[Detection]:
        return ()

    def classify(
        self, image: Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        raise AssertionError("there is nothing to name")


def calibrated(renderer: Renderer) -> Calibration:
    h = GEOMETRY.half_mm
    corners = renderer.project([(-h, -h), (h, -h), (h, h), (-h, h)])
    picture = renderer.render(Scene())
    return calibrate_from_corners(picture, [(float(x), float(y)) for x, y in corners], GEOMETRY)


def pictures(renderer: Renderer, count: int, first: int = 0) -> list[Frame]:
    return [Frame(n / 10, n, renderer.render(Scene())) for n in range(first, first + count)]


def test_the_eye_goes_on_with_what_a_person_has_calibrated() -> None:
    eye = EyeCore(calibrated(BEFORE), GEOMETRY, Nothing())
    for frame in pictures(BEFORE, 6):
        eye.process(frame)
    said = [m for frame in pictures(AFTER, 12, 6) for m in eye.process(frame)]
    assert [m.state for m in said if isinstance(m, CameraStatus)] == [CameraState.MOVED]
    assert not any(isinstance(m, TableReading) for m in said)
    eye.recalibrate(calibrated(AFTER))
    said = [m for frame in pictures(AFTER, 8, 18) for m in eye.process(frame)]
    assert [m.state for m in said if isinstance(m, CameraStatus)] == [CameraState.FINE]
    assert any(isinstance(m, TableReading) for m in said)


async def test_the_daemon_keeps_uses_and_records_it(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    calibrated(BEFORE).save(path)
    (tmp_path / "t.toml").write_text(
        f"[camera]\nsource = 'folder:{tmp_path}'\ncalibration = 'calibration.json'\n"
    )
    daemon = Daemon(load(tmp_path / "t.toml"))
    bus = Bus(RecordedClock())
    told: list[Entry[Recalibrated]] = []
    bus.on(Recalibrated, told.append, channels.CALIBRATION)
    source = MemorySource(pictures(AFTER, 1))
    async with Eye(source, Calibration.load(path), Nothing(), GEOMETRY, EyeOptions(),
                   on_frame=lambda frame: daemon._on_frame(bus, frame)) as eye:  # fmt: skip
        desk = daemon._calibration_desk(bus, eye)
        assert desk is not None
        async for _ in eye.messages():
            pass
        h = GEOMETRY.half_mm
        corners = AFTER.project([(-h, -h), (h, -h), (h, h), (-h, h)]).tolist()
        await desk.save({"method": "corners", "corners": corners})
        kept = Calibration.load(path)
        assert eye.core.calibration == kept
        assert np.abs(kept.felt_outline - corners).max() < 0.2
    (entry,) = told
    assert Calibration.model_validate(entry.message.calibration) == kept


async def test_a_replay_from_the_camera_takes_it_at_its_time(tmp_path: Path) -> None:
    path = tmp_path / "session.mcap"
    writer = SessionWriter(path, {"session": "s", "rules": "hongkong"})
    items: list[tuple[float, str, object]] = [
        (f.t, CAMERA_CHANNEL, CameraFrame(f.t, f.seq, f.image)) for f in pictures(AFTER, 22)
    ]
    new = Recalibrated(t=1.25, calibration=calibrated(AFTER).model_dump(mode="json"))
    items.insert(13, (1.25, channels.CALIBRATION, new))
    for n, (t, channel, message) in enumerate(items):
        writer.write(Entry(n, t, channel, message))
    writer.close()
    plan = SessionPlan(
        session="s", table="t1", rules="hongkong",
        calibration=calibrated(BEFORE).model_dump(mode="json"),
    )  # fmt: skip
    seen = [(t, m) async for t, _, m in camera_eyes(Recording(path), plan)]
    readings = [t for t, m in seen if isinstance(m, TableReading)]
    assert readings, "the new calibration was used"
    assert min(readings) > 1.25, "and not before its time"
