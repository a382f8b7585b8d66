"""What a seat may do now, and why it may not do the rest.

Every candidate is tried on the engine itself: what breaks no rule is legal. So a player who keeps
to these options never causes an issue, and a display shows the reasons that the referee would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tablectl.engine.events import (
    Call,
    Discard,
    Draw,
    Event,
    Exhaust,
    Flower,
    Joy,
    Meld,
    Refuse,
    Win,
)
from tablectl.engine.game import apply
from tablectl.engine.issues import issue_text
from tablectl.engine.scoring import UnknownTilesError, completes, settle, win_flags
from tablectl.engine.state import HandState, Winner, without
from tablectl.rules.case import CaseError
from tablectl.rules.shape import HONOUR_RUN_BLOCKS, SUIT_BLOCKS, runs_with
from tablectl.tiles import Tile, format_tile, format_tiles, is_flower

Kind = Literal[
    "draw", "exhaust", "discard", "flower", "chow", "pung", "kong", "closed_kong", "added_kong",
    "lone_kong", "joy", "refuse", "hu", "pass",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a seat could do.

    Attributes:
        kind: what.
        seat: who.
        event: the event that it would be (a draw's tile is ``None``: nobody knows it yet).
        tile: the tile discarded, claimed or won with.
        issue: id of the rule that forbids it, ``""`` where it is legal.
        why_not: the reason in words, ``""`` where it is legal.
    """

    kind: Kind
    seat: int
    event: Event
    tile: Tile | None = None
    issue: str = ""
    why_not: str = ""

    @property
    def legal(self) -> bool:
        """Whether the rules allow it."""
        return not self.issue


def options(state: HandState, seat: int) -> tuple[Option, ...]:
    """Everything that a seat could think of doing now, legal or not.

    Discards, claims and wins are listed only for a fully known hand. Nothing is listed for a seat
    that has to wait.
    """
    if state.over:
        return ()
    found: list[Option] = []
    if state.turn == seat:
        found += _turn_options(state, seat)
    elif state.draws_next(seat) and state.wall:
        found.append(Option("draw", seat, Draw(seat=seat, tile=None, source="wall")))
    found += _special_wins(state, seat)
    last, kong = state.last_discard, state.open_kong
    giver = kong.seat if kong is not None else last.seat if last is not None else seat
    if giver != seat:
        found += legal_claims(state, seat, only_legal=False)
        found.append(Option("pass", seat, Call(seat=seat, call="pass")))
    return tuple(found)


def legal_claims(state: HandState, seat: int, *, only_legal: bool = True) -> Iterator[Option]:
    """Claims of the newest discard, or of a kong to be robbed, that the known hand allows."""
    player = state.players[seat]
    if state.over or not player.fully_known:
        return
    last, kong = state.last_discard, state.open_kong
    candidates: list[Option] = []
    if kong is not None and kong.seat != seat:
        candidates += _hu(state, seat, "rob_kong", kong.seat, kong.tile)
    elif last is not None and last.seat != seat and last.claimable:
        candidates += _hu(state, seat, "discard", last.seat, last.tile)
        candidates += _set_claims(state, seat, last.seat, last.tile)
    for option in candidates:
        if option.legal or not only_legal:
            yield option


def _turn_options(state: HandState, seat: int) -> list[Option]:
    if state.phase == "draw":
        return _draw_options(state, seat)
    if state.phase == "supplement":
        if state.supplements:
            return [Option("draw", seat, Draw(seat=seat, tile=None, source="tail"))]
        return [Option("exhaust", seat, Exhaust())]
    player = state.players[seat]
    if not player.fully_known:
        return []
    flowers = loose_flowers(state, seat)
    if flowers:  # flowers never sit in a hand
        return [
            Option("flower", seat, Flower(seat=seat, tile=format_tile(tile)), tile)
            for tile in flowers
        ]
    if state.play.draws_only(state):
        end = [] if state.wall else [Option("exhaust", seat, Exhaust())]
        return [*_own_wins(state, seat), *end]
    return [
        *_own_wins(state, seat), *_joys(state, seat), *_own_kongs(state, seat),
        *_discards(state, seat),
    ]  # fmt: skip


