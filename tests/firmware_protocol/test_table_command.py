"""``tablectl table``: what a person at the shell sees and gets."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firmware_protocol import messages as m
from firmware_protocol.faults import FAULTS
from firmware_protocol.firmware import Identity
from firmware_protocol.simulator import Defect, SimulatedTable
from tablectl.cli.table import app

runner = CliRunner()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SimulatedTable]:
    with SimulatedTable(link=tmp_path / "table", speed=50) as running:
        running.wait_for(lambda plant: plant.mode is m.TableMode.READY)
        yield running


def test_status_for_people_and_for_scripts(table: SimulatedTable) -> None:
    shown = runner.invoke(app, ["status", "--port", table.port])
    assert shown.exit_code == 0
    assert "protocol 1.0" in shown.stdout
    assert "closed, down" in shown.stdout
    data = json.loads(runner.invoke(app, ["status", "-p", table.port, "--json"]).stdout)
    assert data["link"] == "ready"
    assert data["table"]["mode"] == "READY"
    assert "CENTRE_CLOSED" in data["sensors"]
    assert data["host_link"]["sessions"] == 1


def test_status_names_a_latched_fault_and_the_remedy(table: SimulatedTable) -> None:
    table.set_e_stop(is_open=True)
    table.wait_for(lambda plant: plant.mode is m.TableMode.EMERGENCY_STOP)
    shown = runner.invoke(app, ["status", "-p", table.port]).stdout
    assert "11: emergency stop" in shown
    assert "release the switch" in shown
    data = json.loads(runner.invoke(app, ["status", "-p", table.port, "--json"]).stdout)
    assert data["fault"]["name"] == "EMERGENCY_STOP"
    assert data["fault"]["line"] == "emergency stop (the safety contact is open)"
    assert data["fault"]["remedy"] == FAULTS[m.FaultCode.EMERGENCY_STOP].remedy
    assert "E_STOP_OPEN" in data["sensors"]


def test_selftest_passes_and_fails_by_its_exit_code(table: SimulatedTable) -> None:
    passed = runner.invoke(app, ["selftest", "-p", table.port, "--yes"])
    assert (passed.exit_code, passed.stdout) == (0, "passed: 13 motors and sensors\n")
    table.inject(Defect.RING_STALL, side=1)
    failed = runner.invoke(app, ["selftest", "-p", table.port, "--yes", "--json"])
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["side"] == "SIDE_1"


def test_selftest_moves_nothing_without_a_yes(table: SimulatedTable) -> None:
    assert runner.invoke(app, ["selftest", "-p", table.port], input="n\n").exit_code == 1
    assert table.snapshot().executed == ()


def test_monitor_prints_events_and_frames_as_json_lines(table: SimulatedTable) -> None:
    options = ["monitor", "-p", table.port, "--json", "--frames", "--seconds", "0.7"]
    shown = runner.invoke(app, options)
    assert shown.exit_code == 0
    kinds = {json.loads(line)["type"] for line in shown.stdout.splitlines()}
    assert {"LinkChanged", "TableState", "Stacks", "tx SYN", "rx SYN_ACK"} <= kinds


def test_monitor_shows_inputs_as_they_change(table: SimulatedTable) -> None:
    def open_the_lid() -> None:
        table.wait_for(lambda plant: plant.connected)
        time.sleep(0.3)
        table.set_cover(is_open=True)

    threading.Thread(target=open_the_lid, daemon=True).start()
    options = ["monitor", "-p", table.port, "--interval", "0.1", "--seconds", "2"]
    lines = runner.invoke(app, options).stdout.splitlines()
    reports = [line for line in lines if " SensorReport " in line]
    assert "HEAD_HOME_0" in reports[0], "at first all that are active"
    assert reports[1].endswith("on=COVER_OPEN  off=-")
    assert len(reports) == 2, "then only what changes"
    states = [line for line in lines if " TableState " in line]
    assert len(states) == 2, "told at the start, and when the lid was opened"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["status", "-p", "/dev/no-such-port", "--wait", "0.3"], 1, "cannot be opened"),
        (["simulate", "--fault", "gremlins"], 2, "head-jam"),
        (["selftest", "-y", "-p", "usb:dead:beef", "--wait", "0.3"], 1, "no device"),
    ],
)
def test_trouble_is_one_clear_line(arguments: list[str], code: int, words: str) -> None:
    result = runner.invoke(app, arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_foreign_device_is_bad_input(tmp_path: Path) -> None:
    identity = Identity(identity="toaster")
    with SimulatedTable(link=tmp_path / "toaster", identity=identity) as toaster:
        result = runner.invoke(app, ["status", "-p", toaster.port])
    assert result.exit_code == 2
    assert "toaster" in result.stderr
