"""Flowers that the reader's training draws from made-up faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vision.training.crops import CROP_PX
from vision.training.face_bank import HEIGHT, SIDE, WIDTH, FlowerBank, little_scene
from vision.training.faces.sets import BIRD
from vision.training.sources import FIRST_FLOWER


def bank_of_marks(folder: Path) -> Path:
    """One set whose flower k has k + 1 black bars from the top, on nothing."""
    faces = np.zeros((1, 8, HEIGHT, WIDTH, 4), np.uint8)
    for index in range(8):
        for bar in range(index + 1):
            faces[0, index, 4 + 10 * bar : 9 + 10 * bar, 10:-10, 3] = 255
    path = folder / "flowers.npz"
    np.savez_compressed(path, faces=faces)
    return path


def test_the_flower_lies_upright_in_the_middle(tmp_path: Path) -> None:
    faces = np.load(bank_of_marks(tmp_path))["faces"][0]
    for index in range(8):
        scene = little_scene(faces, index, np.random.default_rng(index))
        assert scene.shape == (SIDE, SIDE, 3)
        column = scene[(SIDE - HEIGHT) // 2 : (SIDE + HEIGHT) // 2, SIDE // 2].max(axis=1)
        dark = column < 100
        assert int((dark[1:] & ~dark[:-1]).sum()) == index + 1
        assert dark[5]


def test_samples_say_which_flower_and_which_way_is_up(tmp_path: Path) -> None:
    bank = FlowerBank(bank_of_marks(tmp_path))
    seen = set()
    agree: list[bool] = []
    for seed in range(240):
        sample = bank.sample(np.random.default_rng(seed))
        assert sample.pixels.shape == (4, CROP_PX, CROP_PX)
        assert FIRST_FLOWER <= sample.tile < FIRST_FLOWER + 8
        assert 0 <= sample.rotation < 360
        assert abs((sample.axis - sample.rotation + 90) % 180 - 90) < 1e-6
        seen.add(sample.tile)
        if sample.tile == FIRST_FLOWER:  # one bar: its dark side is where up is
            way = np.radians(sample.rotation)
            up = np.array([-np.cos(way), np.sin(way)])  # row, column
            darkest = []
            for sign in (1, -1):
                ray = CROP_PX / 2 + sign * CROP_PX * np.linspace(0.25, 0.42, 12)[:, None] * up
                rows, columns = np.round(ray).astype(int).T
                darkest.append(int(sample.pixels[:3, rows, columns].max(axis=0).min()))
            agree.append(darkest[0] < darkest[1])
    assert len(seen) == 8
    assert np.mean(agree) > 0.85  # blur and shadow hide the bar now and then


def test_a_bank_with_birds_shows_them_in_a_quarter_of_the_samples(tmp_path: Path) -> None:
    flowers = np.load(bank_of_marks(tmp_path))["faces"]
    path = tmp_path / "pictures.npz"
    np.savez_compressed(path, faces=np.concatenate([flowers, flowers[:, :1]], axis=1))
    bank = FlowerBank(path)
    birds = [bank.sample(np.random.default_rng(seed)).tile == BIRD for seed in range(200)]
    assert 0.15 < np.mean(birds) < 0.35
