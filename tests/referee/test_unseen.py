"""Tiles that the camera misses, for good or a while: right or asked, never silently wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import pytest

from firmware_protocol.messages import Button
from tablectl.engine.events import Discard, Event, Flower, Meld, Reveal, Win
from tablectl.engine.selfplay import as_seen_from_above, play_hand
from tablectl.messages import Question
from tablectl.referee.felt import FeltTile
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.referee.opened import opened
from tablectl.rules import registry
from tablectl.simulate.host import reply
from tablectl.tiles import Tile, format_tile, parse_tiles
from tests.referee.drive import Drive
from tests.referee.eye import SIGHTED, Blindness, certain
from tests.referee.test_whole_hands import as_played, deal_of, truth_of
from vision.geometry import TableGeometry, Zone
from vision.messages import TableReading

_MOST_ANSWERS = 25


def seeds(rules: str, quick: int, all_: int) -> list[object]:
    return [
        pytest.param(rules, seed, id=f"{rules}-{seed}",
                     marks=() if seed < quick else pytest.mark.slow)
        for seed in range(all_)
    ]  # fmt: skip


@dataclass
class Evening:
    """One hand with a camera that misses tiles, and a host who answers truthfully."""

    drive: Drive
    events: list[Event]
    asked: list[Question]

    @property
    def final(self) -> bool:
        settled = self.drive.last.settlement
        return settled is not None and settled.final

    def settle(self) -> None:
        """Answer until nothing is asked any more."""
        self._wait()
        while len(self.asked) < _MOST_ANSWERS and not self.final:
            open_ = self.drive.last.questions.open if self.drive.last.questions else ()
            if not open_ or not self._answer(open_[0]):
                return
            self._wait()

    def _answer(self, question: Question) -> bool:
        self.asked.append(question)
        if question.id.endswith("/unsettled"):
            self.drive.play([e for e in self.events if isinstance(e, Reveal)])
            return True
        wish = reply(question, self.drive.referee, self.drive.felt.look())
        if wish is None:
            return False
        self.drive.request(wish[0], **wish[1])
        return True

    def _wait(self) -> None:
        for _ in range(6):
            self.drive.feed(self.drive.eye.look(self.drive.t), after=0.7)
        self.drive.feed(Tick(), after=2.0)


def play(rules: str, seed: int, blind: Blindness) -> Evening:
    drive = Drive(SessionPlan(session="s", table="t", rules=rules), certain, seed, blind)
    drive.deal()
    events = play_hand(rules, {}, seed, deal=deal_of(drive))
    drive.play(as_played(events))
    evening = Evening(drive, events, [])
    evening.settle()
    return evening


def check(evening: Evening) -> None:
    """Right, or asked and not final, or void; nothing that is final is wrong."""
    settled = evening.drive.last.settlement
    if settled is not None and settled.final and not is_void(evening.drive):
        assert settled.delta == truth_of(evening.events), evening.asked
    else:
        assert evening.asked, "neither a settlement nor a question"


def is_void(drive: Drive) -> bool:
    """Whether the hand was given up and nobody is paid."""
    settled = drive.last.settlement
    return settled is not None and "Void" in settled.lines[0] and not any(settled.delta)


@pytest.mark.parametrize(("rules", "seed"), seeds("hongkong", 8, 200))
def test_tiles_noticed_but_not_read_give_the_true_settlement(rules: str, seed: int) -> None:
    """The eye sees that something lies there: rivers, sets and flowers stay complete."""
    evening = play(rules, seed, Blindness(seed, share=0.05, noticed=1.0))
    check(evening)
    assert evening.final


@pytest.mark.parametrize(
    ("rules", "seed"),
    [*seeds("hangzhou", 2, 40), *(p for r in registry.IDS[2:] for p in seeds(r, 0, 10))],
)
def test_the_same_under_other_rules(rules: str, seed: int) -> None:
    check(play(rules, seed, Blindness(seed, share=0.05, noticed=1.0)))


@pytest.mark.parametrize(("rules", "seed"), seeds("hongkong", 4, 100))
def test_tiles_not_even_noticed_are_never_silently_wrong(rules: str, seed: int) -> None:
    check(play(rules, seed, Blindness(seed, share=0.02)))


@pytest.mark.parametrize(
    ("rules", "seed"),
    [("hongkong", 15), ("hongkong", 42), ("hongkong", 46), *seeds("hongkong", 0, 60)],
)
def test_with_many_tiles_missed_every_hand_comes_to_an_end(rules: str, seed: int) -> None:
    """By answers of a host who sees the table; void where too much was missed."""
    assert play(rules, seed, Blindness(seed, share=0.05)).final


# --- single cases ---


@cache
def hand_with(rules: str, wanted: Callable[[list[Event]], bool]) -> tuple[int, list[Event]]:
    for seed in range(200):
        events = play_hand(rules, {}, seed)
        if wanted(events):
            return seed, events
    pytest.fail("no such hand")


def start(rules: str, wanted: Callable[[list[Event]], bool]) -> tuple[Drive, list[Event]]:
    seed, _ = hand_with(rules, wanted)
    drive = Drive(SessionPlan(session="s", table="t", rules=rules), certain, seed, SIGHTED)
    drive.deal()
    return drive, as_played(play_hand(rules, {}, seed, deal=deal_of(drive)))


def own_draw(events: list[Event]) -> bool:
    return any(isinstance(e, Win) and e.by == "self_draw" for e in events)


def a_claim(events: list[Event]) -> bool:
    return any(isinstance(e, Meld) and e.source is not None for e in events)


def hide(drive: Drive, zone: Zone, seat: int, nth: int) -> list[object]:
    """Look, with one tile of a place left out."""
    reading = drive.eye.look(drive.t)
    there = [t for t in reading.tiles if (t.zone, t.seat) == (zone, seat)]
    kept = tuple(t for t in reading.tiles if t is not there[nth])
    drive.feed(reading.model_copy(update={"tiles": kept}), after=0.5)
    return [there[nth]]


@pytest.mark.parametrize("nth", [0, 6, -2, -1])
def test_an_own_draw_that_is_seen_one_tile_short_is_no_win_on_a_discard(nth: int) -> None:
    drive, events = start("hongkong", own_draw)
    win = events[-1]
    assert isinstance(win, Win)
    drive.play(events[:-1])
    drive.felt.apply(win)
    hide(drive, Zone.RACK, win.seat, nth)
    drive.feed(Tick(), after=1.0)
    settled = drive.last.settlement
    assert settled is None or not settled.final
    drive.feed(drive.eye.look(drive.t), after=0.3)
    drive.feed(Tick(), after=2.0)
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.wins[0].by == "self_draw"


@pytest.mark.parametrize("nth", [0, 6, -2])
def test_a_tile_missing_for_good_is_asked_about_with_the_faces_that_win(nth: int) -> None:
    drive, events = start("hongkong", own_draw)
    win = events[-1]
    assert isinstance(win, Win)
    drive.play(events[:-1])
    drive.felt.apply(win)
    (missing,) = hide(drive, Zone.RACK, win.seat, nth)
    for _ in range(3):
        drive.feed(Tick(), after=1.0)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert "missing" in question.text_en
    face = missing.best  # type: ignore[attr-defined]
    assert face in [a.tile for a in question.alternatives]
    drive.request("answer", question=question.id, answer=f"tile:{face}")
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.wins[0].by == "self_draw"


def on_a_discard(events: list[Event]) -> bool:
    return any(isinstance(e, Win) and e.by == "discard" for e in events)


@pytest.mark.parametrize("taken", [True, False])
def test_a_win_on_a_discard_that_nobody_saw_is_settled_as_the_host_says(taken: bool) -> None:
    """Whether the winner took the tile to the hand or left it in the river."""
    drive, events = start("hongkong", on_a_discard)
    n = next(n for n, e in enumerate(events) if isinstance(e, Win))
    thrown = max(i for i, e in enumerate(events[:n]) if isinstance(e, Discard))
    drive.play(events[:thrown])
    drive.felt.apply(events[thrown])
    win, discard = events[n], events[thrown]
    assert isinstance(win, Win)
    assert isinstance(discard, Discard)
    drive.press(win.seat, Button.HU)
    drive.felt.rng = random.Random(next(s for s in range(99) if _takes(s) == taken))
    drive.felt.apply(win)
    reading = drive.eye.look(drive.t)
    if not taken:
        drive.eye.blind = MissesOne((discard.seat, discard.tile), drive)
        reading = drive.eye.look(drive.t)
    drive.feed(reading, after=0.5)
    evening = Evening(drive, events, [])
    evening.settle()
    assert evening.asked
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(events)
    assert (settled.wins[0].by, settled.wins[0].from_seat) == ("discard", discard.seat)


def up_to_an_unseen_discard(
    wanted: Callable[[list[Event]], bool],
) -> tuple[Drive, list[Event], Win]:
    """A Hong Kong hand until the discard that is won on, which the camera never sees."""
    drive, events = start("hongkong", wanted)
    n = next(n for n, e in enumerate(events) if isinstance(e, Win))
    thrown = max(i for i, e in enumerate(events[:n]) if isinstance(e, Discard))
    win, discard = events[n], events[thrown]
    assert isinstance(win, Win)
    assert isinstance(discard, Discard)
    drive.play(events[:thrown])
    drive.felt.apply(discard)
    drive.eye.blind = MissesOne((discard.seat, discard.tile), drive)
    return drive, events, win


def test_a_call_stands_while_the_hand_lies_open_though_play_seems_to_go_on() -> None:
    """The discard that was won on may be seen later than a player's patience."""
    drive, _, win = up_to_an_unseen_discard(on_a_discard)
    other = (win.seat + 1) % 4
    for seat in (win.seat, other):
        drive.press(seat, Button.HU)
    drive.felt.apply(win)
    drive.feed(drive.eye.look(drive.t), after=0.5)
    hand = drive.referee.hand
    assert hand is not None
    hand.wins.play_went_on(drive.t)
    assert hand.called_hu(win.seat)
    assert not hand.called_hu(other)