def _draw_options(state: HandState, seat: int) -> list[Option]:
    """Draw, or refuse the tile where that is allowed; the end where nothing is left to do."""
    if not state.wall or seat in state.refused:
        return [Option("exhaust", seat, Exhaust())]
    found = [Option("draw", seat, Draw(seat=seat, tile=None, source="wall"))]
    if state.play.may_refuse(state, seat):
        found.append(Option("refuse", seat, Refuse(seat=seat)))
    return found


def _special_wins(state: HandState, seat: int) -> list[Option]:
    """Wins that complete no hand, or not by a tile drawn or claimed, where the rules have them."""
    player, found = state.players[seat], []
    if not player.fully_known:
        return []
    for by, tile in state.play.special_wins(state, seat):
        own = by in ("self_draw", "deal") and tile is not None
        hand = without(player.known, (tile,)) if own and tile is not None else player.known
        if hand is None:
            continue
        win = Win.model_validate({
            "seat": seat, "by": by, "from": None, "hand": format_tiles(hand),
            "tile": None if tile is None else format_tile(tile),
        })  # fmt: skip
        tried = _tried("hu", seat, win, state, tile)
        if tried.issue != "not_winning_shape":
            found.append(tried)
    return found


def _joys(state: HandState, seat: int) -> Iterator[Option]:
    for tiles in state.play.joys_in(state, seat):
        yield _tried("joy", seat, Joy(seat=seat, tiles=format_tiles(tiles)), state, None)


def loose_flowers(state: HandState, seat: int) -> list[Tile]:
    """Known flowers of a hand that must be laid out; wild ones stay."""
    known = state.players[seat].known
    return [tile for tile in known if is_flower(tile) and tile not in state.wild.tiles]


def _own_wins(state: HandState, seat: int) -> list[Option]:
    if state.drew == "claim":
        claim = state.claim
        if claim is None or claim.kind == "kong" or not state.play.hu_after_call:
            return []
        return _hu_after_call(state, seat)
    known = state.players[seat].known
    if state.drew == "deal":
        return _hu(state, seat, "deal", None, known[-1]) if known else []
    return _hu(state, seat, "self_draw", None, state.drawn_tile)


def _hu_after_call(state: HandState, seat: int) -> list[Option]:
    claim = state.claim
    assert claim is not None
    hand = (*state.players[seat].known, *(without(claim.tiles, (claim.tile,)) or ()))
    win = Win(
        seat=seat,
        by="discard",
        source=claim.source,
        tile=format_tile(claim.tile),
        hand=format_tiles(sorted(hand)),
    )
    tried = _tried("hu", seat, win, state, claim.tile)
    return [tried] if tried.issue != "not_winning_shape" else []


def _hu(
    state: HandState,
    seat: int,
    by: Literal["self_draw", "discard", "rob_kong", "deal"],
    source: int | None,
    tile: Tile | None,
) -> list[Option]:
    """The win on that tile, if the tiles make a winning shape at all."""
    known = state.players[seat].known
    if tile is None:
        return []
    hand = without(known, (tile,)) if by in ("self_draw", "deal") else known
    if hand is None or not completes(state, seat, tile, hand):
        return []
    win = Win(seat=seat, by=by, source=source, tile=format_tile(tile), hand=format_tiles(hand))
    tried = _tried("hu", seat, win, state, tile)
    if tried.issue == "below_minimum":
        why = _shortfall(state, Winner(seat, by, source, tile, hand))
        tried = Option("hu", seat, win, tile, tried.issue, why or tried.why_not)
    return [tried]


def _shortfall(state: HandState, win: Winner) -> str:
    """What a hand is worth that is worth too little, in the rule set's words."""
    flags = win_flags(state, win.seat, win.by, win.source)
    whole = Winner(win.seat, win.by, win.source, win.tile, win.hand, flags)
    try:
        lines = settle(state, (whole,)).lines
    except (UnknownTilesError, CaseError):
        return ""
    return lines[-1] if lines else ""


