"""Options of the Xiamen rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class XiamenOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    scoring: Literal["xiamen", "quanzhou"] = option(
        "xiamen", "Whose table of multipliers, bases and flowers counts (泉州 = quanzhou)."
    )
    quanzhou_base_step: Literal["one", "multiplier"] = option(
        "one",
        "Quanzhou scoring: the banker's base grows by one for each hand kept, or by the multiplier "
        "of each of the banker's wins.",
    )
    quanzhou_open_pung_as_closed: bool = option(
        False, "Quanzhou scoring: whether an open pung earns what a closed one does."
    )
    gold_restriction: Literal["none", "no_discard", "wall_only"] = option(
        "none",
        "Whether a holder of gold may win by anything, not by a discard, or only by a tile from "
        "the wall.",
    )
    float_round_claim: bool = option(
        True, "Whether others may win by a discard while somebody is in a float round."
    )
    missed_tile_lock: bool = option(
        False,
        "Who lets a win, a pung or a direct kong go may not take the same tile until the own turn "
        "has come or been passed.",
    )
    required_float: bool = option(
        False, "Whether three golds in hand win only by ×3 or more (三金倒, 游金 ...)."
    )
    false_float: bool = option(
        False, "Whether discarding a gold without floating forfeits the right to win."
    )
    base_factor: int = option(1, "Multiplies both bases, e.g. 5 or 8.", ge=1)

    @property
    def quanzhou(self) -> bool:
        """Whether the Quanzhou table counts."""
        return self.scoring == "quanzhou"
