"""Frames over a Unix socket: a simulator in another process plays the camera.

The simulator is the :class:`FeedServer`; the capture process connects to it as a
:class:`FeedClient`, as it would open a device. Wire format, little endian:

* client to server on connecting: ``TCFD``, version (u8), lock-step (u8).
* server to client, a picture: ``TCFR``, encoding (u8: 0 raw BGR, 1 JPEG), flags (u8), t (f64,
  seconds), seq (u64), width (u32), height (u32), length (u32), then ``length`` bytes. Encoding 255
  with length 0 ends the stream.
* client to server in lock-step: the seq (u64) of each picture once it has been worked on.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import cv2
import numpy as np

from vision.sources.frame import Frame, Image, SourceError

_HELLO: Final = struct.Struct("<4sBB")
_FRAME: Final = struct.Struct("<4sBBdQIII")
_ACK: Final = struct.Struct("<Q")
_VERSION: Final = 1
_RAW, _JPEG, _END = 0, 1, 255
_MAX_BYTES: Final = 64 * 1024 * 1024

FLAG_REPEATS: Final = 1
"""The sender may send the same pixels for long without being frozen (pictures without noise)."""


class FeedError(SourceError):
    """The other end of a feed speaks something else or went away."""


def _receive(sock: socket.socket, size: int) -> bytes:
    """Exactly ``size`` bytes; raises :class:`FeedError` when the other end is gone."""
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        n = sock.recv_into(view[got:])
        if n == 0:
            raise FeedError("the other end of the feed closed the connection")
        got += n
    return bytes(data)


class FeedServer:
    """The sending end, for a simulator; blocking, one viewer at a time.

    Example::

        with FeedServer(path) as feed:
            feed.wait_for_viewer(timeout=10)
            for t, image in pictures:
                feed.send(t, image)
            feed.end()

    In lock-step :meth:`send` returns when the viewer has worked on the picture and has sent all
    that follows from it. Without a viewer, or to one who is live, it returns at once.

    Args:
        path: Unix socket to listen on (replaced when it exists).
        jpeg_quality: ``None`` sends raw pixels, else JPEG of this quality.
        repeats: set when equal pixels do not mean a frozen camera.
    """

    def __init__(
        self, path: Path | str, *, jpeg_quality: int | None = None, repeats: bool = False
    ) -> None:
        self.path = Path(path)
        self._jpeg_quality = jpeg_quality
        self._flags = FLAG_REPEATS if repeats else 0
        self._seq = 0
        self._viewer: socket.socket | None = None
        self.viewer_lockstep = False
        self.path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def has_viewer(self) -> bool:
        """Whether somebody is connected, as far as is known."""
        return self._viewer is not None

    def wait_for_viewer(self, timeout: float | None = None) -> None:
        """Block until a viewer connects.

        Raises:
            TimeoutError: nobody came within ``timeout`` seconds.
        """
        self._listener.settimeout(timeout)
        self._accept()

    def send(self, t: float, image: Image) -> bool:
        """Send one picture; ``False`` when nobody is there to see it.

        Args:
            t: capture time, seconds.
            image: (h, w, 3) uint8 BGR.
        """
        if self._viewer is None:
            self._listener.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                self._accept()
        seq, self._seq = self._seq, self._seq + 1
        height, width = image.shape[:2]
        encoding, payload = self._encode(image)
        head = _FRAME.pack(
            b"TCFR", encoding, self._flags, t, seq, width, height, len(payload)
        )  # fmt: skip
        return self._deliver(head, payload, seq)

    def end(self) -> None:
        """Tell the viewer that no picture follows."""
        self._deliver(_FRAME.pack(b"TCFR", _END, 0, 0.0, self._seq, 0, 0, 0), b"", None)

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._drop_viewer()
        self._listener.close()
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        viewer, _ = self._listener.accept()
        viewer.settimeout(5.0)
        try:
            magic, version, lockstep = _HELLO.unpack(_receive(viewer, _HELLO.size))
        except (OSError, FeedError):
            viewer.close()
            return
        if magic != b"TCFD" or version != _VERSION:
            viewer.close()
            return
        viewer.settimeout(None)
        self._viewer, self.viewer_lockstep = viewer, bool(lockstep)

    def _encode(self, image: Image) -> tuple[int, memoryview | bytes]:
        if self._jpeg_quality is None:
            return _RAW, np.ascontiguousarray(image).data.cast("B")
        ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, self._jpeg_quality])
        if not ok:
            raise FeedError(f"a picture of shape {image.shape} can't be encoded as JPEG")
        return _JPEG, data.tobytes()

    def _deliver(self, head: bytes, payload: memoryview | bytes, ack: int | None) -> bool:
        viewer = self._viewer
        if viewer is None:
            return False
        try:
            viewer.sendall(head)
            viewer.sendall(payload)
            if self.viewer_lockstep and ack is not None:
                while _ACK.unpack(_receive(viewer, _ACK.size))[0] < ack:
                    pass
        except (OSError, FeedError):
            self._drop_viewer()
            return False
        return True

    def _drop_viewer(self) -> None:
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None


@dataclass(frozen=True)
class FedFrame:
    """A picture from a feed with what the sender says about it."""

    frame: Frame
    repeats: bool


class FeedClient:
    """The receiving end, used by the capture process; blocking.

    Args:
        path: Unix socket of the :class:`FeedServer`.
        lockstep: whether the server must wait for :meth:`done` after each picture.

    Raises:
        FeedError: nobody listens there.
    """

    def __init__(self, path: Path | str, *, lockstep: bool) -> None:
        self._lockstep = lockstep
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        try:
            self._sock.connect(str(path))
            self._sock.sendall(_HELLO.pack(b"TCFD", _VERSION, int(lockstep)))
        except OSError as error:
            self._sock.close()
            raise FeedError(
                f"no simulator serves pictures at {path} ({error.strerror}): start it first"
            ) from None

    def read(self) -> FedFrame | None:
        """The next picture; ``None`` at the end of the stream.

        Raises:
            FeedError: the sender went away or sends something else.
        """
        head = _receive(self._sock, _FRAME.size)
        magic, encoding, flags, t, seq, width, height, length = _FRAME.unpack(head)
        if magic != b"TCFR" or length > _MAX_BYTES:
            raise FeedError("the feed does not send picture frames: is the path right?")
        if encoding == _END:
            return None
        payload = np.frombuffer(_receive(self._sock, length), dtype=np.uint8)
        return FedFrame(
            Frame(t, seq, _decode(encoding, payload, width, height)), bool(flags & FLAG_REPEATS)
        )

    def done(self, seq: int) -> None:
        """Say that picture ``seq`` has been worked on (no-op when live)."""
        if self._lockstep:
            self._sock.sendall(_ACK.pack(seq))

    def close(self) -> None:
        """Disconnect."""
        self._sock.close()


def _decode(encoding: int, payload: Image, width: int, height: int) -> Image:
    if encoding == _RAW and payload.size == width * height * 3:
        return payload.reshape(height, width, 3)
    if encoding == _JPEG:
        image = cv2.imdecode(payload, cv2.IMREAD_COLOR)
        if image is not None and image.shape == (height, width, 3):
            return np.asarray(image, dtype=np.uint8)
    raise FeedError(f"a picture of {width}x{height} in the feed is damaged")
