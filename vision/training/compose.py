"""Made overhead pictures: tiles in rows, rivers, melds and walls on felt, with their outlines.

``python -m vision.training.compose --photos DIR --art DIR --out runs/synth --count 1000`` writes
``<number>.jpg`` and ``<number>.json`` (see :class:`vision.training.detector_data.Synthetic`).
A flat compositor: quick, for quantity. Standing hands, dice, arms and a centre panel are drawn
too, without outlines: the tile finder must not report them.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tablectl.tiles import BACK, NAMES, Tile, format_tile

from .artwork import (
    FACE_HEIGHT,
    FACE_WIDTH,
    ArtSet,
    colour_ink,
    load_art,
    photo_faces,
    shift_hue,
)
from .develop import develop
from .faces.sets import random_set
from .lettering import lettered_set
from .outside import load_folder
from .sources import FIRST_FLOWER, FloatArray, ImageArray, Photo, load_split

SIZE = 640


@dataclass
class Style:
    """What one scene's tiles look like."""

    faces: list[tuple[int, ImageArray]]
    """Opaque BGR bitmaps (class, 128x96) to draw from; class 42 is the back."""
    upright: bool
    """Whether the bitmaps' up is known to be the tiles' up."""
    body: FloatArray
    back: FloatArray
    width: float
    """Of a tile in pixels."""
    height: float
    depth: float
    """How far a tile's top moves away from the nadir, as a share of its distance to it."""
    nadir: FloatArray


@dataclass
class Scene:
    """A picture in the making."""

    image: ImageArray
    taken: ImageArray
    rows: list[dict[str, Any]] = field(default_factory=list)


def _body_colour(rng: np.random.Generator) -> FloatArray:
    kind = rng.random()
    base = [238, 242, 244] if kind < 0.6 else [205, 228, 236] if kind < 0.85 else [170, 215, 230]
    return np.clip(np.array(base) + rng.normal(0, 8, 3), 0, 255)


def _back_colour(rng: np.random.Generator) -> FloatArray:
    hue = rng.choice([60, 60, 75, 105, 110, 15, 20, 25, 145, 0, 175, 90])
    saturation = int(rng.integers(90, 256))
    value = int(rng.integers(70, 250))
    pixel = np.array([[[int(hue), saturation, value]]], np.uint8)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0], np.float64)


def _paint_body(colour: FloatArray, rng: np.random.Generator) -> FloatArray:
    ramp = np.linspace(-1, 1, FACE_HEIGHT)[:, None] * rng.normal(0, 6)
    ramp = ramp + np.linspace(-1, 1, FACE_WIDTH)[None, :] * rng.normal(0, 6)
    return np.asarray(colour[None, None, :] + ramp[:, :, None], np.float64)


def _paint_face(
    art: ArtSet, tile: int, body: FloatArray, fill: float, rng: np.random.Generator
) -> ImageArray:
    ink = art.faces[tile][int(rng.integers(len(art.faces[tile])))]
    ink = colour_ink(ink, tile, rng) if art.mono else shift_hue(ink, rng)
    return _lay_ink(ink, body, fill, float(rng.uniform(0.85, 1.0)), rng)


