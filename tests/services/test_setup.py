"""Services are made as the configuration says."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import aiohttp
import aiomqtt
import pytest

from tablectl.config import BrokerConfig, ServerConfig
from tablectl.services.broker import BrokerAccess, BrokerAddress, Credentials
from tablectl.services.http import ServerError, WebServer
from tablectl.services.setup import open_broker, operator_password, tls_context
from tests.services.conftest import client, needs_mosquitto


@needs_mosquitto
async def test_private_broker_with_a_configured_login() -> None:
    config = BrokerConfig.model_validate({"display_user": "tv", "display_password": "tv-secret"})
    async with open_broker(config, "t1") as access:
        assert access.credentials["display"] == Credentials("tv", "tv-secret")
        async with client(access, "daemon") as daemon, client(access, "display") as display:
            await display.subscribe("#", qos=1)
            await daemon.publish("tablectl/t1/state", b"{}", qos=1)
            message = await anext(aiter(display.messages))
            assert message.topic.value == "tablectl/t1/state"
    with pytest.raises(aiomqtt.MqttError):
        async with client(access, "daemon"):
            pass


async def test_external_broker_hands_out_only_configured_logins() -> None:
    config = BrokerConfig.model_validate(
        {
            "url": "mqtt://daemon:d@hall:1884",
            "operator_user": "op",
            "operator_password": "op-secret",
        }
    )
    async with open_broker(config, "t1") as access:
        assert access.address == BrokerAddress("hall", 1884)
        assert access.credentials == {
            "daemon": Credentials("daemon", "d"),
            "display": None,
            "operator": Credentials("op", "op-secret"),
        }


def test_operator_password_is_generated_or_configured() -> None:
    first, made = operator_password(ServerConfig())
    second, _ = operator_password(ServerConfig())
    assert made
    assert first != second
    assert len(first) >= 8
    config = ServerConfig.model_validate({"operator_password": "sesame"})
    assert operator_password(config) == ("sesame", False)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
async def test_https_with_a_configured_certificate(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    config = ServerConfig(certificate=certificate, key=key)
    server = WebServer(BrokerAccess(BrokerAddress(), {}), "t1", None)
    port = await server.start("127.0.0.1", 0, tls_context(config))
    trust = ssl.create_default_context(cafile=str(certificate))
    trust.check_hostname = False
    async with (
        aiohttp.ClientSession() as web,
        web.get(f"https://127.0.0.1:{port}/healthz", ssl=trust) as answer,
    ):
        assert answer.status == 200
    await server.stop()


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "a.crt", folder / "a.key"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
            "-days", "2", "-keyout", str(key), "-out", str(certificate),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


def test_a_bad_certificate_is_named(tmp_path: Path) -> None:
    assert tls_context(ServerConfig()) is None
    path = tmp_path / "a.pem"
    path.write_text("no certificate")
    with pytest.raises(ServerError, match=r"a\.pem"):
        tls_context(ServerConfig(certificate=path, key=path))
