"""Putting the firmware into the controller: the image, the checks before, avrdude, the check after.

The image says by itself what it is: the flash symbol ``tc_identity`` (hardware/firmware/hal.h),
found by the table's name.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import (
    ForeignDeviceError,
    LinkLostError,
    PortUnavailableError,
    ProtocolError,
    RefusedDeviceError,
)
from firmware_protocol.transport import resolve_port

PART: Final = "atmega2560"
PROGRAMMER: Final = "wiring"
"""What avrdude calls the loader of an Arduino Mega 2560."""
LOADER_BAUD: Final = 115_200
SETTINGS_SIZE: Final = 256
"""Bytes of EEPROM that hold the settings; behind them stands what survives a power cut."""
AVRDUDE_TIMEOUT: Final = 180.0
"""Seconds; writing and reading back a whole flash takes one minute."""
PROBE_TIMEOUT: Final = 8.0
"""Seconds for the table's answer: opening the port restarts the board, its loader waits for two."""
AFTERWARDS_TIMEOUT: Final = 20.0
_IDENTITY_SIZE: Final = 16
_PACKAGED: Final = Path(__file__).parent / "_firmware" / "tablectl.hex"
_BUILT: Final = (
    Path(__file__).parent.parent / "hardware" / "firmware" / "build" / "avr" / "tablectl.hex"
)


class FlashError(Exception):
    """The firmware was not put into the controller; says what was expected and what to do."""


class FlashRefusedError(FlashError):
    """Nothing was written: a file, a port or the table is not as it must be."""


@dataclass(frozen=True, slots=True)
class FirmwareImage:
    """What a firmware file holds.

    Attributes:
        path: the Intel HEX file.
        size: bytes of flash.
        protocol: major and minor version of the wire.
        version: of the firmware.
    """

    path: Path
    size: int
    protocol: tuple[int, int]
    version: tuple[int, int, int]

    def __str__(self) -> str:
        """``0.2.0 (protocol 1.0)``."""
        return f"{_dotted(self.version)} (protocol {_dotted(self.protocol)})"


@dataclass(frozen=True, slots=True)
class Board:
    """What was found on the port.

    Attributes:
        version, serial: of the firmware there; None when it is not ours, or too old to tell.
        moving: a motion is under way.
        damaged: the firmware refuses its settings.
        text: what to tell a person.
    """

    version: tuple[int, int, int] | None
    serial: int | None
    text: str
    moving: bool = False
    damaged: bool = False


def _dotted(numbers: Sequence[int]) -> str:
    return ".".join(map(str, numbers))


# --- the image ---


def find_image(given: Path | None) -> Path:
    """The file to flash: as given, of the installed package, or of this checkout.

    Raises:
        FlashRefusedError: there is none.
    """
    for path in [given] if given is not None else [_PACKAGED, _BUILT]:
        if path.is_file():
            return path
    if given is not None:
        raise FlashRefusedError(f"{given}: no such file")
    raise FlashRefusedError(
        "no firmware in this installation: build it (make -C hardware/firmware avr; needs gcc-avr "
        "and avr-libc), or name a file with --firmware"
    )


def read_image(path: Path) -> FirmwareImage:
    """Read an Intel HEX file and what the firmware in it says it is.

    Raises:
        FlashRefusedError: it is damaged, not ours, or speaks another protocol.
    """
    flash = parse_hex(path)
    name = m.TABLE_IDENTITY.encode().ljust(_IDENTITY_SIZE, b"\0")
    at = flash.find(name)
    told = flash[at + _IDENTITY_SIZE : at + _IDENTITY_SIZE + 5]
    if at < 0 or len(told) < 5:
        raise FlashRefusedError(
            f"{path}: no firmware of a table: {m.TABLE_IDENTITY!r} does not stand in it"
        )
    major, minor, *version = told
    image = FirmwareImage(path, len(flash), (major, minor), (version[0], version[1], version[2]))
    if major != m.PROTOCOL_MAJOR:
        raise FlashRefusedError(
            f"{path}: this firmware speaks protocol {major}.{minor}, this host "
            f"{m.PROTOCOL_MAJOR}.{m.PROTOCOL_MINOR}; take the firmware of tablectl's own version"
        )
    return image


