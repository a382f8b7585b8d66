"""``tablectl doctor`` before a camera with something wrong: it names the state and the remedy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import aiohttp.web
import cv2
import numpy as np
import pytest

from tablectl.config import Config, load
from tablectl.services import doctor, doctor_camera
from tablectl.services.checks import Check
from tablectl.services.doctor_camera import CameraDoctor
from tests.vision.cameras import TrueCamera
from vision.calibration_fit import calibrate_from_markers
from vision.geometry import TableGeometry
from vision.messages import CameraState
from vision.sources.feed import FeedServer

SIZE = (1280, 720)
CAMERA = TrueCamera(size=SIZE)
MOVED = TrueCamera(size=SIZE, offset=(14.0, 8.0))

Change = Callable[[np.ndarray, int], np.ndarray]


@cache
def felt(moved: bool = False) -> np.ndarray:
    return (MOVED if moved else CAMERA).felt_with_markers()


def gain(blue: float, green: float, red: float) -> Change:
    return lambda image, n: np.clip(image * np.array([blue, green, red]), 0, 255)


def written(
    folder: Path, change: Change | None = None, *, moved: bool = False, calibrated: bool = True
) -> Config:
    """A folder of pictures as camera, and a calibration made before anything was wrong."""
    pictures = folder / "pictures"
    pictures.mkdir()
    for n in range(24):
        image = felt(moved) if change is None else change(felt(moved), n).astype(np.uint8)
        cv2.imwrite(str(pictures / f"{n:02}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 97])
    extra = ""
    if calibrated:
        calibrate_from_markers(felt(), TableGeometry(), camera_height_mm=CAMERA.height).save(
            folder / "c.json"
        )
        extra = "calibration = 'c.json'\n"
    text = f"[camera]\nsource = 'folder:pictures'\nwidth = {SIZE[0]}\nheight = {SIZE[1]}\n{extra}"
    (folder / "t.toml").write_text(text)
    return load(folder / "t.toml")


async def examined(config: Config) -> tuple[Check, Check]:
    camera = CameraDoctor(config)
    return await camera.check_camera(), await camera.check_calibration()


async def test_all_is_well(tmp_path: Path) -> None:
    camera, calibration = await examined(written(tmp_path))
    assert (camera.status, calibration.status) == ("ok", "ok"), (camera, calibration)
    assert "moved by 0." in calibration.detail
    assert "px wide" in calibration.detail


@pytest.mark.parametrize(
    ("change", "status", "state", "remedy"),
    [
        (gain(9, 9, 9), "warning", CameraState.BRIGHT, "exposure"),
        (gain(0.08, 0.08, 0.08), "problem", CameraState.DARK, "lamp"),
        (
            lambda im, n: im * (0.9 + 0.1 * (n % 2)), "warning", CameraState.FLICKER,
            "power_line_frequency",
        ),
        (lambda im, n: cv2.resize(im, (640, 360)), "problem", CameraState.WRONG_SIZE, "1280x720"),
    ],
    ids=["bright", "dark", "flicker", "wrong size"],
)  # fmt: skip
async def test_what_disturbs_the_pictures(
    tmp_path: Path, change: Change, status: str, state: CameraState, remedy: str
) -> None:
    camera, _ = await examined(written(tmp_path, change))
    assert (camera.status, f"state: {state.value}" in camera.detail) == (status, True), camera
    assert remedy in camera.remedy


@pytest.mark.parametrize(
    ("change", "state", "remedy"),
    [
        (gain(0.4, 0.4, 0.4), CameraState.DIM, "lamp"),
        (gain(0.6, 1.0, 1.2), CameraState.TINTED, "white_balance"),
    ],
    ids=["dim", "tinted"],
)
async def test_another_light_than_when_it_was_calibrated(
    tmp_path: Path, change: Change, state: CameraState, remedy: str
) -> None:
    _, calibration = await examined(written(tmp_path, change))
    assert (calibration.status, state.value in calibration.detail) == ("warning", True), calibration
    assert remedy in calibration.remedy


async def test_a_moved_camera(tmp_path: Path) -> None:
    camera, calibration = await examined(written(tmp_path, moved=True))
    assert camera.status == "ok"
    assert (calibration.status, calibration.detail.endswith("moved")) == ("problem", True)
    assert "#calibrate" in calibration.remedy


async def test_a_frozen_camera(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_camera, "WATCH_SECONDS", 3.5)
    (tmp_path / "t.toml").write_text(
        f"[camera]\nsource = 'feed:{tmp_path}/feed'\nwidth = {SIZE[0]}\nheight = {SIZE[1]}\n"
    )
    stop, feed = threading.Event(), FeedServer(tmp_path / "feed")

    def serve() -> None:
        while not stop.wait(0.1):
            feed.send(time.monotonic(), felt())
        feed.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        camera, _ = await examined(load(tmp_path / "t.toml"))
    finally:
        stop.set()
        thread.join()
    assert (camera.status, "state: stale" in camera.detail) == ("problem", True), camera
    assert "unplug" in camera.remedy


async def test_an_unplugged_camera(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_camera, "CAMERA_SECONDS", 1.0)
    (tmp_path / "t.toml").write_text(f"[camera]\nsource = 'feed:{tmp_path}/none'\n")
    camera, _ = await examined(load(tmp_path / "t.toml"))
    assert (camera.status, "no picture" in camera.detail) == ("problem", True)


async def test_a_running_daemon_is_asked(tmp_path: Path, unused_tcp_port: int) -> None:
    config = tmp_path / "t.toml"
    config.write_text(f"[server]\nhost = '127.0.0.1'\nport = {unused_tcp_port}")
    assert (await doctor.check_daemon(load(config))).status == "skipped"

    async def healthz(_: aiohttp.web.Request) -> aiohttp.web.Response:
        told = {
            "ok": False,
            "version": "1.0",
            "camera": "dim",
            "problems": ["The light has fallen"],
        }
        return aiohttp.web.json_response(told, status=503)

    app = aiohttp.web.Application()
    app.router.add_get("/healthz", healthz)
    runner = aiohttp.web.AppRunner(app)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    check = await doctor.check_daemon(load(config))
    await runner.cleanup()
    assert (check.status, check.remedy) == ("warning", "The light has fallen")
    assert "camera: dim" in check.detail
