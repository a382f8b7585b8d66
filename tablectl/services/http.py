"""The daemon's one port: the page, tile faces, logins, and ``/mqtt`` bridged to the broker.

Brokers don't check Origin and Debian's Mosquitto ignores the bind address of a websocket listener,
so browsers reach the broker only through here. There is no second API: everything about the game
goes over MQTT. Only calibrating and teaching, which need the camera's pictures, have requests of
their own under ``/api/calibration`` and ``/api/tile-set``; they take the token that the operator's
login gives.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import re
import secrets
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from aiohttp import WSCloseCode, WSMsgType, web

import vision
from tablectl import __version__
from tablectl.messages import SCHEMA_VERSION
from tablectl.services.broker import BrokerAccess, Credentials
from tablectl.services.calibrating import CalibrationDesk
from tablectl.services.desk import DeskError, NoPictureError
from tablectl.services.teaching import TeachingDesk
from vision.calibration import CalibrationError
from vision.detector import TileSetError, WeightsError

MESSAGE_LIMIT: Final = 64 * 1024
"""Bytes of the largest WebSocket message taken from a browser."""
BODY_LIMIT: Final = 4 * 1024
"""Bytes of the largest request body."""
MAX_BRIDGES: Final = 64
"""Browsers connected at the same time."""
LOGIN_TRIES: Final = 5
"""Wrong passwords allowed from one address within :data:`LOGIN_WINDOW`."""
LOGIN_WINDOW: Final = 60.0
"""Seconds after which a wrong password is forgotten."""
PASSWORD_BYTES: Final = 6
"""Random bytes of a generated operator's password (eight characters)."""
_CHUNK: Final = 16 * 1024
_ART_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}\.svg")
_PRIVATE_SUFFIXES: Final = (".local", ".lan", ".home.arpa", ".internal", ".localhost")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; "
        "style-src 'self' 'unsafe-inline'; font-src 'self' data:; frame-ancestors 'self'; "
        "base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

_NOT_BUILT: Final = """<!doctype html><meta charset="utf-8"><title>tablectl</title>
<body style="font: 1.2rem sans-serif; margin: 3rem">
<h1>The display has not been built</h1>
<p>The daemon runs, but its web page is missing. Run <code>make web</code> in the checkout, or
install tablectl from a wheel, and reload.</p>
<p>記分頁面尚未建置：請執行 <code>make web</code> 後重新載入。</p>
"""

Work = Callable[[object], Awaitable[Mapping[str, object]]]
"""Answers the JSON of one request of the operator."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = structlog.get_logger(__name__)


class ServerError(Exception):
    """The web server can't start; the message says why and what to do."""


def generate_operator_password() -> str:
    """A short random password for the operator, to be typed on a phone."""
    return secrets.token_urlsafe(PASSWORD_BYTES)


class OriginPolicy:
    """Which pages may open ``/mqtt`` and log in.

    A browser's request is let through when its Origin is the host it talks to, and that host is
    one that only this network can mean (an address, a bare or ``.local`` name: a public name that
    points here would be somebody else's page), or when the Origin is in the list. Programs that
    send no Origin pass: they have no user's browser to abuse, and still need a password.

    Args:
        allowed: further origins, ``https://club.example.org``.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = {_normal(origin) for origin in allowed}

    def permits(self, origin: str | None, host: str | None) -> bool:
        """Whether a request with these headers may pass."""
        if origin is None:
            return True
        normal = _normal(origin)
        if normal is None:
            return False
        if normal in self._allowed:
            return True
        own = _normal(f"{normal[0]}://{host or ''}")
        return own is not None and own == normal and _local_name(own[1])


def _normal(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; None when it is none (``null`` included)."""
    try:
        parts = urlsplit(origin.strip().lower())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.username is not None:
        return None
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return None
    return parts.scheme, parts.hostname, port or _DEFAULT_PORTS[parts.scheme]


