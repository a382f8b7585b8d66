"""The page in a real browser, watched for the moment at which a tile is painted."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import Page, async_playwright

_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")

_WATCH = """
window.painted = [];
const shown = new Map();
new MutationObserver(() => {
  for (const tile of document.querySelectorAll('[data-ref^="r"]')) {
    const ref = tile.dataset.ref, face = tile.dataset.tile;
    if (shown.get(ref) === face) continue;
    shown.set(ref, face);
    requestAnimationFrame(() =>
      window.painted.push([(performance.timeOrigin + performance.now()) / 1000, ref, face]));
  }
}).observe(document, {childList: true, subtree: true, attributes: true});
"""
"""Each face at each place of a river, with the time of the frame that first has it."""


@dataclass(frozen=True)
class Painted:
    """A tile of a river came onto the screen.

    Attributes:
        t: seconds of ``time.monotonic()``.
    """

    t: float
    seat: int
    tile: str


async def painted(page: Page) -> list[Painted]:
    """What the page has drawn so far, oldest first."""
    offset = time.time() - time.monotonic()
    rows = await page.evaluate("window.painted")
    return [Painted(t - offset, int(ref[1]), tile) for t, ref, tile in rows]


@asynccontextmanager
async def open_page(port: int) -> AsyncIterator[Page]:
    """The daemon's page in Debian's chromium, without a window."""
    chromium = await asyncio.to_thread(shutil.which, "chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(_FLAGS))
        try:
            page = await browser.new_page(viewport={"width": 1280, "height": 720})
            await page.add_init_script(_WATCH)
            await page.goto(f"http://127.0.0.1:{port}/")
            yield page
        finally:
            await browser.close()
