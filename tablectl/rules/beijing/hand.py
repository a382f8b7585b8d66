"""Reading a Beijing hand: wild tiles, eye calls, doubles. Readings B3 to B11, B20 to B27."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tablectl.rules.beijing.options import AddedPattern, BeijingOptions, CountedPattern
from tablectl.rules.case import Meld, SeatState, Win
from tablectl.rules.decompose import Counts, condensed, counts_of, seven_pairs, standard
from tablectl.rules.groups import FREE_PAIR, Group, Kind, Reading, placements
from tablectl.rules.melds import as_group
from tablectl.rules.shape import is_pairs, is_sets
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import EAST, NORTH, RED, WHITE, Tile, is_flower, is_suited

Doubles = dict[str, int]

FIVE: Tile = Tile(4)
"""The five of characters (B10)."""

_NEXT_DRAGON = {33: 32, 32: 31, 31: 33}
"""Red, Green, White, Red (B25)."""


def next_tile(tile: Tile) -> Tile:
    """The tile after an indicator: 9 to 1, North to East, Red to Green to White (B25)."""
    if is_suited(tile):
        return Tile(tile - 8 if tile % 9 == 8 else tile + 1)
    if tile >= WHITE:
        return Tile(_NEXT_DRAGON[tile])
    return EAST if tile == NORTH else Tile(tile + 1)


def wild_rule(indicator: Tile | None, options: BeijingOptions) -> Wild:
    """The four tiles after the indicator are wild."""
    del options
    if indicator is None or indicator > RED:
        return NO_WILD
    return Wild(tiles=frozenset({next_tile(indicator)}))


def is_eye_call(hand: Sequence[Tile], melds: int, wild: Tile) -> bool:
    """Whether concealed tiles are four sets or six pairs, plus a wild tile (B4)."""
    wilds = hand.count(wild)
    if not wilds:
        return False
    counts = counts_of(tile for tile in hand if tile != wild)
    return is_sets(counts, wilds - 1) or (not melds and is_pairs(counts, wilds - 1))


@dataclass(frozen=True, slots=True)
class Read:
    """A way to read the hand.

    Attributes:
        reading: the concealed tiles as groups, none of them free.
        straight: no wild tile stands for another tile (B7).
    """

    reading: Reading
    straight: bool

    @property
    def pairs(self) -> bool:
        """Whether it is seven pairs."""
        return len(self.reading) == 7


@dataclass(frozen=True, slots=True)
class Counted:
    """A reading with its doubles; ``hand`` is what all payers share (B1)."""

    read: Read
    doubles: Doubles

    @property
    def total(self) -> int:
        """Doubles that every payer pays."""
        return sum(self.doubles.values())


@dataclass(frozen=True, slots=True)
class Situation:
    """A win with what is needed to count it.

    Attributes:
        robs_concealed: the tile came from a closed kong, so it must end up in a flush (B6).
        eye_call: the hand before the winning tile was one.
    """

    seat: SeatState
    win: Win
    tile: Tile
    wild: Tile
    options: BeijingOptions
    is_banker: bool
    robs_concealed: bool
    eye_call: bool

    def weight(self, pattern: CountedPattern) -> int:
        """Doubles of a base pattern."""
        return self.options.doubles.get(pattern, 1)

    def added(self, pattern: AddedPattern) -> int:
        """Doubles of an added pattern, 0 where it does not count."""
        return self.options.extra_doubles.get(pattern, 0)


@dataclass(frozen=True, slots=True)
class _Sort:
    """What matters of a suit's groups, besides their numbers, for the doubles of a hand."""

    wild: Tile

    def __call__(self, groups: tuple[Group, ...]) -> tuple[frozenset[int], bool, bool, bool, bool]:
        """Runs of a flush, any run at all, native wild tiles, a five that fits, face values."""
        runs = [group for group in groups if group.kind is Kind.RUN]
        whole = [group for group in runs if group.tiles[0] % 9 in _RUN_STARTS]
        native = any(tile != self.wild for group in whole for tile in group.stand_ins())
        fives = (group for group in runs if group.tiles[1] == FIVE)
        caught = any(bool(group.wild & 0b10) is (self.wild == FIVE) for group in fives)
        starts = frozenset(group.tiles[0] for group in whole)
        return starts, bool(runs), native, caught, _at_face_value(groups, self.wild)


