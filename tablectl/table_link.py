"""The table on the bus: its events in, the referee's commands out, and how the link is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Final, cast, get_args

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import ProtocolError
from firmware_protocol.events import (
    CommandAbortedError,
    CommandFailedError,
    CommandRefusedError,
    LinkChanged,
    LinkState,
    TableEvent,
)
from firmware_protocol.faults import FAULTS, fault_line, fault_line_zh
from firmware_protocol.wire import to_json
from tablectl import channels
from tablectl.messages import LinkHealth, Request, Response
from tablectl.referee.inputs import CommandName, CommandResult, TableCommand
from tablectl.services.bus import Bus, Entry

_GAME_EVENTS: Final = (
    m.ButtonPressed, m.DiceRolled, m.TableState, m.Stacks, m.FaultRaised, m.FaultCleared,
)  # fmt: skip
ACCEPT_S: Final = 5.0
"""Seconds in which the table must accept or refuse what the operator asks for."""
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


class TableRequests:
    """What the operator asks of the table: ``table`` with ``{"command": "open_centre"}``.

    Each request is a task of its own, so nothing waits behind another, least of all ``stop``. The
    firmware decides: the response comes when it has accepted or refused, not when the motion ends.

    Args:
        bus: where requests are read and responses published.
        client: the table; None where no serial line is configured.
        program: tiles of the walls, for ``build_walls``.
        dealer: who deals next, for ``build_walls``.
    """

    def __init__(
        self, bus: Bus, client: TableClient | None, program: int, dealer: Callable[[], int]
    ) -> None:
        self._bus = bus
        self._client = client
        self._program = program
        self._dealer = dealer
        self._tasks: set[asyncio.Task[None]] = set()
        bus.on(Request, self._on_request, channels.REQUEST)

    def _on_request(self, entry: Entry[Request]) -> None:
        if entry.message.verb != "table":
            return
        task = asyncio.get_running_loop().create_task(self._carry_out(entry.message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, request: Request) -> None:
        error = await self._command(request.args)
        response = Response(id=request.id, ok=not error, error=error)
        self._bus.publish(channels.RESPONSE, response)

    async def _command(self, args: dict[str, object]) -> str:
        """Send a command; what went wrong, empty if nothing."""
        name = args.get("command")
        known = get_args(CommandName)
        if name not in known:
            return f"command {name!r}: expected one of {', '.join(known)}"
        if self._client is None:
            return "no table is connected: serial.port is not set"
        command = TableCommand(
            id=0, name=cast(CommandName, name),
            args={"program": self._program, "dealer": self._dealer()},
        )  # fmt: skip
        try:
            await self._client.command(to_wire(command), wait=False, within=ACCEPT_S)
        except ProtocolError as error:
            return str(error)
        return ""


def to_wire(command: TableCommand) -> m.Command:
    """The wire's command."""
    if command.name == "build_walls":
        return m.BuildWalls(
            program=m.TileProgram(command.args["program"]), dealer=command.args["dealer"]
        )
    return _SIMPLE[command.name]()


def link_health(client: TableClient | None) -> LinkHealth:
    """The link for the service page; ``off`` where no serial line is configured."""
    if client is None:
        return LinkHealth(state="off")
    status = client.status
    table, hello, report = status.table, status.hello, status.table_report
    fault = None if table is None or table.fault is m.FaultCode.NONE else FAULTS[table.fault]
    return LinkHealth.model_validate(
        {
            "state": _LINK_STATES.get(status.link, status.link.value),
            "reason": "" if status.link.is_up else status.reason,
            "port": status.port,
            "firmware": "" if hello is None else firmware_version(hello),
            "board": "" if hello is None else f"{hello.board_serial:#x}",
            "last_reset": "" if hello is None else _words(hello.reset_reason),
            "fault": fault_line(table, status.raised) if table and fault else None,
            "fault_zh": fault_line_zh(table, status.raised) if table and fault else "",
            "fault_remedy": fault.remedy if fault else "",
            "fault_remedy_zh": fault.remedy_zh if fault else "",
            "table_state": "unknown" if table is None else table.mode.name.lower(),
            "round_trip_ms": status.round_trip_ms and round(status.round_trip_ms, 1),
            "errors_per_minute": status.errors_per_minute,
            "counters": {
                **asdict(status.counters), "reconnects": status.reconnects,
                "loop_stalls": status.loop_stalls,
            },
            "table_counters": {} if report is None else _counts(report),
        }
    )  # fmt: skip


_LINK_STATES: Final[dict[LinkState, str]] = {LinkState.READY: "up", LinkState.CLOSED: "off"}


def firmware_version(hello: m.TableHello) -> str:
    """``0.2.0``."""
    return f"{hello.firmware_major}.{hello.firmware_minor}.{hello.firmware_patch}"


def _words(reason: m.ResetReason) -> str:
    return reason.name.lower().replace("_", " ")


def _counts(report: m.LinkReport) -> dict[str, int]:
    return {name: value for name, value in to_json(report).items() if isinstance(value, int)}
