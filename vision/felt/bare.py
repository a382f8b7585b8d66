"""Is the felt bare at a place? A tile that a sleeve hides has not gone."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration import Calibration
from vision.sources.frame import Image

_STEP: Final = 8
_CHROMA: Final = 16.0
"""Largest distance in chroma (0 to 255 scale) of a bare place from the felt's usual colour."""
_LUMA: Final = (0.45, 1.7)
"""Brightness of a bare place relative to the felt's: shadows and lamps are allowed."""
_DEEP: Final = 0.12
"""Brightness, relative to the felt's, down to which a shadow shows the cloth's colour."""
_SHADE_CHROMA: Final = 10.0
"""Largest distance in chroma of cloth in shadow from what is left there of its usual colour."""
_GREY: Final = 128.0
"""Chroma of what has no colour."""
_PRINT: Final = 22.0
"""Spread of brightness that cloth does not have and a printed face does."""
_SHARE: Final = 0.75


class FeltColour:
    """The cloth's colour in one picture: the most common one over the felt."""

    def __init__(self, image: Image, calibration: Calibration) -> None:
        sample = np.ascontiguousarray(image[::_STEP, ::_STEP])
        mask = np.zeros(sample.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, (calibration.felt_outline / _STEP).astype(np.int32), 1)
        colours = cv2.cvtColor(sample, cv2.COLOR_BGR2YCrCb)[mask > 0].astype(np.int32)
        # The mode of chroma, not the mean: walls and hands laid open are large.
        bins = (colours[:, 1] // 8) * 32 + colours[:, 2] // 8
        common = np.bincount(bins).argmax() if len(bins) else 0
        cloth = colours[bins == common] if len(bins) else np.array([[90, 128, 128]])
        self._typical = np.median(cloth, axis=0)
        self._image = image

    def bare(self, points_px: NDArray[np.float64]) -> bool:
        """Whether the points (n, 2) of a place show cloth and nothing else."""
        height, width = self._image.shape[:2]
        x = points_px[:, 0].round().astype(int).clip(0, width - 1)
        y = points_px[:, 1].round().astype(int).clip(0, height - 1)
        pixels = self._image[y, x].reshape(1, -1, 3)
        if float(cv2.cvtColor(pixels, cv2.COLOR_BGR2YCrCb)[0, :, 0].std()) > _PRINT:
            return False
        return float(self.like(pixels).mean()) >= _SHARE

    def shaded(self, image: Image) -> NDArray[np.bool_]:
        """Which pixels (h, w) of a BGR picture are cloth in a shadow too deep for :meth:`like`.

        The darker the cloth, the less of its colour is left.
        """
        colours = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_BGR2YCrCb).astype(np.float32)
        luma = colours[:, :, 0] / max(float(self._typical[0]), 1.0)
        left = luma[:, :, None] * (self._typical[1:].astype(np.float32) - _GREY)
        off = np.abs(colours[:, :, 1:] - _GREY - left).max(axis=2)
        return np.asarray((off < _SHADE_CHROMA) & (luma > _DEEP) & (luma < 1.0))

    def like(self, image: Image) -> NDArray[np.bool_]:
        """Which pixels (h, w) of a BGR picture have the colour of the cloth."""
        colours = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_BGR2YCrCb).astype(np.float32)
        chroma = np.abs(colours[:, :, 1:] - self._typical[1:].astype(np.float32)).max(axis=2)
        luma = colours[:, :, 0] / max(float(self._typical[0]), 1.0)
        return np.asarray((chroma < _CHROMA) & (luma > _LUMA[0]) & (luma < _LUMA[1]))
