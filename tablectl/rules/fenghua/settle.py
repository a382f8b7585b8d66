"""Settling a Fenghua hand: refusals, points, rounding, who pays. F1, F9 to F12, F18 to F23."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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
from tablectl.rules.fenghua.forms import Form, Marks, forms
from tablectl.rules.fenghua.hand import (
    Hand,
    is_single_call,
    is_winning,
    look,
    wild_rule,
    wind_points,
)
from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.fenghua.patterns import NOT_FOR_MINIMUM, ORDER, TITLES, points_of
from tablectl.rules.fenghua.payment import bill
from tablectl.rules.ruleset import Names
from tablectl.rules.settlement import Payments, Settlement, drawn_hand, refused
from tablectl.rules.text import hand_text, plus, wild_as, win_text
from tablectl.rules.wild import Wild
from tablectl.tiles import EAST, WINDS, Tile, format_tile, format_tiles, is_flower

HAND = 13
EIGHT = 8


@dataclass(frozen=True, slots=True)
class _Claim:
    """A win with what is needed to judge it."""

    case: ScoreCase
    win: Win
    options: FenghuaOptions
    wild: Wild
    names: Names

    @property
    def flowers(self) -> tuple[Tile, ...]:
        """Flowers laid out that are not wild (F23)."""
        laid = self.case.seats[self.win.seat].flowers
        return tuple(tile for tile in laid if tile not in self.wild.tiles)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A form with the points of every pattern of the hand."""

    form: Form
    points: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.points.values())

    @property
    def for_claim(self) -> int:
        """Points that count towards the minimum (F9)."""
        return sum(n for name, n in self.points.items() if name not in NOT_FOR_MINIMUM)


def settle(case: ScoreCase, options: FenghuaOptions, names: Names) -> Settlement:
    """Settle a hand whose options and tiles are already checked."""
    if case.round_wind is None:
        raise CaseError("Fenghua rules need the round wind", field="round_wind")
    win = single_win(case)
    if win is None:
        return drawn_hand(len(case.seats))
    if case.indicator is None:
        raise CaseError("no indicator: nothing says which tiles are wild", field="indicator")
    claim = _Claim(case, win, options, wild_rule(case.indicator, options), names)
    refusal = (
        wrong_count(case, win, HAND, names)
        or forfeited(case, win, names)
        or invalid_meld(case, win, claim.wild, names)
        or wild_claimed(win, claim.wild)
    )
    if refusal:
        return refusal
    hand = look(case, win, claim.wild)
    if hand is None or not _wins(claim, hand):
        return refused("not_winning_shape", f"{win_text(win, names)}: {_NO_SHAPE}")
    problem = _claim_problem(claim)
    best = None if problem else _best(claim, hand)
    if best is None:
        return refused("claim_not_allowed", f"{win_text(win, names)}: {problem or _LONE_WILD}")
    return _pay(claim, best)


_NO_SHAPE = (
    "the tiles are no four sets and a pair, no seven pairs, not independent and not all honours."
)
_LONE_WILD = "the tile would only pair a wild one, which takes a tile from the wall."


def _wins(claim: _Claim, hand: Hand) -> bool:
    if claim.win.by == "flowers":
        return len(claim.flowers) == EIGHT
    if claim.win.by == "ten_honours" or hand.tile is None:
        return False
    return is_winning(hand.counts, hand.wilds, hand.melds)


def _claim_problem(claim: _Claim) -> str | None:
    """Why this way of winning is not open to the seat, in words."""
    case, win = claim.case, claim.win
    if win.by == "indicator":
        return "the tile turned up cannot be robbed in these rules."
    if win.by == "deal" and win.seat != case.dealer:
        return "only the banker holds fourteen dealt tiles."
    if win.by == "rob_kong" and not robbed_pung(case, win, claim.wild):
        assert win.from_seat is not None
        return f"{claim.names(win.from_seat)} shows no such pung; a closed kong is not robbed."
    return None


# -- counting ----------------------------------------------------------------------------------


def _best(claim: _Claim, hand: Hand) -> _Counted | None:
    """The arrangement that brings the most (S1); ``None`` where the claim allows none.

    Of equals the one whose patterns stand first on the sheet.
    """
    fixed = _fixed_marks(claim, hand)
    celebrate = claim.options.all_honors_award == "celebration"
    found: Iterable[Form]
    if claim.win.by == "flowers":
        found = [_flowers_alone(hand)]
    else:
        found = forms(hand, celebrate_honours=celebrate)
    counted = (_Counted(form, _points(claim, fixed, form.marks)) for form in found)
    return max(counted, key=lambda c: (c.total, [-ORDER[name] for name in c.points]), default=None)


def _points(claim: _Claim, *marks: Marks) -> dict[str, int]:
    """Points by pattern in the order of the sheet, sums of several occurrences together."""
    together: Marks = {}
    for part in marks:
        together |= part
    found = {name: n * points_of(name, claim.options) for name, n in together.items()}
    return {name: found[name] for name in sorted(found, key=ORDER.__getitem__) if found[name]}


def _flowers_alone(hand: Hand) -> Form:
    """Eight flowers: nothing is arranged, sets laid out and natural triplets count (F19, S4)."""
    pungs = [group.tiles[0] for group in hand.laid if group.tiles[0] == group.tiles[1]]
    pungs += [Tile(i) for i, n in enumerate(hand.counts) if n >= 3]
    marks: Marks = {}
    for points in map(hand.wind_points, pungs):
        if points is not None:
            marks[points[0]] = marks.get(points[0], 0) + 1
    return Form(marks, None)


