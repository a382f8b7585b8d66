"""How a hand ends: wins, hands laid open, drawn hands, rulings."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tablectl.engine.events import Exhaust, Reveal, Ruling, Win
from tablectl.engine.scoring import (
    UnknownTilesError,
    build_case,
    settle,
    win_error,
    win_flags,
)
from tablectl.engine.sets import locked_win, rank_problems, undo_call, undo_kong
from tablectl.engine.state import HandState, OpenKong, Winner, missing
from tablectl.engine.transition import Transition
from tablectl.rules.case import CaseError
from tablectl.rules.play import Result
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile, parse_tile, parse_tiles

_HARMLESS: Final = frozenset({"fifth_copy", "not_in_hand"})
"""Issues of a win line that question a reading and not the win."""


def win(t: Transition, event: Win) -> None:
    """A hand is laid open as the winner's; a claim that does not hold changes nothing but that."""
    before = t.state
    if before.phase == "over" and not _may_join(t, event):
        return
    tile = None if event.tile is None else parse_tile(event.tile)
    _reach(t, event, tile)
    hand = _open_hand(t, event, tile)
    _test_float(t, event.seat, hand)
    if event.by == "rob_kong" and t.state.open_kong is not None and not t.issues:
        undo_kong(t, t.state.open_kong)
    flags = win_flags(t.state, event.seat, event.by, event.source)
    claimed = Winner(event.seat, event.by, event.source, tile, hand, flags)
    _judge(t, claimed)
    if all(name in _HARMLESS for name, _ in t.issues):
        _accept(t, claimed)
        return
    _reject(t, before, claimed)


def _may_join(t: Transition, event: Win) -> bool:
    """Whether a win after a valid win can count: on the same tile, by the same way (L7, G2)."""
    state = t.state
    first = state.wins[0] if state.wins else None
    same = (
        first is not None
        and event.by == first.by
        and event.by in ("discard", "rob_kong")
        and event.source == first.source
        and event.tile is not None
        and parse_tile(event.tile) == first.tile
        and all(w.seat != event.seat for w in state.wins)
    )
    if not same or first is None:
        t.issue("hand_over", event.seat)
        return False
    return True


def _reach(t: Transition, event: Win, tile: Tile | None) -> None:
    """Check that the winning tile can be had in the way that the line says."""
    state, seat = t.state, event.seat
    if state.phase == "over":
        _compare_winners(t, seat)
    elif event.by == "self_draw":
        if state.turn != seat and state.draws_next(seat):
            t.draw(seat)
        elif state.turn != seat:
            t.issue("out_of_turn", seat)  # and the turn stays where it was
        elif state.phase == "act" and state.drew == "claim":
            t.issue("claim_not_allowed", seat)  # a called tile is no own draw
        else:
            t.take_turn(seat)
    elif event.by == "discard":
        _reach_discard(t, event, tile)
    elif event.by == "rob_kong":
        kong = state.open_kong
        if kong is None or kong.seat != event.source or not _same(state, kong, tile):
            t.issue("not_last_discard", seat)
        _check_rank(t, seat, event.source)
    elif event.by == "deal" and _dealt_too_late(state, seat):
        t.issue("claim_not_allowed", seat)
    elif event.by == "indicator":
        _check_robbers(t, seat)


def _dealt_too_late(state: HandState, seat: int) -> bool:
    own = state.play.dealt_until == "own_discard" and seat != state.dealer
    return bool(state.players[seat].thrown) if own else state.discards > 0


def _check_robbers(t: Transition, seat: int) -> None:
    """Of several who call hu on the tile turned up the nearest after the banker goes first (X13).

    The banker itself comes last.
    """
    state = t.state

    def order(caller: int) -> int:
        return (caller - state.dealer - 1) % len(state.players)

    if any(call == "hu" and order(caller) < order(seat) for caller, call in state.calls):
        t.issue("wrong_claimant", seat)


def _test_float(t: Transition, seat: int, hand: tuple[Tile, ...] | None) -> None:
    """A float of an unseen hand is taken back where the hand laid open shows that it was none."""
    player = t.state.players[seat]
    if hand is None:
        return
    if t.state.play.float_offence(t.state, seat, hand):
        t.issue("wild_discarded", seat)
        t.player(seat, forfeited=True)
    if (player.floats or player.floating) and not t.state.play.float_stands(t.state, seat, hand):
        t.player(seat, floats=0, floating=False)


