"""The peers that the conformance suite runs against.

A peer is a table on some port together with a hand on its machine. Every peer kind must pass
every test of test_conformance.py; a new kind is one more of KINDS.
"""

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from firmware_protocol import messages as m
from firmware_protocol.firmware import Identity
from firmware_protocol.noise import QUIET, Noise
from firmware_protocol.simulator import Defect, PlantSnapshot, SimulatedTable

from .peers import (
    ProcessTable,
    make_firmware,
    make_plant,
    missing_for_the_chip,
    missing_tools,
)
from .virtual import VirtualChip, VirtualCore, VirtualSimulator, VirtualTable, load_core

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")


class Peer(Protocol):
    """What the suite needs of a table."""

    @property
    def port(self) -> str: ...
    def press(self, seat: int, button: m.Button) -> None: ...
    def set_next_dice(self, first: int, second: int) -> None: ...
    def set_e_stop(self, *, is_open: bool) -> None: ...
    def inject(self, defect: Defect, *, side: int = 0, amount: int = 0) -> None: ...
    def repair(self) -> None: ...
    def add_tiles(self, side: int, tiles: int) -> None: ...
    def restart(self, reason: m.ResetReason = ...) -> None: ...
    def power_cut(self) -> None: ...
    def power_on(self, reason: m.ResetReason = ...) -> None: ...
    def unplug(self) -> None: ...
    def plug_in(self) -> None: ...
    def set_noise(self, noise: Noise) -> None: ...
    def set_silent(self, silent: bool) -> None: ...
    def write_raw(self, data: bytes) -> None: ...
    def snapshot(self) -> PlantSnapshot: ...
    def wait_for(
        self, condition: Callable[[PlantSnapshot], bool], within: float = 10.0
    ) -> None: ...


MakePeer = Callable[..., Peer]
SPEED = 60.0
KINDS = ["simulator over a pty", "simulator over tcp", "core", "chip"]
CHIP_MACHINE = 10.0
"""How much faster than a real one the chip's machine moves; the chip itself keeps real time."""
CHIP_SAMPLE = {
    "test_handshake_tells_everything",
    "test_restart_in_the_middle_of_a_motion",
    "test_a_burst_of_bad_frames_is_answered_by_one_nak",
    "test_commands_run_exactly_once_on_a_terrible_line",
    "test_emergency_stop_cuts_at_once_and_latches_until_release_and_reset",
    "test_a_short_opening_of_the_emergency_stop_latches_too",
    "test_a_hand_in_the_hole_reopens_the_panel_at_once",
}
"""What of the suites runs on the chip in every test run; the rest is slow."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The chip is simulated instruction by instruction: most of its tests are slow ones."""
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        name = getattr(item, "originalname", item.name)
        on_the_line = "test_conformance_wire" in item.nodeid
        if on_the_line and params.get("make_peer") == "simulator over tcp":
            item.add_marker(pytest.mark.slow)  # the same code as over a pty
        on_chip = "chip" in (params.get("make_peer"), params.get("make_table"))
        if on_chip and name not in CHIP_SAMPLE:
            item.add_marker(pytest.mark.slow)
        if params.get("make_peer") == "chip":
            # chip and client share real time: on a machine that is too busy for both the client
            # rightly finds the chip silent
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=2))


def _simulator(
    folder: Path, *, tcp: bool, speed: float, identity: Identity | None, seed: int
) -> SimulatedTable:
    """Peer 1: the table written in Python, in a thread."""
    if tcp:
        table = SimulatedTable(speed=speed, identity=identity, seed=seed, socket_port=0)
    else:
        table = SimulatedTable(speed=speed, identity=identity, seed=seed, link=folder)
    return table.start()


def _core(folder: Path, *, speed: float, identity: Identity | None, seed: int) -> ProcessTable:
    """Peer 2: the firmware's core compiled for this machine, a process."""
    missing = missing_tools("make", "cc")
    if missing:
        pytest.skip(f"the firmware cannot be built: no {missing}")
    command = [str(make_firmware("host") / "table_peer")]
    return ProcessTable(command, folder, speed=speed, identity=identity, seed=seed)


def _chip_command() -> list[str]:
    """The plant with the firmware in it."""
    missing = missing_for_the_chip()
    if missing:
        pytest.skip(f"the firmware cannot run in simavr: no {missing}")
    return [str(make_plant()), str(make_firmware("avr") / "tablectl.elf")]


def _chip(folder: Path, *, speed: float, identity: Identity | None, seed: int) -> ProcessTable:
    """Peer 3: the firmware's ELF in simavr. Its machine and its configured times are scaled."""
    command = _chip_command()
    machine = min(speed, CHIP_MACHINE)
    memory = folder.with_suffix(".eeprom")
    mkconfig = [str(make_firmware("host") / "mkconfig"), f"scale={machine:.0f}"]
    memory.write_bytes(subprocess.run(mkconfig, check=True, capture_output=True).stdout)
    command += ["--memory", str(memory), "--machine", str(machine)]
    return ProcessTable(command, folder, speed=1.0, identity=identity, seed=seed)


@pytest.fixture(params=KINDS)
def make_peer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakePeer]:
    """Start peers of one kind; all are stopped after the test."""
    running: list[SimulatedTable | ProcessTable] = []

    def make(speed: float = SPEED, identity: Identity | None = None, seed: int = 0) -> Peer:
        folder = tmp_path / f"table{len(running)}"
        table: SimulatedTable | ProcessTable
        if request.param in ("core", "chip"):
            start = _core if request.param == "core" else _chip
            table = start(folder, speed=speed, identity=identity, seed=seed)
        else:
            tcp = request.param == "simulator over tcp"
            table = _simulator(folder, tcp=tcp, speed=speed, identity=identity, seed=seed)
        running.append(table)
        return table

    yield make
    for table in running:
        table.stop()


@pytest.fixture
def peer(make_peer: MakePeer) -> Peer:
    """A peer with its usual identity."""
    return make_peer()


# --- the same tables in virtual time ---

MakeTable = Callable[..., VirtualTable]


@pytest.fixture(scope="session")
def core_library() -> ctypes.CDLL:
    missing = missing_tools("make", "cc")
    if missing:
        pytest.skip(f"the firmware cannot be built: no {missing}")
    return load_core(make_firmware("host"))


@pytest.fixture(params=["simulator", "core", "chip"])
def make_table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeTable]:
    """Make tables of one kind; what was unsafe is found at the end of every test."""
    made: list[VirtualTable] = []

    def one(noise: Noise = QUIET, seed: int = 0) -> VirtualTable:
        table: VirtualTable
        if request.param == "simulator":
            table = VirtualSimulator(noise, seed)
        elif request.param == "chip":
            table = VirtualChip(_chip_command(), tmp_path, noise, seed)
        else:
            table = VirtualCore(request.getfixturevalue("core_library"), noise, seed)
        made.append(table)
        return table

    yield one
    for table in made:
        assert table.violations() == []
        if isinstance(table, VirtualCore | VirtualChip):
            table.close()
