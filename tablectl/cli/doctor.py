"""``tablectl doctor``: what is wrong with this installation, and what to do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from tablectl.config import ConfigError, load
from tablectl.services import logs
from tablectl.services.checks import Check
from tablectl.services.doctor import examine

PROBLEMS, MALFORMED = 1, 2
_MARKS: Final = {
    "ok": "[green]ok[/]",
    "warning": "[yellow]warning[/]",
    "problem": "[red]problem[/]",
    "skipped": "[dim]skipped[/]",
}


def doctor(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Configuration file (TOML).")
    ] = None,
    *,
    table: Annotated[
        bool,
        typer.Option(
            "--table", help="Ask the table's controller who it is; opening the port may reset it."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Check serial line, camera, calibration, weights, broker, disk, clock and page.

    The camera is watched for some seconds; each state that the display may show has its remedy.

    Exit code 0: nothing stands in the way; 1: there are problems; 2: the configuration is wrong.
    """
    try:
        loaded = load(config)
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    logs.configure("warning")
    checks = asyncio.run(examine(loaded, identity=table))
    problems = [check for check in checks if check.status == "problem"]
    if as_json:
        report = {"ok": not problems, "checks": [asdict(check) for check in checks]}
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        _print(checks)
    if problems:
        raise typer.Exit(PROBLEMS)


def _print(checks: list[Check]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        table.add_row(check.name, _MARKS[check.status], check.detail)
        if check.remedy and check.status in ("warning", "problem"):
            table.add_row("", "", f"[bold]→ {check.remedy}[/]")
    Console().print(table)
