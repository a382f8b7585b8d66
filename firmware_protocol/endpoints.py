"""Where a simulated table is plugged in: a pseudo-terminal or a TCP port."""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import tty
from pathlib import Path
from typing import Protocol

READ_SIZE = 4096


class Endpoint(Protocol):
    """The table's end of a cable."""

    @property
    def url(self) -> str:
        """What a client opens."""

    def filenos(self) -> list[int]:
        """File descriptors to wait for."""

    def read(self) -> bytes:
        """What has arrived; never blocks."""

    def write(self, data: bytes) -> None:
        """Send what the line takes; the rest is lost, as on a wire nobody reads."""

    def close(self) -> None:
        """Unplug."""


class PtyEndpoint:
    """A pseudo-terminal, optionally behind a symbolic link whose name stays the same."""

    def __init__(self, link: Path | None = None) -> None:
        """Open a pair; the near end is ours.

        Raises:
            FileExistsError: `link` exists and is no symbolic link.
        """
        self._near, self._far = pty.openpty()
        tty.setraw(self._far)
        os.set_blocking(self._near, False)
        self._link = link
        self.url = os.ttyname(self._far)
        if link is not None:
            if link.exists() and not link.is_symlink():
                raise FileExistsError(f"{link} exists and is no symbolic link")
            link.unlink(missing_ok=True)
            link.symlink_to(self.url)
            self.url = str(link)

    def filenos(self) -> list[int]:
        """The near end."""
        return [self._near]

    def read(self) -> bytes:
        """What the host wrote."""
        try:
            return os.read(self._near, READ_SIZE)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Write; a host that does not read loses bytes, as on a wire."""
        with contextlib.suppress(OSError):
            os.write(self._near, data)

    def close(self) -> None:
        """Close both ends: the host reads an error."""
        if self._link is not None and self._link.is_symlink():
            self._link.unlink()
        os.close(self._near)
        os.close(self._far)


class SocketEndpoint:
    """A TCP port on this machine; a new connection takes the place of the one before."""

    def __init__(self, port: int = 0) -> None:
        """Listen; 0 takes any free port.

        Raises:
            OSError: the port is taken.
        """
        self._server = socket.create_server(("127.0.0.1", port))
        self._server.setblocking(False)
        self._peer: socket.socket | None = None
        self.url = f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def filenos(self) -> list[int]:
        """The listener and the connection."""
        return [self._server.fileno()] + ([self._peer.fileno()] if self._peer else [])

    def read(self) -> bytes:
        """Accept whoever comes, and what the host wrote."""
        with contextlib.suppress(BlockingIOError):
            peer, _ = self._server.accept()
            self._hang_up()
            peer.setblocking(False)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peer = peer
        if self._peer is None:
            return b""
        try:
            data = self._peer.recv(READ_SIZE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._hang_up()
        return data

    def write(self, data: bytes) -> None:
        """Write to the connection, if there is one."""
        if self._peer is not None:
            with contextlib.suppress(OSError):
                self._peer.send(data)

    def close(self) -> None:
        """Hang up and stop listening."""
        self._hang_up()
        self._server.close()

    def _hang_up(self) -> None:
        if self._peer is not None:
            self._peer.close()
            self._peer = None
