"""``tablectl broker-config`` and ``tablectl asyncapi``: for people with a broker of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tablectl.services import asyncapi as document
from tablectl.services.broker import BrokerAddressError, write_broker_config, write_private

FAILED, MALFORMED = 1, 2


def broker_config(
    out: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("mosquitto"),
    *,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where the broker listens.")
    ] = "0.0.0.0:1883",
    table: Annotated[
        list[str] | None,
        typer.Option(help="Id of a table on this broker; repeatable. All when left out."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write configuration, passwords and access list for a Mosquitto that serves many tables.

    Displays may only read, the operator may also ask, the daemon may do all. The [broker] section
    for the daemon's configuration, with the passwords, goes into broker.toml beside them.
    """
    if (out / "mosquitto.conf").exists() and not force:
        typer.echo(f"{out / 'mosquitto.conf'} exists: --force replaces it and its passwords",
                   err=True)  # fmt: skip
        raise typer.Exit(MALFORMED)
    try:
        logins = write_broker_config(out, listen, table or ("+",))
    except BrokerAddressError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    except OSError as error:
        typer.echo(f"{out}: {error.strerror}", err=True)
        raise typer.Exit(FAILED) from None
    host, _, port = listen.rpartition(":")
    reachable = "localhost" if host in ("0.0.0.0", "[::]", "::") else host
    write_private(
        out / "broker.toml",
        "[broker]\n"
        f'url = "mqtt://daemon:{logins["daemon"].password}@{reachable}:{port}"\n'
        'display_user = "display"\n'
        f'display_password = "{logins["display"].password}"\n'
        'operator_user = "operator"\n'
        f'operator_password = "{logins["operator"].password}"\n',
    )
    typer.echo(f"wrote {out}/mosquitto.conf, passwords, acl and broker.toml")
    typer.echo(f"start it:       mosquitto -c {out}/mosquitto.conf")
    typer.echo(f"use it:         copy {out}/broker.toml into the daemon's configuration")
    typer.echo("as a service:   the user mosquitto must be able to read passwords and acl "
               "(sudo chown mosquitto)")  # fmt: skip


def asyncapi(
    out: Annotated[Path | None, typer.Option(help="File to write; standard output else.")] = None,
) -> None:
    """Print the AsyncAPI 3 document of all MQTT topics."""
    text = document.render()
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        typer.echo(f"{out}: {error.strerror}", err=True)
        raise typer.Exit(MALFORMED) from None
