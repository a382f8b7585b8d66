"""How the three-player rules of north-west Hubei are played. Readings LK1 to LK6."""

from __future__ import annotations

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
    natural_set_issue,
    stay_or_pass,
)
from tablectl.tiles import Tile

DRAWABLE: Final = 44
"""84 tiles less 40 dealt; nothing stays in the walls."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _set_issue(table: TableView, kind: str, tiles: tuple[Tile, ...]) -> str | None:
    return "invalid_meld" if kind == "chow" else natural_set_issue(table, kind, tiles)


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """Who holds three of the tile must kong, if a supplement is left (LK5)."""
    held = table.players[claim.seat].known.count(claim.tile)
    return ("must_kong",) if claim.kind == "pung" and held >= 3 and table.wall else ()


def _kong_issues(
    table: TableView, seat: int, kind: str, tiles: tuple[Tile, ...]
) -> tuple[str, ...]:
    """No closed kong in a turn begun by the own pung; and a pung grown in it shows its third tile.

    Of a hand that was seen the pung itself has said so already.
    """
    if table.claim is None or table.claim.kind != "pung" or seat != table.turn:
        return ()
    if kind == "closed_kong":
        return ("kong_after_pung",)
    held = table.claim.tile in tiles and table.claim.tile not in table.players[seat].known
    return ("must_kong",) if kind == "added_kong" and held and table.wall else ()


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    """What a disclosed hand may throw, and a pung that should have been a kong."""
    player, issues = table.players[seat], []
    if seat != table.turn:
        return DiscardEffect()
    pung = table.claim is not None and table.claim.kind == "pung"
    if player.disclosed is not None:
        drawn = table.drawn_tile
        if pung or (drawn is not None and drawn != tile):  # known only where the draw is (LK3)
            issues.append("disclosed_discard")
    called = table.claim.tile if pung and table.claim is not None else None
    if tile == called and tile not in player.known and table.wall:
        issues.append("must_kong")  # a third one of an unseen hand; of a seen one the pung said so
    return DiscardEffect(issues=tuple(issues))


def _locks(_options: Any) -> Locks:
    return Locks(win="better")  # LK4, K21


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The winner deals; of two winners' hands the third seat; a drawn hand changes nothing."""
    heir = table.dealer
    if len(result.winners) == 1:
        heir = result.winners[0]
    elif result.winners and result.source is not None:
        heir = result.source
    following = stay_or_pass(table, stays=heir == table.dealer, passes_to=heir, round_wind=None)
    return _counted(table, following)


def _counted(table: TableView, following: NextHand) -> NextHand:
    """With an agreed number of hands, the hand that comes next and whether it is one too many."""
    agreed = table.options.hands
    if agreed is None and "hand" not in table.session:
        return following
    played = int(table.session.get("hand", 1))
    return NextHand(
        following.dealer,
        following.streak,
        None,
        over=agreed is not None and played >= agreed,
        session={"hand": played + 1},
    )


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    winners="all",
    set_issue=_set_issue,
    chows=False,
    claim_issues=_claim_issues,
    kong_issues=_kong_issues,
    discard=_discard,
    locks=_locks,
    kong_links=True,
    kongs_paid=True,
)
