"""Who pays what, worked out from the documents beside the product, on full tables.

The hand's patterns are taken from the settlement (``compare`` shows that they are right); from them
and from what lies on the table every seat's payment is worked out again, by other code.
``python -m tests.rules.exhaustive.payments RULES... [--hands N] [--first SEED]`` prints figures.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from tablectl.rules.case import Meld, ScoreCase, SeatState
from tablectl.rules.registry import IDS, settle
from tablectl.rules.settlement import Settlement
from tablectl.tiles import Tile
from tests.rules.exhaustive.compare import wilds_for
from tests.rules.exhaustive.deals import deal, kinds_of, wilds_of

OPEN = ("chow", "pung", "kong", "added_kong")
KONGS = ("kong", "added_kong", "closed_kong")

OPTIONS: dict[str, dict[str, list[Any]]] = {
    "hangzhou": {"liability_on_claim": [True], "max_loss": [None, 40]},
    "beijing": {
        "kong_points_banker_double": [True], "upstairs": ["after_draw", "after_draw_or_streak3"],
        "busted_banker": [True], "busted_points": [3], "heavenly_points": [0, 30],
        "earthly_points": [0, 7], "wild_kong_points": [0, 5], "discard_liability": [True],
        "doubles": [{"banker": 0}, {"banker": 2, "own_tile": 0}, {"kong_bloom": 2}],
    },
    "xiamen": {"quanzhou_base_step": ["multiplier"]},
    "nanchang": {"draw_banker_pays": [True]},
    "hongkong": {"payment": ["thrower_half"]},
    "mainland": {
        "payment": ["discarder_all"], "dealer_double": [True], "base_points": [3],
        "limit_fan": [2, 5],
    },
    "wuhan": {
        "golden_limit": [70], "radiant_limit": [80], "trinity_limit": [90], "limit": [30, 60],
        "minimum": [0, 0],
    },
    "jingzhou": {
        "golden_limit": [70], "radiant_limit": [80], "trinity_limit": [90], "limit": [30, 60],
        "minimum": [0, 0],
    },
}  # fmt: skip
"""Options that move money, beside those of the hands."""


# -- full tables -------------------------------------------------------------------------------


def full_table(rules: str, seed: int) -> ScoreCase:
    """A claim with sets, special tiles and circumstances of all seats; drawn now and then."""
    rng = Random(f"{rules}/{seed}/payments")
    case = deal(rules, rng, wilds_for(rules, seed)).case
    options = dict(case.options)
    for name, values in OPTIONS.get(rules, {}).items():
        if rng.random() < 0.4:
            options[name] = rng.choice(values)
    (win,) = case.outcome.wins
    seats = list(case.seats)
    left = _left(rules, case)
    wild = wilds_of(rules, options, case.indicator)
    for seat in range(len(seats)):
        mine = seats[seat]
        if seat == win.seat:
            mine = _one_giver(rng, mine, seat, len(seats), rules)
        else:
            mine = _loser(rng, rules, mine, seat, win.seat, len(seats), left, wild.kinds)
        if rules in ("wuhan", "jingzhou") and rng.random() < 0.5:
            mine = _special(rng, mine, left, [*wild.kinds, *wild.barred])
        if rules == "hangzhou" and seat != win.seat and rng.random() < 0.4:
            mine = mine.model_copy(update={"chips": rng.choice((0, 1, 5, 20, 50))})
        if rules == "kawuxing" and rng.random() < 0.4:
            mine = mine.model_copy(update={"disclosed": True, "disclosed_order": seat + 1})
        seats[seat] = mine
    outcome = case.outcome
    flags = outcome.flags.model_copy(
        update={"sacked": rng.random() < 0.3, "upstairs": rng.random() < 0.3}
    )
    if rng.random() < 0.15:
        outcome = outcome.model_copy(update={"wins": ()})
    elif win.by == "discard" and win.from_seat == case.dealer and rng.random() < 0.3:
        first = win.flags.model_copy(update={"first_turn": True})
        outcome = outcome.model_copy(update={"wins": (win.model_copy(update={"flags": first}),)})
    elif (
        win.by == "self_draw" and win.seat == case.dealer and not seats[win.seat].melds
        and rng.random() < 0.3
    ):  # fmt: skip
        dealt = win.model_copy(update={"by": "deal", "flags": type(win.flags)()})
        outcome = outcome.model_copy(update={"wins": (dealt,)})
    multipliers: tuple[int, ...] = ()
    if rules == "xiamen":
        multipliers = tuple(rng.choices((1, 2, 3, 6), k=rng.randrange(case.streak)))
    return case.model_copy(
        update={
            "options": options, "seats": tuple(seats), "streak_multipliers": multipliers,
            "outcome": outcome.model_copy(update={"flags": flags}),
        }
    )  # fmt: skip


def _left(rules: str, case: ScoreCase) -> Counter[int]:
    left = Counter(dict.fromkeys(kinds_of(rules, case.options), 4))
    (win,) = case.outcome.wins
    left.subtract([t for t in (win.tile, case.indicator) if t is not None])
    for state in case.seats:
        left.subtract(state.hand)
        for meld in state.melds:
            left.subtract(meld.tiles)
    return left


def _one_giver(rng: Random, mine: SeatState, seat: int, seats: int, rules: str) -> SeatState:
    """Often the winner's pungs and kongs come from one seat, as its chows do."""
    if rng.random() < 0.5:
        return mine
    giver = (seat - 1) % seats
    melds = [m.model_copy(update={"from_seat": giver}) if m.is_open else m for m in mine.melds]
    del rules
    return mine.model_copy(update={"melds": tuple(melds)})


