"""A simulated table as a process of its own: the firmware's core on this machine, or in simavr.

Both take the same options and control lines (``hardware/firmware/README.md``)::

    with PeerProcess([plant, elf], folder) as table:
        client = TableClient(table.port)
        table.ask("fault head-jam:2")
        table.snapshot()["motors_on"]
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

START_TIMEOUT = 20.0
"""Seconds in which a peer must say where it is plugged in; a busy machine needs some."""
ANSWER_TIMEOUT = 10.0
STOP_TIMEOUT = 5.0


class PeerProcessError(Exception):
    """The process did not start, has ended, or did not accept a line; says which and why."""


class PeerProcess:
    """A running peer. All methods may be called from any thread."""

    def __init__(
        self,
        command: Sequence[str | Path],
        folder: Path,
        *,
        name: str = "table",
        options: Sequence[str] = (),
    ) -> None:
        """Prepare; entering the context (or `start`) starts the process.

        Args:
            command: the program and what stands before its options, as the ELF.
            folder: where its pseudo-terminal and its control socket are made.
            name: of the pseudo-terminal's link there.
            options: beyond ``--pty`` and ``--control``.
        """
        self.port = str(folder / name)
        self._control = folder / f"{name}.control"
        self._command = [str(part) for part in command]
        self._command += ["--pty", self.port, "--control", str(self._control), *options]
        self._process: subprocess.Popen[str] | None = None
        self._lines: IO[str] | None = None
        self._complaints: IO[str] | None = None
        self._lock = threading.Lock()

    def start(self) -> PeerProcess:
        """Start, and wait until the table answers.

        Raises:
            PeerProcessError: the program is missing, or ended at once.
        """
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=self._complaints, text=True, start_new_session=True,  # Ctrl-C is ours
            )  # fmt: skip
        except OSError as error:
            raise PeerProcessError(f"{self._command[0]}: {error.strerror}") from error
        try:
            self._await_port()
            channel = socket.socket(socket.AF_UNIX)
            channel.settimeout(ANSWER_TIMEOUT)
            channel.connect(str(self._control))
            self._lines = channel.makefile("rw", encoding="utf-8")
            channel.close()  # the file keeps it open
        except BaseException:
            self.stop()
            raise
        return self

    def _await_port(self) -> None:
        """Until the first line: the port."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            ready = selector.select(START_TIMEOUT)
        if ready and self._process.stdout.readline().strip():
            return
        if not ready:
            raise PeerProcessError(f"{self._command[0]} said nothing for {START_TIMEOUT:g} s")
        raise PeerProcessError(self._ending())

    def _ending(self) -> str:
        """How the process ended, in its own words."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT)
        said = ""
        if self._complaints is not None:
            self._complaints.seek(0)
            said = self._complaints.read().strip()
        return said or f"{self._command[0]} ended with {self._process.returncode}"

    def stop(self) -> None:
        """End the process in good order; kill it when it does not."""
        if self._lines is not None:
            with contextlib.suppress(OSError):
                self._lines.close()
            self._lines = None
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def __enter__(self) -> PeerProcess:
        """As `start`."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """As `stop`."""
        self.stop()

    def ask(self, line: str) -> dict[str, Any] | None:
        """Send a control line; what came after ``ok``.

        Raises:
            PeerProcessError: the peer refused the line, or has ended.
        """
        with self._lock:
            if self._lines is None:
                raise PeerProcessError("the peer is not running")
            try:
                self._lines.write(f"{line}\n")
                self._lines.flush()
                answer = self._lines.readline().rstrip("\n")
            except OSError as error:
                raise PeerProcessError(f"{line}: {error}") from error
        if answer == "ok":
            return None
        if answer.startswith("ok "):
            found: dict[str, Any] = json.loads(answer.removeprefix("ok "))
            return found
        raise PeerProcessError(
            f"{line}: {answer.removeprefix('error ')}" if answer else self._ending()
        )

    def snapshot(self) -> dict[str, Any]:
        """The state of chip and machine.

        Raises:
            PeerProcessError: as :meth:`ask`.
        """
        found = self.ask("snapshot")
        assert found is not None
        return found

    def wait_for(self, key: str, value: object, within: float = 10.0) -> dict[str, Any]:
        """The first snapshot in which a key has a value.

        Raises:
            TimeoutError: there was none within so many seconds.
        """
        end = time.monotonic() + within
        while (found := self.snapshot())[key] != value:
            if time.monotonic() > end:
                raise TimeoutError(f"{key} was still {found[key]!r} after {within:g} s")
            time.sleep(0.005)
        return found
