"""The adapted last layer is the penalised maximum of the likelihood, and little more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vision.detector.adaptation import GAINS, PENALTY, Adaptation, fitted, shown

Floats = NDArray[np.float64]


def loss(
    weights: Floats, features: Floats, logits: Floats, kinds: NDArray[np.int64], temperature: float
) -> float:
    """What the fit minimises, written out: mean negative log likelihood and penalty."""
    scale = np.sqrt((features**2).mean())
    total = 0.0
    for x, z, kind in zip(features / scale, logits, kinds, strict=True):
        all_logits = (z + weights @ np.append(x, 1.0)) / temperature
        top = all_logits.max()
        total -= all_logits[kind] - top - np.log(np.exp(all_logits - top).sum())
    return float(total / len(kinds) + PENALTY * (weights**2).sum())


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), temperature=st.sampled_from([0.5, 1.0, 2.0]))
def test_no_small_step_from_the_fit_is_better(seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    count, width, classes = int(rng.integers(4, 30)), 5, 4
    features = np.abs(rng.normal(0, float(rng.uniform(0.1, 8)), (count, width)))
    logits = rng.normal(0, 3, (count, classes))
    kinds = rng.integers(0, classes, count)
    fit = fitted(features.astype(np.float32), logits.astype(np.float32), kinds, temperature)
    scale = np.sqrt((features**2).mean())
    best = np.hstack([fit.weights * scale, fit.bias[:, None]]).astype(np.float64)
    least = loss(best, features, logits, kinds, temperature)
    assert least <= loss(np.zeros_like(best), features, logits, kinds, temperature) + 1e-9
    for _ in range(30):
        step = rng.normal(0, 0.05, best.shape)
        assert least <= loss(best + step, features, logits, kinds, temperature) + 1e-5


def test_lessons_far_apart_are_all_learnt() -> None:
    """Ten kinds whose features differ, all of them read as kind 0 before."""
    features = np.repeat(np.eye(10, dtype=np.float32) * 5, 3, axis=0)
    logits = np.zeros((30, 12), np.float32)
    logits[:, 0] = 4
    kinds = np.repeat(np.arange(10), 3)
    fit = fitted(features, logits, kinds, 1.0)
    assert ((logits + fit.shift(features)).argmax(axis=1) == kinds).all()


def test_what_is_read_rightly_already_hardly_changes() -> None:
    rng = np.random.default_rng(2)
    features = np.abs(rng.normal(0, 1, (40, 8))).astype(np.float32)
    kinds = rng.integers(0, 5, 40)
    logits = np.full((40, 6), -6, np.float32)
    logits[np.arange(40), kinds] = 6
    shift = fitted(features, logits, kinds, 1.0).shift(features)
    assert np.abs(shift).max() < 0.05


@given(seed=st.integers(0, 10**6), temperature=st.sampled_from([0.5, 0.8, 2.0]))
def test_the_chances_of_the_other_classes_stay(seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    fit = Adaptation(
        rng.normal(0, 1, (5, 3)).astype(np.float32), rng.normal(0, 2, 5).astype(np.float32),
        temperature,
    )  # fmt: skip
    features = rng.normal(0, 1, (6, 3)).astype(np.float32)
    logits = rng.normal(0, 3, (6, 7)).astype(np.float32)
    before, after = (
        np.exp(z / temperature) / np.exp(z / temperature).sum(axis=1, keepdims=True)
        for z in (logits, fit.adapted(features, logits))
    )
    np.testing.assert_allclose(after[:, 5:], before[:, 5:], atol=1e-5)
    odds = np.exp((logits[:, :5] + fit.shift(features)) / temperature)
    told = after[:, :5] / after[:, :5].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(told, odds / odds.sum(axis=1, keepdims=True), atol=1e-5)


def test_lessons_are_shown_in_every_quarter_and_light() -> None:
    crops = np.zeros((2, 4, 8, 8), np.uint8)
    crops[:, :3, :2] = 100  # a bright upper edge
    crops[:, 3] = 255
    looks = list(shown(crops))
    assert len(looks) == 4 * len(GAINS)
    assert {int(look[0, 0].max()) for look in looks[4:8]} == {100}
    for turns, look in enumerate(looks[4:8]):
        np.testing.assert_array_equal(np.rot90(look, -turns, (2, 3)), crops)
    brightest = [float(looks[4 * i][0, :3].mean()) for i in range(len(GAINS))]
    assert brightest == sorted(brightest)
    assert brightest[-1] > 1.2 * brightest[1]
    assert all((look[:, 3] == 255).all() for look in looks)
    assert [len(np.unique(looks[4 * i][0, 0])) > 2 for i in range(3)] == [True, False, True]


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_scale_of_features_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(3)
    features = np.abs(rng.normal(0, 1, (20, 6))).astype(np.float32)
    logits = rng.normal(0, 1, (20, 3)).astype(np.float32)
    kinds = rng.integers(0, 3, 20)
    one = fitted(features, logits, kinds, 1.0).shift(features)
    other = fitted(features * scale, logits, kinds, 1.0).shift(features * scale)
    np.testing.assert_allclose(one, other, atol=1e-3)
