"""How readings and arithmetic are put into words for players."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from tablectl.rules.case import Meld, Win
from tablectl.rules.groups import Group, Reading, assign, stand_ins
from tablectl.rules.ruleset import Names
from tablectl.tiles import Tile, format_tile, format_tiles


@lru_cache(maxsize=1 << 13)
def group_text(group: Group) -> str:
    """A group with its wild members in brackets: ``67m[8m]``; free groups as ``[any]``."""
    if group.is_free:
        return "[any set]" if group.size == 3 else "[any pair]"
    wild = group.stand_ins()
    return format_tiles(group.naturals()) + (f"[{format_tiles(wild)}]" if wild else "")


@lru_cache(maxsize=1 << 12)
def _laid_text(tiles: tuple[Tile, ...]) -> str:
    return format_tiles(tiles)


def hand_text(melds: Iterable[Meld], reading: Reading) -> str:
    """Melds as they lie, then the concealed groups: ``222m 555p + 123s 99m``."""
    laid = " ".join([_laid_text(meld.tiles) for meld in melds])
    held = " ".join([group_text(group) for group in reading])
    return f"{laid} + {held}" if laid else held


def win_text(win: Win, names: Names) -> str:
    """Who won how: ``Seat 1 wins on 3p, own draw``."""
    tile = "" if win.tile is None else f" on {format_tile(win.tile)}"
    if win.from_seat is not None:
        kong = "robbing the kong of" if win.by == "rob_kong" else "discarded by"
        return f"{names(win.seat)} wins{tile}, {kong} {names(win.from_seat)}"
    return f"{names(win.seat)} wins{tile}, {_WAYS[win.by]}"


_WAYS: Final = {
    "self_draw": "own draw",
    "deal": "as dealt",
    "indicator": "robbing the gold",
    "flowers": "with eight flowers",
    "ten_honours": "with honours discarded from the start",
}


def plus(values: Sequence[int | float]) -> str:
    """A sum written out: ``8 + 1 + 1 = 10``; a single value as itself."""
    total = sum(values)
    if len(values) == 1:
        return f"{total}"
    return f"{' + '.join(str(v) for v in values)} = {total}"


def times(values: Sequence[int]) -> str:
    """A product written out: ``2 x 4 = 8``, ones left out; a single value as itself."""
    factors = [v for v in values if v != 1]
    total = 1
    for value in factors:
        total *= value
    if len(factors) < 2:
        return f"{total}"
    return f"{' × '.join(str(v) for v in factors)} = {total}"


def wild_as(held: Iterable[Tile], reading: Reading, fallback: Tile) -> dict[str, tuple[str, ...]]:
    """What the wild tiles held stand for, in text notation, by their face.

    Args:
        held: faces of the wild tiles, winning tile included.
        reading: the hand as groups.
        fallback: what a wild tile in a group of wild tiles only is shown as.
    """
    chosen = assign(held, stand_ins(reading, fallback))
    return {format_tile(face): tuple(map(format_tile, tiles)) for face, tiles in chosen.items()}
