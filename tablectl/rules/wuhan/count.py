"""What a form of a Wuhan hand is worth to each loser. Readings D-W1 to D-W3, D-W10, D-W14, D-W23.

Doubles are counted as numbers: 1 a double, 2 two of them, 0.5 the half double (×1.5).
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import ScoreCase, SeatState, Win
from tablectl.rules.settlement import Number
from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.hand import SETS, Form, open_sets
from tablectl.rules.wuhan.patterns import MAJOR
from tablectl.rules.wuhan.terms import Terms
from tablectl.tiles import GREEN, Tile

Doubles = dict[str, Number]
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Counted:
    """A form with its arithmetic.

    Attributes:
        form: the reading.
        majors: major conditions; none in a minor win.
        base: points before doubles.
        winner: the winner's doubles.
        losers: each loser's doubles.
        amounts: what each loser comes to, before limits and division.
    """

    form: Form
    majors: tuple[str, ...]
    base: int
    winner: Doubles
    losers: dict[int, Doubles]
    amounts: dict[int, int]

    @property
    def patterns(self) -> Doubles:
        """Base conditions in points, 10 each however they add up, and the winner's doubles."""
        conditions: Doubles = dict.fromkeys(self.majors, MAJOR) or {"common_win": 1}
        return conditions | self.winner

    def reaches(self, terms: Terms) -> bool:
        """Whether the minimum is met, each loser's own amount asked (D-W3, D-J1)."""
        met = [amount >= terms.minimum for amount in self.amounts.values()]
        return all(met) if terms.from_all else any(met)


def counted(case: ScoreCase, win: Win, form: Form, wild: Wild, terms: Terms) -> Counted:
    """Count a form for a win."""
    seat = case.seats[win.seat]
    majors = (*form.conditions, *(_by_the_way(win, seat, terms) if form.eyes else ()))
    minor = not majors
    base = 1 if minor else MAJOR * len(majors)
    if terms.exponential and majors:
        base = MAJOR * 2 ** (len(majors) - 1)
    winner = _own_doubles(seat, wild, terms)
    if minor and win.seat == case.dealer:
        winner["banker"] = 1
    if form.hard:
        winner["hard_win"] = 1
    if win.is_own_draw and not {"kong_bloom", "bottom_tile"} & set(majors):
        winner["own_tile"] = 1 if minor or terms.full_doubles else HALF
    losers = {
        other: _loser_doubles(case, win, other, wild, terms, minor=minor)
        for other in range(len(case.seats))
        if other != win.seat
    }
    amounts = {other: amount(base, winner, doubles) for other, doubles in losers.items()}
    return Counted(form, majors, base, winner, losers, amounts)


def _by_the_way(win: Win, seat: SeatState, terms: Terms) -> tuple[str, ...]:
    """Major conditions of the way of winning; they need a pair of 2, 5 or 8 (D-W13)."""
    drawn = win.by == "self_draw"
    holds = {
        "all_claimed": win.by == "discard" and open_sets(seat.melds) == SETS,
        "bottom_tile": drawn and terms.bottom_tile and win.flags.last_tile,
        "kong_bloom": drawn and win.flags.kong_draw > 0,
        "robbing_kong": win.by == "rob_kong",
    }
    return tuple(name for name, held in holds.items() if held)


def _own_doubles(seat: SeatState, wild: Wild, terms: Terms) -> Doubles:
    """Doubles in the hands of winner and loser alike."""
    kinds = [meld.kind for meld in seat.melds]
    opened = open_sets(seat.melds)
    found: Doubles = {
        "open_set": opened if terms.each_open_set else min(1, opened),
        "open_kong": kinds.count("kong") + kinds.count("added_kong"),
    }
    for tile in special_tiles(seat):
        name = _kong_name(tile, wild, terms)
        if name:
            found[name] = found.get(name, 0) + (2 if name == "wild_kong" else 1)
    found["closed_kong"] = 2 * kinds.count("closed_kong")
    return {name: value for name, value in found.items() if value}


def special_tiles(seat: SeatState) -> tuple[Tile, ...]:
    """Tiles laid singly or discarded to the own area: they count alike (D-W10)."""
    laid = tuple(meld.tiles[0] for meld in seat.melds if meld.kind == "lone_kong")
    return laid + seat.aside


def _kong_name(tile: Tile, wild: Wild, terms: Terms) -> str:
    if tile in wild.tiles:
        return "wild_kong"
    if tile not in wild.barred:
        return ""
    if terms.kong_tiles == "peel":
        return "peel_kong"
    return "green_kong" if tile == GREEN else "red_kong"


def _loser_doubles(
    case: ScoreCase, win: Win, loser: int, wild: Wild, terms: Terms, *, minor: bool
) -> Doubles:
    found = _own_doubles(case.seats[loser], wild, terms)
    if minor and loser == case.dealer:
        found["banker"] = 1
    if win.by == "discard" and win.from_seat == loser:  # robbing is no claim (D-W15)
        found["claimed"] = 1 if minor or terms.full_doubles else HALF
    return found


def amount(base: int, winner: Doubles, loser: Doubles) -> int:
    """Base times the doubles of both; a half double needs no rounding (D-W1, D-W2)."""
    doubles = [*winner.values(), *loser.values()]
    whole = base << sum(int(value) for value in doubles)
    return whole * 3 // 2 if HALF in doubles else whole
