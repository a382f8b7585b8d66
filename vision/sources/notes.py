"""What the capture process and the daemon tell each other over a packet socket."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import Final

_NOTE: Final = struct.Struct("<cqdd?")
DONE: Final = struct.Struct("<q")
"""Daemon to capture process in lock-step: this picture has been worked on."""
MAX_NOTE: Final = 2048


@dataclass(frozen=True)
class WorkerConfig:
    """What the daemon tells a capture process on starting it."""

    spec: str
    slot_fd: int
    control_fd: int
    lockstep: bool = False
    width: int | None = None
    height: int | None = None
    fps: float | None = None
    first_seq: int = 0

    def to_json(self) -> str:
        """As one command-line argument."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class FrameNote:
    """Picture ``seq`` of time ``t`` is in the slot; pixels last changed at ``changed``."""

    seq: int
    t: float
    changed: float
    repeats: bool


@dataclass(frozen=True)
class EndNote:
    """The source has no more pictures."""


@dataclass(frozen=True)
class ErrorNote:
    """The source failed; the process ends."""

    text: str


Note = FrameNote | EndNote | ErrorNote


def pack_note(note: Note) -> bytes:
    """One packet."""
    if isinstance(note, FrameNote):
        return _NOTE.pack(b"F", note.seq, note.t, note.changed, note.repeats)
    if isinstance(note, EndNote):
        return b"E"
    return b"X" + note.text.encode()[: MAX_NOTE - 1]


def unpack_note(packet: bytes) -> Note:
    """Inverse of :func:`pack_note`."""
    if packet[:1] == b"F":
        _, seq, t, changed, repeats = _NOTE.unpack(packet)
        return FrameNote(seq, t, changed, repeats)
    if packet[:1] == b"E":
        return EndNote()
    return ErrorNote(packet[1:].decode(errors="replace"))
