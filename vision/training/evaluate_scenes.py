"""Score the recogniser on rendered tables that training never saw.

``python -m vision.training.evaluate_scenes --count 20`` renders random tables with the *test* split
of :mod:`vision.render` (the project's own faces, other felts and lamps), reads them at native scale
as the daemon does, and prints the figures of :mod:`vision.training.metrics` plus the error of the
rotation and the calibration of the confidence. ``--sets DIR...`` takes the faces from folders that
:mod:`vision.training.outside` wrote, picture by picture in turn; ``--tile-px 28 48`` the widths of
a tile in turn (default: the whole felt fills the picture, 31 px); ``--unknown-size`` reads like
``tablectl read``, without being told the size of the tiles; ``--one-set`` lays what one set of 144
tiles has (default: any face at any time, a quarter of them flowers). ``--pictures DIR`` reads what
:mod:`vision.training.traced` wrote instead, of unknown size. ``--taught`` reads with the set taught
from a picture of its layout in the same look; ``--layouts DIR`` does so for ``--pictures``, from
the pictures of the same set and width that ``traced --layout`` wrote.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import BACK, Tile, format_tile, parse_tile
from vision.art.sets import ArtSet, load_art
from vision.detector import Detection, Detector
from vision.geometry import TableGeometry
from vision.read import LISTED, tiles_of
from vision.render.layout import layout_scene
from vision.render.renderer import Renderer
from vision.render.style import Style
from vision.teaching import FIRST_ROW, PITCH, ROWS, layout_finder, teach

from .calibrate import expected_error
from .crops import HALF_TURN_SYMMETRIC
from .evaluate import report
from .metrics import Scored, forgive, score
from .scenes import MIN_VISIBLE, random_scene
from .sources import PhotoSetError, iou_matrix

SIZE = (1920, 1080)

FloatTable = npt.NDArray[np.float64]


class Shown(Protocol):
    """What is known of a tile in a picture."""

    @property
    def tile(self) -> Tile:
        """Its kind, or the back."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x1, y1, x2, y2 px, not clipped to the picture."""

    @property
    def rotation_deg(self) -> float:
        """Clockwise turn of the face."""

    @property
    def visible(self) -> float:
        """Share of the face that is seen."""


@dataclass(frozen=True)
class Listed:
    """A tile of a picture that was written to a folder; as :class:`Shown`."""

    tile: Tile
    box: tuple[float, float, float, float]
    rotation_deg: float
    visible: float


@dataclass(frozen=True)
class Table:
    """One picture to read.

    Attributes:
        name: ``<group>__<number>``.
        image: (H, W, 3) BGR.
        tiles: what is in it.
        tile_px: width of a tile where it is to be told.
        layout: (H, W, 3) BGR, from which the set is taught; None: untaught.
    """

    name: str
    image: npt.NDArray[np.uint8]
    tiles: list[Shown]
    tile_px: float | None
    layout: npt.NDArray[np.uint8] | None = None


@dataclass
class Tally:
    """Sums over pictures."""

    pictures: list[Scored] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    misread: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)


def styled(rng: np.random.Generator, art: ArtSet | None, tile_px: float | None) -> Style:
    """A look of the test split, with other artwork and another scale where given."""
    style = Style.random(rng, "test")
    if art is not None:
        style = replace(style, art=art)
    if tile_px is None:
        return style
    geometry = TableGeometry()
    reach = max(0.0, geometry.half_mm - 400 * geometry.tile_width_mm / tile_px)
    x, y = (float(v) for v in rng.uniform(-reach, reach, 2))
    camera = replace(style.camera, mm_per_px=geometry.tile_width_mm / tile_px, target_mm=(x, y))
    return replace(style, camera=camera)


def over_layout(style: Style, geometry: TableGeometry) -> Style:
    """The same look with the camera over the tiles that ``tablectl teach`` wants laid out."""
    middle = (FIRST_ROW + PITCH[1] * (len(ROWS) - 1) / 2) * geometry.tile_width_mm
    return replace(style, camera=replace(style.camera, target_mm=(0.0, middle)))


