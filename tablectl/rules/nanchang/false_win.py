"""The penalty for a false win under the Nanchang rules (M32)."""

from __future__ import annotations

from dataclasses import replace

from tablectl.rules.case import ScoreCase
from tablectl.rules.nanchang.bonus import fines, kong_bonus
from tablectl.rules.nanchang.hand import wild_rule
from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.nanchang.patterns import FLAT
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement


def false_win(case: ScoreCase, options: NanchangOptions, names: Names) -> Settlement:
    """Settle a false win: each other seat gets what it would have owed had the win stood (X26).

    A hand that does not win has no doubles of its own, so that is the way of winning, and what the
    caller's fine tiles and kongs would have brought; other seats' bonuses fall away.
    """
    win = case.outcome.wins[0]
    wild = wild_rule(case.indicator, options)
    held = replace(fines(case, wild)[win.seat], alone=False)  # others' hands need not be known
    kongs = [
        kong_bonus(meld.kind, meld.tiles[0] in wild.tiles)[1]
        for meld in case.seats[win.seat].melds
        if meld.is_kong
    ]
    items = held.points + sum(kongs)
    payments, lines = Payments(len(case.seats)), list[str]()
    for other in (case.seat_after(win.seat, step) for step in (1, 2, 3)):
        points = _share(case, other)
        payments.pay(win.seat, other, points + items)
        more = f" + {items} (fine tiles and kongs) = {points + items}" if items else ""
        lines.append(f"{names(other)} receives {points}{more}")
    first = f"{names(win.seat)} declared a false win and pays what it meant to receive"
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=(first, *lines)
    )


def _share(case: ScoreCase, payer: int) -> int:
    """What the way of winning alone would have brought from a seat (N1, N12, N17)."""
    win = case.outcome.wins[0]
    from_banker = win.by == "discard" and win.from_seat == case.dealer
    if win.by == "deal" or (from_banker and win.flags.first_turn):
        return FLAT
    doubles = int(win.is_own_draw or win.by == "rob_kong")
    doubles += win.by == "self_draw" and win.flags.kong_draw > 0
    doubles += case.dealer in (payer, win.seat)
    doubles += win.by == "discard" and payer == win.from_seat
    return int(2**doubles)
