"""The patterns of the Yangzhou rules and what they score under each schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tablectl.rules.ruleset import Pattern
from tablectl.rules.yangzhou.options import YangzhouOptions

_DOC = "000 and 002, Yangzhou, Payout scheme"
_CONTAINED = f"{_DOC}; D-Y2"


def _one(pattern: str, name: str, name_zh: str, text: str, reading: str = "") -> Pattern:
    return Pattern(pattern, name, name_zh, "1", text, f"{_DOC}{'; ' * bool(reading)}{reading}")


MINOR: Final = (
    _one("fully_closed", "Fully closed", "门清",
         "No open set before winning; closed kongs and a claim of the last tile keep it.", "D-Y9"),
    _one("common_win", "Common win", "平胡", "Four runs; the eyes are no honours.", "D-Y10"),
    _one("own_tile", "Own tile", "自摸", "The winning tile was drawn."),
    _one("single_call", "Single call", "丫子，独吊",
         "Only one kind of tile could complete the hand.", "D-Y11"),
    _one("void_suit", "Void suit", "缺一", "Exactly two suits and no honours.", "D-Y10"),
    _one("end_eyes", "End eyes", "幺头", "The eyes are ones or nines.", "D-Y10"),
    _one("no_terminals", "No terminals", "断幺", "No one, nine or honour anywhere.", "D-Y10"),
    Pattern("side_by_side", "Side-by-side", "齐相", "1 each",
            "Two runs of the same numbers in two suits, not within one larger pattern.",
            f"{_DOC}; D-Y3"),
    Pattern("tandem", "Tandem", "连副", "1 each",
            "Two runs of one suit that follow each other (345 678), not within one larger pattern.",
            f"{_DOC}; D-Y3"),
    Pattern("high_low", "High-low", "老少", "1 each",
            "123 and 789 of one suit, not within one larger pattern.", f"{_DOC}; D-Y3"),
    Pattern("closed_pung", "Closed pung", "子格、招", "1 each",
            "A concealed pung that no claim completed; a kong is none.", f"{_DOC}; D-Y8"),
    Pattern("open_kong", "Open kong", "明杠", "1 each", "A direct kong or one grown from a pung.",
            _DOC),
    Pattern("closed_kong", "Closed kong", "暗杠", "2 each", "A kong of four own tiles.", _DOC),
    _one("seat_wind", "Seat wind", "门风", "A pung or kong of the own wind; the banker is East.",
         "D-Y12"),
    _one("round_wind", "Round wind", "圈风",
         "A pung or kong of the round's wind; a double wind scores both.", "D-Y12"),
    Pattern("dragon_pung", "Dragon pung", "中发白", "1 each", "A pung or kong of dragons.", _DOC),
)  # fmt: skip
"""Minor patterns: the same in every schedule."""


@dataclass(frozen=True, slots=True)
class _Grade:
    """Points of a group of patterns under the three schedules."""

    old: int
    common: int
    new: int

    @property
    def text(self) -> str:
        return f"{self.old} / {self.common} / {self.new}"


TWIN: Final = _Grade(7, 10, 15)
MIXED: Final = _Grade(10, 15, 20)
DOUBLE: Final = _Grade(20, 30, 50)
PURE: Final = _Grade(40, 60, 80)

_GRADED: Final = (
    (TWIN, "twin_runs", "Twin runs", "一板", "Two identical runs."),
    (MIXED, "mixed_one_suit", "Mixed one suit", "混一色", "One suit and honours."),
    (MIXED, "all_pung", "All pung", "对对胡", "Four pungs or kongs."),
    (MIXED, "three_runs_side_by_side", "Three runs side-by-side", "三副同",
     "Runs of the same numbers in all three suits."),
    (MIXED, "two_tandems_side_by_side", "Two tandems side-by-side", "双连双喜，双飘",
     "Two tandems of the same numbers in two suits."),
    (MIXED, "two_high_lows_side_by_side", "Two high-lows side-by-side", "双飘",
     "123 and 789 in two suits."),
    (MIXED, "straight_flush", "Straight flush", "一条龙", "123, 456 and 789 of one suit."),
    (DOUBLE, "four_runs_side_by_side", "Four runs side-by-side", "四副同",
     "Runs of the same numbers in all three suits, one of them twice."),
    (DOUBLE, "double_twin_runs", "Double twin runs", "双板板", "Two different twin runs."),
    (PURE, "pure_one_suit", "Pure one suit", "清一色", "One suit only."),
    (PURE, "triplet_runs", "Triplet runs", "铁板", "Three identical runs."),
    (PURE, "double_twins_side_by_side", "Double twins side-by-side", "双板双喜",
     "Twin runs of the same numbers in two suits."),
    (PURE, "double_twins_high_low", "Double twins high-low", "双板双老",
     "Twin runs 123 and 789 of one suit."),
    (PURE, "double_twins_in_tandem", "Double twins in tandem", "双板双连",
     "Twin runs of one suit that follow each other."),
)  # fmt: skip

COMBINATIONS: Final = {
    "straight_flush_with_twins": (50, ("straight_flush", "twin_runs")),
    "mixed_all_pung": (50, ("mixed_one_suit", "all_pung")),
    "mixed_straight_flush": (50, ("mixed_one_suit", "straight_flush")),
    "mixed_straight_flush_twins": (80, ("mixed_one_suit", "straight_flush", "twin_runs")),
    "pure_all_pung": (130, ("pure_one_suit", "all_pung")),
    "pure_straight_flush": (130, ("pure_one_suit", "straight_flush")),
    "pure_straight_flush_twins": (160, ("pure_one_suit", "straight_flush", "twin_runs")),
}
"""Combination patterns of the new schedule: points, and the patterns that they replace (D-Y6)."""

_COMBINATION_NAMES: Final = {
    "straight_flush_with_twins": ("Straight flush with twins", "板龙"),
    "mixed_all_pung": ("Mixed one suit with all pung", "混对对"),
    "mixed_straight_flush": ("Mixed one suit with straight flush", "混龙"),
    "mixed_straight_flush_twins": ("Mixed one suit with straight flush and twins", "混板龙"),
    "pure_all_pung": ("Pure one suit with all pung", "清对对"),
    "pure_straight_flush": ("Pure one suit with straight flush", "清龙"),
    "pure_straight_flush_twins": ("Pure one suit with straight flush and twins", "清板龙"),
}

PATTERNS: Final = (
    *MINOR,
    *(
        Pattern(key, name, zh, grade.text, text, _CONTAINED)
        for grade, key, name, zh, text in _GRADED
    ),
    Pattern("all_honors", "All honours", "风清", "pure × 4 or × 2",
            "Winds and dragons only; all pung is contained.", f"{_DOC}; D-Y4"),
    Pattern("quadruplet_runs", "Quadruplet runs", "钢板", "pure × 8 or × 2",
            "Four identical runs.", _CONTAINED),
    *(
        Pattern(key, *_COMBINATION_NAMES[key], f"{points}, new schedule",
                f"In place of {' and '.join(part.replace('_', ' ') for part in parts)}.",
                f"{_DOC}; D-Y6, D-Y7")
        for key, (points, parts) in COMBINATIONS.items()
    ),
)  # fmt: skip

_GRADE_OF = {key: grade for grade, key, *_ in _GRADED}


def points(pattern: str, options: YangzhouOptions) -> int:
    """What a larger pattern scores under the chosen schedule."""
    if pattern in COMBINATIONS:
        return COMBINATIONS[pattern][0]
    pure: int = getattr(PURE, options.schedule)
    if pattern == "all_honors":
        return pure * options.all_honors_factor
    if pattern == "quadruplet_runs":
        return pure * options.quadruplet_runs_factor
    value: int = getattr(_GRADE_OF[pattern], options.schedule)
    return value
