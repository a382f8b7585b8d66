"""The penalty for a false win under the Wuhan rules (M32)."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement
from tablectl.rules.wuhan.count import counted
from tablectl.rules.wuhan.hand import Form
from tablectl.rules.wuhan.options import WuhanOptions
from tablectl.rules.wuhan.payment import divided, limited
from tablectl.rules.wuhan.terms import Terms, wuhan_terms
from tablectl.rules.wuhan.wild import wild_rule


def false_win(case: ScoreCase, options: WuhanOptions, names: Names) -> Settlement:
    """Settle a false win: each seat gets what it would have owed had the win stood."""
    return false_win_under(case, wuhan_terms(options), names)


def false_win_under(case: ScoreCase, terms: Terms, names: Names) -> Settlement:
    """As :func:`false_win`, under the terms of either game.

    A hand that does not win has no form of its own, so what it was meant to bring follows from the
    way of winning and the sets and tiles laid out. Minimum and liability are not asked.
    """
    win = case.outcome.wins[0]
    meant = Form(reading=(), conditions=(), eyes=True, hard=False, wilds=0)
    way = counted(case, win, meant, wild_rule(case.indicator, terms), terms)
    payments = Payments(len(case.seats))
    lines = [f"{names(win.seat)} declared a false win and pays what it meant to receive"]
    for seat, (value, _) in limited(case, way, terms).items():
        points = divided(value, terms)
        payments.pay(win.seat, seat, points)
        lines.append(f"{names(seat)} receives {points}")
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=tuple(lines)
    )
