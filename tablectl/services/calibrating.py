"""What the page ``#calibrate`` asks for: the newest picture, trying a calibration, saving it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field

from tablectl.services.desk import given, jpeg, understood
from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import check_calibration, score_calibration
from vision.calibration_fit import (
    calibrate_from_corners,
    calibrate_from_markers,
    corners_snap,
)
from vision.calibration_zones import straight_felt, zone_outlines
from vision.geometry import TableGeometry
from vision.sources.frame import Image

FELT_SIDE: Final = 560
"""Pixels a side of the straightened felt."""

log = structlog.get_logger(__name__)

Point = tuple[float, float]


class Trial(BaseModel):
    """What a person wants to try: clicked corners, the printed markers, or what is kept.

    Attributes:
        method: how to calibrate.
        corners: four corners in px, top left, top right, bottom right, bottom left, seat 0 at the
            bottom; only for ``corners``.
        snap: move the corners to where the felt's edges meet.
        height_mm: lens above the felt by tape measure, where known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal["corners", "markers", "kept"] = "corners"
    corners: tuple[Point, ...] = ()
    snap: bool = False
    height_mm: Annotated[float, Field(ge=200, le=5000)] | None = None


@dataclass(frozen=True)
class CalibrationDesk:
    """Tries and keeps calibrations of one camera.

    Attributes:
        geometry: of the table.
        path: file that the calibration is kept in.
        picture: the newest picture, None before the first.
        current: the calibration in use, None before the first.
        keep: called with a calibration that has been saved, to use it from now on.
    """

    geometry: TableGeometry
    path: Path
    picture: Callable[[], Image | None]
    current: Callable[[], Calibration | None]
    keep: Callable[[Calibration], Awaitable[None]]

    async def show(self) -> dict[str, Any]:
        """The newest picture as JPEG, and what is kept.

        Raises:
            NoPictureError: there is none yet.
        """
        image = given(self.picture())
        encoded = await asyncio.to_thread(jpeg, image)
        kept = self.current()
        return {
            "width": image.shape[1],
            "height": image.shape[0],
            "jpeg": encoded,
            "kept": kept is not None,
            "tile_width_mm": self.geometry.tile_width_mm,
            "seats": self.geometry.seats,
        }

    async def attempt(self, wish: object) -> dict[str, Any]:
        """Work a trial out without keeping it.

        Raises:
            CalibrationError, DeskError: it can't be done; says why and what to do.
        """
        trial, image = understood(Trial, wish), given(self.picture())
        calibration = await asyncio.to_thread(self._calibrate, trial, image)
        told = await asyncio.to_thread(self._describe, calibration, image)
        if trial.snap:
            told["snapped"] = await asyncio.to_thread(corners_snap, image, calibration)
        return told

    async def save(self, wish: object) -> dict[str, Any]:
        """Work a trial out, keep it in the file, and use it from now on.

        Raises:
            CalibrationError, DeskError: it can't be done, or the file can't be written.
        """
        trial, image = understood(Trial, wish), given(self.picture())
        calibration = await asyncio.to_thread(self._calibrate, trial, image)
        try:
            await asyncio.to_thread(calibration.save, self.path)
        except OSError as error:
            raise CalibrationError(f"{self.path} can't be written: {error.strerror}") from None
        await self.keep(calibration)
        log.info("calibrated", file=str(self.path), method=calibration.method)
        told = await asyncio.to_thread(self._describe, calibration, image)
        return told | {"file": str(self.path)}

    def _calibrate(self, trial: Trial, image: Image) -> Calibration:
        if trial.method == "markers":
            return calibrate_from_markers(image, self.geometry, camera_height_mm=trial.height_mm)
        if trial.method == "corners":
            return calibrate_from_corners(
                image, trial.corners, self.geometry, camera_height_mm=trial.height_mm,
                snap=trial.snap,
            )  # fmt: skip
        kept = self.current()
        if kept is None:
            raise CalibrationError("no calibration is kept yet: click the felt's four corners")
        if kept.image_size != (image.shape[1], image.shape[0]):
            raise CalibrationError(check_calibration(kept, image).remedy)
        return kept

    def _describe(self, calibration: Calibration, image: Image) -> dict[str, Any]:
        score = score_calibration(calibration, image)
        check = check_calibration(calibration, image)
        return {
            "method": calibration.method,
            "corners": _rounded(calibration.felt_outline),
            "zones": [
                {"zone": o.zone.value, "seat": o.seat, "points": _rounded(o.points)}
                for o in zone_outlines(calibration, self.geometry)
            ],
            "score": score.score,
            "notes": [*([check.remedy] if check.remedy else []), *score.notes],
            "tile_px": round(score.tile_px, 1),
            "reprojection_px": calibration.reprojection_px,
            "k1": calibration.k1,
            "k2": calibration.k2,
            "camera_height_mm": round(calibration.camera_height_mm),
            "camera_height_known": calibration.focal_known,
            "felt": jpeg(straight_felt(image, calibration, FELT_SIDE)),
        }


def _rounded(points: Any) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]
