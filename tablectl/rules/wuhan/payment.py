"""Limits, division and liability of Wuhan. Readings D-W4 to D-W8, D-W15 to D-W17, D-J6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.ruleset import Names
from tablectl.rules.text import plus
from tablectl.rules.wuhan.count import Counted
from tablectl.rules.wuhan.hand import open_sets
from tablectl.rules.wuhan.terms import Terms


@dataclass(frozen=True, slots=True)
class Bill:
    """What each loser pays, liability included, and how it came about."""

    owed: dict[int, int]
    lines: tuple[str, ...]

    @property
    def total(self) -> int:
        """What the winner receives."""
        return sum(self.owed.values())


def limited(case: ScoreCase, counted: Counted, terms: Terms) -> dict[int, tuple[int, str]]:
    """Each loser's amount held to its limit, and the name of that limit (D-W5, D-W6)."""
    limits, amounts = terms.limits, counted.amounts
    if not all(value >= limits.limit for value in amounts.values()):
        return {
            seat: (limits.limit, "limit") if value > limits.limit else (value, "")
            for seat, value in amounts.items()
        }
    closed = [seat for seat in amounts if not open_sets(case.seats[seat].melds)]
    if len(closed) == len(amounts):
        return dict.fromkeys(amounts, (limits.trinity, "trinity limit, no loser has an open set"))
    return {
        seat: (limits.radiant, "radiant limit, no open set")
        if seat in closed
        else (limits.golden, "golden limit, all losers hit the limit")
        for seat in amounts
    }


def divided(value: int, terms: Terms) -> int:
    """An amount as it is paid: rounded to the nearest whole number, halves up (D-W4)."""
    return (2 * value + terms.divide_by) // (2 * terms.divide_by)


def received(case: ScoreCase, counted: Counted, terms: Terms) -> int:
    """What the winner gets from all losers together; liability moves it without changing it."""
    return sum(divided(value, terms) for value, _ in limited(case, counted, terms).values())


def bill(
    case: ScoreCase,
    win: Win,
    counted: Counted,
    terms: Terms,
    names: Names,
    ready: Callable[[int], bool],
) -> Bill:
    """Who pays what.

    Args:
        ready: whether a seat was waiting for a valid win; asked only where it matters (D-W16).
    """
    owed, lines = dict[int, int](), list[str]()
    for seat, (value, limit) in limited(case, counted, terms).items():
        owed[seat] = divided(value, terms)
        if limit:
            lines.append(f"{names(seat)}: {value} ({limit})")
        if terms.divide_by > 1:
            lines.append(f"{names(seat)} pays {value} / {terms.divide_by}, rounded: {owed[seat]}")
    liable = _liable(case, win, counted, ready)
    if liable is None:
        lines += [f"{names(seat)} pays {value}" for seat, value in owed.items()]
        return Bill(owed, tuple(lines))
    seat, why = liable
    lines.append(f"{names(seat)} {why} and pays for all: {plus(list(owed.values()))}")
    return Bill({seat: sum(owed.values())}, tuple(lines))


def _liable(
    case: ScoreCase, win: Win, counted: Counted, ready: Callable[[int], bool]
) -> tuple[int, str] | None:
    """The seat that pays for everybody, and why; the last act decides (D-W8)."""
    giver = win.from_seat
    if win.by == "rob_kong" and giver is not None:
        return giver, "had the kong robbed"
    if "all_claimed" in counted.majors and giver is not None and not ready(giver):
        return giver, "discarded to an all claimed hand without being ready"
    if "pure_one_suit" in counted.majors:
        opened = [meld for meld in case.seats[win.seat].melds if meld.is_open]
        if len(opened) >= 3 and opened[2].from_seat is not None:
            return opened[2].from_seat, "gave the third open set of a pure one suit hand"
    return None
