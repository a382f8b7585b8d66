"""The shipped Mosquitto configuration, on a real Mosquitto: what is delivered, and to whom."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import aiomqtt
import psutil
import pytest

from tablectl.services import broker as broker_module
from tablectl.services.broker import (
    BrokerAddressError,
    BrokerError,
    BrokerMissingError,
    Credentials,
    PrivateBroker,
    Role,
    parse_broker_url,
    parse_listen,
    password_line,
)
from tests.services.conftest import client, delivered, needs_mosquitto

pytestmark = needs_mosquitto


async def topics(listener: aiomqtt.Client, within: float = 0.3) -> list[str]:
    """Topics that arrive until nothing comes for a while."""
    return [topic for topic, _ in await delivered(listener, within)]


async def test_display_reads_state_but_its_writes_reach_nobody(broker: PrivateBroker) -> None:
    async with (
        client(broker.access, "daemon") as daemon,
        client(broker.access, "display") as display,
    ):
        await daemon.subscribe("#", qos=1)
        await display.subscribe("#", qos=1)
        await daemon.publish("tablectl/t1/state", b"{}", qos=1, retain=True)
        await daemon.publish("tablectl/t2/state", b"{}", qos=1, retain=True)
        await daemon.publish("tablectl/t1/response/undo", b"{}", qos=1)
        assert await topics(display) == ["tablectl/t1/state"]
        await topics(daemon, 0.1)
        for topic in ("request/undo", "state", "event", "availability", "response/undo"):
            await display.publish(f"tablectl/t1/{topic}", b"{}", qos=1, retain=True)
        assert await topics(daemon) == []


async def test_operator_writes_requests_and_nothing_else(broker: PrivateBroker) -> None:
    async with (
        client(broker.access, "daemon") as daemon,
        client(broker.access, "operator") as operator,
    ):
        await daemon.subscribe("#", qos=1)
        for topic in ("request/undo", "state", "settlement", "response/undo"):
            await operator.publish(f"tablectl/t1/{topic}", b"{}", qos=1)
        await operator.publish("tablectl/t2/request/undo", b"{}", qos=1)
        assert await topics(daemon) == ["tablectl/t1/request/undo"]
        await operator.subscribe("tablectl/t1/response/+", qos=1)
        await daemon.publish("tablectl/t1/response/undo", b"{}", qos=1)
        assert await topics(operator) == ["tablectl/t1/response/undo"]


async def test_a_display_cannot_leave_a_last_will(broker: PrivateBroker) -> None:
    access = broker.access
    login = access.credentials["display"]
    assert login is not None
    async with client(broker.access, "daemon") as daemon:
        await daemon.subscribe("#", qos=1)
        reader, writer = await access.address.open()
        topic, payload = b"tablectl/t1/request/undo", b"{}"
        fields = [b"intruder", topic, payload, login.username.encode(), login.password.encode()]
        body = b"\x00\x04MQTT\x04\xce\x00\x3c" + b"".join(
            len(part).to_bytes(2, "big") + part for part in fields
        )
        writer.write(bytes([0x10, len(body)]) + body)
        answer = await asyncio.wait_for(reader.readexactly(4), 2.0)
        writer.close()
        assert answer[3] in (0, 5)
        assert await topics(daemon) == []


@pytest.mark.parametrize(("role", "password"), [(None, None), ("operator", "guess")])
async def test_wrong_or_no_password_is_refused(
    broker: PrivateBroker, role: Role | None, password: str | None
) -> None:
    with pytest.raises(aiomqtt.MqttError):
        async with client(broker.access, role, password):
            pass


async def test_no_network_listener_and_private_files(broker: PrivateBroker) -> None:
    assert broker.pid is not None
    listening = [
        c for c in psutil.Process(broker.pid).net_connections("inet") if c.status == "LISTEN"
    ]
    assert listening == []
    directory = broker.access.address.unix
    assert directory is not None
    assert directory.parent.stat().st_mode & 0o077 == 0
    assert all(
        password.password not in path.read_text()
        for password in broker.access.credentials.values()
        if password
        for path in directory.parent.iterdir()
        if path.is_file()
    )


async def test_a_killed_broker_is_started_again_with_the_same_logins() -> None:
    restarted = asyncio.Event()
    async with PrivateBroker("t1", on_restart=restarted.set) as broker:
        supervisor = asyncio.create_task(broker.supervise())
        first = broker.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await asyncio.wait_for(restarted.wait(), 10.0)
        assert broker.pid not in (None, first)
        async with client(broker.access, "display"):
            pass
        supervisor.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await supervisor
    assert broker.pid is None


def test_the_broker_dies_with_a_killed_daemon() -> None:
    code = (
        "import asyncio, sys\n"
        "from tablectl.services.broker import PrivateBroker\n"
        "async def main():\n"
        "    async with PrivateBroker('t1') as broker:\n"
        "        print('pid', broker.pid, file=sys.stderr, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    daemon = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert daemon.stderr is not None
    line = next(line for line in daemon.stderr if line.startswith("pid "))
    pid = int(line.split()[1])
    assert psutil.pid_exists(pid)
    daemon.kill()
    daemon.wait()
    daemon.stderr.close()

    def alive() -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
        return False

    for _ in range(100):
        if not alive():
            break
        time.sleep(0.05)
    assert not alive()


async def test_a_taken_port_is_reported_with_what_mosquitto_said() -> None:
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(BrokerError, match="in use"):
        await PrivateBroker("t1", listen=f"127.0.0.1:{port}").start()
    server.close()


def test_missing_mosquitto_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(broker_module, "_SEARCH", "/nonexistent")
    with pytest.raises(BrokerMissingError, match="apt-get install mosquitto"):
        broker_module.find_mosquitto()


def test_password_line_is_what_mosquitto_passwd_writes(tmp_path: Path) -> None:
    tool = shutil.which("mosquitto_passwd")
    if tool is None:
        pytest.skip("mosquitto_passwd is not installed")
    path = tmp_path / "passwords"
    subprocess.run([tool, "-b", "-c", str(path), "anna", "secret"], check=True)
    stored = path.read_text()
    salt = base64.b64decode(stored.split("$")[3])
    assert password_line(Credentials("anna", "secret"), salt) == stored


@pytest.mark.parametrize(
    "url", ["http://host", "mqtt://", "mqtt://host:99999", "host", "unix:", "mqtt://u:p@:1"]
)
def test_bad_broker_urls_are_refused(url: str) -> None:
    with pytest.raises(BrokerAddressError):
        parse_broker_url(url)


def test_broker_url_with_login() -> None:
    address, login = parse_broker_url("mqtts://anna:p%40ss@broker.lan")
    assert (address.host, address.port, address.tls) == ("broker.lan", 8883, True)
    assert login == Credentials("anna", "p@ss")
    with pytest.raises(BrokerAddressError) as refused:
        parse_broker_url("http://anna:topsecret@broker.lan")
    assert "topsecret" not in str(refused.value)


def test_listen_addresses() -> None:
    assert parse_listen("0.0.0.0:1883") == "1883 0.0.0.0"
    with pytest.raises(BrokerAddressError):
        parse_listen("1883")