def _takes(seed: int) -> bool:
    return random.Random(seed).random() < 0.5


class MissesOne(Blindness):
    """Never sees the newest tile of one face in one river."""

    def __init__(self, which: tuple[int, str], drive: Drive) -> None:
        super().__init__(0, 0.0)
        seat, face = which
        last = drive.felt.rivers[seat][-1]
        assert format_tile(last.tile) == face
        x, y = drive.felt.geometry.to_table(seat, last.x, last.y)
        self._key = (round(x), round(y), last.tile)

    def look(self, key: object, zone: Zone) -> Literal["seen", "unread", "missed"]:
        return "missed" if key == self._key else "seen"


def test_a_claim_is_believed_while_a_hand_still_hides_the_river() -> None:
    """The set lies there, and the discard is still reported because an arm covers its place."""
    drive, events = start("hongkong", a_claim)
    n = next(n for n, e in enumerate(events) if isinstance(e, Meld) and e.source is not None)
    meld = events[n]
    assert isinstance(meld, Meld)
    assert meld.source is not None
    drive.play(events[:n])
    before = drive.eye.look(drive.t)
    drive.felt.apply(meld)
    after = drive.eye.look(drive.t)
    still = [t for t in before.tiles if (t.zone, t.seat) == (Zone.RIVER, meld.source)]
    others = [t for t in after.tiles if (t.zone, t.seat) != (Zone.RIVER, meld.source)]
    covered = ((Zone.RIVER, meld.source),)
    hidden = after.model_copy(update={"tiles": (*others, *still), "covered": covered})
    drive.feed(hidden, after=0.5)
    drive.play(events[n + 1 : n + 2])
    for _ in range(3):
        drive.feed(drive.eye.look(drive.t), after=1.0)
    melds = [e for e in drive.log() if e["e"] == "meld"]
    assert [m["from"] for m in melds] == [meld.source]
    assert not [view for view in drive.events if view.issues]


