"""Final settlements reach the ledger, once, and corrections supersede."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tablectl.ledger import HandConflictError, Ledger, LedgerError, SessionInfo
from tablectl.messages import SeatView, SettlementView, TableState
from tablectl.services.bookkeeper import Bookkeeper, enter
from tablectl.services.bus import Bus
from tablectl.services.clock import RecordedClock

SESSION = SessionInfo("s1", "t1", "hongkong", names=("A", "B", "C", "D"), started=1.0)


def settled(hand: int, *delta: int, final: bool = True, t: float = 5.0) -> SettlementView:
    return SettlementView(hand_id=f"s1/{hand}", hand=hand, t=t, final=final, delta=delta)


async def keep(path: Path, *views: SettlementView, ended: float | None = None) -> Bookkeeper:
    """Publish settlements with a bookkeeper listening."""
    bus = Bus(RecordedClock())
    keeper = Bookkeeper(bus, path, SESSION)
    for view in views:
        bus.publish("/game/settlement", view)
    await asyncio.to_thread(keeper.close, ended)
    return keeper


async def test_final_settlements_are_entered_and_provisional_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    keeper = await keep(
        path,
        settled(1, 3, -1, -1, -1, final=False),
        settled(1, 6, -2, -2, -2),
        settled(2, 0, 0, 0, 0),
        settled(3),
        ended=9.0,
    )
    assert keeper.problem == ""
    with Ledger(path) as ledger:
        assert [(h.id, h.delta, h.revision) for h in ledger.hands("s1")] == [
            ("s1/1", (6, -2, -2, -2), 1),
            ("s1/2", (0, 0, 0, 0), 1),
        ]
        assert ledger.session("s1").session.ended == 9.0
        assert ledger.hand("s1/1").detail["hand_id"] == "s1/1"


async def test_a_seat_renamed_on_the_display_is_renamed_in_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    bus = Bus(RecordedClock())
    keeper = Bookkeeper(bus, path, SESSION)

    def state(*names: str) -> TableState:
        return TableState(
            table="t1", seats=tuple(SeatView(seat=i, name=n, wind="E") for i, n in enumerate(names))
        )

    bus.publish("/game/state", state("A", "B", "C", "D"))
    bus.publish("/game/settlement", settled(1, 6, -2, -2, -2))
    bus.publish("/game/state", state("A", "Mei 梅", "C", "D"))
    bus.publish("/game/state", state())
    await asyncio.to_thread(keeper.close, 9.0)
    assert keeper.problem == ""
    with Ledger(path) as ledger:
        assert ledger.session("s1").session.names == ("A", "Mei 梅", "C", "D")
        assert not ledger.rename_seats("s1", ("A", "Mei 梅", "C", "D"))
        with pytest.raises(LedgerError, match="s2"):
            ledger.rename_seats("s2", ("A",))
        assert ledger.hand("s1/1").revision == 1


async def test_a_replayed_or_restarted_session_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    views = [settled(1, 6, -2, -2, -2), settled(1, 6, -2, -2, -2), settled(2, 0, 1, -1, 0)]
    for _ in range(2):
        await keep(path, *views)
    with Ledger(path) as ledger:
        assert [hand.revision for hand in ledger.hands("s1")] == [1, 1]


async def test_a_hand_settled_again_supersedes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await keep(path, settled(1, 6, -2, -2, -2), settled(1, -6, 2, 2, 2, t=8.0))
    with Ledger(path) as ledger:
        hand = ledger.hand("s1/1")
        assert hand.delta == (-6, 2, 2, 2)
        assert [c.before for c in hand.corrections] == [(6, -2, -2, -2)]
        again = settled(1, 6, -2, -2, -2, t=9.0)
        assert enter(ledger, "s1", again), "back to the first payments is a change as well"
        assert ledger.hand("s1/1").delta == (6, -2, -2, -2)
        assert len(ledger.hand("s1/1").corrections) == 2


async def test_unbalanced_settlements_are_reported_and_the_next_is_entered(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    keeper = await keep(path, settled(1, 5, -2, -2, -2), settled(2, 3, -1, -1, -1))
    assert "s1/1" in keeper.problem
    with Ledger(path) as ledger:
        assert [hand.number for hand in ledger.hands("s1")] == [2]
        twin = settled(2, 1, -1, 0, 0).model_copy(update={"hand_id": "other"})
        with pytest.raises(HandConflictError, match="is 's1/2', not 'other'"):
            enter(ledger, "s1", twin)


async def test_a_ledger_that_can_not_be_opened_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="file"):
        await keep(tmp_path / "file" / "ledger.db")
