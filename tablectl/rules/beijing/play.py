"""How Beijing mahjong is played: thrown wild tiles, call limits, reserves, rotation. LB1 to LB5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tablectl.rules.play import (
    ClaimAttempt,
    DiscardEffect,
    Locks,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    stay_or_pass,
)
from tablectl.tiles import Tile

DRAWABLE: Final = 68
"""136 tiles less 53 dealt, the indicator and the seven stacks that stay."""

ROTATIONS: Final = 4
"""Banker rotations in a game."""


def _growth(options: Any, kongs: int) -> int:
    """By how many tiles kongs have made the reserve grow."""
    if options.wall_reserve == "fourteen_plus_kongs":
        return kongs
    if options.wall_reserve == "seven_or_eight_stacks":
        return 2 if kongs >= 2 else 0
    return 0


def _wall(options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn - _growth(options, counts.kongs)


def _supplements(options: Any, counts: WallCounts) -> int:
    """As the wall, but a kong is never denied its tile by its own growth (LB4)."""
    return DRAWABLE - counts.drawn - _growth(options, min(counts.kongs, counts.kong_tail))


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """With ``at_most_once`` one chow or pung a hand; direct kongs are free."""
    if not table.options.at_most_once or claim.kind == "kong":
        return ()
    melds = table.players[claim.seat].melds
    called = any(meld.kind in ("chow", "pung", "added_kong") for meld in melds)
    return ("call_limit",) if called else ()


def _discard(table: TableView, _seat: int, tile: Tile) -> DiscardEffect:
    if tile not in table.wild.tiles:
        return DiscardEffect()
    return DiscardEffect(issues=("wild_discarded",), forfeits=True, aside=True)


def _locks(options: Any) -> Locks:
    return Locks(win="any" if options.missed_win_lock else "none")


def _table_flags(table: TableView) -> Mapping[str, Any]:
    return {
        "sacked": _all_threw_the_same(table),
        "upstairs": table.options.upstairs != "off" and bool(table.session.get("upstairs")),
    }


def _all_threw_the_same(table: TableView) -> bool:
    """Whether the first four discards were one tile, no set between them."""
    first = {player.thrown[:1] for player in table.players}
    if len(first) != 1 or () in first:
        return False
    return table.first_set_after is None or table.first_set_after >= len(table.players)


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The banker stays on an own win and after a draw, else the next seat deals (LB1)."""
    stays = not result.winners or table.dealer in result.winners
    following = stay_or_pass(table, stays=stays, round_wind=None)
    rotation = int(table.session.get("rotation", 1))
    round_done = not stays and following.dealer == table.first_dealer
    session: dict[str, Any] = {"rotation": rotation + round_done}
    drawn = not result.winners and result.false_win is None
    if drawn and table.options.upstairs != "off":
        session["upstairs"] = True  # LB3
    return NextHand(
        following.dealer,
        following.streak,
        None,
        over=round_done and rotation >= ROTATIONS,
        session=session,
    )


PLAY: Final = PlayRules(
    wall=_wall,
    supplements=_supplements,
    next_hand=_next_hand,
    claim_issues=_claim_issues,
    discard=_discard,
    locks=_locks,
    table_flags=_table_flags,
)
