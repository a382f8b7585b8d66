"""Random claims to win: complete hands, hands that just miss, and hands of chance.

Which tiles are wild is worked out here from the documents' words, not by the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from tablectl.rules.case import Meld, Outcome, ScoreCase, SeatState, Win, WinFlags
from tablectl.tiles import Tile

WHITE, GREEN, RED = 31, 32, 33
WUHAN_ORDER = (27, 28, 29, 30, 33, 32, 31)

OPTIONS: dict[str, dict[str, list[Any]]] = {
    "kawuxing": {
        "removed_suit": ["p", "s"],
        "max_doubles": [None, 1, 2, 5],
        "double_dragon_exception": [True],
    },
    "hangzhou": {
        "permanent_fortune": [True],
        "rob_kong_min_streak": [2],
        "pairs_extra_on_claim": [False],
        "wall_only": [True],
    },
    "xiamen": {
        "scoring": ["quanzhou"],
        "quanzhou_open_pung_as_closed": [True],
        "required_float": [True],
        "gold_restriction": ["no_discard", "wall_only"],
        "base_factor": [5],
    },
    "beijing": {
        "wild_eye_double": [True],
        "native_wild_flush_double": [True],
        "void_suit": [True],
        "extra_doubles": [{"pure_one_suit": 2, "all_pung": 1, "single_tile": 1, "last_tile": 1}],
        "doubles": [{"straight": 0, "catch_five": 2}, {"closed": 0, "own_tile": 2}],
    },
    "nanchang": {},
    "yangzhou": {
        "schedule": ["old", "new"],
        "minimum": [0, 13],
        "all_honors_factor": [2],
        "quadruplet_runs_factor": [2],
    },
    "fenghua": {"claim_minimum": [3], "limit_unit": [30], "all_honors_award": ["celebration"]},
    "wuhan": {
        "kong_tiles": ["red_green", "peel"],
        "double_each_open_set": [True],
        "multi_major": ["exponential"],
        "minimum": [0, 16, 64],
        "divide_by": [10, 20],
        "limit": [50],
    },
    "jingzhou": {
        "double_each_open_set": [True],
        "multi_major": ["exponential"],
        "minimum": [0, 16],
        "divide_by": [10, 20],
        "limit": [50],
    },
    "hongkong": {"payment": ["thrower_half"]},
    "mainland": {
        "treasure": ["upward", "downward", "up_and_down", "up_and_down", "none"],
        "fan": [{"all_pungs": 1, "dragon_pung": 3}, {"mixed_one_suit": 0}],
        "minimum_fan": [2],
        "limit_fan": [3],
    },
}
"""Options switched now and then; those that only move money are left to other tests."""


class Wilds(NamedTuple):
    """Wild kinds, the face of the white dragon where it borrows one, kinds that make nothing."""

    kinds: frozenset[int]
    white_as: int | None = None
    barred: frozenset[int] = frozenset()


def next_in_suit(tile: int) -> int:
    return tile // 9 * 9 + (tile % 9 + 1) % 9


def next_of(tile: int, dragons: Sequence[int]) -> int:
    """The tile after: suits and winds go round, dragons in the order given."""
    if tile < 27:
        return next_in_suit(tile)
    ring = (27, 28, 29, 30) if tile < 31 else dragons
    return ring[(list(ring).index(tile) + 1) % len(ring)]


def wilds_of(rules: str, options: dict[str, Any], turned: int | None) -> Wilds:
    """What is wild once a tile has been turned up."""
    red_green_white, green_red_white = (RED, GREEN, WHITE), (GREEN, RED, WHITE)
    if rules == "hangzhou" and options.get("permanent_fortune"):
        return Wilds(frozenset({WHITE}))
    if turned is None:
        return Wilds(frozenset())
    if rules in ("hangzhou", "xiamen"):
        return Wilds(frozenset({turned}), None if turned == WHITE else turned)
    if rules == "beijing":
        return Wilds(frozenset({next_of(turned, red_green_white)}))
    if rules == "nanchang":
        return Wilds(frozenset({turned, next_of(turned, red_green_white)}))
    if rules == "fenghua":
        return Wilds(frozenset({turned}))
    if rules == "mainland":
        ring = [t for t in range(34) if next_of(t, green_red_white) == turned]
        mode = options.get("treasure", "basic")
        kinds = {turned}
        kinds |= {next_of(turned, green_red_white)} if mode in ("upward", "up_and_down") else set()
        kinds |= set(ring) if mode in ("downward", "up_and_down") else set()
        return Wilds(frozenset(kinds) if mode != "none" else frozenset())
    return _wuhan_wilds(rules, options.get("kong_tiles", "red"), turned)


def _wuhan_wilds(rules: str, mode: str, turned: int) -> Wilds:
    order = [t for t in WUHAN_ORDER if not (rules == "jingzhou" and t == 27)]
    barred = {"red": {RED}, "red_green": {RED, GREEN}, "peel": set[int]()}[mode]
    if turned < 27:
        wild, below = next_in_suit(turned), turned // 9 * 9 + (turned % 9 + 8) % 9
    else:
        ring = [t for t in order if t not in barred or t == turned]
        wild = ring[(ring.index(turned) + 1) % len(ring)]
        below = order[order.index(turned) - 1]
    if mode == "peel":
        barred = {turned, below}
    return Wilds(frozenset({wild}), None, frozenset(barred))


MOST_WILDS = {
    "kawuxing": 0, "hangzhou": 4, "xiamen": 3, "beijing": 4, "nanchang": 7, "yangzhou": 0,
    "fenghua": 3, "wuhan": 4, "jingzhou": 4, "hongkong": 0, "mainland": 8,
}  # fmt: skip
"""Wild tiles that a hand can hold."""

STYLES = {
    "kawuxing": ("sets", "sets", "suit", "pairs", "honours"),
    "hangzhou": ("sets", "sets", "suit", "pairs"),
    "xiamen": ("sets", "sets", "suit", "honours"),
    "beijing": ("sets", "suit", "flush", "pairs", "fives"),
    "nanchang": ("sets", "suit", "pairs", "apart", "honours", "pungs"),
    "yangzhou": ("sets", "suit", "runs", "runs", "pungs"),
    "fenghua": ("sets", "suit", "pairs", "apart", "honours", "pungs"),
    "wuhan": ("sets", "suit", "pungs", "honours", "eyes", "eyes"),
    "jingzhou": ("sets", "suit", "pungs", "honours", "eyes", "eyes"),
    "hongkong": ("sets", "suit", "pungs", "honours", "orphans"),
    "mainland": ("sets", "suit", "pungs", "honours", "runs"),
}
"""What hands are built from."""

FOUR_MELDS = ("wuhan", "jingzhou", "kawuxing", "fenghua", "beijing")
SIXTEEN = ("xiamen",)
FLOWERS = ("xiamen", "fenghua", "hongkong", "mainland")
MELDED_WILDS = ("nanchang",)


class Deal(NamedTuple):
    """A claim, with how many wild tiles it holds."""

    case: ScoreCase
    wilds: int


def kinds_of(rules: str, options: dict[str, Any]) -> list[int]:
    """The kinds of the set."""
    if rules == "kawuxing":
        out = "mps".index(options.get("removed_suit", "m"))
        return [t for t in range(34) if (t < 27 and t // 9 != out) or t >= 31]
    if rules == "jingzhou":
        return [t for t in range(9, 34) if t != 27]
    return list(range(34))


def deal(rules: str, rng: Random, wilds: int) -> Deal:
    """A random claim that asks for that many wild tiles."""
    while True:
        found = _try(rules, rng, wilds)
        if found is not None:
            return found


def _try(rules: str, rng: Random, wilds: int) -> Deal | None:
    options = {
        name: rng.choice(values) for name, values in OPTIONS[rules].items() if rng.random() < 0.3
    }
    if rules == "hangzhou" and wilds == 4:
        options["permanent_fortune"] = True
    if rules == "mainland" and wilds > 3:
        options["treasure"] = "up_and_down" if wilds > 6 else rng.choice(("upward", "up_and_down"))
    kinds = kinds_of(rules, options)
    turned = None if MOST_WILDS[rules] == 0 else rng.choice(kinds)
    if (rules == "hangzhou" and options.get("permanent_fortune")) or (
        rules == "mainland" and options.get("treasure") == "none"
    ):
        turned = None
    wild = wilds_of(rules, options, turned)
    if wilds and not wild.kinds:
        return None
    tiles = _tiles(rules, rng, kinds, wild, wilds)
    if tiles is None:
        return None
    groups, held = tiles
    return _claim(rules, rng, options, turned, wild, groups, held, kinds)


def _tiles(
    rules: str, rng: Random, kinds: list[int], wild: Wilds, wilds: int
) -> tuple[list[list[int]], list[int]] | None:
    """Groups to lay out and concealed tiles, the winning one included."""
    sets = 5 if rules in SIXTEEN else 4
    usable = [t for t in kinds if t not in wild.kinds and t not in wild.barred]
    if wild.white_as is not None:
        usable = [t for t in usable if t != WHITE] + [wild.white_as]
    style = rng.choice(STYLES[rules])
    chance = rng.random() < 0.2
    groups = _groups(rng, style, usable, sets)
    if groups is None:
        return None
    melds = 0
    if style not in ("pairs", "apart", "orphans"):
        most = 4 if rules in FOUR_MELDS and rng.random() < 0.3 else 2
        melds = rng.choice((0, 0, 1, most))
        if rules in ("wuhan", "jingzhou"):
            melds = rng.choice((0, 1, 1, 1, 2, 3, 4))
        if rules == "kawuxing":
            groups[:-1] = sorted(groups[:-1], key=lambda g: g[0] != g[1])
            melds = min(melds, sum(g[0] == g[1] for g in groups[:-1]))
        if style == "honours" and rng.random() < 0.4:
            groups = [[rng.choice(usable) for _ in g] if i >= melds else g
                      for i, g in enumerate(groups)]  # fmt: skip
    held = [t for g in groups[melds:] for t in g]
    if chance:
        few = [t for t in usable if rng.random() < 0.4] or usable
        held = [rng.choice(few) for _ in held]
    rng.shuffle(held)
    if wilds > len(held):
        return None
    held[:wilds] = rng.choices(sorted(wild.kinds), k=wilds) if wilds else []
    if not chance and rng.random() < 0.35:
        for _ in range(rng.choice((1, 1, 2))):
            if wilds < len(held):
                held[rng.randrange(wilds, len(held))] = rng.choice(usable)
    if wild.white_as is not None:
        naturals = [WHITE if t == wild.white_as else t for t in held[wilds:]]
        held[wilds:] = naturals
        groups = [[WHITE if t == wild.white_as else t for t in g] for g in groups]
    if wild.barred and rng.random() < 0.02:
        held[-1] = min(wild.barred)
    rng.shuffle(held)
    if any(t in wild.kinds or t in wild.barred for g in groups[:melds] for t in g):
        return None
    return groups[:melds], held


def _groups(rng: Random, style: str, usable: list[int], sets: int) -> list[list[int]] | None:
    if style in ("suit", "flush", "runs"):
        suit = rng.randrange(3)
        near = [t for t in usable if t // 9 == suit or (t >= 27 and rng.random() < 0.3)]
        usable = near if len(near) >= 8 else usable
    if style == "honours":
        usable = [t for t in usable if t >= 27 or rng.random() < 0.04]
    if style == "eyes":
        usable = [t for t in usable if t < 27 and t % 9 in (1, 4, 7)]
    if style == "orphans":
        ends = [0, 8, 9, 17, 18, 26, *range(27, 34)]
        return [[t] for t in [*ends, rng.choice(ends)]]
    if style == "apart":
        return _apart(rng, usable)
    if len(usable) < 4:
        return None
    if style == "pairs":
        return [[rng.choice(usable)] * 2 for _ in range(7)]
    pungs = {"pungs": 0.9, "honours": 1.0, "eyes": 1.0, "runs": 0.05}.get(style, 0.35)
    groups = []
    for _ in range(sets):
        low = rng.choice(usable)
        run = [low, low + 1, low + 2]
        fits = low < 27 and low % 9 < 7 and all(t in usable for t in run)
        groups.append(run if fits and rng.random() >= pungs else [low] * 3)
    if style == "flush":
        low = 9 * rng.randrange(3)
        groups[:3] = [[low + i, low + i + 1, low + i + 2] for i in (0, 3, 6)]
        rng.shuffle(groups)
    if style == "runs":
        low = rng.choice((0, 3))
        groups = [
            [9 * rng.randrange(rng.choice((1, 2, 3))) + low + rng.choice((0, 0, 1, 3))] * 1
            for _ in range(sets)
        ]
        groups = [[g[0], g[0] + 1, g[0] + 2] for g in groups]
    if style == "fives":
        groups[rng.randrange(sets)] = [3, 4, 5]
    eyes = [t for t in usable if t < 27 and t % 9 in (1, 4, 7)]
    return [*groups, [rng.choice(eyes if eyes and rng.random() < 0.3 else usable)] * 2]


def _apart(rng: Random, usable: list[int]) -> list[list[int]] | None:
    """Fourteen tiles that are three apart in their suits, as many honours as it takes."""
    chosen: list[int] = []
    for low in (0, 9, 18):
        start, gap = rng.randrange(3), rng.choice((3, 3, 4))
        chosen += [low + p for p in range(start, 9, gap)]
    chosen = [t for t in chosen if t in usable]
    honours = [t for t in range(27, 34) if t in usable]
    rng.shuffle(honours)
    rng.shuffle(chosen)
    whole = [*honours[: rng.choice((5, 6, 7, 7))], *chosen][:14]
    return [[t] for t in whole] if len(whole) == 14 else None


def _claim(
    rules: str,
    rng: Random,
    options: dict[str, Any],
    turned: int | None,
    wild: Wilds,
    groups: list[list[int]],
    held: list[int],
    kinds: list[int],
) -> Deal | None:
    seats = 3 if rules in ("kawuxing", "jingzhou") else 4
    winner, dealer = rng.randrange(seats), rng.randrange(seats)
    *hand, tile = held
    laid = [_meld(rng, g, winner, seats) for g in groups]
    by, source = "self_draw", None
    if rng.random() < 0.45:
        by, source = "discard", (winner + rng.randrange(1, seats)) % seats
    if by == "discard" and rng.random() < 0.2 and tile not in wild.kinds:
        by = "rob_kong"
    kongs = any(m.is_kong for m in laid)
    flags = WinFlags(
        kong_draw=int(by == "self_draw" and kongs and rng.random() < 0.4),
        last_tile=by != "rob_kong" and rng.random() < 0.1,
    )
    states = [SeatState(ready=rng.random() < 0.5) for _ in range(seats)]
    states[winner] = SeatState(
        hand=tuple(map(Tile, hand)),
        melds=tuple(laid),
        flowers=tuple(Tile(t) for t in range(34, 42) if rules in FLOWERS and rng.random() < 0.25),
    )
    if by == "rob_kong" and source is not None:
        giver = (source + rng.randrange(1, seats)) % seats
        pung = Meld(kind="pung", tiles=(Tile(tile),) * 3, from_seat=giver)
        states[source] = SeatState(melds=(pung,), ready=False)
    seen = Counter([tile, *([] if turned is None else [turned])])
    for state in states:
        seen.update(state.hand)
        for meld in state.melds:
            seen.update(meld.tiles)
    if max(seen.values()) > 4 or not set(seen) <= set(kinds):
        return None
    win = Win(seat=winner, tile=Tile(tile), by=by, from_seat=source, flags=flags)
    case = ScoreCase(
        id="dealt", rules=rules, options=options, dealer=dealer, streak=rng.randrange(1, 5),
        round_wind=rng.choice(("E", "S", "W", "N")),
        indicator=None if turned is None else Tile(turned),
        seats=tuple(states), outcome=Outcome(wins=(win,)),
    )  # fmt: skip
    return Deal(case, sum(t in wild.kinds for t in held))


def _meld(rng: Random, group: list[int], winner: int, seats: int) -> Meld:
    if group[0] != group[1]:
        tiles = tuple(map(Tile, group))
        return Meld(kind="chow", tiles=tiles, from_seat=(winner - 1) % seats)
    giver = (winner + rng.randrange(1, seats)) % seats
    kind = rng.choice(("pung", "pung", "pung", "kong", "added_kong", "closed_kong"))
    number = 3 if kind == "pung" else 4
    return Meld.model_validate(
        {
            "kind": kind,
            "tiles": (Tile(group[0]),) * number,
            "from": None if kind == "closed_kong" else giver,
        }
    )
