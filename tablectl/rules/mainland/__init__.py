"""Mainland mahjong before the early 1990s (document 003; readings D-M1 to D-M12)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.mainland.options import MainlandOptions
from tablectl.rules.mainland.patterns import PATTERNS
from tablectl.rules.mainland.play import PLAY
from tablectl.rules.mainland.settle import false_win, settle
from tablectl.rules.mainland.sheet import articles
from tablectl.rules.mainland.treasure import wild_rule
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.shape import is_sets_and_pair
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile


def _equipment(options: MainlandOptions) -> Equipment:
    turned = options.treasure != "none"
    return Equipment(copies=tile_copies(flowers=True), reserve=14 + turned, indicator=turned)


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: MainlandOptions
) -> bool:
    """Shape alone, every treasure wild: a chicken hand's treasures are the settlement's matter."""
    del options
    if len(tiles) + 3 * len(melds) != 14 or any(tile >= 34 for tile in tiles):
        return False
    naturals = [tile for tile in tiles if tile not in wild.tiles]
    return is_sets_and_pair(counts_of(naturals), len(tiles) - len(naturals))


RULES = RuleSet(
    id="mainland",
    name="Mainland",
    name_zh="大陆麻将",
    source="document 003, Mainland Mahjong Gameplay (play); scoring by own default",
    unit="fan",
    model=MainlandOptions,
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
