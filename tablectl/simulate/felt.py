"""Where every tile of a simulated hand lies: the events of a fully known hand, as placed tiles.

Players are tidy but not machines: every tile lies a little off its slot. A claimed tile lies across
on the side of its giver; a closed kong has its outer tiles face down; a grown kong's fourth tile
lies across above the third; the winning tile of an own draw lies apart from the hand.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tablectl.engine.events import (
    Discard,
    Draw,
    Event,
    Flower,
    Indicator,
    Joy,
    Meld,
    Reveal,
    Start,
    Win,
)
from tablectl.tiles import Tile, format_tile, parse_tile, parse_tiles
from vision.geometry import TableGeometry
from vision.render.scene import Hand, Pose, Scene, SceneTile

_JITTER: Final = 0.035
_TURN: Final = 1.6
_MELD_GAP: Final = 0.85
_APART: Final = 0.9


@dataclass(frozen=True)
class Placed:
    """A tile in a seat's frame: position in tile widths, ``turn`` clockwise from upright."""

    tile: Tile
    seat: int
    x: float
    y: float
    turn: float = 0.0
    pose: Pose = Pose.FLAT_UP
    level: int = 0


@dataclass(frozen=True)
class LyingFace:
    """A tile lying face up: what it is, and its centre in table mm."""

    tile: str
    x: float
    y: float


@dataclass(frozen=True)
class TableLook:
    """What a person who looks at the table sees.

    Attributes:
        faces: every tile that lies face up.
        drawn_last: the tile that a winner laid apart from the hand, by seat.
        won_from: who gave the winning tile, None for an own draw, by the seat that has won.
        wall: tiles left in the wall.
    """

    faces: tuple[LyingFace, ...]
    drawn_last: Mapping[int, LyingFace]
    won_from: Mapping[int, int | None]
    wall: int = 0

    def face_at(self, x: float, y: float, reach: float) -> str | None:
        """The tile nearest to a point in table mm; None where none lies within ``reach`` mm."""
        distance, face = min(
            ((math.hypot(f.x - x, f.y - y), f.tile) for f in self.faces), default=(math.inf, "")
        )
        return face if distance <= reach else None


@dataclass
class _Meld:
    kind: str
    placed: list[Placed]
    across: int | None