def _loser(
    rng: Random, rules: str, mine: SeatState, seat: int, winner: int, seats: int,
    left: Counter[int], wild: frozenset[int],
) -> SeatState:  # fmt: skip
    melds = list(mine.melds)
    giver = winner if rng.random() < 0.5 else (seat + rng.randrange(1, seats)) % seats
    for _ in range(rng.choice((0, 0, 1, 2, 3, 4)) - len(melds)):
        kind = rng.choice(("pung", "pung", "kong", "added_kong", "closed_kong"))
        number = 3 if kind == "pung" else 4
        free = [
            t for t, n in left.items() if n >= number and (rules == "nanchang" or t not in wild)
        ]
        if not free:
            break
        tile = rng.choice(free)
        left[tile] -= number
        source = None if kind == "closed_kong" else giver
        chain = rng.choice((0, 0, 1, 2)) if kind in KONGS and rules == "kawuxing" else 0
        melds.append(
            Meld.model_validate(
                {"kind": kind, "tiles": (Tile(tile),) * number, "from": source, "chain": chain}
            )
        )
    hand: tuple[Tile, ...] = ()
    if rules in ("nanchang", "beijing"):
        drawn = [t for t, n in left.items() for _ in range(n)]
        hand = tuple(Tile(t) for t in rng.sample(drawn, 13 - 3 * len(melds)))
        if rules == "beijing" and rng.random() < 0.2:
            (kind_,) = wild
            if left[kind_] == 4 and len(melds) <= 3:
                hand = (Tile(kind_),) * 4 + tuple(t for t in hand if t != kind_)
                hand = hand[: 13 - 3 * len(melds)]
        left.subtract(hand)
    return mine.model_copy(update={"melds": tuple(melds), "hand": hand})


def _special(rng: Random, mine: SeatState, left: Counter[int], special: list[int]) -> SeatState:
    """Lone kongs and special tiles thrown."""
    melds, aside = list(mine.melds), list(mine.aside)
    for _ in range(rng.choice((1, 1, 2))):
        tile = rng.choice(special)
        if left[tile] < 1:
            continue
        left[tile] -= 1
        if rng.random() < 0.5:
            melds.append(Meld(kind="lone_kong", tiles=(Tile(tile),)))
        else:
            aside.append(Tile(tile))
    return mine.model_copy(update={"melds": tuple(melds), "aside": tuple(aside)})


# -- who pays ----------------------------------------------------------------------------------


class Table:
    """The table of a case, and the money that moves on it."""

    def __init__(self, case: ScoreCase, patterns: dict[str, Any]) -> None:
        self.case, self.options, self.patterns = case, case.options, patterns
        self.n = len(case.seats)
        self.win = case.outcome.wins[0] if case.outcome.wins else None
        self.delta = [0] * self.n
        self.wild = wilds_of(case.rules, case.options, case.indicator)

    @property
    def winner(self) -> int:
        assert self.win is not None
        return self.win.seat

    @property
    def losers(self) -> list[int]:
        return [s for s in range(self.n) if s != self.winner]

    def pay(self, payer: int, receiver: int, points: int) -> None:
        self.delta[payer] -= points
        self.delta[receiver] += points

    def each(self, receiver: int, points: int) -> None:
        for payer in range(self.n):
            if payer != receiver:
                self.pay(payer, receiver, points)

    def banker_in(self, seat: int) -> bool:
        return self.case.dealer in (seat, self.winner)

    def melds(self, seat: int, *kinds: str) -> list[Meld]:
        return [m for m in self.case.seats[seat].melds if m.kind in kinds]

    def given(self, taker: int, giver: int) -> int:
        return sum(m.from_seat == giver for m in self.melds(taker, *OPEN))


