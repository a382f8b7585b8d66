"""Settling a hand under the Wuhan rules: refusals, the best form, who pays."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import (
    WITHOUT_TILE,
    forfeited,
    robbed_pung,
    single_win,
    wild_claimed,
    wrong_count,
)
from tablectl.rules.groups import Kind, Reading
from tablectl.rules.melds import meld_problem
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, wild_as, win_text
from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.count import HALF, Counted, Doubles, counted
from tablectl.rules.wuhan.hand import COPIES, Form, forms, sets_of, wins_on_anything
from tablectl.rules.wuhan.options import WuhanOptions
from tablectl.rules.wuhan.patterns import PATTERNS
from tablectl.rules.wuhan.payment import Bill, bill, received
from tablectl.rules.wuhan.terms import Terms, wuhan_terms
from tablectl.rules.wuhan.wild import wild_rule
from tablectl.tiles import Tile, format_tile, format_tiles

HAND_SIZE = 13

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}


@dataclass(frozen=True, slots=True)
class Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    wild: Wild
    terms: Terms
    names: Names


def settle(case: ScoreCase, options: WuhanOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    return settle_under(case, wuhan_terms(options), names)


def settle_under(case: ScoreCase, terms: Terms, names: Names) -> Settlement:
    """Settle a hand under the terms of Wuhan or of its three-player version.

    Raises:
        CaseError: no indicator; or the payment hangs on whether the discarder was ready, and
            nobody has said so (D-W16).
    """
    if case.indicator is None:
        raise CaseError("these rules need the indicator of the wild tiles", field="indicator")
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    claim = Claim(case, win, wild_rule(case.indicator, terms), terms, names)
    judged = judge(claim)
    return judged if isinstance(judged, Settlement) else _pay(claim, judged)


def judge(claim: Claim) -> Settlement | Counted:
    """The best form of a valid win, or why the claim is none."""
    case, win, wild, names = claim.case, claim.win, claim.wild, claim.names
    refusal = (
        wrong_count(case, win, HAND_SIZE, names)
        or forfeited(case, win, names)
        or _invalid_meld(claim)
        or wild_claimed(win, wild)
    )
    if refusal:
        return refusal
    seat = case.seats[win.seat]
    found: tuple[Form, ...] = ()
    if win.tile is not None and win.by not in WITHOUT_TILE:
        found = forms((*seat.hand, win.tile), seat.melds, wild, claim.terms)
    if not found:
        return refused("not_winning_shape", f"{win_text(win, names)}: {_no_shape(claim)}")
    problem = _claim_problem(claim)
    if problem:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem}")
    return _best(claim, found)


def _invalid_meld(claim: Claim) -> Settlement | None:
    """Refuses a winner with a set that the rules do not permit (D-W20)."""
    case, win, wild = claim.case, claim.win, claim.wild
    for meld in case.seats[win.seat].melds:
        problem = None
        special = meld.tiles[0] in wild.tiles or meld.tiles[0] in wild.barred
        if meld.kind == "lone_kong":
            if not special:
                problem = f"{format_tiles(meld.tiles)}: only kong tiles and wild tiles lie singly"
        elif any(tile in wild.barred for tile in meld.tiles):
            problem = f"{format_tiles(meld.tiles)}: kong tiles make no set"
        else:
            problem = meld_problem(meld, win.seat, len(case.seats), wild)
        if problem:
            return refused("invalid_meld", f"{claim.names(win.seat)} laid out {problem}.")
    return None


def _no_shape(claim: Claim) -> str:
    """Why the tiles make no winning hand, in words."""
    win, wild = claim.win, claim.wild
    seat = claim.case.seats[win.seat]
    held = seat.hand if win.tile is None else (*seat.hand, win.tile)
    barred = sorted({tile for tile in held if tile in wild.barred})
    if barred:
        return f"the kong tile {format_tiles(barred)} is in the hand."
    if not any(meld.is_open for meld in seat.melds):
        return "every winning hand needs an open set; a closed kong is none."
    return (
        "the tiles are not four sets and a pair of 2, 5 or 8, nor all pung, one suit, all "
        "honours or all eyes."
    )


def _claim_problem(claim: Claim) -> str | None:
    """Why this way of winning is not open to the seat, in words."""
    case, win = claim.case, claim.win
    if win.by == "indicator":
        return "the indicator cannot be robbed in these rules."
    if win.by == "deal":
        return "a dealt hand has no open set."
    if win.by == "rob_kong" and not robbed_pung(case, win, claim.wild):
        assert win.from_seat is not None
        return f"{claim.names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    seat = case.seats[win.seat]
    if win.by == "discard" and wins_on_anything(seat.hand, seat.melds, claim.wild, claim.terms):
        return "a hand that any tile completes wins by an own tile or by robbing a kong only."
    return None


def _best(claim: Claim, found: tuple[Form, ...]) -> Settlement | Counted:
    """The form that brings most; refuses a minor win with wild tiles, and too few points."""
    case, terms = claim.case, claim.terms
    ways = [counted(case, claim.win, form, claim.wild, terms) for form in found]
    allowed = [way for way in ways if way.majors or way.form.may_be_minor]
    if not allowed:
        wilds = ways[0].form.wilds
        why = f"{wilds} wild tiles are in the hand; a common win may hold one at most."
        return refused("claim_not_allowed", f"{win_text(claim.win, claim.names)}: {why}")
    enough = [way for way in allowed if way.reaches(terms)]
    # Of forms that bring the same, the one that names most; never which suit comes first.
    best = max(
        enough or allowed,
        key=lambda way: (
            received(case, way, terms), sum(way.amounts.values()), way.base, sorted(way.patterns)
        ),
    )  # fmt: skip
    if enough:
        return best
    asked = "each loser" if terms.from_all else "one loser at least"
    lowest = (min if terms.from_all else max)(best.amounts.values())
    lines = (*_count_lines(claim, best), f"{lowest} points · {terms.minimum} from {asked} to win")
    return refused("below_minimum", lines[-1]).model_copy(update={"lines": lines})


def _pay(claim: Claim, best: Counted) -> Settlement:
    case, win, names = claim.case, claim.win, claim.names
    settled: Bill = bill(case, win, best, claim.terms, names, lambda seat: is_ready(claim, seat))
    payments = Payments(len(case.seats))
    for payer, points in settled.owed.items():
        payments.pay(payer, win.seat, points)
    lines = (
        *_count_lines(claim, best),
        *settled.lines,
        f"{names(win.seat)} receives {payments.delta[win.seat]}",
    )
    shown = _wild_as(claim, best.form.reading)
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: best.patterns},
        wild_as={win.seat: shown} if shown else {},
        lines=lines,
    )


# -- words -------------------------------------------------------------------------------------


def _count_lines(claim: Claim, best: Counted) -> list[str]:
    win, names = claim.win, claim.names
    lines = [f"{win_text(win, names)}: {_shown(claim, best.form.reading)}"]
    for face, tiles in _wild_as(claim, best.form.reading).items():
        lines.append(f"Wild {face} plays as {', '.join(tiles)}")
    conditions = " + ".join(_TITLES[name] for name in best.majors or ("common_win",))
    lines.append(f"{conditions}: {best.base} {'point' if best.base == 1 else 'points'}")
    if best.winner:
        lines.append(f"Doubles of {names(win.seat)}: {_doubles_text(best.winner)}")
    for loser, doubles in best.losers.items():
        own = f" {_doubles_text(doubles)}" if doubles else " no doubles"
        factors = _factors([*best.winner.values(), *doubles.values()])
        sum_text = " × ".join([str(best.base), *factors])
        lines.append(f"{names(loser)}:{own}; {sum_text} = {best.amounts[loser]}")
    return lines


def _doubles_text(doubles: Doubles) -> str:
    return ", ".join(
        f"{_TITLES[name]} ×{'1.5' if value == HALF else 2 ** int(value)}"
        for name, value in doubles.items()
    )


def _factors(values: list[int | float]) -> list[str]:
    return ["1.5" if value == HALF else str(2 ** int(value)) for value in values]


def _shown(claim: Claim, reading: Reading) -> str:
    """The hand in groups, or as it is held where it makes no sets."""
    melds = claim.case.seats[claim.win.seat].melds
    if not any(group.kind is Kind.SINGLE for group in reading):
        return hand_text(melds, reading)
    naturals = format_tiles([tile for group in reading for tile in group.naturals()])
    wilds = [tile for group in reading for tile in group.stand_ins()]
    laid = " ".join(format_tiles(meld.tiles) for meld in melds)
    return f"{laid} + {naturals}" + (f"[{format_tiles(wilds)}]" if wilds else "")


def _wild_as(claim: Claim, reading: Reading) -> dict[str, tuple[str, ...]]:
    """What each wild tile stands for; itself where the form uses it so."""
    win, wild = claim.win, claim.wild
    assert win.tile is not None
    held = [tile for tile in (*claim.case.seats[win.seat].hand, win.tile) if tile in wild.tiles]
    if not held:
        return {}
    if not any(group.wild for group in reading):  # every wild tile is used as itself
        return {format_tile(held[0]): (format_tile(held[0]),) * len(held)}
    return wild_as(held, reading, held[0])


# -- ready -------------------------------------------------------------------------------------


def is_ready(claim: Claim, seat: int) -> bool:
    """Whether a seat was waiting for a valid win when it discarded (D-W16).

    Told by the table; where it is not, found out from the hand laid open.

    Raises:
        CaseError: neither is known. It is a question to the table, not a guess.
    """
    state = claim.case.seats[seat]
    if state.ready is not None:
        return state.ready
    if len(state.hand) + 3 * len(sets_of(state.melds)) != HAND_SIZE:
        raise CaseError(
            f"whether {claim.names(seat)} was ready decides who pays: say true or false, or show "
            "the hand",
            field=f"seats.{seat}.ready",
        )
    return any(
        not isinstance(judge(_trial(claim, win)), Settlement)
        for tile in claim.terms.kinds
        if tile not in claim.wild.barred and state.hand.count(tile) < COPIES
        for win in _ways_to_win(claim, seat, tile)
    )


def _ways_to_win(claim: Claim, seat: int, tile: Tile) -> list[Win]:
    others = [other for other in range(len(claim.case.seats)) if other != seat]
    return [
        Win(seat=seat, tile=tile, by="self_draw"),
        *(Win(seat=seat, tile=tile, by="discard", from_seat=other) for other in others),
    ]


def _trial(claim: Claim, win: Win) -> Claim:
    return Claim(claim.case, win, claim.wild, claim.terms, claim.names)
