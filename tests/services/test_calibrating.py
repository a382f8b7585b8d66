"""Requests of the calibration page: who may ask, what is answered, what is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest

from tablectl.services.broker import BrokerAccess, BrokerAddress, Credentials
from tablectl.services.calibrating import CalibrationDesk
from tablectl.services.http import WebServer
from tests.vision.cameras import TrueCamera
from vision.calibration import Calibration
from vision.geometry import TableGeometry
from vision.sources.frame import Image

GEOMETRY = TableGeometry()
CAMERA = TrueCamera(size=(1280, 720))
PASSWORD = "open sesame"
H = GEOMETRY.half_mm
CORNERS = CAMERA.project(np.array([(-H, -H), (H, -H), (H, H), (-H, H)]), 0.0).tolist()


@cache
def table() -> Image:
    return np.asarray(CAMERA.felt_with_markers(), np.uint8)


@dataclass
class Site:
    """A server with a camera, and who is asking."""

    web: aiohttp.ClientSession
    url: str
    out: Path
    kept: list[Calibration] = field(default_factory=list)
    picture: Image | None = None
    token: str = ""

    async def log_in(self) -> None:
        async with self.web.post(self.url + "/api/login", json={"password": PASSWORD}) as answer:
            self.token = (await answer.json())["token"]

    async def ask(
        self, what: str, wish: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        sent = {"Authorization": f"Bearer {self.token}"} | headers
        method = "GET" if wish is None else "POST"
        async with self.web.request(
            method, f"{self.url}/api/calibration/{what}", json=wish, headers=sent
        ) as answer:
            json = answer.content_type == "application/json"
            return answer.status, await answer.json() if json else {"text": await answer.text()}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with aiohttp.ClientSession() as web:
        there = Site(web, "", tmp_path / "calibration.json", picture=table())

        async def keep(calibration: Calibration) -> None:
            there.kept.append(calibration)

        desk = CalibrationDesk(
            GEOMETRY, there.out, picture=lambda: there.picture,
            current=lambda: there.kept[-1] if there.kept else None, keep=keep,
        )  # fmt: skip
        access = BrokerAccess(BrokerAddress(), {"operator": Credentials("operator", "x")})
        server = WebServer(access, "t1", PASSWORD, desk=desk)
        there.url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
        yield there
        await server.stop()


@pytest.mark.parametrize(("what", "wish"), [("picture", None), ("trial", {}), ("save", {})])
async def test_only_the_operator_may_ask(site: Site, what: str, wish: object) -> None:
    assert (await site.ask(what, wish))[0] == 401
    assert (await site.ask(what, wish, Authorization="Bearer guessed"))[0] == 401
    async with site.web.get(site.url + "/api/session") as answer:
        assert "token" not in await answer.json(), "a display gets none"
    await site.log_in()
    assert (await site.ask(what, wish, Origin="http://evil.example"))[0] == 403
    assert site.kept == []


async def test_without_a_camera_there_is_nothing_to_calibrate() -> None:
    access = BrokerAccess(BrokerAddress(), {"operator": Credentials("operator", "x")})
    server = WebServer(access, "t1", PASSWORD)
    url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
    async with aiohttp.ClientSession() as web:
        there = Site(web, url, Path())
        await there.log_in()
        assert (await there.ask("picture"))[0] == 404
    await server.stop()


async def test_picture_trial_and_save(site: Site) -> None:
    await site.log_in()
    status, shown = await site.ask("picture")
    assert (status, shown["width"], shown["height"], shown["kept"]) == (200, 1280, 720, False)
    status, tried = await site.ask("trial", {"method": "corners", "corners": CORNERS})
    assert status == 200
    assert np.abs(np.array(tried["corners"]) - CORNERS).max() < 0.2
    assert len(tried["zones"]) == 1 + 4 * 4
    assert not site.out.exists(), "a trial keeps nothing"
    status, saved = await site.ask("save", {"method": "corners", "corners": CORNERS})
    assert (status, saved["file"]) == (200, str(site.out))
    assert Calibration.load(site.out) == site.kept[0]
    status, kept = await site.ask("trial", {"method": "kept"})
    assert (status, kept["corners"]) == (200, saved["corners"])
    status, marked = await site.ask("trial", {"method": "markers", "height_mm": 1200})
    assert (status, marked["camera_height_known"]) == (200, True)


async def test_corners_whose_edges_are_hidden_are_left_where_they_were(site: Site) -> None:
    """The rest is moved to the edges, and the page is told how many."""
    await site.log_in()
    off = [[x + 3, y + 2] for x, y in CORNERS]
    status, all_four = await site.ask("trial", {"corners": off, "snap": True})
    assert (status, all_four["snapped"]) == (200, 4)
    assert np.abs(np.array(all_four["corners"]) - CORNERS).max() < 1.0
    covered = table().copy()
    (x, _), (_, y) = CORNERS[0], CORNERS[2]
    covered[int(y) - 60 :, int(x) - 60 :] = 90
    site.picture = covered
    status, two = await site.ask("trial", {"corners": off, "snap": True})
    assert (status, two["snapped"]) == (200, 2)
    found = np.array(two["corners"])
    assert np.abs(found[:2] - CORNERS[:2]).max() < 1.0
    assert np.abs(found[2:] - off[2:]).max() < 0.2


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({"method": "corners", "corners": CORNERS[:3]}, "four corners"),
        ({"method": "corners", "corners": CORNERS[::-1]}, "clockwise"),
        ({"method": "corners", "corners": "here"}, "corners"),
        ({"method": "guess"}, "method"),
        ({"method": "kept"}, "click"),
        ({"method": "corners", "corners": CORNERS, "height_mm": 3}, "height_mm"),
        ([1, 2], "request"),
    ],
)
async def test_what_is_wrong_is_said(site: Site, wish: object, text: str) -> None:
    await site.log_in()
    for what in ("trial", "save"):
        status, body = await site.ask(what, wish)
        assert status == 422
        assert text in body["error"]
    assert not site.out.exists()


async def test_no_picture_and_no_place_to_save(site: Site) -> None:
    await site.log_in()
    site.picture = None
    status, body = await site.ask("picture")
    assert (status, "no picture yet" in body["error"]) == (409, True)
    site.picture = table()
    site.out.mkdir()
    status, body = await site.ask("save", {"method": "corners", "corners": CORNERS})
    assert status == 422
    assert "can't be written" in body["error"]
    assert site.kept == []
