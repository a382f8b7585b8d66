"""Words for people, in English and Chinese: calls, winds, issues."""

from __future__ import annotations

from typing import Final

from tablectl.engine.issues import TEXTS

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


def issue_text(issue_id: str) -> tuple[str, str]:
    """English and Chinese words for an issue."""
    return TEXTS[issue_id]
