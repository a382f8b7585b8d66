"""Draw the project's tile faces: 42 SVG faces and a back, and the atlas the renderer reads.

Run ``python scripts/draw_faces.py`` after changing a drawing here; a test compares the files in
``vision/art`` with what this module draws. Characters are outlines kept in
``vision/art/glyphs.json`` (see ``vision/art/LICENSE.md``), so no font is needed to run it;
``--glyphs-from FOLDER`` takes them anew from a folder of font files (needs fonttools and brotli).

Every face is 300 x 400 units, upright, on a transparent ground: whoever shows it draws the tile.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from vision.art import ART_DIR, ATLAS_CELL, ATLAS_COLUMNS, FACE_NAMES  # noqa: E402

WIDTH, HEIGHT = 300, 400
BLUE, GREEN, RED, INK = "#1c3c96", "#0b6e3f", "#c3202b", "#14223f"
GOLD, LEAF, PINK, SKY = "#d7931e", "#2f8f46", "#e0557a", "#3d7fc4"
PENS = ("boundsPen", "svgPathPen", "transformPen")
CHARACTERS = "一二三四五六七八九萬東南西北發中春夏秋冬梅蘭菊竹1234"


class Outline(TypedDict):
    """A character's outline in 1000 units an em, y down."""

    box: list[int]
    path: str


def num(value: float) -> str:
    """A coordinate with one decimal, without trailing zeros."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def circle(x: float, y: float, r: float, fill: str) -> str:
    """A filled disc."""
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(r)}" fill="{fill}"/>'


def ring(x: float, y: float, r: float, width: float, colour: str) -> str:
    """A circle's line of the given width."""
    return (
        f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(r)}" fill="none" '
        f'stroke="{colour}" stroke-width="{num(width)}"/>'
    )


def shape(path: str, fill: str, extra: str = "") -> str:
    """A filled path."""
    return f'<path d="{path}" fill="{fill}"{extra}/>'


def line(path: str, colour: str, width: float) -> str:
    """A round-ended stroke along a path."""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{num(width)}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def turned(body: str, x: float, y: float, angle: float = 0.0, scale: float = 1.0) -> str:
    """Move a drawing made around the origin."""
    steps = f"translate({num(x)} {num(y)})"
    if angle:
        steps += f" rotate({num(angle)})"
    if scale != 1.0:
        steps += f" scale({scale:.3f})"
    return f'<g transform="{steps}">{body}</g>'


@cache
def glyphs() -> dict[str, Outline]:
    """Outlines by character: SVG path in 1000 units an em, y down, with its bounding box."""
    text = (ART_DIR / "glyphs.json").read_text(encoding="utf-8")
    loaded: dict[str, Outline] = json.loads(text)
    return loaded


def glyph(char: str, x: float, y: float, size: float, colour: str, *, weight: float = 9.0) -> str:
    """A character centred on (x, y), ``size`` units an em, thickened by ``weight`` units.

    The thickening keeps thin strokes visible on a tile of 28 pixels.
    """
    entry = glyphs()[char]
    x0, y0, x1, y1 = entry["box"]
    scale = size / 1000
    tx, ty = x - (x0 + x1) / 2 * scale, y - (y0 + y1) / 2 * scale
    return (
        f'<path transform="translate({num(tx)} {num(ty)}) scale({scale:.3f})" d="{entry["path"]}" '
        f'fill="{colour}" stroke="{colour}" stroke-width="{num(weight / scale)}" '
        'stroke-linejoin="round"/>'
    )


# --- circles -------------------------------------------------------------------------------------


