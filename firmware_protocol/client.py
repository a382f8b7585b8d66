"""The host's end: an asyncio client that keeps the link to the table up and never guesses.

After every reconnect the table's positions are unknown until it has told them; a command whose
answer was lost is never sent again by itself.

    async with TableClient("/dev/serial/by-id/...") as table:
        await table.command(RaiseWalls())
        async for event in table.events():
            ...
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from types import TracebackType

from firmware_protocol import messages as m
from firmware_protocol.errors import (
    EventOverflowError,
    ForeignDeviceError,
    LinkBusyError,
    LinkLostError,
    MalformedMessageError,
    OutcomeUnknownError,
    ProtocolError,
    RefusedDeviceError,
    VersionMismatchError,
    WrongTableError,
)
from firmware_protocol.events import (
    CommandAbortedError,
    CommandFailedError,
    CommandRefusedError,
    LinkChanged,
    LinkState,
    TableEvent,
    TableStatus,
)
from firmware_protocol.framing import Frame
from firmware_protocol.link import (
    HEARTBEAT_INTERVAL,
    SILENCE_LIMIT,
    DatagramReceived,
    Delivered,
    Link,
    LinkEvent,
    Phase,
    SessionEnded,
    SynAnswered,
)
from firmware_protocol.transport import DEFAULT_BAUDRATE, SerialTransport
from firmware_protocol.wire import decode, encode, spec_of

HANDSHAKE_TIMEOUT = 5.0
"""Seconds for an answer: opening the port resets most boards, whose loader takes two seconds."""
ANSWER_TIMEOUT = 5.0
"""Seconds until a command must have been accepted or refused."""
FIRST_BACKOFF = 0.1
LAST_BACKOFF = 3.0
REFUSED_BACKOFF = 5.0
STALL_LIMIT = 0.5
"""An event loop later than this is counted: something heavy runs in the link's process."""
EVENT_LIMIT = 2048
ERROR_MEMORY = 60.0

_CAPABILITIES: dict[type[m.Command], m.Capability] = {
    m.OpenCentre: m.Capability.CENTRE,
    m.CloseCentre: m.Capability.CENTRE,
    m.BuildWalls: m.Capability.WALLS,
    m.RaiseWalls: m.Capability.WALLS,
    m.LowerWalls: m.Capability.WALLS,
    m.RollDice: m.Capability.DICE,
    m.SetLights: m.Capability.LIGHTS,
    m.SelfTest: m.Capability.SELF_TEST,
}


class EventStream:
    """Events from the moment of its creation on; ends when the client closes."""

    def __init__(self, forget: Callable[[EventStream], None]) -> None:
        self._queue: deque[TableEvent] = deque()
        self._wake = asyncio.Event()
        self._forget = forget
        self._ended = False
        self._overflowed = False

    def __aiter__(self) -> AsyncIterator[TableEvent]:
        return self

    async def __anext__(self) -> TableEvent:
        """The next event.

        Raises:
            EventOverflowError: EVENT_LIMIT events were not fetched; later ones are lost.
        """
        while not self._queue:
            if self._overflowed:
                self.close()
                raise EventOverflowError(f"{EVENT_LIMIT} events of the table were not fetched")
            if self._ended:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._queue.popleft()

    def put(self, event: TableEvent) -> None:
        """For the client: add an event."""
        if len(self._queue) >= EVENT_LIMIT:
            self._overflowed = True
        if not self._overflowed:
            self._queue.append(event)
        self._wake.set()

    def close(self) -> None:
        """End the stream; what is queued can still be read."""
        self._ended = True
        self._wake.set()
        self._forget(self)


class _Pending:
    """A command under way: two answers, the first may already be the last."""

    def __init__(self, command: m.Command) -> None:
        loop = asyncio.get_running_loop()
        self.command = command
        self.answered: asyncio.Future[m.CommandReply] = loop.create_future()
        self.ended: asyncio.Future[m.CommandReply] = loop.create_future()

    def reply(self, reply: m.CommandReply) -> bool:
        """Take an answer; True when it was the last."""
        if not self.answered.done():
            self.answered.set_result(reply)
        if reply.outcome is m.Outcome.ACCEPTED:
            return False
        if not self.ended.done():
            self.ended.set_result(reply)
        return True

    def fail(self, error: ProtocolError) -> None:
        """Give up."""
        for future in (self.answered, self.ended):
            if not future.done():
                future.set_exception(error)
                future.exception()  # marked as seen: only one of the two may be awaited


