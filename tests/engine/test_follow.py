"""``tablectl follow``: forms of input, output, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from tablectl.cli.follow import follow
from tests.engine.playing import call, start, throw, win

APP = Typer()
APP.command()(follow)
WAITING = "12345678s444z66z"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(a) for a in arguments])


def won(*, ended: bool = False) -> list[dict[str, Any]]:
    lines = [
        start(),
        *throw(0, "1m", "9s"),
        call(2, "hu"),
        win(2, "discard", "9s", WAITING, 1),
    ]
    return [*lines, {"e": "end"}] if ended else lines


def lines_file(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_one_line_an_event_and_one_for_the_settlement(tmp_path: Path) -> None:
    result = run(lines_file(tmp_path / "hand.jsonl", won()), "--json")
    assert result.exit_code == 0, result.output
    printed = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line.get("n") for line in printed] == [0, 1, 2, 3, 4, None]
    assert set(printed[0]) == {"n", "turn", "wall", "options", "issues", "pending"}
    assert printed[3]["pending"] == [{"seat": 2, "call": "hu"}]
    assert printed[4]["turn"] is None
    end = printed[5]
    assert end["next"] == {
        "dealer": 1,
        "streak": 1,
        "round_wind": "E",
        "over": False,
        "session": {},
    }
    assert end["settlement"]["delta"] == [0, -24, 24, 0]
    assert end["settlement"]["patterns"] == {
        "2": {"mixed_one_suit": 3, "concealed_hand": 1, "no_flowers": 1}
    }
    assert end["settlement"]["error"] is None
    assert set(end["settlement"]) == {
        "id", "delta", "patterns", "wild_as", "lines", "error", "ok",
    }  # fmt: skip


def test_the_same_with_and_without_end(tmp_path: Path) -> None:
    without = run(lines_file(tmp_path / "hand.jsonl", won()), "--json").stdout.splitlines()
    ended = run(lines_file(tmp_path / "hand.jsonl", won(ended=True)), "--json").stdout.splitlines()
    assert without[-1] == ended[-1]
    assert len(ended) == len(without) + 1


def test_a_log_that_stops_has_no_settlement(tmp_path: Path) -> None:
    result = run(lines_file(tmp_path / "hand.jsonl", won()[:3]), "--json")
    assert result.exit_code == 0
    assert "settlement" not in result.stdout


def test_an_array_of_events_and_several_hands(tmp_path: Path) -> None:
    path = tmp_path / "hands.json"
    path.write_text(json.dumps([*won(ended=True), *won()]))
    printed = [json.loads(line) for line in run(path, "--json").stdout.splitlines()]
    assert [line.get("n") for line in printed] == [0, 1, 2, 3, 4, 5, None, 0, 1, 2, 3, 4, None]


def test_expectations_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    log = {"id": "a", "events": won(), "expect": {"issues": [], "delta": [0, -24, 24, 0]}}
    path.write_text(json.dumps([log]))
    assert run(path).exit_code == 0
    log["expect"] = {"issues": [[2, "out_of_turn", 1]]}
    path.write_text(json.dumps([log]))
    result = run(path)
    assert result.exit_code == 1
    assert "issues: expected" in result.stderr


def test_people_read_the_reasons(tmp_path: Path) -> None:
    hand = [start(), *throw(0, "1m"), *throw(2, "2m")]
    result = run(lines_file(tmp_path / "hand.jsonl", hand))
    assert "out_of_turn (seat 2): acted when it was another seat's turn" in result.stdout
    assert "1 hands" in result.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("hello", "line 1: not JSON"),
        ("3", "expected logs or events"),
        ("[]", "holds no log"),
        ('{"id": "a", "events": 3}', "field 'events'"),
        ('{"id": "a", "events": [], "expect": {"turn": {"x": 1}}}', "'x' is no event number"),
        ('{"e": "start", "rules": "honkong", "dealer": 0}', "did you mean 'hongkong'"),
        ('{"e": "discard", "seat": 0, "tile": "1m"}', "a hand begins with start"),
        (
            '{"e": "start", "rules": "hongkong", "dealer": 0}\n'
            '{"e": "discard", "seat": 0, "tile": "1x"}',
            "line 2: field 'tile'",
        ),
        ('{"e": "start", "rules": "hongkong", "dealer": 0}\n{"e": ', "line 2: not JSON"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, text: str, told: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(text)
    good = lines_file(tmp_path / "good.jsonl", won())
    result = run(bad, good, "--json")
    assert result.exit_code == 2
    assert told in result.stderr
    assert str(bad) in result.stderr
    assert "Traceback" not in result.output
    assert '"settlement"' in result.stdout  # the batch goes on


def test_a_missing_file(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing.json")
    assert result.exit_code == 2
    assert "No such file" in result.stderr
