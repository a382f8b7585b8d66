"""A session played by a simulated table through every real part, and its recording played again.

A hand that is settled otherwise than it was played makes the demonstration disagree and end with 1,
whether the referee asked or not: the simulated host answers truthfully.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tablectl import channels
from tablectl.replay import replay
from tablectl.services.recording import Recording
from tests.e2e.programs import tablectl

pytestmark = pytest.mark.timeout(600)

SEEDS = {"hongkong": 1, "hangzhou": 1}


@dataclass(frozen=True)
class Played:
    """One demonstration that has ended."""

    rules: str
    run: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def last_line(self) -> dict[str, Any]:
        lines = self.run.stdout.splitlines()
        assert lines, self.run.stderr
        content = json.loads(lines[-1])
        assert isinstance(content, dict)
        return content

    @property
    def recording(self) -> Path:
        (path,) = (self.folder / "sessions").glob("*.mcap")
        return path

    def recorded_events(self) -> list[str]:
        return [item.data.decode() for item in Recording(self.recording).messages(("/game/event",))]


def play(rules: str, hands: int, folder: Path, seed: int) -> Played:
    run = tablectl(
        "demo", "--headless", "--rules", rules, "--hands", str(hands), "--seed", str(seed),
        "--speed", "max", "--json", "--keep", folder, within=280.0 * hands,
    )  # fmt: skip
    return Played(rules, run, folder)


@pytest.fixture(scope="module", params=["hongkong", "hangzhou"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    rules = str(request.param)
    return play(rules, 1, tmp_path_factory.mktemp(rules), SEEDS[rules])


def check_result(played: Played, hands: int) -> None:
    result = played.last_line
    assert set(result) == {"hands", "scores", "truth", "agree", "questions"}
    assert result["agree"] is True, played.run.stderr
    assert played.run.returncode == 0, played.run.stderr
    assert result["hands"] == hands
    assert result["scores"] == result["truth"]
    assert sum(result["scores"]) == 0
    asked = sum(line.startswith("question: ") for line in played.run.stderr.splitlines())
    assert result["questions"] == asked


def test_the_scores_are_those_that_were_played(played: Played) -> None:
    check_result(played, hands=1)


def test_the_ledger_holds_the_hand_and_the_session_is_closed(played: Played) -> None:
    with sqlite3.connect(f"file:{played.folder / 'ledger.sqlite3'}?mode=ro", uri=True) as ledger:
        assert ledger.execute("SELECT count(*) FROM hands").fetchone() == (1,)
        assert ledger.execute("SELECT ended IS NULL FROM sessions").fetchone() == (0,)
    listed = tablectl("ledger", "list", "--file", played.folder / "ledger.sqlite3", "--json")
    assert listed.returncode == 0, listed.stderr
    session = json.loads(listed.stdout.splitlines()[-1])
    assert session["totals"] == played.last_line["scores"]
    assert session["hands"] == 1
    assert session["recording"] == str(played.recording)


def test_readings_give_the_same_event_stream_to_the_byte(played: Played) -> None:
    again = tablectl("replay", played.recording, "--from", "readings", "--json")
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    assert again.stdout.splitlines() == played.recorded_events()
    kinds = [json.loads(line)["event"].get("e") for line in again.stdout.splitlines()]
    assert kinds[0] == "start"
    assert kinds.count("discard") > 5


def test_events_give_the_same_settlement(played: Played) -> None:
    again = tablectl("replay", played.recording, "--from", "events")
    assert again.returncode == 0, again.stderr
    assert f"hand 1: {played.last_line['scores']}" in again.stdout
    assert f"1 hands under {played.rules}" in again.stdout
    assert "the same game as recorded" in again.stdout


async def test_readings_give_the_same_settlement_line_by_line(played: Played) -> None:
    result = await replay(played.recording, "readings")
    recorded = [
        json.loads(item.data)
        for item in Recording(played.recording).messages((channels.SETTLEMENT,))
    ]
    (view,) = result.settlements.values()
    assert view.model_dump(mode="json") == recorded[-1]
    assert view.final
    assert view.lines


def test_a_cut_recording_is_replayed_up_to_the_cut(played: Played, tmp_path: Path) -> None:
    whole = played.recording.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: len(whole) * 3 // 5])
    again = tablectl("replay", cut, "--from", "readings", "--json")
    assert again.returncode == 0, again.stderr
    assert "unfinished" in again.stderr
    assert "Traceback" not in again.stderr
    events, all_events = again.stdout.splitlines(), played.recorded_events()
    assert 0 < len(events) < len(all_events)
    assert events == all_events[: len(events)]


def test_the_recording_has_no_pictures_and_the_camera_says_so(played: Played) -> None:
    again = tablectl("replay", played.recording, "--from", "camera")
    assert again.returncode == 2
    assert "no pictures in it" in again.stderr
    assert "Traceback" not in again.stderr


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("rules", ["hongkong", "hangzhou"])
@pytest.mark.parametrize("seed", [2, 3])
def test_four_hands_in_other_seeds(rules: str, seed: int, tmp_path: Path) -> None:
    played = play(rules, 4, tmp_path, seed)
    check_result(played, hands=4)
    again = tablectl("replay", played.recording, "--from", "readings", "--json")
    assert again.returncode == 0, again.stderr
