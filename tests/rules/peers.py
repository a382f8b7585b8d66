"""Winning shapes beside two published packages: ``mahjong`` and ``PyMahjongGB``.

``python -m tests.rules.peers [--hands N] [--first SEED]`` compares the same random hands and prints
figures. Both packages know hands without sets too (seven pairs, thirteen orphans, and one of them
knitted tiles); these are told apart here, so that sets and a pair are compared with sets and a
pair.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random

from tablectl.rules.shape import is_sets_and_pair, is_thirteen_orphans

GB_NAMES = tuple(
    f"{letter}{n}" for letter, last in (("W", 9), ("B", 9), ("T", 9)) for n in range(1, last + 1)
) + tuple(f"F{n}" for n in range(1, 5)) + tuple(f"J{n}" for n in (3, 2, 1))  # fmt: skip
"""Characters, circles, bamboos, winds; dragons in the order white, green, red."""

NO_SETS = {"七对", "连七对", "十三幺", "全不靠", "七星不靠", "组合龙"}
"""Fans of hands that are not four sets and a pair: seven pairs, orphans, knitted tiles."""

BLOCK = 1000
"""Hands of one seed."""


def random_hands(seed: int) -> list[list[int]]:
    """Hands of fourteen tiles: complete, one tile off, and of chance within few kinds."""
    rng = Random(f"peers/{seed}")
    found: list[list[int]] = []
    while len(found) < BLOCK:
        style = rng.random()
        hand = _chance(rng) if style > 0.8 else _built(rng)
        if 0.5 < style <= 0.8:
            hand[rng.randrange(14)] = rng.randrange(34)
        if all(hand.count(t) <= 4 for t in set(hand)):
            rng.shuffle(hand)
            found.append(hand)
    return found


def _built(rng: Random) -> list[int]:
    suits = rng.choice(((0, 1, 2), (0, 1), (2,), (1,)))
    hand: list[int] = []
    for _ in range(4):
        low = 9 * rng.choice(suits) + rng.randrange(9)
        honour = rng.random() < 0.15
        if honour or low % 9 > 6 or rng.random() < 0.3:
            hand += [rng.randrange(27, 34) if honour else low] * 3
        else:
            hand += [low, low + 1, low + 2]
    return hand + [9 * rng.choice(suits) + rng.randrange(9)] * 2


def _chance(rng: Random) -> list[int]:
    style = rng.random()
    if style < 0.1:
        pairs = rng.sample(range(34), 7)
        return pairs + pairs
    if style < 0.15:
        ends = [0, 8, 9, 17, 18, 26, *range(27, 34)]
        return [*ends, rng.choice(ends)]
    kinds = rng.sample(range(34), rng.choice((5, 7, 9, 14))) if style < 0.5 else range(9)
    return rng.sample([t for t in kinds for _ in range(4)], 14)


def by_mahjong() -> Callable[[Sequence[int]], bool]:
    """``mahjong``: a complete hand of any kind that it knows."""
    from mahjong.agari import Agari

    def wins(hand: Sequence[int]) -> bool:
        counts = [0] * 34
        for tile in hand:
            counts[tile] += 1
        return bool(Agari.is_agari(counts))

    return wins


def by_gb() -> Callable[[Sequence[int]], bool]:
    """``PyMahjongGB``: four sets and a pair, by the fans that it names."""
    calculate = import_module("MahjongGB").MahjongFanCalculator

    def wins(hand: Sequence[int]) -> bool:
        names = [GB_NAMES[t] for t in hand]
        held = tuple(names[:-1])
        try:
            fans = calculate((), held, names[-1], 0, False, False, False, False, 0, 0)
        except TypeError as error:
            if "NOT_WIN" not in str(error):
                raise
            return False
        return not NO_SETS.intersection(name for _, name in fans)

    return wins


def two_ways(hand: Sequence[int]) -> tuple[bool, bool]:
    """Ours: sets and a pair; and any hand that ``mahjong`` knows.

    Its seven pairs must be of seven kinds.
    """
    counts = [0] * 34
    for tile in hand:
        counts[tile] += 1
    standard = is_sets_and_pair(counts, 0)
    pairs = sum(n == 2 for n in counts) == 7
    return standard, standard or pairs or is_thirteen_orphans(counts, 0)


class Peers:
    """Comparison of blocks of hands."""

    def __init__(self) -> None:
        self.mahjong, self.gb = by_mahjong(), by_gb()
        self.hands = self.standard = 0
        self.differences: list[str] = []

    def compare(self, hand: Sequence[int]) -> None:
        """Ask all three about a hand."""
        standard, any_shape = two_ways(hand)
        self.hands += 1
        self.standard += standard
        if self.mahjong(hand) != any_shape:
            self.differences.append(f"mahjong says {not any_shape} of {sorted(hand)}")
        gb = self.gb(hand)
        # It names the dearest reading: sets that are seven pairs too may be named pairs.
        pairs = all(hand.count(t) % 2 == 0 for t in hand)
        if gb != standard and not (standard and pairs):
            self.differences.append(f"PyMahjongGB says {gb} of {sorted(hand)}")


def main() -> int:
    """Compare and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    peers = Peers()
    for seed in range(given.first, given.first + -(-given.hands // BLOCK)):
        for hand in random_hands(seed):
            peers.compare(hand)
    print(  # noqa: T201
        f"{peers.hands} hands, {peers.standard} of sets and a pair, "
        f"{len(peers.differences)} differences"
    )
    for line in peers.differences[:10]:
        print(f"  {line}")  # noqa: T201
    return 1 if peers.differences else 0


if __name__ == "__main__":
    sys.exit(main())
