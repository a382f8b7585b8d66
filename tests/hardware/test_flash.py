"""``tablectl flash``: what is checked before, what avrdude is told, what is checked after."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.firmware import Identity
from firmware_protocol.peer_process import PeerProcess
from firmware_protocol.simulator import SimulatedTable
from tablectl import flash
from tablectl.cli.main import app

from .tools import built, firmware, mkconfig, needs_simavr, table_peer

LOADER = Path(
    "/usr/share/arduino/hardware/arduino/avr/bootloaders/stk500v2/stk500boot_v2_mega2560.hex"
)
READY = m.TableMode.READY
NEW, OLD = (0, 9, 1), (0, 1, 0)
runner = CliRunner()


def hex_record(kind: int, address: int, data: bytes) -> str:
    body = bytes([len(data), address >> 8, address & 0xFF, kind]) + data
    return f":{body.hex().upper()}{-sum(body) & 0xFF:02X}\n"


def hex_file(flash_bytes: bytes) -> str:
    """As avr-objcopy writes it: 16 bytes a record, the upper address in records of its own."""
    parts = []
    for at in range(0, len(flash_bytes), 16):
        if at % 0x10000 == 0 and at:
            parts.append(hex_record(2, 0, (at >> 4).to_bytes(2, "big")))
        parts.append(hex_record(0, at & 0xFFFF, flash_bytes[at : at + 16]))
    return "".join(parts) + hex_record(1, 0, b"")


def identity(version: tuple[int, int, int] = NEW, major: int = m.PROTOCOL_MAJOR) -> bytes:
    return m.TABLE_IDENTITY.encode().ljust(16, b"\0") + bytes([major, 0, *version])


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "tablectl.hex"
    path.write_text(hex_file(b"\x0c\x94" * 40 + identity() + bytes(range(200))), encoding="ascii")
    return path


@pytest.fixture
def old_table(tmp_path: Path) -> Iterator[SimulatedTable]:
    who = Identity(firmware=OLD)
    with SimulatedTable(link=tmp_path / "table", speed=50, identity=who) as table:
        table.wait_for(lambda plant: plant.mode is m.TableMode.READY)
        yield table


# --- the file ---


@settings(max_examples=25)
@given(st.binary(min_size=1, max_size=300), st.integers(0, 2))
def test_what_a_hex_file_holds_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, page: int
) -> None:
    path = tmp_path_factory.mktemp("hex") / "a.hex"
    whole = b"\xff" * (page * 0x10000) + data
    path.write_text(hex_file(whole), encoding="ascii")
    assert flash.parse_hex(path) == whole


def test_an_image_says_what_it_is(image: Path) -> None:
    found = flash.read_image(image)
    assert (found.version, found.protocol, str(found)) == (NEW, (1, 0), "0.9.1 (protocol 1.0)")


@needs_simavr
def test_the_firmware_of_this_tree_says_what_it_is() -> None:
    found = flash.read_image(firmware("tablectl.hex"))
    assert found.protocol == (m.PROTOCOL_MAJOR, m.PROTOCOL_MINOR)
    assert found.version > (0, 0, 0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hello\n", "line 1: no Intel HEX record"),
        (":0400000001020304F3\n", "line 1: wrong checksum"),
        (":0400000001020304F2\n", "cut short"),
        (":00000001FF\n", "cut short"),
        (hex_file(b"another firmware" * 4), "no firmware of a table"),
        (hex_file(identity(major=9)), "speaks protocol 9.0, this host 1.0"),
        (hex_file(identity()[:-1]), "no firmware of a table"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.hex"
    path.write_text(text, encoding="ascii")
    result = runner.invoke(app, ["flash", "-p", "/dev/null", "--firmware", str(path)])
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1


# --- avrdude on the path: a script that writes down what it is told ---


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a script named avrdude first on the path; the file with its arguments, once it ran."""
    folder, log = tmp_path / "bin", tmp_path / "told"
    folder.mkdir()
    script = folder / "avrdude"
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}.new && mv {log}.new {log}\n'
        f"while [ -e {log}.restarting ]; do sleep 0.01; done\n"
        'echo "$SAID" >&2\nexit ${CODE:-0}\n',
        encoding="ascii",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def invoke(table: SimulatedTable | str, image: Path, *options: str) -> Result:
    port = table if isinstance(table, str) else table.port
    return runner.invoke(app, ["flash", "-p", port, "--firmware", str(image), *options])


def new_firmware_when(told: Path, table: SimulatedTable, version: tuple[int, int, int]) -> None:
    """What the board does when avrdude has written: it starts with what was written.

    avrdude ends after that; it holds the board in its loader until then.
    """
    restarting = told.with_name(f"{told.name}.restarting")
    restarting.touch()

    def swap() -> None:
        while not told.exists():
            time.sleep(0.01)
        table.power_cut()
        table.identity = Identity(firmware=version)
        table.power_on(m.ResetReason.EXTERNAL)
        restarting.unlink()

    threading.Thread(target=swap, daemon=True).start()


