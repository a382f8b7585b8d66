"""The faan table of the Hong Kong rules."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

MINIMUM: Final = 3
LIMIT: Final = 10
POINTS: Final = {3: 8, 4: 16, 5: 24, 6: 32, 7: 48, 8: 64, 9: 96, 10: 128}

_DOC = "001, Scoring"
_ADDED = "faan table (added)"


def _limit(pattern: str, name: str, name_zh: str, text: str) -> Pattern:
    return Pattern(pattern, name, name_zh, "limit", text, f"{_ADDED}, C3")


LIMIT_PATTERNS: Final = (
    _limit("thirteen_orphans", "Thirteen orphans", "十三么",
           "One of each terminal and honour, one of them twice."),
    _limit("great_four_winds", "Great four winds", "大四喜", "Pungs or kongs of all four winds."),
    _limit("all_honours", "All honours", "字一色", "Winds and dragons only."),
    _limit("all_terminals", "All terminals", "清么九", "Ones and nines only."),
    _limit("nine_gates", "Nine gates", "九蓮寶燈",
           "1112345678999 of one suit in hand before any tile of that suit; no meld."),
    _limit("four_concealed_pungs", "Four concealed pungs", "四暗刻",
           "Four pungs or closed kongs, won by an own draw."),
    _limit("four_kongs", "Four kongs", "十八羅漢", "Four kongs of any kind."),
    _limit("heavenly_hand", "Heavenly hand", "天胡", "The dealer wins with the dealt tiles."),
    _limit("earthly_hand", "Earthly hand", "地胡",
           "A non-dealer wins on the dealer's first discard."),
)  # fmt: skip
"""Limit hands, in the order in which one is named where several apply."""

PATTERNS: Final = (
    Pattern("seat_flower", "Seat flower", "正花", "1 each",
            "The season or plant with the number of the winner's seat wind.", "001, Flowers; C8"),
    Pattern("flower_set", "Flower set", "一台花", "2 each",
            "All four seasons or all four plants, in place of that set's seat flower.",
            "001, Flowers; C7"),
    Pattern("no_flowers", "No flowers", "無花", "1", "No flower laid out.", "001, Flowers; C16"),
    Pattern("common_hand", "Common hand", "平胡", "1", "Four runs and any pair.", _ADDED),
    Pattern("concealed_hand", "Concealed hand", "門前清", "1",
            "No open meld before the win; closed kongs keep it, a claim of the last tile too.",
            f"{_ADDED}, C9"),
    Pattern("self_draw", "Self draw", "自摸", "1", "The winning tile was drawn.", _ADDED),
    Pattern("dragon_pung", "Dragon pung", "三元牌", "1 each", "A pung or kong of dragons.", _DOC),
    Pattern("seat_wind", "Seat wind", "門風", "1", "A pung or kong of the own wind.", _ADDED),
    Pattern("round_wind", "Round wind", "圈風", "1",
            "A pung or kong of the round's wind; a double wind scores both.", _ADDED),
    Pattern("robbing_kong", "Robbing the kong", "搶槓", "1",
            "The winning tile was about to be added to a pung.", f"{_ADDED}, C5"),
    Pattern("kong_win", "Win on a kong", "槓上開花", "1",
            "Won on the supplement of a kong, besides self draw.", _ADDED),
    Pattern("double_kong_win", "Win on a double kong", "槓上槓", "8",
            "Won on the supplement of the second or later kong in a row, in place of the single.",
            _ADDED),
    Pattern("last_tile", "Last tile", "海底撈月", "1",
            "Won on the last drawable tile, or on the discard after it.", _ADDED),
    Pattern("all_pungs", "All pungs", "對對胡", "3", "Four pungs or kongs.", _ADDED),
    Pattern("mixed_one_suit", "Mixed one suit", "混一色", "3", "One suit and honours.", _ADDED),
    Pattern("small_three_dragons", "Small three dragons", "小三元", "5",
            "Two dragon pungs, included, and a pair of the third dragon.", _DOC),
    Pattern("small_four_winds", "Small four winds", "小四喜", "6",
            "Three wind pungs, included, and a pair of the fourth wind.", f"{_ADDED}, C12"),
    Pattern("pure_one_suit", "Pure one suit", "清一色", "7",
            "One suit only, in place of mixed one suit.", _DOC),
    Pattern("great_three_dragons", "Great three dragons", "大三元", "8",
            "Pungs of all three dragons, included.", f"{_ADDED}, C12"),
    *LIMIT_PATTERNS,
)  # fmt: skip
