"""Refusals that most rule sets share, each as a settlement with its reason or ``None``.

Rule sets chain them with ``or`` in the order of :data:`tablectl.rules.case.REASONS`.
"""

from __future__ import annotations

from tablectl.rules.case import CaseError, ScoreCase, Win, sets_laid
from tablectl.rules.melds import meld_problem
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Settlement, refused
from tablectl.rules.wild import Wild
from tablectl.tiles import format_tile

WITHOUT_TILE = frozenset(("flowers", "ten_honours"))
"""Ways of winning that complete no hand."""


def single_win(case: ScoreCase) -> Win | None:
    """The only win of a hand under rules that allow one winner; ``None`` for a drawn hand.

    Raises:
        CaseError: the case lists several.
    """
    wins = case.outcome.wins
    if len(wins) > 1:
        raise CaseError(f"{len(wins)} winners where one may win", field="outcome.wins")
    return wins[0] if wins else None


def wrong_count(case: ScoreCase, win: Win, hand_size: int, names: Names) -> Settlement | None:
    """Refuses a hand with a tile too many or too few."""
    seat = case.seats[win.seat]
    have = len(seat.hand) + 3 * sets_laid(seat.melds) + (win.tile is not None)
    if win.by in WITHOUT_TILE or have == hand_size + 1:
        return None
    line = f"{names(win.seat)} has {have} tiles (a kong counts three); a win takes {hand_size + 1}."
    return refused("wrong_tile_count", line)


def forfeited(case: ScoreCase, win: Win, names: Names) -> Settlement | None:
    """Refuses a seat that lost the right to win."""
    if not case.seats[win.seat].forfeited:
        return None
    line = f"{names(win.seat)} has lost the right to win in this hand by an irregularity."
    return refused("forfeited", line)


def invalid_meld(case: ScoreCase, win: Win, wild: Wild, names: Names) -> Settlement | None:
    """Refuses a winner with a laid-out set that the usual rules do not permit."""
    for meld in case.seats[win.seat].melds:
        problem = meld_problem(meld, win.seat, len(case.seats), wild)
        if problem:
            return refused("invalid_meld", f"{names(win.seat)} laid out {problem}.")
    return None


def wild_claimed(win: Win, wild: Wild) -> Settlement | None:
    """Refuses a win on somebody else's wild tile."""
    if win.tile is None or win.from_seat is None or win.tile not in wild.tiles:
        return None
    line = f"{format_tile(win.tile)} is wild: a discarded wild tile cannot be claimed for a win."
    return refused("wild_tile_claimed", line)


def robbed_pung(case: ScoreCase, win: Win, wild: Wild) -> bool:
    """Whether the robbed seat shows the pung that the winning tile was to be added to."""
    assert win.from_seat is not None
    assert win.tile is not None
    face = wild.plays_as(win.tile)
    return any(
        meld.kind == "pung" and set(wild.identities(meld.tiles)) == {face}
        for meld in case.seats[win.from_seat].melds
    )
