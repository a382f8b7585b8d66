"""The MQTT broker: a private Mosquitto as the daemon's child, or somebody else's by its address.

The private broker listens on a socket file that only this user can open; displays reach it through
the web server's ``/mqtt``. Three roles have a password and an access list each: ``display`` reads
what the daemon publishes, ``operator`` may also write requests, ``daemon`` may do all.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import os
import re
import secrets
import shutil
import ssl
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

import structlog

from tablectl.messages import TOPICS

Role = Literal["daemon", "display", "operator"]
ROLES: Final[tuple[Role, ...]] = ("daemon", "display", "operator")

PAYLOAD_LIMIT: Final = 256 * 1024
"""Bytes of the largest message that the broker takes."""
START_TIMEOUT: Final = 10.0
"""Seconds in which a started Mosquitto must accept connections."""
RESTART_DELAY: Final = (0.2, 10.0)
"""Shortest and longest pause before a broker that died is started again, seconds."""
STABLE_AFTER: Final = 30.0
"""A broker that lived this many seconds is restarted without a long pause."""
_ITERATIONS: Final = 101
_SEARCH: Final = "/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin:/snap/bin"

log = structlog.get_logger(__name__)


class BrokerError(Exception):
    """The broker can't be used; the message says what to do."""


class BrokerMissingError(BrokerError):
    """Mosquitto is not installed."""


class BrokerAddressError(BrokerError, ValueError):
    """A broker URL that can't be understood."""


@dataclass(frozen=True)
class Credentials:
    """User name and password of one role."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class BrokerAddress:
    """Where a broker listens: a socket file, or host and port with or without TLS."""

    host: str = ""
    port: int = 1883
    unix: Path | None = None
    tls: bool = False

    def __str__(self) -> str:
        if self.unix is not None:
            return f"unix:{self.unix}"
        return f"{'mqtts' if self.tls else 'mqtt'}://{self.host}:{self.port}"

    def ssl_context(self) -> ssl.SSLContext | None:
        """Context with the system's certificate authorities, or None without TLS."""
        return ssl.create_default_context() if self.tls else None

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a byte stream to the broker.

        Raises:
            OSError: nobody answers there.
        """
        if self.unix is not None:
            return await asyncio.open_unix_connection(str(self.unix))
        return await asyncio.open_connection(self.host, self.port, ssl=self.ssl_context())


@dataclass(frozen=True)
class BrokerAccess:
    """A broker and who may log in there."""

    address: BrokerAddress
    credentials: Mapping[Role, Credentials | None]


def parse_broker_url(url: str) -> tuple[BrokerAddress, Credentials | None]:
    """Read ``mqtt://[user:password@]host[:port]``, ``mqtts://...`` or ``unix:/path``.

    Raises:
        BrokerAddressError: another scheme, no host, or a bad port.
    """
    parts = urlsplit(url)
    if parts.scheme == "unix":
        if not parts.path:
            raise BrokerAddressError(f"broker {url!r}: give the socket file, unix:/run/mqtt.sock")
        return BrokerAddress(unix=Path(parts.path)), None
    try:
        port = parts.port
    except ValueError:
        raise BrokerAddressError(f"broker {_without_password(url)!r}: bad port") from None
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname:
        raise BrokerAddressError(
            f"broker {_without_password(url)!r}: expected mqtt://host:1883, mqtts://host:8883 "
            "or unix:/path"
        )
    tls = parts.scheme == "mqtts"
    address = BrokerAddress(parts.hostname, port or (8883 if tls else 1883), tls=tls)
    if parts.username is None:
        return address, None
    return address, Credentials(unquote(parts.username), unquote(parts.password or ""))


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if rest else url


def find_mosquitto() -> Path:
    """Path of the Mosquitto program.

    Raises:
        BrokerMissingError: it is not installed.
    """
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path=_SEARCH)
    if found is None:
        raise BrokerMissingError(
            "mosquitto is not installed: run `sudo apt-get install mosquitto`, "
            "or use an existing broker with --broker mqtt://host"
        )
    return Path(found)


def generate_credentials() -> dict[Role, Credentials]:
    """A fresh random password for each role."""
    return {role: Credentials(role, secrets.token_urlsafe(24)) for role in ROLES}


def password_line(credentials: Credentials, salt: bytes | None = None) -> str:
    """One line of a Mosquitto 2 password file (PBKDF2-SHA512, as mosquitto_passwd writes)."""
    salt = secrets.token_bytes(12) if salt is None else salt
    digest = hashlib.pbkdf2_hmac("sha512", credentials.password.encode(), salt, _ITERATIONS)
    fields = (base64.b64encode(salt).decode(), base64.b64encode(digest).decode())
    return f"{credentials.username}:$7${_ITERATIONS}${fields[0]}${fields[1]}\n"


def access_list(tables: Iterable[str] = ("+",), users: Mapping[Role, str] | None = None) -> str:
    """Mosquitto access list of the three roles.

    Args:
        tables: ids of the tables that displays may see; ``+`` for all.
        users: user name by role; the role's own name where left out.
    """
    names = {role: (users or {}).get(role, role) for role in ROLES}
    readable = [
        f"topic read tablectl/{table}/{topic.name}"
        for table in tables
        for topic in TOPICS
        if topic.writer == "daemon" and not topic.name.startswith("response/")
    ]
    answers = [f"topic read tablectl/{table}/response/+" for table in tables]
    requests = [f"topic write tablectl/{table}/request/+" for table in tables]
    home = ["topic read homeassistant/#", "topic write homeassistant/status"]
    sections = [
        [f"user {names['daemon']}", "topic readwrite #"],
        [f"user {names['display']}", *readable],
        [f"user {names['operator']}", *readable, *answers, *requests, *home],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def broker_config(listeners: Iterable[str], directory: Path, user: str | None = None) -> str:
    """Text of ``mosquitto.conf``; the password and access files lie beside it.

    Args:
        listeners: arguments of ``listener`` lines, ``1883 0.0.0.0`` or ``0 /run/mqtt.sock``.
        directory: where ``passwords`` and ``acl`` lie.
        user: system user to run as when started by root.
    """
    lines = [
        "per_listener_settings false",
        "allow_anonymous false",
        f"password_file {directory / 'passwords'}",
        f"acl_file {directory / 'acl'}",
        "persistence false",
        f"max_packet_size {PAYLOAD_LIMIT + 1024}",
        "max_queued_messages 1000",
        "max_inflight_messages 100",
        "max_keepalive 120",
        "sys_interval 0",
        "log_dest stderr",
        "log_type error",
        "log_type warning",
        "log_type notice",
        "connection_messages false",
    ]
    if user is not None:
        lines.append(f"user {user}")
    for listener in listeners:
        lines.append(f"listener {listener}")
        if not listener.startswith("0 ") and "set_tcp_nodelay true" not in lines:
            lines.append("set_tcp_nodelay true")
    return "\n".join(lines) + "\n"


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def parse_listen(text: str) -> str:
    """``0.0.0.0:1883`` as the arguments of a ``listener`` line.

    Raises:
        BrokerAddressError: not ``host:port``.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise BrokerAddressError(f"listen address {text!r}: expected host:port, 0.0.0.0:1883")
    return f"{port} {host.strip('[]')}"


