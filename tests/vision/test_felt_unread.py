"""What lies on the felt like a tile and is never found must be reported all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from vision.calibration_fit import calibrate_from_markers
from vision.eye import EyeCore
from vision.felt.bare import FeltColour
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile, TableReading
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.scene import Hand, Scene, SceneTile
from vision.render.style import Style

from .felt_world import (
    DEPTH,
    GEOMETRY,
    TruthDetector,
    World,
    lay,
    river,
    row,
    standing_hands,
    walls,
)


def unread(reading: TableReading) -> list[SeenTile]:
    return [t for t in reading.tiles if t.confidence < 0.1]


def last_reading(
    tiles: Sequence[SceneTile],
    never: Sequence[SceneTile],
    style: Style,
    hands: tuple[Hand, ...],
    guess: Mapping[str, float] | None = None,
) -> TableReading:
    world = World(style, size=(1280, 720))
    calibration = world.calibrate()
    detector = TruthDetector(world, never=tuple(never), jitter_px=0.5, guess=guess)
    core = EyeCore(calibration, GEOMETRY, detector)
    messages = []
    world.put(*walls(), *standing_hands())
    for frame in world.frames(4):
        messages += core.process(frame)
    world.put(*tiles)
    for frame in world.frames(12, hands):
        messages += core.process(frame)
    return [m for m in messages if isinstance(m, TableReading)][-1]


LOOKS = [
    pytest.param(Style(camera=CameraPose(k1=-0.03, tilt_deg=2.0)), id="plain"),
    *(
        pytest.param(
            Style.random(np.random.default_rng(seed), split="test"), id=f"look {seed}",
            marks=() if seed < 2 else pytest.mark.slow,
        )
        for seed in range(8)
    ),
]  # fmt: skip


@pytest.mark.parametrize("style", LOOKS)
def test_tiles_that_are_never_found_are_reported_as_unread(style: Style) -> None:
    table = [
        *river(0, "123m456p"), *river(1, "19s22z"), *river(2, "777s"), *river(3, "5m"),
        *row(0, DEPTH - 0.6, ["3p", "<3p", "3p"], 2.0), lay(1, -10.0, 11.6, "2f"),
        lay(1, -8.9, 11.6, "6f"), *row(2, 11.6, ["4s", "5s", "<6s"], -3.0),
    ]  # fmt: skip
    never = [table[5], table[8], table[13], table[15], table[17], table[18]]
    reading = last_reading(table, never, style, ())
    found = unread(reading)
    assert len(reading.tiles) - len(found) == len(table) - len(never)
    there = [tile for tile in never if _is_found(tile, found)]
    assert len(found) == len(there), "something that is no tile"
    assert len(there) >= len(never) - 2  # a lamp may make one look like cloth


@pytest.mark.parametrize(
    ("guess", "in_river", "beside"),
    [
        ({"5z": 0.5, "back": 0.5}, "5z", None),
        ({"5z": 0.6, "back": 0.4}, "5z", "5z"),
        ({"back": 1.0}, None, None),
        ({"3s": 0.9, "2s": 0.1}, "3s", "3s"),
    ],
)
def test_what_it_would_be_is_half_believed(
    guess: Mapping[str, float], in_river: str | None, beside: str | None
) -> None:
    """A blank White is named, but nothing that the recogniser did not find is certain."""
    unseen = [*river(0, "5z"), lay(1, -10.0, 11.6, "5z")]
    style = Style(camera=CameraPose(k1=-0.03, tilt_deg=2.0))
    reading = last_reading([*unseen, *river(2, "777s")], unseen, style, (), guess)
    named = {t.zone: t for t in reading.tiles if t.best != "7s"}
    for zone, name in ((Zone.RIVER, in_river), (Zone.EXPOSED, beside)):
        if name is None:
            assert named[zone].confidence < 0.1
        else:
            assert named[zone].best == name
            assert 0.3 < named[zone].confidence < 0.7


def test_the_recogniser_is_told_how_tiles_look() -> None:
    """A crop round a changed place may show one tile only."""
    world = World(Style(camera=CameraPose(tilt_deg=2.0)), size=(1280, 720))
    detector = TruthDetector(world)
    core = EyeCore(world.calibrate(), GEOMETRY, detector)
    for frame in world.frames(4):
        core.process(frame)
    assert detector.colours is None
    world.put(*river(0, "123456m"))
    for frame in world.frames(8):
        core.process(frame)
    world.put(*river(2, "7s"))
    for frame in world.frames(8):
        core.process(frame)
    assert detector.colours is not None
    lightness, a, b = detector.colours.ground
    assert lightness > 70
    assert abs(a - 128) < 12
    assert abs(b - 128) < 25


def _is_found(tile: SceneTile, found: Sequence[SeenTile]) -> bool:
    where = GEOMETRY.locate(tile.x_mm, tile.y_mm)
    near = 0.45 * GEOMETRY.tile_width_mm
    return any(
        np.hypot(t.x - tile.x_mm, t.y - tile.y_mm) < near and (t.zone, t.seat) == where
        for t in found
    )


@pytest.mark.parametrize("style", LOOKS)
def test_an_arm_and_known_tiles_are_nothing_unread(style: Style) -> None:
    table = [*river(0, "123m456p11z"), *row(2, 11.6, ["4s", "5s", "<6s"], -3.0)]
    arms = (Hand(60.0, 300.0, 0.0), Hand(-330.0, 40.0, 90.0))
    reading = last_reading(table, (), style, arms)
    assert unread(reading) == []


def test_cloth_in_deep_shadow_is_cloth_and_a_sleeve_is_not() -> None:
    geometry = TableGeometry()
    renderer = Renderer(geometry=geometry)
    picture = renderer.render(Scene())
    calibration = calibrate_from_markers(picture, geometry)
    felt = FeltColour(picture, calibration)
    x, y = (round(float(v)) for v in calibration.to_image([(200.0, 150.0)])[0])
    cloth = picture[y - 10 : y + 10, x - 10 : x + 10]
    deep = (cloth * 0.3).astype(np.uint8)
    assert felt.like(cloth).mean() > 0.9
    assert felt.like(deep).mean() < 0.5
    assert felt.shaded(deep).mean() > 0.9
    for grey in (30, 230):  # a black sleeve, a tile's face
        assert felt.shaded(np.full_like(cloth, grey)).mean() < 0.1
