"""Each fault of table-machine.md and its right answer, through the real client.

The same cases run in virtual time in test_firmware_behaviour.py; here they are for the chip, and
once for the others, to see that all peers say the same.
"""

import asyncio

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.events import CommandFailedError, CommandRefusedError, TableEvent
from firmware_protocol.faults import FAULTS
from firmware_protocol.simulator import Defect

from .conftest import Peer
from .test_conformance import ready
from .test_firmware_behaviour import COMMANDS, FAULT_CASES

QUICK_PROGRAM = m.TileProgram.TILES_84


async def prepare(client: TableClient, action: str) -> None:
    """Bring the table to where the action is allowed."""
    await client.wait_for(ready, 20)
    if action in ("raise", "lower"):
        await client.command(m.BuildWalls(QUICK_PROGRAM))
    if action == "lower":
        await client.command(m.RaiseWalls())
    if action == "close":
        await client.command(m.OpenCentre())


async def run_into(
    client: TableClient, peer: Peer, defect: Defect, side: int, amount: int, action: str
) -> m.FaultRaised:
    """Break the machine and start the motion; the fault that ends it."""
    raised: list[TableEvent] = []
    leave = client.subscribe(raised.append)
    command = COMMANDS[action]
    if action == "build":
        command = m.BuildWalls(QUICK_PROGRAM)
    sudden = defect in (Defect.E_STOP, Defect.COVER_OPEN)
    if not sudden:
        peer.inject(defect, side=side, amount=amount)
    motion = asyncio.create_task(client.command(command))
    if sudden:
        await client.wait_for(
            lambda s: s.table is not None and s.table.motion is not m.Motion.NONE, 10
        )
        peer.inject(defect)
    with pytest.raises(CommandFailedError) as caught:
        await motion
    leave()
    faults = [event for event in raised if isinstance(event, m.FaultRaised)]
    assert [caught.value.reply.fault] == [fault.code for fault in faults]
    return faults[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defect", "side", "amount", "action", "code", "cause", "retries"),
    FAULT_CASES,
    ids=[str(case[0]) for case in FAULT_CASES],
)
async def test_every_fault_is_named_stops_everything_and_can_be_left(
    peer: Peer,
    defect: Defect,
    side: int,
    amount: int,
    action: str,
    code: m.FaultCode,
    cause: m.FaultCause | str | None,
    retries: int,
) -> None:
    side = 1 if defect is Defect.TOO_MANY_TILES else side  # a side that the quick program has
    async with TableClient(peer.port) as client:
        await prepare(client, action)
        fault = await run_into(client, peer, defect, side % 255, amount, action)
        wanted = m.FaultCause[cause] if isinstance(cause, str) else cause
        assert (fault.code, fault.side) == (code, side)
        assert fault.cause is (wanted or m.FaultCause.NOT_SEEN_IN_TIME)
        assert (fault.retries, fault.latched) == (retries, FAULTS[code].latched)
        assert not peer.snapshot().motors_on
        if fault.latched:
            with pytest.raises(CommandRefusedError):
                await client.command(m.OpenCentre())
        peer.repair()
        await asyncio.sleep(0.1)
        await client.command(m.ResetFault())
        await client.wait_for(ready, 20)
