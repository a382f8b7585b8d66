"""Wiring diagrams and bill of materials: complete, fresh, and refused when they contradict."""

from __future__ import annotations

import html
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol.hardware import wiring
from firmware_protocol.hardware.pins import load


def test_what_is_made_of_the_data_is_fresh() -> None:
    assert wiring.main(["--check"]) == 0, "run `python -m firmware_protocol.hardware.wiring`"


def test_every_pin_is_in_a_diagram_and_wired() -> None:
    wired = {
        label
        for harness in wiring.diagrams(wiring.read()).values()
        for origin, pin, target, other, _ in harness.wires
        for name, label in ((origin, pin), (target, other))
        if name == wiring.CONTROLLER
    }
    expected = {wiring.label(pin) for pin in load().pins}
    not_wired = {"D0 SERIAL_RX", "D1 SERIAL_TX", "D13 STATUS_LED"}  # USB, and on the board
    assert expected - wired == not_wired


def test_every_diagram_has_its_picture() -> None:
    sources = {path.stem for path in wiring.FOLDER.glob("*.yml")}
    pictures = {path.stem for path in wiring.FOLDER.glob("*.svg")}
    assert sources == pictures == set(wiring.diagrams(wiring.read()))


@pytest.mark.parametrize("name", ["side-0-motors", "power", "consoles"])
def test_a_picture_shows_what_its_source_says(name: str) -> None:
    source = json.loads((wiring.FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    picture = html.unescape((wiring.FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    for connector in source["connectors"].values():
        for label in connector["pinlabels"]:
            assert f">{label}<" in picture, "run `... wiring --draw`"


def test_the_trays_share_one_direction_and_the_heads_do_not() -> None:
    found = wiring.diagrams(wiring.read())
    for side in range(4):
        wires = found[f"side-{side}-motors"].wires
        directions = {target: pin for _, pin, target, other, _ in wires if other == "DIR"}
        assert directions[f"LIFT_{side}"] == "D10 LIFT_REVERSE"
        assert directions[f"HEAD_{side}"].endswith(f"HEAD_REVERSE_{side}")


def test_the_emergency_stop_is_in_the_coil_of_the_relay() -> None:
    wires = {(a, b, c, d) for a, b, c, d, _ in wiring.power(wiring.read()).wires}
    assert ("PSU", "+24V", "ES", "11") in wires
    assert ("ES", "12", "K1", "A1") in wires
    assert not any(c == "BUS" and d == "+24V" and a != "K1" for a, _, c, d in wires)


def test_the_bill_counts_what_the_pins_need() -> None:
    found = wiring.read()
    assert wiring.count(found, "motor") == 18
    assert wiring.count(found, "motor:single") + wiring.count(found, "motor:bridge") == 18
    assert wiring.count(found, "input:photo") == 8
    assert wiring.count(found, 7) == 7


def changed(path: tuple[str | int, ...], value: object) -> wiring.Wiring:
    found = wiring.read()
    data: dict[str, Any] = json.loads(json.dumps(found.data))
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return replace(found, data=data)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("power", "wires", 0), ["PSU", "+48V", "F1", "IN", "RD"], "PSU has no pin \\+48V"),
        (("power", "wires", 0), ["PSU", "+24V", "F9", "IN", "RD"], "F9 has no pin IN"),
        (("module", "single", "signal"), "SGN", "has no pin SGN"),
    ],
)
def test_a_wire_to_nowhere_is_refused(
    path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    with pytest.raises(wiring.WiringError, match=complaint):
        wiring.diagrams(changed(path, value))


def test_a_part_for_pins_that_do_not_exist_is_refused() -> None:
    with pytest.raises(wiring.WiringError, match="no pin is 'motor:steam'"):
        wiring.count(wiring.read(), "motor:steam")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_the_pictures_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wireviz")
    (tmp_path / "power.yml").write_text(wiring.power(wiring.read()).text(), encoding="utf-8")
    monkeypatch.setattr(wiring, "FOLDER", tmp_path)
    wiring.draw()
    assert "<svg" in (tmp_path / "power.svg").read_text(encoding="utf-8")
