"""Rendered tables for training: ``python -m vision.training.scenes --out runs/scenes --count 300``.

Random positions of a game, drawn by :mod:`vision.render` with its *training* artwork, felts and
lamps only; what demonstration and tests use is never drawn here. Writes ``<number>.jpg`` and
``<number>.json`` (see :class:`vision.training.detector_data.Synthetic`); tiles of which less than
``MIN_VISIBLE`` can be seen are marked ``"ignore"``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tablectl.tiles import N_KINDS, Tile, format_tile
from vision.art import ATLAS_CELL
from vision.art.sets import ArtSet as RenderedArt
from vision.art.sets import load_art as load_rendered
from vision.geometry import TableGeometry
from vision.one_set import COPIES
from vision.render.renderer import Renderer, TileTruth
from vision.render.scene import Hand, Pose, Prop, Scene, SceneTile
from vision.render.style import Style

from .artwork import ArtSet, load_art
from .faces.sets import random_set
from .outside import load_folder

MIN_VISIBLE = 0.55
ONE_SET = [kind for kind, copies in enumerate(COPIES) for _ in range(copies)]
SKINS = ((214, 168, 138), (236, 196, 170), (150, 104, 76), (96, 66, 50), (196, 150, 110))


class TableDealer:
    """Lays random but plausible tiles; positions in a seat's frame, in tile widths.

    ``one_set``: faces are those of one set of 144 tiles, and it ends when it is used up; else any
    face comes at any time, flowers more often than in play.
    """

    def __init__(
        self, geometry: TableGeometry, rng: np.random.Generator, *, one_set: bool = False
    ) -> None:
        self.geometry, self.rng = geometry, rng
        self.left = [int(i) for i in rng.permutation(ONE_SET)] if one_set else None
        self.tiles: list[SceneTile] = []
        self.slop = float(rng.choice([0.5, 1.5, 4.0]))
        weights = np.ones(N_KINDS)
        weights[34:] = 1.6
        self.weights = weights / weights.sum()

    def kind(self) -> Tile | None:
        """One of the 42 faces; None when the set is used up."""
        if self.left is not None:
            return Tile(self.left.pop()) if self.left else None
        return Tile(int(self.rng.choice(N_KINDS, p=self.weights)))

    def lay(
        self,
        seat: int,
        x: float,
        y: float,
        turn: float = 0,
        pose: Pose = Pose.FLAT_UP,
        level: int = 0,
    ) -> None:
        """Add a random tile with a little disorder."""
        dx, dy = self.rng.normal(0, 0.012 * self.slop, 2)
        x_mm, y_mm = self.geometry.to_table(seat, x + dx, y + dy)
        angle = self.geometry.seat_angle(seat) + turn + float(self.rng.normal(0, self.slop))
        kind = Tile(0) if self.left is not None and pose is not Pose.FLAT_UP else self.kind()
        if kind is not None:
            self.tiles.append(SceneTile(kind, x_mm, y_mm, angle % 360, pose, level))

    def river(self, seat: int) -> None:
        """Discards in rows of six; sometimes one turned sideways."""
        count = int(self.rng.integers(0, 25))
        turned = int(self.rng.integers(0, 40))
        for index in range(count):
            x, y = self.geometry.river_slot(index)
            self.lay(seat, x * (1.06 if turned < count else 1), y, 90 if index == turned else 0)

    def wall(self, seat: int) -> None:
        """Part of a two-high wall, at times with the indicator turned up on it."""
        first, last = sorted(int(v) for v in self.rng.integers(0, 19, 2))
        y = sum(self.geometry.wall) / 2
        shown = int(self.rng.integers(0, 60))
        for index in range(first, last):
            x = (index - 8.5) * 1.01
            self.lay(seat, x, y, 0, Pose.FLAT_DOWN)
            if self.rng.random() < 0.9:
                pose = Pose.FLAT_UP if index == shown else Pose.FLAT_DOWN
                self.lay(seat, x, y, 180 * int(self.rng.integers(2)), pose, 1)

    def exposed(self, seat: int) -> None:
        """Melds from the right, flowers from the left."""
        y = sum(self.geometry.exposed) / 2
        x = 11.0
        for _ in range(int(self.rng.integers(0, 5))):
            count = int(self.rng.integers(3, 5))
            turned = int(self.rng.integers(-1, count))
            closed = count == 4 and turned < 0
            for index in range(count):
                width = self.geometry.tile_length if index == turned else 1.0
                x -= width / 2
                down = closed and index in (0, 3) and self.rng.random() < 0.6
                pose = Pose.FLAT_DOWN if down else Pose.FLAT_UP
                self.lay(
                    seat, x, y, float(self.rng.choice([90, 270])) if index == turned else 0, pose
                )
                x -= width / 2
            x -= 0.4
        for index in range(int(self.rng.integers(0, 5))):
            if -11 + index * 1.02 < x - 1:
                self.lay(seat, -11 + index * 1.02, y)

    def rack(self, seat: int) -> None:
        """The hand: standing, laid open, or laid face down."""
        y = sum(self.geometry.rack) / 2
        kind = self.rng.random()
        pose = Pose.STANDING if kind < 0.55 else Pose.FLAT_UP if kind < 0.9 else Pose.FLAT_DOWN
        gap = float(self.rng.choice([1.0, 1.01, 1.08]))
        for index in range(int(self.rng.integers(0, 15))):
            self.lay(seat, (index - 7) * gap, y, 0, pose)

    def loose(self) -> None:
        """Tiles anywhere in the middle, as while washing or after a hand."""
        for _ in range(int(self.rng.integers(10, 60))):
            x, y = (float(v) for v in self.rng.uniform(-12, 12, 2))
            place = self.geometry.to_table(0, x, y)
            near = [t for t in self.tiles if abs(t.x_mm - place[0]) + abs(t.y_mm - place[1]) < 50]
            if not near:
                pose = Pose.FLAT_DOWN if self.rng.random() < 0.4 else Pose.FLAT_UP
                self.lay(0, x, y, float(self.rng.uniform(0, 360)), pose)


def random_scene(
    geometry: TableGeometry, rng: np.random.Generator, *, one_set: bool = False
) -> Scene:
    """A table in the middle of something; ``one_set`` as for :class:`TableDealer`."""
    dealer = TableDealer(geometry, rng, one_set=one_set)
    if rng.random() < 0.15:
        dealer.loose()
    else:
        for seat in range(4):
            for lay in (dealer.river, dealer.wall, dealer.exposed, dealer.rack):
                if rng.random() < 0.8:
                    lay(seat)
    hands = tuple(_random_hand(rng) for _ in range(int(rng.choice([0, 0, 0, 1, 2]))))
    props = tuple(_random_prop(rng) for _ in range(int(rng.integers(0, 5))))
    texts = tuple(str(int(rng.integers(0, 9999))) for _ in range(4))
    dice = (int(rng.integers(1, 7)), int(rng.integers(1, 7))) if rng.random() < 0.7 else None
    return Scene(
        tuple(dealer.tiles),
        hands,
        props,
        dice,
        bool(rng.random() < 0.1),
        texts,
        int(rng.integers(4)),
    )


def _random_hand(rng: np.random.Generator) -> Hand:
    seat_angle = 90.0 * int(rng.integers(4)) + float(rng.normal(0, 25))
    x, y = (float(v) for v in rng.uniform(-300, 300, 2))
    skin = SKINS[int(rng.integers(len(SKINS)))]
    red, green, blue = (int(v) for v in rng.integers(20, 230, 3))
    return Hand(x, y, seat_angle, 900.0, skin, (red, green, blue))


def _random_prop(rng: np.random.Generator) -> Prop:
    x, y = (float(v) for v in rng.uniform(-430, 430, 2))
    red, green, blue = (float(v) for v in rng.integers(20, 250, 3))
    colour = (int(red), int(green), int(blue))
    if rng.random() < 0.6:
        size = float(rng.uniform(22, 45))
        return Prop(x, y, size, size, 3.0, 0.0, colour, round=True)
    width, length = float(rng.uniform(6, 80)), float(rng.uniform(60, 160))
    return Prop(x, y, width, length, float(rng.uniform(3, 20)), float(rng.uniform(0, 360)), colour)


def made_up_art(arts: list[ArtSet], rng: np.random.Generator) -> RenderedArt:
    """A made-up set for the renderer."""
    art = random_set(rng, arts)
    faces = [
        cv2.resize(art.faces[tile][0], ATLAS_CELL, interpolation=cv2.INTER_CUBIC)
        for tile in range(N_KINDS)
    ]
    return RenderedArt("made up", np.stack(faces).astype(np.uint8))


def with_hidden_backs(style: Style, rng: np.random.Generator) -> Style:
    """The same look with backs of nearly the felt's colour, as green sets on green cloth have."""
    light = float(np.exp(rng.normal(0.1, 0.2)))
    red, green, blue = (
        float(np.clip(part * light + rng.normal(0, 10), 0, 255)) for part in style.felt
    )
    return replace(style, back=(red, green, blue))


