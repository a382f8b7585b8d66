"""One measured figure, and helpers to measure it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Row:
    """A figure.

    Attributes:
        name: what was measured.
        value, unit: the figure.
        budget: what it may be; None where there is no budget.
        side: whether the budget is the most or the least that is allowed.
        note: what one must know to read the figure.
    """

    name: str
    value: float
    unit: str
    budget: float | None = None
    side: Literal["most", "least"] = "most"
    note: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the figure is within its budget; None without one. A figure of NaN misses."""
        if self.budget is None:
            return None
        if self.side == "most":
            return self.value <= self.budget
        return self.value >= self.budget


@dataclass(frozen=True)
class Size:
    """How much is measured. ``quick`` only shows that the benchmark still works.

    Attributes:
        hands: simulated hands, recorded and replayed.
        scored: hands scored, by rule set and wild tiles.
        live_s: seconds of live play, at most; ``live_discards`` ends it earlier.
        commands: round trips over the serial line; ``line_s``: virtual seconds of goodput.
        pictures: rendered; ``eye_pictures``: looked at in the camera's own time.
    """

    hands: int = 20
    scored: int = 150
    live_s: float = 130.0
    live_discards: int = 60
    commands: int = 300
    line_s: float = 60.0
    pictures: int = 20
    eye_pictures: int = 450
    repeats: int = 30


QUICK = Size(
    hands=1, scored=3, live_s=60.0, live_discards=1, commands=5, line_s=3.0,
    pictures=2, eye_pictures=75, repeats=3
)  # fmt: skip


def quantile(values: Sequence[float], share: float) -> float:
    """A quantile, NaN of nothing."""
    return float(np.quantile(values, share)) if values else float("nan")
