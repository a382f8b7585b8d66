"""Options of the Hong Kong rules."""

from __future__ import annotations

from typing import Literal

from tablectl.rules.options import Options, option


class HongKongOptions(Options):
    """What the host picks; minimum, limit and points are fixed by the document."""

    payment: Literal["thrower_all", "thrower_half"] = option(
        "thrower_all",
        "Who pays a claimed win: the thrower everything (全銃), or the thrower half and the other "
        "two a quarter each (半銃).",
    )
