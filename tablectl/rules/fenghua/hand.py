"""Reading a Fenghua hand: wild tiles, winning forms, calls. Readings F4 to F8, F13 to F17, F23."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tablectl.rules.case import Meld, ScoreCase, Win
from tablectl.rules.decompose import Counts, counts_of
from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.groups import Group, Kind
from tablectl.rules.melds import as_group
from tablectl.rules.shape import is_independent, is_near, is_pairs, is_sets_and_pair
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import N_PLAYING, WINDS, Tile, is_flower, is_honour

SETS = 4
_SEASONS, _PLANTS = range(34, 38), range(38, 42)


def wild_rule(indicator: Tile | None, options: FenghuaOptions) -> Wild:
    """The other copies of the tile turned up; the other three seasons, or flowers, for one."""
    del options
    if indicator is None:
        return Wild()
    if not is_flower(indicator):
        return Wild(tiles=frozenset({indicator}))
    kinds = _SEASONS if indicator in _SEASONS else _PLANTS
    return Wild(tiles=frozenset(Tile(i) for i in kinds if i != indicator))


@dataclass(frozen=True, slots=True)
class LastTile:
    """The winning tile, and what matters of groups that may have taken it.

    Attributes:
        tile: its kind; ``None`` for a wild tile.
        face: the kind that wild tiles have themselves.
    """

    tile: Tile | None
    face: Tile | None

    def __call__(self, groups: tuple[Group, ...]) -> Hashable:
        """The sort of one block's groups, for ``condensed``: everything that can score."""
        return (
            tuple(sorted(_worth(group) for group in groups)),
            self.is_tame(groups),
            has_natural_pair(groups),
            self.makes_pung(groups),
            self.takes_claim(groups),
        )

    def is_tame(self, groups: tuple[Group, ...]) -> bool:
        """Whether every wild tile in the groups stands for its own face (F5)."""
        return all(tile == self.face for group in groups for tile in group.stand_ins())

    def makes_pung(self, groups: tuple[Group, ...]) -> bool:
        """Whether the winning tile can have made a natural pair a pung (F8)."""
        if self.tile is None:
            return any(group.kind is Kind.PUNG and group.wild_count == 1 for group in groups)
        return any(
            group.kind is Kind.PUNG and not group.wild and self.tile == group.tiles[0]
            for group in groups
        )

    def takes_claim(self, groups: tuple[Group, ...]) -> bool:
        """Whether a claimed tile can lie in a set or beside a natural tile (S2, F11)."""
        return any(
            self.tile in group.naturals() and not (group.kind is Kind.PAIR and group.wild)
            for group in groups
        )


def has_natural_pair(groups: tuple[Group, ...]) -> bool:
    """Whether a pair without wild tiles is among the groups."""
    return any(group.kind is Kind.PAIR and not group.wild for group in groups)


def _worth(group: Group) -> int:
    """Runs alike, suit pungs alike, honour pungs by kind."""
    if group.kind is not Kind.PUNG:
        return -1 if group.kind is Kind.RUN else -2
    return int(group.tiles[0]) if is_honour(group.tiles[0]) else 0


@dataclass(frozen=True)
class Hand:
    """A winner's tiles.

    Attributes:
        before: concealed naturals by kind, without the winning tile.
        wilds_before: wild tiles held before it.
        tile: the winning tile, ``None`` where there is none.
        drawn_wild: it is a wild tile.
        melds: sets laid out.
        face: the kind that wild tiles have themselves; ``None`` for flowers.
        claimed: the winning tile is a discard or a robbed tile.
        discard: it is a discard.
        dealt: won as dealt, so that no tile is the last one.
        seat_wind, prevailing: winds that score.
    """

    before: Counts
    wilds_before: int
    tile: Tile | None
    drawn_wild: bool
    melds: tuple[Meld, ...]
    face: Tile | None
    claimed: bool
    discard: bool
    dealt: bool
    seat_wind: Tile
    prevailing: Tile

    @cached_property
    def counts(self) -> Counts:
        """Concealed naturals, winning tile included."""
        if self.tile is None or self.drawn_wild:
            return self.before
        return plus_one(self.before, self.tile)

    @cached_property
    def wilds(self) -> int:
        """Wild tiles, a drawn one included."""
        return self.wilds_before + self.drawn_wild

    @cached_property
    def laid(self) -> tuple[Group, ...]:
        """Sets laid out, a kong as its pung (F6)."""
        return tuple(as_group(meld, NO_WILD) for meld in self.melds)

    @cached_property
    def last(self) -> LastTile:
        """The winning tile as groups see it."""
        return LastTile(None if self.drawn_wild else self.tile, self.face)

    @property
    def sets(self) -> int:
        """Sets that the concealed tiles make in a standard hand."""
        return SETS - len(self.melds)

    @property
    def loner(self) -> bool:
        """Whether four open sets are laid out and one tile is held (F16)."""
        return len(self.melds) == SETS and all(meld.is_open for meld in self.melds)

    def wind_points(self, tile: Tile) -> tuple[str, int] | None:
        """What a pung of the tile scores: pattern and points; dragons, and winds of the seat."""
        return wind_points(tile, self.seat_wind, self.prevailing)


