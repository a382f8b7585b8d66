"""The real firmware on the simulated chip: what is promised of safety and time, from outside.

What is looked at are pins and the machine behind them, and what a host hears; the firmware is
asked nothing about itself but how long its control loop took.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.link import Phase

from .lockstep import Lockstep, shown
from .tools import needs_simavr

pytestmark = needs_simavr
E_STOP_LIMIT_US = 10_000
LOOP_LIMIT_US = 2_000
"""From a tick's interrupt to its outputs. E_STOP is debounced for 3 ms and must act within 10."""
SOUND = {"e_stop": 0, "limit": 0}
BUILD = m.BuildWalls(m.TileProgram.TILES_84)

MOTIONS: dict[str, tuple[list[m.Command], m.Command]] = {
    "panel opens": ([], m.OpenCentre()),
    "panel closes": ([m.OpenCentre()], m.CloseCentre()),
    "self-test": ([], m.SelfTest()),
    "building": ([], BUILD),
    "trays rise": ([BUILD], m.RaiseWalls()),
    "trays fall": ([BUILD, m.RaiseWalls()], m.LowerWalls()),
}


def stopped_in(table: Lockstep, motion: str, after: float) -> float:
    """Hit the emergency stop in a motion; microseconds until the last motor pin was low."""
    before, command = MOTIONS[motion]
    table.do(*before)
    token = table.send(command)
    table.until(lambda: bool(table.snapshot()["motors_on"]))
    table.run(after)
    assert table.ended(token) is None, "still in motion"
    table.ask("e-stop open")
    assert table.end_of(token).fault is m.FaultCode.EMERGENCY_STOP
    found = table.snapshot()
    assert found["e_stop_off_us"] is not None, "every motor pin is low"
    assert not found["motors_on"]
    table.ask("e-stop closed")
    table.until(lambda: table.state is not None and not table.state.e_stop_open)
    table.do(m.ResetFault())
    table.until_ready()
    empty(table)
    return float(found["e_stop_off_us"])


def stop_in(folder: Path, motions: list[str], seed: int) -> list[float]:
    rng = random.Random(seed)
    with Lockstep(folder, seed=seed) as table:
        times = [stopped_in(table, motion, rng.uniform(0, 0.05)) for motion in motions]
        assert table.snapshot()["violations"] == SOUND
    return times


def test_the_emergency_stop_turns_every_motor_off_in_time(tmp_path: Path) -> None:
    times = stop_in(tmp_path, ["panel opens", "self-test", "panel closes"], seed=1)
    assert 0 < max(times) <= E_STOP_LIMIT_US, times


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_emergency_stop_in_every_motion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = stop_in(tmp_path, list(MOTIONS) * 4, seed=2)
    with capsys.disabled():
        sys.stdout.write(f"\nE_STOP to all outputs off: {max(times):.0f} us at most\n")
    assert 0 < max(times) <= E_STOP_LIMIT_US, times


FAULTS: list[tuple[str, m.Command, m.FaultCode]] = [
    ("head-jam:2", BUILD, m.FaultCode.HEAD_JAM),
    ("lift-dead:1", m.RaiseWalls(), m.FaultCode.LIFT_NOT_ARRIVED),
    ("limit-top-stuck:3", m.RaiseWalls(), m.FaultCode.LIFT_NEVER_STOPS),
    ("short-set:0:3", m.BuildWalls(m.TileProgram.TILES_96), m.FaultCode.SHORT_SET),
    ("too-many-tiles:1:2", BUILD, m.FaultCode.TOO_MANY_TILES),
    ("sensor-dirty:2", BUILD, m.FaultCode.SENSOR_DIRTY),
    ("pan-stall", BUILD, m.FaultCode.PAN_STALL),
    ("ring-stall:2", BUILD, m.FaultCode.RING_STALL),
    ("centre-blocked", m.CloseCentre(), m.FaultCode.CENTRE_BLOCKED),
    ("lift-blocked:0", m.RaiseWalls(), m.FaultCode.LIFT_NOT_ARRIVED),
    ("sensor-flickers:1", BUILD, m.FaultCode.SENSOR_DIRTY),
    ("centre-dead", m.OpenCentre(), m.FaultCode.CENTRE_NOT_ARRIVED),
]


