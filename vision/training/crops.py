"""The tile reader's training stream: crops of labelled tiles, turned, shrunk and degraded.

A crop is what the run-time cuts (:func:`vision.detector.crops.square_of`): a square of
``CROP_SCALE`` times the longer side of the detector's box, 96x96 px, the box as fourth channel.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import BACK, NAMES, parse_tile, parse_tiles
from vision.detector.crops import CROP_SCALE

from .sources import FloatArray, ImageArray, Photo, PhotoSetError, iou_matrix
from .windows import degrade

CROP_PX = 96
"""Side of the reader's input: a flower's character is a quarter of it, and halved four times."""

NO_TILE = 43
"""Class of crops that show no whole tile."""

NO_TILE_IOU = 0.3

PARTS = 0.6
"""Parts of tiles in what is drawn of one made picture: half a 4p is a good 2p."""

WHITES = 0.5
"""Share of draws in which the Whites of the picture come first: a blank one is hard to tell from
no tile, and a tile in 34."""

CUT = 0.08
"""Share of made tiles shown as if the edge of the picture cut them."""

CUT_SEEN = (0.62, 0.92)
"""How much of such a tile is in the picture."""

PATCH_PX = 160
PATCH_SCALE = 1.75
"""Side of a stored patch over the longer side of its tile: room to turn the tile."""

GROUP_WEIGHT = {
    "cmd-train": 1.0,
    "cmd-valid": 0.7,
    "home": 1.5,
    "leo": 1.5,
    "tray": 1.3,
    "crops": 1.5,
    "clutter": 2.0,
}

HARD_FINDS = {"leo": 12, "home": 4, "cmd-valid": 2}
"""Most false finds taken of a picture. Of the other groups many are tiles without a label; those of
*leo* are books on a shelf, of *home* squares of a cutting mat."""

HALF_TURN_SYMMETRIC = frozenset(
    (*parse_tiles("1234589p245689s5z"), BACK),
)
"""Faces that look (nearly) alike upside down in some set: only their axis is learnt."""


@dataclass(frozen=True)
class Patches:
    """Tiles cut from photographs with their surroundings.

    ``images`` (N, 160, 160, 3) uint8 BGR; ``boxes`` (N, 2) width and height of the label box in
    patch pixels, centred; ``classes`` (N,); ``axis`` (N,) degrees of the tile's up direction modulo
    180, NaN where unknown; ``quarter`` (N,): the box is loose, turn only by quarter turns;
    ``weight`` (N,) how often to draw it.
    """

    images: ImageArray
    boxes: FloatArray
    classes: npt.NDArray[np.int64]
    axis: FloatArray
    quarter: npt.NDArray[np.bool_]
    weight: FloatArray


def cut_patch(image: ImageArray, box: FloatArray) -> tuple[ImageArray, FloatArray]:
    """A 160x160 patch centred on ``box`` (x1 y1 x2 y2 px) and the box's size in the patch.

    What lies outside the picture repeats its border, as at run time.
    """
    span = box[2:] - box[:2]
    side = float(max(span.max(), 4.0)) * PATCH_SCALE
    scale = PATCH_PX / side
    centre = (box[:2] + box[2:]) / 2
    if scale < 0.7:
        margin = side / 2 + 2
        x1, y1 = (max(0, int(v)) for v in centre - margin)
        x2, y2 = (int(v) + 1 for v in centre + margin)
        part = image[y1:y2, x1:x2]
        image = np.asarray(
            cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
        centre, scale = (centre - [x1, y1]) * scale, 1.0
        factor = PATCH_PX / side
    else:
        factor = scale
    offset = PATCH_PX / 2 - centre * scale
    matrix = np.array([[scale, 0, offset[0]], [0, scale, offset[1]]], np.float32)
    patch = cv2.warpAffine(
        image,
        matrix,
        (PATCH_PX, PATCH_PX),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(patch, np.uint8), np.asarray(span * factor, np.float32)


def _axis_of(span: FloatArray, straight: bool) -> float:
    ratio = float(span[1] / max(span[0], 1e-3))
    if not straight or 0.8 < ratio < 1.2:
        return math.nan
    return 0.0 if ratio >= 1.2 else 90.0


def gather_patches(
    photos: list[Photo],
    crops: Path | None,
    relabelled: dict[str, Any] | None = None,
    clutter: Path | None = None,
) -> Patches:
    """All labelled tiles of the photographs, the single-tile crops of ``crops``, and what is none.

    ``clutter``: npz of :mod:`vision.training.clutter`.
    """
    rows: list[tuple[ImageArray, FloatArray, int, float, bool, str]] = []
    for photo in photos:
        image = photo.read()
        height, width = image.shape[:2]
        scale = np.array([width, height, width, height], np.float32)
        for box, tile in zip(photo.boxes * scale, photo.classes, strict=True):
            if tile < 0:
                continue  # found by relabelling: nobody said which tile it is
            patch, span = cut_patch(image, box)
            axis = _axis_of(span, not photo.tilted)
            rows.append((patch, span, int(tile), axis, photo.tilted, photo.group))
    for path in sorted(crops.glob("*/*.jpg")) if crops else []:
        single = cv2.imread(str(path))
        if single is None:
            raise PhotoSetError(f"{path}: not a readable picture")
        box = np.array([0, 0, single.shape[1], single.shape[0]], np.float32)
        patch, span = cut_patch(np.asarray(single, np.uint8), box)
        rows.append(
            (patch, span, NAMES.index(path.parent.name), _axis_of(span, True), False, "crops")
        )
    rows += _backgrounds(photos, relabelled or {})
    if clutter:
        stored = np.load(clutter)
        rows += [
            (image, span, NO_TILE, math.nan, False, "clutter")
            for image, span in zip(stored["images"], stored["spans"], strict=True)
        ]
    classes = np.array([row[2] for row in rows], np.int64)
    share = 1 / np.sqrt(np.bincount(classes, minlength=44).clip(1))
    weight = np.array([share[row[2]] * GROUP_WEIGHT.get(row[5], 1.0) for row in rows])
    return Patches(
        images=np.stack([row[0] for row in rows]),
        boxes=np.stack([row[1] for row in rows]),
        classes=classes,
        axis=np.array([row[3] for row in rows], np.float32),
        quarter=np.array([row[4] for row in rows]),
        weight=np.asarray(weight / weight.sum(), np.float32),
    )


def _hard_boxes(photo: Photo, relabelled: dict[str, Any], rng: np.random.Generator) -> FloatArray:
    """Some of the first finder's false finds in a picture where all tiles have labels."""
    entry, most = relabelled.get(photo.path.name), HARD_FINDS.get(photo.group, 0)
    if entry is None or photo.partial or most == 0:
        return np.zeros((0, 4), np.float32)
    boxes = np.array(entry["tiles"] + entry["ignored"], np.float32).reshape(-1, 4)
    apart = iou_matrix(boxes, np.concatenate([photo.boxes, photo.ignored])).max(axis=1, initial=0.0)
    boxes = boxes[apart < 0.1]
    chosen: FloatArray = boxes[rng.permutation(len(boxes))[:most]]
    return chosen


