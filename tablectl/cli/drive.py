"""``tablectl table do``: commands to the table, from the shell."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import ProtocolError
from firmware_protocol.events import CommandFailedError
from firmware_protocol.faults import fault_line
from tablectl.cli.table import (
    FAILED,
    STARTING,
    PortOption,
    WaitOption,
    choose_port,
    run_link,
)


class Action(StrEnum):
    """What can be asked of the table."""

    STOP = "stop"
    RESET = "reset"
    HOME = "home"
    OPEN = "open"
    CLOSE = "close"
    BUILD = "build"
    RAISE = "raise"
    LOWER = "lower"
    DICE = "dice"
    LIGHTS = "lights"


_HARMLESS: Final = (Action.STOP, Action.DICE, Action.LIGHTS)
_PROGRAMS: Final = [int(program) for program in m.TileProgram if program]


def do(
    actions: Annotated[
        list[Action], typer.Argument(help="What the table shall do, one after another.")
    ],
    port: PortOption = None,
    *,
    tiles: Annotated[int, typer.Option(help=f"For build: {', '.join(map(str, _PROGRAMS))}.")] = 136,
    dealer: Annotated[int, typer.Option(min=0, max=3, help="For build: who deals.")] = 0,
    despite_short: Annotated[
        bool, typer.Option("--despite-short", help="For raise: although tiles are missing.")
    ] = False,
    light: Annotated[str, typer.Option(help="For lights: off, on, blink or pulse.")] = "on",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
    wait: WaitOption = 10,
) -> None:
    """Ask the table for things, each when the one before has ended. The firmware may refuse.

    ``tablectl table do open close build raise lower`` is a whole cycle. Ctrl-C stops every
    motion. Exit code 1: refused or failed, and why.
    """
    commands = [
        _command(action, tiles, dealer, light, despite_short=despite_short) for action in actions
    ]
    chosen = choose_port(port)
    if not yes and not set(actions) <= set(_HARMLESS):
        typer.confirm("Motors will move. Are hands clear of the table?", abort=True)
    run_link(_do(chosen, commands, wait))


def _command(
    action: Action, tiles: int, dealer: int, light: str, *, despite_short: bool
) -> m.Command:
    if action is Action.BUILD:
        if tiles not in _PROGRAMS:
            raise typer.BadParameter(f"one of {', '.join(map(str, _PROGRAMS))}", param_hint="tiles")
        return m.BuildWalls(m.TileProgram(tiles), dealer)
    if action is Action.LIGHTS:
        if light.upper() not in m.LightPattern.__members__:
            raise typer.BadParameter("off, on, blink or pulse", param_hint="light")
        return m.SetLights(m.SeatMask.ALL, m.LightPattern[light.upper()])
    if action is Action.RAISE:
        return m.RaiseWalls(despite_short=despite_short)
    simple = {
        Action.STOP: m.Stop(),
        Action.RESET: m.ResetFault(),
        Action.HOME: m.Home(),
        Action.OPEN: m.OpenCentre(),
        Action.CLOSE: m.CloseCentre(),
        Action.LOWER: m.LowerWalls(),
        Action.DICE: m.RollDice(),
    }
    return simple[action]


async def _do(port: str, commands: Sequence[m.Command], wait: float) -> int:
    async with TableClient(port, connect_timeout=wait) as client:
        client.subscribe(_show)
        try:
            for command in commands:
                await _carry_out(client, command)
        except CommandFailedError as error:
            table = client.status.table
            line = "" if table is None else fault_line(table, client.status.raised)
            typer.echo(f"{error} ({line})" if line else str(error), err=True)
            return FAILED
        except asyncio.CancelledError:  # Ctrl-C
            with contextlib.suppress(ProtocolError):
                await client.command(m.Stop(), within=1)
            raise
    return 0


async def _carry_out(client: TableClient, command: m.Command) -> None:
    if not isinstance(command, m.Stop):  # a table that has just started homes first
        await client.wait_for(lambda s: s.table is not None and s.table.mode not in STARTING)
    await client.command(command)
    typer.echo(f"{type(command).__name__}: done")


def _show(event: object) -> None:
    if isinstance(event, m.MotionProgress):
        sys.stderr.write(f"{event.motion.name.lower().replace('_', ' ')}: {event.percent} %\n")
    elif isinstance(event, m.DiceRolled):
        typer.echo(f"dice: {event.first} {event.second}")
