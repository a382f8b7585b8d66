"""The penalty for a false win under the Yangzhou rules (M32)."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement
from tablectl.rules.yangzhou.hand import honour_pungs
from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import PATTERNS

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}


def false_win(case: ScoreCase, options: YangzhouOptions, names: Names) -> Settlement:
    """What a false win costs (M32): each seat gets what it would have owed had the win stood.

    A hand that does not win has no patterns of its own, so what it was meant to bring follows from
    the way of winning and the sets laid out.
    """
    del options
    win = case.outcome.wins[0]
    melds = case.seats[win.seat].melds
    kinds = [meld.kind for meld in melds]
    meant = {
        "own_tile": int(win.from_seat is None),
        "fully_closed": int(not any(meld.is_open for meld in melds)),
        "open_kong": kinds.count("kong") + kinds.count("added_kong"),
        "closed_kong": 2 * kinds.count("closed_kong"),
        **_pungs_laid(case, win),
    }
    score = sum(meant.values())
    if win.from_seat is None:
        owed = {case.seat_after(win.seat, step): score for step in (1, 2, 3)}
    else:
        owed = {win.from_seat: 2 * score}
    payments = Payments(len(case.seats))
    for seat, share in owed.items():
        payments.pay(win.seat, seat, share)
    told = ", ".join(f"{_TITLES[name]} {value}" for name, value in meant.items() if value)
    lines = (
        f"{names(win.seat)} declared a false win and pays what it meant to receive",
        f"Way of winning and sets laid out: {told or 'no points'}",
        *(f"{names(seat)} receives {share}" for seat, share in owed.items()),
    )
    return Settlement(delta=payments.delta, payments=payments.transfers, patterns={}, lines=lines)


def _pungs_laid(case: ScoreCase, win: Win) -> dict[str, int]:
    """Wind and dragon pungs among the sets laid out."""
    faces = [m.tiles[0] for m in case.seats[win.seat].melds if m.kind != "chow"]
    return honour_pungs(case, win, faces)
