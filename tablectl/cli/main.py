"""The ``tablectl`` command: one sub-command a job."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tablectl import __version__
from tablectl.cli import broker, ledger, record, table
from tablectl.cli.calibrate import calibrate
from tablectl.cli.demo import demo
from tablectl.cli.doctor import doctor
from tablectl.cli.drive import do
from tablectl.cli.flash import flash
from tablectl.cli.follow import follow
from tablectl.cli.read import read
from tablectl.cli.replay import replay
from tablectl.cli.rules import rules
from tablectl.cli.run import run
from tablectl.cli.score import score
from tablectl.cli.teach import teach_command
from tablectl.services import logs

app = typer.Typer(
    name="tablectl",
    help="Live scoreboard and referee for automatic mahjong tables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    del version
    logs.configure("warning")


for command in (demo, run, replay, read, score, follow, rules, calibrate, doctor, flash):
    app.command()(command)
app.command("teach")(teach_command)
app.add_typer(record.app, name="record")
app.add_typer(ledger.app, name="ledger")
table.app.command()(do)
app.add_typer(table.app, name="table")
app.command("broker-config")(broker.broker_config)
app.command("asyncapi")(broker.asyncapi)


def main() -> None:
    """Run the command line; an interrupt ends quietly."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
