"""Cameras in the wild: each disturbance gets its name, a remedy, and its end; normal play none.

Pictures come from the renderer; what a camera's electronics do is done to its pictures.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from tablectl.simulate.choreography import BRISK, Choreography, Moment
from tablectl.simulate.felt import SimulatedFelt
from tablectl.tiles import parse_tiles
from vision.calibration import Calibration
from vision.eye import EyeCore, EyeMessage
from vision.messages import CameraState, CameraStatus, SightChange, TableReading
from vision.picture_watch import REMEDIES
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer
from vision.render.scene import Hand
from vision.render.style import Style, default_lights
from vision.sources import Frame

from .felt_world import GEOMETRY, TruthDetector, World, river, standing_hands, walls

SIZE = (960, 540)
LOOKS = {
    "own": Style(camera=CameraPose(tilt_deg=2.0)),
    "test 1": Style.random(np.random.default_rng(21), "test"),
    "test 2": Style.random(np.random.default_rng(22), "test"),
}
QUICK = "own"
SLOW = [pytest.param(look, marks=pytest.mark.slow) for look in LOOKS if look != QUICK]
LAID = ["1m", "2m", "9s", "5p", "7z"]

Change = Callable[[np.ndarray, int], np.ndarray]


@cache
def prepared(look: str) -> tuple[World, Calibration]:
    world = World(LOOKS[look], size=SIZE)
    return world, world.calibrate()


class Table:
    """A table in the middle of a hand, and everything that its eye has said."""

    def __init__(self, look: str = "own") -> None:
        self.world, calibration = prepared(look)
        self.world.renderer = Renderer(LOOKS[look], GEOMETRY, SIZE)
        self.world.style = LOOKS[look]
        self.world.reset()
        self.eye = EyeCore(calibration, GEOMETRY, TruthDetector(self.world))
        self.said: list[EyeMessage] = []
        self.world.put(*walls(), *standing_hands())
        self.show(8)
        self.world.put(*river(0, "12m"), *river(1, "9s"), *river(2, "5p"), *river(3, "7z"))
        self.show(10)
        assert self.states() == [CameraState.FINE]
        assert self.reading() == sorted(LAID)

    def show(
        self, count: int, change: Change | None = None, hands: Iterable[tuple[Hand, ...]] = ((),)
    ) -> list[EyeMessage]:
        """Show pictures; returns what was said about them."""
        before = len(self.said)
        poses = list(hands)
        for n in range(count):
            frame = self.world.frame(poses[n % len(poses)])
            if change is not None:
                self.world.image = change(frame.image, n)
                frame = replace(frame, image=self.world.image)
            self.said += self.eye.process(frame)
        return self.said[before:]

    def states(self, said: Iterable[EyeMessage] | None = None) -> list[CameraState]:
        messages = self.said if said is None else said
        return [m.state for m in messages if isinstance(m, CameraStatus)]

    def reading(self) -> list[str]:
        newest = [m for m in self.said if isinstance(m, TableReading)][-1]
        return sorted(tile.best for tile in newest.tiles)

    def still_reads(self) -> None:
        """A tile laid now is seen, and nothing else has changed."""
        self.world.put(*river(0, "3m", first=2))
        self.show(10)
        assert self.reading() == sorted([*LAID, "3m"])


def gains(blue: float, green: float, red: float) -> Callable[[np.ndarray], np.ndarray]:
    table = np.array([blue, green, red])

    def apply(image: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(image * table, 0, 255), np.uint8)

    return apply


def slowly(to: Callable[[float], Callable[[np.ndarray], np.ndarray]], pictures: int) -> Change:
    return lambda image, n: to(min(1.0, n / pictures))(image)


def lamp_off(image: np.ndarray, n: int) -> np.ndarray:
    """What is left when the lamp over the table goes out, noise and all."""
    return gains(0.62, 0.62, 0.6)(image)


def flicker(image: np.ndarray, n: int) -> np.ndarray:
    return gains(*([float(1 + 0.08 * np.sin(n * 2.4))] * 3))(image)


def beat(image: np.ndarray, n: int) -> np.ndarray:
    """Mains light that nearly keeps step with the camera: bands that roll slowly through."""
    rows = np.linspace(0, 2 * np.pi, image.shape[0])[:, None, None]
    return np.clip(image * (1 + 0.1 * np.sin(rows + n * 0.7)), 0, 255).astype(np.uint8)


DISTURBANCES: dict[str, tuple[Change, int, CameraState]] = {
    "overexposed": (
        slowly(lambda s: gains(*([1 + 4.0 * s] * 3)), 20), 50, CameraState.BRIGHT),
    "a lamp goes out": (lamp_off, 30, CameraState.DIM),
    "white balance drifts": (
        slowly(lambda s: gains(1 - 0.3 * s, 1.0, 1 + 0.3 * s), 30), 60, CameraState.TINTED),
    "flicker": (flicker, 70, CameraState.FLICKER),
    "rolling bands": (beat, 90, CameraState.FLICKER),
    "all lamps go out": (lambda im, n: gains(0.05, 0.05, 0.05)(im), 8, CameraState.DARK),
}  # fmt: skip


@pytest.mark.parametrize("look", [QUICK, *SLOW])
@pytest.mark.parametrize("name", DISTURBANCES)
def test_a_disturbance_is_named_and_ends(name: str, look: str) -> None:
    change, count, state = DISTURBANCES[name]
    table = Table(look)
    said = table.show(count, change)
    assert state in table.states(said), f"told: {table.states(said)}"
    status = next(m for m in said if isinstance(m, CameraStatus) and m.state is state)
    assert status.remedy == REMEDIES[state]
    assert not any(
        sorted(tile.best for tile in m.tiles) != sorted(LAID)
        for m in said
        if isinstance(m, TableReading)
    ), "light changes no tile"
    table.world.interval = 0.2
    table.show(42)
    table.world.interval = 0.1
    assert table.states()[-1] is CameraState.FINE
    assert table.reading() == sorted(LAID)
    table.still_reads()


@pytest.mark.parametrize("look", [QUICK, *SLOW])
def test_one_of_two_lamps_goes_out(look: str) -> None:
    """Rendered with the lamp off: shadows change too."""
    table = Table(look)
    dark = replace(LOOKS[look], lights=default_lights()[1:], exposure=LOOKS[look].exposure * 0.55)
    table.world.renderer = Renderer(dark, GEOMETRY, SIZE)
    said = table.show(60)
    assert CameraState.DIM in table.states(said)
    table.still_reads()
    # After some minutes that is how the light is here.
    table.world.interval = 4.0
    table.show(60)
    table.world.interval = 0.1
    assert table.states()[-1] is CameraState.FINE


def leaning(image: np.ndarray, shift: float) -> np.ndarray:
    """Head and shoulders from the bottom edge over more than half of the felt."""
    out = image.copy()
    width, height = SIZE
    middle = (int(width / 2 + shift), int(height * 0.62))
    cv2.ellipse(out, (middle[0], int(height * 1.0)), (330, 270), 0, 0, 360, (92, 60, 50), -1)
    cv2.ellipse(out, middle, (120, 150), 0, 0, 360, (36, 40, 60), -1)
    grain = np.random.default_rng(int(abs(shift) * 7)).normal(0, 2, out.shape)
    return np.clip(out + grain, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("still", [False, True], ids=["moving", "holding still"])
def test_a_person_who_leans_in_hides_tiles_and_takes_none(still: bool) -> None:
    table = Table()

    def lean(image: np.ndarray, n: int) -> np.ndarray:
        return leaning(image, 0.0 if still and n > 3 else 9 * np.sin(n))

    said = table.show(45, lean)
    assert CameraState.BLOCKED in table.states(said)
    assert [m.sight for m in said if isinstance(m, SightChange)][-1] == "covered"
    table.show(20)
    assert table.states()[-1] is CameraState.FINE
    assert table.reading() == sorted(LAID)
    shown = [m for m in table.said if isinstance(m, TableReading)]
    assert all(set(LAID) <= {t.best for t in m.tiles} for m in shown[-2:])
    table.still_reads()


@pytest.mark.parametrize("look", [QUICK, *SLOW])
def test_a_normal_session_raises_no_alarm(look: str) -> None:
    """Walls, discards by hand, several hands at once, a hand laid open, the sweep, new walls."""
    style = LOOKS[look]
    world = World(style, SIZE, interval=1 / BRISK.fps)
    eye = EyeCore(world.calibrate(), GEOMETRY, TruthDetector(world))
    felt = SimulatedFelt(GEOMETRY, 4, 136, random.Random(3))
    film = Choreography(felt, BRISK, random.Random(4))
    states: list[CameraState] = []

    def show(moments: Iterable[Moment]) -> None:
        for moment in moments:
            world.scene = moment.scene
            frame = world.frame(moment.scene.hands)
            states.extend(m.state for m in eye.process(frame) if isinstance(m, CameraStatus))

    for _ in range(1 if look == QUICK else 2):
        show(film.still(1.0))
        felt.raise_walls(7)
        show(film.still(1.0))
        for n in range(24):
            lie_down(felt, n)
            show(reach_of_all(film, felt, n))
            show(film.still(0.8))
        open_hands(felt)
        show(film.still(2.0))
        for _ in range(4):
            show(film.sweep())
    assert set(states) == {CameraState.FINE}, states


def lie_down(felt: SimulatedFelt, n: int) -> None:
    from tablectl.simulate.felt import Placed

    tile = parse_tiles("123456789m123456789p123456s")[n]
    x, y = GEOMETRY.river_slot(n // 4)
    felt.rivers[n % 4].append(Placed(tile, n % 4, x, y))


def open_hands(felt: SimulatedFelt) -> None:
    from tablectl.simulate.felt import Placed

    tiles = parse_tiles("123456789m1234p")
    for seat in range(4):
        felt.open_hands[seat] = [
            Placed(tile, seat, (i - 6) * 1.02, sum(GEOMETRY.rack) / 2)
            for i, tile in enumerate(tiles)
        ]


def reach_of_all(film: Choreography, felt: SimulatedFelt, n: int) -> list[Moment]:
    """One seat's hand over its river; every sixth time all four reach in and rest for a while."""
    seats = range(4) if n % 6 == 5 else (n % 4,)
    depths = (14.0, 9.0, 5.0, 5.0, 5.0, 9.0, 14.0)
    return [
        Moment(felt.scene([film._hand(seat, 1.0, depth) for seat in seats])) for depth in depths
    ]


def test_the_same_pictures_give_the_same_states() -> None:
    def once() -> list[str]:
        table = Table()
        table.show(20, flicker)
        return [m.model_dump_json() for m in table.said]

    assert once() == once()


def test_every_state_that_pictures_show_has_a_remedy() -> None:
    elsewhere = {
        CameraState.STARTING, CameraState.FINE, CameraState.STALE, CameraState.LOST,
        CameraState.WRONG_SIZE, CameraState.MOVED,
    }  # fmt: skip
    assert set(REMEDIES) == set(CameraState) - elsewhere
    assert all(len(text) > 20 and text.endswith(".") for text in REMEDIES.values())


def test_frames_of_a_session_keep_their_size() -> None:
    """The watch is given pictures of the calibrated size only; others never reach it."""
    table = Table()
    small = Frame(table.world.t, 999, np.zeros((100, 100, 3), np.uint8))
    assert table.states(table.eye.process(small)) == [CameraState.WRONG_SIZE]
