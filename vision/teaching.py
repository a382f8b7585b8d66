"""Teaching a set of tiles: one of each face is laid out in known rows, and a picture names them.

The layout is read in the direction in which the faces lie, so it may lie before any seat. What the
recogniser is sure of must agree with it: a tile laid in the wrong place would be misread for good.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import BACK, WHITE, Tile, format_tile, format_tiles, parse_tiles
from vision.detector import Detection, Detector, TileSet, TileSetError
from vision.geometry import TableGeometry

ImageArray = npt.NDArray[np.uint8]

ROWS: Final[tuple[tuple[Tile, ...], ...]] = (
    parse_tiles("123456789m"),
    parse_tiles("123456789p"),
    parse_tiles("123456789s"),
    parse_tiles("1234567z"),
    parse_tiles("12345678f"),
)
"""The layout, from the top row and from the left."""

LENGTHS: Final = ((9,), (9,), (9,), (7,), (8, 4, 0))
"""How many tiles each row may have: a set may have four flowers or none."""

PITCH: Final = (1.35, 1.75)
"""Tile widths from one tile of a drawn layout to the next, and from row to row."""

FIRST_ROW: Final = 6.2
"""Tile widths from the middle of the table to the first row of a drawn layout."""

LOOKS: Final = 3
"""Crops that are kept of each tile."""

JITTER: Final = 0.025
"""Standard deviation of the edges of their boxes, in widths of a tile: a finder's error."""

SURE: Final = 0.97
"""Confidence from which a tile that reads as another than the layout says is a contradiction: the
confidence from which the referee asks no more."""

TRUSTED: Final = 0.7
"""Confidence from which a face shows which way the layout lies."""

FEWEST_AGREEING: Final = 0.5
"""Share of a row, flowers aside, that must read as the layout says; of unseen sets 0.8 do."""

FAINT: Final = 0.08
"""Score from which a tile of the layout is found: nothing else lies there."""

CLEAR: Final = 0.5
"""Score from which a find shows how wide a tile is."""

DISTURBED: Final = 4.0
"""Mean difference of grey levels over a tile, noise smoothed, between two pictures from which it
may be another one, or half under a hand; a lamp that flickers counts, too. Noise makes 0.6."""

GAP: Final = 1.7
"""Steps from a tile to the next in its row from which one is missing between them."""

DOUBLE: Final = 0.75
"""Tile widths from a find to a better one, below which it is a part of the same tile."""

REACH: Final = 3.0
"""Tile widths from a tile of the layout to the nearest other, at most."""


class ContradictionError(TileSetError):
    """A layout that is not trusted says otherwise than the recogniser surely sees."""