def kawuxing(t: Table) -> None:
    for seat in range(t.n):
        for meld in t.melds(seat, *KONGS):
            units = {"kong": 2, "added_kong": 1, "closed_kong": 2}[meld.kind] << meld.chain
            if meld.kind == "kong" and meld.from_seat is not None:
                t.pay(meld.from_seat, seat, units)
            else:
                t.each(seat, units)
    if t.win is None:
        shown = [s for s in range(t.n) if t.case.seats[s].disclosed]
        if shown:
            first = min(shown, key=lambda s: t.case.seats[s].disclosed_order or 9)
            for other in range(t.n):
                if other != first:
                    t.pay(first, other, 1)
        return
    doubles, cap = sum(t.patterns.values()), t.options.get("max_doubles", 3)
    if cap is not None:
        if t.options.get("double_dragon_exception") and "double_dragon_seven_pairs" in t.patterns:
            cap = max(cap, 4)
        doubles = min(doubles, cap)
    score = 1 << doubles
    if t.win.from_seat is None:
        t.each(t.winner, score)
    else:
        both = t.case.seats[t.winner].disclosed
        t.pay(t.win.from_seat, t.winner, score * (2 if both else 1))


def hangzhou(t: Table) -> None:
    if t.win is None:
        return
    score = 1
    for value in t.patterns.values():
        score *= value
    banker = (2, 4, 8)[min(t.case.streak, 3) - 1]
    normal = {s: score * (banker if t.banker_in(s) else 1) for s in t.losers}
    every = sum(normal.values())
    related = {s: (t.given(t.winner, s) >= 3) + 2 * (t.given(s, t.winner) >= 3) for s in t.losers}
    owed = dict.fromkeys(t.losers, 0)
    giver = t.win.from_seat
    if t.win.by == "rob_kong" and giver is not None:
        owed[giver] = every
    elif giver is None:
        liable = any(related.values())
        owed = {s: related[s] * every if liable else normal[s] for s in t.losers}
    else:
        owed[giver] = normal[giver]
        if t.options.get("liability_on_claim"):
            for s in t.losers:
                owed[s] += related[s] * normal[giver]
    for s, points in owed.items():
        chips = t.case.seats[s].chips
        if chips is not None and t.options.get("max_loss", 50) is not None:
            points = min(points, chips)  # noqa: PLW2901
        t.pay(s, t.winner, points)


def beijing(t: Table) -> None:
    (wild,) = t.wild.kinds
    up = t.options.get("upstairs", "off")
    doubled = up != "off" and (
        t.case.outcome.flags.upstairs or (up.endswith("streak3") and t.case.streak >= 3)
    )
    times = 2 if doubled else 1
    for seat, state in enumerate(t.case.seats):
        held = [*state.hand]
        if t.win is not None and t.win.seat == seat and t.win.from_seat is None:
            held.append(t.win.tile)  # type: ignore[arg-type]
        if held.count(Tile(wild)) == 4:
            t.each(seat, times * t.options.get("wild_kong_points", 20))
    if t.win is None:
        return
    if t.options.get("busted_banker") and t.case.outcome.flags.sacked:
        for other in range(t.n):
            if other != t.case.dealer:
                t.pay(t.case.dealer, other, times * t.options.get("busted_points", 10))
    weigh = t.options.get("doubles", {})
    flat = [n for name, n in t.patterns.items() if name in ("heavenly_win", "earthly_win")]
    doubles = sum(n for name, n in t.patterns.items() if name != "wild_kong")
    points = sum(1 if m.kind != "closed_kong" else 2 for m in t.melds(t.winner, *KONGS))
    points <<= t.patterns.get("kong_bloom", 0)
    shares = {}
    for s in t.losers:
        if flat:
            shares[s] = flat[0]
            continue
        own = weigh.get("banker", 1) * (s == t.case.dealer)
        own += weigh.get("own_tile", 1) * (s == t.win.from_seat)
        both = t.options.get("kong_points_banker_double") and t.banker_in(s)
        shares[s] = (1 << (doubles + own)) + points * (2 if both else 1)
    for s, share in shares.items():
        takes_all = t.options.get("discard_liability") and t.win.from_seat is not None
        payer = t.win.from_seat if takes_all else s
        assert payer is not None
        t.pay(payer, t.winner, times * share)


