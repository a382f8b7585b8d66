"""What displays are told: retained views, questions, settlements, health, and what they may ask.

These models are the one source of the MQTT payloads, of the AsyncAPI document and of the page's
TypeScript types. Every payload carries ``schema_version``; consumers ignore unknown fields.
Topics are ``tablectl/<table>/<name>``, see :data:`TOPICS`.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Final = 1

Phase = Literal["idle", "building", "dealing", "playing", "settling", "settled", "fault"]
"""``idle``: no session; ``building``: walls are shuffled or raised; ``dealing``: before the first
discard; ``settling``: a win was called and the hand is being read; ``settled``: paid."""


class Message(BaseModel):
    """Base of everything on the bus that displays see."""

    model_config = ConfigDict(frozen=True)


class TileView(Message):
    """A tile as shown: ``tile`` in notation, ``back`` or ``?``.

    ``certain`` is false where the reading was not sure and nobody has confirmed it; ``called``
    marks the claimed tile of a meld; ``ref`` names the tile for corrections (``r1.4``: river of
    seat 1, fifth tile; ``m2.0.1``: seat 2's first meld, second tile; ``f3.0``: first flower;
    ``i``: the indicator; ``h0.3``: a hand laid open, ``w0``: its winning tile).
    """

    tile: str
    certain: bool = True
    called: bool = False
    ref: str = ""


class MeldView(Message):
    """An exposed set; ``from_seat`` is who gave the claimed tile."""

    kind: str
    tiles: tuple[TileView, ...]
    from_seat: int | None = None


class SeatView(Message):
    """What lies before one player, and the score so far."""

    seat: int
    name: str
    wind: str
    score: int = 0
    dealer: bool = False
    hand_count: int = 0
    hand: tuple[TileView, ...] = ()
    river: tuple[TileView, ...] = ()
    melds: tuple[MeldView, ...] = ()
    flowers: tuple[TileView, ...] = ()
    forfeited: bool = False


class CallView(Message):
    """The newest call or event worth announcing: ``pung`` by seat 2, of ``5p``, from seat 1."""

    seat: int
    call: str
    tile: str | None = None
    from_seat: int | None = None
    t: float = 0.0
    text_en: str = ""
    text_zh: str = ""


class IssueView(Message):
    """Something that the rules don't allow, as the engine noticed it."""

    id: str
    seat: int | None
    text_en: str
    text_zh: str


class TableState(Message):
    """Retained on ``state``: the whole table, enough to draw the page from nothing."""

    schema_version: int = SCHEMA_VERSION
    table: str
    session: str = ""
    hand: int = 0
    t: float = 0.0
    rules: str = ""
    rules_en: str = ""
    rules_zh: str = ""
    options: dict[str, object] = Field(default_factory=dict)
    phase: Phase = "idle"
    dealer: int = 0
    streak: int = 1
    round_wind: str | None = None
    indicator: TileView | None = None
    wild: tuple[str, ...] = ()
    wall: int | None = None
    turn: int | None = None
    last_discard: tuple[int, int] | None = None
    """(seat, index in that river) of the newest discard, while it lies there."""
    last_call: CallView | None = None
    issues: tuple[IssueView, ...] = ()
    seats: tuple[SeatView, ...] = ()
    open_questions: int = 0
    simulated: bool = False


class PatternView(Message):
    """One scored pattern in the rule set's own unit."""

    id: str
    en: str
    zh: str
    value: float


class WinView(Message):
    """One winner of a settled hand; ``tile`` is the winning tile, ``hand`` without it.

    ``tile_certain`` is false where the winning tile was not read for sure and nobody has confirmed
    it.
    """

    seat: int
    by: str
    from_seat: int | None
    tile: str | None
    tile_certain: bool = True
    hand: tuple[TileView, ...]
    melds: tuple[MeldView, ...] = ()
    patterns: tuple[PatternView, ...] = ()
    unit: str = ""
    wild_as: tuple[tuple[str, str], ...] = ()
    """(wild tile, the tile that it stands for), in hand order."""


class PaymentView(Message):
    """What one seat pays another in the end, all that is owed between them together."""

    payer: int
    receiver: int
    points: int


class SettlementView(Message):
    """Retained on ``settlement``: who pays whom, and why.

    ``final`` is true only when every tile in it is certain or confirmed; until then the page shows
    it as provisional beside the open question.
    """

    schema_version: int = SCHEMA_VERSION
    hand_id: str
    hand: int
    t: float
    final: bool
    drawn: bool = False
    wins: tuple[WinView, ...] = ()
    delta: tuple[int, ...] = ()
    payments: tuple[PaymentView, ...] = ()
    totals: tuple[int, ...] = ()
    lines: tuple[str, ...] = ()
    error: str | None = None
    error_text: str = ""
    error_text_zh: str = ""
    next_dealer: int | None = None
    next_streak: int | None = None
    next_round_wind: str | None = None


