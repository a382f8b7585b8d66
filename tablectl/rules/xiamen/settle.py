"""Settling under the Xiamen or Quanzhou scoring: refusals, best arrangement, who pays."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.case import CaseError, ScoreCase, Win
from tablectl.rules.claims import (
    forfeited,
    invalid_meld,
    robbed_pung,
    single_win,
    wild_claimed,
    wrong_count,
)
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, plus, wild_as, win_text
from tablectl.rules.wild import Wild
from tablectl.rules.xiamen.hand import (
    Arrangement,
    Hand,
    arrangements,
    look,
    unarranged,
    wild_rule,
)
from tablectl.rules.xiamen.options import XiamenOptions
from tablectl.rules.xiamen.patterns import GOLDS, PATTERNS
from tablectl.rules.xiamen.payment import Items, base, item_flowers
from tablectl.tiles import EAST, Tile, format_tile, format_tiles, is_flower, is_honour

_TITLES = {pattern.id: pattern.title for pattern in PATTERNS}
HAND = 16
FLOAT_LEAST = 3
"""Multiplier that three golds must reach with ``required_float`` (X18)."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    options: XiamenOptions
    wild: Wild
    names: Names


@dataclass(frozen=True, slots=True)
class _Counted:
    """An arrangement with its flowers and what the losers pay for it together."""

    arrangement: Arrangement
    items: Items
    total: int


def settle(case: ScoreCase, options: XiamenOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    if case.indicator is None and win.by != "flowers":
        raise CaseError("no indicator: nothing says which tiles are gold", field="indicator")
    if case.indicator is not None and is_flower(case.indicator):
        raise CaseError("a flower turned up is turned back", field="indicator")
    wild = wild_rule(case.indicator, options)
    claim = _Claim(case, win, options, wild, names)
    refusal = (
        _wrong_count(claim)
        or forfeited(case, win, names)
        or _false_float(claim)
        or invalid_meld(case, win, wild, names)
        or wild_claimed(win, wild)
    )
    if refusal:
        return refusal
    hand = look(case.seats[win.seat], win, wild)
    other = None if hand is None else unarranged(case.seats[win.seat], hand, win, wild, options)
    if hand is None or not (_is_shape(win, hand) or other):
        return refused("not_winning_shape", f"{win_text(win, names)}: {_no_shape(options)}")
    problem = _claim_problem(claim, hand)
    best = None if problem else _best(claim, hand, other)
    if best is None:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem or _LONE_GOLD}")
    return _pay(claim, hand, best)


_LONE_GOLD = "the tile would only pair a gold, which takes a tile from the wall."


def _no_shape(options: XiamenOptions) -> str:
    if options.quanzhou:
        return "the tiles are no five sets and a pair, no three gold in time, no eight flowers."
    return "the tiles are no five sets and a pair, and no three gold in time."


def _is_shape(win: Win, hand: Hand) -> bool:
    return hand.complete and win.by not in ("flowers", "ten_honours")


def _wrong_count(claim: _Claim) -> Settlement | None:
    """Refuses a tile too many or too few; a seat that does not deal wins as dealt with 16 (X10)."""
    case, win = claim.case, claim.win
    if win.by == "deal" and win.tile is None and win.seat != case.dealer:
        seat = case.seats[win.seat]
        if len(seat.hand) + 3 * len(seat.melds) == HAND:
            return None
    return wrong_count(case, win, HAND, claim.names)


def _false_float(claim: _Claim) -> Settlement | None:
    """Refuses a seat that has thrown a gold without floating (X19)."""
    seat, wild = claim.case.seats[claim.win.seat], claim.wild
    thrown = any(tile in wild.tiles for tile in seat.aside)
    held = any(tile in wild.tiles for tile in seat.hand)
    if not claim.options.false_float or not thrown or held:
        return None
    line = (
        f"{claim.names(claim.win.seat)} threw a gold without floating and may not win (an option)."
    )
    return refused("forfeited", line)


def _claim_problem(claim: _Claim, hand: Hand) -> str | None:
    """Why this way of winning is not open to the seat, in words."""
    case, win, options = claim.case, claim.win, claim.options
    if win.by == "indicator":
        return _indicator_problem(claim)
    if win.by == "deal" and win.seat != case.dealer and win.tile is not None:
        return "only the banker holds seventeen dealt tiles."
    if win.from_seat is None:
        return None
    if win.by == "rob_kong" and not robbed_pung(case, win, claim.wild):
        return f"{claim.names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    barred = {"none": (), "no_discard": ("discard",), "wall_only": ("discard", "rob_kong")}
    if hand.before and win.by in barred[options.gold_restriction]:
        return "a seat that holds gold may not win so (an option)."  # X16
    if case.seats[win.seat].floating:
        return "in its own float round a seat wins by a tile from the wall only."  # X9
    floats = any(seat.floating for i, seat in enumerate(case.seats) if i != win.seat)
    if floats and win.by == "discard" and not options.float_round_claim:
        return "no discard is claimed in another seat's float round (an option)."
    if win.flags.missed and options.missed_tile_lock:
        return "the seat let this tile go and has not had its turn since (an option)."
    return None


