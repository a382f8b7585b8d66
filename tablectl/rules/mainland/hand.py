"""Counting the fan of a Mainland hand. Readings D-M4, D-M6, D-M7, D-M9 to D-M11.

What a reading scores depends on little: whether there are chows and pungs, which suits and honors,
and what the pair is. So readings are condensed to one of each sort, and sets of treasures only
(which may be anything) are named by what scores most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple, cast

from tablectl.rules.case import Meld, ScoreCase, Win
from tablectl.rules.decompose import condensed, counts_of
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.mainland.options import MainlandOptions
from tablectl.rules.mainland.patterns import FAN
from tablectl.rules.mainland.treasure import joy_kind
from tablectl.rules.melds import as_group
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import DRAGONS, WINDS, Tile, is_flower, is_suited

Fan = dict[str, int]

_KONG_PATTERNS: Final = {
    "closed_kong": "self_drawn_kong", "kong": "called_kong", "added_kong": "added_kong",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counted:
    """A way to read the hand, with its hand patterns; empty for a chicken hand."""

    reading: Reading
    fan: Fan

    @property
    def total(self) -> int:
        """Fan of the hand patterns."""
        return sum(self.fan.values())


@dataclass(frozen=True, slots=True)
class Held:
    """Concealed tiles, winning tile included, as they may be used.

    Attributes:
        naturals: tiles at face value; a claimed treasure is one of them (D-M5).
        treasures: the others.
        shown: how many treasure tiles there are, however used.
    """

    naturals: tuple[Tile, ...]
    treasures: tuple[Tile, ...]
    shown: int

    @classmethod
    def of(cls, hand: Sequence[Tile], win: Win, wild: Wild) -> Held:
        """Sort the tiles."""
        assert win.tile is not None
        whole = [*hand, win.tile]
        own = [*hand, *([win.tile] if win.from_seat is None else [])]
        treasures = tuple(tile for tile in own if tile in wild.tiles)
        naturals = [tile for tile in own if tile not in wild.tiles]
        if win.from_seat is not None:
            naturals.append(win.tile)
        return cls(tuple(naturals), treasures, sum(tile in wild.tiles for tile in whole))


@dataclass(frozen=True, slots=True)
class Laid:
    """What lies on the table: sets as groups, and the joys' kinds (which are neither)."""

    groups: tuple[Group, ...]
    joys: tuple[str, ...]
    kongs: tuple[str, ...]

    @classmethod
    def of(cls, melds: Sequence[Meld], wild: Wild) -> Laid:
        """Sort the melds."""
        return cls(
            tuple(as_group(meld, NO_WILD) for meld in melds if meld.kind != "joy"),
            tuple(joy_kind(meld.tiles, wild) or "" for meld in melds if meld.kind == "joy"),
            tuple(_KONG_PATTERNS[meld.kind] for meld in melds if meld.is_kong),
        )


def fan_of(pattern: str, options: MainlandOptions) -> int:
    """Fan of a pattern under the chosen table."""
    # Its keys are pattern ids; a copy for each question would cost more than the answer.
    return cast("dict[str, int]", options.fan).get(pattern, FAN[pattern])


def _sort_of(groups: tuple[Group, ...]) -> tuple[bool, bool]:
    """What matters of a suit's groups beside their numbers."""
    kinds = [group.kind for group in groups]
    return Kind.RUN in kinds, Kind.PUNG in kinds


def readings(held: Held, sets: int) -> Iterator[Reading]:
    """Readings of the concealed tiles, one of each sort; groups of treasures only are free."""
    if any(map(is_flower, held.naturals)):
        return
    yield from condensed(counts_of(held.naturals), len(held.treasures), sets, _sort_of)


def count(case: ScoreCase, win: Win, wild: Wild, options: MainlandOptions) -> list[Counted]:
    """Every sort of reading with its hand patterns, the best first."""
    seat = case.seats[win.seat]
    held, laid = Held.of(seat.hand, win, wild), Laid.of(seat.melds, wild)
    own = WINDS[(win.seat - case.dealer) % len(WINDS)]
    around = WINDS["ESWN".index(case.round_wind or "E")]
    found: dict[_Sort, Counted] = {}
    seen: set[tuple[_Sort, int]] = set()
    for reading in readings(held, 4 - len(seat.melds)):
        plain = tuple([group for group in reading if group.tiles])
        sort = _Sort.of((*laid.groups, *plain), own, around, honors=bool(laid.joys))
        if (sort, len(plain)) in seen:
            continue  # what its free groups could be has been tried
        seen.add((sort, len(plain)))
        sets = sum([group.kind is Kind.SET for group in reading])
        pairs = len(reading) - len(plain) - sets
        for filled, added in _fillings(sets, pairs, min(sort.suits, default=0), own, around):
            whole = sort.plus(added)
            if whole not in found:
                found[whole] = Counted((*plain, *filled), whole.fan(laid, options))
    return sorted(found.values(), key=lambda c: (c.total, bool(c.fan)), reverse=True)


