"""The pin map: true to the board, and what is made of it is fresh."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from firmware_protocol.hardware import pins
from firmware_protocol.messages import Sensor

COMPILER = shutil.which("cc")


def test_what_is_made_of_the_map_is_fresh() -> None:
    assert pins.main(["--check"]) == 0, "run `python -m firmware_protocol.hardware.pins`"


def test_every_signal_of_the_machine_has_a_pin() -> None:
    names = {pin.name for pin in pins.load().pins}
    sides = [f"{name}_{side}" for side in range(4) for name in (
        "RING", "BELT", "HEAD", "LIFT", "HEAD_IN", "HEAD_HOME", "STACK", "LIFT_TOP", "LIFT_BOTTOM",
    )]  # fmt: skip
    single = ["PAN", "CENTRE", "CENTRE_OPEN", "CENTRE_CLOSED", "E_STOP", "COVER"]
    assert {*sides, *single} <= names


def test_every_motor_is_an_output_with_current_sense() -> None:
    found = pins.load()
    motors = found.of_kind("motor")
    assert len(motors) == 18
    for motor in motors:
        assert sum(motor.name in pin.motors for pin in found.of_kind("current")) == 1


def test_the_emergency_stop_has_an_interrupt() -> None:
    (stop,) = (pin for pin in pins.load().pins if pin.name == "E_STOP")
    assert stop.interrupt == "INT4"  # PE4 of the ATmega2560


def edited(tmp_path: Path, pattern: str, replacement: str) -> Path:
    text, count = re.subn(pattern, replacement, pins.SOURCE.read_text(encoding="utf-8"), count=1)
    assert count == 1
    path = tmp_path / "pins.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("pattern", "replacement", "complaint"),
    [
        ('arduino = "D12"', 'arduino = "D70"', "pin PAN: the board has no D70"),
        ('port = "PB6"', 'port = "PB5"', "pin PAN: D12 is PB6, not PB5"),
        ('arduino = "D12"\nport = "PB6"', 'arduino = "D22"\nport = "PA0"', "D22 is used by PAN"),
        ('motors = \\["PAN"\\]', "motors = []", "differ: PAN"),
        ('name = "COVER"', 'name = "LID"', "order of the wire's Sensor bits"),
        ('kind = "motor"', 'kind = "engine"', "pin PAN: kind must be one of"),
        ("limit_ma = 2000", 'limit_ma = "2 A"', "pin CURRENT_PAN: limit_ma must be a int"),
        ("limit_ma = 2000", "limit = 2000", "pin CURRENT_PAN: unknown keys limit"),
        ('"HU", "KONG"', '"KONG", "HU"', "order of the wire's Button"),
    ],
)
def test_a_wrong_map_is_refused(
    tmp_path: Path, pattern: str, replacement: str, complaint: str
) -> None:
    with pytest.raises(pins.PinMapError, match=complaint):
        pins.load(edited(tmp_path, pattern, replacement))


PROGRAM = """
#include <stdio.h>
#include "pins.h"
#define SHOW(name, port, bit) printf("%s P%s%d\\n", #name, #port, bit);
#define SENSOR(name, port, bit) printf("%d ", PIN_INPUT_##name);
int main(void) {
    PINS_MOTORS(SHOW) PINS_DIRECTIONS(SHOW) PINS_OUTPUTS(SHOW) PINS_INPUTS(SHOW) PINS_CHAINS(SHOW)
    PINS_INPUTS(SENSOR)
    printf("%d %x %x", PIN_CURRENT_COUNT, PINS_MOTORS_A, PINS_PULLUPS_L);
    return 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_the_header_says_what_the_map_says(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{pins.HEADER.parent}"]
    subprocess.run([str(COMPILER), *flags, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    shown = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    *lines, last = shown.stdout.splitlines()
    found = pins.load()
    digital = [*pins.OUTPUT_KINDS, "input", "chain_in"]
    assert sorted(lines) == sorted(f"{pin.name} {pin.port}" for pin in found.of_kind(*digital))
    inputs = len(found.of_kind("input"))
    assert last.split() == [*map(str, range(inputs)), "14", "ff", "ff"]
    assert inputs == len(Sensor), "the wire's bits are the inputs in their order"
