"""Settling a hand under the Mainland rules: refusals, fan, points, who pays."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import CaseError, Meld, ScoreCase, Win
from tablectl.rules.claims import forfeited, robbed_pung, single_win, wrong_count
from tablectl.rules.mainland.hand import (
    Counted,
    Fan,
    Held,
    count,
    extras,
    fan_of,
    may_be_chicken,
)
from tablectl.rules.mainland.options import MainlandOptions
from tablectl.rules.mainland.patterns import PATTERNS
from tablectl.rules.mainland.treasure import joy_problem, wild_rule
from tablectl.rules.melds import is_run, meld_problem
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, plus, wild_as, win_text
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import format_tile, format_tiles, is_flower

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    options: MainlandOptions
    wild: Wild
    names: Names


def settle(case: ScoreCase, options: MainlandOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    _check_table(case, options)
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    claim = _Claim(case, win, options, wild_rule(case.indicator, options), names)
    refusal = (
        wrong_count(case, win, 13, names) or forfeited(case, win, names) or _invalid_meld(claim)
    )
    if refusal:
        return refusal
    found: list[Counted] = []
    if win.tile is not None and win.by not in ("flowers", "ten_honours"):
        found = count(case, win, claim.wild, options)
    if not found:
        line = f"{win_text(win, names)}: the tiles are not four sets and a pair."
        return refused("not_winning_shape", line)
    return _claim_refusal(claim) or _pay_best(claim, found)


def _check_table(case: ScoreCase, options: MainlandOptions) -> None:
    """What a readable case must say.

    Raises:
        CaseError: round wind, turned tile or a joy's moment is missing.
    """
    if case.round_wind is None:
        raise CaseError("Mainland rules need the round wind", field="round_wind")
    if options.treasure != "none":
        if case.indicator is None:
            raise CaseError(
                "no tile is turned up, and treasure tiles are played", field="indicator"
            )
        if is_flower(case.indicator):
            raise CaseError("a flower was turned: name the tile turned next", field="indicator")
    for i, seat in enumerate(case.seats):
        for j, meld in enumerate(seat.melds):
            if meld.kind == "joy" and meld.when is None:
                raise CaseError("a joy needs 'when'", field=f"seats.{i}.melds.{j}.when")


def _invalid_meld(claim: _Claim) -> Settlement | None:
    """Refuses a laid-out set that the rules do not permit (D-M1, D-M4, D-M5, D-M8)."""
    melds = claim.case.seats[claim.win.seat].melds
    for at, meld in enumerate(melds):
        problem = None
        if meld.kind == "joy":
            others = [m.when for i, m in enumerate(melds) if m.kind == "joy" and i != at]
            if joy_problem(meld.tiles, meld.when, others, claim.options, claim.wild):
                problem = f"{format_tiles(meld.tiles)}: no such joy may be declared then"
        else:
            wild = NO_WILD if _may_hold_claimed(meld, claim.wild) else claim.wild
            problem = meld_problem(meld, claim.win.seat, len(claim.case.seats), wild)
        if problem:
            return refused("invalid_meld", f"{claim.names(claim.win.seat)} laid out {problem}.")
    return None


def _may_hold_claimed(meld: Meld, wild: Wild) -> bool:
    """Whether a set's only treasure can be the claimed tile, which counts as its face (D-M5)."""
    treasures = sum(tile in wild.tiles for tile in meld.tiles)
    return meld.kind == "chow" and treasures == 1 and is_run(meld.tiles)


def _claim_refusal(claim: _Claim) -> Settlement | None:
    """Refuses ways of winning that the rules lack."""
    win, problem = claim.win, None
    if win.by == "indicator":
        problem = "the turned tile cannot be robbed in these rules."
    elif win.by == "deal" and win.seat != claim.case.dealer:
        problem = "only the dealer holds fourteen dealt tiles."
    elif win.by == "rob_kong" and not robbed_pung(claim.case, win, NO_WILD):
        assert win.tile is not None
        assert win.from_seat is not None
        shown = format_tile(win.tile)
        problem = f"{claim.names(win.from_seat)} shows no pung of {shown} to rob."
    return (
        refused("claim_not_allowed", f"{win_text(win, claim.names)}: {problem}")
        if problem
        else None
    )


