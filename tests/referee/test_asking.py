"""What the referee asks where readings can't be true together."""

from __future__ import annotations

import pytest

from tablectl.tiles import Tile, format_tile
from tests.referee.eye import certain
from tests.referee.test_whole_hands import answer_truly, play_one, truth_of


def flowers_look_alike(tile: Tile) -> dict[str, float]:
    """All flowers and seasons look most like the plum, of which the set has one."""
    if tile < 34:
        return certain(tile)
    return {"1f": 0.4, "2f": 0.3, "3f": 0.2, format_tile(tile): 0.1}


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_more_copies_than_the_set_has_are_asked_about(seed: int) -> None:
    """A hand whose tiles can't be settled must ask, not hang; true answers settle it."""
    drive, events = play_one("hongkong", seed, flowers_look_alike)
    truth = truth_of(events)
    settled = drive.last.settlement
    assert settled is None or not settled.final or settled.delta == truth
    asked = 0
    while drive.last.questions is not None and drive.last.questions.open:
        answer_truly(drive, drive.last.questions.open[0], events)
        asked += 1
        assert asked <= 12, drive.last.questions
    settled = drive.last.settlement
    assert settled is not None, "neither a settlement nor a question"
    assert settled.final
    assert settled.delta == truth
