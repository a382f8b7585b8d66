"""A visitor and the host before the page of a real daemon, while a simulated table is played."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import pytest

from tablectl import channels
from tablectl.daemon import Running
from tablectl.demo import DemoOptions, open_demo
from tablectl.messages import Question, SettlementView
from tablectl.services.bus import Entry
from tablectl.simulate.host import reply
from tablectl.simulate.process import Simulator
from tablectl.tiles import NAMES, parse_tile
from tests.e2e.programs import until
from vision.art.sets import own_art

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(580),
    pytest.mark.flaky(reruns=1),  # a browser and a simulation share the machine's two cores
]

NEARLY_NEVER_SURE = 1 - 1e-12
SEEDS = {"hongkong": 8, "hangzhou": 1}
"""Hong Kong: North wins with Spring, another seat has Winter, which would be North's own flower."""
PATIENCE_MS = 280_000
"""For what must happen in the game; a loaded machine needs most of it."""


class Visit:
    """The page of a running demonstration, opened before the first tile is laid."""

    def __init__(self, page: Page, simulator: Simulator, running: Running) -> None:
        self.page = page
        self.simulator = simulator
        self.running = running
        self.settlements: list[SettlementView] = []
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        running.bus.on(SettlementView, self._on_settlement, channels.SETTLEMENT)

    def _on_settlement(self, entry: Entry[SettlementView]) -> None:
        self.settlements.append(entry.message)

    @property
    def open(self) -> tuple[Question, ...]:
        return self.running.game.referee.open_questions

    async def sees_the_indicator(self) -> None:
        tile = self.page.get_by_test_id("indicator").locator("[data-tile]").first
        await tile.wait_for()
        assert re.fullmatch(r"[1-9][mpszf]", str(await tile.get_attribute("data-tile")))
        assert await self.page.get_by_test_id("wild").locator("[data-tile]").count() > 0

    async def sees_a_call(self) -> None:
        banner = self.page.get_by_test_id("call-banner")
        await banner.wait_for()
        said = await banner.inner_text()
        assert any(word in said for word in ("吃", "碰", "槓", "胡")), said

    async def answers_everything(self) -> int:
        """Answer each card with what really lies there, until the settlement is final."""
        settled = self.page.locator('[data-testid="final"], [data-testid="question"]').first
        answered = 0
        for _ in range(300):
            await settled.wait_for()
            final = await self.page.get_by_test_id("final").count()
            if not self.open and final:
                return answered
            if not self.open or not await self.answers(self.open[0]):
                await asyncio.sleep(0.1)  # the page is about to show what the referee has said
                continue
            answered += 1
        pytest.fail(f"still asking: {self.open}")

    async def answers(self, question: Question) -> bool:
        """Tap the true answer on the card, if this question is the one that it shows."""
        look = await asyncio.to_thread(self.simulator.look)
        wish = reply(question, self.running.game.referee, look)
        assert wish is not None, question
        answer = str(wish[1]["answer"])
        card = self.page.get_by_test_id("question")
        if not await card.count() or question.text_en not in await card.inner_text():
            return False
        tap = card.get_by_test_id(f"answer-{answer}")
        if await tap.count():
            await tap.click()
        else:
            await card.get_by_test_id("other-tile").click()
            await self.page.get_by_test_id(f"pick-{answer.removeprefix('tile:')}").click()
        await self.logs_in_if_asked()
        await until(lambda: all(q.id != question.id for q in self.open))
        return True

    async def logs_in_if_asked(self) -> None:
        from playwright.async_api import TimeoutError as NotAskedError

        field = self.page.get_by_test_id("login-password")
        with contextlib.suppress(NotAskedError):
            await field.wait_for(timeout=1_500)
        if await field.count():
            await field.fill(self.running.operator_password)
            await self.page.get_by_test_id("login-submit").click()

    async def sees_the_settlement(self) -> None:
        view = self.settlements[-1]
        assert view.final
        lines = self.page.get_by_test_id("settlement-lines").locator("li")
        assert [line.strip() for line in await lines.all_inner_texts()] == list(view.lines)
        assert len(view.lines) > 1
        for seat, points in enumerate(view.delta):
            shown = await self.page.get_by_test_id(f"settled-delta-{seat}").inner_text()
            assert int(re.sub(r"[^\d-]", "", shown.replace("−", "-"))) == points

    async def truth(self) -> tuple[int, ...]:
        await asyncio.to_thread(self.simulator.show, 1)
        await until(self.simulator.finished)
        (hand,) = await asyncio.to_thread(self.simulator.truth)
        return hand.delta


@asynccontextmanager
async def visit(
    browser: Browser, folder: Path, rules: str, art: Path | None = None
) -> AsyncIterator[Visit]:
    """The page of a one-hand demonstration that asks about whatever could be otherwise."""
    options = DemoOptions(
        rules=rules,
        hands=1,
        seed=SEEDS[rules],
        fast=True,
        port=0,
        keep=folder,
        art=art,
        sure=NEARLY_NEVER_SURE,
    )
    async with open_demo(options) as (simulator, running):
        await running.mqtt.wait_connected()
        page = await browser.new_page(viewport={"width": 1920, "height": 1080})
        visiting = Visit(page, simulator, running)
        await page.goto(running.url)
        await page.wait_for_selector('[data-testid="live"][data-live="true"]')
        await asyncio.to_thread(simulator.play)
        yield visiting
        await page.close()
        assert visiting.errors == []


async def test_a_visitor_sees_indicator_call_and_settlement(
    browser: Browser, tmp_path: Path
) -> None:
    async with visit(browser, tmp_path, "hangzhou") as visiting:
        await asyncio.gather(visiting.sees_the_indicator(), visiting.sees_a_call())
        await visiting.answers_everything()
        await visiting.sees_the_settlement()
        assert visiting.settlements[-1].delta == await visiting.truth()


def worn_set(folder: Path) -> Path:
    """Our own faces, but nobody can tell Spring from Winter any more."""
    folder.mkdir()
    faces = own_art().faces.astype(float)
    pair = [int(parse_tile("1f")), int(parse_tile("4f"))]
    faces[pair] = faces[pair].mean(axis=0)
    for name, face in zip(NAMES, faces, strict=True):
        cv2.imwrite(str(folder / f"{name}.png"), face.astype("uint8"))
    return folder


async def test_the_host_answers_a_question_card(browser: Browser, tmp_path: Path) -> None:
    art = worn_set(tmp_path / "art")
    async with visit(browser, tmp_path / "kept", "hongkong", art) as visiting:
        asked = await visiting.answers_everything()
        assert asked > 0, "a flower that could be another must have been asked about"
        await visiting.sees_the_settlement()
        assert visiting.settlements[-1].delta == await visiting.truth()