def _at_face_value(groups: Iterable[Group], wild: Tile) -> bool:
    """Whether no wild tile stands for another tile (B7)."""
    return all(tile == wild for group in groups if group.wild for tile in group.stand_ins())


def readings(
    hand: Sequence[Tile], melds: int, wild: Tile, *, every: bool = False
) -> Iterator[Read]:
    """Readings of concealed tiles, winning tile included; none where they do not win.

    First those with wild tiles at face value, as plain naturals.

    Args:
        every: all of them; by default one of each sort.
    """
    if any(map(is_flower, hand)):
        return
    for reading in _shapes(counts_of(hand), 0, melds, None):
        yield Read(reading, straight=True)
    wilds = hand.count(wild)
    if wilds:
        counts = counts_of(tile for tile in hand if tile != wild)
        for reading in _shapes(counts, wilds, melds, None if every else _Sort(wild)):
            for named in _named(reading, wild):
                yield Read(named, straight=_at_face_value(named, wild))


def _shapes(counts: Counts, wilds: int, melds: int, sort: _Sort | None) -> Iterator[Reading]:
    if sort is None:
        yield from standard(counts, wilds, 4 - melds)
    else:
        yield from condensed(counts, wilds, 4 - melds, sort)
    pairs = None if melds else seven_pairs(counts, wilds)
    if pairs:
        yield pairs


_RUN_STARTS = (0, 3, 6)


def _named(reading: Reading, wild: Tile) -> Iterator[Reading]:
    """The reading with its groups of wild tiles only given every face that could matter.

    Those are: themselves, an honour, one of each suit, the runs of a flush.
    """
    free = [group for group in reading if group.is_free]
    if not free:
        yield reading
        return
    plain = tuple(group for group in reading if not group.is_free)
    faces = [wild, EAST, Tile(0), Tile(9), Tile(18), FIVE]
    if free[0].kind is Kind.PAIR:
        # Four wild tiles make two free pairs in seven pairs at most; alike is enough.
        for face in dict.fromkeys(faces):
            yield plain + (Group(Kind.PAIR, (face, face), 0b11),) * len(free)
        return
    rest = tuple(FREE_PAIR for group in free[1:])
    assert not rest, "four wild tiles make no free set and a free pair"
    for face in dict.fromkeys(faces):
        yield (*plain, Group(Kind.PUNG, (face,) * 3, 0b111))
    for low in (suit + start for suit in (0, 9, 18) for start in _RUN_STARTS):
        yield (*plain, Group(Kind.RUN, (Tile(low), Tile(low + 1), Tile(low + 2)), 0b111))


def count(at: Situation) -> Counted | None:
    """The best reading that the rules accept; ``None`` where there is none."""
    laid = [as_group(meld, NO_WILD) for meld in at.seat.melds]
    common = _way(at)
    best: Counted | None = None
    hand = (*at.seat.hand, at.tile)
    for read in readings(hand, len(laid), at.wild, every=at.robs_concealed):
        groups = [*laid, *read.reading]
        if at.options.void_suit and not lacks_a_suit(groups):
            continue
        if at.robs_concealed and not _ends_in_flush(at, groups, read):
            continue
        counted = Counted(read, common | _shape(at, groups, read))
        if best is None or counted.total > best.total:
            best = counted
    return best


