"""Drawing, discarding, flowers, indicators and calls."""

from __future__ import annotations

from dataclasses import replace

from tablectl.engine.events import Call, Discard, Disclose, Draw, Flower, Indicator, Refuse
from tablectl.engine.state import LastDiscard
from tablectl.engine.transition import Transition
from tablectl.tiles import Tile, is_flower, parse_tile, parse_tiles


def indicator(t: Transition, event: Indicator) -> None:
    """A tile is turned up; it counts as seen and decides what is wild."""
    tile = parse_tile(event.tile)
    if t.state.play.turned_back(t.state, tile):
        return
    if not t.state.ruleset.equipment(t.state.options).indicator_drawable:
        t.see(None, (tile,))
    counts = t.state.counts
    t.set(
        indicators=(*t.state.indicators, tile),
        counts=replace(counts, indicators=counts.indicators + 1),
        wild=t.state.ruleset.wild(tile, t.state.options),
    )


def flower(t: Transition, event: Flower) -> None:
    """A flower is laid out and its supplement drawn at once (L1); at the deal by any seat (LC1)."""
    seat, tile = event.seat, parse_tile(event.tile)
    at_deal = t.state.discards == 0 and (seat != t.state.turn or t.state.phase == "act")
    if not at_deal:
        if t.state.turn == seat:
            t.take_turn(seat)
        else:
            t.issue("out_of_turn", seat)
    if not is_flower(tile) and t.state.copies[tile]:
        t.issue("invalid_meld", seat)
    for issue in t.state.play.flower_issues(t.state, seat, tile):
        t.issue(issue, seat)
    t.lose(seat, tile)
    t.player(seat, flowers=(*t.state.players[seat].flowers, tile))
    draw_replacement(t, seat, at_deal=at_deal)


def draw_replacement(t: Transition, seat: int, *, at_deal: bool) -> None:
    """A tile from the tail for what has just been laid out of the hand, drawn at once (L1)."""
    acting = seat == t.state.turn
    if t.state.supplements == 0:
        if acting:  # nothing to draw: the hand ends here, unless the seat plays on all the same
            t.set(phase="supplement", supplement_for="flower")
        return
    counts = t.state.counts
    t.set(counts=replace(counts, flower_tail=counts.flower_tail + 1))
    if acting and not (at_deal and t.state.drew == "deal"):
        t.set(drew="flower", drawn_tile=None)
    t.gain(seat, None)
    t.player(seat, untold=t.state.players[seat].untold + 1)


def draw(t: Transition, event: Draw) -> None:
    """A draw that was seen; after a flower it only tells which tile the supplement was."""
    seat = event.seat
    tile = None if event.tile is None else parse_tile(event.tile)
    state, player = t.state, t.state.players[seat]
    owed = state.turn == seat and state.phase in ("draw", "supplement")
    if player.untold and event.source != "wall" and not owed:
        t.player(seat, untold=player.untold - 1)
        if tile is not None:
            t.tell(seat, tile)
            if seat == state.turn and state.drew == "flower":
                t.set(drawn_tile=tile)
        return
    if state.turn == seat and state.phase == "supplement":
        t.draw_supplement(seat)
    else:
        in_turn = state.turn == seat and state.phase == "draw"
        if not in_turn and not state.draws_next(seat):
            t.issue("out_of_turn", seat)
        t.draw(seat)
    if tile is not None:
        t.tell(seat, tile)
        t.set(drawn_tile=tile)


def discard(t: Transition, event: Discard) -> None:
    """A tile is thrown; whoever has not drawn before has done so unseen."""
    seat, tile = event.seat, parse_tile(event.tile)
    t.take_turn(seat)
    t.settle_discard(taker=None)
    state = t.state
    effect = state.play.discard(state, seat, tile)
    for issue in effect.issues:
        t.issue(issue, seat)
    last = LastDiscard(
        seat,
        tile,
        after_kong=state.players[seat].chain if state.drew == "kong" else 0,
        last_tile=state.wall == 0 and state.drew in ("wall", "kong", "flower"),
        claimable=effect.claimable,
    )
    t.lose(seat, tile)
    player = t.state.players[seat]
    keeps_kongs = effect.floats and state.play.floats_keep_kongs
    t.player(
        seat,
        river=player.river if effect.leaves_river else (*player.river, tile),
        thrown=(*player.thrown, tile),
        aside=(*player.aside, tile) if effect.aside else player.aside,
        forfeited=player.forfeited or effect.forfeits,
        floats=player.floats + 1 if effect.floats else 0,
        floating=effect.opens_float,
        float_gift=player.float_gift if effect.floats else {},
        kong_run=player.kong_run if keeps_kongs else 0,
        chain=player.chain if keeps_kongs else 0,
        let_go=(),
        untold=0,
    )
    t.set(
        phase="draw",
        turn=state.after(seat),
        drawn_tile=None,
        supplement_for=None,
        last=last,
        claim=None,
        open_kong=None,
        calls=(),
        discards=state.discards + 1,
    )


def call(t: Transition, event: Call) -> None:
    """A call is heard; it moves nothing (M26). A ``pass`` takes back the seat's own calls (L6)."""
    kept = tuple((s, c) for s, c in t.state.calls if not (event.call == "pass" and s == event.seat))
    if event.call != "pass" and (event.seat, event.call) not in kept:
        kept = (*kept, (event.seat, event.call))
    t.set(calls=kept)


def disclose(t: Transition, event: Disclose) -> None:
    """A hand, or part of it, is laid open while play goes on."""
    tiles = parse_tiles(event.tiles)
    order = 1 + sum(p.disclosed is not None for p in t.state.players)
    player = t.state.players[event.seat]
    if player.disclosed is None:
        t.player(event.seat, disclosed=tiles, disclosed_order=order)
    t.show(event.seat, tiles)
    for tile in _not_known(t, event.seat, tiles):
        t.tell(event.seat, tile)


def _not_known(t: Transition, seat: int, tiles: tuple[Tile, ...]) -> list[Tile]:
    known = list(t.state.players[seat].known)
    fresh = []
    for tile in tiles:
        if tile in known:
            known.remove(tile)
        else:
            fresh.append(tile)
    return fresh


def refuse(t: Transition, event: Refuse) -> None:
    """The tile that would be drawn is refused: the next seat may take it."""
    state = t.state
    allowed = (
        state.turn == event.seat
        and state.phase == "draw"
        and event.seat not in state.refused
        and state.play.may_refuse(state, event.seat)
    )
    if not allowed:
        t.issue("out_of_turn", event.seat)
        return
    t.settle_discard(taker=None)
    t.set(refused=state.refused | {event.seat}, turn=state.after(event.seat))
