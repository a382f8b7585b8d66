"""The events of a hand: what the referee hands to the engine, one JSON object a line.

The forms are those of the hand log (``hand-log.md``). Tiles stay in text notation, so that an event
read from a log and written again is the same object: fields that were left out stay left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from tablectl.rules.case import MOST_HANDS
from tablectl.tiles import parse_tile, parse_tiles

N_SEATS_MAX: Final = 4


class EventError(ValueError):
    """A line is no event: the message names the field and what was expected there.

    Attributes:
        field: dotted path of the field that is wrong, ``""`` where the line as a whole is.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


def _one_tile(text: str) -> str:
    parse_tile(text)
    if text == "back":
        raise ValueError("a face-down tile has no name: leave it out or write null")
    return text


def _many_tiles(text: str) -> str:
    parse_tiles(text)
    return text


TileText = Annotated[str, AfterValidator(_one_tile)]
TilesText = Annotated[str, AfterValidator(_many_tiles)]
Seat = Annotated[StrictInt, Field(ge=0, lt=N_SEATS_MAX)]
Wind = Literal["E", "S", "W", "N"]
CallKind = Literal["hu", "kong", "pung", "chow", "pass"]
MeldKind = Literal["chow", "pung", "kong", "added_kong", "closed_kong", "lone_kong", "joy"]
WinBy = Literal[
    "self_draw", "discard", "rob_kong", "deal", "indicator", "flowers", "ten_honours"
]  # fmt: skip
RulingKind = Literal["false_win", "wrong_count", "wrong_call"]


class _Event(BaseModel):
    """What all events share; the tag ``e`` names the kind."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True
    )

    def to_json(self) -> dict[str, Any]:
        """The JSON object of the log line, only with fields that were given."""
        fields = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        fields.pop("e", None)
        return {"e": getattr(self, "e")} | fields  # noqa: B009 - declared by the subclasses

    def to_line(self) -> str:
        """The log line, without its newline."""
        return json.dumps(self.to_json(), ensure_ascii=False)

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, validated like the original."""
        return type(self).model_validate(self.to_json() | changes)


class Start(_Event):
    """The deal is done; the dealer holds the extra tile and plays first."""

    e: Literal["start"] = "start"
    rules: str
    options: dict[str, Any] = Field(default_factory=dict)
    dealer: Seat
    streak: Annotated[StrictInt, Field(ge=1, le=MOST_HANDS)] = 1
    round_wind: Wind | None = None
    first_dealer: Seat = 0
    dice: list[Any] | None = None
    hands: list[TilesText] | None = None
    session: dict[str, Any] = Field(default_factory=dict)


class Indicator(_Event):
    """The tile turned up to choose wild tiles."""

    e: Literal["indicator"] = "indicator"
    tile: TileText


class Flower(_Event):
    """A flower laid out; a supplement is drawn from the tail."""

    e: Literal["flower"] = "flower"
    seat: Seat
    tile: TileText


class Draw(_Event):
    """A tile drawn; ``tile`` is ``None`` where unseen, ``source`` ``None`` where unsaid."""

    e: Literal["draw"] = "draw"
    seat: Seat
    tile: TileText | None = None
    source: Literal["wall", "tail"] | None = Field(default=None, alias="from")


class Call(_Event):
    """A button pressed or a call heard, before anything moves."""

    e: Literal["call"] = "call"
    seat: Seat
    call: CallKind


class Discard(_Event):
    """A tile laid face up in the river, or aside where the rules lay such tiles aside."""

    e: Literal["discard"] = "discard"
    seat: Seat
    tile: TileText


class Meld(_Event):
    """A set laid down, claims included; ``tiles`` is ``""`` for an unseen closed kong.

    A ``closed_kong`` line between the win and the end of the hand shows the faces of one that was
    unseen before.
    """

    e: Literal["meld"] = "meld"
    seat: Seat
    kind: MeldKind
    tiles: TilesText = ""
    source: Seat | None = Field(default=None, alias="from")

    @field_validator("tiles", mode="before")
    @classmethod
    def _unseen(cls, tiles: object) -> object:
        return "" if tiles is None else tiles

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not self.tiles and self.kind != "closed_kong":
            raise ValueError(f"tiles: a {self.kind} lies face up, so its tiles must be named")
        return self


class Joy(_Event):
    """A joy declared (Mainland); its moment follows from where the line stands."""

    e: Literal["joy"] = "joy"
    seat: Seat
    tiles: TilesText


class Disclose(_Event):
    """A hand, or its waiting part, laid open while play goes on (north-west Hubei)."""

    e: Literal["disclose"] = "disclose"
    seat: Seat
    tiles: TilesText


class Refuse(_Event):
    """The bottom tile is refused (Fenghua)."""

    e: Literal["refuse"] = "refuse"
    seat: Seat


class Win(_Event):
    """A winning hand laid open, without the winning tile."""

    e: Literal["win"] = "win"
    seat: Seat
    by: WinBy
    source: Seat | None = Field(default=None, alias="from")
    tile: TileText | None = None
    hand: TilesText = ""


class Reveal(_Event):
    """Another seat's hand laid open at the end."""

    e: Literal["reveal"] = "reveal"
    seat: Seat
    hand: TilesText
    ready: bool | None = None


class Exhaust(_Event):
    """Nobody won: the drawable wall is gone."""

    e: Literal["exhaust"] = "exhaust"


class Ruling(_Event):
    """The host's ruling on an irregularity."""

    e: Literal["ruling"] = "ruling"
    seat: Seat
    kind: RulingKind


class End(_Event):
    """The hand is over and paid; nothing follows."""

    e: Literal["end"] = "end"


Event = (
    Start | Indicator | Flower | Draw | Call | Discard | Meld | Joy
    | Disclose | Refuse | Win | Reveal | Exhaust | Ruling | End
)  # fmt: skip
AnyEvent = Annotated[Event, Field(discriminator="e")]

_ADAPTER: Final[TypeAdapter[Event]] = TypeAdapter(AnyEvent)


def parse_event(data: Mapping[str, Any]) -> Event:
    """Read one event from its JSON object.

    Raises:
        EventError: the object is no event of the hand log; names the first wrong field.
    """
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise _explain(error, data) from None


def _explain(error: ValidationError, data: object) -> EventError:
    if not isinstance(data, Mapping):
        return EventError("", f"expected an object with the field e, got {type(data).__name__}")
    first = error.errors(include_url=False)[0]
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return EventError("e", f"unknown event {data.get('e')!r}")
    path = ".".join(str(part) for part in first["loc"][1:])  # loc[0] is the event kind
    message = first["msg"].removeprefix("Value error, ")
    return EventError(path, message)
