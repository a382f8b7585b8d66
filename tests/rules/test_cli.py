"""``tablectl score`` and ``tablectl rules``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tablectl.cli.rules import rules
from tablectl.cli.score import score
from tests.rules.test_case_format import GOOD, changed

HERE = Path(__file__).parent / "cases"

app = typer.Typer()
app.command("score")(score)
app.command("rules")(rules)
runner = CliRunner()


def write(tmp_path: Path, *cases: object) -> str:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    return str(path)


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    ran = runner.invoke(app, ["score", "--json", str(HERE / "hangzhou.json")])
    assert ran.exit_code == 0
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    cases = json.loads((HERE / "hangzhou.json").read_text())
    assert [line["id"] for line in lines] == [case["id"] for case in cases]
    keys = {"id", "delta", "patterns", "wild_as", "lines", "error", "ok"}
    assert all(set(line) == keys and line["ok"] is True for line in lines)
    refused = next(line for line in lines if line["id"] == "hangzhou-004")
    assert (refused["delta"], refused["patterns"]) == (None, None)
    wild = next(line for line in lines if line["id"] == "hangzhou-008")
    assert wild["wild_as"] == {"3": {"4s": ["5m"]}}


def test_a_difference_is_shown_and_gives_1(tmp_path: Path) -> None:
    path = write(tmp_path, changed("expect", {"delta": [0, 0, 0, 0], "why": "because"}))
    ran = runner.invoke(app, ["score", path])
    assert ran.exit_code == 1
    assert "expected 0 0 0 0, got -8 +24 -8 -8" in ran.stdout
    assert "because" in ran.stdout
    path = write(tmp_path, changed("expect", {"error": "forfeited"}))
    assert runner.invoke(app, ["score", path]).exit_code == 1
    wrong = {"delta": [-8, 24, -8, -8], "patterns": {"1": {"all_pungs": 2}}}
    ran = runner.invoke(app, ["score", write(tmp_path, changed("expect", wrong))])
    assert ran.exit_code == 1
    assert "seat 1: expected {'all_pungs': 2}" in ran.stdout


def test_no_expectation_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    ran = runner.invoke(app, ["score", "--json", write(tmp_path, changed("expect", None))])
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["ok"] is None


def test_malformed_cases_give_2_and_the_batch_goes_on(tmp_path: Path) -> None:
    good = changed("expect", None)
    path = write(tmp_path, changed("dealer", 9), changed("rules", "chess"), good)
    ran = runner.invoke(app, ["score", "--json", path])
    assert ran.exit_code == 2
    assert len(ran.stdout.splitlines()) == 1
    bad = ran.stderr.splitlines()
    assert len(bad) == 2
    assert all(line.startswith(f"{path}: case 'good'") for line in bad)
    ran = runner.invoke(app, ["score", str(tmp_path / "missing.json"), path])
    assert ran.exit_code == 2
    assert "4 cases: 3 malformed, 1 without expectation" in ran.stdout


def test_settlements_are_readable(tmp_path: Path) -> None:
    good = {**GOOD, "expect": {"delta": [-8, 24, -8, -8]}}
    ran = runner.invoke(app, ["score", write(tmp_path, good)])
    assert ran.exit_code == 0
    assert "All pungs 對對胡: 3 faan" in ran.stdout
    assert "1 + 3 = 4 faan: 16 points" in ran.stdout
    assert "1 cases: 1 agree" in ran.stdout


def test_rules_lists_and_prints_sheets() -> None:
    ran = runner.invoke(app, ["rules"])
    assert ran.exit_code == 0
    assert "hangzhou" in ran.stdout
    assert "hongkong" in ran.stdout
    sheet = runner.invoke(app, ["rules", "hongkong", "--option", "payment=thrower_half"]).stdout
    assert "# Hong Kong mahjong · 香港麻雀" in sheet
    assert "半銃" in sheet
    assert (
        "| `payment` | **thrower_half** (changed) | thrower_all | thrower_all, thrower_half |"
        in sheet
    )
    described = json.loads(runner.invoke(app, ["rules", "--json"]).stdout)
    assert {d["id"] for d in described} >= {"hangzhou", "hongkong"}
    chosen = runner.invoke(app, ["rules", "hangzhou", "-o", "max_loss=null", "--json"]).stdout
    assert json.loads(chosen)["chosen"]["max_loss"] is None


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["hongkon"], "did you mean 'hongkong'?"),
        (["hangzhou", "-o", "wal_only=true"], "did you mean 'wall_only'?"),
        (["hangzhou", "-o", "wall_only=maybe"], "boolean"),
        (["hangzhou", "-o", "wall_only"], "KEY=VALUE"),
    ],
)
def test_bad_input_gives_one_line_and_2(args: list[str], says: str) -> None:
    ran = runner.invoke(app, ["rules", *args])
    assert ran.exit_code == 2
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
