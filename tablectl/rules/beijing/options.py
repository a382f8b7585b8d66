"""Options of the Beijing rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tablectl.rules.options import Options, option

Weight = Annotated[int, Field(ge=0, le=30)]

BasePattern = Literal[
    "banker", "closed", "own_tile", "straight", "flush", "seven_pairs", "deluxe", "catch_five",
    "kong_bloom",
]  # fmt: skip
CountedPattern = BasePattern | Literal["wild_eye", "native_wild_flush"]
AddedPattern = Literal["pure_one_suit", "all_pung", "single_tile", "last_tile"]


class BeijingOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    wild_eye_double: bool = option(False, "Whether a wild eye (混悠) is a double.")
    native_wild_flush_double: bool = option(
        False,
        "Whether a flush with a wild tile of its own suit as a stand-in (本混龙) is a double.",
    )
    kong_points_banker_double: bool = option(
        False, "Whether kong points to or from the banker are doubled."
    )
    upstairs: Literal["off", "after_draw", "after_draw_or_streak3"] = option(
        "off",
        "Whether all scores are doubled after a drawn hand (上楼), or also from the banker's third "
        "hand on.",
    )
    void_suit: bool = option(False, "Whether a winning hand must lack one suit (断门).")
    busted_banker: bool = option(
        False, "Whether the banker pays when all four threw the same first tile (烧庄)."
    )
    busted_points: int = option(10, "What a busted banker pays to each other player.", ge=0)
    heavenly_points: int = option(
        20, "Points from each for a heavenly win (天胡); 0 = not played.", ge=0
    )
    earthly_points: int = option(
        20, "Points from each for an earthly win (地胡); 0 = not played.", ge=0
    )
    wild_kong_points: int = option(
        20, "Points from each for holding all four wild tiles (混杠); 0 = not played.", ge=0
    )
    discard_liability: bool = option(False, "Whether the discarder pays all shares (点炮包庄).")
    extra_doubles: dict[AddedPattern, Weight] = option(
        {}, 'Added patterns and their doubles, as a map, e.g. {"all_pung": 1}.'
    )
    doubles: dict[CountedPattern, Weight] = option(
        {}, "Agreed doubles of patterns where they differ from 1, as a map; 0 = not recognised."
    )
    missed_win_lock: bool = option(
        False, "No claim to win after letting a winning tile go, until the own turn."
    )
    at_most_once: bool = option(
        False, "One chow or pung a hand; direct kongs are free.", table=True
    )
    wall_reserve: Literal["seven_stacks", "seven_or_eight_stacks", "fourteen_plus_kongs"] = option(
        "seven_stacks",
        "Tiles left at a draw: 7 stacks; 8 with two kongs or more; 14 tiles and one a kong.",
        table=True,
    )
    false_win: Literal["claimed_amount", "fixed"] = option(
        "claimed_amount",
        "What a false win costs: the amount that was claimed, or the points of a heavenly win.",
    )
    point_value: Literal[1, 2] = option(1, "Stake of a point.", table=True)
    seat_draw: Literal["dice", "numbered_row", "free"] = option(
        "dice", "How seats are drawn.", table=True
    )