def test_a_set_that_is_seen_after_the_next_discard_goes_to_its_place_in_the_book() -> None:
    drive, events = start("hongkong", a_claim)
    n = next(n for n, e in enumerate(events) if isinstance(e, Meld) and e.source is not None)
    meld, thrown = events[n], next(e for e in events[n + 1 :] if isinstance(e, Discard))
    assert isinstance(meld, Meld)
    drive.play(events[:n])
    drive.felt.apply(meld)
    hide(drive, Zone.EXPOSED, meld.seat, 0)
    drive.felt.apply(thrown)
    hide(drive, Zone.EXPOSED, meld.seat, 0)
    for _ in range(3):
        drive.feed(drive.eye.look(drive.t), after=1.0)
    played = [e["e"] for e in drive.log() if e["e"] in ("discard", "meld")]
    assert played[-2:] == ["meld", "discard"]
    state = drive.referee.hand and drive.referee.hand.book.state
    assert state
    assert not [e for e in drive.referee.hand.book.entries if e.issues]  # type: ignore[union-attr]


def a_pung_of_the_seat_after(events: list[Event]) -> bool:
    return any(
        isinstance(e, Meld) and e.kind == "pung" and e.source == (e.seat + 1) % 4 for e in events
    )


def test_who_has_thrown_a_tile_since_has_claimed_before_the_next_discard() -> None:
    """The discard was claimed before any look; then the seat that gave it plays on quickly."""
    drive, events = start("hongkong", a_pung_of_the_seat_after)
    n = next(n for n, e in enumerate(events) if a_pung_of_the_seat_after([e]))
    meld = events[n]
    assert isinstance(meld, Meld)
    given = max(i for i, e in enumerate(events[:n]) if isinstance(e, Discard))
    later = [e for e in events[n + 1 :] if isinstance(e, Discard)][:2]
    assert [e.seat for e in later] == [meld.seat, meld.source]
    drive.play(events[:given])
    drive.felt.apply(events[given])
    drive.felt.apply(meld)
    for thrown in later:
        drive.felt.apply(thrown)
        drive.feed(drive.eye.look(drive.t), after=0.7)
    for _ in range(3):
        drive.feed(drive.eye.look(drive.t), after=1.0)
    told = [
        (e["e"], e["seat"], e.get("from")) for e in drive.log() if e["e"] in ("discard", "meld")
    ]
    assert told[-4:] == [
        ("discard", meld.source, None), ("meld", meld.seat, meld.source),
        ("discard", meld.seat, None), ("discard", meld.source, None),
    ]  # fmt: skip


