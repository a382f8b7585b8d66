"""Counting the fan of a Mainland hand. Readings D-M4, D-M6, D-M7, D-M9 to D-M11.

What a reading scores depends on little: whether there are chows and pungs, which suits and honors,
and what the pair is. So readings are condensed to one of each sort, and sets of treasures only
(which may be anything) are named by what scores most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Final

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
    chosen: dict[str, int] = dict(options.fan.items())
    return chosen.get(pattern, FAN[pattern])


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
    for reading in readings(held, 4 - len(seat.melds)):
        for named in _named(reading, laid, own, around):
            sort = _Sort.of((*laid.groups, *named), laid, own, around)
            if sort not in found:
                found[sort] = Counted(named, sort.fan(laid, options))
    return sorted(found.values(), key=lambda c: (c.total, bool(c.fan)), reverse=True)


def _named(reading: Reading, laid: Laid, own: Tile, around: Tile) -> Iterator[Reading]:
    """The reading with its free groups given every face that could matter."""
    sets = sum(group.kind is Kind.SET for group in reading)
    pairs = sum(group.is_free for group in reading) - sets
    if not sets and not pairs:
        yield reading
        return
    plain = tuple(group for group in reading if not group.is_free)
    suits = [t for g in (*laid.groups, *plain) for t in g.tiles if is_suited(t)]
    low = Tile(suits[0] // 9 * 9) if suits else Tile(0)
    run = Group(Kind.RUN, (low, Tile(low + 1), Tile(low + 2)), 0b111)
    faces = dict.fromkeys((low, *DRAGONS, own, around))
    choices = [run, *(Group(Kind.PUNG, (face,) * 3, 0b111) for face in faces)]
    eyes = [Group(Kind.PAIR, (face,) * 2, 0b11) for face in (low, DRAGONS[0])]
    for chosen in combinations_with_replacement(choices, sets):
        for pair in combinations_with_replacement(eyes, pairs):
            yield (*plain, *chosen, *pair)


@dataclass(frozen=True, slots=True)
class _Sort:
    """All that hand patterns depend on."""

    chows: int
    pungs: int
    suits: frozenset[int]
    honors: bool
    dragons: int
    seat_wind: bool
    round_wind: bool

    @classmethod
    def of(cls, groups: Sequence[Group], laid: Laid, own: Tile, around: Tile) -> _Sort:
        first = [group.tiles[0] for group in groups]
        pungs = [group.tiles[0] for group in groups if group.kind is Kind.PUNG]
        return cls(
            chows=sum(group.kind is Kind.RUN for group in groups),
            pungs=len(pungs),
            suits=frozenset(tile // 9 for tile in first if is_suited(tile)),
            honors=bool(laid.joys) or not all(map(is_suited, first)),
            dragons=sum(tile in DRAGONS for tile in pungs),
            seat_wind=own in pungs,
            round_wind=around in pungs,
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
