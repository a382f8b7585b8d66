"""``tablectl table do``: the table driven from the shell."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firmware_protocol import messages as m
from firmware_protocol.simulator import Defect, SimulatedTable
from tablectl.cli.main import app

runner = CliRunner()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SimulatedTable]:
    with SimulatedTable(link=tmp_path / "table", speed=50) as running:
        running.wait_for(lambda plant: plant.mode is m.TableMode.READY)
        yield running


def kinds(table: SimulatedTable) -> list[type[m.Command]]:
    return [type(command) for command in table.snapshot().executed]


def test_a_whole_cycle_in_one_line(table: SimulatedTable) -> None:
    actions = ["open", "close", "build", "raise", "lower"]
    options = ["--tiles", "84", "--dealer", "2", "--yes"]
    result = runner.invoke(app, ["table", "do", *actions, "-p", table.port, *options])
    assert result.exit_code == 0, result.output
    assert kinds(table) == [m.OpenCentre, m.CloseCentre, m.BuildWalls, m.RaiseWalls, m.LowerWalls]
    built = table.snapshot().executed[2]
    assert isinstance(built, m.BuildWalls)
    assert (built.program, built.dealer) == (m.TileProgram.TILES_84, 2)


def test_a_refusal_says_why_and_ends_the_line(table: SimulatedTable) -> None:
    result = runner.invoke(app, ["table", "do", "raise", "dice", "-p", table.port, "--yes"])
    assert result.exit_code == 1
    assert "build them first" in result.stderr
    assert kinds(table) == []


def test_a_fault_is_told_with_side_and_remedy(table: SimulatedTable) -> None:
    table.inject(Defect.SHORT_SET, side=3, amount=2)
    result = runner.invoke(app, ["table", "do", "build", "-p", table.port, "--yes"])
    assert result.exit_code == 1
    assert "Look on the floor" in result.stderr
    assert "2 missing at side 3" in result.stderr


def test_nothing_moves_without_a_yes_but_dice_and_stop_need_none(table: SimulatedTable) -> None:
    asked = runner.invoke(app, ["table", "do", "open", "-p", table.port], input="n\n")
    assert asked.exit_code == 1
    assert kinds(table) == []
    table.set_next_dice(3, 4)
    rolled = runner.invoke(app, ["table", "do", "dice", "lights", "stop", "-p", table.port])
    assert rolled.exit_code == 0, rolled.output
    assert "dice: 3 4" in rolled.stdout
    assert table.snapshot().lights == (m.LightPattern.ON,) * 4


@pytest.mark.parametrize(
    "options", [["jump"], ["build", "--tiles", "137"], ["lights", "--light", "disco"]]
)
def test_wrong_arguments_are_refused(table: SimulatedTable, options: list[str]) -> None:
    result = runner.invoke(app, ["table", "do", *options, "-p", table.port, "--yes"])
    assert result.exit_code == 2
    assert kinds(table) == []


def test_an_interrupt_stops_the_motion(tmp_path: Path) -> None:
    with SimulatedTable(link=tmp_path / "table", speed=1) as table:
        process = subprocess.Popen(
            [sys.executable, "-m", "tablectl", "table", "do", "build", "-p", table.port, "-y"],
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        table.wait_for(lambda plant: plant.motion is m.Motion.BUILDING, within=60)
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert kinds(table) == [m.BuildWalls, m.Stop]
        assert not table.snapshot().motors_on
