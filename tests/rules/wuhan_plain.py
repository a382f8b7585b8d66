"""Wuhan and Jingzhou counted plainly, by exhaustive substitution, without the product's code.

Every choice of what the wild tiles stand for is laid out in every way, and all conditions are read
off the tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from random import Random
from typing import Any

from tests.rules import brute

ORDER = (27, 28, 29, 30, 33, 32, 31)
"""East, South, West, North, Red, Green, White."""
OPEN = ("chow", "pung", "kong", "added_kong")


class Table:
    """The wild tile and the kong tiles under an indicator."""

    def __init__(self, rules: str, mode: str, indicator: int) -> None:
        self.three = rules == "jingzhou"
        order = [t for t in ORDER if not (self.three and t == 27)]
        self.kinds = [t for t in range(34) if not self.three or 9 <= t < 27 or t > 27]
        barred = {"red": {33}, "red_green": {33, 32}, "peel": set[int]()}[mode]
        if indicator < 27:
            suit, number = divmod(indicator, 9)
            self.wild = 9 * suit + (number + 1) % 9
            below = 9 * suit + (number + 8) % 9
        else:
            at = order.index(indicator)
            ring = [t for t in order if t not in barred or t == indicator]
            self.wild = ring[(ring.index(indicator) + 1) % len(ring)]
            below = order[at - 1]
        self.barred = {indicator, below} if mode == "peel" else barred


def is_eye(tile: int) -> bool:
    return tile < 27 and tile % 9 in (1, 4, 7)


class Reading:
    """One way to lay a hand out."""

    def __init__(self, conditions: frozenset[str], eyes: bool, hard: bool) -> None:
        self.conditions, self.eyes, self.hard = conditions, eyes, hard


def readings(
    table: Table, held: Sequence[int], laid: Sequence[tuple[int, ...]]
) -> Iterator[Reading]:
    """Every reading of concealed tiles, the winning one included, beside the sets laid out."""
    if any(t in table.barred for t in held):
        return
    naturals = [t for t in held if t != table.wild]
    wilds = len(held) - len(naturals)
    laid_tiles = [t for s in laid for t in s]
    allowed = [t for t in table.kinds if t not in table.barred]
    for chosen in combinations_with_replacement(allowed, wilds):
        hand = [*naturals, *chosen]
        hard = all(t == table.wild for t in chosen)
        whole = [*hand, *laid_tiles]
        for name, test in (("all_honors", lambda t: t >= 27), ("all_eyes", is_eye)):
            if all(map(test, whole)):
                yield Reading(frozenset({name}), eyes=False, hard=hard)
        for pair, sets in brute.partitions(hand):
            if len(sets) + len(laid) == 4:
                eyes = is_eye(pair) and (pair in naturals or pair == table.wild)
                yield Reading(_conditions(table, [*sets, *laid], pair), eyes, hard)


def _conditions(table: Table, sets: Sequence[tuple[int, ...]], pair: int) -> frozenset[str]:
    tiles = [pair, *(t for s in sets for t in s)]
    suits = {t // 9 if t < 27 else 3 for t in tiles}
    found = set()
    if len(suits) == 1 and (suits != {3} or table.three):
        found.add("pure_one_suit")
    if suits == {3}:
        found.add("all_honors")
    if all(map(is_eye, tiles)):
        found.add("all_eyes")
    if all(s[0] == s[1] for s in sets):
        found.add("all_pung")
    return frozenset(found)


def is_valid(reading: Reading, wilds: int) -> bool:
    return bool(reading.conditions) or (reading.eyes and wilds <= 1)


def any_tile_wins(table: Table, hand: Sequence[int], laid: Sequence[tuple[int, ...]]) -> bool:
    for kind in table.kinds:
        if kind in table.barred or hand.count(kind) == 4:
            continue
        held = [*hand, kind]
        wilds = held.count(table.wild)
        if not any(is_valid(r, wilds) for r in readings(table, held, laid)):
            return False
    return True


def verdict(case: dict[str, Any], options: dict[str, Any]) -> str | int:
    """The reason why a claim is refused, or what the winner receives before liability."""
    table = Table(case["rules"], options.get("kong_tiles", "red"), case["indicator"])
    me = case["seats"][case["winner"]]
    laid = [tuple(sorted(tiles[:3])) for kind, tiles in me["melds"] if kind != "lone_kong"]
    opened = sum(kind in OPEN for kind, _ in me["melds"])
    held = [*me["hand"], case["tile"]]
    if case["by"] != "self_draw" and case["tile"] == table.wild:
        return "wild_tile_claimed"
    found = list(readings(table, held, laid)) if opened else []
    found = [r for r in found if r.conditions or r.eyes]
    if not found:
        return "not_winning_shape"
    if case["by"] == "discard" and any_tile_wins(table, me["hand"], laid):
        return "claim_not_allowed"
    wilds = held.count(table.wild)
    scored = [_amounts(case, options, table, r, wilds, opened) for r in found]
    allowed = [amounts for amounts in scored if amounts]
    if not allowed:
        return "claim_not_allowed"
    least = options.get("minimum", 16 if options.get("kong_tiles") == "red_green" else 8)
    test = any if table.three else all
    enough = [a for a in allowed if test(v >= least for v in a.values())]
    if not enough:
        return "below_minimum"
    return max(_received(case, options, a) for a in enough)


def _amounts(
    case: dict[str, Any], options: dict[str, Any], table: Table, reading: Reading, wilds: int,
    opened: int,
) -> dict[int, float]:  # fmt: skip
    majors = set(reading.conditions)
    by = case["by"]
    if reading.eyes:
        if by == "discard" and opened == 4:
            majors.add("all_claimed")
        if by == "self_draw" and case["last_tile"] and not table.three:
            majors.add("bottom_tile")
        if by == "self_draw" and case["kong_draw"]:
            majors.add("kong_bloom")
        if by == "rob_kong":
            majors.add("robbing_kong")
    if not majors and not (reading.eyes and wilds <= 1):
        return {}
    base = 10.0 * len(majors) if majors else 1.0
    if majors and options.get("multi_major") == "exponential":
        base = 10.0 * 2 ** (len(majors) - 1)
    part = 1.5 if majors and not table.three else 2.0
    winner, dealer = case["winner"], case["dealer"]
    mine = _doubles(case["seats"][winner], options, table) + reading.hard
    if not majors and winner == dealer:
        mine += 1
    own = part if by == "self_draw" and not majors & {"bottom_tile", "kong_bloom"} else 1.0
    amounts = {}
    for seat in range(len(case["seats"])):
        if seat != winner:
            theirs = _doubles(case["seats"][seat], options, table)
            theirs += not majors and seat == dealer
            claimed = part if by == "discard" and seat == case["source"] else 1.0
            amounts[seat] = base * 2 ** (mine + theirs) * own * claimed
    return amounts


def _doubles(seat: dict[str, Any], options: dict[str, Any], table: Table) -> int:
    kinds = [kind for kind, _ in seat["melds"]]
    opened = sum(kind in OPEN for kind in kinds)
    total = opened if options.get("double_each_open_set") else min(opened, 1)
    total += kinds.count("kong") + kinds.count("added_kong") + 2 * kinds.count("closed_kong")
    special = [*seat["aside"], *(t[0] for kind, t in seat["melds"] if kind == "lone_kong")]
    total += sum(2 if t == table.wild else t in table.barred for t in special)
    return total


def _received(case: dict[str, Any], options: dict[str, Any], amounts: dict[int, float]) -> int:
    limits = (300, 400, 500, 600)
    if options.get("kong_tiles", "red") != "red":
        limits = (400, 500, 600, 700)
    if options.get("double_each_open_set"):
        limits = (600, 800, 1000, 1200)
    limit, golden, radiant, trinity = limits
    limit = options.get("limit", limit)
    closed = [
        seat
        for seat in amounts
        if not any(kind in OPEN for kind, _ in case["seats"][seat]["melds"])
    ]
    by = options.get("divide_by", 1)
    total = 0
    for seat, value in amounts.items():
        paid = min(value, limit)
        if all(v >= limit for v in amounts.values()):
            paid = radiant if seat in closed else golden
            if len(closed) == len(amounts):
                paid = trinity
        total += int(paid / by + 0.5)
    return total


# -- random hands ------------------------------------------------------------------------------


def random_case(
    rng: Random, rules: str, *, most_wilds: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A hand near a win, with what the others have laid out, and options."""
    options = _random_options(rng, rules)
    seats = 3 if rules == "jingzhou" else 4
    while True:
        kinds = Table(rules, "red", 9).kinds
        indicator = rng.choice(kinds)
        table = Table(rules, options.get("kong_tiles", "red"), indicator)
        made = _hand(rng, table, most_wilds)
        if made is None:
            continue
        hand, melds, tile = made
        case: dict[str, Any] = {
            "rules": rules, "indicator": indicator, "winner": rng.randrange(seats),
            "dealer": rng.randrange(seats), "tile": tile, "last_tile": rng.random() < 0.2,
            "kong_draw": rng.random() < 0.2, "by": "self_draw", "source": None,
            "seats": [{"hand": [], "melds": [], "aside": []} for _ in range(seats)],
        }  # fmt: skip
        case["seats"][case["winner"]] |= {"hand": hand, "melds": melds}
        # Whether anything completes a hand of many wild tiles takes minutes to find out plainly.
        if most_wilds <= 2 and rng.random() < 0.5:
            case |= {"by": "discard", "kong_draw": False, "last_tile": False}
            case["source"] = (case["winner"] + rng.randrange(1, seats)) % seats
        _others(rng, case, table)
        if _exists(case, table):
            return case, options


