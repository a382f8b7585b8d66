"""The figures of Wuhan and its three-player version, once the options are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tablectl.rules.wuhan.options import SharedOptions, WuhanOptions
from tablectl.tiles import EAST, GREEN, NORTH, RED, SOUTH, WEST, WHITE, Tile

KongTiles = Literal["red", "red_green", "peel"]

HONOUR_ORDER: tuple[Tile, ...] = (EAST, SOUTH, WEST, NORTH, RED, GREEN, WHITE)
"""In which order honours follow each other as wild tiles (D-W21)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a loser pays at most.

    Attributes:
        limit: usually.
        golden: each, where all losers hit the limit.
        radiant: a loser without an open set, then.
        trinity: each, if no loser has an open set then.
    """

    limit: int
    golden: int
    radiant: int
    trinity: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What the rules come to under the chosen options.

    Attributes:
        kong_tiles: which tiles are laid singly and never played.
        kinds: the kinds of the set.
        honours: order of honours for wild tiles, kong tiles included.
        each_open_set: each open set is a double.
        exponential: bases of several major conditions double instead of adding up.
        minimum: points that a loser's own amount must reach.
        from_all: whether every loser's amount must (else one loser's is enough, D-J1).
        divide_by: by what amounts are divided.
        limits: what a loser pays at most.
        bottom_tile: whether there is a bottom stage, and a major win in it.
        full_doubles: own tile and claimed are full doubles in a major win too.
        honours_are_pure: all honours of sets and a pair contains pure one suit (D-J3).
    """

    kong_tiles: KongTiles
    kinds: tuple[Tile, ...]
    honours: tuple[Tile, ...]
    each_open_set: bool
    exponential: bool
    minimum: int
    from_all: bool
    divide_by: int
    limits: Limits
    bottom_tile: bool
    full_doubles: bool
    honours_are_pure: bool


def wuhan_terms(options: WuhanOptions) -> Terms:
    """The terms of the four-player game."""
    raised = options.kong_tiles != "red"
    minimum = 16 if options.kong_tiles == "red_green" else 8
    return Terms(
        kong_tiles=options.kong_tiles,
        kinds=tuple(Tile(i) for i in range(34)),
        honours=HONOUR_ORDER,
        each_open_set=options.double_each_open_set,
        exponential=options.multi_major == "exponential",
        minimum=minimum if options.minimum is None else options.minimum,
        from_all=True,
        divide_by=options.divide_by,
        limits=chosen_limits(options, raised=raised),
        bottom_tile=True,
        full_doubles=False,
        honours_are_pure=False,
    )


def chosen_limits(options: SharedOptions, *, raised: bool) -> Limits:
    """The limits: those set, the others as the variation has them."""
    usual = Limits(400, 500, 600, 700) if raised else Limits(300, 400, 500, 600)
    if options.double_each_open_set:
        usual = Limits(600, 800, 1000, 1200)
    return Limits(
        limit=usual.limit if options.limit is None else options.limit,
        golden=usual.golden if options.golden_limit is None else options.golden_limit,
        radiant=usual.radiant if options.radiant_limit is None else options.radiant_limit,
        trinity=usual.trinity if options.trinity_limit is None else options.trinity_limit,
    )
