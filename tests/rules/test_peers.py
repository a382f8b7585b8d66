"""Winning shapes agree with two published packages on the same hands."""

from __future__ import annotations

import pytest

from tests.rules.peers import BLOCK, Peers, random_hands

pytest.importorskip("mahjong", reason="the package mahjong is not installed")
pytest.importorskip("MahjongGB", reason="the package PyMahjongGB is not installed")


def check(blocks: int) -> None:
    peers = Peers()
    for seed in range(blocks):
        for hand in random_hands(seed):
            peers.compare(hand)
        assert not peers.differences
    assert peers.hands == blocks * BLOCK
    assert 0.4 < peers.standard / peers.hands < 0.6  # winning hands and others


def test_shapes_agree_with_the_peers() -> None:
    check(5)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_million_shapes_agree_with_the_peers() -> None:
    check(1000)
