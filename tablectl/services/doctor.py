"""Looks at everything that the daemon rests on: what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp
import aiomqtt

from firmware_protocol.client import TableClient
from firmware_protocol.errors import ProtocolError
from firmware_protocol.transport import known_ports, resolve_port
from tablectl.config import Config
from tablectl.services.broker import BrokerError, mosquitto_version
from tablectl.services.checks import Check
from tablectl.services.doctor_camera import CameraDoctor
from tablectl.services.http import default_static
from tablectl.services.setup import kept_tile_set, open_broker
from vision.calibration import Calibration, CalibrationError
from vision.detector import TileSetError

IDENTITY_SECONDS: Final = 8.0
"""How long the table's controller may take to answer; opening the port may reset it."""
INFERENCE_SECONDS: Final = 120.0
OTHER_SIZE: Final = 1.5
"""Factor between widths of tiles from which a set looks different."""
LITTLE_SPACE: Final = 1 << 30
SOME_SPACE: Final = 5 << 30
_PLAUSIBLE_YEAR: Final = 2025
_THROTTLED: Final = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
_UNDERVOLTAGE: Final = 0x1 | 0x10000

_INFERENCE: Final = """
import sys, time
import numpy as np
from pathlib import Path
from vision.detector import Detector, WeightsError
folder = Path(sys.argv[1]) if sys.argv[1] else None
try:
    detector = Detector(folder, int(sys.argv[2]))
except WeightsError as error:
    sys.exit(str(error))
picture = np.full((720, 1280, 3), 90, np.uint8)
detector.detect(picture)
begun = time.perf_counter()
detector.detect(picture)
print(detector.weights.version, round(1000 * (time.perf_counter() - begun)))
"""


Examination = Callable[[Config], Awaitable[Check]]


async def examine(config: Config, *, identity: bool = False) -> list[Check]:
    """All checks, in the order in which things must work.

    Args:
        config: what to check.
        identity: open the serial port and ask the table who it is (this may reset the board).
    """
    camera = CameraDoctor(config)
    checks: list[Examination] = [
        check_clock,
        check_power,
        check_disk,
        check_daemon,
        check_serial,
        lambda _: camera.check_camera(),
        lambda _: camera.check_calibration(),
        check_weights,
        check_tile_set,
        check_broker,
        check_page,
        check_port,
    ]
    if identity:
        checks.insert(5, check_identity)
    return [await check(config) for check in checks]


async def check_clock(_: Config) -> Check:
    """A wrong date spoils the ledger; a Pi without a network starts with one."""
    now = time.gmtime()
    told = time.strftime("%Y-%m-%d %H:%M:%S UTC", now)
    remedy = "connect to a network once, or add a clock module (RTC); then `timedatectl`"
    if now.tm_year < _PLAUSIBLE_YEAR:
        return Check("clock", "problem", f"the clock says {told}", remedy)
    synchronised = await _output("timedatectl", "show", "-p", "NTPSynchronized", "--value")
    if synchronised == "no":
        return Check("clock", "warning", f"{told}, not synchronised by NTP", remedy)
    how = "synchronised" if synchronised == "yes" else "synchronisation unknown"
    return Check("clock", "ok", f"{told}, {how}")


async def check_power(_: Config) -> Check:
    """A Raspberry Pi tells when its supply was too weak."""
    try:
        flags = int(_THROTTLED.read_text(encoding="ascii"), 16)
    except (OSError, ValueError):
        return Check("power", "skipped", "no Raspberry Pi power monitor here")
    if flags & _UNDERVOLTAGE:
        when = "now" if flags & 1 else "since the start"
        return Check(
            "power", "problem", f"under-voltage {when} (flags {flags:#x})",
            "use the official power supply; under-voltage corrupts SD cards",
        )  # fmt: skip
    return Check("power", "ok", "no under-voltage")


