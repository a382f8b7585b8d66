"""Ways of winning and flowers of the Xiamen and the Quanzhou table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablectl.rules.ruleset import Pattern

_DOC = "000, Xiamen, Scoring"

PATTERNS: Final = (
    Pattern("common_win", "Common win", "平胡", "×1",
            "A discard claimed, and nothing better applies.", _DOC),
    Pattern("own_tile", "Own tile", "自摸", "×2", "Won by a tile from the wall.", _DOC),
    Pattern("robbing_kong", "Robbing a kong", "抢杠", "×2",
            "The winning tile was about to be added to a pung.", _DOC),
    Pattern("three_gold", "Three gold", "三金倒", "×4 as dealt, ×3 on the last turn",
            "Three golds in hand as dealt, or on the last turn; the rest need form nothing. "
            "Quanzhou: ×3 either way.", f"{_DOC}; X10, X11"),
    Pattern("gold_float", "Gold float", "游金", "×4 (Quanzhou ×3)",
            "Five sets and a gold in hand; any tile from the wall pairs the gold.",
            f"{_DOC}; X8"),
    Pattern("double_float", "Double float", "双游", "×8 (Quanzhou ×6)",
            "A gold thrown, and a gold float in the next turn.", f"{_DOC}; X9"),
    Pattern("triple_float", "Triple float", "三游", "×12 (Quanzhou ×9)",
            "A second gold thrown in the float, and a gold float in the next turn.",
            f"{_DOC}; X9"),
    Pattern("robbing_gold", "Robbing the gold", "抢金", "×4 (Quanzhou: none)",
            "Right after the deal the tile turned up completes the hand.", f"{_DOC}; X13"),
    Pattern("heavenly_win", "Heavenly win", "天胡", "×4 (Quanzhou: none)",
            "The banker's dealt hand is complete.", f"{_DOC}; X12"),
    Pattern("earthly_win", "Earthly win", "地胡", "×4 (Quanzhou: none)",
            "The banker's first discard claimed.", f"{_DOC}; X12"),
    Pattern("eight_flowers", "Eight flowers", "八花", "Quanzhou ×3 (Xiamen: none)",
            "All eight flowers and seasons; the tiles in hand need form nothing.",
            "000, Xiamen, Quanzhou scoring; X23"),
    Pattern("flower_tiles", "Flower tiles", "花", "1 each, 8 for a set of four",
            "Flowers and seasons laid out. Quanzhou: no more for a set.", f"{_DOC}; X15"),
    Pattern("gold_tiles", "Gold tiles", "金", "1 each",
            "Golds in hand at the end; discarded ones count nothing.", f"{_DOC}; X3"),
    Pattern("set_flowers", "Flowers of sets", "刻杠", "0 to 4 a set",
            "Suit / honour: open pung 0/1, closed pung 1/2, open kong 2/3, closed kong 3/4. "
            "Quanzhou: a kong grown from a pung 1/2.", f"{_DOC}; X5, X21"),
)  # fmt: skip

XIAMEN: Final[Mapping[str, int]] = {
    "common_win": 1, "own_tile": 2, "robbing_kong": 2, "three_gold": 3, "gold_float": 4,
    "double_float": 8, "triple_float": 12, "robbing_gold": 4, "heavenly_win": 4, "earthly_win": 4,
}  # fmt: skip
QUANZHOU: Final[Mapping[str, int]] = {
    "common_win": 1, "own_tile": 2, "robbing_kong": 2, "three_gold": 3, "gold_float": 3,
    "double_float": 6, "triple_float": 9, "eight_flowers": 3,
}  # fmt: skip

THREE_GOLD_AS_DEALT: Final = 4
EIGHT: Final = 8
GOLDS: Final = 3
"""Copies beside the tile turned up."""
