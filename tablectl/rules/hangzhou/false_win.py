"""The penalty for a false win: what the claim was meant to bring."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase
from tablectl.rules.hangzhou.hand import Multipliers, honours_multiplier, total
from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.hangzhou.payment import factor
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement
from tablectl.rules.text import plus


def false_win(case: ScoreCase, options: HangzhouOptions, names: Names) -> Settlement:
    """Settle a false win.

    A hand that does not win has no shape to multiply, so what it was meant to bring follows from
    the way of winning alone: unit, banker factor, kong streak, robbing, floats with their wild eye.
    Each seat gets what it would have owed.
    """
    win = case.outcome.wins[0]
    found: Multipliers = {}
    if win.by == "ten_honours":
        found = honours_multiplier(win, options)
    elif win.is_own_draw:
        found = {"kong_bloom": 2**win.flags.kong_draw}
        if win.flags.floats:
            found |= {"wild_eye": 2, "double_float": 2**win.flags.floats}
    elif win.by == "rob_kong":
        found = {"robbing_kong": 2}
    others = [case.seat_after(win.seat, step) for step in (1, 2, 3)]
    owed = {seat: total(found) * factor(case, seat, win.seat) for seat in others}
    if win.by == "discard":
        owed = {seat: share for seat, share in owed.items() if seat == win.from_seat}
    elif win.by == "rob_kong" and win.from_seat is not None:
        owed = {win.from_seat: sum(owed.values())}
    payments = Payments(len(case.seats))
    for seat, share in owed.items():
        payments.pay(win.seat, seat, share)
    amounts = list(owed.values())
    meant = f"declared a false win and pays what it meant to receive: {plus(amounts)}"
    lines = (
        f"{names(win.seat)} {meant}",
        *(f"{names(seat)} receives {share}" for seat, share in owed.items()),
    )
    return Settlement(delta=payments.delta, payments=payments.transfers, patterns={}, lines=lines)
