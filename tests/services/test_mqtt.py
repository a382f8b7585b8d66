"""The daemon's topics on a real broker: kept, restored, and closed to nonsense."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.messages import EventView, Health, Questions, Request, Response, TableState
from tablectl.services import mqtt as mqtt_module
from tablectl.services.broker import BrokerAccess, BrokerAddress, PrivateBroker
from tablectl.services.homeassistant import STATUS_TOPIC, discovery
from tablectl.services.mqtt import (
    REQUEST_LIMIT,
    MqttService,
    PayloadTooLargeError,
    RequestRefusedError,
    read_request,
)
from tests.services.conftest import cancel, client, delivered, needs_mosquitto, retained, until

pytestmark = needs_mosquitto


class Operator:
    """Carries out requests and remembers them."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        if request.verb == "undo":
            raise RequestRefusedError("nothing to undo")
        if request.verb == "ruling":
            raise KeyError("bug")
        return Response(id=request.id, ok=True)


@asynccontextmanager
async def running(service: MqttService) -> AsyncIterator[None]:
    task = asyncio.create_task(service.run())
    try:
        await asyncio.wait_for(service.wait_connected(), 10.0)
        yield
    finally:
        await cancel(task)


async def ask(access: BrokerAccess, verb: str, payload: bytes, retain: bool = False) -> Response:
    """Publish a request as the operator and wait for the answer."""
    async with client(access, "operator") as operator:
        await operator.subscribe("tablectl/t1/response/+", qos=1)
        await operator.publish(f"tablectl/t1/request/{verb}", payload, qos=1, retain=retain)
        message = await asyncio.wait_for(anext(aiter(operator.messages)), 5.0)
        assert message.topic.value == f"tablectl/t1/response/{verb}"
        assert isinstance(message.payload, bytes)
        return Response.model_validate_json(message.payload)


async def test_retained_state_events_and_availability(broker: PrivateBroker) -> None:
    service = MqttService(broker.access, "t1", Operator())
    service.retain("state", TableState(table="t1", hand=1))
    async with running(service):
        assert (await retained(broker.access))["tablectl/t1/availability"] == b"online"
        async with client(broker.access, "display") as display:
            await display.subscribe("tablectl/t1/#", qos=1)
            await delivered(display)
            service.send("event", EventView(n=0, t=1.0, event={"e": "exhaust"}))
            service.retain("state", TableState(table="t1", hand=2))
            got = dict(await delivered(display))
        assert json.loads(got["tablectl/t1/event"])["event"] == {"e": "exhaust"}
        state = json.loads((await retained(broker.access))["tablectl/t1/state"])
        assert (state["hand"], state["schema_version"]) == (2, 1)
        assert "tablectl/t1/event" not in await retained(broker.access)


async def test_offline_is_said_on_close_and_on_cancellation(broker: PrivateBroker) -> None:
    for close in (True, False):
        service = MqttService(broker.access, "t1", Operator())
        task = asyncio.create_task(service.run())
        await asyncio.wait_for(service.wait_connected(), 10.0)
        service.send("event", EventView(n=7, t=1.0, event={}))
        if close:
            service.close()
            await asyncio.wait_for(task, 5.0)
        else:
            await cancel(task)
        assert (await retained(broker.access))["tablectl/t1/availability"] == b"offline"


async def test_a_broker_killed_mid_game_gets_everything_back() -> None:
    async with PrivateBroker("t1") as broker:
        supervisor = asyncio.create_task(broker.supervise())
        service = MqttService(broker.access, "t1", Operator())
        service.retain("state", TableState(table="t1", hand=3))
        service.retain("questions", Questions())
        async with running(service):
            before = await retained(broker.access)
            assert broker.pid is not None
            os.kill(broker.pid, signal.SIGKILL)
            await until(lambda: not service.connected)
            service.retain("health", Health(camera="fine"))
            service.send("event", EventView(n=1, t=2.0, event={}))
            await asyncio.wait_for(service.wait_connected(), 15.0)
            after = await retained(broker.access, "display")
        await cancel(supervisor)
    assert {name: after[name] for name in before} == before
    assert json.loads(after["tablectl/t1/health"])["camera"] == "fine"


async def test_only_the_newest_state_matters_and_events_keep_their_order(
    broker: PrivateBroker,
) -> None:
    service = MqttService(broker.access, "t1", Operator())
    async with running(service), client(broker.access, "display") as display:
        await display.subscribe("tablectl/t1/event", qos=1)
        for n in range(100):
            service.send("event", EventView(n=n, t=float(n), event={}))
            service.retain("state", TableState(table="t1", hand=n))
        events = [json.loads(payload)["n"] for _, payload in await delivered(display, 1.0)]
        assert events == list(range(100))
        assert json.loads((await retained(broker.access))["tablectl/t1/state"])["hand"] == 99


async def test_backlog_of_events_is_bounded_and_counted(broker: PrivateBroker) -> None:
    service = MqttService(broker.access, "t1", Operator())
    for n in range(mqtt_module.EVENT_BACKLOG + 5):
        service.send("event", EventView(n=n, t=0.0, event={}))
    assert service.dropped_events == 5


