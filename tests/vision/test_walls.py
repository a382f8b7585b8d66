"""Walls counted from above on rendered tables, and what a hand over them does to the count."""

from __future__ import annotations

import random

import numpy as np
import pytest

from vision.eye import EyeCore
from vision.gate import MotionGate
from vision.messages import TableReading
from vision.render.camera import CameraPose
from vision.render.scene import Hand, Scene, SceneTile
from vision.render.style import Style
from vision.walls import WallCounter

from .felt_world import GEOMETRY, TruthDetector, World, lay, river, standing_hands

SIZE = (1280, 720)
STYLES = {
    "own": Style(),
    "tilted": Style(camera=CameraPose(tilt_deg=8, azimuth_deg=20, roll_deg=20, k1=-0.06)),
    "blue": Style.random(np.random.default_rng(107), "test"),
    "green on green": Style.random(np.random.default_rng(105), "test"),
    "grey": Style.random(np.random.default_rng(111), "test"),
}


def stack(seat: int, n: int, of: int, pitch: float, levels: tuple[int, ...]) -> list[SceneTile]:
    return [lay(seat, (n - (of - 1) / 2) * pitch, 9.7, "back", level=level) for level in levels]


def broken_walls(rng: random.Random) -> tuple[list[SceneTile], list[int]]:
    """Four walls with gaps, here and there a single tile; and how many stacks each has."""
    tiles: list[SceneTile] = []
    counts = []
    for seat in range(4):
        of = rng.choice([14, 17, 18])
        pitch = 1.0 if of == 18 else rng.choice([1.0, 1.02])
        left = set(range(of))
        for _ in range(rng.randint(0, 3)):
            first = rng.randrange(of)
            left -= set(range(first, first + rng.randint(1, 6)))
        single = rng.choice(sorted(left)) if left and rng.random() < 0.5 else None
        for n in left:
            tiles += stack(seat, n, of, pitch, (0,) if n == single else (0, 1))
        counts.append(len(left))
    return tiles, counts


@pytest.mark.parametrize("name", STYLES)
def test_stacks_are_counted_wherever_the_wall_is_broken(name: str) -> None:
    world = World(STYLES[name], SIZE)
    counter = WallCounter(world.calibrate(), GEOMETRY)
    rest = (*river(0, "123m456p789s"), *river(2, "123456z"), *standing_hands())
    wrong = []
    world.scene = Scene(tiles=rest)
    assert [wall.stacks for wall in counter.see(world.frame().image)] == [0, 0, 0, 0]
    for seed in range(3):
        tiles, truth = broken_walls(random.Random(f"{name}{seed}"))
        world.scene = Scene(tiles=(*tiles, *rest))
        found = counter.see(world.frame().image)
        assert [wall.seat for wall in found] == [0, 1, 2, 3]
        assert all(sum(wall.runs) == wall.stacks for wall in found)
        wrong += [(a, b.stacks) for a, b in zip(truth, found, strict=True) if a != b.stacks]
    assert wrong == []


@pytest.mark.slow
def test_stacks_on_many_tables() -> None:
    """Looks that nobody has chosen; only tiles of the very colour of the felt may be miscounted."""
    wrong = sides = 0
    for look in range(16):
        world = World(Style.random(np.random.default_rng(200 + look), "test"), SIZE)
        counter = WallCounter(world.calibrate(), GEOMETRY)
        tiles, truth = broken_walls(random.Random(look))
        world.scene = Scene(tiles=(*tiles, *standing_hands()))
        found = counter.see(world.frame().image)
        sides += 4
        off = [abs(a - b.stacks) for a, b in zip(truth, found, strict=True)]
        assert max(off) <= 2
        wrong += sum(d > 0 for d in off)
    assert wrong <= 0.06 * sides


def test_a_reading_counts_the_walls_and_shows_the_indicator() -> None:
    """The stack whose upper tile is turned up is a stack; what a hand hides keeps its count."""
    world = World(Style(), SIZE)
    eye = EyeCore(world.calibrate(), GEOMETRY, TruthDetector(world))
    readings: list[TableReading] = []

    def show(count: int, hands: tuple[Hand, ...] = ()) -> None:
        for frame in world.frames(count, hands):
            readings.extend(m for m in eye.process(frame) if isinstance(m, TableReading))

    for seat in range(4):
        for n in range(17):
            world.put(*stack(seat, n, 17, 1.0, (0, 1)))
    show(8)
    assert [wall.stacks for wall in readings[-1].walls] == [17, 17, 17, 17]
    turned = stack(1, 5, 17, 1.0, (1,))
    shown = lay(1, (5 - 8) * 1.0, 9.7, "7p", level=1)
    world.take(*turned)
    world.put(shown)
    show(8)
    assert [wall.stacks for wall in readings[-1].walls] == [17, 17, 17, 17]
    (tile,) = readings[-1].tiles
    assert (tile.best, tile.zone, tile.seat) == ("7p", "wall", 1)
    for n in (14, 15, 16):
        world.take(*stack(2, n, 17, 1.0, (0, 1)))
    show(8)
    assert [wall.stacks for wall in readings[-1].walls] == [17, 17, 14, 17]
    assert readings[-1].walls[2].runs == (14,)


def test_a_hand_over_a_wall_keeps_its_count() -> None:
    world = World(Style(), SIZE)
    calibration = world.calibrate()
    gate, counter = MotionGate(calibration, GEOMETRY), WallCounter(calibration, GEOMETRY)
    for n in range(17):
        world.put(*stack(0, n, 17, 1.0, (0, 1)))
    for frame in world.frames(6):
        before = counter.see(frame.image, gate.process(frame))
    assert before[0].stacks == 17
    for n in range(6):
        x = 20.0 * (n % 2)
        frame = world.frame((Hand(x, 200.0),))
        during = counter.see(frame.image, gate.process(frame))
    assert (during[0].stacks, during[0].covered) == (17, True)
    assert not during[2].covered
