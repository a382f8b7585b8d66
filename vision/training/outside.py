"""Tile sets of other games as folders of faces (``python -m vision.training.outside``).

Debian's packages ``xmahjongg``, ``gnome-mahjongg`` and ``kdegames-mahjongg-data-kf5`` bring drawn
and photographed sets; with ``--wheels DIR`` two more come from PyPI's ``mahjax`` 0.1.6 (*black*)
and ``nonebot-plugin-mahjong-utils`` 0.5.0 (*utils*), unpacked below ``DIR``: 34 faces each, so that
they borrow the flowers of *smooth*. Which sets train and which are kept for tests of unseen sets is
said in ``SPLITS``. Writes ``<out>/<set>/<tile>.png`` (BGRA, ink on transparent ground).
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from PIL import Image

from tablectl.tiles import NAMES, parse_tile

from .artwork import FACE_HEIGHT, FACE_WIDTH, ArtSet
from .sources import FIRST_FLOWER, ImageArray

ROOT: Final = Path("/usr/share")
SPLITS: Final = {
    "train": ("default", "classic", "dorothys"),
    "unseen": ("traditional", "smooth", "real"),
}
WHEELS: Final = ("black", "utils")
"""Unseen, too."""
SIZE: Final = (2 * FACE_WIDTH, 2 * FACE_HEIGHT)


def _suit(letter: str) -> list[str]:
    return [f"{n}{letter}" for n in range(1, 10)]


_WINDS_BACK = ["4z", "3z", "2z", "1z"]
_SMOOTH = [*_suit("p"), *_WINDS_BACK, "7z", "6z", *_suit("m"), *_suit("s"),
           "6f", "7f", "5f", "8f", "5z", "1f", "2f", "3f", "4f"]  # fmt: skip
_DOROTHYS = [*_suit("p"), *_WINDS_BACK, "7z", "6z", *_suit("m"), *_suit("s"),
             "1f", "2f", "3f", "4f", "5z", "8f", "6f", "5f", "7f"]  # fmt: skip
_REAL = [_suit("p"), _suit("s"), _suit("m"), ["1f", "2f", "3f", "4f", "4z", "2z", "1z", "3z"],
         ["5f", "6f", "7f", "8f", "6z", "5z", "7z"]]  # fmt: skip
_KDE = {
    **{f"CHARACTER_{n}": f"{n}m" for n in range(1, 10)},
    **{f"ROD_{n}": f"{n}p" for n in range(1, 10)},
    **{f"BAMBOO_{n}": f"{n}s" for n in range(1, 10)},
    "WIND_1": "4z", "WIND_2": "2z", "WIND_3": "1z", "WIND_4": "3z",
    "DRAGON_1": "5z", "DRAGON_2": "6z", "DRAGON_3": "7z",
    **{f"SEASON_{n}": f"{n}f" for n in range(1, 5)},
    **{f"FLOWER_{n}": f"{n + 4}f" for n in range(1, 5)},
}  # fmt: skip


def ink_on(body: ImageArray) -> ImageArray:
    """Ink (BGRA) of an opaque face (BGR): what differs from the body's colour."""
    colours = body.reshape(-1, 3).astype(np.float32)
    light = colours[colours.sum(axis=1) >= np.percentile(colours.sum(axis=1), 45)]
    ground = np.median(light, axis=0)
    away = np.abs(body.astype(np.float32) - ground).max(axis=2)
    alpha = np.clip((away - 22) / 55, 0, 1)
    return np.dstack([body, np.round(alpha * 255).astype(np.uint8)])


def _cut(page: ImageArray, box: tuple[int, int, int, int]) -> ImageArray:
    x1, y1, x2, y2 = box
    face = cv2.resize(page[y1:y2, x1:x2], SIZE, interpolation=cv2.INTER_CUBIC)
    return ink_on(np.asarray(face, np.uint8))


def _page(path: Path) -> ImageArray:
    return np.asarray(Image.open(path).convert("RGB"))[:, :, ::-1]


def read_smooth(root: Path) -> dict[str, ImageArray]:
    """GNOME's *smooth* theme, one row of 43 tiles."""
    page = _page(root / "gnome-mahjongg/themes/smooth.png")
    return {n: _cut(page, (96 * k + 16, 6, 96 * k + 90, 112)) for k, n in enumerate(_SMOOTH)}


def read_dorothys(root: Path) -> dict[str, ImageArray]:
    """xmahjongg's *dorothys*, two rows of 21 tiles."""
    page = _page(root / "games/xmahjongg/tiles/dorothys.gif")
    faces = {}
    for k, name in enumerate(_DOROTHYS):
        x, y = 64 * (k % 21), 80 * (k // 21)
        faces[name] = _cut(page, (x + 3, y + 3, x + 52, y + 69))
    return faces


def read_real(root: Path) -> dict[str, ImageArray]:
    """xmahjongg's *real*, a photographed set."""
    page = _page(root / "games/xmahjongg/tiles/real.gif")
    wide, high = 532 / 9, 396 / 5
    faces = {}
    for row, names in enumerate(_REAL):
        for column, name in enumerate(names):
            x, y = round(column * wide), round(row * high)
            faces[name] = _cut(page, (x + 4, y + 4, x + round(wide) - 4, y + round(high) - 5))
    return faces


def _draw(svg: str, width: int) -> ImageArray:
    import resvg_py

    options: dict[str, Any] = {"width": width, "skip_system_fonts": True}
    data = bytes(resvg_py.svg_to_bytes(svg_string=svg, **options))
    return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED), np.uint8)


