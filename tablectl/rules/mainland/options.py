"""Options of the Mainland rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tablectl.rules.options import Options, option

PatternId = Literal[
    "all_chows", "all_pungs", "mixed_one_suit", "pure_one_suit", "all_honors", "dragon_pung",
    "seat_wind", "round_wind", "self_drawn_kong", "called_kong", "added_kong", "four_winds_joy",
    "three_dragons_joy", "chicken_hand", "chicken_hand_with_treasure", "own_tile", "seat_flower",
    "win_on_replacement", "robbing_kong", "last_tile",
]  # fmt: skip
JoyKind = Literal["four_winds", "three_dragons"]


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class MainlandOptions(Options):
    """The text's variations, and our own scoring, which the text leaves out."""

    treasure: Literal["basic", "upward", "downward", "up_and_down", "none"] = option(
        "basic",
        "Treasure tiles (宝牌): the kind turned up; also the next, the previous, or both; or none.",
    )
    four_winds_any_time: bool = option(
        False,
        "Whether a four winds joy (四喜) may be declared at any time (then without a treasure).",
    )
    refill_dead_wall: bool = option(
        False,
        "Whether the live wall gives its last tile to the dead wall after a kong.",
        table=True,
    )
    joys: Annotated[tuple[JoyKind, ...], BeforeValidator(_as_tuple)] = option(
        ("four_winds", "three_dragons"), "Joys (喜) that may be declared, as a list."
    )
    fan: dict[PatternId, Annotated[int, Field(ge=0, le=1000)]] = option(
        {}, 'Fan of patterns where they differ from the table, as a map, e.g. {"all_chows": 2}.'
    )
    base_points: int = option(1, "Points of a hand of 0 fan.", ge=1)
    limit_fan: int = option(8, "Fan that count at most.", ge=0, le=64)
    minimum_fan: int = option(0, "Fan that a hand needs to win.", ge=0)
    payment: Literal["discarder_double", "discarder_all"] = option(
        "discarder_double",
        "Who pays a claimed win: the giver double and the others single, or the giver everything.",
    )
    dealer_double: bool = option(False, "Whether what the dealer pays or receives is doubled.")