def _local_name(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    if "." not in host or host.endswith(_PRIVATE_SUFFIXES):
        return True
    return host == socket.gethostname().lower()


class LoginLimiter:
    """Counts wrong passwords by address; bounded in memory.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 when it may now."""
        recent = self._recent(address)
        if len(recent) < LOGIN_TRIES:
            return 0.0
        return max(0.0, recent[-LOGIN_TRIES] + LOGIN_WINDOW - self._now())

    def failed(self, address: str) -> None:
        """Note a wrong password."""
        self._failures[address] = [*self._recent(address), self._now()][-LOGIN_TRIES:]
        self._failures.move_to_end(address)
        while len(self._failures) > 1000:
            self._failures.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Forget the wrong ones."""
        self._failures.pop(address, None)

    def _recent(self, address: str) -> list[float]:
        limit = self._now() - LOGIN_WINDOW
        return [t for t in self._failures.get(address, ()) if t > limit]


class WebServer:
    """Serves one table's display.

    Args:
        access: the broker, and the logins that are handed out.
        table: id of the table, told to the page.
        operator_password: what the operator types; None switches the login off.
        static: the built page; the one in the package by default.
        art: folder of tile faces, ``3m.svg``; the ones in the package by default.
        policy: which origins may connect.
        health: what ``/healthz`` reports; ``{"ok": False, ...}`` makes it answer 503.
        desk: what the page ``#calibrate`` asks; without one there is no camera to calibrate.
        teaching: what the page ``#teach`` asks; likewise.
    """

    def __init__(
        self,
        access: BrokerAccess,
        table: str,
        operator_password: str | None,
        *,
        static: Path | None = None,
        art: Path | None = None,
        policy: OriginPolicy | None = None,
        health: Callable[[], Mapping[str, object]] | None = None,
        desk: CalibrationDesk | None = None,
        teaching: TeachingDesk | None = None,
    ) -> None:
        self._access = access
        self._table = table
        self._operator_password = operator_password
        self._static = (static or default_static()).resolve()
        self._art = art or default_art()
        self._policy = policy or OriginPolicy()
        self._health = health or (lambda: {"ok": True})
        self._work = _works(desk, teaching)
        self._token = secrets.token_urlsafe(24)
        self._limiter = LoginLimiter()
        self._bridges: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None

    @property
    def bridges(self) -> int:
        """Browsers connected now."""
        return len(self._bridges)

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_security_headers])
        app.router.add_get("/mqtt", self._mqtt)
        app.router.add_get("/api/session", self._session)
        app.router.add_post("/api/login", self._login)
        app.router.add_get("/api/{work:calibration/picture}", self._desk)
        app.router.add_post("/api/{work:calibration/(?:trial|save)}", self._desk)
        app.router.add_post("/api/{work:tile-set/(?:trial|save|forget)}", self._desk)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/art/{name}", self._art_file)
        app.router.add_get("/{path:.*}", self._page)
        app.on_shutdown.append(self._close_bridges)
        return app

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen.

        Args:
            host: address to bind; ``""`` or ``0.0.0.0`` for all.
            port: 0 for a free one.
            tls: serve HTTPS with this context.

        Returns:
            The port.

        Raises:
            ServerError: the address can't be bound.
        """
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        site = web.TCPSite(runner, host or None, port, ssl_context=tls)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            raise ServerError(
                f"can't listen on {host or '*'}:{port}: {error.strerror or error}; "
                "is another daemon running? Change server.port in the configuration"
            ) from error
        self._runner = runner
        return int(runner.addresses[0][1])

    async def stop(self) -> None:
        """Close every connection and the port."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _close_bridges(self, _: web.Application) -> None:
        for bridge in tuple(self._bridges):
            await bridge.close(code=WSCloseCode.GOING_AWAY, message=b"server stops")

    def _check_origin(self, request: web.Request) -> None:
        origin = request.headers.get("Origin")
        if not self._policy.permits(origin, request.headers.get("Host")):
            log.warning("origin refused", origin=str(origin)[:200], path=request.path)
            raise web.HTTPForbidden(
                text=f"origin {str(origin)[:200]} is not allowed; see server.allowed_origins\n"
            )

    async def _session(self, request: web.Request) -> web.Response:
        """Login of the role ``display`` and where to connect."""
        self._check_origin(request)
        return self._grant("display", self._access.credentials.get("display"))

    async def _login(self, request: web.Request) -> web.Response:
        """Login of the role ``operator`` for the operator's password."""
        self._check_origin(request)
        address = request.remote or ""
        wait = self._limiter.wait(address)
        if wait > 0:
            return _refuse(429, "too many wrong passwords", {"Retry-After": str(int(wait) + 1)})
        operator = self._access.credentials.get("operator")
        if self._operator_password is None or operator is None:
            return _refuse(403, "the operator's login is switched off")
        if request.content_type != "application/json":
            # A form of a foreign page can't send JSON without asking first.
            return _refuse(415, 'send JSON: {"password": ...}')
        password = await _password_of(request)
        if password is None:
            return _refuse(400, 'send JSON: {"password": ...}')
        if not hmac.compare_digest(password.encode(), self._operator_password.encode()):
            self._limiter.failed(address)
            log.warning("wrong operator password", address=address)
            return _refuse(401, "wrong password")
        self._limiter.succeeded(address)
        return self._grant("operator", operator)

    def _grant(self, role: str, login: Credentials | None) -> web.Response:
        return web.json_response(
            {
                "role": role,
                "username": login.username if login else None,
                "password": login.password if login else None,
                "table": self._table,
                "prefix": f"tablectl/{self._table}/",
                "path": "/mqtt",
                "schema_version": SCHEMA_VERSION,
                "version": __version__,
                "operator_login": self._operator_password is not None
                and self._access.credentials.get("operator") is not None,
                **({"token": self._token} if role == "operator" else {}),
            },
            headers={"Cache-Control": "no-store"},
        )

    def _check_token(self, request: web.Request) -> None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or not hmac.compare_digest(token.encode(), self._token.encode()):
            raise web.HTTPUnauthorized(text="log in as the operator\n")

    async def _desk(self, request: web.Request) -> web.Response:
        """A request of the operator's pages; 409 waits for the camera, 422 says what is wrong."""
        self._check_origin(request)
        self._check_token(request)
        work = self._work.get(request.match_info["work"])
        if work is None:
            raise web.HTTPNotFound(text="no camera is configured\n")
        try:
            wish: Any = await request.json() if request.method == "POST" else None
        except (ValueError, RecursionError):
            return _refuse(400, "send JSON")
        try:
            return web.json_response(await work(wish), headers={"Cache-Control": "no-store"})
        except NoPictureError as error:
            return _refuse(409, str(error))
        except (DeskError, CalibrationError, TileSetError, WeightsError) as error:
            return _refuse(422, str(error))

    async def _healthz(self, _: web.Request) -> web.Response:
        report = dict(self._health())
        ok = bool(report.get("ok", True))
        return web.json_response({**report, "version": __version__}, status=200 if ok else 503)

    async def _art_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if not _ART_NAME.fullmatch(name):
            raise web.HTTPNotFound(text="no such tile face\n")
        return _file(self._art / name, "public, max-age=3600")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        relative = request.match_info["path"]
        index = self._static / "index.html"
        if not index.is_file():
            if relative:
                raise web.HTTPNotFound(text="the display has not been built: run make web\n")
            return web.Response(text=_NOT_BUILT, content_type="text/html", status=503)
        if not relative:
            return _file(index, "no-cache")
        path = (self._static / relative).resolve()
        if not path.is_relative_to(self._static):
            raise web.HTTPNotFound(text="no such file\n")
        hashed = relative.startswith("assets/")
        return _file(path, "public, max-age=31536000, immutable" if hashed else "no-cache")

    async def _mqtt(self, request: web.Request) -> web.StreamResponse:
        """Bridge a WebSocket of subprotocol ``mqtt`` to the broker, byte by byte."""
        self._check_origin(request)
        response = web.WebSocketResponse(
            protocols=("mqtt",), max_msg_size=MESSAGE_LIMIT, heartbeat=30.0, compress=False
        )
        if not response.can_prepare(request).ok:
            raise web.HTTPUpgradeRequired(text="this is an MQTT WebSocket\n")
        offered = request.headers.get("Sec-WebSocket-Protocol", "")
        if "mqtt" not in (part.strip() for part in offered.split(",")):
            raise web.HTTPBadRequest(text="the subprotocol must be mqtt\n")
        if len(self._bridges) >= MAX_BRIDGES:
            raise web.HTTPServiceUnavailable(text="too many displays\n")
        try:
            reader, writer = await self._access.address.open()
        except OSError as error:
            raise web.HTTPServiceUnavailable(text="the broker is away, try again\n") from error
        try:
            await response.prepare(request)
            self._bridges.add(response)
            await _bridge(response, reader, writer)
        finally:
            self._bridges.discard(response)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return response


def default_static() -> Path:
    """Folder of the built page within the package."""
    return Path(__file__).resolve().parent.parent / "web" / "static"


def default_art() -> Path:
    """Folder of the tile faces that come with tablectl."""
    return Path(vision.__file__).resolve().parent / "art"


def _works(calibration: CalibrationDesk | None, teaching: TeachingDesk | None) -> dict[str, Work]:
    """What the desks do, by the path that asks for it."""
    works: dict[str, Work] = {}
    if calibration is not None:
        works["calibration/picture"] = lambda _: calibration.show()
        works["calibration/trial"] = calibration.attempt
        works["calibration/save"] = calibration.save
    if teaching is not None:
        works["tile-set/trial"] = teaching.attempt
        works["tile-set/save"] = teaching.save
        works["tile-set/forget"] = teaching.forget
    return works


async def _bridge(
    browser: web.WebSocketResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carry bytes both ways until either side ends."""

    async def to_broker() -> None:
        async for message in browser:
            if message.type is not WSMsgType.BINARY:
                await browser.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"binary only")
                return
            writer.write(message.data)
            await writer.drain()

    async def to_browser() -> None:
        while data := await reader.read(_CHUNK):
            await browser.send_bytes(data)

    tasks = (asyncio.create_task(to_broker()), asyncio.create_task(to_browser()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(ConnectionError):
            await browser.close(code=WSCloseCode.GOING_AWAY, message=b"broker connection ended")
    for result in results:
        # Either side may vanish at any time: that is how connections end.
        if isinstance(result, Exception) and not isinstance(result, OSError):
            raise result


async def _password_of(request: web.Request) -> str | None:
    try:
        body: Any = await request.json()
    except (ValueError, RecursionError):
        return None
    password = body.get("password") if isinstance(body, dict) else None
    return password if isinstance(password, str) else None


def _refuse(status: int, reason: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response({"error": reason}, status=status, headers=headers)


def _file(path: Path, cache: str) -> web.FileResponse:
    if not path.is_file():
        raise web.HTTPNotFound(text="no such file\n")
    return web.FileResponse(path, headers={"Cache-Control": cache})


@web.middleware
async def _security_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.headers.update(_HEADERS)
        raise
    if not response.prepared:
        response.headers.update(_HEADERS)
    return response
