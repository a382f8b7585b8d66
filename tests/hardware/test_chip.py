"""The real firmware on the simulated chip: what is promised of safety and time, from outside.

What is looked at are pins and the machine behind them, and what the client hears; the firmware is
asked nothing about itself but how long its control loop took.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import CommandError
from firmware_protocol.events import CommandFailedError
from firmware_protocol.peer_process import PeerProcess

from .chip import chip
from .tools import needs_simavr

pytestmark = needs_simavr
E_STOP_LIMIT_US = 10_000
LOOP_LIMIT_US = 2_000
"""From a tick's interrupt to its outputs. E_STOP is debounced for 3 ms and must act within 10."""
PATIENCE = 120.0
"""Seconds for one motion on a busy machine, where the chip falls behind real time."""


@asynccontextmanager
async def connected(table: PeerProcess) -> AsyncIterator[TableClient]:
    """A client, once the table is homed."""
    async with TableClient(table.port, connect_timeout=PATIENCE) as client:
        await homed(client)
        yield client


async def homed(client: TableClient) -> None:
    await client.wait_for(
        lambda s: s.table is not None and s.table.mode is m.TableMode.READY, PATIENCE
    )


async def do(client: TableClient, *commands: m.Command) -> None:
    for command in commands:
        await client.command(command, within=PATIENCE)


async def until_moving(table: PeerProcess, running: asyncio.Task[m.CommandReply]) -> None:
    while not table.snapshot()["motors_on"]:
        assert not running.done(), f"it ended before a motor ran: {running.exception()}"
        await asyncio.sleep(0.002)


MOTIONS: dict[str, tuple[list[m.Command], m.Command]] = {
    "panel opens": ([], m.OpenCentre()),
    "panel closes": ([m.OpenCentre()], m.CloseCentre()),
    "building": ([], m.BuildWalls(m.TileProgram.TILES_84)),
    "trays rise": ([m.BuildWalls(m.TileProgram.TILES_84)], m.RaiseWalls()),
    "trays fall": ([m.BuildWalls(m.TileProgram.TILES_84), m.RaiseWalls()], m.LowerWalls()),
    "self-test": ([], m.SelfTest()),
}


async def stopped_in(table: PeerProcess, client: TableClient, motion: str, after: float) -> float:
    """Hit the emergency stop in a motion; microseconds until the last motor pin was low."""
    before, command = MOTIONS[motion]
    await do(client, *before)
    running = asyncio.create_task(client.command(command))
    await until_moving(table, running)
    await asyncio.sleep(after)
    table.ask("e-stop open")
    with pytest.raises(CommandFailedError, match="emergency stop"):
        await running
    found = table.snapshot()
    assert found["e_stop_off_us"] is not None, "every motor pin is low"
    assert not found["motors_on"]
    table.ask("e-stop closed")
    await client.wait_for(lambda s: s.table is not None and not s.table.e_stop_open, PATIENCE)
    await do(client, m.ResetFault())
    await homed(client)
    return float(found["e_stop_off_us"])


async def stop_in_all(folder: Path, motions: list[str], seed: int) -> list[float]:
    rng = random.Random(seed)
    with chip(folder, seed=seed) as table:
        async with connected(table) as client:
            times = []
            for motion in motions:
                times.append(await stopped_in(table, client, motion, rng.uniform(0, 0.05)))
                await empty(table, client)
        assert table.snapshot()["violations"] == {"e_stop": 0, "limit": 0}
    return times


