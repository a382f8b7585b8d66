"""Frames that are already in this process: replay of a recording, tests."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable

from vision.messages import CameraState, CameraStatus
from vision.sources.frame import Frame


class MemorySource:
    """A lock-step source over an iterable of frames, such as those read from a recording.

    Recordings are decoded by the recorder, which knows their format; this hands their frames to
    the eye at the eye's pace.
    """

    lockstep = True

    def __init__(self, frames: Iterable[Frame] | AsyncIterable[Frame]) -> None:
        self._frames = frames
        self._count = 0
        self._t = 0.0

    async def frames(self) -> AsyncIterator[Frame]:
        """Every frame once, in the given order."""
        if isinstance(self._frames, AsyncIterable):
            async for frame in self._frames:
                yield self._counted(frame)
        else:
            for frame in self._frames:
                yield self._counted(frame)

    def _counted(self, frame: Frame) -> Frame:
        self._count += 1
        self._t = frame.t
        return frame

    def status(self) -> CameraStatus:
        """Always fine once pictures came: what happened to the camera is in the recording."""
        state = CameraState.FINE if self._count else CameraState.STARTING
        return CameraStatus(t=self._t, state=state, frames=self._count)

    async def close(self) -> None:
        """Nothing to free."""