async def check_disk(config: Config) -> Check:
    """Room and permission for recordings and the ledger."""
    free: dict[Path, int] = {}
    for folder in (config.state_dir, config.recording_directory, config.ledger_path.parent):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".tablectl-probe-{os.getpid()}"
            probe.write_bytes(b"probe")
            probe.unlink()
        except OSError as error:
            return Check(
                "disk", "problem", f"{folder} can't be written: {error.strerror}",
                "choose other folders in the configuration, or change its owner",
            )  # fmt: skip
        free[folder] = shutil.disk_usage(folder).free
    least = min(free, key=lambda folder: free[folder])
    detail = f"{free[least] / (1 << 30):.1f} GiB free in {least}"
    if free[least] < LITTLE_SPACE:
        return Check("disk", "problem", detail, "delete old recordings or set recording.frames")
    if free[least] < SOME_SPACE and config.recording.enabled and config.recording.frames:
        return Check("disk", "warning", detail, "an evening with pictures takes some GiB")
    return Check("disk", "ok", detail)


async def check_serial(config: Config) -> Check:
    """The port is there, may be opened, and will be the same one tomorrow."""
    return _serial(config.serial.port)


def _serial(port: str | None) -> Check:
    seen = known_ports()
    if port is None:
        listed = f"; seen: {', '.join(seen)}" if seen else ""
        return Check("serial", "skipped", f"no serial.port configured{listed}")
    if port.startswith("socket://"):
        return Check("serial", "ok", f"{port} (not opened)")
    try:
        device = Path(resolve_port(port))
    except ProtocolError as error:
        return Check("serial", "problem", str(error), _ports_remedy(seen))
    if not device.exists():
        return Check("serial", "problem", f"{port} is not there", _ports_remedy(seen))
    if not os.access(device, os.R_OK | os.W_OK):
        return Check(
            "serial", "problem", f"no permission for {device}",
            "sudo usermod -aG dialout $USER, then log in again",
        )  # fmt: skip
    if re.fullmatch(r"/dev/tty(USB|ACM)\d+", port):
        stable = next((p for p in seen if Path(p).resolve() == device.resolve()), "")
        return Check(
            "serial", "warning", f"{port} may be another device after a restart",
            f"use {stable or 'its name in /dev/serial/by-id'}",
        )  # fmt: skip
    return Check("serial", "ok", f"{port} can be opened")


def _ports_remedy(seen: list[str]) -> str:
    if not seen:
        return "no serial port is connected: check cable and power of the controller"
    return f"plug it in, or set serial.port to one of: {', '.join(seen)}"


async def check_identity(config: Config) -> Check:
    """The device at the port is our firmware, and this table's."""
    if config.serial.port is None:
        return Check("table", "skipped", "no serial.port configured")
    client = TableClient(
        config.serial.port,
        baudrate=config.serial.baud,
        expected_serial=config.serial.board_serial,
        connect_timeout=IDENTITY_SECONDS,
    )
    try:
        async with client:
            hello = client.status.hello
    except ProtocolError as error:
        return Check("table", "problem", str(error), "check cable, baud rate and firmware")
    if hello is None:
        return Check("table", "problem", "the table did not say who it is", "flash the firmware")
    version = f"{hello.firmware_major}.{hello.firmware_minor}.{hello.firmware_patch}"
    reset = hello.reset_reason.name.lower().replace("_", " ")
    return Check(
        "table", "ok", f"firmware {version}, board {hello.board_serial}, last reset: {reset}"
    )


async def check_camera(config: Config) -> Check:
    """See :class:`tablectl.services.doctor_camera.CameraDoctor`."""
    return await CameraDoctor(config).check_camera()


async def check_daemon(config: Config) -> Check:
    """What a daemon that runs already says of itself; it may hold camera and serial port."""
    scheme = "https" if config.server.certificate else "http"
    host = config.server.host if config.server.host not in ("", "0.0.0.0", "::") else "127.0.0.1"
    url = f"{scheme}://{host}:{config.server.port}/healthz"
    timeout = aiohttp.ClientTimeout(total=3.0)
    try:
        # The certificate is for the displays' name, not for this loop-back.
        async with (
            aiohttp.ClientSession(timeout=timeout) as web,
            web.get(url, ssl=False) as answer,
        ):
            report = await answer.json()
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return Check("daemon", "skipped", "none runs here")
    if not isinstance(report, dict) or "version" not in report:
        return Check("daemon", "skipped", f"another program answers at {url}")
    problems = [str(problem) for problem in report.get("problems", ())]
    told = f"version {report['version']} runs; camera: {report.get('camera', 'unknown')}"
    if problems:
        return Check("daemon", "warning", told, "; ".join(problems))
    return Check("daemon", "ok", told)


