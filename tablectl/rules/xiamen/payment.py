"""What a Xiamen win costs each loser: bases, flowers, multiplier. X3, X14, X15, X20, X25."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase, SeatState
from tablectl.rules.xiamen.options import XiamenOptions

BANKER_BASE = 2

Items = dict[str, int]
"""Pattern id to flowers; items without flowers are left out."""


def base(case: ScoreCase, payer: int, winner: int, options: XiamenOptions) -> int:
    """The base of one payment: the banker's where the banker is a party, else 1 (X14)."""
    banker = case.dealer in (payer, winner)
    return (banker_base(case, options) if banker else 1) * options.base_factor


def banker_base(case: ScoreCase, options: XiamenOptions) -> int:
    """What the banker's base has grown to in this streak, before ``base_factor`` (X20)."""
    kept = case.streak - 1
    if not options.quanzhou:
        return BANKER_BASE << kept
    if options.quanzhou_base_step == "one":
        return BANKER_BASE + kept
    drawn = max(0, kept - len(case.streak_multipliers))  # a drawn hand adds one
    return BANKER_BASE + sum(case.streak_multipliers) + drawn


def item_flowers(seat: SeatState, golds: int, set_flowers: int, options: XiamenOptions) -> Items:
    """Flowers by what brings them; four seasons or four flowers count eight (X15)."""
    laid = set(seat.flowers)
    full = sum(set(range(low, low + 4)) <= laid for low in (34, 38))
    bonus = 0 if options.quanzhou else 4 * full
    items = {
        "flower_tiles": len(seat.flowers) + bonus,
        "gold_tiles": golds,
        "set_flowers": set_flowers,
    }
    return {name: value for name, value in items.items() if value}
