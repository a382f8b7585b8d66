"""Settling a hand under the north-west Hubei rules: refusals, doubles, who pays. K1, K14 to K21."""

from __future__ import annotations

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import forfeited, invalid_meld, robbed_pung, wrong_count
from tablectl.rules.kawuxing.doubles import Counted, count
from tablectl.rules.kawuxing.options import KawuxingOptions
from tablectl.rules.kawuxing.patterns import PATTERNS
from tablectl.rules.kawuxing.payment import pay_disclosure, pay_kongs, pay_win
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, refused
from tablectl.rules.text import hand_text, plus, win_text
from tablectl.rules.wild import NO_WILD
from tablectl.tiles import format_tile, format_tiles

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}
_NO_SHAPE = "the tiles are neither four sets and a pair nor seven pairs."


def settle(case: ScoreCase, options: KawuxingOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    _check_winners(case)
    counted: list[tuple[Win, Counted]] = []
    for win in case.outcome.wins:
        found = _judge(case, win, options, names)
        if isinstance(found, Settlement):
            return found  # one invalid claim among several makes the whole case an error
        counted.append((win, found))
    payments = Payments(len(case.seats))
    lines = pay_kongs(case, payments, names)
    if not counted:
        lines += pay_disclosure(case, payments, names)
        lines.insert(0, "Drawn hand." if lines else "Drawn hand: nobody pays.")
    for win, hand in counted:
        lines += _hand_lines(case, win, hand, names)
        lines += pay_win(case, win, hand.score, payments, names)
    if any(payments.delta):
        lines.append(_balance(payments, names))
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: hand.doubles for win, hand in counted},
        lines=tuple(lines),
    )


def _balance(payments: Payments, names: Names) -> str:
    parts = [f"{names(seat)} {amount:+d}" for seat, amount in enumerate(payments.delta)]
    return f"In all: {', '.join(parts)}"


def _check_winners(case: ScoreCase) -> None:
    """Several may win, but only on one tile.

    Raises:
        CaseError: the wins do not go together.
    """
    wins = case.outcome.wins
    if len({(win.by, win.from_seat, win.tile) for win in wins}) > 1 or (
        len(wins) > 1 and wins[0].from_seat is None
    ):
        raise CaseError("several win only on one discard or robbed kong", field="outcome.wins")


def _judge(
    case: ScoreCase, win: Win, options: KawuxingOptions, names: Names
) -> Counted | Settlement:
    """What a claim is worth, or why it is no valid win."""
    refusal = (
        wrong_count(case, win, 13, names)
        or forfeited(case, win, names)
        or _invalid_meld(case, win, names)
    )
    if refusal:
        return refusal
    counted = None
    if win.by not in ("flowers", "ten_honours"):
        counted = count(case.seats[win.seat], win, options)
    if counted is None:
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}")
    problem = _claim_problem(case, win, counted, names)
    if problem:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}")
    if win.from_seat is not None and not counted.doubles:
        return refused("below_minimum", "no doubling pattern · without one only an own draw wins")
    return counted


def _invalid_meld(case: ScoreCase, win: Win, names: Names) -> Settlement | None:
    """Refuses what the usual rules refuse, and chows."""
    chow = next((m for m in case.seats[win.seat].melds if m.kind == "chow"), None)
    if chow is None:
        return invalid_meld(case, win, NO_WILD, names)
    line = f"{names(win.seat)} laid out {format_tiles(chow.tiles)}: these rules have no chow."
    return refused("invalid_meld", line)


def _claim_problem(case: ScoreCase, win: Win, counted: Counted, names: Names) -> str | None:
    """Why this way of winning is not open to the seat, in words (G4, K21)."""
    if win.by == "indicator":
        return "no tile is turned up in these rules."
    if win.by == "deal" and win.seat != case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.from_seat is None:
        return None
    if win.by == "rob_kong" and not robbed_pung(case, win, NO_WILD):
        assert win.tile is not None
        shown = format_tile(win.tile)
        return f"{names(win.from_seat)} shows no pung of {shown}; a closed kong is not robbed."
    missed = win.flags.missed
    if missed is True:
        return "the seat let a winning tile go and has not had its turn since."
    if missed and counted.score <= missed:
        return f"the seat let a win of {missed} go; this one scores {counted.score}, no more."
    return None


def _hand_lines(case: ScoreCase, win: Win, hand: Counted, names: Names) -> list[str]:
    lines = [f"{win_text(win, names)}: {hand_text(case.seats[win.seat].melds, hand.reading)}"]
    lines += [f"{_TITLES[pattern]}: {_n_doubles(n)}" for pattern, n in hand.doubles.items()]
    values = list(hand.doubles.values())
    if not values:
        lines.append("No doubles: 1 unit")
        return lines
    held = f", held to {hand.total}" if hand.total < sum(values) else ""
    total = _n_doubles(values[0]) if len(values) == 1 else f"{plus(values)} doubles"
    lines.append(f"{total}{held}: {hand.score} units")
    return lines


def _n_doubles(number: int) -> str:
    return "1 double" if number == 1 else f"{number} doubles"


def false_win(case: ScoreCase, options: KawuxingOptions, names: Names) -> Settlement:
    """Settle a false win: the document names no penalty, and kongs stay paid (K17)."""
    del options
    payments = Payments(len(case.seats))
    caller = names(case.outcome.wins[0].seat)
    lines = [f"{caller} declared a false win; the document names no penalty."]
    lines += pay_kongs(case, payments, names)
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=tuple(lines)
    )
