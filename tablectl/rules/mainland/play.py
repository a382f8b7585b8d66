"""How Mainland mahjong is played: joys, the dead wall, rotation. Readings LM1 to LM7."""

from __future__ import annotations

from typing import Any, Final, Literal

from tablectl.rules.mainland.treasure import JOYS, joy_kind, joy_problem
from tablectl.rules.melds import is_run
from tablectl.rules.play import (
    DEFAULT_RANKS,
    ClaimAttempt,
    JoyEffect,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    natural_set_issue,
    stay_or_pass,
    wind_after,
)
from tablectl.tiles import Tile

LIVE: Final = 77
"""144 tiles less 53 dealt and the dead wall; a turned tile is one less."""
DEAD: Final = 14
"""Tiles of the dead wall (LM1)."""


def _refilled(options: Any, counts: WallCounts) -> int:
    """Live tiles given to the dead wall, one a kong's replacement while there are any (LM3)."""
    left = _turned(options, counts) - counts.front
    return min(counts.kong_tail, max(0, left)) if options.refill_dead_wall else 0


def _turned(options: Any, counts: WallCounts) -> int:
    """Live tiles less the ones turned up; the first is left out from the start (L2, LM7)."""
    if options.treasure == "none":
        return LIVE
    return LIVE - max(1, counts.indicators)


def _wall(options: Any, counts: WallCounts) -> int:
    return _turned(options, counts) - counts.front - _refilled(options, counts)


def _supplements(options: Any, counts: WallCounts) -> int:
    return DEAD - counts.kong_tail - counts.flower_tail + _refilled(options, counts)


def _set_issue(table: TableView, kind: str, tiles: tuple[Tile, ...]) -> str | None:
    """As usual; but a run may hold one treasure, which can be the claimed tile (D-M5)."""
    treasures = sum(tile in table.wild.tiles for tile in tiles)
    if kind == "chow" and treasures == 1 and len(tiles) == 3 and is_run(tiles):
        return None
    return natural_set_issue(table, kind, tiles)


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """A treasure from the hand is never natural; the claimed one is its own face (D-M4, D-M5)."""
    own = list(claim.tiles)
    if claim.tile in own:
        own.remove(claim.tile)
    return ("wild_in_meld",) if any(tile in table.wild.tiles for tile in own) else ()


def _joy(table: TableView, seat: int, tiles: tuple[Tile, ...]) -> JoyEffect:
    when = _moment(table, seat)
    others = [meld.when for meld in table.players[seat].melds if meld.kind == "joy"]
    problem = joy_problem(tiles, when, others, table.options, table.wild)
    issues = [problem] if problem else []
    if not issues and when == "late" and table.turn != seat:
        issues.append("out_of_turn")
    four = joy_kind(tiles, table.wild) == "four_winds" if not problem else len(tiles) == 4
    return JoyEffect(issues=tuple(issues), when=when, supplement=four)


def _joys_in(table: TableView, seat: int) -> tuple[tuple[Tile, ...], ...]:
    """Joys in a known hand, treasures in the place of what lacks."""
    found = []
    for kind in table.options.joys:
        held, spare = set(table.players[seat].known), list(table.players[seat].known)
        tiles = [tile for tile in JOYS[kind] if tile in held]
        for tile in tiles:
            spare.remove(tile)
        treasures = [tile for tile in spare if tile in table.wild.tiles]
        tiles += treasures[: len(JOYS[kind]) - len(tiles)]
        if len(tiles) == len(JOYS[kind]):
            found.append(tuple(tiles))
    return tuple(found)


def _moment(table: TableView, seat: int) -> Literal["deal", "road", "late"]:
    """``deal`` before the first discard, ``road`` in the seat's first drawn turn (LM6)."""
    if table.discards == 0:
        return "deal"
    player = table.players[seat]
    claims = sum(meld.kind in ("chow", "pung", "kong", "added_kong") for meld in player.melds)
    drawn_turns = len(player.thrown) - claims - (seat == table.dealer)
    first = table.turn == seat and table.claim is None and drawn_turns == 0
    return "road" if first else "late"


def _next_hand(table: TableView, result: Result) -> NextHand:
    """The dealer stays on an own win and a draw (LM4); the North round is the last (LM5)."""
    stays = not result.winners or table.dealer in result.winners
    heir = table.dealer if stays else (table.dealer + 1) % len(table.players)
    following = stay_or_pass(table, stays=stays, round_wind=wind_after(table, heir))
    over = not stays and heir == table.first_dealer and table.round_wind == "N"
    return NextHand(following.dealer, following.streak, following.round_wind, over=over)


PLAY: Final = PlayRules(
    wall=_wall,
    supplements=_supplements,
    next_hand=_next_hand,
    ranks={**DEFAULT_RANKS, "kong": DEFAULT_RANKS["pung"]},
    set_issue=_set_issue,
    claim_issues=_claim_issues,
    joy=_joy,
    joys_in=_joys_in,
    round_winds=True,
)
