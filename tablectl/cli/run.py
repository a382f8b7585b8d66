"""``tablectl run``: the daemon beside a table."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from tablectl.cli.common import clear_errors
from tablectl.config import load
from tablectl.daemon import Daemon
from tablectl.services import logs


def run(
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Configuration file (TOML).", show_default=False),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Id of the session; made of the date when left out.")
    ] = None,
) -> None:
    """Run the daemon until it is stopped (Ctrl-C or SIGTERM) or the host ends the session."""
    with clear_errors():
        settings = load(config)
        logs.configure(settings.log_level)
        asyncio.run(_run(Daemon(settings, session=session)))


async def _run(daemon: Daemon) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async with daemon.run() as running:
        typer.echo(f"Open {running.url} in a browser; operator password: "
                   f"{running.operator_password}")  # fmt: skip
        waits = [asyncio.create_task(event.wait()) for event in (stop, running.ended)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