def coin(x: float, y: float, r: float, colour: str) -> str:
    """One circle of the suit: a rim, a gap and a pierced core."""
    core = r * 0.56
    hole = core * 0.3
    path = (
        f"M{num(-core)} 0A{num(core)} {num(core)} 0 1 0 {num(core)} 0"
        f"A{num(core)} {num(core)} 0 1 0 {num(-core)} 0Z"
    )
    for k in range(5):
        angle = math.radians(72 * k - 90)
        px, py = core * 0.52 * math.cos(angle), core * 0.52 * math.sin(angle)
        path += (
            f"M{num(px - hole * 0.8)} {num(py)}a{num(hole * 0.8)} {num(hole * 0.8)} 0 1 0 "
            f"{num(hole * 1.6)} 0a{num(hole * 0.8)} {num(hole * 0.8)} 0 1 0 {num(-hole * 1.6)} 0Z"
        )
    return ring(x, y, r * 0.87, r * 0.22, colour) + turned(
        shape(path, colour, ' fill-rule="evenodd"'), x, y
    )


def great_coin() -> str:
    """The single circle: a large rosette in three colours."""
    parts = [ring(150, 200, 122, 16, BLUE), ring(150, 200, 101, 6, GREEN)]
    petal = shape("M0 -54C15 -62 15 -84 0 -92C-15 -84 -15 -62 0 -54Z", GREEN)
    parts.extend(turned(petal, 150, 200, 30 * k) for k in range(12))
    parts.append(ring(150, 200, 46, 10, BLUE))
    parts.append(turned(petals(6, 16, 34, RED), 150, 200))
    parts.append(circle(150, 200, 10, RED))
    return "".join(parts)


CIRCLES: dict[int, tuple[float, list[tuple[float, float, str]]]] = {
    2: (74, [(150, 104, GREEN), (150, 296, BLUE)]),
    3: (60, [(72, 76, BLUE), (150, 200, RED), (228, 324, GREEN)]),
    4: (60, [(80, 100, BLUE), (220, 100, GREEN), (80, 300, GREEN), (220, 300, BLUE)]),
    5: (55, [(73, 84, BLUE), (227, 84, GREEN), (150, 200, RED), (73, 316, GREEN),
             (227, 316, BLUE)]),
    6: (54, [(82, 72, GREEN), (218, 72, GREEN), (82, 214, RED), (218, 214, RED), (82, 328, RED),
             (218, 328, RED)]),
    7: (46, [(60, 58, GREEN), (150, 94, GREEN), (240, 130, GREEN), (92, 236, RED),
             (208, 236, RED), (92, 340, RED), (208, 340, RED)]),
    8: (46, [(x, y, BLUE) for y in (53, 151, 249, 347) for x in (90, 210)]),
    9: (46, [(x, y, c) for y, c in ((78, GREEN), (200, RED), (322, BLUE)) for x in (52, 150, 248)]),
}  # fmt: skip


def circles(n: int) -> str:
    """A face of the circles."""
    if n == 1:
        return great_coin()
    r, places = CIRCLES[n]
    return "".join(coin(x, y, r, colour) for x, y, colour in places)


# --- bamboos -------------------------------------------------------------------------------------


def stick(
    x: float, y: float, length: float, colour: str, *, angle: float = 0.0, width: float = 34.0
) -> str:
    """One bamboo of the suit: two joints with a slit in each."""
    h, w = length / 2, width / 2
    knot, neck = w * 1.18, w * 0.62

    def joint(top: float, bottom: float) -> str:
        mid = (top + bottom) / 2
        slit, s = (bottom - top) * 0.2, w * 0.2
        return (
            f"M{num(-knot)} {num(top)}Q0 {num(top - 7)} {num(knot)} {num(top)}"
            f"Q{num(neck)} {num(top + 9)} {num(w * 0.8)} {num(mid)}"
            f"Q{num(neck)} {num(bottom - 9)} {num(knot)} {num(bottom)}"
            f"Q0 {num(bottom + 7)} {num(-knot)} {num(bottom)}"
            f"Q{num(-neck)} {num(bottom - 9)} {num(-w * 0.8)} {num(mid)}"
            f"Q{num(-neck)} {num(top + 9)} {num(-knot)} {num(top)}Z"
            f"M{num(-s)} {num(mid - slit)}L{num(-s)} {num(mid + slit)}"
            f"Q0 {num(mid + slit + 5)} {num(s)} {num(mid + slit)}L{num(s)} {num(mid - slit)}"
            f"Q0 {num(mid - slit - 5)} {num(-s)} {num(mid - slit)}Z"
        )

    body = shape(joint(-h, -1.5) + joint(1.5, h), colour, ' fill-rule="evenodd"')
    return turned(body, x, y, angle)


