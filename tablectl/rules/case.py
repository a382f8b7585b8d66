"""The score case: one finished hand, as data.

The models mirror ``score-case.md`` field by field and accept nothing else. A case that cannot be
read raises :class:`CaseError`, whose text names the file, the case, the field and what is wrong.
Whether the *claim* in a readable case is a valid win is a rule set's matter, not decided here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import gt
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from tablectl.tiles import (
    N_KINDS,
    Tile,
    format_tile,
    format_tiles,
    is_flower,
    parse_tile,
    parse_tiles,
)

MeldKind: TypeAlias = Literal[
    "chow", "pung", "kong", "added_kong", "closed_kong", "lone_kong", "joy"
]
WinBy: TypeAlias = Literal[
    "self_draw", "discard", "rob_kong", "deal", "indicator", "flowers", "ten_honours"
]
WindName: TypeAlias = Literal["E", "S", "W", "N"]
ReasonId: TypeAlias = Literal[
    "wrong_tile_count",
    "forfeited",
    "invalid_meld",
    "wild_tile_claimed",
    "not_winning_shape",
    "claim_not_allowed",
    "below_minimum",
]

REASONS: tuple[ReasonId, ...] = (
    "wrong_tile_count",
    "forfeited",
    "invalid_meld",
    "wild_tile_claimed",
    "not_winning_shape",
    "claim_not_allowed",
    "below_minimum",
)
"""Why a claim is no valid win, in the order in which the first that applies is reported."""


MOST_KONGS: Final = 16
"""Four for each of four seats. Numbers that payments double by are bounded, so that they end."""
MOST_HANDS: Final = 1000
"""Hands in a row of one banker."""


class CaseError(ValueError):
    """A score case that cannot be read; ``str()`` is one line: file, case, field, what is wrong."""

    def __init__(
        self, message: str, *, field: str = "", case_id: str = "", source: str = ""
    ) -> None:
        self.message, self.field, self.case_id, self.source = message, field, case_id, source
        where = [
            source,
            f"case {case_id!r}" if case_id else "",
            f"field {field!r}" if field else "",
        ]
        super().__init__(": ".join([part for part in where if part] + [message]))

    def at(self, *, case_id: str = "", source: str = "") -> CaseError:
        """The same error with the case and the file filled in where they were unknown."""
        return CaseError(
            self.message,
            field=self.field,
            case_id=self.case_id or case_id,
            source=self.source or source,
        )


def _to_tiles(value: object) -> object:
    return parse_tiles(value) if isinstance(value, str) else value


def _to_tile(value: object) -> object:
    return parse_tile(value) if isinstance(value, str) else value


Tiles = Annotated[
    tuple[Annotated[Tile, Field(ge=0, lt=42)], ...],
    BeforeValidator(_to_tiles),
    PlainSerializer(format_tiles, return_type=str),
]
"""Tiles in the given order; text notation in JSON."""

OneTile = Annotated[
    Tile,
    BeforeValidator(_to_tile),
    Field(ge=0, lt=42),
    PlainSerializer(format_tile, return_type=str),
]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Meld(_Model):
    """A laid-out set, in physical tiles."""

    kind: MeldKind
    tiles: Tiles
    from_seat: int | None = Field(default=None, alias="from")
    """Seat that gave the tile; ``None`` for own tiles."""
    chain: int = Field(default=0, ge=0, le=MOST_KONGS)
    """Kongs that directly preceded this one without interruption."""
    when: Literal["deal", "road", "late"] | None = None
    """Moment of a joy (Mainland)."""

    @property
    def is_kong(self) -> bool:
        """Whether the meld is a four-tile kong of any kind."""
        return self.kind in ("kong", "added_kong", "closed_kong")

    @property
    def is_open(self) -> bool:
        """Whether somebody else gave a tile of it."""
        return self.kind in ("chow", "pung", "kong", "added_kong")

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        sizes = {"chow": (3,), "pung": (3,), "lone_kong": (1,), "joy": (3, 4)}
        if len(self.tiles) not in sizes.get(self.kind, (4,)):
            raise ValueError(f"a {self.kind} of {len(self.tiles)} tiles")
        if self.is_open and self.from_seat is None:
            raise ValueError(f"a {self.kind} needs the seat that gave the tile in 'from'")
        if not self.is_open and self.from_seat is not None:
            raise ValueError(f"a {self.kind} is made of own tiles: 'from' must be null")
        return self


class SeatState(_Model):
    """One seat as it stands at the end of the hand."""

    hand: Tiles = ()
    """Concealed tiles without the winning tile; empty = unknown."""
    melds: tuple[Meld, ...] = ()
    flowers: Tiles = ()
    aside: Tiles = ()
    """Special tiles discarded to the seat's own area."""
    disclosed: bool = False
    disclosed_order: int | None = Field(default=None, ge=1)
    ready: bool | None = None
    """Whether the seat was one tile from a valid win; ``None`` = unknown."""
    floating: bool = False
    forfeited: bool = False
    chips: int | None = Field(default=None, ge=0)
    """Chips before the settlement; ``None`` = unlimited."""