def test_a_flower_missing_between_two_others_is_asked_about() -> None:
    def decides(events: list[Event]) -> bool:
        """Whether the winner's second of three flowers changes what is paid."""
        win = next((e for e in events if isinstance(e, Win)), None)
        laid = [e for e in events if isinstance(e, Flower) and win and e.seat == win.seat]
        if len(laid) < 3:
            return False
        less = [e for e in as_seen_from_above(events) if e != laid[1]]
        return truth_of(less) != truth_of(events)

    seed, events = hand_with("hongkong", decides)
    winner = next(e.seat for e in events if isinstance(e, Win))

    class MissesTheSecondFlower(Blindness):
        """Never sees one flower of the winner."""

        def look(self, key: object, zone: Zone) -> Literal["seen", "unread", "missed"]:
            assert isinstance(key, tuple)
            x, y, tile = key
            seat = drive.referee.geometry.locate(x, y)[1]
            second = [e for e in events if isinstance(e, Flower) and e.seat == winner][1]
            missed = seat == winner and Tile(tile) == parse_tiles(second.tile)[0]
            return "missed" if missed else "seen"

    plan = SessionPlan(session="s", table="t", rules="hongkong")
    drive = Drive(plan, certain, seed, SIGHTED)
    drive.eye.blind = MissesTheSecondFlower(0, 0.0)
    drive.deal()
    events = play_hand("hongkong", {}, seed, deal=deal_of(drive))
    drive.play(as_played(events))
    settled = drive.last.settlement
    assert settled is None or not settled.final
    evening = Evening(drive, events, [])
    evening.settle()
    assert any("one more flower" in q.text_en for q in evening.asked)
    settled = drive.last.settlement
    assert settled is not None
    assert settled.delta == truth_of(events)