async def test_requests_are_answered(broker: PrivateBroker) -> None:
    operator = Operator()
    async with running(MqttService(broker.access, "t1", operator)):
        good = Request(id="a1", verb="answer", args={"question": "q", "choice": "x"})
        payload = good.model_dump_json().encode()
        assert await ask(broker.access, "answer", payload) == Response(id="a1", ok=True)
        assert operator.requests == [good]
        again = await ask(broker.access, "answer", payload)
        assert again.ok
        assert len(operator.requests) == 1, "the same id is carried out once"
        refused = await ask(broker.access, "undo", b'{"id": "u", "verb": "undo"}')
        assert refused == Response(id="u", ok=False, error="nothing to undo")
        broken = await ask(broker.access, "ruling", b'{"id": "r", "verb": "ruling"}')
        assert not broken.ok
        assert "internal error" in broken.error


@pytest.mark.parametrize(
    ("verb", "payload", "said"),
    [
        ("undo", b"not json", "JSON"),
        ("undo", b"[]", "object"),
        ("undo", b'{"id": "x"}', "verb"),
        ("undo", b'{"id": "x", "verb": "answer"}', "topic request/undo"),
        ("undo", b'{"id": "", "verb": "undo"}', "id"),
        ("explode", b'{"id": "x", "verb": "explode"}', "unknown verb"),
        ("undo", b'{"id": "x", "verb": "undo", "args": {"a": "%s"}}' % (b"a" * REQUEST_LIMIT),
         "at most"),
    ],
)  # fmt: skip
async def test_malformed_requests_are_refused(
    broker: PrivateBroker, verb: str, payload: bytes, said: str
) -> None:
    operator = Operator()
    async with running(MqttService(broker.access, "t1", operator)):
        response = await ask(broker.access, verb, payload)
    assert not response.ok
    assert said in response.error
    assert operator.requests == []


async def test_a_retained_request_is_not_repeated_at_the_next_connection(
    broker: PrivateBroker,
) -> None:
    async with client(broker.access, "daemon") as poisoner:
        payload = b'{"id": "x", "verb": "next_hand"}'
        await poisoner.publish("tablectl/t1/request/next_hand", payload, qos=1, retain=True)
    operator = Operator()
    async with running(MqttService(broker.access, "t1", operator)):
        await asyncio.sleep(0.2)
    assert operator.requests == []


@given(st.text(max_size=20), st.binary(max_size=200))
def test_no_bytes_make_the_reader_of_requests_fail(verb: str, payload: bytes) -> None:
    with contextlib.suppress(RequestRefusedError):
        assert read_request(verb, payload).verb == verb


async def test_too_large_a_payload_is_never_dropped_silently(broker: PrivateBroker) -> None:
    service = MqttService(broker.access, "t1", Operator())
    with pytest.raises(PayloadTooLargeError, match="state"):
        service.retain("state", TableState(table="x" * 300_000))
    with pytest.raises(ValueError, match="not a retained topic"):
        service.retain("event", EventView(n=0, t=0.0, event={}))


@pytest.mark.parametrize("table", ["a/b", "+", "#", "", "tä"])
async def test_table_ids_that_break_topics_are_refused(table: str) -> None:
    access = BrokerAccess(BrokerAddress("localhost"), {})
    with pytest.raises(ValueError, match="table id"):
        MqttService(access, table, Operator())


async def test_discovery_is_retained_sent_again_on_birth_and_cleared(
    broker: PrivateBroker, tmp_path: Path
) -> None:
    memory = tmp_path / "state" / "discovery"
    four = discovery("t1", "Table one")
    service = MqttService(broker.access, "t1", Operator(), discovery=four, memory=memory)
    async with running(service), client(broker.access, "daemon") as home:
        await home.subscribe("homeassistant/#", qos=1)
        assert dict(await delivered(home)) == four
        await home.publish(STATUS_TOPIC, b"online", qos=1)
        again = dict(await delivered(home))
        assert {topic: again[topic] for topic in four} == four
    three = discovery("t1", "Table one", seats=3)
    service = MqttService(broker.access, "t1", Operator(), discovery=three, memory=memory)
    async with running(service), client(broker.access, "daemon") as home:
        await home.subscribe("homeassistant/#", qos=1)
        assert dict(await delivered(home)) == three


async def test_no_broker_is_reported_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt_module, "RECONNECT_DELAY", (0.01, 0.02))
    access = BrokerAccess(BrokerAddress(unix=Path("/nonexistent/mqtt.sock")), {})
    service = MqttService(access, "t1", Operator())
    task = asyncio.create_task(service.run())
    await until(lambda: bool(service.last_error))
    assert not service.connected
    service.close()
    await asyncio.wait_for(task, 5.0)


async def test_a_killed_daemon_leaves_its_last_will(broker: PrivateBroker) -> None:
    service = MqttService(broker.access, "t1", Operator())
    async with client(broker.access, "display") as display:
        await display.subscribe("tablectl/t1/availability", qos=1)
        holder: list[aiomqtt.Client] = []
        original = service._client

        def remember() -> aiomqtt.Client:
            holder.append(original())
            return holder[-1]

        service._client = remember  # type: ignore[method-assign]
        async with running(service):
            assert await delivered(display) == [("tablectl/t1/availability", b"online")]
            sock = holder[0]._client.socket()
            assert isinstance(sock, socket.socket)
            sock.shutdown(
                socket.SHUT_RDWR
            )  # as the kernel does for a killed process: no DISCONNECT
            assert (await delivered(display))[0] == ("tablectl/t1/availability", b"offline")
