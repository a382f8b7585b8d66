"""Xiamen, Nanchang and Fenghua counted plainly: every substitution, every partition, no caches.

Knows nothing of the product's readings, shapes and counting; hands without a chance of wild tiles
beyond two are meant, the rest takes too long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from tablectl.rules.case import Meld, ScoreCase
from tests.rules import brute

WHITE = 31


def won_by(case: ScoreCase) -> tuple[int, bool]:
    """The winning tile, and whether it comes from the wall."""
    (win,) = case.outcome.wins
    assert win.tile is not None
    return win.tile, win.by == "self_draw"


def is_chow(meld: Meld) -> bool:
    return meld.tiles[0] != meld.tiles[1]


# -- Xiamen ------------------------------------------------------------------------------------


def xiamen_total(case: ScoreCase) -> int | str:
    """What the winner receives, or the reason why nothing."""
    (win,) = case.outcome.wins
    seat, gold = case.seats[win.seat], case.indicator
    assert gold is not None
    tile, drawn = won_by(case)
    options = case.options

    def face(t: int) -> int:
        return gold if t == WHITE and gold != WHITE else t

    held = [face(t) for t in seat.hand if t != gold]
    golds = len(seat.hand) - len(held)
    last_gold = drawn and tile == gold
    naturals = held if last_gold else [*held, face(tile)]
    wilds = golds + last_gold
    quanzhou = options.get("scoring") == "quanzhou"
    laid = 0
    for meld in seat.melds:
        if not is_chow(meld):
            closed = quanzhou and bool(options.get("quanzhou_open_pung_as_closed"))
            laid += (face(meld.tiles[0]) >= 27) + closed
    fixed = len(seat.flowers) + wilds
    if not quanzhou:
        fixed += 4 * sum(set(range(a, a + 4)) <= set(seat.flowers) for a in (34, 38))
    ways = list(_xiamen_ways(naturals, wilds, case))
    if not ways:
        return "not_winning_shape"
    base = 2 + case.streak - 1 if quanzhou else 2**case.streak
    factor = options.get("base_factor", 1)
    losers = [(win.seat + i) % 4 for i in (1, 2, 3)]
    bases = [(base if case.dealer in (loser, win.seat) else 1) * factor for loser in losers]
    totals = []
    for floats, flowers in ways:
        multiplier = (3 if quanzhou else 4) if floats else 2 if drawn else 1
        if options.get("required_float") and wilds == 3 and multiplier < 3:
            continue
        if flowers is not None:
            items = fixed + laid + flowers
            totals.append(sum((b + items) * multiplier for b in bases))
    return max(totals, default="claim_not_allowed")


def _xiamen_ways(
    naturals: list[int], wilds: int, case: ScoreCase
) -> Iterator[tuple[bool, int | None]]:
    """Whether it is a gold float, and the flowers of concealed sets; ``None``: not allowed."""
    (win,) = case.outcome.wins
    tile, drawn = won_by(case)
    gold = case.indicator
    t = gold if tile == WHITE and gold != WHITE else tile
    open_costs = not (
        case.options.get("scoring") == "quanzhou"
        and case.options.get("quanzhou_open_pung_as_closed")
    )
    have = Counter(naturals)
    for whole in brute.substitutions(naturals, wilds):
        extra = Counter(whole) - have
        for pair, sets in brute.partitions(whole):
            if len(sets) + len(case.seats[win.seat].melds) != 5:
                continue
            pungs = [s[0] for s in sets if s[0] == s[1]]
            flowers = sum(1 + (p >= 27) for p in pungs)
            if drawn:
                floats = extra[pair] >= (2 if tile == gold else 1) and (tile == gold or pair == t)
                yield floats, flowers
                if floats:
                    yield False, flowers
                continue
            costs = [0 for s in sets if t in s and s[0] != s[1]]
            costs += [int(open_costs) for s in sets if s == (t, t, t)]
            costs += [0] if pair == t and have[t] >= 2 else []
            yield False, flowers - min(costs) if costs else None


# -- Nanchang ----------------------------------------------------------------------------------


def _nanchang_second(first: int) -> int:
    if first < 27:
        return first - 8 if first % 9 == 8 else first + 1
    return {27: 28, 28: 29, 29: 30, 30: 27, 33: 32, 32: 31, 31: 33}[first]


def _nanchang_groups(first: int) -> Iterator[tuple[int, ...]]:
    yield (first,) * 3
    if first < 27 and first % 9 <= 6:
        yield (first, first + 1, first + 2)
    for block in (range(27, 31), range(31, 34)):
        yield from (run for run in combinations(block, 3) if run[0] == first)


def _splits(tiles: tuple[int, ...], pungs: bool) -> bool:
    if not tiles:
        return True
    for group in _nanchang_groups(tiles[0]):
        if pungs and group[0] != group[1]:
            continue
        left = Counter(tiles)
        left.subtract(group)
        if min(left.values()) >= 0 and _splits(tuple(sorted(left.elements())), pungs):
            return True
    return False


def _pairs_with(tiles: Sequence[int], pungs: bool) -> Iterator[int]:
    """Kinds that can be the eyes."""
    for pair in set(tiles):
        if list(tiles).count(pair) >= 2:
            left = Counter(tiles)
            left.subtract((pair, pair))
            if _splits(tuple(sorted(left.elements())), pungs):
                yield pair


def is_independent(tiles: Sequence[int]) -> bool:
    return len(tiles) == 14 and not any(
        a == b or (max(a, b) < 27 and a // 9 == b // 9 and abs(a - b) < 3)
        for a, b in combinations(tiles, 2)
    )


def nanchang_total(case: ScoreCase) -> int | str:
    """What the winner receives for the hand without bonuses, or the reason why nothing."""
    (win,) = case.outcome.wins
    seat, first = case.seats[win.seat], case.indicator
    assert first is not None
    fines = {first, _nanchang_second(first)}
    tile, drawn = won_by(case)
    whole = [*seat.hand, tile]
    held = [t for t in seat.hand if t in fines]
    rest = [t for t in seat.hand if t not in fines]
    wilds = len(held) + (drawn and tile in fines)
    naturals = rest if drawn and tile in fines else [*rest, tile]
    found: list[tuple[int, bool, bool]] = []  # doubles, German, allowed
    found += [(d, True, True) for d in _nanchang_shapes(case, whole, None)]
    for chosen in brute.substitutions([], wilds):
        filled = [*naturals, *chosen]
        for doubles in _nanchang_shapes(case, filled, None):
            allowed = drawn or bool(list(_nanchang_shapes(case, filled, tile, naturals)))
            if allowed and not drawn:
                found += [(d, False, True) for d in _nanchang_shapes(case, filled, tile, naturals)]
            else:
                found.append((doubles, False, allowed))
    if drawn:
        found += [(d + 1, g, True) for d, g in _nanchang_fine_calls(case, fines)]
    if not found:
        return "not_winning_shape"
    totals = [_nanchang_points(case, d, g, drawn) for d, g, allowed in found if allowed]
    return max(totals, default="claim_not_allowed")


def _nanchang_shapes(
    case: ScoreCase, tiles: list[int], claimed: int | None, naturals: Sequence[int] = ()
) -> Iterator[int]:
    """Doubles of every shape; with ``claimed`` only those where it pairs no wild tile."""
    (win,) = case.outcome.wins
    melds = case.seats[win.seat].melds

    def pairs_fine(pair: int) -> bool:
        # The claimed tile is the only natural one of its kind, and no other copy fills a set.
        return pair == claimed and list(naturals).count(claimed) == 1 and tiles.count(pair) == 2

    for pungs in (False, True):
        if pungs and any(map(is_chow, melds)):
            continue
        fits = len(tiles) + 3 * len(melds) == 14
        if fits and any(not pairs_fine(pair) for pair in _pairs_with(tiles, pungs)):
            yield int(pungs)
    if melds:
        return
    free = claimed is None or list(naturals).count(claimed) > 1
    if free and brute.is_pairs(tiles):
        yield 1
    if is_independent(tiles):
        held = {t for t in (*case.seats[win.seat].hand, win.tile) if t is not None and t >= 27}
        yield 1 + (len(held) == 7)


def _nanchang_fine_calls(case: ScoreCase, fines: set[int]) -> Iterator[tuple[int, bool]]:
    """Doubles of the shape, and whether German, for eyes of a held fine tile and the one drawn."""
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    for fine in set(seat.hand) & fines:
        rest = [int(t) for t in seat.hand]
        rest.remove(fine)
        naturals = [t for t in rest if t not in fines]
        choices = [(rest, fine == win.tile)]
        choices += [
            ([*naturals, *c], False) for c in brute.substitutions([], len(rest) - len(naturals))
        ]
        for tiles, german in choices:
            if tiles is rest and not german:
                continue
            for pungs in (False, True):
                spoilt = pungs and any(map(is_chow, seat.melds))
                if not spoilt and _splits(tuple(sorted(tiles)), pungs):
                    yield int(pungs), german
            if not seat.melds and brute.is_pairs(tiles):
                yield 1, german


def _nanchang_points(case: ScoreCase, shape: int, german: bool, drawn: bool) -> int:
    (win,) = case.outcome.wins
    # Losers' hands are unknown in samples, so that every German hand is a double German one.
    doubles = shape + drawn + 2 * german
    total = 0
    for loser in ((win.seat + i) % 4 for i in (1, 2, 3)):
        own = (case.dealer in (loser, win.seat)) + (loser == win.from_seat)
        total += int(2 ** (doubles + own)) + 5 * german
    return total


# -- Fenghua -----------------------------------------------------------------------------------


def fenghua_points(case: ScoreCase) -> int | str:
    """The best sum of points before rounding, or the reason why there is none."""
    (win,) = case.outcome.wins
    seat, wild = case.seats[win.seat], case.indicator
    tile, drawn = won_by(case)
    held = [int(t) for t in seat.hand if t != wild]
    wilds = len(seat.hand) - len(held) + (drawn and tile == wild)
    naturals = held if drawn and tile == wild else [*held, tile]
    sums = list(_fenghua_sums(case, naturals, wilds))
    if not sums:
        return "not_winning_shape"
    allowed = [points for points in sums if points is not None]
    if not allowed:
        return "claim_not_allowed"
    unit = case.options.get("limit_unit", 50)
    own = (win.seat - case.dealer) % 4
    flowers = 2 * len({34 + own, 38 + own} & set(seat.flowers))
    full = sum(set(range(a, a + 4)) <= set(seat.flowers) for a in (34, 38))
    more = flowers + (800 * unit // 50 if full == 2 else 150 * full * unit // 50)
    many = wilds == 3
    best = max(allowed) + 1 + drawn + _fenghua_single(case, held, wilds - (drawn and tile == wild))
    best += 0 if many else (1, 1, 2)[wilds]
    if not drawn and best < case.options.get("claim_minimum", 4):
        return "below_minimum"
    return int(best + more + (150 * unit // 50 if many else 0))


def _fenghua_single(case: ScoreCase, held: list[int], wilds: int) -> int:
    (win,) = case.outcome.wins
    melds = case.seats[win.seat].melds
    own = Counter([*held, *(t for m in melds for t in m.tiles)])
    calls = [
        kind
        for kind in range(34)
        if own[kind] < 4 and brute.any_substitution(
            [*held, kind], wilds, lambda whole: _fenghua_wins(whole, melds)
        )
    ]  # fmt: skip
    return int(len(calls) == 1)


def _fenghua_wins(whole: Sequence[int], melds: Sequence[Meld]) -> bool:
    honours = all(t >= 27 for t in (*whole, *(m.tiles[0] for m in melds)))
    if brute.is_standard(whole) or honours:
        return True
    return not melds and (brute.is_pairs(whole) or is_independent(whole))


def _fenghua_sums(case: ScoreCase, naturals: list[int], wilds: int) -> Iterator[int | None]:
    """Points that hang on the arrangement; ``None``: an arrangement that the claim may not use."""
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    tile, drawn = won_by(case)
    unit = case.options.get("limit_unit", 50)
    celebrated = case.options.get("all_honors_award") == "celebration"
    have = Counter(naturals)

    def big(points: int) -> int:
        return points * int(unit) // 50

    def suits(tiles: Sequence[int]) -> int:
        kinds = {t // 9 for t in tiles if t < 27}
        if len(kinds) != 1:
            return 0
        mixed = any(t >= 27 for t in tiles)
        return (70 if unit == 50 else 40) if mixed else big(150)

    def wind_points(pungs: Sequence[int]) -> int:
        mine = 27 + (win.seat - case.dealer) % 4
        round_ = 27 + "ESWN".index(case.round_wind or "E")
        return sum((p >= 31) + (p == mine) + (p == round_) for p in pungs)

    laid = [tuple(sorted(m.tiles[:3])) for m in seat.melds]
    for whole in brute.substitutions(naturals, wilds):
        extra = Counter(whole) - have
        tame = int(wilds > 0 and set(extra) <= {case.indicator})
        for pair, concealed in brute.partitions(whole):
            sets = [*concealed, *laid]
            if len(sets) != 4:
                continue
            if not drawn:
                in_set = any(tile in s for s in concealed)
                if not in_set and not (pair == tile and have[tile] >= 2):
                    yield None
                    continue
            pungs = [s[0] for s in sets if s[0] == s[1]]
            tiles = [pair, *(t for s in sets for t in s)]
            points = tame + (not pungs) + wind_points(pungs)
            points += _pair_call(case, pair, concealed, have, extra)
            if len(laid) == 4:
                points += big(50 if wilds else 100)
            if all(t >= 27 for t in tiles) and not celebrated:
                yield points + big(800)
                continue
            points += big(50 if wilds else 100) if len(pungs) == 4 else 0
            yield points + suits(tiles)
        honours = all(t >= 27 for t in (*whole, *(s[0] for s in laid)))
        loose = 0 if celebrated else big(400)
        if honours and len(whole) + 3 * len(laid) == 14:
            pungs = [s[0] for s in laid] + [t for t, n in Counter(whole).items() if n >= 3]
            yield tame + wind_points(pungs) + loose
        if laid:
            continue
        if brute.is_pairs(whole):
            bombs = [t for t, n in have.items() if n == 4]
            points = big(50 if wilds else 150) + big(100) * len(bombs) + tame + suits(whole)
            points -= big(50) * (tile in bombs and not drawn)
            points += loose * honours
            yield points if drawn or have[tile] >= 2 else None
        if is_independent(whole):
            yield tame + big(_fenghua_stars(case, whole, tile, drawn))


def _pair_call(
    case: ScoreCase,
    pair: int,
    sets: Sequence[tuple[int, ...]],
    have: Counter[int],
    extra: Counter[int],
) -> int:
    """Whether the winning tile made a natural pair a pung beside a natural eye."""
    tile, drawn = won_by(case)
    used = 3 * sets.count((pair,) * 3) + sum(pair in s for s in sets if s[0] != s[1])
    if have[pair] - max(0, used - extra[pair]) < 2:
        return 0  # two naturals cannot be spared for the eye
    if drawn and tile == case.indicator:
        return int(any(s[0] == s[1] and extra[s[0]] >= 1 and have[s[0]] >= 2 for s in sets))
    if (tile,) * 3 not in sets:
        return 0
    in_runs = sum(tile in s for s in sets if s[0] != s[1]) + 2 * (pair == tile)
    return int(have[tile] - max(0, in_runs - extra[tile]) >= 3)


def _fenghua_stars(case: ScoreCase, whole: Sequence[int], tile: int, drawn: bool) -> int:
    """Points of the dearest independence pattern of tiles as they play."""
    (win,) = case.outcome.wins
    wild = drawn and tile == case.indicator
    if sum(t >= 27 for t in whole) < 7:
        return 50
    # A wild tile as the last one may stand for any of the tiles that no natural one is.
    held = Counter(int(t) for t in case.seats[win.seat].hand if t != case.indicator)
    lasts = [t for t in whole if not held[t]] if wild else [tile]
    best = 100
    for last in lasts:
        before = [t for t in whole if t != last]
        if last < 27:
            best = 150
        counts = Counter(t // 9 for t in before if t < 27)
        if last < 27 and sorted(counts.values()) == [3, 3] and last // 9 not in counts:
            best = 150
    return best
