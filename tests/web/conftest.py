"""A real browser before a real broker; skipped, with the reason, where either is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tablectl.services.http import default_static
from tests.web.stage import Stage

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUM = os.environ.get("TABLECTL_CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Debian's chromium without a window."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    if shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        pytest.skip("mosquitto is not installed (apt-get install mosquitto)")
    if not (default_static() / "index.html").is_file():
        pytest.skip("the page has not been built (make web)")
    api = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    async with api.async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def stage(browser: Browser) -> AsyncIterator[Stage]:
    """Broker, web server and a scripted table."""
    async with Stage() as running:
        yield running