def _backgrounds(
    photos: list[Photo], relabelled: dict[str, Any]
) -> list[tuple[ImageArray, FloatArray, int, float, bool, str]]:
    """Patches of what is no tile, a few of every photograph that is wholly labelled."""
    rng = np.random.default_rng(5)
    rows: list[tuple[ImageArray, FloatArray, int, float, bool, str]] = []
    for photo in photos:
        if photo.partial:
            continue
        image = photo.read()
        height, width = image.shape[:2]
        scale = np.array([width, height, width, height], np.float32)
        taken = np.concatenate([photo.boxes, photo.ignored]) * scale
        found = [no_tile_box(taken, width, height, rng) for _ in range(3)]
        boxes = [box for box in found if box is not None]
        boxes += list(_hard_boxes(photo, relabelled, rng) * scale)
        for box in boxes:
            patch, span = cut_patch(image, box)
            rows.append((patch, span, NO_TILE, math.nan, True, photo.group))
    return rows


@dataclass(frozen=True)
class Sample:
    """One training crop: (4, 96, 96) uint8, class, rotation degrees or NaN, axis degrees or NaN."""

    pixels: npt.NDArray[np.uint8]
    tile: int
    rotation: float
    axis: float


def turned_span(span: FloatArray, degrees: float) -> FloatArray:
    """Size of the axis-aligned box round a ``span``-sized rectangle turned by ``degrees``."""
    cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    return np.array([span[0] * cos + span[1] * sin, span[0] * sin + span[1] * cos], np.float32)


