"""A table whose set nobody has ever seen, its camera, and a daemon that runs at it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tablectl import channels
from tablectl.config import Config, parse
from tablectl.daemon import Daemon, Running
from tablectl.services.bus import Entry
from tablectl.tiles import parse_tiles
from vision.art.sets import ArtSet, own_art
from vision.calibration_fit import calibrate_from_markers
from vision.geometry import TableGeometry
from vision.messages import TableReading
from vision.render.renderer import Renderer
from vision.render.scene import Scene, SceneTile
from vision.render.style import Style
from vision.sources.feed import FeedServer
from vision.sources.frame import Image

GEOMETRY = TableGeometry()
SIZE = (1120, 1000)
"""Tiles 29 px wide."""
FLOWERS = parse_tiles("12345678f")
SWAPPED = dict(zip(FLOWERS, parse_tiles("58671243f"), strict=True))
"""What is drawn on the flowers of a set that nobody has ever seen."""
PERIOD_S = 0.2


def renderer() -> Renderer:
    """A table with that set."""
    own = own_art()
    faces = own.faces.copy()
    for name, drawn in SWAPPED.items():
        faces[name] = own.faces[drawn]
    return Renderer(replace(Style(), art=ArtSet("strange", faces)), GEOMETRY, SIZE)


def river_of_flowers() -> Scene:
    """All flowers before seat 0, in two rows from the left."""
    tiles = [
        SceneTile(tile, *GEOMETRY.to_table(0, (i % 4 - 1.5) * 1.3, 4.0 + 1.8 * (i // 4)))
        for i, tile in enumerate(FLOWERS)
    ]
    return Scene(tiles=tuple(tiles))


def in_rows(reading: TableReading) -> list[str]:
    """Names from the seat's left, a row after the other."""
    tiles = sorted(reading.tiles, key=lambda tile: (round(tile.y / 40), tile.x))
    return [tile.best for tile in tiles]


class Camera:
    """Looks at a rendered table until it is taken down.

    Args:
        path: socket that the daemon's camera connects to.
    """

    def __init__(self, path: Path) -> None:
        self._renderer = renderer()
        self._feed = FeedServer(path, repeats=True)
        self.bare = self._renderer.render(Scene())
        self._pictures: tuple[Image, ...] = (self.bare,)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def look(self, scene: Scene) -> None:
        self._pictures = tuple(self._renderer.render(scene) for _ in range(3))

    def _run(self) -> None:
        count = 0
        while not self._ended.wait(PERIOD_S):
            pictures = self._pictures
            self._feed.send(time.monotonic(), pictures[count % len(pictures)])
            count += 1

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._feed.close()


@contextlib.contextmanager
def camera(path: Path) -> Iterator[Camera]:
    there = Camera(path)
    try:
        yield there
    finally:
        there.close()


@dataclass
class Table:
    """A running daemon, its camera, and what it reads."""

    running: Running
    camera: Camera
    config: Config
    names: list[str] = field(default_factory=list)

    def hear(self, entry: Entry[TableReading]) -> None:
        """What lies there now."""
        self.names = in_rows(entry.message)


def configured(folder: Path, **sections: dict[str, Any]) -> Config:
    content: dict[str, Any] = {
        "state_dir": str(folder / "state"),
        "log_level": "warning",
        "camera": {
            "source": f"feed:{folder / 'camera.sock'}",
            "calibration": str(folder / "calibration.json"),
        },
        "server": {"host": "127.0.0.1", "port": 0},
        "recording": {"enabled": False},
        **sections,
    }
    return parse(content, "test", folder)


@asynccontextmanager
async def table_in(folder: Path, **sections: dict[str, Any]) -> AsyncIterator[Table]:
    """A daemon that runs at it, configured as usual but for some sections."""
    config = configured(folder, **sections)
    with camera(folder / "camera.sock") as there:
        calibrate_from_markers(there.bare, GEOMETRY).save(folder / "calibration.json")
        async with Daemon(config).run() as running:
            table = Table(running, there, config)
            running.bus.on(TableReading, table.hear, channels.READING)
            yield table
