"""Where the data and what is made of it lie in a checkout, and how a generator writes or checks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HARDWARE = ROOT / "hardware"
FIRMWARE = HARDWARE / "firmware"


def write_or_check(
    module: str, files: Callable[[], Mapping[Path, str]], arguments: Sequence[str] | None
) -> int:
    """Write generated files, or with ``--check`` only say which are stale.

    Args:
        module: of the generator, for the message.
        files: makes the text of every file.
        arguments: of the command line.

    Returns:
        The exit code: 0 fresh or written, 1 stale, 2 wrong data or arguments.
    """
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    if chosen not in ([], ["--check"]):
        sys.stderr.write(f"usage: python -m {module} [--check]\n")
        return 2
    try:
        made = files()
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not chosen:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in made.items() if _content(path) != text]
    for path in stale:
        sys.stderr.write(f"{path} is stale: run `python -m {module}`\n")
    return 1 if stale else 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
