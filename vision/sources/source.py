"""The daemon's end of a camera: starts the capture process, takes the newest picture, watches."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import vision
from vision.messages import CameraState, CameraStatus
from vision.sources.frame import Frame, SourceError
from vision.sources.notes import (
    DONE,
    MAX_NOTE,
    EndNote,
    ErrorNote,
    FrameNote,
    WorkerConfig,
    unpack_note,
)
from vision.sources.slot import FrameSlot, create_slot_memory
from vision.sources.spec import SourceSpec, parse_spec

_POLL_S: Final = 0.1
"""How often the watchdog looks."""


@dataclass(frozen=True)
class Limits:
    """When a camera counts as stale or lost, and how restarts are paced (seconds).

    Attributes:
        stale_after: no pixel changed for so long.
        lost_after: no picture came for so long; the capture process is replaced.
        start_within: time for opening the source and its first picture.
        restart_stale_after: a stale camera is reopened after so long.
        backoff, backoff_max: pause before the first restart, doubled each time up to the maximum.
        healthy_after: so long with pictures makes the next pause the first one again.
    """

    stale_after: float = 2.0
    lost_after: float = 3.0
    start_within: float = 10.0
    restart_stale_after: float = 10.0
    backoff: float = 1.0
    backoff_max: float = 30.0
    healthy_after: float = 10.0


class CameraSource:
    """A source in its own process. Use as an async context manager or call :meth:`close`.

    Args:
        spec: what to open.
        lockstep: each picture waits for the consumer; time is the pictures' own.
        size, fps: asked of a camera device.
        limits: see :class:`Limits`.

    Raises:
        SourceError: from :meth:`frames`, when a file or folder can't be read. Cameras and feeds
            never raise: they are reopened, and :meth:`status` says what is wrong.
    """

    def __init__(
        self,
        spec: SourceSpec,
        *,
        lockstep: bool = False,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        if lockstep and spec.live:
            raise SourceError(f"{spec} is live and can't wait: lock-step is for files and feeds")
        self.spec = spec
        self._lockstep = lockstep
        self._size, self._fps = size, fps
        self._limits = limits or Limits()
        self._slot_fd = create_slot_memory()
        self._slot = FrameSlot(self._slot_fd)
        self._news = asyncio.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._note: FrameNote | None = None
        self._taken = -1
        self._last_frame_at = self._last_change_at = self._opened_at = time.monotonic()
        self._fresh_process = True
        self._ended = False
        self._error = ""
        self._frames = self._dropped = self._restarts = 0

    @property
    def lockstep(self) -> bool:
        """Whether each picture waits until it has been worked on."""
        return self._lockstep

    async def __aenter__(self) -> CameraSource:
        self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def start(self) -> None:
        """Start capturing (``frames`` does so by itself)."""
        if self._supervisor is None:
            self._supervisor = asyncio.create_task(self._supervise(), name=f"camera {self.spec}")

    async def frames(self) -> AsyncIterator[Frame]:
        """The newest picture each time it is asked for; in lock-step every picture."""
        self.start()
        while await self._wait_for_news():
            frame = self._slot.read()
            if frame is None or frame.seq <= self._taken:
                continue
            self._dropped += frame.seq - self._taken - 1
            self._taken = frame.seq
            yield frame
            self._acknowledge(frame.seq)

    async def _wait_for_news(self) -> bool:
        """Wait for a picture that was not taken yet; ``False`` at the end of the source."""
        while self._note is None or self._note.seq <= self._taken:
            if self._ended:
                if self._error and not self._keeps_trying:
                    raise SourceError(self._error)
                return False
            self._news.clear()
            await self._news.wait()
        return True

    def _acknowledge(self, seq: int) -> None:
        if self._lockstep and self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(DONE.pack(seq))

    def status(self) -> CameraStatus:
        """Health of the camera now, with a remedy when something is wrong."""
        now = time.monotonic()
        note = self._note
        age = self._change_age(now)
        state = self._state(now, age)
        return CameraStatus(
            t=note.t if self._lockstep and note else now,
            state=state,
            frame_age=round(age, 3),
            frames=self._frames,
            dropped=self._dropped,
            restarts=self._restarts,
            remedy=self._remedy(state),
        )

    def _change_age(self, now: float) -> float:
        if self._lockstep and self._note is not None:
            return self._note.t - self._note.changed
        return now - self._last_change_at

    def _state(self, now: float, age: float) -> CameraState:
        note = self._note
        if note is None:
            failed = bool(self._error) or now - self._opened_at > self._limits.start_within
            return CameraState.LOST if failed else CameraState.STARTING
        silent = now - self._last_frame_at > self._limits.lost_after
        if not self._ended and (self._error or (silent and not self._lockstep)):
            return CameraState.LOST
        if age > self._limits.stale_after and not note.repeats and not self._ended:
            return CameraState.STALE
        return CameraState.FINE

    def _remedy(self, state: CameraState) -> str:
        if state is CameraState.STALE:
            return (
                f"{self.spec} repeats the same picture: unplug the camera and plug it in again, "
                "or check the stream's sender."
            )
        if state is CameraState.LOST:
            return self._error or f"{self.spec} gives no pictures: check its plug, cable and power."
        return ""

    # The capture process and its watchdog.

    @property
    def _keeps_trying(self) -> bool:
        return self.spec.live or self.spec.kind == "feed"

    async def _supervise(self) -> None:
        pause = self._limits.backoff
        while True:
            started = time.monotonic()
            self._spawn()
            try:
                await self._watch()
            finally:
                self._stop_process()
            if self._ended:
                return
            if not self._keeps_trying:
                self._finish()
                return
            if time.monotonic() - started > self._limits.healthy_after:
                pause = self._limits.backoff
            await asyncio.sleep(pause)
            pause = min(pause * 2, self._limits.backoff_max)
            self._restarts += 1

    async def _watch(self) -> None:
        """Until the capture process must be replaced or the source has ended."""
        while not self._ended:
            await asyncio.sleep(_POLL_S)
            if self._process is None or self._process.poll() is not None:
                self._drain()
                if not self._ended and not self._error:
                    self._error = f"the capture process of {self.spec} ended unexpectedly."
                return
            if not self._lockstep and self._overdue(time.monotonic()):
                return

    def _overdue(self, now: float) -> bool:
        limits = self._limits
        if self._fresh_process:
            return now - self._opened_at > limits.start_within
        if now - self._last_frame_at > limits.lost_after:
            return True
        repeats = self._note is not None and self._note.repeats
        stale_since = max(self._last_change_at, self._opened_at)
        return not repeats and now - stale_since > limits.restart_stale_after

    def _spawn(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        width, height = self._size or (None, None)
        config = WorkerConfig(
            spec=str(self.spec),
            slot_fd=self._slot_fd,
            control_fd=theirs.fileno(),
            lockstep=self._lockstep,
            width=width,
            height=height,
            fps=self._fps,
            first_seq=self._note.seq + 1 if self._note else 0,
        )
        root = str(Path(vision.__file__).parent.parent)
        path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH")) if p)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vision.sources.worker", config.to_json()],
            pass_fds=(self._slot_fd, theirs.fileno()),
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C in a terminal is the parent's to answer
        )
        theirs.close()
        self._control = ours
        self._opened_at = time.monotonic()
        self._fresh_process = True
        asyncio.get_running_loop().add_reader(ours.fileno(), self._drain)

    def _drain(self) -> None:
        """Take in everything the capture process said."""
        control = self._control
        while control is not None:
            try:
                packet = control.recv(MAX_NOTE)
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            if not packet:
                asyncio.get_running_loop().remove_reader(control.fileno())
                return
            note = unpack_note(packet)
            if isinstance(note, FrameNote):
                self._take_note(note)
            elif isinstance(note, EndNote):
                self._finish()
            elif isinstance(note, ErrorNote):
                self._error = note.text

    def _take_note(self, note: FrameNote) -> None:
        now = time.monotonic()
        changed = self._note is None or note.changed != self._note.changed
        if changed and not (self._fresh_process and self._note is not None):
            self._last_change_at = now
        # The first picture of a reopened camera proves nothing yet: it may be the old one again.
        self._fresh_process = False
        self._last_frame_at = now
        self._note = note
        self._frames += 1
        self._error = ""
        self._news.set()

    def _finish(self) -> None:
        self._ended = True
        self._news.set()

    def _stop_process(self) -> None:
        if self._control is not None:
            with contextlib.suppress(ValueError):
                asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    async def close(self) -> None:
        """Stop the capture process and free the slot."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
            self._supervisor = None
        self._stop_process()
        self._finish()
        if self._slot_fd >= 0:
            self._slot.close()
            os.close(self._slot_fd)
            self._slot_fd = -1


def open_source(
    spec: str,
    *,
    lockstep: bool = False,
    size: tuple[int, int] | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> CameraSource:
    """A source from its text, ``v4l2:/dev/v4l/by-id/...`` and so on (see ``parse_spec``).

    Raises:
        SourceSpecError: the text is not understood.
        SourceError: lock-step was asked of a live source.
    """
    return CameraSource(parse_spec(spec), lockstep=lockstep, size=size, fps=fps, limits=limits)
