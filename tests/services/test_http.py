"""The one port: the page, logins, and the bridge to the broker with its Origin check."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import aiomqtt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.messages import Request, Response, TableState
from tablectl.services.broker import BrokerAccess, BrokerAddress, PrivateBroker
from tablectl.services.http import (
    LOGIN_TRIES,
    LOGIN_WINDOW,
    MESSAGE_LIMIT,
    LoginLimiter,
    OriginPolicy,
    ServerError,
    WebServer,
)
from tablectl.services.mqtt import MqttService
from tests.services.conftest import cancel, client, delivered, needs_mosquitto, until


@dataclass
class Site:
    """A running server."""

    server: WebServer
    port: int
    broker: PrivateBroker
    web: aiohttp.ClientSession

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def display(self) -> aiomqtt.Client:
        """An MQTT client through the port, with the login that the page gets."""
        async with self.web.get(f"{self.url}/api/session") as answer:
            login = await answer.json()
        return aiomqtt.Client(
            "127.0.0.1",
            self.port,
            transport="websockets",
            websocket_path=login["path"],
            username=login["username"],
            password=login["password"],
        )


@pytest.fixture
async def site(tmp_path: Path, broker: PrivateBroker) -> AsyncIterator[Site]:
    """Server with a built page and some art."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<title>the page</title>")
    (static / "assets" / "app-1a2b.js").write_text("let x = 1")
    (tmp_path / "secret.txt").write_text("secret")
    art = tmp_path / "art"
    art.mkdir()
    (art / "3m.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    server = WebServer(
        broker.access,
        "t1",
        "open sesame",
        static=static,
        art=art,
        policy=OriginPolicy(["https://club.example.org"]),
    )
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as web:
        yield Site(server, port, broker, web)
    await server.stop()


@needs_mosquitto
async def test_page_art_and_nothing_else(site: Site) -> None:
    for path, status, text in [
        ("/", 200, "the page"),
        ("/assets/app-1a2b.js", 200, "let x"),
        ("/art/3m.svg", 200, "svg"),
        ("/healthz", 200, "version"),
        ("/art/9m.svg", 404, ""),
        ("/art/..%2fsecret.txt", 404, ""),
        ("/..%2fsecret.txt", 404, ""),
        ("/assets/../../secret.txt", 404, ""),
        ("/assets", 404, ""),
        ("/api/other", 404, ""),
    ]:
        async with site.web.get(site.url + path) as answer:
            body = await answer.text()
            assert (answer.status, path) == (status, path)
            assert text in body
            assert "secret" not in body
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_an_unbuilt_page_says_how_to_build_it(tmp_path: Path) -> None:
    server = WebServer(BrokerAccess(BrokerAddress(), {}), "t1", None, static=tmp_path / "none")
    port = await server.start("127.0.0.1", 0)
    async with (
        aiohttp.ClientSession() as web,
        web.get(f"http://127.0.0.1:{port}/") as answer,
    ):
        assert answer.status == 503
        assert "make web" in await answer.text()
        async with web.get(f"http://127.0.0.1:{port}/art/5z.svg") as face:
            assert face.status == 200
            assert face.content_type == "image/svg+xml"
    await server.stop()


async def test_a_taken_port_is_one_clear_error() -> None:
    server = WebServer(BrokerAccess(BrokerAddress(), {}), "t1", None)
    other = WebServer(BrokerAccess(BrokerAddress(), {}), "t1", None)
    port = await server.start("127.0.0.1", 0)
    with pytest.raises(ServerError, match=f"127.0.0.1:{port}.*server.port"):
        await other.start("127.0.0.1", port)
    await server.stop()


@needs_mosquitto
async def test_a_display_sees_the_table_through_the_port(site: Site) -> None:
    async with client(site.broker.access, "daemon") as daemon, await site.display() as display:
        await display.subscribe("tablectl/t1/#", qos=1)
        await daemon.publish("tablectl/t1/state", b'{"hand": 1}', qos=1, retain=True)
        assert await delivered(display) == [("tablectl/t1/state", b'{"hand": 1}')]
        big = b"x" * 200_000
        await daemon.publish("tablectl/t1/state", big, qos=1)
        assert await delivered(display) == [("tablectl/t1/state", big)]
        await daemon.subscribe("tablectl/t1/request/+", qos=1)
        await display.publish("tablectl/t1/request/undo", b"{}", qos=1)
        assert await delivered(daemon) == []
        assert site.server.bridges == 1
    await until(lambda: site.server.bridges == 0)


