"""Replaying a recorded session: the same program with its inputs taken from the recording.

From ``events`` the recorded hand logs are folded through the engine again; from ``readings`` the
referee follows the game anew; from ``camera`` the eye reads the recorded pictures anew as well.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

from tablectl import channels
from tablectl.engine.events import End, Event, parse_event
from tablectl.engine.game import apply, finish
from tablectl.engine.state import HandState
from tablectl.engine.wins import told_to
from tablectl.game import GameService
from tablectl.messages import EventView, Request, SettlementView
from tablectl.referee.book import recounted
from tablectl.referee.inputs import SessionPlan, renamed
from tablectl.referee.views import issues_in_words
from tablectl.rules import registry
from tablectl.rules.settlement import Settlement
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import RecordedClock
from tablectl.services.recording import Recording, RecordingError

Source = Literal["camera", "readings", "events"]
Eyes = Callable[[Recording, SessionPlan], AsyncIterator[tuple[float, str, object]]]
"""Reads the pictures of a recording anew: (time, channel, message) in order of time."""
_FOLDED: Final = (channels.PLAN, channels.REQUEST, channels.EVENT)
"""What a replay from events reads."""


class ReplayError(RecordingError):
    """The recording lacks what the replay needs; the message says what and what else works."""


@dataclass
class ReplayResult:
    """What a replay gave.

    Attributes:
        events: the event stream, one JSON line an event, as the recording would hold it.
        recorded: the recording's own event stream in the same form.
        settlements: final settlements by hand id, the newest of each.
        note: what was wrong with the file, empty if nothing.
    """

    source: Source
    events: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)
    settlements: dict[str, SettlementView] = field(default_factory=dict)
    hands: int = 0
    note: str = ""

    @property
    def same(self) -> bool:
        """Whether the replay gave the recorded event stream, to the byte.

        A cut may fall between the last inputs and what followed from them; the replay goes on from
        those inputs, so its stream may be longer than the recorded one then.
        """
        if self.note:
            return self.events[: len(self.recorded)] == self.recorded
        return self.events == self.recorded


async def replay(
    path: Path,
    source: Source = "readings",
    speed: float = math.inf,
    *,
    eyes: Eyes | None = None,
    watch: Callable[[Bus], None] | None = None,
) -> ReplayResult:
    """Replay a recording.

    Args:
        path: the recording; an unfinished one is replayed up to its cut.
        source: from which inputs.
        speed: recorded seconds a second.
        eyes: what reads pictures; needed from ``camera``.
        watch: called with the bus before the first message, e.g. to show the session.

    Raises:
        RecordingError: no recording, another version, or it lacks what is needed.
        OSError: the file can't be read.
    """
    recording = Recording(path)
    if source == "events":
        result = _from_events(recording)
    else:
        result = await _from_inputs(recording, source, speed, eyes, watch)
        result.recorded = _recorded_events(recording)
    result.note = str(recording.cut) if recording.cut is not None else ""
    return result


def _from_events(recording: Recording) -> ReplayResult:
    result = ReplayResult("events")
    plan: SessionPlan | None = None
    hand = _FoldedHand()
    names: tuple[str, ...] = ()
    # One pass for all that is needed: reading the file is most of the work.
    for _, message in recording.decoded(channels=_FOLDED):
        if isinstance(message, SessionPlan):
            plan = plan or message
            names = names or _names_at_first(message)
        elif isinstance(message, Request):
            names = _names_after(message, names)
            hand.rename(names)
        elif plan is None:
            raise _no_session(recording)
        else:
            view = cast(EventView, message)
            result.recorded.append(view.model_dump_json())
            if view.n == 0 and view.event.get("e") == "start":
                _settle(result, plan, hand)
                hand = _FoldedHand(names)
                result.hands += 1
            result.events.append(hand.take(view).model_dump_json())
    if plan is None:
        raise _no_session(recording)
    _settle(result, plan, hand)
    return result


def _names_at_first(plan: SessionPlan) -> tuple[str, ...]:
    rules = registry.get(plan.rules)
    return plan.seat_names(rules.equipment(rules.options(plan.options)).seats)


def _names_after(request: Request, names: tuple[str, ...]) -> tuple[str, ...]:
    """The players' names once a request is done; one that was refused changes nothing."""
    if request.verb != "seat":
        return names
    try:
        return renamed(names, request.args)
    except (ValueError, KeyError):
        return names