async def test_the_emergency_stop_turns_every_motor_off_in_time(tmp_path: Path) -> None:
    times = await stop_in_all(tmp_path, ["panel opens", "self-test", "panel closes"], seed=1)
    assert 0 < max(times) <= E_STOP_LIMIT_US, times


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_the_emergency_stop_in_every_motion(
    tmp_path: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    times = await stop_in_all(tmp_path, list(MOTIONS) * 4, seed=2)
    with capsys.disabled():
        sys.stdout.write(f"\nE_STOP to all outputs off: {max(times):.0f} us, of {len(times)}\n")
    record_property("e_stop_worst_us", max(times))
    assert 0 < max(times) <= E_STOP_LIMIT_US, times


FAULTS: list[tuple[str, m.Command, m.FaultCode]] = [
    ("head-jam:2", m.BuildWalls(m.TileProgram.TILES_84), m.FaultCode.HEAD_JAM),
    ("lift-dead:1", m.RaiseWalls(), m.FaultCode.LIFT_NOT_ARRIVED),
    ("limit-top-stuck:3", m.RaiseWalls(), m.FaultCode.LIFT_NEVER_STOPS),
    ("short-set:0:3", m.BuildWalls(m.TileProgram.TILES_96), m.FaultCode.SHORT_SET),
    ("too-many-tiles:1:2", m.BuildWalls(m.TileProgram.TILES_84), m.FaultCode.TOO_MANY_TILES),
    ("sensor-dirty:2", m.BuildWalls(m.TileProgram.TILES_84), m.FaultCode.SENSOR_DIRTY),
    ("pan-stall", m.BuildWalls(m.TileProgram.TILES_84), m.FaultCode.PAN_STALL),
    ("ring-stall:2", m.BuildWalls(m.TileProgram.TILES_84), m.FaultCode.RING_STALL),
    ("centre-blocked", m.CloseCentre(), m.FaultCode.CENTRE_BLOCKED),
]


def build_of(number: int) -> m.BuildWalls:
    programs = [program for program in m.TileProgram if program is not m.TileProgram.NONE]
    return m.BuildWalls(programs[number % len(programs)], dealer=number % 4)


async def cycle(table: PeerProcess, client: TableClient, build: m.BuildWalls) -> None:
    """One whole cycle; every stack that the firmware counted is one that the machine pushed."""
    pushed = table.snapshot()["stacks"]
    await do(client, m.OpenCentre(), m.CloseCentre(), build)
    stacks = client.status.stacks
    assert stacks is not None
    assert stacks.counts == stacks.targets == m.stacks_per_side(build.program, build.dealer)
    now = table.snapshot()["stacks"]
    assert tuple(b - a for a, b in zip(pushed, now, strict=True)) == stacks.counts
    await do(client, m.RaiseWalls())
    assert min(table.snapshot()["lifts"]) > 0.95, "all four at the felt"
    await do(client, m.LowerWalls())
    assert max(table.snapshot()["lifts"]) < 0.05


async def broken(table: PeerProcess, client: TableClient, number: int) -> None:
    """Break something, see it named, mend it, and be ready again."""
    name, command, code = FAULTS[number % len(FAULTS)]
    if isinstance(command, m.RaiseWalls):
        await do(client, m.BuildWalls(m.TileProgram.TILES_84))
    if isinstance(command, m.CloseCentre):
        await do(client, m.OpenCentre())
    table.ask(f"fault {name}")
    with pytest.raises(CommandFailedError) as caught:
        await do(client, command)
    assert caught.value.reply.fault is code, name
    table.ask("repair")
    await do(client, m.ResetFault())
    await homed(client)
    await empty(table, client)


async def empty(table: PeerProcess, client: TableClient) -> None:
    """Bring a half-built wall to its end, so that the next cycle begins anew."""
    stacks = client.status.stacks
    if stacks is None or stacks.program is m.TileProgram.NONE:
        return
    if stacks.counts != stacks.targets:
        for side in range(4):
            table.ask(f"add-tiles {side} 8")
        found = await going_on(client, stacks.program)
        assert found is None or found is m.FaultCode.TOO_MANY_TILES
    await do(client, m.RaiseWalls(despite_short=True), m.LowerWalls())


async def going_on(client: TableClient, program: m.TileProgram) -> m.FaultCode | None:
    try:
        await do(client, m.BuildWalls(program))
    except CommandFailedError as error:
        return error.reply.fault
    return None


@pytest.mark.slow
@pytest.mark.timeout(3000)
async def test_twenty_cycles_with_faults_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with chip(tmp_path, seed=3) as table:
        async with connected(table) as client:
            for number in range(20):
                await cycle(table, client, build_of(number))
                await broken(table, client, number)
        found = table.snapshot()
    probe = found["probe"]
    with capsys.disabled():
        sys.stdout.write(
            f"\n20 cycles in {found['time_s']:.0f} s of chip time: control loop at worst "
            f"{probe['tick_worst_us']} us, {probe['tick_overruns']} overruns, "
            f"at least {probe['stack_free_low']} bytes of stack free\n"
        )
    assert found["violations"] == {"e_stop": 0, "limit": 0}
    assert probe["tick_overruns"] == 0
    assert probe["stack_free_low"] > 512


async def test_one_cycle_on_the_chip(tmp_path: Path) -> None:
    with chip(tmp_path, seed=4) as table:
        async with connected(table) as client:
            await cycle(table, client, m.BuildWalls(m.TileProgram.TILES_108, dealer=1))
        found = table.snapshot()
    assert found["violations"] == {"e_stop": 0, "limit": 0}
    assert 0 < found["probe"]["tick_worst_us"] <= LOOP_LIMIT_US
    assert found["probe"]["tick_overruns"] == 0


async def test_the_watchdog_restarts_a_firmware_that_hangs(tmp_path: Path) -> None:
    with chip(tmp_path) as table:
        async with connected(table) as client:
            opening = asyncio.create_task(client.command(m.OpenCentre()))
            await until_moving(table, opening)
            table.ask("hang")
            with pytest.raises(CommandError):
                await opening
            await homed(client)
            hello = client.status.hello
            assert hello is not None
            assert hello.reset_reason is m.ResetReason.WATCHDOG
            assert hello.interrupted_motion is m.Motion.OPENING_CENTRE
            assert table.snapshot()["centre"] < 0.05, "homed before anything else"
