"""What is wrong with the pictures themselves: light, colour, flicker, somebody over the table.

Looks at a coarse sample of the felt. Each finding has a named state, must last before it is
told, and needs a clear recovery to end, so that hands, tiles and walls raise no alarm. What the
light was like before is learnt from the session: the first pictures, then slowly anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration import Calibration, CalibrationError
from vision.geometry import TableGeometry
from vision.messages import CameraState
from vision.sources.frame import Frame, Image

REMEDIES: Final[dict[CameraState, str]] = {
    CameraState.DARK: "The table is dark: switch on a lamp or open the lens cover.",
    CameraState.BLOCKED: (
        "Somebody or something is over the table: reading goes on as soon as the view is free."
    ),
    CameraState.BRIGHT: (
        "The picture is overexposed: shade the lamp that shines into the camera, or lower its "
        "exposure (v4l2-ctl --list-ctrls shows how)."
    ),
    CameraState.DIM: (
        "The light has fallen: switch the lamp on again; tiles are read with less certainty and "
        "the display may ask more."
    ),
    CameraState.TINTED: (
        "The picture's colours have shifted: set the camera's white balance to a fixed value "
        "(v4l2-ctl --set-ctrl white_balance_automatic=0), or restore the light."
    ),
    CameraState.FLICKER: (
        "The light flickers: set the camera to your mains frequency "
        "(v4l2-ctl --set-ctrl power_line_frequency=1 for 50 Hz, 2 for 60 Hz), or change the lamp."
    ),
}
"""One sentence for a person, for each state that the pictures themselves show."""

_SAMPLE_WIDTH: Final = 96
"""Pixels across the sample."""
_BANDS: Final = 6
_GREY: Final = np.array([0.114, 0.587, 0.299], np.float32)
"""Shares of blue, green and red in brightness."""


@dataclass(frozen=True)
class WatchOptions:
    """When a finding counts.

    Attributes:
        burnt_share: share of the felt with a channel at its end that makes a picture
            overexposed.
        fallen: light relative to what it was that counts as a lamp gone out.
        tint: shift of the cloth's colour, as a natural logarithm of a ratio of two channels, from
            what it was lately; tint_ever: the same from the session's beginning.
        flicker: change of brightness that counts as one swing; swings: so many within
            flicker_s seconds.
        cloth_share: cloth in sight, relative to what is usual, below which the table is blocked.
        lasts_s: how long a finding must last before it is told.
        clears_s: how long all must be well before that is told.
        adapt_s: in how many seconds another light becomes the usual one.
        learn: pictures at the start from which the usual light is learnt.
    """

    burnt_share: float = 0.35
    fallen: float = 0.8
    tint: float = 0.2
    tint_ever: float = 0.35
    flicker: float = 0.035
    swings: int = 4
    flicker_s: float = 6.0
    cloth_share: float = 0.58
    lasts_s: float = 1.5
    clears_s: float = 1.0
    adapt_s: float = 45.0
    learn: int = 5


@dataclass(frozen=True)
class Look:
    """The felt in one picture.

    Attributes:
        level: middle brightness of the cloth, 0 to 255.
        tint: logarithms of red to green and blue to green of the cloth.
        burnt: share of the felt with a channel at its end.
        cloth: share of the felt that has the cloth's colour.
        bands: brightness of horizontal bands, for the flicker that rolls through the picture.
    """

    level: float
    tint: tuple[float, float]
    burnt: float
    cloth: float
    bands: tuple[float, ...]


class _Swings:
    """Counts how often a value turns round by more than a share of itself."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._low = self._high = 0.0
        self._rising: bool | None = None

    def see(self, value: float) -> bool:
        """Take the next value; whether it turned round."""
        if self._high == 0.0:
            self._low = self._high = value
            return False
        self._low, self._high = min(self._low, value), max(self._high, value)
        if self._rising is not True and value > self._low * (1 + self._share):
            turned, self._rising, self._high = self._rising is False, True, value
            return turned
        if self._rising is not False and value < self._high / (1 + self._share):
            turned, self._rising, self._low = self._rising is True, False, value
            return turned
        return False


