"""What an examination of the doctor gives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Status = Literal["ok", "warning", "problem", "skipped"]


@dataclass(frozen=True)
class Check:
    """Result of one examination; ``remedy`` says what to do unless all is well."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


def os_readable(device: Path) -> bool:
    """Whether this user may open a device."""
    return os.access(device, os.R_OK | os.W_OK)
