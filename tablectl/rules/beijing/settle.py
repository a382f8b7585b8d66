"""Settling a hand under the Beijing rules: refusals, doubles, who pays. B1 to B27."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tablectl.rules.beijing.hand import (
    Counted,
    Situation,
    count,
    is_closed,
    is_eye_call,
    wild_rule,
)
from tablectl.rules.beijing.options import BeijingOptions
from tablectl.rules.beijing.patterns import PATTERNS
from tablectl.rules.beijing.payment import Bill, holders, is_upstairs, pay_events, pay_hand
from tablectl.rules.case import CaseError, ScoreCase, SeatState, Win
from tablectl.rules.claims import (
    forfeited,
    invalid_meld,
    robbed_pung,
    single_win,
    wild_claimed,
    wrong_count,
)
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Number, Payments, Settlement, refused
from tablectl.rules.text import hand_text, plus, wild_as, win_text
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, format_tile

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}
_NO_SHAPE = "the tiles are neither four sets and a pair nor seven pairs"


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    options: BeijingOptions
    wild: Wild
    names: Names

    @property
    def seat(self) -> SeatState:
        return self.case.seats[self.win.seat]

    @property
    def kind(self) -> Tile:
        """The wild kind."""
        return next(iter(self.wild.tiles))


def settle(case: ScoreCase, options: BeijingOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    wild = wild_rule(case.indicator, options)
    if not wild.tiles:
        raise CaseError("Beijing rules need the wild indicator", field="indicator")
    win = single_win(case)
    if win is None:
        return _drawn(case, wild, options, names)
    claim = _Claim(case, win, options, wild, names)
    refusal = (
        wrong_count(case, win, 13, names)
        or forfeited(case, win, names)
        or _threw_wild(claim)
        or invalid_meld(case, win, wild, names)
        or wild_claimed(win, wild)
    )
    if refusal:
        return refusal
    situation = _situation(claim)
    counted = None if situation is None else count(situation)
    if situation is None or counted is None:
        void = ", with one suit missing (an option)" if options.void_suit else ""
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}{void}.")
    problem = _claim_problem(claim, situation.eye_call)
    if not problem and situation.win.by == "rob_kong" and not robbed_pung(case, win, wild):
        counted = count(replace(situation, robs_concealed=True))
        problem = "" if counted else "a closed kong is robbed only for a run of a flush."
    if problem or counted is None:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}")
    return _pay(claim, counted)


def _drawn(case: ScoreCase, wild: Wild, options: BeijingOptions, names: Names) -> Settlement:
    payments = Payments(len(case.seats))
    lines = pay_events(case, next(iter(wild.tiles)), options, payments, names)
    head = "Drawn hand." if lines else "Drawn hand: nobody pays."
    if lines and is_upstairs(case, options):
        lines.append("Upstairs: everything is doubled")
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=(head, *lines)
    )


def _situation(claim: _Claim) -> Situation | None:
    win = claim.win
    if win.tile is None or win.by in ("flowers", "ten_honours"):
        return None
    return Situation(
        seat=claim.seat,
        win=win,
        tile=win.tile,
        wild=claim.kind,
        options=claim.options,
        is_banker=win.seat == claim.case.dealer,
        robs_concealed=False,
        eye_call=is_eye_call(claim.seat.hand, len(claim.seat.melds), claim.kind),
    )


def _threw_wild(claim: _Claim) -> Settlement | None:
    """Refuses a seat that threw a wild tile (B24)."""
    if claim.kind not in claim.seat.aside:
        return None
    line = f"{claim.names(claim.win.seat)} threw the wild tile {format_tile(claim.kind)} and has "
    return refused("forfeited", f"{line}lost the right to win in this hand.")


def _claim_problem(claim: _Claim, eye_call: bool) -> str:
    """Why this way of winning is not open to the seat, in words; ``""`` if it is (B3, B4)."""
    win = claim.win
    if win.by == "indicator":
        return "the indicator cannot be robbed in these rules."
    if win.by == "deal" and win.seat != claim.case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.from_seat is None:
        return ""
    if not is_closed(claim.seat.melds):
        return "a hand with an open set wins by an own draw only."
    if claim.seat.hand.count(claim.kind) > 2:
        return "a hand with more than two wild tiles wins by an own draw only."
    if eye_call:
        return "a hand that any tile completes (wild eye) wins by an own draw only."
    if win.flags.missed and claim.options.missed_win_lock:
        return "the seat let a winning tile go and has not had its turn since (an option)."
    return ""


def _bill(claim: _Claim, counted: Counted) -> tuple[Bill, dict[str, Number]]:
    """What is paid, and the patterns that say so: flat points replace doubles (B14, B15)."""
    case, win, options = claim.case, claim.win, claim.options
    if win.by == "deal" and options.heavenly_points:
        return Bill({}, options.heavenly_points), {"heavenly_win": options.heavenly_points}
    first = win.by == "discard" and win.flags.first_turn and win.from_seat == case.dealer
    if first and options.earthly_points:
        return Bill({}, options.earthly_points), {"earthly_win": options.earthly_points}
    return Bill(counted.doubles), dict(counted.doubles)


def _pay(claim: _Claim, counted: Counted) -> Settlement:
    case, win, names = claim.case, claim.win, claim.names
    bill, patterns = _bill(claim, counted)
    lines, shown = _hand_lines(claim, counted)
    if bill.flat:
        lines += [f"{_TITLES[pattern]}: {points} from each" for pattern, points in patterns.items()]
    else:
        lines += [f"{_TITLES[pattern]}: {_n(n)}" for pattern, n in bill.doubles.items()]
        values = list(bill.doubles.values())
        lines.append(f"Hand: {plus(values)} doubles = {2 ** sum(values)}" if values else "Hand: 1")
    shares, more = pay_hand(case, win, bill, claim.options, names)
    payments, upstairs = Payments(len(case.seats)), is_upstairs(case, claim.options)
    for payer, share in shares.items():
        payments.pay(payer, win.seat, share * (2 if upstairs else 1))
    lines += more + pay_events(case, claim.kind, claim.options, payments, names)
    if upstairs:
        lines.append("Upstairs: everything is doubled")
    if claim.options.wild_kong_points and win.seat in holders(case, claim.kind):
        patterns["wild_kong"] = claim.options.wild_kong_points
    lines.append(_balance(payments, names))
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: patterns},
        wild_as={win.seat: shown} if shown else {},
        lines=tuple(lines),
    )


def _hand_lines(claim: _Claim, counted: Counted) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    win, reading = claim.win, counted.read.reading
    assert win.tile is not None
    lines = [f"{win_text(win, claim.names)}: {hand_text(claim.seat.melds, reading)}"]
    held = [tile for tile in (*claim.seat.hand, win.tile) if tile == claim.kind]
    if not held:
        return lines, {}
    if counted.read.straight:
        face = format_tile(claim.kind)
        shown = {face: (face,) * len(held)}
    else:
        shown = wild_as(held, reading, claim.kind)
    lines += [f"Wild {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    return lines, shown


def _n(number: int) -> str:
    return "1 double" if number == 1 else f"{number} doubles"


def _balance(payments: Payments, names: Names) -> str:
    parts = [f"{names(seat)} {amount:+d}" for seat, amount in enumerate(payments.delta)]
    return f"In all: {', '.join(parts)}"


def false_win(case: ScoreCase, options: BeijingOptions, names: Names) -> Settlement:
    """Settle a false win: the amount claimed, or the fixed one, to each of the others.

    Where the tiles do make a winning shape, that is what was claimed. Where they do not, the way of
    winning alone says what the claim was worth. Wild kongs and a busted banker are no part of it.
    """
    win, wild = case.outcome.wins[0], wild_rule(case.indicator, options)
    payments = Payments(len(case.seats))
    if options.false_win == "fixed":
        fixed = options.heavenly_points or _FIXED
        shares = {case.seat_after(win.seat, step): fixed for step in range(1, len(case.seats))}
        lines = [f"{names(win.seat)} declared a false win and pays {fixed} to each"]
    else:
        claim = _Claim(case, win, options, wild, names)
        bill = _claimed_bill(claim)
        shares, lines = pay_hand(case, win, bill, options, names)
        lines.insert(0, f"{names(win.seat)} declared a false win and pays what it claimed")
    upstairs = is_upstairs(case, options)
    for receiver, share in shares.items():
        payments.pay(win.seat, receiver, share * (2 if upstairs else 1))
    if upstairs:
        lines.append("Upstairs: everything is doubled")
    lines.append(_balance(payments, names))
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns={}, lines=tuple(lines)
    )


_FIXED = 20
"""Where heavenly wins are not played: their usual points."""


def _claimed_bill(claim: _Claim) -> Bill:
    win, case = claim.win, claim.case
    situation = _situation(claim) if claim.wild.tiles else None
    right_size = len(claim.seat.hand) + 3 * len(claim.seat.melds) == 13
    usual = all(not claim.wild.tiles & set(m.tiles) for m in claim.seat.melds)
    counted = count(situation) if situation is not None and right_size and usual else None
    if counted is not None:
        return _bill(claim, counted)[0]
    weights = dict(claim.options.doubles.items())
    found = {
        "banker": win.seat == case.dealer,
        "closed": is_closed(claim.seat.melds),
        "own_tile": win.is_own_draw,
        "kong_bloom": win.by == "self_draw" and win.flags.kong_draw > 0,
    }
    doubles = {p: dict[str, int](weights.items()).get(p, 1) for p, holds in found.items() if holds}
    return Bill(doubles)
