"""Fuzz the Python side of the wire: ``python -m tests.firmware_protocol.fuzz_decoder BYTES``.

atheris (libFuzzer) makes the bytes and is led by the coverage of ``firmware_protocol``. The first
byte of an input chooses how its rest is changed: as it is, or cut between zeros, stuffed and given
the CRC of a real frame, so that the fuzzer gets past the checksum. Ends with a line of figures, or
with libFuzzer's report of what went wrong.

What must be true of any input: only the named errors are raised; the decoder holds at most one
frame and the link at most its window; a frame that comes out went in, between zeros, with a CRC
that a bitwise count of its own agrees with; the link delivers nothing that was not in such a frame.
"""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass

import atheris

with atheris.instrument_imports(include=["firmware_protocol"]):
    from firmware_protocol import messages, wire  # noqa: F401 - the former declares them
    from firmware_protocol.errors import MalformedFrameError, MalformedMessageError
    from firmware_protocol.framing import (
        MAX_PAYLOAD,
        MAX_STUFFED,
        Frame,
        FrameDecoder,
        FrameKind,
        cobs_encode,
        encode_frame,
    )
    from firmware_protocol.link import DatagramReceived, Delivered, Link

SESSION = 7
LONGEST = 4096
"""Bytes of one input."""


def bitwise_crc(data: bytes) -> int:
    """CRC-16/CCITT-FALSE, bit by bit."""
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


def as_frames(pieces: list[bytes], *, numbered: bool) -> bytes:
    """Each piece as a frame with a true CRC; ``numbered``: of the session, in their order."""
    out = bytearray()
    for number, piece in enumerate(pieces):
        if numbered:
            payload = piece[:MAX_PAYLOAD]
            out += encode_frame(Frame(FrameKind.DATA, SESSION, number % 256, 0, payload))
        else:
            raw = piece[: MAX_STUFFED - 3]
            out += cobs_encode(raw + bitwise_crc(raw).to_bytes(2, "little")) + b"\0"
    return bytes(out)


def stream_of(data: bytes) -> bytes:
    """What comes over the line, from what the fuzzer made."""
    choice, rest = data[:1], data[1:]
    if choice < b"\x40":
        return rest
    return as_frames(rest.split(b"\0"), numbered=choice >= b"\xa0")


@dataclass
class Count:
    """What has gone through."""

    inputs: int = 0
    sent: int = 0
    frames: int = 0
    refused: int = 0
    messages: int = 0
    delivered: int = 0


def check_decoder(stream: bytes, step: int, count: Count) -> list[Frame]:
    """All frames of the stream, fed in pieces of ``step`` bytes."""
    decoder, frames = FrameDecoder(), []
    for at in range(0, len(stream), step):
        for found in decoder.feed(stream[at : at + step]):
            if isinstance(found, MalformedFrameError):
                count.refused += 1
            else:
                frames.append(found)
        assert decoder.buffered <= MAX_STUFFED
    between = set(stream.split(b"\0"))
    for frame in frames:
        raw = bytes([frame.kind, frame.session & 255, frame.session >> 8, frame.seq, frame.ack])
        raw += frame.payload
        assert cobs_encode(raw + bitwise_crc(raw).to_bytes(2, "little")) in between, frame
        try:
            item = wire.decode(frame.payload, allow_longer=True)
        except MalformedMessageError:
            continue
        assert item == wire.decode(wire.encode(item)), item
        count.messages += 1
    count.frames += len(frames)
    return frames


def check_link(stream: bytes, step: int, frames: list[Frame], count: Count) -> None:
    """An open session fed with the stream delivers payloads of its frames, in bounded memory."""
    link = Link()
    link.accept(SESSION, b"")
    link.take_output()
    payloads = {frame.payload for frame in frames}
    now = 0.0
    for at in range(0, len(stream), step):
        now += 0.01
        for event in [*link.receive(stream[at : at + step], now), *link.poll(now)]:
            if isinstance(event, Delivered | DatagramReceived):
                assert event.payload in payloads
                count.delivered += 1
        assert len(link.take_output()) <= (step + 2) * (MAX_STUFFED + 1)


def main() -> None:
    """Fuzz until so many bytes have gone through."""
    wanted = int(sys.argv[1])
    count = Count()

    def one_input(data: bytes) -> None:
        stream = stream_of(data)
        step = 1 + len(data) % 97
        check_link(stream, step, check_decoder(stream, step, count), count)
        count.inputs += 1
        count.sent += len(stream)
        if count.sent >= wanted:
            sys.stdout.write(
                f"fuzz: {count.inputs} inputs, {count.sent} bytes, {count.refused} stretches "
                f"refused, {count.frames} frames, {count.messages} messages, "
                f"{count.delivered} payloads delivered, "
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB at most\n"
            )
            sys.stdout.flush()
            # libFuzzer would call an ordinary exit inside an input a crash.
            os._exit(0)

    atheris.Setup([sys.argv[0], f"-max_len={LONGEST}", "-len_control=0", "-verbosity=0"], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
