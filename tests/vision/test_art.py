"""The project's own faces are complete, fresh and told apart; outside artwork is understood."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest

from tablectl.tiles import N_KINDS, NAMES, Tile, parse_tile
from vision.art import ART_DIR, ATLAS_CELL, FACE_NAMES
from vision.art.raster import ArtError, rasterise_svg
from vision.art.sets import load_art, own_art, tile_of_file

ROOT = Path(__file__).resolve().parents[2]
SHARED_ART = ROOT.parent / "shared" / "data" / "art"
needs_shared = pytest.mark.skipif(not SHARED_ART.is_dir(), reason="no ../shared/data/art")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_faces", ROOT / "scripts" / "draw_faces.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", FACE_NAMES)
def test_svg_is_what_the_generator_draws(generator: ModuleType, name: str) -> None:
    text = (ART_DIR / f"{name}.svg").read_text(encoding="utf-8")
    assert text == generator.draw(name), "run scripts/draw_faces.py"
    assert 'viewBox="0 0 300 400"' in text
    assert "<text" not in text, "an SVG face must not need a font"
    assert len(text) < 10_000


def test_atlas_shows_the_svg_files() -> None:
    pytest.importorskip("resvg_py")
    faces = own_art().faces
    for index, name in enumerate(NAMES):
        text = (ART_DIR / f"{name}.svg").read_text(encoding="utf-8")
        drawn = rasterise_svg(text, ATLAS_CELL).astype(int)
        assert abs(drawn - faces[index]).mean() < 0.5, f"{name}: run scripts/draw_faces.py"


def test_own_faces_are_told_apart_at_28_pixels() -> None:
    art = own_art()
    assert art.faces.shape == (N_KINDS, ATLAS_CELL[1], ATLAS_CELL[0], 4)
    alpha = art.faces[..., 3:] / 255
    flat = art.faces[..., :3] * alpha + 235 * (1 - alpha)
    small = np.stack([cv2.resize(f, (28, 37), interpolation=cv2.INTER_AREA) for f in flat])
    for a in range(N_KINDS):
        for b in range(a):
            assert abs(small[a] - small[b]).mean() > 7, (NAMES[a], NAMES[b])


@pytest.mark.parametrize(
    ("stem", "tile"),
    [
        ("1m", "1m"), ("8f", "8f"), ("08-characters-1", "1m"), ("25-circles-9", "9p"),
        ("33-bamboos-8", "8s"), ("04-east-wind", "1z"), ("02-green-dragon", "6z"),
        ("42-bamboo", "8f"), ("35-spring", "1f"), ("Man5", "5m"), ("Sou1", "1s"), ("Shaa", "3z"),
        ("Haku", "5z"), ("Chun", "7z"), ("Pin9", "9p"),
    ],
)  # fmt: skip
def test_file_names(stem: str, tile: str) -> None:
    assert tile_of_file(stem) == parse_tile(tile)


@pytest.mark.parametrize("stem", ["Man5-Dora", "Front", "Blank", "Back", "readme"])
def test_file_names_that_mean_no_tile(stem: str) -> None:
    assert tile_of_file(stem) is None


def test_folder_of_svg_borrows_what_it_lacks(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    square = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4">'
    square += '<rect width="3" height="4"/></svg>'
    (tmp_path / "Man3.svg").write_text(square, encoding="utf-8")
    art = load_art(tmp_path)
    three = parse_tile("3m")
    assert (art.faces[three, :, :, 3] == 255).all()
    assert set(art.borrowed) == {Tile(i) for i in range(N_KINDS)} - {three}
    assert (art.faces[0] == own_art().faces[0]).all()


def test_folder_of_png_faces(tmp_path: Path) -> None:
    face = np.zeros((200, 150, 4), np.uint8)
    face[:100] = (10, 20, 30, 255)
    cv2.imwrite(str(tmp_path / "3m.png"), face)
    art = load_art(tmp_path)
    drawn = art.faces[parse_tile("3m")]
    half = drawn.shape[0] // 2
    assert (drawn[: half - 2] == (10, 20, 30, 255)).all()
    assert not drawn[half + 2 :].any()
    assert len(art.borrowed) == N_KINDS - 1


def test_unusable_artwork_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtError, match="no artwork at"):
        load_art(tmp_path / "missing")
    with pytest.raises(ArtError, match="neither SVG nor PNG faces nor a font"):
        load_art(tmp_path)
    (tmp_path / "face.otf").write_bytes(b"no font at all")
    with pytest.raises(ArtError, match="not an OpenType font"):
        load_art(tmp_path / "face.otf")


def test_a_broken_face_is_named(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    (tmp_path / "1m.svg").write_text("<svg", encoding="utf-8")
    with pytest.raises(ArtError, match=r"cannot draw .*1m\.svg"):
        load_art(tmp_path)


def test_a_png_face_without_transparent_ground_is_named(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1m.png"), np.zeros((20, 15, 3), np.uint8))
    with pytest.raises(ArtError, match=r"cannot draw .*1m\.png: .*transparent ground"):
        load_art(tmp_path)


def test_missing_library_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    (tmp_path / "1m.svg").write_text("<svg/>", encoding="utf-8")
    with pytest.raises(ArtError, match="pip install resvg-py"):
        load_art(tmp_path)


@needs_shared
def test_shared_artwork_loads() -> None:
    pytest.importorskip("resvg_py")
    assert load_art(SHARED_ART / "hongkong").borrowed == ()
    assert len(load_art(SHARED_ART / "riichi-regular").borrowed) == 8
    font = load_art(SHARED_ART / "fonts" / "I.MahjongTW.otf")
    assert font.borrowed == ()
    ink = (font.faces[..., 3] > 128).mean(axis=(1, 2))
    assert (ink > 0.03).all()
    assert (ink < 0.6).all(), "the glyph's frame was not dropped"
    with pytest.raises(ArtError, match="several fonts"):
        load_art(SHARED_ART / "fonts")
