"""Random tables and rendered pictures with labels, for training the tile recogniser.

Training pictures use only artwork from outside the repository (``ART_SPLITS``); the project's own
faces stay unseen for tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import N_KINDS, Tile
from vision.geometry import TableGeometry
from vision.render.camera import CameraPose
from vision.render.renderer import Renderer, TileTruth
from vision.render.scene import Hand, Pose, Prop, Scene, SceneTile
from vision.render.style import Split, Style

DEFAULT_ART: Final = Path(__file__).resolve().parents[3] / "shared" / "data" / "art"
"""Where outside artwork lies when the checkout stands next to ``shared``."""

MIN_VISIBLE: Final = 0.4
"""Share of a face that must be seen for it to be labelled."""
MIN_OPENNESS: Final = 0.34
"""Least ratio of a face's seen height to its width, relative to a face seen straight on."""

_SKINS: Final = ((224, 182, 152), (198, 148, 112), (150, 104, 74), (96, 66, 50), (232, 198, 176))


class Label(NamedTuple):
    """One labelled face.

    ``class_index`` is the tile's index (0 to 41), 42 for a lying back; the box is in pixels inside
    the picture; ``angle_deg`` is the face's clockwise turn in the picture.
    """

    class_index: int
    x1: float
    y1: float
    x2: float
    y2: float
    angle_deg: float


@dataclass(frozen=True, eq=False)
class TrainingSample:
    """A rendered picture with all that is known of it.

    Attributes:
        picture: (h, w, 3) blue, green, red.
        truths: every face that can be seen at all, also those too hidden to be labelled.
    """

    picture: NDArray[np.uint8]
    truths: tuple[TileTruth, ...]

    def labelled(self) -> list[TileTruth]:
        """Truths that are seen well enough to be read."""
        return [truth for truth in self.truths if readable(truth)]

    def labels(self) -> list[Label]:
        """Labels of the readable faces, boxes clipped to the picture."""
        height, width = self.picture.shape[:2]
        result = []
        for truth in self.labelled():
            x1, y1, x2, y2 = truth.box
            box = max(x1, 0.0), max(y1, 0.0), min(x2, float(width)), min(y2, float(height))
            result.append(Label(int(truth.tile), *box, truth.rotation_deg))
        return result


def readable(truth: TileTruth) -> bool:
    """Whether a face is uncovered and open enough to be labelled."""
    if truth.visible < MIN_VISIBLE:
        return False
    p = truth.polygon
    across = float(np.linalg.norm((p[1] + p[2] - p[0] - p[3]) / 2))
    down = float(np.linalg.norm((p[2] + p[3] - p[0] - p[1]) / 2))
    return across >= 7 and MIN_OPENNESS <= down / across / 1.35 <= 1 / MIN_OPENNESS


# --- scenes --------------------------------------------------------------------------------------


