"""Birds for the 1 of bamboos, and plants, figures and scenes for flowers."""

from __future__ import annotations

import math

import cv2
import numpy as np

from ..sources import FloatArray, ImageArray
from .ink import HEIGHT, WIDTH, Ink, Palette, blank, curve, dot, ellipse, hsv, polygon


def _way(degrees: float) -> FloatArray:
    return np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def _off(point: FloatArray, right: float, down: float) -> FloatArray:
    """A point beside another."""
    moved: FloatArray = point + np.array([right, down])
    return moved


def _inks(palette: Palette, rng: np.random.Generator) -> list[Ink]:
    choice = [palette.green, palette.red, palette.black, palette.blue, *palette.other]
    count = int(rng.integers(1, 5))
    return [choice[int(rng.integers(len(choice)))] for _ in range(count)] * 4


def bird(palette: Palette, rng: np.random.Generator) -> ImageArray:
    """A bird of some kind: peacock, sparrow, crane, owl."""
    face = blank()
    kind = rng.choice(["side", "side", "side", "fan", "front"])
    if kind == "side":
        _side_bird(face, palette, rng)
    elif kind == "fan":
        _fan_bird(face, palette, rng)
    else:
        _front_bird(face, palette, rng)
    if rng.random() < 0.5:
        return np.ascontiguousarray(face[:, ::-1])
    return face