def test_flashing_names_both_versions_and_sees_the_new_one_answer(
    old_table: SimulatedTable, image: Path, told: Path
) -> None:
    new_firmware_when(told, old_table, NEW)
    result = invoke(old_table, image, "--yes")
    assert result.exit_code == 0, result.output
    assert "firmware 0.1.0 (protocol 1.0), board 0x51a71e" in result.stdout
    assert "to be written: 0.9.1 (protocol 1.0)" in result.stdout
    assert "done." in result.stdout
    assert told.read_text().split() == [
        "-q", "-p", "atmega2560", "-c", "wiring", "-P", old_table.port, "-b", "115200", "-D",
        "-U", f"flash:w:{image}:i",
    ]  # fmt: skip


def test_another_firmware_than_written_afterwards_is_a_failure(
    old_table: SimulatedTable, image: Path, told: Path
) -> None:
    new_firmware_when(told, old_table, (0, 5, 0))
    result = invoke(old_table, image, "--yes")
    assert result.exit_code == 1
    assert "flashed, but 0.9.1 does not answer" in result.stderr


def test_nothing_is_written_without_a_yes(
    old_table: SimulatedTable, image: Path, told: Path
) -> None:
    assert runner.invoke(
        app, ["flash", "-p", old_table.port, "--firmware", str(image)], input="n\n"
    ).exit_code == 1  # fmt: skip
    assert not told.exists()


def test_a_dry_run_prints_the_command_and_writes_nothing(
    old_table: SimulatedTable, image: Path, told: Path
) -> None:
    result = invoke(old_table, image, "--dry-run")
    assert result.exit_code == 0
    assert f"-P {old_table.port} -b 115200 -D -U flash:w:{image}:i" in result.stdout
    assert not told.exists()


def test_the_same_version_is_left_alone(tmp_path: Path, image: Path, told: Path) -> None:
    with SimulatedTable(link=tmp_path / "t", identity=Identity(firmware=NEW)) as table:
        result = invoke(table, image, "--yes")
    assert result.exit_code == 0
    assert "has 0.9.1 (protocol 1.0) already" in result.stdout
    assert not told.exists()


def test_settings_alone_can_be_written(tmp_path: Path, image: Path, told: Path) -> None:
    eeprom = tmp_path / "settings.bin"
    eeprom.write_bytes(bytes(4096))
    with SimulatedTable(link=tmp_path / "t", speed=50, identity=Identity(firmware=NEW)) as table:
        table.wait_for(lambda plant: plant.mode is m.TableMode.READY)
        result = invoke(table, image, "--yes", "--settings", str(eeprom))
    assert result.exit_code == 0, result.output
    *_, dont_check, _, what = told.read_text().split()
    assert (dont_check, what.startswith("eeprom:w:")) == ("-V", True)
    assert "flash:w" not in told.read_text()


