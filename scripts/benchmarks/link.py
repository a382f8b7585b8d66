"""The serial line to the simulated table."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.rows import Row, Size
from firmware_protocol.bench import bench


def link(size: Size) -> Iterator[Row]:
    """Round trips, recovery after cuts, and goodput on noisy lines."""
    for row in bench(size.commands, size.line_s):
        yield Row(row.name, row.value, row.unit)
