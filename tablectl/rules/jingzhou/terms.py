"""What the three-player version changes in the figures of Wuhan. Readings D-J1 to D-J5."""

from __future__ import annotations

from tablectl.rules.jingzhou.options import JingzhouOptions
from tablectl.rules.ruleset import tile_copies
from tablectl.rules.wuhan.terms import HONOUR_ORDER, Terms, chosen_limits
from tablectl.tiles import EAST, Tile

COPIES = tuple(0 if tile == EAST else number for tile, number in enumerate(tile_copies(suits="ps")))
"""Without characters and East: 96 tiles."""

MINIMUM = 8


def jingzhou_terms(options: JingzhouOptions) -> Terms:
    """The terms of the three-player game."""
    return Terms(
        kong_tiles="red",
        kinds=tuple(Tile(i) for i in range(34) if COPIES[i]),
        honours=tuple(tile for tile in HONOUR_ORDER if tile != EAST),
        each_open_set=options.double_each_open_set,
        exponential=options.multi_major == "exponential",
        minimum=MINIMUM if options.minimum is None else options.minimum,
        from_all=False,
        divide_by=options.divide_by,
        limits=chosen_limits(options, raised=False),
        bottom_tile=False,
        full_doubles=True,
        honours_are_pure=True,
    )
