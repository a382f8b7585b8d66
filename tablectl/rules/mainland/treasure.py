"""Treasure tiles, and which tiles make a joy. Readings D-M2 to D-M4, D-M8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tablectl.rules.mainland.options import JoyKind, MainlandOptions
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import DRAGONS, GREEN, NORTH, RED, WHITE, WINDS, Tile, is_flower, is_suited

_NEXT_DRAGON: Final = {GREEN: RED, RED: WHITE, WHITE: GREEN}


def next_tile(tile: Tile) -> Tile:
    """The tile after: 9 to 1, North to East, Green to Red to White to Green (D-M2)."""
    if is_suited(tile):
        return Tile(tile - 8 if tile % 9 == 8 else tile + 1)
    if tile in _NEXT_DRAGON:
        return _NEXT_DRAGON[tile]
    return WINDS[0] if tile == NORTH else Tile(tile + 1)


def previous_tile(tile: Tile) -> Tile:
    """The tile whose next one this is."""
    if is_suited(tile):
        return Tile(tile + 8 if tile % 9 == 0 else tile - 1)
    group = WINDS if tile in WINDS else DRAGONS
    return next(other for other in group if next_tile(other) == tile)


def wild_rule(indicator: Tile | None, options: MainlandOptions) -> Wild:
    """The treasure tiles: the turned kind, its neighbours as chosen; none for a flower (D-M3)."""
    if indicator is None or options.treasure == "none" or is_flower(indicator):
        return NO_WILD
    tiles = {indicator}
    if options.treasure in ("upward", "up_and_down"):
        tiles.add(next_tile(indicator))
    if options.treasure in ("downward", "up_and_down"):
        tiles.add(previous_tile(indicator))
    return Wild(tiles=frozenset(tiles))


JOYS: Final[dict[JoyKind, tuple[Tile, ...]]] = {"four_winds": WINDS, "three_dragons": DRAGONS}


def joy_kind(tiles: Sequence[Tile], wild: Wild) -> JoyKind | None:
    """Which joy tiles make, a treasure standing for whatever lacks; ``None`` for none (D-M4)."""
    naturals = Counter(tile for tile in tiles if tile not in wild.tiles)
    for kind, wanted in JOYS.items():
        if len(tiles) == len(wanted) and not naturals - Counter(wanted):
            return kind
    return None


def joy_problem(
    tiles: Sequence[Tile],
    when: str | None,
    others: Sequence[str | None],
    options: MainlandOptions,
    wild: Wild,
) -> str | None:
    """Why a joy may not be declared: an issue id, ``None`` where it may (D-M8).

    Args:
        when: ``deal``, ``road`` or ``late``.
        others: when the seat's other joys were declared.
    """
    kind = joy_kind(tiles, wild)
    if kind is None or kind not in options.joys:
        return "invalid_meld"
    if kind == "four_winds" and when != "deal":
        if when == "road" and "deal" in others and not options.four_winds_any_time:
            return "joy_not_allowed"
        if when == "late" and not options.four_winds_any_time:
            return "joy_not_allowed"
        return "wild_in_meld" if any(tile in wild.tiles for tile in tiles) else None
    if when == "late" or (when == "road" and "deal" in others):
        return "joy_not_allowed"
    return None
