"""The fan table of the Mainland rules.

The document's scoring page is missing: every value is our own default and can be changed by the
option ``fan``.
"""

from __future__ import annotations

from typing import Final

from tablectl.rules.ruleset import Pattern

_OWN = "own default (no scoring page among the sources)"


def _own(pattern: str, name: str, name_zh: str, value: str, text: str, more: str = "") -> Pattern:
    return Pattern(pattern, name, name_zh, value, text, f"{_OWN}{more}")


PATTERNS: Final = (
    _own("all_chows", "All chows", "平和", "1", "Four chows and any pair; no joy."),
    _own("all_pungs", "All pungs", "碰碰和", "3", "Four pungs or kongs; no joy."),
    _own("mixed_one_suit", "Mixed one suit", "混一色", "3", "One suit and honors.", ", D-M9"),
    _own("pure_one_suit", "Pure one suit", "清一色", "6", "One suit only."),
    _own("all_honors", "All honors", "字一色", "8",
         "Winds and dragons only; all pungs is contained.", ", D-M11"),
    _own("dragon_pung", "Dragon pung", "箭刻", "1 each", "A pung or kong of dragons."),
    _own("seat_wind", "Seat wind", "门风", "1", "A pung or kong of the own wind.", ", D-M11"),
    _own("round_wind", "Round wind", "圈风", "1",
         "A pung or kong of the round's wind; a double wind gives both.", ", D-M11"),
    _own("self_drawn_kong", "Self-drawn kong", "暗杠", "2 each", "A concealed kong.", ", D-M10"),
    _own("called_kong", "Called kong", "明杠", "1 each", "A kong of a discard.", ", D-M10"),
    _own("added_kong", "Added kong", "加杠", "1 each", "A kong grown from a called pung.",
         ", D-M10"),
    _own("four_winds_joy", "Four winds joy", "四喜", "2", "East, South, West and North declared.",
         ", D-M8, D-M9"),
    _own("three_dragons_joy", "Three dragons joy", "三元喜", "1",
         "White, Green and Red declared.", ", D-M8, D-M9"),
    _own("chicken_hand", "Chicken hand", "鸡和", "0",
         "No hand pattern; no treasure tile in it.", ", D-M6, D-M7"),
    _own("chicken_hand_with_treasure", "Chicken hand with treasure", "鸡和带宝", "1",
         "A chicken hand whose only treasure tile is the winning tile, drawn.", ", D-M7"),
    _own("own_tile", "Own tile", "自摸", "1", "The winning tile was drawn.", ", G10"),
    _own("seat_flower", "Seat flower", "正花", "1 each",
         "The season or plant with the number of the winner's seat wind."),
    _own("win_on_replacement", "Win on a replacement", "杠上开花", "1",
         "Won on the replacement of a kong, a flower or a joy."),
    _own("robbing_kong", "Robbing the kong", "抢杠", "1",
         "The winning tile was about to be added to a pung."),
    _own("last_tile", "Last tile", "海底捞月", "1",
         "Won on the last tile of the live wall, or on the discard after it."),
)  # fmt: skip

FAN: Final[dict[str, int]] = {
    "all_chows": 1, "all_pungs": 3, "mixed_one_suit": 3, "pure_one_suit": 6, "all_honors": 8,
    "dragon_pung": 1, "seat_wind": 1, "round_wind": 1, "self_drawn_kong": 2, "called_kong": 1,
    "added_kong": 1, "four_winds_joy": 2, "three_dragons_joy": 1, "chicken_hand": 0,
    "chicken_hand_with_treasure": 1, "own_tile": 1, "seat_flower": 1, "win_on_replacement": 1,
    "robbing_kong": 1, "last_tile": 1,
}  # fmt: skip
"""Default fan by pattern."""