def rows_of(found: Iterable[Detection]) -> FloatTable:
    """Finds as the metrics want them: (N, 6) class, confidence, x1, y1, x2, y2 px."""
    return np.array([[d.tile, d.confidence, *d.box] for d in found], np.float64).reshape(-1, 6)


def against_truth(
    name: str, truths: Iterable[Shown], rows: FloatTable, size: tuple[int, int]
) -> Scored:
    """Finds beside the renderer's truth; tiles that are mostly hidden count neither way."""
    known = list(truths)
    clear = [[t.tile, *t.box] for t in known if t.visible >= MIN_VISIBLE]
    hidden = [t.box for t in known if t.visible < MIN_VISIBLE]
    truth = np.array(clear, np.float64).reshape(-1, 5)
    ignored = np.array(hidden, np.float64).reshape(-1, 4)
    return Scored(name, truth, forgive(rows, truth, ignored, *size))


def add_picture(tally: Tally, table: Table, found: list[Detection]) -> None:
    """Compare one picture's detections with the truth."""
    clear = [t for t in table.tiles if t.visible >= MIN_VISIBLE]
    rows = rows_of(found)
    size = (table.image.shape[1], table.image.shape[0])
    picture = against_truth(table.name, table.tiles, rows, size)
    truth = picture.truth
    tally.pictures.append(picture)
    iou = iou_matrix(rows[:, 2:], truth[:, 1:])
    best = iou.max(axis=0, initial=0.0) if len(truth) else np.zeros(0)
    tally.missed.update(
        format_tile(t.tile) for t, value in zip(clear, best, strict=True) if value < 0.5
    )
    for number, seen in enumerate(found):
        if not len(truth) or iou[number].max() < 0.5:
            continue
        wanted = clear[int(iou[number].argmax())]
        same = seen.tile == wanted.tile
        tally.confidences.append(max(seen.probabilities))
        tally.right.append(float(same))
        if not same:
            tally.misread[format_tile(wanted.tile), format_tile(seen.tile)] += 1
        elif wanted.tile != BACK and int(wanted.tile) not in HALF_TURN_SYMMETRIC:
            off = (seen.rotation - wanted.rotation_deg + 180) % 360 - 180
            tally.turns.append(abs(off))


def written(folder: Path, layouts: Path | None = None) -> Iterator[Table]:
    """Pictures that :mod:`vision.training.traced` wrote, of unknown size.

    ``layouts``: folder with pictures to teach the sets from, of the same set and width.

    Raises:
        PhotoSetError: there is none, or one can't be read.
    """
    taught = {
        path.stem.split("__")[0]: _read(path) for path in (layouts.glob("*.png") if layouts else ())
    }
    paths = sorted(folder.glob("*.png"))
    if not paths:
        raise PhotoSetError(f"{folder}: no *.png")
    for path in paths:
        image = _read(path)
        tiles: list[Shown] = []
        for row in json.loads(path.with_suffix(".json").read_text()):
            quad = np.array(row["quad"])
            (x1, y1), (x2, y2) = quad.min(axis=0).tolist(), quad.max(axis=0).tolist()
            visible = 0.0 if row["ignore"] else 1.0
            tiles.append(
                Listed(parse_tile(row["tile"]), (x1, y1, x2, y2), row["rotation"], visible)
            )
        yield Table(path.stem, image, tiles, None, taught.get(path.stem.split("__")[0]))


def _read(path: Path) -> npt.NDArray[np.uint8]:
    image = cv2.imread(str(path))
    if image is None:
        raise PhotoSetError(f"{path}: not a readable picture")
    return np.asarray(image, np.uint8)