class _Layout:
    """Collects the tiles of one random table."""

    def __init__(self, rng: np.random.Generator, geometry: TableGeometry) -> None:
        self.rng, self.geometry = rng, geometry
        self.tiles: list[SceneTile] = []
        self.neat = float(rng.choice([0.4, 1.0, 2.2]))

    def kind(self) -> Tile:
        """Any kind; flowers as often as others."""
        return Tile(int(self.rng.integers(N_KINDS)))

    def put(
        self, seat: int, x: float, y: float, tile: Tile, *, turn: float = 0.0,
        pose: Pose = Pose.FLAT_UP, level: int = 0,
    ) -> None:  # fmt: skip
        """Lay a tile in a seat's frame (tile widths), a little off its place."""
        rng, loose = self.rng, self.neat * (0.4 if level else 1.0)
        x_mm, y_mm = self.geometry.to_table(
            seat, x + rng.normal(0, 0.012 * loose), y + rng.normal(0, 0.025 * loose)
        )
        angle = self.geometry.seat_angle(seat) + turn + rng.normal(0, 1.2 * loose)
        self.tiles.append(SceneTile(tile, x_mm, y_mm, angle % 360, pose, level))

    def river(self, seat: int) -> None:
        """Discards in rows; sometimes one lies across."""
        across = int(self.rng.integers(60))
        step = float(self.rng.uniform(1.0, 1.06))
        for index in range(int(self.rng.integers(0, 22))):
            x, y = self.geometry.river_slot(index)
            turn = 90.0 if index == across else 0.0
            self.put(seat, x * step + 0.18 * (turn > 0), y, self.kind(), turn=turn)

    def wall(self, seat: int) -> None:
        """A stretch of wall, two high."""
        count = int(self.rng.integers(0, 19))
        start = int(self.rng.integers(0, 19 - count))
        middle = sum(self.geometry.wall) / 2
        for index in range(start, start + count):
            x = (index - 8.5) * 1.015
            self.put(seat, x, middle, self.kind(), pose=Pose.FLAT_DOWN)
            top = self.rng.random()
            if top < 0.93:
                up = top < 0.02
                self.put(seat, x, middle, self.kind(),
                         pose=Pose.FLAT_UP if up else Pose.FLAT_DOWN, level=1)  # fmt: skip

    def exposed(self, seat: int) -> None:
        """Melds from the right, flowers from the left."""
        rng = self.rng
        y = sum(self.geometry.exposed) / 2
        right = self.geometry.exposed[0] - 0.1
        for _ in range(int(rng.integers(0, 5))):
            size = int(rng.choice([3, 3, 3, 4]))
            first, run = self.kind(), rng.random() < 0.4
            claimed = int(rng.integers(-2, size))
            hidden = size == 4 and rng.random() < 0.4
            for k in range(size):
                tile = Tile((first + k) % N_KINDS) if run else first
                turned = k == claimed and not hidden
                half = 0.675 if turned else 0.5
                down = hidden and (k in {0, 3} or rng.random() < 0.3)
                self.put(seat, right - half, y + (0.175 if turned else 0), tile,
                         turn=90.0 if turned else 0.0,
                         pose=Pose.FLAT_DOWN if down else Pose.FLAT_UP)  # fmt: skip
                right -= 2 * half + 0.015
            right -= float(rng.uniform(0.05, 0.5))
        for k in range(int(rng.integers(0, 6))):
            x = 0.6 - self.geometry.exposed[0] + k * 1.03
            if x > right - 1:
                break
            self.put(seat, x, y, Tile(34 + int(rng.integers(8))))

    def rack(self, seat: int) -> None:
        """A concealed hand standing, laid open, or laid down."""
        rng = self.rng
        y = sum(self.geometry.rack) / 2
        count = int(rng.choice([1, 2, 4, 5, 7, 8, 10, 11, 13, 14]))
        pose = (Pose.STANDING, Pose.FLAT_UP, Pose.FLAT_DOWN)[
            int(rng.choice(3, p=[0.45, 0.45, 0.1]))
        ]
        shift = float(rng.uniform(-1.5, 1.5))
        for k in range(count):
            gap = 0.5 if k == count - 1 and rng.random() < 0.3 else 0.0
            self.put(seat, (k - (count - 1) / 2) * 1.005 + shift + gap, y, self.kind(), pose=pose)

    def pile(self) -> None:
        """Tiles thrown together, some face down, some standing."""
        rng, w = self.rng, self.geometry.tile_width_mm
        half = self.geometry.half_mm * 0.9
        cx, cy = rng.uniform(-half * 0.5, half * 0.5, 2)
        spread = float(rng.uniform(2, 6)) * w
        tight = float(rng.choice([1.0, 1.04, 1.15, 1.4]))
        share_up = float(rng.choice([0.5, 0.8, 1.0]))
        aligned = float(rng.choice([4.0, 25.0, 180.0]))
        base = float(rng.uniform(0, 360))
        placed: list[SceneTile] = list(self.tiles)
        for _ in range(int(rng.integers(12, 160))):
            x, y = rng.normal((cx, cy), spread)
            if max(abs(x), abs(y)) > half:
                continue
            turn = base + float(rng.uniform(-aligned, aligned)) + 90 * int(rng.integers(4))
            chance = rng.random()
            pose = Pose.FLAT_UP
            if chance > share_up:
                pose = Pose.FLAT_DOWN if rng.random() < 0.7 else Pose.STANDING
            new = SceneTile(self.kind(), float(x), float(y), turn % 360, pose)
            if all(_apart(new, old, w, tight) for old in placed):
                placed.append(new)
                self.tiles.append(new)


def _apart(a: SceneTile, b: SceneTile, w: float, slack: float) -> bool:
    """Whether two lying tiles do not overlap (separating axes)."""
    dx, dy = b.x_mm - a.x_mm, b.y_mm - a.y_mm
    if math.hypot(dx, dy) > 1.7 * w * slack:
        return True
    half = np.array([w * 0.5, w * 0.675]) * slack
    for first, second in ((a, b), (b, a)):
        angle = math.radians(first.rotation_deg)
        c, s = math.cos(angle), math.sin(angle)
        between = np.abs([dx * c + dy * s, -dx * s + dy * c])
        relative = math.radians(second.rotation_deg - first.rotation_deg)
        rc, rs = abs(math.cos(relative)), abs(math.sin(relative))
        extent = np.array([half[0] * rc + half[1] * rs, half[0] * rs + half[1] * rc])
        if (between >= half + extent).any():
            return True
    return False


