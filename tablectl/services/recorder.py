"""Writes one MCAP file a session: every message on the bus, in bus order, safe against a cut.

Chunks are small and flushed with every event, so a killed writer loses nothing but what the
operating system had not written; settlements are synchronised to the disk. The same entries give
the same bytes. Source: MCAP specification, https://mcap.dev/spec.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import structlog
from mcap.writer import CompressionType, Writer

from tablectl import __version__
from tablectl.messages import SettlementView
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import to_ns
from tablectl.services.codec import CAMERA_SCHEMA, JPEG_QUALITY, CameraFrame, encode, schema_of

PROFILE: Final = "tablectl"
RECORDING_VERSION: Final = 1
"""Raised when recordings change in a way that old readers must not guess at."""
CHUNK_BYTES: Final = 16 * 1024
UNHURRIED: Final = frozenset({CAMERA_SCHEMA, "tablectl.Tick"})
"""Schemas of messages that wait for the next event to be flushed: a chunk each would be waste."""
FRAME_BACKLOG: Final = 50
"""Pictures that may wait for the disk; beyond them pictures are dropped and counted."""

log = structlog.get_logger(__name__)


class RecorderError(Exception):
    """The session can't be recorded; the message says why."""


class SessionWriter:
    """Writes entries to one file. Not for several threads.

    Args:
        path: new file; its folder is made.
        metadata: what the session was played with (versions, configuration hash, rules).
        quality: JPEG quality of pictures.

    Raises:
        RecorderError: the file exists already or can't be made.
    """

    def __init__(
        self, path: Path, metadata: Mapping[str, str], quality: int = JPEG_QUALITY
    ) -> None:
        self.path = path
        self._quality = quality
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("xb")
        except FileExistsError:
            raise RecorderError(f"{path} exists already and is not overwritten") from None
        except OSError as error:
            raise RecorderError(f"{path}: {error.strerror}") from error
        self._writer = Writer(self._file, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        self._writer.start(profile=PROFILE, library=f"tablectl {__version__}")
        self._writer.add_metadata("tablectl", _header(metadata))
        self._schemas: dict[str, int] = {}
        self._channels: dict[tuple[str, str], int] = {}
        self.sync()
        _sync_folder(path.parent)

    def write(self, entry: Entry[object]) -> None:
        """Write an entry; events reach the operating system, settlements the disk.

        Raises:
            CodecError: the message has no JSON form.
            OSError: the disk is full or gone.
        """
        message = entry.message
        schema, data = encode(message, self._quality)
        self.write_raw(
            to_ns(entry.t),
            entry.seq,
            entry.channel,
            schema=schema,
            data=data,
            schema_data=b"" if schema in self._schemas else schema_of(type(message)),
        )
        if isinstance(message, SettlementView):
            self.sync()
        elif schema not in UNHURRIED:
            self._flush()

    def write_raw(
        self, ns: int, seq: int, channel: str, *, schema: str, data: bytes, schema_data: bytes
    ) -> None:
        """Write an encoded message without flushing.

        Args:
            ns: time in nanoseconds.
            seq: sequence number.
            channel: name of the channel.
            schema: name of the schema.
            data: JSON of the message.
            schema_data: JSON schema; needed when the schema is new to the file.
        """
        key = (channel, schema)
        if key not in self._channels:
            if schema not in self._schemas:
                self._schemas[schema] = self._writer.register_schema(
                    schema, "jsonschema", schema_data
                )
            self._channels[key] = self._writer.register_channel(
                channel, "json", self._schemas[schema]
            )
        self._writer.add_message(self._channels[key], ns, data, ns, seq)

    def sync(self) -> None:
        """Bring everything to the disk."""
        self._flush()
        os.fsync(self._file.fileno())

    def _flush(self) -> None:
        self._writer.flush()  # type: ignore[no-untyped-call]

    def abandon(self) -> None:
        """Close the file as it is, after a failure."""
        with contextlib.suppress(OSError):
            self._file.close()

    def close(self) -> None:
        """Write the index and close. A file without it is read as an unfinished one."""
        if self._file.closed:
            return
        try:
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()


def _header(metadata: Mapping[str, str]) -> dict[str, str]:
    return {
        "recording_version": str(RECORDING_VERSION),
        "tablectl_version": __version__,
        **metadata,
    }


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class RecorderStatus:
    """How the recording goes.

    Attributes:
        path: the file.
        messages: entries written.
        dropped_frames: pictures that the disk was too slow for.
        problem: why nothing is recorded any more; empty while all is well.
    """

    path: Path
    messages: int
    dropped_frames: int
    problem: str


class Recorder:
    """Records a bus in a thread of its own, so that a slow disk holds nobody up.

    A failing disk ends the recording, not the game: :attr:`status` and ``on_problem`` say so.

    Args:
        bus: what to record; subscribe the recorder before anything else.
        path: new file.
        metadata: see :class:`SessionWriter`.
        frames: whether pictures are recorded.
        frames_per_second: at most this many pictures a second of capture time.
        quality: JPEG quality of pictures.
        on_problem: called once, from the recorder's thread, when recording ends early.

    Raises:
        RecorderError: the file exists already or can't be made.
    """

    def __init__(
        self,
        bus: Bus,
        path: Path,
        metadata: Mapping[str, str],
        *,
        frames: bool = True,
        frames_per_second: float = 10.0,
        quality: int = JPEG_QUALITY,
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        self._writer = SessionWriter(path, metadata, quality)
        self._frames = frames
        # A little less than the interval: cameras jitter.
        self._interval = 0.9 / frames_per_second
        self._next_frame = float("-inf")
        self._on_problem = on_problem
        self._queue: queue.SimpleQueue[Entry[object] | None] = queue.SimpleQueue()
        self._waiting_frames = 0
        self._lock = threading.Lock()
        self._messages = 0
        self._dropped = 0
        self._problem = ""
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()
        self._cancel = bus.subscribe(self._take)

    @property
    def status(self) -> RecorderStatus:
        """How it goes, at this moment."""
        return RecorderStatus(self._writer.path, self._messages, self._dropped, self._problem)

    def _take(self, entry: Entry[object]) -> None:
        if self._problem:
            return
        if isinstance(entry.message, CameraFrame) and not self._wants(entry.message):
            return
        self._queue.put(entry)

    def _wants(self, frame: CameraFrame) -> bool:
        if not self._frames or frame.t < self._next_frame:
            return False
        with self._lock:
            if self._waiting_frames >= FRAME_BACKLOG:
                self._dropped += 1
                return False
            self._waiting_frames += 1
        self._next_frame = frame.t + self._interval
        return True

    def _run(self) -> None:
        try:
            while (entry := self._queue.get()) is not None:
                self._writer.write(entry)
                self._messages += 1
                if isinstance(entry.message, CameraFrame):
                    with self._lock:
                        self._waiting_frames -= 1
            self._writer.close()
        except Exception as error:  # reported below: the game goes on without a recording
            log.exception("recording ended early", path=str(self._writer.path))
            self._writer.abandon()
            self._problem = f"recording to {self._writer.path} ended: {error}"
            if self._on_problem is not None:
                self._on_problem(self._problem)

    def close(self) -> None:
        """Write what is waiting and finish the file. Blocks; call it in a thread of your own."""
        self._cancel()
        self._queue.put(None)
        self._thread.join()
