"""The penalty for a false win: what the claim was meant to bring (X26)."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement
from tablectl.rules.xiamen.hand import meld_flowers, wild_rule
from tablectl.rules.xiamen.options import XiamenOptions
from tablectl.rules.xiamen.patterns import GOLDS, QUANZHOU, THREE_GOLD_AS_DEALT, XIAMEN
from tablectl.rules.xiamen.payment import base, item_flowers


def false_win(case: ScoreCase, options: XiamenOptions, names: Names) -> Settlement:
    """Settle a false win: each other seat gets what it would have owed had the win stood.

    Counted are the multiplier of the way of winning, flower tiles, golds and declared sets. A
    float whose hand does not win was none.
    """
    win = case.outcome.wins[0]
    seat, wild = case.seats[win.seat], wild_rule(case.indicator, options)
    held = (*seat.hand, win.tile) if win.is_own_draw else seat.hand
    golds = sum(tile in wild.tiles for tile in held)
    laid = [meld for meld in seat.melds if not any(tile in wild.tiles for tile in meld.tiles)]
    sets = sum(meld_flowers(meld, wild, options) for meld in laid)
    flowers = sum(item_flowers(seat, golds, sets, options).values())
    multiplier = _multiplier(case, golds, options)
    payments, lines = Payments(len(case.seats)), []
    for other in (case.seat_after(win.seat, step) for step in (1, 2, 3)):
        due = base(case, other, win.seat, options)
        amount = (due + flowers) * multiplier
        payments.pay(win.seat, other, amount)
        lines.append(f"{names(other)} receives (base {due} + {flowers}) × {multiplier} = {amount}")
    first = f"{names(win.seat)} declared a false win and pays what it meant to receive"
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=(first, *lines)
    )


def _multiplier(case: ScoreCase, golds: int, options: XiamenOptions) -> int:
    """The multiplier of the way of winning."""
    win = case.outcome.wins[0]
    table = QUANZHOU if options.quanzhou else XIAMEN
    if win.by == "deal":
        if golds == GOLDS:
            return 3 if options.quanzhou else THREE_GOLD_AS_DEALT
        return table.get("heavenly_win", table["own_tile"])
    if win.by == "discard":
        earthly = win.flags.first_turn and win.from_seat == case.dealer
        return table.get("earthly_win", 1) if earthly else 1
    way = {"rob_kong": "robbing_kong", "indicator": "robbing_gold", "flowers": "eight_flowers"}
    return table.get(way.get(win.by, "own_tile"), 1)
