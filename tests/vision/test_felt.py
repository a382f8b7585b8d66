"""The felt reader on rendered tables, with a recogniser that knows the truth and errs a little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from vision.calibration import Calibration
from vision.eye import EyeCore, EyeMessage
from vision.felt.finder import Sighting
from vision.felt.groups import exposed, indicators, open_hand, river_order
from vision.felt.place import Place
from vision.geometry import Zone
from vision.messages import SightChange, TableReading
from vision.render.camera import CameraPose
from vision.render.scene import Hand
from vision.render.style import Style
from vision.sources import Frame

from .felt_world import (
    GEOMETRY,
    TruthDetector,
    World,
    lay,
    river,
    row,
    standing_hands,
    walls,
)


@cache
def prepared(roll: float = 0.0) -> tuple[World, Calibration]:
    style = Style(camera=CameraPose(k1=-0.03, tilt_deg=2.0, roll_deg=roll))
    world = World(style, size=(1280, 720))
    return world, world.calibrate()


@dataclass
class Table:
    """A world with an eye over it, and everything the eye has said."""

    world: World
    core: EyeCore
    detector: TruthDetector
    messages: list[EyeMessage]

    def see(self, frames: Iterable[Frame]) -> list[TableReading]:
        """Show pictures; the readings that follow."""
        new: list[EyeMessage] = []
        for frame in frames:
            new += self.core.process(frame)
        self.messages += new
        return [m for m in new if isinstance(m, TableReading)]

    def rest(self, count: int = 7) -> list[TableReading]:
        return self.see(self.world.frames(count))

    @property
    def reading(self) -> TableReading:
        return [m for m in self.messages if isinstance(m, TableReading)][-1]


def table(roll: float = 0.0, **errors: Any) -> Table:
    world, calibration = prepared(roll)
    world.reset()
    detector = TruthDetector(world, **errors)
    return Table(world, EyeCore(calibration, GEOMETRY, detector), detector, [])


def rivers(reading: TableReading, seat: int) -> list[str]:
    return [t.best for t in river_order(reading.tiles, seat, GEOMETRY)]


@pytest.mark.parametrize("roll", [0.0, 180.0])
def test_a_whole_table(roll: float) -> None:
    """All zones of all seats, whichever way up the camera is mounted."""
    t = table(roll, jitter_px=0.7)
    t.world.put(*walls(), *standing_hands())
    for seat, discards in enumerate(("123m456p78s", "1z2z3z", "99s", "5z6z7z1p")):
        t.world.put(*river(seat, discards))
        t.world.put(*row(seat, 11.6, ["<2p", "2p", "2p"], 4.0))
        t.world.put(*row(seat, 11.6, ["1f", "5f"], -8.0))
    t.world.put(*row(1, 11.6, ["back", "3s", "3s", "back"], -1.5))
    t.world.put(lay(2, 9 * 1.02, 9.7, "8p", level=1))
    (reading,) = t.rest(9)
    assert rivers(reading, 0) == ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s"]
    assert rivers(reading, 1) == ["1z", "2z", "3z"]
    assert rivers(reading, 2) == ["9s", "9s"]
    assert rivers(reading, 3) == ["5z", "6z", "7z", "1p"]
    for seat in range(4):
        laid = exposed(reading.tiles, seat, GEOMETRY)
        assert [f.best for f in laid.flowers] == ["1f", "5f"]
        assert laid.melds[-1].kind == "pung"
        assert laid.melds[-1].giver(seat) == (seat + 3) % 4
        assert [m.kind for m in laid.melds[:-1]] == (["closed_kong"] if seat == 1 else [])
    assert [i.best for i in indicators(reading.tiles)] == ["8p"]
    assert {tile.zone for tile in reading.tiles} == {Zone.RIVER, Zone.EXPOSED, Zone.WALL}
    upright = [tile for tile in reading.tiles if tile.zone is Zone.RIVER]
    assert all(min(tile.rotation, 360 - tile.rotation) < 6 for tile in upright)
    assert all(tile.frames >= 2 for tile in reading.tiles)


def test_a_grown_kong_whose_fourth_tile_is_half_behind_the_wall() -> None:
    """The middle of what is seen of it is nearer to the third than a tile is wide."""
    t = table(visible=0.3)
    t.world.put(*row(0, 11.6, ["<2p", "2p", "2p"], 4.0))
    across = t.world.scene.tiles[0]
    t.rest()
    t.world.put(replace(across, y_mm=across.y_mm - 0.76 * GEOMETRY.tile_width_mm))
    reading = t.rest()[-1]
    (meld,) = exposed(reading.tiles, 0, GEOMETRY).melds
    assert (meld.kind, meld.added is not None) == ("kong", True)


def test_nothing_is_said_while_nothing_changes() -> None:
    t = table()
    t.world.put(*river(0, "123m"))
    assert len(t.rest(8)) == 1
    before = t.detector.calls
    assert t.rest(20) == []
    assert t.detector.calls == before, "an idle felt is not looked at"


def discard(t: Table, seat: int, tile: str, n: int) -> Iterator[Frame]:
    """A hand comes, puts a tile into the river, and goes."""
    (new,) = river(seat, tile, n)
    angle = GEOMETRY.seat_angle(seat)
    for step, frame_at in enumerate(range(10)):
        if step == 4:
            t.world.put(new)
        distance = 110 * abs(frame_at - 4)
        x, y = GEOMETRY.to_seat(seat, new.x_mm, new.y_mm)
        fx, fy = GEOMETRY.to_table(seat, x, y + distance / 28)
        yield t.world.frame((Hand(fx, fy, angle),))


def test_discards_come_one_by_one() -> None:
    t = table(jitter_px=0.7)
    t.rest(6)
    played: dict[int, list[str]] = {seat: [] for seat in range(4)}
    for turn, tile in enumerate(("3m", "7z", "9p", "1s", "5m", "5m")):
        seat = turn % 4
        readings = t.see(discard(t, seat, tile, len(played[seat])))
        readings += t.rest(6)
        played[seat].append(tile)
        assert len(readings) == 1, "one reading a discard, none while the hand is there"
        for each in range(4):
            assert rivers(readings[0], each) == played[each]
    sights = [m.sight for m in t.messages if isinstance(m, SightChange)]
    assert "covered" in sights
    assert sights[-1] == "steady"


def test_a_claimed_tile_leaves_the_river_and_lies_in_the_meld() -> None:
    t = table()
    thrown = river(1, "456p")
    t.world.put(*thrown)
    t.rest(8)
    t.world.take(thrown[-1])
    t.world.put(*row(2, 11.6, ["<6p", "6p", "6p"], 5.0))
    readings = t.rest(8)
    assert rivers(readings[-1], 1) == ["4p", "5p"]
    (meld,) = exposed(readings[-1].tiles, 2, GEOMETRY).melds
    assert (meld.kind, meld.giver(2)) == ("pung", 1)


def test_another_tile_in_the_same_place_is_another_tile() -> None:
    t = table()
    first = river(0, "3s")
    t.world.put(*first)
    t.rest(8)
    t.world.take(*first)
    t.world.put(*river(0, "7z"))
    readings = t.rest(8)
    assert [rivers(r, 0) for r in readings] == [["7z"]]
    assert readings[0].tiles[0].confidence > 0.9


def test_a_hand_laid_open() -> None:
    t = table()
    t.rest(6)
    names = ["1m", "1m", "2p", "3p", "4p", "5s", "6s", "7s"]
    t.world.put(*row(3, 13.7, names, -5.0), lay(3, 6.0, 13.7, "1m"))
    (reading,) = t.rest(9)
    hand = open_hand(reading.tiles, 3, GEOMETRY)
    assert [tile.best for tile in hand.tiles] == names
    assert hand.winning is not None
    assert hand.winning.best == "1m"


def test_an_arm_that_rests_over_tiles_takes_none_away() -> None:
    t = table()
    t.world.put(*river(0, "123456m"))
    t.rest(8)
    for _ in range(6):
        # A resting arm is never quite still.
        for x in (0.0, 6.0, 0.0, -6.0):
            assert t.see([t.world.frame((Hand(x, 60.0, 0.0),))]) == []
    t.rest(8)
    assert rivers(t.reading, 0) == ["1m", "2m", "3m", "4m", "5m", "6m"]


def test_an_arm_that_is_quite_still_takes_none_away_for_a_while() -> None:
    t = table()
    t.world.put(*river(0, "123456m"))
    t.rest(8)
    t.see(t.world.frames(20, (Hand(0.0, 60.0, 0.0),)))
    assert rivers(t.reading, 0) == ["1m", "2m", "3m", "4m", "5m", "6m"]
    t.rest(8)
    assert rivers(t.reading, 0) == ["1m", "2m", "3m", "4m", "5m", "6m"]


def test_covered_areas_are_named() -> None:
    t = table()
    t.world.put(*river(0, "123m"))
    t.rest(8)
    t.world.put(*river(2, "9s"))
    reading = None
    for n in range(10):
        found = t.see([t.world.frame((Hand(float(n % 3) * 6, 100.0, 0.0),))])
        reading = found[-1] if found else reading
    assert reading is not None, "the other side goes on"
    assert rivers(reading, 2) == ["9s"]
    assert rivers(reading, 0) == ["1m", "2m", "3m"]
    assert (Zone.RIVER, 0) in reading.covered


def test_unsure_looks_are_averaged_and_more_are_taken() -> None:
    t = table(unsure=0.3, jitter_px=0.7, seed=3)
    t.world.put(*river(0, "123456789m"), *river(2, "123456789p"))
    (reading,) = t.rest(12)
    assert rivers(reading, 0) == [f"{n}m" for n in range(1, 10)]
    assert rivers(reading, 2) == [f"{n}p" for n in range(1, 10)]
    assert max(tile.frames for tile in reading.tiles) > 2
    unsure = [tile for tile in reading.tiles if tile.confidence < 0.9]
    assert all(tile.frames >= 4 for tile in unsure)


def test_missed_looks_lose_no_tile_that_was_seen() -> None:
    t = table(missed=0.15, seed=5)
    t.world.put(*river(0, "123456m"), *river(1, "123456p"))
    t.rest(14)
    known = {tile.best for tile in t.reading.tiles}
    for seat in (0, 1):
        t.see(discard(t, seat, "7z", 6))
        t.rest(8)
    assert known <= {tile.best for tile in t.reading.tiles}


@pytest.mark.parametrize("seed", range(4))
def test_what_flickers_is_no_tile_and_keeps_no_reading_back(seed: int) -> None:
    ghosts = tuple((x, 150.0) for x in (-120.0, -60.0, 60.0, 120.0))
    t = table(ghosts=ghosts, ghost_share=0.35, seed=seed)
    t.world.put(*river(2, "123m"))
    readings = t.rest(16)
    assert readings, "doubt ends"
    assert rivers(readings[-1], 2) == ["1m", "2m", "3m"]
    sure = [tile for tile in readings[-1].tiles if tile.confidence > 0.9]
    assert [tile.best for tile in sure if tile.seat != 2] == []
    calls = t.detector.calls
    t.rest(10)
    assert t.detector.calls - calls <= 4, "no endless looking"


def test_tiles_swept_away_are_gone() -> None:
    t = table()
    tiles = [*river(0, "123m"), *river(1, "456p"), *row(2, 11.6, ["1z", "1z", "<1z"], 3.0)]
    t.world.put(*tiles)
    assert len(t.rest(8)) == 1
    t.world.take(*tiles)
    t.see(t.world.frames(3, (Hand(0.0, 0.0, 0.0), Hand(150.0, -100.0, 180.0))))
    readings = t.rest(12)
    assert readings[-1].tiles == ()


def test_the_same_pictures_give_the_same_messages() -> None:
    world, calibration = prepared()
    world.reset()
    frames = []
    scenes = []

    def keep(new: Iterable[Frame]) -> None:
        for frame in new:
            frames.append(frame)
            scenes.append((world.image, world.scene))

    world.put(*river(0, "12m"))
    keep(world.frames(7))
    world.put(*river(1, "3p"))
    keep(world.sweep(120.0, 0.0, 270.0))
    keep(world.frames(7))

    def run() -> list[str]:
        core = EyeCore(calibration, GEOMETRY, TruthDetector(world, unsure=0.3, seed=1))
        said = []
        for frame, (image, scene) in zip(frames, scenes, strict=True):
            world.image, world.scene = image, scene
            said += [m.model_dump_json() for m in core.process(frame)]
        return said

    first = run()
    assert first == run()
    assert any('"tiles"' in text for text in first)


def looks(*rotations: float) -> Place:
    """A place seen some times, each time turned like this."""
    face = np.zeros(43)
    face[0] = 1.0
    seen = [Sighting(0.0, 0.0, r, Zone.RIVER, 0, 0.9, face) for r in rotations]
    place = Place.of(seen[0], 0.0)
    for number, sighting in enumerate(seen[1:], start=1):
        place.see(sighting, float(number))
    return place


@pytest.mark.parametrize(
    ("rotations", "expected"),
    [
        ((0, 180, 0, 0), 0),  # upside down once: not across
        ((181, 1, 182, 181), 181),
        ((89, 271, 90, 91), 90),
        ((350, 10), 0),
        ((170, 190, 350), 176),
        ((30, 32), 31),
    ],
)
def test_a_look_upside_down_turns_no_tile_across(
    rotations: tuple[float, ...], expected: float
) -> None:
    off = (looks(*rotations).rotation - expected + 180) % 360 - 180
    assert abs(off) < 5
