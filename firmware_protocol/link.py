"""The reliable link: sessions, sequence numbers, acknowledgement, retransmission. No I/O here.

Both ends run this same machine; the host opens sessions, the table answers. Bytes go in with
:meth:`Link.receive`, bytes come out of :meth:`Link.take_output`, and :meth:`Link.poll` does what
is due. Times are seconds of any monotonic clock. The rules are in docs/protocol.md, "The link".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from firmware_protocol.errors import LinkBusyError, MalformedFrameError
from firmware_protocol.framing import Frame, FrameDecoder, FrameKind, encode_frame

WINDOW = 4
"""Frames that may be under way unacknowledged: what the controller's memory can repeat."""
QUEUE_LIMIT = 64
"""Messages waiting for the window before `send` refuses."""
INITIAL_TIMEOUT = 0.3
"""Seconds before the first retransmission while no round trip was measured."""
MIN_TIMEOUT = 0.03
"""A 71-byte frame and its answer take 12 ms at 115,200 baud; below this a pause looks like loss."""
MAX_TIMEOUT = 1.0
"""Upper end of the back-off, so that a link which heals is used again within a second."""
MAX_TIMEOUTS = 8
"""Time-outs of one frame in a row before the session is given up (3 to 7 s)."""
SILENCE_LIMIT = 2.0
"""Seconds without any good frame after which the other side counts as lost (4 heartbeats)."""
HEARTBEAT_INTERVAL = 0.5
"""Seconds between heartbeats, both ways."""
RST_INTERVAL = 0.1
"""At most one "no such session" in this many seconds."""
REPORT_INTERVAL = 5.0
"""Seconds between the table's reports of its link's counters."""


class Phase(Enum):
    """Where the session stands."""

    CLOSED = "closed"
    OPENING = "opening"  # host only: SYN sent
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message, once and in order."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class DatagramReceived:
    """An unnumbered message; `session` 0 is outside any session."""

    payload: bytes
    session: int


@dataclass(frozen=True, slots=True)
class SynReceived:
    """The host asks for a session (table only); answer with accept or refuse."""

    session: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class SynAnswered:
    """The table answered our SYN (host only)."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over, and why."""

    reason: str


LinkEvent = Delivered | DatagramReceived | SynReceived | SynAnswered | SessionEnded


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """What the link has seen since its start; a rising rate of the errors means a bad cable."""

    frames_sent: int = 0
    frames_received: int = 0
    bad_frames: int = 0
    retransmissions: int = 0
    timeouts: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    naks_sent: int = 0
    naks_received: int = 0
    resets_sent: int = 0
    resets_received: int = 0
    sessions: int = 0


@dataclass(slots=True)
class _Outgoing:
    seq: int
    payload: bytes
    first_sent: float
    repeated: bool = False
    timeouts: int = 0


class RoundTrip:
    """Adaptive retransmission time-out after RFC 6298, with Karn's rule left to the caller."""

    def __init__(self) -> None:
        self.smoothed: float | None = None
        self._variation = 0.0
        self._timeout = INITIAL_TIMEOUT
        self.measured_timeout = INITIAL_TIMEOUT
        """The time-out before any doubling, in seconds."""

    @property
    def timeout(self) -> float:
        """Seconds to wait for an acknowledgement."""
        return self._timeout

    def measured(self, seconds: float) -> None:
        """Take a round trip of a frame that was sent only once."""
        if self.smoothed is None:
            self.smoothed, self._variation = seconds, seconds / 2
        else:
            self._variation += (abs(self.smoothed - seconds) - self._variation) / 4
            self.smoothed += (seconds - self.smoothed) / 8
        wanted = self.smoothed + 4 * self._variation
        self._timeout = self.measured_timeout = min(MAX_TIMEOUT, max(MIN_TIMEOUT, wanted))

    def backed_off(self) -> None:
        """Double the time-out after it ran out."""
        self._timeout = min(MAX_TIMEOUT, 2 * self._timeout)


