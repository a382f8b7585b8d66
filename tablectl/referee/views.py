"""What the displays show of the game: plain values built from the follower and the session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tablectl.engine.events import Call, Flower, Joy, Meld, Start, Win
from tablectl.messages import (
    Alternative,
    CallView,
    IssueView,
    MeldView,
    PatternView,
    PaymentView,
    SeatView,
    SettlementView,
    TileView,
    WinView,
)
from tablectl.referee.book import Entry
from tablectl.referee.hand import HandFollower
from tablectl.referee.layout import Layout, MeldPlace
from tablectl.referee.texts import CALLS, WIND_NAMES, WINDS, issue_text
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile, format_tile, name_en, name_zh, parse_tile
from vision.geometry import Zone


@dataclass(frozen=True)
class Ref:
    """A tile as displays name it, and its id in the hand."""

    text: str
    tile: int


def refs(layout: Layout) -> list[Ref]:
    """Names of all tiles of the book: ``r1.4``, ``m2.0.1``, ``f3.0``, ``h0.3``, ``w0``, ``i``."""
    out = [Ref("i", layout.indicator)] if layout.indicator is not None else []
    for seat in range(layout.seats):
        rows = (("r", layout.rivers), ("f", layout.flowers), ("h", layout.hands))
        for letter, rivers in rows:
            out += [Ref(f"{letter}{seat}.{i}", tile) for i, tile in enumerate(rivers[seat])]
        for m, meld in enumerate(layout.melds[seat]):
            out += [Ref(f"m{seat}.{m}.{i}", tile) for i, tile in enumerate(meld.tiles)]
        if seat in layout.winning:
            out.append(Ref(f"w{seat}", layout.winning[seat]))
    return out


class HandView:
    """Views of one hand, with the tiles' refs looked up once."""

    def __init__(self, hand: HandFollower) -> None:
        self.hand = hand
        self.layout = hand.layout
        self._refs = {ref.tile: ref.text for ref in refs(self.layout)}

    def tile(self, tile_id: int, *, called: bool = False) -> TileView:
        """A tile of the book."""
        return TileView(
            tile=self.hand.face(tile_id), certain=self.hand.sure(tile_id), called=called,
            ref=self._refs.get(tile_id, ""),
        )  # fmt: skip

    def tiles(self, ids: Sequence[int]) -> tuple[TileView, ...]:
        """Tiles in the given order."""
        return tuple(self.tile(i) for i in ids)

    def melds(self, seat: int) -> tuple[MeldView, ...]:
        """A seat's sets, in the order made."""
        return tuple(self._meld(meld) for meld in self.layout.melds[seat])

    def _meld(self, meld: MeldPlace) -> MeldView:
        tiles = tuple(self.tile(i, called=i == meld.claimed) for i in meld.tiles)
        return MeldView(kind=meld.kind, tiles=tiles, from_seat=meld.source)

    def seat(self, seat: int, name: str, score: int) -> SeatView:
        """Everything that lies before a player."""
        start = self.start
        step = self.hand.book.step
        shown = self.layout.hands[seat]
        drawn = step is not None and step.turn == seat and not self.hand.over
        return SeatView(
            seat=seat, name=name, wind=seat_wind(seat, start.dealer, self.hand.kit.seats),
            score=score, dealer=seat == start.dealer,
            hand_count=self.hand.concealed(seat) + int(drawn),
            hand=self.tiles(
                sorted(shown, key=lambda i: order(self.hand.face(i))) + self._apart(seat)
            ),
            river=self.tiles(self.layout.rivers[seat]), melds=self.melds(seat),
            flowers=self.tiles(self.layout.flowers[seat]),
        )  # fmt: skip

    def _apart(self, seat: int) -> list[int]:
        """The winning tile where it lies with the hand, not in a river."""
        tile = self.layout.winning.get(seat)
        lies_there = tile is not None and self.hand.felt.tiles[tile].zone is Zone.RACK
        return [tile] if tile is not None and lies_there else []

    @property
    def start(self) -> Start:
        """How the hand began."""
        event = self.hand.book.entries[0].event
        assert isinstance(event, Start)
        return event

    @property
    def last_discard(self) -> tuple[int, int] | None:
        """(seat, index in its river) of the newest discard while it lies there."""
        last = self.layout.last_discard
        if last is None or last[1] not in self.layout.rivers[last[0]]:
            return None
        return last[0], self.layout.rivers[last[0]].index(last[1])

    def wild(self) -> tuple[str, ...]:
        """Faces that are wild in this hand."""
        shown = self.layout.indicator
        if self.hand.kit.indicator and shown is None:
            return ()
        indicator = None if shown is None else parse_or_none(self.hand.face(shown))
        if self.hand.kit.indicator and indicator is None:
            return ()
        wild = self.hand.rules.wild(indicator, self.hand.options)
        return tuple(format_tile(tile) for tile in sorted(wild.tiles))

    def wins(self, settlement: Settlement) -> tuple[WinView, ...]:
        """The winners of the hand with what their hands score."""
        out = []
        for entry in self.hand.book.entries:
            event = entry.event
            if not isinstance(event, Win):
                continue
            values = (settlement.patterns or {}).get(event.seat, {})
            hand = sorted(self.layout.hands[event.seat], key=lambda i: order(self.hand.face(i)))
            wild = settlement.wild_as.get(event.seat, {})
            out.append(
                WinView(
                    seat=event.seat,
                    by=event.by,
                    from_seat=event.source,
                    tile=event.tile,
                    tile_certain=self._winning_certain(event.seat),
                    hand=self.tiles(hand),
                    melds=self.melds(event.seat),
                    patterns=tuple(self._pattern(i, float(v)) for i, v in values.items()),
                    unit=self.hand.rules.unit,
                    wild_as=tuple((face, as_) for face, all_ in wild.items() for as_ in all_),
                )
            )
        return tuple(out)

    def _winning_certain(self, seat: int) -> bool:
        """Whether the winning tile was read for sure; one that nobody laid down is none to read."""
        tile = self.layout.winning.get(seat)
        return tile is None or self.hand.sure(tile)

    def _pattern(self, pattern_id: str, value: float) -> PatternView:
        pattern = self.hand.rules.pattern(pattern_id)
        return PatternView(id=pattern_id, en=pattern.name, zh=pattern.name_zh, value=value)

    def settlement(
        self, hand_id: str, number: int, t: float, settlement: Settlement,
        totals: tuple[int, ...], *, final: bool,
    ) -> SettlementView:  # fmt: skip
        """Who pays whom, and why; the next dealer is filled in once that is known."""
        wins = self.wins(settlement)
        error = settlement.error
        return SettlementView(
            hand_id=hand_id, hand=number, t=t, final=final, drawn=not wins, wins=wins,
            delta=settlement.delta or (), totals=totals, lines=settlement.lines, error=error,
            payments=tuple(
                PaymentView(payer=payer, receiver=receiver, points=points)
                for payer, receiver, points in settlement.payments
            ),
            error_text=issue_text(error)[0] if error else "",
            error_text_zh=issue_text(error)[1] if error else "",
        )  # fmt: skip

    def void(self, hand_id: str, number: int, t: float, totals: tuple[int, ...]) -> SettlementView:
        """The hand does not count: nobody pays, and it is dealt again."""
        return SettlementView(
            hand_id=hand_id, hand=number, t=t, final=True, delta=(0,) * len(totals), totals=totals,
            lines=("Void hand 作廢: nobody pays, it is dealt again.",),
            next_dealer=self.start.dealer, next_streak=self.start.streak,
            next_round_wind=self.start.round_wind,
        )  # fmt: skip


