"""The client's own behaviour, which does not depend on the kind of table."""

import asyncio
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import EVENT_LIMIT, TableClient
from firmware_protocol.errors import EventOverflowError, LinkLostError
from firmware_protocol.events import LinkChanged, LinkState, TableEvent
from firmware_protocol.simulator import Defect, SimulatedTable, parse_defect
from firmware_protocol.transport import resolve_port


async def test_connects_in_the_background_when_the_table_comes_later(tmp_path: Path) -> None:
    link = tmp_path / "table"
    async with TableClient(str(link), connect_timeout=None) as client:
        await client.wait_for(lambda s: s.link is LinkState.LOST, 2)
        assert "cannot be opened" in client.status.reason
        with SimulatedTable(link=link, speed=50):
            await client.wait_for(lambda s: s.link is LinkState.READY, 5)
        await client.wait_for(lambda s: s.link is LinkState.LOST, 3)


async def test_a_second_program_is_told_that_the_port_is_taken() -> None:
    with SimulatedTable() as table:
        async with TableClient(table.port):
            with pytest.raises(LinkLostError, match="another program holds it"):
                async with TableClient(table.port, connect_timeout=0.5):
                    pass


async def test_streams_end_with_the_client_and_callbacks_can_leave() -> None:
    seen: list[TableEvent] = []
    with SimulatedTable(speed=50) as table:
        async with TableClient(table.port) as client:
            leave = client.subscribe(seen.append)
            stream = client.events()
            await client.command(m.RollDice())
            count = len(seen)
            assert count > 1
            leave()
            await client.command(m.RollDice())
            assert len(seen) == count
        events = [event async for event in stream]
        assert events[-1] == LinkChanged(LinkState.CLOSED, "the client was closed")


async def test_a_reader_that_falls_behind_is_told_not_cheated() -> None:
    with SimulatedTable() as table:
        async with TableClient(table.port) as client:
            stream = client.events()
            for _ in range(EVENT_LIMIT + 1):
                stream.put(m.DiceRolled(1, 1))
            for _ in range(EVENT_LIMIT):
                await anext(stream)
            with pytest.raises(EventOverflowError):
                await anext(stream)


async def test_commands_may_overlap() -> None:
    with SimulatedTable(speed=50) as table:
        async with TableClient(table.port) as client:
            lights = m.SetLights(m.SeatMask.ALL, m.LightPattern.ON)
            replies = await asyncio.gather(*[client.command(lights) for _ in range(30)])
            assert len({reply.token for reply in replies}) == 30
        assert len(table.snapshot().executed) == 30


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("head-jam", (Defect.HEAD_JAM, 0, 0)),
        ("head-jam:2", (Defect.HEAD_JAM, 2, 0)),
        ("short-set:3:5", (Defect.SHORT_SET, 3, 5)),
    ],
)
def test_faults_are_written_as_name_side_amount(text: str, result: tuple[Defect, int, int]) -> None:
    assert parse_defect(text) == result


@pytest.mark.parametrize("text", ["", "nothing", "head-jam:4", "head-jam:x", "head-jam:1:-2"])
def test_bad_faults_are_told(text: str) -> None:
    with pytest.raises(ValueError, match="fault"):
        parse_defect(text)


def test_an_unknown_usb_device_is_told() -> None:
    with pytest.raises(LinkLostError, match="no device"):
        resolve_port("usb:dead:beef:0")
    assert resolve_port("/dev/ttyACM0") == "/dev/ttyACM0"
