"""Deepest possible stack of the firmware, from the compiler's frame sizes and the ELF's calls.

``python3 stack_use.py build/avr``: frames are in the ``.su`` files of ``-fstack-usage``, calls in
the disassembly. Recursion or a call through a pointer would make the sum meaningless, and fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

RETURN_ADDRESS = 3
"""Bytes that a call pushes on a chip with more than 128 KiB of flash."""
RAM = 8192
_FUNCTION = re.compile(r"^[0-9a-f]+ <([\w.]+)>:$")
_CALL = re.compile(r"\t(?:r?call|r?jmp)\t.*<([\w.]+)(?:\+0x[0-9a-f]+)?>")
_INDIRECT = re.compile(r"\te?(?:icall|ijmp)\b")
_LIBRARY_FRAME = 8
"""Taken for functions of the library, which has no .su files; none pushes more."""


def frames(folder: Path) -> dict[str, int]:
    """Bytes of each function's own frame."""
    found: dict[str, int] = {}
    for path in folder.rglob("*.su"):
        for line in path.read_text(encoding="utf-8").splitlines():
            where, size, _ = line.split("\t")
            found[where.rpartition(":")[2]] = int(size)
    return found


def calls(elf: Path) -> dict[str, set[str]]:
    """Who calls whom.

    Raises:
        SystemExit: a call through a pointer.
    """
    command = ["avr-objdump", "-d", "--no-show-raw-insn", str(elf)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, set[str]] = {}
    here = ""
    for line in text.splitlines():
        if begin := _FUNCTION.match(line):
            here = begin[1]
            found.setdefault(here, set())
        elif call := _CALL.search(line):
            if call[1] != here:
                found[here].add(call[1])
        elif _INDIRECT.search(line) and here != "__tablejump2__":
            raise SystemExit(f"{here} calls through a pointer: the stack's depth is not known")
    return found


def deepest(name: str, graph: dict[str, set[str]], own: dict[str, int], path: list[str]) -> int:
    """Bytes below a call of `name`, its return address included.

    Raises:
        SystemExit: recursion.
    """
    if name in path:
        raise SystemExit("recursion: " + " -> ".join([*path, name]))
    below = [deepest(item, graph, own, [*path, name]) for item in graph.get(name, set())]
    frame = own.get(name.partition(".")[0], _LIBRARY_FRAME)
    return frame + RETURN_ADDRESS + max(below, default=0)


def data_bytes(elf: Path) -> int:
    """RAM that is taken before the first call."""
    text = subprocess.run(
        ["avr-size", "-A", str(elf)], check=True, capture_output=True, text=True
    ).stdout
    sizes = [line.split() for line in text.splitlines()]
    return sum(int(row[1]) for row in sizes if row and row[0] in (".data", ".bss", ".noinit"))


def main(folder: Path) -> int:
    """Print the sum; 1 when it does not fit."""
    elf = folder / "tablectl.elf"
    own, graph = frames(folder), calls(elf)
    loop = deepest("main", graph, own, [])
    handlers = {name: deepest(name, graph, own, []) for name in graph if "__vector_" in name}
    worst = max(handlers.values(), default=0)
    used = data_bytes(elf)
    free = RAM - used - loop - worst
    sys.stdout.write(
        f"Stack:      {loop + worst} bytes at most (main loop {loop}, interrupt {worst})\n"
        f"RAM:        {used} data + {loop + worst} stack of {RAM}: {free} bytes never used\n"
    )
    return 0 if free > 0 else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
