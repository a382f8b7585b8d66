"""The hand logs that come with the rules, and all logs of these rule sets where they lie beside."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from tablectl.cli.follow import follow
from tablectl.engine.game import apply, finish
from tablectl.engine.logfile import HandLog, differences, read_logs
from tablectl.engine.state import HandState
from tablectl.rules import registry

HERE = Path(__file__).parent
LOGS = [log for rules in registry.IDS for log in read_logs(HERE / "logs" / f"{rules}.json")]
OWN = [log for rules in registry.IDS for log in read_logs(HERE / "own" / f"{rules}.json")]
"""Worked out from the documents by hand, before the engine was asked."""


def found(log: HandLog) -> dict[str, object]:
    state: HandState | None = None
    issues, turn, wall = [], {}, {}
    for n, line in enumerate(log.lines):
        state, step = apply(state, line.event)
        issues += [[n, name, seat] for name, seat in step.issues]
        turn[n], wall[n] = step.turn, step.wall
    assert state is not None
    state = finish(state)
    settlement = state.settlement
    return {
        "issues": issues,
        "turn": turn,
        "wall": wall,
        "next": state.next.to_json() if state.next else None,
        "delta": list(settlement.delta) if settlement and settlement.delta else None,
    }


@pytest.mark.parametrize("log", [*LOGS, *OWN], ids=lambda log: log.id)
def test_log(log: HandLog) -> None:
    assert not log.problem
    assert differences(log.expect, found(log)) == []


def test_the_logs_are_there() -> None:
    assert len(LOGS) >= 15


def test_a_wrong_expectation_is_noticed() -> None:
    log = LOGS[0]
    said = found(log)
    for name, wrong in (
        ("issues", [[0, "out_of_turn", 0]]),
        ("turn", {"0": 9}),
        ("wall", {"0": 1}),
        ("next", {"dealer": 9}),
        ("delta", [1, 2, 3, 4]),
    ):
        assert len(differences({name: wrong}, said)) == 1, name


def test_shared_logs() -> None:
    shared = HERE.parents[2] / "shared" / "logs"
    if not shared.is_dir():
        pytest.skip("the shared logs are not beside this checkout")
    app = Typer()
    app.command()(follow)
    files = [str(shared / f"{name}.json") for name in registry.IDS]
    result = CliRunner().invoke(app, [*files, "--json"])
    assert result.exit_code == 0, result.output
