"""Settling a Nanchang hand: refusals, the best use of the fine tiles, doubles, bonuses."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import forfeited, robbed_pung, single_win, wrong_count
from tablectl.rules.nanchang.bonus import fines, pay_bonuses
from tablectl.rules.nanchang.hand import Doubles, Form, forms, is_set, look, wild_rule
from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.nanchang.patterns import FLAT, GERMAN_POINTS, PATTERNS, TITLES
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, refused
from tablectl.rules.text import hand_text, wild_as, win_text
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import format_tiles, is_honour

HAND = 13
_ORDER = {pattern.id: place for place, pattern in enumerate(PATTERNS)}


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    wild: Wild
    names: Names


@dataclass(frozen=True, slots=True)
class _Counted:
    """A form with its doubles and what the losers pay for it together."""

    form: Form
    doubles: Doubles
    total: int


def settle(case: ScoreCase, options: NanchangOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    win = single_win(case)
    if case.indicator is None:
        raise CaseError("no indicator: nothing says which tiles are fine", field="indicator")
    wild = wild_rule(case.indicator, options)
    payments = Payments(len(case.seats))
    if win is None:
        lines = pay_bonuses(case, wild, options, names, payments)
        return Settlement(
            delta=payments.delta,
            payments=payments.transfers,
            patterns={},
            lines=("Drawn hand: nobody wins.", *lines),
        )
    claim = _Claim(case, win, wild, names)
    refusal = (
        wrong_count(case, win, HAND, names) or forfeited(case, win, names) or _invalid_meld(claim)
    )
    if refusal:
        return refusal
    found = _find(claim)
    if isinstance(found, Settlement):
        return found
    settled = _pay(claim, found, payments)
    lines = pay_bonuses(case, wild, options, names, payments)
    last = f"{names(win.seat)} receives {payments.delta[win.seat]} in all"
    return settled.model_copy(
        update={
            "delta": payments.delta,
            "payments": payments.transfers,
            "lines": (*settled.lines, *lines, last),
        }
    )


def _invalid_meld(claim: _Claim) -> Settlement | None:
    """Refuses a set that may not be laid out; fine tiles at face value may (N16)."""
    seat, seats = claim.win.seat, len(claim.case.seats)
    for meld in claim.case.seats[seat].melds:
        problem = ""
        if not is_set(meld.kind, meld.tiles):
            problem = f"is no {meld.kind.replace('_', ' ')}"
        elif meld.kind == "chow" and meld.from_seat != (seat - 1) % seats:
            problem = "comes from the wrong seat: a chow comes only from the seat before"
        if problem:
            line = f"{claim.names(seat)} laid out {format_tiles(meld.tiles)}, which {problem}."
            return refused("invalid_meld", line)
    return None


def _find(claim: _Claim) -> _Counted | Settlement:
    """The best form, or the refusal where there is none or the claim is not allowed."""
    case, win = claim.case, claim.win
    seat, text = case.seats[win.seat], win_text(win, claim.names)
    hand = None if win.by in ("flowers", "ten_honours") else look(seat, win, claim.wild)
    allowed = [] if hand is None else list(forms(hand, claim.wild.tiles))
    if hand is None or (
        not allowed and next(forms(hand, claim.wild.tiles, any_claim=True), None) is None
    ):
        return refused("not_winning_shape", f"{text}: {_NO_SHAPE}")
    problem = _claim_problem(claim)
    if problem or not allowed:
        return refused("claim_not_allowed", f"{text}: {problem or _FINE_CALL}")
    counted = [_counted(claim, form) for form in allowed]
    return max(counted, key=lambda c: (c.total, len(c.doubles), sorted(c.doubles)))


_NO_SHAPE = "the tiles are no four sets and a pair, no seven pairs, and not independent."
_FINE_CALL = "a fine call that is not German takes a tile from the wall."


def _claim_problem(claim: _Claim) -> str | None:
    """Why this way of winning is not open to the seat, in words."""
    case, win = claim.case, claim.win
    if win.by == "indicator":
        return "the tile turned up cannot be robbed in these rules."
    if win.by == "deal" and win.seat != case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.from_seat is None:
        return None
    if win.by == "rob_kong" and not robbed_pung(case, win, NO_WILD):
        return f"{claim.names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    if win.flags.missed:
        return "the seat let a winning tile go and has not had its turn since."
    return None


def _counted(claim: _Claim, form: Form) -> _Counted:
    case, win = claim.case, claim.win
    found = list(form.doubles)
    if win.is_own_draw:
        found.append("own_tile")
    if win.by == "self_draw" and win.flags.kong_draw:
        found.append("kong_bloom")
    if win.by == "rob_kong":
        found.append("robbing_kong")
    if "independent" in form.doubles and _all_honours(claim):
        found.append("seven_stars")
    if form.german:
        found.append("german")
        if not any(held.total for i, held in enumerate(fines(case, claim.wild)) if i != win.seat):
            found.append("double_german")
    doubles = dict.fromkeys(sorted(found, key=_ORDER.__getitem__), 1)
    total = sum(_share(claim, loser, doubles) for loser in _losers(claim))
    return _Counted(form, doubles, total)


def _all_honours(claim: _Claim) -> bool:
    """Whether all seven honours are there in fact, fine ones at face value (N13)."""
    held = (*claim.case.seats[claim.win.seat].hand, claim.win.tile)
    return len({tile for tile in held if tile is not None and is_honour(tile)}) == 7


def _losers(claim: _Claim) -> list[int]:
    return [claim.case.seat_after(claim.win.seat, step) for step in (1, 2, 3)]


def _own_doubles(claim: _Claim, payer: int) -> list[str]:
    """Doubles of this payment alone (N1, N12)."""
    own = ["banker"] if claim.case.dealer in (payer, claim.win.seat) else []
    if claim.win.by == "discard" and payer == claim.win.from_seat:
        own.append("letting_off")
    return own


def _share(claim: _Claim, payer: int, doubles: Doubles) -> int:
    points = GERMAN_POINTS if "german" in doubles else 0
    return int(2 ** (len(doubles) + len(_own_doubles(claim, payer)))) + points


def _pay(claim: _Claim, counted: _Counted, payments: Payments) -> Settlement:
    """The winner's score; doubled, or flat for a heavenly or an earthly win (N17)."""
    win, names = claim.win, claim.names
    lines, shown = _hand_lines(claim, counted.form)
    flat = _flat(claim)
    if flat:
        patterns = {flat: FLAT}
        lines.append(f"{TITLES[flat]}: {FLAT} from each, nothing is doubled")
    else:
        patterns = dict(counted.doubles)
        lines += [f"{TITLES[name]}: 1 double" for name in patterns]
    for payer in _losers(claim):
        amount = FLAT if flat else _share(claim, payer, counted.doubles)
        payments.pay(payer, win.seat, amount)
        why = str(amount) if flat else _share_text(claim, payer, counted.doubles)
        lines.append(f"{names(payer)} pays {why if why == str(amount) else f'{why} = {amount}'}")
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: dict(patterns)},
        wild_as={win.seat: shown} if shown else {},
        lines=tuple(lines),
    )


