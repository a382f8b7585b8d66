"""Combining what is seen with what must be true."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.referee.beliefs import best, blend, infer, leading, normalise

_FACES = ("1m", "2m", "3m", "5p", "9s")
beliefs = st.dictionaries(
    st.sampled_from(_FACES), st.floats(0.05, 1.0), min_size=1, max_size=4
)  # fmt: skip


@given(beliefs)
def test_normalised_beliefs_sum_to_one_and_are_ranked(belief: dict[str, float]) -> None:
    ranked = list(normalise(belief).values())
    assert sum(ranked) == pytest.approx(1.0)
    assert ranked == sorted(ranked, reverse=True)


@given(beliefs, beliefs)
def test_blending_lies_between_the_two(a: dict[str, float], b: dict[str, float]) -> None:
    a, b = normalise(a), normalise(b)
    mixed = blend(a, 3, b, 1)
    for face in _FACES:
        low, high = sorted((a.get(face, 0.0), b.get(face, 0.0)))
        assert low - 1e-9 <= mixed.get(face, 0.0) <= high + 1e-9


@given(st.lists(beliefs, min_size=1, max_size=3))
def test_posterior_equals_the_sum_over_all_assignments(seen: list[dict[str, float]]) -> None:
    """Against the obviously right way: weigh every assignment there is."""

    def prior(faces: tuple[str, ...]) -> float:
        return 1.0 if len(set(faces)) == 1 else 0.1

    options = [normalise(belief) for belief in seen]
    weights: dict[tuple[str, ...], float] = {}
    for faces in itertools.product(*options):
        p = prior(faces)
        for belief, face in zip(options, faces, strict=True):
            p *= belief[face]
        weights[faces] = p
    total = sum(weights.values())
    posterior = infer(seen, prior)
    for faces, p in posterior.assignments:
        assert p == pytest.approx(weights[faces] / total, rel=1e-3, abs=1e-3)


def test_a_fifth_copy_gives_way_to_the_next_best_face() -> None:
    posterior = infer([{"7s": 0.6, "9s": 0.4}], lambda faces: 0.02 if faces == ("7s",) else 1.0)
    assert posterior.faces == ("9s",)
    assert posterior.marginal(0)["9s"] == pytest.approx(0.4 / (0.4 + 0.012))


def test_where_everything_is_refused_the_eye_decides() -> None:
    assert infer([{"1m": 0.7, "2m": 0.3}], lambda _: 0.0).faces == ("1m",)


def test_leading_leaves_out_no_face_that_is_as_likely_as_the_others() -> None:
    """A tile of which nothing is known may be any; a tile that was read may be few."""
    flat = {f"{n}{s}": 1 / 27 for s in "mps" for n in range(1, 10)}
    assert {face for face, _ in leading(flat)} == set(flat)
    read = {"1m": 0.9, **{f"{n}p": 0.0125 for n in range(1, 9)}}
    ranked = leading(read)
    assert len(ranked) == 5
    assert ranked[0][0] == "1m"
    assert best({}) == ("?", 0.0)
