"""``make bench``: speed and memory of every part on this machine, as tables.

Times in "ms CPU" are processor time, which other programs change little; all others are wall time
and mean little on a busy machine. docs/performance.md explains the rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from benchmarks.rows import Row, Size

BUSY: Final = 1.5
"""Load of the machine above which its wall times are not to be trusted."""

_WIDTH: Final = 132
"""Columns of the tables where there is no terminal to ask."""

TOPICS: Final = {
    "gate": ("eyesight", "gate", "Motion gate, 1080p, one thread"),
    "detector": ("eyesight", "detector", "Tile recogniser, wall time"),
    "eye": ("eye", "eye", "Eye during play, in the camera's own time"),
    "decision": ("game", "decisions", "Referee: from a reading to what follows from it"),
    "replay": ("game", "replays", "Replay of a recorded session"),
    "scoring": ("scoring", "scoring", "Scoring a hand, caches warm"),
    "link": ("link", "link", "Serial link to the simulated table"),
    "renderer": ("eyesight", "renderer", "Renderer of simulated pictures, 1080p"),
    "idle": ("live", "idle", "The daemon over an idle felt"),
    "live": ("live", "live", "The daemon during a simulated game in real time"),
}
"""Name: module under ``benchmarks``, function, title."""


def main() -> int:
    """Measure, print, and tell whether every budget is kept: exit code 0, else 1."""
    options = _options()
    root = Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(root))
    # The daemon and the simulator are processes of their own and need the same modules.
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    console = Console(stderr=options.json)
    if not console.is_terminal:
        console.width = _WIDTH
    machine = _machine()
    console.print(
        f"{machine['cores']} cores, {machine['processor']}, Python {machine['python']}, "
        f"load {machine['load']:.2f}"
    )
    if machine["load"] > BUSY:
        console.print(
            f"[bold yellow]The machine is busy (load {machine['load']:.2f} > {BUSY}): "
            "wall times below are worse than the program."
        )
    report: dict[str, Any] = {"machine": machine, "topics": {}}
    missed = 0
    for name in options.only or TOPICS:
        start = time.perf_counter()
        rows = list(_measure(name, quick=options.quick))
        seconds = time.perf_counter() - start
        console.print(_table(name, rows, seconds))
        missed += sum(row.passed is False for row in rows)
        report["topics"][name] = [_plain(row) for row in rows]
    if options.json:
        sys.stdout.write(json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    console.print(f"{missed} budgets missed" if missed else "all budgets kept")
    return 0 if options.quick or not missed else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    parser.add_argument("--only", action="append", choices=TOPICS, metavar="TOPIC",
                        help=f"one of {', '.join(TOPICS)}; may be repeated")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="figures as JSON on standard output")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: shows that it works, measures nothing"
    )
    return parser.parse_args()


def _measure(topic: str, *, quick: bool) -> Iterator[Row]:
    from benchmarks.rows import QUICK, Size

    module, function, _ = TOPICS[topic]
    measure: Callable[[Size], Iterator[Row]]
    measure = getattr(importlib.import_module(f"benchmarks.{module}"), function)
    return measure(QUICK if quick else Size())


def _plain(row: Row) -> dict[str, Any]:
    value = None if math.isnan(row.value) else row.value
    return dataclasses.asdict(row) | {"value": value, "passed": row.passed}


def _machine() -> dict[str, Any]:
    load = os.getloadavg()[0]
    return {
        "cores": os.cpu_count(), "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(), "load": load,
    }  # fmt: skip


def _table(name: str, rows: list[Row], seconds: float) -> Table:
    table = Table(title=f"{TOPICS[name][2]} ({name})", title_justify="left",
                  caption=f"measured in {seconds:.0f} s", caption_justify="right")  # fmt: skip
    table.add_column("what")
    table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("budget", justify="right", no_wrap=True)
    table.add_column("")
    table.add_column("note", style="dim")
    for row in rows:
        budget = (
            "" if row.budget is None else f"{'≤' if row.side == 'most' else '≥'} {row.budget:g}"
        )
        mark = {None: "", True: "[green]pass", False: "[bold red]MISS"}[row.passed]
        table.add_row(row.name, _figure(row.value), row.unit, budget, mark, row.note)
    return table


def _figure(value: float) -> str:
    """Three significant digits."""
    if math.isnan(value):
        return "none"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
