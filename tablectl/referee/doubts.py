"""What may have happened unseen: asked about where it would change the settlement.

The camera can miss a tile for good. What must be true then shows a gap: a seat acts although it is
another's turn, a set announced as a kong has three tiles, flowers lie apart, a tile lies there that
nothing explains. Each is weighed by what the hand would pay if it were so; only what would pay
otherwise is asked, before the settlement is final.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tablectl.engine.events import Call, Discard, Event, Flower, Meld, Win
from tablectl.referee.beliefs import flat
from tablectl.referee.book import Book, Entry, Fact
from tablectl.rules.settlement import Settlement
from tablectl.tiles import N_PLAYING, NAMES, parse_tile
from vision.geometry import Zone

if TYPE_CHECKING:
    from tablectl.referee.hand import HandFollower

_GAP: Final = 1.75
"""Distance of two flowers, in tile widths, between which another one may lie."""
_PITCH: Final = 1.06
"""Tile widths from one flower of a row to the next."""
_OF_FLOWERS: Final = ("flower", "wall")


@dataclass(frozen=True)
class Doubt:
    """Something that may have happened unseen.

    Attributes:
        kind: ``last``: the winning tile was the wall's last; ``threw``: a seat threw a tile;
            ``kong``: a set is a kong; ``flower``: one more lies in a row of flowers; ``wall``: one
            more lies at the end of a row, as the wall lacks a tile; ``stray``: what a tile is that
            nothing explains.
        key: entry or tile that raises it; the seat of ``wall``.
        place: where the unseen tile would lie, table mm.
    """

    kind: str
    key: int
    seat: int
    place: tuple[float, float] = (0.0, 0.0)

    @property
    def id(self) -> str:
        """Names it within the hand."""
        return f"{self.kind}/{self.key}"


class Doubts:
    """The doubts about one hand."""

    def __init__(self, hand: HandFollower) -> None:
        self._hand = hand
        self._dismissed: set[str] = set()
        self._known: tuple[object, list[Doubt]] | None = None

    def open(self) -> list[Doubt]:
        """Those that would change the settlement and that nobody has dismissed."""
        hand = self._hand
        if not hand.over:
            return [d for d in self._unclaimed() if d.id not in self._dismissed]
        key = (
            hand.book.version, frozenset(hand.unexplained()), len(self._dismissed), self.late,
            self._missing(),
        )  # fmt: skip
        if self._known is None or self._known[0] != key:
            self._known = (key, self._find())
        return self._known[1]

    @property
    def late(self) -> bool:
        """Whether what was slow to be seen has had time to be seen."""
        hand = self._hand
        ended = next(e.fact.t for e in reversed(hand.book.entries) if e.fact.kind != "reveal")
        return hand.now - ended >= hand.thresholds.patience_s

    def _find(self) -> list[Doubt]:
        now = self._hand.settlement()
        if now is None:
            return []
        every = itertools.chain(
            self._skipped(), self._kongs(), self._flower_gaps(), self._strays(), self._last_tile(),
            self._row_ends(),
        )  # fmt: skip
        return [d for d in every if d.id not in self._dismissed and self._matters(d, now)]

    def _matters(self, doubt: Doubt, now: Settlement) -> bool:
        if doubt.kind == "stray":
            return True
        trials = list(self._trials(doubt))
        return any(s is None or (s.delta, s.error) != (now.delta, now.error) for s in trials)

    # --- what there is ---

    def _unclaimed(self) -> Iterator[Doubt]:
        """A hand lies open for a tile that nobody has thrown."""
        hand = self._hand
        seat = hand.wins.waits_for_a_discard()
        turn = None if hand.book.step is None else hand.book.step.turn
        if seat is not None and turn is not None and turn != seat:
            yield Doubt("threw", len(hand.book.entries), turn)

    def _skipped(self) -> Iterator[Doubt]:
        """A seat acted although another had to throw first."""
        entries = self._hand.book.entries
        for before, entry in itertools.pairwise(entries):
            turn = before.state.turn
            skipped = any(name == "out_of_turn" for name, _ in entry.issues)
            if skipped and turn is not None and turn != entry.fact.seat:
                yield Doubt("threw", entry.n, turn)

    def _kongs(self) -> Iterator[Doubt]:
        """A set of three that was announced as a kong."""
        said: dict[int, str] = {}
        for entry in self._hand.book.entries:
            event = entry.event
            if isinstance(event, Call):
                said[event.seat] = event.call
            elif isinstance(event, Meld):
                if event.kind == "pung" and said.get(event.seat) == "kong":
                    yield Doubt("kong", entry.n, event.seat)
                said.clear()

    def _flower_gaps(self) -> Iterator[Doubt]:
        hand = self._hand
        for seat, row in enumerate(hand.layout.flowers):
            tiles = [hand.felt.tiles[i] for i in row]
            placed = sorted(hand.geometry.to_seat(seat, t.x, t.y) for t in tiles)
            for left, right in itertools.pairwise(placed):
                if _GAP < right[0] - left[0] < 2 * _GAP:
                    x, y = (left[0] + right[0]) / 2, (left[1] + right[1]) / 2
                    key = min(tiles, key=lambda t: t.id).id
                    yield Doubt("flower", key, seat, hand.geometry.to_table(seat, x, y))

    def _strays(self) -> Iterator[Doubt]:
        for i in self.strays() if self.late else []:
            tile = self._hand.felt.tiles[i]
            yield Doubt("stray", i, tile.seat or 0, (tile.x, tile.y))

    def strays(self) -> list[int]:
        """Tiles in a strip that belong to no set; in rivers they change nothing."""
        felt = self._hand.felt.tiles
        return [
            i for i in sorted(self._hand.unexplained())
            if felt[i].zone is Zone.EXPOSED and felt[i].seat is not None and not felt[i].face_down
        ]  # fmt: skip

    def _last_tile(self) -> Iterator[Doubt]:
        """A win near the end of the wall: one flower missed, and the count is another."""
        entries = self._hand.book.entries
        win = next((e for e in entries if isinstance(e.event, Win) and e.state.over), None)
        if win is None or any(e.fact.drawn for e in entries):
            return
        shown = (win.fact.claimed,) if win.fact.by == "discard" else win.fact.tiles
        yield Doubt("last", next(e.n for e in entries if e.fact.tiles == shown), win.fact.seat)

    def _missing(self) -> int:
        """Tiles that the wall lacks although the book has them there."""
        return self._hand.walls.missing(self._hand.standing)

    def _row_ends(self) -> Iterator[Doubt]:
        """The wall lacks a tile: the supplement of a flower that nobody saw, the winner's first."""
        hand = self._hand
        state = hand.book.state
        if state is None or not self.late or not self._missing():
            return
        winners = [win.seat for win in state.wins]
        for seat in sorted(range(hand.kit.seats), key=lambda s: s not in winners):
            row = [hand.felt.tiles[i] for i in hand.layout.flowers[seat]]
            xs = [hand.geometry.to_seat(seat, t.x, t.y)[0] for t in row]
            x = max(xs) + _PITCH if xs else -hand.geometry.exposed[0] + 0.4
            place = hand.geometry.to_table(seat, x, sum(hand.geometry.exposed) / 2)
            yield Doubt("wall", seat, seat, place)

    # --- what if ---

    def _trials(self, doubt: Doubt) -> Iterator[Settlement | None]:
        """Settlements of the hand, were it so."""
        hand = self._hand
        facts = [entry.fact for entry in hand.book.entries]
        if doubt.kind == "last":
            then = facts[doubt.key]
            for drawn in (-1, 1):
                facts[doubt.key] = replace(then, drawn=drawn)
                yield self._settle(facts)
            return
        if doubt.kind == "kong":
            old = hand.book.entries[doubt.key]
            assert isinstance(old.event, Meld)
            tile = old.event.tiles[:1] + old.event.tiles[-1]
            kong = old.event.replace(kind="kong", tiles=_four(tile))
            facts[doubt.key] = _told(old.fact, kong)
            yield self._settle(facts)
            return
        for event in self._unseen(doubt):
            n = self._before(doubt)
            yield self._settle([*facts[:n], _told(facts[n], event), *facts[n:]])

    def _unseen(self, doubt: Doubt) -> Iterator[Event]:
        hand = self._hand
        shown = hand.faces.counted(hand.layout)
        left = [
            face for i, face in enumerate(NAMES)
            if hand.kit.copies[i] > shown[face] and (i >= N_PLAYING) == (doubt.kind in _OF_FLOWERS)
        ]  # fmt: skip
        if doubt.kind in _OF_FLOWERS:
            yield from (Flower(seat=doubt.seat, tile=face) for face in left)
        elif left:
            wild = hand.book.entries[doubt.key].state.wild.tiles
            plain = [face for face in left if parse_tile(face) not in wild]
            yield Discard(seat=doubt.seat, tile=max(plain or left, key=lambda f: -shown[f]))

    def _before(self, doubt: Doubt) -> int:
        """Number of the entry before which it happened."""
        if doubt.kind == "threw":
            return doubt.key
        if doubt.kind == "wall":
            return self.turn_before(doubt.seat)
        entries = self._hand.book.entries
        return next(e.n for e in entries if doubt.key in e.fact.all_tiles)

    def _settle(self, facts: list[Fact]) -> Settlement | None:
        trial = Book()
        for fact in facts:
            trial.add(fact, self._hand.face)
        return trial.settled

    # --- answers ---

    def dismiss(self, doubt: Doubt) -> None:
        """It was not so."""
        self._dismissed.add(doubt.id)
        if doubt.kind == "stray":
            self._hand.undone.add(doubt.key)
        if doubt.kind == "last" and self._wall_at(doubt) == 0:
            self._recount(doubt, -1)

    def _wall_at(self, doubt: Doubt) -> int:
        """Tiles left by the count when the winning tile was drawn or thrown."""
        return self._hand.book.entries[doubt.key].state.wall

    def _recount(self, doubt: Doubt, drawn: int) -> None:
        fact = self._hand.book.entries[doubt.key].fact
        self._hand.replace_entry(doubt.key, replace(fact, drawn=drawn))

    def accept(self, t: float, doubt: Doubt) -> None:
        """It was so: the unseen tile is put where it must lie, its face still to be told."""
        hand = self._hand
        self._dismissed.add(doubt.id)
        match doubt.kind:
            case "stray":
                fact = Fact("flower", t, seat=doubt.seat, tiles=(doubt.key,))
                hand.write_before(self.turn_before(doubt.seat), fact)
            case "flower" | "wall":
                belief = {f: p for f, p in flat(hand.kit.copies).items() if f.endswith("f")}
                tile = hand.felt.assume(Zone.EXPOSED, doubt.seat, doubt.place, belief)
                fact = Fact("flower", t, seat=doubt.seat, tiles=(tile,))
                hand.write_before(self._before(doubt), fact)
            case "threw":
                tile = hand.assume_discard(doubt.seat)
                fact = Fact("discard", t, seat=doubt.seat, tiles=(tile,))
                hand.write_before(doubt.key, fact)
            case "last":
                self._recount(doubt, self._wall_at(doubt))
            case "kong":
                self._make_kong(hand.book.entries[doubt.key])

    def _make_kong(self, entry: Entry) -> None:
        hand, old = self._hand, entry.fact
        beside = hand.felt.tiles[old.tiles[-1]]
        x, y = hand.geometry.to_seat(old.seat, beside.x, beside.y)
        place = hand.geometry.to_table(old.seat, x, y - 1.03)
        face = hand.face(old.tiles[0])
        fourth = hand.felt.assume(Zone.EXPOSED, old.seat, place, {face: 1.0}, confirmed=face)
        kong = Fact(
            "meld", old.t, seat=old.seat, tiles=(*old.tiles, fourth), source=old.source,
            claimed=old.claimed, meld="kong",
        )  # fmt: skip
        hand.replace_entry(entry.n, kong)

    def turn_before(self, seat: int) -> int:
        """Number of a seat's last entry in play before the hand ended."""
        entries = self._hand.book.entries
        end = next((e.n for e in entries if e.state.over), len(entries))
        mine = (e.n for e in entries[:end] if e.fact.seat == seat and e.fact.kind == "discard")
        return max(mine, default=1 + sum(e.fact.kind == "indicator" for e in entries))


def _told(fact: Fact, event: Event) -> Fact:
    return Fact("told", fact.t, seat=fact.seat, told=event)


def _four(tile: str) -> str:
    """``5p`` as the four tiles of a kong."""
    return tile[0] * 4 + tile[1]
