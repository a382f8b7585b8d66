"""What a claim is worth by exhaustive substitution, rule set by rule set, from the documents.

``EXPECTED[rules](case)`` is the reason why a claim is refused, or its score: the sum or product of
its patterns, or what the winner receives. None of the product's readings, shapes and counting is
used; a hand is every way to complete it (``blocks``), and the best one counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

from tablectl.rules.case import ScoreCase, SeatState
from tablectl.rules.settlement import Settlement
from tests.rules.exhaustive import blocks
from tests.rules.exhaustive.blocks import LOWS, Lay, Vector, completes, hands, is_pairs
from tests.rules.exhaustive.deals import WHITE, Wilds, wilds_of

Verdict = str | int
FIVE = 4
OPEN = ("chow", "pung", "kong", "added_kong")


class Claim:
    """A case taken apart."""

    def __init__(self, case: ScoreCase) -> None:
        self.case, self.options = case, case.options
        (self.win,) = case.outcome.wins
        self.seat: SeatState = case.seats[self.win.seat]
        assert self.win.tile is not None
        self.tile: int = self.win.tile
        self.drawn = self.win.by == "self_draw"
        self.wild: Wilds = wilds_of(case.rules, case.options, case.indicator)
        self.is_wild = self.tile in self.wild.kinds
        self.before = self.naturals(self.seat.hand)
        self.held = len(self.seat.hand) - len(self.before)
        self.laid = [tuple(sorted(map(self.face, m.tiles[:3]))) for m in self.seat.melds
                     if m.kind != "lone_kong"]  # fmt: skip
        self.opened = sum(m.kind in OPEN for m in self.seat.melds)
        counts_wild = self.drawn and self.is_wild
        self.tiles = self.before if counts_wild else [*self.before, self.face(self.tile)]
        self.wilds = self.held + counts_wild
        self.own_wind = 27 + (self.win.seat - case.dealer) % len(case.seats)
        self.round_wind = 27 + "ESWN".index(case.round_wind or "E")
        self.losers = [s for s in range(len(case.seats)) if s != self.win.seat]

    def face(self, tile: int) -> int:
        """A white dragon that borrows a face plays as that tile."""
        return self.wild.white_as if tile == WHITE and self.wild.white_as is not None else tile

    def naturals(self, tiles: Sequence[int]) -> list[int]:
        """Tiles that are not wild, as they play."""
        return [self.face(t) for t in tiles if t not in self.wild.kinds]

    def eye_call(self, sets: int = 4) -> bool:
        """Whether the hand before the winning tile was sets or pairs, and a wild tile."""
        if not self.held:
            return False
        left = sets - len(self.laid)
        if completes(self.before, self.held - 1, left, pairs=0):
            return True
        return not self.laid and sets == 4 and is_pairs(self.before, self.held - 1)

    def places(self, tile: int | None) -> list[int | None]:
        """A tile's place in its block, ``None`` in the other blocks."""
        return [
            tile - low if tile is not None and low <= tile < low + (7 if low == 27 else 9) else None
            for low in LOWS
        ]

    def is_pair_hand(self) -> bool:
        return not self.laid and len(self.tiles) + self.wilds == 14 and is_pairs(
            self.tiles, self.wilds
        )  # fmt: skip


def pattern_sum(case: ScoreCase, found: Settlement) -> Verdict:
    """The sum of the winner's patterns, or the refusal."""
    if found.error is not None:
        return found.error
    assert found.patterns is not None
    return int(sum(found.patterns[case.outcome.wins[0].seat].values()))


def beijing_doubles(case: ScoreCase, found: Settlement) -> Verdict:
    """The sum of the winner's doubles, or the refusal; a wild kong's points are none."""
    if found.error is not None:
        return found.error
    assert found.patterns is not None
    doubles = found.patterns[case.outcome.wins[0].seat]
    return int(sum(n for name, n in doubles.items() if name != "wild_kong"))


def received(case: ScoreCase, found: Settlement) -> Verdict:
    """What the winner receives, or the refusal."""
    if found.error is not None:
        return found.error
    assert found.delta is not None
    return found.delta[case.outcome.wins[0].seat]


# -- Hangzhou ----------------------------------------------------------------------------------


def hangzhou(case: ScoreCase) -> Verdict:
    """The product of the multipliers."""
    c = Claim(case)
    if not c.drawn and c.is_wild:
        return "wild_tile_claimed"
    scores = []
    if completes(c.tiles, c.wilds, 4 - len(c.laid)):
        scores.append(1)
    if c.is_pair_hand():
        fours = sum(c.tiles.count(t) == 4 for t in set(c.tiles))
        extra = not c.wilds and (c.drawn or c.options.get("pairs_extra_on_claim", True))
        scores.append((4 if extra else 2) * 2**fours)
    if not scores:
        return "not_winning_shape"
    eye = c.eye_call()
    if not c.drawn:
        least = c.options.get("rob_kong_min_streak", 3) if c.win.by == "rob_kong" else 3
        parties = case.dealer in (c.win.seat, c.win.from_seat)
        if eye or c.options.get("wall_only") or case.streak < least or not parties:
            return "claim_not_allowed"
    bloom = 2 if c.drawn and c.win.flags.kong_draw else 1
    rob = 2 if c.win.by == "rob_kong" else 1
    return max(scores) * (2 if eye else 1) * bloom * rob


