"""Wiring diagrams and bill of materials, from ``hardware/pins.toml`` and ``hardware/wiring.toml``.

``python -m firmware_protocol.hardware.wiring [--check | --draw]`` writes WireViz sources into
``hardware/wiring/`` and ``hardware/bill-of-materials.md``, or says whether they are up to date.
``--draw`` also makes the pictures; that needs WireViz and Graphviz.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware_protocol.hardware.paths import HARDWARE, write_or_check
from firmware_protocol.hardware.pins import Pin, PinMap, load

SOURCE: Final = HARDWARE / "wiring.toml"
FOLDER: Final = HARDWARE / "wiring"
PARTS: Final = HARDWARE / "bill-of-materials.md"
CONTROLLER: Final = "CONTROLLER"
_SIDES: Final = range(4)


class WiringError(ValueError):
    """The wiring names a module or pin that does not exist; says which."""


@dataclass
class Harness:
    """One diagram: connectors with named pins, and wires between them.

    Attributes:
        pins: of each connector, in the order drawn.
        titles: what stands over it.
        wires: from connector and pin to connector and pin, with the colour.
    """

    pins: dict[str, list[str]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    wires: list[tuple[str, str, str, str, str]] = field(default_factory=list)

    def add(self, name: str, title: str, pins: Iterable[str]) -> None:
        """A connector."""
        self.pins[name], self.titles[name] = list(pins), title

    def wire(self, origin: str, pin: str, target: str, other: str, colour: str) -> None:
        """A wire.

        Raises:
            WiringError: no such connector or pin.
        """
        for name, label in ((origin, pin), (target, other)):
            if label not in self.pins.get(name, ()):
                raise WiringError(f"wiring: {name} has no pin {label}")
        self.wires.append((origin, pin, target, other, colour))

    def text(self) -> str:
        """The WireViz source: JSON, which is YAML too. Wires of a pair make one cable."""
        pairs: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
        for origin, pin, target, other, colour in self.wires:
            ends = (1 + self.pins[origin].index(pin), 1 + self.pins[target].index(other))
            pairs.setdefault((origin, target), []).append((*ends, colour))
        cables, connections = {}, []
        for number, ((origin, target), wires) in enumerate(pairs.items(), 1):
            name = f"W{number}"
            colours = [colour for _, _, colour in wires]
            cables[name] = {"wirecount": len(wires), "colors": colours}
            connections.append(
                [
                    {origin: [pin for pin, _, _ in wires]},
                    {name: list(range(1, len(wires) + 1))},
                    {target: [other for _, other, _ in wires]},
                ]
            )
        connectors = {
            name: {"type": self.titles[name], "pinlabels": labels, "show_pincount": False}
            for name, labels in self.pins.items()
        }
        content = {"connectors": connectors, "cables": cables, "connections": connections}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Wiring:
    """All data: the pins, and what is wired to them."""

    pins: PinMap
    data: dict[str, Any]

    def module(self, kind: str) -> dict[str, Any]:
        """A kind of module.

        Raises:
            WiringError: there is none of that name.
        """
        found: dict[str, Any] | None = self.data["module"].get(kind)
        if found is None:
            raise WiringError(f"wiring.toml has no module {kind!r}")
        return found


def read(path: Path = SOURCE) -> Wiring:
    """Read pins and wiring.

    Raises:
        PinMapError, WiringError: they contradict the board or each other.
    """
    with path.open("rb") as file:
        return Wiring(load(), tomllib.load(file))


# --- the diagrams ---


def label(pin: Pin) -> str:
    """``D12 PAN``: board label and signal."""
    return f"{pin.arduino} {pin.name}"


def _attach(wiring: Wiring, harness: Harness, pin: Pin, kind: str, direction: Pin | None) -> None:
    """A module on a pin, with ground and supply from the controller's side."""
    module, colours = wiring.module(kind), wiring.data["cable"]
    harness.add(pin.name, f"{module['title']}: {pin.meaning}", module["pins"])
    harness.wire(CONTROLLER, label(pin), pin.name, module["signal"], colours["signal"])
    if direction is not None:
        other = module["direction"]
        harness.wire(CONTROLLER, label(direction), pin.name, other, colours["direction"])
    harness.wire(CONTROLLER, "GND", pin.name, module["ground"], colours["ground"])
    if "supply" in module:
        harness.wire(CONTROLLER, "5V", pin.name, module["supply"], colours["supply"])


def _direction_of(wiring: Wiring, motor: Pin) -> Pin | None:
    """The pin that turns a motor round; the trays share one."""
    name, _, side = motor.name.partition("_")
    wanted = (f"{name}_REVERSE_{side}", f"{name}_REVERSE")
    found = [pin for pin in wiring.pins.of_kind("direction") if pin.name in wanted]
    return found[0] if found else None


def of_pins(wiring: Wiring, pins: Sequence[Pin]) -> Harness:
    """The diagram of some motors, sensors and current senses."""
    harness = Harness()
    directions = {pin.name: _direction_of(wiring, pin) for pin in pins if pin.kind == "motor"}
    used = [*pins, *dict.fromkeys(pin for pin in directions.values() if pin is not None)]
    harness.add(CONTROLLER, "Arduino Mega 2560", [*map(label, used), "GND", "5V"])
    for pin in pins:
        kind = {"motor": pin.driver, "input": pin.sensor, "current": "sense"}[pin.kind]
        _attach(wiring, harness, pin, kind, directions.get(pin.name))
    return harness


def _side(wiring: Wiring, side: int, *kinds: str) -> list[Pin]:
    return [pin for pin in wiring.pins.of_kind(*kinds) if pin.name.endswith(f"_{side}")]


