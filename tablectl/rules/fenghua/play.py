"""How Fenghua mahjong is played: wild flowers, the bottom tile, rotation. M5, M8, M22, M23, M30."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import (
    DiscardEffect,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    last_discard_issues,
)
from tablectl.rules.rotation import next_in_rotation
from tablectl.tiles import Tile

DRAWABLE: Final = 90
"""144 tiles less 53 dealt and the tile turned up; the last one is the bottom tile (M5)."""
ROTATIONS: Final = 4
FLOWERS: Final = 8


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _flower_issues(table: TableView, _seat: int, tile: Tile) -> tuple[str, ...]:
    """A wild flower is never laid out."""
    return ("invalid_meld",) if tile in table.wild.tiles else ()


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    """Who takes the bottom tile wins with it or throws that very tile (M23)."""
    bottom = table.wall == 0 and seat == table.turn and table.claim is None
    drawn = table.drawn_tile
    exchanged = bottom and drawn is not None and tile != drawn
    return DiscardEffect(issues=("bottom_exchange",) if exchanged else ())


def _may_refuse(table: TableView, _seat: int) -> bool:
    return table.wall == 1


def _early_exhaust(table: TableView) -> bool:
    """Too early while a tile is left, unless it is the bottom tile and all refused it (M8)."""
    return table.wall > 0 and len(table.refused) < len(table.players)


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The banker stays on a win, a drawn hand and a false win (S6, M32)."""
    stays = not result.winners or table.dealer in result.winners
    return next_in_rotation(table, stays=stays, rotations=ROTATIONS, round_winds=True)


def _special_wins(table: TableView, seat: int) -> tuple[tuple[str, Tile | None], ...]:
    """Eight flowers laid out win at once."""
    return (("flowers", None),) if len(table.players[seat].flowers) == FLOWERS else ()


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    claim_issues=last_discard_issues,
    discard=_discard,
    flower_issues=_flower_issues,
    early_exhaust=_early_exhaust,
    may_refuse=_may_refuse,
    round_winds=True,
    special_wins=_special_wins,
)
