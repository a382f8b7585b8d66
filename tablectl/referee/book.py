"""The book of a hand: what happened, as facts about tiles, folded through the engine.

A fact names tiles by id; the face of each tile is decided by beliefs, the rules and people. When a
face changes, the hand is folded again from that fact on, so a correction at any time gives the same
book as if the tile had been read right at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from tablectl.engine.events import (
    Call,
    CallKind,
    Discard,
    Draw,
    End,
    Event,
    Exhaust,
    Flower,
    Indicator,
    Joy,
    Meld,
    MeldKind,
    Reveal,
    Ruling,
    Start,
    Win,
    WinBy,
)
from tablectl.engine.game import Step, apply, finish
from tablectl.engine.state import HandState, evolve
from tablectl.rules.settlement import Settlement
from tablectl.tiles import format_tiles, parse_tile

_RECENT: Final = 12
"""Entries among which the discard of a claimed tile is looked for."""

FactKind = Literal["indicator", "flower", "discard", "meld", "win", "reveal", "told"]
SetKind = MeldKind | Literal["claim"]
"""``claim``: three tiles with a claimed one, a pung or a chow as their faces will tell."""
Issue = tuple[str, int | None]
"""Id and seat of something that an event breaks."""
Face = Callable[[int], str]


@dataclass(frozen=True)
class Fact:
    """One thing that happened, with the tiles that show it.

    Attributes:
        kind: what happened; ``told`` facts show no tiles and carry their event.
        t: when it came to be known, seconds.
        seat: who acted.
        tiles: ids of the tiles shown, the winning tile of a win excluded.
        source: who gave the claimed or winning tile.
        claimed: id of the claimed or winning tile.
        drawn: tiles that have left the wall beyond those counted, as a person says.
    """

    kind: FactKind
    t: float
    seat: int = 0
    tiles: tuple[int, ...] = ()
    source: int | None = None
    claimed: int | None = None
    meld: SetKind = "claim"
    by: WinBy = "self_draw"
    told: Event | None = None
    drawn: int = 0

    @property
    def all_tiles(self) -> tuple[int, ...]:
        """Every tile whose face matters to the event."""
        extra = () if self.claimed is None or self.claimed in self.tiles else (self.claimed,)
        return self.tiles + extra

    def event(self, face: Face) -> Event:
        """The engine's event, with the faces as they are believed now."""
        match self.kind:
            case "indicator":
                return Indicator(tile=face(self.tiles[0]))
            case "flower":
                return Flower(seat=self.seat, tile=face(self.tiles[0]))
            case "discard":
                return Discard(seat=self.seat, tile=face(self.tiles[0]))
            case "meld":
                return self._meld(face)
            case "win":
                tile = None if self.claimed is None else face(self.claimed)
                hand = written(map(face, self.tiles))
                return Win(
                    seat=self.seat, by=self.by, source=self.source, tile=tile, hand=hand
                )  # fmt: skip
            case "reveal":
                return Reveal(seat=self.seat, hand=written(map(face, self.tiles)))
            case "told":
                assert self.told is not None
                return self.told

    def _meld(self, face: Face) -> Meld | Joy:
        faces = [face(i) for i in self.tiles]
        if self.meld == "joy":
            return Joy(seat=self.seat, tiles=written(faces))
        claimed: MeldKind = "pung" if len(set(faces)) == 1 else "chow"
        kind = claimed if self.meld == "claim" else self.meld
        if kind == "closed_kong":  # its face-down tiles are what the others are
            shown = [f for f in faces if f not in ("?", "back")]
            faces = faces if len(shown) == len(faces) else shown[:1] * 4
        return Meld(seat=self.seat, kind=kind, tiles=written(faces), source=self.source)


def written(faces: Iterable[str]) -> str:
    """Compact notation of faces, sorted; unseen faces (``?``, ``back``) are left out."""
    return format_tiles(sorted(parse_tile(f) for f in faces if f not in ("?", "back")))


@dataclass(frozen=True)
class Entry:
    """A fact as the engine took it."""

    n: int
    fact: Fact
    event: Event
    issues: tuple[Issue, ...]
    state: HandState
    step: Step


