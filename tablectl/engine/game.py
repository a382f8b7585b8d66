"""The game, one event at a time: a pure function from a state and an event to the next state.

Contradictions and broken rules are issues, never exceptions: the event is applied as far as it can
be, because that is what happened at the table. Exceptions are kept for what is no hand log at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tablectl.engine import moves, sets, wins
from tablectl.engine.events import End, Event, EventError, Meld, Reveal, Ruling, Start, Win
from tablectl.engine.state import HandState, Player
from tablectl.engine.transition import Transition
from tablectl.rules import registry
from tablectl.rules.case import CaseError
from tablectl.tiles import parse_tiles


@dataclass(frozen=True, slots=True)
class Step:
    """What the engine thinks after one event.

    Attributes:
        turn: whose action is next; ``None`` once the hand is over.
        wall: tiles that can still be drawn.
        options: what the seat in turn may do, for displays.
        issues: (id, seat) of what the event breaks; the seat is ``None`` where the event has none.
        pending: (seat, call) of calls waiting for their turn, best first.
    """

    turn: int | None
    wall: int
    options: tuple[str, ...] = ()
    issues: tuple[tuple[str, int | None], ...] = ()
    pending: tuple[tuple[int, str], ...] = ()

    def to_json(self, n: int) -> dict[str, Any]:
        """The line of ``tablectl follow --json``."""
        return {
            "n": n,
            "turn": self.turn,
            "wall": self.wall,
            "options": list(self.options),
            "issues": [{"id": name, "seat": seat} for name, seat in self.issues],
            "pending": [{"seat": seat, "call": call} for seat, call in self.pending],
        }


_HANDLERS: Final[dict[str, Callable[[Transition, Any], None]]] = {
    "indicator": moves.indicator,
    "flower": moves.flower,
    "draw": moves.draw,
    "call": moves.call,
    "discard": moves.discard,
    "meld": sets.meld,
    "disclose": moves.disclose,
    "refuse": moves.refuse,
    "joy": sets.joy,
    "win": wins.win,
    "exhaust": wins.exhaust,
}


def apply(state: HandState | None, event: Event) -> tuple[HandState, Step]:
    """Apply one event.

    Args:
        state: the game so far; ``None`` before the ``start``. A ``start`` always begins a new hand.
        event: what happened.

    Returns:
        The new state (the old one is unchanged) and what the engine thinks now. Once the hand is
        over, the state holds ``settlement`` (or ``unsettled``, why there is none yet) and ``next``.

    Raises:
        EventError: the hand does not begin with ``start``, or a seat does not exist.
        CaseError: unknown rule set or option in ``start``.
    """
    if isinstance(event, Start):
        fresh = _begin(event)
        return fresh, _step(fresh, ())
    if state is None:
        raise EventError("e", f"a hand begins with start, not {event.e}")
    _check_seats(state, event)
    t = Transition(state)
    _dispatch(t, event)
    if t.state.over:
        wins.close(t)
    return t.state, _step(t.state, t.issues)


def finish(state: HandState) -> HandState:
    """The state after the last event of a log that stops without ``end``."""
    return state if state.phase != "over" else apply(state, End())[0]


def play_out(events: Iterable[Event]) -> Iterator[tuple[HandState, Step]]:
    """Apply events one after another.

    Raises:
        EventError, CaseError: as :func:`apply`.
    """
    state: HandState | None = None
    for event in events:
        state, step = apply(state, event)
        yield state, step


def _dispatch(t: Transition, event: Event) -> None:
    seat: int | None = getattr(event, "seat", None)
    if t.state.phase == "ended":
        t.issue("hand_over", seat)
    elif isinstance(event, End):
        if not t.state.over and t.state.play.early_exhaust(t.state):
            t.issue("early_exhaust", None)
        t.set(phase="ended", turn=None, calls=())
    elif isinstance(event, Reveal):
        wins.reveal(t, event)
    elif isinstance(event, Ruling):
        wins.ruling(t, event)
    elif t.state.phase == "over" and not isinstance(event, Win):
        if isinstance(event, Meld) and event.kind == "closed_kong":
            sets.show_kong(t, event)
        else:
            t.issue("hand_over", seat)
    else:
        _HANDLERS[event.e](t, event)


def _begin(event: Start) -> HandState:
    ruleset = registry.get(event.rules)
    options = ruleset.options(event.options)
    kit = ruleset.equipment(options)
    for name, seat in (("dealer", event.dealer), ("first_dealer", event.first_dealer)):
        if seat >= kit.seats:
            raise EventError(name, f"no seat {seat} (seats are 0 to {kit.seats - 1})")
    hands = event.hands or []
    if len(hands) not in (0, kit.seats):
        raise EventError("hands", f"{len(hands)} hands where {kit.seats} play")
    players = []
    for seat in range(kit.seats):
        dealt = kit.hand_size + (seat == event.dealer)
        known = parse_tiles(hands[seat]) if hands else ()
        players.append(Player(known=tuple(sorted(known)), unknown=max(0, dealt - len(known))))
    return HandState(
        start=event,
        ruleset=ruleset,
        play=ruleset.play,
        options=options,
        copies=kit.copies,
        streak=ruleset.play.starting_streak(options, event.streak, event.dice),
        players=tuple(players),
        wild=ruleset.wild(None, options),
        turn=event.dealer,
    )


def _check_seats(state: HandState, event: Event) -> None:
    for name in ("seat", "source"):
        seat = getattr(event, name, None)
        if isinstance(seat, int) and seat >= len(state.players):
            shown = "from" if name == "source" else name
            raise EventError(shown, f"no seat {seat} (seats are 0 to {len(state.players) - 1})")


def _step(state: HandState, issues: tuple[tuple[str, int | None], ...]) -> Step:
    return Step(
        turn=state.turn,
        wall=state.wall,
        options=_turn_options(state),
        issues=issues,
        pending=pending_calls(state),
    )


def _turn_options(state: HandState) -> tuple[str, ...]:
    if state.phase == "act" and state.play.draws_only(state):
        return ("hu", "draw") if state.wall else ("hu", "exhaust")
    if state.phase == "act":
        return ("discard",) if state.drew == "claim" else ("discard", "kong", "hu")
    if state.phase == "supplement":
        return ("draw",)
    if state.phase == "draw":
        return ("draw",) if state.wall else ("exhaust",)
    return ()


def pending_calls(state: HandState) -> tuple[tuple[int, str], ...]:
    """Calls for the newest discard, or the kong that may be robbed, best first."""
    if state.open_kong is not None:
        thrower = state.open_kong.seat
    elif state.last_discard is not None:
        thrower = state.last_discard.seat
    else:
        return ()
    best = {seat: state.best_call(seat) for seat, _ in state.calls}

    def order(item: tuple[int, str]) -> tuple[int, int]:
        seat, call = item
        return -state.rank(call), state.nearness(seat, thrower, call)

    return tuple(sorted(best.items(), key=order))


__all__ = ["CaseError", "Step", "apply", "finish", "pending_calls", "play_out"]