def consoles(wiring: Wiring) -> Harness:
    """The chain of consoles and dice reader."""
    harness, chain = Harness(), wiring.data["chain"]
    pins = {pin.name.removeprefix("CHAIN_"): label(pin)
            for pin in wiring.pins.of_kind("chain_out", "chain_in")}  # fmt: skip
    harness.add(CONTROLLER, "Arduino Mega 2560", [*pins.values(), "GND", "5V"])
    before = CONTROLLER
    for name in (*(f"CONSOLE {seat}" for seat in _SIDES), "DICE"):
        what = "dice reader, 74HC165" if name == "DICE" else "seat console, 74HC165 and 74HC595"
        there = [f"{pin} in" for pin in chain["pins"]]
        onward = [] if name == "DICE" else [f"{pin} out" for pin in chain["pins"]]
        harness.add(name, what, there + onward)
        for pin, colour in zip(chain["pins"], chain["colours"], strict=True):
            if name == "DICE" and pin == "OUT":
                continue  # it has no lights
            origin = pins.get(pin, pin) if before == CONTROLLER else f"{pin} out"
            harness.wire(before, origin, name, f"{pin} in", colour)
        before = name
    return harness


def power(wiring: Wiring) -> Harness:
    """Supply, emergency stop and relay."""
    harness, data = Harness(), wiring.data["power"]
    named = {pin.name: label(pin) for pin in wiring.pins.of_kind("output", "input")}
    mine = {
        end[1] for wire in data["wires"] for end in (wire[:2], wire[2:4]) if end[0] == CONTROLLER
    }
    harness.add(CONTROLLER, "Arduino Mega 2560", sorted(named.get(pin, pin) for pin in mine))
    for connector in data["connector"]:
        harness.add(connector["name"], connector["title"], connector["pins"])
    for origin, pin, target, other, colour in data["wires"]:
        pin = named.get(pin, pin) if origin == CONTROLLER else pin  # noqa: PLW2901
        other = named.get(other, other) if target == CONTROLLER else other  # noqa: PLW2901
        harness.wire(origin, pin, target, other, colour)
    return harness


def diagrams(wiring: Wiring) -> dict[str, Harness]:
    """All diagrams by name; together they hold every pin but the serial line's and the LED's."""
    found = {"power": power(wiring), "consoles": consoles(wiring)}
    for side in _SIDES:
        found[f"side-{side}-motors"] = of_pins(wiring, _side(wiring, side, "motor", "current"))
        found[f"side-{side}-sensors"] = of_pins(wiring, _side(wiring, side, "input"))
    middle = ("PAN", "CENTRE", "CURRENT_PAN", "CURRENT_CENTRE", "CENTRE_OPEN", "CENTRE_CLOSED",
              "COVER")  # fmt: skip
    found["middle"] = of_pins(wiring, [pin for pin in wiring.pins.pins if pin.name in middle])
    return found


# --- the bill of materials ---

_PARTS_INTRO: Final = """\
# Bill of materials

Generated from [wiring.toml](wiring.toml) and [pins.toml](pins.toml) by
`python -m firmware_protocol.hardware.wiring`; do not edit. For a table that is made electric from
scratch; a table that has motors and switches needs fewer. Cables, terminals and a closed housing
come on top.

| number | part | what it must be | what else will do |
| ---: | --- | --- | --- |
"""


def count(wiring: Wiring, wanted: int | str) -> int:
    """How many of a part: a number, or the pins of a kind, or of a kind with a driver or sensor.

    Raises:
        WiringError: no pin is of that kind.
    """
    if isinstance(wanted, int):
        return wanted
    kind, _, what = wanted.partition(":")
    pins = [pin for pin in wiring.pins.of_kind(kind) if what in ("", pin.driver, pin.sensor)]
    if not pins:
        raise WiringError(f"wiring.toml: no pin is {wanted!r}")
    return len(pins)


def bill(wiring: Wiring) -> str:
    """``bill-of-materials.md``."""
    return _PARTS_INTRO + "".join(
        f"| {count(wiring, part['count'])} | {part['name']} | {part['spec']} | "
        f"{part['substitute']} |\n"
        for part in wiring.data["part"]
    )


def files() -> dict[Path, str]:
    """Every generated text."""
    wiring = read()
    sources = {FOLDER / f"{name}.yml": made.text() for name, made in diagrams(wiring).items()}
    return {**sources, PARTS: bill(wiring)}


def draw() -> None:
    """Make an SVG of each diagram.

    Raises:
        WiringError: WireViz or Graphviz is missing, or fails.
    """
    wireviz = shutil.which("wireviz", path=f"{Path(sys.executable).parent}") or shutil.which(
        "wireviz"
    )
    if wireviz is None or shutil.which("dot") is None:
        raise WiringError("needs WireViz (pip) and Graphviz (apt): pip install wireviz; graphviz")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(FOLDER.glob("*.yml")):
            done = subprocess.run(
                [wireviz, "--format", "s", "--output-dir", folder, str(path)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            made = Path(folder) / f"{path.stem}.svg"
            if done.returncode or not made.exists():
                raise WiringError(f"{path}: WireViz: {done.stderr.strip()}")
            (FOLDER / made.name).write_bytes(made.read_bytes())


def main(arguments: Sequence[str] | None = None) -> int:
    """The shell's entry."""
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    drawing = chosen == ["--draw"]
    FOLDER.mkdir(exist_ok=True)
    code = write_or_check("firmware_protocol.hardware.wiring", files, [] if drawing else chosen)
    if drawing and code == 0:
        try:
            draw()
        except WiringError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
