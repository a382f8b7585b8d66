"""Which tile lies where by the book, and how tiles that lie together belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tablectl.engine.events import Meld
from tablectl.referee.book import Entry
from tablectl.referee.felt import FeltTile
from vision.geometry import TableGeometry

_TOUCHING: Final = 0.55
"""Gap between edges, in tile widths, up to which tiles belong to one group."""
_APART: Final = 0.3
"""Gap in a hand laid open from which the last tile counts as set apart."""


@dataclass
class MeldPlace:
    """A set of a seat: the entry that made it and its tiles."""

    entry: int
    kind: str
    tiles: list[int]
    claimed: int | None
    source: int | None


@dataclass
class Layout:
    """Everything that the book explains, by place."""

    seats: int
    rivers: list[list[int]] = field(default_factory=list)
    melds: list[list[MeldPlace]] = field(default_factory=list)
    flowers: list[list[int]] = field(default_factory=list)
    hands: list[list[int]] = field(default_factory=list)
    winning: dict[int, int] = field(default_factory=dict)
    indicator: int | None = None
    last_discard: tuple[int, int] | None = None
    """(seat, tile id) of the newest discard while nobody has claimed it."""

    def __post_init__(self) -> None:
        for place in (self.rivers, self.melds, self.flowers, self.hands):
            place.extend([] for _ in range(self.seats))

    @property
    def explained(self) -> set[int]:
        """Ids of all tiles that belong to some fact."""
        out = {i for row in (*self.rivers, *self.flowers, *self.hands) for i in row}
        out |= {i for melds in self.melds for meld in melds for i in meld.tiles}
        out |= set(self.winning.values())
        if self.indicator is not None:
            out.add(self.indicator)
        return out


def layout_of(entries: Iterable[Entry], seats: int) -> Layout:
    """Fold the facts into places: claimed tiles leave their river, pungs grow to kongs."""
    out = Layout(seats)
    for entry in entries:
        fact = entry.fact
        match fact.kind:
            case "indicator":
                out.indicator = fact.tiles[0]
            case "flower":
                out.flowers[fact.seat].append(fact.tiles[0])
            case "discard":
                out.rivers[fact.seat].append(fact.tiles[0])
                out.last_discard = (fact.seat, fact.tiles[0])
            case "meld":
                _place_meld(out, entry)
            case "win" | "reveal":
                out.hands[fact.seat] = [i for i in fact.tiles if i != fact.claimed]
                if fact.claimed is not None:
                    out.winning[fact.seat] = fact.claimed
            case "told":
                pass
    return out


def _place_meld(out: Layout, entry: Entry) -> None:
    fact, event = entry.fact, entry.event
    assert isinstance(event, Meld)
    if event.kind == "added_kong":
        for meld in out.melds[fact.seat]:
            if set(meld.tiles) <= set(fact.tiles):
                meld.kind, meld.tiles, meld.entry = event.kind, list(fact.tiles), entry.n
                return
    if fact.claimed is not None and fact.source is not None:
        river = out.rivers[fact.source]
        if fact.claimed in river:
            river.remove(fact.claimed)
        out.last_discard = None
    out.melds[fact.seat].append(
        MeldPlace(entry.n, event.kind, list(fact.tiles), fact.claimed, fact.source)
    )


def groups(tiles: Sequence[FeltTile], geometry: TableGeometry) -> list[list[FeltTile]]:
    """Split the tiles of one seat's strip into groups of touching tiles, left to right.

    Works in the seat's frame: a tile is one width wide, or one length when it lies across.
    """
    placed = sorted((along(tile, geometry), tile.id, tile) for tile in tiles)
    out: list[list[FeltTile]] = []
    right = float("-inf")
    for x, _, tile in placed:
        half = _width(tile, geometry) / 2
        if x - half - right > _TOUCHING:
            out.append([])
        out[-1].append(tile)
        right = max(right, x + half)
    return out


def along(tile: FeltTile, geometry: TableGeometry) -> float:
    """Position along the seat's edge, to the player's right, in tile widths."""
    return geometry.to_seat(tile.seat or 0, tile.x, tile.y)[0]


def set_apart(tiles: Sequence[FeltTile], geometry: TableGeometry) -> FeltTile | None:
    """The tile of a hand laid open that lies apart at one end, or across; else None."""
    ordered = sorted(tiles, key=lambda tile: along(tile, geometry))
    across = [tile for tile in ordered if tile.sideways]
    if len(across) == 1:
        return across[0]
    if len(ordered) < 2:
        return ordered[0] if ordered else None
    first = _gap(ordered[0], ordered[1], geometry)
    last = _gap(ordered[-2], ordered[-1], geometry)
    inner = max((_gap(a, b, geometry) for a, b in pairwise(ordered[1:-1])), default=0.0)
    widest = max(first, last)
    if widest < _APART or widest < inner + _APART / 2:
        return None
    return ordered[-1] if last >= first else ordered[0]


def _gap(left: FeltTile, right: FeltTile, geometry: TableGeometry) -> float:
    centres = along(right, geometry) - along(left, geometry)
    return centres - (_width(left, geometry) + _width(right, geometry)) / 2


def _width(tile: FeltTile, geometry: TableGeometry) -> float:
    return geometry.tile_length if tile.sideways else 1.0
