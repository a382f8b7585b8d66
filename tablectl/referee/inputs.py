"""What the referee is told besides readings and the table's own events, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from firmware_protocol.messages import (
    ButtonPressed,
    DiceRolled,
    FaultCleared,
    FaultRaised,
    Stacks,
    TableState,
)
from tablectl.messages import EventView, Questions, Request, Response, SettlementView
from tablectl.messages import TableState as TableView
from vision.geometry import TableGeometry
from vision.messages import SightChange, TableReading

_NAME_LENGTH: Final = 40


class SessionPlan(BaseModel):
    """What a session starts with; the first message of every recording.

    Attributes:
        session: id of the session, unique in the ledger.
        table: id of the table.
        names: one a seat.
        geometry: measures of the felt (:class:`vision.geometry.TableGeometry`), by field name;
            missing ones have their defaults.
        calibration: of the camera, as its file holds it, so that recorded pictures can be read
            anew; None without a camera.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    session: str
    table: str
    rules: str
    options: dict[str, Any] = Field(default_factory=dict)
    names: tuple[str, ...] = ()
    first_dealer: int = 0
    simulated: bool = False
    sure: float = 0.97
    patience_s: float = 1.5
    geometry: dict[str, Any] = Field(default_factory=dict)
    calibration: dict[str, Any] | None = None

    def table_geometry(self) -> TableGeometry:
        """The measures of the felt."""
        return TableGeometry(**self.geometry)

    def seat_names(self, seats: int) -> tuple[str, ...]:
        """How the players are called before anybody is renamed."""
        return self.names or tuple(f"Seat {s + 1}" for s in range(seats))


def renamed(names: tuple[str, ...], args: Mapping[str, object]) -> tuple[str, ...]:
    """The players' names after a request of the verb ``seat``.

    Raises:
        ValueError: no such seat, or no name; the message says what was expected.
        KeyError: an argument is missing.
    """
    seat, name = int(str(args["seat"])), str(args["name"]).strip()
    if not 0 <= seat < len(names):
        raise ValueError(f"seat {seat}: there are {len(names)} seats, from 0")
    if not 0 < len(name) <= _NAME_LENGTH:
        raise ValueError(f"a name has 1 to {_NAME_LENGTH} characters")
    return (*names[:seat], name, *names[seat + 1 :])


class Tick(BaseModel):
    """Time has passed; sent a few times a second so that waiting can end without news."""

    model_config = ConfigDict(frozen=True, extra="forbid")


CommandName = Literal[
    "open_centre", "close_centre", "build_walls", "raise_walls", "lower_walls", "roll_dice",
    "stop", "reset_fault",
]  # fmt: skip


class TableCommand(BaseModel):
    """A motion that the referee asks the table for; the firmware decides whether it happens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: int
    name: CommandName
    args: dict[str, int] = Field(default_factory=dict)


class CommandResult(BaseModel):
    """What became of a :class:`TableCommand`.

    ``outcome`` is ``done``, ``refused``, ``aborted``, ``failed`` or ``lost`` (no link); ``reason``
    says why in words for people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: int
    outcome: Literal["done", "refused", "aborted", "failed", "lost"]
    reason: str = ""


TableEvent = ButtonPressed | DiceRolled | TableState | Stacks | FaultRaised | FaultCleared
Input = TableReading | SightChange | Tick | TableEvent | CommandResult | Request


@dataclass
class Outputs:
    """What the referee says to one input; ``None`` where nothing has changed."""

    events: list[EventView] = field(default_factory=list)
    commands: list[TableCommand] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    settlement: SettlementView | None = None
    questions: Questions | None = None
    state: TableView | None = None
