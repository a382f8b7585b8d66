"""Nanchang mahjong (document 000; readings S1 to S8, N1 to N21)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.nanchang.false_win import false_win
from tablectl.rules.nanchang.hand import SETS, wild_rule
from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.nanchang.patterns import PATTERNS
from tablectl.rules.nanchang.play import DEAD, PLAY
from tablectl.rules.nanchang.settle import settle
from tablectl.rules.nanchang.sheet import articles
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.shape import HONOUR_RUN_BLOCKS, is_independent, is_pairs, is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, is_flower


def _equipment(options: NanchangOptions) -> Equipment:
    return Equipment(
        copies=tile_copies(),
        reserve=DEAD,
        indicator=True,
        indicator_drawable=options.indicator_as_supplement,
    )


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: NanchangOptions
) -> bool:
    del options
    naturals = [tile for tile in tiles if tile not in wild.tiles]
    if len(tiles) + 3 * len(melds) != 3 * SETS + 2 or any(map(is_flower, naturals)):
        return False
    counts, wilds = counts_of(naturals), len(tiles) - len(naturals)
    if is_sets_and_pair(counts, wilds, HONOUR_RUN_BLOCKS):
        return True
    return not melds and (is_pairs(counts, wilds) or is_independent(counts, wilds))


RULES = RuleSet(
    id="nanchang",
    name="Nanchang",
    name_zh="南昌麻将",
    source="document 000, Nanchang mahjong rules",
    unit="doubles",
    model=NanchangOptions,
    equipment=_equipment,
    wild=wild_rule,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "honour_runs", "seven_pairs", "independent"),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
