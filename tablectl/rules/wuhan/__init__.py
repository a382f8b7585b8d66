"""Wuhan mahjong: red, red and green, or peel kong tiles (document 000; D-W1 to D-W27)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld, sets_laid
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.false_win import false_win
from tablectl.rules.wuhan.hand import forms
from tablectl.rules.wuhan.options import WuhanOptions
from tablectl.rules.wuhan.patterns import PATTERNS
from tablectl.rules.wuhan.play import PLAY
from tablectl.rules.wuhan.settle import settle
from tablectl.rules.wuhan.sheet import articles
from tablectl.rules.wuhan.terms import wuhan_terms
from tablectl.rules.wuhan.wild import wild_rule
from tablectl.tiles import Tile

_EQUIPMENT = Equipment(copies=tile_copies(), reserve=11, indicator=True)


def _equipment(options: WuhanOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _wild(indicator: Tile | None, options: WuhanOptions) -> Wild:
    return wild_rule(indicator, wuhan_terms(options))


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: WuhanOptions
) -> bool:
    whole = len(tiles) + 3 * sets_laid(melds) == 14
    return whole and bool(forms(tiles, melds, wild, wuhan_terms(options)))


RULES = RuleSet(
    id="wuhan",
    name="Wuhan",
    name_zh="武汉麻将 (红中赖子杠)",
    source="document 000, Wuhan mahjong rules",
    unit="points, and doubles",
    model=WuhanOptions,
    equipment=_equipment,
    wild=_wild,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "all_honours", "all_eyes"),
    complete=_complete,
    false_win=false_win,
    articles=articles,
    play=PLAY,
)
