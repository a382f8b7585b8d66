"""Fenghua mahjong (document 000; readings S1 to S8, F1 to F24)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.fenghua.false_win import false_win
from tablectl.rules.fenghua.hand import is_winning, wild_rule
from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.fenghua.patterns import PATTERNS
from tablectl.rules.fenghua.play import PLAY
from tablectl.rules.fenghua.settle import settle
from tablectl.rules.fenghua.sheet import articles
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, is_flower

_EQUIPMENT = Equipment(copies=tile_copies(flowers=True), reserve=1, indicator=True)


def _equipment(options: FenghuaOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: FenghuaOptions
) -> bool:
    del options
    naturals = [tile for tile in tiles if tile not in wild.tiles]
    if any(map(is_flower, naturals)):
        return False
    return is_winning(counts_of(naturals), len(tiles) - len(naturals), melds)


RULES = RuleSet(
    id="fenghua",
    name="Fenghua",
    name_zh="奉化麻将",
    source="document 000, Mahjong rules in Fenghua, Zhejiang",
    unit="points",
    model=FenghuaOptions,
    equipment=_equipment,
    wild=wild_rule,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "seven_pairs", "independent", "all_honours"),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
