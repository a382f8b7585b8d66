"""How Jingzhou mahjong is played: as in Wuhan, without a bottom stage. M20 to M22."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import (
    DiscardEffect,
    PlayRules,
    TableView,
    WallCounts,
    last_discard_issues,
)
from tablectl.rules.wuhan.play import next_hand, set_issue, special_discard
from tablectl.tiles import Tile

DRAWABLE: Final = 45
"""96 tiles less 40 dealt, the indicator and the ten of the dead wall (M4)."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _discard(table: TableView, _seat: int, tile: Tile) -> DiscardEffect:
    return special_discard(table, tile)


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=next_hand,
    set_issue=set_issue,
    claim_issues=last_discard_issues,
    discard=_discard,
    kongs_paid=True,
    plain_wins=False,
)