def bird() -> str:
    """The single bamboo: a peacock on a cane, tail to the right."""
    parts = []
    for k, (tip_x, tip_y) in enumerate(
        ((268, 170), (274, 226), (262, 282), (234, 330), (196, 352))
    ):
        parts.append(line(f"M150 205Q{num((150 + tip_x) / 2 + 26)} {num((205 + tip_y) / 2 - 18)} "
                          f"{tip_x} {tip_y}", GREEN, 17))  # fmt: skip
        parts.append(circle(tip_x, tip_y, 21, BLUE if k % 2 else GREEN))
        parts.append(circle(tip_x, tip_y, 10, RED))
    parts.append(shape("M108 96C98 136 62 168 66 214C70 262 116 284 158 268C204 250 214 196 190 176"
                       "C172 160 152 158 148 130C146 112 146 96 142 84Z", GREEN))  # fmt: skip
    parts.append(shape("M118 190C150 172 196 186 206 222C178 250 130 246 118 190Z", BLUE))
    parts.append(line("M134 204Q160 204 182 224M142 222Q156 222 168 232", "#f3ecd8", 6))
    parts.append(circle(122, 76, 31, GREEN))
    parts.append(shape("M96 62L44 84L97 92Z", GOLD))
    parts.append(circle(114, 70, 9, "#f7f2e4") + circle(113, 70, 5, INK))
    for x, y in ((104, 18), (130, 12), (156, 22)):
        parts.append(line(f"M124 52L{x} {y}", RED, 7) + circle(x, y, 10, RED))
    parts.append(line("M112 272L104 330M138 274L142 330", RED, 10))
    parts.append(line("M84 332L120 332M124 332L162 332", RED, 11))
    parts.append(turned(stick(0, 0, 170, GREEN, angle=90, width=40), 118, 362))
    return "".join(parts)


def bamboos(n: int) -> str:
    """A face of the bamboos."""
    if n == 1:
        return bird()
    if n == 8:
        upper = stick(50, 105, 160, GREEN) + stick(250, 105, 160, GREEN)
        upper += stick(112, 100, 150, GREEN, angle=-27) + stick(188, 100, 150, GREEN, angle=27)
        return upper + f'<g transform="matrix(1 0 0 -1 0 400)">{upper}</g>'
    places: dict[int, list[tuple[int, int, int, str]]] = {
        2: [(150, 105, 165, GREEN), (150, 295, 165, BLUE)],
        3: [(150, 105, 165, BLUE), (80, 295, 165, GREEN), (220, 295, 165, GREEN)],
        4: [(80, 105, 165, GREEN), (220, 105, 165, BLUE), (80, 295, 165, BLUE),
            (220, 295, 165, GREEN)],
        5: [(66, 105, 165, GREEN), (234, 105, 165, BLUE), (150, 200, 165, RED),
            (66, 295, 165, BLUE), (234, 295, 165, GREEN)],
        6: [(x, y, 165, GREEN if y < 200 else BLUE) for y in (105, 295) for x in (64, 150, 236)],
        7: [(150, 66, 112, RED)]
        + [(x, y, 118, GREEN if x != 150 else BLUE) for y in (203, 333) for x in (64, 150, 236)],
        9: [(x, y, 116, RED if x == 150 else GREEN) for y in (70, 200, 330)
            for x in (64, 150, 236)],
    }  # fmt: skip
    wide = 44.0 if n < 6 else 38.0
    return "".join(stick(x, y, length, c, width=wide) for x, y, length, c in places[n])


