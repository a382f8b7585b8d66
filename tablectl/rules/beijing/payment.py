"""Who owes what under the Beijing rules. Readings B1, B2, B12 to B19."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.rules.beijing.hand import Doubles
from tablectl.rules.beijing.options import BeijingOptions
from tablectl.rules.case import ScoreCase, Win
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments
from tablectl.rules.text import plus
from tablectl.tiles import Tile

_KONG_POINTS = {"kong": 1, "added_kong": 1, "closed_kong": 2}


@dataclass(frozen=True, slots=True)
class Bill:
    """What a hand is paid by.

    Attributes:
        doubles: those that all payers share; empty for a flat score.
        flat: points from each in place of doubles and kong points; 0 where doubles count.
    """

    doubles: Doubles
    flat: int = 0


def weight(options: BeijingOptions, pattern: str) -> int:
    """Doubles of a base pattern."""
    weights: dict[str, int] = dict(options.doubles.items())
    return weights.get(pattern, 1)


def is_upstairs(case: ScoreCase, options: BeijingOptions) -> bool:
    """Whether everything settled in this hand is doubled (B16, B17)."""
    if options.upstairs == "off":
        return False
    third = options.upstairs == "after_draw_or_streak3" and case.streak >= 3
    return case.outcome.flags.upstairs or third


def others(case: ScoreCase, seat: int) -> list[int]:
    """The other seats in turn order."""
    return [case.seat_after(seat, step) for step in range(1, len(case.seats))]


def pay_hand(
    case: ScoreCase, win: Win, bill: Bill, options: BeijingOptions, names: Names
) -> tuple[dict[int, int], list[str]]:
    """What each seat owes the winner for hand and kongs, upstairs left out, and why."""
    lines, shares = [], dict[int, int]()
    points = sum(_KONG_POINTS.get(m.kind, 0) for m in case.seats[win.seat].melds)
    bloom = bill.doubles.get("kong_bloom", 0)
    kongs = 0 if bill.flat else points * 2**bloom
    if kongs:
        doubled = f" × {2**bloom} (kong bloom) = {kongs}" if bloom else ""
        lines.append(f"Kong points from each: {points}{doubled}")
    for seat in others(case, win.seat):
        share, text = _share(case, win, seat, bill, options)
        if kongs:
            factor = (
                2 if options.kong_points_banker_double and case.dealer in (seat, win.seat) else 1
            )
            share += kongs * factor
            text += f" + {kongs}{f' × {factor} (banker)' if factor > 1 else ''} = {share}"
        shares[seat] = share
        lines.append(f"{names(seat)}: {text}")
    if options.discard_liability and win.from_seat is not None:
        total = list(shares.values())
        lines.append(f"{names(win.from_seat)} gave the tile and pays for all: {plus(total)}")
        shares = {win.from_seat: sum(total)}
    return shares, lines


def _share(
    case: ScoreCase, win: Win, seat: int, bill: Bill, options: BeijingOptions
) -> tuple[int, str]:
    """A loser's share of the hand, kongs left out, and its arithmetic (B1, B2, B14)."""
    if bill.flat:
        return bill.flat, f"{bill.flat}, flat"
    base = share = int(2 ** sum(bill.doubles.values()))
    text = ""
    if seat == case.dealer and weight(options, "banker"):
        share *= 2 ** weight(options, "banker")
        text += f" × {2 ** weight(options, 'banker')} (banker)"
    if seat == win.from_seat and weight(options, "own_tile"):
        gave = "whose kong was robbed" if win.by == "rob_kong" else "gave the tile"
        share *= 2 ** weight(options, "own_tile")
        text += f" × {2 ** weight(options, 'own_tile')} ({gave})"
    return share, f"{base}{text} = {share}" if text else f"{base}"


def holders(case: ScoreCase, wild: Tile | None) -> list[int]:
    """Seats that hold all four wild tiles concealed, a drawn winning tile included (B13, LB5)."""
    drawn = {win.seat: win.tile for win in case.outcome.wins if win.is_own_draw}
    return [
        seat
        for seat, state in enumerate(case.seats)
        if wild is not None and state.hand.count(wild) + (drawn.get(seat) == wild) == 4
    ]


def pay_events(
    case: ScoreCase,
    wild: Tile | None,
    options: BeijingOptions,
    payments: Payments,
    names: Names,
) -> list[str]:
    """Wild kongs in any hand, and a busted banker in one that was won (B13, B18)."""
    lines, factor = [], 2 if is_upstairs(case, options) else 1
    points = options.wild_kong_points
    for seat in holders(case, wild) if points else []:
        for payer in others(case, seat):
            payments.pay(payer, seat, points * factor)
        lines.append(f"{names(seat)} holds all four wild tiles: {points} from each")
    busted = options.busted_banker and case.outcome.flags.sacked and case.outcome.wins
    if busted and options.busted_points:
        for receiver in others(case, case.dealer):
            payments.pay(case.dealer, receiver, options.busted_points * factor)
        lines.append(
            f"All four threw the same first tile: {names(case.dealer)}, the banker, is busted and "
            f"pays {options.busted_points} to each"
        )
    return lines
