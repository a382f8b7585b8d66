"""``tablectl record``: look into recordings, recover unfinished ones, take messages out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from tablectl import channels
from tablectl.config import ConfigError, load
from tablectl.services.codec import CAMERA_CHANNEL
from tablectl.services.recorder import RecorderError
from tablectl.services.recording import Recording, RecordingError
from tablectl.services.recording import recover as recover_recording

FAILED, MALFORMED = 1, 2

app = typer.Typer(
    help="Look into recordings, recover unfinished ones, take messages out.", no_args_is_help=True
)

FileArgument = Annotated[Path, typer.Argument(help="A recording (MCAP).", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except (RecordingError, RecorderError, ConfigError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(MALFORMED) from None


@app.command("list")
def list_recordings(
    directory: Annotated[
        Path | None, typer.Argument(help="Folder; the configured one when left out.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Configuration file (TOML).")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """List the recordings in a folder."""
    with _clear_errors():
        folder = directory or load(config).recording_directory
        files = sorted(folder.glob("*.mcap"))
        if not files and not folder.is_dir():
            typer.echo(f"{folder}: no such folder", err=True)
            raise typer.Exit(MALFORMED)
    for path in files:
        row: dict[str, Any] = {"file": str(path), "bytes": path.stat().st_size}
        try:
            row |= {"error": None, **Recording(path).metadata}
        except RecordingError as error:
            row["error"] = str(error)
        if as_json:
            typer.echo(json.dumps(row, ensure_ascii=False))
        else:
            what = row["error"] or f"{row.get('rules', '')} {row.get('session', '')}"
            typer.echo(f"{path.name}  {row['bytes'] / 1e6:.1f} MB  {what}")


@app.command("info")
def info(file: FileArgument, *, as_json: JsonOption = False) -> None:
    """Tell what a recording holds, and whether it was finished."""
    with _clear_errors():
        recording = Recording(file)
        counts: Counter[str] = Counter()
        first = last = None
        for item in recording:
            counts[item.channel] += 1
            first = item.t if first is None else first
            last = item.t
    cut = str(recording.cut) if recording.cut is not None else None
    if as_json:
        report = {
            "file": str(file), "bytes": file.stat().st_size, "metadata": recording.metadata,
            "start": first, "end": last, "channels": dict(counts), "cut": cut,
        }  # fmt: skip
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    typer.echo(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    if first is not None and last is not None:
        begun = datetime.fromtimestamp(first, UTC).astimezone().isoformat(" ", "seconds")
        typer.echo(f"from {begun}, {last - first:.1f} s")
    for key, value in recording.metadata.items():
        typer.echo(f"  {key}: {value}")
    for channel, count in sorted(counts.items()):
        typer.echo(f"  {count:8d}  {channel}")
    typer.echo(cut or "finished")


@app.command("recover")
def recover(
    file: FileArgument,
    out: Annotated[Path, typer.Argument(help="New file.", show_default=False)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy what is intact in an unfinished or damaged recording to a finished one."""
    with _clear_errors():
        progress = Progress(console=Console(stderr=True), transient=True, disable=as_json)
        with progress:
            task = progress.add_task("recovering", total=None)
            count, cut = recover_recording(
                file, out, lambda done: progress.update(task, completed=done)
            )
    if as_json:
        typer.echo(json.dumps({"messages": count, "cut": str(cut) if cut else None}))
    else:
        typer.echo(f"{count} messages in {out}; {cut or 'nothing was missing'}")


@app.command("export")
def export(
    file: FileArgument,
    channel: Annotated[
        list[str] | None, typer.Option(help="Only this channel; repeatable.")
    ] = None,
) -> None:
    """Print the messages of a recording, one JSON object a line.

    Pictures and taught tile sets, which are large, only when asked for.
    """
    with _clear_errors():
        recording = Recording(file)
        for item in recording.messages(channel):
            if item.channel in (CAMERA_CHANNEL, channels.TILE_SET) and not channel:
                continue
            head = json.dumps(
                {"t": item.t, "seq": item.seq, "channel": item.channel, "schema": item.schema}
            )
            typer.echo(f'{head[:-1]}, "message": {item.data.decode()}}}')
    if recording.cut is not None:
        typer.echo(str(recording.cut), err=True)
