"""``tablectl ledger``: sessions and hands as they were paid."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tablectl.config import ConfigError, load
from tablectl.ledger import Hand, Ledger, LedgerError, SessionTotals, UnknownSessionError

FAILED, MALFORMED = 1, 2

app = typer.Typer(
    help="Sessions and hands as they were paid.", invoke_without_command=True, no_args_is_help=False
)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", help="Configuration file (TOML).")
]
FileOption = Annotated[
    Path | None, typer.Option("--file", help="Ledger file instead of the configured one.")
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Comma-separated values.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


@app.callback()
def ledger(
    context: typer.Context,
    config: ConfigOption = None,
    file: FileOption = None,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List sessions, or show one: ``tablectl ledger show SESSION``."""
    if context.invoked_subcommand is None:
        list_sessions(config, file, as_csv=as_csv, as_json=as_json)


@app.command("list")
def list_sessions(
    config: ConfigOption = None,
    file: FileOption = None,
    *,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List all sessions, the newest first, with their totals."""
    with _open(config, file) as opened:
        sessions = opened.sessions()
    if as_json:
        for item in sessions:
            typer.echo(json.dumps(_session_row(item), ensure_ascii=False))
    elif as_csv:
        typer.echo(_csv(_SESSION_HEADER, (_session_cells(item) for item in sessions)), nl=False)
    else:
        table = Table("session", "started", "table", "rules", "hands", "points")
        for item in sessions:
            info = item.session
            points = "  ".join(
                f"{name} {total:+d}" for name, total in zip(_names(item), item.totals, strict=True)
            )
            table.add_row(
                info.id, _time(info.started), info.table, info.rules, str(item.hands), points
            )
        Console().print(table if sessions else "the ledger is empty")


@app.command("show")
def show(
    session: Annotated[str, typer.Argument(help="Id of the session.")],
    config: ConfigOption = None,
    file: FileOption = None,
    *,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the hands of a session, what each seat got, and every correction."""
    try:
        with _open(config, file) as opened:
            totals = opened.session(session)
            hands = opened.hands(session)
    except UnknownSessionError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    if as_json:
        for hand in hands:
            typer.echo(json.dumps(asdict(hand), ensure_ascii=False))
    elif as_csv:
        header = ["hand", "id", "time", *_names(totals), "corrections"]
        typer.echo(_csv(header, (_hand_cells(hand, totals) for hand in hands)), nl=False)
    else:
        _print_hands(totals, hands)


def _open(config: Path | None, file: Path | None) -> Ledger:
    try:
        path = file or load(config).ledger_path
        if not path.exists():
            typer.echo(f"{path}: no ledger there; it is made with the first session", err=True)
            raise typer.Exit(MALFORMED)
        return Ledger(path)
    except (ConfigError, LedgerError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None


def _print_hands(totals: SessionTotals, hands: list[Hand]) -> None:
    names = _names(totals)
    table = Table("hand", "time", *names, "note", title=_title(totals))
    for hand in hands:
        note = "; ".join(
            f"was {' '.join(f'{n:+d}' for n in old.before)}: {old.reason}"
            for old in hand.corrections
        )
        cells = [f"{amount:+d}" for amount in _padded(hand.delta, len(names))]
        table.add_row(str(hand.number), _time(hand.t), *cells, note)
    table.add_section()
    table.add_row("total", "", *(f"{total:+d}" for total in totals.totals), "")
    Console().print(table)


def _title(totals: SessionTotals) -> str:
    info = totals.session
    return f"{info.id} · {info.table} · {info.rules} · {_time(info.started)}"


_SESSION_HEADER = [
    "session", "started", "ended", "table", "rules", "hands",
    "name_0", "points_0", "name_1", "points_1", "name_2", "points_2", "name_3", "points_3",
]  # fmt: skip


def _session_cells(item: SessionTotals) -> list[str]:
    info = item.session
    cells = [
        info.id, _time(info.started), _time(info.ended), info.table, info.rules, str(item.hands),
    ]  # fmt: skip
    for name, total in zip(_names(item), item.totals, strict=True):
        cells += [name, str(total)]
    return cells + [""] * (len(_SESSION_HEADER) - len(cells))


def _session_row(item: SessionTotals) -> dict[str, Any]:
    return {**asdict(item.session), "hands": item.hands, "totals": list(item.totals)}


def _hand_cells(hand: Hand, totals: SessionTotals) -> list[str]:
    amounts = [str(amount) for amount in _padded(hand.delta, len(totals.totals))]
    return [str(hand.number), hand.id, _time(hand.t), *amounts, str(len(hand.corrections))]


def _names(item: SessionTotals) -> list[str]:
    given = item.session.names
    return [
        given[seat] if seat < len(given) else f"seat {seat}" for seat in range(len(item.totals))
    ]


def _padded(delta: tuple[int, ...], length: int) -> list[int]:
    return [*delta, *[0] * (length - len(delta))]


def _time(t: float | None) -> str:
    if t is None:
        return ""
    return datetime.fromtimestamp(t, UTC).astimezone().isoformat(sep=" ", timespec="seconds")


def _csv(header: list[str], rows: Iterable[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: str) -> str:
    """A name that a spreadsheet would take for a formula is quoted; numbers stay numbers."""
    if cell[:1] in "=@\t" or (cell[:1] in "+-" and not cell[1:].isdecimal()):
        return f"'{cell}" if cell else cell
    return cell
