"""Following one hand: readings and calls in, the book of the hand out.

Never silently wrong: a face is sure when a person confirmed it or the posterior reaches the
threshold; a settlement is final when no face that is unsure could change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from tablectl.engine.events import Call, CallKind, End, Exhaust, Ruling, RulingKind, Start
from tablectl.engine.game import finish
from tablectl.engine.state import HandState
from tablectl.referee import explain
from tablectl.referee.beliefs import Belief, best, face_up, infer, leading, normalise
from tablectl.referee.book import Book, Entry, Fact, call, told
from tablectl.referee.felt import Felt, FeltTile
from tablectl.referee.layout import Layout, layout_of
from tablectl.rules import registry
from tablectl.rules.settlement import Settlement
from tablectl.tiles import NAMES
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile, TableReading

_RECENT_CALLS: Final = 6
_IMPLAUSIBLE: Final = 0.02
"""Prior odds of a reading that breaks a rule against one that doesn't: people do err, rarely."""


@dataclass(frozen=True)
class Thresholds:
    """When the referee is sure, and how long it waits for what must come first.

    Attributes:
        sure: posterior from which a face needs no confirmation.
        patience_s: seconds for which an event out of order waits for the one before it; a button
            press waits as long for the camera to see the discard that it is about.
    """

    sure: float = 0.97
    patience_s: float = 1.5


@dataclass(frozen=True)
class Struck:
    """The book ends before entry ``n`` now; what still holds after it is told again."""

    n: int


