"""``tablectl flash``: put the firmware into the table's controller."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from tablectl import flash as flashing
from tablectl.cli.table import FAILED, USAGE, PortOption, choose_port


def flash(
    port: PortOption = None,
    *,
    firmware: Annotated[
        Path | None,
        typer.Option(help="Intel HEX file; without it, the firmware of this tablectl.",
                     show_default=False),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(help="Image of the settings (mkconfig), written into the EEPROM, too.",
                     show_default=False),
    ] = None,
    factory_settings: Annotated[
        bool, typer.Option("--factory-settings", help="Forget the settings in the EEPROM.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also the same or an older version, or a foreign board.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, print avrdude's command, stop.")
    ] = False,
) -> None:  # fmt: skip
    """Put the firmware into the table's controller, an Arduino Mega 2560, over its USB cable.

    Looks at the file and at the board first, and afterwards whether the new firmware answers.
    Exit code 2: refused, nothing was written; 1: failed.
    """
    try:
        with _settings(settings, factory=factory_settings) as eeprom:
            _flash(choose_port(port), firmware, eeprom, yes=yes, force=force, dry_run=dry_run)
    except flashing.FlashRefusedError as error:
        _fail(str(error), USAGE)
    except flashing.FlashError as error:
        _fail(str(error), FAILED)


def _fail(text: str, code: int) -> None:
    typer.echo(f"tablectl: {text}", err=True)
    raise typer.Exit(code)


@contextlib.contextmanager
def _settings(given: Path | None, *, factory: bool) -> Iterator[Path | None]:
    """The settings to write, as a file; blank ones mean the factory's."""
    if factory and given is not None:
        raise flashing.FlashRefusedError("--settings and --factory-settings exclude each other")
    if given is None and not factory:
        yield None
        return
    content = b"\xff" * flashing.SETTINGS_SIZE if given is None else _read_settings(given)
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "settings.bin"
        image.write_bytes(content)
        yield image


def _read_settings(path: Path) -> bytes:
    if not path.is_file() or path.stat().st_size < flashing.SETTINGS_SIZE:
        raise flashing.FlashRefusedError(f"{path}: an image as mkconfig writes it is expected")
    return path.read_bytes()[: flashing.SETTINGS_SIZE]


def _flash(
    port: str,
    firmware: Path | None,
    settings: Path | None,
    *,
    yes: bool,
    force: bool,
    dry_run: bool,
) -> None:
    image = flashing.read_image(flashing.find_image(firmware))
    device = flashing.device_of(port)
    avrdude = flashing.find_avrdude()
    board = _look(device, force=force)
    typer.echo(board.text)
    commands = []
    if flashing.check_board(board, image, force=force):
        typer.echo(f"to be written: {image}, {image.size} bytes")
        commands.append(flashing.flash_command(avrdude, device, image))
    if settings is not None:
        typer.echo("to be written: settings")
        commands.append(flashing.settings_command(avrdude, device, settings))
    if not commands:
        typer.echo(f"it has {image} already; --force flashes it again")
        return
    if dry_run:
        typer.echo("\n".join(" ".join(command) for command in commands))
        return
    if not yes:
        question = "The table restarts and homes: trays go down, the centre closes. Hands clear?"
        typer.confirm(question, abort=True)
    for command in commands:
        flashing.run_avrdude(command, device)
    done = asyncio.run(flashing.check_afterwards(device, image))
    typer.echo(f"done. {done.text}")


def _look(device: str, *, force: bool) -> flashing.Board:
    try:
        return asyncio.run(flashing.look_at(device))
    except flashing.FlashRefusedError as error:
        if not force:
            raise
        return flashing.Board(None, None, str(error))
