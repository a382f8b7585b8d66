"""What the sub-commands share: exit codes, options of rule sets, errors as one clear line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import typer

from firmware_protocol.errors import ProtocolError
from tablectl.config import ConfigError
from tablectl.daemon import DaemonError
from tablectl.ledger import LedgerError
from tablectl.rules.case import CaseError
from tablectl.services.broker import BrokerError
from tablectl.services.http import ServerError
from tablectl.services.recorder import RecorderError
from tablectl.services.recording import RecordingError
from tablectl.simulate.session import SimulationError
from vision.calibration import CalibrationError
from vision.detector import TileSetError, WeightsError
from vision.sources.frame import SourceError

MALFORMED: Final = 2
"""Exit code of bad input or of something that is missing."""

_NAMED = (
    BrokerError, CalibrationError, CaseError, ConfigError, DaemonError, LedgerError, ProtocolError,
    RecorderError, RecordingError, ServerError, SimulationError, SourceError, TileSetError,
    WeightsError,
)  # fmt: skip


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn the errors of the domain into one line and exit code 2, never a traceback."""
    try:
        yield
    except _NAMED as error:
        typer.echo(f"tablectl: {error}", err=True)
        raise typer.Exit(MALFORMED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        typer.echo(f"tablectl: {place}{error.strerror or error}", err=True)
        raise typer.Exit(MALFORMED) from None


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Options of a rule set from ``key=value``; values are JSON, else text.

    Raises:
        ConfigError: a pair without ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign:
            raise ConfigError(f"--option {pair}: expected key=value")
        try:
            options[key] = json.loads(value)
        except json.JSONDecodeError:
            options[key] = value
    return options
