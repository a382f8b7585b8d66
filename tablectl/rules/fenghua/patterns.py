"""The points of the Fenghua rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.ruleset import Pattern

_DOC = "000, Fenghua, Scoring"

PATTERNS: Final = (
    Pattern("base", "Base point", "坐台", "1", "Every win.", _DOC),
    Pattern("common_win", "Common win", "朋胡", "1", "Four runs and a pair.", _DOC),
    Pattern("dragon_pung", "Dragon pung", "中发白碰出", "1 each", "A pung or kong of a dragon.",
            f"{_DOC}; F6"),
    Pattern("seat_wind_pung", "Seat wind", "位风", "1", "A pung or kong of the own seat wind.",
            f"{_DOC}; F6"),
    Pattern("prevailing_wind_pung", "Prevailing wind", "圈风", "1",
            "A pung or kong of the prevailing wind.", f"{_DOC}; F6"),
    Pattern("right_wind_pung", "Right wind", "正风", "2",
            "A pung or kong of the wind that is both, in place of 1 + 1.", f"{_DOC}; F6"),
    Pattern("single_call", "Single call", "边，嵌，单吊", "1",
            "Exactly one kind of tile would have completed the hand.", f"{_DOC}; F7"),
    Pattern("pair_call", "Pair call", "对倒", "1",
            "The winning tile makes one of two natural pairs a pung; the other is the eye.",
            f"{_DOC}; F8"),
    Pattern("own_tile", "Own tile", "自摸", "1", "Won by a tile from the wall, or a robbed kong.",
            f"{_DOC}; F10"),
    Pattern("no_wild", "No wild tile", "无搭", "1", "No wild tile in the hand.", f"{_DOC}; F5"),
    Pattern("one_wild", "One wild tile", "一搭", "1", "Exactly one wild tile.", f"{_DOC}; F5"),
    Pattern("two_wild", "Two wild tiles", "二搭", "2", "Exactly two wild tiles.", f"{_DOC}; F5"),
    Pattern("tame_wild", "Tame wild tiles", "还搭", "1", "Every wild tile is used at face value.",
            f"{_DOC}; F5"),
    Pattern("independence", "Independence", "大大胡", "50",
            "Fourteen different tiles, those of a suit three apart at least, no set laid out.",
            f"{_DOC}; F2, F13"),
    Pattern("closed_seven_stars", "Closed seven stars", "暗七星", "150",
            "Independence with all seven honours before the winning tile.", f"{_DOC}; F2, F13"),
    Pattern("open_seven_stars", "Open seven stars", "明七星", "100",
            "Independence with all seven honours, one of them the winning tile.",
            f"{_DOC}; F2, F13"),
    Pattern("independence_missing_suit", "Independence without a suit", "缺色", "150",
            "Seven honours and three tiles in each of two suits, calling for the third suit.",
            f"{_DOC}; F2, F14"),
    Pattern("wild_all_pung", "Wild all pungs", "大对对（有搭）", "50",
            "Four pungs or kongs and a pair, a wild tile in the hand.", f"{_DOC}; F4"),
    Pattern("straight_all_pung", "Straight all pungs", "大对对（无搭）", "100",
            "Four pungs or kongs and a pair without wild tiles.", f"{_DOC}; F4"),
    Pattern("wild_loner", "Wild loner", "大吊车（有搭）", "50",
            "Four open sets and one tile in hand, a wild tile in the eye.", f"{_DOC}; F16"),
    Pattern("straight_loner", "Straight loner", "大吊车（无搭）", "100",
            "Four open sets and one tile in hand, no wild tile.", f"{_DOC}; F16"),
    Pattern("wild_seven_pairs", "Wild seven pairs", "七对头（有搭）", "50",
            "Seven pairs, a wild tile in the hand.", f"{_DOC}; F4"),
    Pattern("straight_seven_pairs", "Straight seven pairs", "七对头（无搭）", "150",
            "Seven pairs without wild tiles.", f"{_DOC}; F4"),
    Pattern("closed_bomb", "Closed bomb", "暗炸", "100 each",
            "Four natural tiles alike in seven pairs, none of them claimed.", f"{_DOC}; F15"),
    Pattern("open_bomb", "Open bomb", "明炸", "50",
            "Four natural tiles alike in seven pairs, one of them the discard claimed.",
            f"{_DOC}; F15"),
    Pattern("mixed_one_suit", "Mixed one suit", "混一色", "70", "One suit and honours.",
            f"{_DOC}; F24"),
    Pattern("pure_one_suit", "Pure one suit", "清一色", "150", "One suit.", f"{_DOC}; F24"),
    Pattern("uncompleted_all_honors", "Uncompleted all honours", "乱老头", "400",
            "Fourteen honours that need form nothing, sets laid out among them.",
            f"{_DOC}; F17"),
    Pattern("completed_all_honors", "Completed all honours", "清老头", "800",
            "All honours, four sets and a pair.", f"{_DOC}; F2, F17"),
    Pattern("completed_eight_flowers", "Completed eight flowers", "八花（搓胡）", "800",
            "All eight flowers laid out, and a full hand.", f"{_DOC}; F2"),
    Pattern("uncompleted_eight_flowers", "Uncompleted eight flowers", "八花（直胡）", "400",
            "Won by eight flowers laid out, whatever the other tiles are.", f"{_DOC}; F2, F19"),
    Pattern("budding_direct_kong", "Budding direct kong", "直杠（不开花）", "50 each",
            "A direct kong that the hand was not won on.", f"{_DOC}; F20"),
    Pattern("blooming_direct_kong", "Blooming direct kong", "直杠（开花）", "100",
            "Won on the supplement of a direct kong.", f"{_DOC}; F20"),
    Pattern("budding_closed_kong", "Budding closed kong", "暗杠（不开花）", "100 each",
            "A closed kong that the hand was not won on.", f"{_DOC}; F20"),
    Pattern("blooming_closed_kong", "Blooming closed kong", "暗杠（开花）", "150",
            "Won on the supplement of a closed kong.", f"{_DOC}; F20"),
    Pattern("budding_risky_kong", "Budding risky kong", "风险杠（不开花）", "100 each",
            "A kong grown from a pung that the hand was not won on.", f"{_DOC}; F20"),
    Pattern("blooming_risky_kong", "Blooming risky kong", "风险杠（开花）", "200",
            "Won on the supplement of a kong grown from a pung.", f"{_DOC}; F20"),
    Pattern("blooming_flower_kong", "Blooming flower kong", "花杠杠开", "50",
            "Won on the supplement of a flower.", f"{_DOC}; F20"),
    Pattern("three_normal_wilds", "Three wild tiles", "普通三百搭", "150",
            "All three wild tiles, which are no flowers.", f"{_DOC}; F5"),
    Pattern("three_flower_wilds", "Three flower wild tiles", "三花三百搭", "300",
            "All three wild tiles, which are flowers.", f"{_DOC}; F5"),
    Pattern("own_flower", "Own flower", "花", "2 each", "A flower or season of the own seat wind.",
            f"{_DOC}; F23"),
    Pattern("four_flowers", "Four flowers", "四花", "150 each",
            "All four flowers, or all four seasons.", f"{_DOC}; F2, F23"),
)  # fmt: skip

TITLES: Final = {pattern.id: pattern.title for pattern in PATTERNS}
ORDER: Final = {pattern.id: place for place, pattern in enumerate(PATTERNS)}

POINTS: Final[Mapping[str, int]] = {
    "base": 1, "common_win": 1, "dragon_pung": 1, "seat_wind_pung": 1, "prevailing_wind_pung": 1,
    "right_wind_pung": 2, "single_call": 1, "pair_call": 1, "own_tile": 1, "no_wild": 1,
    "one_wild": 1, "two_wild": 2, "tame_wild": 1,
    "independence": 50, "closed_seven_stars": 150, "open_seven_stars": 100,
    "independence_missing_suit": 150, "wild_all_pung": 50, "straight_all_pung": 100,
    "wild_loner": 50, "straight_loner": 100, "wild_seven_pairs": 50, "straight_seven_pairs": 150,
    "closed_bomb": 100, "open_bomb": 50, "mixed_one_suit": 70, "pure_one_suit": 150,
    "uncompleted_all_honors": 400, "completed_all_honors": 800,
    "completed_eight_flowers": 800, "uncompleted_eight_flowers": 400,
    "budding_direct_kong": 50, "blooming_direct_kong": 100,
    "budding_closed_kong": 100, "blooming_closed_kong": 150,
    "budding_risky_kong": 100, "blooming_risky_kong": 200, "blooming_flower_kong": 50,
    "three_normal_wilds": 150, "three_flower_wilds": 300, "own_flower": 2, "four_flowers": 150,
}  # fmt: skip
"""Points of one occurrence on the scale of 50."""

NOT_FOR_MINIMUM: Final = frozenset((
    "completed_eight_flowers", "uncompleted_eight_flowers", "budding_direct_kong",
    "blooming_direct_kong", "budding_closed_kong", "blooming_closed_kong", "budding_risky_kong",
    "blooming_risky_kong", "blooming_flower_kong", "three_normal_wilds", "three_flower_wilds",
    "own_flower", "four_flowers",
))  # fmt: skip
"""Patterns that do not count towards the minimum of a claim (F9)."""

ALL_HONORS: Final = ("uncompleted_all_honors", "completed_all_honors")
EIGHT_FLOWERS: Final = ("uncompleted_eight_flowers", "completed_eight_flowers")
_MIXED_OLD: Final = 40
"""Mixed one suit on the scale of 30: half of 90 + 10, less the 10 of rounding."""


def points_of(pattern: str, options: FenghuaOptions) -> int:
    """What one occurrence scores under the options; celebrated patterns nothing (F18)."""
    if pattern in ALL_HONORS and options.all_honors_award == "celebration":
        return 0
    if pattern in EIGHT_FLOWERS and options.eight_flowers_award == "celebration":
        return 0
    value = POINTS[pattern]
    if options.limit_unit == 50:
        return value
    if pattern == "mixed_one_suit":
        return _MIXED_OLD
    return value // 50 * 30 if value % 50 == 0 else value
