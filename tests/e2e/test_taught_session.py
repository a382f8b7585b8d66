"""A session on a table whose tiles were taught before it."""

from __future__ import annotations

from collections import Counter

import pytest

from tablectl import channels
from tablectl.daemon import Running
from tablectl.demo import DemoOptions, run_demo
from tablectl.engine.events import Flower
from tablectl.services.bus import Entry
from vision.messages import TableReading

pytestmark = pytest.mark.timeout(180)

LOOK = 7
"""Of its flowers the recogniser as it comes asks about the Orchid."""
SEED = 149
"""A short hand with six flowers."""


async def test_flowers_are_read_by_the_taught_names_and_nothing_is_asked() -> None:
    seen: Counter[str] = Counter()

    def hear(entry: Entry[TableReading]) -> None:
        seen.update({tile.best for tile in entry.message.tiles if tile.best.endswith("f")})

    def on_start(running: Running) -> None:
        running.bus.on(TableReading, hear, channels.READING)

    options = DemoOptions(
        hands=1, seed=SEED, fast=True, port=0, size=(960, 860), style_seed=LOOK, taught_look=LOOK
    )
    result = await run_demo(options, on_start=on_start)
    assert result.agree, result.problem
    assert result.questions == 0
    laid = {event.tile for event in result.played[0].events if isinstance(event, Flower)}
    assert laid <= seen.keys()
    surely = {tile for tile, readings in seen.items() if readings > max(seen.values()) / 20}
    assert surely == laid
