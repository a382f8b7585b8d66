"""One made-up tile set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from tablectl.tiles import NAMES

from ..artwork import ArtSet, shift_hue
from ..sources import ImageArray
from .glyphs import Hand, cjk_fonts, latin_fonts
from .ink import HEIGHT, WIDTH, Ink, Palette, blank, dot, finish, hsv, put, random_palette
from .pictures import bird, flower_drawing, season_sign
from .suits import bamboo_manner, bamboos, circle_manner, circles

NUMERALS: Final = ("一", "二", "三", "四", "五伍", "六", "七", "八", "九")
WINDS: Final = ("東", "南", "西", "北")
FLOWERS: Final = ("春", "夏", "秋", "冬", "梅", "蘭", "菊", "竹")
WORDS: Final = (
    ("SPRING", "SUMMER", "AUTUMN", "WINTER", "PLUM", "ORCHID", "MUM", "BAMBOO"),
    ("SPRING", "SUMMER", "FALL", "WINTER", "PLUM", "ORCHID", "CHRYS", "BAMBOO"),
    ("SPR", "SUM", "AUT", "WIN", "PLUM", "ORC", "MUM", "BAM"),
    ("SP", "SU", "AU", "WI", "PL", "OR", "CH", "BA"),
)
FLOWER_DIGITS: Final = "一二三四"
ROMAN: Final = ("I", "II", "III", "IV")
HONOUR_INDEX: Final = (
    ("E", "S", "W", "N", "B", "F", "C"),
    ("E", "S", "W", "N", "P", "F", "C"),
    ("E", "S", "W", "N", "", "F", "C"),
    ("E", "S", "W", "N", "", "G", "R"),
    ("E", "S", "W", "N", "Wh", "Gr", "Rd"),
)
HOLLOW: Final = ("2p", "4p", "6p", "4s", "8s")
"""Faces with room for an index in the middle."""
LEFT_OUT: Final = ("Semibold", "BIZUD", "cwyen")
"""Fonts (by a part of the name) never drawn with in training: for tests of unseen lettering."""


def training_fonts() -> tuple[tuple[str, int], ...]:
    """CJK faces that training letters with."""
    fonts = cjk_fonts()
    kept = tuple(f for f in fonts if not any(word in f[0] for word in LEFT_OUT))
    return kept or fonts


@dataclass(frozen=True)
class Lettering:
    """Who writes what in one set."""

    numeral: Hand
    myriad: Hand
    honour: Hand
    index: Hand
    flower: Hand
    myriad_char: str
    fives: int
    east: str
    green: str
    orchid: str


def _lettering(rng: np.random.Generator) -> Lettering:
    fonts = training_fonts()
    main = Hand.random(rng, fonts)
    other = Hand.random(rng, fonts)
    latin = latin_fonts()
    return Lettering(
        numeral=main,
        myriad=main if rng.random() < 0.8 else other,
        honour=main if rng.random() < 0.6 else other,
        index=Hand.random(rng, latin, bold=False),
        flower=main if rng.random() < 0.5 else Hand.random(rng, fonts),
        myriad_char="万" if rng.random() < 0.16 else "萬",
        fives=int(rng.random() < 0.4),
        east="东" if rng.random() < 0.06 else "東",
        green=str(rng.choice(["發", "发", "発"], p=[0.78, 0.08, 0.14])),
        orchid="兰" if rng.random() < 0.2 else "蘭",
    )


def _characters(letters: Lettering, palette: Palette, rng: np.random.Generator) -> list[ImageArray]:
    top = (palette.black, palette.blue, palette.red, palette.green)[
        int(rng.choice(4, p=[0.45, 0.4, 0.08, 0.07]))
    ]
    low = palette.red if rng.random() < 0.82 else top
    split = HEIGHT * float(rng.uniform(0.4, 0.52))
    wide = WIDTH * float(rng.uniform(0.55, 0.86))
    # In one set in three the numeral is so flat that a small 4 is hardly more than a line.
    flat = rng.random() < 0.33
    numeral_high = split * float(rng.uniform(0.28, 0.55) if flat else rng.uniform(0.55, 0.85))
    myriad_high = (HEIGHT - split) * float(rng.uniform(0.72, 0.95))
    myriad_wide = min(WIDTH * 0.95, wide * float(rng.uniform(0.85, 1.15)))
    faces = []
    for number in range(9):
        face = blank()
        chars = NUMERALS[number]
        char = chars[min(letters.fives, len(chars) - 1)]
        width = wide * (0.95 if number > 2 else 1.0) * letters.numeral.wide
        cover = letters.numeral.write(char, min(width, WIDTH * 0.94), numeral_high)
        put(face, cover, (WIDTH / 2, split * 0.52), top)
        myriad = letters.myriad.write(letters.myriad_char, myriad_wide, myriad_high)
        put(face, myriad, (WIDTH / 2, split + (HEIGHT - split) * 0.49), low)
        faces.append(face)
    return faces


def _big(hand: Hand, char: str, ink: Ink, size: float) -> ImageArray:
    face = blank()
    cover = hand.write(char, min(WIDTH * 0.95, WIDTH * size * hand.wide), HEIGHT * size * 0.92)
    put(face, cover, (WIDTH / 2, HEIGHT / 2), ink)
    return face


def _hollow(face: ImageArray) -> ImageArray:
    """Only the outlines of what is drawn."""
    seen = (face[:, :, 3] > 0).astype(np.uint8)
    inner = cv2.erode(seen, np.ones((7, 7), np.uint8))
    out = face.copy()
    out[inner > 0] = 0
    return out


def _honours(letters: Lettering, palette: Palette, rng: np.random.Generator) -> list[ImageArray]:
    wind_ink = (palette.black, palette.blue, palette.green, palette.red)[
        int(rng.choice(4, p=[0.62, 0.28, 0.06, 0.04]))
    ]
    size = float(rng.uniform(0.62, 0.95))
    faces = []
    for number, char in enumerate((letters.east, *WINDS[1:])):
        ink = palette.any(rng) if wind_ink == palette.green else wind_ink
        del number
        faces.append(_big(letters.honour, char, ink, size * float(rng.uniform(0.95, 1.03))))
    faces.append(white_face(letters, palette, rng))
    green = palette.green if rng.random() < 0.88 else palette.any(rng)
    red = palette.red if rng.random() < 0.9 else palette.any(rng)
    faces.append(_big(letters.honour, letters.green, green, size))
    faces.append(_big(letters.honour, "中", red, size))
    if rng.random() < STICK_ONE:
        faces = [_hollow(f) if k != 4 else f for k, f in enumerate(faces)]
    return faces


BIRD = 18
"""Index of the 1s."""

BLANK_WHITE: Final = 0.4
"""Share of sets whose White has nothing on it."""

STICK_ONE: Final = 0.15
"""Share of sets whose 1s is one stick and no bird."""

FRAMES = ("line", "line", "round", "dashes", "dots", "cut", "corners", "key", "band")


def white_face(letters: Lettering, palette: Palette, rng: np.random.Generator) -> ImageArray:
    """White: blank, framed in some manner, or a character."""
    face = blank()
    kind = rng.random()
    ink = (palette.blue, palette.black, palette.green, palette.red)[
        int(rng.choice(4, p=[0.5, 0.28, 0.12, 0.1]))
    ]
    if kind < BLANK_WHITE:
        return face
    if kind < BLANK_WHITE + 0.05:
        return _big(letters.honour, "白", ink, 0.8)
    margin = float(rng.uniform(0.02, 0.22))
    count = int(rng.choice([1, 2, 3], p=[0.5, 0.4, 0.1]))
    thick = int(rng.choice([3, 5, 8, 12, 18]))
    manner = rng.choice(FRAMES)
    for k in range(count):
        inset = margin + 0.085 * k
        x1, y1 = round(WIDTH * inset), round(HEIGHT * inset * 0.75)
        x2, y2 = WIDTH - x1, HEIGHT - y1
        if x2 - x1 < 24:
            break
        _frame(
            face, (x1, y1, x2, y2), str(manner) if k == 0 else "line", max(2, thick // (k + 1)), ink
        )
        if rng.random() < 0.25:
            ink = palette.any(rng)
    if rng.random() < 0.12:
        middle = np.array([WIDTH / 2, HEIGHT / 2])
        dot(face, middle, float(rng.uniform(8, 24)), ink, int(rng.choice([-1, 4])))
    return face


Box = tuple[int, int, int, int]


def _frame(face: ImageArray, box: Box, manner: str, thick: int, ink: Ink) -> None:
    """A frame of some manner round a White."""
    x1, y1, x2, y2 = box
    if manner == "line":
        cv2.rectangle(face, (x1, y1), (x2, y2), ink, thick)
    elif manner == "round":
        _round_frame(face, box, thick, ink)
    elif manner in ("dots", "dashes"):
        _dotted_frame(face, box, manner == "dots", thick, ink)
    elif manner == "cut":
        cut = min(34, (x2 - x1) // 3)
        points = [(x1 + cut, y1), (x2 - cut, y1), (x2, y1 + cut), (x2, y2 - cut), (x2 - cut, y2),
                  (x1 + cut, y2), (x1, y2 - cut), (x1, y1 + cut)]  # fmt: skip
        cv2.polylines(face, [np.array(points, np.int32)], True, ink, thick)
    elif manner == "corners":
        reach = (x2 - x1) // 3
        for x, sx in ((x1, 1), (x2, -1)):
            for y, sy in ((y1, 1), (y2, -1)):
                cv2.line(face, (x, y), (x + sx * reach, y), ink, thick)
                cv2.line(face, (x, y), (x, y + sy * reach), ink, thick)
    elif manner == "band":
        _band_frame(face, box, 2 * thick + 12, ink)
    else:
        _barred_frame(face, box, thick, ink)


def _round_frame(face: ImageArray, box: Box, thick: int, ink: Ink) -> None:
    x1, y1, x2, y2 = box
    bend = min(26, (x2 - x1) // 3)
    cv2.rectangle(face, (x1, y1), (x2, y2), ink, thick)
    for cx, cy, turn in ((x1, y1, 0), (x2, y1, 90), (x2, y2, 180), (x1, y2, 270)):
        sx, sy = (1 if cx == x1 else -1), (1 if cy == y1 else -1)
        low = (min(cx - sx * thick, cx + sx * bend), min(cy - sy * thick, cy + sy * bend))
        high = (max(cx - sx * thick, cx + sx * bend), max(cy - sy * thick, cy + sy * bend))
        cv2.rectangle(face, low, high, (0, 0, 0, 0), -1)
        spot = (cx + sx * bend, cy + sy * bend)
        cv2.ellipse(face, spot, (bend, bend), 0, 180 + turn, 270 + turn, ink, thick)


def _dotted_frame(face: ImageArray, box: Box, dots: bool, thick: int, ink: Ink) -> None:
    x1, y1, x2, y2 = box
    around = [(x, y, x - x1) for x in range(x1, x2 + 1) for y in (y1, y2)]
    around += [(x, y, y - y1) for y in range(y1, y2 + 1) for x in (x1, x2)]
    step = 4 * thick + 8
    for x, y, along in around:
        if dots and along % step == 0:
            cv2.circle(face, (x, y), thick, ink, -1)
        elif not dots and along % step < step * 0.6:
            cv2.circle(face, (x, y), max(1, thick // 2), ink, -1)


def _band_frame(face: ImageArray, box: Box, thick: int, ink: Ink) -> None:
    """A broad band with a chain of light links in it."""
    x1, y1, x2, y2 = box
    cv2.rectangle(face, (x1, y1), (x2, y2), ink, -1)
    hole = (x1 + thick, y1 + thick), (x2 - thick, y2 - thick)
    if hole[1][0] - hole[0][0] > 8:
        cv2.rectangle(face, *hole, (0, 0, 0, 0), -1)
    half, link = thick // 2, max(4, thick // 4)
    for x in range(x1 + half, x2 - half + 1, 2 * thick):
        for y in (y1 + half, y2 - half):
            cv2.ellipse(face, (x, y), (2 * link, link), 0, 0, 360, (0, 0, 0, 0), 2)
    for y in range(y1 + half, y2 - half + 1, 2 * thick):
        for x in (x1 + half, x2 - half):
            cv2.ellipse(face, (x, y), (link, 2 * link), 0, 0, 360, (0, 0, 0, 0), 2)


def _barred_frame(face: ImageArray, box: Box, thick: int, ink: Ink) -> None:
    x1, y1, x2, y2 = box
    cv2.rectangle(face, (x1, y1), (x2, y2), ink, max(2, thick // 2))
    gap = 2 * thick + 10
    if x2 - x1 <= 3 * gap:
        return
    cv2.rectangle(face, (x1 + gap, y1 + gap), (x2 - gap, y2 - gap), ink, max(2, thick // 2))
    for x in range(x1, x2, gap):
        cv2.line(face, (x, y1), (x, y1 + gap), ink, 3)
        cv2.line(face, (x, y2 - gap), (x, y2), ink, 3)
    for y in range(y1, y2, gap):
        cv2.line(face, (x1, y), (x1 + gap, y), ink, 3)
        cv2.line(face, (x2 - gap, y), (x2, y), ink, 3)


@dataclass(frozen=True)
class FlowerManner:
    """How the flowers of one set say which they are."""

    character: bool
    numeral: str
    corner: int
    """Of the character: 0 top left, 1 top right, 2 bottom right, 3 bottom left."""
    numeral_corner: int
    seasons: Ink
    plants: Ink
    size: float
    digit: float
    framed: bool
    words: tuple[str, ...]
    """What names the flowers in English, none of these mostly."""
    middle: bool
    cleared: bool
    """The drawing leaves room for the writing."""

    @classmethod
    def random(cls, palette: Palette, rng: np.random.Generator) -> FlowerManner:
        """Character and numeral mostly, in the upper corners mostly, in two inks mostly."""
        spoken = rng.random() < 0.13
        shown = rng.random() + 0.5 * spoken
        corner = int(rng.choice(4, p=[0.4, 0.42, 0.08, 0.1]))
        place = rng.random()
        cold = (palette.black, palette.blue, palette.green)[int(rng.integers(3))]
        scheme = rng.random()
        seasons, plants = palette.red, cold
        if scheme < 0.2:
            seasons, plants = cold, palette.red
        elif scheme < 0.35:
            seasons = plants = palette.any(rng)
        return cls(
            character=shown < 0.86,
            numeral=str(
                rng.choice(["digit", "chinese", "roman", "none"], p=[0.66, 0.12, 0.03, 0.19])
            )
            if shown < 0.86
            else str(
                rng.choice(["digit", "chinese", "none"], p=[0.4, 0.05, 0.55])
                if spoken
                else rng.choice(["digit", "chinese"], p=[0.85, 0.15])
            ),
            corner=corner,
            numeral_corner=corner ^ 1
            if place < 0.7
            else (corner + 2) % 4
            if place < 0.9
            else corner ^ 3,
            seasons=seasons,
            plants=plants,
            size=float(rng.uniform(0.26, 0.46)),
            digit=float(rng.uniform(0.16, 0.32)),
            framed=bool(rng.random() < 0.08),
            words=WORDS[int(rng.integers(len(WORDS)))] if spoken else (),
            middle=bool(rng.random() < 0.09),
            cleared=bool(rng.random() < 0.75),
        )


def _corner(corner: int, width: float, height: float) -> tuple[float, float]:
    x = width / 2 + 5 if corner in (0, 3) else WIDTH - width / 2 - 5
    y = height / 2 + 5 if corner in (0, 1) else HEIGHT - height / 2 - 5
    return x, y


def _clear(face: ImageArray, cover: ImageArray, place: tuple[float, float], margin: int) -> None:
    """Take away what lies where a writing of this size comes."""
    height, width = cover.shape
    x, y = round(place[0] - width / 2), round(place[1] - height / 2)
    face[max(0, y - margin) : y + height + margin, max(0, x - margin) : x + width + margin] = 0


def _flower(
    index: int,
    letters: Lettering,
    manner: FlowerManner,
    palette: Palette,
    drawings: list[ImageArray],
    rng: np.random.Generator,
) -> ImageArray:
    face = blank()
    ink = manner.seasons if index < 4 else manner.plants
    char = letters.orchid if index == 5 else FLOWERS[index]
    if manner.middle:
        face = _big(letters.flower, char, ink, float(rng.uniform(0.4, 0.8)))
        if rng.random() < 0.6:
            inset, thick = int(rng.integers(6, 22)), int(rng.integers(2, 7))
            low, high = (inset, inset), (WIDTH - 1 - inset, HEIGHT - 1 - inset)
            cv2.rectangle(face, low, high, palette.any(rng), thick)
        return face
    if drawings and rng.random() < 0.3:
        own = rng.random() < 0.5 and len(drawings) % 8 == 0
        number = int(rng.integers(len(drawings)))
        art = drawings[number // 8 * 8 + index if own else number]
        picture = cv2.resize(shift_hue(art, rng), (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR)
        picture[: round(HEIGHT * 0.36)] = 0
    elif manner.words and index < 4 and rng.random() < 0.6:
        picture = season_sign(index, palette, rng)
    else:
        picture = flower_drawing(index, palette, rng)
    _fit_picture(face, picture, manner, rng)
    texts: list[tuple[ImageArray, int]] = []
    if manner.character:
        side = WIDTH * manner.size
        texts.append((letters.flower.write(char, side, side * 1.08), manner.corner))
    number = index % 4
    digit = {"digit": str(number + 1), "chinese": FLOWER_DIGITS[number], "roman": ROMAN[number]}
    if manner.numeral != "none":
        side = WIDTH * manner.digit
        hand = letters.index if manner.numeral != "chinese" else letters.flower
        texts.append(
            (
                hand.write(digit[manner.numeral], side, side * 1.3, stretch=False),
                manner.numeral_corner,
            )
        )
    for cover, corner in texts:
        place = _corner(corner, cover.shape[1], cover.shape[0])
        if manner.cleared:
            _clear(face, cover, place, 4)
        put(face, cover, place, ink)
    if manner.words:
        wide, high = WIDTH * float(rng.uniform(0.6, 0.96)), HEIGHT * float(rng.uniform(0.12, 0.24))
        word = letters.index.write(manner.words[index], wide, high, stretch=False)
        low = len(texts) > 0 or rng.random() < 0.8
        y = HEIGHT - word.shape[0] / 2 - 5 if low else word.shape[0] / 2 + 5
        _clear(face, word, (WIDTH / 2, y), 5)
        put(face, word, (WIDTH / 2, y), ink)
    if manner.framed:
        cv2.rectangle(face, (6, 6), (WIDTH - 7, HEIGHT - 7), palette.black, 4)
    return face


def _fit_picture(
    face: ImageArray, picture: ImageArray, manner: FlowerManner, rng: np.random.Generator
) -> None:
    """Lay the drawing where the writing leaves room, or all over."""
    ys, xs = np.nonzero(picture[:, :, 3])
    if len(ys) == 0:
        return
    cut = picture[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    low = manner.corner in (0, 1)
    share = float(rng.uniform(0.6, 0.95))
    width, height = WIDTH * float(rng.uniform(0.6, 0.95)), HEIGHT * share * 0.95
    scale = min(width / cut.shape[1], height / cut.shape[0]) if rng.random() < 0.6 else 0
    size = (round(width), round(height)) if not scale else (
        max(8, round(cut.shape[1] * scale)), max(8, round(cut.shape[0] * scale)))  # fmt: skip
    small = cv2.resize(cut, size, interpolation=cv2.INTER_NEAREST)
    left = round((WIDTH - size[0]) * float(rng.uniform(0.3, 0.7)))
    top = HEIGHT - size[1] - 4 if low else 4
    top = min(max(top, 0), HEIGHT - size[1])
    face[top : top + size[1], left : left + size[0]] = small


@dataclass(frozen=True)
class IndexManner:
    """Corner indices of a Western set."""

    corner: int
    both: bool
    size: float
    suits: bool
    honours: bool
    flowers: bool
    cleared: bool
    """The drawing leaves room for the index; otherwise it lies on the drawing."""
    middle: bool
    """Where the drawing has a hole in the middle, the index stands there (4 and 8)."""
    letters: tuple[str, ...]
    inks: tuple[Ink, ...]


def _index_manner(palette: Palette, rng: np.random.Generator) -> IndexManner | None:
    if rng.random() > 0.4:
        return None
    same = rng.random() < 0.5
    ink = palette.any(rng)
    inks = tuple(ink if same else palette.any(rng) for _ in range(5))
    return IndexManner(
        corner=int(rng.choice([0, 1], p=[0.8, 0.2])),
        both=bool(rng.random() < 0.3),
        size=float(rng.uniform(0.13, 0.29)),
        suits=True,
        honours=bool(rng.random() < 0.75),
        flowers=bool(rng.random() < 0.3),
        cleared=bool(rng.random() < 0.5),
        middle=bool(rng.random() < 0.4),
        letters=HONOUR_INDEX[int(rng.integers(len(HONOUR_INDEX)))],
        inks=inks,
    )


def _add_index(face: ImageArray, tile: int, manner: IndexManner, hand: Hand) -> None:
    suit = "mpszf".index(NAMES[tile][1])
    if (suit == 3 and not manner.honours) or (suit == 4 and not manner.flowers):
        return
    text = manner.letters[tile - 27] if suit == 3 else NAMES[tile][0]
    if not text:
        return
    side = WIDTH * manner.size
    cover = hand.write(text, side * len(text), side * 1.35, stretch=False)
    height, width = cover.shape
    places = [(_corner(c, width, height), c > 1) for c in (manner.corner, (manner.corner + 2) % 4)]
    if manner.middle and NAMES[tile] in HOLLOW:
        places = [((WIDTH / 2, HEIGHT / 2), False)]
    for place, turned in places if manner.both else places[:1]:
        if manner.cleared:
            _clear(face, cover, place, 3)
        put(face, np.rot90(cover, 2) if turned else cover, place, manner.inks[suit])


def _flowers(
    letters: Lettering, palette: Palette, arts: list[ArtSet], rng: np.random.Generator
) -> list[ImageArray]:
    drawings = [f for art in arts for t in range(34, 42) for f in art.faces.get(t, [])]
    manner = FlowerManner.random(palette, rng)
    return [_flower(k, letters, manner, palette, drawings, rng) for k in range(8)]


def random_pictures(rng: np.random.Generator, arts: list[ArtSet]) -> list[ImageArray]:
    """The eight flowers and the bird of a made-up set, at the size of artwork."""
    palette = random_palette(rng)
    letters = _lettering(rng)
    coloured = [art for art in arts if not art.mono]
    index = _index_manner(palette, rng)
    faces = [*_flowers(letters, palette, coloured, rng), _bird(palette, arts, rng)]
    if index is not None:
        for tile, face in zip((*range(34, 42), BIRD), faces, strict=True):
            _add_index(face, tile, index, letters.index)
    return [finish(face) for face in faces]


def _bird(palette: Palette, arts: list[ArtSet], rng: np.random.Generator) -> ImageArray:
    """A bird, half of them borrowed."""
    lent = [face for art in arts for face in art.faces.get(BIRD, [])]
    if not lent or rng.random() < 0.5:
        return bird(palette, rng)
    first = cv2.resize(lent[int(rng.integers(len(lent)))], (WIDTH, HEIGHT))
    if not first[:, :, :3].any():
        first[:, :, :3] = palette.any(rng)[:3]
    return np.ascontiguousarray(first[:, ::-1] if rng.random() < 0.4 else first)


def random_set(rng: np.random.Generator, arts: list[ArtSet], light: bool = False) -> ArtSet:
    """A made-up set of 42 faces; birds and flower drawings are at times borrowed from ``arts``.

    ``light``: inks for tiles with a dark body.
    """
    palette = random_palette(rng, light)
    letters = _lettering(rng)
    dots, sticks = circle_manner(rng), bamboo_manner(rng)
    coloured = [art for art in arts if not art.mono]
    faces = _characters(letters, palette, rng)
    faces += [circles(number, palette, rng, dots) for number in range(1, 10)]
    if rng.random() < STICK_ONE:
        faces.append(bamboos(1, palette, rng, sticks))
    else:
        faces.append(_bird(palette, [] if light else arts, rng))
    faces += [bamboos(number, palette, rng, sticks) for number in range(2, 10)]
    faces += _honours(letters, palette, rng)
    faces += _flowers(letters, palette, coloured, rng)
    index = _index_manner(palette, rng)
    if index is not None:
        for tile, face in enumerate(faces):
            _add_index(face, tile, index, letters.index)
    return ArtSet("made up", {t: [finish(f)] for t, f in enumerate(faces)}, mono=False)


__all__ = ["hsv", "random_set", "training_fonts", "white_face"]
