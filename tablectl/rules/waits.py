"""What a concealed hand waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tablectl.rules.case import Meld
from tablectl.rules.options import Options
from tablectl.rules.ruleset import RuleSet
from tablectl.tiles import Tile


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