class FloatGift(_Model):
    """The discard that kept a float going (Hangzhou)."""

    seat: int
    before: int = Field(ge=1)
    """Multiplier reached before that discard."""


class WinFlags(_Model):
    """Circumstances of a win."""

    kong_draw: int = Field(default=0, ge=0, le=MOST_KONGS)
    flower_draw: bool = False
    kong_discard: bool = False
    last_tile: bool = False
    first_turn: bool = False
    floats: int = Field(default=0, ge=0, le=4, alias="float")
    missed: bool | int | float = False
    honours: int = Field(default=0, ge=0)
    float_gift: FloatGift | None = None


class Win(_Model):
    """One winner."""

    seat: int
    tile: OneTile | None
    by: WinBy
    from_seat: int | None = Field(default=None, alias="from")
    flags: WinFlags = WinFlags()

    @property
    def is_own_draw(self) -> bool:
        """Whether the winner drew the tile (a dealt hand counts as drawn, reading G10)."""
        return self.by in ("self_draw", "deal")

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.by in ("discard", "rob_kong"):
            if self.from_seat is None:
                raise ValueError(f"a win by {self.by} needs the seat that gave the tile in 'from'")
            if self.from_seat == self.seat:
                raise ValueError("the winner cannot take the winning tile from itself")
        elif self.from_seat is not None:
            raise ValueError(f"a win by {self.by} takes no tile from a seat: 'from' must be null")
        if self.tile is None and self.by not in ("deal", "flowers", "ten_honours"):
            raise ValueError(f"a win by {self.by} needs the winning tile in 'tile'")
        return self


class TableFlags(_Model):
    """Circumstances of the whole hand."""

    sacked: bool = False
    upstairs: bool = False


class Outcome(_Model):
    """Who won; no wins = a drawn hand."""

    wins: tuple[Win, ...] = ()
    flags: TableFlags = TableFlags()


class Expect(_Model):
    """What a case says should come out."""

    delta: tuple[int, ...] | None = None
    error: ReasonId | None = None
    patterns: dict[int, dict[str, int | float]] | None = None
    why: str = ""

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        if (self.delta is None) == (self.error is None):
            raise ValueError("needs either 'delta' or 'error'")
        return self


class ScoreCase(_Model):
    """One finished hand: what lay on the table, and who won how."""

    id: str
    rules: str
    options: dict[str, Any] = Field(default_factory=dict)
    dealer: int
    streak: int = Field(default=1, ge=1, le=MOST_HANDS)
    """Hands in a row of this dealer, this one included."""
    streak_multipliers: tuple[int, ...] = ()
    """Multipliers of the banker's wins in this streak (Xiamen, ``quanzhou_base_step``)."""
    round_wind: WindName | None = None
    indicator: OneTile | None = None
    seats: tuple[SeatState, ...] = Field(min_length=3, max_length=4)
    outcome: Outcome
    expect: Expect | None = None

    @model_validator(mode="after")
    def _check_seats(self) -> Self:
        count = len(self.seats)
        named = [("dealer", self.dealer)]
        for i, seat in enumerate(self.seats):
            named += [
                (f"seats.{i}.melds.{j}.from", m.from_seat)
                for j, m in enumerate(seat.melds)
                if m.from_seat is not None
            ]
            if any(meld.from_seat == i for meld in seat.melds):
                raise ValueError(f"seats.{i}.melds: a seat cannot call its own discard")
        for i, win in enumerate(self.outcome.wins):
            named.append((f"outcome.wins.{i}.seat", win.seat))
            if win.from_seat is not None:
                named.append((f"outcome.wins.{i}.from", win.from_seat))
            if win.flags.float_gift is not None:
                named.append((f"outcome.wins.{i}.flags.float_gift.seat", win.flags.float_gift.seat))
        for name, seat_no in named:
            if not 0 <= seat_no < count:
                raise ValueError(f"{name}: no seat {seat_no} (seats are 0 to {count - 1})")
        winners = [win.seat for win in self.outcome.wins]
        if len(set(winners)) != len(winners):
            raise ValueError("outcome.wins: a seat is listed twice")
        return self

    def seat_after(self, seat: int, steps: int = 1) -> int:
        """The seat ``steps`` places further in turn order."""
        return (seat + steps) % len(self.seats)


