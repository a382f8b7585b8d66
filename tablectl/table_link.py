"""The table on the bus: its events in, the referee's commands out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import ProtocolError
from firmware_protocol.events import (
    CommandAbortedError,
    CommandFailedError,
    CommandRefusedError,
    LinkChanged,
    TableEvent,
)
from tablectl import channels
from tablectl.referee.inputs import CommandResult, TableCommand
from tablectl.services.bus import Bus, Entry

_GAME_EVENTS: Final = (
    m.ButtonPressed, m.DiceRolled, m.TableState, m.Stacks, m.FaultRaised, m.FaultCleared,
)  # fmt: skip
_URGENT: Final = frozenset({"stop", "reset_fault"})
_SIMPLE: Final[dict[str, Callable[[], m.Command]]] = {
    "open_centre": m.OpenCentre,
    "close_centre": m.CloseCentre,
    "raise_walls": m.RaiseWalls,
    "lower_walls": m.LowerWalls,
    "roll_dice": m.RollDice,
    "stop": m.Stop,
    "reset_fault": m.ResetFault,
}


class TableLink:
    """Carries the traffic between the bus and one table client.

    Attributes:
        client: the link itself, for its status and counters.
    """

    def __init__(self, bus: Bus, client: TableClient) -> None:
        self.client = client
        self._bus = bus
        self._commands: asyncio.Queue[TableCommand] = asyncio.Queue()
        self._urgent: asyncio.Queue[TableCommand] = asyncio.Queue()
        bus.on(TableCommand, self._on_command, channels.COMMAND)
        client.subscribe(self._on_event)

    def _on_event(self, event: TableEvent) -> None:
        if isinstance(event, LinkChanged):
            self._bus.publish(channels.LINK, event)
        elif isinstance(event, _GAME_EVENTS):
            self._bus.publish(channels.TABLE, event)

    def _on_command(self, entry: Entry[TableCommand]) -> None:
        if entry.message.name in _URGENT:
            self._urgent.put_nowait(entry.message)
        else:
            self._commands.put_nowait(entry.message)

    async def run(self) -> None:
        """Execute commands until cancelled; stop and reset never wait behind a motion."""
        await asyncio.gather(self._work(self._commands), self._work(self._urgent))

    async def _work(self, commands: asyncio.Queue[TableCommand]) -> None:
        while True:
            command = await commands.get()
            self._bus.publish(channels.RESULT, await self._execute(command))

    async def _execute(self, command: TableCommand) -> CommandResult:
        """Run one command to its end; a lost answer is never tried again by itself."""
        try:
            await self.client.command(to_wire(command))
        except CommandRefusedError as error:
            return CommandResult(id=command.id, outcome="refused", reason=str(error))
        except CommandAbortedError as error:
            return CommandResult(id=command.id, outcome="aborted", reason=str(error))
        except CommandFailedError as error:
            return CommandResult(id=command.id, outcome="failed", reason=str(error))
        except ProtocolError as error:
            return CommandResult(id=command.id, outcome="lost", reason=str(error))
        return CommandResult(id=command.id, outcome="done")


def to_wire(command: TableCommand) -> m.Command:
    """The wire's command."""
    if command.name == "build_walls":
        return m.BuildWalls(
            program=m.TileProgram(command.args["program"]), dealer=command.args["dealer"]
        )
    return _SIMPLE[command.name]()
