"""The capture process: reads one source into the slot and says so.

Started by :class:`vision.sources.source.CameraSource` as ``python -m vision.sources.worker JSON``.
It is a process of its own because ``read()`` of a camera can block for ever and holds a core while
it decodes. It ends when the daemon's end of the control socket closes.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import sys
import threading

import cv2
import numpy as np

from vision.sources.feed import FedFrame
from vision.sources.frame import Image, SourceError
from vision.sources.notes import (
    DONE,
    EndNote,
    ErrorNote,
    FrameNote,
    Note,
    WorkerConfig,
    pack_note,
)
from vision.sources.readers import Reader, open_reader
from vision.sources.slot import FrameSlot
from vision.sources.spec import parse_spec


class ChangeWatch:
    """When did pixels last change? An unplugged camera repeats its last picture for ever.

    A picture of a real sensor never repeats to the byte: noise sees to that. So only complete
    equality counts as "unchanged"; a sample of the pixels decides nearly always.
    """

    def __init__(self) -> None:
        self._last: Image | None = None
        self.changed_at = 0.0

    def see(self, image: Image, t: float) -> float:
        """Take the next picture; returns the time of the last change."""
        last = self._last
        if (
            last is None
            or last.shape != image.shape
            or not np.array_equal(last[::16, ::16], image[::16, ::16])
            or not np.array_equal(last, image)
        ):
            self.changed_at = t
            self._last = image
        return self.changed_at


class Worker:
    """Moves pictures from the reader to the slot."""

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._control = socket.socket(fileno=config.control_fd)
        self._slot = FrameSlot(config.slot_fd)
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Collect acknowledgements; leave at once when the daemon has gone."""
        while packet := self._control.recv(64):
            self._done.put(DONE.unpack(packet)[0])
        os._exit(0)

    def run(self) -> int:
        """Until the source ends (0) or fails (1)."""
        config = self._config
        size = (config.width, config.height) if config.width and config.height else None
        try:
            reader = open_reader(
                parse_spec(config.spec), lockstep=config.lockstep, size=size, fps=config.fps
            )
            self._pump(reader)
        except (SourceError, cv2.error, OSError) as error:
            self._tell(ErrorNote(str(error)))
            return 1
        self._tell(EndNote())
        return 0

    def _pump(self, reader: Reader) -> None:
        watch = ChangeWatch()
        seq = self._config.first_seq
        while (fed := reader.read()) is not None:
            self._publish(fed, seq, watch)
            if self._config.lockstep:
                while self._done.get() < seq:
                    pass
                reader.done(fed.frame.seq)
            seq += 1

    def _publish(self, fed: FedFrame, seq: int, watch: ChangeWatch) -> None:
        frame = fed.frame
        changed = watch.see(frame.image, frame.t)
        self._slot.write(frame.t, seq, frame.image)
        self._tell(FrameNote(seq, frame.t, changed, fed.repeats))

    def _tell(self, note: Note) -> None:
        # A daemon that is busy must not hold up the camera: the picture is in the slot already.
        wait = self._config.lockstep or not isinstance(note, FrameNote)
        try:
            self._control.send(pack_note(note), 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return


def main() -> int:
    """Entry point of the capture process."""
    cv2.setNumThreads(1)
    return Worker(WorkerConfig(**json.loads(sys.argv[1]))).run()


if __name__ == "__main__":
    sys.exit(main())