def lacks_a_suit(groups: Iterable[Group]) -> bool:
    """Whether one of the suits is missing, tiles as they play (B22)."""
    return len({tile // 9 for group in groups for tile in group.tiles if is_suited(tile)}) < 3


def is_closed(melds: Iterable[Meld]) -> bool:
    """Whether there is no open set; a closed kong is none (B8)."""
    return not any(meld.is_open for meld in melds)


def _way(at: Situation) -> Doubles:
    """Doubles of the way of winning, whatever the reading."""
    win, own = at.win, at.win.is_own_draw
    last = win.by == "self_draw" and win.flags.last_tile
    return _kept(
        {
            "banker": at.weight("banker") if at.is_banker else 0,
            "closed": at.weight("closed") if is_closed(at.seat.melds) else 0,
            "own_tile": at.weight("own_tile") if own else 0,
            "kong_bloom": (
                at.weight("kong_bloom") if win.by == "self_draw" and win.flags.kong_draw else 0
            ),
            "single_tile": at.added("single_tile") if len(at.seat.melds) == 4 else 0,
            "last_tile": at.added("last_tile") if last else 0,
        }
    )


def _shape(at: Situation, groups: Sequence[Group], read: Read) -> Doubles:
    """Doubles of the hand under one reading."""
    flush = flush_suit(groups)
    native = flush is not None and _native_wild(read.reading, flush, at.wild)
    found = {
        "straight": at.weight("straight") if read.straight else 0,
        "flush": at.weight("flush") if flush is not None else 0,
        "seven_pairs": at.weight("seven_pairs") if read.pairs else 0,
        "deluxe": at.weight("deluxe") * _fours(at) if read.pairs else 0,
        "catch_five": at.weight("catch_five") if _catches_five(at, read) else 0,
        "pure_one_suit": at.added("pure_one_suit") if _one_suit(groups) else 0,
        "all_pung": at.added("all_pung") if _all_pung(groups, read) else 0,
    }
    if at.options.wild_eye_double and at.eye_call and at.win.is_own_draw and not read.straight:
        found["wild_eye"] = at.weight("wild_eye")
    if at.options.native_wild_flush_double and native:
        found["native_wild_flush"] = at.weight("native_wild_flush")
    return _kept(found)


def _one_suit(groups: Sequence[Group]) -> bool:
    suit = groups[0].tiles[0] // 9
    return suit < 3 and all(tile // 9 == suit for group in groups for tile in group.tiles)


def _all_pung(groups: Sequence[Group], read: Read) -> bool:
    return not read.pairs and all(group.kind is not Kind.RUN for group in groups)


def _fours(at: Situation) -> int:
    """Natural fours concealed; four wild tiles are none (B9)."""
    counts = counts_of((*at.seat.hand, at.tile))
    return sum(n == 4 for tile, n in enumerate(counts) if tile != at.wild)


def flush_suit(groups: Iterable[Group]) -> int | None:
    """The suit with runs 123, 456 and 789 (0 to 2), open ones included; ``None`` without (B5)."""
    lows = {group.tiles[0] for group in groups if group.kind is Kind.RUN}
    found = (suit for suit in range(3) if all(9 * suit + start in lows for start in _RUN_STARTS))
    return next(found, None)


def _native_wild(reading: Reading, suit: int, wild: Tile) -> bool:
    """Whether a wild tile of the suit stands for another tile in the flush (B21).

    Of several equal runs one is enough for the flush; the winner names the one that scores.
    """
    if not is_suited(wild) or wild // 9 != suit:
        return False
    return any(
        tile != wild
        for group in reading
        if group.kind is Kind.RUN and group.tiles[0] - 9 * suit in _RUN_STARTS
        for tile in group.stand_ins()
    )


def _catches_five(at: Situation, read: Read) -> bool:
    """Whether the winning tile is a real 5m that filled a gap or paired a real one (B10, G7)."""
    if at.tile != FIVE:
        return False
    real = (0, 0b11) if at.wild == FIVE else (0,)
    places = placements(read.reading, FIVE, wild=False)
    if at.wild == FIVE:  # one at face value is real
        places += placements(read.reading, FIVE, wild=True)
    for place in places:
        group = read.reading[place.group]
        if place.tile != FIVE:
            continue
        if group.kind is Kind.RUN and group.tiles[1] == FIVE:
            return True
        if read.pairs and group.wild in real:
            return True
    return False


def _ends_in_flush(at: Situation, groups: Sequence[Group], read: Read) -> bool:
    """Whether the winning tile can be in one of the runs of a recognised flush (B6)."""
    suit = flush_suit(groups)
    if suit is None or not at.weight("flush"):
        return False
    for place in placements(read.reading, at.tile, wild=False):
        group = read.reading[place.group]
        if group.kind is Kind.RUN and group.tiles[0] - 9 * suit in _RUN_STARTS:
            return True
    return False


def _kept(doubles: Doubles) -> Doubles:
    return {pattern: value for pattern, value in doubles.items() if value}
