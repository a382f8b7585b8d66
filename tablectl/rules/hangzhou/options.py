"""Options of the Hangzhou rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class HangzhouOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    rob_kong_min_streak: Literal[3, 2] = option(
        3, "From which hand of the banker on a kong may be robbed (拉杠)."
    )
    pairs_extra_on_claim: bool = option(
        True,
        "Whether seven pairs (七对) without fortune keeps its extra double on a claim or a robbed "
        "kong.",
    )
    liability_on_claim: bool = option(
        False, "Whether three-set liability (3摊承包) holds for wins by discard too."
    )
    permanent_fortune: bool = option(
        False,
        "No indicator is turned; the four white dragons are the fortune tiles (白板财神).",
    )
    wall_only: bool = option(False, "Whether only own draws win; bars robbing a kong too.")
    float_calls: Literal["wait", "calls_allowed"] = option(
        "wait",
        "Whether the floating player (财飘) may chow, pung or kong before the next own turn.",
    )
    float_second_half_liability: bool = option(
        False,
        "With calls allowed in a float: who feeds such a call alone pays what the score grows "
        "after it (财飘后半场承包).",
    )
    ten_honours: Literal["off", "own_tile_at_10", "wild_eye_at_10"] = option(
        "off",
        "Ten or more honours thrown from the start win (十风): like an own tile or like a wild "
        "eye, each further one doubles.",
    )
    instant_third: Literal["off", "doubles", "high_roll"] = option(
        "off", "Dice that lift the banker to the third hand (3牢) at once.", table=True
    )
    liability_restriction: Literal["none", "banker_only", "no_three_chows", "max_two"] = option(
        "none",
        "Calls barred because a third set from one player (3摊承包) would follow.",
        table=True,
    )
    liability_restriction_when: Literal["always", "banker_stays", "banker_third"] = option(
        "always", "When that restriction holds.", table=True
    )
    missed_pung_lock: bool = option(
        False, "No pung of a tile just let go, until the own turn.", table=True
    )
    missed_win_lock: bool = option(
        False, "No win by claiming a tile like one let go before the own turn."
    )
    max_loss: int | None = option(
        50,
        "Chips that each player starts with; nobody pays more than is left. null = no bound.",
        ge=1,
    )
    first_banker: Literal["east_roll", "highest_roll"] = option(
        "east_roll", "How the first banker is chosen.", table=True
    )
    seat_draw: Literal["dice", "numbered_row", "free"] = option(
        "dice", "How seats are drawn.", table=True
    )
    minutes: float | None = option(None, "Agreed length of the session.", table=True, gt=0)
    reseat_minutes: float | None = option(
        None, "After how many minutes seats are drawn anew.", table=True, gt=0
    )
    point_value: float | None = option(None, "What a point is worth.", table=True, gt=0)
