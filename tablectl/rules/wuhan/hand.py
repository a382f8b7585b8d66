"""Reading a Wuhan hand: what it may be arranged as, and the conditions that it fulfils.

Readings D-W9, D-W12, D-W13, D-W18, D-W20, D-W24, D-W26, D-W27, D-J3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablectl.rules.case import Meld
from tablectl.rules.decompose import condensed, counts_of
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.melds import as_group
from tablectl.rules.wild import Wild
from tablectl.rules.wuhan.terms import Terms
from tablectl.tiles import Tile, is_flower, is_honour, is_suited, suit_of

COPIES = 4
SETS = 4


def is_eye(tile: Tile) -> bool:
    """Whether a tile is a 2, 5 or 8."""
    return is_suited(tile) and tile % 9 in (1, 4, 7)


@dataclass(frozen=True, slots=True)
class Form:
    """A way to read a hand.

    Attributes:
        reading: the concealed tiles as groups; singles in a hand without sets.
        conditions: major conditions of the tiles and sets themselves.
        eyes: whether it has a pair of 2, 5 or 8 (D-W13).
        hard: whether it holds no wild tile, or each plays as itself.
        wilds: wild tiles in the hand, winning tile included.
    """

    reading: Reading
    conditions: tuple[str, ...]
    eyes: bool
    hard: bool
    wilds: int

    @property
    def may_be_minor(self) -> bool:
        """Whether it could win without any major condition (D-W19)."""
        return self.eyes and self.wilds <= 1


@dataclass(frozen=True, slots=True)
class _Sort:
    """What matters of a suit's groups: runs, nothing but 2 5 8, a pair that serves as eyes."""

    face: Tile | None

    def __call__(self, groups: tuple[Group, ...]) -> tuple[bool, bool, bool]:
        """As :data:`tablectl.rules.decompose.Sort`."""
        return (
            any(group.kind is Kind.RUN for group in groups),
            all(is_eye(tile) for group in groups for tile in group.tiles),
            any(group.kind is Kind.PAIR and _are_eyes(group, self.face) for group in groups),
        )


def sets_of(melds: Sequence[Meld]) -> list[Meld]:
    """Melds that are sets: lone kongs left out."""
    return [meld for meld in melds if meld.kind != "lone_kong"]


def open_sets(melds: Sequence[Meld]) -> int:
    """Chows, pungs, direct and filled kongs (D-W9)."""
    return sum(meld.is_open for meld in melds)


def forms(
    held: Sequence[Tile], melds: Sequence[Meld], wild: Wild, terms: Terms
) -> tuple[Form, ...]:
    """Every way to read concealed tiles, the winning one included, that could matter.

    Args:
        held: physical tiles.
        melds: sets and lone kongs laid out.
        wild: wild tiles; the kong tiles are its barred ones.
        terms: the rules.

    Returns:
        Forms that differ in conditions, eyes or hardness; none if the hand does not win.
    """
    if not open_sets(melds) or any(tile in wild.barred or is_flower(tile) for tile in held):
        return ()
    found: dict[tuple[tuple[str, ...], bool, bool], Form] = {}
    for form in _all_forms(held, sets_of(melds), wild, terms):
        found.setdefault((form.conditions, form.eyes, form.hard), form)
    return tuple(found.values())


def _all_forms(
    held: Sequence[Tile], sets: Sequence[Meld], wild: Wild, terms: Terms
) -> Iterator[Form]:
    naturals = [tile for tile in held if tile not in wild.tiles]
    wilds = len(held) - len(naturals)
    laid = tuple(as_group(meld, wild) for meld in sets)
    left = SETS - len(sets)
    for reading in condensed(counts_of(held), 0, left, _Sort(None)):
        yield from _forms_of(reading, laid, wilds, None, terms, hard=True)
    if wilds:
        face = next(iter(wild.tiles))
        counts = counts_of(naturals)
        for reading in condensed(counts, wilds, left, _Sort(face), barred=wild.barred):
            yield from _forms_of(reading, laid, wilds, face, terms, hard=False)
    yield from _without_sets(naturals, wilds, sets, wild)


