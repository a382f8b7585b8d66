"""Requests of the teaching page: who may ask, what is seen, what is taught, kept and forgotten."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import cv2
import numpy as np
import pytest

from tablectl.config import parse
from tablectl.services.broker import BrokerAccess, BrokerAddress, Credentials
from tablectl.services.http import WebServer
from tablectl.services.setup import kept_tile_set
from tablectl.services.teaching import TeachingDesk
from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_markers
from vision.detector import TileSet, TileSetError
from vision.geometry import TableGeometry
from vision.render.layout import layout_scene
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.render.style import Style
from vision.sources.frame import Image

GEOMETRY = TableGeometry()
SIZE = (1120, 1000)
"""Tiles 29 px wide."""
PASSWORD = "open sesame"
RENDERER = Renderer(Style(), GEOMETRY, SIZE)


@cache
def pictures(kind: str) -> tuple[Image, ...]:
    """Three of a view: the layout, one with two tiles changed for each other, or a bare table."""
    scene = layout_scene(GEOMETRY, 5)
    tiles = list(scene.tiles)
    if kind == "bare":
        tiles = []
    elif kind == "swapped":
        tiles[11], tiles[14] = (
            replace(tiles[11], tile=tiles[14].tile),
            replace(tiles[14], tile=tiles[11].tile),
        )
    elif kind == "short":
        del tiles[:9]
    view = Scene(tiles=tuple(tiles))
    return tuple(np.asarray(RENDERER.render(view), np.uint8) for _ in range(3))


@cache
def calibration() -> Calibration:
    return calibrate_from_markers(pictures("bare")[0], GEOMETRY)


@dataclass
class Site:
    """A server with a camera, and who is asking."""

    web: aiohttp.ClientSession
    url: str
    desk: TeachingDesk | None
    used: list[TileSet | None] = field(default_factory=list)
    pictures: tuple[Image, ...] = ()
    token: str = ""

    async def log_in(self) -> None:
        async with self.web.post(self.url + "/api/login", json={"password": PASSWORD}) as answer:
            self.token = (await answer.json())["token"]

    async def ask(
        self, what: str, wish: object = None, body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        sent = {"Authorization": f"Bearer {self.token}"} | headers
        content: dict[str, Any] = {"data": body} if body is not None else {"json": wish or {}}
        url = f"{self.url}/api/tile-set/{what}"
        async with self.web.post(url, headers=sent, **content) as answer:
            json = answer.content_type == "application/json"
            return answer.status, await answer.json() if json else {"text": await answer.text()}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with aiohttp.ClientSession() as web:
        there = Site(web, "", None, pictures=pictures("layout"))

        async def use(taught: TileSet | None) -> None:
            there.used.append(taught)

        there.desk = TeachingDesk(
            tmp_path / "kept" / "tiles.npz", named=False, pictures=lambda: there.pictures,
            current=calibration, use=use,
        )  # fmt: skip
        access = BrokerAccess(BrokerAddress(), {"operator": Credentials("operator", "x")})
        server = WebServer(access, "t1", PASSWORD, teaching=there.desk)
        there.url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
        yield there
        await server.stop()


@pytest.mark.parametrize("what", ["trial", "save", "forget"])
async def test_only_the_operator_may_ask(site: Site, what: str) -> None:
    assert (await site.ask(what))[0] == 401
    assert (await site.ask(what, Authorization="Bearer guessed"))[0] == 401
    await site.log_in()
    assert (await site.ask(what, Origin="http://evil.example"))[0] == 403
    assert site.used == []


async def test_without_a_camera_there_is_nothing_to_teach() -> None:
    access = BrokerAccess(BrokerAddress(), {"operator": Credentials("operator", "x")})
    server = WebServer(access, "t1", PASSWORD)
    url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
    async with aiohttp.ClientSession() as web:
        there = Site(web, url, None)
        await there.log_in()
        assert (await there.ask("trial"))[0] == 404
    await server.stop()


@pytest.mark.parametrize("what", ["trial", "save", "forget"])
async def test_what_is_not_understood_is_refused(site: Site, what: str) -> None:
    await site.log_in()
    assert (await site.ask(what, body="{"))[0] == 400
    status, said = await site.ask(what, {"trust": True})
    assert (status, "trust: Extra inputs" in said["error"]) == (422, True)
    if what != "forget":
        status, said = await site.ask(what, {"trust_layout": "perhaps"})
        assert (status, "trust_layout" in said["error"]) == (422, True)
    assert site.used == []


async def test_trial_save_and_forget(site: Site) -> None:
    assert site.desk is not None
    path = site.desk.path
    await site.log_in()
    status, tried = await site.ask("trial")
    assert (status, tried["problem"], tried["contradictions"]) == (200, "", [])
    assert (tried["width"], tried["height"]) == SIZE
    assert len(tried["tiles"]) == 42
    first = tried["tiles"][0]
    assert (first["wanted"], first["seen"], first["agrees"]) == ("1m", "1m", True)
    assert first["confidence"] > 0.5
    assert first["box"][2] - first["box"][0] == pytest.approx(29, abs=4)
    assert tried["tile_px"] == pytest.approx(29, rel=0.1)
    for tile in tried["tiles"]:
        assert tile["agrees"] == (tile["wanted"] == tile["seen"])
    shown = cv2.imdecode(np.frombuffer(base64.b64decode(tried["jpeg"]), np.uint8), 1)
    assert shown is not None
    assert shown.shape == pictures("layout")[0].shape
    assert (tried["taught"], path.exists(), site.used) == (None, False, [])

    status, saved = await site.ask("save")
    kept = TileSet.load(path)
    assert (status, saved["taught"]) == (200, {
        "on": kept.taught, "tiles": 42, "tile_px": kept.tile_px, "file": str(path),
    })  # fmt: skip
    (used,) = site.used
    assert used is not None
    np.testing.assert_array_equal(used.crops, kept.crops)
    looks = used.crops.reshape(3, 42, *used.crops.shape[1:])
    assert (looks[0] != looks[1]).any(), "of three pictures"
    assert (await site.ask("trial"))[1]["taught"] == saved["taught"]

    status, forgotten = await site.ask("forget")
    assert (status, forgotten) == (200, {"taught": None, "note": ""})
    assert (path.exists(), site.used[-1]) == (False, None)
    assert (await site.ask("forget"))[0] == 200, "there is nothing to remove"
    assert (await site.ask("trial"))[1]["taught"] is None


async def test_what_is_no_layout_is_shown_and_not_taught(site: Site) -> None:
    await site.log_in()
    site.pictures = pictures("short")
    status, tried = await site.ask("trial")
    assert (status, tried["tile_px"]) == (200, None)
    assert "rows of 9, 9, 7, 8 tiles are to be seen" in tried["problem"]
    assert len(tried["tiles"]) >= 33
    assert all(tile["wanted"] is None and tile["agrees"] for tile in tried["tiles"])
    status, said = await site.ask("save", {"trust_layout": True})
    assert (status, said["error"]) == (422, tried["problem"])
    site.pictures = pictures("bare")
    assert "no tiles are to be seen" in (await site.ask("trial"))[1]["problem"]
    assert site.used == []


async def test_what_was_taught_before_is_added_to_only_when_told_to(site: Site) -> None:
    assert site.desk is not None
    await site.log_in()
    await site.ask("save")
    once = len(TileSet.load(site.desk.path).kinds)
    await site.ask("save", {"add": True})
    assert len(TileSet.load(site.desk.path).kinds) == 2 * once
    await site.ask("save", {"add": False})
    assert len(TileSet.load(site.desk.path).kinds) == once


async def test_contradictions_are_taught_only_when_told_to(site: Site) -> None:
    await site.log_in()
    site.pictures = pictures("swapped")
    status, tried = await site.ask("trial")
    assert (status, tried["problem"]) == (200, "")
    assert tried["contradictions"] == [
        {"row": 2, "tile": 3, "wanted": "3p", "seen": "6p"},
        {"row": 2, "tile": 6, "wanted": "6p", "seen": "3p"},
    ]
    assert [tile["wanted"] for tile in tried["tiles"] if not tile["agrees"]][:2] == ["3p", "6p"]
    status, said = await site.ask("save")
    assert status == 422
    assert "row 2, tile 3 should be 3p and looks like 6p" in said["error"]
    assert "--" not in said["error"], "options are of the command line"
    assert site.used == []
    status, saved = await site.ask("save", {"trust_layout": True})
    assert (status, saved["taught"]["tiles"]) == (200, 42)


async def test_no_picture_another_size_and_no_place_to_save(site: Site) -> None:
    assert site.desk is not None
    await site.log_in()
    site.pictures = ()
    for what in ("trial", "save"):
        status, said = await site.ask(what)
        assert (status, "no picture yet" in said["error"]) == (409, True)
    site.pictures = tuple(picture[:800, :900] for picture in pictures("layout"))
    status, said = await site.ask("trial")
    assert (status, "900x800" in said["error"]) == (422, True)
    site.pictures = pictures("layout")
    site.desk.path.mkdir(parents=True)
    status, said = await site.ask("save")
    assert (status, "can't be written" in said["error"]) == (422, True)
    status, said = await site.ask("forget")
    assert (status, "can't be removed" in said["error"]) == (422, True)
    assert site.used == []


async def test_missing_weights_are_told(site: Site, tmp_path: Path) -> None:
    assert site.desk is not None
    site.desk.weights = tmp_path
    await site.log_in()
    status, said = await site.ask("trial")
    assert (status, "no tile recogniser weights" in said["error"]) == (422, True)


async def test_a_set_that_the_configuration_names_is_missed_when_forgotten(
    tmp_path: Path,
) -> None:
    used: list[TileSet | None] = []

    async def use(taught: TileSet | None) -> None:
        used.append(taught)

    path = tmp_path / "tiles.npz"
    path.write_bytes(b"")
    taught = TileSet(np.zeros((1, 4, 8, 8), np.uint8), np.zeros(1, np.int64), "2026-12-01", 29.0)
    desk = TeachingDesk(
        path, named=True, pictures=tuple, current=lambda: None, use=use, taught=taught
    )
    assert desk.problem == ""
    note = (await desk.forget({}))["note"]
    assert str(path) in note
    assert "that line is taken out" in note
    assert used == [None]
    assert f"{path} is missing: teach it at #teach or with `tablectl teach`" in desk.problem
    desk.named = False
    assert desk.problem == "", "nobody has asked for it"


def test_a_missing_set_is_none_and_a_damaged_one_an_error(tmp_path: Path) -> None:
    assert kept_tile_set(parse({"state_dir": str(tmp_path)}, "t", tmp_path)) is None
    named = parse({"detector": {"tile_set": "mine.npz"}}, "t", tmp_path)
    assert named.tile_set_path == tmp_path / "mine.npz"
    assert kept_tile_set(named) is None
    (tmp_path / "tiles.npz").write_bytes(b"no set")
    with pytest.raises(TileSetError, match="no taught tile set"):
        kept_tile_set(parse({"state_dir": str(tmp_path)}, "t", tmp_path))
