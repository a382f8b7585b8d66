"""How Wuhan mahjong is played: lone kongs, special discards, the bottom stage, rotation."""

from __future__ import annotations

from typing import Any, Final

from tablectl.rules.play import (
    ClaimAttempt,
    DiscardEffect,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    natural_set_issue,
)
from tablectl.rules.rotation import next_in_rotation
from tablectl.tiles import Tile

DRAWABLE: Final = 72
"""136 tiles less 53 dealt, the indicator and the ten of the dead wall (M4)."""

BOTTOM: Final = 4
"""Drawable tiles left when the bottom stage begins: one for each seat (M19)."""

ROTATIONS: Final = 4


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def set_issue(table: TableView, kind: str, tiles: tuple[Tile, ...]) -> str | None:
    """Kong tiles and wild tiles are laid singly; in sets the ones make none, the others are barred.

    Readings D-W20 and M17.
    """
    if kind == "lone_kong":
        special = table.wild.tiles | table.wild.barred
        return None if len(tiles) == 1 and tiles[0] in special else "invalid_meld"
    issue = natural_set_issue(table, kind, tiles)
    if issue is None and any(tile in table.wild.barred for tile in tiles):
        return "invalid_meld"
    return issue


def special_discard(table: TableView, tile: Tile) -> DiscardEffect:
    """A wild tile or kong tile goes to the thrower's own area; nobody may claim it (D-W20)."""
    special = tile in table.wild.tiles or tile in table.wild.barred
    return DiscardEffect(aside=special, leaves_river=special, claimable=not special)


def next_hand(table: TableView, result: Result) -> NextHand:
    """The banker stays after an own win, a drawn hand and a false win (M30, M32)."""
    stays = not result.winners or table.dealer in result.winners
    return next_in_rotation(table, stays=stays, rotations=ROTATIONS)


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    del seat
    effect = special_discard(table, tile)
    if not _bottom_stage(table):
        return effect
    return DiscardEffect(
        issues=("bottom_stage",),
        aside=effect.aside,
        leaves_river=effect.leaves_river,
        claimable=effect.claimable,
    )


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """The discard that opens the bottom stage may be claimed for a win only (M19)."""
    if table.wall > BOTTOM:
        return ()
    return ("bottom_stage",) if claim.kind == "kong" else ("claim_not_allowed",)


def _kong_issues(table: TableView, *_: Any) -> tuple[str, ...]:
    """No kong in the bottom stage, nor by who has drawn the tile before it (M19)."""
    return ("bottom_stage",) if table.wall <= BOTTOM else ()


def _bottom_stage(table: TableView) -> bool:
    return table.wall < BOTTOM


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=next_hand,
    set_issue=set_issue,
    claim_issues=_claim_issues,
    kong_issues=_kong_issues,
    discard=_discard,
    draws_only=_bottom_stage,
    last_tile=_bottom_stage,  # any tile drawn in it is a bottom tile (D-W25)
    kongs_paid=True,
    plain_wins=False,
)
