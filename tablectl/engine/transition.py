"""One event being applied: a working copy of the state, and the issues found on the way.

The state itself is never changed; a transition replaces its own reference step by step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tablectl.engine.state import HandState, LetGo, evolve, missing, without
from tablectl.rules.play import ClaimAttempt
from tablectl.tiles import Tile


class Transition:
    """Collects what one event changes and breaks."""

    def __init__(self, state: HandState) -> None:
        self.state = state
        self._issues: list[tuple[str, int | None]] = []

    @property
    def issues(self) -> tuple[tuple[str, int | None], ...]:
        """Issues found, in order, each once a seat."""
        return tuple(self._issues)

    def issue(self, name: str, seat: int | None) -> None:
        """Note that a seat (``None``: nobody in particular) has broken something."""
        if (name, seat) not in self._issues:
            self._issues.append((name, seat))

    def set(self, **changes: Any) -> None:
        """Change fields of the hand."""
        self.state = evolve(self.state, **changes)

    def player(self, seat: int, **changes: Any) -> None:
        """Change fields of one seat."""
        self.state = self.state.with_player(seat, **changes)

    # -- tiles seen ----------------------------------------------------------------------------

    def see(self, seat: int | None, tiles: Iterable[Tile]) -> None:
        """Count tiles that have come to light; one copy too many is an issue (L12)."""
        seen = list(self.state.seen)
        for tile in tiles:
            seen[tile] += 1
            if seen[tile] > self.state.copies[tile]:
                self.issue("fifth_copy", seat)
        self.set(seen=tuple(seen))

    def show(self, seat: int, tiles: tuple[Tile, ...]) -> None:
        """A seat's concealed tiles are laid open: count those that were not open before."""
        shown = self.state.players[seat].shown
        self.see(seat, missing(shown, tiles))
        self.player(seat, shown=tuple(sorted(tiles)))

    # -- concealed hands -----------------------------------------------------------------------

    def gain(self, seat: int, tile: Tile | None) -> None:
        """A tile joins a concealed hand; ``None`` where its face is unknown."""
        player = self.state.players[seat]
        if tile is None:
            self.player(seat, unknown=player.unknown + 1)
        else:
            self.player(seat, known=tuple(sorted((*player.known, tile))))

    def tell(self, seat: int, tile: Tile) -> None:
        """An unknown concealed tile gets a face."""
        if self.state.players[seat].unknown:
            self.player(seat, unknown=self.state.players[seat].unknown - 1)
            self.gain(seat, tile)

    def lose(self, seat: int, tile: Tile) -> None:
        """A tile leaves a concealed hand and lies open; what was not in it is an issue."""
        player = self.state.players[seat]
        rest = without(player.known, (tile,))
        if rest is not None:
            self.player(seat, known=rest)
        elif player.unknown:
            self.player(seat, unknown=player.unknown - 1)
        else:
            self.issue("not_in_hand", seat)
            self.player(seat, surplus=player.surplus + 1)
        left = without(player.shown, (tile,))
        if left is None:
            self.see(seat, (tile,))
        else:
            self.player(seat, shown=left)

    def lose_unseen(self, seat: int, number: int) -> None:
        """Tiles of unknown face leave a concealed hand: only their number is certain."""
        player = self.state.players[seat]
        gone = min(number, player.unknown)
        self.player(seat, unknown=player.unknown - gone, surplus=player.surplus + number - gone)

    # -- drawing -------------------------------------------------------------------------------

    def draw(self, seat: int) -> None:
        """A seat takes its tile from the wall: its turn has come."""
        if self.state.wall == 0:
            self.issue("wall_over", seat)
        self.settle_discard(taker=None)
        counts = self.state.counts
        self.set(
            counts=replace(counts, front=counts.front + 1),
            phase="act",
            turn=seat,
            drew="wall",
            drawn_tile=None,
            open_kong=None,
            claim=None,
        )
        self.player(seat, let_go=(), floating=False, untold=0)
        self.gain(seat, None)

    def draw_supplement(self, seat: int) -> None:
        """A seat takes a tile from the tail."""
        if self.state.supplements == 0:
            self.issue("wall_over", seat)
        self._let_kong_go()
        reason = self.state.supplement_for or "kong"
        counts = self.state.counts
        if reason == "kong":
            counts = replace(counts, kong_tail=counts.kong_tail + 1)
        else:
            counts = replace(counts, flower_tail=counts.flower_tail + 1)
        self.set(
            counts=counts,
            phase="act",
            turn=seat,
            drew=reason,
            drawn_tile=None,
            supplement_for=None,
            open_kong=None,
        )
        self.gain(seat, None)

    def take_turn(self, seat: int) -> None:
        """See to it that the seat holds the tile to act with, by a draw that nobody saw (L1)."""
        state = self.state
        if state.turn != seat:
            if not state.draws_next(seat):
                self.issue("out_of_turn", seat)
            self.draw(seat)  # it holds one tile more than before, so it has drawn
        elif state.phase == "draw":
            self.draw(seat)
        elif state.phase == "supplement":
            self.draw_supplement(seat)

    def settle_discard(self, taker: int | None) -> None:
        """The newest discard is out of reach now: everybody else has let it go."""
        last = self.state.last
        if last is None or last.settled:
            return
        for seat, player in enumerate(self.state.players):
            if seat in (last.seat, taker):
                continue
            entry = LetGo(
                tile=last.tile,
                source=last.seat,
                call=self.state.best_call(seat),
                known=player.fully_known,
                barred=self._barred_claims(seat, last.tile, last.seat),
                after_kong=last.after_kong,
            )
            self.player(seat, let_go=(*player.let_go, entry))
        self.set(last=replace(last, settled=True))

    def _let_kong_go(self) -> None:
        """The supplement is drawn: who could have robbed the kong has let its tile go."""
        kong = self.state.open_kong
        if kong is None or kong.kind != "added_kong":
            return
        for seat, player in enumerate(self.state.players):
            if seat == kong.seat:
                continue
            barred = {"chow", "pung", "kong"}
            if self.state.play.win_issues(self.state, seat, "rob_kong"):
                barred.add("hu")
            entry = LetGo(
                tile=kong.tile,
                source=kong.seat,
                call=self.state.best_call(seat),
                known=player.fully_known,
                barred=frozenset(barred),
            )
            self.player(seat, let_go=(*player.let_go, entry))

    def _barred_claims(self, seat: int, tile: Tile, source: int) -> frozenset[str]:
        """Claims that restrictions of play kept the seat from making: those are not let go."""
        state = self.state
        sizes = {"pung": 3, "kong": 4}
        barred = {
            kind
            for kind, size in sizes.items()
            if state.play.claim_issues(
                state, ClaimAttempt(seat, kind, (tile,) * size, tile, source)
            )
        }
        if state.play.win_issues(state, seat, "discard"):
            barred.add("hu")
        return frozenset(barred)
