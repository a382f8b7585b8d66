"""Training pictures: honest labels, and nothing that the test split uses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from vision.art.raster import ArtError
from vision.art.sets import own_art
from vision.geometry import TableGeometry
from vision.render.camera import Camera
from vision.render.scene import Pose
from vision.render.style import (
    _BACKS,
    _BODIES,
    _FELTS,
    ART_SPLITS,
    Style,
    outside_art,
    vary_art,
)
from vision.render.training_scenes import (
    random_table_scene,
    readable,
    render_training_picture,
    render_training_sample,
)
from vision.training.scenes import ONE_SET, random_scene, with_hidden_backs

SHARED_ART = Path(__file__).resolve().parents[3] / "shared" / "data" / "art"


def test_splits_share_no_artwork_and_no_colours() -> None:
    assert not set(ART_SPLITS["train"]) & set(ART_SPLITS["test"])
    for colours in (_FELTS, _BACKS, _BODIES):
        assert not set(colours["train"]) & set(colours["test"])


def test_training_needs_outside_artwork() -> None:
    with pytest.raises(ArtError, match="outside artwork"):
        Style.random(np.random.default_rng(0), "train")


@pytest.mark.skipif(not SHARED_ART.is_dir(), reason="no ../shared/data/art")
def test_training_never_sees_the_own_faces() -> None:
    pytest.importorskip("resvg_py")
    own = own_art().faces
    for name in ("hongkong", "riichi-regular"):
        plain = outside_art(SHARED_ART, name)
        varied = vary_art(plain, np.random.default_rng(1))
        for art in (plain, varied):
            assert not (art.faces == own).all(axis=(1, 2, 3)).any(), art.name


def test_random_scenes_use_every_kind_and_every_pose() -> None:
    rng = np.random.default_rng(2)
    tiles = [t for _ in range(30) for t in random_table_scene(rng, TableGeometry()).tiles]
    assert {t.tile for t in tiles} == set(range(42))
    assert {t.pose for t in tiles} == set(Pose)
    assert {t.level for t in tiles} == {0, 1}


def test_labels_lie_in_the_picture_and_repeat_with_the_seed() -> None:
    for seed in range(3):
        picture, labels = render_training_picture(np.random.default_rng(seed), "test", (320, 320))
        again, labels_again = render_training_picture(
            np.random.default_rng(seed), "test", (320, 320)
        )
        assert (picture == again).all()
        assert labels == labels_again
        for label in labels:
            assert 0 <= label.class_index <= 42
            assert 0 <= label.x1 < label.x2 <= 320
            assert 0 <= label.y1 < label.y2 <= 320


def test_hidden_faces_are_not_labelled() -> None:
    sample = render_training_sample(np.random.default_rng(5), "test", (480, 480))
    assert len(sample.labels()) == sum(readable(truth) for truth in sample.truths)
    assert all(truth.visible >= 0.4 for truth in sample.labelled())


def test_random_overhead_cameras_keep_seat_zero_at_the_bottom() -> None:
    for seed in range(12):
        style = Style.random(np.random.default_rng(seed), "test")
        camera = Camera(style.camera, (1920, 1080), TableGeometry().half_mm)
        centre, bottom, right = camera.project([(0, 0), (0, 300), (300, 0)])
        assert bottom[1] > centre[1] + 200
        assert right[0] > centre[0] + 200


def test_hidden_backs_are_nearly_of_the_felts_colour() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        style = with_hidden_backs(Style.random(rng, "test"), rng)
        brightness = sum(style.back) / max(sum(style.felt), 1.0)
        level = np.array(style.felt) * brightness
        assert np.abs(np.array(style.back) - level).max() < 60
        assert 0.5 < brightness < 2


def test_tiles_of_one_set_are_four_of_each_and_flowers_once() -> None:
    for seed in range(12):
        scene = random_scene(TableGeometry(), np.random.default_rng(seed), one_set=True)
        shown = Counter(int(t.tile) for t in scene.tiles if t.pose is Pose.FLAT_UP)
        assert shown
        assert all(count <= (4 if kind < 34 else 1) for kind, count in shown.items())
    assert len(ONE_SET) == 144
