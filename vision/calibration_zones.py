"""What a calibration means, to be looked at: zones drawn on the picture, the felt seen straight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from vision.calibration import Array, Calibration
from vision.geometry import TableGeometry, Zone
from vision.sources.frame import Image

_COLOURS: Final = ((80, 220, 255), (120, 255, 120), (255, 190, 90), (230, 130, 255))
"""Blue, green, red by seat."""
_BANDS: Final = (Zone.RIVER, Zone.WALL, Zone.EXPOSED, Zone.RACK)


@dataclass(frozen=True)
class ZoneOutline:
    """One zone of one seat in the picture.

    Attributes:
        zone: which.
        seat: whose; None for the panel.
        points: closed outline, (n, 2) px, dense enough for a lens that bends.
    """

    zone: Zone
    seat: int | None
    points: Array


def zone_outlines(calibration: Calibration, geometry: TableGeometry) -> list[ZoneOutline]:
    """Every zone as the calibration puts it, the panel first."""
    w, p = geometry.tile_width_mm, geometry.panel
    square = np.array([(-p, -p), (p, -p), (p, p), (-p, p)]) * w
    found = [ZoneOutline(Zone.PANEL, None, calibration.to_image(_dense(square)))]
    for seat in range(geometry.seats):
        for zone in _BANDS:
            near, far = getattr(geometry, zone.value)
            # A seat's share of a band ends at the diagonals, where the next seat's begins.
            corners = ((-near, near), (near, near), (far, far), (-far, far))
            mm = np.array([geometry.to_table(seat, x, y) for x, y in corners])
            found.append(ZoneOutline(zone, seat, calibration.to_image(_dense(mm))))
    return found


def _dense(corners: Array, steps: int = 12) -> Array:
    """Points along a polygon's sides."""
    share = np.linspace(0, 1, steps, endpoint=False)[:, None]
    ends = np.roll(corners, -1, axis=0)
    return np.concatenate([a + share * (b - a) for a, b in zip(corners, ends, strict=True)])


def draw_zones(image: Image, calibration: Calibration, geometry: TableGeometry) -> Image:
    """A copy of the picture with each seat's zones in that seat's colour, named."""
    canvas = image.copy()
    thickness = max(1, round(image.shape[1] / 1300))
    for outline in zone_outlines(calibration, geometry):
        colour = (220, 220, 220) if outline.seat is None else _COLOURS[outline.seat]
        points = np.round(outline.points).astype(np.int32)
        cv2.polylines(canvas, [points], True, colour, thickness, cv2.LINE_AA)
        if outline.seat is not None:
            label = f"{outline.seat + 1} {outline.zone.value}"
            x, y = outline.points.mean(axis=0)
            at = (int(x) - 4 * len(label), int(y))
            for width, shade in ((3 * thickness, (0, 0, 0)), (thickness, colour)):
                cv2.putText(
                    canvas, label, at, cv2.FONT_HERSHEY_SIMPLEX, 0.45 * thickness, shade, width,
                    cv2.LINE_AA,
                )  # fmt: skip
    return canvas


def straight_felt(image: Image, calibration: Calibration, side_px: int = 720) -> Image:
    """The felt seen from straight above without distortion, (side_px, side_px, 3)."""
    h = calibration.half_mm
    steps = np.linspace(-h, h, side_px)
    mm = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    px = calibration.to_image(mm).reshape(side_px, side_px, 2).astype(np.float32)
    flat = cv2.remap(
        image,
        np.ascontiguousarray(px[..., 0]),
        np.ascontiguousarray(px[..., 1]),
        cv2.INTER_LINEAR,
    )
    return np.asarray(flat, dtype=np.uint8)
