"""The daemon's MQTT side: retained views out, events out, operator requests in.

What is retained is remembered here and sent again on every connection, so a broker that lost its
memory, or a new one, shows the table as it is. Each connection is a new client object.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import aiomqtt
import structlog
from pydantic import ValidationError

from tablectl.messages import TOPICS, Message, Request, Response, Verb
from tablectl.services import homeassistant
from tablectl.services.broker import PAYLOAD_LIMIT, BrokerAccess

REQUEST_LIMIT: Final = 16 * 1024
"""Bytes of the largest request that is looked at."""
EVENT_BACKLOG: Final = 1000
"""Events kept for a broker that is away; older ones are dropped and counted."""
RECONNECT_DELAY: Final = (0.2, 15.0)
"""Shortest and longest pause before the next attempt to connect, seconds."""
ANSWERED: Final = 256
"""Request ids remembered, so that a request delivered twice is carried out once."""
PUBLISH_TIMEOUT: Final = 10.0
"""Seconds for the broker to acknowledge."""
KEEPALIVE: Final = 20
"""Seconds of silence after which broker and daemon look for each other."""

_RETAINED: Final = {topic.name for topic in TOPICS if topic.retained}
_VERB: Final = re.compile(r"[a-z_]{1,32}")
_TABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

RequestHandler = Callable[[Request], Awaitable[Response]]

log = structlog.get_logger(__name__)


class PayloadTooLargeError(Exception):
    """A message is larger than the broker takes; it names topic and size."""


class RequestRefusedError(Exception):
    """Raised by a request handler to refuse; the text goes to the operator."""


class MqttService:
    """Keeps one table's topics on a broker up to date.

    Args:
        access: the broker and the daemon's login.
        table: id of the table, a part of every topic.
        on_request: carries out a well-formed request; may raise :class:`RequestRefusedError`.
        discovery: Home Assistant discovery, topic to payload; none when empty.
        memory: file that remembers which discovery topics were sent, so that those of a former
            configuration are cleared; None does without.

    Raises:
        ValueError: the table's id has characters that a topic can't carry.
    """

    def __init__(
        self,
        access: BrokerAccess,
        table: str,
        on_request: RequestHandler,
        discovery: Mapping[str, bytes] | None = None,
        memory: Path | None = None,
    ) -> None:
        if not _TABLE.fullmatch(table):
            raise ValueError(f"table id {table!r}: letters, digits, - and _ only, at most 64")
        self._access = access
        self._base = f"tablectl/{table}"
        self._on_request = on_request
        self._discovery = dict(discovery or {})
        self._memory = memory
        self._retained: dict[str, bytes] = {}
        self._dirty: dict[str, None] = {}
        self._events: deque[tuple[str, bytes]] = deque()
        self._answers: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()
        self._working: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._connected = asyncio.Event()
        self.connections = 0
        self.dropped_events = 0
        self.last_error = ""

    @property
    def connected(self) -> bool:
        """Whether the broker has everything that was sent before the connection was made."""
        return self._connected.is_set()

    async def wait_connected(self) -> None:
        """Return once connected and everything retained has been sent."""
        await self._connected.wait()

    def retain(self, name: str, message: Message) -> None:
        """Set a retained topic; the newest value is what the broker gets.

        Raises:
            ValueError: ``name`` is not a retained topic.
            PayloadTooLargeError: beyond :data:`~tablectl.services.broker.PAYLOAD_LIMIT`.
        """
        if name not in _RETAINED:
            raise ValueError(f"{name!r} is not a retained topic")
        topic = f"{self._base}/{name}"
        payload = _encode(topic, message)
        if self._retained.get(topic) == payload:
            return
        self._retained[topic] = payload
        self._dirty[topic] = None
        self._wake.set()

    def send(self, name: str, message: Message) -> None:
        """Send a message that is not retained, in order, also after a short loss of the broker.

        Raises:
            PayloadTooLargeError: beyond :data:`~tablectl.services.broker.PAYLOAD_LIMIT`.
        """
        topic = f"{self._base}/{name}"
        self._queue(topic, _encode(topic, message))

    def _queue(self, topic: str, payload: bytes) -> None:
        if len(self._events) >= EVENT_BACKLOG:
            self._events.popleft()
            self.dropped_events += 1
        self._events.append((topic, payload))
        self._wake.set()

    async def run(self) -> None:
        """Stay connected until :meth:`close`; then say ``offline`` and return."""
        pause = RECONNECT_DELAY[0]
        while not self._stop.is_set():
            try:
                async with self._client() as client:
                    pause = RECONNECT_DELAY[0]
                    self.last_error = ""
                    await self._serve(client)
            except aiomqtt.MqttError as error:
                self.last_error = str(error)
                log.warning("no broker", address=str(self._access.address), error=str(error))
            finally:
                self._connected.clear()
            if self._stop.is_set():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            pause = min(2 * pause, RECONNECT_DELAY[1])

    def close(self) -> None:
        """Ask :meth:`run` to send what is pending, say ``offline`` and end."""
        self._stop.set()
        self._wake.set()

    def _client(self) -> aiomqtt.Client:
        address = self._access.address
        login = self._access.credentials.get("daemon")
        return aiomqtt.Client(
            hostname=str(address.unix) if address.unix is not None else address.host,
            port=address.port,
            transport="unix" if address.unix is not None else "tcp",
            tls_context=address.ssl_context(),
            username=login.username if login else None,
            password=login.password if login else None,
            # Not to be guessed: a second client with the same id would push this one out.
            identifier=f"tablectl-{secrets.token_hex(8)}",
            will=aiomqtt.Will(f"{self._base}/availability", b"offline", qos=1, retain=True),
            timeout=PUBLISH_TIMEOUT,
            keepalive=KEEPALIVE,
            max_queued_incoming_messages=100,
        )

    async def _serve(self, client: aiomqtt.Client) -> None:
        await client.subscribe(f"{self._base}/request/+", qos=1)
        if self._discovery:
            await client.subscribe(homeassistant.STATUS_TOPIC, qos=1)
        await self._republish(client)
        self.connections += 1
        self._connected.set()
        receiver = asyncio.create_task(self._receive(client))
        sender = asyncio.create_task(self._send_changes(client))
        try:
            await asyncio.wait((receiver, sender), return_when=asyncio.FIRST_COMPLETED)
            if sender.done() and sender.exception() is None:
                await self._say_offline(client)
        except asyncio.CancelledError:
            # A cancelled connection is closed in good order: no last will is sent for us.
            await self._say_offline(client)
            raise
        finally:
            for task in (receiver, sender):
                task.cancel()
            results = await asyncio.gather(receiver, sender, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def _say_offline(self, client: aiomqtt.Client) -> None:
        await client.publish(f"{self._base}/availability", b"offline", qos=1, retain=True)

    async def _republish(self, client: aiomqtt.Client) -> None:
        await self._clear_stale_discovery(client)
        for topic, payload in self._discovery.items():
            await client.publish(topic, payload, qos=1, retain=True)
        for topic in list(self._retained):
            # Looked up now: it may have changed while the ones before it were sent.
            await client.publish(topic, self._retained[topic], qos=1, retain=True)
        await client.publish(f"{self._base}/availability", b"online", qos=1, retain=True)

    async def _clear_stale_discovery(self, client: aiomqtt.Client) -> None:
        if self._memory is None:
            return
        before: set[str] = set()
        if self._memory.exists():
            before = set(self._memory.read_text(encoding="utf-8").split())
        for topic in homeassistant.stale(before, set(self._discovery)):
            await client.publish(topic, b"", qos=1, retain=True)
        self._memory.parent.mkdir(parents=True, exist_ok=True)
        self._memory.write_text("\n".join(self._discovery) + "\n", encoding="utf-8")

    async def _send_changes(self, client: aiomqtt.Client) -> None:
        """Send until closed; raises MqttError when the broker goes away."""
        while True:
            while self._events or self._dirty:
                await self._send_next(client)
            if self._stop.is_set():
                return
            self._wake.clear()
            await self._wake.wait()

    async def _send_next(self, client: aiomqtt.Client) -> None:
        if self._events:
            topic, payload = self._events[0]
            await client.publish(topic, payload, qos=1)
            # The backlog may have dropped it meanwhile.
            if self._events and self._events[0] == (topic, payload):
                self._events.popleft()
        if self._dirty:
            topic = next(iter(self._dirty))
            del self._dirty[topic]
            await client.publish(topic, self._retained[topic], qos=1, retain=True)

    async def _receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            topic = message.topic.value
            payload = message.payload if isinstance(message.payload, bytes) else b""
            if topic == homeassistant.STATUS_TOPIC:
                if payload == b"online":
                    await self._republish(client)
                continue
            # A task each: a request that waits for the table must not hold up the next, a stop.
            task = asyncio.create_task(
                self._take_request(topic, payload, retained=bool(message.retain))
            )
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    async def _take_request(self, topic: str, payload: bytes, *, retained: bool) -> None:
        verb = topic.rpartition("/")[2]
        if not payload:
            return
        if not _VERB.fullmatch(verb):
            log.warning("request on a strange topic ignored", topic=topic[:100])
            return
        answer = await self._answer(verb, payload, retained=retained)
        self._queue(f"{self._base}/response/{verb}", answer)

    async def _answer(self, verb: str, payload: bytes, *, retained: bool) -> bytes:
        try:
            request = read_request(verb, payload, retained=retained)
        except RequestRefusedError as error:
            log.warning("request refused", verb=verb, error=str(error))
            return _response(_id_of(payload), str(error))
        key = f"{verb}:{request.id}"
        if key not in self._answers:
            self._answers[key] = asyncio.create_task(self._carry_out(request))
            while len(self._answers) > ANSWERED:
                self._answers.popitem(last=False)
        return await self._answers[key]

    async def _carry_out(self, request: Request) -> bytes:
        try:
            response = await self._on_request(request)
        except RequestRefusedError as error:
            return _response(request.id, str(error))
        except Exception as error:
            log.exception("request failed", verb=request.verb, id=request.id)
            return _response(request.id, f"internal error: {error!r}")
        return response.model_dump_json().encode()


def read_request(verb: str, payload: bytes, *, retained: bool = False) -> Request:
    """Check an operator's request.

    Args:
        verb: last level of the topic.
        payload: what was published.
        retained: whether the broker delivered it from its memory.

    Raises:
        RequestRefusedError: too large, retained, malformed, or of another verb than its topic.
    """
    if retained:
        raise RequestRefusedError("requests must not be retained: they would be repeated")
    if len(payload) > REQUEST_LIMIT:
        raise RequestRefusedError(f"{len(payload)} bytes: a request has at most {REQUEST_LIMIT}")
    if verb not in get_args(Verb):
        raise RequestRefusedError(f"unknown verb {verb!r}: one of {', '.join(get_args(Verb))}")
    try:
        request = Request.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "payload"
        raise RequestRefusedError(f"{where}: {first['msg']}") from None
    if request.verb != verb:
        raise RequestRefusedError(f"verb {request.verb!r} on topic request/{verb}")
    if not 0 < len(request.id) <= 128:
        raise RequestRefusedError("id: 1 to 128 characters")
    return request


def _id_of(payload: bytes) -> str:
    """The id of a refused request as far as it can be read."""
    if len(payload) > REQUEST_LIMIT:
        return ""
    try:
        value: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    found = value.get("id") if isinstance(value, dict) else None
    return found[:128] if isinstance(found, str) else ""


def _response(request_id: str, error: str) -> bytes:
    return Response(id=request_id, ok=False, error=error).model_dump_json().encode()


def _encode(topic: str, message: Message) -> bytes:
    payload = message.model_dump_json().encode()
    if len(payload) > PAYLOAD_LIMIT - len(topic) - 16:
        raise PayloadTooLargeError(f"{topic}: {len(payload)} bytes, at most {PAYLOAD_LIMIT}")
    return payload