def _one_line(error: ValidationError) -> tuple[str, str]:
    """Field path and message of the first problem that pydantic found."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "no such field"
    return field, message


def parse_case(data: object, *, source: str = "") -> ScoreCase:
    """Read one case from decoded JSON.

    Raises:
        CaseError: a field is missing, unknown or wrong.
    """
    case_id = str(data.get("id", "")) if isinstance(data, Mapping) else ""
    if not isinstance(data, Mapping):
        raise CaseError("a case must be a JSON object", source=source)
    try:
        return ScoreCase.model_validate(data)
    except ValidationError as error:
        field, message = _one_line(error)
        raise CaseError(message, field=field, case_id=case_id, source=source) from None


def read_cases(path: Path) -> Iterator[ScoreCase | CaseError]:
    """Read a file of cases: a JSON list, one object, or one object a line.

    Malformed cases are yielded as errors, so that a batch goes on. An unreadable file yields one.
    """
    source = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        yield CaseError(f"cannot be read: {reason}", source=source)
        return
    objects, problem = _decode(text)
    for data in objects:
        try:
            yield parse_case(data, source=source)
        except CaseError as error:
            yield error
    if problem:
        yield CaseError(problem, source=source)


def _decode(text: str) -> tuple[list[object], str]:
    """All JSON values of a text, and what stopped the reading (``""`` = nothing)."""
    decoder, at, found = json.JSONDecoder(), 0, list[object]()
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return found, "" if found else "holds no case"
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return found, f"not JSON at line {error.lineno} column {error.colno}: {error.msg}"
        found += value if isinstance(value, list) else [value]


def count_table_tiles(case: ScoreCase) -> list[int]:
    """Every physical tile that the case shows, each counted once: copies by tile index."""
    seen = [0] * N_KINDS
    for seat in case.seats:
        for tile in seat.hand:
            seen[tile] += 1
        for meld in seat.melds:
            for tile in meld.tiles:
                seen[tile] += 1
        if seat.flowers or seat.aside:
            for tile in (*seat.flowers, *seat.aside):
                seen[tile] += 1
    if case.indicator is not None:
        seen[case.indicator] += 1
    # Several winners take the same tile. The robbed indicator is already counted, and so is a
    # special tile that its discarder laid aside before it was claimed.
    won = {(w.tile, w.from_seat) for w in case.outcome.wins if w.by != "indicator"}
    for won_tile, giver in won:
        aside = () if giver is None else case.seats[giver].aside
        if won_tile is not None and won_tile not in aside:
            seen[won_tile] += 1
    return seen


def sets_laid(melds: Iterable[Meld]) -> int:
    """Sets that melds take from the hand; a lone kong is laid beside it and takes none."""
    return sum(meld.kind != "lone_kong" for meld in melds)


def check_physical(case: ScoreCase, copies: Sequence[int], *, hand_size: int, seats: int) -> None:
    """Check a case against the equipment of its rule set.

    Args:
        copies: how often each of the 42 kinds exists in the set.
        hand_size: tiles held between turns.
        seats: number of players.

    Raises:
        CaseError: a tile that the set lacks, one copy too many, a flower in a hand or a hand of
            an impossible size. (A winner with a tile too many or too few is readable: that claim
            gets the reason ``wrong_tile_count``.)
    """
    if len(case.seats) != seats:
        raise CaseError(f"{len(case.seats)} seats where {seats} play", field="seats")
    seen = count_table_tiles(case)
    if any(map(gt, seen, copies)):
        kind = next(i for i, n in enumerate(seen) if n > copies[i])
        shown, have = format_tile(Tile(kind)), copies[kind]
        what = f"{seen[kind]} copies of {shown}, the set has {have}"
        raise CaseError(what if have else f"tile {shown} is not in this set")
    winners = {w.seat for w in case.outcome.wins if w.by not in ("flowers", "ten_honours")}
    for i, seat in enumerate(case.seats):
        if not (seat.hand or seat.flowers or i in winners):
            continue
        if seat.hand or i in winners:
            size = len(seat.hand) + 3 * sets_laid(seat.melds)
            if abs(size - hand_size) > _MISCOUNT:
                what = f"{len(seat.hand)} concealed tiles beside {len(seat.melds)} melds"
                raise CaseError(f"{what}: a hand is {hand_size} tiles", field=f"seats.{i}.hand")
        for tile in seat.flowers:
            if not is_flower(tile):
                raise CaseError(f"{format_tile(tile)} is no flower", field=f"seats.{i}.flowers")


_MISCOUNT = 3
"""A hand may be miscounted at a table by this many tiles; beyond that the data is wrong."""
