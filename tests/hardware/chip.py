"""The firmware's ELF in simavr with the machine on its pins, for tests of the whole chip."""

from __future__ import annotations

import subprocess
from pathlib import Path

from firmware_protocol.peer_process import PeerProcess

from .tools import built, firmware, mkconfig

MACHINE = 8
"""The machine, and the firmware's times for it, are so many times as fast as real ones."""


def chip(folder: Path, *, machine: int = MACHINE, seed: int = 0) -> PeerProcess:
    """A table; entering it powers it on. Its wire and its control loop run in real time."""
    memory = folder / "eeprom.bin"
    scaled = subprocess.run([mkconfig(), f"scale={machine}"], check=True, stdout=subprocess.PIPE)
    memory.write_bytes(scaled.stdout)
    options = ["--memory", str(memory), "--machine", str(machine), "--seed", str(seed)]
    return PeerProcess([built("tableplant"), firmware("tablectl.elf")], folder, options=options)