@needs_mosquitto
async def test_the_operator_logs_in_and_asks(site: Site) -> None:
    async with site.web.post(f"{site.url}/api/login", json={"password": "open sesame"}) as answer:
        assert answer.status == 200
        assert answer.headers["Cache-Control"] == "no-store"
        login = await answer.json()
    assert login["role"] == "operator"

    async def accept(request: Request) -> Response:
        return Response(id=request.id, ok=True)

    service = asyncio.create_task(MqttService(site.broker.access, "t1", accept).run())
    async with aiomqtt.Client(
        "127.0.0.1",
        site.port,
        transport="websockets",
        websocket_path="/mqtt",
        username=login["username"],
        password=login["password"],
    ) as operator:
        await operator.subscribe(login["prefix"] + "response/+", qos=1)
        await operator.subscribe(login["prefix"] + "availability", qos=1)
        first = await asyncio.wait_for(anext(aiter(operator.messages)), 5.0)
        assert first.payload == b"online"
        request = Request(id="1", verb="next_hand").model_dump_json()
        await operator.publish(login["prefix"] + "request/next_hand", request, qos=1)
        [(topic, payload)] = await delivered(operator)
        assert topic == "tablectl/t1/response/next_hand"
        assert Response.model_validate_json(payload).ok
    await cancel(service)


@needs_mosquitto
async def test_wrong_passwords_are_limited(site: Site) -> None:
    url = f"{site.url}/api/login"
    for body, status in [(b"{", 400), (b"[]", 400), (b'{"password": 1}', 400)]:
        headers = {"Content-Type": "application/json"}
        async with site.web.post(url, data=body, headers=headers) as answer:
            assert answer.status == status
    async with site.web.post(url, data={"password": "open sesame"}) as answer:
        assert answer.status == 415
    async with site.web.post(url, json={"password": "x" * 10_000}) as answer:
        assert answer.status == 413
    for _ in range(LOGIN_TRIES):
        async with site.web.post(url, json={"password": "guess"}) as answer:
            assert answer.status == 401
            assert "username" not in await answer.text()
    async with site.web.post(url, json={"password": "open sesame"}) as answer:
        assert answer.status == 429
        assert 0 < int(answer.headers["Retry-After"]) <= LOGIN_WINDOW + 1


def test_the_limiter_forgets_after_its_window() -> None:
    now = [0.0]
    limiter = LoginLimiter(lambda: now[0])
    for _ in range(LOGIN_TRIES):
        assert limiter.wait("a") == 0.0
        limiter.failed("a")
    assert limiter.wait("a") == LOGIN_WINDOW
    assert limiter.wait("b") == 0.0
    now[0] = LOGIN_WINDOW + 0.1
    assert limiter.wait("a") == 0.0