def rendered(options: argparse.Namespace) -> Iterator[Table]:
    """Random tables of the test split, as the options say."""
    arts = [load_art(folder) for folder in options.sets]
    geometry, widths = TableGeometry(), options.tile_px
    for number in range(options.count):
        rng = np.random.default_rng([options.seed, number])
        art = arts[number % len(arts)] if arts else None
        width = widths[number // max(1, len(arts)) % len(widths)] if widths else None
        style = styled(rng, art, width)
        renderer = Renderer(style, geometry, SIZE)
        scene = random_scene(geometry, rng, one_set=options.one_set)
        name = f"{art.name if art else 'own'}-{renderer.tile_px:.0f}px__{number}"
        known = None if options.unknown_size else renderer.tile_px
        truths: list[Shown] = [*renderer.truth(scene)]
        picture, layout = renderer.render(scene), None
        if options.taught:
            above = Renderer(over_layout(style, geometry), geometry, SIZE)
            layout = above.render(layout_scene(geometry, number))
        yield Table(name, picture, truths, known, layout)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--min-score", type=float, default=LISTED)
    parser.add_argument("--draw", type=Path, help="folder for pictures with boxes drawn")
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of faces")
    parser.add_argument("--tile-px", type=float, nargs="*", default=[], help="widths, in turn")
    parser.add_argument("--unknown-size", action="store_true", help="as `tablectl read`")
    parser.add_argument("--one-set", action="store_true", help="four of each, flowers once")
    parser.add_argument("--pictures", type=Path, help="folder of written pictures to read instead")
    parser.add_argument(
        "--taught", action="store_true", help="with the sets taught in the same look"
    )
    parser.add_argument("--layouts", type=Path, help="with --pictures: layouts to teach from")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    untaught = Detector(options.weights, min_score=options.min_score)
    finder = layout_finder(options.weights)
    tally = Tally()
    tables = written(options.pictures, options.layouts) if options.pictures else rendered(options)
    for table in tables:
        detector = untaught
        if table.layout is not None:
            taught = teach([table.layout], finder, trust_layout=True).tile_set
            detector = Detector(options.weights, min_score=options.min_score, tile_set=taught)
        if table.tile_px is None:
            found = tiles_of(table.image, detector)
        else:
            found = detector.detect(table.image, tile_px=table.tile_px)
        add_picture(tally, table, found)
        if options.draw:
            _draw(options.draw / f"{table.name}.png", table.image, found)
    summarise(tally, "path-traced" if options.pictures else "rendered, test split")


def summarise(tally: Tally, title: str) -> None:
    """Print all figures."""
    result = score(tally.pictures)
    report(title, result)
    groups: dict[str, list[Scored]] = {}
    for picture in tally.pictures:
        group = picture.name.split("__")[0]
        for name in (group, f"all {group.rpartition('-')[2]}"):
            groups.setdefault(name, []).append(picture)
    for name in sorted(groups):
        report(name, score(groups[name]))
    turns = np.array(tally.turns)
    print(
        f"rotation of {len(turns)} faces: median error {np.median(turns):.1f} deg, "
        f"{(turns < 15).mean():.3f} within 15 deg, {(turns > 90).mean():.4f} upside down"
    )
    error = expected_error(np.array(tally.confidences), np.array(tally.right))
    print(f"calibration error of the names {error:.4f}, read right {np.mean(tally.right):.4f}")
    worst = sorted(result.ap50.items(), key=lambda item: item[1])[:12]
    print("worst classes:", "  ".join(f"{name} {value:.2f}" for name, value in worst))
    print("missed:", "  ".join(f"{name} {n}" for name, n in tally.missed.most_common(12)))
    sure = np.array(tally.confidences) >= 0.9
    print(
        f"named with probability 0.9 or more: {sure.mean():.3f} of the tiles, "
        f"{np.array(tally.right)[sure].mean():.4f} of them right"
    )
    listed = tally.misread.most_common(15)
    print("confusions:", "  ".join(f"{a}->{b} {n}" for (a, b), n in listed))


def _draw(
    path: Path, image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], found: list[Detection]
) -> None:
    canvas = image.copy()
    for seen in found:
        x1, y1, x2, y2 = (round(v) for v in seen.box)
        cv2.rectangle(canvas, (x1, y1), (x2, y2), (0, 0, 255), 1)
        name = format_tile(Tile(seen.tile))
        cv2.putText(canvas, name, (x1, y1 + 9), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 0, 255), 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), canvas)


if __name__ == "__main__":
    main()