@dataclass
class SimulatedFelt:
    """The physical table during one hand."""

    geometry: TableGeometry
    seats: int
    total: int
    rng: random.Random
    hands: list[list[Tile]] = field(default_factory=list)
    rivers: list[list[Placed]] = field(default_factory=list)
    melds: list[list[_Meld]] = field(default_factory=list)
    flowers: list[list[Placed]] = field(default_factory=list)
    open_hands: dict[int, list[Placed]] = field(default_factory=dict)
    drawn_last: dict[int, Placed] = field(default_factory=dict)
    won_from: dict[int, int | None] = field(default_factory=dict)
    indicator: Placed | None = None
    dice: tuple[int, int] | None = None
    walls_up: bool = False
    panel_open: bool = False
    turn: int | None = None
    _wall: list[Placed] = field(default_factory=list)
    _slots: list[int] = field(default_factory=list)
    _meld_edge: list[float] = field(default_factory=list)
    _last: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing on the felt."""
        self.hands = [[] for _ in range(self.seats)]
        self.rivers = [[] for _ in range(self.seats)]
        self.melds = [[] for _ in range(self.seats)]
        self.flowers = [[] for _ in range(self.seats)]
        self.open_hands = {}
        self.drawn_last, self.won_from = {}, {}
        self.indicator, self.turn, self._last = None, None, None
        self._slots = [0] * self.seats
        self._meld_edge = [self.geometry.exposed[0] - 0.2] * self.seats
        self._wall = []

    def raise_walls(self, break_at: int) -> None:
        """The walls come up; ``break_at`` is the stack, clockwise from seat 0's right, drawn first.

        The list holds the tiles in the order in which they are drawn: clockwise, top before bottom.
        """
        self.clear()
        stacks = self.total // 2
        per_side = [stacks // self.seats + (i < stacks % self.seats) for i in range(self.seats)]
        ring: list[Placed] = []
        y = (self.geometry.wall[0] + self.geometry.wall[1]) / 2
        for side in (-i % self.seats for i in range(self.seats)):
            half = (per_side[side] - 1) / 2
            for n in range(per_side[side]):
                ring += [
                    Placed(Tile(0), side, half - n, y, pose=Pose.FLAT_DOWN, level=level)
                    for level in (1, 0)
                ]
        start = 2 * (break_at % stacks)
        self._wall = ring[start:] + ring[:start]
        self.walls_up = True

    def apply(self, event: Event) -> list[tuple[int, float, float]]:
        """Do what an event says.

        Returns:
            Where hands were busy, as (seat, x, y) in that seat's frame, in order.
        """
        match event:
            case Start():
                self.hands = [list(parse_tiles(h)) for h in event.hands or []]
                del self._wall[: sum(map(len, self.hands))]
                self.turn = event.dealer
                return []
            case Indicator():
                return [self._turn_up(parse_tile(event.tile))]
            case Draw():
                return self._draw(event)
            case Discard():
                return [self._discard(event)]
            case Flower():
                return [self._flower(event)]
            case Meld():
                return self._meld(event)
            case Joy():
                return [self._joy(event)]
            case Win():
                return self._win(event)
            case Reveal():
                return [self._open(event.seat, sorted(self.hands[event.seat]), None)]
            case _:
                return []

    def scene(self, busy: Iterable[Hand] = (), held: Iterable[SceneTile] = ()) -> Scene:
        """What the camera sees now, with hands over the table and tiles in them."""
        tiles = [self._scene_tile(p) for p in self._wall] if self.walls_up else []
        if self.indicator is not None:
            tiles.append(self._scene_tile(self.indicator))
        for seat in range(self.seats):
            tiles += map(self._scene_tile, self.rivers[seat])
            tiles += map(self._scene_tile, self.flowers[seat])
            tiles += [self._scene_tile(p) for meld in self.melds[seat] for p in meld.placed]
            shown = self.open_hands.get(seat) or self._standing(seat)
            tiles += map(self._scene_tile, shown)
        return Scene(
            tiles=(*tiles, *held), hands=tuple(busy), dice=self.dice, panel_open=self.panel_open,
            active_seat=self.turn,
        )  # fmt: skip

    def look(self) -> TableLook:
        """What a person who looks at the table sees."""
        faces = tuple(
            LyingFace(format_tile(tile.tile), tile.x_mm, tile.y_mm)
            for tile in self.scene().tiles if tile.pose is Pose.FLAT_UP
        )  # fmt: skip
        drawn = {
            seat: LyingFace(format_tile(p.tile), *self.geometry.to_table(p.seat, p.x, p.y))
            for seat, p in self.drawn_last.items()
        }  # fmt: skip
        return TableLook(faces, drawn, dict(self.won_from), len(self._wall))

    def face_at(self, x_mm: float, y_mm: float) -> Tile | None:
        """True face of the lying tile nearest to a point, within half a tile."""
        face = self.look().face_at(x_mm, y_mm, 0.6 * self.geometry.tile_width_mm)
        return None if face is None else parse_tile(face)

    # --- single actions ---

    def _turn_up(self, tile: Tile) -> tuple[int, float, float]:
        where = len(self._wall) - 2 * self.rng.randint(2, 8)
        where -= 0 if self._wall[where].level == 1 else 1
        spot = self._wall.pop(where)
        self.indicator = Placed(tile, spot.seat, spot.x, spot.y, level=1)
        return spot.seat, spot.x, spot.y

    def _draw(self, event: Draw) -> list[tuple[int, float, float]]:
        spot = self._wall.pop(-1 if event.source == "tail" else 0)
        if event.tile is not None:
            self.hands[event.seat].append(parse_tile(event.tile))
        self.turn = event.seat
        x_mm, y_mm = self.geometry.to_table(spot.seat, spot.x, spot.y)
        return [(event.seat, *self.geometry.to_seat(event.seat, x_mm, y_mm))]

    def _discard(self, event: Discard) -> tuple[int, float, float]:
        tile, seat = parse_tile(event.tile), event.seat
        self.hands[seat].remove(tile)
        x, y = self.geometry.river_slot(self._slots[seat])
        self.rivers[seat].append(self._laid(tile, seat, x, y))
        self._last = (seat, self._slots[seat])
        self._slots[seat] += 1
        self.turn = (seat + 1) % self.seats
        return seat, x, y

    def _flower(self, event: Flower) -> tuple[int, float, float]:
        tile, seat = parse_tile(event.tile), event.seat
        self.hands[seat].remove(tile)
        x = -self.geometry.exposed[0] + 0.4 + 1.06 * len(self.flowers[seat])
        y = sum(self.geometry.exposed) / 2
        self.flowers[seat].append(self._laid(tile, seat, x, y))
        return seat, x, y

    def _meld(self, event: Meld) -> list[tuple[int, float, float]]:
        tiles, seat = list(parse_tiles(event.tiles)), event.seat
        if event.kind == "added_kong":
            return [self._grow(seat, tiles[0])]
        visits: list[tuple[int, float, float]] = []
        if event.source is not None:
            claimed, place = self._take_last(event.source)
            visits.append((seat, *self._in_frame(seat, place)))
            rest = list(tiles)
            rest.remove(claimed)
            for tile in rest:
                self.hands[seat].remove(tile)
            tiles, across = self._arrange(rest, claimed, seat, event.source)
        else:
            across = None
            for tile in tiles:
                self.hands[seat].remove(tile)
        meld = self._lay_set(seat, event.kind, tiles, across)
        self.melds[seat].append(meld)
        self.turn = seat
        middle = meld.placed[len(meld.placed) // 2]
        return [*visits, (seat, middle.x, middle.y)]

    def _joy(self, event: Joy) -> tuple[int, float, float]:
        """Three dragons or four winds from the hand; nobody's turn changes (LM6)."""
        tiles, seat = list(parse_tiles(event.tiles)), event.seat
        for tile in tiles:
            self.hands[seat].remove(tile)
        meld = self._lay_set(seat, "joy", tiles, None)
        self.melds[seat].append(meld)
        return seat, meld.placed[1].x, meld.placed[1].y

    def _arrange(
        self, rest: list[Tile], claimed: Tile, seat: int, source: int
    ) -> tuple[list[Tile], int]:
        """Tiles from left to right, and where the claimed one lies among them."""
        if source == (seat - 1) % self.seats:
            return [claimed, *sorted(rest)], 0
        if source == (seat + 1) % self.seats:
            return [*sorted(rest), claimed], len(rest)
        return [rest[0], claimed, *rest[1:]], 1

    def _lay_set(self, seat: int, kind: str, tiles: list[Tile], across: int | None) -> _Meld:
        length = self.geometry.tile_length
        widths = [length if i == across else 1.0 for i in range(len(tiles))]
        left = self._meld_edge[seat] - sum(widths) - 0.02 * len(tiles)
        self._meld_edge[seat] = left - _MELD_GAP
        y = sum(self.geometry.exposed) / 2
        placed = []
        for i, (tile, width) in enumerate(zip(tiles, widths, strict=True)):
            down = kind == "closed_kong" and i in (0, 3)
            placed.append(
                self._laid(
                    tile, seat, left + width / 2, y + ((length - 1) / 2 if i == across else 0.0),
                    turn=90.0 if i == across else 0.0,
                    pose=Pose.FLAT_DOWN if down else Pose.FLAT_UP, tight=True,
                )
            )  # fmt: skip
            left += width + 0.02
        return _Meld(kind, placed, across)

    def _grow(self, seat: int, tile: Tile) -> tuple[int, float, float]:
        self.hands[seat].remove(tile)
        meld = next(
            m for m in self.melds[seat] if m.kind == "pung" and m.placed[0].tile == tile
        )  # fmt: skip
        assert meld.across is not None
        below = meld.placed[meld.across]
        meld.placed.append(
            self._laid(tile, seat, below.x, below.y - 1.03, turn=90.0, tight=True)
        )  # fmt: skip
        meld.kind = "added_kong"
        return seat, below.x, below.y - 1.03

    def _win(self, event: Win) -> list[tuple[int, float, float]]:
        seat = event.seat
        hand = sorted(parse_tiles(event.hand))
        visits: list[tuple[int, float, float]] = []
        apart: Tile | None = None
        if event.tile is not None and event.source is None:
            apart = parse_tile(event.tile)
        elif event.by == "discard" and event.source is not None and self.rng.random() < 0.5:
            apart, place = self._take_last(event.source)
            visits.append((seat, *self._in_frame(seat, place)))
        self.turn = None
        self.won_from[seat] = event.source
        return [*visits, self._open(seat, hand, apart)]

    def _open(self, seat: int, hand: list[Tile], apart: Tile | None) -> tuple[int, float, float]:
        """Lay a hand open, the tile drawn last apart from it."""
        x = -len(hand) / 2 * 1.02
        y = sum(self.geometry.rack) / 2
        laid = [
            self._laid(tile, seat, x + 1.02 * (i + 0.5), y, tight=True)
            for i, tile in enumerate(hand)
        ]  # fmt: skip
        if apart is not None:
            laid.append(self._laid(apart, seat, laid[-1].x + 1.0 + _APART, y, tight=True))
            self.drawn_last[seat] = laid[-1]
        self.open_hands[seat] = laid
        return seat, 0.0, y

    def _take_last(self, source: int) -> tuple[Tile, Placed]:
        place = self.rivers[source].pop()
        self._slots[source] -= 1
        return place.tile, place

    def _in_frame(self, seat: int, place: Placed) -> tuple[float, float]:
        return self.geometry.to_seat(seat, *self.geometry.to_table(place.seat, place.x, place.y))

    def _standing(self, seat: int) -> list[Placed]:
        hand = sorted(self.hands[seat])
        y = self.geometry.rack[0] + 0.95
        first = -(len(hand) - 1) / 2
        return [Placed(tile, seat, first + i, y, pose=Pose.STANDING) for i, tile in enumerate(hand)]

    def _laid(
        self, tile: Tile, seat: int, x: float, y: float, *, turn: float = 0.0,
        pose: Pose = Pose.FLAT_UP, tight: bool = False,
    ) -> Placed:  # fmt: skip
        """A tile laid by hand: a little off; ``tight`` rows are pushed together afterwards."""
        off = 0.2 if tight else 1.0
        return Placed(
            tile, seat, x + off * self.rng.gauss(0, _JITTER), y + self.rng.gauss(0, _JITTER),
            turn + self.rng.gauss(0, _TURN) * (0.5 if tight else 1.0), pose,
        )  # fmt: skip

    def _scene_tile(self, placed: Placed) -> SceneTile:
        x_mm, y_mm = self.geometry.to_table(placed.seat, placed.x, placed.y)
        rotation = (self.geometry.seat_angle(placed.seat) + placed.turn) % 360.0
        return SceneTile(placed.tile, x_mm, y_mm, rotation, placed.pose, placed.level)
