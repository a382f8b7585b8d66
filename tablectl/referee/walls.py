"""How many tiles of the walls have left them that the book does not know of.

A stack holds two tiles, and one where an end of the wall has been drawn from: counted stacks hold
at most twice their number. What the book leaves beyond that has been drawn unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vision.messages import WallSeen

_AGREE: Final = 2
"""Counts in a row that must be the same."""
_MOST_MISSING: Final = 2
"""Tiles; where more seem to have gone, the count is wrong."""
_MOST_LATE: Final = 3
"""Tiles that a good count may lack in play, when draws are still to be told; beyond it is bad."""
_NOT_UP: Final = 20
"""Tiles; where so many lack, the walls don't stand yet."""


class Walls:
    """The stacks counted in a hand; unsure while a hand is over them or counts differ.

    Whether a wall is counted right depends on the look of table and tiles: a count that once lacked
    too many tiles is not believed again in this hand.
    """

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._counts: tuple[int, ...] = ()
        self._bad = False

    def see(self, walls: Sequence[WallSeen], left: int) -> None:
        """Take the counts of a reading, with the tiles that stand there by the book."""
        if len(walls) != self._seats or any(wall.covered for wall in walls):
            return
        stacks = sum(wall.stacks for wall in walls)
        lacking = left - 2 * stacks
        if lacking > _NOT_UP:
            return
        self._bad |= lacking > _MOST_LATE
        self._counts = (*self._counts, stacks)[-_AGREE:]

    def missing(self, left: int) -> int:
        """Tiles that are surely missing, of those that stand there by the book; 0 if unsure."""
        if self._bad or len(self._counts) < _AGREE or len(set(self._counts)) > 1:
            return 0
        missing = left - 2 * self._counts[0]
        return missing if 0 < missing <= _MOST_MISSING else 0
