"""A rendered table under test control, and a recogniser that knows the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import BACK, Tile, parse_tile, parse_tiles
from vision.calibration import Calibration
from vision.calibration_fit import calibrate_from_markers
from vision.detector.detection import Detection
from vision.detector.plain import Colours
from vision.geometry import TableGeometry
from vision.render.renderer import Renderer, TileTruth
from vision.render.scene import Hand, Pose, Scene, SceneTile
from vision.render.style import Style
from vision.sources import Frame

GEOMETRY = TableGeometry()
DEPTH = 12.2
"""Where in the exposed band (tile widths from the centre) melds are laid: 11.6 is its middle."""


@dataclass
class TruthDetector:
    """Answers from the renderer's truth, with the errors a recogniser makes.

    It is given crops of the newest picture and finds out where they were cut by their noise.

    Attributes:
        unsure: share of looks at a tile that name a wrong kind, with low confidence.
        missed: share of looks that miss a tile.
        jitter_px: of the boxes.
        visible: share of a face that must be seen.
        never: tiles that no look finds.
        colours: what it was told last about the tiles of the table.
        guess: what it says of a thing that it is told to be a tile; any kind when ``None``.
        ghosts: places (table mm) where a tile is seen though there is none, in ``ghost_share`` of
            the looks.
    """

    world: World
    unsure: float = 0.0
    missed: float = 0.0
    jitter_px: float = 0.0
    visible: float = 0.75
    seed: int = 0
    never: tuple[SceneTile, ...] = ()
    guess: Mapping[str, float] | None = None
    ghosts: tuple[tuple[float, float], ...] = ()
    ghost_share: float = 0.4
    calls: int = 0
    colours: Colours | None = None

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def detect(
        self,
        image: np.ndarray,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> Sequence[Detection]:
        self.calls += 1
        self.colours = colours
        assert tile_px is not None
        assert 0.7 < tile_px / self.world.renderer.tile_px < 1.4
        x0, y0 = locate_crop(self.world.image, image)
        height, width = image.shape[:2]
        found = []
        for truth in self.world.truth():
            x1, y1, x2, y2 = truth.box
            cx, cy = (x1 + x2) / 2 - x0, (y1 + y2) / 2 - y0
            if truth.visible < self.visible or not (0 <= cx < width and 0 <= cy < height):
                continue
            if self.rng.random() < self.missed or truth.source in self.never:
                continue
            found.append(self._detection(truth, (x0, y0), (width, height)))
        return found + self._ghosts((x0, y0), (width, height))

    def classify(
        self, image: np.ndarray, boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        kinds = np.full((len(boxes), 43), 0.0 if self.guess else 1 / 43, np.float32)
        for name, chance in (self.guess or {}).items():
            kinds[:, int(parse_tile(name))] = chance
        return kinds, np.zeros(len(boxes), np.float32)

    def _ghosts(self, origin: tuple[int, int], size: tuple[int, int]) -> list[Detection]:
        found = []
        w = self.world.renderer.tile_px
        for place in self.ghosts:
            x, y = self.world.renderer.project([place])[0] - np.array(origin)
            inside = 0 <= x < size[0] and 0 <= y < size[1]
            if inside and self.rng.random() < self.ghost_share:
                kinds = self.rng.dirichlet(np.full(43, 0.1))
                box = (x - w / 2, y - 0.675 * w, x + w / 2, y + 0.675 * w)
                found.append(Detection(box, 0.6, tuple(float(k) for k in kinds), 0.0))
        return found

    def _detection(
        self, truth: TileTruth, origin: tuple[int, int], size: tuple[int, int]
    ) -> Detection:
        shift = self.rng.normal(0, self.jitter_px, 4) if self.jitter_px else np.zeros(4)
        box = np.array(truth.box) - np.array([*origin, *origin]) + shift
        box = np.clip(box, 0, np.array([*size, *size]))
        kinds = np.full(43, 0.0005)
        kinds[truth.tile] = 1 - 42 * 0.0005
        if self.rng.random() < self.unsure:
            other = int(self.rng.integers(43))
            kinds = np.full(43, 0.002)
            kinds[other] += 0.5
            kinds[truth.tile] += 0.414
        x1, y1, x2, y2 = (float(v) for v in box)
        return Detection((x1, y1, x2, y2), 0.97, tuple(float(k) for k in kinds), truth.rotation_deg)


def locate_crop(image: np.ndarray, crop: np.ndarray) -> tuple[int, int]:
    """Where a crop was cut from a noisy picture."""
    height, width = crop.shape[:2]
    rows = image.shape[0] - height + 1
    columns = image.shape[1] - width + 1
    y, x = np.nonzero((image[:rows, :columns] == crop[0, 0]).all(axis=2))
    for dy, dx in ((3, 7), (11, 2), (17, 13), (5, 23), (height - 1, width - 1)):
        same = (image[y + dy, x + dx] == crop[dy, dx]).all(axis=1)
        y, x = y[same], x[same]
    return int(x[0]), int(y[0])


@dataclass
class World:
    """A table whose tiles and hands the test moves; gives frames at 10 per second."""

    style: Style = field(default_factory=Style)
    size: tuple[int, int] = (1920, 1080)
    scene: Scene = field(default_factory=Scene)
    interval: float = 0.1

    def __post_init__(self) -> None:
        self.renderer = Renderer(self.style, GEOMETRY, self.size)
        self.image = np.zeros((self.size[1], self.size[0], 3), np.uint8)
        self.t = 0.0
        self.seq = 0
        self._truth: tuple[Scene, list[TileTruth]] | None = None

    def reset(self) -> None:
        """An empty table at time 0; the renderer's layers are kept."""
        self.scene, self.t, self.seq = Scene(), 0.0, 0

    def calibrate(self) -> Calibration:
        empty = self.renderer.render(Scene())
        height = float(self.renderer.camera.position[2])
        return calibrate_from_markers(empty, GEOMETRY, camera_height_mm=height)

    def truth(self) -> list[TileTruth]:
        if self._truth is None or self._truth[0] != self.scene:
            self._truth = (self.scene, self.renderer.truth(self.scene))
        return self._truth[1]

    def frame(self, hands: tuple[Hand, ...] = ()) -> Frame:
        if hands != self.scene.hands:
            self.scene = replace(self.scene, hands=hands)
        self.image = self.renderer.render(self.scene)
        frame = Frame(round(self.t, 3), self.seq, self.image)
        self.t += self.interval
        self.seq += 1
        return frame

    def frames(self, count: int, hands: tuple[Hand, ...] = ()) -> Iterator[Frame]:
        for _ in range(count):
            yield self.frame(hands)

    def sweep(self, x: float, y: float, angle: float, steps: int = 5) -> Iterator[Frame]:
        """A hand comes in from outside along its direction to a place, and goes back."""
        direction = np.array([np.sin(np.radians(angle)), -np.cos(np.radians(angle))])
        away = np.linspace(500, 0, steps)
        for distance in (*away, *away[::-1]):
            px, py = np.array([x, y]) - direction * distance
            yield self.frame((Hand(float(px), float(py), angle),))

    def put(self, *tiles: SceneTile) -> None:
        self.scene = replace(self.scene, tiles=(*self.scene.tiles, *tiles))

    def take(self, *tiles: SceneTile) -> None:
        self.scene = replace(self.scene, tiles=tuple(t for t in self.scene.tiles if t not in tiles))


