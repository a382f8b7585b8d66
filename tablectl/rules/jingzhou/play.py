"""How Jingzhou mahjong is played: as in Wuhan, without a bottom stage. M20, M22."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import ClaimAttempt, DiscardEffect, PlayRules, TableView, WallCounts
from tablectl.rules.wuhan.play import next_hand, set_issue, special_discard
from tablectl.tiles import Tile

DRAWABLE: Final = 45
"""96 tiles less 40 dealt, the indicator and the ten of the dead wall (M4)."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _discard(table: TableView, _seat: int, tile: Tile) -> DiscardEffect:
    return special_discard(table, tile)


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """The discard after the last tile may be claimed for a win only (M22)."""
    barred = table.wall == 0 and claim.kind != "kong"  # a kong lacks its supplement (M21)
    return ("claim_not_allowed",) if barred else ()


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=next_hand,
    set_issue=set_issue,
    claim_issues=_claim_issues,
    discard=_discard,
    kongs_paid=True,
    plain_wins=False,
)