def seat_wind(seat: int, dealer: int, seats: int) -> str:
    """Wind letter of a seat; the dealer is East."""
    return WINDS[(seat - dealer) % seats]


def parse_or_none(face: str) -> Tile | None:
    """The tile, or None of ``?`` and ``back``."""
    return None if face in ("?", "back") else parse_tile(face)


def order(face: str) -> int:
    """Sorting key of faces: suits, honours, flowers, then the unknown."""
    tile = parse_or_none(face)
    return 99 if tile is None else int(tile)


def alternative(face: str, probability: float | None) -> Alternative:
    """An answer that names a tile."""
    tile = parse_tile(face)
    return Alternative(
        id=f"tile:{face}", label_en=name_en(tile), label_zh=name_zh(tile), tile=face,
        probability=probability,
    )  # fmt: skip


def issue_views(entry: Entry) -> tuple[IssueView, ...]:
    """What the engine objected to, in words."""
    return issues_in_words(entry.issues)


def issues_in_words(issues: Iterable[tuple[str, int | None]]) -> tuple[IssueView, ...]:
    """The same of the engine's bare issues, (id, seat) each."""
    out = []
    for name, seat in issues:
        en, zh = issue_text(name)
        out.append(IssueView(id=name, seat=seat, text_en=en, text_zh=zh))
    return tuple(out)


def call_view(entry: Entry, hand: HandFollower, winds: Sequence[str]) -> CallView | None:
    """The announcement of an entry, if it is one to announce."""
    event, t = entry.event, entry.fact.t
    claimed = entry.fact.claimed
    tile = None if claimed is None else hand.face(claimed)
    match event:
        case Call() if event.call != "pass":
            return announce(event.seat, event.call, winds, t=t)
        case Meld():
            return announce(event.seat, event.kind, winds, t=t, tile=tile, source=event.source)
        case Joy():
            return announce(event.seat, "joy", winds, t=t)
        case Flower():
            return announce(event.seat, "flower", winds, t=t, tile=event.tile)
        case Win():
            return announce(event.seat, "win", winds, t=t, tile=event.tile, source=event.source)
        case _:
            return None


def announce(
    seat: int, kind: str, winds: Sequence[str], *, t: float,
    tile: str | None = None, source: int | None = None,
) -> CallView:  # fmt: skip
    """A call in words: ``Pung — South``, ``碰 南``."""
    en, zh = CALLS.get(kind, (kind, kind))
    wind_en, wind_zh = WIND_NAMES[winds[seat]]
    shown = parse_or_none(tile) if tile else None
    of_en = f", {name_en(shown)}" if shown is not None else ""
    of_zh = name_zh(shown) if shown is not None else ""
    return CallView(
        seat=seat, call=kind, tile=tile, from_seat=source, t=t,
        text_en=f"{en} — {wind_en}{of_en}", text_zh=f"{zh} {wind_zh}{of_zh}",
    )  # fmt: skip
