"""Drives a referee through fully known hands, as a table with perfect machines would."""

from __future__ import annotations

import random
from collections.abc import Iterable

from firmware_protocol.messages import Button, ButtonPressed, DiceRolled
from tablectl.engine.events import Call, Draw, Event, Exhaust, Start, Win
from tablectl.messages import EventView, Request
from tablectl.referee.core import Referee
from tablectl.referee.inputs import CommandResult, Input, Outputs, SessionPlan, Tick
from tablectl.simulate.felt import SimulatedFelt
from tests.referee.eye import SIGHTED, Blindness, Doubt, PlainEye, certain

_BUTTONS = {
    "hu": Button.HU, "kong": Button.KONG, "pung": Button.PUNG, "chow": Button.CHOW,
    "pass": Button.PASS,
}  # fmt: skip


class Drive:
    """One session at a table; every output is kept."""

    def __init__(
        self, plan: SessionPlan, doubt: Doubt = certain, seed: int = 0, blind: Blindness = SIGHTED
    ) -> None:
        self.referee = Referee(plan)
        kit = self.referee.kit
        self.felt = SimulatedFelt(
            self.referee.geometry, kit.seats, kit.total, random.Random(seed)
        )  # fmt: skip
        self.eye = PlainEye(self.felt, doubt, blind)
        self.t = 0.0
        self.events: list[EventView] = []
        self.commands: list[str] = []
        self.last = Outputs()
        self.feed(self.eye.look(0.0))

    def feed(self, message: Input, after: float = 0.1) -> Outputs:
        self.t += after
        out = self.referee.feed(self.t, message)
        self.events += out.events
        self.last = Outputs(
            settlement=out.settlement or self.last.settlement,
            questions=out.questions or self.last.questions,
            state=out.state or self.last.state,
        )
        for command in out.commands:
            self.commands.append(command.name)
            if command.name == "roll_dice":
                self.feed(DiceRolled(first=3, second=4))
            if command.name == "open_centre":
                self.felt.panel_open = True
            self.feed(CommandResult(id=command.id, outcome="done"))
        return out

    def press(self, seat: int, button: Button) -> Outputs:
        return self.feed(ButtonPressed(seat=seat, button=button, uptime_ms=0))

    def deal(self) -> None:
        """START until the walls are up and the dice are rolled."""
        self.press(0, Button.START)
        if self.felt.panel_open:
            self.felt.clear()
            self.felt.panel_open = False
            self.feed(self.eye.look(self.t))
            self.press(0, Button.START)
        self.felt.raise_walls(7)
        self.feed(self.eye.look(self.t))

    def play(self, events: Iterable[Event]) -> None:
        """Everything that happens at the table, seen and heard by the referee."""
        for event in events:
            if isinstance(event, Start):
                self.felt.apply(event)
            elif isinstance(event, Call):
                self.press(event.seat, _BUTTONS[event.call])
            elif isinstance(event, Exhaust):
                self.press(0, Button.START)
            else:
                self.felt.apply(event)
                if not isinstance(event, Draw):
                    self.feed(self.eye.look(self.t), after=1.0)
                if isinstance(event, Win):  # an own draw is believed after a while
                    self.feed(Tick(), after=2.0)

    def request(self, verb: str, **args: object) -> Outputs:
        return self.feed(Request(id="q", verb=verb, args=args))

    def log(self) -> list[dict[str, object]]:
        """The referee's hand log: the newest event of each number."""
        newest = {view.n: view.event for view in self.events}
        return [newest[n] for n in sorted(newest)]
