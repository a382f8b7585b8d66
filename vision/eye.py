"""The eye: camera source, gate, recogniser and felt reader put together.

:class:`EyeCore` is plain and deterministic: a picture in, messages out. :class:`Eye` runs it beside
the event loop in a thread of its own, so that neither the serial line nor the display waits for the
recogniser, and adds the camera's health.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np

from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import DARK_LEVEL, check_calibration
from vision.calibration_shift import realign
from vision.felt.finder import TileFinder
from vision.felt.reader import FeltOptions, FeltReader
from vision.gate import GateOptions, GateResult, MotionGate
from vision.geometry import TableGeometry
from vision.messages import CameraState, CameraStatus, Sight, SightChange, TableReading
from vision.picture_watch import REMEDIES, PictureWatch, WatchOptions
from vision.sources.frame import Frame, FrameSource
from vision.walls import WallCounter

EyeMessage = TableReading | SightChange | CameraStatus

_STATUS_S: Final = 0.2
"""How often the camera's health is asked for between pictures."""


@dataclass(frozen=True)
class EyeOptions:
    """Settings of the eye.

    Attributes:
        gate, felt, watch: of the parts.
        check_every_s: how often it is checked that the camera has not moved; 0 never.
        auto_realign: go on with the printed markers when the camera was bumped.
        dark_level: mean grey of the felt below which nothing is read.
    """

    gate: GateOptions = field(default_factory=GateOptions)
    felt: FeltOptions = field(default_factory=FeltOptions)
    watch: WatchOptions = field(default_factory=WatchOptions)
    check_every_s: float = 30.0
    auto_realign: bool = True
    dark_level: float = DARK_LEVEL


@dataclass(frozen=True)
class EyeCounters:
    """What the eye has done and what it cost.

    Attributes:
        frames: pictures worked on.
        gate_ms: mean time of the gate for one picture.
        regions: changed and rested regions that were read.
        looks: calls of the recogniser, repeated looks included.
        detector_ms: mean time of one look; ``last_detector_ms`` of the newest.
        readings: messages about the felt.
    """

    frames: int
    gate_ms: float
    regions: int
    looks: int
    detector_ms: float
    last_detector_ms: float
    readings: int


