"""How Nanchang mahjong is played: honour runs, fine sets, dead wall, missed wins, sacking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tablectl.rules.nanchang.hand import is_set
from tablectl.rules.play import (
    SET_SIZES,
    Locks,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    last_discard_issues,
)
from tablectl.rules.rotation import next_in_rotation
from tablectl.tiles import Tile

UNDRAWN: Final = 83
"""136 tiles less 53 dealt."""
DEAD: Final = 34
"""Seventeen stacks, the tile turned up among them (M2)."""
ROTATIONS: Final = 4


def _wall(options: Any, counts: WallCounts) -> int:
    """Drawable tiles; with ``stacks_17`` an odd supplement does not shorten the wall (M3)."""
    freed = options.dead_wall == "stacks_17" and counts.kong_tail % 2 == 1
    return UNDRAWN - DEAD - counts.drawn + freed


def _set_issue(_table: TableView, kind: str, tiles: tuple[Tile, ...]) -> str | None:
    """Runs of winds and of dragons are sets, and so are sets of fine tiles at face value."""
    fits = len(tiles) == SET_SIZES.get(kind, 0) and is_set(kind, tiles)
    return None if fits else "invalid_meld"


def is_sacked(table: TableView) -> bool:
    """Whether all four threw the same tile in the first round, before any set was laid out."""
    first = [player.thrown[:1] for player in table.players]
    undisturbed = table.first_set_after is None or table.first_set_after >= len(first)
    return undisturbed and all(first) and len(set(first)) == 1


def _table_flags(table: TableView) -> Mapping[str, Any]:
    return {"sacked": is_sacked(table)}


def _locks(_options: Any) -> Locks:
    """After any winning tile let go no claim to win until the own turn (M12)."""
    return Locks(win="any", proof="laid_open")


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The banker stays on a win and in a drawn hand, but never once sacked (N19, S6)."""
    won = not result.winners or table.dealer in result.winners
    return next_in_rotation(table, stays=won and not is_sacked(table), rotations=ROTATIONS)


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    set_issue=_set_issue,
    claim_issues=last_discard_issues,
    table_flags=_table_flags,
    locks=_locks,
    kongs_paid=True,
    hands_paid=True,
    wild_in_sets=True,
    honour_runs=True,
)
