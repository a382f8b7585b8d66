"""The command line as a stranger starts it, in processes of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(**extra: str) -> dict[str, str]:
    """Ours, without settings of the person who runs the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TABLECTL_")}
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **extra}


def tablectl(
    *arguments: str | Path, within: float = 280, **extra: str
) -> subprocess.CompletedProcess[str]:
    """Run ``tablectl`` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "tablectl", *map(str, arguments)],
        capture_output=True, text=True, timeout=within, check=False, env=environment(**extra),
    )  # fmt: skip


def one_line(text: str) -> str:
    """The only line of an error message: no traceback, no second line."""
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    return lines[0]


async def until(condition: Callable[[], bool], within: float = 60.0) -> None:
    """Wait for what has no event of its own."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.05)
