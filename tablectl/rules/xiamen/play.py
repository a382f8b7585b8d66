"""How Xiamen mahjong is played: golds, float rounds, following honours, locks, rotation."""

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
    last_discard_issues,
)
from tablectl.rules.xiamen.hand import is_float_call
from tablectl.rules.xiamen.patterns import EIGHT, GOLDS, QUANZHOU
from tablectl.tiles import Tile, is_flower, is_honour

DRAWABLE: Final = 63
"""144 tiles less 65 dealt and the 16 that always stay, the tile turned up among them (M1)."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _another_floats(table: TableView, seat: int) -> bool:
    return any(p.floating for other, p in enumerate(table.players) if other != seat)


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    if any(tile in table.wild.tiles for tile in claim.tiles):
        return ()  # wild_in_meld alone (M17)
    floats = ("float_round_claim",) if _another_floats(table, claim.seat) else ()
    return (*floats, *last_discard_issues(table, claim))


def _win_issues(table: TableView, seat: int, by: str) -> tuple[str, ...]:
    if by == "indicator" and not _may_rob_gold(table, seat):
        return ("claim_not_allowed",)
    if by == "discard" and not table.options.float_round_claim and _another_floats(table, seat):
        return ("float_round_claim",)  # M15
    return ()


def _may_rob_gold(table: TableView, seat: int) -> bool:
    """Non-bankers before the banker's first discard, the banker right after it (X13)."""
    if seat != table.dealer:
        return table.discards == 0
    return table.discards == 1 and table.last_discard is not None


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    issues = ("follow_honor",) if _breaks_following(table, seat, tile) else ()
    if tile not in table.wild.tiles:
        return DiscardEffect(issues=issues)
    floats = _may_float(table, seat, tile)
    offence = not floats and table.options.false_float  # X19, M25
    return DiscardEffect(
        issues=(*issues, "wild_discarded") if offence else issues,
        forfeits=offence,
        aside=True,
        opens_float=floats,
        floats=floats,
    )


def _may_float(table: TableView, seat: int, tile: Tile) -> bool:
    """Whether the hand kept is five sets and a gold; an unseen hand may be (M14)."""
    player = table.players[seat]
    if not player.fully_known or tile not in player.known:
        return True
    kept = list(player.known)
    kept.remove(tile)
    return is_float_call(kept, len(player.melds), table.wild)


def _breaks_following(table: TableView, seat: int, tile: Tile) -> bool:
    """Whether a lone honour that has been thrown before is kept for another tile (X28, M16).

    Known only where the hand is. Golds are exempt, and so is a white dragon that is a suit tile.
    """
    player, wild = table.players[seat], table.wild
    if not player.fully_known:
        return False
    faces = [wild.plays_as(t) for t in player.known if t not in wild.tiles]
    thrown = {wild.plays_as(t) for p in table.players for t in p.thrown if t not in wild.tiles}
    must_go = {face for face in faces if is_honour(face) and faces.count(face) == 1} & thrown
    return bool(must_go) and (tile in wild.tiles or wild.plays_as(tile) not in must_go)


def _float_stands(table: TableView, seat: int, hand: tuple[Tile, ...]) -> bool:
    return is_float_call(hand, len(table.players[seat].melds), table.wild)


def _float_offence(table: TableView, seat: int, hand: tuple[Tile, ...]) -> bool:
    """Whether the hand laid open shows that a gold was thrown without floating (X19, M25)."""
    player, golds = table.players[seat], table.wild.tiles
    if not table.options.false_float or player.forfeited or not golds.intersection(player.thrown):
        return False
    unchanged = player.floating  # no tile drawn since the throw
    return not golds.intersection(hand) or (unchanged and not _float_stands(table, seat, hand))


def _locks(options: Any) -> Locks:
    """The same tile, for a win and for pungs and direct kongs (M12)."""
    if not options.missed_tile_lock:
        return Locks()
    return Locks(win="same", calls=frozenset({"pung", "kong"}), proof="laid_open")


def _turned_back(_table: TableView, tile: Tile) -> bool:
    return is_flower(tile)


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The banker stays on a win, a drawn hand and a false win (S6, M27, M32); never over (M30)."""
    stays = not result.winners or table.dealer in result.winners
    if not stays:
        return NextHand((table.dealer + 1) % len(table.players), 1, None)
    session = {}
    if table.options.quanzhou and table.options.quanzhou_base_step == "multiplier":
        session["streak_multipliers"] = _multipliers(table, result)
    return NextHand(table.dealer, table.streak + 1, None, session=session)


def _multipliers(table: TableView, result: Result) -> list[int]:
    """The multipliers of the banker's wins in this streak, this hand's included (X20)."""
    carried = table.session.get("streak_multipliers", ())
    found = list(carried) if isinstance(carried, list | tuple) else []
    patterns = result.settlement.patterns if result.settlement is not None else None
    mine = (patterns or {}).get(table.dealer, {})
    return found + [int(value) for name, value in mine.items() if name in QUANZHOU]


def _special_wins(table: TableView, seat: int) -> tuple[tuple[str, Tile | None], ...]:
    """The gold robbed, three gold, and in Quanzhou scoring eight flowers (X10, X13, X23)."""
    player, found = table.players[seat], list[tuple[str, Tile | None]]()
    if table.indicators and not table.options.quanzhou and _may_rob_gold(table, seat):
        found.append(("indicator", table.indicators[-1]))
    if sum(tile in table.wild.tiles for tile in player.known) == GOLDS:
        if table.turn == seat and table.discards == 0:
            found.append(("deal", player.known[-1]))
        elif seat != table.dealer and not player.thrown and table.turn != seat:
            found.append(("deal", None))
        elif table.turn == seat and table.wall == 0 and table.drawn_tile is not None:
            found.append(("self_draw", table.drawn_tile))
    if table.options.quanzhou and len(player.flowers) == EIGHT:
        found.append(("flowers", None))
    return tuple(found)


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    claim_issues=_claim_issues,
    win_issues=_win_issues,
    discard=_discard,
    locks=_locks,
    turned_back=_turned_back,
    set_ends_first_turn=True,
    dealt_until="own_discard",
    float_stands=_float_stands,
    float_offence=_float_offence,
    special_wins=_special_wins,
)
