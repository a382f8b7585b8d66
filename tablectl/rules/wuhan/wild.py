"""Wild tiles and kong tiles of Wuhan. Readings D-W21, D-W22, D-J4."""

from __future__ import annotations

from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.terms import Terms
from tablectl.tiles import GREEN, RED, Tile, is_suited


def wild_rule(indicator: Tile | None, terms: Terms) -> Wild:
    """The wild tiles, one above the indicator, and the kong tiles, which are barred from hands.

    An indicator that the set does not have makes nothing wild.
    """
    known = indicator if indicator in terms.kinds else None
    barred = kong_tiles(known, terms)
    if known is None:
        return Wild(barred=barred)
    return Wild(tiles=frozenset({_next(known, terms)}), barred=barred)


def kong_tiles(indicator: Tile | None, terms: Terms) -> frozenset[Tile]:
    """The tiles that are laid singly as kongs and never played."""
    if terms.kong_tiles == "peel":
        return (
            frozenset() if indicator is None else frozenset({indicator, _below(indicator, terms)})
        )
    return frozenset({RED} if terms.kong_tiles == "red" else {RED, GREEN})


def _next(indicator: Tile, terms: Terms) -> Tile:
    """The tile above the indicator; honours go round, kong tiles skipped."""
    if is_suited(indicator):
        return Tile(indicator // 9 * 9 + (indicator + 1) % 9)
    order, skipped = terms.honours, kong_tiles(None, terms)
    at = order.index(indicator)
    following = (order[(at + step) % len(order)] for step in range(1, len(order) + 1))
    return next(tile for tile in following if tile not in skipped)


def _below(indicator: Tile, terms: Terms) -> Tile:
    """The tile below the indicator, the lower peel tile."""
    if is_suited(indicator):
        return Tile(indicator // 9 * 9 + (indicator - 1) % 9)
    return terms.honours[terms.honours.index(indicator) - 1]
