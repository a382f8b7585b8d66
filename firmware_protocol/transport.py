"""The line as the event loop sees it: any pyserial port, read and written without blocking."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import serial
from serial.tools import list_ports

from firmware_protocol.errors import LinkLostError, PortUnavailableError

DEFAULT_BAUDRATE = 115_200
OUTPUT_LIMIT = 8192
"""Bytes held when the line does not take them; more are dropped, which the link survives."""
READ_SIZE = 4096


def resolve_port(port: str) -> str:
    """A port as configured to one that can be opened.

    ``usb:VID:PID[:SERIAL]`` (hexadecimal) is looked up; everything else stays as it is.

    Raises:
        LinkLostError: no such device, or several.
    """
    if not port.startswith("usb:"):
        return port
    vid, pid, *serial_number = port.split(":")[1:]
    found = [
        item.device
        for item in list_ports.comports()
        if item.vid is not None
        and (f"{item.vid:04x}", f"{item.pid:04x}") == (vid.lower(), pid.lower())
        and (not serial_number or item.serial_number == serial_number[0])
    ]
    if len(found) != 1:
        what = "no device" if not found else f"{len(found)} devices ({', '.join(found)})"
        raise LinkLostError(f"{port}: {what}; plug it in, or name it by /dev/serial/by-id/...")
    return str(found[0])


def known_ports() -> list[str]:
    """Serial ports of this machine, by their stable names where they have one."""
    by_id = Path("/dev/serial/by-id")
    if by_id.is_dir():
        return sorted(str(path) for path in by_id.iterdir())
    return sorted(item.device for item in list_ports.comports())


class SerialTransport:
    """An open port. A read error, or the end of the stream, is a disconnect and is final."""

    def __init__(
        self,
        device: serial.SerialBase,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[str], None],
    ) -> None:
        """Take over an open pyserial port; use :meth:`open`."""
        self._device: Any = device
        self._fd: int = self._device.fileno()
        self._on_data, self._on_lost = on_data, on_lost
        self._loop = asyncio.get_running_loop()
        self._output = bytearray()
        self._closed = False
        self.dropped_bytes = 0
        os.set_blocking(self._fd, False)
        self._loop.add_reader(self._fd, self._readable)

    @classmethod
    async def open(
        cls,
        port: str,
        baudrate: int,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[str], None],
    ) -> SerialTransport:
        """Open a port.

        Raises:
            PortUnavailableError: it cannot be opened, and what to do.
        """
        loop = asyncio.get_running_loop()
        name = resolve_port(port)
        try:
            device = await loop.run_in_executor(None, _open_device, name, baudrate)
        except (serial.SerialException, OSError, ValueError, termios.error) as error:
            raise PortUnavailableError(_explain(port, error)) from error
        return cls(device, on_data, on_lost)

    def write(self, data: bytes) -> None:
        """Send bytes, at once or when the line takes them."""
        if self._closed or not data:
            return
        if len(self._output) + len(data) > OUTPUT_LIMIT:
            self.dropped_bytes += len(data)
            return
        waiting = bool(self._output)
        self._output += data
        if not waiting:
            self._writable()

    def close(self) -> None:
        """Close the port; no callback comes after this."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._device.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self._fail(f"reading failed: {error.strerror}")
            return
        if data:
            self._on_data(data)
        else:
            self._fail("the device has gone (readable, but no data)")

    def _writable(self) -> None:
        try:
            sent = os.write(self._fd, self._output)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._fail(f"writing failed: {error.strerror}")
            return
        del self._output[:sent]
        if self._output:
            self._loop.add_writer(self._fd, self._writable)
        else:
            self._loop.remove_writer(self._fd)

    def _fail(self, reason: str) -> None:
        self.close()
        self._on_lost(reason)


def _open_device(name: str, baudrate: int) -> serial.SerialBase:
    if "://" in name:
        device = serial.serial_for_url(name, baudrate=baudrate, timeout=0)
        if name.startswith("socket://"):
            with socket.socket(fileno=os.dup(device.fileno())) as line:
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return device
    device = serial.serial_for_url(name, baudrate=baudrate, timeout=0, exclusive=True)
    _keep_running_after_close(device.fileno())
    return device


def _keep_running_after_close(fd: int) -> None:
    """Leave DTR up when the port is closed: its next rise, at the next opening, would restart an
    Arduino, and a table that restarts homes. Only the first opening after plugging in does."""
    settings = termios.tcgetattr(fd)
    settings[2] &= ~termios.HUPCL
    termios.tcsetattr(fd, termios.TCSANOW, settings)


def _explain(port: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    advice = {
        errno.ENOENT: "is the table plugged in? `tablectl doctor` lists the ports",
        errno.EACCES: "add yourself to the group `dialout` and log in again",
        errno.EBUSY: "another program holds it",
        errno.EAGAIN: "another program holds it",
    }.get(number or 0, "check the name and the cable")
    return f"{port} cannot be opened ({error}); {advice}"
