"""What the client tells its users: link state, status, and how a command ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from firmware_protocol.errors import CommandError, MalformedMessageError
from firmware_protocol.faults import FAULTS, REASONS
from firmware_protocol.link import LinkCounters
from firmware_protocol.messages import (
    Command,
    CommandReply,
    FaultRaised,
    LinkReport,
    Stacks,
    TableHello,
    TableState,
)
from firmware_protocol.wire import Message, from_json, to_json


class LinkState(StrEnum):
    """What to tell a person about the table."""

    CLOSED = "closed"
    CONNECTING = "connecting"  # the first attempt: opening, shaking hands, awaiting the state
    READY = "ready"
    FAULT_LATCHED = "fault_latched"  # the link is fine; a person must look and reset
    LOST = "lost"  # recovers by itself
    REFUSED = "refused"  # not our device, not this table, or another protocol version

    @property
    def is_up(self) -> bool:
        """Whether commands reach the table."""
        return self in (LinkState.READY, LinkState.FAULT_LATCHED)


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The client's own event: the link's state changed, and why."""

    state: LinkState
    reason: str = ""


TableEvent = Message | LinkChanged
"""What `TableClient.events` yields."""


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A snapshot.

    Attributes:
        link, port, reason: where the link stands, on which port, and why.
        hello: what the table said in the handshake; None without a session.
        table, stacks: the last told; None while unknown, as after every loss of the link.
        raised: the event of the fault that the state names, if it was heard.
        counters: of our end, since the client's start.
        table_report: of the table's end, since its start.
        reconnects: how often the link was lost and came back.
        loop_stalls: how often the event loop ran more than half a second late.
        malformed: intact frames whose message was unknown.
        errors_per_minute: bad frames and retransmissions in the last minute; a rising number
            means a bad cable, hub or supply.
        round_trip_ms: smoothed; None before the first measurement.
    """

    link: LinkState
    port: str
    reason: str
    hello: TableHello | None
    table: TableState | None
    stacks: Stacks | None
    raised: FaultRaised | None
    counters: LinkCounters
    table_report: LinkReport | None
    reconnects: int
    loop_stalls: int
    malformed: int
    errors_per_minute: int
    round_trip_ms: float | None


class _EndedError(CommandError):
    def __init__(self, command: Command, reply: CommandReply, text: str) -> None:
        super().__init__(f"{type(command).__name__} {text}")
        self.command, self.reply = command, reply


class CommandRefusedError(_EndedError):
    """The firmware refused the command; nothing has moved. `reply.reason` says why."""

    def __init__(self, command: Command, reply: CommandReply) -> None:
        super().__init__(command, reply, f"refused: {REASONS[reply.reason]}")


class CommandAbortedError(_EndedError):
    """The motion began and was ended early. `reply.reason` says why."""

    def __init__(self, command: Command, reply: CommandReply) -> None:
        super().__init__(command, reply, f"ended early: {REASONS[reply.reason]}")


class CommandFailedError(_EndedError):
    """The motion met a fault. `reply.fault` names it; FaultRaised has side and cause."""

    def __init__(self, command: Command, reply: CommandReply) -> None:
        info = FAULTS[reply.fault]
        super().__init__(command, reply, f"failed: {info.title}. {info.remedy}")


def event_to_json(event: TableEvent) -> dict[str, Any]:
    """Any event as plain JSON values, for the recorder."""
    if isinstance(event, LinkChanged):
        return {"type": "LinkChanged", "state": event.state.value, "reason": event.reason}
    return to_json(event)


def event_from_json(data: Mapping[str, Any]) -> TableEvent:
    """Undo :func:`event_to_json`.

    Raises:
        MalformedMessageError: not an event.
    """
    if data.get("type") != "LinkChanged":
        return from_json(data)
    try:
        return LinkChanged(LinkState(data["state"]), str(data["reason"]))
    except (KeyError, ValueError) as error:
        raise MalformedMessageError(f"LinkChanged: {error}") from error