def read_kde(root: Path, name: str) -> dict[str, ImageArray]:
    """A tile set of KDE's games: each face is an element of one SVG, found by its identity."""
    from lxml import etree

    data = gzip.decompress((root / f"kmahjongglib/tilesets/{name}.svgz").read_bytes())
    faces = {}
    for label, tile in _KDE.items():
        tree = etree.fromstring(data, etree.XMLParser(huge_tree=True))
        space = "{http://www.w3.org/2000/svg}"
        store = etree.SubElement(tree, f"{space}defs")
        for child in list(tree)[:-1]:
            store.append(child)
        use = etree.SubElement(tree, f"{space}use")
        use.set("{http://www.w3.org/1999/xlink}href", f"#{label}")
        tree.set("width", "4000")
        tree.set("height", "4000")
        tree.set("viewBox", "-1000 -1000 4000 4000")
        rough = _draw(etree.tostring(tree).decode(), 1000)
        found = cv2.findNonZero((rough[:, :, 3] > 2).astype(np.uint8))
        if found is None:
            continue
        x, y, w, h = (4 * v for v in cv2.boundingRect(found))
        tree.set("viewBox", f"{x - 1002} {y - 1002} {w + 4} {h + 4}")
        tree.set("width", str(w + 4))
        tree.set("height", str(h + 4))
        faces[tile] = _centred(_draw(etree.tostring(tree).decode(), 320))
    return faces


def _centred(ink: ImageArray) -> ImageArray:
    """The drawing at the face's size, its proportions kept; white ink made dark."""
    found = cv2.findNonZero((ink[:, :, 3] > 24).astype(np.uint8))
    x, y, w, h = cv2.boundingRect(found)
    cut = ink[y : y + h, x : x + w]
    scale = min(SIZE[0] * 0.97 / w, SIZE[1] * 0.97 / h)
    size = (max(1, round(w * scale)), max(1, round(h * scale)))
    small = cv2.resize(cut, size, interpolation=cv2.INTER_AREA)
    face = np.zeros((SIZE[1], SIZE[0], 4), np.uint8)
    top, left = (SIZE[1] - size[1]) // 2, (SIZE[0] - size[0]) // 2
    face[top : top + size[1], left : left + size[0]] = small
    return face


_HONOURS = {"1z": "east", "2z": "south", "3z": "west", "4z": "north",
            "5z": "white", "6z": "gd", "7z": "rd"}  # fmt: skip


def read_black(root: Path) -> dict[str, ImageArray]:
    """The black faces of ``mahjax``, cut inside their drawn rims."""
    folder = root / "mahjax/_src/assets/tiles/ja"
    faces = {}
    for name in NAMES[:FIRST_FLOWER]:
        drawn = _draw((folder / f"{_HONOURS.get(name, name)}.svg").read_text(), 320)
        faces[name] = _inside(drawn, 0.085)
    return faces


def read_utils(root: Path) -> dict[str, ImageArray]:
    """The faces of ``nonebot-plugin-mahjong-utils``."""
    folder = root / "nonebot_plugin_mahjong_utils/mapper/htmlrender/templates/tiles"
    faces = {}
    for name in NAMES[:FIRST_FLOWER]:
        picture = Image.open(folder / f"{name}.png").convert("RGBA")
        white = Image.new("RGBA", picture.size, "white")
        page = np.asarray(Image.alpha_composite(white, picture).convert("RGB"))[:, :, ::-1]
        faces[name] = ink_on(_inside(np.ascontiguousarray(page), 0.03))
    return faces


def _inside(face: ImageArray, margin: float) -> ImageArray:
    """A face at the size of all, without a rim of that share of its width."""
    rim = round(margin * face.shape[1])
    cut = np.ascontiguousarray(face[rim : face.shape[0] - rim, rim : face.shape[1] - rim])
    return np.asarray(cv2.resize(cut, SIZE, interpolation=cv2.INTER_AREA), np.uint8)


def read_wheel(name: str, wheels: Path, root: Path = ROOT) -> dict[str, ImageArray]:
    """Faces of one of ``WHEELS``, with the flowers of *smooth*."""
    faces = {"black": read_black, "utils": read_utils}[name](wheels)
    flowers = read_smooth(root)
    return {**faces, **{flower: flowers[flower] for flower in NAMES[FIRST_FLOWER:42]}}


def read_set(name: str, root: Path = ROOT) -> dict[str, ImageArray]:
    """Faces (BGRA, 256x192) of one of the sets of ``SPLITS`` by tile name."""
    special = {"smooth": read_smooth, "dorothys": read_dorothys, "real": read_real}
    return special[name](root) if name in special else read_kde(root, name)


def load_folder(folder: Path) -> ArtSet:
    """Artwork from a folder that :func:`main` wrote."""
    faces: dict[int, list[ImageArray]] = {}
    for path in sorted(folder.glob("*.png")):
        if path.stem in NAMES:
            face = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            small = cv2.resize(face, (FACE_WIDTH, FACE_HEIGHT), interpolation=cv2.INTER_AREA)
            faces[int(parse_tile(path.stem))] = [np.asarray(small, np.uint8)]
    return ArtSet(folder.name, faces, mono=False)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="folder with the packages' files")
    parser.add_argument("--out", type=Path, default=Path("runs/sets"))
    parser.add_argument("--wheels", type=Path, help="folder with two unpacked wheels")
    options = parser.parse_args()
    sets = {name: read_set(name, options.root) for names in SPLITS.values() for name in names}
    if options.wheels:
        sets |= {name: read_wheel(name, options.wheels, options.root) for name in WHEELS}
    for name, faces in sets.items():
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        for tile, face in faces.items():
            cv2.imwrite(str(folder / f"{tile}.png"), face)


if __name__ == "__main__":
    main()
