"""Counting the doubles of a north-west Hubei hand. Readings K1 to K13, K19, K22."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablectl.rules.case import SeatState, Win
from tablectl.rules.decompose import Counts, counts_of, seven_pairs, standard
from tablectl.rules.groups import Group, Kind, Reading, placements
from tablectl.rules.kawuxing.options import KawuxingOptions
from tablectl.rules.melds import as_group
from tablectl.rules.wild import NO_WILD
from tablectl.tiles import DRAGONS, Tile, is_suited, suit_of

Doubles = dict[str, int]

LICENCES = frozenset(
    (
        "pure_one_suit", "seven_pairs", "lone_tile", "lesser_three_elements",
        "greater_three_elements", "dragon_seven_pairs", "double_dragon_seven_pairs",
    )
)  # fmt: skip
"""Patterns of two doubles or more, beside which a four in one may be won on any tile (K7)."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A way to read the hand, with what it scores.

    Attributes:
        reading: the concealed tiles as groups.
        doubles: pattern id to doubles.
        total: doubles that count, the cap applied.
    """

    reading: Reading
    doubles: Doubles
    total: int

    @property
    def score(self) -> int:
        """Units that one payer owes."""
        return int(2**self.total)


def count(seat: SeatState, win: Win, options: KawuxingOptions) -> Counted | None:
    """The best reading of the winner's hand; ``None`` if it is no winning shape."""
    if win.tile is None:
        return None
    counts = counts_of((*seat.hand, win.tile))
    found: list[Reading] = list(standard(counts, 0, 4 - len(seat.melds)))
    pairs = None if seat.melds else seven_pairs(counts, 0)
    if pairs:
        found.append(pairs)
    best: Counted | None = None
    for reading in found:
        doubles = _situation(seat, win) | _shape(seat, win.tile, counts, reading)
        counted = Counted(reading, doubles, capped(doubles, options))
        if best is None or _rank(counted) > _rank(best):
            best = counted
    return best


def _rank(counted: Counted) -> tuple[int, int]:
    return counted.total, sum(counted.doubles.values())


def capped(doubles: Doubles, options: KawuxingOptions) -> int:
    """Doubles that count."""
    total, cap = sum(doubles.values()), options.max_doubles
    if cap is None:
        return total
    if options.double_dragon_exception and "double_dragon_seven_pairs" in doubles:
        cap = max(cap, 4)
    return min(total, cap)


def _situation(seat: SeatState, win: Win) -> Doubles:
    """Doubles of the way of winning (K11, K12, K13)."""
    drawn = win.by == "self_draw"
    return _kept(
        {
            "bloom_on_kong": win.flags.kong_draw if drawn else 0,
            "claimed_on_kong": int(win.by == "discard" and win.flags.kong_discard),
            "robbing_kong": int(win.by == "rob_kong"),
            "disclosure": int(seat.disclosed),
            "fishing_bottom": int(drawn and win.flags.last_tile),
        }
    )


def _shape(seat: SeatState, tile: Tile, counts: Counts, reading: Reading) -> Doubles:
    """Doubles of the hand itself under one reading."""
    groups = [*(as_group(meld, NO_WILD) for meld in seat.melds), *reading]
    if all(group.kind is Kind.PAIR for group in reading) and len(reading) == 7:
        return _pairs(counts) | _suit(groups)
    found = _sets(seat, groups) | _suit(groups)
    if any(_fits_five(reading[p.group], tile) for p in placements(reading, tile, wild=False)):
        found["fit_five"] = 1
    return found | _four_in_one(seat, tile, counts, free=bool(LICENCES & found.keys()))


def _pairs(counts: Counts) -> Doubles:
    """Seven pairs and its grades; three fours are no higher than two (K4, K5)."""
    fours = sum(n == 4 for n in counts)
    grades = ({"seven_pairs": 2}, {"dragon_seven_pairs": 3}, {"double_dragon_seven_pairs": 4})
    return dict(grades[min(fours, 2)])


def _suit(groups: Sequence[Group]) -> Doubles:
    """One suit; dragons are none (K22)."""
    tiles = [tile for group in groups for tile in group.tiles]
    pure = all(map(is_suited, tiles)) and len(set(map(suit_of, tiles))) == 1
    return {"pure_one_suit": 2} if pure else {}


def _sets(seat: SeatState, groups: Sequence[Group]) -> Doubles:
    """Doubles of four sets and a pair (K2, K3, K4)."""
    pungs = [group.tiles[0] for group in groups if group.kind is Kind.PUNG]
    pair = next(group.tiles[0] for group in groups if group.kind is Kind.PAIR)
    dragons = sum(tile in DRAGONS for tile in pungs)
    lone = len(seat.melds) == 4
    return _kept(
        {
            "all_pung": int(len(pungs) == 4 and not lone),
            "lone_tile": 2 if lone else 0,
            "lesser_three_elements": 2 if dragons == 2 and pair in DRAGONS else 0,
            "greater_three_elements": 3 if dragons == 3 else 0,
        }
    )


def _fits_five(group: Group, tile: Tile) -> bool:
    """Whether the tile is the 5 of a run 4-5-6."""
    return group.kind is Kind.RUN and group.tiles[1] == tile and tile % 9 == 4


def _four_in_one(seat: SeatState, tile: Tile, counts: Counts, *, free: bool) -> Doubles:
    """Four copies used apart from each other (K7 to K10).

    Args:
        free: whether the winning tile may be another one.
    """
    pungs = [meld.tiles[0] for meld in seat.melds if meld.kind == "pung"]
    is_open = any(counts[t] == 1 and (free or t == tile) for t in pungs)
    is_closed = any(n == 4 and (free or t == tile) for t, n in enumerate(counts))
    return _kept({"open_four_in_one": int(is_open), "closed_four_in_one": 2 if is_closed else 0})


def _kept(doubles: Doubles) -> Doubles:
    return {pattern: value for pattern, value in doubles.items() if value}
