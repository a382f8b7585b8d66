"""What is promised of the firmware's build: no dynamic memory, no floats, a stack that fits."""

import re
import subprocess

import pytest

from .peers import FIRMWARE, make_firmware, missing_tools

MISSING_AVR = missing_tools("make", "avr-gcc", "avr-nm", "flock")
needs_avr = pytest.mark.skipif(bool(MISSING_AVR), reason=f"not installed: {MISSING_AVR}")
FORBIDDEN = re.compile(r"^(malloc|calloc|realloc|free|__\w*sf\d?|__float\w+|printf|vfprintf)$")


@needs_avr
def test_no_dynamic_memory_and_no_floats() -> None:
    elf = make_firmware("avr") / "tablectl.elf"
    listed = subprocess.run(["avr-nm", str(elf)], check=True, capture_output=True, text=True)
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert "table_tick" in names
    assert [name for name in names if FORBIDDEN.match(name)] == []


@needs_avr
def test_the_build_tells_what_it_takes_and_it_fits() -> None:
    make_firmware("avr")
    told = subprocess.run(
        ["make", "-C", str(FIRMWARE), "avr"], check=True, capture_output=True, text=True
    ).stdout
    flash, ram = (int(n) for n in re.findall(r"(?:Program|Data): +(\d+) bytes", told))
    stack = re.search(r"Stack: +(\d+) bytes at most", told)
    assert stack is not None, told
    assert flash < 256 * 1024
    assert ram + int(stack[1]) < 8192


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_tools("make", "cc", "cppcheck")), reason="no cppcheck")
def test_unit_tests_and_cppcheck_of_the_core() -> None:
    done = subprocess.run(
        ["make", "-C", str(FIRMWARE), "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_tools("make", "clang")), reason="no clang")
def test_a_minute_of_fuzzing_finds_nothing() -> None:
    """Ten million bytes: ``make -C hardware/firmware fuzz FUZZ_SECONDS=600``."""
    done = subprocess.run(
        ["make", "-C", str(FIRMWARE), "fuzz", "FUZZ_SECONDS=60"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert re.search(r"fuzz: \d+ inputs, \d+ bytes into the core", done.stderr)
