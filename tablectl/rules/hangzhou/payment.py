"""Who owes what for a Hangzhou win: banker factor, claims, robbing, liabilities.

Readings H1, H12 to H17, H22.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.ruleset import Names
from tablectl.rules.text import plus

BANKER_FACTOR: Final = (2, 4, 8)
"""For the banker's first, second, and third or later hand."""

SETS_FOR_LIABILITY: Final = 3


@dataclass(frozen=True, slots=True)
class Bill:
    """What each debtor owes the winner before chips run out, and the arithmetic in words."""

    owed: dict[int, int]
    lines: list[str]


def bill(
    case: ScoreCase, win: Win, multiplier: int, options: HangzhouOptions, names: Names
) -> Bill:
    """Who owes the winner what.

    Args:
        multiplier: all multipliers of the hand together, robbing included.
    """
    if win.by == "discard":
        return _claim_bill(case, win, multiplier, options, names)
    if win.by == "rob_kong":
        return _robbery_bill(case, win, multiplier, names)
    return _own_draw_bill(case, win, multiplier, options, names)


def factor(case: ScoreCase, payer: int, winner: int) -> int:
    """The banker factor of one payment (H1)."""
    if case.dealer not in (payer, winner):
        return 1
    return BANKER_FACTOR[min(case.streak, 3) - 1]


def sets_from(case: ScoreCase, taker: int, giver: int) -> int:
    """Chows, pungs, direct and filled kongs that ``taker`` has from ``giver`` (H14)."""
    return sum(meld.from_seat == giver for meld in case.seats[taker].melds)


def liability(case: ScoreCase, winner: int, seat: int) -> tuple[bool, bool]:
    """Whether a seat is liable to the winner, and whether it is counter-liable."""
    return (
        sets_from(case, winner, seat) >= SETS_FOR_LIABILITY,
        sets_from(case, seat, winner) >= SETS_FOR_LIABILITY,
    )


def _others(case: ScoreCase, seat: int) -> list[int]:
    return [case.seat_after(seat, step) for step in range(1, len(case.seats))]


def _share_lines(
    case: ScoreCase, win: Win, multiplier: int, shares: dict[int, int], names: Names
) -> list[str]:
    lines = []
    for seat, share in shares.items():
        step = factor(case, seat, win.seat)
        banker = f"{multiplier} × {step} (banker, hand {case.streak}) = " if step > 1 else ""
        lines.append(f"{names(seat)}: {banker}{share}")
    return lines


def _own_draw_bill(
    case: ScoreCase, win: Win, multiplier: int, options: HangzhouOptions, names: Names
) -> Bill:
    gift = win.flags.float_gift
    fed = gift is not None and options.float_calls == "calls_allowed"
    before = multiplier
    if gift is not None and fed and options.float_second_half_liability and gift.seat != win.seat:
        before = min(gift.before, multiplier)
    others = _others(case, win.seat)
    shares = {seat: before * factor(case, seat, win.seat) for seat in others}
    lines = _share_lines(case, win, before, shares, names)
    owed, more = _liable(case, win, shares, names)
    lines += more
    if gift is not None and before < multiplier:
        rest = [(multiplier - before) * factor(case, seat, win.seat) for seat in others]
        owed[gift.seat] = owed.get(gift.seat, 0) + sum(rest)
        lines.append(
            f"{names(gift.seat)} fed the float at ×{before}, which grew to ×{multiplier}: it pays "
            f"the rest for all: {plus(rest)}"
        )
    return Bill(owed, lines)


def _liable(
    case: ScoreCase, win: Win, shares: dict[int, int], names: Names
) -> tuple[dict[int, int], list[str]]:
    """Normal shares, or what liable seats pay in place of everybody (H15, H16)."""
    owed, lines = dict[int, int](), list[str]()
    full = sum(shares.values())
    for seat in shares:
        is_liable, is_counter = liability(case, win.seat, seat)
        times = is_liable + 2 * is_counter
        if times:
            owed[seat] = times * full
            lines.append(
                f"{_why(names, win.seat, seat, is_liable, is_counter)}: {names(seat)} pays for "
                f"all: {plus(list(shares.values()))}"
                + (f", × {times} = {times * full}" * (times > 1))
            )
    return (owed, lines) if owed else (dict(shares), [])


def _why(names: Names, winner: int, seat: int, is_liable: bool, is_counter: bool) -> str:
    """The liability in words."""
    reasons = []
    if is_liable:
        reasons.append(f"3 sets of {names(winner)} from {names(seat)} (liable)")
    if is_counter:
        reasons.append(f"3 sets of {names(seat)} from {names(winner)} (counter-liable)")
    return " and ".join(reasons)


def _robbery_bill(case: ScoreCase, win: Win, multiplier: int, names: Names) -> Bill:
    """The robbed seat pays all that an own draw would bring (H13)."""
    assert win.from_seat is not None
    shares = {seat: multiplier * factor(case, seat, win.seat) for seat in _others(case, win.seat)}
    lines = _share_lines(case, win, multiplier, shares, names)
    amounts = list(shares.values())
    lines.append(f"{names(win.from_seat)}, whose kong was robbed, pays for all: {plus(amounts)}")
    return Bill({win.from_seat: sum(amounts)}, lines)


def _claim_bill(
    case: ScoreCase, win: Win, multiplier: int, options: HangzhouOptions, names: Names
) -> Bill:
    """The discarder pays alone, unless liabilities hold on claims too (H12, H17)."""
    giver = win.from_seat
    assert giver is not None
    due = multiplier * factor(case, giver, win.seat)
    lines = _share_lines(case, win, multiplier, {giver: due}, names)
    owed = {giver: due}
    if options.liability_on_claim:
        for seat in _others(case, win.seat):
            is_liable, is_counter = liability(case, win.seat, seat)
            extra = due * (is_liable + 2 * is_counter)
            if extra:
                owed[seat] = owed.get(seat, 0) + extra
                why = _why(names, win.seat, seat, is_liable, is_counter)
                lines.append(f"{why}: {names(seat)} pays {extra} more")
    return Bill(owed, lines)
