"""Settling a hand under the Hong Kong rules: refusals, faan, points, who pays."""

from __future__ import annotations

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import forfeited, invalid_meld, robbed_pung, single_win, wrong_count
from tablectl.rules.hongkong.faan import Counted, count
from tablectl.rules.hongkong.options import HongKongOptions
from tablectl.rules.hongkong.patterns import LIMIT, MINIMUM, PATTERNS, POINTS
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, win_text
from tablectl.rules.wild import NO_WILD
from tablectl.tiles import format_tile

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}


def settle(case: ScoreCase, options: HongKongOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    if case.round_wind is None:
        raise CaseError("Hong Kong rules need the round wind", field="round_wind")
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    refusal = (
        wrong_count(case, win, 13, names)
        or forfeited(case, win, names)
        or invalid_meld(case, win, NO_WILD, names)
    )
    if refusal:
        return refusal
    counted = None if win.by in ("flowers", "ten_honours") else count(case, win)
    if counted is None:
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}")
    return _claim_refusal(case, win, names) or _pay(case, win, counted, options, names)


_NO_SHAPE = "the tiles are neither four sets and a pair nor thirteen orphans."


def _claim_refusal(case: ScoreCase, win: Win, names: Names) -> Settlement | None:
    """Refuses ways of winning that the rules lack."""
    problem = None
    if win.by == "indicator":
        problem = "no tile is turned up in these rules, so there is none to rob."
    elif win.by == "deal" and win.seat != case.dealer:
        problem = "only the dealer holds fourteen dealt tiles."
    elif win.by == "rob_kong" and not robbed_pung(case, win, NO_WILD):
        assert win.from_seat is not None
        assert win.tile is not None
        shown = format_tile(win.tile)
        problem = f"{names(win.from_seat)} shows no pung of {shown}; a closed kong is not robbed."
    return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}") if problem else None


def _pay(
    case: ScoreCase, win: Win, counted: Counted, options: HongKongOptions, names: Names
) -> Settlement:
    total = counted.total
    lines = [f"{win_text(win, names)}: {hand_text(case.seats[win.seat].melds, counted.reading)}"]
    lines += [f"{_TITLES[pattern]}: {faan} faan" for pattern, faan in counted.faan.items()]
    if total < MINIMUM:
        lines.append(f"{total} faan · {MINIMUM} to win")
        return refused("below_minimum", lines[-1]).model_copy(update={"lines": tuple(lines)})
    points = POINTS[total]
    lines.append(f"{_sum_text(counted)}: {points} points")
    payments = Payments(len(case.seats))
    for payer, share, why in _shares(case, win, options):
        amount = points * share // 4
        payments.pay(payer, win.seat, amount)
        lines.append(f"{names(payer)} pays {why}: {amount}")
    lines.append(f"{names(win.seat)} receives {payments.delta[win.seat]}")
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: counted.faan},
        lines=tuple(lines),
    )


def _sum_text(counted: Counted) -> str:
    values = list(counted.faan.values())
    total = sum(values)
    text = " + ".join(str(value) for value in values)
    if len(values) == 1:
        return f"{total} faan"
    return f"{text} = {total} faan" + (f", held to the limit of {LIMIT}" if total > LIMIT else "")


def _shares(case: ScoreCase, win: Win, options: HongKongOptions) -> list[tuple[int, int, str]]:
    """Who pays how many quarters of the points, and why (C4, C5)."""
    others = [case.seat_after(win.seat, step) for step in (1, 2, 3)]
    if win.from_seat is None:
        return [(seat, 2, "half, as everyone on an own draw") for seat in others]
    gave = "whose kong was robbed" if win.by == "rob_kong" else "who threw the tile"
    if options.payment == "thrower_all":
        return [(win.from_seat, 4, f"all, {gave}")]
    return [
        (seat, 2, f"half, {gave}") if seat == win.from_seat else (seat, 1, "a quarter")
        for seat in others
    ]
