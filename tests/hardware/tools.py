"""Programs that the hardware tests build: the plant, and firmware to put into it."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest

from tests.firmware_protocol.peers import missing_for_the_chip

ROOT = Path(__file__).resolve().parent.parent.parent
PLANT = ROOT / "hardware" / "plant"
FIRMWARE = ROOT / "hardware" / "firmware"


needs_simavr = pytest.mark.skipif(
    bool(missing_for_the_chip()), reason=f"not installed: {missing_for_the_chip()}"
)


@functools.cache
def built(target: str) -> Path:
    """A file of the plant's Makefile, made if need be."""
    done = subprocess.run(
        ["make", "-C", str(PLANT), f"build/{target}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return PLANT / "build" / target


@functools.cache
def _make_firmware(target: str) -> Path:
    done = subprocess.run(
        ["make", "-C", str(FIRMWARE), target], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return FIRMWARE / "build" / target


def firmware(name: str) -> Path:
    """A file of the firmware for the chip, made if need be."""
    return _make_firmware("avr") / name


def mkconfig() -> Path:
    """The program that writes settings."""
    return _make_firmware("host") / "mkconfig"


def table_peer() -> Path:
    """The core as a process on this machine."""
    return _make_firmware("host") / "table_peer"
