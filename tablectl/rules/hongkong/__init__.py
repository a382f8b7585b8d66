"""Hong Kong mahjong (document 001; readings C1 to C17)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld, ScoreCase
from tablectl.rules.decompose import counts_of
from tablectl.rules.hongkong.options import HongKongOptions
from tablectl.rules.hongkong.patterns import PATTERNS
from tablectl.rules.hongkong.play import PLAY
from tablectl.rules.hongkong.settle import settle
from tablectl.rules.hongkong.sheet import articles
from tablectl.rules.ruleset import Equipment, Names, RuleSet, tile_copies
from tablectl.rules.settlement import Settlement, drawn_hand
from tablectl.rules.shape import is_sets_and_pair, is_thirteen_orphans
from tablectl.rules.wild import NO_WILD, Wild
from tablectl.tiles import Tile, is_flower

_EQUIPMENT = Equipment(copies=tile_copies(flowers=True), reserve=14)


def _equipment(options: HongKongOptions) -> Equipment:
    del options
    return _EQUIPMENT


def _wild(indicator: Tile | None, options: HongKongOptions) -> Wild:
    del indicator, options
    return NO_WILD


def _complete(
    tiles: Sequence[Tile], melds: Sequence[Meld], wild: Wild, options: HongKongOptions
) -> bool:
    del wild, options
    if len(tiles) + 3 * len(melds) != 14 or any(map(is_flower, tiles)):
        return False
    counts = counts_of(tiles)
    return is_sets_and_pair(counts, 0) or (not melds and is_thirteen_orphans(counts, 0))


def _false_win(case: ScoreCase, options: HongKongOptions, names: Names) -> Settlement:
    del options
    caller = names(case.outcome.wins[0].seat)
    line = f"{caller} declared a false win; the document names no penalty, so nobody pays."
    return drawn_hand(len(case.seats), (line,))


RULES = RuleSet(
    id="hongkong",
    name="Hong Kong",
    name_zh="香港麻雀",
    source="document 001, Hong Kong mahjong rules",
    unit="faan",
    model=HongKongOptions,
    equipment=_equipment,
    wild=_wild,
    patterns=PATTERNS,
    score=settle,
    shapes=("standard", "thirteen_orphans"),
    complete=_complete,
    false_win=_false_win,
    articles=articles,
    play=PLAY,
)
