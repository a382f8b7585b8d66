"""What changes nothing: suits with other names, other seats, tiles in another order.

On full tables: every seat with sets, special tiles and circumstances, claims and drawn hands.
"""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from tablectl.rules.case import ScoreCase
from tablectl.rules.registry import IDS, settle
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile
from tests.rules.exhaustive.payments import full_table
from tests.rules.test_properties import CHARACTERS_DIFFER, mapped, rotated

QUICK, LONG = 40, 3000
RULES = sorted(IDS)


def outcome(found: Settlement) -> tuple[object, ...]:
    return found.delta, found.patterns, found.error


def suits_renamed(case: ScoreCase, rng: Random) -> None:
    order = rng.choice(list(permutations(range(3))))
    if case.rules in CHARACTERS_DIFFER:
        if case.options.get("removed_suit", "m") != "m":
            return
        order = (0, 2, 1)

    def face(tile: Tile) -> Tile:
        return Tile(order[tile // 9] * 9 + tile % 9) if tile < 27 else tile

    assert outcome(settle(mapped(case, face))) == outcome(settle(case))


def seats_moved(case: ScoreCase, rng: Random) -> None:
    n = len(case.seats)
    by = rng.randrange(1, n)
    before, after = settle(case), settle(rotated(case, by))
    assert before.error == after.error
    assert list((before.patterns or {}).values()) == list((after.patterns or {}).values())
    if before.delta is not None:
        assert after.delta == tuple(before.delta[(i - by) % n] for i in range(n))


def tiles_shuffled(case: ScoreCase, rng: Random) -> None:
    seats = tuple(
        s.model_copy(
            update={
                "hand": tuple(rng.sample(s.hand, len(s.hand))),
                "flowers": tuple(rng.sample(s.flowers, len(s.flowers))),
                "aside": tuple(rng.sample(s.aside, len(s.aside))),
            }
        )
        for s in case.seats
    )
    assert outcome(settle(case.model_copy(update={"seats": seats}))) == outcome(settle(case))


def check(rules: str, seeds: range) -> None:
    for seed in seeds:
        case, rng = full_table(rules, seed), Random(seed)
        suits_renamed(case, rng)
        seats_moved(case, rng)
        tiles_shuffled(case, rng)


@pytest.mark.parametrize("rules", RULES)
def test_symmetries(rules: str) -> None:
    check(rules, range(2_000_000, 2_000_000 + QUICK))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("rules", RULES)
def test_symmetries_at_length(rules: str) -> None:
    check(rules, range(LONG))
