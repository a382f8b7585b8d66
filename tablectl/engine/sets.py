"""Sets laid down: claims of a discard, and kongs of own tiles."""

from __future__ import annotations

from dataclasses import replace

from tablectl.engine.events import Joy, Meld
from tablectl.engine.moves import draw_replacement
from tablectl.engine.scoring import UnknownTilesError, settle, would_win
from tablectl.engine.state import (
    Claim,
    HandState,
    LetGo,
    OpenKong,
    TableMeld,
    Winner,
    missing,
    without,
)
from tablectl.engine.transition import Transition
from tablectl.rules.case import CaseError
from tablectl.rules.play import CLAIM_KINDS, ClaimAttempt
from tablectl.tiles import Tile, parse_tiles


def meld(t: Transition, event: Meld) -> None:
    """A set is laid down."""
    tiles = parse_tiles(event.tiles)
    if event.kind in CLAIM_KINDS:
        _claim(t, event, tiles)
    else:
        _own_kong(t, event, tiles)


# -- claims ------------------------------------------------------------------------------------


def _claim(t: Transition, event: Meld, tiles: tuple[Tile, ...]) -> None:
    seat, kind = event.seat, event.kind
    source = event.source if event.source is not None else _last_thrower(t.state)
    claimed, problem = _find_claimed(t.state, seat, source, tiles)
    if problem:
        t.issue(problem, seat)
    claim = ClaimAttempt(seat, kind, tiles, claimed, source)
    for issue in claim_problems(t.state, claim):
        t.issue(issue, seat)
    t.settle_discard(taker=seat)
    _take_from_river(t, source, claimed)
    for tile in without(tiles, (claimed,)) or ():
        t.lose(seat, tile)
    _pass_turns(t, seat, kind, source)
    _lay_claim(t, claim)


def _last_thrower(state: HandState) -> int:
    return state.last.seat if state.last is not None else state.dealer


def _find_claimed(
    state: HandState, seat: int, source: int, tiles: tuple[Tile, ...]
) -> tuple[Tile, str]:
    """The tile that was claimed, and what is wrong with claiming it (``""`` = nothing)."""
    last = state.last
    if last is None or last.seat != source or last.tile not in tiles or source == seat:
        river = state.players[source].river if source < len(state.players) else ()
        older = next((tile for tile in reversed(river) if tile in tiles), tiles[0])
        return older, "not_last_discard"
    if not last.settled:
        return last.tile, ""
    # The next tile was drawn already: fine only if the call had been heard before.
    heard = state.phase == "act" and state.best_call(seat) != "pass" and state.claim is None
    return last.tile, "" if heard else "out_of_turn"


def claim_problems(state: HandState, claim: ClaimAttempt) -> list[str]:
    """Everything that speaks against a claim, except that the tile is out of reach."""
    problems = []
    if claim.kind == "chow" and state.play.chows and claim.seat != state.after(claim.source):
        problems.append("chow_not_from_previous")
    shape = state.play.set_issue(state, claim.kind, claim.tiles)
    if shape:
        problems.append(shape)
    problems += rank_problems(state, claim.seat, claim.kind, claim.source)
    problems += state.play.claim_issues(state, claim)
    if claim.kind == "kong" and state.supplements == 0:
        problems.append("no_supplement")
    if locked_call(state, claim.seat, claim.kind, claim.tile):
        problems.append("missed_lock")
    return problems


def rank_problems(state: HandState, seat: int, call: str, thrower: int) -> list[str]:
    """Whether a better call, or an equal one with precedence, was heard (L6, L7)."""
    rank = state.rank(call)
    if any(state.rank(c) > rank for _, c in state.calls):
        return ["outranked"]
    if call == "hu" and state.play.winners == "all":
        return []
    mine = state.nearness(seat, thrower, call)
    nearer = any(
        s != seat and state.rank(c) == rank and state.nearness(s, thrower, call) < mine
        for s, c in state.calls
    )
    return ["wrong_claimant"] if nearer else []


def locked_call(state: HandState, seat: int, call: str, tile: Tile) -> bool:
    """Whether the seat let an identical tile go that it could have called so."""
    locks = state.play.locks(state.options)
    if call not in locks.calls:
        return False
    return any(_was_let_go(state, seat, entry, call, tile) for entry in state.players[seat].let_go)


def _was_let_go(state: HandState, seat: int, entry: LetGo, call: str, tile: Tile) -> bool:
    face = state.wild.plays_as(tile)
    if state.wild.plays_as(entry.tile) != face or call in entry.barred:
        return False
    if state.rank(entry.call) >= state.rank(call):
        return False  # it did call; another call went before
    if state.play.locks(state.options).proof == "laid_open":
        return True  # the tiles laid down now were there then
    held = state.wild.identities(state.players[seat].known)
    return entry.known and held.count(face) >= (3 if call == "kong" else 2)