def test_what_is_missing_is_asked_again_after_another_look() -> None:
    """A tile more is found meanwhile, and then nothing but time passes."""
    drive, events = start("hongkong", own_draw)
    win = events[-1]
    assert isinstance(win, Win)
    drive.play(events[:-1])
    drive.felt.apply(win)
    reading = drive.eye.look(drive.t)
    hand = [t for t in reading.tiles if (t.zone, t.seat) == (Zone.RACK, win.seat)]
    for missing in ((hand[3], hand[4]), (hand[3],)):
        kept = tuple(t for t in reading.tiles if t not in missing)
        drive.feed(reading.model_copy(update={"tiles": kept}), after=0.5)
        drive.feed(Tick(), after=3.0)
        assert drive.last.questions is not None
        (question,) = drive.last.questions.open
        assert f"I see {len(hand) - len(missing)} tiles" in question.text_en


def refused() -> Drive:
    """A win by four tiles too few, which the host says are all."""
    drive, events = start("hongkong", own_draw)
    win = next(e for e in events if isinstance(e, Win))
    drive.play(events[:-1])
    drive.felt.apply(win)
    reading = drive.eye.look(drive.t)
    hand = [t for t in reading.tiles if (t.zone, t.seat) == (Zone.RACK, win.seat)]
    kept = tuple(t for t in reading.tiles if t not in hand[:4])
    short = reading.model_copy(update={"tiles": kept})
    drive.eye.look = lambda t: short.model_copy(update={"t": t})  # type: ignore[method-assign]
    drive.feed(drive.eye.look(drive.t), after=0.5)
    drive.feed(Tick(), after=3.0)
    assert drive.last.questions is not None
    drive.request("answer", question=drive.last.questions.open[0].id, answer="whole")
    drive.feed(Tick(), after=3.0)
    return drive


def test_an_answer_that_did_not_help_is_not_offered_again() -> None:
    drive = refused()
    for _ in range(12):
        assert drive.last.questions is not None
        (question,) = drive.last.questions.open
        unseen = [a.id for a in question.alternatives if a.id.startswith("unseen")]
        if not unseen:
            assert {a.id for a in question.alternatives} == {"false_win", "take_back", "void"}
            return
        drive.request("answer", question=question.id, answer=unseen[0])
        drive.feed(Tick(), after=3.0)
    pytest.fail("the same is offered for ever")


def test_a_void_hand_pays_nobody_and_is_dealt_again() -> None:
    drive = refused()
    before = drive.referee.next
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    drive.request("answer", question=question.id, answer="void")
    assert is_void(drive)
    assert drive.last.questions.open == ()
    assert drive.referee.totals == [0, 0, 0, 0]
    assert [view.event for view in drive.events][-1] == {}
    drive.deal()
    assert drive.referee.number == 2
    assert drive.referee.next == before


