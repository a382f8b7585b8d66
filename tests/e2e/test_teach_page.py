"""The teaching page before a person, and a real daemon that then reads by the taught names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tablectl.tiles import format_tile
from tests.e2e.programs import until
from tests.e2e.strange_tiles import FLOWERS, GEOMETRY, Table, river_of_flowers, table_in
from vision.detector import TileSet
from vision.render.layout import layout_scene

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

PATIENCE_MS = 60_000


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
