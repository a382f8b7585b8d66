"""Hangzhou mahjong (document 000; readings H1 to H22)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld
from tablectl.rules.hangzhou.false_win import false_win
from tablectl.rules.hangzhou.hand import look, wild_rule
from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.hangzhou.patterns import PATTERNS
from tablectl.rules.hangzhou.play import PLAY
from tablectl.rules.hangzhou.settle import settle
from tablectl.rules.hangzhou.sheet import articles
from tablectl.rules.ruleset import Equipment, RuleSet, tile_copies
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile


def _equipment(options: HangzhouOptions) -> Equipment:
    return Equipment(copies=tile_copies(), reserve=20, indicator=not options.permanent_fortune)


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: HangzhouOptions
) -> bool:
    del options
    return len(tiles) + 3 * len(melds) == 14 and look(tiles[:-1], len(melds), tiles[-1], wild).wins


RULES = RuleSet(
    id="hangzhou",
    name="Hangzhou",
    name_zh="杭州麻将",
    source="document 000, Hangzhou mahjong rules",
    unit="times",
    model=HangzhouOptions,
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
