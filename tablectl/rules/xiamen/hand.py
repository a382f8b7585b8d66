"""Reading a Xiamen hand: golds, ways of winning, flowers of sets. X1 to X15, X21 to X24."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from tablectl.rules.case import Meld, SeatState, Win
from tablectl.rules.decompose import Counts, condensed, counts_of
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.shape import is_sets, is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.rules.xiamen.options import XiamenOptions
from tablectl.rules.xiamen.patterns import (
    EIGHT,
    GOLDS,
    QUANZHOU,
    THREE_GOLD_AS_DEALT,
    XIAMEN,
)
from tablectl.tiles import WHITE, Tile, is_flower, is_honour

SETS = 5


def wild_rule(indicator: Tile | None, options: XiamenOptions) -> Wild:
    """Golds and the white dragon's face (X1, X2).

    The face-up tile's other copies are gold, and white dragons play as it. A white dragon turned up
    leaves the other three as golds, and nothing plays as it. A flower is turned back.
    """
    del options
    if indicator is None or is_flower(indicator):
        return Wild()
    if indicator == WHITE:
        return Wild(tiles=frozenset({WHITE}))
    return Wild(tiles=frozenset({indicator}), faces={WHITE: indicator})


@dataclass(frozen=True, slots=True)
class Hand:
    """Concealed tiles as they play, winning tile included.

    Attributes:
        counts: naturals by identity; a claimed tile, the one turned up too, is always natural (X2).
        golds: golds held, a drawn one included.
        before: golds held before the winning tile.
        sets: sets that the concealed tiles must make.
        melds: sets laid out.
        face: the winning tile's identity; ``None`` where it is a drawn gold or there is none.
    """

    counts: Counts
    golds: int
    before: int
    sets: int
    melds: tuple[Meld, ...]
    face: Tile | None

    @property
    def complete(self) -> bool:
        """Whether the tiles are five sets and a pair."""
        size = sum(self.counts) + self.golds
        return size == 3 * self.sets + 2 and is_sets_and_pair(self.counts, self.golds)


def look(seat: SeatState, win: Win, wild: Wild) -> Hand | None:
    """Sort the winner's tiles; ``None`` where a flower is among them."""
    claimed = not win.is_own_draw
    naturals = [tile for tile in seat.hand if tile not in wild.tiles]
    before = golds = len(seat.hand) - len(naturals)
    face = None
    if win.tile is not None:
        if win.tile in wild.tiles and not claimed:
            golds += 1
        else:
            naturals.append(win.tile)
            face = wild.plays_as(win.tile)
    if any(map(is_flower, naturals)):
        return None
    counts = counts_of(wild.identities(naturals))
    return Hand(counts, golds, before, SETS - len(seat.melds), seat.melds, face)


