"""``tablectl read``: the tiles of any photograph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from tablectl.cli.common import MALFORMED, clear_errors
from tablectl.tiles import format_tile, name_en
from vision.detector import Detector, TileSet
from vision.read import LISTED, PhotoError, PhotoReading, draw_to, read_photo


def read(
    photos: Annotated[
        list[Path], typer.Argument(help="Photographs (JPEG, PNG ...).", show_default=False)
    ],
    draw: Annotated[
        Path | None, typer.Option(file_okay=False, help="Draw what was read into this folder.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=16, help="Threads of the recogniser.")] = 1,
    weights: Annotated[
        Path | None, typer.Option(help="Folder with other weights.", show_default=False)
    ] = None,
    tile_set: Annotated[
        Path | None,
        typer.Option(help="Tiles taught by `tablectl teach`.", show_default=False),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a photograph.")] = False,
) -> None:
    """Read the tiles of photographs: names, confidence, boxes in pixels, rotation."""
    failed = False
    with clear_errors():
        taught = None if tile_set is None else TileSet.load(tile_set)
        detector = Detector(weights, threads, LISTED, taught)
        if draw is not None:
            draw.mkdir(parents=True, exist_ok=True)
        quiet = as_json or len(photos) == 1
        for path in track(photos, "reading", console=Console(stderr=True), disable=quiet):
            try:
                reading = read_photo(path, detector)
            except PhotoError as error:
                typer.echo(f"tablectl: {error}", err=True)
                failed = True
                continue
            typer.echo(reading.as_json() if as_json else _describe(reading))
            if draw is not None:
                draw_to(reading, draw)
    raise typer.Exit(MALFORMED if failed else 0)


def _describe(reading: PhotoReading) -> str:
    lines = [f"{reading.image}: {len(reading.detections)} tiles"]
    for found in reading.detections:
        x1, y1, x2, y2 = (round(v) for v in found.box)
        lines.append(
            f"  {format_tile(found.tile):5s} {name_en(found.tile):18s} {found.confidence:5.1%}"
            f"  at {x1},{y1} to {x2},{y2}, turned {found.rotation:.0f}°"
        )
    return "\n".join(lines)
