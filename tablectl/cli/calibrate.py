"""``tablectl calibrate``: from pixels to table millimetres, once for every mounted camera."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import cv2
import typer

from tablectl.cli.calibrate_page import serve_page
from tablectl.cli.pictures import picture_size, take
from tablectl.services.http import ServerError
from vision.calibration import Calibration, CalibrationError
from vision.calibration_check import CalibrationScore, check_calibration, score_calibration
from vision.calibration_fit import calibrate_from_corners, calibrate_from_markers
from vision.calibration_zones import draw_zones
from vision.geometry import TableGeometry
from vision.marker_sheet import write_sheet
from vision.messages import CameraState
from vision.sources import SourceError
from vision.sources.frame import Image

FAILED, MALFORMED = 1, 2


def calibrate(
    source: Annotated[
        str | None,
        typer.Option(help="Camera: v4l2:/dev/v4l/by-id/..., rtsp://..., file:..., folder:..."),
    ] = None,
    *,
    image: Annotated[
        Path | None, typer.Option(help="A photograph by that camera instead of the camera.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the calibration is kept.")] = Path(
        "calibration.json"
    ),
    browser: Annotated[
        bool,
        typer.Option(
            "--browser", help="Serve a page on which the felt's corners are clicked and dragged."
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of that page; 0 for a free one.")
    ] = 8765,
    corners: Annotated[
        str | None,
        typer.Option(
            metavar="'X,Y X,Y X,Y X,Y'",
            help="Corners of the felt in px instead of markers: top left, top right, bottom right, "
            "bottom left, seat 1 at the bottom.",
        ),
    ] = None,
    height: Annotated[
        float | None, typer.Option(help="Lens above the felt in mm, by tape measure.")
    ] = None,
    snap: Annotated[
        bool, typer.Option("--snap", help="Move the given corners to where the felt's edges meet.")
    ] = False,
    k1: Annotated[
        float | None,
        typer.Option(help="Lens distortion where known (else measured where edges are seen)."),
    ] = None,
    tile_width: Annotated[float, typer.Option(help="Width of a tile's face in mm.")] = 28.0,
    half: Annotated[
        float | None, typer.Option(help="Half the side of the felt in mm (default 15.6 tiles).")
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Picture size to ask of the camera.")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(help="Write the printable markers (.pdf, .svg or .png) and end.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the kept calibration with the picture and end.")
    ] = False,
    draw: Annotated[
        Path | None, typer.Option(help="Write the picture with the table's zones drawn in.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Measure where the camera is over the table, from printed markers or clicked corners.

    A running daemon has the same page under #calibrate.

    Exit code 0: done, or the check holds; 1: the camera has moved or the like; 2: bad input or no
    markers found.
    """
    try:
        geometry = _geometry(tile_width, half)
        if sheet is not None:
            write_sheet(sheet, geometry)
            typer.echo(f"{sheet}: print at 100 % and lay the markers in the felt's corners")
            return
        if browser:
            serve_page(geometry, out, source, image, picture_size(size), port)
            return
        picture = take(source, image, picture_size(size))[-1]
        if check:
            _check(Calibration.load(out), picture, as_json=as_json)
            return
        if corners is None:
            result = calibrate_from_markers(picture, geometry, camera_height_mm=height, k1=k1)
        else:
            result = calibrate_from_corners(
                picture, _corners(corners), geometry, camera_height_mm=height, k1=k1, snap=snap
            )
        _save(result, out)
        if draw is not None:
            _draw(result, geometry, picture, draw)
    except (CalibrationError, SourceError, ServerError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    _tell(result, score_calibration(result, picture), out, as_json=as_json)


def _geometry(tile_width: float, half: float | None) -> TableGeometry:
    if not 10 <= tile_width <= 80:
        raise CalibrationError(f"--tile-width {tile_width:g} mm: tiles are 10 to 80 mm wide")
    if half is None:
        return TableGeometry(tile_width_mm=tile_width)
    if not 200 <= half <= 800:
        raise CalibrationError(f"--half {half:g} mm: half a felt is 200 to 800 mm")
    return TableGeometry(tile_width_mm=tile_width, half=half / tile_width)


def _corners(text: str) -> list[tuple[float, float]]:
    try:
        pairs = [part.split(",") for part in text.split()]
        return [(float(x), float(y)) for x, y in pairs]
    except ValueError:
        raise CalibrationError(
            f"--corners {text!r} is not four X,Y pairs such as '412,95 1508,97 1560,1004 371,1001'"
        ) from None


def _save(calibration: Calibration, out: Path) -> None:
    try:
        calibration.save(out)
    except OSError as error:
        raise CalibrationError(f"{out} can't be written: {error.strerror}") from None


def _check(calibration: Calibration, picture: Image, *, as_json: bool) -> None:
    found = check_calibration(calibration, picture)
    if as_json:
        shift = None if found.shift_px is None else round(found.shift_px, 1)
        typer.echo(json.dumps({"state": found.state, "shift_px": shift, "remedy": found.remedy}))
    elif found.state is CameraState.FINE and found.shift_px is None:
        typer.echo("can't tell: neither markers nor the felt's corners are to be seen")
    elif found.state is CameraState.FINE:
        typer.echo(f"holds: the view has moved by {found.shift_px:.1f} px")
    else:
        typer.echo(found.remedy)
    if found.state is not CameraState.FINE:
        raise typer.Exit(FAILED)


def _tell(calibration: Calibration, score: CalibrationScore, out: Path, *, as_json: bool) -> None:
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "file": str(out),
                    "score": score.score,
                    "tile_px": round(score.tile_px, 1),
                    "reprojection_px": calibration.reprojection_px,
                    "k1": calibration.k1,
                    "k2": calibration.k2,
                    "camera_height_mm": round(calibration.camera_height_mm),
                    "camera_height_known": calibration.focal_known,
                    "notes": score.notes,
                }
            )
        )
        return
    typer.echo(
        f"{out}: score {score.score} of 100; tiles {score.tile_px:.0f} px wide; points fit to "
        f"{calibration.reprojection_px:.2f} px; lens k1 {calibration.k1:+.3f}, "
        f"k2 {calibration.k2:+.3f}"
    )
    for note in score.notes:
        typer.echo(f"  {note}")


def _draw(calibration: Calibration, geometry: TableGeometry, picture: Image, path: Path) -> None:
    """The picture with every seat's zones, as the calibration puts them."""
    try:
        done = cv2.imwrite(str(path), draw_zones(picture, calibration, geometry))
    except cv2.error:
        done = False
    if not done:
        raise CalibrationError(f"{path} can't be written: is the ending one of .png .jpg?")
