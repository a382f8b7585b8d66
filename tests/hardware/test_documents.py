"""The hardware guide: its links lead somewhere, its commands and settings exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import typer

from firmware_protocol.hardware.pins import load
from tablectl.cli.main import app

from .tools import ROOT, mkconfig, needs_simavr

DOCUMENTS = sorted((ROOT / "hardware").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#]+?)(#[^)]*)?\)")
COMMAND = re.compile(r"`tablectl ([a-z][a-z-]*)((?: [a-z][a-z-]*)*)")
SETTING = re.compile(r"\b([A-Za-z_]+)=(?:\d|0x)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target, _ in LINK.findall(document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_command_exists(document: Path) -> None:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    assert hasattr(group, "get_command")
    for name, rest in COMMAND.findall(document.read_text(encoding="utf-8")):
        command = group.get_command(context, name)
        assert command is not None, name
        words = rest.split()
        if words and hasattr(command, "get_command"):
            assert command.get_command(context, words[0]) is not None, f"{name} {words[0]}"


def test_there_is_a_guide_for_each_part() -> None:
    wanted = {
        "pin-map", "bill-of-materials", "power-and-safety", "camera", "seat-console",
        "commissioning", "troubleshooting",
    }  # fmt: skip
    index = (ROOT / "hardware" / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in wanted)


@needs_simavr
def test_every_setting_named_in_the_guide_can_be_set() -> None:
    shown = subprocess.run(
        [mkconfig(), "--show"], input=subprocess.run([mkconfig()], check=True,
        capture_output=True).stdout, capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    known = {line.partition("=")[0] for line in shown.splitlines()} | {"scale"}
    named = set()
    for document in DOCUMENTS:
        for line in document.read_text(encoding="utf-8").splitlines():
            if "mkconfig" in line:
                named |= set(SETTING.findall(line))
    assert {"active_low", "CURRENT_CENTRE", "board_serial"} <= named
    assert named <= known
    assert {pin.name for pin in load().of_kind("current")} <= known
