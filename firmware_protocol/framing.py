"""Frames on the serial line: COBS between zero bytes, with a CRC-16 (docs/protocol.md, "Frames").

A frame is ``header | payload | CRC`` stuffed with COBS and ended by one zero byte. The decoder
holds at most one frame and finds its way back at the next zero byte, whatever came before.
"""

from __future__ import annotations

import binascii
import struct
from dataclasses import dataclass, field
from enum import IntEnum

from firmware_protocol.errors import MalformedFrameError

DELIMITER = 0
MAX_PAYLOAD = 64
"""Bytes of one message: what a controller with 8 KiB of memory holds several times over."""

_HEADER = struct.Struct("<BHBB")
_CRC = struct.Struct("<H")
MAX_RAW = _HEADER.size + MAX_PAYLOAD + _CRC.size
MAX_STUFFED = MAX_RAW + 1
"""COBS adds one byte to fewer than 255."""


class FrameKind(IntEnum):
    """What a frame is for."""

    DATA = 1  # one message, numbered, acknowledged, delivered once and in order
    ACK = 2  # everything before `ack` has arrived
    NAK = 3  # as ACK, and: send again from `ack`
    SYN = 4  # the host opens a session; payload HostHello
    SYN_ACK = 5  # the table answers; payload TableHello
    DATAGRAM = 6  # one message, unnumbered, may be lost: heartbeats and the boot banner
    RST = 7  # "I know no such session": open a new one


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; `session` 0 means "outside any session", numbers count modulo 256."""

    kind: FrameKind
    session: int
    seq: int = 0
    ack: int = 0
    payload: bytes = b""


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF; "123456789" gives 0x29B1."""
    return binascii.crc_hqx(data, 0xFFFF)


def cobs_encode(data: bytes) -> bytes:
    """Consistent Overhead Byte Stuffing (Cheshire and Baker, 1999): the result has no zero."""
    out = bytearray()
    blocks = data.split(b"\0")
    for block in blocks:
        full, rest = divmod(len(block), 254)
        for start in range(0, 254 * full, 254):
            out.append(255)
            out += block[start : start + 254]
        if rest or not full or block is not blocks[-1]:
            out.append(rest + 1)
            out += block[254 * full :]
    return bytes(out)


def cobs_decode(data: bytes) -> bytes:
    """Undo :func:`cobs_encode`.

    Raises:
        MalformedFrameError: a zero inside, a code that points past the end, or nothing at all.
    """
    if not data:
        raise MalformedFrameError("empty frame")
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        block = data[at + 1 : at + code]
        if code == 0 or len(block) != code - 1 or 0 in block:
            raise MalformedFrameError(f"COBS code {code} at byte {at} of {len(data)} cannot be")
        out += block
        at += code
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)


def encode_frame(frame: Frame) -> bytes:
    """The bytes of a frame on the line, with its closing zero.

    Raises:
        ValueError: the payload is longer than MAX_PAYLOAD.
    """
    if len(frame.payload) > MAX_PAYLOAD:
        raise ValueError(f"payload of {len(frame.payload)} bytes, at most {MAX_PAYLOAD} fit")
    raw = _HEADER.pack(frame.kind, frame.session, frame.seq, frame.ack) + frame.payload
    return cobs_encode(raw + _CRC.pack(crc16(raw))) + b"\0"


def decode_frame(stuffed: bytes) -> Frame:
    """The frame between two zero bytes.

    Raises:
        MalformedFrameError: too long, too short, bad stuffing, bad CRC or an unknown kind.
    """
    if len(stuffed) > MAX_STUFFED:
        raise MalformedFrameError(f"{len(stuffed)} bytes, at most {MAX_STUFFED} make a frame")
    raw = cobs_decode(stuffed)
    if len(raw) < _HEADER.size + _CRC.size:
        raise MalformedFrameError(f"{len(raw)} bytes are too short for a frame")
    body, (crc,) = raw[: -_CRC.size], _CRC.unpack(raw[-_CRC.size :])
    if crc16(body) != crc:
        raise MalformedFrameError(f"CRC {crc:#06x} received, {crc16(body):#06x} computed")
    kind, session, seq, ack = _HEADER.unpack(body[: _HEADER.size])
    try:
        known = FrameKind(kind)
    except ValueError:
        raise MalformedFrameError(f"unknown frame kind {kind}") from None
    return Frame(known, session, seq, ack, body[_HEADER.size :])


@dataclass(slots=True)
class FrameDecoder:
    """Cuts a stream of bytes into frames; bounded memory, resynchronises at every zero byte.

    A bad stretch is reported as a :class:`MalformedFrameError` in the list, in its place.
    """

    _buffer: bytearray = field(default_factory=bytearray)
    _overlong: bool = False

    @property
    def buffered(self) -> int:
        """Bytes held at the moment, never more than MAX_STUFFED."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame | MalformedFrameError]:
        """All frames completed by `data`; empty stretches (two zeros in a row) are no error."""
        found: list[Frame | MalformedFrameError] = []
        *closed, rest = data.split(b"\0")
        for piece in closed:
            self._collect(piece)
            self._finish(found)
        self._collect(rest)
        return found

    def reset(self) -> None:
        """Forget a partly received frame."""
        self._buffer.clear()
        self._overlong = False

    def _collect(self, piece: bytes) -> None:
        if self._overlong or len(self._buffer) + len(piece) > MAX_STUFFED:
            self._overlong = True
            self._buffer.clear()
        else:
            self._buffer += piece

    def _finish(self, found: list[Frame | MalformedFrameError]) -> None:
        if self._overlong:
            found.append(MalformedFrameError(f"more than {MAX_STUFFED} bytes without a delimiter"))
        elif self._buffer:
            try:
                found.append(decode_frame(bytes(self._buffer)))
            except MalformedFrameError as error:
                found.append(error)
        self.reset()
