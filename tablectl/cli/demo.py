"""``tablectl demo``: a simulated session through every real part, live on the page."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from tablectl.cli.common import clear_errors, parse_options
from tablectl.config import default_state_dir
from tablectl.daemon import Running
from tablectl.demo import DemoOptions, DemoResult, run_demo

DISAGREES: Final = 1
INTERRUPTED: Final = 130
"""Stopped before the hands that were asked for; the shell's code for Ctrl-C."""


def demo(
    rules: Annotated[str, typer.Option(help="Rule set; 'tablectl rules' lists them.")] = "hongkong",
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="Option of the rule set, key=value.")
    ] = None,
    hands: Annotated[
        int | None, typer.Option(min=1, help="End after so many hands; without it, never.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides tiles and players.")] = 1,
    speed: Annotated[
        Literal["live", "max"], typer.Option(help="In real time, or as fast as it goes.")
    ] = "live",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page.")] = 8765,
    host: Annotated[str, typer.Option(help="Address of the page; 0.0.0.0 for all.")] = "127.0.0.1",
    art: Annotated[
        Path | None,
        typer.Option(exists=True, help="Other tile faces: folder of SVG or PNG, or a font."),
    ] = None,
    look: Annotated[
        int | None,
        typer.Option(help="One of the random looks of table and light that training never saw."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(file_okay=False, help="Folder for recording and ledger.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=16, help="Threads of the recogniser.")] = 1,
    *,
    firmware: Annotated[
        bool, typer.Option("--firmware", help="The table is the real firmware, in simavr.")
    ] = False,
    headless: Annotated[
        bool, typer.Option("--headless", help="No page to look at: only the result.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play a simulated session: serial line, camera, recogniser, referee, page, all for real.

    The table, its camera and its players are simulated; everything between them and the page is
    the product. The last line says whether the published scores are those that were played.
    """
    with clear_errors():
        options = DemoOptions(
            rules=rules, options=parse_options(option or []), hands=hands, seed=seed,
            fast=speed == "max", host=host, port=0 if headless else port,
            keep=keep or (None if headless else _folder()), art=art, style_seed=look,
            threads=threads, firmware=firmware,
        )  # fmt: skip
        result = asyncio.run(_unless_stopped(
            run_demo(
                options,
                progress=lambda line: typer.echo(line, err=as_json),
                on_start=lambda running: _greet(running, headless=headless, quiet=as_json),
            )
        ))  # fmt: skip
    if result is None:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(0 if hands is None else INTERRUPTED)
    _report(result, as_json=as_json)
    raise typer.Exit(0 if result.agree else DISAGREES)


async def _unless_stopped(session: Coroutine[Any, Any, DemoResult]) -> DemoResult | None:
    """The session's result; nothing once Ctrl-C or SIGTERM has ended it in good order."""
    task = asyncio.create_task(session)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return None


def _folder() -> Path:
    return default_state_dir() / "demo" / time.strftime("%Y%m%d-%H%M%S")


def _greet(running: Running, *, headless: bool, quiet: bool) -> None:
    if headless:
        return
    typer.echo(f"\n  Open {running.url} in a browser.", err=quiet)
    typer.echo(f"  Operator password: {running.operator_password}", err=quiet)
    if running.recording is not None:
        typer.echo(f"  Recording: {running.recording}", err=quiet)
    typer.echo("  Table, camera and players are simulated. Ctrl-C ends it.\n", err=quiet)


def _report(result: DemoResult, *, as_json: bool) -> None:
    if result.problem:
        typer.echo(f"the session stopped: {result.problem}", err=True)
    if as_json:
        typer.echo(result.to_json())
        return
    wrong = result.hands_right.count(False)
    typer.echo(
        f"{result.hands} hands, {result.questions} questions, {wrong} settled otherwise than "
        f"played; scores {result.scores}, truth {result.truth}"
    )
    if result.seconds:
        typer.echo(f"seconds a hand: {', '.join(f'{s:.1f}' for s in result.seconds)}")
