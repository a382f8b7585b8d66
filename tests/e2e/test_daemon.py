"""``tablectl run`` beside a table, as a service: how it starts, refuses to start, and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiomqtt
import psutil
import pytest

from firmware_protocol.messages import Button
from firmware_protocol.simulator import SimulatedTable
from tablectl.services.recording import Recording
from tests.e2e.programs import environment, one_line, tablectl, until

pytestmark = pytest.mark.timeout(280)

TABLE = "club-7"
LOGIN = "host", "a long enough password"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def write_config(
    folder: Path, serial: str | None = None, port: int | None = None, extra: str = ""
) -> tuple[Path, int]:
    """A configuration without a camera; returns it and the port on which its broker listens."""
    listen = free_port()
    line = f'[serial]\nport = "{serial}"\n' if serial else ""
    path = folder / "tablectl.toml"
    path.write_text(
        f"""
state_dir = "{folder / "state"}"
{extra}
[table]
id = "{TABLE}"
seats = ["Ann", "Bo", "Cy", "Di"]
[server]
host = "127.0.0.1"
port = {free_port() if port is None else port}
[broker]
listen = "127.0.0.1:{listen}"
operator_user = "{LOGIN[0]}"
operator_password = "{LOGIN[1]}"
{line}""",
        encoding="utf-8",
    )
    return path, listen


@dataclass(frozen=True)
class Service:
    """A running daemon."""

    process: subprocess.Popen[str]
    folder: Path
    listen: int

    @property
    def broker(self) -> psutil.Process:
        """The daemon's own Mosquitto."""
        for child in psutil.Process(self.process.pid).children(recursive=True):
            if child.name() == "mosquitto":
                return child
        raise AssertionError("the daemon has no broker")

    @property
    def recording(self) -> Path:
        (path,) = (self.folder / "state" / "sessions").glob("*.mcap")
        return path

    def terminate(self) -> str:
        """SIGTERM; what the daemon printed. Fails unless it ends well within seconds."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        assert "Traceback" not in err, err
        return out


@contextmanager
def service(folder: Path, serial: str | None = None) -> Iterator[Service]:
    path, listen = write_config(folder, serial)
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "run", "--config", str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        greeting = process.stdout.readline()
        assert greeting.startswith("Open http://127.0.0.1:"), greeting
        yield Service(process, folder, listen)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


class Display:
    """A display that remembers what it was told last."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}
        self.retained: set[str] = set()

    async def listen(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            name = message.topic.value.removeprefix(f"tablectl/{TABLE}/")
            payload = message.payload
            assert isinstance(payload, bytes)
            text = payload.decode()
            self.seen[name] = text if name == "availability" else json.loads(text)
            if message.retain:
                self.retained.add(name)


@asynccontextmanager
async def display(port: int) -> AsyncIterator[tuple[Display, aiomqtt.Client]]:
    shown = Display()
    async with aiomqtt.Client(
        "127.0.0.1", port, username=LOGIN[0], password=LOGIN[1], timeout=30
    ) as client:
        await client.subscribe(f"tablectl/{TABLE}/#", qos=1)
        listening = asyncio.create_task(shown.listen(client))
        try:
            yield shown, client
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError, aiomqtt.MqttError):
                await listening


@asynccontextmanager
async def display_when_back(port: int) -> AsyncIterator[tuple[Display, aiomqtt.Client]]:
    """As a display reconnects: again and again until the broker answers."""
    for _ in range(100):
        try:
            async with display(port) as opened:
                yield opened
                return
        except aiomqtt.MqttError:
            await asyncio.sleep(0.2)
    pytest.fail("the broker did not come back")


