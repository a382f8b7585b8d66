"""Which tile lies where by the book."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tablectl.engine.events import Joy, Meld
from tablectl.referee.book import Entry


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
    assert isinstance(event, Meld | Joy)
    kind = "joy" if isinstance(event, Joy) else event.kind
    if kind == "added_kong":
        for meld in out.melds[fact.seat]:
            if set(meld.tiles) <= set(fact.tiles):
                meld.kind, meld.tiles, meld.entry = kind, list(fact.tiles), entry.n
                return
    if fact.claimed is not None and fact.source is not None:
        river = out.rivers[fact.source]
        if fact.claimed in river:
            river.remove(fact.claimed)
        out.last_discard = None
    out.melds[fact.seat].append(
        MeldPlace(entry.n, kind, list(fact.tiles), fact.claimed, fact.source)
    )
