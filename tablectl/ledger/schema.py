"""Opens the database and brings its schema up to date, one numbered migration after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Final

from tablectl.ledger.errors import LedgerError, LedgerVersionError

APPLICATION_ID: Final = 0x7461626C
"""``tabl`` in the file's header, so that another program's database is not taken for ours."""
_BUSY_SECONDS: Final = 5.0


def migrations() -> list[tuple[int, str]]:
    """Number and SQL of every migration, in order."""
    folder = resources.files("tablectl.ledger").joinpath("migrations")
    found = [
        (int(item.name.partition("_")[0]), item.read_text(encoding="utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def connect(path: Path) -> sqlite3.Connection:
    """Open or make a ledger with the newest schema.

    Raises:
        LedgerVersionError: a newer tablectl wrote it, or it is another program's database.
        LedgerError: the file can't be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except (sqlite3.Error, OSError) as error:
        raise LedgerError(f"{path} can't be opened as a ledger: {error}") from error
    try:
        migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Apply the migrations that the file does not have yet, each in one transaction.

    Raises:
        LedgerVersionError: a newer tablectl wrote it, or it is another program's database.
        LedgerError: a migration fails.
    """
    steps = migrations()
    _check_origin(connection, path, newest=steps[-1][0])
    for number, script in steps:
        if number <= _number(connection, "user_version"):
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again: another process may have migrated while we waited for the lock.
            if number > _number(connection, "user_version"):
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            connection.execute("ROLLBACK")
            raise LedgerError(f"{path}: migration {number} failed: {error}") from error


def _check_origin(connection: sqlite3.Connection, path: Path, newest: int) -> None:
    version = _number(connection, "user_version")
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if tables and _number(connection, "application_id") != APPLICATION_ID:
        raise LedgerVersionError(f"{path} is a database of another program, not a ledger")
    if version > newest:
        raise LedgerVersionError(
            f"{path} has schema {version}, written by a newer tablectl; this one knows "
            f"{newest}: update tablectl"
        )


def _statements(script: str) -> Iterator[str]:
    """SQL statements of a script; a trigger's body is one with its trigger."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
