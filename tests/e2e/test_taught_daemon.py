"""A tile set in a running daemon: read by from the start, recorded, forgotten, missed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from tablectl import channels
from tablectl.messages import Health
from tablectl.referee.inputs import SessionPlan
from tablectl.reread import camera_eyes
from tablectl.services.bus import Entry
from tablectl.services.recording import Recording
from tablectl.tiles import format_tile
from tests.e2e.programs import until
from tests.e2e.strange_tiles import (
    FLOWERS,
    GEOMETRY,
    Table,
    in_rows,
    renderer,
    river_of_flowers,
    table_in,
)
from vision.detector import TileSet
from vision.messages import TableReading, Taught
from vision.render.layout import layout_scene
from vision.teaching import layout_finder, teach

pytestmark = pytest.mark.timeout(180)

NAMES = [format_tile(tile) for tile in FLOWERS]


async def teach_into(path: Path) -> None:
    """As ``tablectl teach`` does, but one crop of each tile: that is learnt sooner."""
    picture = renderer().render(layout_scene(GEOMETRY, 5))
    lesson = await asyncio.to_thread(teach, [picture], layout_finder(), trust_layout=True)
    kept, count = lesson.tile_set, len(lesson.layout.tiles)
    TileSet(kept.crops[:count], kept.kinds[:count], kept.taught, kept.tile_px).save(path)


async def forget(table: Table) -> str:
    """As the page does; what it tells."""
    url = table.running.url + "api/"
    async with aiohttp.ClientSession() as web:
        login = {"password": table.running.operator_password}
        async with web.post(url + "login", json=login) as answer:
            token = (await answer.json())["token"]
        headers = {"Authorization": f"Bearer {token}"}
        async with web.post(url + "tile-set/forget", json={}, headers=headers) as answer:
            assert answer.status == 200
            return str((await answer.json())["note"])


async def read(table: Table, holds: Callable[[list[str]], bool]) -> list[str]:
    """What is read, once it is as it should be and pictures enough have shown it."""
    await until(lambda: holds(table.names))
    eye = table.running.eye
    assert eye is not None
    seen = eye.status().frames
    await until(lambda: eye.status().frames > seen + 5)
    return table.names


def problems(table: Table) -> list[str]:
    """Those that are told from now on, the newest last."""
    told: list[str] = []

    def hear(entry: Entry[Health]) -> None:
        told.append("; ".join(entry.message.problems))

    table.running.bus.on(Health, hear, channels.HEALTH)
    return told


async def reread(path: Path) -> list[tuple[float, list[str]]]:
    """Times and names of a recording's pictures, read anew."""
    recording = Recording(path)
    ((_, plan),) = recording.decoded(channels=(channels.PLAN,))
    assert isinstance(plan, SessionPlan)
    eyes = camera_eyes(recording, plan)
    return [
        (t, in_rows(message)) async for t, _, message in eyes if isinstance(message, TableReading)
    ]


async def test_what_was_taught_and_forgotten_is_recorded_and_missed(tmp_path: Path) -> None:
    file = tmp_path / "mine.npz"
    await teach_into(file)
    named, all_pictures = {"tile_set": str(file)}, {"frames_per_second": 30}
    async with table_in(tmp_path, detector=named, recording=all_pictures) as table:
        told = problems(table)
        table.camera.look(river_of_flowers())
        await read(table, lambda names: names == NAMES)
        assert not any(str(file) in problem for problem in told)
        assert "missing counts as a problem" in await forget(table)
        untaught = await read(table, lambda names: len(names) == 8 and names != NAMES)
        await until(lambda: f"tile set {file} is missing" in told[-1])
        path = table.running.recording
    assert path is not None
    sets = list(Recording(path).decoded(channels=(channels.TILE_SET,)))
    assert [isinstance(m, Taught) and m.tile_set is not None for _, m in sets] == [True, False]
    seen = await reread(path)
    forgotten = sets[1][0].t
    assert [names for t, names in seen if t < forgotten][-1] == NAMES
    assert seen[-1][1] == untaught


async def test_a_set_that_is_named_and_missing_is_a_problem_and_no_more(tmp_path: Path) -> None:
    named = {"tile_set": str(tmp_path / "mine.npz")}
    async with table_in(tmp_path, detector=named, recording={}) as table:
        told = problems(table)
        await until(lambda: bool(told))
        assert f"tile set {named['tile_set']} is missing: teach it at #teach or with" in told[-1]
        path = table.running.recording
    assert path is not None
    assert not list(Recording(path).messages((channels.TILE_SET,))), "nothing is taught"