def _jittered(
    centre: FloatArray, span: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    moved = centre + rng.normal(0, 0.03, 2) * span
    return moved, span * np.exp(rng.normal(0.01, 0.05, 2))


def render_crop(
    image: ImageArray,
    linear: FloatArray,
    centre: FloatArray,
    target: FloatArray,
    rng: np.random.Generator,
    worsen: float = 1.0,
) -> npt.NDArray[np.uint8]:
    """The crop round ``target`` (box size after ``linear``, jittered) at ``centre`` of ``image``.

    ``linear`` (2, 2) turns and stretches the picture round ``centre`` (px of ``image``).
    ``worsen``: the share of crops that are made coarser and degraded; pictures that a camera has
    developed already need little of it.
    """
    moved, span = _jittered(np.zeros(2, np.float32), target, rng)
    side = float(span.max()) * CROP_SCALE
    scale = CROP_PX / side
    matrix = np.zeros((2, 3), np.float32)
    matrix[:, :2] = linear * scale
    matrix[:, 2] = CROP_PX / 2 - moved * scale - matrix[:, :2] @ centre
    fill = tuple(int(v) for v in rng.integers(0, 256, 3))
    shrink = math.sqrt(abs(float(np.linalg.det(matrix[:, :2]))))
    if shrink < 0.6:
        image = np.asarray(cv2.blur(image, (2, 2)), np.uint8)
    crop = cv2.warpAffine(
        image, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderValue=fill
    )
    crop = np.asarray(crop, np.uint8)
    if worsen >= 1 or rng.random() < worsen:
        crop = degrade(_coarsen(crop, rng), rng, 0.9)
    box = np.zeros((CROP_PX, CROP_PX), np.uint8)
    half = span * scale / 2
    low, high = np.round(CROP_PX / 2 - half).astype(int), np.round(CROP_PX / 2 + half).astype(int)
    box[max(low[1], 0) : high[1], max(low[0], 0) : high[0]] = 255
    return np.concatenate([crop[:, :, ::-1].transpose(2, 0, 1), box[None]])


def _coarsen(crop: ImageArray, rng: np.random.Generator) -> ImageArray:
    """Half of the time, as if the tile were only 16 to 60 px long in the picture."""
    if rng.random() < 0.5:
        return crop
    small = max(14, round(math.exp(rng.uniform(math.log(18), math.log(CROP_PX)))))
    down = cv2.resize(crop, (small, small), interpolation=cv2.INTER_AREA)
    return np.asarray(
        cv2.resize(down, (CROP_PX, CROP_PX), interpolation=cv2.INTER_LINEAR), np.uint8
    )


def random_linear(degrees: float, rng: np.random.Generator) -> FloatArray:
    """Turn clockwise by ``degrees`` with a little stretch and shear; never mirrors."""
    angle = math.radians(degrees)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    stretch = math.exp(rng.normal(0, 0.1))
    shear = np.array([[1, rng.normal(0, 0.08)], [0, 1]])
    return np.asarray(turn @ shear @ np.diag([stretch, 1 / stretch]), np.float32)


def photo_sample(patches: Patches, row: int, rng: np.random.Generator) -> Sample:
    """A crop of a photographed tile, turned at random."""
    quarter = bool(patches.quarter[row])
    degrees = 90.0 * int(rng.integers(4))
    if quarter or rng.random() < 0.5:
        degrees += float(rng.normal(0, 4))
        target = turned_span(patches.boxes[row], 90 * round(degrees / 90))
    else:
        degrees = float(rng.uniform(0, 360))
        target = turned_span(patches.boxes[row], degrees)
    linear = random_linear(degrees, rng)
    centre = np.full(2, PATCH_PX / 2, np.float32)
    pixels = render_crop(patches.images[row], linear, centre, target, rng)
    axis = (float(patches.axis[row]) + degrees) % 180
    return Sample(pixels, int(patches.classes[row]), math.nan, axis)


class SceneCrops:
    """Crops of made pictures: ``<stem>.jpg`` with ``<stem>.json``; folders may grow meanwhile.

    ``developed``: folders whose pictures look as a camera delivers them; their crops are worsened
    rarely. ``fresh`` is the share of draws from these folders.
    """

    def __init__(
        self, folders: list[Path], developed: list[Path] | None = None, fresh: float = 0.7
    ) -> None:
        self.folders, self.developed, self.fresh = folders, developed or [], fresh
        self.files: list[list[Path]] = []
        self.fresh_files: list[list[Path]] = []

    @property
    def any(self) -> bool:
        """Whether there is a picture to draw from."""
        return bool(self.files or self.fresh_files)

    def refresh(self) -> None:
        """List the pictures that are there now."""
        self.files = _pictures(self.folders)
        self.fresh_files = _pictures(self.developed)

    def draw(self, count: int, rng: np.random.Generator) -> list[Sample]:
        """Up to ``count`` crops of one random picture."""
        fresh = bool(self.fresh_files) and (not self.files or rng.random() < self.fresh)
        folders = self.fresh_files if fresh else self.files
        if fresh:
            sizes = np.sqrt([len(files) for files in folders])
            files = folders[int(rng.choice(len(folders), p=sizes / sizes.sum()))]
        else:
            files = folders[int(rng.integers(len(folders)))]
        worsen = 0.2 if fresh else 1.0
        path = files[int(rng.integers(len(files)))]
        image = cv2.imread(str(path))
        listed: list[dict[str, Any]] = json.loads(path.with_suffix(".json").read_text())
        rows = [row for row in listed if not row.get("ignore", False)]
        if image is None:
            raise PhotoSetError(f"{path}: not a readable picture")
        order = _prefer_faces(rows, rng)
        if rng.random() < WHITES:
            order.sort(key=lambda i: rows[i]["tile"] != "5z")
        picture = np.asarray(image, np.uint8)
        finds = path.with_suffix(".none.json")
        mined: list[list[float]] = json.loads(finds.read_text()) if finds.exists() else []
        wrong = min(3, 1 + len(mined) // 3) if not fresh or rng.random() < 0.7 else 0
        whole = min(len(order), count) - wrong
        parts = order[-1:] if whole > 0 and rng.random() < PARTS else []
        whole = max(whole - len(parts), 0)
        made = [scene_sample(picture, rows[i], rng, worsen) for i in order[:whole]]
        made += [no_tile_sample(picture, listed, mined, rng, worsen) for _ in range(wrong)]
        made += [part_sample(picture, rows[i], rng, worsen) for i in parts]
        return [sample for sample in made if sample is not None]


def _pictures(folders: list[Path]) -> list[list[Path]]:
    """Pictures with outlines of each folder that has any."""
    listed = [
        sorted(p for p in f.glob("*.jpg") if p.with_suffix(".json").exists()) for f in folders
    ]
    return [files for files in listed if files]


def no_tile_box(
    tiles: FloatArray, width: int, height: int, rng: np.random.Generator
) -> FloatArray | None:
    """A box (4,) of a tile's size where none of ``tiles`` (N, 4) lies, often between two of them.

    None when the picture is too full for one.
    """
    for _ in range(12):
        if len(tiles) and rng.random() < 0.6:
            near = tiles[int(rng.integers(len(tiles)))]
            span = (near[2:] - near[:2]) * np.exp(rng.normal(0, 0.2, 2))
            centre = (near[:2] + near[2:]) / 2 + rng.normal(0, 1.0, 2) * span
        else:
            span = np.exp(rng.uniform(math.log(18), math.log(90))) * np.exp(rng.normal(0, 0.2, 2))
            centre = rng.uniform(0, 1, 2) * [width, height]
        box = np.concatenate([centre - span / 2, centre + span / 2]).astype(np.float32)
        inside = box[:2].min() >= 0 and box[2] <= width and box[3] <= height
        if inside and iou_matrix(box[None], tiles).max(initial=0.0) < NO_TILE_IOU:
            return box
    return None


def no_tile_sample(
    image: ImageArray,
    rows: list[dict[str, Any]],
    mined: list[list[float]],
    rng: np.random.Generator,
    worsen: float = 1.0,
) -> Sample | None:
    """A crop of what is no tile: felt, edges of tiles, standing tiles, dice, hands, keys.

    ``mined``: places (boxes, px) that a finder took for tiles; preferred where there are any.
    """
    quads = np.array([row["quad"] for row in rows], np.float32).reshape(-1, 4, 2)
    tiles = np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1)
    if mined and rng.random() < 0.8:
        box: FloatArray | None = np.array(mined[int(rng.integers(len(mined)))], np.float32)
    else:
        box = no_tile_box(tiles, image.shape[1], image.shape[0], rng)
    if box is None:
        return None
    return _nothing_at(image, box, rng, worsen)


def _nothing_at(
    image: ImageArray, box: FloatArray, rng: np.random.Generator, worsen: float
) -> Sample:
    patch, span = cut_patch(image, box)
    degrees = 90.0 * int(rng.integers(4))
    centre = np.full(2, PATCH_PX / 2, np.float32)
    target = turned_span(span, degrees)
    pixels = render_crop(patch, random_linear(degrees, rng), centre, target, rng, worsen)
    return Sample(pixels, NO_TILE, math.nan, math.nan)


def part_sample(
    image: ImageArray, row: dict[str, Any], rng: np.random.Generator, worsen: float = 1.0
) -> Sample | None:
    """A crop of one end of a tile, which is no tile: a third to three fifths of its length."""
    quad = np.array(row["quad"], np.float32)
    share = float(rng.uniform(0.33, 0.6))
    ends = quad[[3, 2]] + (quad[[0, 1]] - quad[[3, 2]]) * share
    part = np.concatenate([ends, quad[[2, 3]]])
    if rng.random() < 0.5:
        ends = quad[:2] + (quad[[3, 2]] - quad[:2]) * share
        part = np.concatenate([quad[:2], ends[::-1]])
    low, high = part.min(axis=0), part.max(axis=0)
    if low.min() < 0 or (high > [image.shape[1], image.shape[0]]).any():
        return None
    return _nothing_at(image, np.concatenate([low, high]), rng, worsen)


def _prefer_faces(rows: list[dict[str, Any]], rng: np.random.Generator) -> list[int]:
    """Random order with at most one back for five faces."""
    order = [int(i) for i in rng.permutation(len(rows))]
    faces = [i for i in order if rows[i]["tile"] != "back"]
    backs = [i for i in order if rows[i]["tile"] == "back"]
    return (
        faces[: 9 * max(1, len(backs))] + backs
        if len(faces) < 4
        else sorted(faces + backs[: max(1, len(faces) // 5)], key=order.index)
    )


def scene_sample(
    image: ImageArray, row: dict[str, Any], rng: np.random.Generator, worsen: float = 1.0
) -> Sample | None:
    """A crop of a tile whose outline is known; None when most of it is outside the picture."""
    quad = np.array(row["quad"], np.float32)
    centre = quad.mean(axis=0)
    height, width = image.shape[:2]
    inside = np.clip(quad, 0, [width, height])
    seen = np.prod(np.ptp(inside, axis=0)) / max(float(np.prod(np.ptp(quad, axis=0))), 1.0)
    if seen < 0.75:
        return None
    if rng.random() < CUT:
        return cut_sample(image, row, rng, worsen)
    degrees = 90.0 * int(rng.integers(4)) + float(rng.normal(0, 3))
    if rng.random() < 0.35:
        degrees = float(rng.uniform(0, 360))
    linear = random_linear(degrees, rng)
    turned = (quad - centre) @ linear.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    shifted = centre + np.linalg.solve(linear, (low + high) / 2)
    margin = float(np.ptp(quad, axis=0).max()) * 1.6
    x1, y1 = (max(0, int(v)) for v in shifted - margin)
    x2, y2 = (int(v) for v in shifted + margin)
    pixels = render_crop(image[y1:y2, x1:x2], linear, shifted - [x1, y1], high - low, rng, worsen)
    return _known_sample(pixels, row, quad, degrees)


def cut_sample(
    image: ImageArray, row: dict[str, Any], rng: np.random.Generator, worsen: float = 1.0
) -> Sample:
    """A crop of a tile as if the picture ended in the middle of it."""
    quad = np.array(row["quad"], np.float32)
    low = np.clip(quad.min(axis=0), 0, [image.shape[1], image.shape[0]])
    high = np.clip(quad.max(axis=0), 0, [image.shape[1], image.shape[0]])
    axis, share = int(rng.integers(2)), float(rng.uniform(*CUT_SEEN))
    length = round(float(high[axis] - low[axis]) * share)
    along = np.moveaxis(image, 1 - axis, 0)
    if rng.random() < 0.5:
        high[axis] = int(low[axis]) + max(length, 1)
        image = np.moveaxis(along[: int(high[axis])], 0, 1 - axis)
    else:
        start = max(int(high[axis]) - max(length, 1), 0)
        image = np.moveaxis(along[start:], 0, 1 - axis)
        low[axis], high[axis] = 0, high[axis] - start
    patch, span = cut_patch(np.ascontiguousarray(image), np.concatenate([low, high]))
    degrees = 90.0 * int(rng.integers(4))
    centre = np.full(2, PATCH_PX / 2, np.float32)
    target = turned_span(span, degrees)
    pixels = render_crop(patch, random_linear(degrees, rng), centre, target, rng, worsen)
    return _known_sample(pixels, row, quad, degrees)


def _known_sample(
    pixels: npt.NDArray[np.uint8], row: dict[str, Any], quad: FloatArray, degrees: float
) -> Sample:
    """The crop of a made tile, turned by ``degrees`` beyond its ``quad``, with its truth."""
    tile = int(parse_tile(row["tile"]))
    known = row.get("rotation")
    rotation = math.nan if known is None else (float(known) + degrees) % 360
    axis = rotation % 180
    if known is None:
        up = quad[0] + quad[1] - quad[2] - quad[3]
        axis = (math.degrees(math.atan2(up[0], -up[1])) + degrees) % 180
    if tile in HALF_TURN_SYMMETRIC or tile == BACK:
        rotation = math.nan
    return Sample(pixels, tile, rotation, axis)