def _side_bird(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    inks = _inks(palette, rng)
    middle = np.array([WIDTH * rng.uniform(0.4, 0.6), HEIGHT * rng.uniform(0.42, 0.62)])
    long = WIDTH * float(rng.uniform(0.18, 0.3))
    lean = float(rng.uniform(15, 75))
    fat = float(rng.uniform(0.4, 0.65))
    tail_turn = 180 + lean - 180 * (rng.random() < 0.3) + float(rng.normal(0, 25))
    tail_from = middle - _way(lean) * long * 0.7 * (1 if abs(tail_turn) > 90 else -1)
    up = rng.random() < 0.45
    for k in range(int(rng.integers(2, 8))):
        spread = float(rng.normal(0, 16))
        turn = (270 if up else 90) + float(rng.uniform(10, 60)) * (-1 if up else 1) + spread
        reach = WIDTH * float(rng.uniform(0.3, 0.7))
        end = tail_from + _way(turn) * reach
        bend = (tail_from + end) / 2 + rng.normal(0, 14, 2)
        curve(face, np.stack([tail_from, bend, end]), inks[k % 3], float(rng.uniform(3, 13)))
        if rng.random() < 0.4:
            dot(face, end, float(rng.uniform(5, 13)), inks[(k + 1) % 4])
    ellipse(face, middle, (long, long * fat), lean, inks[0])
    head = middle - _way(lean) * long * float(rng.uniform(0.9, 1.4)) + np.array([0, -8.0])
    curve(face, np.stack([middle, (middle + head) / _off(2, 6, 0), head]), inks[0], long * 0.35)
    size = long * float(rng.uniform(0.3, 0.45))
    dot(face, head, size, inks[1])
    tip = head - np.array(
        [size * float(rng.uniform(1.6, 2.6)), -size * float(rng.uniform(-0.2, 0.5))]
    )
    polygon(face, np.stack([_off(head, 0, -size * 0.5), tip, _off(head, 0, size * 0.5)]), inks[2])
    dot(face, head, size * 0.3, (0, 0, 0, 0))
    for k in range(int(rng.integers(0, 4))):
        curve(
            face,
            np.stack([head, _off(head, 0, -size), head + _way(230 + 30 * k) * size * 2.2]),
            inks[3],
            3,
        )
    for k in range(int(rng.integers(0, 5))):
        spot = middle + rng.normal(0, 0.3, 2) * long
        ellipse(face, spot, (long * 0.3, long * 0.12), lean + float(rng.normal(0, 15)),
                inks[2 + k % 2] if rng.random() < 0.6 else (0, 0, 0, 0))  # fmt: skip
    foot = HEIGHT * float(rng.uniform(0.84, 0.95))
    for offset in (-9, 9):
        leg = _off(middle, offset, long * fat * 0.6)
        cv2.line(
            face,
            tuple(np.round(leg).astype(int).tolist()),
            (round(leg[0] + offset / 2), round(foot)),
            inks[3],
            4,
        )
        for toe in (-10, 8):
            cv2.line(
                face,
                (round(leg[0] + offset / 2), round(foot)),
                (round(leg[0] + toe), round(foot + 6)),
                inks[3],
                3,
            )
    if rng.random() < 0.4:
        cv2.line(
            face,
            (20, round(foot + 4)),
            (WIDTH - 20, round(foot + rng.normal(0, 14))),
            inks[2],
            int(rng.integers(4, 14)),
        )


def _fan_bird(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    inks = _inks(palette, rng)
    base = np.array([WIDTH * rng.uniform(0.42, 0.58), HEIGHT * rng.uniform(0.6, 0.75)])
    count, reach = int(rng.integers(6, 14)), HEIGHT * float(rng.uniform(0.38, 0.52))
    half = float(rng.uniform(40, 110))
    if rng.random() < 0.4:  # printed as one dark fan, or with a pale one behind
        ends = [base + _way(float(turn)) * reach for turn in np.linspace(270 - half, 270 + half, 9)]
        polygon(face, np.stack([base, *ends]), inks[int(rng.integers(4))])
    for layer in (1.0, 0.72):
        for turn in np.linspace(270 - half, 270 + half, count):
            end = base + _way(float(turn)) * reach * layer
            cv2.line(
                face,
                tuple(np.round(base).astype(int).tolist()),
                tuple(np.round(end).astype(int).tolist()),
                inks[0],
                4,
            )
            ellipse(face, end, (12 * layer, 8 * layer), float(turn), inks[1])
            dot(face, end, 4, inks[2])
    ellipse(face, base, (20, 34), 0, inks[3])
    head = _off(base, 0, -52)
    curve(face, np.stack([base, _off(base, 10, -30), head]), inks[3], 12)
    dot(face, head, 13, inks[2])
    polygon(face, np.stack([_off(head, -10, -4), _off(head, -26, 4), _off(head, -8, 8)]), inks[1])
    for offset in (-10, 10):
        cv2.line(
            face,
            (round(base[0] + offset), round(base[1] + 25)),
            (round(base[0] + offset), HEIGHT - 16),
            inks[1],
            4,
        )


def _front_bird(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    inks = _inks(palette, rng)
    middle = np.array([WIDTH / 2, HEIGHT * 0.55])
    ellipse(face, middle, (WIDTH * 0.27, HEIGHT * 0.3), 0, inks[0])
    clear: Ink = (0, 0, 0, 0)
    for row in range(4):
        for column in range(-2, 3):
            spot = _off(middle, column * 17 + 8 * (row % 2), row * 18)
            ellipse(face, spot, (7, 8), 0, clear if rng.random() < 0.5 else inks[2])
    for sign in (-1, 1):
        eye = _off(middle, sign * WIDTH * 0.11, -HEIGHT * 0.2)
        dot(face, eye, 17, clear)
        dot(face, eye, 17, inks[1], 4)
        dot(face, eye, 8, inks[1])
        ear = _off(middle, sign * WIDTH * 0.2, -HEIGHT * 0.34)
        polygon(face, np.stack([ear, _off(ear, -sign * 34, 22), _off(ear, -sign * 6, 44)]), inks[0])
        foot = _off(middle, sign * 18, HEIGHT * 0.3)
        cv2.line(
            face,
            tuple(np.round(foot).astype(int).tolist()),
            (round(foot[0]), HEIGHT - 12),
            inks[3],
            7,
        )
    beak = _off(middle, 0, -HEIGHT * 0.15)
    polygon(face, np.stack([_off(beak, -8, 0), _off(beak, 8, 0), _off(beak, 0, 22)]), inks[3])
    cv2.line(face, (14, HEIGHT - 16), (WIDTH - 14, HEIGHT - 16), inks[2], int(rng.integers(4, 12)))


def flower_drawing(index: int, palette: Palette, rng: np.random.Generator) -> ImageArray:
    """A picture for flower ``index`` 0 to 7: its plant, another, a figure, or a little scene.

    Plum, orchid, chrysanthemum and bamboo are mostly drawn as what they are, seasons rarely.
    """
    face = blank()
    if rng.random() < (0.2 if index < 4 else 0.72):
        plants = (_blossom, _lotus, _leaves, _blossom, _blossom, _orchid, _mum, _canes)
        plants[index](face, palette, rng)
        return face
    choice = (
        _blossom, _lotus, _leaves, _orchid, _mum, _canes, _figure, _landscape, _vase, _insect
    )  # fmt: skip
    for _ in range(int(rng.choice([1, 1, 2]))):
        choice[int(rng.integers(len(choice)))](face, palette, rng)
    return face


def season_sign(index: int, palette: Palette, rng: np.random.Generator) -> ImageArray:
    """What stands for season ``index`` on Western sets: butterfly or bloom, sun, leaf, snow."""
    face = blank()
    spot = np.array([WIDTH / 2, HEIGHT * float(rng.uniform(0.4, 0.55))])
    reach = WIDTH * float(rng.uniform(0.25, 0.44))
    if index == 0:
        (_insect if rng.random() < 0.5 else _blossom)(face, palette, rng)
    elif index == 1:
        _sun(face, spot, reach, rng)
    elif index == 2:
        (_maple(face, spot, reach, rng) if rng.random() < 0.7 else _leaves(face, palette, rng))
    else:
        _snow(face, spot, reach, palette.blue if rng.random() < 0.7 else palette.any(rng), rng)
    return face


def _sun(face: ImageArray, spot: FloatArray, reach: float, rng: np.random.Generator) -> None:
    warm = hsv(float(rng.uniform(0, 55)), float(rng.uniform(0.6, 1)), float(rng.uniform(0.6, 1)))
    rays = hsv(float(rng.uniform(0, 55)), float(rng.uniform(0.6, 1)), float(rng.uniform(0.6, 1)))
    core, thick = float(rng.uniform(0.3, 0.6)), int(rng.integers(3, 9))
    for turn in np.arange(0, 360, 360 / int(rng.integers(8, 20))):
        ends = [spot + _way(float(turn)) * reach * share for share in (core + 0.08, 1.0)]
        start, end = (tuple(np.round(point).astype(int).tolist()) for point in ends)
        cv2.line(face, start, end, rays, thick)
    dot(face, spot, reach * core, warm, int(rng.choice([-1, -1, 6])))


def _maple(face: ImageArray, spot: FloatArray, reach: float, rng: np.random.Generator) -> None:
    ink = hsv(float(rng.uniform(0, 40)), float(rng.uniform(0.6, 1)), float(rng.uniform(0.5, 0.95)))
    tips = np.linspace(-205, 25, int(rng.choice([5, 7]))) + float(rng.normal(0, 10))
    points = []
    for k, turn in enumerate(tips):
        points.append(spot + _way(float(turn)) * reach * (0.75 + 0.25 * (k % 2)))
        points.append(spot + _way(float(turn) + 18) * reach * 0.4)
    polygon(face, np.stack(points), ink)
    _stem(face, spot, spot + _way(80 + float(rng.normal(0, 15))) * reach, ink, rng)


def _snow(
    face: ImageArray, spot: FloatArray, reach: float, ink: Ink, rng: np.random.Generator
) -> None:
    thick, start = int(rng.integers(3, 10)), float(rng.uniform(0, 60))
    for turn in np.arange(6) * 60 + start:
        end = spot + _way(float(turn)) * reach
        lines = [(spot, end)]
        for share in (0.45, 0.72):
            joint = spot + _way(float(turn)) * reach * share
            lines += [(joint, joint + _way(float(turn) + off) * reach * 0.28) for off in (-50, 50)]
        for a, b in lines:
            ends = (tuple(np.round(point).astype(int).tolist()) for point in (a, b))
            cv2.line(face, *ends, ink, thick)


def _leaf_ink(palette: Palette, rng: np.random.Generator) -> Ink:
    return palette.green if rng.random() < 0.7 else palette.any(rng)


def _petal_ink(palette: Palette, rng: np.random.Generator) -> Ink:
    kind = rng.random()
    if kind < 0.45:
        return palette.red
    if kind < 0.7:
        return palette.other[int(rng.integers(3))]
    return palette.any(rng)


def _stem(
    face: ImageArray, start: FloatArray, end: FloatArray, ink: Ink, rng: np.random.Generator
) -> None:
    curve(
        face,
        np.stack([start, (start + end) / 2 + rng.normal(0, 22, 2), end]),
        ink,
        float(rng.uniform(2, 9)),
    )


def _bloom(
    face: ImageArray, spot: FloatArray, reach: float, ink: Ink, heart: Ink, rng: np.random.Generator
) -> None:
    count = int(rng.integers(4, 8))
    outline = rng.random() < 0.4
    for turn in np.arange(count) * 360 / count + float(rng.uniform(0, 60)):
        centre = spot + _way(float(turn)) * reach * 0.55
        size = (reach * 0.5, reach * float(rng.uniform(0.25, 0.42)))
        ellipse(face, centre, size, float(turn), ink, 3 if outline else -1)
    dot(face, spot, reach * 0.25, heart)


def _blossom(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    leaf = _leaf_ink(palette, rng)
    wood = palette.black if rng.random() < 0.6 else leaf
    root = np.array([WIDTH * rng.uniform(0.2, 0.8), HEIGHT * 0.95])
    for _ in range(int(rng.integers(2, 6))):
        end = np.array([WIDTH * rng.uniform(0.12, 0.88), HEIGHT * rng.uniform(0.2, 0.7)])
        _stem(face, root, end, wood, rng)
        if rng.random() < 0.75:
            _bloom(
                face,
                end,
                float(rng.uniform(12, 32)),
                _petal_ink(palette, rng),
                palette.any(rng),
                rng,
            )
        for _ in range(int(rng.integers(0, 4))):
            spot = root + (end - root) * float(rng.uniform(0.3, 0.95)) + rng.normal(0, 8, 2)
            ellipse(
                face,
                spot,
                (float(rng.uniform(8, 20)), float(rng.uniform(3, 8))),
                float(rng.uniform(0, 180)),
                leaf,
            )


def _lotus(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    ink, line = _petal_ink(palette, rng), rng.random() < 0.5
    spot = np.array([WIDTH * rng.uniform(0.35, 0.65), HEIGHT * rng.uniform(0.45, 0.65)])
    reach = float(rng.uniform(35, 62))
    _stem(
        face,
        spot,
        np.array([spot[0] + rng.normal(0, 15), HEIGHT * 0.96]),
        _leaf_ink(palette, rng),
        rng,
    )
    for turn in np.linspace(200, 340, int(rng.integers(5, 9))):
        centre = spot + _way(float(turn)) * reach * 0.5
        ellipse(face, centre, (reach * 0.55, reach * 0.2), float(turn), ink, 4 if line else -1)
    for _ in range(int(rng.integers(1, 4))):
        pad = np.array([WIDTH * rng.uniform(0.15, 0.85), HEIGHT * rng.uniform(0.75, 0.95)])
        ellipse(
            face,
            pad,
            (float(rng.uniform(20, 45)), float(rng.uniform(7, 18))),
            float(rng.normal(0, 10)),
            _leaf_ink(palette, rng),
        )


def _leaves(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    ink = _petal_ink(palette, rng)
    for _ in range(int(rng.integers(3, 12))):
        spot = np.array([WIDTH * rng.uniform(0.12, 0.88), HEIGHT * rng.uniform(0.25, 0.92)])
        reach, turn = float(rng.uniform(10, 30)), float(rng.uniform(0, 360))
        for off in (-45, 0, 45) if rng.random() < 0.6 else (0,):
            ellipse(
                face,
                spot + _way(turn + off) * reach * 0.6,
                (reach * 0.6, reach * 0.2),
                turn + off,
                ink,
            )
        _stem(face, spot, spot - _way(turn) * reach * 1.4, palette.black, rng)


def _orchid(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    leaf = _leaf_ink(palette, rng)
    root = np.array([WIDTH * rng.uniform(0.35, 0.65), HEIGHT * 0.94])
    for _ in range(int(rng.integers(4, 10))):
        end = np.array([WIDTH * rng.uniform(0.06, 0.94), HEIGHT * rng.uniform(0.28, 0.85)])
        curve(
            face,
            np.stack([root, np.array([root[0], end[1] - 30]), end]),
            leaf,
            float(rng.uniform(3, 10)),
        )
    for _ in range(int(rng.integers(1, 4))):
        end = np.array([WIDTH * rng.uniform(0.2, 0.8), HEIGHT * rng.uniform(0.25, 0.6)])
        _stem(face, root, end, leaf, rng)
        _bloom(
            face, end, float(rng.uniform(12, 26)), _petal_ink(palette, rng), palette.any(rng), rng
        )


def _mum(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    leaf = _leaf_ink(palette, rng)
    for _ in range(int(rng.integers(1, 4))):
        spot = np.array([WIDTH * rng.uniform(0.22, 0.78), HEIGHT * rng.uniform(0.3, 0.75)])
        reach, ink = float(rng.uniform(22, 46)), _petal_ink(palette, rng)
        _stem(face, spot, np.array([WIDTH / 2 + rng.normal(0, 15), HEIGHT * 0.96]), leaf, rng)
        for turn in np.arange(0, 360, float(rng.uniform(15, 30))):
            end = spot + _way(float(turn)) * reach * float(rng.uniform(0.8, 1.1))
            curve(
                face,
                np.stack([spot, (spot + end) / 2 + rng.normal(0, 4, 2), end]),
                ink,
                float(rng.uniform(2, 7)),
            )
        dot(face, spot, reach * 0.25, palette.any(rng))
    for _ in range(int(rng.integers(1, 6))):
        spot = np.array([WIDTH * rng.uniform(0.15, 0.85), HEIGHT * rng.uniform(0.6, 0.95)])
        ellipse(
            face,
            spot,
            (float(rng.uniform(10, 24)), float(rng.uniform(5, 11))),
            float(rng.uniform(0, 180)),
            leaf,
        )


def _canes(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    ink = _leaf_ink(palette, rng)
    for _ in range(int(rng.integers(1, 4))):
        x = WIDTH * float(rng.uniform(0.2, 0.8))
        lean = float(rng.normal(0, 14))
        thick = int(rng.integers(4, 14))
        parts = int(rng.integers(3, 6))
        for k in range(parts):
            y1, y2 = (HEIGHT * (0.96 - 0.7 * v / parts) for v in (k, k + 0.88))
            cv2.line(
                face,
                (round(x + lean * k / parts), round(y1)),
                (round(x + lean * (k + 0.9) / parts), round(y2)),
                ink,
                thick,
            )
        for _ in range(int(rng.integers(2, 10))):
            spot = np.array([x + rng.normal(0, 30), HEIGHT * rng.uniform(0.22, 0.8)])
            ellipse(
                face,
                spot,
                (float(rng.uniform(10, 26)), float(rng.uniform(3, 7))),
                float(rng.uniform(0, 180)),
                ink,
            )


def _figure(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    robe, trim = _petal_ink(palette, rng), palette.any(rng)
    x, top = WIDTH * float(rng.uniform(0.35, 0.65)), HEIGHT * float(rng.uniform(0.3, 0.42))
    wide = WIDTH * float(rng.uniform(0.14, 0.3))
    body = np.array([[x - wide * 0.4, top + 14], [x + wide * 0.4, top + 14],
                     [x + wide, HEIGHT * 0.93], [x - wide, HEIGHT * 0.93]])  # fmt: skip
    polygon(face, body, robe, 0 if rng.random() < 0.6 else 5)
    dot(face, np.array([x, top]), 15, hsv(30, 0.3, 0.9) if rng.random() < 0.5 else trim)
    dot(face, np.array([x, top - 12]), 9, palette.black)
    for sign in (-1, 1):
        hand = np.array(
            [x + sign * wide * float(rng.uniform(1.0, 1.9)), top + float(rng.uniform(20, 80))]
        )
        curve(
            face,
            np.stack(
                [
                    np.array([x + sign * wide * 0.4, top + 22]),
                    np.array([x + sign * wide, top + 30]),
                    hand,
                ]
            ),
            trim,
            10,
        )
        if rng.random() < 0.4:
            _stem(face, hand, hand + np.array([sign * 8, -60.0]), palette.green, rng)
    cv2.line(
        face,
        (round(x - wide * 0.7), round(HEIGHT * 0.7)),
        (round(x + wide * 0.7), round(HEIGHT * 0.7)),
        trim,
        6,
    )


def _landscape(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(1, 4))):
        peak = np.array([WIDTH * rng.uniform(0.15, 0.85), HEIGHT * rng.uniform(0.35, 0.7)])
        wide = WIDTH * float(rng.uniform(0.15, 0.4))
        hill = np.array([[peak[0] - wide, HEIGHT * 0.92], peak, [peak[0] + wide, HEIGHT * 0.92]])
        polygon(face, hill, palette.any(rng), int(rng.choice([0, 4])))
    for _ in range(int(rng.integers(0, 3))):
        low = np.array([WIDTH * rng.uniform(0.2, 0.8), HEIGHT * rng.uniform(0.6, 0.9)])
        roof = np.array([_off(low, -26, 0), _off(low, 0, -24), _off(low, 26, 0)])
        polygon(face, roof, palette.any(rng))
        cv2.rectangle(
            face,
            tuple(np.round(_off(low, -18, 0)).astype(int).tolist()),
            tuple(np.round(_off(low, 18, 26)).astype(int).tolist()),
            palette.any(rng),
            4,
        )
    if rng.random() < 0.4:
        dot(
            face,
            np.array([WIDTH * rng.uniform(0.2, 0.8), HEIGHT * rng.uniform(0.2, 0.5)]),
            float(rng.uniform(12, 28)),
            palette.red,
        )


def _vase(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    x, top = WIDTH * float(rng.uniform(0.38, 0.62)), HEIGHT * float(rng.uniform(0.55, 0.7))
    ink, fat = palette.any(rng), float(rng.uniform(20, 42))
    ellipse(
        face,
        np.array([x, (top + HEIGHT * 0.93) / 2]),
        (fat, (HEIGHT * 0.93 - top) / 2),
        0,
        ink,
        int(rng.choice([-1, 5])),
    )
    cv2.rectangle(
        face,
        (round(x - fat * 0.5), round(top - 8)),
        (round(x + fat * 0.5), round(top + 8)),
        ink,
        -1,
    )
    for _ in range(int(rng.integers(2, 6))):
        end = np.array([x + rng.normal(0, 38), HEIGHT * rng.uniform(0.2, 0.5)])
        _stem(face, np.array([x, top]), end, palette.green, rng)
        _bloom(
            face, end, float(rng.uniform(9, 22)), _petal_ink(palette, rng), palette.any(rng), rng
        )


def _insect(face: ImageArray, palette: Palette, rng: np.random.Generator) -> None:
    spot = np.array([WIDTH * rng.uniform(0.25, 0.75), HEIGHT * rng.uniform(0.35, 0.75)])
    turn, ink = float(rng.uniform(0, 360)), _petal_ink(palette, rng)
    for sign in (-1, 1):
        for share in (0.4, -0.3):
            wing = spot + _way(turn + 90) * sign * 26 + _way(turn) * share * 26
            ellipse(
                face, wing, (26, 15), turn + 90 + sign * 30 * share, ink, int(rng.choice([-1, 4]))
            )
    ellipse(face, spot, (24, 5), turn, palette.black)
