"""Joys: own honours laid out as a set under Mainland rules (D-M8, D-M9, LM6)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tablectl.engine.events import Discard, Draw, Event, Indicator, Joy, Meld, Start
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.simulate.choreography import BRISK, Choreography
from tablectl.tiles import Tile, format_tile, parse_tiles
from tests.referee.drive import Drive
from tests.referee.eye import Doubt, certain

HANDS = ["1122m5m3344p55667z9s", "1m123p456s7888s567z", "55p123p446s1234z9s", "12355777888m45z"]
"""The dealer's first; 5m is the treasure."""


def table(
    *events: Event, turned: str = "5m", doubt: Doubt = certain, rules: str = "mainland",
    **options: Any,
) -> Drive:  # fmt: skip
    """The events played at a table with the hands above."""
    drive = Drive(SessionPlan(session="s", table="t", rules=rules, options=options), doubt)
    drive.deal()
    drive.felt.apply(Start(rules=rules, dealer=0, hands=HANDS))
    opening: list[Event] = [Indicator(tile=turned)] if turned else []
    drive.play([*opening, *events])
    drive.feed(Tick(), after=5.0)
    return drive


def told(drive: Drive) -> list[dict[str, object]]:
    """What happened after the deal, by the referee."""
    return [e for e in drive.log() if e["e"] not in ("start", "indicator")]


def issues(drive: Drive) -> list[str]:
    newest = {view.n: view for view in drive.events}
    return [issue.id for view in newest.values() for issue in view.issues]


@pytest.mark.parametrize(
    ("seat", "tiles"),
    [(0, "567z"), (0, "67z5m"), (1, "567z"), (2, "1234z"), (3, "5z55m")],
)
def test_a_joy_at_the_deal(seat: int, tiles: str) -> None:
    drive = table(Joy(seat=seat, tiles=tiles))
    (joy,) = told(drive)
    assert (joy["e"], joy["seat"]) == ("joy", seat)
    assert issues(drive) == []
    state = drive.last.state
    assert state is not None
    assert state.turn == 0
    assert state.last_call is not None
    assert state.last_call.call == "joy"
    shown = state.seats[seat]
    assert [meld.kind for meld in shown.melds] == ["joy"]
    laid = [tile.tile for tile in shown.melds[0].tiles]
    assert sorted(laid) == sorted(map(format_tile, parse_tiles(tiles)))
    assert shown.hand_count == 10 + (seat == 0)


def test_a_wind_and_a_dragon_with_a_treasure_are_no_joy() -> None:
    assert told(table(Joy(seat=3, tiles="45z5m"))) == []


def test_a_joy_with_the_face_just_thrown_claims_nothing() -> None:
    drive = table(
        Discard(seat=0, tile="5z"), Draw(seat=1, tile="1p"),
        Joy(seat=1, tiles="567z"), Discard(seat=1, tile="1m"),
    )  # fmt: skip
    assert [e["e"] for e in told(drive)] == ["discard", "joy", "discard"]
    assert issues(drive) == []
    assert drive.last.state is not None
    assert [t.tile for t in drive.last.state.seats[0].river] == ["5z"]


def test_a_pung_of_dragons_claimed_after_a_joy_is_a_pung() -> None:
    drive = table(
        Joy(seat=1, tiles="567z"), Discard(seat=0, tile="9s"), Draw(seat=1, tile="5m"),
        Discard(seat=1, tile="8s"), Draw(seat=2, tile="5m"), Discard(seat=2, tile="9s"),
        Draw(seat=3, tile="6z"), Discard(seat=3, tile="5z"),
        Meld(seat=0, kind="pung", tiles="555z", source=3), Discard(seat=0, tile="1m"),
    )  # fmt: skip
    kinds = [e.get("kind", e["e"]) for e in told(drive)]
    assert kinds == ["joy", "discard", "discard", "discard", "discard", "pung", "discard"]
    assert issues(drive) == []


def test_a_joy_out_of_time_is_told() -> None:
    turns: list[Event] = [
        Discard(seat=0, tile="9s"), Draw(seat=1, tile="1p"), Discard(seat=1, tile="1p"),
        Draw(seat=2, tile="1p"), Discard(seat=2, tile="1p"), Draw(seat=3, tile="1p"),
        Discard(seat=3, tile="1p"), Draw(seat=0, tile="9p"), Discard(seat=0, tile="9p"),
        Draw(seat=1, tile="9p"),
    ]  # fmt: skip
    drive = table(*turns, Joy(seat=1, tiles="567z"))
    assert told(drive)[-1]["e"] == "joy"
    assert issues(drive) == ["joy_not_allowed"]


def test_a_joy_seen_after_the_discard_of_its_turn_was_in_time() -> None:
    drive = table(Discard(seat=0, tile="9s"))
    drive.felt.apply(Joy(seat=0, tiles="567z"))
    drive.feed(drive.eye.look(drive.t))
    assert [e["e"] for e in told(drive)] == ["joy", "discard"]
    assert issues(drive) == []


def test_rules_without_joys_have_none() -> None:
    without = table(Joy(seat=1, tiles="567z"), joys=["four_winds"])
    assert told(without) == []
    assert told(table(Joy(seat=1, tiles="567z"), rules="hongkong", turned="")) == []


def test_a_joy_with_a_treasure_while_the_indicator_is_doubtful() -> None:
    """The indicator reads rather 6m: what was laid is a joy once it is said to be 5m."""

    def doubt(tile: Tile) -> dict[str, float]:
        turned = format_tile(tile) == "5m" and not read
        read.append(tile)
        return {"6m": 0.6, "5m": 0.4} if turned else certain(tile)

    read: list[Tile] = []
    drive = table(Joy(seat=0, tiles="67z5m"), doubt=doubt)
    assert [e["e"] for e in told(drive)] == ["joy"]
    drive.request("correct", ref="i", tile="5m")
    assert drive.last.state is not None
    assert drive.last.state.issues == ()


def test_the_simulated_table_lays_a_joy_by_hand() -> None:
    drive = table()
    moments = list(
        Choreography(drive.felt, BRISK, random.Random(0)).perform(Joy(seat=2, tiles="1234z"))
    )
    assert any(moment.scene.hands for moment in moments)
    assert not moments[-1].scene.hands
    laid = drive.felt.melds[2][0].placed
    assert [format_tile(placed.tile) for placed in laid] == ["1z", "2z", "3z", "4z"]
    assert len(drive.felt.hands[2]) == 9