def locked_win(state: HandState, claimed: Winner) -> bool:
    """Whether a claim to win is locked by a winning tile that the seat let go."""
    locks = state.play.locks(state.options)
    if locks.win == "none" or claimed.tile is None or claimed.hand is None:
        return False
    seat, face = claimed.seat, state.wild.plays_as(claimed.tile)
    for entry in state.players[seat].let_go:
        if locks.win == "same" and state.wild.plays_as(entry.tile) != face:
            continue
        if locks.proof == "known" and not entry.known:
            continue
        if "hu" in entry.barred or entry.call == "hu":
            continue
        flags = {"kong_discard": True} if entry.after_kong else {}
        missed = Winner(seat, "discard", entry.source, entry.tile, claimed.hand, flags)
        if _was_better_taken(state, claimed, missed):
            return True
    return False


def _was_better_taken(state: HandState, claimed: Winner, missed: Winner) -> bool:
    """Whether a tile let go would have won, and the win claimed now is not worth more."""
    assert missed.tile is not None
    then = _as_it_lay(state, missed.seat, missed.tile)
    try:
        return would_win(then, missed) and not _pays_more(then, claimed, missed)
    except (UnknownTilesError, CaseError):
        return False  # the sets on the table are impossible: nobody can say


def _as_it_lay(state: HandState, seat: int, tile: Tile) -> HandState:
    """The state without other seats' sets made of a tile that was let go, and without their kongs.

    Else the tile would be there twice. Kongs decide nobody's win, and what they pay is left out of
    the comparison (LK4).
    """
    for other, player in enumerate(state.players):
        if other != seat:
            kept = [m for m in player.melds if m.kind in ("chow", "pung") and tile not in m.tiles]
            state = state.with_player(other, melds=tuple(kept))
    return state


def _pays_more(state: HandState, claimed: Winner, missed: Winner) -> bool:
    """Where only a better win frees: whether this one is better; kong money is in both alike."""
    if state.play.locks(state.options).win != "better":
        return False
    now, then = (settle(state, (win,)).delta for win in (claimed, missed))
    return now is not None and then is not None and now[claimed.seat] > then[missed.seat]


def _take_from_river(t: Transition, source: int, claimed: Tile) -> None:
    if source >= len(t.state.players):
        return
    river = list(t.state.players[source].river)
    for at in range(len(river) - 1, -1, -1):
        if river[at] == claimed:
            del river[at]
            t.player(source, river=tuple(river))
            return
    t.see(source, (claimed,))  # the tile never lay in that river: it comes to light only now


def _pass_turns(t: Transition, seat: int, kind: str, source: int) -> None:
    """A pung or kong that jumps over seats counts as their turn; so does the own claim (M13)."""
    t.player(seat, let_go=())
    if kind != "chow":
        for passed in t.state.between(source, seat):
            t.player(passed, let_go=())


def _lay_claim(t: Transition, claim: ClaimAttempt) -> None:
    seat, kind, tiles = claim.seat, claim.kind, claim.tiles
    state, player, last = t.state, t.state.players[seat], t.state.last
    is_kong = kind == "kong"
    keeps = player.floats > 0 and state.play.floats_keep_kongs
    run, chain = (player.kong_run, player.chain) if keeps else (0, 0)
    after_kong = last.after_kong if last is not None else 0
    if state.play.kong_links and not keeps:
        chain = after_kong
    gift = player.float_gift or state.play.float_gift(state, claim)
    new = TableMeld(kind, tiles, claim.source, claim.tile, chain if is_kong else 0, state.melded)
    t.player(
        seat,
        melds=(*player.melds, new),
        kong_run=run + is_kong,
        chain=chain + 1 if is_kong else 0,
        float_gift=gift,
        untold=0,
    )
    counts = state.counts
    t.set(
        phase="supplement" if is_kong else "act",
        supplement_for="kong" if is_kong else None,
        turn=seat,
        drew="claim",
        drawn_tile=None,
        claim=Claim(
            kind,
            tiles,
            claim.tile,
            claim.source,
            after_kong,
            last is not None and last.last_tile,
        ),
        open_kong=None,
        calls=(),
        counts=replace(counts, kongs=counts.kongs + is_kong),
        **state.melding(),
    )


# -- kongs of own tiles ------------------------------------------------------------------------


def _own_kong(t: Transition, event: Meld, tiles: tuple[Tile, ...]) -> None:
    seat, kind = event.seat, event.kind
    t.take_turn(seat)
    if t.state.supplements == 0:
        t.issue("no_supplement", seat)
    if tiles:
        shape = t.state.play.set_issue(t.state, kind, tiles)
        if shape:
            t.issue(shape, seat)
    for issue in t.state.play.kong_issues(t.state, seat, kind, tiles):
        t.issue(issue, seat)
    grown = _pung_under(t.state, seat, tiles) if kind == "added_kong" else None
    if kind == "added_kong" and grown is None and not _issued(t, "wild_in_meld", seat):
        t.issue("invalid_meld", seat)
    added = _lay_own(t, seat, kind, tiles, grown)
    _declare(t, seat, kind, added)


def _issued(t: Transition, name: str, seat: int) -> bool:
    return (name, seat) in t.issues


