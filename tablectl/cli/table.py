"""``tablectl table``: look at the table's controller, test it, or simulate one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import (
    LinkLostError,
    OutcomeUnknownError,
    ProtocolError,
    RefusedDeviceError,
)
from firmware_protocol.events import (
    CommandFailedError,
    TableEvent,
    TableStatus,
    event_to_json,
)
from firmware_protocol.faults import FAULTS, fault_line
from firmware_protocol.framing import Frame
from firmware_protocol.noise import Noise
from firmware_protocol.simulator import SimulatedTable, parse_defect, serve
from firmware_protocol.transport import known_ports
from firmware_protocol.wire import to_json

FAILED, USAGE = 1, 2

app = typer.Typer(no_args_is_help=True, help="The table's controller: state, live view, self-test.")
PortOption = Annotated[
    str | None,
    typer.Option(
        "--port",
        "-p",
        envvar="TABLECTL_PORT",
        metavar="PORT",
        help="Device (by-id is best), usb:VID:PID[:SERIAL] or socket://host:port.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable.")]
WaitOption = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the table.")]


@app.command()
def status(port: PortOption = None, *, as_json: JsonOption = False, wait: WaitOption = 10) -> None:
    """Show who the table is, what it does, and how the link is."""
    run_link(_status(choose_port(port), wait, as_json=as_json))


@app.command()
def monitor(
    port: PortOption = None,
    *,
    as_json: JsonOption = False,
    frames: Annotated[bool, typer.Option(help="Every frame on the line, too.")] = False,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after so long.")] = None,
    interval: Annotated[
        float, typer.Option(min=0, help="Seconds between questions for the inputs; 0: none.")
    ] = 0.5,
) -> None:
    """Print every event of the table, and its inputs as they change, until Ctrl-C.

    Switches and photo sensors are asked for, which moves nothing: press one by hand and see it.
    """
    run_link(_monitor(choose_port(port), seconds, interval, as_json=as_json, frames=frames))


@app.command()
def selftest(
    port: PortOption = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
    as_json: JsonOption = False,
    wait: WaitOption = 10,
) -> None:
    """Try every motor and sensor for a moment. Exit code 0: passed; 1: a fault was found."""
    chosen = choose_port(port)
    if not yes:
        typer.confirm("Motors will move. Are hands and tiles clear of the table?", abort=True)
    run_link(_selftest(chosen, wait, as_json=as_json))


@app.command()
def simulate(
    *,
    link: Annotated[
        Path | None, typer.Option(help="Symbolic link to the pseudo-terminal.", show_default=False)
    ] = None,
    socket: Annotated[
        int | None, typer.Option(help="Listen on this TCP port instead.", min=0, max=65535)
    ] = None,
    speed: Annotated[float, typer.Option(min=0.01, help="Table seconds in a second.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    noise: Annotated[
        float, typer.Option(min=0, max=0.5, help="Probability a byte of each kind of damage.")
    ] = 0.0,
    delay: Annotated[float, typer.Option(min=0, help="Of the line, in seconds.")] = 0.0,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:SIDE[:AMOUNT]]", help="Break something; repeatable."),
    ] = None,
) -> None:
    """Run a simulated table and print the port where it is plugged in, until Ctrl-C."""
    try:
        faults = [parse_defect(text) for text in fault or []]
        line = Noise.even(noise, delay)
        table = SimulatedTable(link=link, socket_port=socket, speed=speed, seed=seed, noise=line)
        serve(table, faults)
    except (ValueError, OSError) as error:
        _fail(str(error))


# --- inside ---


def _fail(text: str, code: int = USAGE) -> None:
    typer.echo(text, err=True)
    raise typer.Exit(code)


def choose_port(port: str | None) -> str:
    """The port given, or the only one there is."""
    if port is not None:
        return port
    found = known_ports()
    if len(found) != 1:
        what = "no serial port found" if not found else f"several ports: {', '.join(found)}"
        _fail(f"{what}; name the table's port with --port")
    return found[0]


def run_link(work: Coroutine[Any, Any, int]) -> None:
    """Run until done; what goes wrong on the line is one clear message."""
    try:
        code = asyncio.run(work)
    except RefusedDeviceError as error:
        _fail(str(error), USAGE)
    except ProtocolError as error:
        _fail(str(error), FAILED)
    except KeyboardInterrupt:
        return
    else:
        if code:
            raise typer.Exit(code)


async def _status(port: str, wait: float, *, as_json: bool) -> int:
    async with TableClient(port, connect_timeout=wait) as client:
        sensors: list[m.SensorReport] = []
        client.subscribe(lambda e: sensors.append(e) if isinstance(e, m.SensorReport) else None)
        await client.command(m.QueryState())
        if as_json:
            typer.echo(json.dumps(_status_json(client.status, sensors[-1])))
        else:
            Console().print(_status_table(client.status, sensors[-1]))
    return 0


def _status_json(status: TableStatus, sensors: m.SensorReport) -> dict[str, Any]:
    parts = {
        "hello": status.hello,
        "table": status.table,
        "stacks": status.stacks,
        "table_link": status.table_report,
    }
    found = {name: to_json(part) if part is not None else None for name, part in parts.items()}
    return {
        "port": status.port,
        "link": status.link.value,
        **found,
        "fault": _fault_json(status),
        "sensors": to_json(sensors)["active"],
        "host_link": asdict(status.counters),
        "round_trip_ms": status.round_trip_ms,
        "errors_per_minute": status.errors_per_minute,
    }


def _fault_json(status: TableStatus) -> dict[str, Any] | None:
    """The fault in words, as the display shows it; None without one."""
    table = status.table
    if table is None or table.fault is m.FaultCode.NONE:
        return None
    info = FAULTS[table.fault]
    return {
        "code": int(table.fault),
        "name": table.fault.name,
        "line": fault_line(table, status.raised),
        "latched": info.latched,
        "causes": list(info.causes),
        "remedy": info.remedy,
    }


def _status_table(status: TableStatus, sensors: m.SensorReport) -> Table:
    hello, table, stacks, report = status.hello, status.table, status.stacks, status.table_report
    grid = Table(title=f"table at {status.port}", show_header=False)
    grid.add_column(style="bold")
    grid.add_column()
    if hello is not None:
        firmware = f"{hello.firmware_major}.{hello.firmware_minor}.{hello.firmware_patch}"
        grid.add_row(
            "firmware",
            f"{firmware}, protocol {hello.protocol_major}."
            f"{hello.protocol_minor}, board {hello.board_serial:#x}",
        )
        grid.add_row("last reset", f"{_words(hello.reset_reason)}, start {hello.boot_count}")
    if table is not None:
        grid.add_row("state", f"{_words(table.mode)}, motion {_words(table.motion)}")
        grid.add_row("centre, trays", f"{_CENTRE[table.centre]}, {_TRAYS[table.lifts]}")
        if table.fault is not m.FaultCode.NONE:
            grid.add_row("[red]fault", f"{int(table.fault)}: {fault_line(table, status.raised)}")
            grid.add_row("what to do", FAULTS[table.fault].remedy)
    if stacks is not None:
        counts = " ".join(f"{a}/{b}" for a, b in zip(stacks.counts, stacks.targets, strict=True))
        grid.add_row("stacks", counts)
    grid.add_row("active inputs", ", ".join(to_json(sensors)["active"]) or "none")
    if status.round_trip_ms is not None:
        grid.add_row(
            "link",
            f"{status.link}, round trip {status.round_trip_ms:.1f} ms, "
            f"{status.errors_per_minute} errors in the last minute",
        )
    grid.add_row("link, our side", _counters(asdict(status.counters)))
    if report is not None:
        grid.add_row("link, its side", _counters(to_json(report)))
    return grid


def _counters(values: dict[str, Any]) -> str:
    shown = {name: value for name, value in values.items() if name != "type" and value}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items())


_CENTRE = {m.Place.LOW: "closed", m.Place.HIGH: "open"}
_CENTRE |= {m.Place.MOVING: "moving", m.Place.UNKNOWN: "unknown"}
_TRAYS = {**_CENTRE, m.Place.LOW: "down", m.Place.HIGH: "up"}


def _words(item: Any) -> str:
    return str(item.name).lower().replace("_", " ")


class _Monitor:
    """Prints what comes, each thing as it changes."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._start = time.monotonic()
        self._last: dict[str, dict[str, Any]] = {}

    def on_event(self, event: TableEvent) -> None:
        """An event of the table or of the link."""
        data = event_to_json(event)
        if isinstance(event, _REPEATED):
            steady = {key: value for key, value in data.items() if key not in _ALWAYS_NEW}
            if self._last.get(data["type"]) == steady:
                return
            before, self._last[data["type"]] = self._last.get(data["type"]), steady
            if isinstance(event, m.SensorReport) and before is not None and not self._as_json:
                data = _changed_inputs(before["active"], data["active"])
        self._show(data)

    def on_frame(self, way: str, frame: Frame) -> None:
        """A frame on the line."""
        self._show(
            {
                "type": f"{way} {frame.kind.name}",
                "session": frame.session,
                "seq": frame.seq,
                "ack": frame.ack,
                "payload": frame.payload.hex(),
            }
        )

    def _show(self, data: dict[str, Any]) -> None:
        seconds = time.monotonic() - self._start
        if self._as_json:
            typer.echo(json.dumps({"t": round(seconds, 4), **data}))
            return
        values = "  ".join(f"{key}={_plain(value)}" for key, value in data.items() if key != "type")
        typer.echo(f"{seconds:9.3f}  {data['type']:<14} {values}")


