"""``tablectl demo --firmware``: an evening on the real firmware."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .tools import ROOT, needs_simavr


@needs_simavr
@pytest.mark.slow
@pytest.mark.flaky(reruns=1)  # it shares the machine with a daemon in real time
def test_a_hand_on_the_real_firmware_is_settled_as_it_was_played() -> None:
    options = ["--firmware", "--headless", "--hands", "1", "--speed", "max", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "tablectl", "demo", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["hands"], result["agree"]) == (1, True)