class Alternative(Message):
    """One possible answer, the most likely first; ``id`` is what the answer request carries."""

    id: str
    label_en: str
    label_zh: str
    tile: str | None = None
    probability: float | None = None


class Question(Message):
    """What the referee can't decide alone."""

    id: str
    kind: Literal["tile", "winning_tile", "claimant", "meld", "event", "settlement"]
    seat: int | None
    ref: str = ""
    text_en: str
    text_zh: str
    alternatives: tuple[Alternative, ...]
    free_tile: bool = False
    """Whether any tile may be answered besides the alternatives (``tile:3m``)."""
    asked_at: float = 0.0
    blocks_settlement: bool = False


class Questions(Message):
    """Retained on ``questions``: every open question, the oldest first."""

    schema_version: int = SCHEMA_VERSION
    open: tuple[Question, ...] = ()


class LinkHealth(Message):
    """The serial link as shown on the service page.

    ``reason`` says why it is not up. ``fault`` names the table's fault with its side and sign;
    texts in two languages. ``counters`` are of the host's end, ``table_counters`` of the table's.
    """

    state: Literal["off", "connecting", "up", "lost", "refused", "fault_latched"] = "off"
    reason: str = ""
    port: str = ""
    firmware: str = ""
    board: str = ""
    last_reset: str = ""
    fault: str | None = None
    fault_zh: str = ""
    fault_remedy: str = ""
    fault_remedy_zh: str = ""
    table_state: str = "unknown"
    round_trip_ms: float | None = None
    errors_per_minute: int = 0
    counters: dict[str, int] = Field(default_factory=dict)
    table_counters: dict[str, int] = Field(default_factory=dict)


class Health(Message):
    """Retained on ``health``: is everything that the score rests on all right?"""

    schema_version: int = SCHEMA_VERSION
    t: float = 0.0
    link: LinkHealth = LinkHealth()
    camera: str = "starting"
    camera_remedy: str = ""
    camera_frame_age: float = 0.0
    camera_counters: dict[str, int] = Field(default_factory=dict)
    sight: str = "blind"
    detector_ms: float | None = None
    recording: str | None = None
    version: str = ""
    problems: tuple[str, ...] = ()


class EventView(Message):
    """Not retained, on ``event``: each game event as in a hand log, with its issues.

    A number that was told before replaces the event of that number (a correction); an empty
    ``event`` says that the hand log ends before ``n`` now (something was struck out). ``drawn`` are
    tiles that have left the wall before it beyond those counted, as a person has said.
    """

    schema_version: int = SCHEMA_VERSION
    n: int
    t: float
    event: dict[str, object]
    drawn: int = 0
    issues: tuple[IssueView, ...] = ()


Verb = Literal[
    "answer",
    "correct",
    "undo",
    "table",
    "seat",
    "session_start",
    "session_end",
    "next_hand",
    "ruling",
]


class Request(Message):
    """On ``request/<verb>`` by the operator. ``id`` is echoed in the response."""

    id: str
    verb: Verb
    args: dict[str, object] = Field(default_factory=dict)


class Response(Message):
    """On ``response/<verb>``."""

    id: str
    ok: bool
    error: str = ""


class Topic(Message):
    """How one topic is used."""

    name: str
    payload: str
    retained: bool
    writer: Literal["daemon", "operator"]
    summary: str


TOPICS: Final[tuple[Topic, ...]] = (
    Topic(name="availability", payload="text", retained=True, writer="daemon",
          summary="online or offline (last will)"),
    Topic(name="state", payload="TableState", retained=True, writer="daemon",
          summary="the whole table"),
    Topic(name="settlement", payload="SettlementView", retained=True, writer="daemon",
          summary="the newest settlement"),
    Topic(name="questions", payload="Questions", retained=True, writer="daemon",
          summary="open questions to the operator"),
    Topic(name="health", payload="Health", retained=True, writer="daemon",
          summary="link, camera, recording"),
    Topic(name="event", payload="EventView", retained=False, writer="daemon",
          summary="game events as they happen"),
    Topic(name="request/+", payload="Request", retained=False, writer="operator",
          summary="what the operator asks for; one verb a topic"),
    Topic(name="response/+", payload="Response", retained=False, writer="daemon",
          summary="what became of a request"),
)  # fmt: skip
