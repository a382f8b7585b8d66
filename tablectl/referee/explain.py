"""What explains the tiles that the book does not explain yet.

Each function looks at one kind of place and proposes at most one fact, the one that comes first in
the order of play; the follower writes it down and asks again until nothing is left to explain.
Proposals that would be out of order wait for a while, because the tile that comes before them may
only be slow to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tablectl.referee.book import Fact, SetKind
from tablectl.referee.felt import Felt, FeltTile
from tablectl.referee.layout import Layout, MeldPlace
from vision.felt import groups
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile

_CLAIMED: Final = {True: 1.0, False: 0.3}
"""Prior of a tile to be the claimed one of its set, by whether it lies across."""
_BESIDE: Final = 1.5
"""Tile widths within which a tile lies beside another one."""
_LATELY: Final = 3
"""Discards of a river among which one that was claimed unnoticed is looked for."""
_SURE_FLOWER: Final = 0.9
"""Odds from which a tile is a flower wherever it lies in the strip."""
_UNLIKE: Final = 0.02
"""Likeness up to which two readings are hardly of one tile."""
_SET_SPAN: Final = 2.6
"""Most tile widths between two tiles of a set of three."""
_HOLE_IN_SET: Final = 1.7
"""Distance of two tiles between which a third one lies."""
_FLOWER_NAMES: Final = frozenset(f"{n}f" for n in range(1, 9))


@dataclass(frozen=True)
class Scene:
    """Everything that an explanation may look at.

    Attributes:
        turn: whose action the engine expects, ``None`` when the hand is over.
        patient: whether proposals out of order must still wait.
        claim_due: whether it must still be waited for the set that a discard was taken for.
        indicator_wanted: whether these rules turn up an indicator and none was seen.
        last_meld: the newest entry's set, as long as nothing but calls came after it.
        said_pung: seats that pressed Pung last of all buttons, lately.
        ignored: tiles that a person has struck out of the book.
        covered: areas that a hand hides now.
    """

    t: float
    felt: Felt
    layout: Layout
    geometry: TableGeometry
    seats: int
    turn: int | None
    patient: bool
    claim_due: bool
    indicator_wanted: bool
    last_meld: int | None
    said_pung: frozenset[int]
    ignored: frozenset[int] = frozenset()
    covered: frozenset[tuple[Zone, int | None]] = frozenset()

    def unexplained(self, zone: Zone, seat: int | None = None) -> list[FeltTile]:
        """Tiles in a zone that belong to no fact, in order of appearance."""
        known = self.layout.explained | self.ignored
        return [tile for tile in self.felt.at(zone, seat) if tile.id not in known]

    def in_turn_order(self) -> list[int]:
        """Seats, the one whose turn it is first."""
        first = self.turn or 0
        return [(first + i) % self.seats for i in range(self.seats)]

    def taken_discard(self) -> tuple[int, int] | None:
        """(seat, tile id) of the newest discard if it has left its river."""
        last = self.layout.last_discard
        return last if last is not None and last[1] not in self.felt.present else None

    def discard_hidden(self) -> bool:
        """Whether a hand hides the place of the newest discard, so that it may be gone."""
        last = self.layout.last_discard
        return last is not None and (Zone.RIVER, last[0]) in self.covered

    def claimed_by(self, seat: int, group: Iterable[FeltTile]) -> tuple[int, int] | None:
        """The discard that a fresh set of a seat was made with, if it has one of that face.

        A hand over the river may still hide that it is gone.
        """
        last = self.layout.last_discard
        if last is None or last[0] == seat:
            return None
        discarded = self.felt.tiles[last[1]]
        return last if any(likeness(tile, discarded) > 0.5 for tile in group) else None


@dataclass(frozen=True)
class Proposal:
    """Facts to write down together.

    Attributes:
        moved: (old id, id now) of a tile that was taken up and laid elsewhere.
        instead_of: entry that the first fact replaces (a kong that was first taken for a pung).
        late: the facts happened before what is in the book already.
        unseen: tile that was taken up and laid at another place, where it is not seen.
        assumed: place (table mm) of the tile :data:`ASSUMED` of the first fact, which nobody sees.
    """

    facts: tuple[Fact, ...]
    moved: tuple[int, int] | None = None
    instead_of: int | None = None
    late: bool = False
    unseen: tuple[int, Zone, int, tuple[float, float]] | None = None
    assumed: tuple[float, float] | None = None


ASSUMED: Final = -2
"""Id of a tile that has to be put on the felt first."""


class _Lying:
    """Felt tiles for the functions that group the tiles of a reading, and back again."""

    def __init__(self, tiles: Iterable[FeltTile]) -> None:
        self._tiles = {id(seen): (seen, tile) for tile in tiles for seen in (tile.seen,)}

    @property
    def seen(self) -> list[SeenTile]:
        return [seen for seen, _ in self._tiles.values()]

    def back(self, seen: Iterable[SeenTile]) -> list[FeltTile]:
        return [self._tiles[id(tile)][1] for tile in seen]


def indicator(scene: Scene) -> Proposal | None:
    """A face turned up on the wall."""
    if not scene.indicator_wanted:
        return None
    lying = _Lying(scene.unexplained(Zone.WALL))
    faces = lying.back(groups.indicators(lying.seen))
    if not faces:
        return None
    return Proposal((Fact("indicator", scene.t, tiles=(faces[-1].id,)),))


def flower(scene: Scene) -> Proposal | None:
    """A flower laid out."""
    for seat in scene.in_turn_order():
        for tile in () if _called_set(scene, seat) else scene.unexplained(Zone.EXPOSED, seat):
            likely = flower_odds(tile)
            placed = _in_flower_row(scene, seat, tile)
            sure = likely > _SURE_FLOWER or (likely > 0.5 and (placed or not scene.patient))
            if sure or (tile.unread and placed and not scene.patient):
                return Proposal((Fact("flower", scene.t, seat=seat, tiles=(tile.id,)),))
    return None


def _called_set(scene: Scene, seat: int) -> list[FeltTile]:
    """Three tiles that a seat has laid down side by side after Pung, whatever they look like."""
    taken = scene.taken_discard()
    fresh = scene.unexplained(Zone.EXPOSED, seat)
    if taken is None or taken[0] == seat or seat not in scene.said_pung or len(fresh) != 3:
        return []
    places = sorted(scene.geometry.to_seat(seat, tile.x, tile.y) for tile in fresh)
    near = places[-1][0] - places[0][0] < _SET_SPAN
    return fresh if near and any(tile.sideways for tile in fresh) else []


def _in_flower_row(scene: Scene, seat: int, tile: FeltTile) -> bool:
    """Whether a tile lies beside the flowers of a seat, or alone where flowers begin."""
    x, y = scene.geometry.to_seat(seat, tile.x, tile.y)
    others = [
        scene.geometry.to_seat(seat, t.x, t.y)
        for t in scene.felt.at(Zone.EXPOSED, seat) if t.id != tile.id
    ]  # fmt: skip
    row = [
        scene.geometry.to_seat(seat, t.x, t.y)
        for t in map(scene.felt.tiles.__getitem__, scene.layout.flowers[seat])
    ]  # fmt: skip
    if any(abs(x - fx) < _BESIDE and abs(y - fy) < 0.5 for fx, fy in row):
        return True
    alone = all(abs(x - ox) > 2 * _BESIDE for ox, _ in others)
    return alone and x < -scene.geometry.exposed[0] / 2


def is_flower(tile: FeltTile) -> bool:
    """Whether the tile is more likely a flower than anything else."""
    return flower_odds(tile) > 0.5


def flower_odds(tile: FeltTile) -> float:
    """Probability that the tile is a flower."""
    return sum(p for name, p in tile.effective.items() if name in _FLOWER_NAMES)


def meld(scene: Scene) -> Proposal | None:
    """A set laid down: claimed, closed, or grown from a pung."""
    for seat in scene.in_turn_order():
        if not scene.unexplained(Zone.EXPOSED, seat):
            continue
        called = _called_set(scene, seat)
        if called and all(is_flower(tile) for tile in called):
            return _claim(scene, seat, called, "claim")
        lying = _Lying(scene.felt.at(Zone.EXPOSED, seat))
        for group in groups.exposed(lying.seen, seat, scene.geometry).melds:
            proposal = _explain_group(scene, seat, lying.back(group.tiles))
            if proposal is not None:
                return proposal
    return None


def lone_kong(scene: Scene) -> Fact | None:
    """A single fresh tile in the strip of the seat in turn, read as a kong of one."""
    if scene.turn is None:
        return None
    lying = _Lying(scene.unexplained(Zone.EXPOSED, scene.turn))
    loose = lying.back(groups.exposed(lying.seen, scene.turn, scene.geometry).loose)
    if len(loose) != 1 or loose[0].face_down:
        return None
    return Fact("meld", scene.t, seat=scene.turn, tiles=_ids(loose), meld="lone_kong")


def joys(scene: Scene) -> Iterator[Fact]:
    """Fresh own tiles laid out as three or four, which may be joys; the rules say whether."""
    known = scene.layout.explained | scene.ignored
    for seat in scene.in_turn_order():
        if not scene.unexplained(Zone.EXPOSED, seat):
            continue
        lying = _Lying(scene.felt.at(Zone.EXPOSED, seat))
        for group in groups.exposed(lying.seen, seat, scene.geometry).melds:
            tiles = lying.back(group.tiles)
            own = not any(t.id in known or t.face_down or t.sideways for t in tiles)
            if own and not _claimable(scene, seat, group, tiles):
                yield Fact("meld", scene.t, seat=seat, tiles=_ids(tiles), meld="joy")


def _claimable(scene: Scene, seat: int, group: groups.Meld, tiles: Iterable[FeltTile]) -> bool:
    """Whether a set is rather a pung, a chow or a kong: its tile claimed, or four of the hand."""
    if group.kind in ("joy", "unknown"):
        return False
    taken = scene.taken_discard() or scene.claimed_by(seat, tiles)
    return len(group.tiles) == 4 or taken is not None


def _explain_group(scene: Scene, seat: int, group: Sequence[FeltTile]) -> Proposal | None:
    known = scene.layout.explained | scene.ignored
    fresh = [tile for tile in group if tile.id not in known]
    if not fresh:
        return None
    if len(fresh) == 1:
        grown = _pung_beside(scene.layout.melds[seat], group, fresh[0])
        if grown is not None:
            return _grow(scene, seat, grown, fresh[0])
    if len(fresh) == 3 and not any(tile.face_down for tile in fresh):
        return _claim(scene, seat, fresh, "claim")
    if len(fresh) == 4:
        if any(tile.face_down for tile in fresh):
            fact = Fact("meld", scene.t, seat=seat, tiles=_ids(fresh), meld="closed_kong")
            return Proposal((fact,))
        if scene.patient and not _may_be_alike(fresh):
            return None  # a set and something beside it that may go again
        if scene.taken_discard() is not None and seat in scene.said_pung:
            pung = sorted(fresh, key=lambda tile: tile.id)[:3]  # the newest one was added to it
            return _claim(scene, seat, pung, "claim")
        if scene.taken_discard() is not None or any(tile.sideways for tile in fresh):
            return _claim(scene, seat, fresh, "kong")
        fact = Fact("meld", scene.t, seat=seat, tiles=_ids(fresh), meld="closed_kong")
        return Proposal((fact,))
    return None


def _may_be_alike(tiles: Sequence[FeltTile]) -> bool:
    """Whether some face is at least conceivable for all of them."""
    shared = frozenset.intersection(*(frozenset(tile.effective) for tile in tiles))
    return any(min(tile.effective[face] for tile in tiles) > _UNLIKE for face in shared)


def _pung_beside(
    melds: Iterable[MeldPlace], group: Sequence[FeltTile], fresh: FeltTile
) -> MeldPlace | None:
    ids = {tile.id for tile in group}
    pungs = [m for m in melds if m.kind == "pung" and set(m.tiles) <= ids]
    return min(pungs, key=lambda m: min(abs(i - fresh.id) for i in m.tiles), default=None)


def _grow(scene: Scene, seat: int, pung: MeldPlace, fresh: FeltTile) -> Proposal:
    """A fourth tile beside a pung: an added kong, or a direct kong laid down slowly."""
    tiles = (*pung.tiles, fresh.id)
    if scene.last_meld == pung.entry and seat not in scene.said_pung:
        fact = Fact(
            "meld", scene.t, seat=seat, tiles=tiles, meld="kong",
            source=pung.source, claimed=pung.claimed,
        )  # fmt: skip
        return Proposal((fact,), instead_of=pung.entry)
    fact = Fact(
        "meld", scene.t, seat=seat, tiles=tiles, meld="added_kong", source=pung.source
    )  # fmt: skip
    return Proposal((fact,))


def _claim(scene: Scene, seat: int, group: Sequence[FeltTile], kind: SetKind) -> Proposal | None:
    across = next((tile for tile in group if tile.sideways), None)
    taken = scene.taken_discard() or scene.claimed_by(seat, group)
    if taken is not None and taken[0] != seat:
        giver, old = taken
        discarded = scene.felt.tiles[old]
        now = max(group, key=lambda tile: likeness(tile, discarded) * _CLAIMED[tile.sideways])
        if likeness(now, discarded) > _UNLIKE or not _taken_by_another(scene, seat):
            ids = tuple(old if tile is now else tile.id for tile in group)
            fact = Fact(
                "meld", scene.t, seat=seat, tiles=ids, meld=kind, source=giver, claimed=old
            )  # fmt: skip
            return Proposal((fact,), moved=(old, now.id))
    if across is None or (scene.claim_due and scene.discard_hidden()):
        return None
    if scene.patient and not scene.unexplained(Zone.RIVER, seat):
        return None  # but who has thrown a tile since has surely claimed before
    late = _late_claim(scene, seat, group, across, kind)
    return late or _unseen_discard(scene, seat, group, across, kind)


def _taken_by_another(scene: Scene, seat: int) -> bool:
    """Whether another seat has laid down something that the missing discard may be part of."""
    return any(
        not is_flower(tile)
        for other in range(scene.seats)
        for tile in scene.unexplained(Zone.EXPOSED, other)
        if other != seat
    )


def incomplete(scene: Scene) -> Proposal | None:
    """Two tiles before a seat and a discard gone: a set of which the third tile is not seen."""
    taken = scene.taken_discard()
    if taken is None or scene.claim_due:
        return None
    giver, old = taken
    discarded = scene.felt.tiles[old]
    for seat in scene.in_turn_order():
        fresh = [t for t in scene.unexplained(Zone.EXPOSED, seat) if not is_flower(t)]
        if seat == giver or len(fresh) != 2 or any(t.face_down for t in fresh):
            continue
        xs = sorted(scene.geometry.to_seat(seat, t.x, t.y)[0] for t in fresh)
        if xs[1] - xs[0] > _SET_SPAN:
            continue
        x = (xs[0] + xs[1]) / 2 if xs[1] - xs[0] > _HOLE_IN_SET else xs[0] - 1.02
        place = scene.geometry.to_table(seat, x, sum(scene.geometry.exposed) / 2)
        now = max(fresh, key=lambda tile: likeness(tile, discarded) * _CLAIMED[tile.sideways])
        if likeness(now, discarded) < 0.5 or not now.sideways:  # the claimed tile is the unseen one
            ids = (old, *_ids(fresh))
            fact = Fact("meld", scene.t, seat=seat, tiles=ids, source=giver, claimed=old)
            return Proposal((fact,), unseen=(old, Zone.EXPOSED, seat, place))
        ids = tuple(old if tile is now else tile.id for tile in fresh)
        fact = Fact(
            "meld", scene.t, seat=seat, tiles=(*ids, ASSUMED), source=giver, claimed=old
        )  # fmt: skip
        return Proposal((fact,), moved=(old, now.id), assumed=place)
    return None


def _late_claim(
    scene: Scene, seat: int, group: Sequence[FeltTile], across: FeltTile, kind: SetKind
) -> Proposal | None:
    """The set was seen only after later discards: an older discard of its face has gone."""
    for giver, river in enumerate(scene.layout.rivers):
        for old in reversed(river[-_LATELY:] if giver != seat else []):
            discarded = scene.felt.tiles[old]
            if old in scene.felt.present or likeness(across, discarded) < 0.5:
                continue
            ids = tuple(old if tile is across else tile.id for tile in group)
            fact = Fact(
                "meld", scene.t, seat=seat, tiles=ids, meld=kind, source=giver, claimed=old
            )  # fmt: skip
            return Proposal((fact,), moved=(old, across.id), late=True)
    return None


def _unseen_discard(
    scene: Scene, seat: int, group: Sequence[FeltTile], across: FeltTile, kind: SetKind
) -> Proposal:
    """The discard was claimed before it could be read: who gave it shows in the set.

    The tile that lies across stands on the side of its giver: left the seat before, right the seat
    after, in between the one opposite.
    """
    place = list(group).index(across)
    if kind == "claim" and any(likeness(tile, across) < 0.1 for tile in group):
        giver = (seat - 1) % scene.seats  # a chow comes only from the seat before
    elif scene.turn is not None and scene.turn != seat:
        giver = scene.turn
    elif place == 0:
        giver = (seat - 1) % scene.seats
    elif place == len(group) - 1:
        giver = (seat + 1) % scene.seats
    else:
        giver = (seat + scene.seats // 2) % scene.seats
    discard = Fact("discard", scene.t, seat=giver, tiles=(across.id,))
    fact = Fact(
        "meld", scene.t, seat=seat, tiles=_ids(group), meld=kind,
        source=giver, claimed=across.id,
    )  # fmt: skip
    return Proposal((discard, fact))


def discard(scene: Scene) -> Proposal | None:
    """A new tile in a river, the seat in turn first; a claim under way comes before it."""
    if scene.claim_due and scene.taken_discard() is not None:
        return None
    for seat in scene.in_turn_order():
        if seat != scene.turn and (scene.patient or _lays_a_set(scene, seat)):
            return None
        fresh = _Lying(t for t in scene.unexplained(Zone.RIVER, seat) if not t.face_down)
        first = fresh.back(groups.river_order(fresh.seen, seat, scene.geometry)[:1])
        if first:
            return Proposal((Fact("discard", scene.t, seat=seat, tiles=_ids(first)),))
    return None


def _lays_a_set(scene: Scene, seat: int) -> bool:
    """Whether tiles before a seat still wait to be explained as a set, which comes first."""
    fresh = scene.unexplained(Zone.EXPOSED, seat)
    return scene.claim_due and any(not is_flower(tile) for tile in fresh)


def likeness(a: FeltTile, b: FeltTile) -> float:
    """How likely two tiles have the same face."""
    return sum(p * b.effective.get(name, 0.0) for name, p in a.effective.items())


def _ids(tiles: Iterable[FeltTile]) -> tuple[int, ...]:
    return tuple(tile.id for tile in tiles)


def open_hand(
    tiles: Sequence[FeltTile], seat: int, geometry: TableGeometry
) -> tuple[list[FeltTile], FeltTile | None]:
    """A hand laid open: its tiles from the left, and the one set apart if there is one."""
    lying = _Lying(tiles)
    hand = groups.open_hand(lying.seen, seat, geometry)
    apart = [] if hand.winning is None else lying.back([hand.winning])
    return lying.back(hand.tiles), apart[0] if apart else None
