"""Yangzhou mahjong (documents 000 and 002; readings D-Y1 to D-Y19)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.decompose import counts_of
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.shape import is_sets_and_pair
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.rules.yangzhou.false_win import false_win
from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import PATTERNS
from tablectl.rules.yangzhou.play import PLAY
from tablectl.rules.yangzhou.settle import settle
from tablectl.rules.yangzhou.sheet import articles
from tablectl.tiles import Tile, is_flower

_EQUIPMENT = Equipment(copies=tile_copies())


def _equipment(options: YangzhouOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _wild(indicator: Tile | None, options: YangzhouOptions) -> Wild:
    del indicator, options
    return NO_WILD


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: YangzhouOptions
) -> bool:
    del wild, options
    if len(tiles) + 3 * len(melds) != 14 or any(map(is_flower, tiles)):
        return False
    return is_sets_and_pair(counts_of(tiles), 0)


RULES = RuleSet(
    id="yangzhou",
    name="Yangzhou",
    name_zh="扬州麻将",
    source="documents 000 and 002, Mahjong rules in Yangzhou",
    unit="points",
    model=YangzhouOptions,
    equipment=_equipment,
    wild=_wild,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard",),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
