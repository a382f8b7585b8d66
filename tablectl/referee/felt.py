"""The tiles on the felt as the referee knows them, and what a new reading changes.

A tile is known by its place: readings are matched to known tiles by distance, never by a track id.
A face that changes for certain at the same place is another tile (the old one was taken, another
laid there between two readings).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

from tablectl.referee.beliefs import Belief, best, blend, normalise
from vision.geometry import Zone
from vision.messages import SeenTile

_SAME_PLACE: Final = 0.45
"""Tile widths within which a seen tile is the known one."""
_SAME_FACE: Final = 0.7
"""The same where both have one face: half behind a hand a tile is seen beside its place, and two
tiles can't lie so close."""
_NEAR_ASSUMED: Final = 0.8
"""The same for a tile that was only assumed to lie about there."""
_OTHER_TILE: Final = 0.9
"""Confidence in two different faces from which one place must have held two tiles."""
_LOOKS_CAP: Final = 12
_UNREAD: Final = 0.15
"""Probability of the likeliest face below which nothing is known."""


@dataclass(frozen=True)
class FeltTile:
    """One tile at its place.

    Attributes:
        id: number within the hand, in order of appearance.
        belief: tile notation to probability, normalised.
        looks: pictures behind the belief.
        x, y: table coordinates, mm.
        rotation: clockwise degrees from upright for the tile's seat.
        confirmed: the face that a person gave it, which ends all doubt.
        assumed: nobody has seen it; it must be there for the rest to be true.
    """

    id: int
    belief: Belief
    looks: int
    x: float
    y: float
    rotation: float
    zone: Zone
    seat: int | None
    confirmed: str | None = None
    assumed: bool = False

    @property
    def sideways(self) -> bool:
        """Whether the tile lies across, as a claimed tile does."""
        return 45.0 < self.rotation % 180.0 < 135.0

    @property
    def face_down(self) -> bool:
        """Whether its back is up."""
        return self.confirmed is None and best(self.belief)[0] == "back"

    @property
    def unread(self) -> bool:
        """Whether it is only known that a tile lies there."""
        return self.confirmed is None and best(self.belief)[1] < _UNREAD

    @property
    def seen(self) -> SeenTile:
        """The tile as a reading tells it, with what a person said about it."""
        return SeenTile(
            probabilities=dict(self.effective), x=self.x, y=self.y, rotation=self.rotation,
            zone=self.zone, seat=self.seat, frames=self.looks,
        )  # fmt: skip

    @property
    def effective(self) -> Belief:
        """The belief, or certainty where a person has spoken."""
        return {self.confirmed: 1.0} if self.confirmed else self.belief


@dataclass(frozen=True)
class Change:
    """What a reading shows beyond what was known: tiles by id."""

    new: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()


