"""Three-player mahjong of north-west Hubei, 卡五星 (document 000; readings K1 to K22)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.kawuxing.options import KawuxingOptions
from tablectl.rules.kawuxing.patterns import PATTERNS
from tablectl.rules.kawuxing.play import PLAY
from tablectl.rules.kawuxing.settle import false_win, settle
from tablectl.rules.kawuxing.sheet import articles
from tablectl.rules.ruleset import Equipment, RuleSet
from tablectl.rules.shape import is_pairs, is_sets_and_pair
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import DRAGONS, N_KINDS, Tile, is_suited, suit_of


def _equipment(options: KawuxingOptions) -> Equipment:
    """Two suits and the dragons: 84 tiles."""
    kinds = (Tile(i) for i in range(N_KINDS))
    copies = tuple(
        4 if tile in DRAGONS or (is_suited(tile) and suit_of(tile) != options.removed_suit) else 0
        for tile in kinds
    )
    return Equipment(copies=copies, seats=3)


def _wild(indicator: Tile | None, options: KawuxingOptions) -> Wild:
    del indicator, options
    return NO_WILD


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: KawuxingOptions
) -> bool:
    del wild, options
    if len(tiles) + 3 * len(melds) != 14 or any(tile >= 34 for tile in tiles):
        return False
    counts = counts_of(tiles)
    return is_sets_and_pair(counts, 0) or (not melds and is_pairs(counts, 0))


RULES = RuleSet(
    id="kawuxing",
    name="North-west Hubei three-player",
    name_zh="卡五星",
    source="document 000, New Three-Player Mahjong of Northwestern Hubei",
    unit="doubles",
    model=KawuxingOptions,
    equipment=_equipment,
    wild=_wild,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "seven_pairs"),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