# --- characters and honours ----------------------------------------------------------------------


def characters(n: int) -> str:
    """A face of the characters: the number over 萬."""
    number = glyph("一二三四五六七八九"[n - 1], 150, 98, 205, BLUE, weight=11)
    return number + glyph("萬", 150, 290, 212, RED, weight=8)


def white() -> str:
    """The white dragon: a double frame with stepped corners."""
    outer = "M62 34H238L266 62V338L238 366H62L34 338V62Z"
    inner = "M76 66H224L234 76V324L224 334H76L66 324V76Z"
    frame = line(outer, BLUE, 18) + line(inner, BLUE, 8)
    for x, y in ((50, 50), (250, 50), (50, 350), (250, 350)):
        frame += circle(x, y, 13, BLUE)
    return frame


def honours(n: int) -> str:
    """Winds and dragons."""
    if n <= 4:
        return glyph("東南西北"[n - 1], 150, 200, 272, INK, weight=12)
    if n == 5:
        return white()
    return (
        glyph("發", 150, 200, 276, GREEN, weight=10)
        if n == 6
        else glyph("中", 150, 200, 300, RED, weight=14)
    )


# --- flowers -------------------------------------------------------------------------------------


def petals(
    count: int, inner: float, outer: float, colour: str, *, start: float = 0, plump: float = 0.75
) -> str:
    """A wreath of petals around the origin."""
    half = outer * math.tan(math.pi / count) * plump
    mid = inner + (outer - inner) * 0.62
    path = (
        f"M0 {num(-inner)}C{num(half)} {num(-inner - (mid - inner) * 0.4)} {num(half)} "
        f"{num(-outer)} 0 {num(-outer)}C{num(-half)} {num(-outer)} {num(-half)} "
        f"{num(-inner - (mid - inner) * 0.4)} 0 {num(-inner)}Z"
    )
    return "".join(
        f'<path transform="rotate({num(start + 360 * k / count)})" d="{path}" fill="{colour}"/>'
        for k in range(count)
    )


def leaf(at: tuple[float, float], angle: float, length: float, width: float, colour: str) -> str:
    """A pointed leaf that starts at a point."""
    path = f"M0 0C{num(width)} {num(-length * 0.35)} {num(width * 0.7)} {num(-length * 0.75)} 0 "
    path += f"{num(-length)}C{num(-width * 0.7)} {num(-length * 0.75)} {num(-width)} "
    return turned(shape(path + f"{num(-length * 0.35)} 0 0Z", colour), *at, angle)


def blossom(x: float, y: float, r: float, colour: str) -> str:
    """A round flower with a heart."""
    return turned(petals(5, r * 0.12, r, colour, plump=1.15), x, y) + circle(x, y, r * 0.26, GOLD)


def spring() -> str:
    """A peony."""
    body = line("M150 300Q146 345 160 385", GREEN, 11)
    body += leaf((152, 352), -64, 92, 30, GREEN) + leaf((154, 356), 62, 92, 30, LEAF)
    body += turned(petals(8, 10, 92, PINK, start=22, plump=1.0), 150, 248)
    body += turned(petals(8, 6, 64, RED, start=0, plump=1.0), 150, 248) + circle(150, 248, 18, GOLD)
    return body


def summer() -> str:
    """A lotus over its leaf."""
    body = shape("M40 352C70 322 230 322 260 352C230 384 70 384 40 352Z", GREEN)
    for angle, colour in ((-68, RED), (68, RED), (-36, PINK), (36, PINK), (0, RED)):
        body += leaf((150, 332), angle, 168 - abs(angle) * 0.6, 46, colour)
    return body + line("M150 330V262", GOLD, 9)


