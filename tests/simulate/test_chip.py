"""The demonstration's table as the real firmware in simavr."""

from __future__ import annotations

import asyncio
import time

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.wire import Message
from tablectl.simulate import chip
from tablectl.simulate.session import SimulationError
from tests.hardware.tools import needs_simavr


@needs_simavr
async def test_players_see_the_dice_that_the_firmware_tells_and_press_its_buttons() -> None:
    seen: list[Message] = []
    table = chip.ChipTable(chip.build(), speed=8, seed=3, on_emit=seen.append).start()
    try:
        async with TableClient(table.port, connect_timeout=60) as client:
            told: list[Message] = []
            client.subscribe(
                lambda e: told.append(e) if isinstance(e, m.DiceRolled | m.ButtonPressed) else None
            )
            await client.wait_for(
                lambda s: s.table is not None and s.table.mode is m.TableMode.READY, 60
            )
            assert table.snapshot().centre < 0.05
            for _ in range(2):
                await client.command(m.RollDice())
            table.press(2, m.Button.KONG)
            end = time.monotonic() + 20
            while len(seen) < 2 or len(told) < 3:
                assert time.monotonic() < end, (seen, told)
                await asyncio.sleep(0.02)
    finally:
        table.stop()
    assert told[:2] == seen
    pressed = told[2]
    assert isinstance(pressed, m.ButtonPressed)
    assert (pressed.seat, pressed.button) == (2, m.Button.KONG)


def test_a_machine_without_the_tools_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SimulationError, match=r"sudo apt-get install .*gcc-avr"):
        chip.build()