def _own_kongs(state: HandState, seat: int) -> list[Option]:
    player, found = state.players[seat], []
    by_face = _naturals_by_face(state, seat)
    for face in sorted(by_face):
        if len(by_face[face]) == 4:
            tiles = format_tiles(by_face[face])
            event = Meld(seat=seat, kind="closed_kong", tiles=tiles, source=None)
            found.append(_tried("closed_kong", seat, event, state, face))
    for meld in player.melds:
        if meld.kind != "pung":
            continue
        for tile in by_face.get(state.wild.plays_as(meld.tiles[0]), ())[:1]:
            tiles = format_tiles((*meld.tiles, tile))
            grown = Meld(seat=seat, kind="added_kong", tiles=tiles, source=meld.source)
            found.append(_tried("added_kong", seat, grown, state, tile))
    for tile in sorted(set(player.known)):
        if state.play.set_issue(state, "lone_kong", (tile,)) is None:
            lone = Meld(seat=seat, kind="lone_kong", tiles=format_tile(tile), source=None)
            found.append(_tried("lone_kong", seat, lone, state, tile))
    return found


def _naturals_by_face(state: HandState, seat: int) -> dict[Tile, list[Tile]]:
    """Known tiles that may be laid out, by what they play as."""
    faces: dict[Tile, list[Tile]] = {}
    for tile in state.players[seat].known:
        if tile not in state.wild.tiles or state.play.wild_in_sets:
            faces.setdefault(state.wild.plays_as(tile), []).append(tile)
    return faces


def _discards(state: HandState, seat: int) -> list[Option]:
    found = []
    for tile in sorted(set(state.players[seat].known)):
        event = Discard(seat=seat, tile=format_tile(tile))
        issues = state.play.discard(state, seat, tile).issues
        why = issue_text(issues[0]) if issues else ""
        found.append(Option("discard", seat, event, tile, issues[0] if issues else "", why))
    return found


def _set_claims(state: HandState, seat: int, source: int, tile: Tile) -> list[Option]:
    by_face = _naturals_by_face(state, seat)
    face = state.wild.plays_as(tile)
    same = by_face.get(face, [])
    sets: list[tuple[Literal["chow", "pung", "kong"], tuple[Tile, ...]]] = []
    if len(same) >= 3:
        sets.append(("kong", (*same[:3], tile)))
    if len(same) >= 2:
        sets.append(("pung", (*same[:2], tile)))
    if seat == state.after(source) and state.play.chows:
        for run in _runs_with(face, honours=state.play.honour_runs):
            others = [f for f in run if f != face]
            if all(by_face.get(f) for f in others):
                sets.append(("chow", tuple(sorted((tile, *(by_face[f][0] for f in others))))))
    found = []
    for kind, tiles in sets:
        event = Meld(seat=seat, kind=kind, tiles=format_tiles(sorted(tiles)), source=source)
        option = _tried(kind, seat, event, state, tile)
        found.append(_unless_stuck(state, option))
    return found


def _runs_with(face: Tile, *, honours: bool) -> Iterator[tuple[Tile, ...]]:
    """Runs that hold a face: in its suit, and among winds or dragons where those make runs."""
    blocks = HONOUR_RUN_BLOCKS if honours else SUIT_BLOCKS
    for low, high in blocks:
        if low <= face < high:
            for run in runs_with(high - low, face - low):
                yield tuple(Tile(low + i) for i in run)


def _unless_stuck(state: HandState, claim: Option) -> Option:
    """A claim after which no tile could be thrown is not offered."""
    if not claim.legal or claim.kind == "kong":
        return claim
    after, _ = apply(state, claim.event)
    throws = _discards(after, claim.seat)
    if not throws or any(throw.legal for throw in throws):
        return claim
    return replace(claim, issue=throws[0].issue, why_not="no tile could be thrown after it")


def _tried(kind: Kind, seat: int, event: Event, state: HandState, tile: Tile | None) -> Option:
    _, step = apply(state, event)
    own = [name for name, _ in step.issues]
    if not own:
        return Option(kind, seat, event, tile)
    return Option(kind, seat, event, tile, own[0], issue_text(own[0]))


__all__ = ["Option", "legal_claims", "options"]
