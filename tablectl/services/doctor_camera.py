"""What the doctor finds at the camera: some seconds of pictures, judged as the daemon judges them.

Each named state of :class:`vision.messages.CameraState` has its remedy here or with the state.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tablectl.config import Config
from tablectl.services.checks import Check, Status, os_readable
from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import check_calibration, score_calibration
from vision.messages import CameraState
from vision.picture_watch import REMEDIES, Look, PictureWatch
from vision.sources import SourceError, open_source
from vision.sources.frame import Frame, Image
from vision.sources.spec import parse_spec

CAMERA_SECONDS: Final = 15.0
"""How long a camera may take to its first picture."""
WATCH_SECONDS: Final = 6.0
"""How long a live camera is watched: flicker and a frozen picture need some time to show."""
WATCH_PICTURES: Final = 40
"""Pictures of a file or folder that are looked at."""
_FALLEN: Final = 0.5
_TINT: Final = 0.35

_BLIND: Final = frozenset(
    {
        CameraState.STALE, CameraState.LOST, CameraState.WRONG_SIZE, CameraState.MOVED,
        CameraState.DARK, CameraState.BLOCKED,
    }
)  # fmt: skip
"""States in which nothing is read: problems. The others are warnings."""


@dataclass(frozen=True)
class Observation:
    """Some seconds of a camera.

    Attributes:
        size: of its pictures.
        newest: the last of them.
        state, remedy: as the daemon would tell.
        look: the light in the last picture; None without a calibration of that size.
    """

    size: tuple[int, int]
    newest: Image
    state: CameraState
    remedy: str = ""
    look: Look | None = None


class CameraDoctor:
    """Examines the camera and its calibration; pictures are taken once for both."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._observed: Observation | None = None

    async def check_camera(self) -> Check:
        """The camera gives pictures of the right size, and nothing disturbs them."""
        settings = self._config.camera
        source = settings.source
        if source is None:
            return Check("camera", "skipped", "no camera.source configured")
        spec = parse_spec(source)
        refused = _video_device(Path(spec.target)) if spec.kind == "v4l2" else None
        if refused is not None:
            return refused
        try:
            seen = await self._observe(source)
        except TimeoutError:
            return Check(
                "camera", "problem", f"{source} gave no picture in {CAMERA_SECONDS:.0f} s",
                "check its cable; is another program using it?",
            )  # fmt: skip
        except SourceError as error:
            return Check("camera", "problem", str(error), "see the message")
        return self._judge(source, seen)

    def _judge(self, source: str, seen: Observation) -> Check:
        wanted = (self._config.camera.width, self._config.camera.height)
        told = f"pictures of {seen.size[0]}x{seen.size[1]}"
        if seen.state is not CameraState.FINE:
            status: Status = "problem" if seen.state in _BLIND else "warning"
            return Check("camera", status, f"{told}; state: {seen.state.value}", seen.remedy)
        if seen.size != wanted:
            return Check(
                "camera", "warning", f"{told}, not {wanted[0]}x{wanted[1]}",
                "set camera.width and height to a size that the camera has, and calibrate again",
            )  # fmt: skip
        if re.fullmatch(r"v4l2:/dev/video\d+", source):
            return Check(
                "camera", "warning", f"{source} may be another camera after a restart",
                "use its name in /dev/v4l/by-id",
            )  # fmt: skip
        return Check("camera", "ok", told)

    async def check_calibration(self) -> Check:
        """The calibration can be read, and still holds for what the camera sees."""
        path = self._config.camera.calibration
        remedy = "run `tablectl calibrate`, or open #calibrate on the display"
        if path is None:
            status: Status = "skipped" if self._config.camera.source is None else "problem"
            return Check("calibration", status, "no camera.calibration configured",
                         "" if status == "skipped" else "run `tablectl calibrate`")  # fmt: skip
        try:
            calibration = Calibration.load(path)
        except (CalibrationError, OSError) as error:
            return Check("calibration", "problem", str(error), "run `tablectl calibrate`")
        if self._observed is None:
            return Check("calibration", "ok", f"{path} (not compared: no picture)")
        found = check_calibration(calibration, self._observed.newest)
        if found.state is not CameraState.FINE:
            return Check("calibration", "problem", f"{path}: {found.state.value}", found.remedy)
        score = score_calibration(calibration, self._observed.newest)
        detail = f"{path}, score {score.score} of 100, tiles {score.tile_px:.0f} px wide"
        light = self._light(calibration)
        if light is not None:
            return light
        if found.shift_px is None:
            return Check(
                "calibration", "warning", f"{detail}; can't tell whether the camera has moved",
                "clear the felt's corners (or lay the markers there) and ask again",
            )  # fmt: skip
        if score.score < 60:
            return Check("calibration", "warning", detail, "; ".join(score.notes) or remedy)
        return Check("calibration", "ok", f"{detail}, moved by {found.shift_px:.1f} px")

    def _light(self, calibration: Calibration) -> Check | None:
        """Whether the light is very different from when the camera was calibrated."""
        look = None if self._observed is None else self._observed.look
        if look is None or calibration.light is None:
            return None
        level, *tint = calibration.light
        if look.level < _FALLEN * level:
            share = 100 * look.level / max(level, 1.0)
            return Check(
                "calibration", "warning",
                f"{CameraState.DIM.value}: {share:.0f} % of the light when it was calibrated",
                REMEDIES[CameraState.DIM],
            )  # fmt: skip
        if float(np.abs(np.array(look.tint) - tint).max()) > _TINT:
            return Check(
                "calibration", "warning",
                f"{CameraState.TINTED.value}: other colours than when it was calibrated",
                REMEDIES[CameraState.TINTED],
            )  # fmt: skip
        return None

    async def _observe(self, text: str) -> Observation:
        """Watch the camera for a while.

        Raises:
            TimeoutError: no picture came.
            SourceError: it can't be read, or has ended without a picture.
        """
        settings = self._config.camera
        camera = open_source(text, size=(settings.width, settings.height), fps=settings.fps)
        seen = _Seen(self._kept_calibration(), self._config)
        try:
            frames = aiter(camera.frames())
            seen.take(await asyncio.wait_for(anext(frames), CAMERA_SECONDS))
            until = time.monotonic() + WATCH_SECONDS
            live = camera.spec.live or camera.spec.kind == "feed"
            while live or seen.count < WATCH_PICTURES:
                left = until - time.monotonic()
                if left <= 0:
                    break
                try:
                    seen.take(await asyncio.wait_for(anext(frames), left))
                except (TimeoutError, StopAsyncIteration):
                    break
            status = camera.status()
            self._observed = seen.result(status.state, status.remedy)
        except StopAsyncIteration:
            raise SourceError(f"{text} ended without a picture") from None
        finally:
            await camera.close()
        return self._observed

    def _kept_calibration(self) -> Calibration | None:
        path = self._config.camera.calibration
        try:
            return None if path is None else Calibration.load(path)
        except (CalibrationError, OSError):
            return None  # told by its own check


