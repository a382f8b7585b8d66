"""The multipliers of the Hangzhou rules."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

_DOC = "000, Hangzhou, Scoring"

PATTERNS: Final = (
    Pattern("wild_eye", "Wild eye", "暴头", "×2",
            "Own draw with a hand that was four sets (or six pairs) and a fortune tile, so that "
            "any tile wins.", f"{_DOC}; H2, H3"),
    Pattern("fortune_float", "Fortune float", "财飘", "×2",
            "A fortune tile thrown instead of winning, then a win by wild eye in the next turn.",
            f"{_DOC}; H6"),
    Pattern("double_float", "Double float", "双飘", "×4, ×2 for each further",
            "A second fortune tile thrown in the float, then a win by wild eye.", f"{_DOC}; H6"),
    Pattern("kong_bloom", "Kong bloom", "杠开", "×2 for each kong of the streak",
            "Won on a kong's supplement; a float does not break the streak.", f"{_DOC}; H7"),
    Pattern("robbing_kong", "Robbing a kong", "拉杠", "×2",
            "The winning tile was about to be added to a pung.", f"{_DOC}; H13"),
    Pattern("seven_pairs", "Seven pairs", "七对", "×2, ×4 without a fortune tile",
            "Seven pairs, no meld. White dragons are no fortune tiles.", f"{_DOC}; H8"),
    Pattern("deluxe", "Deluxe", "豪华", "×2 for each",
            "Four alike as two pairs in seven pairs, none of them a fortune tile.",
            f"{_DOC}; H9"),
    Pattern("ten_honours", "Ten honours", "十风", "×2 for each tile beyond the tenth",
            "Ten or more honours thrown one after another from the start (an option).",
            "000, Hangzhou, Variations; H20"),
)  # fmt: skip
