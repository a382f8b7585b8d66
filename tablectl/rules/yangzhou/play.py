"""How Yangzhou mahjong is played: no dead wall, missed wins, several winners, rotation."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import (
    Locks,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    last_discard_issues,
)
from tablectl.rules.rotation import next_in_rotation

DRAWABLE: Final = 83
"""136 tiles less 53 dealt: there is no dead wall."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _locks(_options: Any) -> Locks:
    """After a winning tile let go no win until the own turn (D-Y19, M12)."""
    return Locks(win="any", proof="laid_open")


def _next_hand(table: TableView, result: Result) -> NextHand:
    stays = table.dealer in result.winners or result.false_win is not None  # M28, M32
    if not result.winners and result.false_win is None:
        stays = bool(table.options.banker_stays_on_draw)
    return next_in_rotation(
        table, stays=stays, rotations=table.options.session_rotations, round_winds=True
    )


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    winners="all",
    claim_issues=last_discard_issues,
    locks=_locks,
    round_winds=True,
    plain_wins=False,
)
