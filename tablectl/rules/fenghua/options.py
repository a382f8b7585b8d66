"""Options of the Fenghua rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class FenghuaOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    claim_minimum: Literal[4, 3] = option(4, "Points needed to win by a discard.")
    limit_unit: Literal[50, 30] = option(
        50,
        "50, or the older scale of 30: every multiple of 50 is the same multiple of 30, and mixed "
        "one suit is 40.",
    )
    all_honors_award: Literal["points", "celebration"] = option(
        "points",
        "Whether the two all-honour patterns (清老头, 乱老头) score, or are only celebrated.",
    )
    eight_flowers_award: Literal["points", "celebration"] = option(
        "points", "Whether the two eight-flower patterns (八花) score, or are only celebrated."
    )
