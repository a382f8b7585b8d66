"""``tablectl teach``: one of each tile laid out before the camera, once for every set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import cv2
import typer

from tablectl.cli.common import clear_errors
from tablectl.cli.pictures import picture_size, take
from tablectl.config import CameraConfig, load
from tablectl.tiles import format_tile, name_en
from vision.calibration import Calibration
from vision.calibration_check import tile_px_in
from vision.detector import Detection, TileSet, TileSetError
from vision.read import PhotoReading, draw
from vision.sources.frame import Image
from vision.teaching import LOOKS, ContradictionError, Lesson, layout_finder, named, teach

DEFAULT_OUT: Final = Path("tiles.npz")


def teach_command(
    source: Annotated[str | None, typer.Option(help="Camera, as for `tablectl calibrate`.")] = None,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="The table's configuration: names camera, calibration and the tile set's file.",
        ),
    ] = None,
    image: Annotated[
        Path | None, typer.Option(help="A photograph by that camera instead of the camera.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Where the tile set is kept (default: where --config has it, else {DEFAULT_OUT})."
        ),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Picture size to ask of the camera.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="The camera's calibration, which tells the tiles' width.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--draw", help="Write the picture with the names drawn in.")
    ] = None,
    trust_layout: Annotated[
        bool,
        typer.Option(
            "--trust-layout", help="Also where the recogniser is sure that another tile lies there."
        ),
    ] = False,
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="Add to what the file holds: the layout in another place or light."
        ),
    ] = False,
    weights: Annotated[
        Path | None, typer.Option(help="Folder with other weights.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Teach the tiles of this table: flowers above all are read much better afterwards.

    Lay one of each on the bare felt, upright as the camera or any one seat sees them, in five rows:

    \b
      1 to 9 Characters
      1 to 9 Circles
      1 to 9 Bamboos
      East South West North White Green Red
      Spring Summer Autumn Winter Plum Orchid Chrysanthemum Bamboo

    A set without flowers has four rows; one with four of them teaches the first four. Nothing else
    lies near. Where the light differs over the table, teach once before one seat and then, with
    --add, before the opposite one. With --config the daemon finds the set when it is started next;
    else name the file as detector.tile_set in the configuration.

    Exit code 0: taught; 2: bad input, or the picture shows something else.
    """
    with clear_errors():
        camera, used = CameraConfig(), None
        if config is not None:
            settings = load(config)
            camera, weights = settings.camera, weights or settings.detector.weights
            used = settings.tile_set_path
            out = out or used
            size = size or f"{camera.width}x{camera.height}"
        out = out or DEFAULT_OUT
        source = source or (camera.source if image is None else None)
        pictures = take(source, image, picture_size(size), LOOKS)
        kept = calibration or camera.calibration
        tile_px = None if kept is None else tile_px_in(pictures[0], Calibration.load(kept))
        finder = layout_finder(weights)
        try:
            lesson = teach(pictures, finder, tile_px, trust_layout=trust_layout)
        except TileSetError as error:
            trust = " with --trust-layout" if isinstance(error, ContradictionError) else ""
            if picture is None:
                raise TileSetError(f"{error}{trust} (--draw seen.png draws what is seen)") from None
            _draw(finder.detect(pictures[0], tile_px=tile_px), pictures[0], picture)
            raise TileSetError(f"{error}{trust}") from None
        if picture is not None:
            _draw(named(lesson.layout), pictures[0], picture)
        tile_set = TileSet.load(out).with_more(lesson.tile_set) if add else lesson.tile_set
        tile_set.save(out)
    named_already = used is not None and out.resolve() == used.resolve()
    _tell(lesson, out, named_already=named_already, as_json=as_json)


def _draw(found: Sequence[Detection], image: Image, path: Path) -> None:
    reading = PhotoReading(str(path), image.shape[1], image.shape[0], tuple(found))
    try:
        done = cv2.imwrite(str(path), draw(reading, image))
    except cv2.error:
        done = False
    if not done:
        raise TileSetError(f"{path} can't be written: is the ending one of .png .jpg?")


def _tell(lesson: Lesson, out: Path, *, named_already: bool, as_json: bool) -> None:
    layout = lesson.layout
    misread = [(seen.tile, wanted) for seen, wanted in layout.tiles if seen.tile != wanted]
    if as_json:
        told = {
            "file": str(out), "tiles": len(layout.tiles), "tile_px": round(layout.tile_px, 1),
            "misread_before": {format_tile(wanted): format_tile(seen) for seen, wanted in misread},
        }  # fmt: skip
        typer.echo(json.dumps(told))
        return
    then = (
        "The daemon uses them when it is started next"
        if named_already
        else 'Name the file in the configuration: [detector] tile_set = "..."'
    )
    typer.echo(f"{out}: {len(layout.tiles)} tiles taught, {layout.tile_px:.0f} px wide. {then}")
    if misread:
        names = ", ".join(f"{name_en(wanted)} (as {name_en(seen)})" for seen, wanted in misread)
        typer.echo(f"Until now misread: {names}")
