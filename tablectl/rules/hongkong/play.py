"""How Hong Kong mahjong is played: calls and what may be thrown after them, walls, rotation."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import (
    ClaimView,
    DiscardEffect,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    stay_or_pass,
    wind_after,
)
from tablectl.tiles import Tile

DRAWABLE: Final = 77
"""144 tiles less 53 dealt and 14 set aside; supplements come from the same tiles (C15)."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def barred_tiles(claim: ClaimView | None) -> frozenset[Tile]:
    """Tiles that may not be thrown right after a claim: the called tile and the far end (LC2)."""
    if claim is None or claim.kind == "kong":
        return frozenset()
    called = claim.tile
    low = min(claim.tiles)
    if claim.kind != "chow" or called == low + 1:
        return frozenset({called})
    far = called + 3 if called == low else called - 3
    beyond_end = not 0 <= far < 27 or far // 9 != called // 9
    return frozenset({called}) if beyond_end else frozenset({called, Tile(far)})


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    swapped = seat == table.turn and tile in barred_tiles(table.claim)
    return DiscardEffect(issues=("swap_discard",) if swapped else ())


def _next_hand(table: TableView, result: Result) -> NextHand:
    stays = table.dealer in result.winners
    heir = table.dealer if stays else (table.dealer + 1) % len(table.players)
    return stay_or_pass(table, stays=stays, round_wind=wind_after(table, heir))  # LC4


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    discard=_discard,
    hu_after_call=True,
    plain_wins=False,
    round_winds=True,
)
