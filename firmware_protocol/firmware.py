"""The simulated table's firmware without I/O: link, handshake, heartbeats and controller in one.

Two clocks: the wire's (real) time, and table time, which may run faster.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from dataclasses import dataclass, replace

from firmware_protocol import messages as m
from firmware_protocol.controller import Controller, NonVolatile
from firmware_protocol.errors import LinkBusyError, MalformedMessageError
from firmware_protocol.link import (
    HEARTBEAT_INTERVAL,
    REPORT_INTERVAL,
    SILENCE_LIMIT,
    Delivered,
    Link,
    LinkEvent,
    Phase,
    SynReceived,
)
from firmware_protocol.plant import MAX_STEP, Plant
from firmware_protocol.wire import Message, all_messages, decode, encode, spec_of

MAX_STEPS_PER_TURN = 400
_HOST_HELLO = spec_of(m.HostHello).id
_NO_COMMANDS = frozenset(s.id for s in all_messages() if not issubclass(s.cls, m.Command))
CONFIGURATION = b"simulated table, factory configuration 1"


@dataclass(frozen=True, slots=True)
class Identity:
    """What the handshake tells of the board; tests change it to be foreign or of another time."""

    identity: str = m.TABLE_IDENTITY
    protocol_major: int = m.PROTOCOL_MAJOR
    protocol_minor: int = m.PROTOCOL_MINOR
    firmware: tuple[int, int, int] = (0, 1, 0)
    board_serial: int = 0x51A71E
    capabilities: m.Capability = ~m.Capability(0) & ~m.Capability.TWO_SETS


class SimulatedFirmware:
    """One powered controller on one machine. Pull the plug by dropping it and making another."""

    def __init__(
        self,
        plant: Plant,
        memory: NonVolatile,
        *,
        identity: Identity | None = None,
        reset_reason: m.ResetReason = m.ResetReason.POWER_ON,
        seed: int = 0,
    ) -> None:
        """Power on with what the memory holds."""
        self.identity = identity or Identity()
        self.plant = plant
        self.reset_reason = reset_reason
        self.link = Link()
        self.events_dropped = 0
        self.malformed = 0
        self.on_emit: Callable[[Message], None] | None = None
        self._now = 0.0
        self._next_heartbeat = self._next_report = float("-inf")
        self._last_syn = (0, b"")
        self.controller = Controller(plant, self._emit, memory, seed=seed)
        self.link.send_datagram(encode(self.hello()), session=0)

    def hello(self, *, accepted: bool = True) -> m.TableHello:
        """The handshake's answer."""
        who = self.identity
        return m.TableHello(
            identity=who.identity,
            protocol_major=who.protocol_major,
            protocol_minor=who.protocol_minor,
            accepted=accepted,
            firmware_major=who.firmware[0],
            firmware_minor=who.firmware[1],
            firmware_patch=who.firmware[2],
            capabilities=who.capabilities,
            configuration_crc=binascii.crc_hqx(CONFIGURATION, 0xFFFF),
            reset_reason=self.reset_reason,
            interrupted_motion=self.controller.interrupted,
            board_serial=who.board_serial,
            boot_count=self.controller.memory.boot_count & 0xFFFF,
            uptime_ms=self._uptime_ms(),
        )

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the line."""
        self._now = now
        for event in self.link.receive(data, now):
            self._on_link_event(event)

    def advance(self, now: float, table_seconds: float) -> None:
        """Let time pass: `now` on the wire, `table_seconds` in the machine."""
        self._now = now
        self._check_host()
        self._turn(table_seconds)
        self.link.poll(now)
        if self.link.phase is Phase.OPEN:
            self._send_periodic(now)

    def _send_periodic(self, now: float) -> None:
        if now >= self._next_heartbeat:
            self._next_heartbeat = now + HEARTBEAT_INTERVAL
            beat = m.TableHeartbeat(self._uptime_ms(), self.controller.mode)
            self.link.send_datagram(encode(beat))
        if now >= self._next_report:
            self._next_report = now + REPORT_INTERVAL
            self.link.send_datagram(encode(self.link_report()))

    def press(self, seat: int, button: m.Button) -> None:
        """A player presses a button.

        Raises:
            ValueError: no such seat.
        """
        if seat not in range(4):
            raise ValueError(f"seat {seat}: seats are 0 to 3")
        self._emit(m.ButtonPressed(seat, button, self._uptime_ms()))

    def _uptime_ms(self) -> int:
        return int(self.controller.uptime * 1000) & 0xFFFFFFFF

    def _turn(self, table_seconds: float) -> None:
        for _ in range(MAX_STEPS_PER_TURN):
            if table_seconds <= 0:
                return
            resting = not (self.controller.busy or self.plant.moving)
            dt = table_seconds if resting else min(MAX_STEP, table_seconds)
            self.plant.step(dt)
            self.controller.tick(dt)
            table_seconds -= dt

    def _check_host(self) -> None:
        heard = self.link.last_heard
        alive = heard is not None and self._now - heard <= SILENCE_LIMIT
        self.controller.set_host_alive(alive and self.link.phase is Phase.OPEN)

    def _on_link_event(self, event: LinkEvent) -> None:
        if isinstance(event, SynReceived):
            self._on_syn(event)
        elif isinstance(event, Delivered):
            self._on_message(event.payload)

    def _on_syn(self, event: SynReceived) -> None:
        """Accept a host of our major version; tell any other what we are, and open nothing.

        Only the leading fields are read: they are the same in every version.
        """
        try:
            number, identity, major, _ = m.hello_prefix(event.payload)
        except MalformedMessageError:
            self.malformed += 1
            return
        if not event.session or number != _HOST_HELLO or identity != m.HOST_IDENTITY:
            self.malformed += 1
            return
        if major != self.identity.protocol_major:
            self.link.refuse(event.session, encode(self.hello(accepted=False)))
            return
        again = self.link.phase is Phase.OPEN and (event.session, event.payload) == self._last_syn
        self._last_syn = (event.session, event.payload)
        self.link.accept(event.session, encode(self.hello()), again=again)
        self._check_host()
        if not again:
            self._emit(self.controller.state())
            self._emit(self.controller.stacks())

    def _on_message(self, payload: bytes) -> None:
        try:
            command = decode(payload)
        except MalformedMessageError:
            self.malformed += 1
            if len(payload) >= 3 and payload[0] not in _NO_COMMANDS:
                token = int.from_bytes(payload[1:3], "little")
                self._emit(m.CommandReply(token, m.Outcome.REFUSED, m.Reason.UNSUPPORTED))
            return
        if isinstance(command, m.QueryState):
            self._emit(self.link_report())
        if isinstance(command, m.Command):
            self.controller.execute(command)
        else:
            self.malformed += 1

    def link_report(self) -> m.LinkReport:
        """The link's counters as an event."""
        counters = self.link.counters
        return m.LinkReport(
            frames_received=counters.frames_received & 0xFFFFFFFF,
            frames_sent=counters.frames_sent & 0xFFFFFFFF,
            bad_frames=counters.bad_frames & 0xFFFF,
            retransmissions=counters.retransmissions & 0xFFFF,
            duplicates=counters.duplicates & 0xFFFF,
            naks_sent=counters.naks_sent & 0xFFFF,
            naks_received=counters.naks_received & 0xFFFF,
            sessions=counters.sessions & 0xFFFF,
            events_dropped=self.events_dropped & 0xFFFF,
        )

    def _emit(self, event: Message) -> None:
        """Send an event; without a session it is dropped, for late buttons must never count."""
        if self.on_emit:
            self.on_emit(event)
        if self.link.phase is not Phase.OPEN:
            self.events_dropped += type(event) not in m.LATEST_WINS
            return
        payload = encode(event)
        if type(event) in m.LATEST_WINS:
            self.link.drop_queued(payload[0])
        try:
            self.link.send(payload, self._now)
        except LinkBusyError:
            self.events_dropped += 1


def powered_off(memory: NonVolatile) -> NonVolatile:
    """A copy of the memory as it is when the plug is pulled."""
    return replace(
        memory,
        counts=list(memory.counts),
        waiting=list(memory.waiting),
        doubtful=set(memory.doubtful),
    )