def product(case: ScoreCase, found: Settlement) -> Verdict:
    """The product of the winner's patterns, or the refusal."""
    if found.error is not None:
        return found.error
    assert found.patterns is not None
    total = 1
    for value in found.patterns[case.outcome.wins[0].seat].values():
        total *= int(value)
    return total


# -- Beijing -----------------------------------------------------------------------------------


def _beijing_part(block: int, naturals: Vector, lay: Lay, context: Any) -> Any:
    """Flush runs, runs at all, suits, wild tiles at face value, a native one, a five caught."""
    wild, five = context
    flush = [g for g in lay.runs if g[0] in (0, 3, 6)] if block < 3 else []
    starts = tuple(sorted({g[0] for g in flush}))
    plain = all(place == wild for place in lay.added)
    native = any(place != wild and any(place in run for run in flush) for place in lay.added)
    # The 5m just taken is the middle of 4-5-6; with 5m wild, one at face value is real.
    real = five and (lay.added.count(FIVE) if wild == FIVE else naturals[FIVE]) > 0
    caught = bool(real) and (3, 4, 5) in lay.sets
    return starts, bool(lay.runs), bool(lay.tiles), plain, native, caught


def beijing(case: ScoreCase) -> Verdict:
    """The doubles that all payers share."""
    c = Claim(case)
    if not c.drawn and c.is_wild:
        return "wild_tile_claimed"
    (wild,) = c.wild.kinds
    weigh = {**dict.fromkeys(("banker", "closed", "own_tile", "straight", "flush", "seven_pairs",
             "deluxe", "catch_five", "kong_bloom"), 1), **c.options.get("doubles", {})}  # fmt: skip
    added = c.options.get("extra_doubles", {})
    eye = c.eye_call()
    scores = [s for s in _beijing_shapes(c, wild, weigh, added, eye=eye) if s is not None]
    if not scores:
        return "not_winning_shape"
    if not c.drawn and (c.opened or c.held > 2 or eye):
        return "claim_not_allowed"
    score = max(scores) + weigh["banker"] * (c.win.seat == case.dealer)
    score += weigh["closed"] * (not c.opened) + weigh["own_tile"] * c.drawn
    score += weigh["kong_bloom"] * bool(c.drawn and c.win.flags.kong_draw)
    score += added.get("single_tile", 0) * (len(c.laid) == 4)
    return int(score + added.get("last_tile", 0) * (c.drawn and c.win.flags.last_tile))


