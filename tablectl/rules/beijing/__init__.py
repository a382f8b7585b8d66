"""Beijing mahjong (document 000; readings B1 to B27)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.beijing.hand import wild_rule
from tablectl.rules.beijing.options import BeijingOptions
from tablectl.rules.beijing.patterns import PATTERNS
from tablectl.rules.beijing.play import PLAY
from tablectl.rules.beijing.settle import false_win, settle
from tablectl.rules.beijing.sheet import articles
from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.shape import is_pairs, is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile

_EQUIPMENT = Equipment(copies=tile_copies(), reserve=15, indicator=True)


def _equipment(options: BeijingOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: BeijingOptions
) -> bool:
    """Shape alone; whether a suit is missing is a matter of the settlement."""
    del options
    if len(tiles) + 3 * len(melds) != 14 or any(tile >= 34 for tile in tiles):
        return False
    naturals = [tile for tile in tiles if tile not in wild.tiles]
    counts, wilds = counts_of(naturals), len(tiles) - len(naturals)
    return is_sets_and_pair(counts, wilds) or (not melds and is_pairs(counts, wilds))


RULES = RuleSet(
    id="beijing",
    name="Beijing",
    name_zh="北京麻将",
    source="document 000, Beijing mahjong rules",
    unit="doubles",
    model=BeijingOptions,
    equipment=_equipment,
    wild=wild_rule,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "seven_pairs"),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