class _FoldedHand:
    """The events of one hand, folded through the engine as they are told and corrected.

    Args:
        names: of the players, when the hand begins.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._names = names
        self._events: list[tuple[Event, int]] = []
        self._states: list[HandState] = []

    def take(self, view: EventView) -> EventView:
        """Take what was told, and say what would be told of it now.

        Raises:
            ReplayError: an event is missing before this one.
        """
        if view.n > len(self._events):
            raise ReplayError(f"event {view.n} without event {len(self._events)} before it")
        del self._states[view.n :]
        if not view.event:
            del self._events[view.n :]
            return EventView(n=view.n, t=view.t, event={})
        event = parse_event(view.event)
        self._events[view.n : view.n + 1] = [(event, view.drawn)]
        before = self._fold(view.n)
        after, step = apply(recounted(before, view.drawn), event)
        self._states.append(after)
        issues = issues_in_words(step.issues)
        return EventView(
            n=view.n, t=view.t, event=event.to_json(), drawn=view.drawn, issues=issues
        )  # fmt: skip

    def _fold(self, end: int) -> HandState | None:
        """The state before event ``end``."""
        state = self._states[-1] if self._states else None
        for event, drawn in self._events[len(self._states) : end]:
            state, _ = apply(recounted(state, drawn), event)
            self._states.append(state)
        return state

    def rename(self, names: tuple[str, ...]) -> None:
        """The players are called so from now on; a hand that is paid keeps its names."""
        if not any(isinstance(event, End) for event, _ in self._events):
            self._names = names

    def settlement(self) -> Settlement | None:
        """What the hand pays by everything that was told, with the players' names."""
        state = self._fold(len(self._events))
        return None if state is None else told_to(finish(state), lambda seat: self._names[seat])


def _settle(result: ReplayResult, plan: SessionPlan, hand: _FoldedHand) -> None:
    settlement = hand.settlement()
    if settlement is not None and settlement.delta is not None:
        hand_id = f"{plan.session}/{result.hands}"
        result.settlements[hand_id] = SettlementView(
            hand_id=hand_id, hand=result.hands, t=0.0, final=True,
            delta=settlement.delta, lines=settlement.lines,
        )  # fmt: skip


async def _from_inputs(
    recording: Recording,
    source: Source,
    speed: float,
    eyes: Eyes | None,
    watch: Callable[[Bus], None] | None,
) -> ReplayResult:
    plan, t = _plan_of(recording)
    clock = RecordedClock(t, speed)
    bus = Bus(clock)
    result = ReplayResult(source)
    bus.on(EventView, lambda entry: result.events.append(_line(entry)), channels.EVENT)
    bus.on(SettlementView, lambda entry: _keep(result, entry.message), channels.SETTLEMENT)
    if watch is not None:
        watch(bus)
    game = GameService(bus, plan)
    game.begin(t)
    if source == "camera":
        if eyes is None:
            raise ReplayError("replaying from the camera needs the eye")
        inputs = _merged(recording, eyes(recording, plan))
    else:
        inputs = _recorded_inputs(recording)
    async for at, channel, message in inputs:
        await clock.advance(at)
        bus.publish(channel, message, at)
    result.hands = game.referee.number
    return result


def _plan_of(recording: Recording) -> tuple[SessionPlan, float]:
    for item, message in recording.decoded(channels=(channels.PLAN,)):
        return cast(SessionPlan, message), item.t
    raise _no_session(recording)


def _no_session(recording: Recording) -> ReplayError:
    return ReplayError(f"{recording.path}: no session in it; it was cut before the first message")


async def _recorded_inputs(
    recording: Recording, but: frozenset[str] = frozenset()
) -> AsyncIterator[tuple[float, str, object]]:
    wanted = [c for c in channels.GAME_INPUTS if c not in but]
    for item, message in recording.decoded(channels=wanted):
        yield item.t, item.channel, message
        await asyncio.sleep(0)


async def _merged(
    recording: Recording, seen: AsyncIterator[tuple[float, str, object]]
) -> AsyncIterator[tuple[float, str, object]]:
    """What the eye sees anew between what else was recorded, in order of time."""
    rest = _recorded_inputs(recording, frozenset(channels.EYE_OUTPUTS))
    look = await anext(seen, None)
    async for item in rest:
        while look is not None and look[0] <= item[0]:
            yield look
            look = await anext(seen, None)
        yield item
    while look is not None:
        yield look
        look = await anext(seen, None)


def _recorded_events(recording: Recording) -> list[str]:
    """The recorded stream, with what earlier versions did not write yet."""
    events = recording.decoded(channels=(channels.EVENT,))
    return [cast(EventView, view).model_dump_json() for _, view in events]


def _line(entry: Entry[EventView]) -> str:
    return entry.message.model_dump_json()


def _keep(result: ReplayResult, view: SettlementView) -> None:
    if view.final:
        result.settlements[view.hand_id] = view
    else:
        result.settlements.pop(view.hand_id, None)


def totals(settlements: Mapping[str, SettlementView], seats: int) -> list[int]:
    """Sum of the payments a seat."""
    sums = [0] * seats
    for view in settlements.values():
        for seat, points in enumerate(view.delta):
            sums[seat] += points
    return sums
