"""Services made from the configuration, as the daemon starts them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tablectl.config import BrokerConfig, Config, ServerConfig
from tablectl.services.broker import (
    BrokerAccess,
    Credentials,
    PrivateBroker,
    Role,
    external_access,
)
from tablectl.services.http import ServerError, generate_operator_password
from tablectl.services.supervise import Supervised
from vision.detector import TileSet


@asynccontextmanager
async def open_broker(config: BrokerConfig, table: str) -> AsyncIterator[BrokerAccess]:
    """The configured broker: another's, or a private one that is kept alive meanwhile.

    Args:
        config: section ``broker``.
        table: id of the table.

    Raises:
        BrokerError: Mosquitto is missing or does not start.
    """
    if config.url is not None:
        yield external_access(
            config.url.get_secret_value(), _login(config, "display"), _login(config, "operator")
        )
        return
    passwords: dict[Role, Credentials] = {}
    for role in ("display", "operator"):
        login = _login(config, role)
        if login is not None:
            passwords[role] = login
    async with (
        PrivateBroker(table, listen=config.listen, logins=passwords) as broker,
        Supervised([broker.supervise()]),
    ):
        yield broker.access


def _login(config: BrokerConfig, role: Role) -> Credentials | None:
    user = getattr(config, f"{role}_user")
    password = getattr(config, f"{role}_password")
    if user is None or password is None:
        return None
    return Credentials(user, password.get_secret_value())


def operator_password(config: ServerConfig) -> tuple[str, bool]:
    """The operator's password, and whether it was generated just now and must be shown."""
    if config.operator_password is not None:
        return config.operator_password.get_secret_value(), False
    return generate_operator_password(), True


def kept_tile_set(config: Config) -> TileSet | None:
    """The taught set; None where its file is missing, even if the configuration names it.

    Raises:
        TileSetError: the file is damaged or can't be read.
    """
    if not config.tile_set_path.exists():
        return None
    return TileSet.load(config.tile_set_path)


def tls_context(config: ServerConfig) -> ssl.SSLContext | None:
    """Context of the configured certificate; None without one.

    Raises:
        ServerError: the files are missing or don't belong together.
    """
    if config.certificate is None or config.key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(config.certificate, config.key)
    except (OSError, ssl.SSLError) as error:
        raise ServerError(
            f"{config.certificate} with {config.key} is no certificate: {error}"
        ) from error
    return context
