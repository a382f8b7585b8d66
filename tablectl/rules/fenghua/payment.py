"""Who pays for a Fenghua win, and who pays for all. Readings F1, F10, F21, F22."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.ruleset import Names
from tablectl.rules.text import plus

FED_ALL = 4
FED_THREE = 3
DEAR_SETS = ("mixed_one_suit", "pure_one_suit", "wild_all_pung", "straight_all_pung")
"""Patterns for which three sets from one seat make it liable."""


def bill(
    case: ScoreCase, win: Win, score: int, points: Mapping[str, int], names: Names
) -> list[tuple[int, int, str]]:
    """Payers, amounts, and the arithmetic in words.

    Args:
        score: the rounded score S.
        points: the patterns that count.
    """
    losers = [case.seat_after(win.seat, step) for step in (1, 2, 3)]
    shares = {seat: share(win, seat, score) for seat in losers}
    liable = liable_seat(case, win, points)
    if liable is None:
        return [
            (seat, share, f"{names(seat)} pays {_times(score, share)}")
            for seat, share in shares.items()
        ]
    seat, why = liable
    total = sum(shares.values())
    return [(seat, total, f"{names(seat)} {why} and pays for all: {plus(list(shares.values()))}")]


def share(win: Win, seat: int, score: int) -> int:
    """2S on an own tile and from who discarded, else S (F1, F10)."""
    single = win.by == "discard" and seat != win.from_seat
    return score if single else 2 * score


def _times(score: int, share: int) -> str:
    return f"{score}" if share == score else f"2 × {score} = {share}"


def liable_seat(case: ScoreCase, win: Win, points: Mapping[str, int]) -> tuple[int, str] | None:
    """The seat that pays for all, and why; the first that applies (F21, F22)."""
    if win.by == "rob_kong" and win.from_seat is not None:
        return win.from_seat, "had the kong robbed"
    if win.by == "discard" and win.flags.last_tile and win.from_seat is not None:
        return win.from_seat, "threw the bottom tile"
    fed: Counter[int] = Counter()
    for meld in case.seats[win.seat].melds:
        if meld.is_open and meld.from_seat is not None:
            fed[meld.from_seat] += 1  # a filled kong counts for the giver of the pung
    for giver, sets in fed.items():
        if sets >= FED_ALL:
            return giver, "fed all four sets"
        if sets >= FED_THREE and any(name in points for name in DEAR_SETS):
            return giver, "fed three sets of a one-suit or all-pung hand"
    return None