def test_a_running_hand_may_be_void_too() -> None:
    drive, events = start("hongkong", own_draw)
    drive.play(events[:10])
    drive.press(0, Button.START)
    drive.feed(Tick(), after=2.0)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert [a.id for a in question.alternatives] == ["play_on", "drawn", "void"]
    drive.request("answer", question=question.id, answer="void")
    assert is_void(drive)


def test_a_tile_that_is_not_there_is_left_out() -> None:
    """Something that the eye takes for a flower beside those of the winner."""
    drive, events = start("hongkong", with_a_flower)
    win = events[-1]
    assert isinstance(win, Win)
    look = drive.eye.look

    def with_a_phantom(t: float) -> TableReading:
        reading = look(t)
        row = [x for x in reading.tiles if (x.zone, x.seat) == (Zone.EXPOSED, win.seat)]
        if not row:
            return reading
        place = drive.referee.geometry.to_seat(win.seat, row[0].x, row[0].y)
        x, y = drive.referee.geometry.to_table(win.seat, place[0] + 1.06, place[1])
        own = f"{win.seat + 1}f"
        other = f"{(win.seat + 1) % 4 + 1}f"
        ghost = row[0].model_copy(update={"x": x, "y": y, "probabilities": {own: 0.6, other: 0.4}})
        return reading.model_copy(update={"tiles": (*reading.tiles, ghost)})

    drive.eye.look = with_a_phantom  # type: ignore[method-assign]
    drive.play(events)
    for _ in range(3):
        drive.feed(drive.eye.look(drive.t), after=1.0)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert question.alternatives[-1].id == "gone"
    drive.request("answer", question=question.id, answer="gone")
    drive.feed(drive.eye.look(drive.t), after=3.0)
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(play_hand("hongkong", {}, drive_seed(with_a_flower)))


def with_a_flower(events: list[Event]) -> bool:
    """Whether the winner draws the last tile and has one flower."""
    win = next((e for e in events if isinstance(e, Win)), None)
    laid = [e for e in events if isinstance(e, Flower) and win and e.seat == win.seat]
    return own_draw(events) and len(laid) == 1


def drive_seed(wanted: Callable[[list[Event]], bool]) -> int:
    return hand_with("hongkong", wanted)[0]


def test_pass_takes_a_hu_back() -> None:
    drive, events = start("hongkong", own_draw)
    drive.play(events[:10])
    drive.press(1, Button.HU)
    drive.press(1, Button.PASS)
    assert drive.referee.hand is not None
    assert not drive.referee.hand.called_hu(1)


def lying_at(x: float, *, across: bool = False) -> FeltTile:
    geometry = TableGeometry()
    place = geometry.to_table(0, x, sum(geometry.rack) / 2)
    return FeltTile(
        int(x * 100), {"1m": 1.0}, 2, *place, 90.0 if across else 0.0, Zone.RACK, 0
    )  # fmt: skip


def test_a_missing_tile_is_not_put_where_one_lies_across_in_the_row() -> None:
    geometry = TableGeometry()
    row = [lying_at(1.02 * n) for n in (0, 1, 2, 4, 5)]
    across = lying_at(1.02 * 3, across=True)
    lying = opened(0, row, across, 7, geometry)
    assert not lying.holes
    x, _ = geometry.to_seat(0, *lying.next_place(geometry))
    assert x == pytest.approx(1.02 * 6, abs=0.1)


def test_a_tile_set_apart_leaves_the_hole_in_its_row() -> None:
    geometry = TableGeometry()
    row = [lying_at(1.02 * n) for n in (0, 1, 2, 4, 5)]
    lying = opened(0, row, lying_at(1.02 * 6 + 0.8), 7, geometry)
    ((x, _),) = [geometry.to_seat(0, *hole) for hole in lying.holes]
    assert x == pytest.approx(1.02 * 3, abs=0.1)


