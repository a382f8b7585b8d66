"""Whole simulated hands through the referee: what it follows must be what was played.

Certain readings must give the true settlement without a question, but for the one about the last
tile of the wall that a win near its end raises by itself; doubtful ones the true settlement or a
question, never a final settlement that is wrong.
"""

from __future__ import annotations

import pytest

from tablectl.engine.events import Call, Draw, End, Event, Reveal, Start, Win
from tablectl.engine.game import play_out
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.messages import Question
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.rules import registry
from tablectl.simulate.host import reply
from tablectl.tiles import parse_tiles
from tests.referee.drive import Drive
from tests.referee.eye import Doubt, certain, doubting

RULES = ("hongkong", "hangzhou")
OTHERS = tuple(rules for rules in registry.IDS if rules not in RULES)


def hands(quick: int, all_: int) -> list[object]:
    """Hands of the first two rule sets, and a few of every other."""
    mine = [(rules, seed) for rules in RULES for seed in range(all_)]
    others = [(rules, seed) for rules in OTHERS for seed in range(all_ // 4)]
    return [
        pytest.param(rules, seed, id=f"{rules}-{seed}",
                     marks=() if seed < (quick if rules in RULES else 2) else pytest.mark.slow)
        for rules, seed in (*mine, *others)
    ]  # fmt: skip


def deal_of(drive: Drive) -> Deal:
    start = Start.model_validate(drive.log()[0])
    return Deal(
        start.dealer, start.streak, start.round_wind, start.first_dealer, start.session, start.dice
    )


def as_played(events: list[Event]) -> list[Event]:
    """What happens at the table.

    Winners press HU; other hands are laid open only where tiles in them are paid.
    """
    start = events[0]
    assert isinstance(start, Start)
    paid = registry.get(start.rules).play.hands_paid
    played: list[Event] = []
    for event in events:
        if isinstance(event, Win) and event.source is None:
            played.append(Call(seat=event.seat, call="hu"))
        if not isinstance(event, End) and (paid or not isinstance(event, Reveal)):
            played.append(event)
    return played


def truth_of(events: list[Event]) -> tuple[int, ...]:
    *_, (state, _) = play_out(events)
    assert state.settlement is not None
    assert state.settlement.delta is not None
    return state.settlement.delta


def wall_at_win(events: list[Event]) -> int:
    """Tiles left in the wall when the hand was won."""
    return next(step.wall for e, (_, step) in zip(events, play_out(events), strict=True)
                if isinstance(e, Win))  # fmt: skip


def play_one(rules: str, seed: int, doubt: Doubt = certain) -> tuple[Drive, list[Event]]:
    plan = SessionPlan(session="s", table="t", rules=rules)
    drive = Drive(plan, doubt, seed)
    drive.deal()
    events = play_hand(rules, {}, seed, deal=deal_of(drive))
    drive.play(as_played(events))
    asked = drive.last.questions.open if drive.last.questions else ()
    if any(question.id.endswith("/unsettled") for question in asked):  # shown when asked for
        drive.play([e for e in events if isinstance(e, Reveal)])
    return drive, events


@pytest.mark.parametrize(("rules", "seed"), hands(6, 60))
def test_certain_readings_give_the_true_hand_without_a_question(rules: str, seed: int) -> None:
    drive, events = play_one(rules, seed)
    asked = drive.last.questions.open if drive.last.questions else ()
    for question in asked:
        assert "/doubt/last/" in question.id
        assert wall_at_win(events) <= 1
        answer_truly(drive, question, events)
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(events)
    assert not drive.last.questions or not drive.last.questions.open
    played = [e.to_json() for e in as_played(events) if not isinstance(e, Draw | Reveal)]
    followed = [e for e in drive.log() if e["e"] not in ("end", "reveal", "draw")]
    assert [_essence(e) for e in followed[1:]] == [_essence(e) for e in played[1:]]
    assert not [view for view in drive.events if view.issues]


def _essence(event: dict[str, object]) -> dict[str, object]:
    """An event without what a camera can't know or need not."""
    kept = {k: v for k, v in event.items() if v is not None}
    if kept["e"] == "meld" and kept["kind"] == "closed_kong":
        kept.pop("from", None)
    if kept["e"] == "joy":
        kept["tiles"] = sorted(parse_tiles(str(kept["tiles"])))
    return kept


@pytest.mark.parametrize(("rules", "seed"), hands(8, 150))
def test_doubtful_readings_are_never_silently_wrong(rules: str, seed: int) -> None:
    drive, events = play_one(rules, seed, doubting(seed, 0.08))
    truth = truth_of(events)
    settled = drive.last.settlement
    if settled is not None and settled.final:
        assert settled.delta == truth
    asked = 0
    while drive.last.questions is not None and drive.last.questions.open and asked < 40:
        answer_truly(drive, drive.last.questions.open[0], events)
        asked += 1
    settled = drive.last.settlement
    assert settled is not None, drive.last.questions
    assert settled.final, drive.last.questions
    assert settled.delta == truth


def answer_truly(drive: Drive, question: Question, events: list[Event]) -> None:
    """The operator looks at the table and says what is there."""
    if question.id.endswith("/unsettled"):  # the hands are laid open
        drive.play([e for e in events if isinstance(e, Reveal)])
        return
    wish = reply(question, drive.referee, drive.felt.look())
    assert wish is not None, f"no true answer to {question}"
    drive.request(wish[0], **wish[1])


def test_a_claimed_tile_that_is_slow_to_be_seen_gone_is_no_own_draw() -> None:
    """The hand lies open with the claimed tile apart, and the river still shows it for a while."""
    for seed in range(40):
        events = play_hand("hongkong", {}, seed)
        win = next((e for e in events if isinstance(e, Win)), None)
        if win is None or win.by != "discard":
            continue
        drive = Drive(SessionPlan(session="s", table="t", rules="hongkong"), certain, seed)
        drive.deal()
        events = play_hand("hongkong", {}, seed, deal=deal_of(drive))
        before = as_played(events)
        drive.play(before[:-1])
        river = drive.eye.look(drive.t)
        drive.felt.apply(before[-1])
        after = drive.eye.look(drive.t)
        known = {(tile.x, tile.y) for tile in after.tiles}
        gone = tuple(tile for tile in river.tiles if (tile.x, tile.y) not in known)
        if not gone:
            continue  # this winner left the tile where it lay
        drive.feed(after.model_copy(update={"tiles": after.tiles + gone}), after=0.5)
        settled = drive.last.settlement
        assert settled is None or not settled.final
        drive.feed(drive.eye.look(drive.t), after=0.5)
        drive.feed(Tick(), after=2.0)
        settled = drive.last.settlement
        assert settled is not None
        assert settled.wins[0].by == "discard"
        assert settled.delta == truth_of(events)
        return
    pytest.fail("no hand was won on a discard that the winner took")
