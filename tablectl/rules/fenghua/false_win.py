"""The penalty for a false win under the Fenghua rules (M32)."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase
from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.fenghua.payment import share
from tablectl.rules.fenghua.settle import meant_points
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement
from tablectl.rules.text import plus


def false_win(case: ScoreCase, options: FenghuaOptions, names: Names) -> Settlement:
    """Settle a false win: each other seat gets what it would have owed had the win stood (X26).

    A hand that does not win has no arrangement, so what it was meant to bring follows from the way
    of winning, wild tiles, flowers and sets laid out. Minimum and liability are not asked.
    """
    win = case.outcome.wins[0]
    points = meant_points(case, options, names)
    score = -(-sum(points.values()) // 10) * 10
    payments = Payments(len(case.seats))
    lines = [
        f"{names(win.seat)} declared a false win and pays what it meant to receive",
        f"Points: {plus(list(points.values()))}, rounded up to {score}",
    ]
    for other in (case.seat_after(win.seat, step) for step in (1, 2, 3)):
        amount = share(win, other, score)
        payments.pay(win.seat, other, amount)
        lines.append(f"{names(other)} receives {amount}")
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=tuple(lines)
    )