def build_of(number: int) -> m.BuildWalls:
    programs = [program for program in m.TileProgram if program is not m.TileProgram.NONE]
    return m.BuildWalls(programs[number % len(programs)], dealer=number % 4)


def cycle(table: Lockstep, build: m.BuildWalls) -> None:
    """One whole cycle; every stack that the firmware counted is one that the machine pushed."""
    pushed = table.snapshot()["stacks"]
    table.do(m.OpenCentre(), m.CloseCentre(), build)
    assert table.stacks is not None
    expected = m.stacks_per_side(build.program, build.dealer)
    assert table.stacks.counts == table.stacks.targets == expected
    now = table.snapshot()["stacks"]
    assert tuple(b - a for a, b in zip(pushed, now, strict=True)) == expected
    table.do(m.RaiseWalls())
    assert min(table.snapshot()["lifts"]) > 0.95, "all four at the felt"
    table.do(m.LowerWalls())
    assert max(table.snapshot()["lifts"]) < 0.05


def broken(table: Lockstep, number: int) -> None:
    """Break something, see it named, mend it, and be ready again."""
    name, command, code = FAULTS[number % len(FAULTS)]
    if isinstance(command, m.RaiseWalls):
        table.do(BUILD)
    if isinstance(command, m.CloseCentre):
        table.do(m.OpenCentre())
    table.ask(f"fault {name}")
    assert table.fails(command) is code, name
    table.ask("repair")
    table.do(m.ResetFault())
    if isinstance(command, m.CloseCentre):
        table.do(m.CloseCentre())  # it had opened again; that fault is not latched
    table.until_ready()
    empty(table)


def empty(table: Lockstep) -> None:
    """Let the walls go as they are, so that the next cycle begins anew."""
    if table.state is not None and table.state.program is not m.TileProgram.NONE:
        table.do(m.RaiseWalls(despite_short=True), m.LowerWalls())


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_twenty_cycles_with_a_fault_after_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Lockstep(tmp_path, seed=3) as table:
        for number in range(20):
            cycle(table, build_of(number))
            broken(table, number)
        found = table.snapshot()
        sent = table.events
    with capsys.disabled():
        sys.stdout.write(f"\n20 cycles, {found['time_s']:.0f} s of chip: {shown(found['probe'])}\n")
    assert found["violations"] == SOUND
    assert found["probe"]["tick_overruns"] == 0
    assert found["probe"]["stack_free_low"] > 512
    accepted = [
        event.token
        for event in sent
        if isinstance(event, m.CommandReply) and event.outcome is not m.Outcome.REFUSED
    ]
    assert found["probe"]["executed"] == len(set(accepted)), "none twice for one sent"


def test_one_cycle_on_the_chip(tmp_path: Path) -> None:
    with Lockstep(tmp_path, seed=4) as table:
        cycle(table, m.BuildWalls(m.TileProgram.TILES_108, dealer=1))
        found = table.snapshot()
    assert found["violations"] == SOUND
    assert 0 < found["probe"]["tick_worst_us"] <= LOOP_LIMIT_US, shown(found["probe"])
    assert found["probe"]["tick_overruns"] == 0


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("inertia", [15, 30])
def test_the_starting_current_of_real_motors_is_no_fault(tmp_path: Path, inertia: int) -> None:
    """At the machine's true speed, so that no time is scaled."""
    with Lockstep(tmp_path, machine=1, seed=5, inertia=inertia) as table:
        table.do(m.OpenCentre(), m.CloseCentre(), m.SelfTest())
        table.do(BUILD, m.RaiseWalls(), m.LowerWalls())
        assert table.snapshot()["violations"] == SOUND


def test_the_watchdog_restarts_a_firmware_that_hangs(tmp_path: Path) -> None:
    with Lockstep(tmp_path) as table:
        table.send(m.OpenCentre())
        table.until(lambda: bool(table.snapshot()["motors_on"]))
        table.ask("hang")
        table.until(lambda: table.link.phase is Phase.CLOSED)
        table.connect()
        table.until_ready()
        assert table.hello is not None
        assert table.hello.reset_reason is m.ResetReason.WATCHDOG
        assert table.hello.interrupted_motion is m.Motion.OPENING_CENTRE
        assert table.snapshot()["centre"] < 0.05, "homed before anything else"
