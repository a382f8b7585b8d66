"""How the game is played under a rule set: walls, turns, claims, locks, rotation.

A rule set's ``<id>/play.py`` exports ``PLAY: PlayRules``. The engine follows every hand with these
declarations alone and never asks which rule set it is playing. The hooks are pure functions of the
table as it stands, which they see through :class:`TableView`.

Decided readings are cited by their ids (L1, LC2, M9 ...) as in the rule documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from tablectl.rules.settlement import Settlement
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, is_suited

CLAIM_KINDS: Final = ("chow", "pung", "kong")
OWN_KONGS: Final = ("closed_kong", "added_kong", "lone_kong")
SET_SIZES: Final[Mapping[str, int]] = {
    "chow": 3, "pung": 3, "kong": 4, "added_kong": 4, "closed_kong": 4, "lone_kong": 1,
}  # fmt: skip
DEFAULT_RANKS: Final[Mapping[str, int]] = {"hu": 4, "kong": 3, "pung": 2, "chow": 1, "pass": 0}
"""Hu beats kong beats pung beats chow (reading L6)."""

WINDS: Final = ("E", "S", "W", "N")


class MeldView(Protocol):
    """A set on the table: physical tiles (none where a closed kong was not seen)."""

    @property
    def kind(self) -> str:
        """``chow``, ``pung``, ``kong``, ``added_kong``, ``closed_kong``, ``lone_kong``, ``joy``."""

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles laid down."""

    @property
    def source(self) -> int | None:
        """The seat that gave the claimed tile."""

    @property
    def claimed(self) -> Tile | None:
        """The claimed tile."""

    @property
    def when(self) -> Literal["deal", "road", "late"] | None:
        """When a joy was declared."""


class PlayerView(Protocol):
    """One seat as the engine knows it."""

    @property
    def known(self) -> tuple[Tile, ...]:
        """Concealed tiles that are known."""

    @property
    def fully_known(self) -> bool:
        """Whether every concealed tile is known."""

    @property
    def melds(self) -> Sequence[MeldView]:
        """Sets laid down."""

    @property
    def thrown(self) -> tuple[Tile, ...]:
        """Every tile discarded in this hand, claimed ones included."""

    @property
    def floats(self) -> int:
        """Wild tiles thrown in an unbroken float up to now."""

    @property
    def floating(self) -> bool:
        """Whether a float round of this seat is running."""

    @property
    def kong_run(self) -> int:
        """Kongs in an unbroken streak up to now."""

    @property
    def flowers(self) -> tuple[Tile, ...]:
        """Flowers laid out."""

    @property
    def river(self) -> tuple[Tile, ...]:
        """Discards that still lie there."""

    @property
    def disclosed(self) -> tuple[Tile, ...] | None:
        """Tiles laid open while playing on."""

    @property
    def forfeited(self) -> bool:
        """Whether the seat has lost the right to win in this hand."""


class ClaimView(Protocol):
    """The claim that began the running turn."""

    @property
    def kind(self) -> str:
        """``chow``, ``pung`` or ``kong``."""

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The whole set."""

    @property
    def tile(self) -> Tile:
        """The claimed tile."""


class TableView(Protocol):
    """The table as the hooks of a rule set see it."""

    @property
    def options(self) -> Any:
        """The rule set's validated options."""

    @property
    def dealer(self) -> int:
        """The banker's seat."""

    @property
    def streak(self) -> int:
        """Hands in a row of this banker, this one included."""

    @property
    def round_wind(self) -> str | None:
        """``E S W N``."""

    @property
    def first_dealer(self) -> int:
        """The seat that dealt first in the session."""

    @property
    def session(self) -> Mapping[str, Any]:
        """What the rule set carries from hand to hand."""

    @property
    def wild(self) -> Wild:
        """Wild tiles and changed faces."""

    @property
    def players(self) -> Sequence[PlayerView]:
        """The seats."""

    @property
    def turn(self) -> int | None:
        """Whose action is next."""

    @property
    def claim(self) -> ClaimView | None:
        """The claim that began the running turn, until the turn's discard."""

    @property
    def drawn_tile(self) -> Tile | None:
        """The tile that the seat in turn has drawn, where it is known."""

    @property
    def discards(self) -> int:
        """Discards so far, of all seats."""

    @property
    def last_discard(self) -> object | None:
        """The newest discard while it may be claimed; ``None`` once it is taken or passed."""

    @property
    def indicators(self) -> tuple[Tile, ...]:
        """Tiles turned up."""

    @property
    def wall(self) -> int:
        """Tiles that can still be drawn."""

    @property
    def refused(self) -> frozenset[int]:
        """Seats that have refused the tile that they would have drawn."""

    @property
    def first_set_after(self) -> int | None:
        """Discards before the first set was laid down; ``None`` while there is none."""


