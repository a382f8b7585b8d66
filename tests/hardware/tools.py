"""Programs that the hardware tests build: the plant, and firmware to put into it."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PLANT = ROOT / "hardware" / "plant"
FIRMWARE = ROOT / "hardware" / "firmware"


@functools.cache
def missing() -> str:
    """What this machine lacks to build and run firmware; empty if nothing."""
    programs = [name for name in ("make", "cc", "avr-gcc", "pkg-config") if not shutil.which(name)]
    if programs:
        return f"not installed: {', '.join(programs)}"
    found = subprocess.run(["pkg-config", "--exists", "simavr"], check=False)
    return "" if found.returncode == 0 else "not installed: libsimavr-dev"


needs_simavr = pytest.mark.skipif(bool(missing()), reason=missing() or "simavr is there")


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
