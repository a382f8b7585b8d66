"""Reading a recording's pictures anew, with the recogniser at hand."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator
from typing import Final

from tablectl import channels
from tablectl.referee.inputs import SessionPlan
from tablectl.replay import ReplayError
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame
from tablectl.services.recording import Recording
from vision.calibration import Calibration
from vision.detector import Detector, TileSet, TileSetError
from vision.eye import EyeCore
from vision.messages import Recalibrated, SightChange, TableReading, Taught
from vision.sources.frame import Frame

_SEEN_BY: Final = (CAMERA_CHANNEL, channels.CALIBRATION, channels.TILE_SET)
"""What the eye was given, in the order in which it was."""


async def camera_eyes(
    recording: Recording, plan: SessionPlan
) -> AsyncIterator[tuple[float, str, object]]:
    """What the eye sees in a recording's pictures: (time, channel, message) in order of time.

    Each picture is read by the calibration and the tile set that were in use then.

    Raises:
        ReplayError: the recording holds no pictures, not how the camera was calibrated, or a tile
            set that can't be used.
    """
    if plan.calibration is None:
        raise ReplayError(f"{recording.path}: recorded without a camera; replay from readings")
    eye = EyeCore(
        Calibration.model_validate(plan.calibration), plan.table_geometry(), Detector()
    )  # fmt: skip
    pictures = 0
    for item, given in recording.decoded(channels=_SEEN_BY):
        match given:
            case CameraFrame():
                pictures += 1
                for message in eye.process(Frame(item.t, given.seq, given.image)):
                    if isinstance(message, TableReading):
                        yield item.t, channels.READING, message
                    elif isinstance(message, SightChange):
                        yield item.t, channels.SIGHT, message
            case Recalibrated():
                eye.recalibrate(Calibration.model_validate(given.calibration))
            case Taught():
                # A new one, as in the daemon: a detector can't forget.
                eye.use_finder(_detector(recording, given))
    if not pictures:
        raise ReplayError(
            f"{recording.path}: no pictures in it (recording.frames was off); replay from readings"
        )


def _detector(recording: Recording, taught: Taught) -> Detector:
    detector = Detector()
    if taught.tile_set is None:
        return detector
    try:
        tile_set = TileSet.from_bytes(base64.b64decode(taught.tile_set.encode(), validate=True))
    except (binascii.Error, TileSetError) as error:
        raise ReplayError(
            f"{recording.path}: the tile set in it is damaged: {error}; replay from readings"
        ) from None
    try:
        detector.learn(tile_set)
    except TileSetError:
        # Teaching again, which the error advises, does not change a recording.
        raise ReplayError(
            f"{recording.path}: the tile set in it was taught to a recogniser with other inputs; "
            "replay from readings"
        ) from None
    return detector