_REPEATED = (m.TableState, m.Stacks, m.SensorReport, m.LinkReport)
"""What a question is answered with, changed or not."""
_ALWAYS_NEW = {"uptime_ms", "frames_received", "frames_sent"}


def _changed_inputs(before: list[str], now: list[str]) -> dict[str, Any]:
    return {
        "type": "SensorReport",
        "on": [name for name in now if name not in before],
        "off": [name for name in before if name not in now],
    }


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) or "-" if isinstance(value, list) else str(value)


async def _monitor(
    port: str, seconds: float | None, interval: float, *, as_json: bool, frames: bool
) -> int:
    monitor = _Monitor(as_json=as_json)
    client = TableClient(
        port,
        connect_timeout=None,
        on_event=monitor.on_event,
        on_frame=monitor.on_frame if frames else None,
    )
    async with client:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await asyncio.sleep(interval or _FOREVER)
                    await _ask_inputs(client)
        except TimeoutError:
            return 0


_FOREVER = 3600.0


async def _ask_inputs(client: TableClient) -> None:
    """The table tells its inputs only when asked; without a link there is nobody to ask."""
    if client.status.link.is_up:
        with contextlib.suppress(LinkLostError, OutcomeUnknownError):
            await client.command(m.QueryState())


async def _selftest(port: str, wait: float, *, as_json: bool) -> int:
    reports: list[m.SelfTestReport] = []
    async with TableClient(port, connect_timeout=wait) as client:
        client.subscribe(lambda e: reports.append(e) if isinstance(e, m.SelfTestReport) else None)
        await client.wait_for(lambda s: s.table is not None and s.table.mode not in STARTING, wait)
        try:
            await client.command(m.SelfTest())
        except CommandFailedError as error:
            if not reports:
                raise
            failure: str | None = str(error)
        else:
            failure = None
        report = reports[-1]
    if as_json:
        typer.echo(json.dumps(to_json(report)))
    elif failure is None:
        typer.echo(f"passed: {report.tested} motors and sensors")
    else:
        where = "" if report.side is m.Side.NONE else f" ({_words(report.side)})"
        typer.echo(f"{failure}{where}")
    return 0 if report.passed else FAILED


STARTING = (m.TableMode.BOOTING, m.TableMode.HOMING)