def parse_hex(path: Path) -> bytes:
    """The bytes from address 0 on of an Intel HEX file, gaps as 0xFF.

    Raises:
        FlashRefusedError: unreadable, a wrong checksum, or cut short.
    """
    try:
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise FlashRefusedError(f"{path}: cannot be read as Intel HEX ({error})") from error
    flash, base, ended = bytearray(), 0, False
    for number, line in enumerate(lines, 1):
        record = _record(path, number, line)
        kind, address, data = record[3], int.from_bytes(record[1:3], "big"), record[4:-1]
        if kind == 0:
            start = base + address
            flash.extend(b"\xff" * (start + len(data) - len(flash)))
            flash[start : start + len(data)] = data
        elif kind in (2, 4):
            base = int.from_bytes(data, "big") << (4 if kind == 2 else 16)
        ended = ended or kind == 1
    if not ended or not flash:
        raise FlashRefusedError(f"{path}: the file is cut short")
    return bytes(flash)


def _record(path: Path, number: int, line: str) -> bytes:
    try:
        record = bytes.fromhex(line.removeprefix(":"))
    except ValueError:
        record = b""
    if not line.startswith(":") or len(record) < 5 or len(record) != record[0] + 5:
        raise FlashRefusedError(f"{path}, line {number}: no Intel HEX record")
    if sum(record) & 0xFF:
        raise FlashRefusedError(f"{path}, line {number}: wrong checksum, the file is damaged")
    return record


# --- the board ---


def device_of(port: str) -> str:
    """The device of a port, for avrdude.

    Raises:
        FlashRefusedError: not a device, missing, or not ours to open.
    """
    try:
        device = resolve_port(port)
    except LinkLostError as error:
        raise FlashRefusedError(str(error)) from error
    if "://" in device:
        raise FlashRefusedError(f"{port}: only a board on a serial device can be flashed")
    if not Path(device).exists():
        raise FlashRefusedError(
            f"{port}: there is no such device; plug the board in, or list ports with "
            "`ls /dev/serial/by-id`"
        )
    if not os.access(device, os.R_OK | os.W_OK):
        raise FlashRefusedError(
            f"{port}: no permission; add your user to the group dialout "
            "(sudo usermod -a -G dialout $USER) and log in again"
        )
    return device


async def look_at(port: str, within: float = PROBE_TIMEOUT) -> Board:
    """Ask what is on a port.

    Raises:
        FlashRefusedError: it talks, and is no table; or the port cannot be opened.
    """
    try:
        async with TableClient(port, connect_timeout=within) as client:
            hello, table = client.status.hello, client.status.table
    except ForeignDeviceError as error:
        raise FlashRefusedError(f"{error}; --force flashes it all the same") from error
    except RefusedDeviceError as error:  # another version: what flashing is for
        return Board(None, None, str(error))
    except PortUnavailableError as error:
        raise FlashRefusedError(str(error)) from error
    except LinkLostError:
        return Board(None, None, f"{port}: nothing answers, as on a new board")
    if hello is None or table is None:
        return Board(None, None, f"{port}: the table went away")
    version = (hello.firmware_major, hello.firmware_minor, hello.firmware_patch)
    told = f"{_dotted(version)} (protocol {hello.protocol_major}.{hello.protocol_minor})"
    return Board(
        version,
        hello.board_serial,
        f"{port}: firmware {told}, board {hello.board_serial:#x}",
        moving=table.mode in (m.TableMode.MOVING, m.TableMode.HOMING),
        damaged=table.fault is m.FaultCode.CONFIGURATION_INVALID,
    )


