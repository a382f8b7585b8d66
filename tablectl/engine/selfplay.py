"""Whole hands played by simulated players, as event logs.

:func:`play_hand` gives a legal hand in which everything is known; :func:`as_seen_from_above` is the
same hand as a camera over the table sees it: no dealt hands, no drawn tiles, closed kongs face
down until the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tablectl.engine.events import (
    Call,
    Draw,
    End,
    Event,
    Exhaust,
    Flower,
    Indicator,
    Meld,
    Reveal,
    Start,
)
from tablectl.engine.game import apply
from tablectl.engine.legal import Option, legal_claims, loose_flowers, options
from tablectl.engine.players import Policy, SimplePlayer
from tablectl.engine.scoring import settle
from tablectl.engine.state import HandState
from tablectl.rules import registry
from tablectl.rules.play import WallCounts
from tablectl.rules.ruleset import RuleSet
from tablectl.tiles import Tile, format_tile, format_tiles

_CALL_OF = {"hu": "hu", "kong": "kong", "pung": "pung", "chow": "chow"}


class IllegalPlayError(RuntimeError):
    """A simulated player broke a rule: a defect of the engine or of a policy."""


@dataclass(frozen=True, slots=True)
class Deal:
    """What goes before a simulated hand, as in a ``start`` event."""

    dealer: int = 0
    streak: int = 1
    round_wind: str | None = None
    first_dealer: int = 0
    session: Mapping[str, Any] = field(default_factory=dict)
    dice: Sequence[Any] | None = None


@dataclass
class _Wall:
    """The shuffled tiles: taken in front, supplements from the tail, the reserve untouched.

    With a dead wall, supplements come from the reserve; the first tile of that is turned up.
    """

    front: list[Tile]
    reserve: list[Tile]
    dead: bool = False

    def take(self) -> Tile:
        """The next tile; where the rules free one of the reserve, the last of that."""
        return self.front.pop(0) if self.front else self.reserve.pop()

    def take_tail(self) -> Tile:
        from_front = self.front and not self.dead
        return self.front.pop() if from_front else self.reserve.pop()

    def refill(self, drawable: int) -> None:
        """Give the dead wall the live tiles that the rules put there."""
        while self.dead and len(self.front) > drawable:
            self.reserve.insert(1, self.front.pop())


class _Table:
    """Applies events and keeps the log."""

    def __init__(self) -> None:
        self.log: list[Event] = []
        self._state: HandState | None = None

    @property
    def state(self) -> HandState:
        assert self._state is not None, "nothing has been dealt"
        return self._state

    def do(self, event: Event) -> None:
        state, step = apply(self._state, event)
        self.log.append(event)
        if step.issues:
            raise IllegalPlayError(f"{event.to_line()} breaks {step.issues}")
        self._state = state


def play_hand(
    rules: str,
    rule_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    deal: Deal | None = None,
    policy: Callable[[int, random.Random], Policy] | None = None,
    calls: bool = True,
) -> list[Event]:
    """Play one legal hand with everything known.

    Args:
        rules: the rule set's id.
        rule_options: options that differ from the defaults.
        seed: decides tiles and players; the same seed gives the same hand.
        deal: dealer, streak, winds; by default seat 0 deals its first hand.
        policy: makes the player of a seat; by default :class:`SimplePlayer`.
        calls: whether claims are called before they are taken.

    Returns:
        The hand's events from ``start`` to ``end``, the other hands revealed after a win.

    Raises:
        CaseError: unknown rule set or option.
        IllegalPlayError: a policy chose something illegal.
    """
    rng = random.Random(f"{rules}/{seed}")
    deal = deal or Deal()
    table = _Table()
    dealt, wall = _deal(rules, dict(rule_options or {}), deal, rng)
    for event in dealt:
        table.do(event)
    seats = range(len(table.state.players))
    make = policy or (lambda _seat, generator: SimplePlayer(generator))
    players = [make(seat, random.Random(rng.random())) for seat in seats]
    _flowers_of_the_deal(table, wall)
    while not table.state.over:
        if not _claims(table, players, calls=calls):
            _turn(table, wall, players)
    _lay_open(table)
    table.do(End())
    return table.log


def _deal(
    rules: str, rule_options: dict[str, Any], deal: Deal, rng: random.Random
) -> tuple[list[Event], _Wall]:
    ruleset = registry.get(rules)
    parsed = ruleset.options(rule_options)
    kit = ruleset.equipment(parsed)
    tiles = [Tile(i) for i, n in enumerate(kit.copies) for _ in range(n)]
    rng.shuffle(tiles)
    hands: list[str] = []
    for seat in range(kit.seats):
        count = kit.hand_size + (seat == deal.dealer)
        hand, tiles = tiles[:count], tiles[count:]
        hands.append(format_tiles(sorted(hand)))
    wind = deal.round_wind or ("E" if ruleset.play.round_winds else None)
    start = {
        "e": "start",
        "rules": rules,
        "options": rule_options,
        "dealer": deal.dealer,
        "streak": deal.streak,
        "round_wind": wind,
        "first_dealer": deal.first_dealer,
        "hands": hands,
    }
    if deal.session:
        start["session"] = dict(deal.session)
    if deal.dice:
        start["dice"] = list(deal.dice)
    events: list[Event] = [Start.model_validate(start)]
    cut = len(tiles) - kit.reserve
    wall = _Wall(tiles[:cut], tiles[cut:], dead=_has_dead_wall(ruleset, parsed))
    if kit.indicator:
        # A flower that makes nothing wild is turned back, and the next tile turned up.
        chosen = next(
            (tile for tile in wall.reserve if ruleset.wild(tile, parsed).tiles), wall.reserve[0]
        )
        wall.reserve.remove(chosen)
        wall.reserve.insert(0, chosen)
        events.append(Indicator(tile=format_tile(chosen)))
    return events, wall


def _has_dead_wall(ruleset: RuleSet[Any], parsed: Any) -> bool:
    """Whether draws in turn leave the supplements alone."""
    supplements = ruleset.play.supplements
    if supplements is None:
        return False
    return supplements(parsed, WallCounts(front=1)) == supplements(parsed, WallCounts())


def _flowers_of_the_deal(table: _Table, wall: _Wall) -> None:
    state = table.state
    for step in range(len(state.players)):
        seat = state.after(state.dealer, step)
        while flower := next(iter(loose_flowers(table.state, seat)), None):
            table.do(Flower(seat=seat, tile=format_tile(flower)))
            _draw(table, wall, seat, tail=True)


def _draw(table: _Table, wall: _Wall, seat: int, *, tail: bool) -> None:
    tile = wall.take_tail() if tail else wall.take()
    table.do(Draw(seat=seat, tile=format_tile(tile), source="tail" if tail else "wall"))
    wall.refill(table.state.wall)


def _turn(table: _Table, wall: _Wall, players: Sequence[Policy]) -> None:
    state = table.state
    seat = state.turn
    assert seat is not None, "somebody must act"
    choices = [option for option in options(state, seat) if option.legal and option.kind != "pass"]
    if not choices and state.draws_next(state.after(seat)):  # the last stage: nobody throws
        _draw(table, wall, state.after(seat), tail=False)
        return
    if not choices:
        raise IllegalPlayError(f"seat {seat} has nothing legal to do")
    if choices[0].kind == "draw":
        _draw(table, wall, seat, tail=state.phase == "supplement")
        return
    if choices[0].kind == "exhaust":
        table.do(choices[0].event)
        return
    chosen = choices[0] if choices[0].kind == "flower" else players[seat].turn(state, seat, choices)
    table.do(chosen.event)
    if table.state.players[seat].untold:
        _draw(table, wall, seat, tail=True)


def _claims(table: _Table, players: Sequence[Policy], *, calls: bool) -> bool:
    """Let the others claim the discard, or rob the kong; whether somebody did."""
    state = table.state
    wanted: list[Option] = []
    for seat, player in enumerate(players):
        choices = list(legal_claims(state, seat))
        choice = player.claim(state, seat, choices) if choices else None
        if choice is not None:
            wanted.append(choice)
    if not wanted:
        return False
    last, kong = state.last_discard, state.open_kong
    thrower = kong.seat if kong is not None else last.seat if last is not None else state.dealer
    wanted.sort(
        key=lambda o: (-state.rank(o.kind), state.nearness(o.seat, thrower, o.kind), o.seat)
    )
    if calls:
        for option in sorted(wanted, key=lambda o: o.seat):
            table.do(Call.model_validate({"seat": option.seat, "call": _CALL_OF[option.kind]}))
    best = wanted[0]
    table.do(best.event)
    if best.kind == "hu" and state.play.winners == "all":
        for option in wanted[1:]:
            if option.kind == "hu":
                table.do(option.event)
    return True


def _lay_open(table: _Table) -> None:
    """After a win the other hands are laid open too; in a drawn hand those that are paid."""
    state = table.state
    winners = {win.seat for win in state.wins}
    for seat, player in enumerate(state.players):
        if seat in winners:
            continue
        if state.wins or state.play.hands_paid or _is_paid(state, seat):
            table.do(Reveal(seat=seat, hand=format_tiles(player.known)))


def _is_paid(state: HandState, seat: int) -> bool:
    """Whether the drawn hand pays something for the seat's concealed tiles."""
    concealed = state.players[seat].concealed
    hidden = state.with_player(seat, known=(), unknown=concealed, surplus=0)
    return settle(hidden, ()) != state.settlement


def as_seen_from_above(events: Sequence[Event], *, draws: bool = False) -> list[Event]:
    """The same hand with what an overhead camera cannot see left out.

    Args:
        events: a hand with everything known.
        draws: keep the draws, without their tiles; by default they are left to be inferred.
    """
    hidden: list[Event] = []
    kongs: list[Meld] = []
    for event, after in zip(events, (*events[1:], None), strict=True):
        if isinstance(event, Start):
            data = event.to_json()
            data.pop("hands", None)
            hidden.append(Start.model_validate(data))
        elif isinstance(event, Draw):
            # A draw after which nobody acts cannot be inferred: somebody has to see it.
            if draws or isinstance(after, Draw | Exhaust):
                hidden.append(Draw(seat=event.seat, tile=None, source=event.source))
        elif isinstance(event, Meld) and event.kind == "closed_kong":
            kongs.append(event)
            hidden.append(event.replace(tiles=""))
        elif isinstance(event, End):
            hidden += kongs
            hidden.append(event)
        else:
            hidden.append(event)
    return hidden


__all__ = ["Deal", "IllegalPlayError", "as_seen_from_above", "play_hand"]