def _indicator_problem(claim: _Claim) -> str | None:
    if claim.options.quanzhou:
        return "Quanzhou scoring does not know robbing the gold."
    if claim.win.tile != claim.case.indicator:
        return "only the tile turned up can be robbed so."
    return None


def _best(claim: _Claim, hand: Hand, other: Arrangement | None) -> _Counted | None:
    """The arrangement that brings the most (S1); of equals the one with the higher multiplier."""
    case, win, options = claim.case, claim.win, claim.options
    earthly = win.flags.first_turn and win.from_seat == case.dealer
    found = []
    if _is_shape(win, hand):
        found += list(arrangements(hand, win, claim.wild, options, earthly=earthly))
    if other is not None:
        found.append(other)
    if options.required_float and hand.golds == GOLDS:
        found = [arrangement for arrangement in found if arrangement.multiplier >= FLOAT_LEAST]
    best: _Counted | None = None
    for arrangement in found:
        counted = _counted(claim, hand, arrangement)
        if best is None or _rank(counted) > _rank(best):
            best = counted
    return best


def _rank(counted: _Counted) -> tuple[int, int]:
    return counted.total, counted.arrangement.multiplier


def _counted(claim: _Claim, hand: Hand, arrangement: Arrangement) -> _Counted:
    seat = claim.case.seats[claim.win.seat]
    items = item_flowers(seat, hand.golds, arrangement.set_flowers, claim.options)
    flowers = sum(items.values())
    bases = (base(claim.case, loser, claim.win.seat, claim.options) for loser in _losers(claim))
    return _Counted(arrangement, items, sum((b + flowers) * arrangement.multiplier for b in bases))


def _losers(claim: _Claim) -> list[int]:
    return [claim.case.seat_after(claim.win.seat, step) for step in (1, 2, 3)]


def _pay(claim: _Claim, hand: Hand, counted: _Counted) -> Settlement:
    case, win, names = claim.case, claim.win, claim.names
    way, multiplier = counted.arrangement.way, counted.arrangement.multiplier
    lines, shown = _hand_lines(claim, counted.arrangement)
    lines.append(f"{_TITLES[way]}: ×{multiplier}")
    lines += [f"{_TITLES[item]}: {flowers}" for item, flowers in counted.items.items()]
    flowers = sum(counted.items.values())
    if len(counted.items) > 1:
        lines.append(f"Flowers together: {plus(list(counted.items.values()))}")
    payments = Payments(len(case.seats))
    for payer in _losers(claim):
        due = base(case, payer, win.seat, claim.options)
        amount = (due + flowers) * multiplier
        payments.pay(payer, win.seat, amount)
        lines.append(f"{names(payer)} pays {_sum_text(due, flowers, multiplier)} = {amount}")
    lines.append(f"{names(win.seat)} receives {payments.delta[win.seat]}")
    patterns = {win.seat: {way: multiplier, **counted.items}}
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={seat: dict(found) for seat, found in patterns.items()},
        wild_as={win.seat: shown} if shown else {},
        lines=tuple(lines),
    )


def _sum_text(due: int, flowers: int, multiplier: int) -> str:
    if not flowers:
        return f"(base {due}) × {multiplier}"
    return f"(base {due} + {flowers}) × {multiplier}"


def _hand_lines(
    claim: _Claim, arrangement: Arrangement
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """How the hand is arranged, and what golds and white dragons stand for."""
    win, seat = claim.win, claim.case.seats[claim.win.seat]
    drawn = (win.tile,) if win.tile is not None and win.is_own_draw else ()
    golds = [tile for tile in (*seat.hand, *drawn) if tile in claim.wild.tiles]
    if arrangement.reading is None:
        laid = " ".join(format_tiles(meld.tiles) for meld in seat.melds)
        text = f"{laid} + " if laid else ""
        lines = [f"{win_text(win, claim.names)}: {text}{format_tiles(sorted(seat.hand))}"]
        return lines, {
            format_tile(golds[0]): (format_tile(golds[0]),) * len(golds)
        } if golds else {}
    lines = [f"{win_text(win, claim.names)}: {hand_text(seat.melds, arrangement.reading)}"]
    shown = wild_as(golds, arrangement.reading, _free_face(golds[0])) if golds else {}
    lines += [f"Gold {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    lines += [
        f"{format_tile(tile)} plays as {format_tile(face)}"
        for tile, face in claim.wild.faces.items()
        if tile in (*seat.hand, win.tile)
    ]
    return lines, shown


def _free_face(gold: Tile) -> Tile:
    """What three golds play as where nothing else is in the set: an honour pung is worth most."""
    return gold if is_honour(gold) else EAST