def autumn() -> str:
    """Maple leaves."""

    def maple(x: float, y: float, size: float, angle: float, colour: str) -> str:
        body = "".join(
            leaf((0, 0), a, length, 24, colour)
            for a, length in ((0, 100), (-50, 90), (50, 90), (-100, 66), (100, 66))
        )
        return turned(body + line("M0 0L4 58", colour, 9), x, y, angle, size)

    return maple(172, 236, 1.05, 12, RED) + maple(88, 326, 0.72, -28, GOLD)


def winter() -> str:
    """Snow on a pine branch."""
    body = line("M34 372Q150 330 268 352", "#6b4a2b", 13)
    for x, y, angle in ((84, 352, -38), (140, 342, -8), (196, 342, 22), (244, 348, 44)):
        for spread in (-34, -12, 12, 34):
            body += turned(line("M0 0V-54", GREEN, 8), x, y, angle + spread)
    arm = line("M0 0V-74M0 -44L-22 -62M0 -44L22 -62", SKY, 11)
    return body + "".join(turned(arm, 158, 208, 60 * k) for k in range(6))


def plum() -> str:
    """A plum branch."""
    body = line("M62 388Q120 330 128 268Q140 212 232 166M126 300Q184 290 222 306", "#6b4a2b", 13)
    for x, y, r in ((118, 300, 44), (186, 206, 46), (226, 302, 38)):
        body += blossom(x, y, r, RED)
    return body + circle(240, 160, 14, RED) + circle(70, 338, 13, RED)


def orchid() -> str:
    """Orchid leaves with two flowers."""
    body = ""
    for tip_x, tip_y, bend in ((36, 232, 70), (74, 170, 96), (262, 240, 214), (232, 330, 208)):
        body += line(f"M148 386Q{bend} {tip_y + 20} {tip_x} {tip_y}", GREEN, 13)
    body += line("M150 386Q160 300 166 214M154 350Q190 300 214 296", LEAF, 8)
    for x, y, r in ((168, 208, 52), (216, 296, 38)):
        body += turned(petals(5, 4, r, "#7a3fa0", plump=0.62), x, y) + circle(x, y, r * 0.2, GOLD)
    return body


def chrysanthemum() -> str:
    """A chrysanthemum."""
    body = line("M150 280Q150 340 146 388", GREEN, 11)
    body += leaf((149, 358), -58, 96, 32, GREEN) + leaf((149, 358), 58, 96, 32, GREEN)
    body += turned(petals(16, 24, 100, GOLD, start=0, plump=0.95), 150, 240)
    body += turned(petals(10, 8, 58, RED, start=9, plump=0.95), 150, 240)
    return body + circle(150, 240, 17, GOLD)


def bamboo_plant() -> str:
    """Two canes with leaves."""
    body = ""
    for x, joints in ((112, (388, 316, 244, 172)), (186, (388, 330, 272, 214))):
        for low, high in pairwise(joints):
            body += line(f"M{x} {low - 7}V{high + 7}", GREEN, 25)
    for x, y, angles in ((112, 176, (-125, -80)), (186, 210, (20, 66, 112)), (124, 250, (80, 118)),
                         (198, 300, (84, 124)), (100, 306, (-76, -118))):  # fmt: skip
        for angle in angles:
            body += leaf((x, y), angle, 82, 20, LEAF)
    return body


FLOWERS = (spring, summer, autumn, winter, plum, orchid, chrysanthemum, bamboo_plant)


def flowers(n: int) -> str:
    """Seasons (red writing) and plants (blue writing): drawing, character, numeral."""
    colour = RED if n <= 4 else BLUE
    label = glyph("春夏秋冬梅蘭菊竹"[n - 1], 66, 70, 112, colour, weight=6)
    return FLOWERS[n - 1]() + label + glyph("1234"[(n - 1) % 4], 246, 68, 118, colour, weight=7)


