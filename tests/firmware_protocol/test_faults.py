"""The fault table: one source for the controller, the display, the shell and the guide."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.faults import CAUSES, FAULTS, fault_line
from firmware_protocol.hardware import faults as source

COMPILER = shutil.which("cc")


def test_what_is_made_of_the_table_is_fresh() -> None:
    assert source.main(["--check"]) == 0, "run `python -m firmware_protocol.hardware.faults`"


def test_the_installed_texts_are_those_of_the_source() -> None:
    rows, causes = source.load()
    assert {m.FaultCode(row.code): row.remedy for row in rows} == {
        code: info.remedy for code, info in FAULTS.items()
    }
    assert {m.FaultCause(cause.code): cause.text for cause in causes} == CAUSES


def test_every_fault_tells_why_and_what_to_do_in_two_languages() -> None:
    for code, info in FAULTS.items():
        if code is not m.FaultCode.NONE:
            assert info.causes, code
            assert re.search(r"[\u4e00-\u9fff]", info.title_zh), code
            assert re.search(r"[\u4e00-\u9fff]", info.remedy_zh), code
            assert info.remedy.endswith("."), code


def test_every_fault_and_cause_is_in_the_guide() -> None:
    guide = source.GUIDE.read_text(encoding="utf-8")
    for code, info in FAULTS.items():
        if code is not m.FaultCode.NONE:
            section = guide.split(f"\n## {int(code)} {code.name}\n", 1)[1].split("\n## ", 1)[0]
            assert info.remedy in section
            assert all(f"- {cause}\n" in section for cause in info.causes)


def state(fault: m.FaultCode, side: m.Side, cause: m.FaultCause) -> m.TableState:
    return m.TableState(
        m.TableMode.FAULT, m.Motion.NONE, m.Place.LOW, m.Place.LOW, m.TileProgram.NONE,
        walls_complete=False, fault=fault, fault_side=side, fault_cause=cause,
        e_stop_open=False, cover_open=False, uptime_ms=0,
    )  # fmt: skip


def test_a_fault_line_names_side_and_sign() -> None:
    jam = state(m.FaultCode.HEAD_JAM, m.Side.SIDE_2, m.FaultCause.OVER_CURRENT)
    assert fault_line(jam) == (
        "tile jam at a stacking head, side 2 (the motor drew too much current)"
    )
    stop = state(m.FaultCode.EMERGENCY_STOP, m.Side.NONE, m.FaultCause.INPUT_OPEN)
    assert fault_line(stop) == "emergency stop (the safety contact is open)"
    assert fault_line(state(m.FaultCode.NONE, m.Side.NONE, m.FaultCause.NONE)) == ""


@pytest.mark.parametrize(
    ("pattern", "replacement", "complaint"),
    [
        ("code = 1\n", "code = 77\n", "fault HEAD_JAM = 77: not so in messages.py"),
        ('name = "HEAD_JAM"', 'name = "PAN_STALL"', "fault PAN_STALL = 1: not so"),
        ('title = "tile jam at a stacking head"\n', "", "fault HEAD_JAM: no title"),
        ('remedy_zh = "請更新 tablectl。"', 'remedy_zh = ""', "fault UNKNOWN: no remedy_zh"),
        ("latched = false", "latched = false\nlached = 1", "fault NONE: unknown lached"),
        ("(?s)\\[\\[cause\\]\\]\ncode = 9.*?(?=\\[\\[)", "", "cause NO_HEARTBEAT = 9 has no entry"),
    ],
)
def test_a_wrong_table_is_refused(
    tmp_path: Path, pattern: str, replacement: str, complaint: str
) -> None:
    text, count = re.subn(pattern, replacement, source.SOURCE.read_text(encoding="utf-8"), count=1)
    assert count == 1
    path = tmp_path / "faults.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(source.FaultTableError, match=complaint):
        source.load(path)


PROGRAM = """
#include <stdio.h>
#include "protocol.h"
#include "faults.h"
#define SHOW(name, code, latched) \\
    printf("%s %d %d %d\\n", #name, TC_FAULT_CODE_##name == code, latched, tc_fault_latched(code));
int main(void) { TC_FAULT_TABLE(SHOW) return 0; }
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_the_header_agrees_with_the_wire_and_the_texts(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = [str(COMPILER), *flags, f"-I{source.HEADER.parent}", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    shown = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    expected = [f"{c.name} 1 {FAULTS[c].latched:d} {FAULTS[c].latched:d}" for c in m.FaultCode]
    assert sorted(shown.stdout.splitlines()) == sorted(expected)