def _random_options(rng: Random, rules: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rules == "wuhan":
        options["kong_tiles"] = rng.choice(("red", "red_green", "peel"))
    for name, values in (
        ("double_each_open_set", (True,)), ("multi_major", ("exponential",)),
        ("minimum", (0, 16, 64)), ("divide_by", (10, 20)), ("limit", (50,)),
    ):  # fmt: skip
        if rng.random() < 0.25:
            options[name] = rng.choice(values)
    return options


def _hand(
    rng: Random, table: Table, most_wilds: int
) -> tuple[list[int], list[tuple[str, list[int]]], int] | None:
    style = rng.choice(("any", "any", "suit", "pungs", "honours", "eyes", "eyes-pair"))
    usable = [t for t in table.kinds if t not in table.barred and t != table.wild]
    if style == "suit":
        suit = rng.choice((1, 2))
        usable = [t for t in usable if t // 9 == suit]
    elif style == "honours":
        usable = [t for t in usable if t >= 27]
    elif style == "eyes":
        usable = [t for t in usable if is_eye(t)]
    if len(usable) < 3:
        return None
    groups = []
    for _ in range(4):
        low = rng.choice(usable)
        run = [low, low + 1, low + 2]
        if (
            style in ("any", "suit", "eyes-pair")
            and low < 25
            and low % 9 < 7
            and rng.random() < 0.6
        ):
            if not all(t in usable for t in run):
                return None
            groups.append(run)
        else:
            groups.append([low] * 3)
    eyes = [t for t in usable if is_eye(t)] or usable
    groups.append([rng.choice(eyes if rng.random() < 0.7 else usable)] * 2)
    laid = rng.choice((0, 1, 1, 2, 3, 4))
    held = [t for g in groups[laid:] for t in g]
    if style in ("honours", "eyes") and rng.random() < 0.4:
        held = [rng.choice(usable) for _ in held]
    rng.shuffle(held)
    wilds = min(rng.randrange(most_wilds + 1), len(held))
    held[:wilds] = [table.wild] * wilds
    if rng.random() < 0.15:
        held[-1] = rng.choice(table.kinds)
    rng.shuffle(held)
    return held[1:], [_laid(rng, g) for g in groups[:laid]], held[0]


def _laid(rng: Random, group: list[int]) -> tuple[str, list[int]]:
    if group[0] != group[1]:
        return "chow", group
    kind = rng.choice(("pung", "pung", "pung", "kong", "added_kong", "closed_kong"))
    return kind, group if kind == "pung" else [*group, group[0]]


def _others(rng: Random, case: dict[str, Any], table: Table) -> None:
    """Sets, lone kongs and discards that double."""
    special = [table.wild, *sorted(table.barred)]
    for seat in range(len(case["seats"])):
        mine = case["seats"][seat]
        if seat != case["winner"]:
            for _ in range(rng.choice((0, 0, 1, 2))):
                tile = rng.choice([t for t in table.kinds if t not in special])
                mine["melds"].append(_laid(rng, [tile] * 3))
        if rng.random() < 0.4:
            mine["melds"].append(("lone_kong", [rng.choice(special)]))
        if rng.random() < 0.4:
            mine["aside"].append(rng.choice(special))


def _exists(case: dict[str, Any], table: Table) -> bool:
    """Whether no tile is there more often than in the set."""
    seen = [case["indicator"], case["tile"]]
    for seat in case["seats"]:
        seen += [*seat["hand"], *seat["aside"], *(t for _, tiles in seat["melds"] for t in tiles)]
    return all(seen.count(t) <= 4 and t in table.kinds for t in seen)
