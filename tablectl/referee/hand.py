"""Following one hand: readings and calls in, the book of the hand out.

Never silently wrong: a face is sure when a person confirmed it or the posterior reaches the
threshold; a settlement is final when no face that is unsure could change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from tablectl.engine.events import Call, CallKind, Draw, End, Exhaust, Ruling, RulingKind, Start
from tablectl.engine.game import apply, finish
from tablectl.engine.state import HandState
from tablectl.referee import explain
from tablectl.referee.beliefs import best, flat
from tablectl.referee.book import Book, Entry, Fact, Issue, call, told
from tablectl.referee.doubts import Doubts
from tablectl.referee.faces import Faces
from tablectl.referee.felt import Felt, FeltTile
from tablectl.referee.layout import Layout, layout_of
from tablectl.referee.opened import Opened
from tablectl.referee.walls import Walls
from tablectl.referee.winning import WinReader
from tablectl.rules import registry
from tablectl.rules.settlement import Settlement
from vision.geometry import TableGeometry, Zone
from vision.messages import TableReading

_RECENT_CALLS: Final = 6
_RANK_ISSUES: Final = frozenset({"outranked", "wrong_claimant"})
"""What a claim breaks only by what others have called."""
_NO_JOY: Final = frozenset({"invalid_meld"})
"""What tiles break that are no joy, or no joy of these rules."""
_STRAY_AFTER: Final = 4.0
"""Patiences after which a tile that nothing explains holds up nothing any more."""
_RECENT_ENTRIES: Final = 16
"""Entries among which the place of something that was slow to be seen is looked for."""


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
        self.faces = Faces(self.felt, self.kit, thresholds.sure)
        self.book = Book()
        self.wins = WinReader(self)
        self.doubts = Doubts(self)
        self.walls = Walls(self.kit.seats)
        self.now = t
        self._calls: list[Fact] = []
        self._covered: set[tuple[Zone, int | None]] = set()
        self._waiting: dict[int, float] = {}
        self.undone: set[int] = set()
        self._tried: set[tuple[int, int | None, tuple[Issue, ...]]] = set()
        """(winner, giver, what was wrong) of wins on tiles that were missed, as a person said."""
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
    def standing(self) -> int:
        """Tiles that stand in the walls by the book, the one turned up aside."""
        counts = self.book.entries[-1].state.counts
        return self.kit.total - self.kit.dealt - counts.drawn - counts.indicators

    @property
    def ended(self) -> bool:
        """Whether the book is closed."""
        return isinstance(self.book.entries[-1].event, End)

    def face(self, tile_id: int) -> str:
        """The face that a tile is taken to have; ``?`` where nothing is known."""
        return self.faces.face(tile_id)

    def sure(self, tile_id: int) -> bool:
        """Whether a tile's face needs no confirmation."""
        return self.faces.sure(tile_id)

    def alternatives(self, tile_id: int) -> list[tuple[str, float]]:
        """Faces that a tile may have, the most likely first, backs left out."""
        return self.faces.alternatives(tile_id)

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
        self.now = t
        seen = [tile for tile in map(self.faces.possible, reading.tiles) if tile is not None]
        last = self.layout.last_discard
        may_change = {last[1]} if last else set()
        self._covered = set(reading.covered)
        self.walls.see(reading.walls, self.standing)
        self.felt.update(
            seen, reading.covered, may_change | self.unexplained(), self.layout.explained
        )
        self._reconsider()
        self._explain(t)

    def on_tick(self, t: float) -> bool:
        """Time has passed: what waited for something to come before it may go on.

        Returns:
            Whether anything has changed.
        """
        before = self._asks()
        self.now = t
        if self._waiting and not self.ended:
            self._explain(t)
        if self._calls and t - self._calls[0].t >= self.thresholds.patience_s:
            self._write_calls()
        return self._asks() != before

    def _asks(self) -> tuple[object, ...]:
        """What time alone may change in what is asked."""
        seats = range(self.kit.seats)
        short = tuple(self.wins.short_of(seat) is not None for seat in seats)
        return self.book.version, short, self.waits, tuple(d.id for d in self.doubts.open())

    @property
    def waits(self) -> bool:
        """Whether play is over and tiles were seen last that may still find their place."""
        return self.over and not self.doubts.late and bool(self.doubts.strays())

    def on_call(self, t: float, seat: int, kind: CallKind) -> None:
        """A seat pressed a button.

        Buttons are quicker than the camera: the call is written before the claim that it
        announces, or once the discard that it may be about has had time to be seen.
        """
        if self.ended or seat >= self.kit.seats:
            return
        if kind == "hu":
            self.wins.on_hu(t, seat)
        elif kind == "pass":
            self.wins.on_pass(seat)
        self._calls.append(call(t, seat, kind))
        self._explain(t)

    def exhaust(self, t: float) -> None:
        """Nobody won and the wall is gone, or the host says that the hand is drawn."""
        for draw in self._last_draws():
            self._write(told(t, draw))
        self._write(told(t, Exhaust()))

    @property
    def wall_gone(self) -> bool:
        """Whether no tile is left to draw but those of a last stage in which nobody throws.

        Who has claimed the last discard of all must still throw one.
        """
        step, state = self.book.step, self.book.state
        assert step is not None
        assert state is not None
        throws = state.phase == "act" and not state.play.draws_only(state)
        return (step.wall == 0 and not throws) or bool(self._last_draws())

    def _last_draws(self) -> list[Draw]:
        """The draws of a last stage without discards (M19), which no camera sees; else none."""
        state, draws = self.book.state, list[Draw]()
        while state is not None and state.wall and state.turn is not None:
            last_stage = state.draws_next(state.after(state.turn))
            draws.append(Draw(seat=state.after(state.turn) if last_stage else state.turn))
            state, _ = apply(state, draws[-1])
            if not state.play.draws_only(state):
                return []
        return draws

    def rule(self, t: float, seat: int, kind: RulingKind) -> None:
        """The host's ruling on an irregularity."""
        self._write(told(t, Ruling(seat=seat, kind=kind)))

    def end(self, t: float) -> None:
        """Close the book."""
        self._write(told(t, End()))

    def confirm(self, t: float, tile_id: int, face: str) -> None:
        """A person says what a tile is."""
        self.felt.confirm(tile_id, face)
        self._strike_false_flowers()
        self._reconsider()
        self._refold()
        if not self.ended:
            self._explain(t)

    def deny(self, t: float, tile_id: int) -> None:
        """A person says that there is no such tile: what rests on it is read anew without it."""
        self.undone.add(tile_id)
        for entry in reversed(self.book.entries):
            if tile_id in entry.fact.all_tiles:
                self._strike(entry, again=True)
        self._explain(t)

    def void(self) -> None:
        """Strike out all that has happened since the deal."""
        self.book.cut(1)
        self._fresh.append(Struck(1))

    def _strike_false_flowers(self) -> None:
        """A tile that was taken for a flower and is none is read again as what it is."""
        for entry in reversed(self.book.entries):
            if entry.fact.kind == "flower":
                tile = self.felt.tiles[entry.fact.tiles[0]]
                if tile.confirmed is not None and not explain.is_flower(tile):
                    self._strike(entry, again=True)

    def choose_winning_tile(self, t: float, seat: int, tile_id: int) -> None:
        """A person says which tile of a hand laid open was the last one drawn."""
        lying = self.wins.opened(seat)
        if lying is not None:
            drawn = self.felt.tiles[tile_id]
            self._adopt(explain.Proposal((self.wins.own_draw(t, lying, drawn),)))
        self._explain(t)

    def add_to_hand(self, t: float, seat: int, face: str) -> None:
        """A person says which tile of a hand laid open is not seen."""
        lying = self.wins.opened(seat)
        if lying is not None:
            place = lying.next_place(self.geometry)
            self.felt.assume(Zone.RACK, seat, place, {face: 1.0}, confirmed=face)
            self.now = t
            self.wins.told_of(seat)
        self._explain(t)

    def assume_won_with(self, t: float, seat: int, giver: int | None) -> None:
        """A person says that the winning tile was drawn, or thrown by a seat, and not seen.

        Its face is what makes the hand a winning one; where that is not certain it is asked.
        """
        entry = self.refused_win
        if entry is None:
            return
        self._tried.add((seat, giver, entry.issues))
        self._strike(entry, again=True)
        lying = self.wins.opened(seat)
        if giver is not None and lying is not None:
            self._adopt(self._won_unseen(t, lying, giver))
        elif any(name == "out_of_turn" for name, _ in entry.issues):
            self._assume_turns_up_to(t, seat)
        elif lying is not None:
            place = lying.next_place(self.geometry)
            tile = self.felt.assume(Zone.RACK, seat, place, flat(self.kit.copies))
            self._adopt(explain.Proposal((self.wins.own_draw(t, lying, self.felt.tiles[tile]),)))
        self.wins.on_hu(t, seat)
        long_ago = t - 2 * self.thresholds.patience_s  # nothing is waited for any more
        self._waiting = dict.fromkeys(self.unexplained(), long_ago)
        self._explain(t)

    def may_have_won_unseen(self, refused: Entry, giver: int | None) -> bool:
        """Whether a refused win may be on a tile that was missed: drawn, or thrown by a seat.

        Where that was said before and the same is still wrong, it does not help.
        """
        seat = refused.fact.seat
        if giver is None and not self._lacks_a_draw(refused):
            return False
        return giver != seat and (seat, giver, refused.issues) not in self._tried

    def _lacks_a_draw(self, refused: Entry) -> bool:
        """Whether a tile was drawn unseen, or tiles thrown before the draw were missed."""
        fact = refused.fact
        most = self.concealed(fact.seat) + (fact.by != "self_draw")
        return len(fact.all_tiles) <= most or any(n == "out_of_turn" for n, _ in refused.issues)

    def _won_unseen(self, t: float, lying: Opened, giver: int) -> explain.Proposal:
        """A win on a discard that was taken up, or that lies in its river, before it was seen."""
        taken = lying.apart if lying.extra == 1 else None
        claimed = self.assume_discard(giver) if taken is None else taken.id
        hand = tuple(tile.id for tile in lying.tiles if tile.id != claimed)
        win = Fact(
            "win", t, seat=lying.seat, tiles=hand, by="discard", source=giver, claimed=claimed
        )  # fmt: skip
        return explain.Proposal((Fact("discard", t, seat=giver, tiles=(claimed,)), win))

    def _assume_turns_up_to(self, t: float, seat: int) -> None:
        """The seats whose turn it would be have thrown tiles that nobody saw."""
        for _ in range(self.kit.seats - 1):
            turn = None if self.book.step is None else self.book.step.turn
            if turn is None or turn == seat:
                return
            fact = Fact("discard", t, seat=turn, tiles=(self.assume_discard(turn),))
            self._adopt(explain.Proposal((fact,)))

    def assume_discard(self, seat: int) -> int:
        """Put a tile that nobody has seen into a seat's river. Returns its id."""
        place = self.geometry.to_table(seat, *self._next_slot(seat))
        return self.felt.assume(Zone.RIVER, seat, place, flat(self.kit.copies))

    def write_before(self, n: int, fact: Fact) -> None:
        """Write down what happened before entry ``n``."""
        self._resolve(fact, until=n)
        self.book.insert(n, fact, self.face)
        self._told_again(n)

    def replace_entry(self, n: int, fact: Fact) -> None:
        """Write another fact in the place of entry ``n``."""
        self._resolve(fact, until=n)
        self.book.change(n, fact, self.face)
        self._told_again(n)

    def _told_again(self, n: int) -> None:
        self._fresh.extend(self.book.entries[n:])
        self._reconsider()

    def _next_slot(self, seat: int) -> tuple[float, float]:
        """Where a seat's next discard goes, in its frame: beyond all that lies there."""
        lying = self.felt.at(Zone.RIVER, seat)
        taken = [self.geometry.to_seat(seat, tile.x, tile.y) for tile in lying]
        slots = (self.geometry.river_slot(n) for n in range(len(lying), 40))
        free = (
            slot for slot in slots
            if all(abs(slot[0] - x) + abs(slot[1] - y) > 0.9 for x, y in taken)
        )  # fmt: skip
        return next(free, self.geometry.river_slot(len(lying)))

    def say_whole(self, t: float, seat: int) -> None:
        """A person says that all of a hand laid open is seen."""
        self.wins.say_whole(seat)
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
            self.wins.on_pass(entry.fact.seat)
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

    def _strike(self, entry: Entry, *, again: bool = False) -> None:
        """Take an entry out of the book; its tiles are read anew only with ``again``."""
        if not again:
            self.undone.update(i for i in entry.fact.all_tiles if not self._elsewhere(entry, i))
        self.book.drop(entry.n, self.face)
        self._fresh.append(Struck(entry.n))
        self._fresh.extend(self.book.entries[entry.n :])

    # --- settlement ---

    def settlement(self) -> Settlement | None:
        """What the hand pays as it is read now; None while it is played or can't be settled."""
        return self.book.settled

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
            suspects = self.faces.shown_too_often(self.layout) or self.unsure_tiles()
            return sorted(suspects, key=lambda i: best(self.faces.open_belief(i))[1])[:1]
        unsure = self._winners_first(self.unsure_tiles())
        return [i for i in unsure if self._would_change(now, i, unsure)]

    def _winners_first(self, ids: list[int]) -> list[int]:
        """Tiles in the order of asking: the answer about a winner's often settles others."""
        state, layout = self.book.state, self.layout
        assert state is not None
        theirs: set[int] = set()
        for win in state.wins:
            theirs.update(layout.flowers[win.seat], layout.hands[win.seat])
            theirs.update(i for meld in layout.melds[win.seat] for i in meld.tiles)
        return sorted(ids, key=lambda i: (i not in theirs, i))

    def _would_change(self, now: Settlement, tile_id: int, unsure: list[int]) -> bool:
        mine = self.face(tile_id)
        for other, _ in self.alternatives(tile_id):
            if other == mine:
                continue
            then = [self._settled_with({tile_id: other})]
            if then[0] is None and mine != "back":
                # A copy too many: then one that looks so is another.
                holders = [i for i in unsure if i != tile_id and self.face(i) == other]
                then = [self._settled_with({tile_id: other, i: mine}) for i in holders]
            # What can't be settled can't be: some other tile would be there too often.
            if any(s is not None and (s.delta, s.error) != (now.delta, now.error) for s in then):
                return True
        return False

    def _settled_with(self, faces: dict[int, str]) -> Settlement | None:
        """The settlement, were some tiles these faces."""
        return self._read_with(faces).settled

    def _read_with(self, faces: dict[int, str]) -> Book:
        """The book, were some tiles these faces."""
        trial = Book(self.book.entries)
        trial.refold(lambda i: faces.get(i) or self.face(i))
        return trial

    # --- explaining ---

    def _explain(self, t: float) -> None:
        self.now = t
        stale = self.wins.stale()
        if stale is not None:
            self._strike(stale, again=True)
        while (proposal := self._propose(t)) is not None:
            self._adopt(proposal)
        waiting = self.unexplained()
        self._waiting = {i: self._waiting.get(i, t) for i in sorted(waiting)}

    def _propose(self, t: float) -> explain.Proposal | None:
        if self.refused_win is not None:
            return None
        scene = self._scene(t)
        if self.over:
            return self.wins.another(scene) or self._reveal(scene) or self._late_flower(scene)
        rules: Iterable[Callable[[explain.Scene], explain.Proposal | None]] = (
            explain.indicator, explain.flower, self._lone_kong, self._joy, explain.meld,
            explain.incomplete,
            explain.discard,
            self.wins.propose,
        )  # fmt: skip
        for rule in rules:
            proposal = rule(scene)
            if proposal is not None:
                return proposal
        return None

    def _move_flowers_before(self, claimed: int) -> None:
        """Nobody draws between a discard and its claim: flowers seen there were laid earlier."""
        thrown = [e.n for e in self.book.entries if e.fact.tiles == (claimed,)]
        first = thrown[-1] if thrown else len(self.book.entries)
        for entry in [e for e in self.book.entries[first:] if e.fact.kind == "flower"]:
            self.book.drop(entry.n, self.face)
            earlier = self.doubts.turn_before(entry.fact.seat)
            self.write_before(min(earlier, first), entry.fact)
            first += 1

    def _waited(self, t: float) -> float:
        """For how long what was seen last has waited to be explained; old strays don't count."""
        lately = [
            t - since for since in self._waiting.values()
            if t - since < _STRAY_AFTER * self.thresholds.patience_s
        ]  # fmt: skip
        return max(lately, default=math.inf if self._waiting else 0.0)

    def _late_flower(self, scene: explain.Scene) -> explain.Proposal | None:
        """A flower that was slow to be seen; what is seen later still is asked about."""
        return None if self.doubts.late else explain.flower(scene)

    def _scene(self, t: float) -> explain.Scene:
        patience = self.thresholds.patience_s
        waited = self._waited(t)
        layout = self.layout
        newest = next(e for e in reversed(self.book.entries) if not isinstance(e.fact.told, Call))
        assert self.book.step is not None
        return explain.Scene(
            t=t, felt=self.felt, layout=layout, geometry=self.geometry, seats=self.kit.seats,
            turn=self.book.step.turn, patient=waited < patience, claim_due=waited < 2 * patience,
            indicator_wanted=self.kit.indicator and layout.indicator is None,
            last_meld=newest.n if newest.fact.kind == "meld" else None,
            said_pung=frozenset(seat for seat in range(self.kit.seats) if self._said_pung(seat)),
            ignored=frozenset(self.undone), covered=frozenset(self._covered),
        )  # fmt: skip

    def _said_pung(self, seat: int) -> bool:
        """Whether a seat's last call is Pung, so that a fourth tile is another kong."""
        told = [entry.fact.told for entry in self.book.entries[-_RECENT_CALLS:]]
        told += [fact.told for fact in self._calls]
        said = [event.call for event in told if isinstance(event, Call) and event.seat == seat]
        return said[-1:] == ["pung"]

    def _adopt(self, proposal: explain.Proposal) -> None:
        if proposal.moved is not None:
            self.felt.moved(*proposal.moved)
        if proposal.assumed is not None:
            proposal = self._with_assumed(proposal, proposal.assumed)
        if proposal.unseen is not None:
            self.felt.relocate(*proposal.unseen)
        if proposal.instead_of is not None:
            self.replace_entry(proposal.instead_of, proposal.facts[0])
            return
        for fact in proposal.facts:
            if fact.kind in ("meld", "win") and not proposal.late:
                self._write_calls()
            if fact.kind == "win":
                self._excuse_claims(fact.seat)
            self._take_for_backs(fact)
            self._resolve(fact)
            self._refold()
            self._write_in_place(fact)

    def _with_assumed(
        self, proposal: explain.Proposal, place: tuple[float, float]
    ) -> explain.Proposal:
        """The proposal with the unseen tile of its first fact on the felt."""
        fact = proposal.facts[0]
        tile = self.felt.assume(Zone.EXPOSED, fact.seat, place, flat(self.kit.copies))
        tiles = tuple(tile if i == explain.ASSUMED else i for i in fact.tiles)
        return replace(proposal, facts=(replace(fact, tiles=tiles),), assumed=None)

    def _take_for_backs(self, fact: Fact) -> None:
        """What is not read in a closed kong lies face down, as its outer tiles do."""
        for i in fact.tiles if fact.meld == "closed_kong" else ():
            if self.felt.tiles[i].unread:
                self.felt.confirm(i, "back")

    def _write_in_place(self, fact: Fact) -> None:
        """Write a fact where it breaks least: what was slow to be seen happened earlier."""
        end = len(self.book.entries)
        place = end
        if fact.kind == "flower" and self.over:
            self.write_before(self.doubts.turn_before(fact.seat), fact)
            return
        if fact.kind == "meld" and fact.claimed is not None:
            self._move_flowers_before(fact.claimed)
            end = place = len(self.book.entries)
        if fact.kind in ("discard", "meld", "flower"):
            place = self.book.best_place(fact, self.face, self._earliest(fact))
        if place == end:
            self._write(fact)
            return
        self.book.insert(place, fact, self.face)
        self._fresh.extend(self.book.entries[place:])
        self.faces.doubt_exchanges(self.layout)

    def _earliest(self, fact: Fact) -> int:
        """Entry before which a fact cannot be written.

        A set that only a better call speaks against came after a call that was heard long before
        it was seen. What was called meanwhile may be meant for the next tile.
        """
        entries = self.book.entries
        first = len(entries) - _RECENT_ENTRIES
        if fact.kind != "meld":
            return first
        if fact.meld == "joy":
            return self._earliest_joy(fact.seat)
        broken = {name for name, _ in self.book.issues_of(fact, {}, self.face)}
        if not broken or not broken <= _RANK_ISSUES:
            return first
        seen = min(self._waiting.get(i, fact.t) for i in fact.tiles)
        heard = (
            e.n for e in entries
            if isinstance(e.event, Call) and e.fact.seat != fact.seat
            and seen - e.fact.t > 2 * self.thresholds.patience_s
        )  # fmt: skip
        return max((first, *(n + 1 for n in heard)))

    def _earliest_joy(self, seat: int) -> int:
        """In the own turn a joy is laid down now, in time or not; else in the turn before."""
        entries = self.book.entries
        if self.book.step is not None and self.book.step.turn == seat:
            return len(entries)
        own = [e.n for e in entries if e.fact.kind == "discard" and e.fact.seat == seat]
        return own[-1] if own else 1

    def _excuse_claims(self, winner: int) -> None:
        """A seat that wins without another call had called early: no claim went before it."""
        if self.wins.called_hu(winner):
            return
        for entry in list(self.book.entries):
            calls = [
                e.n for e in self.book.entries[: entry.n]
                if isinstance(e.event, Call) and e.event.call == "hu" and e.fact.seat == winner
            ]  # fmt: skip
            outranked = {name for name, _ in entry.issues} & _RANK_ISSUES
            if calls and outranked and entry.fact.kind == "meld":
                self.book.drop(entry.n, self.face)
                self.book.insert(calls[-1], entry.fact, self.face)
                self._fresh.extend(self.book.entries[calls[-1] :])

    def _lone_kong(self, scene: explain.Scene) -> explain.Proposal | None:
        """A single tile laid out as a kong, where the rules know such."""
        fact = explain.lone_kong(scene)
        if fact is None or not self.faces.plausible(fact, self.book):
            return None
        return explain.Proposal((fact,))

    def _joy(self, scene: explain.Scene) -> explain.Proposal | None:
        """Own honours laid out as a joy, where the rules have such; out of time it is told."""
        for fact in explain.joys(scene):
            if any(not self.faces.breaks(fact, book) & _NO_JOY for book in self._with_treasures()):
                return explain.Proposal((fact,))
        return None

    def _with_treasures(self) -> Iterator[Book]:
        """The book for every face that the indicator may have, the likeliest first."""
        yield self.book
        shown = self.layout.indicator
        if shown is None or self.sure(shown):
            return
        for other, _ in self.alternatives(shown)[1:]:
            yield self._read_with({shown: other})

    def _reveal(self, scene: explain.Scene) -> explain.Proposal | None:
        """Another seat's hand laid open after the end of play."""
        for seat in range(self.kit.seats):
            lying = self.wins.opened(seat)
            if lying is None:
                continue
            self.wins.rested(scene.t, lying)
            tiles = lying.tiles
            if tiles and len(tiles) == self.concealed(seat) and not self.layout.hands[seat]:
                ids = tuple(tile.id for tile in tiles)
                return explain.Proposal((Fact("reveal", scene.t, seat=seat, tiles=ids),))
        return None

    def open_hand(self, seat: int) -> list[FeltTile]:
        """Tiles that a seat has laid open and that no fact explains yet, from the left."""
        return self.wins.open_hand(seat)

    def concealed(self, seat: int) -> int:
        """Tiles that a seat holds between turns: its hand less three for every set.

        A kong of one tile takes none: its supplement replaces it.
        """
        sets = sum(meld.kind != "lone_kong" for meld in self.layout.melds[seat])
        return self.kit.hand_size - 3 * sets

    def called_hu(self, seat: int) -> bool:
        """Whether a seat has called Hu on what happened last."""
        return self.wins.called_hu(seat)

    # --- faces ---

    def _resolve(self, fact: Fact, until: int | None = None) -> None:
        """Decide the faces of a fact's tiles, as of the book before entry ``until``."""
        self.faces.resolve(fact, self.book if until is None else Book(self.book.entries[:until]))

    def _reconsider(self) -> None:
        """Decide unsure faces again after another look, and doubt what cannot be."""
        unsure = set(self.unsure_tiles())
        if not unsure:
            return
        for entry in self.book.entries:
            if unsure & set(entry.fact.all_tiles):
                self._resolve(entry.fact, until=entry.n)
        self.faces.doubt_exchanges(self.layout)
        self.faces.respect_copies(self.layout)
        self._refold()

    def _refold(self) -> None:
        self._fresh.extend(self.book.refold(self.face))

    def _write(self, fact: Fact) -> None:
        entry = self.book.add(fact, self.face)
        self._fresh.append(entry)
        if any(name == "fifth_copy" for name, _ in entry.issues):
            self.faces.respect_copies(self.layout)
            self._refold()
        self.faces.doubt_exchanges(self.layout)
        if fact.kind in ("discard", "meld"):  # play went on: an older Hu was not meant
            self.wins.play_went_on(fact.t - self.thresholds.patience_s)

    def _write_calls(self) -> None:
        calls, self._calls = self._calls, []
        for fact in calls:
            self._write(fact)

    def unexplained(self) -> set[int]:
        """Ids of the tiles on the felt that belong to no fact."""
        return self.felt.present - self.layout.explained - self.undone

    def _elsewhere(self, entry: Entry, tile_id: int) -> bool:
        others = (e for e in self.book.entries if e.n != entry.n)
        return any(tile_id in e.fact.all_tiles for e in others)
