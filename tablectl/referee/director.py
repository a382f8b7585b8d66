"""The table's cycle between two hands: centre, walls, dice.

Only a START press moves anything, one command at a time; the firmware may refuse each. A step that
did not end well waits for another press and is then asked for again, from the same step on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from firmware_protocol.messages import DiceRolled, Place, TableState
from tablectl.referee.inputs import CommandName, CommandResult, TableCommand

Stage = Literal["idle", "clearing", "preparing", "playing"]
"""``idle``: waiting for START; ``clearing``: the centre is open, tiles are pushed in;
``preparing``: walls are built and raised, dice rolled; ``playing``: a hand is on."""

_CLEAR: Final[tuple[CommandName, ...]] = ("open_centre",)
_PREPARE: Final[tuple[CommandName, ...]] = (
    "close_centre", "lower_walls", "build_walls", "raise_walls", "roll_dice",
)  # fmt: skip
_REFILL: Final[tuple[CommandName, ...]] = ("lower_walls", "build_walls")


@dataclass
class Director:
    """Drives the cycle; a pure state machine over START presses, results and dice."""

    program: int
    stage: Stage = "idle"
    problem: str = ""
    dice: list[tuple[int, int]] = field(default_factory=list)
    table: TableState | None = None
    """The newest state that the table itself has reported; nothing is assumed beyond it."""
    _steps: list[CommandName] = field(default_factory=list)
    _waiting_for: int | None = None
    _issued: int = 0
    _dealer: int = 0
    _refilled: bool = False

    def press_start(self, dealer: int, felt_clear: bool) -> list[TableCommand]:
        """START was pressed while no hand is on."""
        self._dealer = dealer
        if self._waiting_for is not None:
            return []
        if self._steps:
            return self._next()
        if self.stage == "idle" and not felt_clear:
            self.stage, self._steps = "clearing", list(_CLEAR)
        else:
            self.stage, self._steps = "preparing", list(_PREPARE)
            self.dice.clear()
        return self._next()

    def first_discard(self) -> list[TableCommand]:
        """Play has begun: the walls stand on the felt, the other set is stacked below."""
        if self._refilled or self._waiting_for is not None or self._steps:
            return []
        self._refilled = True
        self._steps = list(_REFILL)
        return self._next()

    def on_table(self, state: TableState) -> None:
        """The table reports its state."""
        self.table = state

    def hand_over(self) -> None:
        """The hand is settled and closed."""
        self.stage = "idle"

    def on_dice(self, event: DiceRolled) -> None:
        """The dice of the deal."""
        if self.stage == "preparing":
            self.dice.append((event.first, event.second))

    def on_result(self, result: CommandResult) -> list[TableCommand]:
        """A command has ended."""
        if result.id != self._waiting_for:
            return []
        self._waiting_for = None
        if result.outcome != "done":
            self.problem = result.reason or result.outcome
            return []
        self.problem = ""
        self._steps.pop(0)
        return self._next()

    @property
    def ready_to_deal(self) -> bool:
        """Whether the walls are up and the dice are read."""
        return (
            self.stage == "preparing"
            and not self._steps
            and self._waiting_for is None
            and bool(self.dice)
        )

    def dealt(self) -> None:
        """The hand begins."""
        self.stage = "playing"
        self._refilled = False

    def _superfluous(self, name: CommandName) -> bool:
        if self.table is None:
            return False
        match name:
            case "close_centre":
                return self.table.centre is Place.LOW
            case "lower_walls":
                return self.table.lifts is Place.LOW
            case "build_walls":
                return self.table.walls_complete and self.table.program == self.program
            case _:
                return False

    def _next(self) -> list[TableCommand]:
        while self._steps and self._superfluous(self._steps[0]):
            self._steps.pop(0)
        if not self._steps:
            return []
        self._issued += 1
        self._waiting_for = self._issued
        name = self._steps[0]
        args = {"program": self.program, "dealer": self._dealer} if name == "build_walls" else {}
        return [TableCommand(id=self._issued, name=name, args=args)]
