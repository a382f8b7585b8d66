"""Options of the Jingzhou rules: those of Wuhan but for the kong tiles, which are red only."""

from __future__ import annotations

from tablectl.rules.wuhan.options import SharedOptions


class JingzhouOptions(SharedOptions):
    """Every variation of the basic game that the document names."""
