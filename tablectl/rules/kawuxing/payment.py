"""Who owes what under the north-west Hubei rules: kongs, wins, disclosure in a drawn hand."""

from __future__ import annotations

from tablectl.rules.case import CaseError, Meld, ScoreCase, Win
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments
from tablectl.tiles import format_tiles

_KONGS = {"kong": 2, "added_kong": 1, "closed_kong": 2}
"""Units from each payer: the discarder of a direct kong, both others for the rest (K17)."""


def pay_kongs(case: ScoreCase, payments: Payments, names: Names) -> list[str]:
    """Pay every kong on the table, whoever won (K17); the arithmetic in words."""
    return [
        _pay_kong(case, payments, names, seat, meld)
        for seat, state in enumerate(case.seats)
        for meld in state.melds
        if meld.is_kong
    ]


def _pay_kong(case: ScoreCase, payments: Payments, names: Names, seat: int, meld: Meld) -> str:
    units = _KONGS[meld.kind] * 2**meld.chain
    others = [case.seat_after(seat, step) for step in range(1, len(case.seats))]
    payers = others
    if meld.kind == "kong" and meld.from_seat is not None:
        payers = [meld.from_seat]
    for payer in payers:
        payments.pay(payer, seat, units)
    kind = {"kong": "direct", "added_kong": "growing", "closed_kong": "closed"}[meld.kind]
    sums = f"{_KONGS[meld.kind]} × {2**meld.chain} (chained) = {units}" if meld.chain else units
    whom = " and ".join(map(names, payers))
    shown = format_tiles(meld.tiles)
    return f"{names(seat)}, {kind} kong {shown}: {sums} from {whom}"


def pay_win(case: ScoreCase, win: Win, score: int, payments: Payments, names: Names) -> list[str]:
    """Pay a winner's score (K14, K18)."""
    others = [case.seat_after(win.seat, step) for step in range(1, len(case.seats))]
    if win.from_seat is None:
        for payer in others:
            payments.pay(payer, win.seat, score)
        whom = " and ".join(map(names, others))
        return [f"{whom} pay {score} each to {names(win.seat)}"]
    gave = "whose kong was robbed" if win.by == "rob_kong" else "who threw the tile"
    giver, due = win.from_seat, score
    line = f"{names(giver)}, {gave}, pays {names(win.seat)}: {score}"
    if case.seats[win.seat].disclosed:
        due = score * len(others)
        line += f" × {len(others)} (on behalf of all, the hand was disclosed) = {due}"
    payments.pay(giver, win.seat, due)
    return [line]


def pay_disclosure(case: ScoreCase, payments: Payments, names: Names) -> list[str]:
    """In a drawn hand the first who disclosed pays a unit to each of the others (K16).

    Raises:
        CaseError: several disclosed and nobody says who was first.
    """
    seats = [i for i, seat in enumerate(case.seats) if seat.disclosed]
    if not seats:
        return []
    ordered = [i for i in seats if case.seats[i].disclosed_order is not None]
    if len(seats) > 1 and not ordered:
        raise CaseError(
            "several disclosed: who was first?", field=f"seats.{seats[0]}.disclosed_order"
        )
    first = min(ordered or seats, key=lambda i: case.seats[i].disclosed_order or 1)
    for step in range(1, len(case.seats)):
        payments.pay(first, case.seat_after(first, step), 1)
    return [f"{names(first)} disclosed first and pays 1 to each of the others"]