async def test_a_second_daemon_on_the_port_says_so_and_ends(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        config, _ = write_config(tmp_path, port=port)
        second = tablectl("run", "--config", config, within=120)
    assert second.returncode == 2, second.stderr
    line = one_line(second.stderr)
    assert str(port) in line
    assert "in use" in line


def test_without_mosquitto_one_line_says_what_to_install(tmp_path: Path) -> None:
    config, _ = write_config(tmp_path)
    (tmp_path / "empty").mkdir()
    program = (
        "from tablectl.services import broker; broker._SEARCH = ''; "
        "from tablectl.cli.main import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, "run", "--config", str(config)],
        capture_output=True, text=True, timeout=120, check=False,
        env=environment(PATH=str(tmp_path / "empty")),
    )  # fmt: skip
    assert run.returncode == 2, run.stderr
    assert "mosquitto is not installed" in one_line(run.stderr)
    assert "apt-get install mosquitto" in run.stderr


def test_a_wrong_key_names_the_right_one(tmp_path: Path) -> None:
    config, _ = write_config(tmp_path, extra='log_levle = "debug"')
    run = tablectl("run", "--config", config, within=120)
    assert run.returncode == 2
    line = one_line(run.stderr)
    assert "log_levle" in line
    assert "did you mean log_level?" in line


async def test_sigterm_ends_in_good_order(tmp_path: Path) -> None:
    with SimulatedTable(speed=20) as table, service(tmp_path, table.port) as daemon:
        async with display(daemon.listen) as (shown, _):
            await until(lambda: shown.seen.get("availability") == "online")
            await until(lambda: shown.seen.get("health", {}).get("link", {}).get("state") == "up")
            await asyncio.to_thread(daemon.terminate)
            await until(lambda: shown.seen["availability"] == "offline", within=5)
        broker_alive = any(p.name() == "mosquitto" for p in psutil.Process().children())
        assert not broker_alive
        recording = Recording(daemon.recording)
        assert sum(1 for _ in recording) > 3
        assert recording.cut is None, "the recording was finished"
        with sqlite3.connect(daemon.folder / "state" / "ledger.sqlite3") as ledger:
            assert ledger.execute("SELECT ended IS NOT NULL FROM sessions").fetchall() == [(1,)]


async def test_the_host_ends_the_session(tmp_path: Path) -> None:
    with service(tmp_path) as daemon:
        async with display(daemon.listen) as (shown, client):
            await until(lambda: shown.seen.get("availability") == "online")
            request = json.dumps({"id": "bye", "verb": "session_end"})
            await client.publish(f"tablectl/{TABLE}/request/session_end", request, qos=1)
            await until(lambda: shown.seen["availability"] == "offline", within=30)
            assert shown.seen["response/session_end"]["ok"] is True
        assert await asyncio.to_thread(daemon.process.wait, 60) == 0
        with sqlite3.connect(daemon.folder / "state" / "ledger.sqlite3") as ledger:
            assert ledger.execute("SELECT ended IS NOT NULL FROM sessions").fetchall() == [(1,)]


async def test_a_killed_broker_comes_back_with_the_table_as_it_was(tmp_path: Path) -> None:
    with SimulatedTable(speed=20) as table, service(tmp_path, table.port) as daemon:
        async with display(daemon.listen) as (shown, _):
            await until(lambda: shown.seen.get("health", {}).get("link", {}).get("state") == "up")
            table.press(0, Button.START)
            await until(lambda: shown.seen.get("state", {}).get("hand") == 1)
            await until(lambda: table.snapshot().walls_up)
            before = shown.seen["state"]
        broker = daemon.broker.pid
        os.kill(broker, signal.SIGKILL)
        async with display_when_back(daemon.listen) as (shown, client):
            await until(lambda: shown.seen.get("availability") == "online")
            await until(lambda: {"state", "health", "questions"} <= shown.seen.keys())
            after = shown.seen["state"]
            assert {**after, "t": 0} == {**before, "t": 0}
            assert daemon.broker.pid != broker
            request = json.dumps({"id": "n", "verb": "seat", "args": {"seat": 1, "name": "Eve"}})
            await client.publish(f"tablectl/{TABLE}/request/seat", request, qos=1)
            await until(lambda: shown.seen["state"]["seats"][1]["name"] == "Eve", within=20)
        await asyncio.to_thread(daemon.terminate)