async def check_weights(config: Config) -> Check:
    """The recogniser reads one picture, in a process of its own: a bad build may crash it."""
    folder = str(config.detector.weights or "")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _INFERENCE, folder, str(config.detector.threads),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), INFERENCE_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return Check("weights", "problem", f"no answer in {INFERENCE_SECONDS:.0f} s",
                     "the machine is overloaded or too small")  # fmt: skip
    if process.returncode == 0:
        version, _, milliseconds = out.decode().strip().rpartition(" ")
        return Check("weights", "ok", f"version {version}, {milliseconds} ms for a picture")
    if process.returncode is not None and process.returncode < 0:
        return Check(
            "weights", "problem", f"the recogniser crashed (signal {-process.returncode})",
            "onnxruntime does not suit this processor: reinstall it with pip",
        )  # fmt: skip
    said = err.decode(errors="replace").strip().splitlines()
    return Check("weights", "problem", said[-1] if said else "no reason given",
                 "reinstall tablectl, or restore models/ in a checkout")  # fmt: skip


async def check_tile_set(config: Config) -> Check:
    """The taught tiles are there, and were seen about as large as they are on this table."""
    remedy = "teach it: `tablectl teach --config FILE`, or the page #teach"
    try:
        taught = await asyncio.to_thread(kept_tile_set, config)
    except TileSetError as error:
        return Check("tile set", "problem", str(error), remedy)
    if taught is None and config.detector.tile_set is not None:
        return Check("tile set", "problem", f"{config.tile_set_path} is missing", remedy)
    if taught is None:
        return Check(
            "tile set", "skipped",
            "not taught; `tablectl teach` makes flowers and small tiles much surer",
        )  # fmt: skip
    kinds = len(set(taught.kinds.tolist()))
    told = f"{kinds} tiles taught on {taught.taught}, {taught.tile_px:.0f} px wide"
    if config.camera.calibration is not None:
        with contextlib.suppress(CalibrationError):  # told by the camera's own check
            now = Calibration.load(config.camera.calibration).tile_px()
            if not 1 / OTHER_SIZE < now / taught.tile_px < OTHER_SIZE:
                return Check("tile set", "warning", f"{told}; now they are {now:.0f} px", remedy)
    return Check("tile set", "ok", told)


async def check_broker(config: Config) -> Check:
    """The broker starts, and a display can log in."""
    remedy = "see the message; `tablectl broker-config` writes a working configuration"
    version = ""
    try:
        if config.broker.url is None:
            version = f"mosquitto {await mosquitto_version()}, "
        async with open_broker(config.broker, config.table.id) as access:
            for role in ("daemon", "display"):
                login = access.credentials[role]
                address = access.address
                async with aiomqtt.Client(
                    str(address.unix) if address.unix else address.host,
                    address.port,
                    transport="unix" if address.unix else "tcp",
                    tls_context=address.ssl_context(),
                    username=login.username if login else None,
                    password=login.password if login else None,
                    timeout=5.0,
                ):
                    pass
    except BrokerError as error:
        return Check("broker", "problem", str(error), "sudo apt-get install mosquitto")
    except aiomqtt.MqttError as error:
        where = "the private broker" if config.broker.url is None else "the broker"
        return Check("broker", "problem", f"{where} refuses the {role}: {error}", remedy)
    return Check("broker", "ok", f"{version}daemon and display can log in")


async def check_page(_: Config) -> Check:
    """The display's page was built."""
    index = default_static() / "index.html"
    if not index.is_file():
        return Check("page", "problem", f"{index} is missing", "run `make web` in the checkout")
    return Check("page", "ok", str(index.parent))


async def check_port(config: Config) -> Check:
    """The port of the page is free, or a daemon of ours has it."""
    host, port = config.server.host, config.server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return Check(
                "port", "warning", f"{host}:{port} can't be used now: {error.strerror}",
                "a running daemon explains it; otherwise change server.port",
            )  # fmt: skip
    return Check("port", "ok", f"{host}:{port} is free")


async def _output(*command: str) -> str:
    """What a program prints; empty where it is missing or fails."""
    if shutil.which(command[0]) is None:
        return ""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    return out.decode(errors="replace").strip() if process.returncode == 0 else ""