class _Seen:
    """What has been seen so far of a camera."""

    def __init__(self, calibration: Calibration | None, config: Config) -> None:
        self._calibration = calibration
        self._geometry = config.table.table_geometry()
        self._watch: PictureWatch | None = None
        self._state = CameraState.FINE
        self._newest: Image | None = None
        self.count = 0

    def take(self, frame: Frame) -> None:
        """Judge the next picture."""
        self.count += 1
        self._newest = frame.image
        size = (frame.image.shape[1], frame.image.shape[0])
        if self._calibration is None or size != self._calibration.image_size:
            return
        if self._watch is None:
            self._watch = PictureWatch(self._calibration, self._geometry)
        self._state = self._watch.see(frame, quiet=True)

    def result(self, source: CameraState, remedy: str) -> Observation:
        """The source's trouble first, then what the pictures show."""
        assert self._newest is not None
        size = (self._newest.shape[1], self._newest.shape[0])
        look = None if self._watch is None else self._watch.look
        if source in (CameraState.STALE, CameraState.LOST):
            return Observation(size, self._newest, source, remedy, look)
        if self._state is not CameraState.FINE:
            remedy = REMEDIES.get(self._state, "")
            return Observation(size, self._newest, self._state, remedy, look)
        if self._calibration is not None:
            found = check_calibration(self._calibration, self._newest)
            if found.state in (CameraState.DARK, CameraState.WRONG_SIZE):
                return Observation(size, self._newest, found.state, found.remedy, look)
        return Observation(size, self._newest, CameraState.FINE, "", look)


def _video_device(device: Path) -> Check | None:
    """What is wrong with a camera's device file; None when it can be opened."""
    if not device.exists():
        return Check("camera", "problem", f"{device} is not there", _cameras_remedy())
    if not os_readable(device):
        return Check(
            "camera", "problem", f"no permission for {device}",
            "sudo usermod -aG video $USER, then log in again",
        )  # fmt: skip
    return None


def _cameras_remedy() -> str:
    folder = Path("/dev/v4l/by-id")
    seen = sorted(str(path) for path in folder.iterdir()) if folder.is_dir() else []
    if not seen:
        return "no camera is connected: check its cable"
    return f"set camera.source to v4l2: and one of {', '.join(seen)}"