class Book:
    """The entries of one hand. Folding is pure; the book only keeps the results."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = list(entries)
        self.version = 0
        """Rises with every change."""

    @property
    def state(self) -> HandState | None:
        """The engine's state after the last entry."""
        return self.entries[-1].state if self.entries else None

    @property
    def settled(self) -> Settlement | None:
        """What the hand pays as it is written; None while it is played or can't be settled."""
        state = self.state
        return None if state is None or not state.over else finish(state).settlement

    @property
    def step(self) -> Step | None:
        """What the engine said of the last entry."""
        return self.entries[-1].step if self.entries else None

    def add(self, fact: Fact, face: Face) -> Entry:
        """Write a fact at the end."""
        entry = self._fold(len(self.entries), self.state, fact, face)
        self.entries.append(entry)
        self.version += 1
        return entry

    def refold(self, face: Face) -> list[Entry]:
        """Fold again where a face has changed.

        Returns:
            The entries whose event is another one now; later ones are folded again too.
        """
        changed: list[Entry] = []
        state: HandState | None = None
        dirty = False
        for i, entry in enumerate(self.entries):
            event = entry.fact.event(face)
            differs = event != entry.event
            if differs or dirty:
                dirty = True
                self.entries[i] = self._fold(i, state, entry.fact, face)
            if differs:
                changed.append(self.entries[i])
            state = self.entries[i].state
        self.version += dirty
        return changed

    def drop(self, n: int, face: Face) -> None:
        """Strike an entry out and fold what follows again."""
        facts = [entry.fact for entry in self.entries if entry.n != n]
        self.entries = []
        for fact in facts:
            self.add(fact, face)

    def cut(self, n: int) -> None:
        """Strike out entry ``n`` and all that follow."""
        del self.entries[n:]
        self.version += 1

    def insert(self, n: int, fact: Fact, face: Face) -> None:
        """Write a fact before entry ``n`` and fold what follows again."""
        later = [entry.fact for entry in self.entries[n:]]
        del self.entries[n:]
        for each in (fact, *later):
            self.add(each, face)

    def best_place(self, fact: Fact, face: Face, first: int) -> int:
        """Where a fact breaks least: the number of the entry that it should have.

        Args:
            first: not before this entry.

        Returns:
            The latest place among the best; the end, where no place is better.
        """
        end = len(self.entries)
        best, least = end, len(self._trial(end, fact, face))
        for n in range(end - 1, max(first, 1) - 1, -1):
            if least == 0:
                break
            issues = len(self._trial(n, fact, face))
            if issues < least:
                best, least = n, issues
        return best

    def _trial(self, n: int, fact: Fact, face: Face) -> tuple[Issue, ...]:
        """Issues from entry ``n`` on, were a fact written before it.

        Beyond those that are there anyway: a place is no better for what comes before it.
        """
        state = self.entries[n - 1].state if n else None
        issues = tuple(issue for entry in self.entries[:n] for issue in entry.issues)
        for event in (fact.event(face), *(entry.event for entry in self.entries[n:])):
            state, step = apply(state, event)
            issues += step.issues
        return issues

    def change(self, n: int, fact: Fact, face: Face) -> None:
        """Put another fact in the place of entry ``n`` and fold again."""
        facts = [fact if entry.n == n else entry.fact for entry in self.entries]
        self.entries = []
        for each in facts:
            self.add(each, face)

    def issues_of(self, fact: Fact, faces: Mapping[int, str], face: Face) -> tuple[Issue, ...]:
        """What the engine would object to, were the given tiles these faces.

        A claimed tile is in the book already as a discard, so what stands there is judged anew
        with the same face.
        """

        def assumed(tile_id: int) -> str:
            return faces.get(tile_id) or face(tile_id)

        shown = set(fact.all_tiles)
        first = next(
            (e.n for e in self.entries[-_RECENT:] if shown & set(e.fact.all_tiles)),
            len(self.entries),
        )
        state = self.entries[first - 1].state if first else None
        issues: tuple[Issue, ...] = ()
        for again in (*(e.fact for e in self.entries[first:]), fact):
            state, step = apply(state, again.event(assumed))
            issues += step.issues
        return issues

    @staticmethod
    def _fold(n: int, state: HandState | None, fact: Fact, face: Face) -> Entry:
        event = fact.event(face)
        after, step = apply(recounted(state, fact.drawn), event)
        return Entry(n, fact, event, step.issues, after, step)


def recounted(state: HandState | None, drawn: int) -> HandState | None:
    """The state with so many tiles more, or fewer, drawn from the wall than were counted."""
    if state is None or not drawn:
        return state
    return evolve(state, counts=replace(state.counts, front=state.counts.front + drawn))


def told(t: float, event: Start | Call | Draw | Exhaust | Ruling | End) -> Fact:
    """A fact that is known by other means than tiles: a button, the table, the host."""
    return Fact("told", t, seat=getattr(event, "seat", 0), told=event)


def call(t: float, seat: int, kind: CallKind) -> Fact:
    """A button pressed or a call heard."""
    return told(t, Call(seat=seat, call=kind))