def meant_points(case: ScoreCase, options: FenghuaOptions, names: Names) -> dict[str, int]:
    """Points of a claim that need no arrangement: the way of winning and what can be counted."""
    win = case.outcome.wins[0]
    claim = _Claim(case, win, options, wild_rule(case.indicator, options), names)
    seat = case.seats[win.seat]
    last = () if win.tile is None or win.from_seat is not None else (win.tile,)
    wilds = sum(tile in claim.wild.tiles for tile in (*seat.hand, *last))
    marks = {"base": 1} | _wild_marks(claim, min(wilds, 3))
    if win.by != "discard":
        marks["own_tile"] = 1
    laid = [meld.tiles[0] for meld in seat.melds if meld.kind != "chow"]
    own = WINDS[(win.seat - case.dealer) % 4]
    around = WINDS["ESWN".index(case.round_wind or "E")]
    scoring = (wind_points(tile, own, around) for tile in laid)
    pungs = dict(Counter(points[0] for points in scoring if points is not None))
    return _points(claim, marks, pungs, _kong_marks(claim), _flower_marks(claim))


def _fixed_marks(claim: _Claim, hand: Hand) -> Marks:
    """Patterns that no arrangement changes."""
    win = claim.win
    marks = {"base": 1} | _wild_marks(claim, hand.wilds)
    if win.by != "discard":
        marks["own_tile"] = 1  # a robbed kong counts as one (F10)
    if win.by != "flowers" and is_single_call(hand):
        marks["single_call"] = 1
    return marks | _kong_marks(claim) | _flower_marks(claim)


def _wild_marks(claim: _Claim, wilds: int) -> Marks:
    names = ["no_wild", "one_wild", "two_wild", "three_normal_wilds"]
    if any(map(is_flower, claim.wild.tiles)):
        names[3] = "three_flower_wilds"
    return {names[wilds]: 1}


_KONGS = {"kong": "direct", "closed_kong": "closed", "added_kong": "risky"}


def _kong_marks(claim: _Claim) -> Marks:
    """Kongs, the last of them blooming where its supplement won (F20)."""
    win = claim.win
    kongs = [_KONGS[m.kind] for m in claim.case.seats[win.seat].melds if m.is_kong]
    blooms = win.by == "self_draw" and win.flags.kong_draw > 0 and not win.flags.flower_draw
    marks: Marks = {}
    for place, kind in enumerate(kongs):
        last = place == len(kongs) - 1
        name = f"{'blooming' if blooms and last else 'budding'}_{kind}_kong"
        marks[name] = marks.get(name, 0) + 1
    if win.by == "self_draw" and win.flags.flower_draw:
        marks["blooming_flower_kong"] = 1
    return marks


def _flower_marks(claim: _Claim) -> Marks:
    laid, own = set(claim.flowers), (claim.win.seat - claim.case.dealer) % 4
    marks = {"own_flower": len({Tile(34 + own), Tile(38 + own)} & laid)}
    full = sum({Tile(low + i) for i in range(4)} <= laid for low in (34, 38))
    if full == 2 and claim.options.eight_flowers_award == "points":
        alone = claim.win.by == "flowers"
        return marks | {"uncompleted_eight_flowers" if alone else "completed_eight_flowers": 1}
    return marks | {"four_flowers": full}


# -- paying ------------------------------------------------------------------------------------


def _pay(claim: _Claim, counted: _Counted) -> Settlement:
    case, win, names = claim.case, claim.win, claim.names
    lines, shown = _hand_lines(claim, counted.form)
    lines += [f"{TITLES[name]}: {n}" for name, n in counted.points.items()]
    least = claim.options.claim_minimum
    if win.by == "discard" and counted.for_claim < least:
        lines.append(f"{counted.for_claim} points · {least} to win by a discard")
        return refused("below_minimum", lines[-1]).model_copy(update={"lines": tuple(lines)})
    score = -(-counted.total // 10) * 10
    rounded = "" if score == counted.total else f", rounded up to {score}"
    lines.append(f"Points: {plus(list(counted.points.values()))}{rounded}")
    payments = Payments(len(case.seats))
    for payer, amount, why in bill(case, win, score, counted.points, names):
        payments.pay(payer, win.seat, amount)
        lines.append(why)
    lines.append(f"{names(win.seat)} receives {payments.delta[win.seat]}")
    return Settlement(
        delta=payments.delta,
        payments=payments.transfers,
        patterns={win.seat: dict(counted.points)},
        wild_as={win.seat: shown} if shown else {},
        lines=tuple(lines),
    )


def _hand_lines(claim: _Claim, form: Form) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """How the hand is arranged, and what each wild tile stands for."""
    win, seat = claim.win, claim.case.seats[claim.win.seat]
    last = () if win.tile is None else (win.tile,)
    held = sorted(tile for tile in (*seat.hand, *last) if tile in claim.wild.tiles)
    text = win_text(win, claim.names)
    if form.reading is not None:
        lines = [f"{text}: {hand_text(seat.melds, form.reading)}"]
        shown = wild_as(held, form.reading, EAST)
    else:
        laid = " ".join(format_tiles(meld.tiles) for meld in seat.melds)
        lines = [f"{text}: {f'{laid} + ' if laid else ''}{format_tiles(sorted(seat.hand))}"]
        stands = form.loose or tuple(held)
        shown = {
            format_tile(face): tuple(
                format_tile(s) for h, s in zip(held, stands, strict=True) if h == face
            )
            for face in held
        }
    lines += [f"Wild {face} plays as {', '.join(tiles)}" for face, tiles in shown.items()]
    return lines, shown