def _flat(claim: _Claim) -> str:
    case, win = claim.case, claim.win
    if win.by == "deal":
        return "heavenly_win"
    earthly = win.by == "discard" and win.flags.first_turn and win.from_seat == case.dealer
    return "earthly_win" if earthly else ""


def _share_text(claim: _Claim, payer: int, doubles: Doubles) -> str:
    """``1 × 8 (3 doubles) × 2 (banker) + 5``."""
    parts = ["1"]
    if doubles:
        parts.append(f"{2 ** len(doubles)} ({len(doubles)} double{'s' * (len(doubles) > 1)})")
    parts += [f"2 ({name.replace('_', ' ')})" for name in _own_doubles(claim, payer)]
    text = " × ".join(parts)
    return f"{text} + {GERMAN_POINTS}" if "german" in doubles else text


def _hand_lines(claim: _Claim, form: Form) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """How the hand is arranged, and what each fine tile stands for."""
    win, seat = claim.win, claim.case.seats[claim.win.seat]
    reading = form.show() or ()
    lines = [f"{win_text(win, claim.names)}: {hand_text(seat.melds, reading)}"]
    drawn = (win.tile,) if win.tile is not None and win.is_own_draw else ()
    held = sorted(tile for tile in (*seat.hand, *drawn) if tile in claim.wild.tiles)
    if not held:
        return lines, {}
    if form.german:
        lines.append(f"Fine tiles {format_tiles(held)} play as themselves")
        return lines, {
            format_tiles([tile]): (format_tiles([tile]),) * held.count(tile) for tile in held
        }
    shown = wild_as(held, reading, held[0])
    lines += [f"Fine {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    return lines, shown
