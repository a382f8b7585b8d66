"""Reading a Nanchang hand: fine tiles, honour runs, doubles. Readings N2, N9 to N16, S1, S2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from tablectl.rules.case import Meld, SeatState, Win
from tablectl.rules.decompose import Counts, counts_of, independent, seven_pairs, standard
from tablectl.rules.groups import Kind, Reading
from tablectl.rules.melds import USUAL_KINDS, is_run, is_same
from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.shape import (
    HONOUR_RUN_BLOCKS,
    SINGLE_BLOCKS,
    Block,
    fits_in_set,
    is_independent,
    is_pairs,
    is_sets,
    is_sets_and_pair,
)
from tablectl.rules.wild import Wild
from tablectl.tiles import (
    DRAGONS,
    EAST,
    GREEN,
    NORTH,
    RED,
    WHITE,
    WINDS,
    Tile,
    is_flower,
    is_suited,
)

Doubles = dict[str, int]

SETS = 4
_DRAGON_ORDER = {RED: GREEN, GREEN: WHITE, WHITE: RED}


def second_fine(first: Tile) -> Tile:
    """The tile after a first fine tile: 9 to 1, north to east, red to green to white (N2)."""
    if is_suited(first):
        return Tile(first // 9 * 9 + (first % 9 + 1) % 9)
    if first in WINDS:
        return EAST if first == NORTH else Tile(first + 1)
    return _DRAGON_ORDER[first]


def wild_rule(indicator: Tile | None, options: NanchangOptions) -> Wild:
    """First and second fine tiles; both stand for anything."""
    del options
    if indicator is None or is_flower(indicator):
        return Wild()
    return Wild(tiles=frozenset({indicator, second_fine(indicator)}))


def is_honour_run(tiles: Sequence[Tile]) -> bool:
    """Whether three tiles are three different winds, or the three dragons (N16)."""
    kinds = set(tiles)
    return len(tiles) == 3 and len(kinds) == 3 and (kinds <= set(WINDS) or kinds == set(DRAGONS))


def is_set(kind: str, tiles: Sequence[Tile]) -> bool:
    """Whether tiles, fine ones at face value, make a set that may be laid out."""
    if kind not in USUAL_KINDS or any(map(is_flower, tiles)):
        return False
    return is_run(tiles) or is_honour_run(tiles) if kind == "chow" else is_same(tiles)


@dataclass(frozen=True, slots=True)
class Part:
    """Concealed tiles under one use of the fine tiles.

    Attributes:
        counts, wilds: naturals and wild tiles, winning tile included.
        before, wilds_before: the same without the winning tile.
    """

    counts: Counts
    wilds: int
    before: Counts
    wilds_before: int


@dataclass(frozen=True, slots=True)
class Hand:
    """A winner's tiles.

    Attributes:
        german: every fine tile at face value.
        wild: the fine tiles held (a drawn one too) stand for anything; a claimed one does not.
        sets: sets that the concealed tiles must make.
        melds: sets laid out.
        tile: the winning tile.
        drawn: whether it comes from the wall.
        fine_drawn: it is a fine tile from the wall.
    """

    german: Part
    wild: Part
    sets: int
    melds: tuple[Meld, ...]
    tile: Tile
    drawn: bool
    fine_drawn: bool

    @property
    def all_pung_melds(self) -> bool:
        """Whether no run is laid out."""
        return not any(meld.kind == "chow" for meld in self.melds)


def look(seat: SeatState, win: Win, wild: Wild) -> Hand | None:
    """Sort the winner's tiles; ``None`` where there is no winning tile or a flower among them."""
    if win.tile is None or any(map(is_flower, (*seat.hand, win.tile))):
        return None
    drawn = win.is_own_draw
    fine_drawn = drawn and win.tile in wild.tiles
    naturals = [tile for tile in seat.hand if tile not in wild.tiles]
    wilds = len(seat.hand) - len(naturals)
    german = Part(counts_of((*seat.hand, win.tile)), 0, counts_of(seat.hand), 0)
    last = () if fine_drawn else (win.tile,)
    free = Part(counts_of((*naturals, *last)), wilds + fine_drawn, counts_of(naturals), wilds)
    return Hand(german, free, SETS - len(seat.melds), seat.melds, win.tile, drawn, fine_drawn)


@dataclass(frozen=True, slots=True)
class Form:
    """A shape that the hand has under one use of the fine tiles.

    Attributes:
        doubles: what the shape itself doubles: all pungs, seven pairs, a fine call ...
        german: fine tiles are at face value.
        show: finds a reading that explains it.
    """

    doubles: tuple[str, ...]
    german: bool
    show: Callable[[], Reading | None]


