"""The doubling patterns of the north-west Hubei rules."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

_DOC = "000, New Three-Player Mahjong of Northwestern Hubei"

PATTERNS: Final = (
    Pattern("all_pung", "All pung", "碰碰胡", "1",
            "All four sets are three or four identical tiles.", _DOC),
    Pattern("fit_five", "Fit five", "卡五星", "1",
            "Won on a 5 between a 4 and a 6 in hand.", f"{_DOC}; G7"),
    Pattern("open_four_in_one", "Open four in one", "明四归一", "1",
            "Won on the fourth tile of an own open pung, in a run; any winning tile will do beside "
            "a pattern of two doubles or more.", f"{_DOC}; K7, K8, K10"),
    Pattern("bloom_on_kong", "Bloom on kong", "杠上开花", "1 for each kong of the streak",
            "Won on a kong's supplement.", f"{_DOC}; K11"),
    Pattern("claimed_on_kong", "Claimed on kong", "杠上炮", "1",
            "Won on a tile thrown straight after a kong.", f"{_DOC}; K12"),
    Pattern("robbing_kong", "Robbing a kong", "抢杠胡", "1",
            "The winning tile was about to be added to a pung.", f"{_DOC}; G3, G4"),
    Pattern("disclosure", "Disclosure", "亮倒", "1",
            "The winner played with the hand laid open.", f"{_DOC}; K14, K15"),
    Pattern("fishing_bottom", "Fishing the bottom", "海底捞", "1",
            "Won by drawing the last tile of the walls.", f"{_DOC}; K13"),
    Pattern("pure_one_suit", "Pure one suit", "清一色", "2",
            "Tiles of one suit only; dragons are no suit.", f"{_DOC}; K22"),
    Pattern("seven_pairs", "Seven pairs", "七对", "2",
            "Seven pairs, no meld; four alike may be two pairs.", f"{_DOC}; K19"),
    Pattern("lone_tile", "Lone tile", "手抓一", "2",
            "Four melds and one tile in hand; takes the place of all pung.", f"{_DOC}; K2, K3"),
    Pattern("lesser_three_elements", "Lesser three elements", "小三元", "2",
            "Sets of two dragons and a pair of the third.", f"{_DOC}; K6"),
    Pattern("closed_four_in_one", "Closed four in one", "暗四归一", "2",
            "All four copies of the winning tile concealed, no seven pairs; any winning tile will "
            "do beside a pattern of two doubles or more.", f"{_DOC}; K7, K9, K10"),
    Pattern("greater_three_elements", "Greater three elements", "大三元", "3",
            "Sets of all three dragons.", f"{_DOC}; K4"),
    Pattern("dragon_seven_pairs", "Dragon seven pairs", "龙七对", "3",
            "Seven pairs, two of them four alike.", f"{_DOC}; K4"),
    Pattern("double_dragon_seven_pairs", "Double dragon seven pairs", "双龙七对", "4",
            "Seven pairs with four alike twice or more.", f"{_DOC}; K4, K5"),
)  # fmt: skip
