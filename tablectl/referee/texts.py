"""Words for people, in English and Chinese: calls, winds, issues."""

from __future__ import annotations

from typing import Final

WINDS: Final = ("E", "S", "W", "N")
WIND_NAMES: Final = {
    "E": ("East", "東"), "S": ("South", "南"), "W": ("West", "西"), "N": ("North", "北"),
}  # fmt: skip

CALLS: Final[dict[str, tuple[str, str]]] = {
    "hu": ("Hu", "胡"),
    "kong": ("Kong", "槓"),
    "pung": ("Pung", "碰"),
    "chow": ("Chow", "吃"),
    "pass": ("Pass", "過"),
    "added_kong": ("Added kong", "加槓"),
    "closed_kong": ("Closed kong", "暗槓"),
    "lone_kong": ("Kong", "槓"),
    "joy": ("Joy", "喜"),
    "flower": ("Flower", "補花"),
    "win": ("Hu", "胡"),
}

ISSUES: Final[dict[str, tuple[str, str]]] = {
    "out_of_turn": ("acted out of turn", "未輪到"),
    "fifth_copy": ("that tile has been seen more often than it exists", "牌多於應有張數"),
    "not_in_hand": ("that tile was not in the hand", "手中無此牌"),
    "invalid_meld": ("these tiles make no such set", "不成牌組"),
    "not_last_discard": ("only the last discard can be claimed", "只可要最後打出的牌"),
    "chow_not_from_previous": ("a chow comes only from the seat before", "只可吃上家"),
    "outranked": ("a better call was made", "有更優先的叫牌"),
    "wrong_claimant": ("another seat was closer", "應由較近者得牌"),
    "wall_over": ("the rest of the wall stays", "牌牆已盡"),
    "no_supplement": ("no supplement tile is left for a kong", "無牌可補槓"),
    "early_exhaust": ("a tile can still be drawn", "尚有牌可摸"),
    "hand_over": ("the hand is over", "此局已結束"),
    "claim_not_allowed": ("this claim is not allowed", "不可如此胡"),
    "below_minimum": ("below the minimum", "番數不足"),
    "not_winning_shape": ("not a winning hand", "未成胡"),
    "wild_tile_claimed": ("a wild tile can't be claimed", "不可要財神"),
    "wrong_tile_count": ("wrong number of tiles", "相公"),
    "forfeited": ("has lost the right to win in this hand", "已失胡牌權"),
    "swap_discard": ("may not throw the tile just called, nor the far end", "不可打出剛要的牌"),
    "wild_in_meld": ("wild tiles can't be laid down in a set", "財神不可入副露"),
    "wild_discarded": ("a wild tile was thrown", "打出財神"),
    "float_round_claim": ("nobody may claim in a float round", "飄財中不可要牌"),
    "missed_lock": ("let that tile go before", "過水不可要"),
    "must_kong": ("holds the third tile: a kong is a must", "必須開槓"),
    "kong_after_pung": ("no closed kong in the turn of a pung", "碰後不可暗槓"),
    "disclosed_discard": ("only the tile drawn may be thrown", "亮牌後只可打摸到的牌"),
    "follow_honor": ("a lone honour had to follow", "須跟打字牌"),
    "call_limit": ("no more calls are allowed", "不可再要牌"),
    "bottom_stage": ("not in the bottom stage", "海底階段不可"),
    "bottom_exchange": ("the bottom tile can't be exchanged", "不可換海底牌"),
    "joy_not_allowed": ("no joy can be declared now", "不可報喜"),
}
"""Issue ids of the hand log, each with what a player is told."""


def issue_text(issue_id: str) -> tuple[str, str]:
    """English and Chinese words for an issue."""
    return ISSUES.get(issue_id, (issue_id.replace("_", " "), issue_id))
