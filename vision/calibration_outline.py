"""Does the cloth end where the calibration says that it ends?

For the camera that was knocked so hard that nothing is recognised any more: then cloth shows beside
the felt's outline, or something else all along its inner edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from vision.calibration import Array, Calibration
from vision.cloth import ALIKE, colours_at, most_common
from vision.sources.frame import Image

_BESIDE: Final = (0.4, 0.6, 0.8)
"""Distances from the felt's edge at which it is looked, tile widths."""
_SIDE: Final = 44
"""Places along one side."""
_LEAST: Final = 60
"""Places outside the felt that must be in the picture."""
_MORE: Final = 0.2
"""So much more cloth outside than when it was calibrated shows a moved camera."""
_EMPTY: Final = 0.2
"""So little cloth along the inner edge of all four sides does, too; no arms hide so much."""
_SAME: Final = 0.4
"""Where so much of the surroundings looked like cloth from the start, nothing can be told."""


@dataclass(frozen=True)
class Outline:
    """Shares of cloth-coloured places just outside and just inside the felt's edges."""

    outside: float | None
    inside: float


def look_along(calibration: Calibration, image: Image) -> Outline:
    """Where the cloth is, along the felt's edges."""
    h = calibration.half_mm
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-0.95 * h, 0.95 * h, 40)]), axis=-1)
    felt, _ = colours_at(image, calibration.to_image(grid.reshape(-1, 2)))
    cloth = most_common(felt)
    outside, seen = colours_at(image, calibration.to_image(_beside(calibration, 1)))
    inside, _ = colours_at(image, calibration.to_image(_beside(calibration, -1)))
    share = _alike(outside, cloth) if seen.sum() >= _LEAST else None
    return Outline(share, _alike(inside, cloth) if len(inside) else 0.0)


def lies_elsewhere(calibration: Calibration, image: Image) -> bool:
    """Whether the felt is clearly not where the calibration puts it."""
    if calibration.around is None or calibration.around > _SAME:
        return False
    now = look_along(calibration, image)
    more = now.outside is not None and now.outside > calibration.around + _MORE
    return more or now.inside < _EMPTY


def _beside(calibration: Calibration, sign: int) -> Array:
    """Table mm (n, 2) of places along all four edges, outside (1) or inside (-1)."""
    h, w = calibration.half_mm, calibration.tile_width_mm
    along = np.linspace(-0.95 * h, 0.95 * h, _SIDE)
    places = []
    for distance in _BESIDE:
        at = np.full(_SIDE, h + sign * distance * w)
        places += [(along, at), (along, -at), (at, along), (-at, along)]
    return np.concatenate([np.column_stack(pair) for pair in places])


def _alike(values: Array, cloth: Array) -> float:
    near = np.abs(values[:, 1:] - cloth[1:]).max(axis=1) < ALIKE
    return float((near & (values[:, 0] > 0.3 * cloth[0])).mean())