class EyeCore:
    """Pictures in, messages out; the same pictures give the same messages.

    Args:
        calibration: of the camera; replaced when the camera was bumped and is re-aligned.
        geometry: of the table.
        finder: recognises tiles.
        options: see :class:`EyeOptions`.
    """

    def __init__(
        self,
        calibration: Calibration,
        geometry: TableGeometry,
        finder: TileFinder,
        options: EyeOptions | None = None,
    ) -> None:
        self._options = options or EyeOptions()
        self._geometry = geometry
        self._finder = finder
        self._sight: Sight | None = None
        self._state: CameraState | None = None
        self._next_check = float("-inf")
        self._suspect = False
        self._unchecked = True
        self._frames = self._readings = 0
        self._gate_s = 0.0
        self._reading_seq = 0
        self._set(calibration)

    def _set(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._landmarks = [
            *(corner for four in calibration.marks.values() for corner in four),
            *((x, y) for x, y, _ in calibration.patches),
        ]
        self._read_anew()
        self._watch = PictureWatch(calibration, self._geometry, self._options.watch)
        self._walls = WallCounter(calibration, self._geometry)

    def recalibrate(self, calibration: Calibration) -> None:
        """Go on with another calibration, made by a person; everything is read anew."""
        self._state, self._suspect, self._unchecked = None, False, True
        self._next_check = float("-inf")
        self._set(calibration)

    def use_finder(self, finder: TileFinder) -> None:
        """Go on with another recogniser; everything is read anew."""
        self._finder = finder
        self._read_anew()

    def _read_anew(self) -> None:
        """Forget every tile, and look for all of them."""
        self._look_anew()
        self._reader = FeltReader(
            self.calibration, self._geometry, self._finder, self._options.felt
        )  # fmt: skip

    def _look_anew(self) -> None:
        """Everything counts as changed: after a time without trustworthy pictures."""
        self._rested = False
        self._gate = MotionGate(self.calibration, self._geometry, self._options.gate)

    @property
    def reader(self) -> FeltReader:
        """The map of tiles."""
        return self._reader

    def process(self, frame: Frame) -> list[EyeMessage]:
        """Work on the next picture."""
        self._frames += 1
        size = (frame.image.shape[1], frame.image.shape[0])
        if size != self.calibration.image_size:
            check = check_calibration(self.calibration, frame.image)
            return self._blind(frame.t, check.state, check.remedy)
        gate = self._judge(frame)
        if gate.brightness < self._options.dark_level:
            return self._blind(frame.t, CameraState.DARK, REMEDIES[CameraState.DARK])
        if self._state in (CameraState.DARK, CameraState.WRONG_SIZE):
            self._look_anew()
            gate = self._judge(frame)
        messages, in_place = self._check_place(frame, gate)
        if not in_place:
            return messages
        state = self._watch.see(frame, quiet=gate.steady)
        if self._state is CameraState.BLOCKED and state is not CameraState.BLOCKED:
            self._look_anew()
            gate = self._judge(frame)
        messages += self._status(frame.t, state, REMEDIES.get(state, ""))
        if state is CameraState.BLOCKED:
            return messages + self._sight_change(frame.t, "covered")
        reading = self._reader.process(frame, gate)
        messages += self._look_over(frame.t, gate)
        if reading is not None:
            walls = self._walls.see(frame.image, gate)
            messages.append(reading.model_copy(update={"seq": self._readings, "walls": walls}))
            self._readings += 1
        return messages

    def _judge(self, frame: Frame) -> GateResult:
        start = time.perf_counter()
        gate = self._gate.process(frame)
        self._gate_s += time.perf_counter() - start
        return gate

    def lose_sight(self, t: float) -> list[EyeMessage]:
        """There are no fresh pictures."""
        return self._sight_change(t, "blind")

    @property
    def counters(self) -> EyeCounters:
        """What has been done so far."""
        felt = self._reader.counters
        return EyeCounters(
            frames=self._frames,
            gate_ms=1000 * self._gate_s / max(1, self._frames),
            regions=felt.regions,
            looks=felt.looks,
            detector_ms=1000 * felt.detect_s / max(1, felt.looks),
            last_detector_ms=felt.last_detect_ms,
            readings=self._readings,
        )

    # States.

    def _blind(self, t: float, state: CameraState, remedy: str) -> list[EyeMessage]:
        return [*self._status(t, state, remedy), *self._sight_change(t, "blind")]

    def _status(self, t: float, state: CameraState, remedy: str = "") -> list[EyeMessage]:
        if state is self._state:
            return []
        self._state = state
        return [CameraStatus(t=t, state=state, frames=self._frames, remedy=remedy)]

    def _look_over(self, t: float, gate: GateResult) -> list[EyeMessage]:
        if gate.covered:
            return self._sight_change(t, "covered")
        return self._sight_change(t, "steady" if gate.steady else "moving")

    def _sight_change(self, t: float, sight: Sight) -> list[EyeMessage]:
        if sight == self._sight:
            return []
        self._sight = sight
        return [SightChange(t=t, sight=sight)]

    # Has somebody bumped the camera?

    def _check_place(self, frame: Frame, gate: GateResult) -> tuple[list[EyeMessage], bool]:
        """Messages, and whether the calibration may be trusted for this picture."""
        every = self._options.check_every_s
        if every <= 0:
            return [], True
        if self._shaken(gate):
            # Read nothing until it is at rest again, then read everything.
            self._look_anew()
            self._next_check = frame.t
            return [], False
        trusted = self._state is not CameraState.MOVED and not self._suspect
        changed = self._landmark_changed(gate)
        due = changed or frame.t >= self._next_check
        if not due or not (gate.steady or changed or self._unchecked):
            return [], trusted
        self._unchecked = False
        check = check_calibration(self.calibration, frame.image)
        if check.state is not CameraState.MOVED:
            self._suspect = False
            self._next_check = frame.t + every
            if self._state is CameraState.MOVED:
                # It was put back: nothing seen in between counts.
                self._state = None
                self._look_anew()
                return [], False
            return [], True
        self._look_anew()
        if not self._suspect:
            # One odd picture is no proof; the next picture at rest decides.
            self._suspect = True
            return [], False
        return self._moved(frame, check.remedy), False

    def _shaken(self, gate: GateResult) -> bool:
        """Whether most landmarks move at once, as no hand makes them: the camera shakes."""
        self._rested |= gate.steady
        if not self._rested:
            return False
        moving = [gate.moves_at(np.array([at])) for at in self._landmarks]
        return sum(moving) * 4 >= 3 * len(moving) > 0

    def _landmark_changed(self, gate: GateResult) -> bool:
        """Whether what should stand still has changed: a marker, a corner of the felt."""
        if gate.everything and gate.regions:
            return True
        return any(
            region.box[0] <= x < region.box[2] and region.box[1] <= y < region.box[3]
            for region in gate.regions
            for x, y in self._landmarks
        )

    def _moved(self, frame: Frame, remedy: str) -> list[EyeMessage]:
        messages = self._blind(frame.t, CameraState.MOVED, remedy)
        self._next_check = frame.t + min(self._options.check_every_s, 2.0)
        if self._options.auto_realign:
            with contextlib.suppress(CalibrationError):
                self._set(realign(self.calibration, frame.image, self._geometry))
                messages += self._status(frame.t, CameraState.FINE)
                self._suspect = False
        return messages


class Eye:
    """The camera's side of the daemon.

    Example::

        eye = Eye(open_source("v4l2:/dev/v4l/by-id/..."), calibration, Detector(), geometry)
        async for message in eye.messages():
            ...

    In lock-step the messages depend on the pictures alone: each picture waits until the messages
    of the one before have been taken.

    Args:
        source: where pictures come from; closed with :meth:`close`.
        calibration: of the camera.
        finder: recognises tiles; used by one thread only.
        geometry: of the table.
        options: see :class:`EyeOptions`.
        on_frame: called with every picture before it is worked on, for recorders and previews.
    """

    def __init__(
        self,
        source: FrameSource,
        calibration: Calibration,
        finder: TileFinder,
        geometry: TableGeometry,
        options: EyeOptions | None = None,
        *,
        on_frame: Callable[[Frame], None] | None = None,
    ) -> None:
        self.source = source
        self._on_frame = on_frame
        self.core = EyeCore(calibration, geometry, finder, options)
        self._thread = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="eye", initializer=_one_thread
        )
        self._source_state: CameraState | None = None
        self._told: CameraState | None = None
        self._core_status: CameraStatus | None = None

    async def __aenter__(self) -> Eye:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def counters(self) -> EyeCounters:
        """What the eye has done so far."""
        return self.core.counters

    def status(self) -> CameraStatus:
        """The camera's health now: the source's trouble first, then what its pictures show."""
        status = self.source.status()
        trouble = self._core_status
        if status.state is not CameraState.FINE or trouble is None:
            return status
        return status.model_copy(update={"state": trouble.state, "remedy": trouble.remedy})

    async def recalibrate(self, calibration: Calibration) -> None:
        """Use another calibration from the next picture on."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self.core.recalibrate, calibration)

    async def use_finder(self, finder: TileFinder) -> None:
        """Use another recogniser from the next picture on; no other thread may use it any more."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self.core.use_finder, finder)

    async def messages(self) -> AsyncIterator[EyeMessage]:
        """Readings, changes of sight and of the camera's health, in order of time.

        Ends with the source. Raises what the source raises when a file can't be read.
        """
        frames = aiter(self.source.frames())
        waiting: asyncio.Task[Frame] | None = None
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(_next(frames))
                timeout = None if self.source.lockstep else _STATUS_S
                done, _ = await asyncio.wait({waiting}, timeout=timeout)
                for message in self._health():
                    yield message
                if not done:
                    continue
                try:
                    frame = waiting.result()
                except StopAsyncIteration:
                    return
                finally:
                    waiting = None
                if self._on_frame is not None:
                    self._on_frame(frame)
                if self._source_state in (CameraState.STALE, CameraState.LOST):
                    # A repeated picture shows nothing new, least of all that a hand has gone.
                    continue
                for message in await self._process(frame):
                    yield message
        finally:
            if waiting is not None:
                waiting.cancel()

    async def _process(self, frame: Frame) -> list[EyeMessage]:
        loop = asyncio.get_running_loop()
        messages = await loop.run_in_executor(self._thread, self.core.process, frame)
        result: list[EyeMessage] = []
        for message in messages:
            if isinstance(message, CameraStatus):
                self._core_status = message
                result += self._tell(self._with_counters(message))
            else:
                result.append(message)
        return result

    def _with_counters(self, message: CameraStatus) -> CameraStatus:
        """The core's verdict with the source's counters."""
        return self.source.status().model_copy(
            update={"t": message.t, "state": message.state, "remedy": message.remedy}
        )

    def _tell(self, status: CameraStatus) -> list[EyeMessage]:
        """The status when it is news."""
        if status.state is self._told:
            return []
        self._told = status.state
        return [status]

    def _health(self) -> list[EyeMessage]:
        """Messages when the source's state changed."""
        status = self.source.status()
        if status.state is self._source_state:
            return []
        self._source_state = status.state
        if status.state in (CameraState.STALE, CameraState.LOST):
            return [*self._tell(status), *self.core.lose_sight(status.t)]
        return self._tell(self.status())

    async def close(self) -> None:
        """Stop the camera and the thread."""
        await self.source.close()
        self._thread.shutdown(wait=True, cancel_futures=True)


async def _next(frames: AsyncIterator[Frame]) -> Frame:
    return await anext(frames)


def _one_thread() -> None:
    """OpenCV would otherwise take every core for each picture."""
    cv2.setNumThreads(1)
