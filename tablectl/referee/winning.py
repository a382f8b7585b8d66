"""Reading wins: who lays a hand open, on which tile it is won, and whether all of it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tablectl.engine.events import Start
from tablectl.referee import explain
from tablectl.referee.beliefs import normalise
from tablectl.referee.book import Entry, Fact
from tablectl.referee.explain import Proposal, Scene
from tablectl.referee.felt import FeltTile
from tablectl.referee.opened import Opened, opened
from tablectl.tiles import N_PLAYING, NAMES
from vision.geometry import Zone

if TYPE_CHECKING:
    from tablectl.referee.hand import HandFollower

_STRAY: Final = -1
"""Id of a tile that is only thought of."""
_UNSEEN_AT_MOST: Final = 2
"""Tiles that a hand laid open may seem to lack at first."""


class WinReader:
    """Follows the hands laid open in one hand of play."""

    def __init__(self, hand: HandFollower) -> None:
        self._hand = hand
        self._hu_since: dict[int, float] = {}
        self._lying: dict[int, tuple[frozenset[int], float]] = {}
        self._whole: set[frozenset[int]] = set()
        self._read: set[tuple[object, ...]] = set()

    # --- calls ---

    def on_hu(self, t: float, seat: int) -> None:
        """A seat calls Hu."""
        self._hu_since[seat] = t

    def on_pass(self, seat: int) -> None:
        """A seat takes its call back, or its win was struck out."""
        self._hu_since.pop(seat, None)

    def play_went_on(self, since: float) -> None:
        """Calls before that time were not meant, but of a seat whose hand lies open since.

        That one won on a tile that the eye was slow to see.
        """
        self._hu_since = {
            s: t for s, t in self._hu_since.items() if t >= since or self._lies_open(s)
        }

    def called_hu(self, seat: int) -> bool:
        """Whether a seat has called Hu on what happened last."""
        return seat in self._hu_since

    # --- what lies open ---

    def opened(self, seat: int) -> Opened | None:
        """What a seat has laid open and no fact explains; None where nothing lies there."""
        hand = self._hand
        known = hand.layout.explained | hand.undone
        tiles = [
            tile for tile in hand.felt.at(Zone.RACK, seat)
            if tile.id not in known and not tile.face_down
        ]  # fmt: skip
        if not tiles:
            return None
        row, apart = explain.open_hand(tiles, seat, hand.geometry)
        return opened(seat, row, apart, hand.concealed(seat), hand.geometry)

    def _lies_open(self, seat: int) -> bool:
        """Whether all of a hand, or nearly, has been laid open."""
        lying = self.opened(seat)
        return lying is not None and lying.extra >= -_UNSEEN_AT_MOST

    def open_hand(self, seat: int) -> list[FeltTile]:
        """Tiles that a seat has laid open and that no fact explains yet, from the left."""
        lying = self.opened(seat)
        return [] if lying is None else list(lying.tiles)

    def rested(self, t: float, lying: Opened) -> bool:
        """Whether a hand has lain like this long enough for the rest of it to have been seen."""
        ids, since = self._lying.get(lying.seat, (frozenset(), t))
        if ids != lying.ids:
            self._lying[lying.seat] = (lying.ids, t)
            return False
        return t - since >= self._hand.thresholds.patience_s

    def short_of(self, seat: int) -> Opened | None:
        """A hand laid open that seems to lack a tile, long enough to ask.

        A winner's, or after the end one that is paid for.
        """
        lying = self.opened(seat) if self._calls_now(seat) or self._is_paid(seat) else None
        if lying is None or lying.short not in ("short", "maybe") or lying.ids in self._whole:
            return None
        ids, since = self._lying.get(seat, (frozenset(), self._hand.now))
        rested = self._hand.now - since >= self._hand.thresholds.patience_s
        return lying if ids == lying.ids and rested else None

    def apart_unknown(self, seat: int) -> bool:
        """Whether an own draw lies open without its last tile set apart."""
        lying = self.opened(seat) if self._calls_now(seat) else None
        return lying is not None and lying.extra == 1 and lying.apart is None

    def _calls_now(self, seat: int) -> bool:
        return not self._hand.over and self.called_hu(seat)

    def told_of(self, seat: int) -> None:
        """A person has looked at a hand laid open: nothing of it is waited for any more."""
        lying = self.opened(seat)
        if lying is not None:
            since = self._hand.now - self._hand.thresholds.patience_s
            self._lying[seat] = (lying.ids, since)

    def _is_paid(self, seat: int) -> bool:
        """Whether the hand can't be settled without the tiles that a seat lays open."""
        hand = self._hand
        return hand.over and not hand.layout.hands[seat] and hand.settlement() is None

    def say_whole(self, seat: int) -> None:
        """A person says that nothing is missing from a hand laid open."""
        lying = self.opened(seat)
        if lying is not None:
            self._whole.add(lying.ids)

    # --- wins ---

    def propose(self, scene: Scene) -> Proposal | None:
        """A hand laid open by a seat that called Hu, or that is a winning hand."""
        for seat in range(self._hand.kit.seats):
            lying = self.opened(seat)
            if lying is None:
                continue
            rested = self.rested(scene.t, lying)
            seen = rested and not scene.discard_hidden()
            fact, moved = self._fact(scene.t, lying, rested=seen)
            if fact is None:
                continue
            sound = lying.short == "whole" or lying.ids in self._whole
            claims = self.called_hu(seat) and rested and (sound or lying.short == "long")
            if claims or (sound and self._hand.faces.plausible(fact, self._hand.book)):
                return Proposal((fact,), moved=moved)
        return None

    def another(self, scene: Scene) -> Proposal | None:
        """After a win on a discard: another seat that wins on the same tile, where it may."""
        hand = self._hand
        state = hand.book.state
        assert state is not None
        if state.play.winners != "all" or not state.wins or state.wins[0].by != "discard":
            return None
        for seat in range(hand.kit.seats):
            lying = self.opened(seat) if self.called_hu(seat) else None
            if lying is None or lying.extra != 0 or any(w.seat == seat for w in state.wins):
                continue
            first = next(e.fact for e in hand.book.entries if e.fact.kind == "win")
            fact = Fact(
                "win", scene.t, seat=seat, tiles=tuple(tile.id for tile in lying.tiles),
                by="discard", source=first.source, claimed=first.claimed,
            )  # fmt: skip
            if hand.faces.plausible(fact, hand.book):
                return Proposal((fact,))
        return None

    def stale(self) -> Entry | None:
        """The newest win, where tiles that it does not explain have come to light since.

        The hand may have been laid open slowly or seen slowly; a win that the rules refuse may
        have been read before something that came first.
        """
        hand = self._hand
        closing = [e for e in hand.book.entries if e.fact.kind not in ("told", "reveal")]
        if not closing or closing[-1].fact.kind != "win":
            return None
        entry = closing[-1]
        refused = not hand.over
        if not refused and hand.now - entry.fact.t > 2 * hand.thresholds.patience_s:
            return None
        fresh = frozenset(
            i for i in hand.unexplained()
            if self._belongs(hand.felt.tiles[i], entry.fact.seat, refused=refused)
        )  # fmt: skip
        key = (entry.fact.seat, entry.fact.all_tiles, fresh)
        if not fresh or key in self._read:
            return None
        self._read.add(key)
        return entry

    @staticmethod
    def _belongs(tile: FeltTile, seat: int, *, refused: bool) -> bool:
        if tile.zone is Zone.RACK:
            return tile.seat == seat and not tile.face_down
        return refused and tile.zone in (Zone.RIVER, Zone.EXPOSED)

    def _fact(
        self, t: float, lying: Opened, *, rested: bool
    ) -> tuple[Fact | None, tuple[int, int] | None]:
        if lying.extra == 1:
            return self._with_last_tile(t, lying, rested=rested)
        odd = lying.short == "long" or lying.ids in self._whole
        if lying.extra == 0 or (odd and self.called_hu(lying.seat)):
            return self._claimed_win(t, lying), None
        return None, None

    def _with_last_tile(
        self, t: float, lying: Opened, *, rested: bool
    ) -> tuple[Fact | None, tuple[int, int] | None]:
        """All tiles of a winning hand lie there: drawn, or taken from a river."""
        hand, seat = self._hand, lying.seat
        last = hand.layout.last_discard
        if last is not None and last[0] != seat and last[1] not in hand.felt.present:
            taken = hand.felt.tiles[last[1]]
            now = lying.apart or max(lying.row, key=lambda tile: explain.likeness(tile, taken))
            rest = tuple(tile.id for tile in lying.tiles if tile is not now)
            fact = Fact(
                "win", t, seat=seat, tiles=rest, by="discard", source=last[0], claimed=last[1]
            )  # fmt: skip
            return fact, (last[1], now.id)
        if lying.apart is None or (last is not None and last[0] != seat and not rested):
            return None, None  # the discard may only be slow to be seen gone
        return self.own_draw(t, lying, lying.apart), None

    def own_draw(self, t: float, lying: Opened, drawn: FeltTile) -> Fact:
        """A win on the tile drawn last."""
        hand = self._hand
        played = any(e.fact.kind in ("discard", "meld") for e in hand.book.entries)
        start = hand.book.entries[0].event
        assert isinstance(start, Start)
        dealt = not played and lying.seat == start.dealer
        return Fact(
            "win", t, seat=lying.seat, claimed=drawn.id, by="deal" if dealt else "self_draw",
            tiles=tuple(tile.id for tile in lying.tiles if tile.id != drawn.id),
        )  # fmt: skip

    def _claimed_win(self, t: float, lying: Opened) -> Fact | None:
        hand, seat = self._hand, lying.seat
        ids = tuple(tile.id for tile in lying.tiles)
        moves = [e for e in hand.book.entries if e.fact.kind in ("discard", "meld", "flower")]
        newest = moves[-1].fact if moves else None
        if newest is not None and newest.meld == "added_kong" and newest.seat != seat:
            return Fact(
                "win", t, seat=seat, tiles=ids, by="rob_kong", source=newest.seat,
                claimed=newest.tiles[-1],
            )  # fmt: skip
        last = hand.layout.last_discard
        if last is None or last[0] == seat:
            return None
        return Fact(
            "win", t, seat=seat, tiles=ids, by="discard", source=last[0], claimed=last[1]
        )  # fmt: skip

    # --- what may be missing ---

    def waits_for_a_discard(self) -> int | None:
        """The seat that called Hu and lies open for a discard, where none is to be claimed.

        Long enough for a discard that was slow to be seen.
        """
        hand = self._hand
        for seat in range(hand.kit.seats):
            lying = self.opened(seat) if self._calls_now(seat) else None
            if lying is None or lying.extra != 0 or self._claimed_win(hand.now, lying) is not None:
                continue
            ids, since = self._lying.get(seat, (frozenset(), hand.now))
            if ids == lying.ids and hand.now - since >= 2 * hand.thresholds.patience_s:
                return seat
        return None

    def missing_faces(self, lying: Opened) -> list[tuple[str, float]]:
        """Faces that the one tile missing from a hand may have, the most likely first.

        Those that make the hand a winning one, by how many copies are not to be seen.
        """
        hand = self._hand
        shown = hand.faces.counted(hand.layout)
        shown.update(hand.face(tile.id) for tile in lying.tiles)
        odds: dict[str, float] = {}
        for index, face in enumerate(NAMES[:N_PLAYING]):
            left = hand.kit.copies[index] - shown[face]
            if left > 0 and (hand.over or self._wins_with(lying, face)):
                odds[face] = float(left)
        return list(normalise(odds).items())

    def _wins_with(self, lying: Opened, face: str) -> bool:
        """Whether the hand would win with one tile more of this face."""
        hand, t = self._hand, self._hand.now
        last = hand.layout.last_discard
        taken = last is not None and last[0] != lying.seat and last[1] not in hand.felt.present
        ids = tuple(tile.id for tile in lying.tiles)
        if lying.extra == -1:
            base = self._claimed_win(t, lying)
            fact = None if base is None else _with(base, (*ids, _STRAY))
        elif lying.apart is None or not taken:
            drawn = _STRAY if lying.apart is None else lying.apart.id
            rest = ids if lying.apart is None else tuple(i for i in ids if i != drawn)
            stray = () if lying.apart is None else (_STRAY,)
            fact = Fact("win", t, seat=lying.seat, tiles=(*rest, *stray), claimed=drawn)
        else:
            assert last is not None
            rest = tuple(i for i in ids if i != lying.apart.id)
            fact = Fact(
                "win", t, seat=lying.seat, tiles=(*rest, _STRAY), by="discard", source=last[0],
                claimed=last[1],
            )  # fmt: skip
        return fact is not None and not hand.book.issues_of(fact, {_STRAY: face}, hand.face)


def _with(fact: Fact, tiles: tuple[int, ...]) -> Fact:
    return Fact(
        "win", fact.t, seat=fact.seat, tiles=tiles, by=fact.by, source=fact.source,
        claimed=fact.claimed,
    )  # fmt: skip
