"""Beliefs about faces, and what must be true together.

A belief maps tile notation to probability. Beliefs about several tiles are combined with a judge
that says how plausible a whole assignment is (a legal meld, no fifth copy, a winning hand): the
posterior is the product of the beliefs and the judgement, normalised over the assignments that
could matter, which are enumerated best first.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tablectl.tiles import NAMES

Belief = Mapping[str, float]

_FLOOR: Final = 0.002
_TOP: Final = 5
_NEAR: Final = 0.2
_LIMIT: Final = 200
_MASS_LEFT: Final = 1e-4


def normalise(belief: Belief) -> dict[str, float]:
    """The same belief with probabilities that sum to 1, the most likely first."""
    total = sum(belief.values())
    if total <= 0.0:
        return {}
    ranked = sorted(belief.items(), key=lambda item: (-item[1], item[0]))
    return {tile: p / total for tile, p in ranked}


def blend(old: Belief, old_looks: int, new: Belief, new_looks: int) -> dict[str, float]:
    """Mean of two beliefs about one tile, weighted by looks.

    Looks at a tile that does not move are far from independent, so they are averaged, not
    multiplied.
    """
    total = old_looks + new_looks
    tiles = set(old) | set(new)
    return normalise(
        {t: (old.get(t, 0.0) * old_looks + new.get(t, 0.0) * new_looks) / total for t in tiles}
    )


def face_up(belief: Belief) -> dict[str, float]:
    """The belief about a tile of which it is known that its face is up."""
    return normalise({tile: p for tile, p in belief.items() if tile != "back"})


def flat(copies: Sequence[int]) -> dict[str, float]:
    """Nothing is known of a tile but the set that it is of (copies by tile index)."""
    return normalise({name: float(n) for name, n in zip(NAMES, copies, strict=True) if n})


def leading(belief: Belief) -> list[tuple[str, float]]:
    """The few faces worth considering, with their probabilities, the most likely first.

    All faces that are nearly as likely as the first count, as many as they are.
    """
    ranked = list(normalise(belief).items())
    if not ranked:
        return []
    near = _NEAR * ranked[0][1]
    return [
        (tile, p) for i, (tile, p) in enumerate(ranked)
        if i == 0 or p >= near or (i < _TOP and p >= _FLOOR)
    ]  # fmt: skip


def best(belief: Belief) -> tuple[str, float]:
    """The most likely face and its probability; ``("?", 0.0)`` of an empty belief."""
    return max(belief.items(), key=lambda item: (item[1], item[0]), default=("?", 0.0))


@dataclass(frozen=True)
class Posterior:
    """Assignments of faces to tiles with their probabilities, the most likely first."""

    assignments: tuple[tuple[tuple[str, ...], float], ...]

    @property
    def faces(self) -> tuple[str, ...]:
        """The most likely assignment."""
        return self.assignments[0][0]

    def marginal(self, index: int) -> dict[str, float]:
        """Belief about the tile at ``index``, all else summed out."""
        sums: dict[str, float] = {}
        for faces, p in self.assignments:
            sums[faces[index]] = sums.get(faces[index], 0.0) + p
        return normalise(sums)


def infer(beliefs: Sequence[Belief], judge: Callable[[tuple[str, ...]], float]) -> Posterior:
    """Combine beliefs about several tiles with a prior over whole assignments.

    Args:
        beliefs: one belief a tile, none of them empty.
        judge: prior weight of an assignment, from 0 (impossible) to 1.

    Returns:
        The posterior over the assignments that were enumerated: best first until the rest could
        not matter, at most 200. Where the judge refuses all of them the beliefs alone decide.
    """
    options = [leading(belief) for belief in beliefs]
    weighed: list[tuple[tuple[str, ...], float, float]] = []
    seen_mass = 0.0
    for faces, likelihood in _best_first(options):
        weighed.append((faces, likelihood, likelihood * judge(faces)))
        seen_mass += likelihood
        if len(weighed) >= _LIMIT or 1.0 - seen_mass < _MASS_LEFT:
            break
    total = sum(weight for _, _, weight in weighed)
    pick = [(f, w) for f, _, w in weighed] if total > 0.0 else [(f, p) for f, p, _ in weighed]
    total = sum(weight for _, weight in pick)
    ranked = sorted(((f, w / total) for f, w in pick if w > 0.0), key=lambda a: -a[1])
    return Posterior(tuple(ranked))


def _best_first(
    options: Sequence[Sequence[tuple[str, float]]],
) -> list[tuple[tuple[str, ...], float]]:
    """Assignments in falling order of probability, at most :data:`_LIMIT`."""
    start = tuple(0 for _ in options)

    def log_p(ranks: tuple[int, ...]) -> float:
        return sum(math.log(options[i][r][1] + 1e-12) for i, r in enumerate(ranks))

    heap = [(-log_p(start), start)]
    queued = {start}
    out: list[tuple[tuple[str, ...], float]] = []
    while heap and len(out) < _LIMIT:
        cost, ranks = heapq.heappop(heap)
        out.append((tuple(options[i][r][0] for i, r in enumerate(ranks)), math.exp(-cost)))
        for i, rank in enumerate(ranks):
            if rank + 1 < len(options[i]):
                following = (*ranks[:i], rank + 1, *ranks[i + 1 :])
                if following not in queued:
                    queued.add(following)
                    heapq.heappush(heap, (-log_p(following), following))
    return out