def check_board(board: Board, image: FirmwareImage, *, force: bool) -> bool:
    """Whether there is anything to do.

    Raises:
        FlashRefusedError: the table moves, or its firmware is newer.
    """
    if board.moving:
        raise FlashRefusedError(f"{board.text}: the table is moving; wait for the end, or stop it")
    if force or board.version is None:
        return True
    if board.version > image.version:
        raise FlashRefusedError(
            f"{board.text}: newer than {_dotted(image.version)}; --force goes back to that"
        )
    return board.version != image.version


# --- avrdude ---


def find_avrdude() -> str:
    """The program.

    Raises:
        FlashRefusedError: it is not installed.
    """
    found = shutil.which("avrdude")
    if found is None:
        raise FlashRefusedError("avrdude is not installed: sudo apt-get install avrdude")
    return found


def flash_command(avrdude: str, device: str, image: FirmwareImage) -> list[str]:
    """The command line that writes the flash and reads it back.

    ``-D``: the loader erases page by page, and cannot erase the whole chip.
    """
    return [*_common(avrdude, device), "-D", "-U", f"flash:w:{image.path}:i"]


def settings_command(avrdude: str, device: str, settings: Path) -> list[str]:
    """The command line that writes the settings into the EEPROM.

    ``-V``: the Mega's loader reads the EEPROM back from doubled addresses, so that avrdude's own
    check fails. The firmware checks the settings' CRC, see :func:`check_afterwards`.
    """
    return [*_common(avrdude, device), "-D", "-V", "-U", f"eeprom:w:{settings}:r"]


def _common(avrdude: str, device: str) -> list[str]:
    return [avrdude, "-q", "-p", PART, "-c", PROGRAMMER, "-P", device, "-b", str(LOADER_BAUD)]


_EXPLANATIONS: Final = (
    ("Permission denied", "no permission; add your user to the group dialout and log in again"),
    ("Device or resource busy", "another program uses the port; stop tablectl and try again"),
    ("verification error", "what was read back is not what was written; try again, and with "
     "another cable or hub"),
    ("Expected signature", "the board is no ATmega2560: an Arduino Mega 2560 was expected"),
    ("timeout", "the board's loader does not answer: an Arduino Mega 2560 was expected; press its "
     "reset button just before trying again, and see that it is the right port"),
)  # fmt: skip


def explain(output: str, code: int) -> str:
    """What avrdude's complaint means."""
    for sign, meaning in _EXPLANATIONS:
        if sign.lower() in output.lower():
            return meaning
    said = [line.strip() for line in output.splitlines() if "error" in line.lower()]
    return said[0] if said else f"avrdude ended with {code}"


def run_avrdude(command: Sequence[str], device: str, within: float = AVRDUDE_TIMEOUT) -> None:
    """Run it.

    Raises:
        FlashError: it failed; the board may hold half a firmware, which does not start.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=within, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise FlashError(f"{device}: avrdude did not end within {within:g} s") from error
    except OSError as error:
        raise FlashError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        output = f"{done.stdout}\n{done.stderr}"
        raise FlashError(f"{device}: {explain(output, done.returncode)}")


async def check_afterwards(port: str, image: FirmwareImage) -> Board:
    """See the new firmware answer.

    Raises:
        FlashError: it does not, or it is another one.
    """
    deadline = asyncio.get_running_loop().time() + AFTERWARDS_TIMEOUT
    while True:
        try:
            board = await look_at(port)
        except ProtocolError as error:
            raise FlashError(str(error)) from error
        if board.version == image.version:
            if board.damaged:
                raise FlashError(
                    f"{board.text}: it says that its settings are damaged; write them again with "
                    "--settings, or --factory-settings"
                )
            return board
        if board.version is not None or asyncio.get_running_loop().time() > deadline:
            raise FlashError(
                f"{board.text}: flashed, but {_dotted(image.version)} does not answer; press the "
                "board's reset button, then `tablectl table status`"
            )
