"""Reading a Hangzhou hand: fortune tiles, eye calls, multipliers. Readings H2 to H11, H20."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.decompose import Counts, counts_of, seven_pairs, standard
from tablectl.rules.groups import Kind, Reading
from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.shape import is_pairs, is_sets, is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.tiles import WHITE, Tile

Multipliers = dict[str, int]


def wild_rule(indicator: Tile | None, options: HangzhouOptions) -> Wild:
    """Fortune tiles and the white dragon's face (H10, H11).

    The face-up tile's other copies are the fortune tiles, and white dragons play as it. A white
    dragon turned up leaves the other three as fortune tiles, and nothing plays as it.
    """
    if options.permanent_fortune or indicator == WHITE:
        return Wild(tiles=frozenset({WHITE}))
    if indicator is None:
        return Wild()
    return Wild(tiles=frozenset({indicator}), faces={WHITE: indicator})


@dataclass(frozen=True, slots=True)
class Held:
    """Concealed tiles as they play: naturals by identity, and the number of fortune tiles."""

    counts: Counts
    wilds: int

    @classmethod
    def of(cls, tiles: Sequence[Tile], wild: Wild) -> Held:
        """Sort physical tiles."""
        naturals = [wild.plays_as(tile) for tile in tiles if tile not in wild.tiles]
        return cls(counts_of(naturals), len(tiles) - len(naturals))


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand as far as shape decides what it scores.

    Attributes:
        standard: whether it is sets and a pair.
        pairs: whether it is seven pairs.
        eye_call: whether any tile would have completed it (H2).
        full: all concealed tiles, winning tile included.
        sets: sets that the concealed tiles make in a standard hand.
    """

    standard: bool
    pairs: bool
    eye_call: bool
    full: Held
    sets: int

    @property
    def wins(self) -> bool:
        """Whether it is a winning shape."""
        return self.standard or self.pairs


def look(hand: Sequence[Tile], melds: int, tile: Tile, wild: Wild) -> Hand:
    """Read concealed physical tiles and the winning tile beside a number of melds."""
    before, full = Held.of(hand, wild), Held.of((*hand, tile), wild)
    eye_call = before.wilds > 0 and (
        is_sets(before.counts, before.wilds - 1)
        or (not melds and is_pairs(before.counts, before.wilds - 1))
    )
    return Hand(
        standard=is_sets_and_pair(full.counts, full.wilds),
        pairs=not melds and is_pairs(full.counts, full.wilds),
        eye_call=eye_call,
        full=full,
        sets=4 - melds,
    )


def multipliers(hand: Hand, win: Win, options: HangzhouOptions) -> Multipliers:
    """What the hand is multiplied by, in the order of the table, ones left out."""
    found: Multipliers = {}
    if win.is_own_draw and hand.eye_call:
        found["wild_eye"] = 2
        if win.flags.floats:
            name = "fortune_float" if win.flags.floats == 1 else "double_float"
            found[name] = 2**win.flags.floats
    if win.by == "self_draw" and win.flags.kong_draw:
        found["kong_bloom"] = 2**win.flags.kong_draw
    if win.by == "rob_kong":
        found["robbing_kong"] = 2
    if hand.pairs:
        extra = not hand.full.wilds and (win.is_own_draw or options.pairs_extra_on_claim)
        found["seven_pairs"] = 4 if extra else 2
        fours = sum(count == 4 for count in hand.full.counts)
        if fours:
            found["deluxe"] = 2**fours
    return found


def honours_multiplier(win: Win, options: HangzhouOptions) -> Multipliers:
    """The multiplier of ten or more honours thrown from the start (H20)."""
    steps = win.flags.honours - 10 + (options.ten_honours == "wild_eye_at_10")
    return {"ten_honours": 2**steps} if steps else {}


def total(found: Multipliers) -> int:
    """All multipliers together."""
    return prod(found.values())


def shown_reading(hand: Hand, case: ScoreCase, win: Win, wild: Wild) -> Reading:
    """The reading that the settlement shows: the one that explains the multipliers."""
    full = hand.full
    if hand.pairs:
        reading = seven_pairs(full.counts, full.wilds)
        assert reading is not None
        return reading
    options = standard(full.counts, full.wilds, hand.sets)
    first = next(options)
    if not (win.is_own_draw and hand.eye_call and win.tile is not None):
        return first
    face = None if win.tile in wild.tiles else wild.plays_as(win.tile)
    return next((r for r in (first, *options) if _is_wild_eye(r, face)), first)


def _is_wild_eye(reading: Reading, face: Tile | None) -> bool:
    """Whether the pair is a fortune tile beside the tile drawn (``None``: a fortune too)."""
    pair = next(group for group in reading if group.kind is Kind.PAIR)
    return pair.is_free if face is None else pair.wild_count == 1 and face in pair.tiles
