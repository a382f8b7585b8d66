"""The base conditions and doubles of Wuhan."""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

MAJOR: Final = 10
"""Points of each major condition."""

_DOC = "000, Wuhan, Scoring"
_EYES = "with a pair of 2, 5 or 8"


def _major(pattern: str, name: str, name_zh: str, text: str, reading: str) -> Pattern:
    return Pattern(pattern, name, name_zh, "10 points", text, f"{_DOC}; {reading}")


COMMON: Final = Pattern(
    "common_win", "Common win", "平胡，屁胡", "1 point",
    "Four sets and a pair of 2, 5 or 8; no major condition. At most one wild tile in the hand.",
    f"{_DOC}; D-W13, D-W19",
)  # fmt: skip

BOTTOM: Final = _major(
    "bottom_tile", "Bottom tile", "海底捞", f"Won on a draw of the bottom stage, {_EYES}.",
    "D-W13, D-W25",
)  # fmt: skip

MAJORS: Final = (
    _major("pure_one_suit", "Pure one suit", "清一色",
           "Four sets and a pair of one suit; any eyes.", "D-W24"),
    _major("all_honors", "All honours", "风一色",
           "Winds and dragons only, kong tiles left out; sets and a pair are not needed.",
           "D-W12, D-W24"),
    _major("all_eyes", "All eyes", "将一色",
           "2, 5 and 8 only; sets and a pair are not needed.", "D-W12, D-W24"),
    _major("all_pung", "All pung", "碰碰胡", "Four pungs or kongs; any eyes.", "D-W26"),
    _major("all_claimed", "All claimed", "全求人",
           f"Four open sets, won by a discard, {_EYES}.", "D-W13, D-W16"),
    BOTTOM,
    _major("kong_bloom", "Kong bloom", "杠上开", f"Won on a kong's supplement, {_EYES}.",
           "D-W11, D-W13"),
    _major("robbing_kong", "Robbing a kong", "抢杠",
           f"The winning tile was about to be added to a pung, {_EYES}.", "D-W13, D-W15"),
)  # fmt: skip

DOUBLES: Final = (
    Pattern("open_set", "Open sets", "开口", "1 double (an option: 1 for each)",
            "Chow, pung, direct or filled kong; closed kongs are no open sets.", f"{_DOC}; D-W9"),
    Pattern("open_kong", "Open kong", "明杠", "1 double each", "Direct and filled kongs.",
            f"{_DOC}; D-W9"),
    Pattern("red_kong", "Red kong", "红中杠", "1 double each",
            "A red dragon laid as a kong, or discarded.", f"{_DOC}; D-W10"),
    Pattern("green_kong", "Green kong", "发财杠", "1 double each",
            "A green dragon laid as a kong, or discarded, where it is a kong tile.",
            f"{_DOC}, Variations; D-W10"),
    Pattern("peel_kong", "Peel kong", "皮子杠", "1 double each",
            "A peel tile laid as a kong, or discarded.", f"{_DOC}, Variations; D-W22"),
    Pattern("closed_kong", "Closed kong", "暗杠", "2 doubles each", "Four own tiles.", _DOC),
    Pattern("wild_kong", "Wild kong", "赖子杠", "2 doubles each",
            "A wild tile laid as a kong, or discarded.", f"{_DOC}; D-W10"),
    Pattern("banker", "Banker", "庄家", "1 double, minor wins only",
            "The banker wins, or the banker pays.", f"{_DOC}; D-W23"),
    Pattern("hard_win", "Hard win", "硬牌", "1 double, winner",
            "No wild tile in the hand, or each plays as itself.", f"{_DOC}; D-W12"),
)  # fmt: skip

OWN_TILE: Final = Pattern(
    "own_tile", "Own tile", "自摸", "1 double, half in a major win; winner",
    "The winning tile was drawn; not besides kong bloom or bottom tile.", f"{_DOC}; D-W14",
)  # fmt: skip
CLAIMED: Final = Pattern(
    "claimed", "Claimed", "放冲", "1 double, half in a major win; loser",
    "The loser who discarded the winning tile.", f"{_DOC}; D-W15",
)  # fmt: skip

PATTERNS: Final = (COMMON, *MAJORS, *DOUBLES, OWN_TILE, CLAIMED)