def _beijing_shapes(
    c: Claim, wild: int, weigh: dict[str, int], added: dict[str, int], *, eye: bool
) -> Iterator[int | None]:
    laid_suits = {t // 9 for g in c.laid for t in g if t < 27}
    laid_honours = any(t >= 27 for g in c.laid for t in g)
    laid_runs = {g for g in c.laid if g[0] != g[1]}

    def common(suits: set[int], honours: bool, straight: bool) -> int | None:
        if c.options.get("void_suit") and len(suits) == 3:
            return None
        score = weigh["straight"] * straight
        if c.options.get("wild_eye_double") and eye and c.drawn and not straight:
            score += 1
        return score + added.get("pure_one_suit", 0) * (len(suits) == 1 and not honours)

    contexts = [
        (place, block == 0 and c.tile == FIVE) for block, place in enumerate(c.places(wild))
    ]
    for features in hands(
        c.tiles, c.wilds, 4 - len(c.laid), feature=_beijing_part, contexts=contexts
    ):
        suits, score = set(laid_suits), 0
        straight = all(f[3] for f in features)
        runs = set(laid_runs)
        for block, feature in enumerate(features):
            starts, _, tiles, _, _, _ = feature
            low = LOWS[block]
            runs |= {(low + s, low + s + 1, low + s + 2) for s in starts}
            if tiles and block < 3:
                suits.add(block)
        honours = laid_honours or bool(features[3][2])
        base = common(suits, honours, straight)
        if base is None:
            continue
        score += base
        for suit in range(3):
            if {(9 * suit + s, 9 * suit + s + 1, 9 * suit + s + 2) for s in (0, 3, 6)} <= runs:
                score += weigh["flush"]
                native = features[suit][4] and wild // 9 == suit
                score += bool(native and c.options.get("native_wild_flush_double"))
        any_run = bool(laid_runs) or any(f[1] for f in features)
        score += added.get("all_pung", 0) * (not any_run)
        score += weigh["catch_five"] * any(f[5] for f in features)
        yield score
    if c.is_pair_hand():
        yield from _beijing_pairs(c, wild, weigh, common)


def _beijing_pairs(
    c: Claim, wild: int, weigh: dict[str, int], common: Callable[[set[int], bool, bool], int | None]
) -> Iterator[int | None]:
    """Seven pairs: odd tiles take a wild one each; those left over are pairs of anything."""
    odd = [t for t in set(c.tiles) if c.tiles.count(t) % 2]
    spare = (c.wilds - len(odd)) // 2
    fours = sum(c.tiles.count(t) == 4 for t in set(c.tiles))
    kinds = {t // 9 if t < 27 else 3 for t in c.tiles}
    for face in (wild, 0, 9, 18, 27):  # what spare pairs play as
        whole = kinds | ({face // 9 if face < 27 else 3} if spare else set())
        straight = not odd and (not spare or face == wild)
        base = common(whole - {3}, 3 in whole, straight)
        if base is None:
            continue
        fives = c.tiles.count(FIVE)
        if wild == FIVE and straight:
            fives = c.wilds
        caught = c.tile == FIVE and fives >= 2
        if wild == FIVE and spare and face == wild:
            caught = c.tile == FIVE
        score = base + weigh["seven_pairs"] + weigh["deluxe"] * fours
        yield score + weigh["catch_five"] * caught


# -- Xiamen ------------------------------------------------------------------------------------


def _xiamen_part(block: int, naturals: Vector, lay: Lay, context: Any) -> Any:
    """Flowers of closed pungs; whether the eye is gold and drawn; what a claim loses."""
    tile, drawn, last_gold, lost = context
    flowers = len(lay.pungs) * (2 if block == 3 else 1)
    floats, costs = False, []
    if lay.pair is not None and drawn:
        floats = lay.added.count(lay.pair) >= (2 if last_gold else 1)
        floats = floats and (last_gold or lay.pair == tile)
    if tile is not None and not drawn:
        costs += [0 for g in lay.runs if tile in g]
        costs += [lost for p in lay.pungs if p == tile]
        costs += [0] if lay.pair == tile and naturals[tile] >= 2 else []
    return flowers, floats, min(costs, default=None)


def xiamen(case: ScoreCase) -> Verdict:
    """What the winner receives from the three others."""
    c = Claim(case)
    gold = case.indicator
    assert gold is not None
    if not c.drawn and c.is_wild:
        return "wild_tile_claimed"
    quanzhou = c.options.get("scoring") == "quanzhou"
    as_closed = quanzhou and bool(c.options.get("quanzhou_open_pung_as_closed"))
    steps = {"pung": 1 if as_closed else 0, "kong": 2, "added_kong": 1 if quanzhou else 2,
             "closed_kong": 3}  # fmt: skip
    laid = sum(steps[m.kind] + (c.face(m.tiles[0]) >= 27) for m in c.seat.melds if m.kind != "chow")
    fixed = len(c.seat.flowers) + c.wilds + laid
    if not quanzhou:
        fixed += 4 * sum(set(range(a, a + 4)) <= set(c.seat.flowers) for a in (34, 38))
    last_gold = c.drawn and c.is_wild
    contexts = [
        (place, c.drawn, last_gold, 0 if as_closed else 1)
        for place in c.places(None if last_gold else c.face(c.tile))
    ]
    ways = hands(c.tiles, c.wilds, 5 - len(c.laid), feature=_xiamen_part, contexts=contexts, most=5)
    three = c.drawn and c.win.flags.last_tile and c.wilds == 3
    if not ways and not three:
        return "not_winning_shape"
    barred = {"no_discard": ("discard",), "wall_only": ("discard", "rob_kong")}
    if c.held and c.win.by in barred.get(c.options.get("gold_restriction", "none"), ()):
        return "claim_not_allowed"
    scored: list[tuple[int, int]] = []
    for features in ways:
        flowers = sum(f[0] for f in features)
        if c.drawn:
            scored.append((2, flowers))
            if any(f[1] for f in features):
                scored.append((3 if quanzhou else 4, flowers))
            continue
        costs = [f[2] for f in features if f[2] is not None]
        if costs:
            scored.append((2 if c.win.by == "rob_kong" else 1, flowers - min(costs)))
    if three:
        triplets = [t for t in set(c.tiles) if c.tiles.count(t) >= 3]
        scored.append((3, sum(1 + (t >= 27) for t in triplets)))
    if c.options.get("required_float") and c.wilds == 3:
        scored = [s for s in scored if s[0] >= 3]
    base = 2 + case.streak - 1 if quanzhou else 2**case.streak
    factor = c.options.get("base_factor", 1)
    bases = [(base if case.dealer in (s, c.win.seat) else 1) * factor for s in c.losers]
    totals = [sum((b + fixed + flowers) * times for b in bases) for times, flowers in scored]
    return max(totals, default="claim_not_allowed")


# -- Nanchang ----------------------------------------------------------------------------------


def _nanchang_part(_block: int, naturals: Vector, lay: Lay, context: Any) -> Any:
    """Runs at all, and whether the claimed tile only pairs a fine one."""
    claimed = context
    alone = (
        claimed is not None
        and lay.pair == claimed
        and naturals[claimed] == 1
        and lay.tiles.count(claimed) == 2
    )
    return bool(lay.runs), alone


def nanchang(case: ScoreCase) -> Verdict:
    """What the winner receives, without the bonuses of tiles and kongs."""
    c = Claim(case)
    whole = [*c.seat.hand, c.tile]
    chows = any(m.kind == "chow" for m in c.seat.melds)
    sets = 4 - len(c.laid)
    stars = int(len({t for t in whole if t >= 27}) == 7)
    found: list[tuple[int, bool, bool]] = []  # doubles of the shape, German, allowed

    def shapes(tiles: Sequence[int], wilds: int, *, german: bool) -> None:
        claimed = None if c.drawn or german else c.tile
        for features in hands(
            tiles, wilds, sets, feature=_nanchang_part, contexts=c.places(claimed), honour_runs=True
        ):
            runs = any(f[0] for f in features)
            alone = any(f[1] for f in features)
            found.append((int(not runs and not chows), german, not alone))
        if c.laid:
            return
        if len(tiles) + wilds == 14 and is_pairs(tiles, wilds):
            found.append((1, german, claimed is None or list(tiles).count(claimed) > 1))
        if blocks.is_independent(tiles, wilds):
            found.append((1 + stars, german, True))

    shapes(whole, 0, german=True)
    shapes(c.tiles, c.wilds, german=False)
    if c.drawn:
        found += _nanchang_calls(c, chows, sets)
    if not found:
        return "not_winning_shape"
    return max((_nanchang_points(c, d, g) for d, g, ok in found if ok), default="claim_not_allowed")


def _nanchang_calls(c: Claim, chows: bool, sets: int) -> Iterator[tuple[int, bool, bool]]:
    """Fine calls: a held fine tile and the tile drawn are the eyes, the rest is complete."""
    rests: list[tuple[Sequence[int], int, bool]] = []
    if c.held:
        rests.append((c.before, c.held - 1, False))
    if c.is_wild and c.tile in c.seat.hand:  # at face value the eyes must be alike
        rest = [int(t) for t in c.seat.hand]
        rest.remove(c.tile)
        rests.append((rest, 0, True))
    for tiles, wilds, german in rests:
        for features in hands(
            tiles, wilds, sets, pairs=0, feature=_nanchang_part, honour_runs=True
        ):
            runs = any(f[0] for f in features)
            yield 1 + (not runs and not chows), german, True
        if not c.laid and len(tiles) + wilds == 12 and is_pairs(tiles, wilds):
            yield 2, german, True


def _nanchang_points(c: Claim, shape: int, german: bool) -> int:
    # Losers' hands are unknown here; where none lays fine tiles out, German is double German.
    fines = any(t in c.wild.kinds for s in c.losers for m in c.case.seats[s].melds for t in m.tiles)
    doubles = shape + c.drawn + german + (german and not fines)
    doubles += bool(c.drawn and c.win.flags.kong_draw) + (c.win.by == "rob_kong")
    total = 0
    for loser in c.losers:
        own = int(c.case.dealer in (loser, c.win.seat))
        own += c.win.by == "discard" and loser == c.win.from_seat
        total += int(2 ** (doubles + own)) + 5 * german
    return total


def nanchang_received(case: ScoreCase, found: Settlement) -> Verdict:
    """The winner's points for the hand alone, from its patterns."""
    if found.error is not None:
        return found.error
    assert found.patterns is not None
    c = Claim(case)
    patterns = found.patterns[c.win.seat]
    doubles, german = len(patterns), "german" in patterns
    total = 0
    for loser in c.losers:
        own = int(case.dealer in (loser, c.win.seat))
        own += c.win.by == "discard" and loser == c.win.from_seat
        total += int(2 ** (doubles + own)) + 5 * german
    return total


# -- Fenghua -----------------------------------------------------------------------------------


def _fenghua_part(block: int, naturals: Vector, lay: Lay, context: Any) -> Any:
    """All that the arrangement of a block scores by or is refused for."""
    tile, claimed, drawn_wild, face, winds = context
    pungs = lay.pungs
    wind_points = 0
    if block == 3:
        wind_points = sum((p >= 4) + sum(p == w for w in winds) for p in pungs)
    tame = all(place == face for place in lay.added)
    takes = True
    if claimed and tile is not None:
        in_set = any(tile in g for g in lay.sets)
        takes = in_set or (lay.pair == tile and naturals[tile] >= 2)
    eye = False
    if lay.pair is not None:
        used = sum(g.count(lay.pair) for g in lay.sets)
        eye = naturals[lay.pair] - max(0, used - lay.added.count(lay.pair)) >= 2
    pung = False
    if drawn_wild:  # two naturals for the pung, and two more where the eye is of the same kind
        pung = any(
            lay.added.count(p) >= 1 and naturals[p] >= (4 if p == lay.pair else 2) for p in pungs
        )
    elif tile is not None and tile in pungs and tile != lay.pair:
        in_runs = sum(tile in g for g in lay.runs)
        pung = naturals[tile] - max(0, in_runs - lay.added.count(tile)) >= 3
    return bool(lay.runs), len(pungs), wind_points, bool(lay.tiles), tame, takes, eye, pung, (
        lay.pair is not None
    )  # fmt: skip


def fenghua(case: ScoreCase) -> Verdict:
    """All points before rounding."""
    c = Claim(case)
    if not c.drawn and c.is_wild:
        return "wild_tile_claimed"
    unit = c.options.get("limit_unit", 50)
    sums = list(_fenghua_sums(c, unit))
    if not sums:
        return "not_winning_shape"
    allowed = [points for points in sums if points is not None]
    if not allowed:
        return "claim_not_allowed"
    own_tile = c.win.by != "discard"  # a robbed kong is scored as an own tile
    best = max(allowed) + 1 + own_tile + _fenghua_single(c)
    best += 0 if c.wilds == 3 else (1, 1, 2)[c.wilds]
    if c.win.by == "discard" and best < c.options.get("claim_minimum", 4):
        return "below_minimum"
    own = (c.win.seat - case.dealer) % 4
    best += 2 * len({34 + own, 38 + own} & set(c.seat.flowers))
    full = sum(set(range(a, a + 4)) <= set(c.seat.flowers) for a in (34, 38))
    more = 800 if full == 2 else 150 * full
    more += 150 if c.wilds == 3 else 0
    kongs = [m.kind for m in c.seat.melds if m.is_kong]
    budding = {"kong": 50, "closed_kong": 100, "added_kong": 100}
    blooming = {"kong": 100, "closed_kong": 150, "added_kong": 200}
    for at, kind in enumerate(kongs):
        blooms = c.drawn and c.win.flags.kong_draw and at == len(kongs) - 1
        more += (blooming if blooms else budding)[kind]
    return int(best + more * unit // 50)


def _fenghua_single(c: Claim) -> int:
    own = Counter([*c.before, *(t for m in c.seat.melds for t in m.tiles)])
    calls = sum(own[kind] < 4 and _fenghua_wins(c, [*c.before, kind], c.held) for kind in range(34))
    return int(calls == 1)


def _fenghua_wins(c: Claim, tiles: Sequence[int], wilds: int) -> bool:
    if completes(tiles, wilds, 4 - len(c.laid)):
        return True
    if all(t >= 27 for t in (*tiles, *(g[0] for g in c.laid))):
        return len(tiles) + wilds + 3 * len(c.laid) == 14
    if c.laid:
        return False
    return is_pairs(tiles, wilds) or blocks.is_independent(tiles, wilds)


def _fenghua_suits(suits: set[int], honours: bool, unit: int) -> int:
    if len(suits) != 1:
        return 0
    return (70 if unit == 50 else 40) if honours else 150 * unit // 50


def _fenghua_sums(c: Claim, unit: int) -> Iterator[int | None]:
    """Points that hang on the arrangement; ``None``: one that the claim may not use."""
    celebrated = c.options.get("all_honors_award") == "celebration"
    claimed, drawn_wild = not c.drawn, c.drawn and c.is_wild
    winds = (c.own_wind - 27, c.round_wind - 27)
    faces, tiles = c.places(c.case.indicator), c.places(None if drawn_wild else c.tile)
    contexts = [(t, claimed, drawn_wild, f, winds) for t, f in zip(tiles, faces, strict=True)]
    laid_pungs = [g[0] for g in c.laid if g[0] == g[1]]
    laid_points = sum((p >= 31) + (p == c.own_wind) + (p == c.round_wind) for p in laid_pungs)
    laid_suits = {g[0] // 9 for g in c.laid if g[0] < 27}
    laid_honours = any(g[0] >= 27 for g in c.laid)
    loner = len(c.laid) == 4 and c.opened == 4
    for features in hands(
        c.tiles, c.wilds, 4 - len(c.laid), feature=_fenghua_part, contexts=contexts
    ):
        f: list[Any] = list(features)
        block = None if drawn_wild else min(c.tile // 9, 3)
        if claimed and block is not None and not f[block][5]:
            yield None
            continue
        pungs = len(laid_pungs) + sum(x[1] for x in f)
        suits = laid_suits | {b for b in range(3) if f[b][3]}
        honours = laid_honours or f[3][3]
        points = laid_points + sum(x[2] for x in f) + (pungs == 0)
        points += c.wilds > 0 and all(x[4] for x in f)
        points += any(x[7] for x in f) and any(x[8] and x[6] for x in f)
        points += (50 if c.wilds else 100) * unit // 50 if loner else 0
        if not suits and not celebrated:
            yield points + 800 * unit // 50
            continue
        points += (50 if c.wilds else 100) * unit // 50 if pungs == 4 else 0
        yield points + _fenghua_suits(suits, honours, unit)
    yield from _fenghua_loose(c, unit, celebrated)
    if not c.laid:
        yield from _fenghua_others(c, unit, celebrated)


def _fenghua_loose(c: Claim, unit: int, celebrated: bool) -> Iterator[int]:
    """Honours that form nothing; triplets among them count as pungs."""
    if len(c.tiles) + c.wilds + 3 * len(c.laid) != 14:
        return
    if any(t < 27 for t in (*c.tiles, *(g[0] for g in c.laid))):
        return
    for chosen in combinations_with_replacement(range(27, 34), c.wilds):
        counts = Counter([*c.tiles, *chosen])
        pungs = [g[0] for g in c.laid] + [t for t, n in counts.items() if n >= 3]
        points = sum((p >= 31) + (p == c.own_wind) + (p == c.round_wind) for p in pungs)
        points += c.wilds > 0 and set(chosen) == {c.case.indicator}
        yield points + (0 if celebrated else 400 * unit // 50)


def _fenghua_others(c: Claim, unit: int, celebrated: bool) -> Iterator[int | None]:
    face = c.case.indicator
    assert face is not None
    if is_pairs(c.tiles, c.wilds) and len(c.tiles) + c.wilds == 14:
        have = Counter(c.tiles)
        odd = [t for t, n in have.items() if n % 2]
        spare = (c.wilds - len(odd)) // 2
        bombs = [t for t, n in have.items() if n == 4]
        points = (50 if c.wilds else 150) * unit // 50 + 100 * unit // 50 * len(bombs)
        points -= 50 * unit // 50 * (c.win.by == "discard" and c.tile in bombs)
        allowed = c.drawn or have[c.tile] >= 2
        for other in (face, 0, 9, 18, 27):
            whole = [*have, *([other] if spare else [])]
            suits, honours = {t // 9 for t in whole if t < 27}, any(t >= 27 for t in whole)
            tame = c.wilds > 0 and not odd and other == face
            score = points + _fenghua_suits(suits, honours, unit) + tame
            score += 0 if suits or celebrated else 400 * unit // 50
            yield score if allowed else None
    if blocks.is_independent(c.tiles, c.wilds):
        for whole in _independent_wholes(c):
            added = list((Counter(whole) - Counter(c.tiles)).elements())
            tame = bool(added) and set(added) == {face}
            yield tame + _fenghua_stars(c, whole) * unit // 50


def _independent_wholes(c: Claim) -> Iterator[list[int]]:
    """Every independent hand that the wild tiles make of it."""
    for chosen in combinations(sorted(set(range(34)) - set(c.tiles)), c.wilds):
        whole = [*c.tiles, *chosen]
        if blocks.is_independent(whole, 0):
            yield whole


def _fenghua_stars(c: Claim, whole: Sequence[int]) -> int:
    if sum(t >= 27 for t in whole) < 7:
        return 50
    held = Counter(c.before)
    lasts = [t for t in whole if not held[t]] if c.drawn and c.is_wild else [c.tile]
    best = 100
    for last in lasts:
        if last < 27:
            best = 150  # all seven stars before it, or a suit missing
    return best


# -- Wuhan and Jingzhou ------------------------------------------------------------------------


def is_eye(tile: int) -> bool:
    return tile < 27 and tile % 9 in (1, 4, 7)


def _wuhan_part(block: int, naturals: Vector, lay: Lay, context: Any) -> Any:
    """Runs, any tiles, all 2 5 8, a fit pair, wild tiles at face value; kong tiles never."""
    face, barred = context
    if any(place in barred for place in lay.added):
        return None
    eyes = False
    if lay.pair is not None and block < 3 and lay.pair in (1, 4, 7):
        eyes = naturals[lay.pair] > 0 or lay.pair == face
    all_eyes = block < 3 and all(t in (1, 4, 7) for t in lay.tiles)
    return bool(lay.runs), bool(lay.tiles), all_eyes or not lay.tiles, eyes, all(
        place == face for place in lay.added
    )  # fmt: skip


def _wuhan_readings(
    c: Claim, tiles: Sequence[int], wilds: int
) -> set[tuple[frozenset[str], bool, bool]]:
    """Every reading: conditions, a fit pair, hard."""
    three = c.case.rules == "jingzhou"
    if any(t in c.wild.barred for t in tiles):
        return set()
    (face,) = c.wild.kinds
    out = set(c.wild.barred)
    if three:
        out |= {*range(9), 27}
    contexts = [
        (place, frozenset(t - low for t in out if low <= t < low + (7 if low == 27 else 9)))
        for place, low in zip(c.places(face), LOWS, strict=True)
    ]
    found = set()
    laid_tiles = [t for g in c.laid for t in g]
    for features in hands(tiles, wilds, 4 - len(c.laid), feature=_wuhan_part, contexts=contexts):
        f: list[Any] = list(features)
        suits = {t // 9 if t < 27 else 3 for t in laid_tiles} | {b for b in range(4) if f[b][1]}
        names = set()
        if len(suits) == 1 and (suits != {3} or three):
            names.add("pure_one_suit")
        if suits == {3}:
            names.add("all_honors")
        if 3 not in suits and all(map(is_eye, laid_tiles)) and all(x[2] for x in f):
            names.add("all_eyes")
        if not any(x[0] for x in f) and all(g[0] == g[1] for g in c.laid):
            names.add("all_pung")
        found.add((frozenset(names), any(x[3] for x in f), all(x[4] for x in f)))
    if len(tiles) + wilds + 3 * len(c.laid) == 14:
        for name, belongs in (("all_honors", lambda t: t >= 27), ("all_eyes", is_eye)):
            if all(belongs(t) for t in (*tiles, *laid_tiles)):
                found.add((frozenset({name}), False, not wilds or belongs(face)))
                found.add((frozenset({name}), False, not wilds))
    return found


def wuhan(case: ScoreCase) -> Verdict:
    """What the winner receives, before liability moves it."""
    c = Claim(case)
    three = case.rules == "jingzhou"
    if not c.drawn and c.is_wild:
        return "wild_tile_claimed"
    readings = [r for r in _wuhan_readings(c, c.tiles, c.wilds) if r[0] or r[1]]
    if not c.opened or not readings:
        return "not_winning_shape"
    if c.win.by == "discard" and _wuhan_any_tile(c):
        return "claim_not_allowed"
    scored = [amounts for r in readings if (amounts := _wuhan_amounts(c, r))]
    if not scored:
        return "claim_not_allowed"
    usual = 16 if c.options.get("kong_tiles") == "red_green" else 8
    least, test = c.options.get("minimum", usual), any if three else all
    enough = [a for a in scored if test(v >= least for v in a.values())]
    if not enough:
        return "below_minimum"
    return max(_wuhan_received(c, a) for a in enough)


def _wuhan_any_tile(c: Claim) -> bool:
    three = c.case.rules == "jingzhou"
    hand = [int(t) for t in c.seat.hand]
    for kind in range(34):
        if kind in c.wild.barred or hand.count(kind) == 4 or (three and (kind < 9 or kind == 27)):
            continue
        wild = kind in c.wild.kinds
        readings = _wuhan_readings(c, c.before if wild else [*c.before, kind], c.held + wild)
        if not any(r[0] or (r[1] and c.held + wild <= 1) for r in readings):
            return False
    return True


def _wuhan_amounts(c: Claim, reading: tuple[frozenset[str], bool, bool]) -> dict[int, float]:
    names, eyes, hard = set(reading[0]), reading[1], reading[2]
    flags, by, three = c.win.flags, c.win.by, c.case.rules == "jingzhou"
    if eyes:
        names |= {"all_claimed"} if by == "discard" and c.opened == 4 else set()
        names |= {"bottom_tile"} if c.drawn and flags.last_tile and not three else set()
        names |= {"kong_bloom"} if c.drawn and flags.kong_draw else set()
        names |= {"robbing_kong"} if by == "rob_kong" else set()
    if not names and c.wilds > 1:
        return {}
    base = 10.0 * len(names) if names else 1.0
    if names and c.options.get("multi_major") == "exponential":
        base = 10.0 * 2 ** (len(names) - 1)
    part = 1.5 if names and not three else 2.0
    mine = _wuhan_doubles(c, c.win.seat) + hard + (not names and c.win.seat == c.case.dealer)
    own = part if c.drawn and not names & {"bottom_tile", "kong_bloom"} else 1.0
    amounts = {}
    for seat in c.losers:
        theirs = _wuhan_doubles(c, seat) + (not names and seat == c.case.dealer)
        claimed = part if by == "discard" and seat == c.win.from_seat else 1.0
        amounts[seat] = base * 2 ** (mine + theirs) * own * claimed
    return amounts


def _wuhan_doubles(c: Claim, seat: int) -> int:
    state = c.case.seats[seat]
    kinds = [m.kind for m in state.melds]
    opened = sum(kind in OPEN for kind in kinds)
    total = opened if c.options.get("double_each_open_set") else min(opened, 1)
    total += kinds.count("kong") + kinds.count("added_kong") + 2 * kinds.count("closed_kong")
    special = [*state.aside, *(m.tiles[0] for m in state.melds if m.kind == "lone_kong")]
    return total + sum(2 if t in c.wild.kinds else t in c.wild.barred for t in special)


def _wuhan_received(c: Claim, amounts: dict[int, float]) -> int:
    limits = (300, 400, 500, 600)
    if c.options.get("kong_tiles", "red") != "red":
        limits = (400, 500, 600, 700)
    if c.options.get("double_each_open_set"):
        limits = (600, 800, 1000, 1200)
    limit, golden, radiant, trinity = limits
    limit = c.options.get("limit", limit)
    closed = [s for s in amounts if not any(m.kind in OPEN for m in c.case.seats[s].melds)]
    by = c.options.get("divide_by", 1)
    total = 0
    for seat, value in amounts.items():
        paid = min(value, limit)
        if all(v >= limit for v in amounts.values()):
            paid = radiant if seat in closed else golden
            paid = trinity if len(closed) == len(amounts) else paid
        total += int(paid / by + 0.5)
    return total


# -- Mainland ----------------------------------------------------------------------------------

FAN = {
    "all_chows": 1, "all_pungs": 3, "mixed_one_suit": 3, "pure_one_suit": 6, "all_honors": 8,
    "dragon_pung": 1, "seat_wind": 1, "round_wind": 1, "closed_kong": 2, "kong": 1,
    "added_kong": 1,
}  # fmt: skip


def _mainland_part(block: int, _naturals: Vector, lay: Lay, context: Any) -> Any:
    """Runs, pungs, dragons and winds among them, any tiles."""
    pungs = lay.pungs
    dragons = sum(p >= 4 for p in pungs) if block == 3 else 0
    winds = tuple(w in pungs for w in context) if block == 3 else (False, False)
    return len(lay.runs), len(pungs), dragons, winds, bool(lay.tiles)


def mainland(case: ScoreCase) -> Verdict:
    """All fan, uncapped."""
    c = Claim(case)
    tiles = c.tiles if c.drawn or not c.is_wild else [*c.before, c.tile]  # a claim is its face
    table = {**FAN, **c.options.get("fan", {})}
    winds = (c.own_wind - 27, c.round_wind - 27)
    best: list[int] = []
    found = hands(
        tiles, c.wilds, 4 - len(c.laid), feature=_mainland_part, contexts=(None, None, None, winds)
    )
    if not found:
        return "not_winning_shape"
    for features in found:
        fan = _mainland_fan(c, list(features), table)
        if fan is not None:
            best.append(fan)
    extra = int(c.drawn) + bool(c.win.flags.last_tile) + bool(c.win.flags.kong_draw)
    extra += c.win.by == "rob_kong"
    number = (c.win.seat - case.dealer) % 4
    extra += sum((t - 34) % 4 == number for t in c.seat.flowers)
    if best:
        total = max(best) + extra
    else:
        shown = sum(t in c.wild.kinds for t in (*c.seat.hand, c.tile))
        if shown > 1 or (shown == 1 and not (c.drawn and c.is_wild)):
            return "claim_not_allowed"
        total = shown + extra
    return total if total >= c.options.get("minimum_fan", 0) else "below_minimum"


def _mainland_fan(c: Claim, f: list[Any], table: dict[str, int]) -> int | None:
    laid_pungs = [g[0] for g in c.laid if g[0] == g[1]]
    suits = {g[0] // 9 for g in c.laid if g[0] < 27} | {b for b in range(3) if f[b][4]}
    honours = any(g[0] >= 27 for g in c.laid) or f[3][4]
    runs = sum(x[0] for x in f) + len(c.laid) - len(laid_pungs)
    names: list[str] = []
    if not suits:
        names.append("all_honors")
    elif len(suits) == 1:
        names.append("mixed_one_suit" if honours else "pure_one_suit")
    if runs == 0 and suits:
        names.append("all_pungs")
    if runs == 4:
        names.append("all_chows")
    names += ["dragon_pung"] * (f[3][2] + sum(p >= 31 for p in laid_pungs))
    names += ["seat_wind"] * (f[3][3][0] or c.own_wind in laid_pungs)
    names += ["round_wind"] * (f[3][3][1] or c.round_wind in laid_pungs)
    names += [m.kind for m in c.seat.melds if m.is_kong]
    return sum(table[name] for name in names) if names else None