def forms(hand: Hand, fines: frozenset[Tile], *, any_claim: bool = False) -> Iterator[Form]:
    """Every shape of the hand, the fine tiles at face value and as they like.

    Args:
        fines: the fine kinds.
        any_claim: leave out that a claimed tile may not pair a fine one (S2), to tell a hand that
            is no winning shape from a claim that is not allowed.
    """
    for german in (True, False):
        part = hand.german if german else hand.wild
        yield from _standard_forms(hand, part, fines, german=german, any_claim=any_claim)
        if not hand.melds:
            yield from _pair_forms(hand, part, fines, german=german, any_claim=any_claim)
            yield from _independent_forms(part, german=german)


def _standard_forms(
    hand: Hand, part: Part, fines: frozenset[Tile], *, german: bool, any_claim: bool
) -> Iterator[Form]:
    kinds: list[tuple[tuple[Block, ...], tuple[str, ...]]] = [(HONOUR_RUN_BLOCKS, ())]
    if hand.all_pung_melds:
        kinds.append((SINGLE_BLOCKS, ("all_pung",)))
    if sum(part.counts) + part.wilds != 3 * hand.sets + 2:
        return
    for blocks, doubles in kinds:
        if not is_sets_and_pair(part.counts, part.wilds, blocks):
            continue
        claim = not hand.drawn and not german and not any_claim
        if not claim or _takes_claim(part, hand.tile, blocks):
            yield Form(doubles, german, _shown_standard(hand, part, blocks, call=False))
        if hand.drawn and _fine_call(hand, part, fines, german, partial(is_sets, blocks=blocks)):
            yield Form(
                (*doubles, "fine_call"), german, _shown_standard(hand, part, blocks, call=True)
            )


def _takes_claim(part: Part, tile: Tile, blocks: tuple[Block, ...]) -> bool:
    """Whether a claimed tile can lie in a set or beside a natural tile (S2)."""
    return part.counts[tile] > 1 or fits_in_set(part.counts, part.wilds, tile, blocks)


def _fine_call(
    hand: Hand,
    part: Part,
    fines: frozenset[Tile],
    german: bool,
    rest_fits: Callable[[Counts, int], bool],
) -> bool:
    """Whether the eyes are a held fine tile and the tile drawn, the rest complete (N9)."""
    if not german:
        return part.wilds_before > 0 and rest_fits(part.before, part.wilds_before - 1)
    if hand.tile not in fines or not part.before[hand.tile]:
        return False
    rest = tuple(n - (i == hand.tile) for i, n in enumerate(part.before))
    return rest_fits(rest, 0)


def _pair_forms(
    hand: Hand, part: Part, fines: frozenset[Tile], *, german: bool, any_claim: bool
) -> Iterator[Form]:
    if sum(part.counts) + part.wilds != 14 or not is_pairs(part.counts, part.wilds):
        return

    def show() -> Reading | None:
        return seven_pairs(part.counts, part.wilds)

    if hand.drawn or german or any_claim or part.counts[hand.tile] > 1:
        yield Form(("seven_pairs",), german, show)
    if hand.drawn and _fine_call(hand, part, fines, german, is_pairs):
        yield Form(("seven_pairs", "fine_call"), german, show)


def _independent_forms(part: Part, *, german: bool) -> Iterator[Form]:
    if is_independent(part.counts, part.wilds):
        yield Form(("independent",), german, lambda: independent(part.counts, part.wilds))


_READINGS_SHOWN = 400
"""How many readings are looked through for one that shows the doubles best."""


def _shown_standard(
    hand: Hand, part: Part, blocks: tuple[Block, ...], *, call: bool
) -> Callable[[], Reading | None]:
    """Finds the reading to show: the fine call's eyes, or a claimed tile that pairs no fine one."""

    def fits(reading: Reading) -> bool:
        pair = next(group for group in reading if group.kind is Kind.PAIR)
        if call:
            if hand.fine_drawn and part.wilds:
                return pair.is_free
            return hand.tile in pair.tiles and (pair.wild_count == 1 or not part.wilds)
        if hand.drawn or not pair.wild_count:
            return True
        return hand.tile not in pair.tiles or part.counts[hand.tile] > 1

    def find() -> Reading | None:
        found = standard(part.counts, part.wilds, hand.sets, blocks=blocks)
        first = next(found, None)
        if first is None or fits(first):
            return first
        return next(filter(fits, islice(found, _READINGS_SHOWN)), first)

    return find
