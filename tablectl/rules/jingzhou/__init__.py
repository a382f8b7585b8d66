"""Jingzhou mahjong, Wuhan for three players (document 000; D-J1 to D-J6)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld, ScoreCase, sets_laid
from tablectl.rules.jingzhou.options import JingzhouOptions
from tablectl.rules.jingzhou.patterns import PATTERNS
from tablectl.rules.jingzhou.play import PLAY
from tablectl.rules.jingzhou.terms import COPIES, jingzhou_terms
from tablectl.rules.ruleset import Article, Equipment, Names, RuleSet
from tablectl.rules.settlement import Settlement
from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.false_win import false_win_under
from tablectl.rules.wuhan.hand import forms
from tablectl.rules.wuhan.settle import settle_under
from tablectl.rules.wuhan.sheet import articles_under
from tablectl.rules.wuhan.wild import wild_rule
from tablectl.tiles import Tile

_EQUIPMENT = Equipment(copies=COPIES, seats=3, reserve=11, indicator=True)


def _equipment(options: JingzhouOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _wild(indicator: Tile | None, options: JingzhouOptions) -> Wild:
    return wild_rule(indicator, jingzhou_terms(options))


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: JingzhouOptions
) -> bool:
    whole = len(tiles) + 3 * sets_laid(melds) == 14
    return whole and bool(forms(tiles, melds, wild, jingzhou_terms(options)))


def _settle(case: ScoreCase, options: JingzhouOptions, names: Names) -> Settlement:
    return settle_under(case, jingzhou_terms(options), names)


def _false_win(case: ScoreCase, options: JingzhouOptions, names: Names) -> Settlement:
    return false_win_under(case, jingzhou_terms(options), names)


def _articles(options: JingzhouOptions) -> tuple[Article, ...]:
    return articles_under(jingzhou_terms(options))


RULES = RuleSet(
    id="jingzhou",
    name="Jingzhou",
    name_zh="荆州麻将 (三人红中赖子杠)",
    source="document 000, Wuhan mahjong rules, A Three-Player Version",
    unit="points, and doubles",
    model=JingzhouOptions,
    equipment=_equipment,
    wild=_wild,
    patterns=PATTERNS,
    score=_settle,
    shapes=("standard", "all_honours", "all_eyes"),
    complete=_complete,
    false_win=_false_win,
    articles=_articles,
    play=PLAY,
)
