"""The doubles and flat points of the Beijing rules."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

_DOC = "000, Beijing, Scoring"
_RARE = "000, Beijing, Rare events"
_ADDED = "000, Beijing, Variations, additional doubles; B23"

PATTERNS: Final = (
    Pattern("banker", "Banker", "庄家", "1",
            "The banker wins; a banker who pays, pays double alone.", f"{_DOC}; B1"),
    Pattern("closed", "Closed", "门清", "1",
            "No open set; closed kongs keep it, a claim of the last tile too.", f"{_DOC}; B8"),
    Pattern("own_tile", "Own tile", "提溜", "1",
            "The winning tile was drawn; who gave a claimed one pays double alone.",
            f"{_DOC}; B1, B2"),
    Pattern("straight", "Straight", "没混", "1",
            "No wild tile, or all of them at face value.", f"{_DOC}; B7"),
    Pattern("flush", "Flush", "龙", "1",
            "Runs 123, 456 and 789 of a suit, open ones and wild tiles included.", f"{_DOC}; B5"),
    Pattern("seven_pairs", "Seven pairs", "七对", "1", "Seven pairs, no meld.", f"{_DOC}; B27"),
    Pattern("deluxe", "Deluxe", "豪华", "1 for each",
            "Four natural tiles alike as two of the seven pairs.", f"{_DOC}; B9"),
    Pattern("catch_five", "Catch five", "捉五魁", "1",
            "Won on a real 5m between 4m and 6m, or on a real single 5m in seven pairs.",
            f"{_DOC}; B10"),
    Pattern("kong_bloom", "Kong bloom", "杠开", "1",
            "Won on a kong's supplement; doubles kong points too.", f"{_DOC}; B11"),
    Pattern("wild_eye", "Wild eye", "混悠", "1",
            "Four sets or six pairs and a wild tile before an own draw, not straight (an option).",
            f"{_DOC}, optional; B4, B20"),
    Pattern("native_wild_flush", "Native wild flush", "本混龙", "1",
            "A wild tile of the flush's suit stands for another tile in it (an option).",
            f"{_DOC}, optional; B21"),
    Pattern("pure_one_suit", "Pure one suit", "清一色", "agreed",
            "One suit without honours (an option).", _ADDED),
    Pattern("all_pung", "All pung", "对对胡", "agreed", "No run (an option).", _ADDED),
    Pattern("single_tile", "Single tile", "大钓", "agreed",
            "Four melds and one tile in hand (an option).", _ADDED),
    Pattern("last_tile", "Last tile", "海底捞月", "agreed",
            "Own draw of the last usable tile (an option).", _ADDED),
    Pattern("heavenly_win", "Heavenly win", "天胡", "20 points, flat",
            "The banker is dealt a winning hand.", f"{_RARE}; B14"),
    Pattern("earthly_win", "Earthly win", "地胡", "20 points, flat",
            "A non-banker wins on the banker's first discard.", f"{_RARE}; B14, B15"),
    Pattern("wild_kong", "Wild kong", "混杠", "20 points, flat",
            "Holding all four wild tiles at the end, whoever wins.", f"{_RARE}; B13, LB5"),
)  # fmt: skip
