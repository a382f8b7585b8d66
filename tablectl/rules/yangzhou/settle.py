"""Settling a hand under the Yangzhou rules: refusals, points, who pays. D-Y14 to D-Y18."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tablectl.rules.case import REASONS, CaseError, ScoreCase, Win
from tablectl.rules.claims import forfeited, invalid_meld, robbed_pung, wrong_count
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, plus, win_text
from tablectl.rules.wild import NO_WILD
from tablectl.rules.yangzhou.hand import (
    Counted,
    count,
    is_pure,
    third_open_set,
)
from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import PATTERNS
from tablectl.tiles import format_tiles, suit_of

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}
_NO_SHAPE = "the tiles are not four sets and a pair."
_HAND_SIZE = 13


@dataclass(frozen=True, slots=True)
class _Claim:
    """A valid win with its best reading."""

    win: Win
    counted: Counted


def settle(case: ScoreCase, options: YangzhouOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    if case.round_wind is None:
        raise CaseError("Yangzhou rules need the round wind", field="round_wind")
    _check_winners(case)
    if not case.outcome.wins:
        return drawn_hand(len(case.seats))
    judged = [_judge(case, win, options, names) for win in case.outcome.wins]
    refusals = [j for j in judged if isinstance(j, Settlement)]
    if refusals:  # one invalid claim makes the whole case an error
        return min(refusals, key=lambda r: REASONS.index(r.error or REASONS[-1]))
    return _pay(case, [j for j in judged if isinstance(j, _Claim)], names)


def _check_winners(case: ScoreCase) -> None:
    """Several winners take one tile from one seat (D-Y15).

    Raises:
        CaseError: they do not.
    """
    wins = case.outcome.wins
    if len(wins) < 2:
        return
    same = {(win.by, win.from_seat, win.tile) for win in wins}
    if len(same) > 1 or wins[0].from_seat is None or len({w.seat for w in wins}) < len(wins):
        raise CaseError("several winners must take one tile from one seat", field="outcome.wins")


def _judge(
    case: ScoreCase, win: Win, options: YangzhouOptions, names: Names
) -> Settlement | _Claim:
    refusal = (
        wrong_count(case, win, _HAND_SIZE, names)
        or forfeited(case, win, names)
        or invalid_meld(case, win, NO_WILD, names)
    )
    if refusal:
        return refusal
    counted = None if win.by in ("flowers", "ten_honours") else count(case, win, options)
    if counted is None:
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}")
    problem = _claim_problem(case, win, counted, names)
    if problem:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}")
    if counted.total < options.least:
        lines = (
            *_counted_lines(case, win, counted, names),
            f"{counted.total} points · {options.least} to win",
        )
        return refused("below_minimum", lines[-1]).model_copy(update={"lines": lines})
    return _Claim(win, counted)


def _claim_problem(case: ScoreCase, win: Win, counted: Counted, names: Names) -> str | None:
    """Why this way of winning is not open to the seat, in words."""
    if win.by == "indicator":
        return "no tile is turned up in these rules, so there is none to rob."
    if win.by == "deal" and win.seat != case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.by == "rob_kong" and not robbed_pung(case, win, NO_WILD):
        assert win.from_seat is not None
        return f"{names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    if win.from_seat is not None and win.flags.missed:
        return "the seat let a winning tile go and has not had its turn since."
    chows = Counter(suit_of(m.tiles[0]) for m in case.seats[win.seat].melds if m.kind == "chow")
    if any(number >= 3 for number in chows.values()) and not is_pure(counted.points):
        return "after three chows in one suit only pure one suit wins."
    return None


def _counted_lines(case: ScoreCase, win: Win, counted: Counted, names: Names) -> list[str]:
    shown = hand_text(case.seats[win.seat].melds, counted.reading)
    lines = [f"{win_text(win, names)}: {shown}"]
    return lines + [f"{_TITLES[name]}: {value}" for name, value in counted.points.items()]


def _pay(case: ScoreCase, claims: list[_Claim], names: Names) -> Settlement:
    payments, lines = Payments(len(case.seats)), list[str]()
    for claim in claims:
        win, counted = claim.win, claim.counted
        lines += _counted_lines(case, win, counted, names)
        lines.append(f"Score: {plus(list(counted.points.values()))}")
        bill, more = _bill(case, claim, names)
        lines += more
        for payer, amount in bill.items():
            payments.pay(payer, win.seat, amount)
        lines.append(f"{names(win.seat)} receives {sum(bill.values())}")
    patterns = {claim.win.seat: dict(claim.counted.points) for claim in claims}
    return Settlement(
        delta=payments.delta, payments=payments.transfers, patterns=patterns, lines=tuple(lines)
    )


def _bill(case: ScoreCase, claim: _Claim, names: Names) -> tuple[dict[int, int], list[str]]:
    """Who pays a winner how much, and why."""
    win, score = claim.win, claim.counted.total
    if win.from_seat is None:
        bill = {case.seat_after(win.seat, step): score for step in (1, 2, 3)}
        lines = [f"{names(seat)} pays {score}" for seat in bill]
    else:
        gave = "whose kong was robbed" if win.by == "rob_kong" else "who discarded the tile"
        bill = {win.from_seat: 2 * score}
        lines = [f"{names(win.from_seat)}, {gave}, pays 2 × {score} = {2 * score}"]
    third = third_open_set(case.seats[win.seat].melds)
    if third is None or third.kind != "chow" or not is_pure(claim.counted.points):
        return bill, lines
    assert third.from_seat is not None
    total = sum(bill.values())
    lines.append(
        f"{names(third.from_seat)} gave the third open set, the chow {format_tiles(third.tiles)}, "
        f"to pure one suit and pays for all: {plus(list(bill.values()))}"
    )
    return {third.from_seat: total}, lines