def _lay_ink(
    ink: ImageArray, body: FloatArray, fill: float, fade: float, rng: np.random.Generator
) -> ImageArray:
    """An opaque face: the ink on a body, filling a share of it, ``fade`` of full strength."""
    size = (round(FACE_WIDTH * fill), round(FACE_HEIGHT * fill))
    small = cv2.resize(ink, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    left, top = (FACE_WIDTH - size[0]) // 2, (FACE_HEIGHT - size[1]) // 2
    face = _paint_body(body, rng)
    part = face[top : top + size[1], left : left + size[0]]
    alpha = small[:, :, 3:] / 255 * fade
    part[:] = part * (1 - alpha) + small[:, :, :3] * alpha
    return np.clip(face, 0, 255).astype(np.uint8)


def _paint_index(face: ImageArray, tile: int, rng: np.random.Generator) -> None:
    """Corner index of Western sets, top left and upside down bottom right."""
    text = {27: "E", 28: "S", 29: "W", 30: "N", 31: "P", 32: "F", 33: "C"}.get(tile, NAMES[tile][0])
    colour = tuple(int(v) for v in rng.integers(0, 120, 3))
    for turn in range(2 if rng.random() < 0.5 else 1):
        view = np.ascontiguousarray(np.rot90(face, 2 * turn))
        cv2.putText(view, text, (5, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.65, colour, 2, cv2.LINE_AA)
        face[:] = np.rot90(view, 2 * turn)


def _paint_back(colour: FloatArray, rng: np.random.Generator, striped: bool) -> ImageArray:
    face = _paint_body(colour, rng)
    if striped:
        period = int(rng.integers(5, 14))
        face[:, (np.arange(FACE_WIDTH) // period) % 2 == 0] *= 0.85
    return np.clip(face, 0, 255).astype(np.uint8)


def art_style(
    art: ArtSet, rng: np.random.Generator
) -> tuple[list[tuple[int, ImageArray]], FloatArray]:
    """Bitmaps of one drawn set in one manner, and its body colour."""
    body = _body_colour(rng)
    fill = float(rng.uniform(0.72, 0.97))
    index = rng.random() < 0.25
    faces: list[tuple[int, ImageArray]] = []
    for tile in art.faces:
        face = _paint_face(art, tile, body, fill, rng)
        if tile == 31 and rng.random() < 0.35:
            face = np.clip(_paint_body(body, rng), 0, 255).astype(np.uint8)
        if index and (tile < 34 or rng.random() < 0.5):
            _paint_index(face, tile, rng)
        faces.append((tile, face))
    return faces, body


def _scratched(ink: ImageArray, rng: np.random.Generator) -> ImageArray:
    """The ink worn off in places."""
    left = cv2.resize(
        rng.uniform(0.25, 1.6, (16, 12)).astype(np.float32), (FACE_WIDTH, FACE_HEIGHT)
    )
    worn = ink.copy()
    worn[:, :, 3] = np.clip(ink[:, :, 3] * np.minimum(left, 1), 0, 255)
    return worn


def made_up_style(
    arts: list[ArtSet], rng: np.random.Generator
) -> tuple[list[tuple[int, ImageArray]], FloatArray]:
    """Bitmaps of a made-up set (:mod:`vision.training.faces`), and its body colour."""
    dark = rng.random() < 0.03
    body = rng.uniform(15, 90, 3) if dark else _body_colour(rng)
    art = random_set(rng, arts, light=dark)
    fill = float(rng.uniform(0.74, 1.0))
    fade = float(rng.choice([1.0, rng.uniform(0.55, 1.0)]))
    worn = rng.random() < 0.2
    faces: list[tuple[int, ImageArray]] = []
    for tile, (ink,) in art.faces.items():
        face = _scratched(ink, rng) if worn else ink
        faces.append((tile, _lay_ink(face, body, fill, fade, rng)))
    return faces, np.asarray(body, np.float64)


def random_style(
    arts: list[ArtSet],
    photos: list[Photo],
    rng: np.random.Generator,
    made_up: float = 0.0,
    widths: tuple[float, float] = (24, 62),
) -> Style:
    """A set of tiles for one scene: made up (a share of ``made_up``), drawn, or photographed."""
    if rng.random() < made_up:
        faces, body = made_up_style(arts, rng)
        upright = True
    elif photos and rng.random() < 0.3:
        photo = photos[int(rng.integers(len(photos)))]
        faces, body, upright = photo_faces(photo, 30, rng), _body_colour(rng), False
        if faces:
            body = np.median(np.stack([f[4:12, 10:-10] for _, f in faces]).reshape(-1, 3), axis=0)
    else:
        faces, body = art_style(arts[int(rng.integers(len(arts)))], rng)
        upright = True
    if upright and rng.random() < 0.5:
        faces = faces + [face for face in faces if face[0] >= FIRST_FLOWER]  # hardest: twice
    back = _back_colour(rng)
    faces = [*faces, (int(BACK), _paint_back(back, rng, rng.random() < 0.2))]
    width = math.exp(rng.uniform(math.log(widths[0]), math.log(widths[1])))
    return Style(
        faces=faces,
        upright=upright,
        body=np.asarray(body, np.float64),
        back=back,
        width=width,
        height=width * float(rng.uniform(1.25, 1.45)),
        depth=float(rng.uniform(0.0, 0.07)),
        nadir=np.asarray(rng.uniform(-0.2, 1.2, 2) * SIZE),
    )


def felt(rng: np.random.Generator) -> ImageArray:
    """Cloth, wood or plain table under uneven light."""
    hue = int(rng.choice([60, 65, 75, 100, 110, 0, 15, 20, 160, int(rng.integers(180))]))
    saturation, value = int(rng.integers(0, 230)), int(rng.integers(25, 210))
    base = cv2.cvtColor(np.array([[[hue, saturation, value]]], np.uint8), cv2.COLOR_HSV2BGR)
    image = np.repeat(np.repeat(base.astype(np.float32), SIZE, 0), SIZE, 1)
    for cells in (4, 40, 160, SIZE):
        across = max(2, cells // 12) if rng.random() < 0.25 else cells
        noise = rng.normal(0, rng.uniform(1, 9), (cells, across)).astype(np.float32)
        image += cv2.resize(noise, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)[:, :, None]
    return np.clip(image, 0, 255).astype(np.uint8)


def _colour(rng: np.random.Generator, low: int = 0, high: int = 256) -> tuple[int, int, int]:
    blue, green, red = (int(v) for v in rng.integers(low, high, 3))
    return blue, green, red


def draw_panel(image: ImageArray, rng: np.random.Generator) -> None:
    """The table's centre: a dark square with buttons, digits and light bars."""
    side = int(rng.integers(90, 220))
    left, top = (int(v) for v in rng.integers(-40, SIZE - 60, 2))
    cv2.rectangle(image, (left, top), (left + side, top + side), _colour(rng, 0, 70), -1)
    for _ in range(int(rng.integers(3, 12))):
        x, y = left + int(rng.integers(side)), top + int(rng.integers(side))
        kind = rng.random()
        if kind < 0.4:
            end = (x + int(rng.integers(6, 40)), y + int(rng.integers(4, 12)))
            cv2.rectangle(image, (x, y), end, _colour(rng), -1)
        elif kind < 0.7:
            cv2.circle(image, (x, y), int(rng.integers(3, 14)), _colour(rng), -1, cv2.LINE_AA)
        else:
            text = str(int(rng.integers(0, 999)))
            cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_DUPLEX, 0.7, _colour(rng, 90), 2)


def draw_die(image: ImageArray, rng: np.random.Generator) -> None:
    """A white die from above, smaller than a tile."""
    side = int(rng.integers(9, 22))
    centre = rng.uniform(0, SIZE, 2)
    box = cv2.boxPoints(
        ((float(centre[0]), float(centre[1])), (side, side), float(rng.uniform(0, 90)))
    )
    cv2.fillConvexPoly(image, box.astype(np.int32), _colour(rng, 215, 250), cv2.LINE_AA)
    for _ in range(int(rng.integers(1, 7))):
        x, y = (int(v) for v in centre + rng.uniform(-0.35, 0.35, 2) * side)
        cv2.circle(image, (x, y), max(1, side // 9), _colour(rng, 0, 90), -1, cv2.LINE_AA)


def draw_clutter(image: ImageArray, rng: np.random.Generator) -> None:
    """Things that are not tiles: paper, sticks, chips, keys, all without outlines."""
    for _ in range(int(rng.integers(0, 5))):
        x, y = (int(v) for v in rng.integers(0, SIZE, 2))
        kind = rng.random()
        if kind < 0.3:
            cv2.circle(image, (x, y), int(rng.integers(8, 40)), _colour(rng), -1, cv2.LINE_AA)
        else:
            long_side = float(rng.uniform(20, 240))
            thick = float(rng.uniform(3, 9) if kind < 0.6 else rng.uniform(90, 200))
            box = cv2.boxPoints(
                ((x, y), (max(long_side, thick), thick), float(rng.uniform(0, 180)))
            )
            cv2.fillConvexPoly(image, box.astype(np.int32), _colour(rng), cv2.LINE_AA)


def draw_keys(image: ImageArray, rng: np.random.Generator) -> None:
    """A field of keys, cards or labels with Latin letters: like tiles in size, but none."""
    pitch = float(rng.uniform(18, 64))
    size = pitch * float(rng.uniform(0.7, 0.95))
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 14))
    angle = float(rng.uniform(0, 360))
    origin = rng.uniform(0, SIZE, 2)
    light = rng.random() < 0.6
    cap = np.array(_colour(rng, 150, 256) if light else _colour(rng, 0, 110), np.float64)
    ink = _colour(rng, 0, 90) if light else _colour(rng, 150, 256)
    tilt = math.radians(angle)
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    for row in range(rows):
        for column in range(columns):
            wide = float(rng.choice([1.0, 1.0, 1.0, 1.6]))
            centre = np.array([column, row]) * pitch @ turn + origin
            quad = _quad(centre, size * wide, size, angle)
            _hull(image, quad, quad + np.array([1.0, 2.0]), cap * 0.6)
            face = np.full(
                (48, round(48 * wide), 3), np.clip(cap + rng.normal(0, 6), 0, 255), np.uint8
            )
            text = "".join(chr(int(v)) for v in rng.integers(33, 91, int(rng.integers(0, 3))))
            style, scale = int(rng.choice([0, 2, 3])), float(rng.uniform(0.5, 1.2))
            cv2.putText(
                face, text, (6, 36), style, scale, ink, int(rng.integers(1, 3)), cv2.LINE_AA
            )
            _blend_tile(image, face, quad)


def draw_arm(image: ImageArray, rng: np.random.Generator) -> ImageArray:
    """An arm with fingers reaching in, over everything; returns its mask."""
    mask = np.zeros(image.shape[:2], np.uint8)
    side = rng.uniform(0, 2 * math.pi)
    away = np.array([math.cos(side), math.sin(side)])
    palm = np.array([SIZE / 2, SIZE / 2]) + away * rng.uniform(80, 330) + rng.normal(0, 60, 2)
    width = int(rng.integers(40, 90))
    start = palm + away * SIZE
    cv2.line(mask, tuple(start.astype(int)), tuple(palm.astype(int)), 255, width, cv2.LINE_AA)
    for spread in np.linspace(-0.7, 0.7, 5):
        angle = side + math.pi + spread + rng.normal(0, 0.1)
        tip = palm + np.array([math.cos(angle), math.sin(angle)]) * rng.uniform(0.9, 1.6) * width
        cv2.line(
            mask, tuple(palm.astype(int)), tuple(tip.astype(int)), 255, width // 4, cv2.LINE_AA
        )
    skin = np.array([120, 150, 200]) * rng.uniform(0.4, 1.2) + rng.normal(0, 10, 3)
    shade = cv2.GaussianBlur(mask, (0, 0), 9).astype(np.float32)[:, :, None] / 255
    paint = np.clip(skin * (0.6 + 0.4 * shade), 0, 255)
    alpha = mask.astype(np.float32)[:, :, None] / 255
    image[:] = np.clip(image * (1 - alpha) + paint * alpha, 0, 255).astype(np.uint8)
    return mask


@dataclass(frozen=True)
class Place:
    """Where a tile lies: centre px, degrees clockwise, level (0 table, 1 on top of another)."""

    centre: FloatArray
    angle: float
    level: int = 0
    back: bool = False


def _quad(centre: FloatArray, width: float, height: float, angle: float) -> FloatArray:
    """Corners (4, 2): top left, top right, bottom right, bottom left of the turned rectangle."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    local = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [width / 2, height / 2]
    turned: FloatArray = local @ np.array([[c, s], [-s, c]]) + centre
    return turned


LAYOUTS = ("river", "row", "meld", "wall", "loose", "standing", "grid")
USUAL = (0.25, 0.15, 0.15, 0.13, 0.1, 0.12, 0.1)
MOSTLY_FACES = (0.32, 0.2, 0.15, 0.03, 0.12, 0.04, 0.14)
"""Shares of the layouts: as on a table, and for pictures that are to teach the faces."""


def layout_group(
    style: Style, angle: float, rng: np.random.Generator, shares: tuple[float, ...] = USUAL
) -> tuple[list[Place], bool]:
    """One row, river, meld, wall, loose heap or standing hand round the origin; True: standing."""
    w, h = style.width, style.height
    gap = float(rng.choice([0.0, 0.01, 0.04, 0.12, 0.3]))
    step = w * (1 + gap)
    jitter = float(rng.choice([0.0, 0.6, 2.0, 5.0]))
    kind = rng.choice(LAYOUTS, p=shares)
    local: list[tuple[float, float, float, int, bool]] = []
    back_row = rng.random() < 0.12
    if kind in ("river", "grid"):
        columns = 6 if kind == "river" else int(rng.integers(2, 9))
        count = int(rng.integers(1, 4 * columns))
        down = h * (1 + gap)
        local += [(i % columns * step, i // columns * down, 0, 0, back_row) for i in range(count)]
    elif kind == "meld":
        count = int(rng.integers(3, 5))
        turned = int(rng.integers(-1, count))
        x = 0.0
        for i in range(count):
            size = h if i == turned else w
            turn = 90.0 if i == turned else 0.0
            low = (h - w) / 2 if i == turned else 0.0
            down = count == 4 and turned < 0 and i in (0, 3) and rng.random() < 0.5
            local.append((x + size / 2, low, turn, 0, down))
            x += size + gap * w
    elif kind == "wall":
        local += [
            (i * w * 1.01, 0, 0, int(rng.random() < 0.85), rng.random() < 0.97)
            for i in range(int(rng.integers(3, 18)))
        ]
    elif kind == "loose":
        for _ in range(int(rng.integers(2, 12))):
            x, y = rng.uniform(-3, 3, 2) * h
            local.append((x, y, float(rng.uniform(0, 360)), 0, rng.random() < 0.25))
    else:
        local += [(i * step, 0, 0, 0, back_row) for i in range(int(rng.integers(1, 15)))]
    table = np.array([(x, y) for x, y, *_ in local])
    table -= (table.min(axis=0) + table.max(axis=0)) / 2
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    moved = table @ np.array([[c, s], [-s, c]]) + rng.normal(0, 0.02 * w, table.shape)
    places = [
        Place(np.asarray(centre), angle + turn + float(rng.normal(0, jitter)), level, back)
        for centre, (_, _, turn, level, back) in zip(moved, local, strict=True)
    ]
    return places, kind == "standing"


def _claim(scene: Scene, quads: FloatArray) -> bool:
    """Reserve the ground of a group; False when something lies there or it is out of sight."""
    ground = np.zeros_like(scene.taken)
    for quad in quads:
        cv2.fillConvexPoly(ground, np.round(quad / 4).astype(np.int32), 1)
    area = int(ground.sum())
    if area == 0 or bool((ground & scene.taken).any()):
        return False
    scene.taken |= np.asarray(cv2.dilate(ground, np.ones((3, 3), np.uint8)), np.uint8)
    return True


def _raise(quad: FloatArray, style: Style, levels: float) -> FloatArray:
    lifted: FloatArray = quad + (quad - style.nadir) * style.depth * levels
    return lifted


def _blend_tile(image: ImageArray, bitmap: ImageArray, quad: FloatArray) -> None:
    """Warp an upright bitmap onto ``quad`` (anti-aliased, rounded corners)."""
    x1, y1 = np.floor(quad.min(axis=0)).astype(int) - 1
    x2, y2 = np.ceil(quad.max(axis=0)).astype(int) + 2
    x1, y1, x2, y2 = max(x1, 0), max(y1, 0), min(x2, SIZE), min(y2, SIZE)
    if x2 - x1 < 2 or y2 - y1 < 2:
        return
    w = max(4, round(float(np.linalg.norm(quad[1] - quad[0]))))
    h = max(4, round(float(np.linalg.norm(quad[3] - quad[0]))))
    small = cv2.resize(bitmap, (w, h), interpolation=cv2.INTER_AREA)
    source = np.array(
        [[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]], np.float32
    )
    matrix = cv2.getPerspectiveTransform(source, (quad - [x1, y1]).astype(np.float32))
    span = (int(x2 - x1), int(y2 - y1))
    cover = np.full((h, w), 255, np.uint8)
    for row, column in ((0, 0), (0, -1), (-1, 0), (-1, -1)):
        cover[row, column] = 60
    paint = cv2.warpPerspective(
        small, matrix, span, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    alpha = (
        cv2.warpPerspective(cover, matrix, span, flags=cv2.INTER_LINEAR)[:, :, None].astype(
            np.float32
        )
        / 255
    )
    part = image[y1:y2, x1:x2]
    part[:] = (part * (1 - alpha) + paint * alpha).astype(np.uint8)


def _hull(image: ImageArray, a: FloatArray, b: FloatArray, colour: FloatArray) -> None:
    points = cv2.convexHull(np.concatenate([a, b]).astype(np.float32))
    tone = tuple(float(v) for v in np.clip(colour, 0, 255))
    cv2.fillConvexPoly(image, np.round(points * 8).astype(np.int32), tone, cv2.LINE_AA, 3)


def draw_lying(scene: Scene, style: Style, place: Place, rng: np.random.Generator) -> None:
    """A tile flat on the table (or on another): side, face or back, and its outline."""
    ground = _quad(place.centre, style.width, style.height, place.angle)
    base = _raise(ground, style, place.level)
    middle, top = _raise(ground, style, place.level + 0.45), _raise(ground, style, place.level + 1)
    shade = float(rng.uniform(0.6, 0.9))
    lower, upper = (style.body, style.back) if place.back else (style.back, style.body)
    if place.level:
        _hull(scene.image, ground, base, style.body * shade)
    _hull(scene.image, base, middle, lower * shade)
    _hull(scene.image, middle, top, upper * shade)
    choice = len(style.faces) - 1 if place.back else int(rng.integers(len(style.faces)))
    tile, bitmap = style.faces[choice]
    light = float(rng.normal(1, 0.03))
    bitmap = np.clip(bitmap * light, 0, 255).astype(np.uint8)
    if rng.random() < 0.5:
        cv2.rectangle(bitmap, (0, 0), (FACE_WIDTH - 1, FACE_HEIGHT - 1), _edge_tone(style, rng), 2)
    _blend_tile(scene.image, bitmap, top)
    known = style.upright and tile != BACK
    up = top[0] + top[1] - top[2] - top[3]
    rotation = math.degrees(math.atan2(up[0], -up[1])) % 360 if known or tile == BACK else None
    scene.rows.append(
        {"quad": top.round(2).tolist(), "tile": format_tile(Tile(tile)), "rotation": rotation}
    )


def _edge_tone(style: Style, rng: np.random.Generator) -> tuple[int, int, int]:
    blue, green, red = (int(v) for v in np.clip(style.body * rng.uniform(0.6, 1.0), 0, 255))
    return blue, green, red


def draw_standing(scene: Scene, style: Style, place: Place, rng: np.random.Generator) -> None:
    """A tile standing on edge, seen from above: a thin strip of body and back. No outline."""
    thick = style.width * float(rng.uniform(0.6, 0.75))
    ground = _quad(place.centre, style.width, thick, place.angle)
    top = _raise(ground, style, 1.8)
    _hull(scene.image, ground, top, style.back * 0.7)
    _hull(scene.image, top, top, style.body * float(rng.uniform(0.85, 1.0)))
    half = top.copy()
    half[2:] = (top[2:] + top[:2][::-1] * 0.9) / 1.9
    _hull(scene.image, half, half, style.back * float(rng.uniform(0.85, 1.0)))


def _shadow(
    image: ImageArray, quads: list[FloatArray], style: Style, rng: np.random.Generator
) -> None:
    mask = np.zeros(image.shape[:2], np.uint8)
    offset = rng.normal(0, 0.14, 2) * style.width
    for quad in quads:
        cv2.fillConvexPoly(
            mask, np.round((quad + offset) * 8).astype(np.int32), 255, cv2.LINE_AA, 3
        )
    soft = cv2.GaussianBlur(mask, (0, 0), float(rng.uniform(0.04, 0.25)) * style.width)
    dark = 1 - soft.astype(np.float32)[:, :, None] / 255 * float(rng.uniform(0.1, 0.65))
    image[:] = (image * dark).astype(np.uint8)


def compose(
    arts: list[ArtSet],
    photos: list[Photo],
    rng: np.random.Generator,
    made_up: float = 0.0,
    widths: tuple[float, float] = (24, 62),
    dense: bool = False,
) -> Scene:
    """One scene of 640x640 px with one set of tiles; ``dense``: crowded with faces."""
    style = random_style(arts, photos, rng, made_up, widths)
    scene = Scene(felt(rng), np.zeros((SIZE // 4, SIZE // 4), np.uint8))
    draw_clutter(scene.image, rng)
    if rng.random() < 0.3:
        draw_keys(scene.image, rng)
    if rng.random() < 0.4:
        draw_panel(scene.image, rng)
    camera = float(rng.uniform(0, 360)) if rng.random() < 0.25 else float(rng.normal(0, 3))
    wanted: list[tuple[list[Place], bool]] = []
    for _ in range(int(rng.integers(40, 90) if dense else rng.integers(8, 40))):
        angle = camera + 90 * int(rng.integers(4)) + float(rng.normal(0, 2))
        places, standing = layout_group(style, angle, rng, MOSTLY_FACES if dense else USUAL)
        origin = rng.uniform(-0.05, 1.05, 2) * SIZE
        places = [Place(p.centre + origin, p.angle, p.level, p.back) for p in places]
        quads = np.stack([_quad(p.centre, style.width, style.height, p.angle) for p in places])
        if _claim(scene, quads):
            wanted.append((places, standing))
    flat = [(place, standing) for places, standing in wanted for place in places]
    _shadow(
        scene.image,
        [_quad(p.centre, style.width, style.height, p.angle) for p, _ in flat],
        style,
        rng,
    )
    far = [float(np.linalg.norm(p.centre - style.nadir)) for p, _ in flat]
    for number in np.argsort(far)[::-1]:
        place, standing = flat[int(number)]
        (draw_standing if standing else draw_lying)(scene, style, place, rng)
    for _ in range(int(rng.integers(0, 4))):
        draw_die(scene.image, rng)
    if rng.random() < 0.2:
        _cover_with_arm(scene, rng)
    return scene


def _cover_with_arm(scene: Scene, rng: np.random.Generator) -> None:
    mask = draw_arm(scene.image, rng)
    kept = []
    for row in scene.rows:
        region = np.zeros_like(mask)
        cv2.fillConvexPoly(region, np.round(np.array(row["quad"])).astype(np.int32), 1)
        total = int(region.sum())
        if total and float((mask[region > 0] > 127).mean()) < 0.4:
            kept.append(row)
    scene.rows = kept


def usable_for_cutting(photos: list[Photo]) -> list[Photo]:
    """Photographs of straight, large tiles."""
    return [photo for photo in photos if not photo.tilted and len(photo.boxes) >= 4]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--art", type=Path, default=Path("../shared/data/art"))
    parser.add_argument("--out", type=Path, default=Path("runs/synth"))
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--first", type=int, default=0, help="number of the first picture")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument(
        "--fonts", type=Path, nargs="*", default=[], help="CJK fonts to letter with"
    )
    parser.add_argument(
        "--made-up", type=float, default=0.0, help="share of pictures with a made-up set"
    )
    parser.add_argument("--widths", type=float, nargs=2, default=(24, 62), help="of tiles, px")
    parser.add_argument(
        "--develop", action="store_true", help="tilt, light, blur, noise and JPEG of a camera"
    )
    parser.add_argument(
        "--sets", type=Path, nargs="*", default=[], help="folders of vision.training.outside"
    )
    parser.add_argument("--dense", action="store_true", help="crowded with faces")
    parser.add_argument("--leave-out", nargs="*", default=[], help="names of artwork not to use")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    arts = [art for art in load_art(options.art) if art.name not in options.leave_out]
    arts += [load_folder(folder) for folder in options.sets]
    rng = np.random.default_rng(options.seed)
    arts += [lettered_set(font, arts[:5], rng) for font in options.fonts for _ in range(12)]
    photos = usable_for_cutting(load_split(options.photos, "train"))
    for number in range(options.first, options.first + options.count):
        chance = np.random.default_rng([options.seed, number])
        scene = compose(arts, photos, chance, options.made_up, tuple(options.widths), options.dense)
        quality = 93
        if options.develop:
            scene.image, scene.rows, quality = develop(scene.image, scene.rows, chance)
        stem = options.out / f"{number:05d}"
        cv2.imwrite(str(stem.with_suffix(".jpg")), scene.image, [cv2.IMWRITE_JPEG_QUALITY, quality])
        stem.with_suffix(".json").write_text(json.dumps(scene.rows))


if __name__ == "__main__":
    main()
