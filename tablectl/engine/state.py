"""The game so far: immutable, and cheap to copy because unchanged parts are shared.

Partial information throughout: a concealed hand is a multiset of known tiles plus a number of
unknown ones. ``known`` may grow or shrink with what is seen; contradictions are counted, never
raised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from tablectl.engine.events import Start
from tablectl.rules.play import NextHand, PlayRules, WallCounts
from tablectl.rules.ruleset import RuleSet
from tablectl.rules.settlement import Settlement
from tablectl.rules.wild import Wild
from tablectl.tiles import N_KINDS, Tile

Phase = Literal["act", "draw", "supplement", "over", "ended"]
"""``act``: the seat in turn holds an extra tile; ``draw``: it must draw, and the discard may be
claimed; ``supplement``: it must draw from the tail; ``over``: won or drawn; ``ended``: paid."""

Drawn = Literal["deal", "wall", "kong", "flower", "claim"]
"""Where the extra tile of the seat in turn came from."""

KONGS: Final = ("kong", "added_kong", "closed_kong", "lone_kong")


Evolving = TypeVar("Evolving", "HandState", "Player")


def evolve(old: Evolving, **changes: Any) -> Evolving:
    """A copy with other values: ``dataclasses.replace``, ten times as fast.

    An event changes a few fields of a state that has dozens, several times over.

    Raises:
        TypeError: there is no such field.
    """
    new = object.__new__(type(old))
    fields = new.__dict__
    fields.update(old.__dict__)
    if not changes.keys() <= fields.keys():
        raise TypeError(f"no field {', '.join(sorted(changes.keys() - fields.keys()))}")
    fields.update(changes)
    return new


@dataclass(frozen=True, slots=True)
class TableMeld:
    """A set laid down.

    Attributes:
        kind: as in hand logs.
        tiles: physical tiles; empty for a closed kong that nobody has seen.
        source: the seat that gave the claimed tile.
        claimed: the claimed tile.
        chain: kongs that directly preceded this one without interruption.
        made: running number; a grown kong counts from its growth.
        when: the moment of a joy.
    """

    kind: str
    tiles: tuple[Tile, ...]
    source: int | None = None
    claimed: Tile | None = None
    chain: int = 0
    made: int = 0
    when: Literal["deal", "road", "late"] | None = None


@dataclass(frozen=True, slots=True)
class LetGo:
    """A discard that a seat did not take since its own last turn.

    Attributes:
        tile: the tile.
        source: who threw it.
        call: the best call that the seat made for it, ``pass`` for none.
        known: whether the seat's hand was fully known then.
        barred: claims that play did not allow at that moment.
        after_kong: kongs chained before it where it was thrown straight after one, else 0.
    """

    tile: Tile
    source: int
    call: str
    known: bool
    barred: frozenset[str] = frozenset()
    after_kong: int = 0


@dataclass(frozen=True)
class Player:
    """One seat.

    Attributes:
        known: concealed tiles that are known, sorted.
        unknown: concealed tiles that are not.
        surplus: tiles seen leaving the hand that were not in it: the knowledge is wrong somewhere.
        shown: concealed tiles that have been laid open and count as seen.
        melds: in their places on the table.
        river: discards that still lie there, in order.
        thrown: every discard, claimed ones included.
        flowers, aside: as in score cases.
        forfeited: lost the right to win in this hand.
        let_go: discards not taken since the own last turn.
        floats: wild tiles thrown in an unbroken float.
        floating: a float round is running.
        float_gift: the claim that kept the float going, as the win flag of that name.
        kong_run: kongs in an unbroken streak.
        chain: kongs that precede the next one without interruption, other seats' too where linked.
        untold: flower supplements whose tile has not been told.
        disclosed: tiles laid open while playing on; ``disclosed_order`` 1 = first.
        ready: one tile from a valid win, where a line said so.
        final_hand: concealed tiles laid open at the end, without a winning tile.
    """

    known: tuple[Tile, ...] = ()
    unknown: int = 0
    surplus: int = 0
    shown: tuple[Tile, ...] = ()
    melds: tuple[TableMeld, ...] = ()
    river: tuple[Tile, ...] = ()
    thrown: tuple[Tile, ...] = ()
    flowers: tuple[Tile, ...] = ()
    aside: tuple[Tile, ...] = ()
    forfeited: bool = False
    let_go: tuple[LetGo, ...] = ()
    floats: int = 0
    floating: bool = False
    float_gift: Mapping[str, Any] = field(default_factory=dict)
    kong_run: int = 0
    chain: int = 0
    untold: int = 0
    disclosed: tuple[Tile, ...] | None = None
    disclosed_order: int | None = None
    ready: bool | None = None
    final_hand: tuple[Tile, ...] | None = None

    @property
    def concealed(self) -> int:
        """Number of concealed tiles."""
        return len(self.known) + self.unknown - self.surplus

    @property
    def fully_known(self) -> bool:
        """Whether every concealed tile is known and nothing has contradicted it."""
        return self.unknown == 0 and self.surplus == 0


@dataclass(frozen=True, slots=True)
class LastDiscard:
    """The newest discard.

    Attributes:
        seat, tile: who threw what.
        after_kong: kongs chained before it where it was thrown straight after one, else 0.
        last_tile: thrown by the drawer of the last drawable tile.
        claimable: it may be claimed (special tiles may not).
        settled: taken, or the next tile was drawn.
    """

    seat: int
    tile: Tile
    after_kong: int = 0
    last_tile: bool = False
    claimable: bool = True
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that began the running turn."""

    kind: str
    tiles: tuple[Tile, ...]
    tile: Tile
    source: int
    after_kong: int = 0
    last_tile: bool = False


