"""A picture with its time, and what every source of pictures can do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vision.messages import CameraStatus

Image = NDArray[np.uint8]
"""Colour picture, (height, width, 3), blue-green-red."""


class SourceError(Exception):
    """A camera or file gives no pictures; the message says which, why, and what to do."""


class SourceSpecError(SourceError, ValueError):
    """The text that names a source can't be understood; the message shows the right forms."""


@dataclass(frozen=True)
class Frame:
    """One picture.

    Attributes:
        t: capture time in seconds: the monotonic clock for live sources, the picture's own stamp
            in lock-step.
        seq: counts the pictures of the source from 0; gaps are pictures that were dropped.
        image: (height, width, 3) uint8, BGR. Not to be written to.
    """

    t: float
    seq: int
    image: Image


class FrameSource(Protocol):
    """Where the eye gets pictures from."""

    @property
    def lockstep(self) -> bool:
        """Whether each picture waits until it has been worked on (files, simulators, replay)."""
        ...

    def frames(self) -> AsyncIterator[Frame]:
        """Pictures in order of time, until the source ends.

        Live sources give the newest and drop the rest. In lock-step, asking for the next picture
        says that the last has been worked on.
        """
        ...

    def status(self) -> CameraStatus:
        """Health of the source at this moment."""
        ...

    async def close(self) -> None:
        """Stop and free everything."""
        ...
