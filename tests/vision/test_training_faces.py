"""Made-up tile sets and made pictures that training draws (no torch needed)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tablectl.tiles import NAMES
from vision.training import robustness
from vision.training.artwork import FACE_HEIGHT, FACE_WIDTH
from vision.training.compose import compose
from vision.training.develop import develop, tilted
from vision.training.evaluate import WHOLE_FLOWERS, with_whole_flowers
from vision.training.faces.glyphs import FontsMissingError, cjk_fonts, ink_of, latin_fonts
from vision.training.faces.ink import random_palette
from vision.training.faces.sets import LEFT_OUT, random_set, training_fonts
from vision.training.faces.suits import (
    bamboo_manner,
    bamboo_places,
    bamboos,
    circle_manner,
    circle_places,
    circles,
)
from vision.training.outside import ink_on
from vision.training.sources import iou_matrix, load_split

PHOTOS = Path(__file__).resolve().parents[3] / "shared" / "data" / "photos"


def has_fonts() -> bool:
    try:
        return bool(cjk_fonts())
    except FontsMissingError:
        return False


needs_fonts = pytest.mark.skipif(not has_fonts(), reason="no CJK font is installed")


def inked(face: NDArray[np.uint8]) -> float:
    return float((face[:, :, 3] > 60).mean())


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_layouts_have_as_many_parts_as_the_tile_says(number: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, radius = circle_places(number, seed % 2 == 0, rng)
    assert len(places) == number
    spots = np.array(places) * [FACE_WIDTH, FACE_HEIGHT]
    reach = radius * FACE_WIDTH
    assert (spots > 0.8 * reach).all()
    assert (spots < np.array([FACE_WIDTH, FACE_HEIGHT]) - 0.8 * reach).all()
    apart = np.linalg.norm(spots[:, None] - spots[None], axis=2) + np.eye(number) * 999
    assert apart.min() > 1.5 * reach
    sticks, length = bamboo_places(number, rng)
    assert len(sticks) == number
    assert 0.2 < length < 0.5


@pytest.mark.parametrize("seed", range(6))
def test_seven_circles_are_three_on_a_slant_above_four(seed: int) -> None:
    places, _ = circle_places(7, seed % 2 == 0, np.random.default_rng(seed))
    three, four = places[:3], places[3:]
    assert max(y for _, y in three) < min(y for _, y in four)
    falling = (three[1][0] - three[0][0]) * (three[1][1] - three[0][1]) > 0
    assert falling == (seed % 2 == 0)


@pytest.mark.parametrize("seed", range(8))
def test_suits_are_drawn_inside_the_face(seed: int) -> None:
    rng = np.random.default_rng(seed)
    palette = random_palette(rng)
    dots, sticks = circle_manner(rng), bamboo_manner(rng)
    for number in range(1, 10):
        assert inked(circles(number, palette, rng, dots)) > 0.01
        if number > 1:
            assert inked(bamboos(number, palette, rng, sticks)) > 0.01


@needs_fonts
def test_a_made_up_set_is_whole_and_repeatable() -> None:
    first = random_set(np.random.default_rng(5), [])
    again = random_set(np.random.default_rng(5), [])
    other = random_set(np.random.default_rng(6), [])
    assert sorted(first.faces) == list(range(42))
    for tile in range(42):
        (face,) = first.faces[tile]
        assert face.shape == (FACE_HEIGHT, FACE_WIDTH, 4)
        assert (face == again.faces[tile][0]).all()
        if NAMES[tile] != "5z":
            assert inked(face) > 0.005, NAMES[tile]
    differs = [bool((first.faces[t][0] != other.faces[t][0]).any()) for t in range(42)]
    assert sum(differs) >= 41


@needs_fonts
def test_fonts_kept_for_tests_do_not_letter_training() -> None:
    assert not any(word in path for path, _ in training_fonts() for word in LEFT_OUT)


@needs_fonts
@needs_fonts
def test_words_on_flowers_are_spelt_with_letters() -> None:
    """A font without Latin letters writes boxes in their place."""
    for font in latin_fonts():
        summer, boxes = ink_of(*font, "Summer"), ink_of(*font, "\U0010fffe" * 6)
        assert summer is not None, font
        assert boxes is None or summer.shape != boxes.shape or (summer != boxes).any(), font


def test_dense_pictures_are_crowded_and_labelled_inside() -> None:
    scene = compose([], [], np.random.default_rng(3), 1.0, (24, 40), dense=True)
    assert len(scene.rows) > 40
    assert {row["tile"] for row in scene.rows} <= {*NAMES, "back"}


def test_outlines_follow_a_tilted_picture() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        image = np.full((640, 640, 3), 20, np.uint8)
        image[300:360, 290:335] = 240
        image[300:315, 290:335] = (0, 0, 240)  # the tile's upper edge
        quad = [[290, 300], [335, 300], [335, 360], [290, 360]]
        rows = [{"quad": quad, "tile": "1m", "rotation": 0.0}]
        out, (row,) = tilted(image, rows, rng)
        corners = np.array(row["quad"])
        middle = corners.mean(axis=0)
        assert middle.min() > 0
        assert middle.max() < 640
        up = (corners[0] + corners[1]) / 2
        spot = np.round(middle + (up - middle) * 0.75).astype(int)
        assert out[spot[1], spot[0], 2] > out[spot[1], spot[0], 0] + 100
        outside = np.round(middle + (up - middle) * 1.6).astype(int)
        assert out[outside[1], outside[0]].max() < 60
        turn = np.degrees(np.arctan2(*(up - middle) * [1, -1]))
        assert abs((row["rotation"] - turn + 180) % 360 - 180) < 3


def test_a_developed_picture_keeps_its_size_and_its_rows() -> None:
    image = np.full((640, 640, 3), 90, np.uint8)
    rows = [{"quad": [[300, 300], [330, 300], [330, 340], [300, 340]], "tile": "2s"}]
    for seed in range(10):
        out, kept, quality = develop(image, rows, np.random.default_rng(seed))
        assert out.shape == image.shape
        assert out.dtype == np.uint8
        assert [row["tile"] for row in kept] == ["2s"]
        assert 30 <= quality <= 100


def test_ink_is_what_differs_from_the_body() -> None:
    face = np.full((256, 192, 3), (210, 230, 240), np.uint8)
    face[60:120, 50:140] = (30, 30, 180)
    ink = ink_on(face)
    assert ink[90, 90, 3] == 255
    assert ink[10, 10, 3] == 0


def test_whole_flowers_are_drawn_for_72_labels() -> None:
    drawn = json.loads(WHOLE_FLOWERS.read_text())
    assert len(drawn) == 9
    assert all(
        sorted(row[0] for row in rows) == [f"{n}f" for n in range(1, 9)] for rows in drawn.values()
    )


@pytest.mark.skipif(not PHOTOS.is_dir(), reason="../shared/data/photos is not there")
def test_whole_flowers_hold_the_labels_they_replace() -> None:
    seen = 0
    for photo in load_split(PHOTOS, "val"):
        size = (photo.read().shape[1], photo.read().shape[0]) if photo.group == "home" else (1, 1)
        whole = with_whole_flowers(photo, size)
        assert len(whole.boxes) == len(photo.boxes)
        for tile in range(34, 42):
            before = photo.boxes[photo.classes == tile]
            after = whole.boxes[whole.classes == tile]
            if len(before) and photo.group == "home":
                seen += len(before)
                assert iou_matrix(before, after).max(axis=1).min() > 0.05
                assert np.prod(after[:, 2:] - after[:, :2]) > np.prod(before[:, 2:] - before[:, :2])
    assert seen == 72


@pytest.mark.parametrize("spoiler", robustness.SPOILERS, ids=lambda spoiler: spoiler[0])
def test_disturbances_grow_with_their_step(
    spoiler: tuple[str, str, robustness.Spoil, tuple[float, ...]],
) -> None:
    _, _, spoil, steps = spoiler
    rng = np.random.default_rng(1)
    image = rng.integers(40, 215, (120, 120, 3)).astype(np.uint8)
    away = [np.abs(spoil(image, step).astype(int) - image).mean() for step in steps]
    assert min(away) > 0.5
    assert spoil(image, steps[0]).shape == image.shape
    assert away[0] != pytest.approx(away[-1], rel=0.05) or steps[0] == -steps[-1]