class TableClient:
    """Keeps a link to one table. See the module's example."""

    def __init__(
        self,
        port: str,
        *,
        baudrate: int = DEFAULT_BAUDRATE,
        expected_serial: int | None = None,
        connect_timeout: float | None = 10.0,
        handshake_timeout: float = HANDSHAKE_TIMEOUT,
        on_event: Callable[[TableEvent], None] | None = None,
        on_frame: Callable[[str, Frame], None] | None = None,
        hello: m.HostHello | None = None,
    ) -> None:
        """Prepare a client; entering its context connects.

        Args:
            port: device path (by-id is best), ``usb:VID:PID[:SERIAL]`` or ``socket://host:port``.
            baudrate: of a real serial line.
            expected_serial: board serial number that the table must have; None takes any.
            connect_timeout: seconds that entering waits for the table, raising what went wrong;
                None enters at once and connects in the background.
            handshake_timeout: seconds for the device's answer before it counts as no table.
            on_event: called for every event.
            on_frame: called for every good frame, with "rx" or "tx".
            hello: what to say in the handshake (tests of other versions).
        """
        self.port = port
        self._baudrate = baudrate
        self._expected_serial = expected_serial
        self._connect_timeout = connect_timeout
        self._handshake_timeout = handshake_timeout
        self._callbacks: list[Callable[[TableEvent], None]] = [on_event] if on_event else []
        self._host_hello = hello or m.HostHello()
        self._link = Link(trace=on_frame)
        self._transport: SerialTransport | None = None
        self._streams: list[EventStream] = []
        self._pending: dict[int, _Pending] = {}
        self._token = secrets.randbelow(0xFFFF)
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._ended: str | None = None
        self._refusal: RefusedDeviceError | None = None
        self._error: ProtocolError | None = None
        self._bytes_heard = 0
        self._error_samples: deque[tuple[float, int]] = deque()
        self._settled = asyncio.Event()
        self.status = TableStatus(
            link=LinkState.CLOSED,
            port=port,
            reason="",
            hello=None,
            table=None,
            stacks=None,
            raised=None,
            counters=self._link.counters,
            table_report=None,
            reconnects=0,
            loop_stalls=0,
            malformed=0,
            errors_per_minute=0,
            round_trip_ms=None,
        )

    # --- life ---

    async def __aenter__(self) -> TableClient:
        """Connect.

        Raises:
            LinkLostError: no table within `connect_timeout`.
            RefusedDeviceError: the device must not be used; its kinds say why.
        """
        self._task = asyncio.create_task(self._run(), name=f"table link {self.port}")
        if self._connect_timeout is None:
            return self
        try:
            await asyncio.wait_for(self._settled.wait(), self._connect_timeout)
        except TimeoutError:
            error: ProtocolError = self._error or LinkLostError(
                f"{self.port}: no table within {self._connect_timeout:g} s"
            )
            await self.close()
            raise error from None
        if self.status.link is LinkState.REFUSED and self._error is not None:
            error = self._error
            await self.close()
            raise error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the link; commands under way end with OutcomeUnknownError."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._drop_session("the client was closed")
        self._set_link(LinkState.CLOSED, "the client was closed")
        for stream in list(self._streams):
            stream.close()

    # --- use ---

    def events(self) -> EventStream:
        """All events from now on, messages of the table and LinkChanged of the client."""
        stream = EventStream(self._streams_remove)
        self._streams.append(stream)
        return stream

    def subscribe(self, callback: Callable[[TableEvent], None]) -> Callable[[], None]:
        """Call `callback` for every event; the result takes it off again."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    async def command(
        self, command: m.Command, *, wait: bool = True, within: float | None = None
    ) -> m.CommandReply:
        """Send a command, once.

        Args:
            command: any; its token is set here.
            wait: until the motion has ended; else until it was accepted.
            within: seconds for the whole; None waits as long as the link lives.

        Raises:
            LinkLostError: not sent, the table is not connected.
            CommandRefusedError, CommandAbortedError, CommandFailedError: the table's answer.
            OutcomeUnknownError: the link broke, or the time ran out, after sending.
        """
        if not self.status.link.is_up:
            raise LinkLostError(f"{self.port}: the table is {self.status.link}, nothing was sent")
        self._require_capability(command)
        token = self._new_token()
        sent = replace(command, token=token)
        pending = self._pending[token] = _Pending(sent)
        try:
            self._link.send(encode(sent), time.monotonic())
            self._flush()
            reply = await self._await_reply(pending, wait=wait, within=within)
        except LinkBusyError as error:
            raise LinkLostError(f"{self.port}: the line is jammed, nothing was sent") from error
        finally:
            if pending.ended.done() or not pending.answered.done() or wait:
                self._pending.pop(token, None)
        return _judge(sent, reply)

    async def wait_for(
        self, condition: Callable[[TableStatus], bool], within: float | None = None
    ) -> TableStatus:
        """Wait until the status meets a condition, looked at again after every event.

        Raises:
            TimeoutError: it did not in time.
        """
        async with asyncio.timeout(within):
            while not condition(self.status):
                stream = self.events()
                try:
                    if condition(self.status):
                        break
                    await anext(stream)
                except StopAsyncIteration:
                    raise LinkLostError(f"{self.port}: the client was closed") from None
                finally:
                    stream.close()
        return self.status

    # --- connecting ---

    async def _run(self) -> None:
        """Connect, keep the session, and again, with capped back-off."""
        backoff = FIRST_BACKOFF
        while True:
            try:
                if self.status.link is LinkState.CLOSED:
                    self._set_link(LinkState.CONNECTING, f"opening {self.port}")
                await self._hold_session()
            except RefusedDeviceError as error:
                backoff = REFUSED_BACKOFF
                self._end_attempt(LinkState.REFUSED, error)
                self._settled.set()
            except LinkLostError as error:
                if self.status.table is not None:
                    backoff = FIRST_BACKOFF
                self._end_attempt(LinkState.LOST, error)
            await asyncio.sleep(backoff)
            backoff = min(LAST_BACKOFF, 2 * backoff)

    async def _hold_session(self) -> None:
        """One connection, from opening the port until it is lost (which is raised)."""
        self._ended, self._refusal, self._bytes_heard = None, None, 0
        self._transport = await SerialTransport.open(
            self.port, self._baudrate, self._on_data, self._on_lost
        )
        now = time.monotonic()
        good_before = self._link.counters.frames_received
        hello = replace(self._host_hello, nonce=secrets.randbits(32))
        self._link.open(1 + secrets.randbelow(0xFFFF), encode(hello), now)
        self._flush()
        deadline, next_beat = now + self._handshake_timeout, now
        while True:
            now = time.monotonic()
            if self._refusal is not None:
                raise self._refusal
            if self._ended is not None:
                raise LinkLostError(f"{self.port}: {self._ended}")
            if self._link.phase is Phase.OPENING and now >= deadline:
                raise self._no_answer(self._link.counters.frames_received - good_before)
            self._handle(self._link.poll(now))
            if self._link.phase is Phase.OPEN:
                self._check_silence(now)
                if now >= next_beat:
                    next_beat = now + HEARTBEAT_INTERVAL
                    self._heartbeat(now)
            self._flush()
            await self._sleep_until(next_beat if self._link.phase is Phase.OPEN else deadline)

    async def _sleep_until(self, when: float) -> None:
        due = self._link.next_deadline()
        now = time.monotonic()
        target = max(now + 0.001, when if due is None else min(when, due))
        self._wake.clear()
        if self._ended is None and self._refusal is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(target - now):
                    await self._wake.wait()
        late = time.monotonic() - target
        if late > STALL_LIMIT:
            self.status = replace(self.status, loop_stalls=self.status.loop_stalls + 1)
            self._link.last_heard = time.monotonic()  # what has come meanwhile is not read yet

    def _no_answer(self, good_frames: int) -> ProtocolError:
        if self._bytes_heard and not good_frames:
            return ForeignDeviceError(
                f"{self.port}: {self._bytes_heard} bytes came, none of them a frame of a table: "
                "another device is on this port; choose the table's port, or flash its firmware"
            )
        return LinkLostError(
            f"{self.port}: no answer to the handshake in {self._handshake_timeout:g} s; "
            "is the table powered and its firmware flashed?"
        )

    def _check_silence(self, now: float) -> None:
        heard = self._link.last_heard
        if heard is not None and now - heard > SILENCE_LIMIT:
            self._ended = f"nothing heard for {SILENCE_LIMIT:g} s"

    def _heartbeat(self, now: float) -> None:
        uptime = int((now - self._started) * 1000) & 0xFFFFFFFF
        self._link.send_datagram(encode(m.HostHeartbeat(uptime)))
        counters = self._link.counters
        errors = counters.bad_frames + counters.retransmissions
        self._error_samples.append((now, errors))
        while now - self._error_samples[0][0] > ERROR_MEMORY:
            self._error_samples.popleft()
        smoothed = self._link.round_trip.smoothed
        self.status = replace(
            self.status,
            counters=counters,
            errors_per_minute=errors - self._error_samples[0][1],
            round_trip_ms=None if smoothed is None else 1000 * smoothed,
        )

    def _end_attempt(self, state: LinkState, error: ProtocolError) -> None:
        self._error = error
        self._drop_session(str(error))
        self._set_link(state, str(error))

    def _drop_session(self, reason: str) -> None:
        """Forget everything that the session told: nothing is assumed about the machine."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None
        self._link.close()
        self.status = replace(
            self.status,
            hello=None,
            table=None,
            stacks=None,
            raised=None,
            table_report=None,
            counters=self._link.counters,
        )
        pending, self._pending = list(self._pending.values()), {}
        for item in pending:
            name = type(item.command).__name__
            item.fail(OutcomeUnknownError(f"{name}: the link broke before its end ({reason})"))

    # --- receiving ---

    def _on_data(self, data: bytes) -> None:
        self._bytes_heard += len(data)
        self._handle(self._link.receive(data, time.monotonic()))
        self._flush()
        self._wake.set()

    def _on_lost(self, reason: str) -> None:
        self._ended = reason
        self._wake.set()

    def _flush(self) -> None:
        data = self._link.take_output()
        if self._transport is not None:
            self._transport.write(data)

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, SynAnswered):
                self._on_hello(event.payload)
            elif isinstance(event, Delivered):
                self._on_payload(event.payload)
            elif isinstance(event, DatagramReceived):
                self._on_datagram(event)
            elif isinstance(event, SessionEnded):
                self._ended = event.reason

    def _on_hello(self, payload: bytes) -> None:
        try:
            hello = self._judge_hello(payload)
        except RefusedDeviceError as error:
            self._refusal = error
            self._link.close()
            return
        self.status = replace(self.status, hello=hello)

    def _judge_hello(self, payload: bytes) -> m.TableHello:
        """Ours, this table, this version? The leading fields are the same in every version."""
        try:
            number, identity, major, minor = m.hello_prefix(payload)
        except MalformedMessageError as error:
            raise ForeignDeviceError(
                f"{self.port}: the device answers, but not as a table ({error}); "
                "choose the table's port"
            ) from error
        if identity != m.TABLE_IDENTITY or number != spec_of(m.TableHello).id:
            raise ForeignDeviceError(
                f"{self.port}: the device says it is {identity!r}, "
                f"a table says {m.TABLE_IDENTITY!r}; choose the table's port"
            )
        theirs = (major, minor)
        ours = self._host_hello
        mismatch = VersionMismatchError(
            f"{self.port}: the firmware speaks protocol {theirs[0]}.{theirs[1]}, this host "
            f"{ours.protocol_major}.{ours.protocol_minor}; "
            + (
                "update tablectl"
                if theirs[0] > ours.protocol_major
                else "flash the firmware of this version: `tablectl flash`"
            )
        )
        if theirs[0] != ours.protocol_major:
            raise mismatch
        try:
            hello = decode(payload, allow_longer=theirs[1] > m.PROTOCOL_MINOR)
        except MalformedMessageError as error:
            raise mismatch from error
        if not isinstance(hello, m.TableHello) or not hello.accepted:
            raise mismatch
        if self._expected_serial not in (None, hello.board_serial):
            raise WrongTableError(
                f"{self.port}: this is the table with serial {hello.board_serial:#x}, "
                f"the configuration wants {self._expected_serial:#x}"
            )
        return hello

    def _on_datagram(self, event: DatagramReceived) -> None:
        if event.session == 0:
            self._on_banner(event.payload)
            return
        if event.payload[:1] != bytes((spec_of(m.TableHeartbeat).id,)):
            self._on_payload(event.payload)

    def _on_banner(self, payload: bytes) -> None:
        """The table says that it has started: if it is another start, the session is gone."""
        current = self.status.hello
        try:
            hello = decode(payload, allow_longer=True)
        except MalformedMessageError:
            return
        if not isinstance(hello, m.TableHello) or current is None:
            return
        if hello.boot_count != current.boot_count:
            self._ended = f"the table has restarted ({hello.reset_reason.name})"
            self._link.close()

    def _on_payload(self, payload: bytes) -> None:
        hello = self.status.hello
        newer = hello is not None and hello.protocol_minor > m.PROTOCOL_MINOR
        try:
            event = decode(payload, allow_longer=newer)
        except MalformedMessageError:
            self.status = replace(self.status, malformed=self.status.malformed + 1)
            return
        if isinstance(event, m.CommandReply):
            pending = self._pending.get(event.token)
            if pending is not None and pending.reply(event):
                self._pending.pop(event.token, None)
        elif isinstance(event, m.TableState):
            self.status = replace(self.status, table=event)
        elif isinstance(event, m.Stacks):
            self.status = replace(self.status, stacks=event)
        elif isinstance(event, m.FaultRaised):
            self.status = replace(self.status, raised=event)
        elif isinstance(event, m.FaultCleared):
            self.status = replace(self.status, raised=None)
        elif isinstance(event, m.LinkReport):
            self.status = replace(self.status, table_report=event)
        self._publish(event)
        if isinstance(event, m.TableState):
            latched = event.mode in (m.TableMode.FAULT, m.TableMode.EMERGENCY_STOP)
            state = LinkState.FAULT_LATCHED if latched else LinkState.READY
            self._set_link(state, event.fault.name if latched else "")

    # --- small things ---

    def _set_link(self, state: LinkState, reason: str) -> None:
        if state is self.status.link and (state.is_up or reason == self.status.reason):
            return
        connected = state.is_up and not self.status.link.is_up
        self.status = replace(self.status, link=state, reason=reason)
        if connected:
            reconnects = self.status.reconnects + self._settled.is_set()
            self.status = replace(self.status, reconnects=reconnects)
            self._error = None
            self._settled.set()
        self._publish(LinkChanged(state, reason))

    def _publish(self, event: TableEvent) -> None:
        for stream in list(self._streams):
            stream.put(event)
        for callback in list(self._callbacks):
            callback(event)

    def _streams_remove(self, stream: EventStream) -> None:
        if stream in self._streams:
            self._streams.remove(stream)

    def _new_token(self) -> int:
        self._token = self._token % 0xFFFF + 1
        while self._token in self._pending:
            self._token = self._token % 0xFFFF + 1
        return self._token

    def _require_capability(self, command: m.Command) -> None:
        needed = _CAPABILITIES.get(type(command))
        hello = self.status.hello
        if needed is not None and hello is not None and needed not in hello.capabilities:
            reply = m.CommandReply(0, m.Outcome.REFUSED, m.Reason.UNSUPPORTED)
            raise CommandRefusedError(command, reply)

    async def _await_reply(
        self, pending: _Pending, *, wait: bool, within: float | None
    ) -> m.CommandReply:
        name = type(pending.command).__name__
        try:
            async with asyncio.timeout(within):
                async with asyncio.timeout(ANSWER_TIMEOUT):
                    reply = await pending.answered
                return await pending.ended if wait else reply
        except TimeoutError:
            raise OutcomeUnknownError(f"{name}: no answer of the table in time") from None


def _judge(command: m.Command, reply: m.CommandReply) -> m.CommandReply:
    if reply.outcome is m.Outcome.REFUSED:
        raise CommandRefusedError(command, reply)
    if reply.outcome is m.Outcome.ABORTED:
        raise CommandAbortedError(command, reply)
    if reply.outcome is m.Outcome.FAILED:
        raise CommandFailedError(command, reply)
    return reply
