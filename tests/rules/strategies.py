"""Hypothesis strategies for hands."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st


@st.composite
def naturals_and_wilds(
    draw: st.DrawFn, *, sets: int = 4, max_wilds: int = 4
) -> tuple[list[int], int]:
    """Tiles near a complete hand of ``sets`` sets and a pair, some of them replaced by wild ones.

    Never more than four copies of a kind.
    """
    groups: list[int] = []
    span = draw(st.sampled_from((9, 18, 27)))
    for _ in range(sets):
        if draw(st.booleans()):
            groups += [draw(st.integers(0, 33))] * 3
        else:
            low = draw(st.integers(0, span - 1).filter(lambda t: t % 9 < 7))
            groups += [low, low + 1, low + 2]
    groups += [draw(st.integers(0, 33))] * 2
    for _ in range(draw(st.integers(0, 2))):
        groups[draw(st.integers(0, len(groups) - 1))] = draw(st.integers(0, 33))
    wilds = draw(st.integers(0, max_wilds))
    kept = draw(st.permutations(groups))[wilds:]
    counts: Counter[int] = Counter()
    legal = []
    for tile in kept:
        chosen = tile
        while counts[chosen] == 4:
            chosen = (chosen + 1) % 34
        counts[chosen] += 1
        legal.append(chosen)
    return legal, wilds
