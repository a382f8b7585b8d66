"""Laid-out sets: what they are made of, and whether a rule set with the usual sets permits them."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.rules.case import Meld, MeldKind
from tablectl.rules.groups import Group, Kind
from tablectl.rules.wild import Wild
from tablectl.tiles import Tile, format_tiles, is_suited, suit_of

USUAL_KINDS: frozenset[MeldKind] = frozenset(("chow", "pung", "kong", "added_kong", "closed_kong"))
"""Melds of nearly every rule set; lone kongs and joys belong to a few."""


def is_run(tiles: Sequence[Tile]) -> bool:
    """Whether tiles, by face, are three consecutive ones of a suit, in any order."""
    low, *rest = sorted(tiles)
    return (
        len(tiles) == 3
        and rest == [low + 1, low + 2]
        and is_suited(Tile(low + 2))
        and suit_of(low) == suit_of(Tile(low + 2))
    )


def is_same(tiles: Sequence[Tile]) -> bool:
    """Whether all tiles, by face, are alike."""
    return len(set(tiles)) == 1


def has_wild(tiles: Sequence[Tile], wild: Wild) -> bool:
    """Whether a wild tile is among physical tiles."""
    return any(tile in wild.tiles for tile in tiles)


def is_usual_set(kind: MeldKind, tiles: Sequence[Tile], wild: Wild) -> bool:
    """Whether physical tiles are a chow, pung or kong of natural tiles, changed faces applied."""
    if kind not in USUAL_KINDS or has_wild(tiles, wild):
        return False
    faces = wild.identities(tiles)
    return is_run(faces) if kind == "chow" else is_same(faces)


def meld_problem(meld: Meld, seat: int, seats: int, wild: Wild) -> str | None:
    """What the usual rules have against a seat's meld, in words; ``None`` if nothing."""
    shown = format_tiles(meld.tiles)
    if meld.kind not in USUAL_KINDS:
        return f"{shown}: these rules have no {meld.kind.replace('_', ' ')}"
    if has_wild(meld.tiles, wild):
        return f"{shown}: a wild tile may not be laid out in a set"
    if not is_usual_set(meld.kind, meld.tiles, wild):
        return f"{shown} is no {meld.kind.replace('_', ' ')}"
    if meld.kind == "chow" and meld.from_seat != (seat - 1) % seats:
        return f"{shown}: a chow comes only from the seat before"
    return None


def as_group(meld: Meld, wild: Wild) -> Group:
    """A usual meld as it plays; a kong counts as its pung."""
    faces = wild.identities(meld.tiles)
    if meld.kind == "chow":
        return Group(Kind.RUN, tuple(sorted(faces)))
    return Group(Kind.PUNG, (faces[0],) * 3)