@dataclass(frozen=True, slots=True)
class WallCounts:
    """What has left the wall since the deal.

    Attributes:
        front: tiles drawn in turn.
        kong_tail: supplements of kongs.
        flower_tail: supplements of flowers.
        kongs: kongs declared and not robbed.
        indicators: tiles turned up.
    """

    front: int = 0
    kong_tail: int = 0
    flower_tail: int = 0
    kongs: int = 0
    indicators: int = 0

    @property
    def drawn(self) -> int:
        """All draws."""
        return self.front + self.kong_tail + self.flower_tail


@dataclass(frozen=True, slots=True)
class ClaimAttempt:
    """A claim of a discard.

    Attributes:
        seat: who claims.
        kind: ``chow``, ``pung`` or ``kong``.
        tiles: the whole set, physical tiles.
        tile: the claimed one.
        source: who threw it.
    """

    seat: int
    kind: str
    tiles: tuple[Tile, ...]
    tile: Tile
    source: int


@dataclass(frozen=True, slots=True)
class DiscardEffect:
    """What a discard means beyond lying in the river.

    Attributes:
        issues: ids of what it breaks.
        forfeits: the seat loses the right to win in this hand.
        aside: the tile is a special one that the score case lists under ``aside``.
        leaves_river: it is laid to the seat's own area instead of the river.
        opens_float: it opens a float round.
        floats: it continues, or begins, a float that counts.
        claimable: it may be claimed at all.
    """

    issues: tuple[str, ...] = ()
    forfeits: bool = False
    aside: bool = False
    leaves_river: bool = False
    opens_float: bool = False
    floats: bool = False
    claimable: bool = True


@dataclass(frozen=True, slots=True)
class JoyEffect:
    """What a joy declared now means.

    Attributes:
        issues: ids of what it breaks.
        when: its moment, as in a score case.
        supplement: a tile is drawn for it, as for a flower.
    """

    issues: tuple[str, ...] = ()
    when: Literal["deal", "road", "late"] | None = None
    supplement: bool = False


@dataclass(frozen=True, slots=True)
class Locks:
    """What a seat may not take after letting a tile go, until its turn has come or been passed.

    Attributes:
        win: ``same``: no win on an identical tile; ``any``: on any tile; ``better``: only a win
            worth more than the best one let go.
        calls: calls barred for an identical tile, e.g. ``{"pung"}``.
        proof: ``known``: only a hand that was fully known proves it (L11); ``laid_open``: the hand
            shown with the claim proves it too (M12).
    """

    win: Literal["none", "same", "any", "better"] = "none"
    calls: frozenset[str] = frozenset()
    proof: Literal["known", "laid_open"] = "known"


@dataclass(frozen=True, slots=True)
class Result:
    """How a hand ended, for the rotation.

    Attributes:
        winners: winning seats, none in a drawn hand.
        false_win: the seat whose false win ended the hand.
        source: who gave the winning tile.
        settlement: what the hand pays, where it can be said.
    """

    winners: tuple[int, ...] = ()
    false_win: int | None = None
    source: int | None = None
    settlement: Settlement | None = None