def wind_points(tile: Tile, seat_wind: Tile, prevailing: Tile) -> tuple[str, int] | None:
    """What a pung of the tile scores for a seat: pattern and points; ``None`` = nothing (F6)."""
    if tile not in WINDS:
        return ("dragon_pung", 1) if is_honour(tile) else None
    if tile == seat_wind == prevailing:
        return "right_wind_pung", 2
    names = {prevailing: "prevailing_wind_pung", seat_wind: "seat_wind_pung"}
    return (names[tile], 1) if tile in names else None


def plus_one(counts: Counts, tile: Tile) -> Counts:
    """Counts with one more of a kind."""
    return (*counts[:tile], counts[tile] + 1, *counts[tile + 1 :])


def look(case: ScoreCase, win: Win, wild: Wild) -> Hand | None:
    """Sort the winner's tiles; ``None`` where a flower that is not wild is among them (F23)."""
    seat = case.seats[win.seat]
    naturals = [tile for tile in seat.hand if tile not in wild.tiles]
    drawn_wild = win.tile in wild.tiles
    loose = (*naturals, win.tile) if win.tile is not None and not drawn_wild else naturals
    if any(map(is_flower, loose)):
        return None
    faces = [tile for tile in wild.tiles if not is_flower(tile)]
    return Hand(
        before=counts_of(naturals),
        wilds_before=len(seat.hand) - len(naturals),
        tile=win.tile,
        drawn_wild=drawn_wild,
        melds=seat.melds,
        face=faces[0] if faces else None,
        claimed=win.from_seat is not None,
        discard=win.by == "discard",
        dealt=win.by == "deal",
        seat_wind=WINDS[(win.seat - case.dealer) % 4],
        prevailing=WINDS["ESWN".index(case.round_wind or "E")],
    )


def is_winning(counts: Counts, wilds: int, melds: Sequence[Meld]) -> bool:
    """Whether concealed tiles and sets laid out are any winning form."""
    if sum(counts) + wilds + 3 * len(melds) != 3 * SETS + 2:
        return False
    if is_sets_and_pair(counts, wilds) or is_all_honours(counts, melds):
        return True
    return not melds and (is_pairs(counts, wilds) or is_independent(counts, wilds))


def is_all_honours(counts: Counts, melds: Sequence[Meld]) -> bool:
    """Whether every tile is an honour; wild tiles stand for some (F17)."""
    return not any(counts[:27]) and all(is_honour(meld.tiles[0]) for meld in melds)


def is_single_call(hand: Hand) -> bool:
    """Whether exactly one kind, laid at face value, would have completed the hand (F7).

    Kinds of which the winner holds all four are left out. A hand won as dealt called for nothing.
    """
    if hand.tile is None or hand.dealt:
        return False
    held = Counter({Tile(i): n for i, n in enumerate(hand.before)})
    for meld in hand.melds:
        held.update(meld.tiles)
    # Anything may complete wild tiles, independent tiles and honours; else the tile must fit.
    anything = hand.wilds_before or not any(hand.before[:27]) or max(hand.before) == 1
    calls = 0
    for kind in map(Tile, range(N_PLAYING)):
        if held[kind] >= 4 or not (anything or is_near(hand.before, kind)):
            continue
        if is_winning(plus_one(hand.before, kind), hand.wilds_before, hand.melds):
            calls += 1
            if calls > 1:
                return False
    return calls == 1