def random_table_scene(rng: np.random.Generator, geometry: TableGeometry) -> Scene:
    """A table in the middle of a game, a heap of tiles, or both, with what else lies about.

    Kinds are drawn evenly, not four of each: every face is seen as often as any other.
    """
    layout = _Layout(rng, geometry)
    messy = rng.random()
    if messy > 0.25:
        for seat in range(4):
            for part, chance in (
                (layout.river, 0.9), (layout.wall, 0.6), (layout.exposed, 0.75),
                (layout.rack, 0.85),
            ):  # fmt: skip
                if rng.random() < chance:
                    part(seat)
    if messy < 0.4:
        layout.pile()
    tiles = _cleared(layout.tiles, geometry) if messy > 0.25 else layout.tiles
    return Scene(
        tiles=tuple(tiles),
        hands=tuple(_random_hands(rng, geometry)),
        props=tuple(_random_props(rng, geometry, tiles)),
        dice=(int(rng.integers(1, 7)), int(rng.integers(1, 7))),
        panel_open=bool(rng.random() < 0.15),
        led_texts=tuple(str(int(v)) for v in rng.integers(-99, 999, 4)),
        active_seat=int(rng.integers(4)),
        panel=messy > 0.25,
    )


def _cleared(tiles: Iterable[SceneTile], geometry: TableGeometry) -> list[SceneTile]:
    """Without tiles on the centre panel."""
    limit = (geometry.panel + 0.45) * geometry.tile_width_mm
    return [t for t in tiles if max(abs(t.x_mm), abs(t.y_mm)) > limit]


def _random_hands(rng: np.random.Generator, geometry: TableGeometry) -> list[Hand]:
    hands = []
    for seat in range(4):
        if rng.random() > 0.14:
            continue
        x, y = rng.uniform(-9, 9), rng.uniform(1, 14)
        x_mm, y_mm = geometry.to_table(seat, float(x), float(y))
        skin = _SKINS[int(rng.integers(len(_SKINS)))]
        sleeve = tuple(int(v) for v in rng.integers(15, 235, 3))
        angle = geometry.seat_angle(seat) + rng.normal(0, 22)
        hands.append(Hand(x_mm, y_mm, float(angle), 700.0, skin,
                          (sleeve[0], sleeve[1], sleeve[2]),
                          float(rng.uniform(40, 110))))  # fmt: skip
    return hands


def _random_props(
    rng: np.random.Generator, geometry: TableGeometry, tiles: Iterable[SceneTile]
) -> list[Prop]:
    """Chips, point sticks, a phone, a case, where no tile lies."""
    props: list[Prop] = []
    occupied = [(t.x_mm, t.y_mm, geometry.tile_width_mm) for t in tiles]
    for _ in range(int(rng.integers(0, 9)) if rng.random() < 0.6 else 0):
        form = rng.random()
        colour = tuple(int(v) for v in rng.integers(20, 245, 3))
        if form < 0.55:
            d = float(rng.uniform(24, 42))
            size, is_round = (d, d, float(rng.uniform(2, 16))), True
        elif form < 0.8:
            size, is_round = (float(rng.uniform(5, 9)), float(rng.uniform(60, 90)), 3.0), False
        else:
            size, is_round = (float(rng.uniform(40, 75)), float(rng.uniform(70, 150)), 9.0), False
        x, y = rng.uniform(-0.92, 0.92, 2) * geometry.half_mm
        reach = max(size[0], size[1]) * 0.6
        if all(math.hypot(x - ox, y - oy) > reach + gap for ox, oy, gap in occupied):
            occupied.append((float(x), float(y), reach))
            props.append(Prop(float(x), float(y), *size, float(rng.uniform(0, 180)),
                              (colour[0], colour[1], colour[2]), is_round))  # fmt: skip
    return props


# --- pictures ------------------------------------------------------------------------------------


