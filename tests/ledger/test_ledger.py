"""The ledger keeps what was paid, once, and sums to zero."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablectl.ledger import (
    Hand,
    HandConflictError,
    Ledger,
    LedgerError,
    LedgerVersionError,
    SessionInfo,
    UnbalancedError,
    UnknownHandError,
    UnknownSessionError,
)
from tablectl.ledger.schema import migrations

DATA = Path(__file__).parent / "data"
SESSION = SessionInfo(
    id="s1",
    table="t1",
    rules="hangzhou",
    options={"float": True},
    names=("Anna", "Bo", "陈", "Dee"),
    started=1000.5,
)
HAND = Hand("s1-1", "s1", 1, 1100.0, (6, -2, -2, -2), {"lines": ["自摸"]})


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "club" / "ledger.db") as opened:
        opened.start_session(SESSION)
        yield opened


def test_a_hand_is_kept_and_totalled(ledger: Ledger) -> None:
    assert ledger.record_hand(HAND)
    assert ledger.record_hand(replace(HAND, id="s1-2", number=2, delta=(-8, 8, 0, 0)))
    assert ledger.hands("s1")[0] == HAND
    totals = ledger.session("s1")
    assert (totals.session, totals.hands, totals.totals) == (SESSION, 2, (-2, 6, -2, -2))


def test_a_hand_is_entered_once(ledger: Ledger) -> None:
    assert ledger.record_hand(HAND)
    assert not ledger.record_hand(HAND)
    assert ledger.session("s1").hands == 1
    with pytest.raises(HandConflictError, match="correction"):
        ledger.record_hand(replace(HAND, delta=(3, -1, -1, -1)))
    with pytest.raises(HandConflictError, match="s1-1"):
        ledger.record_hand(replace(HAND, id="other"))
    assert ledger.hands("s1") == [HAND]


def test_a_session_is_started_once_and_ends_once(ledger: Ledger) -> None:
    assert not ledger.start_session(replace(SESSION, rules="hongkong"))
    ledger.end_session("s1", 2000.0)
    ledger.end_session("s1", 3000.0)
    assert ledger.session("s1").session == replace(SESSION, ended=2000.0)


def test_a_correction_supersedes_and_keeps_history(ledger: Ledger) -> None:
    ledger.record_hand(HAND)
    assert ledger.correct_hand("s1-1", (9, -3, -3, -3), 1200.0, "8m was 9m", {"lines": []})
    assert not ledger.correct_hand("s1-1", (9, -3, -3, -3), 1250.0, "again", {"lines": []})
    assert ledger.correct_hand("s1-1", (0, 0, 0, 0), 1300.0, "false win")
    hand = ledger.hand("s1-1")
    assert hand.delta == (0, 0, 0, 0)
    assert hand.revision == 3
    assert [(c.before, c.reason) for c in hand.corrections] == [
        ((6, -2, -2, -2), "8m was 9m"),
        ((9, -3, -3, -3), "false win"),
    ]
    assert ledger.session("s1").totals == (0, 0, 0, 0)
    assert not ledger.record_hand(HAND), "a replay enters the hand again: it is known"


@pytest.mark.parametrize("delta", [(1, 0, 0, 0), (), (5, -2, -2, -2)])
def test_unbalanced_payments_are_refused(ledger: Ledger, delta: tuple[int, ...]) -> None:
    with pytest.raises(UnbalancedError, match="s1-1"):
        ledger.record_hand(replace(HAND, delta=delta))
    ledger.record_hand(HAND)
    with pytest.raises(UnbalancedError):
        ledger.correct_hand("s1-1", delta, 0.0, "x")
    assert ledger.hands("s1") == [HAND]


def test_the_database_itself_refuses_what_must_not_be(ledger: Ledger) -> None:
    ledger.record_hand(HAND)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("PRAGMA foreign_keys = ON")
    other.execute("INSERT INTO hands (id, session_id, number) VALUES ('x', 's1', 9)")
    other.execute("INSERT INTO settlements VALUES ('x', 1, 0.0, '{}')")
    for statement, said in [
        ("UPDATE hands SET revision = 1 WHERE id = 'x'", "sum to zero"),
        ("UPDATE payments SET amount = 100", "never changed"),
        ("DELETE FROM payments", "never deleted"),
        ("INSERT INTO hands VALUES ('y', 's1', 8, 1)", "begins without"),
        ("INSERT INTO payments VALUES ('s1-1', 1, 3, 5)", "sealed"),
        ("UPDATE hands SET revision = 0 WHERE id = 's1-1'", "supersedes"),
        ("INSERT INTO payments VALUES ('nobody', 1, 0, 5)", "FOREIGN KEY"),
        ("INSERT INTO payments VALUES ('x', 1, 4, 5)", "CHECK"),
    ]:
        with pytest.raises(sqlite3.IntegrityError, match=said):
            other.execute(statement)
    other.execute("INSERT INTO payments VALUES ('x', 1, 0, 5)")
    with pytest.raises(sqlite3.IntegrityError, match="sum to zero"):
        other.execute("UPDATE hands SET revision = 1 WHERE id = 'x'")
    other.close()
    assert sum(ledger.session("s1").totals) == 0


def test_unknown_things_are_named(ledger: Ledger) -> None:
    with pytest.raises(UnknownSessionError, match="nowhere"):
        ledger.hands("nowhere")
    with pytest.raises(UnknownSessionError, match="nowhere"):
        ledger.record_hand(replace(HAND, session="nowhere"))
    with pytest.raises(UnknownSessionError, match="nowhere"):
        ledger.end_session("nowhere", 1.0)
    with pytest.raises(UnknownHandError, match="none"):
        ledger.hand("none")
    with pytest.raises(UnknownHandError, match="none"):
        ledger.correct_hand("none", (0, 0), 0.0, "x")


deltas = st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3).map(
    lambda three: (*three, -sum(three))
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(1, 6), deltas), max_size=12))
def test_totals_always_sum_to_zero_and_are_the_sum_of_the_hands(
    tmp_path: Path, steps: list[tuple[int, tuple[int, ...]]]
) -> None:
    path = tmp_path / "any.db"
    for old in tmp_path.glob("any.db*"):
        old.unlink()
    expected: dict[int, tuple[int, ...]] = {}
    with Ledger(path) as ledger:
        ledger.start_session(SESSION)
        for number, delta in steps:
            if number in expected:
                ledger.correct_hand(f"s1-{number}", delta, 1.0, "again")
            else:
                ledger.record_hand(Hand(f"s1-{number}", "s1", number, 1.0, delta))
            expected[number] = delta
            totals = ledger.session("s1").totals
            assert sum(totals) == 0
            assert totals == tuple(map(sum, zip(*expected.values(), strict=True)))


def test_a_killed_writer_leaves_whole_hands(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    code = (
        "import sys\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from tests.ledger.test_ledger import HAND, SESSION\n"
        "from tablectl.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "ledger.start_session(SESSION)\n"
        "for n in range(1, 100000):\n"
        "    ledger.record_hand(replace(HAND, id=f's1-{n}', number=n))\n"
        "    print(n, flush=True)\n"
    )
    root = Path(__file__).resolve().parents[2]
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert writer.stdout is not None
    for _ in range(5):
        said = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    said = max([said, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    writer.wait()
    writer.stdout.close()
    with Ledger(path) as ledger:
        hands = ledger.hands("s1")
        assert said <= len(hands) <= said + 1, "what was reported is there"
        assert all(hand.delta == HAND.delta and hand.revision == 1 for hand in hands)
        assert sum(ledger.session("s1").totals) == 0


@pytest.mark.parametrize("stored", sorted(DATA.glob("ledger-v*.db")), ids=lambda path: path.name)
def test_stored_old_files_are_brought_up_to_date(tmp_path: Path, stored: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copyfile(stored, path)
    with Ledger(path) as ledger:
        [totals] = ledger.sessions()
        assert totals.session == replace(SESSION, ended=2000.0)
        assert (totals.hands, totals.totals) == (2, (1, 5, -3, -3))
        hand = ledger.hand("s1-1")
        assert hand.delta == (9, -3, -3, -3)
        assert [c.reason for c in hand.corrections] == ["8m was 9m"]
        assert ledger.record_hand(replace(HAND, id="s1-3", number=3))
    newest = migrations()[-1][0]
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA user_version").fetchone() == (newest,)
    check.close()
    with Ledger(path) as ledger:
        assert ledger.session("s1").hands == 3


def test_every_older_schema_has_a_stored_file() -> None:
    stored = {int(path.stem.removeprefix("ledger-v")) for path in DATA.glob("ledger-v*.db")}
    assert stored >= {number for number, _ in migrations()[:-1]}


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_foreign_and_newer_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(path)
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE recipes (id)")
    foreign.commit()
    foreign.close()
    with pytest.raises(LedgerVersionError, match="another program"):
        Ledger(path)
    path.unlink()
    Ledger(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.commit()
    newer.close()
    with pytest.raises(LedgerVersionError, match="999"):
        Ledger(path)


def test_two_processes_may_open_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    code = "import sys; from pathlib import Path; from tablectl.ledger import Ledger\n"
    code += "Ledger(Path(sys.argv[1])).close()"
    root = Path(__file__).resolve().parents[2]
    several = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=root) for _ in range(3)
    ]
    assert [process.wait() for process in several] == [0, 0, 0]