def _same(state: HandState, kong: OpenKong, tile: Tile | None) -> bool:
    return tile is not None and state.wild.plays_as(kong.tile) == state.wild.plays_as(tile)


def _reach_discard(t: Transition, event: Win, tile: Tile | None) -> None:
    state, seat, claim = t.state, event.seat, t.state.claim
    if claim is not None and state.turn == seat and state.phase == "act":
        if (claim.source, claim.tile) != (event.source, tile) or claim.kind == "kong":
            t.issue("not_last_discard", seat)
        elif not state.play.hu_after_call:
            t.issue("claim_not_allowed", seat)
        return
    last = state.last
    if last is None or last.seat != event.source or last.tile != tile or last.seat == seat:
        t.issue("not_last_discard", seat)
    elif last.settled and state.best_call(seat) != "hu":
        t.issue("out_of_turn", seat)
    _check_rank(t, seat, event.source)


def _check_rank(t: Transition, seat: int, source: int | None) -> None:
    if source is not None:
        for issue in rank_problems(t.state, seat, "hu", source):
            t.issue(issue, seat)


def _compare_winners(t: Transition, seat: int) -> None:
    """Two win lines on one tile where only one may win: the nearer seat takes it (G2)."""
    state, first = t.state, t.state.wins[0]
    if state.play.winners == "all" or first.source is None:
        return
    mine = state.nearness(seat, first.source, "hu")
    theirs = state.nearness(first.seat, first.source, "hu")
    t.issue("wrong_claimant", seat if mine > theirs else first.seat)


def _open_hand(t: Transition, event: Win, tile: Tile | None) -> tuple[Tile, ...] | None:
    """The concealed tiles without the winning one; ``None`` where they are unknown."""
    seat = event.seat
    undo = (
        event.by == "discard"
        and t.state.claim is not None
        and t.state.turn == seat
        and t.state.phase == "act"
        and not t.issues
    )
    if undo:
        undo_call(t, seat)
    player = t.state.players[seat]
    own = event.by in ("self_draw", "deal") and tile is not None
    if not event.hand:
        if not player.fully_known:
            return () if event.by in ("flowers", "ten_honours") else None
        held = list(player.known)
        if own and tile in held:
            held.remove(tile)
        return tuple(held)
    hand = parse_tiles(event.hand)
    whole = (*hand, tile) if own and tile is not None else hand
    _check_known(t, seat, whole)
    t.show(seat, whole)
    t.player(seat, known=tuple(sorted(whole)), unknown=0, surplus=0)
    return hand


def _check_known(t: Transition, seat: int, whole: tuple[Tile, ...]) -> None:
    """Compare a hand laid open with what was known of it."""
    player = t.state.players[seat]
    absent = missing(whole, player.known)
    foreign = player.fully_known and missing(player.known, whole)
    if player.surplus == 0 and (absent or foreign):
        t.issue("not_in_hand", seat)


def _judge(t: Transition, claimed: Winner) -> None:
    """Note why the claim is no valid win: shape, restrictions of play, locks."""
    state, seat = t.state, claimed.seat
    reason: str | None = None
    if claimed.hand is not None:
        try:
            reason = win_error(state, claimed)
        except (UnknownTilesError, CaseError):
            # Nobody can say, and the settlement tells why; but tiles can be counted.
            reason = None if _right_size(state, claimed) else "wrong_tile_count"
    elif state.players[seat].forfeited:
        reason = "forfeited"
    finer = list(state.play.win_issues(state, seat, claimed.by))
    if claimed.source is not None and locked_win(state, claimed):
        finer.append("missed_lock")
    if reason == "wild_tile_claimed":
        finer = []  # the tile could never be claimed, whoever floats
    if reason is not None and not (finer and reason in ("claim_not_allowed", "below_minimum")):
        t.issue(reason, seat)
    for issue in finer:
        t.issue(issue, seat)


def _right_size(state: HandState, claimed: Winner) -> bool:
    if claimed.by in ("flowers", "ten_honours") or claimed.hand is None:
        return True
    melds = sum(3 for m in state.players[claimed.seat].melds if m.kind != "lone_kong")
    return len(claimed.hand) + melds == state.ruleset.equipment(state.options).hand_size