def test_an_own_draw_that_is_seen_whole_was_not_missed() -> None:
    """An answer that adds a tile to a whole hand would be asked again for ever."""
    drive, events = start("hangzhou", own_draw)
    win = events[-1]
    assert isinstance(win, Win)
    drive.play(events[:-1])
    drive.felt.apply(win)
    reading = drive.eye.look(drive.t)
    rack = [t for t in reading.tiles if (t.zone, t.seat) == (Zone.RACK, win.seat)]
    wrong = rack[0].model_copy(update={"probabilities": {"1z": 0.99}})
    other = rack[1].model_copy(update={"probabilities": {"3z": 0.99}})
    tiles = tuple(wrong if t is rack[0] else other if t is rack[1] else t for t in reading.tiles)
    drive.press(win.seat, Button.HU)
    drive.feed(reading.model_copy(update={"tiles": tiles}), after=0.5)
    drive.feed(Tick(), after=2.0)
    drive.feed(Tick(), after=2.0)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert "/refused/" in question.id
    answers = [a.id for a in question.alternatives]
    assert "unseen/draw" not in answers
    assert {"unseen/0", "false_win", "take_back"} & set(answers)


@pytest.mark.parametrize("rules", ["hongkong", "hangzhou"])
def test_an_own_draw_after_a_discard_that_nobody_saw_can_be_told(rules: str) -> None:
    """The win comes out of turn: the answer is that tiles were missed, not that it is false."""
    drive, events = start(rules, own_draw)
    win = events[-1]
    n = max(i for i, e in enumerate(events) if isinstance(e, Discard))
    discard = events[n]
    assert isinstance(win, Win)
    assert isinstance(discard, Discard)
    drive.play(events[:n])
    drive.felt.apply(discard)
    drive.eye.blind = MissesOne((discard.seat, discard.tile), drive)
    drive.play(events[n + 1 :])
    for _ in range(8):
        drive.feed(Tick(), after=2.0)
        open_ = drive.last.questions.open if drive.last.questions else ()
        if open_:
            wish = reply(open_[0], drive.referee, drive.felt.look())
            assert wish is not None, open_
            assert wish[1].get("answer") not in ("false_win", "void"), open_
            drive.request(wish[0], **wish[1])
    settled = drive.last.settlement
    assert settled is not None, drive.last.questions
    assert settled.final, drive.last.questions
    assert settled.delta == truth_of(whole_hand(drive, rules, own_draw))


def whole_hand(drive: Drive, rules: str, wanted: Callable[[list[Event]], bool]) -> list[Event]:
    """The whole hand of :func:`start`, with all tiles known."""
    seed, _ = hand_with(rules, wanted)
    return play_hand(rules, {}, seed, deal=deal_of(drive))


def test_a_hand_laid_open_for_a_discard_that_nobody_saw_after_a_claim() -> None:
    """After a set there is no other discard that could be meant, so it is asked for."""
    drive, events, win = up_to_an_unseen_discard(won_after_a_claim)
    drive.press(win.seat, Button.HU)
    drive.felt.rng = random.Random(next(s for s in range(99) if not _takes(s)))
    drive.felt.apply(win)
    drive.feed(drive.eye.look(drive.t), after=0.5)
    for _ in range(3):
        drive.feed(Tick(), after=1.6)
    assert drive.last.questions is not None
    (question,) = drive.last.questions.open
    assert "/threw/" in question.id
    evening = Evening(drive, events, [])
    evening.settle()
    settled = drive.last.settlement
    assert settled is not None
    assert settled.final
    assert settled.delta == truth_of(whole_hand(drive, "hongkong", won_after_a_claim))


def won_after_a_claim(events: list[Event]) -> bool:
    """Somebody wins on the discard that follows a claim."""
    played = [e for e in events if isinstance(e, Discard | Meld | Win)]
    return any(
        isinstance(meld, Meld)
        and meld.kind in ("pung", "chow")
        and isinstance(discard, Discard)
        and isinstance(win, Win)
        and win.by == "discard"
        for meld, discard, win in zip(played, played[1:], played[2:], strict=False)
    )