def _forms_of(
    reading: Reading, laid: Reading, wilds: int, face: Tile | None, terms: Terms, *, hard: bool
) -> Iterator[Form]:
    """Forms of a standard reading: two wild tiles as the pair are any pair, or their own face's."""
    groups = (*laid, *reading)
    pair = next(group for group in reading if group.kind is Kind.PAIR)
    choices = [groups]
    if pair.is_free and face is not None and is_eye(face):
        choices.append(
            (*(g for g in groups if g is not pair), Group(Kind.PAIR, (face, face), 0b11))
        )
    for chosen in choices:
        conditions = _conditions(chosen, terms)
        eyes = any(group.kind is Kind.PAIR and _are_eyes(group, face) for group in chosen)
        if conditions or eyes:
            yield Form(reading, conditions, eyes, hard, wilds)


def _are_eyes(pair: Group, face: Tile | None) -> bool:
    """A pair of 2, 5 or 8 with a natural tile in it, or of wild tiles as themselves (D-W13)."""
    if pair.is_free or not is_eye(pair.tiles[0]):
        return False
    return bool(pair.naturals()) or pair.tiles[0] == face


def _conditions(groups: Sequence[Group], terms: Terms) -> tuple[str, ...]:
    """Major conditions of a hand of sets and a pair; free groups play as whatever serves."""
    tiles = {tile for group in groups for tile in group.tiles}
    suits = {suit_of(tile) for tile in tiles}
    found = []
    if len(suits) == 1 and ("z" not in suits or terms.honours_are_pure):
        found.append("pure_one_suit")
    if suits == {"z"}:
        found.append("all_honors")
    if all(map(is_eye, tiles)):
        found.append("all_eyes")
    if not any(group.kind is Kind.RUN for group in groups):
        found.append("all_pung")
    return tuple(found)


def _without_sets(
    naturals: Sequence[Tile], wilds: int, sets: Sequence[Meld], wild: Wild
) -> Iterator[Form]:
    """All honours and all eyes need neither sets nor a pair; they have no eyes (D-W13)."""
    tiles = [*naturals, *(tile for meld in sets for tile in meld.tiles)]
    for name, belongs in (("all_honors", is_honour), ("all_eyes", is_eye)):
        if all(map(belongs, tiles)):
            # A wild tile whose face belongs to the hand is used as itself (D-W12).
            face = next((tile for tile in wild.tiles if belongs(tile)), None)
            plays_as = tiles[0] if face is None else face
            singles = [Group(Kind.SINGLE, (tile,)) for tile in sorted(naturals)]
            singles += [Group(Kind.SINGLE, (plays_as,), 1)] * wilds
            hard = not wilds or face is not None
            yield Form(tuple(singles), (name,), eyes=False, hard=hard, wilds=wilds)


def wins_on_anything(hand: Sequence[Tile], melds: Sequence[Meld], wild: Wild, terms: Terms) -> bool:
    """Whether every kind but kong tiles would give a valid own-tile win, minimum aside (D-W18).

    Kinds of which the hand holds all four copies cannot come and are left out.
    """
    if not any(tile in wild.tiles for tile in hand):
        return False  # without a wild tile a hand calls only tiles that are like its own
    kinds = [k for k in terms.kinds if k not in wild.barred and hand.count(k) < COPIES]
    # Kinds far from the hand's own fail first.
    kinds.sort(key=lambda kind: any(abs(kind - tile) <= 2 for tile in hand))
    return all(_wins_by_own_tile((*hand, kind), melds, wild, terms) for kind in kinds)


def _wins_by_own_tile(
    held: Sequence[Tile], melds: Sequence[Meld], wild: Wild, terms: Terms
) -> bool:
    return any(
        form.conditions or form.may_be_minor
        for form in _all_forms(held, sets_of(melds), wild, terms)
    )
