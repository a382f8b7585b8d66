"""How each kind of source is opened and read. Runs inside the capture process; blocking."""

from __future__ import annotations

import base64
import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

import cv2
import numpy as np
from mcap.exceptions import McapError
from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader

from vision.sources.feed import FedFrame, FeedClient
from vision.sources.frame import Frame, SourceError
from vision.sources.spec import SourceSpec

IMAGE_SUFFIXES: Final = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp"})
_NETWORK_TIMEOUT_MS: Final = 5000
_CAMERA: Final = "/camera"
"""Channel of the pictures in a recording."""
_DEFAULT_FPS: Final = 10.0


class Reader(Protocol):
    """One opened source."""

    def read(self) -> FedFrame | None:
        """The next picture, waiting for it; ``None`` at the end; raises :class:`SourceError`."""
        ...

    def done(self, seq: int) -> None:
        """Picture ``seq`` (the reader's own count) has been worked on."""
        ...


class CameraReader:
    """A V4L2 device, an RTSP stream or HTTP MJPEG through OpenCV."""

    def __init__(self, spec: SourceSpec, size: tuple[int, int] | None, fps: float | None) -> None:
        self._name = str(spec)
        self._seq = 0
        if spec.kind == "v4l2":
            if not Path(spec.target).exists():
                raise SourceError(
                    f"no camera at {spec.target}: plug it in, or choose one from /dev/v4l/by-id"
                )
            self._capture = cv2.VideoCapture(spec.target, cv2.CAP_V4L2)
            self._configure(size, fps)
        else:
            self._capture = cv2.VideoCapture(
                spec.target,
                cv2.CAP_FFMPEG,
                [
                    cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
                    _NETWORK_TIMEOUT_MS,
                    cv2.CAP_PROP_READ_TIMEOUT_MSEC,
                    _NETWORK_TIMEOUT_MS,
                ],
            )
        if not self._capture.isOpened():
            raise SourceError(
                f"{self._name} does not open: another program may be using it, or this user may "
                "not read it (group video)"
            )

    def _configure(self, size: tuple[int, int] | None, fps: float | None) -> None:
        # USB 2 carries 1080p at a useful rate only as MJPEG; the driver ignores what it can't do.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        if size is not None:
            self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
            self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        if fps is not None:
            self._capture.set(cv2.CAP_PROP_FPS, fps)
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)

    def read(self) -> FedFrame | None:
        """The next picture the device has."""
        ok, image = self._capture.read()
        if not ok or image is None:
            raise SourceError(f"{self._name} stopped giving pictures: check plug and cable")
        seq, self._seq = self._seq, self._seq + 1
        return FedFrame(Frame(time.monotonic(), seq, _as_image(image)), repeats=False)

    def done(self, seq: int) -> None:
        """A camera waits for nobody."""


class _Pace:
    """Keeps a file at its own speed when it plays a live camera."""

    def __init__(self, lockstep: bool) -> None:
        self._lockstep = lockstep
        self._start: float | None = None

    def stamp(self, t: float) -> float:
        """Wait until file time ``t`` is due; returns the time to put on the picture."""
        if self._lockstep:
            return t
        if self._start is None:
            self._start = time.monotonic() - t
        due = self._start + t
        time.sleep(max(0.0, due - time.monotonic()))
        return due


class FileReader:
    """A video file; its own time stamps count."""

    def __init__(self, path: str, *, lockstep: bool) -> None:
        if not Path(path).is_file():
            raise SourceError(f"no video file {path}")
        self._capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise SourceError(f"{path} is no video that OpenCV can read")
        self._fps = self._capture.get(cv2.CAP_PROP_FPS) or _DEFAULT_FPS
        self._pace = _Pace(lockstep)
        self._seq = 0

    def read(self) -> FedFrame | None:
        """The next picture of the file."""
        ok, image = self._capture.read()
        if not ok or image is None:
            return None
        seq, self._seq = self._seq, self._seq + 1
        t = self._pace.stamp(seq / self._fps)
        return FedFrame(Frame(t, seq, _as_image(image)), repeats=True)

    def done(self, seq: int) -> None:
        """A file waits by itself."""