@needs_simavr
def test_settings_that_the_firmware_refuses_are_a_failure(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    damaged = bytearray(subprocess.run([mkconfig()], check=True, stdout=subprocess.PIPE).stdout)
    damaged[20] ^= 1
    memory.write_bytes(damaged)
    with PeerProcess([table_peer()], tmp_path, options=["--memory", str(memory)]) as table:
        found = asyncio.run(flash.look_at(table.port))
        assert found.damaged
        assert found.version is not None
        as_written = flash.FirmwareImage(tmp_path / "a.hex", 1, (1, 0), found.version)
        with pytest.raises(flash.FlashError, match="settings are damaged"):
            asyncio.run(flash.check_afterwards(table.port, as_written))


def test_a_newer_firmware_is_not_overwritten_unless_forced(
    tmp_path: Path, image: Path, told: Path
) -> None:
    with SimulatedTable(link=tmp_path / "t", speed=50, identity=Identity(firmware=(1, 0, 0))) as t:
        t.wait_for(lambda plant: plant.mode is m.TableMode.READY)
        result = invoke(t, image, "--yes")
        assert (result.exit_code, "newer than 0.9.1" in result.stderr) == (2, True)
        assert not told.exists()
        new_firmware_when(told, t, NEW)
        assert invoke(t, image, "--yes", "--force").exit_code == 0


def test_a_table_of_another_protocol_is_what_flashing_is_for(
    tmp_path: Path, image: Path, told: Path
) -> None:
    with SimulatedTable(link=tmp_path / "t", identity=Identity(protocol_major=0)) as table:
        new_firmware_when(told, table, NEW)
        result = invoke(table, image, "--yes")
    assert result.exit_code == 0, result.output
    assert "the firmware speaks protocol 0.0" in result.stdout


def test_a_moving_table_is_not_flashed(tmp_path: Path, image: Path, told: Path) -> None:
    async def open_centre(port: str) -> None:
        async with TableClient(port) as client:
            await client.wait_for(lambda s: s.table is not None and s.table.mode is READY, 10)
            await client.command(m.OpenCentre(), wait=False)

    with SimulatedTable(link=tmp_path / "t", speed=0.2, identity=Identity(firmware=OLD)) as table:
        asyncio.run(open_centre(table.port))
        result = invoke(table, image, "--yes")
    assert result.exit_code == 2
    assert "the table is moving" in result.stderr
    assert not told.exists()


def test_a_foreign_device_is_not_flashed(tmp_path: Path, image: Path, told: Path) -> None:
    with SimulatedTable(link=tmp_path / "t", identity=Identity(identity="espresso")) as table:
        result = invoke(table, image, "--yes")
    assert result.exit_code == 2
    assert "'espresso'" in result.stderr
    assert "--force" in result.stderr
    assert not told.exists()


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("avrdude error: timeout communicating with programmer", "loader does not answer"),
        ("avrdude: Expected signature for ATmega2560 is 1E 98 01", "no ATmega2560"),
        ("avrdude: verification error; content mismatch", "not what was written"),
        ("avrdude OS error: cannot open port /dev/x: Permission denied", "dialout"),
        ("avrdude error: strange things", "avrdude error: strange things"),
        ("", "avrdude ended with 1"),
    ],
)
def test_what_avrdude_complains_of_is_explained(
    old_table: SimulatedTable, image: Path, told: Path, monkeypatch: pytest.MonkeyPatch,
    said: str, meaning: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("SAID", said)
    monkeypatch.setenv("CODE", "1")
    result = invoke(old_table, image, "--yes")
    assert result.exit_code == 1
    assert old_table.port in result.stderr
    assert meaning in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_machine_without_avrdude_says_how_to_get_it(
    old_table: SimulatedTable, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = invoke(old_table, image, "--yes")
    assert (result.exit_code, "apt-get install avrdude" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("port", "complaint"),
    [
        ("socket://127.0.0.1:1", "only a board on a serial device"),
        ("/dev/serial/by-id/none", "no such device"),
        ("usb:dead:beef", "no device"),
    ],
)
def test_a_wrong_port_is_refused(image: Path, told: Path, port: str, complaint: str) -> None:
    result = invoke(port, image, "--yes")
    assert (result.exit_code, complaint in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--settings", "/nowhere.bin"], "as mkconfig writes it"),
        (["--settings", "/nowhere.bin", "--factory-settings"], "exclude each other"),
    ],
)
def test_wrong_settings_are_refused(
    old_table: SimulatedTable, image: Path, told: Path, options: list[str], complaint: str
) -> None:
    result = invoke(old_table, image, "--yes", *options)
    assert (result.exit_code, complaint in result.stderr) == (2, True)
    assert not told.exists()


def test_a_missing_file_is_one_clear_line(told: Path) -> None:
    result = runner.invoke(app, ["flash", "-p", "/dev/null", "--firmware", "/nowhere.hex"])
    assert (result.exit_code, result.stderr) == (2, "tablectl: /nowhere.hex: no such file\n")


# --- the real avrdude, and the loader of a real Mega, in simavr ---


@needs_simavr
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("avrdude") is None, reason="avrdude is not installed")
@pytest.mark.skipif(not LOADER.exists(), reason="arduino-core-avr is not installed")
def test_the_real_avrdude_flashes_a_board_with_the_real_loader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new board: the loader, and a firmware that is no table's. Its reset line is DTR, which a
    pseudo-terminal lacks: a wrapper pulls it by the control socket before avrdude runs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    reset = (
        "import socket; s = socket.socket(socket.AF_UNIX); "
        f"s.connect('{tmp_path}/table.control'); s.sendall(b'restart external\\n'); s.recv(9)"
    )
    wrapper = folder / "avrdude"
    wrapper.write_text(
        f'#!/bin/sh\npython3 -c "{reset}"\nexec {shutil.which("avrdude")} "$@"\n', "ascii"
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    settings = tmp_path / "settings.bin"
    settings.write_bytes(subprocess.run([mkconfig(), "centre_timeout=5000"], check=True,
                                        stdout=subprocess.PIPE).stdout)  # fmt: skip
    memory, table = tmp_path / "memory", str(tmp_path / "table")
    hex_path = firmware("tablectl.hex")
    version = ".".join(map(str, flash.read_image(hex_path).version))
    options = ["--loader", str(LOADER), "--memory", str(memory)]
    with PeerProcess([built("tableplant"), built("exerciser.elf")], tmp_path, options=options):
        result = invoke(table, hex_path, "--yes", "--force", "--settings", str(settings))
        assert result.exit_code == 0, result.output
        assert f"done. {table}: firmware {version} (protocol 1.0)" in result.stdout
    assert memory.read_bytes()[:256] == settings.read_bytes()[:256]