def _pung_under(state: HandState, seat: int, tiles: tuple[Tile, ...]) -> int | None:
    """Place of the pung that an added kong grows from."""
    for at, old in enumerate(state.players[seat].melds):
        if old.kind == "pung" and len(missing(tiles, old.tiles)) == 0:
            return at
    return None


def _lay_own(
    t: Transition, seat: int, kind: str, tiles: tuple[Tile, ...], grown: int | None
) -> Tile | None:
    """Move the tiles; returns the tile by which the kong could be robbed."""
    player, made = t.state.players[seat], t.state.melded
    if grown is None:
        robbable = tiles[0] if tiles else None
        new = TableMeld(kind, tiles, None, None, player.chain, made)
        melds = (*player.melds, new)
        for tile in tiles:
            t.lose(seat, tile)
        if not tiles:
            t.lose_unseen(seat, 4)
    else:
        old = player.melds[grown]
        robbable = missing(old.tiles, tiles)[0]
        t.lose(seat, robbable)
        new = TableMeld(kind, (*old.tiles, robbable), old.source, old.claimed, player.chain, made)
        melds = (*player.melds[:grown], new, *player.melds[grown + 1 :])
    t.player(seat, melds=melds, kong_run=player.kong_run + 1, chain=player.chain + 1, untold=0)
    return robbable


def _declare(t: Transition, seat: int, kind: str, added: Tile | None) -> None:
    counts = t.state.counts
    t.set(
        phase="supplement",
        supplement_for="kong",
        turn=seat,
        drawn_tile=None,
        claim=None,
        open_kong=None if added is None else OpenKong(seat, added, kind),
        calls=(),
        counts=replace(counts, kongs=counts.kongs + 1),
        **t.state.melding(),
    )


def undo_kong(t: Transition, kong: OpenKong) -> None:
    """A robbed kong was never made: a grown one is a pung again, others go back (L13, M11)."""
    player = t.state.players[kong.seat]
    at = max(range(len(player.melds)), key=lambda i: player.melds[i].made)
    old = player.melds[at]
    if old.kind == "added_kong":
        rest = without(old.tiles, (kong.tile,)) or old.tiles[:3]
        pung = TableMeld("pung", rest, old.source, old.claimed, 0, old.made)
        melds = (*player.melds[:at], pung, *player.melds[at + 1 :])
    else:
        melds = (*player.melds[:at], *player.melds[at + 1 :])
        kept = without(old.tiles, (kong.tile,)) or ()
        t.player(
            kong.seat,
            known=tuple(sorted((*player.known, *kept))),
            shown=tuple(sorted((*player.shown, *kept))),
        )
    t.player(
        kong.seat,
        melds=melds,
        kong_run=max(0, player.kong_run - 1),
        chain=max(0, player.chain - 1),
    )
    counts = t.state.counts
    t.set(counts=replace(counts, kongs=max(0, counts.kongs - 1)), open_kong=None)


def undo_call(t: Transition, seat: int) -> None:
    """Hu after a call: the set goes back to the hand, the tile to its thrower (C14, LC3)."""
    claim, player = t.state.claim, t.state.players[seat]
    assert claim is not None
    own = without(claim.tiles, (claim.tile,)) or ()
    t.player(
        seat,
        melds=player.melds[:-1],
        known=tuple(sorted((*player.known, *own))),
        shown=tuple(sorted((*player.shown, *own))),
    )
    thrower = t.state.players[claim.source]
    t.player(claim.source, river=(*thrower.river, claim.tile))
    t.set(claim=None)


def show_kong(t: Transition, event: Meld) -> None:
    """After the win an unseen closed kong is turned up."""
    tiles = parse_tiles(event.tiles)
    melds = list(t.state.players[event.seat].melds)
    for at, old in enumerate(melds):
        if old.kind == "closed_kong" and not old.tiles:
            melds[at] = replace(old, tiles=tiles)
            t.player(event.seat, melds=tuple(melds))
            t.see(event.seat, tiles)
            shape = t.state.play.set_issue(t.state, "closed_kong", tiles)
            if shape:
                t.issue(shape, event.seat)
            return
    t.issue("hand_over", event.seat)


def joy(t: Transition, event: Joy) -> None:
    """A joy is laid down, at the deal by any seat, later in the own turn (LM6)."""
    seat, tiles = event.seat, parse_tiles(event.tiles)
    effect = t.state.play.joy(t.state, seat, tiles)
    for issue in effect.issues:
        t.issue(issue, seat)
    at_deal = t.state.discards == 0
    if not at_deal and t.state.turn == seat:
        t.take_turn(seat)
    for tile in tiles:
        t.lose(seat, tile)
    player = t.state.players[seat]
    new = TableMeld("joy", tiles, made=t.state.melded, when=effect.when)
    t.player(seat, melds=(*player.melds, new))
    t.set(**t.state.melding())
    if effect.supplement:
        if t.state.supplements == 0:
            t.issue("no_supplement", seat)
        draw_replacement(t, seat, at_deal=at_deal)
