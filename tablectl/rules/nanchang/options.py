"""Options of the Nanchang rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class NanchangOptions(Options):
    """Every variation that the document names; the defaults are its main text."""

    indicator_as_supplement: bool = option(
        False, "Whether the tile turned up (精) may be drawn as a kong's supplement."
    )
    dead_wall: Literal["tiles_34", "stacks_17"] = option(
        "tiles_34",
        "Whether 34 tiles always stay undrawn, or 17 stacks: 33 tiles while the last stack is half "
        "used.",
    )
    draw_banker_pays: bool = option(
        False, "Whether the banker pays 5 to each other player in a drawn hand (荒庄)."
    )