def hongkong(t: Table) -> None:
    if t.win is None:
        return
    faan = min(10, sum(t.patterns.values()))
    points = {3: 8, 4: 16, 5: 24, 6: 32, 7: 48, 8: 64, 9: 96, 10: 128}[faan]
    for s in t.losers:
        if t.win.from_seat is None:
            t.pay(s, t.winner, points // 2)
        elif t.options.get("payment") == "thrower_half":
            t.pay(s, t.winner, points // (2 if s == t.win.from_seat else 4))
        elif s == t.win.from_seat:
            t.pay(s, t.winner, points)


def xiamen(t: Table) -> None:
    if t.win is None:
        return
    items = ("flower_tiles", "gold_tiles", "set_flowers")
    (times,) = [n for name, n in t.patterns.items() if name not in items]
    flowers = sum(t.patterns.get(name, 0) for name in items)
    kept = t.case.streak - 1
    if t.options.get("scoring") != "quanzhou":
        base = 2 * 2**kept
    elif t.options.get("quanzhou_base_step") == "multiplier":
        won = list(t.case.streak_multipliers)
        base = 2 + sum(won) + (kept - len(won))
    else:
        base = 2 + kept
    for s in t.losers:
        mine = (base if t.banker_in(s) else 1) * t.options.get("base_factor", 1)
        t.pay(s, t.winner, (mine + flowers) * times)


def nanchang(t: Table) -> None:
    case, first = t.case, t.case.indicator
    held = []
    for seat, state in enumerate(case.seats):
        tiles: list[int] = [*state.hand, *(x for m in state.melds for x in m.tiles)]
        if t.win is not None and t.win.seat == seat and t.win.tile is not None:
            tiles.append(t.win.tile)
        held.append((tiles.count(first or 0), sum(x in t.wild.kinds for x in tiles)))
    holders = [s for s in range(t.n) if held[s][1]]
    for seat, (firsts, fines) in enumerate(held):
        total = firsts + fines  # two for a first, one for a second
        points = total * (total - 3) if total >= 5 else total
        t.each(seat, points * (2 if holders == [seat] else 1))
        for meld in t.melds(seat, *KONGS):
            fine = meld.tiles[0] in t.wild.kinds
            t.each(seat, 10 if fine else 2 if meld.kind == "closed_kong" else 1)
    five = case.outcome.flags.sacked + (t.win is None and bool(t.options.get("draw_banker_pays")))
    for other in range(t.n):
        if other != case.dealer:
            t.pay(case.dealer, other, 5 * five)
    if t.win is None:
        return
    for s in t.losers:
        if "heavenly_win" in t.patterns or "earthly_win" in t.patterns:
            t.pay(s, t.winner, 20)
            continue
        own = t.banker_in(s) + (t.win.by == "discard" and s == t.win.from_seat)
        t.pay(s, t.winner, (1 << (len(t.patterns) + own)) + 5 * ("german" in t.patterns))


def yangzhou(t: Table) -> None:
    if t.win is None:
        return
    score = sum(t.patterns.values())
    bill = dict.fromkeys(t.losers, score)
    if t.win.from_seat is not None:
        bill = {t.win.from_seat: 2 * score}
    opened = t.melds(t.winner, *OPEN)
    pure = any(name.startswith("pure") for name in t.patterns)
    if pure and len(opened) >= 3 and opened[2].kind == "chow" and opened[2].from_seat is not None:
        bill = {opened[2].from_seat: sum(bill.values())}
    for s, points in bill.items():
        t.pay(s, t.winner, points)


def fenghua(t: Table) -> None:
    if t.win is None:
        return
    score = (sum(t.patterns.values()) + 9) // 10 * 10
    bill = {
        s: score if t.win.by == "discard" and s != t.win.from_seat else 2 * score for s in t.losers
    }
    liable = None
    three = {"mixed_one_suit", "pure_one_suit", "wild_all_pung", "straight_all_pung"}
    for s in t.losers:
        fed = t.given(t.winner, s)
        if fed >= 4 or (fed >= 3 and three & set(t.patterns)):
            liable = s
    if t.win.by == "rob_kong" or (t.win.by == "discard" and t.win.flags.last_tile):
        liable = t.win.from_seat
    if liable is not None:
        bill = {liable: sum(bill.values())}
    for s, points in bill.items():
        t.pay(s, t.winner, points)


def wuhan(t: Table) -> None:
    if t.win is None:
        return
    three = t.case.rules == "jingzhou"
    majors = [n for name, n in t.patterns.items() if name in MAJORS]
    base = float(sum(majors)) if majors else 1.0
    if majors and t.options.get("multi_major") == "exponential":
        base = 10.0 * 2 ** (len(majors) - 1)
    mine = [n for name, n in t.patterns.items() if name not in MAJORS and name != "common_win"]
    half = 1.5 if majors and not three else 2.0
    amounts = {}
    for s in t.losers:
        doubles = sum(n for n in mine if n != 0.5) + _wuhan_doubles(t, s)
        doubles += not majors and s == t.case.dealer
        claimed = half if t.win.by == "discard" and s == t.win.from_seat else 1.0
        amounts[s] = base * 2**doubles * claimed * (1.5 if 0.5 in mine else 1.0)
    raised = t.options.get("kong_tiles", "red") != "red"
    usual = (400, 500, 600, 700) if raised else (300, 400, 500, 600)
    if t.options.get("double_each_open_set"):
        usual = (600, 800, 1000, 1200)
    names = ("limit", "golden_limit", "radiant_limit", "trinity_limit")
    limit, golden, radiant, trinity = (
        t.options.get(name, n) for name, n in zip(names, usual, strict=True)
    )
    hit = all(v >= limit for v in amounts.values())
    shut = [s for s in t.losers if not t.melds(s, *OPEN)]
    bill = {}
    for s, value in amounts.items():
        paid = min(value, limit)
        if hit:
            paid = trinity if len(shut) == len(amounts) else radiant if s in shut else golden
        by = t.options.get("divide_by", 1)
        bill[s] = int(paid / by + 0.5)
    liable, opened = None, t.melds(t.winner, *OPEN)
    if "pure_one_suit" in t.patterns and len(opened) >= 3:
        liable = opened[2].from_seat
    if "all_claimed" in t.patterns:
        assert t.win.from_seat is not None
        liable = liable if t.case.seats[t.win.from_seat].ready else t.win.from_seat
    if t.win.by == "rob_kong":
        liable = t.win.from_seat
    if liable is not None:
        bill = {liable: sum(bill.values())}
    for s, points in bill.items():
        t.pay(s, t.winner, points)


MAJORS = {
    "pure_one_suit", "all_honors", "all_eyes", "all_pung", "all_claimed", "bottom_tile",
    "kong_bloom", "robbing_kong",
}  # fmt: skip


def _wuhan_doubles(t: Table, seat: int) -> int:
    opened = len(t.melds(seat, *OPEN))
    total = opened if t.options.get("double_each_open_set") else int(opened > 0)
    total += len(t.melds(seat, "kong", "added_kong")) + 2 * len(t.melds(seat, "closed_kong"))
    state = t.case.seats[seat]
    for tile in [*state.aside, *(m.tiles[0] for m in t.melds(seat, "lone_kong"))]:
        total += 2 if tile in t.wild.kinds else int(tile in t.wild.barred)
    return total


def mainland(t: Table) -> None:
    if t.win is None:
        return
    fan = min(sum(t.patterns.values()), t.options.get("limit_fan", 8))
    points = t.options.get("base_points", 1) * 2**fan
    for s in t.losers:
        times = 1
        if t.win.from_seat is not None:
            alone = t.options.get("payment") == "discarder_all"
            times = (4 if alone else 2) if s == t.win.from_seat else 0 if alone else 1
        both = t.options.get("dealer_double") and t.banker_in(s)
        t.pay(s, t.winner, points * times * (2 if both else 1))


PAYMENTS: dict[str, Callable[[Table], None]] = {
    "kawuxing": kawuxing, "hangzhou": hangzhou, "xiamen": xiamen, "beijing": beijing,
    "nanchang": nanchang, "yangzhou": yangzhou, "fenghua": fenghua, "wuhan": wuhan,
    "jingzhou": wuhan, "hongkong": hongkong, "mainland": mainland,
}  # fmt: skip


def expected(case: ScoreCase, found: Settlement) -> list[int]:
    """Every seat's points, the winner's patterns given."""
    patterns = dict((found.patterns or {}).get(case.outcome.wins[0].seat, {})) if (
        case.outcome.wins
    ) else {}  # fmt: skip
    table = Table(case, patterns)
    PAYMENTS[case.rules](table)
    return table.delta


def main() -> int:
    """Compare and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", choices=IDS, nargs="+")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    wrong = 0
    for rules in given.rules:
        paid, bad = 0, list[str]()
        for seed in range(given.first, given.first + given.hands):
            case = full_table(rules, seed)
            found = settle(case)
            if found.delta is None:
                continue
            paid += 1
            wanted = expected(case, found)
            if list(found.delta) != wanted:
                bad.append(f"  seed {seed}: expected {wanted}, found {list(found.delta)}")
        print(f"{rules}: {paid} settled, {len(bad)} differences", flush=True)  # noqa: T201
        for line in bad[:5]:
            print(line, flush=True)  # noqa: T201
        wrong += len(bad)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
