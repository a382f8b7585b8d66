"""What the recogniser says of one tile."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.tiles import Tile


@dataclass(frozen=True)
class Detection:
    """One tile in a picture.

    Attributes:
        box: x1, y1, x2, y2 in pixels of the picture; axis-aligned.
        score: probability (0 to 1, calibrated) that there is a tile, face or back, in the box.
        probabilities: of each of the 43 kinds (order of :data:`tablectl.tiles.NAMES`, then back)
            given that it is a tile; they sum to 1.
        rotation: degrees clockwise, 0 <= r < 360, from the picture's up to the face's up. Faces
            that look alike upside down, and backs, may be off by 180.
    """

    box: tuple[float, float, float, float]
    score: float
    probabilities: tuple[float, ...]
    rotation: float

    @property
    def tile(self) -> Tile:
        """The most likely kind."""
        return Tile(max(range(len(self.probabilities)), key=self.probabilities.__getitem__))

    @property
    def confidence(self) -> float:
        """Probability that there is a tile and that it is :attr:`tile`."""
        return self.score * max(self.probabilities)

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the box, px."""
        x1, y1, x2, y2 = self.box
        return (x1 + x2) / 2, (y1 + y2) / 2
