"""From the game so far to the score case that settles it."""

from __future__ import annotations

from typing import Any

from tablectl.engine.state import HandState, Player, TableMeld, Winner, evolve
from tablectl.rules.case import (
    CaseError,
    Meld,
    Outcome,
    ScoreCase,
    SeatState,
    TableFlags,
    Win,
    WinFlags,
)
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile


class UnknownTilesError(ValueError):
    """A hand cannot be scored yet: tiles of it have not been seen. The message says which."""


def win_flags(state: HandState, seat: int, by: str, source: int | None) -> dict[str, Any]:
    """Circumstances of a win at this moment, as in score cases."""
    player = state.players[seat]
    flags: dict[str, Any] = {}
    if by == "self_draw":
        carried = player.floats > 0 and state.play.floats_keep_kongs
        if player.kong_run and (state.drew == "kong" or carried):
            flags["kong_draw"] = player.kong_run
        if state.drew == "flower":
            flags["flower_draw"] = True
        if player.floats:
            flags["floats"] = player.floats
        if player.float_gift:
            flags["float_gift"] = dict(player.float_gift)
        if state.play.last_tile(state) and state.drew in ("wall", "kong", "flower"):
            flags["last_tile"] = True
    if by == "discard":
        origin = state.claim if state.claim is not None else state.last
        if origin is not None and origin.after_kong:
            flags["kong_discard"] = True
        if origin is not None and origin.last_tile:
            flags["last_tile"] = True
        if state.discards == 1 and not (state.play.set_ends_first_turn and state.melded):
            flags["first_turn"] = True
    if by == "deal":
        flags["first_turn"] = True
    if by == "ten_honours":
        flags["honours"] = state.play.honours_thrown(state, seat)
    return flags


def build_case(state: HandState, wins: tuple[Winner, ...]) -> ScoreCase:
    """The finished hand as a score case.

    Raises:
        UnknownTilesError: a winner's hand or a closed kong has not been seen.
        CaseError: the table shows something that no hand can hold.
    """
    winners = {win.seat: win for win in wins}
    seats = tuple(
        _seat_state(seat, _without_unseen(state, player, seat in winners), winners.get(seat))
        for seat, player in enumerate(state.players)
    )
    try:
        return ScoreCase(
            id=f"hand-{state.start.rules}",
            rules=state.start.rules,
            options=state.start.options,
            dealer=state.dealer,
            streak=state.streak,
            streak_multipliers=_carried_multipliers(state),
            round_wind=state.start.round_wind,
            indicator=state.indicator,
            seats=seats,
            outcome=Outcome(
                wins=tuple(_win(win) for win in wins),
                flags=TableFlags(**state.play.table_flags(state)),
            ),
        )
    except ValueError as error:
        raise CaseError(f"the table shows an impossible hand: {error}") from None


def _carried_multipliers(state: HandState) -> tuple[int, ...]:
    """Multipliers of the banker's wins in this streak, as the session carries them (X20)."""
    carried = state.session.get("streak_multipliers", ())
    return tuple(carried) if isinstance(carried, list | tuple) else ()


def _without_unseen(state: HandState, player: Player, winner: bool) -> Player:
    """A loser's closed kong that nobody has seen is left out where it cannot change a payment."""
    seen = tuple(m for m in player.melds if m.tiles)
    if winner or state.play.kongs_paid or len(seen) == len(player.melds):
        return player
    return evolve(player, melds=seen, known=(), unknown=player.concealed, final_hand=None)


def _win(win: Winner) -> Win:
    return Win(
        seat=win.seat,
        tile=win.tile,
        by=win.by,
        from_seat=win.source,
        flags=WinFlags(**win.flags),
    )


def _seat_state(seat: int, player: Player, win: Winner | None) -> SeatState:
    if win is not None:
        if win.hand is None:
            raise UnknownTilesError(f"the hand of seat {seat} has not been laid open")
        hand = win.hand
    elif player.final_hand is not None:
        hand = player.final_hand
    else:
        hand = player.known if player.fully_known else ()
    return SeatState(
        hand=hand,
        melds=tuple(_meld(seat, m) for m in sorted(player.melds, key=lambda m: m.made)),
        flowers=player.flowers,
        aside=player.aside,
        disclosed=player.disclosed is not None,
        disclosed_order=player.disclosed_order,
        ready=player.ready,
        floating=player.floating,
        forfeited=player.forfeited,
    )


def _meld(seat: int, meld: TableMeld) -> Meld:
    if not meld.tiles:
        raise UnknownTilesError(f"the closed kong of seat {seat} has not been shown")
    try:
        return Meld(
            kind=meld.kind,
            tiles=meld.tiles,
            from_seat=meld.source,
            chain=meld.chain,
            when=meld.when,
        )
    except ValueError as error:
        raise CaseError(f"the sets of seat {seat} are impossible: {error}") from None


def settle(state: HandState, wins: tuple[Winner, ...], names: Names | None = None) -> Settlement:
    """Settle the hand with these winners; ``names`` tells how to call a seat in the derivation.

    Raises:
        UnknownTilesError, CaseError: as :func:`build_case`.
    """
    return state.ruleset.settle(build_case(state, wins), names)


def would_win(state: HandState, win: Winner) -> bool:
    """Whether this hand would be a valid win, play restrictions aside."""
    if win.tile is None or win.hand is None or not completes(state, win.seat, win.tile, win.hand):
        return False
    return win_error(state, win) is None


def completes(state: HandState, seat: int, tile: Tile, hand: tuple[Tile, ...]) -> bool:
    """Whether the tiles make a winning shape: the quick test before scoring."""
    melds = state.players[seat].melds
    if any(not m.tiles for m in melds):
        return False
    laid = [_meld(seat, m) for m in melds]
    return state.ruleset.complete((*hand, tile), laid, state.wild, state.options)


def win_error(state: HandState, win: Winner) -> str | None:
    """Reason id why the claim is no valid win; ``None`` where it is, or where nobody can say.

    Raises:
        CaseError: the table shows something that no hand can hold.
        UnknownTilesError: tiles of the winner have not been seen.
    """
    trial = state
    for other, player in enumerate(state.players):
        if other != win.seat:  # other hands do not decide whether a win is valid
            trial = trial.with_player(other, known=(), unknown=player.concealed, surplus=0)
    return settle(trial, (win,)).error
