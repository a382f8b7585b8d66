"""The tile vocabulary and its text notation.

Tiles are written as in score cases: digits followed by a suit letter, ``123m456p`` style without
red fives. ``m`` characters, ``p`` circles, ``s`` bamboos, ``z`` honours (1 East .. 4 North,
5 White, 6 Green, 7 Red), ``f`` flowers (1 to 4 seasons, 5 to 8 plants).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NewType

Tile = NewType("Tile", int)
"""Index of a kind: characters 0-8, circles 9-17, bamboos 18-26, honours 27-33, flowers 34-41."""

SUITS: Final = "mpszf"
_OFFSETS: Final = {"m": 0, "p": 9, "s": 18, "z": 27, "f": 34}
_SIZES: Final = {"m": 9, "p": 9, "s": 9, "z": 7, "f": 8}

NAMES: Final[tuple[str, ...]] = tuple(f"{n}{s}" for s in SUITS for n in range(1, _SIZES[s] + 1))
"""Text notation by index, the order in which the recogniser numbers its classes."""

N_PLAYING: Final = 34
"""Kinds that are held in hands: suits and honours."""
N_KINDS: Final = 42
"""Kinds with a face: suits, honours and flowers."""
BACK: Final = Tile(42)
"""A tile lying face down; ``back`` in text."""

EAST, SOUTH, WEST, NORTH, WHITE, GREEN, RED = (Tile(i) for i in range(27, 34))
WINDS: Final = (EAST, SOUTH, WEST, NORTH)
DRAGONS: Final = (WHITE, GREEN, RED)

_BY_NAME: Final[dict[str, Tile]] = {name: Tile(i) for i, name in enumerate(NAMES)} | {"back": BACK}

_HONOURS_EN: Final = ("East", "South", "West", "North", "White", "Green", "Red")
_HONOURS_ZH: Final = ("東", "南", "西", "北", "白", "發", "中")
_FLOWERS_EN: Final = (
    "Spring", "Summer", "Autumn", "Winter", "Plum", "Orchid", "Chrysanthemum", "Bamboo flower",
)  # fmt: skip
_FLOWERS_ZH: Final = ("春", "夏", "秋", "冬", "梅", "蘭", "菊", "竹")
_DIGITS_ZH: Final = "一二三四五六七八九"
_SUITS_EN: Final = {"m": "Character", "p": "Circle", "s": "Bamboo"}
_SUITS_ZH: Final = {"m": "萬", "p": "筒", "s": "索"}


class TileNotationError(ValueError):
    """A text is not tile notation; the message quotes the text and the offending part."""


def parse_tile(text: str) -> Tile:
    """Read one tile, ``"3m"``.

    Raises:
        TileNotationError: the text is not exactly one known tile.
    """
    try:
        return _BY_NAME[text]
    except KeyError:
        raise TileNotationError(f"unknown tile {text!r}: expected e.g. 3m, 7z or 2f") from None


def parse_tiles(text: str) -> tuple[Tile, ...]:
    """Read tiles in the given order, ``"123m55z"`` (spaces allowed, ``""`` gives none).

    Raises:
        TileNotationError: a digit without a suit, an unknown letter, or a tile that does not exist.
    """
    tiles: list[Tile] = []
    pending: list[str] = []
    for char in text:
        if char.isdecimal():
            pending.append(char)
        elif char in _OFFSETS:
            if not pending:
                raise TileNotationError(f"suit {char!r} without a digit before it in {text!r}")
            tiles.extend(parse_tile(digit + char) for digit in pending)
            pending.clear()
        elif not char.isspace():
            raise TileNotationError(f"unknown suit {char!r} in {text!r}: suits are m p s z f")
    if pending:
        raise TileNotationError(
            f"digits {''.join(pending)!r} without a suit at the end of {text!r}"
        )
    return tuple(tiles)


def format_tile(tile: Tile) -> str:
    """Text notation of one tile; ``back`` for :data:`BACK`."""
    return "back" if tile == BACK else NAMES[tile]


def format_tiles(tiles: Iterable[Tile]) -> str:
    """Compact notation in the given order: ``123m`` for 1m 2m 3m (faces only)."""
    parts: list[str] = []
    for tile in tiles:
        name = NAMES[tile]
        if parts and parts[-1].endswith(name[1]):
            parts[-1] = parts[-1][:-1] + name
        else:
            parts.append(name)
    return "".join(parts)


def suit_of(tile: Tile) -> str:
    """Suit letter ``m p s z f``."""
    return NAMES[tile][1]


def number_of(tile: Tile) -> int:
    """Number within the suit, from 1."""
    return int(NAMES[tile][0])


def is_suited(tile: Tile) -> bool:
    """Whether the tile is a character, circle or bamboo."""
    return tile < 27


def is_honour(tile: Tile) -> bool:
    """Whether the tile is a wind or a dragon."""
    return 27 <= tile < 34


def is_terminal(tile: Tile) -> bool:
    """Whether the tile is a 1 or 9 of a suit."""
    return tile < 27 and tile % 9 in (0, 8)


def is_flower(tile: Tile) -> bool:
    """Whether the tile is a season or a plant."""
    return 34 <= tile < 42


def name_en(tile: Tile) -> str:
    """English name: ``3 Characters``, ``East wind``, ``Red dragon``, ``Spring``."""
    if tile == BACK:
        return "face down"
    if is_suited(tile):
        number = number_of(tile)
        return f"{number} {_SUITS_EN[suit_of(tile)]}{'' if number == 1 else 's'}"
    if is_honour(tile):
        honour = _HONOURS_EN[tile - 27]
        return f"{honour} {'wind' if tile < WHITE else 'dragon'}"
    return _FLOWERS_EN[tile - 34]


def name_zh(tile: Tile) -> str:
    """Chinese name: 三萬, 東, 白, 春."""
    if tile == BACK:
        return "背"
    if is_suited(tile):
        return _DIGITS_ZH[number_of(tile) - 1] + _SUITS_ZH[suit_of(tile)]
    return (_HONOURS_ZH + _FLOWERS_ZH)[tile - 27]
