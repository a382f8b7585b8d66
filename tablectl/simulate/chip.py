"""The table of the demonstration as the real firmware in simavr, in place of the simulated one.

Works from a checkout: firmware and plant are built there (``hardware/firmware``,
``hardware/plant``).
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_protocol.messages import Button, DiceRolled
from firmware_protocol.peer_process import PeerProcess, PeerProcessError
from firmware_protocol.wire import Message
from tablectl.simulate.session import SimulationError

_HARDWARE: Final = Path(__file__).resolve().parent.parent.parent / "hardware"
_TOOLS: Final = {
    "make": "make", "cc": "gcc", "avr-gcc": "gcc-avr avr-libc", "pkg-config": "pkg-config",
}  # fmt: skip
_LIBRARIES: Final = "libsimavr-dev libelf-dev"
FASTEST: Final = 10
"""The machine can be so many times as fast; beyond that its pulses are too short for the chip."""
_LOOK_S: Final = 0.05


@dataclass(frozen=True)
class Programs:
    """What is needed: the plant, the firmware, and the program that makes settings."""

    plant: Path
    elf: Path
    mkconfig: Path


@dataclass(frozen=True)
class Place:
    """Where centre and trays are, 0 low to 1 high."""

    centre: float
    lifts: tuple[float, ...]


def build() -> Programs:
    """Make what is needed, if it is not there.

    Raises:
        SimulationError: no checkout, a tool is missing, or it does not compile.
    """
    if not (_HARDWARE / "plant" / "Makefile").exists():
        raise SimulationError("--firmware needs a checkout of tablectl: it builds the firmware")
    missing = [package for tool, package in _TOOLS.items() if shutil.which(tool) is None]
    if shutil.which("pkg-config") and _run(["pkg-config", "--exists", "simavr"]):
        missing.append(_LIBRARIES)
    if missing:
        raise SimulationError(f"--firmware: sudo apt-get install {' '.join(missing)}")
    firmware = _HARDWARE / "firmware"
    for folder, *targets in ((firmware, "avr", "host"), (_HARDWARE / "plant", "all")):
        trouble = _run(["make", "-s", "-C", str(folder), *targets])
        if trouble:
            raise SimulationError(f"{folder} does not compile: {trouble.splitlines()[0]}")
    return Programs(
        _HARDWARE / "plant" / "build" / "tableplant",
        firmware / "build" / "avr" / "tablectl.elf",
        firmware / "build" / "host" / "mkconfig",
    )


def _run(command: list[str]) -> str:
    """What went wrong, empty if nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


class ChipTable:
    """What the simulated session needs of a table, by the real firmware.

    Args:
        programs: from :func:`build`.
        speed: how many times as fast as a real machine the simulated one is, at most FASTEST.
        seed: of the tiles' arrival and of the dice.
        on_emit: told of every roll, as players see the dice.
    """

    def __init__(
        self, programs: Programs, speed: float, seed: int, on_emit: Callable[[Message], None]
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tablectl-chip-")
        folder = Path(self._folder.name)
        machine = max(1, min(FASTEST, int(speed)))
        settings = subprocess.run(
            [programs.mkconfig, f"scale={machine}"], check=True, stdout=subprocess.PIPE
        )
        (folder / "eeprom").write_bytes(settings.stdout)
        options = ["--memory", str(folder / "eeprom"), "--machine", str(machine)]
        options += ["--seed", str(seed)]
        self._process = PeerProcess([programs.plant, programs.elf], folder, options=options)
        self._random = random.Random(f"dice/{seed}")
        self._on_emit = on_emit
        self._dice = (1, 1)
        self._rolls = 0
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="dice", daemon=True)

    @property
    def port(self) -> str:
        """What a TableClient opens."""
        return self._process.port

    def start(self) -> ChipTable:
        """Power on.

        Raises:
            SimulationError: it does not run.
        """
        try:
            self._process.start()
        except PeerProcessError as error:
            raise SimulationError(str(error)) from error
        self._lay_dice()
        self._watcher.start()
        return self

    def stop(self) -> None:
        """Power off."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._process.stop()
        self._folder.cleanup()

    def press(self, seat: int, button: Button) -> None:
        """A player presses a button."""
        self._process.ask(f"press {seat} {int(button)}")

    def snapshot(self) -> Place:
        """What people see of the machine."""
        found = self._process.snapshot()
        return Place(found["centre"], tuple(found["lifts"]))

    def _lay_dice(self) -> None:
        """The next roll shows these; its reader tells the firmware."""
        self._dice = self._random.randint(1, 6), self._random.randint(1, 6)
        self._process.ask(f"dice {self._dice[0]} {self._dice[1]}")

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK_S):
            try:
                probe = self._process.snapshot()["probe"]
                if probe is not None and probe["rolls"] != self._rolls:
                    self._rolls = probe["rolls"]
                    rolled = DiceRolled(*self._dice)
                    self._lay_dice()
                    self._on_emit(rolled)
            except PeerProcessError:
                return  # the session notices that the table is gone
