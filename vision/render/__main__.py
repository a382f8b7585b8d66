"""``python -m vision.render``: one picture of a table, or how long pictures take.

``--out FILE`` writes a picture in the middle of a game; ``--bench`` prints the processor time of
a first frame and of frames in which a hand moved and a tile was added.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from tablectl.tiles import N_PLAYING, Tile
from vision.art.raster import ArtError
from vision.art.sets import load_art
from vision.geometry import TableGeometry
from vision.render.renderer import Renderer
from vision.render.scene import Hand, Pose, Scene, SceneTile
from vision.render.style import Style


def sample_scene(seed: int = 1, geometry: TableGeometry | None = None) -> Scene:
    """A game in its middle: rivers, walls, melds, flowers and concealed hands of four seats."""
    table = geometry or TableGeometry()
    rng = np.random.default_rng(seed)
    deck = [Tile(kind) for kind in range(N_PLAYING) for _ in range(4)]
    deck = [deck[int(i)] for i in rng.permutation(len(deck))]
    tiles: list[SceneTile] = []

    def lay(seat: int, at: tuple[float, float], tile: Tile, pose: Pose, level: int = 0) -> None:
        x_mm, y_mm = table.to_table(seat, *at)
        angle = (table.seat_angle(seat) + float(rng.normal(0, 1.5 - level))) % 360
        tiles.append(SceneTile(tile, x_mm, y_mm, angle, pose, level))

    wall_y, exposed_y, rack_y = (sum(b) / 2 for b in (table.wall, table.exposed, table.rack))
    for seat in range(4):
        for index in range(int(rng.integers(7, 13))):
            lay(seat, table.river_slot(index), deck.pop(), Pose.FLAT_UP)
        for index in range(0 if seat == 0 else 14):
            for level in (0, 1):
                lay(seat, ((index - 8.5) * 1.015, wall_y), Tile(0), Pose.FLAT_DOWN, level)
        for index in range(3):
            lay(seat, (8 + 1.03 * index, exposed_y), deck[0], Pose.FLAT_UP)
        lay(seat, (-10, exposed_y), Tile(34 + seat), Pose.FLAT_UP)
        for index in range(10):
            lay(seat, ((index - 4.5) * 1.015, rack_y), deck.pop(), Pose.STANDING)
    hand = Hand(90, 250, -12)
    return Scene(tuple(tiles), (hand,), (), (3, 5), led_texts=("25", "-8", "12", "-29"),
                 active_seat=0)  # fmt: skip


def measure(style: Style, size: tuple[int, int], frames: int) -> str:
    """Processor time of a first frame and of later frames, one line."""
    cv2.setNumThreads(1)
    scene = sample_scene()
    clock = time.process_time
    start = clock()
    renderer = Renderer(style, size=size)
    ready = clock()
    renderer.render(scene)
    first = clock()
    later = []
    for step in range(frames):
        hand = replace(scene.hands[0], x_mm=90.0 + 6 * step)
        new = SceneTile(Tile(step % N_PLAYING), 60 + 30 * (step % 6), 210.0)
        begin = clock()
        renderer.render(replace(scene, tiles=(*scene.tiles, new), hands=(hand,)))
        later.append((clock() - begin) * 1000)
    begin = clock()
    renderer.truth(scene)
    truth = clock() - begin
    return (
        f"{size[0]}x{size[1]}, {len(scene.tiles)} tiles, 1 thread, ms of processor time: "
        f"set-up {(ready - start) * 1000:.0f}, first frame {(first - ready) * 1000:.0f}, "
        f"later frames median {statistics.median(later):.1f} max {max(later):.1f}, "
        f"truth {truth * 1000:.0f}"
    )


def main() -> int:
    """Read the options and do it; 2 for artwork that cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m vision.render", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a picture")
    parser.add_argument("--art", type=Path, metavar="DIR", help="folder of faces, or a font")
    parser.add_argument("--style", type=int, metavar="SEED", help="a random look of the test split")
    parser.add_argument("--size", type=int, nargs=2, default=(1920, 1080), metavar=("W", "H"))
    parser.add_argument("--bench", action="store_true", help="print how long frames take")
    options = parser.parse_args()
    style = Style()
    if options.style is not None:
        style = Style.random(np.random.default_rng(options.style), "test")
    try:
        if options.art:
            style = replace(style, art=load_art(options.art))
    except ArtError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    size = (options.size[0], options.size[1])
    if options.bench:
        sys.stdout.write(measure(style, size, 20) + "\n")
    if options.out:
        picture = Renderer(style, size=size).render(sample_scene())
        if not cv2.imwrite(str(options.out), picture):
            sys.stderr.write(f"cannot write {options.out}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
