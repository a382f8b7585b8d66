"""A set is taught from one picture of its layout, and read by the names it was taught with."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tablectl.tiles import NAMES, Tile, format_tile, parse_tile, parse_tiles
from vision.art.sets import ArtSet, own_art
from vision.detector import Detection, Detector, TileSet, TileSetError
from vision.geometry import TableGeometry
from vision.render.layout import layout_scene
from vision.render.renderer import Renderer
from vision.render.scene import Scene, SceneTile
from vision.render.style import Style
from vision.teaching import (
    LENGTHS,
    LOOKS,
    ROWS,
    Lesson,
    find_layout,
    laid_out,
    layout_finder,
    named,
    split_in_rows,
    teach,
)

GEOMETRY = TableGeometry()
SIZE = (1120, 1000)
"""Tiles 29 px wide."""
SWAPPED = dict(zip(parse_tiles("12345678f"), parse_tiles("58671243f"), strict=True))
"""What is drawn on the flowers of a set that nobody has ever seen."""

Picture = NDArray[np.uint8]


@pytest.fixture(scope="module")
def finder() -> Detector:
    return layout_finder()


def strange_set() -> ArtSet:
    own = own_art()
    faces = own.faces.copy()
    for name, drawn in SWAPPED.items():
        faces[name] = own.faces[drawn]
    return ArtSet("strange", faces)


def photograph(scene: Scene, art: ArtSet | None = None) -> Picture:
    style = Style() if art is None else replace(Style(), art=art)
    return np.asarray(Renderer(style, GEOMETRY, SIZE).render(scene), np.uint8)


def layout_without(*gone: int) -> Scene:
    """The layout without the tiles of these numbers, row by row."""
    scene = layout_scene(GEOMETRY, 3)
    kept = [tile for number, tile in enumerate(scene.tiles) if number not in gone]
    return replace(scene, tiles=tuple(kept))


def wanted(lesson: Lesson) -> list[Tile]:
    return [tile for _, tile in lesson.layout.tiles]


def test_a_layout_is_read_row_by_row(finder: Detector) -> None:
    lesson = teach([photograph(layout_without())], finder)
    assert wanted(lesson) == [tile for row in ROWS for tile in row]
    assert sum(seen.tile == tile for seen, tile in lesson.layout.tiles) >= 40
    assert lesson.layout.tile_px == pytest.approx(29, rel=0.1)
    assert len(lesson.tile_set.kinds) == LOOKS * 42
    assert [seen.tile for seen in named(lesson.layout)] == wanted(lesson)


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_the_layout_may_lie_before_any_seat(finder: Detector, seat: int) -> None:
    tiles = [SceneTile(t, x, y, r) for t, x, y, r in laid_out(GEOMETRY, seat)]
    lesson = teach([photograph(Scene(tiles=tuple(tiles)))], finder)
    assert wanted(lesson) == [tile for row in ROWS for tile in row]


def test_a_set_may_lack_flowers_or_have_four(finder: Detector) -> None:
    four = teach([photograph(layout_without(*range(38, 42)))], finder)
    assert wanted(four)[-4:] == list(parse_tiles("1234f"))
    none = teach([photograph(layout_without(*range(34, 42)))], finder)
    assert wanted(none)[-1] == parse_tile("7z")
    assert LENGTHS[-1] == (8, 4, 0)


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ((8,), "rows of 8, 9, 9, 7, 8 tiles"),
        (tuple(range(9)), "rows of 9, 9, 7, 8 tiles"),
        ((30,), "row 4: a tile is missing, or not seen, after tile 3"),
        (tuple(range(42)), "no tiles are to be seen"),
        ((27,), "rows of 9, 9, 9, 6, 8 tiles"),
        ((22, 23), "row 3: a tile is missing, or not seen, after tile 4"),
    ],
)
def test_what_is_no_layout_is_refused(
    finder: Detector, gone: tuple[int, ...], message: str
) -> None:
    with pytest.raises(TileSetError, match=message):
        find_layout(photograph(layout_without(*gone)), finder)


@pytest.mark.parametrize("look", [700, 704, 709])
def test_bare_felt_is_never_taught_as_the_tile_that_is_missing(finder: Detector, look: int) -> None:
    """Whatever the finder makes of the gap: faintly it often sees a back there."""
    rng = np.random.default_rng(look)
    style = Style.random(rng, split="test")
    renderer = Renderer(style, GEOMETRY, (1120, 1000))
    for gone in (4, 13, 21, 30, 37):
        scene = layout_scene(GEOMETRY, look)
        kept = tuple(t for n, t in enumerate(scene.tiles) if n != gone)
        picture = np.asarray(renderer.render(replace(scene, tiles=kept)), np.uint8)
        with pytest.raises(TileSetError, match=r"missing|rows of"):
            teach([picture], finder)


def test_a_gap_in_a_row_that_is_too_long_is_no_crash(finder: Detector) -> None:
    scene = layout_without()
    stray = replace(scene.tiles[33], x_mm=scene.tiles[33].x_mm + 3 * 28.0)
    picture = photograph(replace(scene, tiles=(*scene.tiles, stray)))
    with pytest.raises(TileSetError, match="rows of 9, 9, 9, 8, 8"):
        teach([picture], finder)


def test_only_pictures_in_which_the_tiles_lie_as_in_the_first_are_learnt(finder: Detector) -> None:
    layout, bare = photograph(layout_without()), photograph(Scene())
    scene = layout_without()
    tiles = list(scene.tiles)
    tiles[3], tiles[5] = (
        replace(tiles[3], tile=tiles[5].tile),
        replace(tiles[5], tile=tiles[3].tile),
    )
    exchanged = photograph(replace(scene, tiles=tuple(tiles)))
    alone = teach([layout], finder).tile_set.crops
    for other in (bare, exchanged):
        np.testing.assert_array_equal(teach([layout, other, other], finder).tile_set.crops, alone)


def test_flowers_that_read_exchanged_are_a_contradiction(finder: Detector) -> None:
    scene = layout_without()
    tiles = list(scene.tiles)
    tiles[34], tiles[38] = (
        replace(tiles[34], tile=tiles[38].tile),
        replace(tiles[38], tile=tiles[34].tile),
    )
    with pytest.raises(TileSetError, match="row 5, tile 1 should be 1f and looks like 5f"):
        teach([photograph(replace(scene, tiles=tuple(tiles)))], finder)


def test_a_blank_white_that_the_finder_misses_is_taught(finder: Detector) -> None:
    """Its body is of the felt's colour nearly; an empty place beside it is no White."""
    white, scene = parse_tile("5z"), layout_without()
    picture = photograph(scene)
    found = finder.detect(picture)

    class Blind(Detector):
        def detect(self, *_: object, **__: object) -> list[Detection]:
            return [seen for seen in found if seen.tile != white]

    blind = Blind(min_score=0.08)
    assert white in wanted(teach([picture], blind))
    with pytest.raises(TileSetError, match="row 4: a tile is missing, or not seen, after tile 4"):
        find_layout(photograph(layout_without(31)), blind)


