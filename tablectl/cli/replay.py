"""``tablectl replay``: a recorded session once more, to exactly the same game."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from tablectl.cli.common import MALFORMED, clear_errors
from tablectl.replay import ReplayResult, totals
from tablectl.replay import replay as replay_recording
from tablectl.services.recording import Recording

DIFFERS: Final = 1


def replay(
    file: Annotated[Path, typer.Argument(help="A recording (MCAP).", show_default=False)],
    source: Annotated[
        Literal["camera", "readings", "events"],
        typer.Option("--from", help="Read the pictures anew, follow the readings, or the events."),
    ] = "readings",
    speed: Annotated[
        str, typer.Option(help="Recorded seconds a second: a number, or max.")
    ] = "max",
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the event stream, one JSON object a line.")
    ] = False,
) -> None:
    """Replay a session and compare it with what was recorded.

    From readings and events the same recording gives the same event stream, to the byte; exit
    code 1 when it does not. From the camera the recogniser at hand may read otherwise than the one
    that recorded. An unfinished file is replayed up to its cut.
    """
    with clear_errors():
        result = asyncio.run(_replay(file, source, _speed(speed)))
    if result.note:
        typer.echo(f"tablectl: {result.note}", err=True)
    if as_json:
        for line in result.events:
            typer.echo(line)
    else:
        _report(file, result)
    raise typer.Exit(0 if result.same or source == "camera" else DIFFERS)


async def _replay(
    file: Path, source: Literal["camera", "readings", "events"], speed: float
) -> ReplayResult:
    if source != "camera":
        return await replay_recording(file, source, speed)
    from tablectl.reread import camera_eyes

    return await replay_recording(file, source, speed, eyes=camera_eyes)


def _speed(text: str) -> float:
    if text == "max":
        return math.inf
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        typer.echo(f"tablectl: --speed {text}: expected a number above 0, or max", err=True)
        raise typer.Exit(MALFORMED)
    return value


def _report(file: Path, result: ReplayResult) -> None:
    for view in result.settlements.values():
        typer.echo(f"hand {view.hand}: {list(view.delta)}")
        for line in view.lines:
            typer.echo(f"    {line}")
    rules = Recording(file).metadata.get("rules", "?")
    seats = max((len(v.delta) for v in result.settlements.values()), default=0)
    same = "the same game as recorded" if result.same else "NOT the recorded game"
    typer.echo(
        f"{result.hands} hands under {rules}, totals {totals(result.settlements, seats)}: {same}"
    )
