"""The calibration page before a person: clicks, a drag, the snap to the edges, and what is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio

from tablectl.cli.calibrate_page import CalibrationPage
from vision.calibration import Calibration
from vision.calibration_check import check_calibration
from vision.geometry import TableGeometry
from vision.messages import CameraState
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.render.style import Style

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

GEOMETRY = TableGeometry()
POSE = CameraPose(tilt_deg=4.0, k1=-0.06)
PATIENCE_MS = 40_000


class Table:
    """A rendered table under a camera that the page looks through."""

    def __init__(self, page: CalibrationPage, url: str, out: Path) -> None:
        self.page, self.url, self.out = page, url, out
        self.look(POSE)

    def look(self, pose: CameraPose, *, markers: bool = False) -> None:
        style = replace(Style(camera=pose), markers=markers)
        self.renderer = Renderer(style, GEOMETRY, (1280, 720))
        self.page.picture = self.renderer.render(Scene())

    def corners(self) -> np.ndarray:
        h = GEOMETRY.half_mm
        return self.renderer.project([(-h, -h), (h, -h), (h, h), (-h, h)])

    def error_mm(self) -> float:
        """By how much the kept calibration is wrong, at most."""
        h = GEOMETRY.half_mm * 0.9
        grid = np.array([(x, y) for x in np.linspace(-h, h, 7) for y in np.linspace(-h, h, 7)])
        found = Calibration.load(self.out).to_table(self.renderer.project(grid))
        return float(np.linalg.norm(found - grid, axis=1).max())


@asynccontextmanager
async def served(out: Path) -> AsyncIterator[Table]:
    page = CalibrationPage(GEOMETRY, out)
    server = page.server()
    port = await server.start("127.0.0.1", 0)
    try:
        yield Table(page, f"http://127.0.0.1:{port}/#calibrate", out)
    finally:
        await server.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with served(tmp_path / "calibration.json") as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, table: Table) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1500, "height": 900})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(table.url)
    await page.get_by_test_id("login-password").fill(table.page.password)
    await page.get_by_test_id("login-submit").click()
    await page.get_by_test_id("picture").wait_for()
    yield page
    await context.close()
    assert errors == []


async def on_screen(page: Page, at: np.ndarray) -> tuple[float, float]:
    """Where a pixel of the picture is on the screen."""
    box = await page.get_by_test_id("picture").bounding_box()
    assert box is not None
    # The picture keeps its shape inside its element.
    scale = min(box["width"] / 1280, box["height"] / 720)
    left = box["x"] + (box["width"] - 1280 * scale) / 2
    top = box["y"] + (box["height"] - 720 * scale) / 2
    return float(left + (at[0] + 0.5) * scale), float(top + (at[1] + 0.5) * scale)


async def click_corners(page: Page, corners: np.ndarray) -> None:
    for n, corner in enumerate(corners):
        await page.mouse.click(*await on_screen(page, corner))
        await page.get_by_test_id(f"corner-{n}").wait_for()


async def snap(page: Page) -> None:
    """Let the page move the corners, and wait until it has."""
    circle = page.get_by_test_id("corner-0").locator("circle").first
    before = await circle.get_attribute("cx")
    await page.get_by_test_id("snap").click()
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while await circle.get_attribute("cx") == before:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.05)
    # The page tries the new corners out before it can keep them.
    await asyncio.sleep(1.0)


async def save(page: Page) -> None:
    button = page.get_by_test_id("save-calibration")
    await page.get_by_test_id("verdict").wait_for()
    await button.click()
    await page.get_by_test_id("saved").wait_for()


async def test_click_drag_snap_and_save(browser: Browser, table: Table) -> None:
    async with opened(browser, table) as page:
        assert "top left" in await page.get_by_test_id("hint").inner_text()
        assert await page.get_by_test_id("save-calibration").is_disabled()
        truth = table.corners()
        await click_corners(page, truth + np.array([(3, 2), (-2, 3), (-40, -30), (3, -3)]))
        await page.get_by_test_id("zone-river-0").wait_for()
        for seat in range(4):
            for zone in ("river", "wall", "exposed", "rack"):
                assert await page.get_by_test_id(f"zone-{zone}-{seat}").count() == 1
        # The third corner was far off: drag it near.
        await page.mouse.move(*await on_screen(page, truth[2] + np.array([-40, -30])))
        await page.mouse.down()
        await page.mouse.move(*await on_screen(page, truth[2] + np.array([-15, -9])), steps=4)
        await page.mouse.move(*await on_screen(page, truth[2] + np.array([3, 2])), steps=4)
        assert await page.get_by_test_id("loupe").count() == 1
        await page.mouse.up()
        await snap(page)
        await page.get_by_test_id("straight-felt").wait_for()
        await save(page)
        assert str(table.out) in await page.get_by_test_id("saved").inner_text()
    kept = Calibration.load(table.out)
    assert kept.method == "corners"
    assert np.abs(kept.felt_outline - truth).max() < 1.0
    assert table.error_mm() < 1.5


async def test_what_is_kept_is_shown_and_a_bumped_camera_is_noticed(
    browser: Browser, tmp_path: Path
) -> None:
    out = tmp_path / "kept.json"
    async with served(out) as first, opened(browser, first) as page:
        await click_corners(page, first.corners())
        await save(page)
    async with served(out) as table:
        async with opened(browser, table) as page:
            await page.get_by_test_id("zone-rack-2").wait_for()
            assert await page.get_by_test_id("notes").count() == 0 or "moved" not in (
                await page.get_by_test_id("notes").inner_text()
            )
            assert await page.get_by_test_id("save-calibration").is_disabled()
        table.look(replace(POSE, target_mm=(11.0, -8.0)))
        async with opened(browser, table) as page:
            notes = page.get_by_test_id("notes")
            await notes.wait_for()
            assert "has moved" in await notes.inner_text()
            # One corner nudged by keyboard, then all snapped to the edges.
            await page.get_by_test_id("corner-0").focus()
            await page.keyboard.press("ArrowLeft")
            await snap(page)
            await save(page)
        assert table.error_mm() < 1.5
        picture = table.page.picture
        assert picture is not None
        assert check_calibration(Calibration.load(out), picture).state is CameraState.FINE


async def test_printed_markers_from_the_page(browser: Browser, table: Table) -> None:
    async with opened(browser, table) as page:
        await page.get_by_test_id("use-markers").click()
        error = page.get_by_test_id("calibrate-error")
        await error.wait_for()
        assert re.search(r"markers .* not found", await error.inner_text())
        table.look(POSE, markers=True)
        height = round(float(table.renderer.camera.position[2]))
        await page.get_by_test_id("height").fill(str(height))
        await page.get_by_test_id("click-anew").click()
        await page.get_by_test_id("use-markers").click()
        await page.get_by_test_id("verdict").wait_for()
        await save(page)
    kept = Calibration.load(table.out)
    assert (kept.method, kept.focal_known) == ("markers", True)
    assert kept.camera_height_mm == pytest.approx(height, rel=0.02)
    assert table.error_mm() < 1.6


async def test_nobody_sees_the_camera_without_the_password(browser: Browser, table: Table) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(table.url)
    await page.get_by_test_id("login-password").fill("wrong password")
    await page.get_by_test_id("login-submit").click()
    await page.get_by_test_id("login-error").wait_for()
    assert await page.get_by_test_id("picture").count() == 0
    await context.close()