@lru_cache(maxsize=1 << 10)
def _fillings(
    sets: int, pairs: int, suit: int, own: Tile, around: Tile
) -> tuple[tuple[Reading, _Sort], ...]:
    """What free groups may be so that it can matter: one choice of every sort.

    Args:
        sets, pairs: how many groups are free.
        suit: a suit of the rest of the hand.
        own, around: winds that score.
    """
    low = Tile(9 * suit)
    run = Group(Kind.RUN, (low, Tile(low + 1), Tile(low + 2)), 0b111)
    faces = dict.fromkeys((low, *DRAGONS, own, around))
    choices = [run, *(Group(Kind.PUNG, (face,) * 3, 0b111) for face in faces)]
    eyes = [Group(Kind.PAIR, (face,) * 2, 0b11) for face in (low, DRAGONS[0])]
    found: dict[_Sort, Reading] = {}
    for chosen in combinations_with_replacement(choices, sets):
        for pair in combinations_with_replacement(eyes, pairs):
            found.setdefault(_Sort.of((*chosen, *pair), own, around), (*chosen, *pair))
    return tuple((reading, sort) for sort, reading in found.items())


class _Sort(NamedTuple):
    """All that hand patterns depend on."""

    chows: int
    pungs: int
    suits: frozenset[int]
    honors: bool
    dragons: int
    seat_wind: bool
    round_wind: bool

    @classmethod
    def of(cls, groups: Sequence[Group], own: Tile, around: Tile, *, honors: bool = False) -> _Sort:
        """Read them off groups, none of them free; ``honors``: there are some beside the groups."""
        suits, pungs, chows = set[int](), list[Tile](), 0
        for kind, tiles, _ in groups:
            first = tiles[0]
            if is_suited(first):
                suits.add(first // 9)
            else:
                honors = True
            if kind is Kind.RUN:
                chows += 1
            elif kind is Kind.PUNG:
                pungs.append(first)
        dragons = sum(tile in DRAGONS for tile in pungs)
        return cls(
            chows, len(pungs), frozenset(suits), honors, dragons, own in pungs, around in pungs
        )

    def plus(self, other: _Sort) -> _Sort:
        """Of the groups of both together."""
        return _Sort(
            self.chows + other.chows,
            self.pungs + other.pungs,
            self.suits | other.suits,
            self.honors or other.honors,
            self.dragons + other.dragons,
            self.seat_wind or other.seat_wind,
            self.round_wind or other.round_wind,
        )

    def fan(self, laid: Laid, options: MainlandOptions) -> Fan:
        """The hand patterns (D-M9 to D-M11); each found one is listed, worth nothing or not."""
        times = {
            "all_honors": not self.suits,
            "pure_one_suit": len(self.suits) == 1 and not self.honors,
            "mixed_one_suit": len(self.suits) == 1 and self.honors,
            "all_chows": self.chows == 4,
            "all_pungs": self.pungs == 4 and bool(self.suits),
            "dragon_pung": self.dragons,
            "seat_wind": self.seat_wind,
            "round_wind": self.round_wind,
            **{pattern: laid.kongs.count(pattern) for pattern in _KONG_PATTERNS.values()},
            "four_winds_joy": laid.joys.count("four_winds"),
            "three_dragons_joy": laid.joys.count("three_dragons"),
        }
        return {name: fan_of(name, options) * int(n) for name, n in times.items() if n}


def may_be_chicken(held: Held, win: Win, wild: Wild) -> bool:
    """Whether a hand without a hand pattern may win: no treasure in it but the drawn one (D-M7)."""
    drawn = win.from_seat is None and win.tile in wild.tiles
    return held.shown == 0 or (held.shown == 1 and drawn)


def extras(case: ScoreCase, win: Win, options: MainlandOptions) -> Fan:
    """Fan that make no hand pattern (D-M6)."""
    number = (win.seat - case.dealer) % 4
    flowers = case.seats[win.seat].flowers
    drawn = win.by == "self_draw"
    times = {
        "own_tile": win.is_own_draw,
        "seat_flower": sum((tile - 34) % 4 == number for tile in flowers),
        "win_on_replacement": drawn and (win.flags.kong_draw > 0 or win.flags.flower_draw),
        "robbing_kong": win.by == "rob_kong",
        "last_tile": win.flags.last_tile and win.by in ("self_draw", "discard"),
    }
    return {name: fan_of(name, options) * int(n) for name, n in times.items() if n}
