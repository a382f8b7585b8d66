"""Reading a recording's pictures anew, with the recogniser at hand."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from tablectl import channels
from tablectl.referee.inputs import SessionPlan
from tablectl.replay import ReplayError
from tablectl.services.recording import Recording
from vision.calibration import Calibration
from vision.detector import Detector
from vision.eye import EyeCore
from vision.messages import Recalibrated, SightChange, TableReading
from vision.sources.frame import Frame


async def camera_eyes(
    recording: Recording, plan: SessionPlan
) -> AsyncIterator[tuple[float, str, object]]:
    """What the eye sees in a recording's pictures: (time, channel, message) in order of time.

    Raises:
        ReplayError: the recording holds no pictures, or not how the camera was calibrated.
    """
    if plan.calibration is None:
        raise ReplayError(f"{recording.path}: recorded without a camera; replay from readings")
    eye = EyeCore(
        Calibration.model_validate(plan.calibration), plan.table_geometry(), Detector()
    )  # fmt: skip
    changes = deque(recording.decoded(channels=(channels.CALIBRATION,)))
    pictures = 0
    for t, frame in recording.frames():
        pictures += 1
        while changes and changes[0][0].t <= t:
            eye.recalibrate(_calibration(changes.popleft()[1]))
        for message in eye.process(Frame(t, frame.seq, frame.image)):
            if isinstance(message, TableReading):
                yield t, channels.READING, message
            elif isinstance(message, SightChange):
                yield t, channels.SIGHT, message
    if not pictures:
        raise ReplayError(
            f"{recording.path}: no pictures in it (recording.frames was off); replay from readings"
        )


def _calibration(message: object) -> Calibration:
    assert isinstance(message, Recalibrated)
    return Calibration.model_validate(message.calibration)