def test_a_part_of_a_tile_beside_it_is_no_tile_of_the_row(finder: Detector) -> None:
    picture = photograph(layout_without())
    found = finder.detect(picture)
    (x1, y1, x2, y2), shift = found[0].box, 0.6 * (found[0].box[2] - found[0].box[0])
    part = replace(found[0], box=(x1 + shift, y1, x2 + shift, y2), score=0.1)

    class Doubling(Detector):
        def detect(self, *_: object, **__: object) -> list[Detection]:
            return [*found, part]

    assert len(wanted(teach([picture], Doubling(min_score=0.08)))) == 42


def test_tiles_in_the_wrong_places_are_named(finder: Detector) -> None:
    scene = layout_scene(GEOMETRY, 3)
    tiles = list(scene.tiles)
    tiles[11], tiles[14] = (
        replace(tiles[11], tile=tiles[14].tile),
        replace(tiles[14], tile=tiles[11].tile),
    )
    picture = photograph(replace(scene, tiles=tuple(tiles)))
    with pytest.raises(TileSetError, match="row 2, tile 3 should be 3p and looks like 6p"):
        teach([picture], finder)
    lesson = teach([picture], finder, trust_layout=True)
    assert wanted(lesson)[11] == parse_tile("3p")


def test_a_taught_set_is_read_by_its_names(finder: Detector) -> None:
    """Its flowers bear the drawings of other flowers; elsewhere on the table, turned."""
    art = strange_set()
    taught = teach([photograph(layout_without(), art)], finder, trust_layout=True).tile_set
    names = [tile for tile in parse_tiles("12345678f19m5p7z") for _ in range(2)]
    tiles = [
        SceneTile(tile, (i % 6 - 3) * 60.0, -210.0 - 60 * (i // 6), 90.0 * (i % 4) + 3)
        for i, tile in enumerate(names)
    ]
    picture = photograph(Scene(tiles=tuple(tiles)), art)

    def read(detector: Detector) -> list[Detection]:
        found = detector.detect(picture, tile_px=29)
        truths = Renderer(replace(Style(), art=art), GEOMETRY, SIZE).truth(Scene(tuple(tiles)))
        middles = [np.mean([t.box[:2], t.box[2:]], axis=0) for t in truths]
        nearest = [min(found, key=lambda d: np.hypot(*(d.centre - m))) for m in middles]
        assert [t.tile for t in truths] == names
        return nearest

    untaught, known = read(Detector()), read(Detector(tile_set=taught))
    flowers = [i for i, tile in enumerate(names) if tile >= 34]
    assert sum(untaught[i].tile == names[i] for i in flowers) <= 2
    assert [format_tile(seen.tile) for seen in known] == [format_tile(tile) for tile in names]
    assert min(seen.confidence for seen in known) > 0.8


def test_what_was_not_taught_is_read_as_before(finder: Detector) -> None:
    lesson = teach([photograph(layout_without(*range(34, 42)))], finder)
    tiles = [
        SceneTile(tile, (i - 4) * 50.0, -250.0) for i, tile in enumerate(parse_tiles("12345678f"))
    ]
    picture = photograph(Scene(tiles=tuple(tiles)))
    before, after = (
        {tuple(np.round(d.box)): d.tile for d in detector.detect(picture, tile_px=29)}
        for detector in (Detector(), Detector(tile_set=lesson.tile_set))
    )
    assert before == after


def test_several_pictures_give_several_looks(finder: Detector) -> None:
    renderer, scene = Renderer(Style(), GEOMETRY, SIZE), layout_without()
    pictures = [np.asarray(renderer.render(scene), np.uint8) for _ in range(LOOKS)]
    crops = teach(pictures, finder).tile_set.crops.reshape(LOOKS, 42, *finder.crops(
        pictures[0], [(0.0, 0.0, 9.0, 9.0)]).shape[1:])  # fmt: skip
    assert all((crops[0] != crops[i]).any() for i in range(1, LOOKS))


def test_rows_are_those_of_the_faces_direction() -> None:
    def seen(x: float, y: float) -> Detection:
        odds = tuple(float(i == 4) for i in range(43))
        return Detection((x - 14, y - 10, x + 14, y + 10), 1.0, odds, 270.0)

    # Turned by 270 degrees the top row lies at the left, its first tile at the bottom.
    tiles = [seen(100, 400), seen(100, 370), seen(140, 400)]
    assert split_in_rows([tiles[2], tiles[1], tiles[0]]) == [[tiles[0], tiles[1]], [tiles[2]]]
    assert split_in_rows([]) == []


# --- files ---


def small_set(side: int = 96) -> TileSet:
    rng = np.random.default_rng(1)
    crops = rng.integers(0, 255, (3, 4, side, side), np.uint8)
    return TileSet(crops, np.array([0, 41, 41]), "2026-12-01", 28.5)


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    kept = small_set()
    kept.save(tmp_path / "deep" / "tiles.npz")
    again = TileSet.load(tmp_path / "deep" / "tiles.npz")
    np.testing.assert_array_equal(again.crops, kept.crops)
    np.testing.assert_array_equal(again.kinds, kept.kinds)
    assert (again.taught, again.tile_px) == ("2026-12-01", 28.5)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["tiles.npz"]


def test_the_same_set_gives_the_same_bytes(tmp_path: Path) -> None:
    content = small_set().to_bytes()
    assert content == small_set().to_bytes()
    small_set().save(tmp_path / "tiles.npz")
    assert (tmp_path / "tiles.npz").read_bytes() == content
    np.testing.assert_array_equal(TileSet.from_bytes(content).crops, small_set().crops)
    with pytest.raises(TileSetError, match=r"^no taught tile set"):
        TileSet.from_bytes(content[:-1])


def test_no_damaged_byte_is_worse_than_an_error() -> None:
    content = small_set(8).to_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x40
        with contextlib.suppress(TileSetError):
            TileSet.from_bytes(bytes(damaged))


@pytest.mark.parametrize(
    "damage", ["missing", "folder", "text", "empty", "cut", "other", "kinds", "future", "pickle"]
)
def test_other_files_are_refused_with_a_remedy(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tiles.npz"
    kept = small_set()
    kept.save(path)
    if damage == "missing":
        path.unlink()
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "text":
        path.write_text("no tile set")
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-300])
    elif damage == "other":
        np.savez(path, something=np.zeros(3))
    elif damage == "kinds":
        replace(kept, kinds=np.array([0, 1, 42])).save(path)
    elif damage == "future":
        with np.load(path) as stored:
            about = np.array(str(stored["about"]).replace('"format": 1', '"format": 2'))
            content = {"crops": stored["crops"], "kinds": stored["kinds"], "about": about}
        np.savez(path, **content)
    else:
        np.savez(path, crops=np.array([None]), kinds=kept.kinds, about=np.array("{}"))
    with pytest.raises(TileSetError, match="tablectl teach"):
        TileSet.load(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TileSetError, match="can't be written"):
        small_set().save(tmp_path / "file" / "tiles.npz")


def test_sets_are_added_where_their_crops_fit() -> None:
    one, other = small_set(), replace(small_set(), taught="2027-01-02", tile_px=30.0)
    both = one.with_more(other)
    assert (len(both.crops), len(both.kinds), both.taught, both.tile_px) == (6, 6, "2027-01-02", 30)
    with pytest.raises(TileSetError, match="96 px and now they are 64 px"):
        one.with_more(small_set(64))


def test_crops_of_another_recogniser_are_refused() -> None:
    with pytest.raises(TileSetError, match="64 px"):
        Detector(tile_set=small_set(64))


def test_the_drawn_layout_keeps_clear_of_the_panel_and_the_edge() -> None:
    places = laid_out(GEOMETRY)
    assert len({tile for tile, *_ in places}) == len(NAMES)
    for _, x, y, _ in places:
        assert GEOMETRY.panel * GEOMETRY.tile_width_mm < max(abs(x), abs(y))
        assert max(abs(x), abs(y)) < GEOMETRY.half_mm - 2 * GEOMETRY.tile_width_mm