@dataclass(frozen=True, slots=True)
class OpenKong:
    """A kong whose supplement has not been drawn: it may be robbed."""

    seat: int
    tile: Tile
    kind: str


@dataclass(frozen=True, slots=True)
class Winner:
    """A valid win."""

    seat: int
    by: str
    source: int | None
    tile: Tile | None
    hand: tuple[Tile, ...] | None
    flags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HandState:
    """One hand, from the deal on. Build it with :func:`tablectl.engine.game.apply`."""

    start: Start
    ruleset: RuleSet[Any]
    play: PlayRules
    options: Any
    copies: tuple[int, ...]
    streak: int
    players: tuple[Player, ...]
    wild: Wild
    phase: Phase = "act"
    turn: int | None = 0
    drew: Drawn = "deal"
    drawn_tile: Tile | None = None
    supplement_for: Literal["kong", "flower"] | None = None
    last: LastDiscard | None = None
    claim: Claim | None = None
    open_kong: OpenKong | None = None
    calls: tuple[tuple[int, str], ...] = ()
    counts: WallCounts = field(default_factory=WallCounts)
    indicators: tuple[Tile, ...] = ()
    seen: tuple[int, ...] = (0,) * N_KINDS
    discards: int = 0
    melded: int = 0
    wins: tuple[Winner, ...] = ()
    refused: frozenset[int] = frozenset()
    first_set_after: int | None = None
    drawn_hand: bool = False
    false_win: int | None = None
    false_claim: Winner | None = None
    settlement: Settlement | None = None
    unsettled: str = ""
    next: NextHand | None = None

    @property
    def dealer(self) -> int:
        """The banker's seat."""
        return self.start.dealer

    @property
    def round_wind(self) -> str | None:
        """The round wind."""
        return self.start.round_wind

    @property
    def first_dealer(self) -> int:
        """The seat that dealt first in the session."""
        return self.start.first_dealer

    @property
    def session(self) -> Mapping[str, Any]:
        """What the rule set carries from hand to hand."""
        return self.start.session

    @property
    def wall(self) -> int:
        """Tiles that can still be drawn by the rules."""
        return max(0, self.play.wall(self.options, self.counts))

    @property
    def supplements(self) -> int:
        """Tiles left for supplements."""
        if self.play.supplements is None:
            return self.wall
        return max(0, self.play.supplements(self.options, self.counts))

    @property
    def over(self) -> bool:
        """Whether the hand is won, drawn or ended."""
        return self.phase in ("over", "ended")

    @property
    def indicator(self) -> Tile | None:
        """The tile that chose the wild tiles: the last one turned up."""
        return self.indicators[-1] if self.indicators else None

    @property
    def last_discard(self) -> LastDiscard | None:
        """The discard that may be claimed now."""
        open_ = self.phase == "draw" and self.last is not None and not self.last.settled
        return self.last if open_ else None

    def draws_next(self, seat: int) -> bool:
        """Whether the seat draws next although nobody has thrown: the last stage (M19)."""
        waiting = self.phase == "act" and self.turn is not None and seat == self.after(self.turn)
        return waiting and self.play.draws_only(self)

    def after(self, seat: int, steps: int = 1) -> int:
        """The seat ``steps`` places further in turn order."""
        return (seat + steps) % len(self.players)

    def between(self, first: int, last: int) -> tuple[int, ...]:
        """Seats strictly between two seats in turn order."""
        distance = (last - first) % len(self.players)
        return tuple(self.after(first, i) for i in range(1, distance))

    def rank(self, call: str) -> int:
        """Precedence of a call."""
        return self.play.ranks[call]

    def nearness(self, seat: int, thrower: int, call: str) -> int:
        """How early a seat's equal call comes: smaller goes first."""
        if call == "hu" and self.play.winners == "nearest_banker":
            return (seat - self.dealer) % len(self.players)
        return (seat - thrower) % len(self.players)

    def best_call(self, seat: int) -> str:
        """The best call of a seat since the last discard that it has not withdrawn."""
        return max((c for s, c in self.calls if s == seat), key=self.rank, default="pass")

    def melding(self) -> dict[str, int]:
        """Changes that come with a set laid down: its running number, and when the first was."""
        first = self.discards if self.first_set_after is None else self.first_set_after
        return {"melded": self.melded + 1, "first_set_after": first}

    def with_player(self, seat: int, **changes: Any) -> HandState:
        """A copy with one seat changed."""
        players = list(self.players)
        players[seat] = evolve(players[seat], **changes)
        return evolve(self, players=tuple(players))


def without(tiles: Sequence[Tile], taken: Iterable[Tile]) -> tuple[Tile, ...] | None:
    """``tiles`` less ``taken``, in order; ``None`` where one of them is not there."""
    rest = list(tiles)
    try:
        for tile in taken:
            rest.remove(tile)
    except ValueError:
        return None
    return tuple(rest)


def missing(held: Iterable[Tile], wanted: Iterable[Tile]) -> tuple[Tile, ...]:
    """Tiles of ``wanted`` that ``held`` lacks, with multiplicity."""
    return tuple(sorted((Counter(wanted) - Counter(held)).elements()))
