"""The three rule sets without wild tiles, counted over every partition of the tiles."""

from __future__ import annotations

from tablectl.rules.case import ScoreCase
from tablectl.rules.yangzhou.options import YangzhouOptions
from tests.rules import brute
from tests.rules.exhaustive.scores import Claim, Verdict
from tests.rules.test_yangzhou import _plain_points

ENDS = {0, 8, 9, 17, 18, 26}


def kawuxing(case: ScoreCase) -> Verdict:
    """What one payer owes the winner."""
    c = Claim(case)
    flags, pure = c.win.flags, False
    suits = {t // 9 if t < 27 else 3 for t in (*c.tiles, *(t for g in c.laid for t in g))}
    pure = len(suits) == 1 and suits != {3}
    way = int(c.win.by == "rob_kong") + int(c.drawn and flags.last_tile)
    way += flags.kong_draw if c.drawn else 0
    cap = c.options.get("max_doubles", 3)
    found: list[tuple[int, int]] = []

    def score(doubles: int, least: int = 0) -> None:
        total = way + 2 * pure + doubles
        found.append((total if cap is None else min(total, max(cap, least)), total))

    if not c.laid and len(c.tiles) == 14 and brute.is_pairs(c.tiles):
        fours = sum(c.tiles.count(t) == 4 for t in set(c.tiles))
        lifted = c.options.get("double_dragon_exception") and fours >= 2
        score(2 + min(fours, 2), 4 if lifted else 0)
    for pair, sets in brute.partitions(c.tiles):
        if len(sets) + len(c.laid) == 4:
            score(_kawuxing_sets(c, pair, sets, pure=pure))
    if not found:
        return "not_winning_shape"
    held, total = max(found)
    if not c.drawn and not total:
        return "below_minimum"
    return int(2**held)


def _kawuxing_sets(c: Claim, pair: int, sets: tuple[tuple[int, ...], ...], *, pure: bool) -> int:
    pungs = [s[0] for s in (*sets, *c.laid) if s[0] == s[1]]
    dragons = sum(t >= 31 for t in pungs)
    lone, lesser = len(c.laid) == 4, dragons == 2 and pair >= 31
    doubles = 2 if lone else int(len(pungs) == 4)
    doubles += 3 if dragons == 3 else 2 if lesser else 0
    free = pure or lone or lesser or dragons == 3
    tile = c.tile
    doubles += tile < 27 and tile % 9 == 4 and (tile - 1, tile, tile + 1) in sets
    open_pungs = [m.tiles[0] for m in c.seat.melds if m.kind == "pung"]
    doubles += any(t in c.tiles and (free or t == tile) for t in open_pungs)
    closed = any(c.tiles.count(t) == 4 and (free or t == tile) for t in set(c.tiles))
    return int(doubles + 2 * closed)


def kawuxing_paid(case: ScoreCase, found: object) -> Verdict:
    """What one payer owes the winner for the hand, kong money left out."""
    from tablectl.rules.settlement import Settlement

    assert isinstance(found, Settlement)
    if found.error is not None:
        return found.error
    assert found.patterns is not None
    doubles = sum(found.patterns[case.outcome.wins[0].seat].values())
    cap = case.options.get("max_doubles", 3)
    if case.options.get("double_dragon_exception") and cap is not None:
        fours = "double_dragon_seven_pairs" in found.patterns[case.outcome.wins[0].seat]
        cap = max(cap, 4) if fours else cap
    return int(2 ** (doubles if cap is None else min(doubles, cap)))


def hongkong(case: ScoreCase) -> Verdict:
    """Faan, held to ten."""
    c = Claim(case)
    found = []
    if not c.laid and brute.is_orphans(c.tiles):
        found.append(10)
    for pair, sets in brute.partitions(c.tiles):
        if len(sets) + len(c.laid) == 4:
            found.append(_hongkong_faan(c, pair, [*sets, *c.laid]))
    if not found:
        return "not_winning_shape"
    best = min(10, max(found))
    return best if best >= 3 else "below_minimum"


def _hongkong_faan(c: Claim, pair: int, sets: list[tuple[int, ...]]) -> int:
    tiles = [pair, *(t for s in sets for t in s)]
    pungs = [s[0] for s in sets if s[0] == s[1]]
    honours, suits = [t for t in tiles if t >= 27], {t // 9 for t in tiles if t < 27}
    dragons, winds = [t for t in pungs if t >= 31], [t for t in pungs if 27 <= t < 31]
    closed, flags = not c.opened, c.win.flags
    if len(winds) == 4 or not suits or set(tiles) <= ENDS:
        return 10
    if len(pungs) == 4 and closed and c.drawn:
        return 10
    if sum(m.is_kong for m in c.seat.melds) == 4:
        return 10
    ranks = sorted(t % 9 for t in c.before)
    one_suit = len({t // 9 for t in c.tiles}) == 1 and not honours
    if not c.laid and one_suit and ranks == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]:
        return 10
    total = int(c.drawn) + closed + flags.last_tile + (c.win.by == "rob_kong")
    total += bool(c.drawn and flags.kong_draw)
    total += 3 if len(pungs) == 4 else 1 if not pungs else 0
    total += 0 if len(suits) > 1 else 3 if honours else 7
    if len(dragons) == 3:
        total += 8
    elif len(dragons) == 2 and pair >= 31:
        total += 5
    else:
        total += len(dragons)
    if len(winds) == 3 and 27 <= pair < 31:
        total += 6
    else:
        total += (c.own_wind in winds) + (c.round_wind in winds)
    flowers = {t - 34 for t in c.seat.flowers}
    for low in (0, 4):
        whole = {low, low + 1, low + 2, low + 3}
        total += 2 if whole <= flowers else int(low + c.own_wind - 27 in flowers)
    return total + (not flowers)


def hongkong_faan(case: ScoreCase, found: object) -> Verdict:
    """Faan listed, held to ten, or the refusal."""
    from tests.rules.exhaustive.scores import pattern_sum

    verdict = pattern_sum(case, found)  # type: ignore[arg-type]
    return verdict if isinstance(verdict, str) else min(10, verdict)


def yangzhou(case: ScoreCase) -> Verdict:
    """Points of the best reading."""
    c = Claim(case)
    options = YangzhouOptions.model_validate(c.options)
    hand = [int(t) for t in c.seat.hand]
    singles = [k for k in range(34) if hand.count(k) < 4 and brute.is_standard([*hand, k])]
    kinds = [m.kind for m in c.seat.melds]
    kongs = kinds.count("kong") + kinds.count("added_kong") + 2 * kinds.count("closed_kong")
    found = []
    for pair, sets in brute.partitions(c.tiles):
        if len(sets) + len(c.laid) == 4:
            score = _plain_points(case, c.win, pair, list(sets), c.laid, options)  # type: ignore[arg-type]
            score += (not c.opened) - (not c.laid)  # a closed kong leaves the hand closed
            found.append(score + (len(singles) == 1) + kongs)
    if not found:
        return "not_winning_shape"
    chows = [m.tiles[0] // 9 for m in c.seat.melds if m.kind == "chow"]
    tiles = {t // 9 if t < 27 else 3 for t in (*c.tiles, *(t for g in c.laid for t in g))}
    if any(chows.count(s) >= 3 for s in chows) and (len(tiles) > 1 or 3 in tiles):
        return "claim_not_allowed"
    least = {"old": 7, "common": 10, "new": 18}[options.schedule]
    least = least if options.minimum is None else options.minimum
    return max(found) if max(found) >= least else "below_minimum"
