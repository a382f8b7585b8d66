"""What can go wrong with the ledger."""

from __future__ import annotations


class LedgerError(Exception):
    """The ledger can't do what was asked; the message names session, hand or file."""


class LedgerVersionError(LedgerError):
    """The file was written by a newer tablectl, or is no ledger."""


class UnbalancedError(LedgerError):
    """Payments that do not sum to zero."""


class HandConflictError(LedgerError):
    """The hand is in the ledger with other payments; use a correction."""


class UnknownHandError(LedgerError):
    """No such hand."""


class UnknownSessionError(LedgerError):
    """No such session."""