class FolderReader:
    """The pictures of a folder in the order of their names."""

    def __init__(self, path: str, fps: float | None, *, lockstep: bool) -> None:
        folder = Path(path)
        if not folder.is_dir():
            raise SourceError(f"no folder {path}")
        self._paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES)
        if not self._paths:
            raise SourceError(f"no pictures in {path} (jpg, png, bmp or webp)")
        self._interval = 1 / (fps or _DEFAULT_FPS)
        self._pace = _Pace(lockstep)
        self._seq = 0

    def read(self) -> FedFrame | None:
        """The next picture of the folder."""
        if self._seq >= len(self._paths):
            return None
        path = self._paths[self._seq]
        image = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if image is None:
            raise SourceError(f"{path} is no picture that OpenCV can read")
        seq, self._seq = self._seq, self._seq + 1
        return FedFrame(
            Frame(self._pace.stamp(seq * self._interval), seq, _as_image(image)), repeats=True
        )

    def done(self, seq: int) -> None:
        """A folder waits by itself."""


class RecordingReader:
    """The pictures of a recorded session, at their own times; an unfinished file up to its cut."""

    def __init__(self, path: str, *, lockstep: bool) -> None:
        if not Path(path).is_file():
            raise SourceError(f"no recording {path}")
        self._pace = _Pace(lockstep)
        self._seq = 0
        self._pictures = self._decode(path)

    def _decode(self, path: str) -> Iterator[tuple[float, np.ndarray[Any, np.dtype[np.uint8]]]]:
        channels: dict[int, str] = {}
        try:
            with Path(path).open("rb") as file:
                for record in StreamReader(file).records:
                    if isinstance(record, Channel):
                        channels[record.id] = record.topic
                    elif isinstance(record, Message) and channels[record.channel_id] == _CAMERA:
                        yield record.log_time / 1e9, _recorded_picture(record.data)
        except (McapError, struct.error):
            if not self._seq:
                raise SourceError(f"{path} is no recording, or is cut before a picture") from None

    def read(self) -> FedFrame | None:
        """The next picture of the recording."""
        item = next(self._pictures, None)
        if item is None:
            return None
        t, image = item
        seq, self._seq = self._seq, self._seq + 1
        return FedFrame(Frame(self._pace.stamp(t), seq, _as_image(image)), repeats=True)

    def done(self, seq: int) -> None:
        """A recording waits by itself."""


def _recorded_picture(data: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    jpeg = np.frombuffer(base64.b64decode(json.loads(data)["data"]), np.uint8)
    image = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
    if image is None:
        raise SourceError("a picture of the recording is no JPEG")
    return np.asarray(image, np.uint8)


class FeedReader:
    """Pictures from a simulator."""

    def __init__(self, path: str, *, lockstep: bool) -> None:
        self._lockstep = lockstep
        self._client = FeedClient(path, lockstep=lockstep)

    def read(self) -> FedFrame | None:
        """The next picture the simulator sends."""
        fed = self._client.read()
        if fed is None or self._lockstep:
            return fed
        frame = fed.frame
        return FedFrame(Frame(time.monotonic(), frame.seq, frame.image), fed.repeats)

    def done(self, seq: int) -> None:
        """Let the simulator go on."""
        self._client.done(seq)


def open_reader(
    spec: SourceSpec, *, lockstep: bool, size: tuple[int, int] | None, fps: float | None
) -> Reader:
    """Open what ``spec`` names.

    Raises:
        SourceError: it can't be opened; the message says why and what to do.
    """
    if spec.kind == "file":
        return FileReader(spec.target, lockstep=lockstep)
    if spec.kind == "folder":
        return FolderReader(spec.target, fps, lockstep=lockstep)
    if spec.kind == "recording":
        return RecordingReader(spec.target, lockstep=lockstep)
    if spec.kind == "feed":
        return FeedReader(spec.target, lockstep=lockstep)
    return CameraReader(spec, size, fps)


def _as_image(image: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Grey or four-channel pictures made three-channel."""
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    elif image.shape[2] == 4:
        image = cv2.cvtColor(image, cv2.COLOR_BGRA2BGR)
    return np.asarray(image, dtype=np.uint8)
