"""Settling a hand under the Hangzhou rules: refusals, multipliers, who pays. H1, H4, H12 to H22."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import (
    forfeited,
    invalid_meld,
    robbed_pung,
    single_win,
    wild_claimed,
    wrong_count,
)
from tablectl.rules.hangzhou.hand import (
    Hand,
    Multipliers,
    honours_multiplier,
    look,
    multipliers,
    shown_reading,
    total,
    wild_rule,
)
from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.hangzhou.patterns import PATTERNS
from tablectl.rules.hangzhou.payment import Bill, bill
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, times, wild_as, win_text
from tablectl.rules.wild import Wild
from tablectl.tiles import format_tile, is_honour

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    options: HangzhouOptions
    wild: Wild
    names: Names


def settle(case: ScoreCase, options: HangzhouOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    if case.indicator is None and not options.permanent_fortune:
        raise CaseError("no indicator, and no permanent fortune tiles", field="indicator")
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    wild = wild_rule(case.indicator, options)
    claim = _Claim(case, win, options, wild, names)
    refusal = (
        wrong_count(case, win, 13, names)
        or forfeited(case, win, names)
        or invalid_meld(case, win, wild, names)
        or wild_claimed(win, wild)
    )
    if refusal:
        return refusal
    if win.by == "ten_honours":
        return _settle_honours(claim)
    seat = case.seats[win.seat]
    hand = None if win.tile is None else look(seat.hand, len(seat.melds), win.tile, wild)
    if hand is None or not hand.wins or win.by == "flowers":
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}")
    problem = _claim_problem(claim, hand)
    if problem:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}")
    return _settle_hand(claim, hand)


_NO_SHAPE = "the tiles are neither four sets and a pair nor seven pairs."


def _claim_problem(claim: _Claim, hand: Hand) -> str | None:
    """Why this way of winning is not open to the seat, in words (H4, H12, H18, H21, G4)."""
    case, win = claim.case, claim.win
    if win.by == "indicator":
        return "the indicator cannot be robbed in these rules."
    if win.by == "deal" and win.seat != case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.from_seat is None:
        return None
    least = claim.options.rob_kong_min_streak if win.by == "rob_kong" else 3
    if claim.options.wall_only:
        return "only own draws win (an option)."
    if case.streak < least:
        return f"claims open from the banker's hand {least} on; this is hand {case.streak}."
    if case.dealer not in (win.seat, win.from_seat):
        return "a non-banker never claims from another non-banker."
    if win.by == "rob_kong" and not robbed_pung(case, win, claim.wild):
        return f"{claim.names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    if hand.eye_call:
        return "a hand that any tile completes (wild eye) wins by an own draw only."
    if win.flags.missed and claim.options.missed_win_lock:
        return "the seat let this tile go and has not had its turn since (an option)."
    return None


def _settle_honours(claim: _Claim) -> Settlement:
    """Ten or more honours thrown from the start: no hand is looked at (H20)."""
    win = claim.win
    problem = None
    if claim.options.ten_honours == "off":
        problem = "ten honours do not win unless the option says so."
    elif win.flags.honours < 10:
        problem = f"{win.flags.honours} honours were thrown, ten are needed."
    elif _honour_called(claim):
        problem = "one of the honours was called, which ended the attempt."
    if problem:
        return refused("not_winning_shape", f"{win_text(win, claim.names)}: {problem}")
    lines = [f"{win_text(win, claim.names)}: {win.flags.honours} of them"]
    return _finish(claim, honours_multiplier(win, claim.options), lines)


def _honour_called(claim: _Claim) -> bool:
    """Whether another seat laid out an honour that the winner threw."""
    return any(
        meld.from_seat == claim.win.seat and is_honour(claim.wild.plays_as(meld.tiles[0]))
        for seat in claim.case.seats
        for meld in seat.melds
    )


def _settle_hand(claim: _Claim, hand: Hand) -> Settlement:
    case, win = claim.case, claim.win
    seat = case.seats[win.seat]
    reading = shown_reading(hand, case, win, claim.wild)
    lines = [f"{win_text(win, claim.names)}: {hand_text(seat.melds, reading)}"]
    assert win.tile is not None
    fortunes = [tile for tile in (*seat.hand, win.tile) if tile in claim.wild.tiles]
    shown = wild_as(fortunes, reading, fortunes[0]) if fortunes else {}
    lines += [f"Fortune {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    lines += [
        f"{format_tile(tile)} plays as {format_tile(face)}"
        for tile, face in claim.wild.faces.items()
        if tile in (*seat.hand, win.tile)
    ]
    settled = _finish(claim, multipliers(hand, win, claim.options), lines)
    return settled.model_copy(update={"wild_as": {win.seat: shown} if shown else {}})


def _finish(claim: _Claim, found: Multipliers, lines: list[str]) -> Settlement:
    lines += [f"{_TITLES[pattern]}: ×{value}" for pattern, value in found.items()]
    if not found:
        lines.append("No doubles: ×1")
    elif len(found) > 1:
        lines.append(f"Hand: {times(list(found.values()))}")
    settled = bill(claim.case, claim.win, total(found), claim.options, claim.names)
    return _settlement(claim, settled, found, lines)


def _settlement(claim: _Claim, settled: Bill, found: Multipliers, lines: list[str]) -> Settlement:
    case, win, names = claim.case, claim.win, claim.names
    payments = Payments(len(case.seats))
    lines += settled.lines
    for payer, owed in settled.owed.items():
        chips = case.seats[payer].chips if claim.options.max_loss is not None else None
        paid = owed if chips is None else min(owed, chips)
        payments.pay(payer, win.seat, paid)
        if paid < owed:
            lines.append(f"{names(payer)} has {paid} chips left and pays those: no debt arises")
    lines.append(f"{names(win.seat)} receives {payments.delta[win.seat]}")
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: found},
        lines=tuple(lines),
    )
