"""The display as a stranger sees it: a real chromium, a real broker, the daemon's own server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest

from firmware_protocol.faults import FAULTS
from firmware_protocol.messages import FaultCode
from tablectl.messages import Questions
from tests.web import views
from tests.web.stage import PASSWORD, Stage, show_view
from vision.messages import CameraState

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(90)]

Screen = Literal["tv", "phone"]
PATIENCE = 30
"""Seconds until something counts as not coming; a loaded machine needs most of them."""
SIZES: dict[Screen, tuple[int, int]] = {"tv": (1920, 1080), "phone": (390, 844)}


@asynccontextmanager
async def opened(browser: Browser, stage: Stage, screen: Screen = "phone") -> AsyncIterator[Page]:
    """The page, live, in a fresh profile; anything wrong in its console fails the test."""
    width, height = SIZES[screen]
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=screen == "phone",
        reduced_motion="reduce",
    )
    page = await context.new_page()
    page.set_default_timeout(PATIENCE * 1_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(stage.url)
    await live(page)
    yield page
    await context.close()
    assert errors == []


async def live(page: Page) -> None:
    await page.wait_for_selector('[data-testid="live"][data-live="true"]', timeout=PATIENCE * 1_000)


async def text(page: Page, testid: str) -> str:
    """What a part of the page says, on one line."""
    return re.sub(r"\s+", " ", await page.get_by_test_id(testid).first.inner_text())


async def until(condition: Callable[[], bool], within: float = 20.0) -> None:
    deadline = asyncio.get_running_loop().time() + within
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "waited too long"
        await asyncio.sleep(0.02)


async def log_in(page: Page, password: str = PASSWORD) -> None:
    await page.get_by_test_id("login-password").fill(password)
    await page.get_by_test_id("login-submit").click()


async def test_shows_the_table_and_what_is_wild(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage, "tv") as page:
        assert "五筒 5 Circles" in await text(page, "indicator")
        wild = await text(page, "wild")
        assert "財神 Fortune tile" in wild
        assert "六筒 6 Circles" in wild
        assert "41" in await text(page, "wall-count")
        assert "東風圈 East round" in await text(page, "round-wind")
        assert await text(page, "streak") == "×2"
        assert await page.get_by_test_id("turn").text_content() == "Jonas to play 輪到"
        assert await page.get_by_test_id("simulated").is_visible()
        river = page.get_by_test_id("river-0").locator("[data-tile]")
        shown = [await tile.get_attribute("data-tile") for tile in await river.all()]
        assert "".join(str(tile) for tile in shown) == "9m1z4p2s7z6m8p3z1s5p2m"
        assert await page.get_by_test_id("hand-1").get_attribute("data-count") == "13"
        unsure = page.get_by_test_id("tile-r1.9")
        assert "not sure" in str(await unsure.get_attribute("aria-label"))
        assert "二萬 2 Characters" in await text(page, "last-discard")


async def test_announces_a_call_large(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage, "tv") as page:
        assert await page.get_by_test_id("call-banner").count() == 0
        stage.show(state=views.pung_called())
        banner = page.get_by_test_id("call-banner")
        await banner.wait_for()
        said = await text(page, "call-banner")
        for part in ("碰", "Pung", "Mei", "5 Circles", "五筒", "Aiko"):
            assert part in said
        glyph = page.locator(".banner-glyph")
        size = await glyph.evaluate("element => parseFloat(getComputedStyle(element).fontSize)")
        assert size > 150, "large enough for the other end of the room"


async def test_settlement_line_by_line(browser: Browser, stage: Stage) -> None:
    show_view(stage, "settled")
    async with opened(browser, stage, "tv") as page:
        lines = await page.get_by_test_id("settlement-lines").locator("li").all_inner_texts()
        assert [line.strip() for line in lines] == list(views.settlement().lines)
        assert await page.get_by_test_id("final").is_visible()
        winner = page.get_by_test_id("win-2")
        assert "by own draw" in await winner.inner_text()
        tile = page.get_by_test_id("win-tile-2").locator("[data-tile]")
        assert await tile.get_attribute("data-tile") == "5z"
        patterns = page.get_by_test_id("patterns-2").locator("li")
        assert [await p.get_attribute("data-pattern") for p in await patterns.all()] == [
            "wild_eye", "fortune_float", "kong_bloom",
        ]  # fmt: skip
        assert "爆頭 Wild eye" in await text(page, "patterns-2")
        deltas = [await text(page, f"settled-delta-{seat}") for seat in range(4)]
        assert deltas == ["−8", "−8", "+32", "−16"]
        assert await text(page, "settled-total-3") == "−44"
        assert "Old Chen" in await text(page, "next-dealer")


async def test_question_is_answered_with_one_tap_after_login(
    browser: Browser, stage: Stage
) -> None:
    show_view(stage, "settling")
    async with opened(browser, stage) as page:
        assert await page.get_by_test_id("provisional").is_visible()
        assert await page.get_by_test_id("final").count() == 0
        assert "71 %" in await text(page, "answer-tile:5z")
        await page.get_by_test_id("answer-tile:6p").click()
        await log_in(page, "a guess")
        assert "wrong password" in await text(page, "login-error")
        assert stage.requests == []
        await log_in(page)
        await until(lambda: len(stage.requests) == 1)
        request = stage.requests[0]
        assert request.verb == "answer"
        assert request.args == {"question": "q17", "answer": "tile:6p"}
        await page.get_by_test_id("toast-done").wait_for()

        # The login lasts for the browser's session, a reload included.
        await page.reload()
        await live(page)
        await page.get_by_test_id("other-tile").click()
        await page.get_by_test_id("pick-3s").click()
        await until(lambda: len(stage.requests) == 2)
        assert stage.requests[1].args == {"question": "q17", "answer": "tile:3s"}

        stage.show(questions=Questions(), settlement=views.settlement(), state=views.settled())
        await page.get_by_test_id("final").wait_for()
        assert await page.get_by_test_id("question").count() == 0


async def test_misread_tile_is_corrected_in_two_taps(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        # A login from before the daemon was restarted: the broker refuses it, the page asks anew.
        expired = '{"username": "operator", "password": "of yesterday"}'
        await page.evaluate("text => sessionStorage.setItem('tablectl.operator', text)", expired)
        await page.get_by_test_id("tile-r2.3").click()
        await page.get_by_test_id("ranked-3p").click()
        await log_in(page)
        await until(lambda: len(stage.requests) == 1)
        assert (stage.requests[0].verb, stage.requests[0].args) == (
            "correct", {"ref": "r2.3", "tile": "3p"},
        )  # fmt: skip

        stage.refuse = "the hand is over"
        await page.get_by_test_id("tile-r2.3").click()
        await page.get_by_test_id("pick-7z").click()
        await page.get_by_test_id("toast-error").wait_for()
        assert "the hand is over" in await text(page, "toast-error")


async def test_motors_want_a_second_tap(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        await page.get_by_test_id("host").click()
        await log_in(page)
        raise_walls = page.get_by_test_id("table-raise_walls")
        await raise_walls.click()
        assert "Tap again" in await raise_walls.inner_text()
        assert stage.requests == []
        await raise_walls.click()
        await until(lambda: len(stage.requests) == 1)
        await page.get_by_test_id("table-stop").click()
        await until(lambda: len(stage.requests) == 2)
        assert [request.args for request in stage.requests] == [
            {"command": "raise_walls"}, {"command": "stop"},
        ]  # fmt: skip


async def test_issue_is_shown_as_a_toast(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        stage.show(state=views.swap_discard())
        await page.get_by_test_id("toast-issue").wait_for()
        assert "Mei 梅: not allowed: may not throw the tile just called" in await text(
            page, "toast-issue"
        )
        assert "not allowed: may not throw" in await text(page, "issues")


async def test_says_stale_when_the_broker_dies_and_comes_back_by_itself(
    browser: Browser, stage: Stage
) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage, "tv") as page:
        assert stage.broker.pid is not None
        os.kill(stage.broker.pid, signal.SIGKILL)
        await page.get_by_test_id("stale").wait_for()
        said = await text(page, "stale")
        assert re.search(r"Stale since \d\d:\d\d:\d\d", said)
        assert "no connection to the table" in said
        assert await page.get_by_test_id("live").get_attribute("data-live") == "false"
        assert await page.get_by_test_id("turn").text_content() == ""

        supervisor = asyncio.create_task(stage.broker.supervise())
        try:
            stage.show(state=views.playing(wall=40))
            await live(page)
            assert "40" in await text(page, "wall-count")
            assert await page.get_by_test_id("stale").count() == 0
        finally:
            supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervisor


async def test_says_stale_when_the_daemon_leaves(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        await stage.leave_mqtt()
        await page.get_by_test_id("stale").wait_for()
        assert "the table's computer is off line" in await text(page, "stale")
        await stage.serve_mqtt()
        await page.wait_for_timeout(300)
        assert await page.get_by_test_id("stale").is_visible()
        # The retained state is an old one: only a state that the new daemon sends is live again.
        stage.show(state=views.playing(wall=12))
        await live(page)
        assert "12" in await text(page, "wall-count")


async def test_fits_the_screen(browser: Browser, stage: Stage) -> None:
    cut = "e => Math.max(e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth)"
    show_view(stage, "playing")
    async with opened(browser, stage, "tv") as page:
        for view, shown in (
            ("hongkong", "settlement"),
            ("settling", "question"),
            ("settled", "wild-strip"),
        ):
            show_view(stage, view)
            await page.get_by_test_id(shown).wait_for()
            assert await overflow(page) == {"x": 0, "y": 0}, view
            assert await page.locator(".rest").evaluate(cut) <= 1, view
            assert await page.locator(".side").evaluate(cut) <= 1, view
        assert not await page.get_by_test_id("toolbar").is_visible()
        await page.mouse.move(400, 400)
        await page.get_by_test_id("toolbar").wait_for()
        await page.set_viewport_size({"width": 390, "height": 844})
        assert (await overflow(page))["x"] == 0


async def overflow(page: Page) -> Any:
    """Pixels by which the document is larger than the window."""
    return await page.evaluate(
        """() => {
          const d = document.scrollingElement;
          return { x: d.scrollWidth - d.clientWidth, y: d.scrollHeight - d.clientHeight };
        }"""
    )


async def test_my_seat_and_language_are_remembered(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        place = page.get_by_test_id("seat-2")
        assert await place.get_attribute("data-place") == "2"
        await page.get_by_test_id("plate-2").click()
        assert await place.get_attribute("data-place") == "0"
        await page.get_by_test_id("language").click()
        await page.wait_for_selector('html[data-lang="zh"]')
        assert "指示牌" in await text(page, "indicator")
        assert "Indicator" not in await text(page, "indicator")
        await page.reload()
        await live(page)
        await page.wait_for_selector('html[data-lang="zh"]')
        assert await place.get_attribute("data-place") == "0"
        assert "Indicator" not in await text(page, "indicator")


async def test_service_page_names_trouble_and_remedy(browser: Browser, stage: Stage) -> None:
    show_view(stage, "ailing")
    async with opened(browser, stage) as page:
        line = "a lift tray does not arrive, side 2 (the switch was not seen in time)"
        assert line in await text(page, "fault")
        await page.get_by_test_id("to-service").click()
        link = page.get_by_test_id("card-link")
        assert await link.get_attribute("data-severity") == "bad"
        assert FAULTS[FaultCode.LIFT_NOT_ARRIVED].remedy in await link.inner_text()
        camera = page.get_by_test_id("card-camera")
        assert await camera.get_attribute("data-severity") == "bad"
        assert "Check the camera's cable" in await camera.inner_text()


async def test_service_page_shows_both_ends_of_the_link(browser: Browser, stage: Stage) -> None:
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        await page.get_by_test_id("to-service").click()
        shown = " ".join((await page.get_by_test_id("card-link").inner_text()).split())
        for words in ("4.2 ms", "0x51a71e, external", "bad frames 2", "naks sent 2"):
            assert words in shown


async def test_every_state_of_the_camera_is_shown_with_its_remedy(
    browser: Browser, stage: Stage
) -> None:
    """In the bar beside the table and on the service page; no state is a bare identifier."""
    poor = {CameraState.DIM, CameraState.BRIGHT, CameraState.TINTED, CameraState.FLICKER}
    show_view(stage, "playing")
    async with opened(browser, stage) as page:
        for state in CameraState:
            well = state in (CameraState.FINE, CameraState.STARTING)
            remedy = "" if well else f"Do something about {state.value}."
            problems = () if well else (remedy,)
            stage.show(
                health=views.health(camera=state.value, camera_remedy=remedy, problems=problems),
                state=views.playing(),
            )
            bar = page.get_by_test_id("camera-problem")
            if well:
                await bar.wait_for(state="detached")
            else:
                shown = f'[data-testid="camera-problem"][data-state="{state}"]'
                await page.locator(shown).wait_for()
                said = await text(page, "camera-problem")
                assert remedy in said
                assert re.search(r"[\u4e00-\u9fff]{4}", said), "the remedy in Chinese too"
                assert "_" not in said.replace(remedy, "")
                assert (await text(page, "problems")).count(remedy) == 1
            await page.get_by_test_id("to-service").click()
            await page.locator(f'[data-testid="camera-state"][data-state="{state}"]').wait_for()
            card = page.get_by_test_id("card-camera")
            wanted = {CameraState.FINE: "good", CameraState.STARTING: "warn"}.get(
                state, "warn" if state in poor else "bad"
            )
            assert await card.get_attribute("data-severity") == wanted, state
            await page.locator(".back-link").first.click()
