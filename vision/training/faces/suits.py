"""Circles and bamboos in made-up styles, in every usual layout."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from ..sources import FloatArray, ImageArray
from .ink import HEIGHT, WIDTH, Ink, Palette, blank, dot, ellipse

Place = tuple[float, float]


def _at(x: float, y: float) -> FloatArray:
    return np.array([x * WIDTH, y * HEIGHT])


@dataclass(frozen=True)
class CircleStyle:
    """How one set draws a circle."""

    rings: int
    hollow: bool
    petals: int
    spokes: int
    heart: str
    line: float
    size: float
    two_tone: bool
    outlined: bool

    @classmethod
    def random(cls, rng: np.random.Generator) -> CircleStyle:
        """Anything from a plain dot to a flower of rings."""
        return cls(
            rings=int(rng.choice([0, 1, 2, 3], p=[0.2, 0.35, 0.3, 0.15])),
            hollow=bool(rng.random() < 0.45),
            petals=int(rng.choice([0, 5, 6, 8])) if rng.random() < 0.4 else 0,
            spokes=int(rng.choice([2, 3, 4])) if rng.random() < 0.2 else 0,
            heart=str(rng.choice(["none", "dot", "ring", "square", "star"])),
            line=float(rng.uniform(0.1, 0.24)),
            size=float(rng.uniform(0.86, 1.0)),
            two_tone=bool(rng.random() < 0.25),
            outlined=bool(rng.random() < 0.2),
        )


def draw_circle(
    face: ImageArray, centre: FloatArray, radius: float, style: CircleStyle, ink: Ink, second: Ink
) -> None:
    """One circle; what is left open shows the tile's body."""
    clear: Ink = (0, 0, 0, 0)
    line = max(2, round(radius * style.line))
    if style.hollow:
        dot(face, centre, radius - line / 2, ink, line)
    else:
        dot(face, centre, radius, ink)
    inner = radius - 1.4 * line
    inside = ink if style.hollow else clear
    for number in range(style.rings):
        reach = inner * (1 - number / (style.rings + 0.6))
        tone = second if style.two_tone and number % 2 == 0 and inside != clear else inside
        dot(face, centre, reach, tone, max(2, round(line * 0.55)))
    for turn in np.arange(style.petals) * 360 / max(1, style.petals):
        way = np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn))])
        petal = (radius * 0.26, radius * 0.14)
        ellipse(face, centre + way * radius * 0.5, petal, float(turn), inside)
    for turn in np.arange(style.spokes) * 180 / max(1, style.spokes):
        way = np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn))])
        ends = [tuple(int(v) for v in np.round(centre + s * way * inner)) for s in (-1, 1)]
        cv2.line(face, ends[0], ends[1], inside, max(2, line // 2))
    if style.heart != "none":
        small = radius * 0.26
        tone = second if style.two_tone else inside
        if style.heart == "dot":
            dot(face, centre, small, tone)
        elif style.heart == "ring":
            dot(face, centre, small, tone, max(2, line // 2))
        elif style.heart == "square":
            low = np.round(centre - small * 0.8).astype(int)
            high = np.round(centre + small * 0.8).astype(int)
            cv2.rectangle(face, tuple(low.tolist()), tuple(high.tolist()), tone, -1)
        else:
            for turn in (0.0, 60.0, 120.0):
                ellipse(face, centre, (small * 1.2, small * 0.35), turn, tone)
    if style.outlined:
        dot(face, centre, radius, second, max(2, line // 3))


def circle_places(
    number: int, falling: bool, rng: np.random.Generator
) -> tuple[list[Place], float]:
    """Centres (shares of the face) and radius (share of its width) of 2 to 9 circles.

    ``falling``: whether the diagonals of 3 and 7 run from the top left.
    """
    side = float(rng.uniform(0.2, 0.28))
    left, right = 0.5 - side, 0.5 + side
    if number == 2:
        off = float(rng.uniform(0.2, 0.25))
        return [(0.5, 0.5 - off), (0.5, 0.5 + off)], float(rng.uniform(0.19, 0.28))
    if number == 3:
        off = float(rng.uniform(0.2, 0.3))
        a = float(rng.uniform(0.2, 0.28))
        ends = [(0.5 - a, 0.5 - off), (0.5, 0.5), (0.5 + a, 0.5 + off)]
        return [(x if falling else 1 - x, y) for x, y in ends], float(rng.uniform(0.15, 0.2))
    if number in (4, 5):
        off = float(rng.uniform(0.2, 0.29))
        places = [(x, y) for y in (0.5 - off, 0.5 + off) for x in (left, right)]
        if number == 5:
            places.insert(2, (0.5, 0.5))
        return places, float(rng.uniform(0.14, 0.2))
    if number == 6:
        top = float(rng.uniform(0.14, 0.24))
        gap = float(rng.uniform(0.22, 0.26))
        first = 0.5 + float(rng.uniform(0.02, 0.1))
        low = [first, first + gap]
        if rng.random() < 0.25:
            low = [0.5, 1 - top]
        return [(x, y) for y in (top, *low) for x in (left, right)], float(rng.uniform(0.14, 0.18))
    if number == 7:
        rise = float(rng.uniform(0.05, 0.13))
        top = float(rng.uniform(0.13, 0.17))
        wide = float(rng.uniform(0.24, 0.31))
        ends = [(0.5 - wide, top), (0.5, top + rise), (0.5 + wide, top + 2 * rise)]
        places = [(x if falling else 1 - x, y) for x, y in ends]
        low = float(rng.uniform(0.58, 0.64))
        places += [
            (x, y) for y in (low, low + float(rng.uniform(0.21, 0.25))) for x in (left, right)
        ]
        return places, float(rng.uniform(0.115, 0.15))
    if number == 8:
        rows = 0.5 + np.array([-1.5, -0.5, 0.5, 1.5]) * float(rng.uniform(0.2, 0.235))
        across = float(rng.uniform(0.14, 0.24))
        places = [(x, float(y)) for y in rows for x in (0.5 - across, 0.5 + across)]
        return places, float(rng.uniform(0.11, min(0.145, across - 0.01)))
    rows = 0.5 + np.array([-1, 0, 1]) * float(rng.uniform(0.24, 0.3))
    across = float(rng.uniform(0.27, 0.31))
    places = [(x, float(y)) for y in rows for x in (0.5 - across, 0.5, 0.5 + across)]
    return places, float(rng.uniform(0.115, 0.145))


def circle_inks(number: int, palette: Palette, scheme: str) -> list[Ink]:
    """Inks of the circles in the order of :func:`circle_places`."""
    black, red, green, blue = palette.black, palette.red, palette.green, palette.blue
    cold = blue if scheme == "blue" else black if scheme == "black" else green
    usual: dict[int, list[Ink]] = {
        2: [green, cold],
        3: [cold, red, green],
        4: [cold, green, green, cold],
        5: [cold, green, red, green, cold],
        6: [green] * 2 + [red] * 4,
        7: [green] * 3 + [red] * 4,
        8: [cold] * 8,
        9: [cold] * 3 + [red] * 3 + [green] * 3,
    }
    if scheme == "rows":
        usual |= {6: [cold] * 2 + [red] * 4, 9: [red] * 3 + [green] * 3 + [cold] * 3}
    if scheme == "one":
        return [cold] * number
    return usual[number]


def circles(
    number: int, palette: Palette, rng: np.random.Generator, manner: dict[str, object]
) -> ImageArray:
    """The face of a circle tile; ``manner`` is drawn once for a set by :func:`circle_manner`."""
    face = blank()
    style = manner["style"]
    assert isinstance(style, CircleStyle)
    if number == 1:
        _great_circle(face, palette, rng, style)
        return face
    places, radius = circle_places(number, bool(manner["falling"]), rng)
    inks = circle_inks(number, palette, str(manner["scheme"]))
    others = [palette.red, palette.green, palette.blue, palette.black]
    for place, ink in zip(places, inks, strict=True):
        second = others[int(manner["second"])]  # type: ignore[call-overload]
        draw_circle(face, _at(*place), radius * WIDTH * style.size, style, ink, second)
    return face


def circle_manner(rng: np.random.Generator) -> dict[str, object]:
    """What all circles of a set have in common."""
    return {
        "style": CircleStyle.random(rng),
        "falling": rng.random() < 0.75,
        "scheme": str(
            rng.choice(["blue", "black", "green", "rows", "one"], p=[0.4, 0.25, 0.15, 0.12, 0.08])
        ),
        "second": int(rng.integers(4)),
    }


def _great_circle(
    face: ImageArray, palette: Palette, rng: np.random.Generator, style: CircleStyle
) -> None:
    centre, radius = _at(0.5, 0.5), WIDTH * float(rng.uniform(0.28, 0.47))
    inks = [palette.any(rng) for _ in range(5)]
    kind = rng.random()
    if kind < 0.15:
        draw_circle(face, centre, radius, style, inks[0], inks[1])
        return
    clear: Ink = (0, 0, 0, 0)
    dot(face, centre, radius, inks[0])
    reach = radius
    for number in range(int(rng.integers(2, 5))):
        reach *= float(rng.uniform(0.72, 0.93))
        dot(face, centre, reach, clear if number % 2 == 0 else inks[number % 5])
    petals = int(rng.choice([0, 5, 6, 8, 10, 12, 16]))
    for turn in np.arange(petals) * 360 / max(1, petals):
        way = np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn))])
        size = (reach * 0.28, reach * float(rng.uniform(0.08, 0.2)))
        ellipse(face, centre + way * reach * 0.6, size, float(turn), inks[3])
    if rng.random() < 0.6:
        dot(face, centre, reach * float(rng.uniform(0.2, 0.5)), inks[1])
        dot(face, centre, reach * float(rng.uniform(0.08, 0.2)), inks[2] if petals else clear)
    beads = int(rng.choice([0, 0, 12, 18, 24]))
    for turn in np.arange(beads) * 2 * math.pi / max(1, beads):
        way = np.array([math.cos(turn), math.sin(turn)])
        dot(face, centre + way * radius * 0.92, radius * 0.05, clear)


@dataclass(frozen=True)
class StickStyle:
    """How one set draws a bamboo stick."""

    form: str
    thick: float
    """Of its length."""
    joints: int
    hollow: bool
    stripe: bool
    knobs: bool

    @classmethod
    def random(cls, rng: np.random.Generator) -> StickStyle:
        """Rods, capsules, bones or strings of beads."""
        return cls(
            form=str(rng.choice(["rod", "capsule", "bone", "beads", "waist"])),
            thick=float(rng.uniform(0.16, 0.36)),
            joints=int(rng.choice([0, 1, 1, 2, 3])),
            hollow=bool(rng.random() < 0.35),
            stripe=bool(rng.random() < 0.4),
            knobs=bool(rng.random() < 0.35),
        )


def stick_picture(style: StickStyle, ink: Ink, second: Ink, length: int) -> ImageArray:
    """An upright stick (length, thickness, 4) filling its picture."""
    width = max(7, round(length * style.thick)) | 1
    page = np.zeros((length, width, 4), np.uint8)
    clear: Ink = (0, 0, 0, 0)
    middle = width // 2
    line = max(2, width // 5)
    if style.form == "rod":
        cv2.rectangle(page, (1, 1), (width - 2, length - 2), ink, -1)
    elif style.form == "capsule":
        cv2.line(page, (middle, middle), (middle, length - 1 - middle), ink, width - 2)
    elif style.form == "bone":
        cv2.rectangle(page, (width // 4, 0), (width - 1 - width // 4, length - 1), ink, -1)
        for share in (0.08, 0.5, 0.92):
            spot = np.array([middle, share * (length - 1)])
            ellipse(page, spot, (width / 2, max(3.0, length * 0.08)), 0, ink)
    elif style.form == "beads":
        count = 3 if style.joints < 2 else 4
        for k in range(count):
            spot = np.array([middle, (k + 0.5) * length / count])
            ellipse(page, spot, (width / 2, length / count / 2), 0, ink)
    else:
        right, low = width - 1, length - 1
        left_waist, right_waist = [middle - line, low / 2], [middle + line, low / 2]
        points = np.array([[0, 0], [right, 0], right_waist, [right, low], [0, low], left_waist])
        cv2.fillPoly(page, [np.round(points).astype(np.int32)], ink)
    if style.hollow and style.form in ("rod", "capsule"):
        cv2.rectangle(page, (line + 1, line + 1), (width - 2 - line, length - 2 - line), clear, -1)
    elif style.stripe:
        cv2.line(page, (middle, line * 2), (middle, length - line * 2), clear, max(1, line // 2))
    for k in range(style.joints):
        y = round((k + 1) * length / (style.joints + 1))
        if style.knobs or style.hollow:
            cv2.rectangle(page, (0, y - line), (width - 1, y + line), second, -1)
        else:
            cv2.line(page, (0, y), (width - 1, y), clear, max(2, line // 2))
    return page


def draw_stick(face: ImageArray, stick: ImageArray, centre: FloatArray, turn: float) -> None:
    """Lay a stick at ``centre``, turned clockwise by ``turn`` degrees."""
    height, width = stick.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -turn, 1.0)
    matrix[:, 2] += centre - np.array([width / 2, height / 2])
    laid = cv2.warpAffine(stick, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_NEAREST)
    seen = laid[:, :, 3] > 0
    face[seen] = laid[seen]


def bamboo_places(
    number: int, rng: np.random.Generator
) -> tuple[list[tuple[float, float, float]], float]:
    """Centres (shares) and turns (degrees) of the sticks, and their length (share of height)."""
    if number == 1:
        return [(0.5, 0.5, 0.0)], float(rng.uniform(0.6, 0.9))
    wide = float(rng.uniform(0.2, 0.3))
    left, right = 0.5 - wide, 0.5 + wide
    high = float(rng.uniform(0.21, 0.26))
    top, low = 0.5 - high, 0.5 + high
    size = float(rng.uniform(0.34, min(0.47, 2 * high - 0.02)))
    if number == 2:
        return [(0.5, top, 0), (0.5, low, 0)], size
    if number == 3:
        near = wide * float(rng.uniform(0.6, 1.0))
        return [(0.5, top, 0), (0.5 - near, low, 0), (0.5 + near, low, 0)], size
    if number in (4, 5):
        places = [(x, y, 0.0) for y in (top, low) for x in (left, right)]
        return [*places, (0.5, 0.5, 0.0)] if number == 5 else places, size
    if number == 6:
        return [(x, y, 0.0) for y in (top, low) for x in (left, 0.5, right)], size
    rows = [0.5 - float(rng.uniform(0.28, 0.32)), 0.5, 0.5 + float(rng.uniform(0.28, 0.32))]
    if number == 7:
        places = [(0.5, rows[0], 0.0)]
        return places + [(x, y, 0.0) for y in rows[1:] for x in (left, 0.5, right)], 0.28
    if number == 9:
        return [(x, y, 0.0) for x in (left, 0.5, right) for y in rows], 0.28
    return _eight(rng)


def _eight(rng: np.random.Generator) -> tuple[list[tuple[float, float, float]], float]:
    """An M above a W (or the reverse, as two peaks): outer sticks upright, inner ones leaning."""
    turn = float(rng.uniform(18, 52))
    outer = float(rng.uniform(0.28, 0.36))
    inner = outer * float(rng.uniform(0.36, 0.5))
    high = float(rng.uniform(0.2, 0.25))
    lean = turn if rng.random() < 0.8 else -turn
    places = []
    for sign in (-1, 1):
        y = 0.5 + sign * high
        places += [(0.5 - outer, y, 0.0), (0.5 + outer, y, 0.0)]
        places += [(0.5 - inner, y, sign * lean), (0.5 + inner, y, -sign * lean)]
    return places, float(rng.uniform(0.32, 0.4))


def bamboo_inks(number: int, palette: Palette, scheme: str) -> list[Ink]:
    """Inks in the order of :func:`bamboo_places`."""
    green, red, cold = palette.green, palette.red, palette.blue
    if scheme == "one":
        return [green] * number
    if number == 1:
        return [red if scheme == "usual" else green]
    if scheme == "black":
        green = palette.black
    main = {
        5: [green] * 4 + [red],
        7: [red] + [green] * 6,
        9: [green] * 3 + [red] * 3 + [green] * 3,
    }.get(number, [green] * number)
    if scheme == "mixed":
        main = {
            2: [cold, green], 3: [cold, green, green], 4: [cold, green, green, cold],
            5: [green, cold, cold, green, red], 6: [green] * 3 + [cold] * 3,
            7: [red, green, cold, green, green, cold, green], 8: [green] * 4 + [cold] * 4,
            9: [red] * 3 + [cold] * 3 + [green] * 3,
        }[number]  # fmt: skip
    return main


def bamboo_manner(rng: np.random.Generator) -> dict[str, object]:
    """What all bamboos of a set have in common."""
    return {
        "style": StickStyle.random(rng),
        "scheme": str(rng.choice(["usual", "mixed", "one", "black"], p=[0.55, 0.27, 0.08, 0.1])),
        "second": bool(rng.random() < 0.4),
    }


def bamboos(
    number: int, palette: Palette, rng: np.random.Generator, manner: dict[str, object]
) -> ImageArray:
    """The face of bamboos as sticks (some sets show the 1 as one, too)."""
    face = blank()
    style = manner["style"]
    assert isinstance(style, StickStyle)
    places, size = bamboo_places(number, rng)
    if number in (7, 9, 8) and style.thick > 0.28:
        size *= 0.95
    inks = bamboo_inks(number, palette, str(manner["scheme"]))
    length = round(size * HEIGHT)
    for (x, y, turn), ink in zip(places, inks, strict=True):
        second = palette.red if manner["second"] and ink != palette.red else ink
        draw_stick(face, stick_picture(style, ink, second, length), _at(x, y), turn)
    return face
