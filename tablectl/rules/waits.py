"""What a concealed hand waits for, and how far it is from a win."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tablectl.rules import shape
from tablectl.rules.case import Meld, sets_laid
from tablectl.rules.decompose import counts_of
from tablectl.rules.options import Options
from tablectl.rules.ruleset import RuleSet
from tablectl.tiles import N_PLAYING, Tile


def distance(
    rules: RuleSet[Any],
    hand: Sequence[Tile],
    melds: Sequence[Meld] = (),
    options: Options | None = None,
    indicator: Tile | None = None,
) -> int:
    """Tiles that must be exchanged until the hand has a winning shape.

    The nearest of the rule set's shapes counts, wild tiles as fitting anywhere. Scores and minimums
    are left out.

    Args:
        rules: the rule set.
        hand: concealed physical tiles, with or without a tile just drawn.
        melds: sets laid out.
        options: chosen options; ``None`` = defaults.
        indicator: the tile turned up.

    Returns:
        0 for a complete hand, 1 for one that waits for its last tile, and so on.
    """
    chosen = rules.options() if options is None else options
    wild = rules.wild(indicator, chosen)
    naturals = [wild.plays_as(tile) for tile in hand if tile not in wild.tiles]
    # Flowers and other tiles that make no set are dead weight.
    counts, wilds = counts_of(t for t in naturals if t < N_PLAYING), len(hand) - len(naturals)
    laid = sets_laid(melds)
    found = [shape.distance(counts, wilds, rules.equipment(chosen).sets - laid)]
    if not laid and "seven_pairs" in rules.shapes:
        found.append(shape.pairs_distance(counts, wilds))
    if not laid and "thirteen_orphans" in rules.shapes:
        found.append(shape.orphans_distance(counts, wilds))
    return min(found)


def waits(
    rules: RuleSet[Any],
    hand: Sequence[Tile],
    melds: Sequence[Meld] = (),
    options: Options | None = None,
    indicator: Tile | None = None,
) -> tuple[Tile, ...]:
    """Physical kinds that would complete the hand's shape, wild tiles among them.

    Scores, minimums and how the tile comes are left out: a kind in the answer makes a winning
    *shape*. Kinds of which the seat itself holds every copy are left out too.

    Args:
        rules: the rule set.
        hand: concealed physical tiles, one short of a complete hand.
        melds: sets laid out.
        options: chosen options; ``None`` = defaults.
        indicator: the tile turned up.
    """
    chosen = rules.options() if options is None else options
    kit, wild = rules.equipment(chosen), rules.wild(indicator, chosen)
    held = Counter(hand)
    for meld in melds:
        held.update(meld.tiles)
    return tuple(
        kind
        for kind in kit.kinds
        if held[kind] < kit.copies[kind] and rules.complete((*hand, kind), melds, wild, chosen)
    )
