"""Reads and writes the ledger.

A hand is one transaction and idempotent by its id. Nothing is rewritten: a correction adds a
settlement that supersedes the one before, and the database itself refuses payments that do not sum
to zero.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tablectl.ledger.errors import (
    HandConflictError,
    LedgerError,
    UnbalancedError,
    UnknownHandError,
    UnknownSessionError,
)
from tablectl.ledger.schema import connect


@dataclass(frozen=True)
class SessionInfo:
    """A session as it was started."""

    id: str
    table: str
    rules: str
    options: Mapping[str, object] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    started: float = 0.0
    ended: float | None = None
    recording: str | None = None


@dataclass(frozen=True)
class Correction:
    """Why a settlement was replaced, and the payments that it replaced."""

    revision: int
    t: float
    reason: str
    before: tuple[int, ...]


@dataclass(frozen=True)
class Hand:
    """A settled hand: ``delta`` is points per seat, ``detail`` the settlement as published."""

    id: str
    session: str
    number: int
    t: float
    delta: tuple[int, ...]
    detail: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 1
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True)
class SessionTotals:
    """A session with its number of hands and points per seat."""

    session: SessionInfo
    hands: int
    totals: tuple[int, ...]


class Ledger:
    """The ledger in one file. Calls block for the disk; not for several threads at a time.

    Args:
        path: SQLite file; made when missing.

    Raises:
        LedgerError: the file can't be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise LedgerError(f"{self.path}: {error}") from error

    def start_session(self, session: SessionInfo) -> bool:
        """Note a session. Starting it again with the same id changes nothing.

        Returns:
            Whether it is new.
        """
        with self._transaction() as db:
            done = db.execute(
                "INSERT INTO sessions (id, table_id, rules, options, names, started, ended, "
                "recording) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (
                    session.id,
                    session.table,
                    session.rules,
                    _dumps(session.options),
                    _dumps(list(session.names)),
                    session.started,
                    session.ended,
                    session.recording,
                ),
            )
            return done.rowcount == 1

    def rename_seats(self, session: str, names: Sequence[str]) -> bool:
        """Note who sits where now; what was told of earlier hands keeps the names of then.

        Returns:
            Whether anything changed.

        Raises:
            UnknownSessionError: no such session.
        """
        told = _dumps(list(names))
        with self._transaction() as db:
            self._require_session(session)
            done = db.execute(
                "UPDATE sessions SET names = ? WHERE id = ? AND names != ?", (told, session, told)
            )
            return done.rowcount == 1

    def end_session(self, session: str, t: float) -> None:
        """Note the end; the first end counts.

        Raises:
            UnknownSessionError: no such session.
        """
        with self._transaction() as db:
            self._require_session(session)
            db.execute("UPDATE sessions SET ended = ? WHERE id = ? AND ended IS NULL", (t, session))

    def record_hand(self, hand: Hand) -> bool:
        """Enter a settled hand; once it returns, the hand is on the disk.

        Returns:
            Whether it is new; False when the same hand was there already.

        Raises:
            UnbalancedError: ``delta`` does not sum to zero, or is empty.
            UnknownSessionError: the session was not started.
            HandConflictError: the id or number is taken by a hand with other payments.
        """
        _check_balance(hand.id, hand.delta)
        with self._transaction() as db:
            known = self._find(hand.id)
            if known is not None:
                self._check_same(known, hand)
                return False
            self._require_session(hand.session)
            self._check_number(hand)
            db.execute(
                "INSERT INTO hands (id, session_id, number) VALUES (?, ?, ?)",
                (hand.id, hand.session, hand.number),
            )
            self._settle(hand.id, 1, hand.t, hand.delta, hand.detail)
            return True

    def correct_hand(
        self,
        hand: str,
        delta: Sequence[int],
        t: float,
        reason: str,
        detail: Mapping[str, Any] | None = None,
    ) -> bool:
        """Replace a hand's payments; the former ones stay in its history.

        Returns:
            Whether anything changed; False when the hand has these payments and details already.

        Raises:
            UnbalancedError: ``delta`` does not sum to zero, or is empty.
            UnknownHandError: no such hand.
        """
        _check_balance(hand, delta)
        with self._transaction() as db:
            known = self._find(hand)
            if known is None:
                raise UnknownHandError(f"no hand {hand!r} in {self.path}")
            detail = known.detail if detail is None else detail
            if known.delta == tuple(delta) and _dumps(known.detail) == _dumps(detail):
                return False
            revision = known.revision + 1
            self._settle(hand, revision, t, delta, detail)
            db.execute(
                "INSERT INTO corrections (hand_id, revision, t, reason) VALUES (?, ?, ?, ?)",
                (hand, revision, t, reason),
            )
            return True

    def sessions(self) -> list[SessionTotals]:
        """All sessions with their totals, the newest first."""
        rows = self._db.execute("SELECT * FROM sessions ORDER BY started DESC, id").fetchall()
        return [self._totals(_session(row)) for row in rows]

    def session(self, session: str) -> SessionTotals:
        """One session with its totals.

        Raises:
            UnknownSessionError: no such session.
        """
        return self._totals(_session(self._require_session(session)))

    def hands(self, session: str) -> list[Hand]:
        """Hands of a session in order, as they count now.

        Raises:
            UnknownSessionError: no such session.
        """
        self._require_session(session)
        rows = self._db.execute(
            "SELECT id FROM hands WHERE session_id = ? ORDER BY number", (session,)
        ).fetchall()
        return [self.hand(row["id"]) for row in rows]

    def hand(self, hand: str) -> Hand:
        """One hand with its history.

        Raises:
            UnknownHandError: no such hand.
        """
        found = self._find(hand)
        if found is None:
            raise UnknownHandError(f"no hand {hand!r} in {self.path}")
        return found

    def has_hand(self, hand: str) -> bool:
        """Whether a hand of that id was entered."""
        return self._find(hand) is not None

    def _settle(
        self, hand: str, revision: int, t: float, delta: Sequence[int], detail: Mapping[str, Any]
    ) -> None:
        self._db.execute(
            "INSERT INTO settlements (hand_id, revision, t, detail) VALUES (?, ?, ?, ?)",
            (hand, revision, t, _dumps(detail)),
        )
        self._db.executemany(
            "INSERT INTO payments (hand_id, revision, seat, amount) VALUES (?, ?, ?, ?)",
            [(hand, revision, seat, amount) for seat, amount in enumerate(delta)],
        )
        self._db.execute("UPDATE hands SET revision = ? WHERE id = ?", (revision, hand))

    def _find(self, hand: str) -> Hand | None:
        row = self._db.execute(
            "SELECT * FROM hands JOIN settlements ON hand_id = id "
            "AND settlements.revision = hands.revision WHERE id = ?",
            (hand,),
        ).fetchone()
        if row is None:
            return None
        history = self._db.execute(
            "SELECT * FROM corrections WHERE hand_id = ? ORDER BY revision", (hand,)
        ).fetchall()
        return Hand(
            id=row["id"],
            session=row["session_id"],
            number=row["number"],
            t=row["t"],
            delta=self._payments(hand, row["revision"]),
            detail=json.loads(row["detail"]),
            revision=row["revision"],
            corrections=tuple(
                Correction(
                    old["revision"],
                    old["t"],
                    old["reason"],
                    self._payments(hand, old["revision"] - 1),
                )
                for old in history
            ),
        )

    def _payments(self, hand: str, revision: int) -> tuple[int, ...]:
        rows = self._db.execute(
            "SELECT amount FROM payments WHERE hand_id = ? AND revision = ? ORDER BY seat",
            (hand, revision),
        )
        return tuple(row["amount"] for row in rows)

    def _totals(self, session: SessionInfo) -> SessionTotals:
        rows = self._db.execute(
            "SELECT seat, SUM(amount) AS total FROM current_payments WHERE session_id = ? "
            "GROUP BY seat ORDER BY seat",
            (session.id,),
        ).fetchall()
        count = self._db.execute(
            "SELECT COUNT(*) FROM hands WHERE session_id = ?", (session.id,)
        ).fetchone()[0]
        seats = max(len(session.names), len(rows))
        totals = [0] * seats
        for row in rows:
            totals[row["seat"]] = row["total"]
        return SessionTotals(session, count, tuple(totals))

    def _require_session(self, session: str) -> sqlite3.Row:
        row: sqlite3.Row | None = self._db.execute(
            "SELECT * FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        if row is None:
            raise UnknownSessionError(f"no session {session!r} in {self.path}")
        return row

    def _check_number(self, hand: Hand) -> None:
        taken = self._db.execute(
            "SELECT id FROM hands WHERE session_id = ? AND number = ?", (hand.session, hand.number)
        ).fetchone()
        if taken is not None:
            raise HandConflictError(
                f"hand {hand.number} of session {hand.session} is {taken['id']!r}, not {hand.id!r}"
            )

    def _check_same(self, known: Hand, hand: Hand) -> None:
        """A hand that was corrected since is the same hand as long as its first payments are."""
        first = self._payments(hand.id, 1)
        if (known.session, known.number, first) != (hand.session, hand.number, hand.delta):
            raise HandConflictError(
                f"hand {hand.id!r} is in the ledger with payments {first}, not {hand.delta}: "
                "enter a correction"
            )


def _check_balance(hand: str, delta: Sequence[int]) -> None:
    if not delta or sum(delta) != 0:
        raise UnbalancedError(f"payments of hand {hand!r} sum to {sum(delta)}, not 0: {delta}")


def _session(row: sqlite3.Row) -> SessionInfo:
    return SessionInfo(
        id=row["id"],
        table=row["table_id"],
        rules=row["rules"],
        options=json.loads(row["options"]),
        names=tuple(json.loads(row["names"])),
        started=row["started"],
        ended=row["ended"],
        recording=row["recording"],
    )


def _dumps(value: object) -> str:
    return json.dumps(
        dict(value) if isinstance(value, Mapping) else value,
        ensure_ascii=False,
        separators=(",", ":"),
    )
