"""The gate on a drawn felt with noise: what wakes it and what must not."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from functools import cache

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_corners
from vision.gate import GateResult, MotionGate
from vision.geometry import TableGeometry
from vision.sources import Frame

from .cameras import TrueCamera

GEOMETRY = TableGeometry()
CAMERA = TrueCamera(size=(960, 540))
H = GEOMETRY.half_mm
CORNERS = CAMERA.project(np.array([(-H, -H), (H, -H), (H, H), (-H, H)]), 0.0)
FELT = CAMERA.felt_with_markers().astype(np.float32)
WIDTH, HEIGHT = CAMERA.size
NOISE = np.random.default_rng(0).normal(0, 1, (5, *FELT.shape)).astype(np.float32)

Draw = Callable[[np.ndarray, int], np.ndarray | None]


def calibration(camera: TrueCamera = CAMERA) -> Calibration:
    corners = camera.project(np.array([(-H, -H), (H, -H), (H, H), (-H, H)]), 0.0)
    image = np.zeros((camera.size[1], camera.size[0], 3), np.uint8)
    return calibrate_from_corners(image, [(float(x), float(y)) for x, y in corners], GEOMETRY)


TILE = calibration().tile_px()


def box_of(x_mm: float, y_mm: float) -> tuple[int, int, int, int]:
    cx, cy = CAMERA.project(np.array([(x_mm, y_mm)]), 0.0)[0]
    return (
        round(cx - TILE / 2), round(cy - 0.7 * TILE), round(cx + TILE / 2), round(cy + 0.7 * TILE)
    )  # fmt: skip


def put_tile(image: np.ndarray, x_mm: float, y_mm: float) -> None:
    x1, y1, x2, y2 = box_of(x_mm, y_mm)
    cv2.rectangle(image, (x1, y1), (x2, y2), (220, 235, 240), -1)
    cv2.circle(image, ((x1 + x2) // 2, (y1 + y2) // 2), int(TILE / 4), (40, 40, 160), -1)


def put_hand(image: np.ndarray, x_mm: float, y_mm: float) -> None:
    """Palm at a place, arm from the bottom edge of the picture."""
    cx, cy = CAMERA.project(np.array([(x_mm, y_mm)]), 0.0)[0].astype(int)
    cv2.ellipse(image, (int(cx), int(cy)), (int(1.7 * TILE), int(2.2 * TILE)), 0, 0, 360,
                (110, 150, 205), -1)  # fmt: skip
    cv2.rectangle(
        image, (int(cx - 1.3 * TILE), int(cy)), (int(cx + 1.3 * TILE), HEIGHT), (90, 60, 50), -1
    )


def play(
    count: int, draw: Draw | None = None, *, gate: MotionGate | None = None, start: int = 0,
    noise: float = 2.0,
) -> tuple[MotionGate, list[GateResult]]:  # fmt: skip
    """Run the gate over ``count`` pictures at 10 a second; ``draw`` changes each."""
    gate = gate or MotionGate(calibration(), GEOMETRY)
    results = []
    for n in range(start, start + count):
        image = FELT.copy()
        if draw is not None:
            drawn = draw(image, n)
            image = image if drawn is None else drawn
        image += NOISE[n % len(NOISE)] * np.float32(noise)
        picture = np.clip(image, 0, 255).astype(np.uint8)
        results.append(gate.process(Frame(n * 0.1, n, picture)))
    return gate, results


@pytest.fixture
def idle() -> MotionGate:
    """A gate that has read the felt; each test gets its own copy."""
    return copy.deepcopy(_read_felt())


@cache
def _read_felt() -> MotionGate:
    gate, results = play(8)
    regions = [r for result in results for r in result.regions]
    assert len(regions) == 1, "the whole felt is read once at the start"
    assert results[-1].steady
    return gate


def regions(results: Iterable[GateResult]) -> list[tuple[float, tuple[int, int, int, int]]]:
    return [(round(r.t, 3), region.box) for r in results for region in r.regions]


def inside(inner: tuple[int, ...], outer: tuple[int, ...]) -> bool:
    return inner[0] >= outer[0] and inner[1] >= outer[1] and (
        inner[2] <= outer[2] and inner[3] <= outer[3]
    )  # fmt: skip


@pytest.mark.parametrize("noise", [0.0, 2.0, 6.0])
def test_an_idle_felt_is_left_alone(noise: float) -> None:
    _, results = play(40, noise=noise)
    assert len(regions(results)) == 1
    assert all(result.steady for result in results[5:])


def test_a_tile_is_read_once_it_has_come_to_rest(idle: MotionGate) -> None:
    _, results = play(12, lambda im, n: put_tile(im, 60, 130), gate=idle, start=8)
    ((t, box),) = regions(results)
    assert t >= 0.8 + 0.25 - 1e-6, "at rest for a quarter of a second"
    assert t <= 0.8 + 0.45
    assert inside(box_of(60, 130), box)
    assert (box[2] - box[0]) * (box[3] - box[1]) < 12 * 1.4 * TILE * TILE


def test_a_tile_that_slides_is_read_where_it_stops(idle: MotionGate) -> None:
    def slide(image: np.ndarray, n: int) -> None:
        put_tile(image, 20 + 12 * min(n - 8, 10), 150)

    _, results = play(20, slide, gate=idle, start=8)
    found = regions(results)
    assert all(t >= 1.8 + 0.25 - 1e-6 for t, _ in found)
    assert any(inside(box_of(140, 150), box) for _, box in found)
    assert not any(result.covered for result in results), "a tile is no hand"


def drift(image: np.ndarray, n: int) -> np.ndarray:
    share = min(1.0, (n - 8) / 40)
    return image * np.float32(1 - 0.4 * share)


def white_balance(image: np.ndarray, n: int) -> np.ndarray:
    share = min(1.0, (n - 8) / 40)
    gains = np.array([1 + 0.25 * share, 1.0, 1 - 0.25 * share], np.float32)
    return image * gains


def exposure_steps(image: np.ndarray, n: int) -> np.ndarray:
    return image * np.float32((1.0, 0.85, 1.1)[(n // 10) % 3])


def flicker(image: np.ndarray, n: int) -> np.ndarray:
    rows = np.arange(HEIGHT, dtype=np.float32)[:, None, None]
    return image * (1 + 0.06 * np.sin(rows / HEIGHT * 12 + n * 1.7))


def soft_shadow(image: np.ndarray, n: int) -> np.ndarray:
    """Somebody leans in: a wide shadow without edges wanders over the felt."""
    x = np.arange(WIDTH, dtype=np.float32)[None, :, None]
    return image * (1 - 0.22 * np.exp(-(((x - 200 - 12 * (n - 8)) / 140) ** 2)))


@pytest.mark.parametrize(
    "light", [drift, white_balance, exposure_steps, flicker, soft_shadow], ids=lambda f: f.__name__
)
def test_light_does_not_wake_it(idle: MotionGate, light: Draw) -> None:
    _, results = play(40, light, gate=idle, start=8)
    assert regions(results) == []
    assert not any(result.covered for result in results)


def test_after_light_has_drifted_a_tile_is_still_noticed(idle: MotionGate) -> None:
    gate, _ = play(45, drift, gate=idle, start=8)

    def more(image: np.ndarray, n: int) -> np.ndarray:
        put_tile(image, -90, 140)
        return drift(image, 60)

    _, results = play(10, more, gate=gate, start=53)
    ((_, box),) = regions(results)
    assert inside(box_of(-90, 140), box)


def test_a_lamp_switched_off_is_one_fresh_look_at_most(idle: MotionGate) -> None:
    def off(image: np.ndarray, n: int) -> np.ndarray:
        x = np.arange(WIDTH, dtype=np.float32)[None, :, None] / WIDTH
        return image * (0.35 + 0.4 * x)

    gate, results = play(15, off, gate=idle, start=8)
    assert len(regions(results)) <= 1
    assert results[-1].steady
    _, results = play(10, off, gate=gate, start=23)
    assert regions(results) == []


def hand_in_and_out(n: int, start: int, steps: int = 6) -> float | None:
    """Depth (mm from the bottom edge) of a hand that comes and goes."""
    k = n - start
    if not 0 <= k < 2 * steps:
        return None
    return 70.0 * (k if k < steps else 2 * steps - 1 - k)


def test_a_hand_that_passes_changes_nothing(idle: MotionGate) -> None:
    def pass_over(image: np.ndarray, n: int) -> None:
        put_tile(image, 0, 200)
        depth = hand_in_and_out(n, 16)
        if depth is not None:
            put_hand(image, 0, H - depth)

    _, results = play(36, pass_over, gate=idle, start=8)
    ((t, box),) = regions(results)
    assert t < 1.6, "only the tile, before the hand came"
    assert inside(box_of(0, 200), box)
    seen = [r.covered for r in results]
    assert sum(seen[9:19]) >= 8
    assert not any(seen[24:])
    assert results[-1].steady


def test_a_hand_holds_what_lies_beneath_and_nothing_else(idle: MotionGate) -> None:
    """One seat's hand stays and fidgets over its tiles while another seat discards."""

    def fidget(image: np.ndarray, n: int) -> None:
        if n >= 14:
            put_tile(image, -40, -160)
        if n >= 12:
            put_tile(image, 0, 240)
        put_hand(image, (n % 3) * 8.0, 250)

    _, results = play(20, fidget, gate=idle, start=8)
    found = regions(results)
    assert any(inside(box_of(-40, -160), box) for _, box in found)
    x1, y1, x2, y2 = box_of(0, 240)
    beneath = np.array([((x1 + x2) / 2, (y1 + y2) / 2)])
    assert not any(box[0] < x2 and box[2] > x1 and box[3] > y1 for _, box in found)
    assert all(result.moves_at(beneath) for result in results[2:])
    assert all(result.covered for result in results[3:])


