"""What a concealed hand waits for, and how far it is from a win."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from tablectl.rules import shape
from tablectl.rules.case import Meld, sets_laid
from tablectl.rules.decompose import counts_of
from tablectl.rules.options import Options
from tablectl.rules.ruleset import RuleSet, Shape
from tablectl.tiles import N_PLAYING, Tile, is_honour, is_suited, number_of

_NEVER: Final = 99


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
    wilds = len(hand) - len(naturals)
    # Flowers and other tiles that make no set are dead weight.
    counts = counts_of(t for t in naturals if t < N_PLAYING and t not in wild.barred)
    laid = sets_laid(melds)
    blocks = shape.HONOUR_RUN_BLOCKS if "honour_runs" in rules.shapes else shape.PLAIN_BLOCKS
    found = [shape.distance(counts, wilds, rules.equipment(chosen).sets - laid, blocks)]
    if not laid and "seven_pairs" in rules.shapes:
        found.append(shape.pairs_distance(counts, wilds))
    if not laid and "thirteen_orphans" in rules.shapes:
        found.append(shape.orphans_distance(counts, wilds))
    if not laid and "independent" in rules.shapes:
        found.append(shape.independent_distance(counts, wilds))
    found += [
        _alike_distance(counts, wilds, melds, belongs)
        for name, belongs in _ALIKE.items()
        if name in rules.shapes
    ]
    return min(found)


def _is_eye(tile: Tile) -> bool:
    return is_suited(tile) and number_of(tile) in (2, 5, 8)


_ALIKE: Final[dict[Shape, Callable[[Tile], bool]]] = {
    "all_honours": is_honour, "all_eyes": _is_eye,
}  # fmt: skip
"""Hands without sets, by what every tile of them must be."""


def _alike_distance(
    counts: Sequence[int], wilds: int, melds: Sequence[Meld], belongs: Callable[[Tile], bool]
) -> int:
    """Tiles that must be exchanged until all are of a kind; never, if a laid set is not."""
    laid = [meld for meld in melds if meld.kind != "lone_kong"]
    if not all(belongs(tile) for meld in laid for tile in meld.tiles):
        return _NEVER
    fitting = sum(n for i, n in enumerate(counts) if belongs(Tile(i)))
    return max(0, 14 - 3 * len(laid) - fitting - wilds)


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
