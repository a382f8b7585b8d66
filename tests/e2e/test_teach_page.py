"""The teaching page before a person, and a real daemon that then reads by the taught names."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tablectl import channels
from tablectl.config import Config, parse
from tablectl.daemon import Daemon, Running
from tablectl.services.bus import Entry
from tablectl.simulate.felt import layout_scene
from tablectl.tiles import format_tile, parse_tiles
from tests.e2e.programs import until
from vision.art.sets import ArtSet, own_art
from vision.calibration_fit import calibrate_from_markers
from vision.detector import TileSet
from vision.geometry import TableGeometry
from vision.messages import TableReading
from vision.render.renderer import Renderer
from vision.render.scene import Scene, SceneTile
from vision.render.style import Style
from vision.sources.feed import FeedServer
from vision.sources.frame import Image
from vision.teaching import layout_finder, teach

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

GEOMETRY = TableGeometry()
SIZE = (1120, 1000)
"""Tiles 29 px wide."""
FLOWERS = parse_tiles("12345678f")
SWAPPED = dict(zip(FLOWERS, parse_tiles("58671243f"), strict=True))
"""What is drawn on the flowers of a set that nobody has ever seen."""
PATIENCE_MS = 60_000
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
        """Names in rows from the seat's left, a row after the other."""
        tiles = sorted(entry.message.tiles, key=lambda tile: (round(tile.y / 40), tile.x))
        self.names = [tile.best for tile in tiles]


def configured(folder: Path) -> Config:
    content = {
        "state_dir": str(folder / "state"),
        "log_level": "warning",
        "camera": {
            "source": f"feed:{folder / 'camera.sock'}",
            "calibration": str(folder / "calibration.json"),
        },
        "server": {"host": "127.0.0.1", "port": 0},
        "recording": {"enabled": False},
    }
    return parse(content, "test", folder)


@asynccontextmanager
async def table_in(folder: Path) -> AsyncIterator[Table]:
    config = configured(folder)
    with camera(folder / "camera.sock") as there:
        calibrate_from_markers(there.bare, GEOMETRY).save(folder / "calibration.json")
        async with Daemon(config).run() as running:
            table = Table(running, there, config)
            running.bus.on(TableReading, table.hear, channels.READING)
            yield table


@pytest_asyncio.fixture(loop_scope="module")
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with table_in(tmp_path) as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, table: Table) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1500, "height": 1000})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(table.running.url + "#service")
    await page.get_by_test_id("to-teach").click()
    await page.get_by_test_id("login-password").fill(table.running.operator_password)
    await page.get_by_test_id("login-submit").click()
    await page.get_by_test_id("teach-picture").wait_for()
    yield page
    await context.close()
    assert errors == []


async def shown(page: Page, test_id: str, holds: Callable[[str], bool]) -> str:
    """A text, once it is as it should be: pictures come once in two seconds."""
    place = page.get_by_test_id(test_id)
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while True:
            await place.wait_for()
            text = await place.inner_text()
            if holds(text):
                return text
            await asyncio.sleep(0.1)


async def test_lay_teach_play_and_forget(browser: Browser, table: Table) -> None:
    path = table.config.tile_set_path
    names = [format_tile(tile) for tile in FLOWERS]
    async with opened(browser, table) as page:
        save, forget = page.get_by_test_id("save-tiles"), page.get_by_test_id("forget-tiles")
        await shown(page, "layout-problem", lambda text: "no tiles are to be seen" in text)
        assert await save.is_disabled()
        assert await forget.is_disabled()
        assert "No set has been taught" in await page.get_by_test_id("taught").inner_text()

        # Its flowers look like others to the recogniser, so it must be told that they are right.
        table.camera.look(layout_scene(GEOMETRY, 5))
        await shown(page, "layout-found", lambda text: "42 tiles found" in text)
        await shown(page, "contradictions", lambda text: "should be Spring" in text)
        assert await page.locator(".laid.agrees").count() >= 34
        differing = page.locator(".laid.differs")
        assert await differing.count() > 2
        assert await differing.first.get_attribute("data-tile") in names
        assert await save.is_disabled()
        await page.get_by_label("The layout is right").check()
        await save.click()
        assert str(path) in await page.get_by_test_id("tiles-saved").inner_text()
        kept = TileSet.load(path)
        assert (
            f"Taught on {kept.taught}: 42 tiles" in await page.get_by_test_id("taught").inner_text()
        )

        table.camera.look(river_of_flowers())
        await until(lambda: table.names == names)
        await shown(page, "layout-problem", lambda text: "are to be seen" in text)
        assert await page.get_by_test_id("trust-layout").count() == 0

        await forget.click()
        assert path.exists(), "one tap is none"
        await forget.click()
        await shown(page, "taught", lambda text: "No set has been taught" in text)
        assert not path.exists()
        await until(lambda: len(table.names) == 8 and table.names != names)
        misread = [seen for seen, name in zip(table.names, names, strict=True) if seen != name]
        assert len(misread) > 2


async def test_a_set_taught_before_is_read_by_from_the_start(tmp_path: Path) -> None:
    """As ``tablectl teach --config`` keeps it."""
    picture = renderer().render(layout_scene(GEOMETRY, 5))
    lesson = await asyncio.to_thread(teach, [picture], layout_finder(), trust_layout=True)
    lesson.tile_set.save(configured(tmp_path).tile_set_path)
    async with table_in(tmp_path) as table:
        table.camera.look(river_of_flowers())
        await until(lambda: table.names == [format_tile(tile) for tile in FLOWERS])


async def test_nobody_sees_the_camera_without_the_password(browser: Browser, table: Table) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(table.running.url + "#teach")
    await page.get_by_test_id("login-password").fill("wrong password")
    await page.get_by_test_id("login-submit").click()
    await page.get_by_test_id("login-error").wait_for()
    assert await page.get_by_test_id("teach-picture").count() == 0
    await context.close()
