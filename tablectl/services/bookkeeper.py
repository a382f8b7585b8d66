"""Enters final settlements and the seats' names from the bus into the ledger, in its own thread.

A hand that is settled anew, after a correction, supersedes its former payments. A ledger that
can't be written is reported and does not stop the game; the recording still has everything.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from tablectl.ledger import Hand, HandConflictError, Ledger, LedgerError, SessionInfo
from tablectl.messages import SettlementView, TableState
from tablectl.services.bus import Bus, Entry

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _End:
    session: str
    t: float


@dataclass(frozen=True)
class _Names:
    names: tuple[str, ...]


class Bookkeeper:
    """Keeps one session in the ledger.

    Args:
        bus: where settlements are published.
        path: file of the ledger.
        session: what is being played; entered at once.
        on_problem: called from the bookkeeper's thread when something can't be entered.

    Raises:
        LedgerError: the ledger can't be opened, or the session not entered.
    """

    def __init__(
        self,
        bus: Bus,
        path: Path,
        session: SessionInfo,
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        self._session = session
        self._path = path
        self._on_problem = on_problem
        self._queue: queue.SimpleQueue[SettlementView | _Names | _End | None] = queue.SimpleQueue()
        self._names = session.names
        self.problem = ""
        with Ledger(path) as ledger:
            ledger.start_session(session)
        self._thread = threading.Thread(target=self._run, name="bookkeeper", daemon=True)
        self._thread.start()
        self._cancels = (bus.on(SettlementView, self._take), bus.on(TableState, self._take_names))

    def _take(self, entry: Entry[SettlementView]) -> None:
        view = entry.message
        if view.final and view.delta and view.error is None:
            self._queue.put(view)

    def _take_names(self, entry: Entry[TableState]) -> None:
        """Seats may be renamed on the display at any time."""
        names = tuple(seat.name for seat in entry.message.seats)
        if names and names != self._names:
            self._names = names
            self._queue.put(_Names(names))

    def _run(self) -> None:
        try:
            with Ledger(self._path) as ledger:
                while (item := self._queue.get()) is not None:
                    self._enter(ledger, item)
        except LedgerError as error:
            self._report(f"the ledger can't be used: {error}")

    def _enter(self, ledger: Ledger, item: SettlementView | _Names | _End) -> None:
        try:
            if isinstance(item, _End):
                ledger.end_session(item.session, item.t)
            elif isinstance(item, _Names):
                ledger.rename_seats(self._session.id, item.names)
            else:
                enter(ledger, self._session.id, item)
        except LedgerError as error:
            self._report(f"not entered in the ledger: {error}")

    def _report(self, problem: str) -> None:
        log.error("ledger", problem=problem)
        self.problem = problem
        if self._on_problem is not None:
            self._on_problem(problem)

    def close(self, ended: float | None = None) -> None:
        """Enter what is waiting and stop. Blocks; call it in a thread of your own.

        Args:
            ended: time at which the session ended; None leaves it open.
        """
        for cancel in self._cancels:
            cancel()
        if ended is not None:
            self._queue.put(_End(self._session.id, ended))
        self._queue.put(None)
        self._thread.join()


def enter(ledger: Ledger, session: str, view: SettlementView) -> bool:
    """Enter a final settlement, or correct the hand when it was settled otherwise before.

    Returns:
        Whether the ledger changed.

    Raises:
        LedgerError: it can't be entered, for example because it does not sum to zero.
    """
    detail = view.model_dump(mode="json")
    hand = Hand(view.hand_id, session, view.hand, view.t, view.delta, detail)
    try:
        if ledger.record_hand(hand):
            return True
    except HandConflictError as conflict:
        if not ledger.has_hand(view.hand_id):
            raise  # its number belongs to another hand
        log.info("hand settled anew", reason=str(conflict))
    return ledger.correct_hand(view.hand_id, view.delta, view.t, "settled again", detail)
