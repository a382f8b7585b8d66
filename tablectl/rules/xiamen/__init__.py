"""Xiamen mahjong with Quanzhou scoring (document 000; readings S1 to S8, X1 to X28)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.shape import is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.rules.xiamen.false_win import false_win
from tablectl.rules.xiamen.hand import SETS, wild_rule
from tablectl.rules.xiamen.options import XiamenOptions
from tablectl.rules.xiamen.patterns import PATTERNS
from tablectl.rules.xiamen.play import PLAY
from tablectl.rules.xiamen.settle import HAND, settle
from tablectl.rules.xiamen.sheet import articles
from tablectl.tiles import Tile, is_flower

_EQUIPMENT = Equipment(copies=tile_copies(flowers=True), hand_size=HAND, reserve=16, indicator=True)


def _equipment(options: XiamenOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: XiamenOptions
) -> bool:
    del options
    naturals = [tile for tile in tiles if tile not in wild.tiles]
    if len(tiles) + 3 * len(melds) != 3 * SETS + 2 or any(map(is_flower, naturals)):
        return False
    counts = counts_of(wild.identities(naturals))
    return is_sets_and_pair(counts, len(tiles) - len(naturals))


RULES = RuleSet(
    id="xiamen",
    name="Xiamen",
    name_zh="厦门麻将",
    source="document 000, Xiamen (Amoy) mahjong rules",
    unit="multipliers and flowers",
    model=XiamenOptions,
    equipment=_equipment,
    wild=wild_rule,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard",),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