class Link:
    """One end of the line."""

    def __init__(self, *, trace: Callable[[str, Frame], None] | None = None) -> None:
        """A closed link; `trace` is told of every good frame ("rx"/"tx"), for the monitor."""
        self.phase = Phase.CLOSED
        self.session = 0
        self.counters = LinkCounters()
        self.round_trip = RoundTrip()
        self.last_heard: float | None = None
        self._trace = trace
        self._decoder = FrameDecoder()
        self._output = bytearray()
        self._queue: deque[bytes] = deque()
        self._flight: deque[_Outgoing] = deque()
        self._next_seq = 0
        self._expected = 0
        self._deadline: float | None = None
        self._ack_owed = False
        self._noise = False
        self._gap = False
        self._last_rst = self._last_repeat = float("-inf")
        self._hello = b""

    # --- opening ---

    def open(self, session: int, hello: bytes, now: float) -> None:
        """Host: start a session with a number from 1 to 65535, new for every attempt."""
        self._restart(session, Phase.OPENING)
        self._decoder.reset()
        self._output.clear()
        self._hello = hello
        self._transmit(Frame(FrameKind.SYN, session, payload=hello))
        self._deadline = now + INITIAL_TIMEOUT

    def accept(self, session: int, hello: bytes, *, again: bool = False) -> None:
        """Table: answer a SYN; `again`, the same SYN repeated, only repeats the answer."""
        if not (again and self.phase is Phase.OPEN and session == self.session):
            self._restart(session, Phase.OPEN)
            self._count(sessions=1)
        self._transmit(Frame(FrameKind.SYN_ACK, session, payload=hello))

    def refuse(self, session: int, hello: bytes) -> None:
        """Table: answer a SYN without opening a session."""
        self._transmit(Frame(FrameKind.SYN_ACK, session, payload=hello))

    def close(self) -> None:
        """Forget the session and everything queued."""
        self._restart(0, Phase.CLOSED)

    # --- sending ---

    @property
    def idle(self) -> bool:
        """Nothing waits to be sent or acknowledged."""
        return not self._queue and not self._flight

    @property
    def queued(self) -> int:
        """Messages that wait for the window."""
        return len(self._queue)

    def send(self, payload: bytes, now: float) -> None:
        """Send a message reliably.

        Raises:
            LinkBusyError: QUEUE_LIMIT messages wait already.
        """
        if len(self._queue) >= QUEUE_LIMIT:
            raise LinkBusyError(f"{QUEUE_LIMIT} messages wait for the line")
        self._queue.append(payload)
        self._fill_window(now)

    def drop_queued(self, first_byte: int) -> int:
        """Take messages with this id out of the queue (not out of flight); how many there were."""
        kept = [payload for payload in self._queue if payload[0] != first_byte]
        dropped = len(self._queue) - len(kept)
        self._queue = deque(kept)
        return dropped

    def send_datagram(self, payload: bytes, *, session: int | None = None) -> None:
        """Send a message that may be lost."""
        number = self.session if session is None else session
        self._transmit(Frame(FrameKind.DATAGRAM, number, ack=self._expected, payload=payload))

    def take_output(self) -> bytes:
        """Bytes to write to the line now."""
        data = bytes(self._output)
        self._output.clear()
        return data

    # --- receiving ---

    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        """Take bytes from the line; at most one ACK or NAK is answered for all of them."""
        events: list[LinkEvent] = []
        nak = False
        for item in self._decoder.feed(data):
            if isinstance(item, MalformedFrameError):
                nak |= self._on_noise()
            else:
                self._count(frames_received=1)
                if self._trace:
                    self._trace("rx", item)
                nak |= self._on_frame(item, now, events)
        if nak and self.phase is Phase.OPEN:
            self._count(naks_sent=1)
            self._ack_owed = False
            self._transmit(Frame(FrameKind.NAK, self.session, ack=self._expected))
        self._fill_window(now)
        self._flush_ack()
        return events

    def poll(self, now: float) -> list[LinkEvent]:
        """Do what is due: retransmit, or give the session up."""
        if self._deadline is None or now < self._deadline:
            return []
        if self.phase is Phase.OPENING:
            self._count(retransmissions=1)
            self._transmit(Frame(FrameKind.SYN, self.session, payload=self._hello))
            self._deadline = now + INITIAL_TIMEOUT
            return []
        self._count(timeouts=1)
        self._flight[0].timeouts += 1
        if self._flight[0].timeouts >= MAX_TIMEOUTS:
            self.close()
            return [SessionEnded(f"no acknowledgement in {MAX_TIMEOUTS} time-outs")]
        self.round_trip.backed_off()
        self._retransmit(now)
        return []

    def next_deadline(self) -> float | None:
        """When `poll` has something to do, or None."""
        return self._deadline

    # --- inside ---

    def _restart(self, session: int, phase: Phase) -> None:
        self.session, self.phase = session, phase
        self._queue.clear()
        self._flight.clear()
        self._next_seq = self._expected = 0
        self._deadline = None
        self._ack_owed = self._noise = self._gap = False
        self.round_trip = RoundTrip()

    def _on_noise(self) -> bool:
        self._count(bad_frames=1)
        first = not (self._noise or self._gap)
        self._noise = True
        return first

    def _on_frame(self, frame: Frame, now: float, events: list[LinkEvent]) -> bool:
        """Handle one good frame; True when a NAK is called for."""
        if frame.kind is FrameKind.SYN:
            events.append(SynReceived(frame.session, frame.payload))
            self.last_heard = now
            return False
        if frame.kind is FrameKind.DATAGRAM and frame.session == 0:
            events.append(DatagramReceived(frame.payload, 0))
            return False
        if frame.kind is FrameKind.SYN_ACK:
            if self.phase is Phase.OPENING and frame.session == self.session:
                self.phase, self._deadline, self.last_heard = Phase.OPEN, None, now
                self._count(sessions=1)
                events.append(SynAnswered(frame.payload))
            return False
        if self.phase is not Phase.OPEN or frame.session != self.session:
            self._on_stranger(frame, now)
            return False
        self.last_heard = now
        self._noise = False
        if frame.kind is FrameKind.RST:
            self._count(resets_received=1)
            self.close()
            events.append(SessionEnded("the other side does not know the session (restarted?)"))
            return False
        return self._on_session_frame(frame, now, events)

    def _on_session_frame(self, frame: Frame, now: float, events: list[LinkEvent]) -> bool:
        self._on_ack(frame.ack, now)
        if frame.kind is FrameKind.DATAGRAM:
            events.append(DatagramReceived(frame.payload, frame.session))
            self._on_line_back(now)
        elif frame.kind is FrameKind.NAK:
            self._count(naks_received=1)
            if self._flight and self._flight[0].seq == frame.ack:
                self._retransmit(now)
        elif frame.kind is FrameKind.DATA:
            return self._on_data(frame, events)
        return False

    def _on_line_back(self, now: float) -> None:
        """A heartbeat after time-outs: the line is back, do not sit out the doubled time-out."""
        timed_out = bool(self._flight) and self._flight[0].timeouts > 0
        if timed_out and now - self._last_repeat >= self.round_trip.measured_timeout:
            self._retransmit(now)

    def _on_data(self, frame: Frame, events: list[LinkEvent]) -> bool:
        ahead = (frame.seq - self._expected) % 256
        if ahead == 0:
            self._expected = (self._expected + 1) % 256
            self._gap = False
            self._ack_owed = True
            events.append(Delivered(frame.payload))
            return False
        self._ack_owed = True
        if ahead >= 128:
            self._count(duplicates=1)
            return False
        self._count(out_of_order=1)
        first = not self._gap
        self._gap = True
        return first

    def _on_stranger(self, frame: Frame, now: float) -> None:
        """A frame of a session that is not ours: say so, seldom, and never to an RST."""
        if (
            frame.kind in (FrameKind.DATA, FrameKind.DATAGRAM)
            and self.phase is not Phase.OPENING
            and now - self._last_rst >= RST_INTERVAL
        ):
            self._last_rst = now
            self._count(resets_sent=1)
            self._transmit(Frame(FrameKind.RST, frame.session))

    def _on_ack(self, ack: int, now: float) -> None:
        acknowledged = (ack - self._flight[0].seq) % 256 if self._flight else 0
        if not 0 < acknowledged <= len(self._flight):
            return
        for _ in range(acknowledged):
            done = self._flight.popleft()
            if not done.repeated:
                self.round_trip.measured(now - done.first_sent)
        self._deadline = now + self.round_trip.timeout if self._flight else None

    def _fill_window(self, now: float) -> None:
        while self.phase is Phase.OPEN and self._queue and len(self._flight) < WINDOW:
            payload = self._queue.popleft()
            self._flight.append(_Outgoing(self._next_seq, payload, now))
            self._transmit_data(self._flight[-1])
            self._next_seq = (self._next_seq + 1) % 256
            if self._deadline is None:
                self._deadline = now + self.round_trip.timeout

    def _retransmit(self, now: float) -> None:
        """Go back: send everything unacknowledged again, in order."""
        self._last_repeat = now
        for item in self._flight:
            item.repeated = True
            self._count(retransmissions=1)
            self._transmit_data(item)
        self._deadline = now + self.round_trip.timeout if self._flight else None

    def _transmit_data(self, item: _Outgoing) -> None:
        self._ack_owed = False
        self._transmit(Frame(FrameKind.DATA, self.session, item.seq, self._expected, item.payload))

    def _flush_ack(self) -> None:
        if self._ack_owed and self.phase is Phase.OPEN:
            self._transmit(Frame(FrameKind.ACK, self.session, ack=self._expected))
        self._ack_owed = False

    def _transmit(self, frame: Frame) -> None:
        self._count(frames_sent=1)
        if self._trace:
            self._trace("tx", frame)
        self._output += encode_frame(frame)

    def _count(self, **more: int) -> None:
        changed = {name: getattr(self.counters, name) + step for name, step in more.items()}
        self.counters = replace(self.counters, **changed)
