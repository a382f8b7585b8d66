"""The base conditions and doubles of Jingzhou: Wuhan's without the bottom tile."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tablectl.rules.wuhan.patterns import BOTTOM, CLAIMED, COMMON, DOUBLES, MAJORS, OWN_TILE

_OTHER_KONG_TILES = ("green_kong", "peel_kong")
_DOC = "000, Wuhan, A Three-Player Version"

PATTERNS: Final = (
    COMMON,
    *(pattern for pattern in MAJORS if pattern is not BOTTOM),
    *(pattern for pattern in DOUBLES if pattern.id not in _OTHER_KONG_TILES),
    replace(
        OWN_TILE,
        value="1 double, winner",
        text="The winning tile was drawn; not besides kong bloom.",
        source=f"{_DOC}; D-J5",
    ),
    replace(CLAIMED, value="1 double, loser", source=_DOC),
)
