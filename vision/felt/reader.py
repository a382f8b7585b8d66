"""The felt reader: looks where the gate points, keeps the map of tiles, says when it has changed.

A tile is keyed by its place. It counts once it has been seen in several pictures at rest; unsure
tiles are looked at more often. A place loses its tile when a look finds none there *and* the felt
is bare or another tile lies over it: what a hand hides stays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import BACK
from vision.calibration import Calibration
from vision.detector.plain import WHITE, Colours, colours_of
from vision.detector.sizes import NEIGHBOURS
from vision.felt.bare import FeltColour
from vision.felt.finder import Placer, Sighting, TileFinder, thin_out
from vision.felt.place import Place
from vision.felt.unread import Suspect, UnreadFinder, nowhere_near, perhaps
from vision.gate import Box, GateResult
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile, TableReading
from vision.sources.frame import Frame

_APART: Final = 0.85
"""Tile widths between the middles of two lying tiles, at least; 1 but for errors of measuring."""

_APART_IN_MELDS: Final = 0.75
"""The same among melds: a wall hides up to half of a grown kong's fourth tile, and the middle is
that of what is seen."""


@dataclass(frozen=True)
class FeltOptions:
    """Settings of the reader.

    Attributes:
        looks: pictures in which a tile must be seen before it counts.
        max_looks: an unsure tile is looked at so often, and then reported as it is; what was not
            seen ``looks`` times by then is no tile, until something changes there.
        sure: confidence from which no further look is needed.
        min_existence: a place is reported when it is a tile with at least this probability.
        gone_looks: looks at bare felt after which a tile has gone.
        hidden_s: a tile that is neither seen nor bare is given up after so long without motion.
        relook_s: pause between looks at such a place.
        hold_s: a change is told once all is settled, or after so long with what is settled then:
            one doubtful tile must not hold up the rest of the table.
    """

    looks: int = 2
    max_looks: int = 4
    sure: float = 0.9
    min_existence: float = 0.6
    gone_looks: int = 2
    hidden_s: float = 3.0
    relook_s: float = 0.5
    hold_s: float = 0.5


@dataclass
class FeltCounters:
    """What the reader has done since the start."""

    looks: int = 0
    regions: int = 0
    detect_s: float = 0.0
    pixels: int = 0
    last_detect_ms: float = 0.0
    history_ms: list[float] = field(default_factory=list)

    def note(self, seconds: float, pixels: int) -> None:
        """Count one call of the recogniser."""
        self.looks += 1
        self.detect_s += seconds
        self.pixels += pixels
        self.last_detect_ms = seconds * 1000
        self.history_ms = [*self.history_ms[-199:], seconds * 1000]


class FeltReader:
    """Keeps the map of tiles; deterministic in the pictures and the finder.

    Args:
        calibration: of the camera.
        geometry: of the table.
        finder: recognises tiles.
        options: see :class:`FeltOptions`.
    """

    def __init__(
        self,
        calibration: Calibration,
        geometry: TableGeometry,
        finder: TileFinder,
        options: FeltOptions | None = None,
    ) -> None:
        self._calibration = calibration
        self._geometry = geometry
        self._finder = finder
        self._options = options or FeltOptions()
        self._placer = Placer(calibration, geometry)
        self._places: list[Place] = []
        self._ghosts: list[Place] = []
        self._suspects: list[Suspect] = []
        self._unread = UnreadFinder(calibration, geometry, self._placer)
        self._changed = True
        self._changed_at: float | None = None
        self._read_once = False
        self._seq = 0
        self.counters = FeltCounters()

    def process(self, frame: Frame, gate: GateResult) -> TableReading | None:
        """Look where it is needed; a reading when the map changed and is complete."""
        for region in gate.regions:
            self._begin(region.box)
        boxes = [self._grown(region.box) for region in gate.regions]
        self.counters.regions += len(boxes)
        self._read_once |= bool(boxes)
        boxes += [self._grown(self._box_of(p)) for p in self._unsettled(gate, frame.t)]
        boxes += [self._grown(s.box_px) for s in self._suspects if s.last_look < frame.t]
        if boxes:
            self._look(frame, gate, _merged(boxes))
        return self._reading(frame.t, gate)

    def _begin(self, box: Box) -> None:
        """Something changed here: old doubts count no longer."""
        for place in self._places:
            if _overlap(self._box_of(place), box):
                place.tries = 0
        kept = [g for g in self._ghosts if not _overlap(self._box_of(g), box)]
        self._ghosts = kept

    @property
    def places(self) -> tuple[Place, ...]:
        """The map as it is, unconfirmed places included."""
        return tuple(self._places)

    # Where to look.

    def _grown(self, box: Box) -> Box:
        """A box with all tiles that reach into it, and a margin, inside the picture."""
        margin = 0.7 * self._geometry.tile_length * self._calibration.tile_px()
        x1, y1, x2, y2 = box
        for other in (self._box_of(place) for place in self._places):
            if _overlap(box, other):
                x1, y1 = min(x1, other[0]), min(y1, other[1])
                x2, y2 = max(x2, other[2]), max(y2, other[3])
        width, height = self._calibration.image_size
        return (
            max(0, int(x1 - margin)),
            max(0, int(y1 - margin)),
            min(width, int(x2 + margin)),
            min(height, int(y2 + margin)),
        )

    def _box_of(self, place: Place) -> Box:
        """Bounding box of a tile in px."""
        return self._placer.box(place.x, place.y, place.rotation)

    def _unsettled(self, gate: GateResult, t: float) -> list[Place]:
        """Places that need another look and can be seen now."""
        return [
            place
            for place in self._places
            if self._wants_look(place, t) and not self._covered(place, gate)
        ]

    def _wants_look(self, place: Place, t: float) -> bool:
        options = self._options
        if place.last_look >= t:
            return False
        if place.hidden:
            return t - place.last_look >= options.relook_s
        return place.misses > 0 or not self._settled(place)

    def _settled(self, place: Place) -> bool:
        options = self._options
        if place.misses:
            return False
        if not place.reported:
            # The back of a wall or of a standing hand: nobody asks for it.
            return True
        if place.looks < options.looks:
            return False
        enough = max(place.looks, place.tries) >= options.max_looks
        return enough or place.confidence >= options.sure

    def _covered(self, place: Place, gate: GateResult) -> bool:
        footprint = self._placer.footprint(place.x, place.y, place.rotation, share=1.0)
        return gate.moves_at(footprint)

    # Looking.

    def _look(self, frame: Frame, gate: GateResult, boxes: Sequence[Box]) -> None:
        sightings: list[Sighting] = []
        for box in boxes:
            sightings += self._detect(frame, box)
        w = self._geometry.tile_width_mm
        sightings = [
            s
            for s in thin_out(sightings, lambda s: _apart(s) * w)
            if not gate.moves_at(self._placer.footprint(s.x, s.y, s.rotation, share=1.0))
        ]
        judged = [p for p in self._places if self._inside(p, boxes) and not self._covered(p, gate)]
        unmatched = self._match(sightings, judged, frame.t)
        unmatched = [s for s in unmatched if not self._is_ghost(s)]
        self._drop_overlapped(unmatched)
        for sighting in unmatched:
            self._places.append(Place.of(sighting, frame.t))
            self._changed = True
        felt = FeltColour(frame.image, self._calibration)
        for place in judged:
            if place.last_look < frame.t and place in self._places:
                self._miss(place, felt, frame.t)
        self._look_for_unread(frame, gate, boxes, felt)

    def _detect(self, frame: Frame, box: Box) -> list[Sighting]:
        x1, y1, x2, y2 = box
        crop = np.ascontiguousarray(frame.image[y1:y2, x1:x2])
        middle = self._calibration.to_table([((x1 + x2) / 2, (y1 + y2) / 2)])[0]
        tile_px = self._calibration.tile_px(float(middle[0]), float(middle[1]))
        least = self._placer.least_area(box)
        start = time.perf_counter()
        detections = self._finder.detect(
            crop, tile_px=tile_px, least_area=least, colours=self._colours(frame, middle)
        )
        self.counters.note(time.perf_counter() - start, crop.shape[0] * crop.shape[1])
        placed = (self._placer.place(detection, box) for detection in detections)
        return [sighting for sighting in placed if sighting is not None]

    def _colours(self, frame: Frame, middle: NDArray[np.float64]) -> Colours | None:
        """How tiles look in this picture nearest to a place (table mm) that is looked at."""
        sure = [p for p in self._places if p.confidence >= self._options.sure and not p.hidden]
        sure.sort(key=lambda p: math.hypot(p.x - middle[0], p.y - middle[1]))
        faces = [p for p in sure if p.best not in (WHITE, BACK)][:NEIGHBOURS]
        backs = [p for p in sure if p.best == BACK][:NEIGHBOURS]
        boxes = [[np.array(self._box_of(p), np.float32) for p in some] for some in (faces, backs)]
        return colours_of(frame.image, *boxes)

    def _inside(self, place: Place, boxes: Iterable[Box]) -> bool:
        return _within(self._box_of(place), boxes)

    def _match(
        self, sightings: Sequence[Sighting], judged: Sequence[Place], t: float
    ) -> list[Sighting]:
        """Give each sighting to the nearest place; returns those without one."""
        limit = 0.45 * self._geometry.tile_width_mm
        pairs = sorted(
            (
                (place.distance(sighting), i, j)
                for i, sighting in enumerate(sightings)
                for j, place in enumerate(judged)
                if place.distance(sighting) < limit
            ),
        )
        used: set[int] = set()
        taken: set[int] = set()
        for _, i, j in pairs:
            if i in used or j in taken:
                continue
            used.add(i)
            taken.add(j)
            self._see(judged[j], sightings[i], t)
        return [s for i, s in enumerate(sightings) if i not in used]

    def _see(self, place: Place, sighting: Sighting, t: float) -> None:
        wavering = place.tries >= self._options.max_looks
        if not wavering and (not place.same_tile(sighting) or _turned(place, sighting)):
            # Another tile, or the same turned: it must prove itself anew.
            fresh = Place.of(sighting, t)
            fresh.tries = place.tries + 1
            self._places[self._places.index(place)] = fresh
            place.last_look = t
            self._changed = True
            return
        before = (place.best, place.looks, self._settled(place))
        place.see(sighting, t)
        settles = self._settled(place) and not before[2]
        self._changed |= before[0] != place.best or before[1] < self._options.looks or settles

    def _drop_overlapped(self, fresh: Sequence[Sighting]) -> None:
        """Two tiles can't share a place: the one seen now is there, so the old one is not."""
        w = self._geometry.tile_width_mm
        kept = [p for p in self._places if all(p.distance(s) >= _apart(s) * w for s in fresh)]
        self._changed |= len(kept) != len(self._places)
        self._places = kept

    def _miss(self, place: Place, felt: FeltColour, t: float) -> None:
        place.miss(t)
        if place.reported and place.looks < self._options.looks:
            if place.tries >= self._options.max_looks:
                # It never counted, and more looks would not settle it.
                self._places.remove(place)
                self._ghosts.append(place)
            return
        bare = felt.bare(self._placer.footprint(place.x, place.y, place.rotation))
        if place.unread and not bare:
            place.misses = 0  # it was never seen; it lies there as before
            return
        place.hidden = not bare
        given_up = t - place.missed_since >= self._options.hidden_s
        if (bare and place.misses >= self._options.gone_looks) or (not bare and given_up):
            self._places.remove(place)
            self._changed = True

    def _look_for_unread(
        self, frame: Frame, gate: GateResult, boxes: Sequence[Box], felt: FeltColour
    ) -> None:
        """What lies there like a tile, look after look, and is never found, is a tile unread."""
        things = [
            thing
            for box in boxes
            for thing in self._unread.find(frame.image, box, felt, self._places)
            if not gate.moves_at(self._placer.footprint(thing.x, thing.y, thing.rotation))
        ]
        reach = 0.6 * self._geometry.tile_width_mm
        things = nowhere_near(things, ((p.x, p.y) for p in self._places), reach)
        kept = [s for s in self._suspects if not _within(s.box_px, boxes)]
        for thing in things:
            if not nowhere_near([thing], ((s.x, s.y) for s in kept), reach):
                continue  # seen in two overlapping boxes
            before = (s for s in self._suspects if not nowhere_near([thing], [(s.x, s.y)], reach))
            looks = 1 + max((s.looks for s in before), default=0)
            kept.append(Suspect.of(thing, looks, frame.t))
        self._suspects = [s for s in kept if s.looks < self._options.max_looks]
        for suspect in kept:
            if suspect.looks >= self._options.max_looks:
                kinds, _ = self._finder.classify(frame.image, [suspect.thing.box])
                may_be = perhaps(np.asarray(kinds[0], dtype=float), suspect.thing.zone)
                self._places.append(suspect.place(may_be, frame.t))
                self._changed = True

    def _is_ghost(self, sighting: Sighting) -> bool:
        limit = 0.5 * self._geometry.tile_width_mm
        return any(ghost.distance(sighting) < limit for ghost in self._ghosts)

    # Telling.

    def _reading(self, t: float, gate: GateResult) -> TableReading | None:
        if not self._changed or not self._read_once:
            return None
        if self._changed_at is None:
            self._changed_at = t
        covered = [p for p in self._places if self._covered(p, gate)]
        if t - self._changed_at < self._options.hold_s and self._waits(covered):
            return None
        self._changed, self._changed_at = False, None
        reading = TableReading(
            t=t,
            seq=self._seq,
            tiles=self.tiles(),
            covered=_areas([*covered, *(p for p in self._places if p.hidden)]),
        )
        self._seq += 1
        return reading

    def _waits(self, covered: Sequence[Place]) -> bool:
        """Whether some tile in plain sight needs another look."""
        return any(
            place.reported and not place.hidden and not self._settled(place)
            for place in self._places
            if place not in covered
        )

    def tiles(self) -> tuple[SeenTile, ...]:
        """Every confirmed tile that readings show, in order of seat, zone and place."""
        options = self._options
        counted = [
            p
            for p in self._places
            if p.reported and p.looks >= options.looks and p.existence >= options.min_existence
        ]
        counted.sort(key=lambda p: (-1 if p.seat is None else p.seat, p.zone, p.x, p.y))
        return tuple(p.seen_tile(self._geometry) for p in counted)