def _accept(t: Transition, claimed: Winner) -> None:
    wins = (*t.state.wins, claimed) if t.state.play.winners == "all" else (claimed,)
    t.set(
        phase="over",
        turn=None,
        wins=wins,
        claim=None,
        open_kong=None,
        calls=(),
        false_claim=None,
    )
    if claimed.hand is not None:
        t.player(claimed.seat, final_hand=claimed.hand)


def _reject(t: Transition, before: HandState, claimed: Winner) -> None:
    """Keep what came to light, and put back what only a valid win would have moved."""
    if before.phase == "over":
        _settle_two_claims(t, claimed)
        return
    after = t.state
    undone = after.open_kong is None and before.open_kong is not None and claimed.by == "rob_kong"
    if undone or (after.claim is None and before.claim is not None and claimed.by == "discard"):
        t.set(
            players=before.players,
            counts=before.counts,
            open_kong=before.open_kong,
            claim=before.claim,
            seen=before.seen,
        )
    t.set(false_claim=claimed)


def _settle_two_claims(t: Transition, claimed: Winner) -> None:
    """A second claim on the same tile: the nearer seat is the winner, the other one is not."""
    nearer = t.issues == (("wrong_claimant", t.state.wins[0].seat),)
    if nearer:
        _accept(t, claimed)


def exhaust(t: Transition, _event: Exhaust) -> None:
    """The hand is drawn; too early where a tile can still be drawn (L14)."""
    if t.state.play.early_exhaust(t.state):
        t.issue("early_exhaust", None)
    t.set(phase="over", turn=None, drawn_hand=True, calls=(), open_kong=None)


def reveal(t: Transition, event: Reveal) -> None:
    """A hand is laid open at the end."""
    hand, seat = parse_tiles(event.hand), event.seat
    _check_known(t, seat, hand)
    t.show(seat, hand)
    player = t.state.players[seat]
    t.player(
        seat,
        known=tuple(sorted(hand)),
        unknown=0,
        surplus=0,
        final_hand=player.final_hand if player.final_hand is not None else hand,
        ready=player.ready if event.ready is None else event.ready,
    )


def ruling(t: Transition, event: Ruling) -> None:
    """The host rules: a false win ends the hand, the other kinds cost the right to win."""
    if event.kind != "false_win":
        t.player(event.seat, forfeited=True)
        return
    if t.state.play.false_win_ends:
        claim = t.state.false_claim
        own = next((w for w in t.state.wins if w.seat == event.seat), None)
        known = claim if claim is not None and claim.seat == event.seat else own
        t.set(phase="over", turn=None, wins=(), false_win=event.seat, false_claim=known, calls=())


def close(t: Transition) -> None:
    """Work out settlement and next hand of a hand that is over; say what is missing if it can't."""
    state = t.state
    if not (state.wins or state.drawn_hand or state.false_win is not None):
        t.set(settlement=None, next=None)
        return
    winners = tuple(w.seat for w in state.wins)
    source = state.wins[0].source if state.wins else None
    try:
        settlement: Settlement | None = _settlement(state)
        unsettled = ""
    except (UnknownTilesError, CaseError) as error:
        settlement, unsettled = None, str(error)
    result = Result(winners, state.false_win, source, settlement)
    following = state.play.next_hand(state, result)
    t.set(settlement=settlement, unsettled=unsettled, next=following)


def told_to(state: HandState, names: Names) -> Settlement | None:
    """The settlement of a hand that is over, its derivation with the players' names."""
    return None if state.settlement is None else _settlement(state, names)


def _settlement(state: HandState, names: Names | None = None) -> Settlement:
    if state.false_win is None:
        _require_hands(state)
        return settle(state, state.wins, names)
    claim = state.false_claim
    if claim is None:
        raise UnknownTilesError(f"seat {state.false_win} laid no hand open: nothing was claimed")
    if claim.hand is None:
        claim = replace(claim, hand=())
    return state.ruleset.settle_false_win(build_case(state, (claim,)), names)


def _require_hands(state: HandState) -> None:
    """Where tiles in every hand are paid, all must have been laid open."""
    if not state.play.hands_paid:
        return
    winners = {win.seat for win in state.wins}
    for seat, player in enumerate(state.players):
        if seat not in winners and player.final_hand is None and not player.fully_known:
            raise UnknownTilesError(f"the hand of seat {seat} has not been laid open")