def lay(
    seat: int, x: float, y: float, tile: str, turn: float = 0.0, pose: Pose = Pose.FLAT_UP,
    level: int = 0,
) -> SceneTile:  # fmt: skip
    """A tile at a place of a seat's frame (tile widths)."""
    mm = GEOMETRY.to_table(seat, x, y)
    kind = Tile(0) if tile == "back" else parse_tile(tile)
    if tile == "back":
        pose = Pose.FLAT_DOWN
    rotation = (GEOMETRY.seat_angle(seat) + turn) % 360
    return SceneTile(kind, mm[0], mm[1], rotation, pose, level)


def river(seat: int, tiles: str, first: int = 0) -> list[SceneTile]:
    out = []
    for n, tile in enumerate(parse_tiles(tiles)):
        x, y = GEOMETRY.river_slot(first + n)
        out.append(lay(seat, x, y, names(tile)))
    return out


def row(
    seat: int, y: float, tiles: Sequence[str], start: float, gap: float = 0.04
) -> list[SceneTile]:
    """Tiles side by side from x = start to the right; ``"<3m"`` lies across."""
    out = []
    x = start
    for text in tiles:
        across = text.startswith("<")
        width = GEOMETRY.tile_length if across else 1.0
        low = (GEOMETRY.tile_length - 1) / 2 if across else 0.0
        out.append(lay(seat, x + width / 2, y + low, text.lstrip("<"), 90.0 if across else 0.0))
        x += width + gap
    return out


def walls() -> list[SceneTile]:
    """Four walls of seventeen stacks."""
    return [
        lay(seat, (n - 8) * 1.02, 9.7, "back", level=level)
        for seat in range(4)
        for n in range(17)
        for level in (0, 1)
    ]


def standing_hands() -> list[SceneTile]:
    return [
        lay(seat, (n - 6) * 1.03, 13.6, "5p", pose=Pose.STANDING)
        for seat in range(4)
        for n in range(13)
    ]


def names(tile: Tile) -> str:
    from tablectl.tiles import format_tile

    assert tile != BACK
    return format_tile(tile)
