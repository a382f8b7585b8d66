"""Settlements by rule set and number of wild tiles, and the bare decomposer."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.rows import Row, Size
from tablectl.rules.bench import bench

P99_BUDGET_MS = 100.0


def scoring(size: Size) -> Iterator[Row]:
    """The slowest of a hundred hands of each kind, and the middle one."""
    for row in bench(hands=size.scored):
        yield Row(
            f"{row.what}, {row.wilds} wild, p99", row.p99_ms, "ms",
            None if row.what == "decompose" else P99_BUDGET_MS,
            note=f"p50 {row.median_ms:.2f} ms, worst {row.worst_ms:.1f} ms",
        )  # fmt: skip
