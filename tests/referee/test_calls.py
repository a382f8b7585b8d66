"""Claims taken although a better one was called: told, unless the call was for another tile."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware_protocol.messages import Button
from tablectl.engine.events import Call, Event, Meld, Win
from tablectl.referee.inputs import Tick
from tests.referee.drive import Drive
from tests.referee.test_unseen import start
from vision.geometry import Zone


def wins_after_anothers_pung(events: list[Event]) -> bool:
    """Whether the winner wins on something else than what was claimed last by another seat."""
    win = next((e for e in events if isinstance(e, Win)), None)
    return win is not None and win.by != "rob_kong" and last_claim(events, win.seat) is not None


def last_claim(events: list[Event], winner: int) -> int | None:
    """Number of the last set claimed by a seat that does not win, of a tile of yet another one."""
    found = [
        n for n, e in enumerate(events)
        if isinstance(e, Meld) and e.kind in ("chow", "pung")
        and e.source is not None and winner not in (e.seat, e.source)
    ]  # fmt: skip
    return found[-1] if found else None


def pung_that_grows_at_once(events: list[Event]) -> int | None:
    """Number of a claimed pung to which the same seat adds the fourth tile before anything else."""
    for n, (pung, kong) in enumerate(pairwise(events)):
        if not (isinstance(pung, Meld) and isinstance(kong, Meld) and pung.seat == kong.seat):
            continue
        if (pung.kind, kong.kind) == ("pung", "added_kong"):
            return n
    return None


@pytest.mark.parametrize("call", [Button.PUNG, Button.KONG])
@pytest.mark.parametrize("seen_between", [True, False])
def test_the_button_tells_an_added_kong_from_a_claimed_one(
    call: Button, seen_between: bool
) -> None:
    """Also where the camera sees all four tiles at once."""
    drive, events = start("hangzhou", lambda events: pung_that_grows_at_once(events) is not None)
    events = [e for e in events if not isinstance(e, Call)]
    n = pung_that_grows_at_once(events)
    assert n is not None
    pung = events[n]
    assert isinstance(pung, Meld)
    drive.play(events[:n])
    drive.press(pung.seat, call)
    drive.felt.apply(pung)
    if seen_between:
        drive.feed(drive.eye.look(drive.t), after=1.0)
    drive.felt.apply(events[n + 1])
    drive.feed(drive.eye.look(drive.t), after=1.0)
    told = [event["kind"] for event in drive.log() if event["e"] == "meld"]
    assert told[-1:] == (["added_kong"] if call is Button.PUNG else ["kong"])


def hu_called_before_a_claim(wait_s: float) -> tuple[Drive, list[Event]]:
    """A seat calls Hu, and after a while another one lays a set down. Returns what follows it."""
    drive, events = start("hongkong", wins_after_anothers_pung)
    events = [e for e in events if not isinstance(e, Call)]
    winner = next(e.seat for e in events if isinstance(e, Win))
    n = last_claim(events, winner)
    assert n is not None
    drive.play(events[:n])
    drive.press(winner, Button.HU)
    for _ in range(10):
        drive.feed(Tick(), after=wait_s / 10)
    drive.play(events[n : n + 1])
    return drive, events[n + 1 :]


def told_issues(drive: Drive) -> list[str]:
    """What displays show now."""
    assert drive.last.state is not None
    return [issue.id for issue in drive.last.state.issues]


def test_a_claim_after_a_better_call_is_told() -> None:
    drive, _ = hu_called_before_a_claim(5.0)
    assert told_issues(drive) == ["outranked"]


def test_a_call_while_the_set_was_seen_may_be_for_the_next_tile() -> None:
    drive, _ = hu_called_before_a_claim(1.0)
    assert told_issues(drive) == []


@pytest.mark.parametrize("again", [False, True])
def test_an_early_call_that_wins_on_a_later_tile_outranks_nobody(again: bool) -> None:
    """Unless the winner calls anew: then the first call was for the tile that was claimed."""
    drive, rest = hu_called_before_a_claim(5.0)
    assert told_issues(drive) == ["outranked"]
    win = next(n for n, e in enumerate(rest) if isinstance(e, Win))
    drive.play(rest[:win])
    if again:
        drive.press(rest[win].seat, Button.HU)  # type: ignore[union-attr]
    drive.play(rest[win:])
    assert drive.last.settlement is not None
    assert drive.last.settlement.final
    assert told_issues(drive) == (["outranked"] if again else [])
    newest = {view.n: view for view in drive.events}
    issues = [issue.id for view in newest.values() for issue in view.issues]
    assert issues == (["outranked"] if again else [])


def test_what_lies_beside_a_set_for_a_moment_makes_no_kong_of_it() -> None:
    """A hand that is still laying tiles down may show one of them twice."""
    drive, events = start("hangzhou", lambda events: any(is_chow(e) for e in events))
    n, chow = next((n, e) for n, e in enumerate(events) if isinstance(e, Meld) and is_chow(e))
    drive.play(events[:n])
    before = {tile.x for tile in drive.eye.look(drive.t).tiles}
    drive.felt.apply(chow)
    reading = drive.eye.look(drive.t)
    fresh = [t for t in reading.tiles if t.zone is Zone.EXPOSED and t.x not in before]
    assert len(fresh) == 3
    frame = drive.referee.geometry
    places = [frame.to_seat(chow.seat, t.x, t.y) for t in fresh]
    left, level = min(places)
    x, y = frame.to_table(chow.seat, left - 1.02, level)
    ghost = fresh[0].model_copy(update={"probabilities": {"7z": 0.99}, "x": x, "y": y})
    drive.feed(reading.model_copy(update={"tiles": (*reading.tiles, ghost)}), after=0.4)
    drive.feed(drive.eye.look(drive.t), after=0.4)
    told = [event for event in drive.log() if event["e"] == "meld"]
    assert (told[-1]["kind"], told[-1]["tiles"]) == ("chow", chow.tiles)


def is_chow(event: Event) -> bool:
    return isinstance(event, Meld) and event.kind == "chow"


def is_pung_of_birds(event: Event) -> bool:
    return isinstance(event, Meld) and event.kind == "pung" and event.tiles == "111s"


@pytest.mark.parametrize("pressed", [True, False])
def test_birds_that_look_like_flowers_are_a_pung_after_pung(pressed: bool) -> None:
    """What a player has just called for is no row of flowers, whatever its faces look like."""
    drive, events = start("hongkong", lambda events: any(is_pung_of_birds(e) for e in events))
    events = [e for e in events if not isinstance(e, Call)]
    n, pung = next((n, e) for n, e in enumerate(events) if is_pung_of_birds(e))
    assert isinstance(pung, Meld)
    drive.play(events[:n])
    if pressed:
        drive.press(pung.seat, Button.PUNG)
    before = {tile.x for tile in drive.eye.look(drive.t).tiles}
    drive.felt.apply(pung)
    reading = drive.eye.look(drive.t)
    flowers = iter(("5f", "6f", "7f"))
    tiles = [
        t.model_copy(update={"probabilities": {next(flowers): 0.9, "1s": 0.1}})
        if t.zone is Zone.EXPOSED and t.x not in before else t
        for t in reading.tiles
    ]  # fmt: skip
    drive.feed(reading.model_copy(update={"tiles": tuple(tiles)}), after=1.0)
    for _ in range(5):
        drive.feed(Tick(), after=0.5)
    told = [(event["e"], event.get("tiles")) for event in drive.log()]
    assert (("meld", "111s") in told) is pressed
