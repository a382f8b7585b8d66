"""What every seat receives beside the winner's score: fine tiles, kongs, sacking. N3 to N8, N19."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablectl.rules.case import ScoreCase
from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.nanchang.patterns import (
    FINE_KONG,
    KONG_CLOSED,
    KONG_OPEN,
    LIMIT,
    LIMIT_LESS,
    PENALTY,
    TITLES,
)
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, format_tile


@dataclass(frozen=True, slots=True)
class Fines:
    """Fine tiles of a seat.

    Attributes:
        first, second: how many of each kind.
        alone: no other seat has one.
    """

    first: int
    second: int
    alone: bool

    @property
    def total(self) -> int:
        """Points before limit breaker and domination."""
        return 2 * self.first + self.second

    @property
    def points(self) -> int:
        """What each other seat pays (N6)."""
        breaker = self.total - LIMIT_LESS if self.total >= LIMIT else 1
        return self.total * breaker * (2 if self.alone else 1)


def tiles_of(case: ScoreCase, seat: int) -> list[Tile]:
    """Concealed tiles, sets and the winning tile of a seat; discards never (N5)."""
    state = case.seats[seat]
    won = [w.tile for w in case.outcome.wins if w.seat == seat and w.tile is not None]
    return [*state.hand, *(tile for meld in state.melds for tile in meld.tiles), *won]


def fines(case: ScoreCase, wild: Wild) -> list[Fines]:
    """The fine tiles of each seat."""
    held = [tiles_of(case, seat) for seat in range(len(case.seats))]
    counts = [
        (
            tiles.count(case.indicator) if case.indicator is not None else 0,
            sum(tile in wild.tiles and tile != case.indicator for tile in tiles),
        )
        for tiles in held
    ]
    having = sum(bool(first + second) for first, second in counts)
    return [Fines(first, second, bool(first + second) and having == 1) for first, second in counts]


def pay_bonuses(
    case: ScoreCase, wild: Wild, options: NanchangOptions, names: Names, payments: Payments
) -> list[str]:
    """Settle everything that is paid in every hand, won or drawn; the arithmetic in words (N21)."""
    lines: list[str] = []
    for seat, held in enumerate(fines(case, wild)):
        if held.total:
            lines.append(f"{names(seat)}: {_fine_text(held)} from each")
            _collect(case, seat, held.points, payments)
        for meld in case.seats[seat].melds:
            if meld.is_kong:
                bonus, points = kong_bonus(meld.kind, meld.tiles[0] in wild.tiles)
                shown = format_tile(meld.tiles[0])
                lines.append(f"{names(seat)}: {TITLES[bonus]} of {shown}: {points} from each")
                _collect(case, seat, points, payments)
    penalties = {
        "sacked_banker": case.outcome.flags.sacked,
        "draw_penalty": options.draw_banker_pays and not case.outcome.wins,
    }
    for penalty in (name for name, due in penalties.items() if due):
        lines.append(f"{TITLES[penalty]}: {names(case.dealer)} pays {PENALTY} to each")
        for other in _others(case, case.dealer):
            payments.pay(case.dealer, other, PENALTY)
    return lines + _unknown_lines(case, names)


def kong_bonus(kind: str, fine: bool) -> tuple[str, int]:
    """Name and points of a kong's bonus; ``fine``: it is of fine tiles (N8)."""
    if fine:
        return "fine_kong", FINE_KONG
    return ("kong_closed", KONG_CLOSED) if kind == "closed_kong" else ("kong_open", KONG_OPEN)


def _others(case: ScoreCase, seat: int) -> Iterable[int]:
    return (case.seat_after(seat, step) for step in range(1, len(case.seats)))


def _collect(case: ScoreCase, seat: int, points: int, payments: Payments) -> None:
    for other in _others(case, seat):
        payments.pay(other, seat, points)


def _fine_text(held: Fines) -> str:
    parts = []
    if held.first:
        parts.append(f"2 × {held.first} first")
    if held.second:
        parts.append(f"1 × {held.second} second")
    text = f"fine tiles {' + '.join(parts)} = {held.total}"
    if held.total >= LIMIT:
        text += f", {TITLES['limit_breaker']} × {held.total - LIMIT_LESS}"
    if held.alone:
        text += f", {TITLES['domination']} × 2"
    return text if held.points == held.total else f"{text} = {held.points}"


def _unknown_lines(case: ScoreCase, names: Names) -> list[str]:
    """Says which hands have not been laid open: fine tiles in them are not counted."""
    winners = {win.seat for win in case.outcome.wins}
    return [
        f"{names(seat)}'s hand is not known: fine tiles in it are not counted"
        for seat, state in enumerate(case.seats)
        if seat not in winners and not state.hand
    ]
