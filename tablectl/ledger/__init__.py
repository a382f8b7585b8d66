"""The ledger: who owes whom, kept in SQLite, never rewritten."""

from tablectl.ledger.errors import (
    HandConflictError,
    LedgerError,
    LedgerVersionError,
    UnbalancedError,
    UnknownHandError,
    UnknownSessionError,
)
from tablectl.ledger.store import Correction, Hand, Ledger, SessionInfo, SessionTotals

__all__ = [
    "Correction",
    "Hand",
    "HandConflictError",
    "Ledger",
    "LedgerError",
    "LedgerVersionError",
    "SessionInfo",
    "SessionTotals",
    "UnbalancedError",
    "UnknownHandError",
    "UnknownSessionError",
]
