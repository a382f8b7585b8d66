"""The controller's pin map: ``hardware/pins.toml`` checked, and what is made of it.

``python -m firmware_protocol.hardware.pins [--check]`` writes ``hardware/firmware/pins.h`` and
``hardware/pin-map.md``, or says whether they are up to date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware_protocol.hardware.paths import FIRMWARE, HARDWARE, write_or_check
from firmware_protocol.messages import Button, Sensor

SOURCE: Final = HARDWARE / "pins.toml"
HEADER: Final = FIRMWARE / "pins.h"
TABLE: Final = HARDWARE / "pin-map.md"

_DIGITAL: Final = (
    "PE0 PE1 PE4 PE5 PG5 PE3 PH3 PH4 PH5 PH6 PB4 PB5 PB6 PB7 PJ1 PJ0 PH1 PH0 PD3 PD2 PD1 PD0 "
    "PA0 PA1 PA2 PA3 PA4 PA5 PA6 PA7 PC7 PC6 PC5 PC4 PC3 PC2 PC1 PC0 PD7 PG2 PG1 PG0 "
    "PL7 PL6 PL5 PL4 PL3 PL2 PL1 PL0 PB3 PB2 PB1 PB0"
)
MEGA_2560: Final[dict[str, str]] = {
    **{f"D{number}": port for number, port in enumerate(_DIGITAL.split())},
    **{f"A{number}": f"P{'FK'[number // 8]}{number % 8}" for number in range(16)},
}
"""Port of every pin of an Arduino Mega 2560 (its schematic, and the variant's pins_arduino.h)."""

_KINDS: Final = (
    "serial", "motor", "direction", "output", "input", "chain_out", "chain_in", "current",
)  # fmt: skip
OUTPUT_KINDS: Final = ("motor", "direction", "output", "chain_out")
PULLED_UP_KINDS: Final = ("input", "chain_in")
_OPTIONAL: Final[dict[str, type]] = {
    "pwm": str, "interrupt": str, "driver": str, "sensor": str, "adc": int, "motors": list,
    "limit_ma": int,
}  # fmt: skip


class PinMapError(ValueError):
    """The pin map contradicts itself or the board; says which pin."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One pin of the board.

    Attributes:
        name: of the signal, as in the firmware.
        arduino: as printed on the board, ``D12`` or ``A3``.
        port: of the microcontroller, ``PB6``.
        kind: what it is for; one of the kinds in pins.toml.
        pwm, interrupt: the timer output or external interrupt on this pin, if used.
        driver: ``single`` or ``bridge``, for motors.
        sensor: ``contact``, ``switch`` or ``photo``, for inputs.
        adc, motors, limit_ma: of a current-sense channel.
    """

    name: str
    arduino: str
    port: str
    kind: str
    meaning: str
    pwm: str = ""
    interrupt: str = ""
    driver: str = ""
    sensor: str = ""
    adc: int = -1
    motors: tuple[str, ...] = ()
    limit_ma: int = 0

    @property
    def letter(self) -> str:
        """``B`` of ``PB6``."""
        return self.port[1]

    @property
    def bit(self) -> int:
        """6 of ``PB6``."""
        return int(self.port[2])


@dataclass(frozen=True, slots=True)
class PinMap:
    """The whole map.

    Attributes:
        mv_per_a, reference_mv: of the current sense and of the converter.
        chain_bytes_in, chain_bytes_out: length of the shift-register chain.
    """

    pins: tuple[Pin, ...]
    mcu: str
    clock_hz: int
    baud: int
    reference_mv: int
    mv_per_a: int
    chain_bytes_in: int
    chain_bytes_out: int
    buttons: tuple[str, ...]
    lights: tuple[str, ...]

    def of_kind(self, *kinds: str) -> tuple[Pin, ...]:
        """Pins of some kinds, in the map's order."""
        return tuple(pin for pin in self.pins if pin.kind in kinds)


def load(path: Path = SOURCE) -> PinMap:
    """Read and check the pin map.

    Raises:
        PinMapError: a pin that the board lacks or that is used twice, a wrong port, inputs in
            another order than the wire's Sensor bits, a motor without current sense.
    """
    with path.open("rb") as file:
        data = tomllib.load(file)
    chain, analogue, board = data["chain"], data["analogue"], data["board"]
    found = PinMap(
        pins=tuple(_pin(entry) for entry in data["pin"]),
        mcu=board["mcu"],
        clock_hz=board["clock_hz"],
        baud=board["baud"],
        reference_mv=analogue["reference_mv"],
        mv_per_a=analogue["mv_per_a"],
        chain_bytes_in=chain["bytes_in"],
        chain_bytes_out=chain["bytes_out"],
        buttons=tuple(chain["buttons"]),
        lights=tuple(chain["lights"]),
    )
    _check(found)
    return found


def _pin(entry: Mapping[str, Any]) -> Pin:
    name = entry.get("name", "?")
    for key, kind in _OPTIONAL.items():
        if key in entry and not isinstance(entry[key], kind):
            raise PinMapError(f"pin {name}: {key} must be a {kind.__name__}")
    unknown = set(entry) - {"name", "arduino", "port", "kind", "meaning", *_OPTIONAL}
    if unknown:
        raise PinMapError(f"pin {name}: unknown keys {', '.join(sorted(unknown))}")
    if entry.get("kind") not in _KINDS:
        raise PinMapError(f"pin {name}: kind must be one of {', '.join(_KINDS)}")
    return Pin(**{**entry, "motors": tuple(entry.get("motors", ()))})


def _check(found: PinMap) -> None:
    taken: dict[str, str] = {}
    for pin in found.pins:
        if pin.arduino not in MEGA_2560:
            raise PinMapError(f"pin {pin.name}: the board has no {pin.arduino}")
        if MEGA_2560[pin.arduino] != pin.port:
            raise PinMapError(
                f"pin {pin.name}: {pin.arduino} is {MEGA_2560[pin.arduino]}, not {pin.port}"
            )
        for key in (pin.arduino, pin.name):
            if key in taken:
                raise PinMapError(f"{key} is used by {taken[key]} and {pin.name}")
            taken[key] = pin.name
    sensed = {motor for pin in found.pins for motor in pin.motors}
    motors = {pin.name for pin in found.of_kind("motor")}
    if sensed != motors:
        raise PinMapError(f"current sense and motors differ: {', '.join(sorted(sensed ^ motors))}")
    names = [pin.name for pin in found.of_kind("input")]
    bits = [(sensor.name or "").replace("STOP_OPEN", "STOP").replace("COVER_OPEN", "COVER")
            for sensor in Sensor]  # fmt: skip
    if names[: len(bits)] != bits:
        raise PinMapError("the inputs must stand in the order of the wire's Sensor bits")
    if list(found.buttons) != [button.name for button in Button]:
        raise PinMapError("the console's buttons must stand in the order of the wire's Button")


# --- the C header ---

_PROLOGUE = """\
/* Generated by `python -m firmware_protocol.hardware.pins` from hardware/pins.toml. Do not edit.
 *
 * Pin map of the table's controller. Lists are X macros: X(name, port letter, bit).
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_PINS_H
#define TABLECTL_PINS_H
"""


def header(found: PinMap) -> str:
    """``pins.h``."""
    parts = [_PROLOGUE, "\n".join(_constants(found))]
    parts += [_list(found, name, kinds, text) for name, kinds, text in _LISTS]
    parts += [_currents(found), "\n".join(_single(found)), "\n".join(_masks(found)), _chain(found)]
    return "\n\n".join(parts) + "\n\n#endif\n"


_LISTS: Final = (
    ("MOTOR", ("motor",), "Run pins: high runs. Off first in every emergency."),
    ("DIRECTION", ("direction",), "Low is forward (stack, up, open), high is back."),
    ("OUTPUT", ("output",), "Other outputs, high is on."),
    ("INPUT", ("input",), "Pulled up; high is active. The first are the wire's Sensor bits."),
    ("CHAIN", ("chain_out", "chain_in"), "The shift registers of consoles and dice."),
)


def _constants(found: PinMap) -> Iterator[str]:
    yield f"#define PINS_CLOCK_HZ {found.clock_hz}ul"
    yield f"#define PINS_BAUD {found.baud}ul"
    yield f"#define PINS_ADC_REFERENCE_MV {found.reference_mv}u"
    yield f"#define PINS_CURRENT_MV_PER_A {found.mv_per_a}u"


def _list(found: PinMap, name: str, kinds: Sequence[str], text: str) -> str:
    pins = found.of_kind(*kinds)
    entries = [f"X({pin.name}, {pin.letter}, {pin.bit})" for pin in pins]
    lines = [f"/* {text} */", f"#define PINS_{name}S(X) \\"]
    lines += [f"    {entry} \\" for entry in entries[:-1]] + [f"    {entries[-1]}"]
    lines += [f"enum pin_{name.lower()} {{"]
    lines += [f"    PIN_{name}_{pin.name}," for pin in pins]
    lines += [f"    PIN_{name}_COUNT", "};"]
    return "\n".join(lines)


def _currents(found: PinMap) -> str:
    pins = found.of_kind("current")
    entries = [f"X({pin.name}, {pin.adc}, {pin.limit_ma})" for pin in pins]
    lines = ["/* Current sense: X(name, ADC channel, factory limit in mA). */"]
    lines += ["#define PINS_CURRENTS(X) \\"]
    lines += [f"    {entry} \\" for entry in entries[:-1]] + [f"    {entries[-1]}"]
    lines += ["enum pin_current {", *(f"    PIN_{pin.name}," for pin in pins)]
    return "\n".join([*lines, "    PIN_CURRENT_COUNT", "};"])


def _single(found: PinMap) -> Iterator[str]:
    """Port letter and bit of each pin by its name, for direct access."""
    for pin in found.pins:
        yield f"#define PIN_{pin.name}_PORT {pin.letter}"
        yield f"#define PIN_{pin.name}_BIT {pin.bit}"
        if pin.pwm:
            timer, channel = re.findall(r"OC(\d)([ABC])", pin.pwm)[0]
            yield f"#define PIN_{pin.name}_TIMER {timer}"
            yield f"#define PIN_{pin.name}_CHANNEL {channel}"
        if pin.interrupt:
            yield f"#define PIN_{pin.name}_INT {pin.interrupt.removeprefix('INT')}"


def _masks(found: PinMap) -> Iterator[str]:
    yield "/* By port: which bits are outputs, need a pull-up, or run a motor. */"
    wanted = (("OUTPUTS", OUTPUT_KINDS), ("PULLUPS", PULLED_UP_KINDS), ("MOTORS", ("motor",)))
    for name, kinds in wanted:
        pins = found.of_kind(*kinds)
        for letter in "ABCDEFGHJKL":
            mask = sum(1 << pin.bit for pin in pins if pin.letter == letter)
            yield f"#define PINS_{name}_{letter} 0x{mask:02x}u"


def _chain(found: PinMap) -> str:
    lines = [f"#define PINS_CHAIN_BYTES_IN {found.chain_bytes_in}u"]
    lines += [f"#define PINS_CHAIN_BYTES_OUT {found.chain_bytes_out}u"]
    lines += [f"#define PINS_BUTTON_{name} {bit}u" for bit, name in enumerate(found.buttons)]
    lines += [f"#define PINS_LIGHT_{name} {bit}u" for bit, name in enumerate(found.lights)]
    return "\n".join(lines)


# --- the table for people ---

_TABLE_INTRO = """\
# Pin map

Generated from [pins.toml](pins.toml) by `python -m firmware_protocol.hardware.pins`; do not edit.
Board: Arduino Mega 2560 (ATmega2560). All 70 pins are used.

- **Motors** run while their pin is high. A 10 kOhm resistor from each to ground keeps the motor off
  while the controller resets or its cable is out.
- **Inputs** are pulled up in the controller and closed to ground at rest; open is active. A broken
  wire therefore reads as "stop", "open", "at the limit" or "blocked", never as "all is well".
- **Current sense** is {mv_per_a} mV per ampere, {reference_mv} mV at most.

| pin | port | signal | what | notes |
| --- | --- | --- | --- | --- |
"""


def table(found: PinMap) -> str:
    """``pin-map.md``: every pin in the order of the board's labels."""
    rows = sorted(found.pins, key=lambda pin: (pin.arduino[0] != "D", int(pin.arduino[1:])))
    intro = _TABLE_INTRO.format(mv_per_a=found.mv_per_a, reference_mv=found.reference_mv)
    return intro + "".join(
        f"| {pin.arduino} | {pin.port} | `{pin.name}` | {pin.meaning} | {_notes(pin)} |\n"
        for pin in rows
    )


_NOTES: Final = {
    "serial": "USB",
    "motor": "output, high runs, 10 kOhm to ground",
    "direction": "output, low forward",
    "output": "output",
    "input": "input, pull-up, open is active",
    "chain_out": "output",
    "chain_in": "input, pull-up",
    "current": "analogue",
}


def _notes(pin: Pin) -> str:
    parts = [_NOTES[pin.kind]]
    parts += [text for text in (pin.pwm, pin.interrupt) if text]
    parts += [{"single": "one direction", "bridge": "H-bridge"}[pin.driver]] if pin.driver else []
    if pin.sensor:
        parts.append({"contact": "safety contact", "switch": "switch", "photo": "photo sensor"}[
            pin.sensor
        ])  # fmt: skip
    if pin.motors:
        parts.append(f"{' + '.join(pin.motors)}, limit {pin.limit_ma} mA")
    return ", ".join(parts)


def files() -> dict[Path, str]:
    """Every generated file."""
    found = load()
    return {HEADER: header(found), TABLE: table(found)}


def main(arguments: Sequence[str] | None = None) -> int:
    """The shell's entry."""
    return write_or_check("firmware_protocol.hardware.pins", files, arguments)


if __name__ == "__main__":
    sys.exit(main())