def _turned(place: Place, sighting: Sighting) -> bool:
    """Whether the tile now lies across how it lay (half turns are within a look's error)."""
    turn = abs((sighting.rotation - place.rotation + 90) % 180 - 90)
    return turn > 35


def _areas(places: Iterable[Place]) -> tuple[tuple[Zone, int | None], ...]:
    areas = {(p.zone, p.seat) for p in places}
    return tuple(sorted(areas, key=lambda a: (a[0], -1 if a[1] is None else a[1])))


def _within(inner: Box, boxes: Iterable[Box]) -> bool:
    x1, y1, x2, y2 = inner
    return any(x1 >= b[0] and y1 >= b[1] and x2 <= b[2] and y2 <= b[3] for b in boxes)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _apart(sighting: Sighting) -> float:
    """Tile widths from a sighting to any other tile, at least."""
    return _APART_IN_MELDS if sighting.zone is Zone.EXPOSED else _APART


def _merged(boxes: Sequence[Box]) -> list[Box]:
    """Join boxes where one larger box costs hardly more than the parts."""
    merged: list[Box] = []
    for new in sorted(boxes):
        box = new
        joined = True
        while joined:
            joined = False
            for other in merged:
                union = (
                    min(box[0], other[0]),
                    min(box[1], other[1]),
                    max(box[2], other[2]),
                    max(box[3], other[3]),
                )
                if _area(union) <= 1.2 * (_area(box) + _area(other)):
                    merged.remove(other)
                    box, joined = union, True
                    break
        merged.append(box)
    return merged
