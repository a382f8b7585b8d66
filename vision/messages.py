"""What the eye reports: stable readings of the felt and the camera's health."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from vision.geometry import Zone

Sight = Literal["steady", "moving", "covered", "blind"]
"""``steady``: nothing moves; ``moving``: tiles or hands move, last reading holds; ``covered``: a
hand is over the table; ``blind``: no fresh pictures (see :class:`CameraStatus`)."""


class SeenTile(BaseModel):
    """One tile at rest on the felt.

    Attributes:
        probabilities: tile notation (``back`` included) to probability, the most likely first;
            entries below 0.001 are left out, so they sum to at most 1.
        x, y: centre of the tile in table coordinates, mm.
        rotation: clockwise degrees by which the face's "up" is turned from the up direction of the
            tile's seat (0: the seat's player reads it upright; about 90 or 270: a claimed tile).
        zone, seat: where it lies; ``seat`` is None where nobody owns the place.
        frames: pictures in which it was seen like this.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    probabilities: dict[str, float]
    x: float
    y: float
    rotation: float
    zone: Zone
    seat: int | None
    frames: int = 1

    @property
    def best(self) -> str:
        """The most likely tile, ``3m`` or ``back``."""
        return next(iter(self.probabilities))

    @property
    def confidence(self) -> float:
        """Probability of :attr:`best`."""
        return next(iter(self.probabilities.values()))


class WallSeen(BaseModel):
    """One wall from above.

    Attributes:
        seat: before whom it stands.
        stacks: how many stacks of it are left; one of a single tile counts.
        runs: the same run by run, from that seat's left to right.
        covered: something moves over it; the count is the last seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seat: int
    stacks: int
    runs: tuple[int, ...] = ()
    covered: bool = False


class TableReading(BaseModel):
    """The whole felt as it lies, sent when something changed and has come to rest.

    Attributes:
        t: capture time of the newest picture used, seconds on the daemon's clock.
        seq: counts readings from 0.
        tiles: every tile with a face and every tile face down in ``exposed``, in no order.
        covered: areas (zone, seat) that a hand hides at this moment; their tiles are the last seen.
        walls: stacks left of each wall that has been seen, in order of seats. A turned-up indicator
            is among ``tiles`` in the zone ``wall``, and its stack among these.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: float
    seq: int
    tiles: tuple[SeenTile, ...]
    covered: tuple[tuple[Zone, int | None], ...] = ()
    walls: tuple[WallSeen, ...] = ()


class SightChange(BaseModel):
    """The felt began to move, was covered, came to rest, or can't be seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: float
    sight: Sight


class CameraState(StrEnum):
    """Health of the picture source.

    Nothing is read in ``starting``, ``stale`` (the same picture again and again), ``lost`` (none
    at all), ``wrong_size``, ``moved``, ``dark`` and ``blocked`` (somebody over the table). Reading
    goes on, with less certainty, in ``dim`` (a lamp has gone out), ``bright`` (overexposed),
    ``tinted`` (the colours have shifted) and ``flicker``.
    """

    STARTING = "starting"
    FINE = "fine"
    STALE = "stale"
    LOST = "lost"
    WRONG_SIZE = "wrong_size"
    MOVED = "moved"
    DARK = "dark"
    BLOCKED = "blocked"
    DIM = "dim"
    BRIGHT = "bright"
    TINTED = "tinted"
    FLICKER = "flicker"


class CameraStatus(BaseModel):
    """State of the camera with what a person should do about it.

    Attributes:
        frame_age: seconds since the picture last changed.
        frames, dropped, restarts: counters since the start.
        remedy: one sentence, empty when fine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: float
    state: CameraState
    frame_age: float = 0.0
    frames: int = 0
    dropped: int = 0
    restarts: int = 0
    remedy: str = ""


class Recalibrated(BaseModel):
    """The camera was calibrated anew in the middle of a session.

    Attributes:
        calibration: the new one (:class:`vision.calibration.Calibration`) as JSON values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: float
    calibration: dict[str, object]


class Taught(BaseModel):
    """Pictures are read by this tile set from now on.

    Attributes:
        tile_set: content of its file (:meth:`vision.detector.TileSet.to_bytes`) in base64; None
            where what was taught has been forgotten.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: float
    tile_set: str | None