class PictureWatch:
    """Judges picture by picture; deterministic in the pictures and their times.

    Args:
        calibration: tells where the felt is.
        geometry: of the table; the centre panel with its lamps is left out.
        options: see :class:`WatchOptions`.
    """

    def __init__(
        self,
        calibration: Calibration,
        geometry: TableGeometry,
        options: WatchOptions | None = None,
    ) -> None:
        self._options = options or WatchOptions()
        self._step = max(1, calibration.image_size[0] // _SAMPLE_WIDTH)
        felt = _felt_samples(calibration, geometry, self._step)
        rows, columns = np.nonzero(felt)
        self._rows, self._columns = rows * self._step, columns * self._step
        self._band = (rows - rows.min()) * _BANDS // (int(rows.max() - rows.min()) + 1)
        self._band_sizes = np.bincount(self._band, minlength=_BANDS)
        self._seen = 0
        self._usual: Look | None = None
        self._first_tint = (0.0, 0.0)
        self._found: CameraState = CameraState.FINE
        self._since = float("-inf")
        self._told: CameraState = CameraState.FINE
        self._last_t: float | None = None
        self._swings = [_Swings(self._options.flicker) for _ in range(_BANDS)]
        self._turns: tuple[deque[float], ...] = tuple(deque() for _ in range(_BANDS))
        self.look: Look | None = None

    def see(self, frame: Frame, *, quiet: bool) -> CameraState:
        """Take the next picture; the state that it should be told to be in.

        Args:
            frame: of the size that was calibrated.
            quiet: nothing moves over the felt; only then is the light judged.
        """
        look = self.measure(frame.image)
        self.look = look
        usual = self._learn(look, frame.t, quiet=quiet)
        state = self._find(look, usual, frame.t, quiet=quiet)
        self._last_t = frame.t
        return self._tell(state, frame.t)

    def measure(self, image: Image) -> Look:
        """The felt in a picture of the calibrated size, without judging it."""
        pixels = image[self._rows, self._columns].astype(np.float32)
        grey = pixels @ _GREY
        cloth = _cloth(pixels, grey)
        blue, green, red = np.median(pixels[cloth], axis=0) + 6.0
        bands = np.bincount(self._band, weights=grey, minlength=_BANDS) / self._band_sizes
        return Look(
            level=float(np.median(grey[cloth])),
            tint=(float(np.log(red / green)), float(np.log(blue / green))),
            burnt=float(np.count_nonzero(pixels.max(axis=1) >= 250)) / len(pixels),
            cloth=float(np.count_nonzero(cloth)) / len(pixels),
            bands=tuple(float(band) for band in bands),
        )

    def _learn(self, look: Look, t: float, *, quiet: bool) -> Look | None:
        """What the light is usually like; None until the felt has been at rest."""
        usual = self._usual
        astray = self._found in (CameraState.BLOCKED, CameraState.BRIGHT)
        if not quiet or (usual is not None and astray):
            return usual
        if usual is None:
            usual, weight = look, 1.0
        elif self._seen < self._options.learn:
            weight = 1.0 / (self._seen + 1)
        else:
            since = 0.0 if self._last_t is None else max(0.0, t - self._last_t)
            weight = min(1.0, since / self._options.adapt_s)
        self._seen += 1
        if self._seen <= self._options.learn:
            self._first_tint = look.tint

        def mix(old: float, new: float) -> float:
            return old + (new - old) * weight

        self._usual = Look(
            level=mix(usual.level, look.level),
            tint=(mix(usual.tint[0], look.tint[0]), mix(usual.tint[1], look.tint[1])),
            burnt=look.burnt,
            cloth=max(usual.cloth, look.cloth),
            bands=look.bands,
        )
        return self._usual

    def _find(self, look: Look, usual: Look | None, t: float, *, quiet: bool) -> CameraState | None:
        """What is wrong in this picture; None where it can't be told."""
        options = self._options
        if look.burnt > options.burnt_share:
            return CameraState.BRIGHT
        if usual is None:
            return None
        if look.cloth < options.cloth_share * usual.cloth:
            return CameraState.BLOCKED
        if not quiet:
            return None
        if self._flickers(look, t):
            return CameraState.FLICKER
        # What has been told ends only with a clear recovery.
        again = 0.5 if self._told is not CameraState.FINE else 1.0
        if look.level < (1 - (1 - options.fallen) * again) * usual.level:
            return CameraState.DIM
        lately, ever = _apart(look.tint, usual.tint), _apart(look.tint, self._first_tint)
        if lately > options.tint * again or ever > options.tint_ever:
            return CameraState.TINTED
        return CameraState.FINE

    def _flickers(self, look: Look, t: float) -> bool:
        most = 0
        for swing, turns, value in zip(self._swings, self._turns, look.bands, strict=True):
            if swing.see(value):
                turns.append(t)
            while turns and t - turns[0] > self._options.flicker_s:
                turns.popleft()
            most = max(most, len(turns))
        return most >= self._options.swings

    def _tell(self, state: CameraState | None, t: float) -> CameraState:
        if state is None:
            return self._told
        if state is not self._found:
            self._found, self._since = state, t
        wait = self._options.clears_s if state is CameraState.FINE else self._options.lasts_s
        if t - self._since >= wait - 1e-6:
            self._told = state
        return self._told


def _apart(a: tuple[float, float], b: tuple[float, float]) -> float:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def _cloth(pixels: NDArray[np.float32], grey: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which pixels (n, 3) have the most common colour, whatever the shade."""
    chroma = (pixels - grey[:, None]) / (grey[:, None] + 12.0)
    red, blue = chroma[:, 2], chroma[:, 0]
    bins = ((red + 2) * 6).astype(np.int32).clip(0, 31) * 32
    bins += ((blue + 2) * 6).astype(np.int32).clip(0, 31)
    most = int(np.bincount(bins, minlength=1024).argmax())
    centre = np.median(chroma[bins == most], axis=0)
    near = np.abs(chroma - centre).max(axis=1) < 0.22
    level = float(np.median(grey[near])) + 12.0
    shade = (grey + 12.0) / level
    alike: NDArray[np.bool_] = near & (shade > 0.35) & (shade < 2.2)
    return alike if alike.any() else np.ones(len(pixels), bool)


def _felt_samples(
    calibration: Calibration, geometry: TableGeometry, step: int
) -> NDArray[np.bool_]:
    """Which pixels of the sample show the felt, without the panel."""
    width, height = calibration.image_size
    mask = np.zeros((-(-height // step), -(-width // step)), np.uint8)
    cv2.fillConvexPoly(mask, (calibration.felt_outline / step).astype(np.int32), 1)
    p = geometry.panel * geometry.tile_width_mm
    panel = calibration.to_image([(-p, -p), (p, -p), (p, p), (-p, p)])
    cv2.fillConvexPoly(mask, (panel / step).astype(np.int32), 0)
    if not mask.any():
        raise CalibrationError("the calibration puts the felt outside the picture")
    return np.asarray(mask > 0)