def is_float_call(hand: Sequence[Tile], melds: int, wild: Wild) -> bool:
    """Whether the tiles held, without a winning tile, are five sets and a gold (X8, X19)."""
    golds = sum(tile in wild.tiles for tile in hand)
    naturals = [tile for tile in hand if tile not in wild.tiles]
    if not golds or any(map(is_flower, naturals)) or len(hand) != 3 * (SETS - melds) + 1:
        return False
    return is_sets(counts_of(wild.identities(naturals)), golds - 1)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A way to count the hand.

    Attributes:
        way: pattern id of the way of winning.
        multiplier: its multiplier.
        set_flowers: flowers of the sets.
        reading: concealed tiles as groups; ``None`` where they are not arranged (X11).
    """

    way: str
    multiplier: int
    set_flowers: int
    reading: Reading | None = None


CLOSED_PUNG = {False: 1, True: 2}
"""Flowers of a closed pung, of a suit and of an honour; each step up or down is one flower."""


def meld_flowers(meld: Meld, wild: Wild, options: XiamenOptions) -> int:
    """Flowers of a set laid out (X7, X21)."""
    grown = 0 if options.quanzhou else 1
    steps = {"pung": -_open_loss(options), "kong": 1, "added_kong": grown, "closed_kong": 2}
    if meld.kind not in steps:
        return 0
    return steps[meld.kind] + CLOSED_PUNG[is_honour(wild.plays_as(meld.tiles[0]))]


def _open_loss(options: XiamenOptions) -> int:
    """What a pung loses by being open (X24)."""
    return 0 if options.quanzhou and options.quanzhou_open_pung_as_closed else 1


def _closed_flowers(group: Group) -> int:
    """Flowers of a concealed group; three golds play as the dearest pung."""
    if group.kind is Kind.SET:
        return CLOSED_PUNG[True]
    return CLOSED_PUNG[is_honour(group.tiles[0])] if group.kind is Kind.PUNG else 0


@dataclass(frozen=True, slots=True)
class _Sort:
    """What matters of the groups of one block.

    Attributes:
        face: the winning tile's identity.
        drawn: it comes from the wall, so that only the eye tells where it lies.
    """

    face: Tile | None
    drawn: bool

    def __call__(self, groups: tuple[Group, ...]) -> Hashable:
        """Flowers, and the sorts of groups that can have taken the winning tile."""
        takers = {
            (group.kind, group.wild_count)
            for group in groups
            if self.face in group.naturals() and not (self.drawn and group.kind is not Kind.PAIR)
        }
        return sum(map(_closed_flowers, groups)), frozenset(takers)


def arrangements(
    hand: Hand, win: Win, wild: Wild, options: XiamenOptions, *, earthly: bool
) -> Iterator[Arrangement]:
    """Every arrangement as five sets and a pair that the way of winning allows (S1, S2, X6).

    Args:
        earthly: whether the tile is the banker's first discard.
    """
    table = QUANZHOU if options.quanzhou else XIAMEN
    plain = _plain_way(win, options, earthly=earthly)
    floated = ("gold_float", "double_float", "triple_float")[min(win.flags.floats, 2)]
    laid = sum(meld_flowers(meld, wild, options) for meld in hand.melds)
    sort = _Sort(hand.face, win.is_own_draw)
    for reading in condensed(hand.counts, hand.golds, hand.sets, sort):
        flowers = laid + sum(map(_closed_flowers, reading))
        way = floated if win.by == "self_draw" and _pairs_a_gold(reading, hand) else plain
        if not win.is_own_draw:
            lost = _least_lost(reading, hand, win, options)
            if lost is None:
                continue
            flowers -= lost
        yield Arrangement(way, table.get(way, 0), flowers, reading)


def _plain_way(win: Win, options: XiamenOptions, *, earthly: bool) -> str:
    """The way of winning where no gold is paired (X12, X22)."""
    if win.by == "deal":
        return "own_tile" if options.quanzhou else "heavenly_win"
    if win.by == "discard":
        return "earthly_win" if earthly and not options.quanzhou else "common_win"
    return {"rob_kong": "robbing_kong", "indicator": "robbing_gold"}.get(win.by, "own_tile")


def _pairs_a_gold(reading: Reading, hand: Hand) -> bool:
    """Whether the eye is a held gold and the tile drawn, which may be a gold (X8)."""
    pair = next(group for group in reading if group.kind is Kind.PAIR)
    if pair.is_free:
        return hand.face is None and hand.before > 0
    return pair.wild_count == 1 and hand.face in pair.tiles


def _least_lost(reading: Reading, hand: Hand, win: Win, options: XiamenOptions) -> int | None:
    """Flowers lost because the claimed tile opens a pung; ``None``: only a gold would pair it.

    The winner chooses the group that takes the tile (X6), but never the eye beside a gold (S2). The
    tile turned up is no claim in that sense: beside it a gold is a pair at face value.
    """
    found = []
    for group in reading:
        if hand.face not in group.naturals():
            continue
        if group.kind is Kind.PAIR and group.wild_count and win.by != "indicator":
            continue
        found.append(_open_loss(options) if group.kind is Kind.PUNG else 0)
    return min(found, default=None)


def unarranged(
    seat: SeatState, hand: Hand, win: Win, wild: Wild, options: XiamenOptions
) -> Arrangement | None:
    """Three gold or eight flowers, whatever the other tiles are (X10, X11, X22, X23)."""
    flowers = sum(meld_flowers(meld, wild, options) for meld in hand.melds)
    flowers += sum(CLOSED_PUNG[is_honour(Tile(i))] for i, n in enumerate(hand.counts) if n >= 3)
    in_time = win.by == "deal" or (win.by == "self_draw" and win.flags.last_tile)
    if in_time and hand.golds == GOLDS:
        dealt = win.by == "deal" and not options.quanzhou
        return Arrangement("three_gold", THREE_GOLD_AS_DEALT if dealt else 3, flowers)
    collected = len(seat.flowers) == EIGHT and options.quanzhou
    if collected and (win.by == "flowers" or (win.is_own_draw and hand.complete)):
        return Arrangement("eight_flowers", QUANZHOU["eight_flowers"], flowers)
    return None
