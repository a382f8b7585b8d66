"""A host that puts frames on the line one by one, as a test wants them, right or wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import TracebackType

import serial

from firmware_protocol import messages as m
from firmware_protocol.framing import Frame, FrameDecoder, FrameKind, encode_frame
from firmware_protocol.wire import Message, decode, encode, spec_of

SESSION = 0x1234
_REPLY = spec_of(m.CommandReply).id


class RawHost:
    """Opens a port; nothing is acknowledged, repeated or kept alive by itself."""

    def __init__(self, port: str) -> None:
        """Open the port as the client does."""
        self._device = serial.serial_for_url(port, timeout=0.01)
        self._decoder = FrameDecoder()
        self.seen: list[Frame] = []
        self._waited = 0  # frames that `wait` has passed
        self.next_seq = 0
        self.expected = 0

    def __enter__(self) -> RawHost:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._device.close()

    # --- out ---

    def write(self, data: bytes) -> None:
        self._device.write(data)
        self._device.flush()

    def send(self, kind: FrameKind, payload: bytes = b"", *, seq: int = 0, ack: int = 0) -> None:
        self.write(encode_frame(Frame(kind, SESSION, seq, ack, payload)))

    def data(self, command: m.Command, seq: int) -> bytes:
        """The bytes of a DATA frame that acknowledges all that was seen."""
        return encode_frame(Frame(FrameKind.DATA, SESSION, seq, self.expected, encode(command)))

    def acknowledge(self) -> None:
        self.send(FrameKind.ACK, ack=self.expected)

    def beat(self) -> None:
        self.send(FrameKind.DATAGRAM, encode(m.HostHeartbeat(0)), ack=self.expected)

    # --- in ---

    def listen(self, seconds: float) -> list[Frame]:
        """What comes in this time."""
        begin = len(self.seen)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read()
        self._waited = len(self.seen)
        return self.seen[begin:]

    def reply(self, within: float = 5.0) -> Frame:
        """The next frame that carries a CommandReply; not acknowledged yet.

        Raises:
            TimeoutError: none came.
        """
        return self.wait(lambda f: f.kind is FrameKind.DATA and f.payload[0] == _REPLY, within)

    def wait(self, condition: Callable[[Frame], bool], within: float = 5.0) -> Frame:
        """The first frame that meets a condition, after those already waited for.

        Raises:
            TimeoutError: none came.
        """
        end = time.monotonic() + within
        while time.monotonic() < end:
            self._read()
            while self._waited < len(self.seen):
                self._waited += 1
                if condition(self.seen[self._waited - 1]):
                    return self.seen[self._waited - 1]
        raise TimeoutError(f"no such frame in {within:g} s; seen: {self.seen[-8:]}")

    def _read(self) -> list[Frame]:
        data = self._device.read(max(1, self._device.in_waiting))
        frames = [item for item in self._decoder.feed(data) if isinstance(item, Frame)]
        for frame in frames:
            in_session = frame.session == SESSION and frame.kind is FrameKind.DATA
            if in_session and frame.seq == self.expected:
                self.expected = (self.expected + 1) % 256
        self.seen += frames
        return frames

    # --- together ---

    def open(self, hello: m.HostHello | None = None) -> m.TableHello:
        """Open the session; the table's first events are read and acknowledged."""
        self.next_seq = self.expected = 0
        self.send(FrameKind.SYN, encode(hello or m.HostHello(nonce=7)))
        answer = decode(self.wait(lambda f: f.kind is FrameKind.SYN_ACK).payload)
        assert isinstance(answer, m.TableHello)
        return answer

    def settle(self, seconds: float = 0.3) -> None:
        """Acknowledge at once, until the table has had nothing to say for so long."""
        self.acknowledge()  # what came with the last frame that was waited for
        quiet = time.monotonic() + seconds
        while time.monotonic() < quiet:
            if any(frame.kind is FrameKind.DATA for frame in self._read()):
                self.acknowledge()
                quiet = time.monotonic() + seconds
        self._waited = len(self.seen)

    def replies(self, frames: Iterable[Frame] | None = None) -> list[m.CommandReply]:
        """Answers to commands among frames, repeated ones once."""
        found: dict[int, Message] = {}
        for frame in self.seen if frames is None else frames:
            if frame.kind is FrameKind.DATA and frame.session == SESSION:
                found.setdefault(frame.seq, decode(frame.payload))
        return [item for item in found.values() if isinstance(item, m.CommandReply)]


def kinds(frames: Iterable[Frame], kind: FrameKind) -> list[Frame]:
    """The frames of one kind."""
    return [frame for frame in frames if frame.kind is kind]