@dataclass(frozen=True, slots=True)
class NextHand:
    """The hand that follows; ``session`` is what its ``start`` carries."""

    dealer: int
    streak: int
    round_wind: str | None
    over: bool = False
    session: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The object of the hand log."""
        return {
            "dealer": self.dealer,
            "streak": self.streak,
            "round_wind": self.round_wind,
            "over": self.over,
            "session": dict(self.session),
        }


MeldRule = Callable[[TableView, str, tuple[Tile, ...]], str | None]


def _no_issues(*_: Any) -> tuple[str, ...]:
    return ()


def _plain_discard(_table: TableView, _seat: int, _tile: Tile) -> DiscardEffect:
    return DiscardEffect()


def _nothing(*_: Any) -> Mapping[str, Any]:
    return {}


def _none(_table: TableView, _seat: int) -> int:
    return 0


def _no_joys(_table: TableView, _seat: int) -> tuple[tuple[Tile, ...], ...]:
    return ()


def _no_joy(_table: TableView, _seat: int, _tiles: tuple[Tile, ...]) -> JoyEffect:
    return JoyEffect(issues=("invalid_meld",))


def _no_locks(_options: Any) -> Locks:
    return Locks()


def _never(*_: Any) -> bool:
    return False


def _dealt_streak(_options: Any, streak: int, _dice: Sequence[Any] | None) -> int:
    return streak


def _early_unless_empty(table: TableView) -> bool:
    return table.wall > 0


def _empty(table: TableView) -> bool:
    return table.wall == 0


def _no_wins(_table: TableView, _seat: int) -> tuple[tuple[str, Tile | None], ...]:
    return ()


def _float_stands(_table: TableView, _seat: int, _hand: tuple[Tile, ...]) -> bool:
    return True


def last_discard_issues(table: TableView, claim: ClaimAttempt) -> tuple[str, ...]:
    """The discard after the last drawable tile may be claimed for a win only (M22).

    A kong of it lacks its supplement, which the engine says (M21).
    """
    barred = table.wall == 0 and claim.kind != "kong"
    return ("claim_not_allowed",) if barred else ()


def natural_set_issue(table: TableView, kind: str, tiles: tuple[Tile, ...]) -> str | None:
    """Issue of a set under rules with suit runs and equal tiles only, no wild tile in them.

    A set with a wild tile is ``wild_in_meld`` alone, even if the natural tiles make no set (L8).
    """
    if any(tile in table.wild.tiles for tile in tiles):
        return "wild_in_meld"
    faces = sorted(table.wild.identities(tiles))
    if kind not in SET_SIZES or kind == "lone_kong" or len(faces) != SET_SIZES[kind]:
        return "invalid_meld"
    if any(face >= 34 for face in faces):
        return "invalid_meld"
    fits = is_suit_run(faces) if kind == "chow" else len(set(faces)) == 1
    return None if fits else "invalid_meld"


def is_suit_run(faces: Sequence[Tile]) -> bool:
    """Whether three sorted faces are consecutive in one suit."""
    low, middle, high = faces
    return (
        is_suited(low) and is_suited(high) and low // 9 == high // 9
        and middle == low + 1 and high == low + 2
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRules:
    """The declaration of how a rule set is played.

    Attributes:
        wall: drawable tiles left after what has left the wall, for given options.
        next_hand: dealer, streak, round wind and session of the next hand.
        supplements: tiles left for supplements; ``None``: the same wall.
        ranks: precedence of calls.
        winners: who takes a tile that several call hu on: the nearest after the discarder, the
            nearest after the banker, or all of them.
        set_issue: what is wrong with the tiles of a set, ``None`` where nothing is.
        chows: whether there are chows at all.
        claim_issues: restrictions of a claim.
        kong_issues: (table, seat, kind, tiles): restrictions of a kong of own tiles.
        win_issues: (table, seat, by): restrictions of a win that no score case can show.
        discard: (table, seat, tile): what a discard means.
        flower_issues: (table, seat, tile): a flower that may not be laid out.
        joy: (table, seat, tiles): what a joy means; rule sets without joys have no such set.
        joys_in: (table, seat): joys that the tiles known of the seat's hand make.
        float_gift: (table, claim): what the win flag ``float_gift`` says if this claim keeps a
            float of the claimer going; empty where it does not matter.
        honours_thrown: (table, seat): honours thrown from the start without a break.
        table_flags: (table): circumstances of the whole hand, as in a score case's outcome.
        locks: what is locked after letting a tile go.
        hu_after_call: a caller of a chow or pung may win on the called tile before throwing (C14).
        floats_keep_kongs: a kong streak outlives a float (H7).
        kong_links: kongs count on through a tile claimed for a kong from a kong's discard.
        early_exhaust: whether the hand cannot be drawn yet.
        draws_only: the last stage, where seats draw in turn and nobody discards.
        last_tile: whether the tile just drawn counts as the last one of the wall.
        may_refuse: whether the seat may refuse the tile that it would draw.
        starting_streak: (options, streak, dice): the streak that counts in this hand.
        false_win_ends: whether a ruling of a false win ends the hand.
        round_winds: whether a round wind is kept; it begins with East (L16, M29).
        kongs_paid: whether kongs of seats that did not win are paid, so that even an unseen one
            must be shown before the hand can be settled.
        plain_wins: whether a complete hand without any pattern may win; what simulated players
            aim at depends on it.
        hands_paid: whether tiles in every hand are paid, so that all must be laid open before the
            hand can be settled, a drawn one too (M33).
        wild_in_sets: wild tiles may be laid out at face value.
        set_ends_first_turn: a set laid down before it, which can only be a kong of the dealer's,
            takes from the very first discard what is special about it (X12).
        honour_runs: runs of winds and of dragons may be called; ``set_issue`` decides.
        turned_back: (table, tile): a tile turned up that chooses nothing and is turned back.
        dealt_until: how long a seat that does not deal may win as dealt: until the first discard of
            all, or until its own (X10).
        float_stands: (table, seat, hand): whether the concealed hand now laid open, without the
            winning tile, bears the seat's float out (M14).
        special_wins: (table, seat): ways of winning (``by`` and the tile) to think of beside a
            complete hand on a tile drawn or claimed: eight flowers, the tile turned up ...
        float_offence: (table, seat, hand): whether that hand shows that the seat threw a wild tile
            against the rules, which costs the right to win (M25).
    """

    wall: Callable[[Any, WallCounts], int]
    next_hand: Callable[[TableView, Result], NextHand]
    supplements: Callable[[Any, WallCounts], int] | None = None
    ranks: Mapping[str, int] = field(default_factory=lambda: DEFAULT_RANKS)
    winners: Literal["nearest_discarder", "nearest_banker", "all"] = "nearest_discarder"
    set_issue: MeldRule = natural_set_issue
    chows: bool = True
    claim_issues: Callable[[TableView, ClaimAttempt], tuple[str, ...]] = _no_issues
    kong_issues: Callable[[TableView, int, str, tuple[Tile, ...]], tuple[str, ...]] = _no_issues
    win_issues: Callable[[TableView, int, str], tuple[str, ...]] = _no_issues
    discard: Callable[[TableView, int, Tile], DiscardEffect] = _plain_discard
    flower_issues: Callable[[TableView, int, Tile], tuple[str, ...]] = _no_issues
    joy: Callable[[TableView, int, tuple[Tile, ...]], JoyEffect] = _no_joy
    joys_in: Callable[[TableView, int], tuple[tuple[Tile, ...], ...]] = _no_joys
    float_gift: Callable[[TableView, ClaimAttempt], Mapping[str, Any]] = _nothing
    honours_thrown: Callable[[TableView, int], int] = _none
    table_flags: Callable[[TableView], Mapping[str, Any]] = _nothing
    locks: Callable[[Any], Locks] = _no_locks
    hu_after_call: bool = False
    floats_keep_kongs: bool = False
    kong_links: bool = False
    early_exhaust: Callable[[TableView], bool] = _early_unless_empty
    draws_only: Callable[[TableView], bool] = _never
    last_tile: Callable[[TableView], bool] = _empty
    may_refuse: Callable[[TableView, int], bool] = _never
    starting_streak: Callable[[Any, int, Sequence[Any] | None], int] = _dealt_streak
    false_win_ends: bool = True
    round_winds: bool = False
    kongs_paid: bool = False
    plain_wins: bool = True
    hands_paid: bool = False
    wild_in_sets: bool = False
    honour_runs: bool = False
    set_ends_first_turn: bool = False
    turned_back: Callable[[TableView, Tile], bool] = _never
    dealt_until: Literal["first_discard", "own_discard"] = "first_discard"
    float_stands: Callable[[TableView, int, tuple[Tile, ...]], bool] = _float_stands
    float_offence: Callable[[TableView, int, tuple[Tile, ...]], bool] = _never
    special_wins: Callable[[TableView, int], tuple[tuple[str, Tile | None], ...]] = _no_wins


def stay_or_pass(
    table: TableView, *, stays: bool, passes_to: int | None = None, round_wind: str | None
) -> NextHand:
    """The next hand where the banker stays, or the deal passes (by default to the next seat)."""
    if stays:
        return NextHand(table.dealer, table.streak + 1, round_wind)
    heir = (table.dealer + 1) % len(table.players) if passes_to is None else passes_to
    return NextHand(heir, 1, round_wind)


def wind_after(table: TableView, dealer: int) -> str | None:
    """The round wind once ``dealer`` deals: it moves when the deal passes to the first dealer."""
    if table.round_wind is None or dealer == table.dealer or dealer != table.first_dealer:
        return table.round_wind
    return WINDS[(WINDS.index(table.round_wind) + 1) % 4]
