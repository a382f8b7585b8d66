"""Counting the faan of a Hong Kong hand. Readings C1 to C17 of the rules document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablectl.rules.case import Meld, ScoreCase, Win
from tablectl.rules.decompose import counts_of, standard, thirteen_orphans
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.hongkong.patterns import LIMIT
from tablectl.rules.melds import as_group
from tablectl.rules.wild import NO_WILD
from tablectl.tiles import DRAGONS, EAST, WINDS, Tile, is_flower, is_honour, is_terminal, suit_of

Faan = dict[str, int]

SETS = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """A way to read the hand, with what it scores.

    Attributes:
        reading: the concealed tiles as groups.
        faan: pattern id to faan; a limit hand lists itself alone.
        total: faan that count, at most the limit.
    """

    reading: Reading
    faan: Faan
    total: int


def count(case: ScoreCase, win: Win) -> Counted | None:
    """The best reading of the winner's hand; ``None`` if it is no winning shape."""
    seat = case.seats[win.seat]
    laid = [as_group(meld, NO_WILD) for meld in seat.melds]
    common: Faan | None = None
    best: Counted | None = None
    for reading in readings(seat.hand, seat.melds, win.tile):
        groups = [*laid, *reading]
        limit = _limit_hand(case, win, groups, seat.melds)
        if limit:
            faan = {limit: LIMIT}
        else:
            if common is None:
                common = _flower_faan(case, win) | _way_faan(win, seat.melds)
            faan = common | _honour_faan(case, win, groups) | _suit_faan(groups)
        counted = Counted(reading, faan, min(LIMIT, sum(faan.values())))
        if best is None or _rank(counted) > _rank(best):
            best = counted
    return best


def _rank(counted: Counted) -> tuple[int, bool, int]:
    return counted.total, len(counted.faan) == 1, sum(counted.faan.values())


def readings(hand: Sequence[Tile], melds: Sequence[Meld], tile: Tile | None) -> list[Reading]:
    """Every way to read concealed tiles and the winning tile as a winning hand.

    Flowers never sit in a hand, so one among the tiles leaves no reading.
    """
    tiles = hand if tile is None else (*hand, tile)
    if is_flower(max(tiles)):
        return []
    counts = counts_of(tiles)
    found = list(standard(counts, 0, 4 - len(melds)))
    orphans = None if melds else thirteen_orphans(counts, 0)
    return [*found, orphans] if orphans else found


def _limit_hand(
    case: ScoreCase, win: Win, groups: Sequence[Group], melds: Sequence[Meld]
) -> str | None:
    """The first limit hand that applies, in the order of the table.

    Hands of honours or of terminals alone have no runs, so that all their sets are pungs.
    """
    if len(groups) > SETS + 1:
        return "thirteen_orphans"
    pungs = [group.tiles[0] for group in groups if group.kind is Kind.PUNG]
    if len(pungs) == SETS:
        firsts = [group.tiles[0] for group in groups]
        if all(wind in pungs for wind in WINDS):
            return "great_four_winds"
        if all(map(is_honour, firsts)):
            return "all_honours"
        if all(map(is_terminal, firsts)):
            return "all_terminals"
    if not melds and _is_nine_gates(case, win):
        return "nine_gates"
    if len(pungs) == SETS and win.is_own_draw and not any(m.is_open for m in melds):
        return "four_concealed_pungs"
    if len(melds) == SETS and all(meld.is_kong for meld in melds):
        return "four_kongs"
    if win.by == "deal":
        return "heavenly_hand"
    first_discard = win.by == "discard" and win.flags.first_turn and win.from_seat == case.dealer
    return "earthly_hand" if first_discard and win.seat != case.dealer else None


_GATES = (3, 1, 1, 1, 1, 1, 1, 1, 3)


def _is_nine_gates(case: ScoreCase, win: Win) -> bool:
    """Whether the hand before the winning tile was 1112345678999 of the tile's suit (C11)."""
    assert win.tile is not None
    low = win.tile // 9 * 9
    if win.tile >= EAST or not all(low <= tile < low + 9 for tile in case.seats[win.seat].hand):
        return False
    return counts_of(case.seats[win.seat].hand)[low : low + 9] == _GATES


def _flower_faan(case: ScoreCase, win: Win) -> Faan:
    laid = case.seats[win.seat].flowers
    if not laid:
        return {"no_flowers": 1}
    own = 34 + (win.seat - case.dealer) % 4
    seasons = sum(tile < 38 for tile in laid)
    full = (seasons == 4) + (len(laid) - seasons == 4)
    single = (seasons < 4 and own in laid) + (len(laid) - seasons < 4 and own + 4 in laid)
    return _kept({"flower_set": 2 * full, "seat_flower": int(single)})


def _way_faan(win: Win, melds: Sequence[Meld]) -> Faan:
    kongs = win.flags.kong_draw if win.by == "self_draw" else 0
    return _kept(
        {
            "concealed_hand": int(not any(meld.is_open for meld in melds)),
            "self_draw": int(win.is_own_draw),
            "robbing_kong": int(win.by == "rob_kong"),
            "kong_win": int(kongs == 1),
            "double_kong_win": 8 if kongs > 1 else 0,
            "last_tile": int(win.flags.last_tile and win.by in ("self_draw", "discard")),
        }
    )


def _honour_faan(case: ScoreCase, win: Win, groups: Sequence[Group]) -> Faan:
    pungs = [g.tiles[0] for g in groups if g.kind is Kind.PUNG and is_honour(g.tiles[0])]
    if not pungs:
        return {}
    pair = next(group.tiles[0] for group in groups if group.kind is Kind.PAIR)
    dragons = sum(tile in DRAGONS for tile in pungs)
    winds = sum(tile in WINDS for tile in pungs)
    small_winds = winds == 3 and pair in WINDS
    small_dragons = dragons == 2 and pair in DRAGONS
    seat_wind = WINDS[(win.seat - case.dealer) % 4]
    round_wind = WINDS["ESWN".index(case.round_wind or "E")]
    return _kept(
        {
            "great_three_dragons": 8 if dragons == 3 else 0,
            "small_three_dragons": 5 if small_dragons else 0,
            "dragon_pung": 0 if dragons == 3 or small_dragons else dragons,
            "small_four_winds": 6 if small_winds else 0,
            "seat_wind": int(seat_wind in pungs and not small_winds),
            "round_wind": int(round_wind in pungs and not small_winds),
        }
    )


def _suit_faan(groups: Sequence[Group]) -> Faan:
    suits = {suit_of(group.tiles[0]) for group in groups}
    kinds = [group.kind for group in groups]
    return _kept(
        {
            "common_hand": int(kinds.count(Kind.RUN) == 4),
            "all_pungs": 3 if kinds.count(Kind.PUNG) == 4 else 0,
            "pure_one_suit": 7 if len(suits) == 1 else 0,
            "mixed_one_suit": 3 if len(suits) == 2 and "z" in suits else 0,
        }
    )


def _kept(faan: Faan) -> Faan:
    return {pattern: value for pattern, value in faan.items() if value}