def truth_row(found: TileTruth) -> dict[str, Any]:
    """One JSON row."""
    return {
        "quad": np.round(found.polygon, 2).tolist(),
        "tile": format_tile(found.tile),
        "rotation": round(found.rotation_deg, 2),
        "ignore": bool(found.visible < MIN_VISIBLE),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--art", type=Path, default=Path("../shared/data/art"))
    parser.add_argument("--out", type=Path, default=Path("runs/scenes"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first picture")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--made-up", type=float, default=0.0, help="share with a made-up set")
    parser.add_argument(
        "--hidden-backs", type=float, default=0.0, help="share with backs of the felt's colour"
    )
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of faces to lend")
    parser.add_argument(
        "--faces", type=Path, nargs="*", default=[], help="folders of faces to draw with, in turn"
    )
    options = parser.parse_args()
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    geometry = TableGeometry()
    arts = load_art(options.art) if options.made_up else []
    arts += [load_folder(folder) for folder in options.sets]
    fixed = [load_rendered(folder) for folder in options.faces]
    for number in range(options.first, options.first + options.count):
        rng = np.random.default_rng([options.seed, number])
        style = Style.random(rng, "train", options.art)
        if rng.random() < options.made_up:
            style = replace(style, art=made_up_art(arts, rng))
        if fixed:
            style = replace(style, art=fixed[number % len(fixed)])
        if options.hidden_backs and rng.random() < options.hidden_backs:
            style = with_hidden_backs(style, rng)
        height = int(rng.choice([900, 1080, 1080, 1300]))
        renderer = Renderer(style, geometry, (int(height * 1.15), height))
        scene = random_scene(geometry, rng)
        stem = options.out / f"{number:05d}"
        picture = renderer.render(scene)
        cv2.imwrite(str(stem.with_suffix(".jpg")), picture, [cv2.IMWRITE_JPEG_QUALITY, 93])
        rows = [truth_row(found) for found in renderer.truth(scene)]
        stem.with_suffix(".json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
