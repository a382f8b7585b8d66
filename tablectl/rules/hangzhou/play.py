"""How Hangzhou mahjong is played: float rounds, restricted calls, locks, rotation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tablectl.rules.decompose import counts_of
from tablectl.rules.play import (
    ClaimAttempt,
    DiscardEffect,
    Locks,
    MeldView,
    NextHand,
    PlayRules,
    Result,
    TableView,
    WallCounts,
    stay_or_pass,
)
from tablectl.rules.shape import is_pairs, is_sets
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, is_honour

DRAWABLE: Final = 63
"""136 tiles less 53 dealt and the 20 that always stay, the indicator pair among them."""

GIVEN_SETS: Final = ("chow", "pung", "kong", "added_kong")
"""Open sets that count between giver and taker; closed kongs never do (H14)."""

HIGH_ROLL: Final = 10
"""Sum of two dice that counts as a high roll (``instant_third``); the document names none."""


def _wall(_options: Any, counts: WallCounts) -> int:
    return DRAWABLE - counts.drawn


def _another_floats(table: TableView, seat: int) -> bool:
    return any(p.floating for other, p in enumerate(table.players) if other != seat)


def _claim_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    issues, seat = [], claim.seat
    if claim.tile not in table.wild.tiles:  # a claimed fortune tile is wild_in_meld alone
        if _another_floats(table, seat):
            issues.append("float_round_claim")
        elif table.players[seat].floating and table.options.float_calls == "wait":
            issues.append("claim_not_allowed")
    if _breaks_restriction(table, claim):
        issues.append("call_limit")
    return tuple(issues)


def _breaks_restriction(table: TableView, claim: ClaimAttempt) -> bool:
    """Whether a claim would make a forbidden third set from one giver."""
    rule = table.options.liability_restriction
    least = {"always": 1, "banker_stays": 2, "banker_third": 3}
    if rule == "none" or table.streak < least[table.options.liability_restriction_when]:
        return False
    melds = table.players[claim.seat].melds
    given = [m for m in melds if m.kind in GIVEN_SETS and m.source == claim.source]
    if len(given) < 2:
        return False
    if rule == "max_two":
        return True
    if table.dealer in (claim.seat, claim.source):
        return False
    return rule == "banker_only" or (claim.kind == "chow" and all(m.kind == "chow" for m in given))


def _win_issues(table: TableView, seat: int, by: str) -> tuple[str, ...]:
    if by in ("discard", "rob_kong") and _another_floats(table, seat):
        return ("float_round_claim",)
    return ()


def is_eye_call(hand: Iterable[Tile], melds: Sequence[MeldView], wild: Wild) -> bool:
    """Whether the tiles held are four sets or six pairs, plus a fortune tile (H2)."""
    held = list(hand)
    wilds = sum(tile in wild.tiles for tile in held)
    if wilds == 0 or any(tile >= 34 for tile in held):
        return False
    counts = counts_of(wild.identities(tile for tile in held if tile not in wild.tiles))
    if len(held) % 3 != 1:
        return False
    return is_sets(counts, wilds - 1) or (not melds and is_pairs(counts, wilds - 1))


def _discard(table: TableView, seat: int, tile: Tile) -> DiscardEffect:
    if tile not in table.wild.tiles:
        return DiscardEffect()
    return DiscardEffect(aside=True, opens_float=True, floats=_may_float(table, seat, tile))


def _may_float(table: TableView, seat: int, tile: Tile) -> bool:
    """Whether the hand kept is a float; an unseen hand may be one (LH3)."""
    player = table.players[seat]
    if not player.fully_known or tile not in player.known:
        return True
    kept = list(player.known)
    kept.remove(tile)
    return is_eye_call(kept, player.melds, table.wild)


def _float_gift(table: TableView, claim: ClaimAttempt) -> Mapping[str, Any]:
    """Who feeds a float, and the multiplier before: wild eye, floats, kongs (H22)."""
    player = table.players[claim.seat]
    if not (table.options.float_second_half_liability and player.floating):
        return {}
    return {"seat": claim.source, "before": 2 ** (1 + player.floats + player.kong_run)}


def _honours_thrown(table: TableView, seat: int) -> int:
    """Honours thrown from the start; a call of one of them ends the attempt (H20)."""
    player, number = table.players[seat], 0
    for tile in player.thrown:
        if tile in table.wild.tiles or not is_honour(table.wild.plays_as(tile)):
            break
        number += 1
    return number if player.river[:number] == player.thrown[:number] else 0


def _locks(options: Any) -> Locks:
    return Locks(
        win="same" if options.missed_win_lock else "none",
        calls=frozenset({"pung"}) if options.missed_pung_lock else frozenset(),
    )


def _starting_streak(options: Any, streak: int, dice: Sequence[Any] | None) -> int:
    """The streak with ``instant_third``: the first throw, as a pair of dice, may lift it to 3."""
    throw = dice[0] if dice else None
    if not isinstance(throw, list | tuple) or len(throw) != 2:
        return streak
    first, second = throw
    lifted = (options.instant_third == "doubles" and first == second) or (
        options.instant_third == "high_roll" and first + second >= HIGH_ROLL
    )
    return max(streak, 3) if lifted else streak


def _next_hand(table: TableView, result: Result) -> NextHand:
    winner = result.winners[0] if result.winners else None
    stays = winner is None or winner == table.dealer  # a drawn hand counts as staying (LH1)
    return stay_or_pass(table, stays=stays, passes_to=winner, round_wind=None)


PLAY: Final = PlayRules(
    wall=_wall,
    next_hand=_next_hand,
    winners="nearest_banker",
    claim_issues=_claim_issues,
    win_issues=_win_issues,
    discard=_discard,
    float_gift=_float_gift,
    honours_thrown=_honours_thrown,
    locks=_locks,
    floats_keep_kongs=True,
    starting_streak=_starting_streak,
)