def write_broker_config(
    directory: Path, listen: str = "0.0.0.0:1883", tables: Iterable[str] = ("+",)
) -> dict[Role, Credentials]:
    """Write ``mosquitto.conf``, ``passwords`` and ``acl`` for a broker that stands by itself.

    Args:
        directory: where they go; made when missing.
        listen: address of the broker, ``host:port``.
        tables: ids of its tables; ``+`` for any.

    Returns:
        The generated logins, which are stored nowhere else in clear.

    Raises:
        BrokerAddressError: ``listen`` is not ``host:port``.
        OSError: the folder can't be written.
    """
    listener = parse_listen(listen)
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    credentials = generate_credentials()
    write_private(directory / "passwords", "".join(map(password_line, credentials.values())))
    write_private(directory / "acl", access_list(tables))
    text = broker_config([listener], directory)
    (directory / "mosquitto.conf").write_text(text, encoding="utf-8")
    return credentials


async def mosquitto_version() -> str:
    """Version of the installed Mosquitto, ``2.0.11``.

    Raises:
        BrokerMissingError: it is not installed.
        BrokerError: it does not tell.
    """
    process = await asyncio.create_subprocess_exec(
        str(find_mosquitto()),
        "-h",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    found = re.search(r"mosquitto version (\S+)", output.decode(errors="replace"))
    if found is None:
        raise BrokerError(f"mosquitto does not tell its version: {output[:200]!r}")
    return found[1]


class PrivateBroker:
    """Mosquitto as a child process, restarted when it dies and gone when we go.

    Use as ``async with PrivateBroker(table="main") as broker:`` and keep :meth:`supervise` running.

    Args:
        table: id of the table whose topics displays may read.
        listen: further address ``host:port`` for programs outside, say Home Assistant.
        logins: fixed logins by role; the others are generated.
        on_restart: called after each restart.
    """

    def __init__(
        self,
        table: str,
        listen: str | None = None,
        logins: Mapping[Role, Credentials] | None = None,
        on_restart: Callable[[], None] | None = None,
    ) -> None:
        self._table = table
        self._listen = parse_listen(listen) if listen else None
        self._credentials: dict[Role, Credentials] = {**generate_credentials(), **(logins or {})}
        self._on_restart = on_restart
        self._directory: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._pump: asyncio.Task[None] | None = None
        self._tail: deque[str] = deque(maxlen=20)
        self.restarts = 0

    @property
    def access(self) -> BrokerAccess:
        """Address and passwords.

        Raises:
            BrokerError: not started.
        """
        return BrokerAccess(BrokerAddress(unix=self._socket()), self._credentials)

    @property
    def pid(self) -> int | None:
        """Process id of the running Mosquitto."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and running else None

    def _socket(self) -> Path:
        if self._directory is None:
            raise BrokerError("the broker has not been started")
        return self._directory / "mqtt.sock"

    async def __aenter__(self) -> PrivateBroker:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Write configuration and passwords, start Mosquitto, wait until it answers.

        Raises:
            BrokerMissingError: Mosquitto is not installed.
            BrokerError: it does not come up; its last words are quoted.
        """
        program = find_mosquitto()
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="tablectl-mqtt-"))
            self._write_files(self._directory)
        self._socket().unlink(missing_ok=True)
        command = [str(program), "-c", str(self._directory / "mosquitto.conf")]
        setpriv = shutil.which("setpriv")
        if setpriv is not None:
            # The kernel ends the child when this process dies in whatever way.
            command = [setpriv, "--pdeathsig", "TERM", *command]
        self._tail.clear()
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            # Ctrl-C in a terminal is ours to answer: the broker must outlive our last words.
            start_new_session=True,
        )
        self._pump = asyncio.create_task(self._read_log(self._process))
        try:
            await self._wait_until_up(self._process)
        except BaseException:
            await self._end_process()
            raise

    def _write_files(self, directory: Path) -> None:
        # The socket file last: once it answers, the other address has been bound as well.
        listeners = [] if self._listen is None else [self._listen]
        listeners.append(f"0 {directory / 'mqtt.sock'}")
        user = "root" if os.geteuid() == 0 else None
        write_private(
            directory / "passwords", "".join(map(password_line, self._credentials.values()))
        )
        users = {role: login.username for role, login in self._credentials.items()}
        write_private(directory / "acl", access_list((self._table,), users))
        write_private(directory / "mosquitto.conf", broker_config(listeners, directory, user))

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._tail.append(text)
            log.debug("mosquitto", line=text)

    async def _wait_until_up(self, process: asyncio.subprocess.Process) -> None:
        address = BrokerAddress(unix=self._socket())
        deadline = asyncio.get_running_loop().time() + START_TIMEOUT
        while asyncio.get_running_loop().time() < deadline:
            if process.returncode is not None:
                break
            with contextlib.suppress(OSError):
                _, writer = await address.open()
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
                return
            await asyncio.sleep(0.02)
        if self._pump is not None and process.returncode is not None:
            await self._pump
        said = " | ".join(self._tail) or "nothing"
        raise BrokerError(f"mosquitto did not start (exit {process.returncode}); it said: {said}")

    async def supervise(self) -> None:
        """Restart Mosquitto whenever it ends, until cancelled.

        Raises:
            BrokerMissingError: the program has vanished.
        """
        pause = RESTART_DELAY[0]
        loop = asyncio.get_running_loop()
        while True:
            if self._process is None:
                raise BrokerError("the broker has not been started")
            since = loop.time()
            code = await self._process.wait()
            pause = RESTART_DELAY[0] if loop.time() - since > STABLE_AFTER else pause
            log.warning("mosquitto ended, starting it again", exit=code, pause=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, RESTART_DELAY[1])
            try:
                await self.start()
            except BrokerMissingError:
                raise
            except BrokerError as error:
                log.warning("broker restart failed", error=str(error))
                continue
            self.restarts += 1
            if self._on_restart is not None:
                self._on_restart()

    async def stop(self) -> None:
        """End Mosquitto and delete its files."""
        await self._end_process()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    async def _end_process(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), 5.0)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._pump is not None:
            await self._pump
            self._pump = None


def external_access(
    url: str,
    display: Credentials | None = None,
    operator: Credentials | None = None,
) -> BrokerAccess:
    """Access to an existing broker.

    Args:
        url: where it is, with the daemon's login, ``mqtt://daemon:secret@host``.
        display, operator: logins handed to the page; without one the page connects anonymously
            (``display``) or operating from the page is switched off (``operator``).

    Raises:
        BrokerAddressError: the URL can't be understood.
    """
    address, daemon = parse_broker_url(url)
    return BrokerAccess(address, {"daemon": daemon, "display": display, "operator": operator})
