"""The latest-frame slot: a piece of shared memory in which the newest picture wins.

Layout: a header of 128 bytes, then two picture buffers. The writer fills the buffer that is not the
newest and then names it the newest; each buffer carries a version number that is odd while it is
written, so a reader that was overtaken notices and copies again. The memory is anonymous
(``memfd``): nothing is left behind however either process dies.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Final

import numpy as np

from vision.sources.frame import Frame, Image, SourceError

MAX_PIXELS: Final = 4656 * 3496
"""Largest picture that fits (16 megapixels); memory is used only as far as it is written."""

_HEADER: Final = 128
_NEWEST: Final = struct.Struct("<q")  # index of the newest buffer, -1 before the first
_META: Final = struct.Struct("<qdqii")  # version, t, seq, width, height
_META_AT: Final = (8, 48)
_BUFFER: Final = MAX_PIXELS * 3
_SIZE: Final = _HEADER + 2 * _BUFFER
_PIXELS_AT: Final = (_HEADER, _HEADER + _BUFFER)


def create_slot_memory() -> int:
    """A fresh shared memory; returns its file descriptor, inheritable with ``pass_fds``."""
    fd = os.memfd_create("tablectl-frame")
    os.ftruncate(fd, _SIZE)
    memory = mmap.mmap(fd, _SIZE)
    _NEWEST.pack_into(memory, 0, -1)
    memory.close()
    return fd


class FrameSlot:
    """One end of the slot, made from the descriptor that both processes hold."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, _SIZE)
        self._bytes = np.frombuffer(self._memory, dtype=np.uint8)

    def write(self, t: float, seq: int, image: Image) -> None:
        """Put a picture in; it is the newest from now on.

        Raises:
            SourceError: the picture is no (h, w, 3) uint8 array or larger than the slot.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise SourceError(
                f"expected a picture of (h, w, 3) uint8, got {image.shape} {image.dtype}"
            )
        height, width = image.shape[:2]
        if width * height > MAX_PIXELS:
            raise SourceError(f"a picture of {width}x{height} is larger than the slot holds")
        (newest,) = _NEWEST.unpack_from(self._memory, 0)
        target = 1 - newest if newest >= 0 else 0
        version = _META.unpack_from(self._memory, _META_AT[target])[0]
        odd = version + 1 if version % 2 == 0 else version + 2
        _META.pack_into(self._memory, _META_AT[target], odd, t, seq, width, height)
        at = _PIXELS_AT[target]
        view = self._bytes[at : at + width * height * 3].reshape(height, width, 3)
        np.copyto(view, image)
        _META.pack_into(self._memory, _META_AT[target], odd + 1, t, seq, width, height)
        _NEWEST.pack_into(self._memory, 0, target)

    def read(self) -> Frame | None:
        """A copy of the newest picture; ``None`` before the first."""
        while True:
            (newest,) = _NEWEST.unpack_from(self._memory, 0)
            if newest < 0:
                return None
            before = _META.unpack_from(self._memory, _META_AT[newest])
            version, t, seq, width, height = before
            if version % 2:
                continue
            at = _PIXELS_AT[newest]
            image = self._bytes[at : at + width * height * 3].reshape(height, width, 3).copy()
            if _META.unpack_from(self._memory, _META_AT[newest]) == before:
                return Frame(t, seq, image)

    def close(self) -> None:
        """Unmap the memory."""
        del self._bytes
        self._memory.close()
