"""Issue ids in words, for displays and for the reasons why something is not allowed."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "out_of_turn": ("acted when it was another seat's turn", "未輪到"),
    "fifth_copy": ("a tile is seen more often than it exists", "牌數過多"),
    "not_in_hand": ("the tile was not in the known hand", "手中無此牌"),
    "invalid_meld": ("these tiles are no such set", "不成牌組"),
    "not_last_discard": ("that is not the last discard", "非最後打出之牌"),
    "chow_not_from_previous": ("a chow comes only from the seat before", "只可吃上家"),
    "outranked": ("a better call was made", "有更優先的叫牌"),
    "wrong_claimant": ("another seat with the same call goes first", "他家優先"),
    "wall_over": ("that tile must stay in the wall", "牌牆已盡"),
    "no_supplement": ("no supplement tile is left for a kong", "無牌可補槓"),
    "early_exhaust": ("a tile can still be drawn", "尚有牌可摸"),
    "hand_over": ("the hand is over", "此局已結束"),
    "claim_not_allowed": ("the rules forbid winning or claiming in this way", "不可如此叫牌"),
    "below_minimum": ("the hand is worth too little to win", "番數不足"),
    "not_winning_shape": ("the tiles make no winning hand", "不成胡牌"),
    "wild_tile_claimed": ("a discarded wild tile can't be claimed", "不可叫打出的財神"),
    "wrong_tile_count": ("too many or too few tiles", "相公"),
    "forfeited": ("has lost the right to win in this hand", "此局不可胡"),
    "swap_discard": ("the called tile, or the run's far end, may not be thrown now", "不可食替"),
    "wild_in_meld": ("an open set can't hold a wild tile", "牌組不可含財神"),
    "wild_discarded": ("a wild tile was thrown", "打出財神"),
    "float_round_claim": ("no claims while another seat floats", "財飄中不可叫牌"),
    "missed_lock": ("that tile was let go; wait for the own turn", "過水"),
    "must_kong": ("three in hand must be a kong", "必須槓"),
    "kong_after_pung": ("no closed kong in a turn begun by the own pung", "碰後不可暗槓"),
    "disclosed_discard": ("after disclosing only the drawn tile may go", "亮牌後只可打所摸之牌"),
    "follow_honor": ("a lone honour had to follow", "須跟打字牌"),
    "call_limit": ("that call is over the agreed limit", "超過叫牌限制"),
    "bottom_stage": ("not in the bottom stage", "海底不可"),
    "bottom_exchange": ("the bottom tile may not be exchanged", "海底牌不可換"),
    "joy_not_allowed": ("no joy at this moment", "此時不可喜"),
}  # fmt: skip
"""English and Chinese text by issue id."""


def issue_text(name: str) -> str:
    """English text of an issue; the id itself where there is none."""
    return TEXTS.get(name, (name, name))[0]
