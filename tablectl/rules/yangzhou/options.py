"""Options of the Yangzhou rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class YangzhouOptions(Options):
    """The three schedules and every variation that the document names."""

    schedule: Literal["old", "common", "new"] = option(
        "common", "Points of the larger patterns; the new schedule has combination patterns too."
    )
    minimum: int | None = option(
        None,
        "Points that a hand needs to win; null = 7 (old), 10 (common) or 18 (new).",
        ge=0,
    )
    all_honors_factor: Literal[4, 2] = option(
        4, "How many times pure one suit (清一色) an all honours hand (风清) scores."
    )
    quadruplet_runs_factor: Literal[8, 2] = option(
        8, "How many times pure one suit four identical runs (钢板) score."
    )
    count_contained: bool = option(
        False,
        "Whether patterns contained in larger ones count too; the combination patterns still "
        "replace what they name.",
    )
    banker_stays_on_draw: bool = option(
        False, "Whether the banker stays after a drawn hand.", table=True
    )
    session_rotations: Literal[4, 8] = option(4, "Banker rotations of a session.", table=True)

    @property
    def least(self) -> int:
        """Points that a hand needs (D-Y1)."""
        return _LEAST[self.schedule] if self.minimum is None else self.minimum


_LEAST = {"old": 7, "common": 10, "new": 18}
