"""Ctrl-C in a terminal: the whole foreground group hears it, and the demonstration ends well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tablectl.services.recording import Recording
from tests.e2e.programs import environment


@pytest.mark.timeout(120)
def test_ends_without_a_traceback_and_leaves_nothing_behind(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "demo", "--port", "0", "--keep", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(PYTHONUNBUFFERED="1"), start_new_session=True,
    )  # fmt: skip
    assert demo.stdout is not None
    while "Ctrl-C ends it" not in demo.stdout.readline():
        assert demo.poll() is None, demo.stderr and demo.stderr.read()
    children = psutil.Process(demo.pid).children(recursive=True)
    assert any(child.name() == "mosquitto" for child in children)

    os.killpg(demo.pid, signal.SIGINT)
    _, err = demo.communicate(timeout=60)

    assert demo.returncode == 0, err
    assert err == "Stopped.\n"
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    (path,) = (tmp_path / "sessions").glob("*.mcap")
    recording = Recording(path)
    assert sum(1 for _ in recording) > 3
    assert recording.cut is None, "the recording was finished"