def back() -> str:
    """The back: a woven diamond ground inside a border."""
    body = '<rect width="300" height="400" rx="26" fill="#12774f"/>'
    lattice = "".join(
        f"M{-200 + 50 * k} 0l400 400M{-200 + 50 * k + 400} 0l-400 400" for k in range(0, 11)
    )
    body += (
        '<clipPath id="c"><rect x="34" y="34" width="232" height="332" rx="10"/></clipPath>'
        f'<g clip-path="url(#c)"><path d="{lattice}" stroke="#2f9a6c" stroke-width="7" '
        'fill="none"/></g>'
        '<rect x="28" y="28" width="244" height="344" rx="14" fill="none" stroke="#8fd0b0" '
        'stroke-width="6"/>'
    )
    return body


def draw(name: str) -> str:
    """The SVG document of a face by tile notation, or of ``back``."""
    if name == "back":
        body = back()
    else:
        suits = {"m": characters, "p": circles, "s": bamboos, "z": honours, "f": flowers}
        body = suits[name[1]](int(name[0]))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{body}</svg>\n'


def take_glyphs(folder: Path) -> None:
    """Write ``glyphs.json`` from the fonts of a folder (needs fonttools)."""
    pens = {name: import_module(f"fontTools.pens.{name}") for name in PENS}
    transform, fonts = import_module("fontTools.misc.transform"), import_module("fontTools.ttLib")
    found: dict[str, Outline] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in {".woff2", ".ttf", ".otf"}:
            continue
        font = fonts.TTFont(path)
        names, outlines = font.getBestCmap(), font.getGlyphSet()
        scale = 1000 / font["head"].unitsPerEm
        flip = transform.Transform(scale, 0, 0, -scale, 0, 0)
        for char in CHARACTERS:
            if ord(char) in names and char not in found:
                outline = outlines[names[ord(char)]]
                pen = pens["svgPathPen"].SVGPathPen(outlines, ntos=lambda v: str(round(v)))
                outline.draw(pens["transformPen"].TransformPen(pen, flip))
                bounds = pens["boundsPen"].BoundsPen(outlines)
                outline.draw(pens["transformPen"].TransformPen(bounds, flip))
                found[char] = {"box": [round(v) for v in bounds.bounds], "path": pen.getCommands()}
    missing = set(CHARACTERS) - set(found)
    if missing:
        raise SystemExit(f"no font in {folder} has {''.join(sorted(missing))}")
    ordered = {char: found[char] for char in CHARACTERS}
    text = json.dumps(ordered, ensure_ascii=False, indent=0) + "\n"
    (ART_DIR / "glyphs.json").write_text(text, encoding="utf-8")


def write_atlas() -> None:
    """Rasterise the SVG files into ``faces.png`` (needs resvg-py)."""
    import cv2

    from vision.art.raster import rasterise_svg

    width, height = ATLAS_CELL
    rows = -(-len(FACE_NAMES) // ATLAS_COLUMNS)
    sheet = np.zeros((rows * height, ATLAS_COLUMNS * width, 4), np.uint8)
    for index, name in enumerate(FACE_NAMES):
        row, column = divmod(index, ATLAS_COLUMNS)
        picture = rasterise_svg((ART_DIR / f"{name}.svg").read_text(encoding="utf-8"), ATLAS_CELL)
        sheet[row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    ok, data = cv2.imencode(".png", sheet, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    if not ok:
        raise SystemExit("cannot encode the atlas as PNG")
    (ART_DIR / "faces.png").write_bytes(data.tobytes())


def main() -> None:
    """Write every SVG and the atlas."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--glyphs-from", type=Path, metavar="FOLDER", help="take outlines anew")
    arguments = parser.parse_args()
    if arguments.glyphs_from:
        take_glyphs(arguments.glyphs_from)
    for name in FACE_NAMES:
        (ART_DIR / f"{name}.svg").write_text(draw(name), encoding="utf-8")
    write_atlas()
    total = sum((ART_DIR / f"{name}.svg").stat().st_size for name in FACE_NAMES)
    print(f"{len(FACE_NAMES)} faces, {total / 1024:.0f} kB in {ART_DIR}")


if __name__ == "__main__":
    main()