@needs_mosquitto
@pytest.mark.parametrize("path", ["/mqtt", "/api/session", "/api/login"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", ""])
async def test_foreign_origins_are_refused_everywhere(site: Site, path: str, origin: str) -> None:
    headers = {"Origin": origin}
    if path == "/mqtt":
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await site.web.ws_connect(site.url + path, protocols=["mqtt"], headers=headers)
        assert refused.value.status == 403
        return
    method = "POST" if path == "/api/login" else "GET"
    body = {"password": "open sesame"} if method == "POST" else None
    async with site.web.request(method, site.url + path, headers=headers, json=body) as answer:
        assert answer.status == 403
        assert "password" not in await answer.text()


@needs_mosquitto
async def test_own_and_listed_origins_pass(site: Site) -> None:
    for origin in (site.url, "https://club.example.org"):
        async with site.web.ws_connect(
            site.url + "/mqtt", protocols=["mqtt"], headers={"Origin": origin}
        ) as socket:
            assert socket.protocol == "mqtt"


@pytest.mark.parametrize(
    ("origin", "host", "passes"),
    [
        (None, "anything", True),
        ("http://192.168.1.5:8765", "192.168.1.5:8765", True),
        ("http://[fe80::1]:8765", "[fe80::1]:8765", True),
        ("http://mahjong.local", "mahjong.local", True),
        ("http://mahjong.local:80", "mahjong.local", True),
        ("http://mahjong:8765", "mahjong:8765", True),
        ("http://mahjong.local:81", "mahjong.local:82", False),
        ("http://rebound.example.com", "rebound.example.com", False),
        ("https://club.example.org", "10.0.0.1:8765", True),
        ("http://club.example.org", "10.0.0.1:8765", False),
        ("https://club.example.org.evil.com", "10.0.0.1", False),
        ("http://user@10.0.0.1", "10.0.0.1", False),
        ("file://", "10.0.0.1", False),
        ("http://10.0.0.1:99999", "10.0.0.1:99999", False),
        ("http://10.0.0.1", None, False),
    ],
)
def test_origin_policy(origin: str | None, host: str | None, passes: bool) -> None:
    assert OriginPolicy(["https://club.example.org"]).permits(origin, host) is passes


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_header_breaks_the_origin_policy(origin: str, host: str) -> None:
    assert OriginPolicy().permits(origin, host) in (True, False)


@needs_mosquitto
async def test_the_bridge_takes_only_mqtt_of_limited_size(site: Site) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.web.ws_connect(site.url + "/mqtt")
    assert refused.value.status == 400
    async with site.web.get(site.url + "/mqtt") as answer:
        assert answer.status == 426
    async with site.web.ws_connect(site.url + "/mqtt", protocols=["mqtt"]) as socket:
        await socket.send_str("hello")
        assert (await socket.receive(5.0)).type in (
            aiohttp.WSMsgType.CLOSE,
            aiohttp.WSMsgType.CLOSED,
        )
    async with site.web.ws_connect(site.url + "/mqtt", protocols=["mqtt"]) as socket:
        await socket.send_bytes(b"x" * (MESSAGE_LIMIT + 1))
        message = await socket.receive(5.0)
        assert message.type is aiohttp.WSMsgType.CLOSE
        assert message.data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG


@needs_mosquitto
async def test_displays_come_back_after_the_broker_was_killed(site: Site) -> None:
    async def refuse(request: Request) -> Response:
        return Response(id=request.id, ok=False)

    supervisor = asyncio.create_task(site.broker.supervise())
    service = MqttService(site.broker.access, "t1", refuse)
    service.retain("state", TableState(table="t1", hand=5))
    running = asyncio.create_task(service.run())
    await asyncio.wait_for(service.wait_connected(), 5.0)
    with contextlib.suppress(aiomqtt.MqttError):
        async with await site.display() as display:
            assert site.broker.pid is not None
            os.kill(site.broker.pid, signal.SIGKILL)
            async for _ in display.messages:
                pass
    await until(lambda: not service.connected)
    await asyncio.wait_for(service.wait_connected(), 15.0)
    async with await site.display() as display:
        await display.subscribe("tablectl/t1/#", qos=1)
        got = dict(await delivered(display))
    assert TableState.model_validate_json(got["tablectl/t1/state"]).hand == 5
    assert got["tablectl/t1/availability"] == b"online"
    await cancel(running)
    await cancel(supervisor)


async def test_a_broker_that_is_away_gives_503() -> None:
    away = BrokerAccess(BrokerAddress(unix=Path("/nonexistent/mqtt.sock")), {})
    server = WebServer(away, "t1", None, health=lambda: {"ok": False, "broker": "away"})
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as web:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await web.ws_connect(f"http://127.0.0.1:{port}/mqtt", protocols=["mqtt"])
        assert refused.value.status == 503
        async with web.get(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 503
            assert (await answer.json())["broker"] == "away"
        async with web.post(f"http://127.0.0.1:{port}/api/login", json={"password": ""}) as answer:
            assert answer.status == 403
    await server.stop()
