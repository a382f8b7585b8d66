"""A place on the felt where a tile lies, as it was seen in several pictures."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import BACK, NAMES
from vision.felt.finder import Sighting
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile

_NAMES: Final = (*NAMES, "back")
_LEAST: Final = 0.001


@dataclass(eq=False)
class Place:
    """One tile at one place. Its identity is the place; no track ids.

    Attributes:
        x, y, rotation: running means, table mm and degrees from the table's up.
        looks: pictures in which it was seen like this.
        misses: looks in a row that found no tile here.
        tries: looks, hits or misses, since something changed here.
        missed_since: time of the first of those.
        last_look: time of the newest look, hit or miss.
        unread: something like a tile lies there, which the recogniser does not find.
    """

    x: float
    y: float
    rotation: float
    zone: Zone
    seat: int | None
    looks: int = 0
    misses: int = 0
    tries: int = 0
    missed_since: float = 0.0
    last_look: float = 0.0
    hidden: bool = False
    unread: bool = False
    _kinds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(43))
    _scores: float = 0.0
    _axis: complex = 0j
    _end: complex = 0j

    @classmethod
    def of(cls, sighting: Sighting, t: float) -> Place:
        """A place seen for the first time."""
        place = cls(sighting.x, sighting.y, sighting.rotation, sighting.zone, sighting.seat)
        place.see(sighting, t)
        return place

    def see(self, sighting: Sighting, t: float) -> None:
        """Take in another look that found the same tile."""
        self.looks += 1
        self.tries += 1
        weight = 1 / min(self.looks, 4)
        self.x += (sighting.x - self.x) * weight
        self.y += (sighting.y - self.y) * weight
        self._turn(sighting.rotation, weight)
        self.zone, self.seat = sighting.zone, sighting.seat
        self._kinds += sighting.probabilities
        self._scores += sighting.score
        self.misses, self.hidden, self.last_look = 0, False, t

    def _turn(self, rotation: float, weight: float) -> None:
        """The mean of the axes; of its ends the one that most looks say.

        Looks often take a tile for turned by 180 degrees; the plain mean of both lies across.
        """
        angle = math.radians(rotation)
        self._axis += (cmath.rect(1, 2 * angle) - self._axis) * weight
        self._end += (cmath.rect(1, angle) - self._end) * weight
        axis = cmath.phase(self._axis) / 2
        if (cmath.rect(1, -axis) * self._end).real < 0:
            axis += math.pi
        self.rotation = math.degrees(axis) % 360

    def miss(self, t: float) -> None:
        """A look that should have found it did not."""
        if self.misses == 0:
            self.missed_since = t
        self.misses += 1
        self.tries += 1
        self.last_look = t

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(43,) mean over the looks, given that a tile lies here."""
        mean: NDArray[np.float64] = self._kinds / self.looks
        return mean

    @property
    def best(self) -> int:
        """Index of the most likely kind."""
        return int(self._kinds.argmax())

    @property
    def existence(self) -> float:
        """Probability that there is a tile, growing with every look."""
        return 1.0 - (1.0 - min(self._scores / self.looks, 0.999)) ** self.looks

    @property
    def confidence(self) -> float:
        """Probability of the best kind."""
        return float(self.probabilities.max()) * self.existence

    def distance(self, sighting: Sighting) -> float:
        """From a sighting, mm."""
        return math.hypot(self.x - sighting.x, self.y - sighting.y)

    def same_tile(self, sighting: Sighting) -> bool:
        """Whether the sighting may be this tile rather than another put in its place."""
        if sighting.best == self.best:
            return True
        # Two unsure looks at one tile may differ; a sure look at another kind is another tile.
        mine, theirs = self.probabilities, sighting.probabilities
        return float(theirs[self.best]) > 0.15 or float(mine[sighting.best]) > 0.15

    @property
    def reported(self) -> bool:
        """Whether readings show it: faces anywhere, backs only where melds are laid out."""
        return self.best != BACK or self.zone is Zone.EXPOSED

    def seen_tile(self, geometry: TableGeometry) -> SeenTile:
        """As the referee gets it."""
        kinds = self.probabilities * self.existence
        order = [int(i) for i in np.argsort(-kinds, kind="stable") if kinds[i] >= _LEAST]
        upright = geometry.seat_angle(self.seat) if self.seat is not None else 0.0
        return SeenTile(
            probabilities={_NAMES[i]: round(float(kinds[i]), 4) for i in order},
            x=round(self.x, 2),
            y=round(self.y, 2),
            rotation=round((self.rotation - upright) % 360.0, 1) % 360.0,
            zone=self.zone,
            seat=self.seat,
            frames=self.looks,
        )
