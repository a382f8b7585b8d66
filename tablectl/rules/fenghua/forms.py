"""What the arrangement of a Fenghua hand scores, form by form. Readings F2 to F8, F11 to F18, F24.

A form is one way to arrange the tiles: sets and a pair, seven pairs, independent tiles, loose
honours. What does not depend on the arrangement (kongs, flowers, numbers of wild tiles) is counted
elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

from tablectl.rules.decompose import Counts, condensed, independent, seven_pairs
from tablectl.rules.fenghua.hand import SETS, Hand, has_natural_pair, is_all_honours, plus_one
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.shape import SUIT_BLOCKS, is_independent, spare_places, suit_room
from tablectl.tiles import DRAGONS, EAST, Tile, is_honour

Marks = dict[str, int]
"""Pattern id to how often it occurs."""


@dataclass(frozen=True, slots=True)
class Form:
    """One arrangement.

    Attributes:
        marks: its patterns.
        reading: the concealed tiles as groups; ``None`` for loose honours.
        loose: tiles that wild ones stand for where there is no reading.
    """

    marks: Marks
    reading: Reading | None
    loose: tuple[Tile, ...] = ()


def forms(hand: Hand, *, celebrate_honours: bool) -> Iterator[Form]:
    """Every arrangement that may bring the most, and that the way of winning allows (S1, S2).

    Args:
        celebrate_honours: the all-honour patterns are off, so what they take in scores (F18).
    """
    yield from _standard_forms(hand, celebrate_honours)
    if not hand.melds:
        yield from _pair_forms(hand)
        yield from _independent_forms(hand)
    size = sum(hand.counts) + hand.wilds + 3 * len(hand.melds)
    if size == 3 * SETS + 2 and is_all_honours(hand.counts, hand.melds):
        yield _loose_honours(hand)


# -- sets and a pair ---------------------------------------------------------------------------


def _standard_forms(hand: Hand, celebrate_honours: bool) -> Iterator[Form]:
    for reading in condensed(hand.counts, hand.wilds, hand.sets, hand.last):
        if hand.claimed and not hand.last.takes_claim(reading):
            continue
        for whole in _filled(hand, reading):
            yield Form(_standard_marks(hand, whole, celebrate_honours), whole)


def _filled(hand: Hand, reading: Reading) -> Iterator[Reading]:
    """The reading with its groups of wild tiles only played as whatever may score most."""
    choices = [_fillings(hand, group) if group.is_free else [group] for group in reading]
    yield from product(*choices)


def _fillings(hand: Hand, group: Group) -> list[Group]:
    """What a group of wild tiles only may play as: its own face, a suit, honours that score."""
    suits = [Tile(low) for low, _ in SUIT_BLOCKS]
    own = [hand.face] if hand.face is not None else []
    if group.kind is Kind.PAIR:
        return [Group(Kind.PAIR, (tile,) * 2, 0b11) for tile in (*own, *suits, EAST)]
    scoring = (hand.seat_wind, hand.prevailing, DRAGONS[0])
    pungs = [Group(Kind.PUNG, (tile,) * 3, 0b111) for tile in (*own, *suits, *scoring)]
    runs = [Group(Kind.RUN, (low, Tile(low + 1), Tile(low + 2)), 0b111) for low in suits]
    return [*pungs, *runs]


def _standard_marks(hand: Hand, reading: Reading, celebrate_honours: bool) -> Marks:
    groups = (*hand.laid, *reading)
    kinds = [group.kind for group in groups]
    marks = _pung_marks(hand, [g.tiles[0] for g in groups if g.kind is Kind.PUNG])
    wild = hand.wilds > 0
    if kinds.count(Kind.RUN) == SETS:
        marks["common_win"] = 1
    if wild and hand.last.is_tame(reading):
        marks["tame_wild"] = 1
    if not hand.dealt and hand.last.makes_pung(reading) and has_natural_pair(reading):
        marks["pair_call"] = 1
    if hand.loner:
        marks["wild_loner" if wild else "straight_loner"] = 1
    tiles = [tile for group in groups for tile in group.tiles]
    if all(map(is_honour, tiles)) and not celebrate_honours:
        return marks | {"completed_all_honors": 1}
    if kinds.count(Kind.PUNG) == SETS:
        marks["wild_all_pung" if wild else "straight_all_pung"] = 1
    return marks | _suit_marks(tiles)


def _pung_marks(hand: Hand, pungs: list[Tile]) -> Marks:
    """Dragons and winds; a right wind takes the place of the two others (F6)."""
    found = (hand.wind_points(tile) for tile in pungs)
    return dict(Counter(points[0] for points in found if points is not None))


def _suit_marks(tiles: list[Tile]) -> Marks:
    suits = {tile // 9 for tile in tiles if not is_honour(tile)}
    if len(suits) != 1:
        return {}
    return {"mixed_one_suit" if any(map(is_honour, tiles)) else "pure_one_suit": 1}


# -- seven pairs -------------------------------------------------------------------------------


def _pair_forms(hand: Hand) -> Iterator[Form]:
    reading = seven_pairs(hand.counts, hand.wilds)
    if reading is None:
        return
    if hand.claimed and hand.tile is not None and hand.counts[hand.tile] < 2:
        return  # the claimed tile would only pair a wild one (F11)
    name = "wild_seven_pairs" if hand.wilds else "straight_seven_pairs"
    bombs = [Tile(i) for i, n in enumerate(hand.counts) if n == 4]
    opened = int(hand.discard and hand.tile in bombs)
    fixed = {name: 1, "open_bomb": opened, "closed_bomb": len(bombs) - opened}
    for whole in _filled(hand, reading):
        tiles = [tile for group in whole for tile in group.tiles]
        marks = fixed | _suit_marks(tiles)
        if hand.wilds and hand.last.is_tame(whole):
            marks["tame_wild"] = 1
        if all(map(is_honour, tiles)):
            marks["uncompleted_all_honors"] = 1
        yield Form({name: n for name, n in marks.items() if n}, whole)


# -- independent tiles -------------------------------------------------------------------------


def _independent_forms(hand: Hand) -> Iterator[Form]:
    """The best independence pattern, wild tiles free and a single one at face value."""
    if not is_independent(hand.counts, hand.wilds):
        return
    missing = _missing_suit(hand)
    name = _independence(hand.before, hand.wilds_before, hand.tile, hand.drawn_wild, missing)
    order = [suit for suit in range(3) if suit != missing]
    order += [] if missing is None else [missing]
    yield Form({name: 1}, independent(hand.counts, hand.wilds, suits=order))
    if hand.wilds == 1 and hand.face is not None:
        tame = plus_one(hand.counts, hand.face)
        if is_independent(tame, 0):
            yield _tame_independence(hand, hand.face, tame)


def _tame_independence(hand: Hand, face: Tile, counts: Counts) -> Form:
    before = hand.before if hand.drawn_wild else plus_one(hand.before, face)
    tile = face if hand.drawn_wild else hand.tile
    plain = Hand(
        before, 0, tile, False, (), face, hand.claimed, hand.discard, hand.dealt,
        hand.seat_wind, hand.prevailing,
    )  # fmt: skip
    name = _independence(before, 0, tile, False, _missing_suit(plain))
    reading = independent(counts, 0)
    assert reading is not None
    shown = tuple(Group(g.kind, g.tiles, int(g.tiles[0] == face)) for g in reading)
    return Form({name: 1, "tame_wild": 1}, shown)


def _missing_suit(hand: Hand) -> int | None:
    """The suit that seven honours and three tiles of each other suit called for (F14)."""
    if hand.tile is None or hand.dealt:
        return None
    if sum(hand.before[27:34]) + hand.wilds_before < 7:
        return None
    for suit, (low, high) in enumerate(SUIT_BLOCKS):
        others = [b for b in SUIT_BLOCKS if b != (low, high)]
        full = all(_fills_to_three(hand.before[a:b]) for a, b in others)
        calls = hand.drawn_wild or low <= hand.tile < high
        if full and calls and not any(hand.before[low:high]):
            return suit
    return None


def _fills_to_three(suit: Counts) -> bool:
    return sum(suit) + len(spare_places(tuple(suit))) == 3


def _independence(
    before: Counts, wilds_before: int, tile: Tile | None, drawn_wild: bool, missing: int | None
) -> str:
    """Exactly one of the four independence patterns, the dearest that holds (F2, F13, F14)."""
    if missing is not None:
        return "independence_missing_suit"
    assert tile is not None
    counts = before if drawn_wild else plus_one(before, tile)
    room = sum(suit_room(counts))
    short = 7 - sum(before[27:34])
    last_is_suit = drawn_wild or not is_honour(tile)
    if last_is_suit and short <= wilds_before and wilds_before + drawn_wild - short <= room:
        return "closed_seven_stars"
    lacking = 7 - sum(counts[27:34])
    wilds = wilds_before + drawn_wild
    last_is_honour = lacking >= 1 if drawn_wild else is_honour(tile)
    if last_is_honour and lacking <= wilds and wilds - lacking <= room:
        return "open_seven_stars"
    return "independence"


# -- loose honours -----------------------------------------------------------------------------


def _loose_honours(hand: Hand) -> Form:
    """Honours that form nothing; triplets among them and sets laid out count as pungs (F3, S4)."""
    best: Form | None = None
    for stands in _honour_choices(hand):
        counts = Counter({Tile(i): n for i, n in enumerate(hand.counts) if n})
        counts.update(stands)
        pungs = [group.tiles[0] for group in hand.laid]
        pungs += [tile for tile, n in counts.items() if n >= 3]
        marks = _pung_marks(hand, pungs) | {"uncompleted_all_honors": 1}
        if stands and all(tile == hand.face for tile in stands):
            marks["tame_wild"] = 1
        if best is None or _small(marks) > _small(best.marks):
            best = Form(marks, None, tuple(sorted(stands)))
    assert best is not None
    return best


def _small(marks: Marks) -> tuple[int, list[str]]:
    return sum(n + (name == "right_wind_pung") for name, n in marks.items()), sorted(marks)


def _honour_choices(hand: Hand) -> Iterator[tuple[Tile, ...]]:
    """What the wild tiles may stand for so that it can matter: their own face, missing copies."""
    honours = [Tile(i) for i in range(27, 34)]
    yield from combinations_with_replacement(honours, hand.wilds)
