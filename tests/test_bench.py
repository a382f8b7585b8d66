"""Every topic of ``make bench`` still runs, in tiny sizes; the figures mean nothing here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUDGETED = {
    "gate": {"gate at 10 pictures a second, of one core"},
    "detector": set(),
    "eye": {"tile at rest to reading, p95", "a picture during play, mean"},
    "decision": {"reading to decision, hongkong, p95", "reading to decision, hangzhou, p95"},
    "replay": {"replay from events"},
    "scoring": {"hongkong, 0 wild, p99", "hangzhou, 4 wild, p99"},
    "link": set(),
    "renderer": {"picture with a moved hand, p50"},
    "idle": {"daemon over an idle felt, of one core"},
    "live": {"tile at rest to browser, p95", "daemon, largest resident memory"},
}
"""Rows that must have a budget, by topic."""


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/bench.py", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "topic",
    [pytest.param(t, marks=pytest.mark.slow) if t == "live" else t for t in BUDGETED],
)
def test_a_topic_gives_figures_with_units_and_budgets(topic: str) -> None:
    if topic == "live" and shutil.which("chromium") is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    done = bench("--quick", "--json", "--only", topic)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["machine"]["load"] >= 0
    rows: list[dict[str, Any]] = report["topics"][topic]
    assert rows
    assert all(row["value"] is not None and row["value"] >= 0 for row in rows), rows
    assert all(row["unit"] for row in rows)
    assert {row["name"] for row in rows if row["passed"] is not None} >= BUDGETED[topic]


def test_an_unknown_topic_names_the_known_ones() -> None:
    done = bench("--only", "speed")
    assert done.returncode == 2
    assert all(topic in done.stderr for topic in BUDGETED)