@dataclass
class Felt:
    """Known tiles by id, and which of them lie on the felt now."""

    tile_width_mm: float
    tiles: dict[int, FeltTile] = field(default_factory=dict)
    present: set[int] = field(default_factory=set)
    _next_id: int = 0
    _left: list[FeltTile] = field(default_factory=list)
    """Tiles that were taken from places where a hand still hides the cloth."""

    def update(
        self,
        seen: Iterable[SeenTile],
        covered: Iterable[tuple[Zone, int | None]],
        may_change: Container[int],
        expected: Set[int] = frozenset(),
    ) -> Change:
        """Match a reading to the known tiles; tiles under a hand stay where they were.

        Args:
            seen: every tile of the reading.
            covered: areas hidden by a hand.
            may_change: ids of tiles that may have been taken and another laid in their place, so
                that a certain new face there is a new tile; elsewhere it only raises doubt.
            expected: ids of tiles that must still lie where they were, seen just now or not.
        """
        hidden = set(covered)
        seen = self._without_left(list(seen))
        pairs = self._match(seen, self.present | (expected & self.tiles.keys()))
        matched_known = set(pairs.values())
        gone = {
            tile_id
            for tile_id in self.present
            if tile_id not in matched_known
            and not self.tiles[tile_id].assumed
            and (self.tiles[tile_id].zone, self.tiles[tile_id].seat) not in hidden
        }
        new: list[int] = []
        for index, look in enumerate(seen):
            tile_id = pairs.get(index)
            if (
                tile_id is not None
                and tile_id in may_change
                and self._is_other_tile(self.tiles[tile_id], look)
            ):
                gone.add(tile_id)
                tile_id = None
            if tile_id is None:
                new.append(self._add(look))
            else:
                self._refresh(tile_id, look)
        self.present -= gone
        self.present.update(new, set(pairs.values()) - gone)
        return Change(tuple(new), tuple(sorted(gone)))

    def confirm(self, tile_id: int, face: str | None) -> None:
        """Take a person's word for a face; ``None`` takes it back."""
        self.tiles[tile_id] = replace(self.tiles[tile_id], confirmed=face)

    def moved(self, old: int, now: int) -> None:
        """Note that the tile seen as ``now`` is ``old``, which was taken up and laid elsewhere.

        The id ``old`` lives on at the new place; ``now`` ceases to exist.
        """
        before, after = self.tiles[old], self.tiles.pop(now)
        if old in self.present:
            self._left.append(before)
        belief = blend(before.belief, before.looks, after.belief, after.looks)
        self.tiles[old] = replace(
            after, id=old, belief=belief, confirmed=before.confirmed or after.confirmed
        )
        self.present.discard(now)
        self.present.add(old)

    def assume(
        self, zone: Zone, seat: int, place: tuple[float, float], belief: Belief,
        confirmed: str | None = None,
    ) -> int:  # fmt: skip
        """Put a tile at a place (table mm) where none is seen. Returns its id."""
        tile_id = self._next_id
        self._next_id += 1
        self.tiles[tile_id] = FeltTile(
            tile_id, normalise(belief), 1, *place, 0.0, zone, seat, confirmed, assumed=True
        )  # fmt: skip
        self.present.add(tile_id)
        return tile_id

    def relocate(self, tile_id: int, zone: Zone, seat: int, place: tuple[float, float]) -> None:
        """A tile must lie at another place now (table mm), where it is not seen."""
        x, y = place
        self.tiles[tile_id] = replace(
            self.tiles[tile_id], zone=zone, seat=seat, x=x, y=y, assumed=True
        )
        self.present.add(tile_id)

    def at(self, zone: Zone, seat: int | None = None) -> list[FeltTile]:
        """Tiles now lying in a zone, in order of appearance."""
        return [
            self.tiles[i]
            for i in sorted(self.present)
            if self.tiles[i].zone is zone and (seat is None or self.tiles[i].seat == seat)
        ]

    def _without_left(self, seen: list[SeenTile]) -> list[SeenTile]:
        """The tiles of a reading without those that are only slow to be seen gone."""
        still: list[FeltTile] = []
        for tile in self._left:
            look = next(
                (s for s in seen if self._near(tile, s) and s.best == best(tile.effective)[0]), None
            )
            if look is not None:
                seen.remove(look)
                still.append(tile)
        self._left = still
        return seen

    def _near(self, tile: FeltTile, look: SeenTile) -> bool:
        reach = (_SAME_PLACE * self.tile_width_mm) ** 2
        return (tile.x - look.x) ** 2 + (tile.y - look.y) ** 2 <= reach

    def _match(self, seen: Sequence[SeenTile], known_ids: Set[int]) -> dict[int, int]:
        near: list[tuple[float, int, int]] = []
        for index, look in enumerate(seen):
            for tile_id in known_ids:
                known = self.tiles[tile_id]
                distance = (known.x - look.x) ** 2 + (known.y - look.y) ** 2
                if distance <= (_reach(known, look) * self.tile_width_mm) ** 2:
                    near.append((distance, index, tile_id))
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for _, index, tile_id in sorted(near):
            if index not in pairs and tile_id not in taken:
                pairs[index] = tile_id
                taken.add(tile_id)
        return pairs

    @staticmethod
    def _is_other_tile(known: FeltTile, look: SeenTile) -> bool:
        face, p = best(known.effective)
        return look.best != face and look.confidence >= _OTHER_TILE and p >= _OTHER_TILE

    def _add(self, look: SeenTile) -> int:
        tile_id = self._next_id
        self._next_id += 1
        self.tiles[tile_id] = FeltTile(
            tile_id, normalise(look.probabilities), look.frames,
            look.x, look.y, look.rotation, look.zone, look.seat,
        )  # fmt: skip
        return tile_id

    def _refresh(self, tile_id: int, look: SeenTile) -> None:
        known = self.tiles[tile_id]
        belief = normalise(look.probabilities)
        turned_over = known.face_down and look.best != "back"
        if look.frames < known.looks and not turned_over:  # looked at anew after being hidden
            belief = blend(known.belief, known.looks, belief, look.frames)
        self.tiles[tile_id] = replace(
            known,
            belief=belief,
            looks=min(max(known.looks, look.frames), _LOOKS_CAP),
            x=look.x,
            y=look.y,
            rotation=look.rotation,
            assumed=False,
        )


def _reach(known: FeltTile, look: SeenTile) -> float:
    """Tile widths from a known tile within which a look may be at it."""
    if known.assumed:
        return _NEAR_ASSUMED
    return _SAME_FACE if look.best == best(known.effective)[0] else _SAME_PLACE
