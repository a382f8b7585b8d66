"""Options of the three-player rules of north-west Hubei."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class KawuxingOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    removed_suit: Literal["m", "p", "s"] = option(
        "m", "Which suit is left out: m characters, p circles, s bamboos."
    )
    max_doubles: int | None = option(3, "Doubles that count at most; null = all of them.", ge=1)
    double_dragon_exception: bool = option(
        False, "Whether a double dragon seven pairs hand (双龙七对) counts four doubles (×16)."
    )
    disclosure_shows: Literal["all", "waiting_part"] = option(
        "all", "What a disclosing player (亮倒) lays open.", table=True
    )
    players_at_table: Literal[3, 4] = option(
        3, "With four, the resting player replaces the winner of each hand.", table=True
    )
    hands: int | None = option(None, "Agreed number of hands.", table=True, ge=1)
    minutes: float | None = option(None, "Agreed length of the session.", table=True, gt=0)
    unit_value: float | None = option(None, "What a unit is worth.", table=True, gt=0)
    reseat_after: int | None = option(
        None, "After how many hands seats are drawn anew.", table=True, ge=1
    )