class HandFollower:
    """One hand from its deal to its end."""

    def __init__(
        self, t: float, start: Start, geometry: TableGeometry, thresholds: Thresholds
    ) -> None:
        self.rules = registry.get(start.rules)
        self.options: Any = self.rules.options(start.options)
        self.kit = self.rules.equipment(self.options)
        self.geometry = geometry
        self.thresholds = thresholds
        self.felt = Felt(geometry.tile_width_mm)
        self.book = Book()
        self._hu_since: dict[int, float] = {}
        self._open_since: dict[int, float] = {}
        self._calls: list[Fact] = []
        self._resolved: dict[int, tuple[str, float]] = {}
        self._covered: set[tuple[Zone, int | None]] = set()
        self._waiting_since: float | None = None
        self._undone: set[int] = set()
        self._fresh: list[Entry | Struck] = []
        self._layout: tuple[int, Layout] | None = None
        self._deciding: tuple[object, list[int]] | None = None
        self._write(told(t, start))

    # --- what is known ---

    @property
    def layout(self) -> Layout:
        """Which tile lies where by the book; not to be changed."""
        if self._layout is None or self._layout[0] != self.book.version:
            self._layout = (self.book.version, layout_of(self.book.entries, self.kit.seats))
        return self._layout[1]

    @property
    def over(self) -> bool:
        """Whether a valid win or an exhausted wall has ended play."""
        state = self.book.state
        return state is not None and state.over

    @property
    def ended(self) -> bool:
        """Whether the book is closed."""
        return isinstance(self.book.entries[-1].event, End)

    def face(self, tile_id: int) -> str:
        """The face that a tile is taken to have; ``?`` where nothing is known."""
        tile = self.felt.tiles[tile_id]
        if tile.confirmed:
            return tile.confirmed
        if tile_id in self._resolved:
            return self._resolved[tile_id][0]
        return best(tile.belief)[0]

    def sure(self, tile_id: int) -> bool:
        """Whether a tile's face needs no confirmation."""
        tile = self.felt.tiles[tile_id]
        if tile.confirmed:
            return True
        p = self._resolved.get(tile_id, best(tile.belief))[1]
        return p >= self.thresholds.sure

    def alternatives(self, tile_id: int) -> list[tuple[str, float]]:
        """Faces that a tile may have, the most likely first, backs left out."""
        ranked = leading(self._open_belief(tile_id))
        believed = self.face(tile_id)
        return sorted(ranked, key=lambda a: (a[0] != believed, -a[1]))

    def unsure_tiles(self) -> list[int]:
        """Ids of tiles in the book whose face is not sure."""
        ids = {i for entry in self.book.entries for i in entry.fact.all_tiles}
        return [i for i in sorted(ids) if i in self.felt.tiles and not self.sure(i)]

    def take_fresh(self) -> list[Entry | Struck]:
        """What was written, rewritten or struck out since the last call of this method."""
        fresh, self._fresh = self._fresh, []
        return fresh

    # --- what happens ---

    def on_reading(self, t: float, reading: TableReading) -> None:
        """A new stable reading of the felt."""
        if self.ended:
            return
        seen = [tile for tile in map(self._possible, reading.tiles) if tile is not None]
        last = self.layout.last_discard
        may_change = {last[1]} if last else set()
        self._covered = set(reading.covered)
        self.felt.update(
            seen, reading.covered, may_change | self._unexplained(), self.layout.explained
        )
        self._reconsider()
        self._explain(t)

    def on_tick(self, t: float) -> bool:
        """Time has passed: what waited for something to come before it may go on.

        Returns:
            Whether anything has changed.
        """
        before = self.book.version
        if self._waiting_since is not None and not self.ended:
            self._explain(t)
        if self._calls and t - self._calls[0].t >= self.thresholds.patience_s:
            self._write_calls()
        return self.book.version != before

    def on_call(self, t: float, seat: int, kind: CallKind) -> None:
        """A seat pressed a button.

        Buttons are quicker than the camera: the call is written before the claim that it
        announces, or once the discard that it may be about has had time to be seen.
        """
        if self.ended or seat >= self.kit.seats:
            return
        if kind == "hu":
            self._hu_since[seat] = t
        elif kind == "pass":
            self._hu_since.pop(seat, None)
        self._calls.append(call(t, seat, kind))
        self._explain(t)

    def exhaust(self, t: float) -> None:
        """Nobody won and the wall is gone, or the host says that the hand is drawn."""
        self._write(told(t, Exhaust()))

    def rule(self, t: float, seat: int, kind: RulingKind) -> None:
        """The host's ruling on an irregularity."""
        self._write(told(t, Ruling(seat=seat, kind=kind)))

    def end(self, t: float) -> None:
        """Close the book."""
        self._write(told(t, End()))

    def confirm(self, t: float, tile_id: int, face: str) -> None:
        """A person says what a tile is."""
        self.felt.confirm(tile_id, face)
        self._reconsider()
        self._refold()
        if not self.ended:
            self._explain(t)

    def choose_winning_tile(self, t: float, seat: int, tile_id: int) -> None:
        """A person says which tile of a hand laid open was the last one drawn."""
        self._enter_win(t, seat, self.open_hand(seat), self.felt.tiles[tile_id])
        self._explain(t)

    @property
    def refused_win(self) -> Entry | None:
        """A win that the rules refuse, until it is corrected, ruled on or taken back."""
        if self.over:
            return None
        played = [e for e in self.book.entries if e.fact.kind != "told"]
        return played[-1] if played and played[-1].fact.kind == "win" else None

    def take_back_win(self) -> None:
        """Strike out a refused win: the hand goes on."""
        entry = self.refused_win
        if entry is not None:
            self._hu_since.pop(entry.fact.seat, None)
            self._strike(entry)

    def undo(self) -> bool:
        """Strike the newest entry about tiles or calls; its tiles are not read again.

        Returns:
            Whether there was one.
        """
        for entry in reversed(self.book.entries):
            if not isinstance(entry.event, Start):
                self._strike(entry)
                return True
        return False

    def _strike(self, entry: Entry) -> None:
        self._undone.update(i for i in entry.fact.all_tiles if not self._elsewhere(entry, i))
        self.book.drop(entry.n, self.face)
        self._fresh.append(Struck(entry.n))
        self._fresh.extend(self.book.entries[entry.n :])

    # --- settlement ---

    def settlement(self) -> Settlement | None:
        """What the hand pays as it is read now; None while it is played or can't be settled."""
        return None if not self.over else self._settle(self.book)

    @property
    def finished(self) -> HandState:
        """The engine's state with settlement, or why there is none, and the next hand."""
        state = self.book.state
        assert state is not None
        return finish(state)

    def deciding_tiles(self) -> list[int]:
        """Unsure tiles whose other possible faces would change the settlement.

        Where the tiles as read can't be settled at all, those that may be to blame for it.
        """
        if not self.over:
            return []
        known = tuple(
            (i, self.face(i), *(face for face, _ in self.alternatives(i)))
            for i in self.unsure_tiles()
        )  # fmt: skip
        key = (self.book.version, known)
        if self._deciding is None or self._deciding[0] != key:
            self._deciding = (key, self._find_deciding())
        return list(self._deciding[1])

    def _find_deciding(self) -> list[int]:
        now = self.settlement()
        if now is None:
            suspects = self._shown_too_often() or self.unsure_tiles()
            return sorted(suspects, key=lambda i: best(self._open_belief(i))[1])[:1]
        return [i for i in self.unsure_tiles() if self._would_change(now, i)]

    def _shown_too_often(self) -> list[int]:
        """Tiles of a face that lies there more often than the set has it, confirmed ones aside."""
        shown = [i for i in sorted(self.layout.explained) if self.face(i) in NAMES]
        count = self._counted()
        return [
            i for i in shown
            if count[self.face(i)] > self.kit.copies[NAMES.index(self.face(i))]
            and not self.felt.tiles[i].confirmed
        ]  # fmt: skip

    def _would_change(self, now: Settlement, tile_id: int) -> bool:
        for other, _ in self.alternatives(tile_id):
            if other == self.face(tile_id):
                continue

            def face(i: int, other: str = other) -> str:
                return other if i == tile_id else self.face(i)

            trial = Book(self.book.entries)
            trial.refold(face)
            then = self._settle(trial)
            if then is None or (then.delta, then.error) != (now.delta, now.error):
                return True
        return False

    @staticmethod
    def _settle(book: Book) -> Settlement | None:
        state = book.state
        assert state is not None
        return finish(state).settlement

    # --- explaining ---

    def _explain(self, t: float) -> None:
        while (proposal := self._propose(t)) is not None:
            self._adopt(proposal)
        self._waiting_since = (self._waiting_since or t) if self._unexplained() else None

    def _propose(self, t: float) -> explain.Proposal | None:
        if self.refused_win is not None:
            return None
        scene = self._scene(t)
        if self.over:
            return self._reveal(scene)
        rules: Iterable[Callable[[explain.Scene], explain.Proposal | None]] = (
            explain.indicator, explain.flower, self._lone_kong, explain.meld, explain.discard,
            self._win,
        )  # fmt: skip
        for rule in rules:
            proposal = rule(scene)
            if proposal is not None:
                return proposal
        return None

    def _scene(self, t: float) -> explain.Scene:
        waited = self._waiting_since is not None and (
            t - self._waiting_since >= self.thresholds.patience_s
        )
        layout, newest = self.layout, self.book.entries[-1]
        assert self.book.step is not None
        return explain.Scene(
            t=t, felt=self.felt, layout=layout, geometry=self.geometry, seats=self.kit.seats,
            turn=self.book.step.turn, patient=not waited,
            indicator_wanted=self.kit.indicator and layout.indicator is None,
            last_meld=newest.n if newest.fact.kind == "meld" else None,
            called_pung=self._called_pung(newest.fact),
            ignored=frozenset(self._undone),
        )  # fmt: skip

    def _called_pung(self, meld: Fact) -> bool:
        """Whether the seat of a set said Pung for it, so that a fourth tile is another kong."""
        calls = (e.event for e in reversed(self.book.entries[-_RECENT_CALLS:]))
        said = next((c for c in calls if isinstance(c, Call) and c.seat == meld.seat), None)
        return said is not None and said.call == "pung"

    def _adopt(self, proposal: explain.Proposal) -> None:
        if proposal.moved is not None:
            self.felt.moved(*proposal.moved)
        if proposal.instead_of is not None:
            fact = proposal.facts[0]
            self._resolve(fact, until=proposal.instead_of)
            self.book.change(proposal.instead_of, fact, self.face)
            self._fresh.extend(self.book.entries[proposal.instead_of :])
            return
        for fact in proposal.facts:
            if fact.kind in ("meld", "win"):
                self._write_calls()
            self._resolve(fact)
            self._refold()
            self._write(fact)

    def _lone_kong(self, scene: explain.Scene) -> explain.Proposal | None:
        """A single tile laid out as a kong, where the rules know such."""
        fact = explain.lone_kong(scene)
        if fact is None or not self._is_plausible(fact):
            return None
        return explain.Proposal((fact,))

    def _reveal(self, scene: explain.Scene) -> explain.Proposal | None:
        """Another seat's hand laid open after the end of play."""
        for seat in range(self.kit.seats):
            tiles = self.open_hand(seat)
            if tiles and len(tiles) == self.concealed(seat) and not self.layout.hands[seat]:
                ids = tuple(tile.id for tile in tiles)
                return explain.Proposal((Fact("reveal", scene.t, seat=seat, tiles=ids),))
        return None

    def _win(self, scene: explain.Scene) -> explain.Proposal | None:
        """A hand laid open by a seat that called Hu, or that is a winning hand."""
        for seat in range(self.kit.seats):
            tiles = self.open_hand(seat)
            if not tiles:
                continue
            fact, moved = self._read_win(scene.t, seat, tiles)
            if fact is None:
                continue
            if self.called_hu(seat) or self._is_plausible(fact):
                return explain.Proposal((fact,), moved=moved)
        return None

    def open_hand(self, seat: int) -> list[FeltTile]:
        """Tiles that a seat has laid open and that no fact explains yet, from the left."""
        tiles, apart = self._opened(seat)
        return tiles if apart is None else [*tiles, apart]

    def _opened(self, seat: int) -> tuple[list[FeltTile], FeltTile | None]:
        known = self.layout.explained | self._undone
        tiles = [
            tile for tile in self.felt.at(Zone.RACK, seat)
            if tile.id not in known and not tile.face_down
        ]  # fmt: skip
        return explain.open_hand(tiles, seat, self.geometry)

    def concealed(self, seat: int) -> int:
        """Tiles that a seat holds between turns: its hand less three for every set.

        A kong of one tile takes none: its supplement replaces it.
        """
        sets = sum(meld.kind != "lone_kong" for meld in self.layout.melds[seat])
        return self.kit.hand_size - 3 * sets

    def called_hu(self, seat: int) -> bool:
        """Whether a seat has called Hu on what happened last."""
        return seat in self._hu_since

    def apart_unknown(self, seat: int) -> bool:
        """Whether an own draw lies open without its last tile set apart."""
        tiles = self.open_hand(seat)
        return (
            not self.over
            and len(tiles) == self.concealed(seat) + 1
            and self.called_hu(seat)
            and self._opened(seat)[1] is None
        )

    def _read_win(
        self, t: float, seat: int, tiles: list[FeltTile]
    ) -> tuple[Fact | None, tuple[int, int] | None]:
        extra = len(tiles) - self.concealed(seat)
        if extra == 0:
            return self._claimed_win(t, seat, tiles), None
        if extra != 1:
            return None, None
        apart = self._opened(seat)[1]
        if apart is None:
            return None, None
        last = self.layout.last_discard
        if last is not None and last[0] != seat and last[1] not in self.felt.present:
            rest = tuple(tile.id for tile in tiles if tile is not apart)
            fact = Fact(
                "win", t, seat=seat, tiles=rest, by="discard", source=last[0], claimed=last[1]
            )  # fmt: skip
            return fact, (last[1], apart.id)
        if last is not None and last[0] != seat and self._just_opened(t, seat):
            return None, None  # the discard may only be slow to be seen gone
        return self._own_draw(t, seat, tiles, apart), None

    def _just_opened(self, t: float, seat: int) -> bool:
        since = self._open_since.setdefault(seat, t)
        return t - since < self.thresholds.patience_s

    def _own_draw(self, t: float, seat: int, tiles: list[FeltTile], apart: FeltTile) -> Fact:
        rest = tuple(tile.id for tile in tiles if tile.id != apart.id)
        played = any(e.fact.kind in ("discard", "meld") for e in self.book.entries)
        start = self.book.entries[0].event
        assert isinstance(start, Start)
        dealt = not played and seat == start.dealer
        return Fact(
            "win", t, seat=seat, tiles=rest, claimed=apart.id, by="deal" if dealt else "self_draw"
        )  # fmt: skip

    def _claimed_win(self, t: float, seat: int, tiles: list[FeltTile]) -> Fact | None:
        ids = tuple(tile.id for tile in tiles)
        moves = [e for e in self.book.entries if e.fact.kind in ("discard", "meld", "flower")]
        newest = moves[-1].fact if moves else None
        if newest is not None and newest.meld == "added_kong" and newest.seat != seat:
            return Fact(
                "win", t, seat=seat, tiles=ids, by="rob_kong", source=newest.seat,
                claimed=newest.tiles[-1],
            )  # fmt: skip
        last = self.layout.last_discard
        if last is None or last[0] == seat:
            return None
        return Fact(
            "win", t, seat=seat, tiles=ids, by="discard", source=last[0], claimed=last[1]
        )  # fmt: skip

    def _enter_win(self, t: float, seat: int, tiles: list[FeltTile], apart: FeltTile) -> None:
        self._adopt(explain.Proposal((self._own_draw(t, seat, tiles, apart),)))

    # --- faces ---

    def _possible(self, seen: SeenTile) -> SeenTile | None:
        """The tile with faces that this set of tiles has; None if nothing is left of it."""
        kept = {
            name: p for name, p in seen.probabilities.items()
            if name == "back" or self.kit.copies[NAMES.index(name)]
        }  # fmt: skip
        return seen.model_copy(update={"probabilities": kept}) if kept else None

    def _resolve(self, fact: Fact, until: int | None = None) -> None:
        """Decide the faces of a fact's tiles together, by what the rules make plausible."""
        book = self.book
        if until is not None:
            book = Book(self.book.entries[:until])
        self._resolved |= self._posterior(fact, book)

    def _posterior(self, fact: Fact, book: Book) -> dict[int, tuple[str, float]]:
        open_ids = [
            i for i in fact.all_tiles
            if not self.felt.tiles[i].confirmed and not self.felt.tiles[i].face_down
        ]  # fmt: skip
        if not open_ids:
            return {}
        beliefs: list[Belief] = [self._open_belief(i) for i in open_ids]

        def prior(faces: tuple[str, ...]) -> float:
            issues = book.issues_of(fact, dict(zip(open_ids, faces, strict=True)), self.face)
            return float(_IMPLAUSIBLE ** min(len(issues), 2))

        posterior = infer(beliefs, prior)
        faces = posterior.faces
        return {
            tile_id: (faces[index], posterior.marginal(index)[faces[index]])
            for index, tile_id in enumerate(open_ids)
        }

    def _open_belief(self, tile_id: int) -> Belief:
        """What a face-up tile may be: faces of which people named every copy are left out."""
        belief = face_up(self.felt.tiles[tile_id].belief)
        named = Counter(t.confirmed for t in self.felt.tiles.values() if t.confirmed)
        free = {
            face: p for face, p in belief.items()
            if named[face] < self.kit.copies[NAMES.index(face)]
        }  # fmt: skip
        return normalise(free) or belief

    def _is_plausible(self, fact: Fact) -> bool:
        """Whether the most likely faces of a fact's tiles break no rule."""
        faces = self._posterior(fact, self.book)
        likely = {i: face for i, (face, _) in faces.items()}
        return not self.book.issues_of(fact, likely, self.face)

    def _reconsider(self) -> None:
        """Decide unsure faces again after another look, and doubt what cannot be."""
        unsure = set(self.unsure_tiles())
        if not unsure:
            return
        for entry in self.book.entries:
            if unsure & set(entry.fact.all_tiles):
                self._resolve(entry.fact, until=entry.n)
        self._doubt_exchanges()
        self._respect_copies()
        self._refold()

    def _refold(self) -> None:
        self._fresh.extend(self.book.refold(self.face))

    def _write(self, fact: Fact) -> None:
        entry = self.book.add(fact, self.face)
        self._fresh.append(entry)
        if any(name == "fifth_copy" for name, _ in entry.issues):
            self._respect_copies()
            self._refold()
        self._doubt_exchanges()
        if fact.kind in ("discard", "meld"):  # play went on: an older Hu was not meant
            since = fact.t - self.thresholds.patience_s
            self._hu_since = {s: t for s, t in self._hu_since.items() if t >= since}

    def _write_calls(self) -> None:
        calls, self._calls = self._calls, []
        for fact in calls:
            self._write(fact)

    def _respect_copies(self) -> None:
        """Where a face lies more often than the set has it, the least certain tiles are another.

        One of five equal tiles was misread; which one, is as likely as each look was to err. A tile
        that bears more than half of the blame takes its next face, the others lose what they bear.
        """
        counts = self._counted()
        for face in sorted(face for face in counts if face in NAMES):
            over = counts[face] - self.kit.copies[NAMES.index(face)]
            shown = [
                i for i in sorted(self.layout.explained)
                if self.face(i) == face and not self.felt.tiles[i].confirmed
            ]  # fmt: skip
            if over <= 0 or not shown:
                continue
            surely = {i: min(max(self._chance(i, face), 0.001), 0.9999) for i in shown}
            odds = {i: (1.0 - p) / p for i, p in surely.items()}
            for i in shown:
                blame = min(1.0, over * odds[i] / sum(odds.values()))
                rest = {
                    f: p for f, p in self._open_belief(i).items()
                    if f != face and counts[f] < self.kit.copies[NAMES.index(f)]
                }  # fmt: skip
                if blame > 0.5 and rest:
                    other, p = best(normalise(rest))
                    self._resolved[i] = (other, blame * p)
                else:
                    self._resolved[i] = (face, min(surely[i], 1.0 - blame))

    def _chance(self, tile_id: int, face: str) -> float:
        """How likely a tile has a face, by its looks or by its set, whichever says more."""
        resolved, p = self._resolved.get(tile_id, (face, 0.0))
        own = self._open_belief(tile_id).get(face, 0.0)
        return max(own, p) if resolved == face else own

    def _doubt_exchanges(self) -> None:
        """Two tiles that rule out each other's face are no surer than that they aren't exchanged.

        Each was decided by what the other is taken for; where neither is sure by its own look, the
        exchanged reading explains as much.
        """
        shown = self._counted()
        open_ = [
            i for i in sorted(self.layout.explained)
            if self.face(i) in NAMES and not self.felt.tiles[i].confirmed
            and shown[self.face(i)] >= self.kit.copies[NAMES.index(self.face(i))]
            and best(self._open_belief(i))[1] < self.thresholds.sure
        ]  # fmt: skip
        for a, b in combinations(open_, 2):
            face_a, face_b = self.face(a), self.face(b)
            of_a, of_b = self._open_belief(a), self._open_belief(b)
            straight = of_a.get(face_a, 0.0) * of_b.get(face_b, 0.0)
            exchanged = of_a.get(face_b, 0.0) * of_b.get(face_a, 0.0)
            if face_a == face_b or not exchanged:
                continue
            most = straight / (straight + exchanged)
            for i, face in ((a, face_a), (b, face_b)):
                p = self._resolved.get(i, (face, 1.0))[1]
                self._resolved[i] = (face, min(p, most))

    def _counted(self) -> Counter[str]:
        """How often each face lies on the table by the book."""
        return Counter(self.face(i) for i in self.layout.explained)

    def _unexplained(self) -> set[int]:
        return self.felt.present - self.layout.explained - self._undone

    def _elsewhere(self, entry: Entry, tile_id: int) -> bool:
        others = (e for e in self.book.entries if e.n != entry.n)
        return any(tile_id in e.fact.all_tiles for e in others)
