"""Doubles, flat points and bonuses of the Nanchang rules."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

_DOC = "000, Nanchang, Scoring"
_BONUS = "000, Nanchang, Bonuses"

PATTERNS: Final = (
    Pattern("own_tile", "Own tile", "自摸", "1 double", "Won by a tile from the wall.", _DOC),
    Pattern("fine_call", "Fine call", "精钓", "1 double",
            "Own tile with four sets or six pairs complete: a held fine tile and the tile drawn "
            "are the eyes.", f"{_DOC}; N9"),
    Pattern("kong_bloom", "Kong bloom", "杠开", "1 double", "Won on a kong's supplement.",
            f"{_DOC}; N18"),
    Pattern("robbing_kong", "Robbing a kong", "抢杠", "1 double",
            "The winning tile was about to be added to a pung; all three pay.", f"{_DOC}; N12"),
    Pattern("all_pung", "All pungs", "大七对", "1 double", "Four pungs or kongs and a pair.",
            f"{_DOC}; N15"),
    Pattern("seven_pairs", "Seven pairs", "小七对", "1 double",
            "Seven pairs, no set laid out; four alike are two pairs.", f"{_DOC}; N14"),
    Pattern("independent", "Independent tiles", "十三烂", "1 double",
            "Fourteen different tiles, those of a suit three apart at least, no set laid out.",
            f"{_DOC}; N13"),
    Pattern("seven_stars", "Seven stars", "七星", "1 double",
            "All seven honours, real ones, in independent tiles.", f"{_DOC}; N13"),
    Pattern("german", "German", "德国", "1 double and 5 points",
            "No fine tile in the hand, or all of them at face value; the five points are never "
            "doubled.", f"{_DOC}; N10"),
    Pattern("double_german", "Double German", "德中德", "1 double",
            "A German hand, and no loser holds a fine tile.", f"{_DOC}; N10"),
    Pattern("heavenly_win", "Heavenly win", "天胡", "20 points",
            "The banker's dealt hand is complete; nothing is doubled.", f"{_DOC}; N17"),
    Pattern("earthly_win", "Earthly win", "地胡", "20 points",
            "The banker's first discard claimed; nothing is doubled.", f"{_DOC}; N17"),
    Pattern("banker", "Banker", "庄家", "1 double of a payment",
            "The payment is made to or from the banker.", f"{_DOC}; N1"),
    Pattern("letting_off", "Letting off", "点炮", "1 double of a payment",
            "The payment is made by who discarded the winning tile.", f"{_DOC}; N1"),
    Pattern("kong_closed", "Closed kong", "暗杠", "2 from each", "A closed kong, of any seat.",
            f"{_BONUS}; N21"),
    Pattern("kong_open", "Open kong", "明杠", "1 from each", "A direct or grown kong, of any seat.",
            f"{_BONUS}; N21"),
    Pattern("fine_first", "First fine tile", "正精", "2 a tile from each",
            "Other copies of the tile turned up, in hand or in sets.", f"{_BONUS}; N4, N5"),
    Pattern("fine_second", "Second fine tile", "副精", "1 a tile from each",
            "The tile that follows the one turned up.", f"{_BONUS}; N2, N4, N5"),
    Pattern("limit_breaker", "Limit breaker", "冲关", "times (total - 3)",
            "Fine tiles of 5 points or more.", f"{_BONUS}; N6"),
    Pattern("domination", "Domination", "霸王", "times 2",
            "No other seat has a fine tile.", f"{_BONUS}; N6, N7"),
    Pattern("fine_kong", "Fine kong", "精杠", "10 from each",
            "A kong of fine tiles, in place of the kong bonus.", f"{_BONUS}; N8"),
    Pattern("sacked_banker", "Sacked banker", "抄庄", "5 to each",
            "All four threw the same tile in the first round, before any set was laid out.",
            f"{_BONUS}; N19"),
    Pattern("draw_penalty", "Drawn hand", "荒庄", "5 to each",
            "The banker pays in a drawn hand (an option).", f"{_BONUS}; N19"),
)  # fmt: skip

TITLES: Final = {pattern.id: pattern.title for pattern in PATTERNS}

FLAT: Final = 20
GERMAN_POINTS: Final = 5
KONG_CLOSED, KONG_OPEN, FINE_KONG = 2, 1, 10
LIMIT, LIMIT_LESS = 5, 3
PENALTY: Final = 5