def _pay_best(claim: _Claim, found: list[Counted]) -> Settlement:
    """Choose among patterns and, where it is open, the chicken hand (D-M6, D-M7)."""
    case, win, options = claim.case, claim.win, claim.options
    held = Held.of(case.seats[win.seat].hand, win, claim.wild)
    best = found[0]
    if best.fan:
        return _pay(claim, best, best.fan, held)
    if not may_be_chicken(held, win, claim.wild):
        line = (
            f"{win_text(win, claim.names)}: a chicken hand (no hand pattern) cannot contain a "
            "treasure tile, unless its only one is the winning tile, drawn."
        )
        return refused("claim_not_allowed", line)
    name = "chicken_hand_with_treasure" if held.shown else "chicken_hand"
    return _pay(claim, best, {name: fan_of(name, options)}, held)


def _pay(claim: _Claim, counted: Counted, hand: Fan, held: Held) -> Settlement:
    case, win, options, names = claim.case, claim.win, claim.options, claim.names
    fan = hand | extras(case, win, options)
    lines = [f"{win_text(win, names)}: {hand_text(case.seats[win.seat].melds, counted.reading)}"]
    shown = {}
    if held.treasures:
        shown = wild_as(held.treasures, counted.reading, held.treasures[0])
        lines += [f"Treasure {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    lines += [f"{_TITLES[pattern]}: {n} fan" for pattern, n in fan.items()]
    total = sum(fan.values())
    if total < options.minimum_fan:
        lines.append(f"{total} fan · {options.minimum_fan} to win")
        return refused("below_minimum", lines[-1]).model_copy(update={"lines": tuple(lines)})
    points = options.base_points * 2 ** min(total, options.limit_fan)
    lines.append(_points_text(fan, options, points))
    payments = Payments(len(case.seats))
    for payer, times, why in _shares(case, win, options):
        factor = 2 if options.dealer_double and case.dealer in (payer, win.seat) else 1
        amount = points * times * factor
        payments.pay(payer, win.seat, amount)
        sums = f"{points}{f' × {times}' * (times > 1)}{' × 2 (dealer)' * (factor > 1)}"
        told = sums if sums == f"{amount}" else f"{sums} = {amount}"
        lines.append(f"{names(payer)} pays{why}: {told}")
    lines.append(f"{names(win.seat)} receives {payments.delta[win.seat]}")
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: dict(fan)},
        wild_as={win.seat: shown} if shown else {},
        lines=tuple(lines),
    )


def _points_text(fan: Fan, options: MainlandOptions, points: int) -> str:
    total = sum(fan.values())
    values = [value for value in fan.values() if value]
    text = f"{plus(values)} fan" if values else "0 fan"
    if total > options.limit_fan:
        text += f", held to the limit of {options.limit_fan}"
    return f"{text}: {options.base_points} × 2^{min(total, options.limit_fan)} = {points} points"


def _shares(case: ScoreCase, win: Win, options: MainlandOptions) -> list[tuple[int, int, str]]:
    """Who pays how many times the points, and why."""
    others = [case.seat_after(win.seat, step) for step in (1, 2, 3)]
    if win.from_seat is None:
        return [(seat, 1, "") for seat in others]
    gave = "whose kong was robbed" if win.by == "rob_kong" else "who threw the tile"
    if options.payment == "discarder_all":
        return [(win.from_seat, 4, f" for all, {gave}")]
    return [
        (seat, 2, f" double, {gave}") if seat == win.from_seat else (seat, 1, "") for seat in others
    ]


def false_win(case: ScoreCase, options: MainlandOptions, names: Names) -> Settlement:
    """Settle a false win: the sources name no penalty."""
    del options
    caller = names(case.outcome.wins[0].seat)
    line = f"{caller} declared a false win; the sources name no penalty, so nobody pays."
    return drawn_hand(len(case.seats), (line,))