def test_a_tile_put_down_by_a_hand_is_read_when_the_hand_has_left(idle: MotionGate) -> None:
    def discard(image: np.ndarray, n: int) -> None:
        if n >= 14:
            put_tile(image, 0, 120)
        depth = hand_in_and_out(n, 8)
        if depth is not None:
            put_hand(image, 0, H - depth)

    _, results = play(26, discard, gate=idle, start=8)
    found = [(t, box) for t, box in regions(results) if inside(box_of(0, 120), box)]
    assert len(found) == 1
    assert found[0][0] > 1.5


def test_what_moves_beside_the_felt_and_in_the_panel_is_ignored(idle: MotionGate) -> None:
    def elsewhere(image: np.ndarray, n: int) -> None:
        cv2.circle(image, (60, 40 + 10 * (n % 20)), 40, (200, 160, 120), -1)
        cv2.circle(image, (WIDTH // 2, HEIGHT // 2), int(TILE), (0, 0, 255 * (n % 2)), -1)

    _, results = play(20, elsewhere, gate=idle, start=8)
    assert regions(results) == []
    assert all(result.steady for result in results)


def test_the_same_pictures_give_the_same_answers() -> None:
    def story(image: np.ndarray, n: int) -> None:
        if n > 10:
            put_tile(image, 60, 130)
        depth = hand_in_and_out(n, 8)
        if depth is not None:
            put_hand(image, 60, H - depth)

    (_, first), (_, second) = play(25, story), play(25, story)
    assert regions(first) == regions(second)
    assert [r.covered for r in first] == [r.covered for r in second]


def test_an_idle_felt_costs_a_few_milliseconds() -> None:
    """Budget: 10 % of one core at 10 pictures of 1080p a second."""
    camera = TrueCamera()
    gate = MotionGate(calibration(camera), GEOMETRY)
    pictures = [camera.felt_with_markers(seed=n) for n in range(3)]
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    costs = []
    for n in range(25):
        start = time.thread_time()
        gate.process(Frame(n * 0.1, n, pictures[n % 3]))
        costs.append(time.thread_time() - start)
    cv2.setNumThreads(threads)
    assert float(np.median(costs)) < 0.010