@dataclass(frozen=True)
class Contradiction:
    """A tile that is surely read as another than its place in the layout says."""

    row: int
    column: int
    wanted: Tile
    seen: Tile

    def __str__(self) -> str:
        return (
            f"row {self.row}, tile {self.column} should be {format_tile(self.wanted)} and looks "
            f"like {format_tile(self.seen)}"
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """A layout found in a picture.

    Attributes:
        rows: each find and the face that its place gives it.
        tile_px: width of a tile in the picture.
    """

    rows: tuple[tuple[tuple[Detection, Tile], ...], ...]
    tile_px: float

    @property
    def tiles(self) -> list[tuple[Detection, Tile]]:
        """Row after row."""
        return [pair for row in self.rows for pair in row]

    def contradictions(self) -> list[Contradiction]:
        """What was probably laid wrongly: surely another tile, or two that read exchanged."""
        likely = {(wanted, seen.tile) for seen, wanted in self.tiles if seen.confidence >= TRUSTED}
        return [
            Contradiction(r, c, wanted, seen.tile)
            for r, row in enumerate(self.rows, start=1)
            for c, (seen, wanted) in enumerate(row, start=1)
            if seen.tile != wanted
            and (seen.confidence >= SURE or {(wanted, seen.tile), (seen.tile, wanted)} <= likely)
        ]


def laid_out(geometry: TableGeometry, seat: int = 0) -> list[tuple[Tile, float, float, float]]:
    """The whole layout before a seat: tile, x and y in table mm, rotation in degrees."""
    across, down = PITCH
    return [
        (tile, *geometry.to_table(seat, (c - 4) * across, FIRST_ROW + r * down),
         geometry.seat_angle(seat))
        for r, row in enumerate(ROWS)
        for c, tile in enumerate(row)
    ]  # fmt: skip


def layout_finder(weights: Path | None = None, threads: int = 1) -> Detector:
    """A recogniser for :func:`find_layout`.

    Raises:
        WeightsError: weights missing, damaged or not loadable.
    """
    return Detector(weights, threads, min_score=FAINT)


def find_layout(image: ImageArray, detector: Detector, tile_px: float | None = None) -> Layout:
    """The layout in a BGR picture.

    Args:
        image: the picture; nothing else that looks like tiles close to the layout.
        detector: of :func:`layout_finder`.
        tile_px: width of the tiles where a calibration tells it.

    Raises:
        TileSetError: there are other rows than the layout has, or a row is not what it should be;
            the message says which rows were found.
    """
    return layout_of(detector.detect(image, tile_px=tile_px), image, detector)


def layout_of(listed: Sequence[Detection], image: ImageArray, detector: Detector) -> Layout:
    """The layout that the finds of ``detector`` in a BGR picture make.

    Raises:
        TileSetError: as :func:`find_layout`.
    """
    found = _together(listed)
    rows = split_in_rows(found)
    for number, (row, tiles) in enumerate(zip(rows, ROWS, strict=False), start=1):
        _fill_gap(image, detector, number, row, tiles)
    counts = [len(row) for row in rows]
    wanted = [*counts, 0] if len(counts) == len(ROWS) - 1 else counts
    if len(wanted) != len(ROWS) or any(
        n not in allowed for n, allowed in zip(wanted, LENGTHS, strict=True)
    ):
        seen = f"rows of {', '.join(map(str, counts))} tiles" if counts else "no tiles"
        raise TileSetError(
            f"{seen} are to be seen; needed are rows of 9 Characters, 9 Circles, 9 Bamboos, 7 "
            "honours and 8 flowers, a finger apart, and nothing beside them"
        )
    named = [tuple(zip(row, tiles, strict=False)) for row, tiles in zip(rows, ROWS, strict=False)]
    for number, pairs in enumerate(named, start=1):
        _check_row(number, pairs)
    return Layout(tuple(named), _tile_width(found))


def _fill_gap(
    image: ImageArray, detector: Detector, number: int, row: list[Detection], tiles: Sequence[Tile]
) -> None:
    """Add the tile that the finder has not seen between two others, where the reader sees it.

    A blank White on a light felt hardly has an outline; where no tile lies the reader never says
    that the wanted one does.
    """
    if not 2 <= len(row) < len(tiles):
        return
    centres = np.array([seen.centre for seen in row])
    steps = np.linalg.norm(np.diff(centres, axis=0), axis=1)
    for place in np.flatnonzero(steps > GAP * np.median(steps))[:1]:
        box = np.mean([row[place].box, row[place + 1].box], axis=0)
        plain = (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
        kinds, chance, rotations = detector.read(image, [plain])
        seen = Detection(
            plain, float(chance[0]), tuple(float(p) for p in kinds[0]), float(rotations[0])
        )
        if seen.tile != tiles[place + 1]:
            raise TileSetError(
                f"row {number}: a tile is missing, or not seen, after tile {place + 1}"
            )
        row.insert(place + 1, seen)


def _check_row(number: int, row: Sequence[tuple[Detection, Tile]]) -> None:
    """Whether a row is the one that should lie there, and whole.

    Where no tile lies bare felt is often found, faintly, and read as a back.
    """
    for place, (seen, due) in enumerate(row, start=1):
        blank = due == WHITE and seen.score >= CLEAR
        if seen.tile == BACK and not blank:
            raise TileSetError(f"row {number}: tile {place} is missing or lies face down")
    agreeing = sum(seen.tile == wanted for seen, wanted in row)
    if number < len(ROWS) and agreeing < FEWEST_AGREEING * len(row):
        wanted = format_tiles(tile for _, tile in row)
        raise TileSetError(
            f"row {number}: only {agreeing} of {len(row)} tiles look like those of {wanted}: are "
            "the rows in the right order, and all faces upright?"
        )


@dataclass(frozen=True, eq=False)
class Lesson:
    """What was learnt from a layout: where it was seen, and the set."""

    layout: Layout
    tile_set: TileSet


def teach(
    pictures: Sequence[ImageArray],
    detector: Detector,
    tile_px: float | None = None,
    *,
    trust_layout: bool = False,
) -> Lesson:
    """Learn a set from pictures of its layout.

    Args:
        pictures: BGR, all of the same view, one or more.
        detector: of :func:`layout_finder`.
        tile_px: width of the tiles where a calibration tells it.
        trust_layout: also where the recogniser is sure that another tile lies somewhere.

    Raises:
        TileSetError: as :func:`find_layout`.
        ContradictionError: as :func:`learnt`.
    """
    layout = find_layout(pictures[0], detector, tile_px)
    return Lesson(layout, learnt(layout, pictures, detector, trust_layout=trust_layout))


def learnt(
    layout: Layout, pictures: Sequence[ImageArray], detector: Detector, *, trust_layout: bool
) -> TileSet:
    """The set as BGR pictures of one view show it, whose layout was found in the first of them.

    Raises:
        ContradictionError: tiles are surely others than the layout says, and it is not trusted.
    """
    wrong = layout.contradictions()
    if wrong and not trust_layout:
        told = "; ".join(map(str, wrong))
        raise ContradictionError(f"{told}: put it right, or say that the layout is right")
    rng = np.random.default_rng(0)
    boxes = np.array([seen.box for seen, _ in layout.tiles])
    same = [picture for picture in pictures if _undisturbed(picture, pictures[0], boxes)]
    crops = []
    for look in range(LOOKS):
        off = rng.normal(0, JITTER * layout.tile_px, boxes.shape) if look else 0.0
        rows = [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes + off]
        crops.append(detector.crops(same[look % len(same)], rows))
    kinds = np.array([wanted for _, wanted in layout.tiles], np.int64)
    today = datetime.now().date().isoformat()
    return TileSet(np.concatenate(crops), np.tile(kinds, LOOKS), today, round(layout.tile_px, 1))


def named(layout: Layout) -> list[Detection]:
    """The finds of a layout with the names that their places give them, for drawing."""
    sure = np.eye(len(layout.tiles[0][0].probabilities))
    return [
        replace(seen, score=1.0, probabilities=tuple(sure[wanted])) for seen, wanted in layout.tiles
    ]


def _undisturbed(picture: ImageArray, first: ImageArray, boxes: npt.NDArray[np.float64]) -> bool:
    """Whether every tile of the first picture lies in the other, too, and no hand over it."""
    smooth = [cv2.GaussianBlur(some, (0, 0), 1.5) for some in (picture, first)]
    apart = cv2.absdiff(*smooth)
    corners = np.maximum(boxes.round().astype(int), 0)
    return all(apart[y1:y2, x1:x2].mean() < DISTURBED for x1, y1, x2, y2 in corners)


def split_in_rows(found: Iterable[Detection]) -> list[list[Detection]]:
    """Finds in rows from the top, each from the left, in the direction in which the faces lie."""
    tiles = list(found)
    if not tiles:
        return []
    angle = np.deg2rad(_direction(tiles))
    centres = np.array([seen.centre for seen in tiles])
    right = centres @ (np.cos(angle), np.sin(angle))
    down = centres @ (-np.sin(angle), np.cos(angle))
    order = np.argsort(down, kind="stable")
    gaps = np.diff(down[order], prepend=down[order[0]])
    row_of = np.cumsum(gaps > 0.5 * _tile_width(tiles))
    rows = [order[row_of == number] for number in range(int(row_of[-1]) + 1)]
    return [[tiles[i] for i in row[np.argsort(right[row], kind="stable")]] for row in rows]


def _direction(tiles: Sequence[Detection]) -> float:
    """Degrees by which the layout is turned: what most faces say."""
    sure = [seen for seen in tiles if seen.confidence >= TRUSTED]
    turns = np.exp(1j * np.deg2rad([seen.rotation for seen in sure or tiles]))
    rough = np.angle(turns.sum())
    near = np.abs(np.angle(turns * np.exp(-1j * rough))) < np.pi / 6
    return float(np.rad2deg(np.angle(turns[near].sum() if near.any() else turns.sum())))


def _tile_width(tiles: Sequence[Detection]) -> float:
    """Width of a tile in px, from boxes about upright or lying; faint finds may be noise."""
    clear = [seen for seen in tiles if seen.score >= CLEAR] or tiles
    sides = np.array([(seen.box[2] - seen.box[0], seen.box[3] - seen.box[1]) for seen in clear])
    return float(np.median(sides.min(axis=1)))


def _together(listed: Sequence[Detection]) -> list[Detection]:
    """The surest group of finds that lie close to one another, without parts of others."""
    if not listed:
        return []
    found: list[Detection] = []
    for seen in sorted(listed, key=lambda seen: -seen.score):
        if all(math.dist(seen.centre, f.centre) > DOUBLE * _tile_width(listed) for f in found):
            found.append(seen)
    centres = np.array([seen.centre for seen in found])
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    close = apart < REACH * _tile_width(found)
    group = np.arange(len(found))
    while True:
        lowest = np.where(close, group[None], len(found)).min(axis=1)
        if (lowest == group).all():
            break
        group = lowest
    largest = np.bincount(group, weights=[seen.score for seen in found]).argmax()
    return [seen for seen, number in zip(found, group, strict=True) if number == largest]
