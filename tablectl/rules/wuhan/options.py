"""Options of the Wuhan rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class SharedOptions(Options):
    """What Wuhan and its three-player version have in common."""

    double_each_open_set: bool = option(
        False, "Whether each open set counts a double, for winner and losers (口口番)."
    )
    multi_major: Literal["linear", "exponential"] = option(
        "linear", "Base of several major conditions: 10 each, or 10, 20, 40 and so on."
    )
    minimum: int | None = option(
        None,
        "Points that a loser's own amount must reach for a valid win; null = as usual with the "
        "kong tiles chosen, see Winning.",
        ge=0,
    )
    divide_by: Literal[1, 10, 20] = option(
        1, "By what each loser's amount is divided and rounded, halves up, when it is paid."
    )
    limit: int | None = option(
        None,
        "What a loser pays at most; null = as usual with the variation chosen, see Limits.",
        ge=1,
    )
    golden_limit: int | None = option(
        None, "What each pays where all losers hit the limit; null = as usual.", ge=1
    )
    radiant_limit: int | None = option(
        None, "What a loser without an open set pays then; null = as usual.", ge=1
    )
    trinity_limit: int | None = option(
        None, "What each pays then if no loser has an open set; null = as usual.", ge=1
    )


class WuhanOptions(SharedOptions):
    """Every variation that the document names; the defaults are its main text."""

    kong_tiles: Literal["red", "red_green", "peel"] = option(
        "red",
        "Which tiles are laid singly as kongs and never played: red dragons, red and green "
        "dragons, or the indicator's kind and the one below it (皮子杠).",
    )
    seating: Literal["traditional", "modern"] = option(
        "traditional", "How seats are drawn: four wind tiles, or the largest tile.", table=True
    )