def random_camera(
    rng: np.random.Generator, scene: Scene, geometry: TableGeometry, tile_px: tuple[float, float]
) -> CameraPose:
    """A camera over some face-up tile of the scene, up to 45 degrees off the vertical."""
    shown = [t for t in scene.tiles if t.pose is not Pose.FLAT_DOWN] or list(scene.tiles)
    target = (0.0, 0.0)
    if shown:
        tile = shown[int(rng.integers(len(shown)))]
        target = (tile.x_mm + float(rng.normal(0, 45)), tile.y_mm + float(rng.normal(0, 45)))
    overhead = rng.random() < 0.55
    width = math.exp(rng.uniform(math.log(tile_px[0]), math.log(tile_px[1])))
    quarter = 90.0 * int(rng.integers(4))
    return CameraPose(
        target_mm=target,
        distance_mm=float(rng.uniform(650, 1700)),
        tilt_deg=float(rng.uniform(0, 10) if overhead else rng.uniform(8, 45)),
        azimuth_deg=quarter + float(rng.normal(0, 14)),
        roll_deg=float(rng.normal(0, 4)) if rng.random() < 0.7 else float(rng.uniform(0, 360)),
        mm_per_px=geometry.tile_width_mm / width,
        k1=float(rng.uniform(-0.1, 0.04)),
    )


def render_training_sample(
    rng: np.random.Generator,
    split: Split = "train",
    size: tuple[int, int] = (640, 640),
    art_folder: Path | None = None,
    tile_px: tuple[float, float] = (16, 60),
) -> TrainingSample:
    """A random picture of part of a table with its truth.

    Args:
        rng: the only source of randomness: the same state gives the same sample.
        split: whose looks to use, see :mod:`vision.render.style`.
        size: (width, height) of the picture in pixels.
        art_folder: outside artwork, by default :data:`DEFAULT_ART`.
        tile_px: range of the width of a tile, in pixels.

    Raises:
        vision.art.raster.ArtError: the artwork for training is missing.
    """
    geometry = _random_geometry(rng)
    scene = random_table_scene(rng, geometry)
    style = Style.random(rng, split, art_folder or DEFAULT_ART)
    camera = random_camera(rng, scene, geometry, tile_px)
    blur = float(rng.uniform(0.0, 0.03)) * geometry.tile_width_mm / camera.mm_per_px
    style = replace(style, camera=camera, defocus_px=0.25 + blur,
                    markers=bool(rng.random() < 0.4))  # fmt: skip
    renderer = Renderer(style, geometry, size)
    picture = renderer.render(scene)
    truths = tuple(renderer.truth(scene))
    return TrainingSample(_develop(rng, picture), truths)


def render_training_picture(
    rng: np.random.Generator,
    split: Split = "train",
    size: tuple[int, int] = (640, 640),
    art_folder: Path | None = None,
    tile_px: tuple[float, float] = (16, 60),
) -> tuple[NDArray[np.uint8], list[Label]]:
    """:func:`render_training_sample` as (picture, labels)."""
    sample = render_training_sample(rng, split, size, art_folder, tile_px)
    return sample.picture, sample.labels()


def _random_geometry(rng: np.random.Generator) -> TableGeometry:
    """Tile sets differ in proportion."""
    return TableGeometry(
        tile_length=float(rng.uniform(1.26, 1.42)), tile_depth=float(rng.uniform(0.55, 0.85))
    )


def _develop(rng: np.random.Generator, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What happens behind the lens: a shadow of a person, contrast, motion, JPEG."""
    height, width = picture.shape[:2]
    work = picture
    if rng.random() < 0.4:
        ramp = rng.uniform(120, 255, (3, 3)).astype(np.float32)
        smooth = cv2.convertScaleAbs(
            cv2.resize(ramp, (width, height), interpolation=cv2.INTER_CUBIC)
        )
        work = np.asarray(cv2.multiply(work, cv2.merge([smooth] * 3), scale=1 / 235), np.uint8)
    gamma, contrast = float(rng.uniform(0.8, 1.25)), float(rng.uniform(0.85, 1.2))
    curve = 255 * np.power(np.arange(256, dtype=np.float32) / 255, np.float32(gamma))
    curve = np.clip((curve - 110) * contrast + 110, 0, 255).astype(np.uint8)
    result = np.asarray(cv2.LUT(work, curve), np.uint8)
    if rng.random() < 0.12:
        length, angle = int(rng.integers(2, 5)), float(rng.uniform(0, math.pi))
        kernel = np.zeros((9, 9), np.float32)
        tip = (round(4 + length * math.cos(angle)), round(4 + length * math.sin(angle)))
        cv2.line(kernel, (4, 4), tip, 1.0, 1)
        result = np.asarray(cv2.filter2D(result, -1, kernel / kernel.sum()), np.uint8)
    if rng.random() < 0.25:
        soft = cv2.GaussianBlur(result, (0, 0), 1.0)
        result = np.asarray(cv2.addWeighted(result, 1.7, soft, -0.7, 0), np.uint8)
    if rng.random() < 0.7:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(45, 96))]
        _, data = cv2.imencode(".jpg", result, quality)
        result = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return result
