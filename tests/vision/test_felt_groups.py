"""Groups on layouts as players lay them: every tile a little off and a little turned."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.tiles import NAMES
from vision.felt.groups import Meld, exposed, indicators, open_hand, river_order
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile

GEOMETRY = TableGeometry()
LENGTH = GEOMETRY.tile_length
seats = st.integers(0, 3)
seeds = st.integers(0, 2**32 - 1)


def seen(
    seat: int,
    x: float,
    y: float,
    tile: str | dict[str, float],
    *,
    zone: Zone,
    turn: float = 0.0,
) -> SeenTile:
    mm = GEOMETRY.to_table(seat, x, y)
    kinds = {tile: 0.99} if isinstance(tile, str) else tile
    return SeenTile(
        probabilities=kinds, x=mm[0], y=mm[1], rotation=turn % 360, zone=zone, seat=seat, frames=3
    )


def row(
    seat: int, start: float, tiles: list[str | dict[str, float]], rng: random.Random, *,
    jitter: float, gap: float = 0.03, zone: Zone = Zone.EXPOSED, y: float = 11.6,
) -> tuple[list[SeenTile], float]:  # fmt: skip
    """A set laid from ``start`` to the right, ``<`` across; returns it and where it ends."""
    out, x = [], start
    for text in tiles:
        across = isinstance(text, str) and text.startswith("<")
        kind = text.lstrip("<") if isinstance(text, str) else text
        width = LENGTH if across else 1.0
        turn = (90.0 if across else 0.0) + rng.uniform(-8, 8)
        out.append(
            seen(seat, x + width / 2 + rng.uniform(0, jitter), y + rng.uniform(-jitter, jitter),
                 kind, zone=zone, turn=turn)
        )  # fmt: skip
        x += width + gap
    return out, x


def best(tiles: tuple[SeenTile, ...]) -> list[str]:
    return [t.best for t in tiles]


@given(seats, seeds, st.integers(0, 30), st.integers(0, 8))
def test_rivers_come_in_the_order_of_discarding(
    seat: int, seed: int, count: int, claimed: int
) -> None:
    rng = random.Random(seed)
    names = [rng.choice(NAMES[:34]) for _ in range(count)]
    tiles = []
    for n, name in enumerate(names):
        x, y = GEOMETRY.river_slot(n)
        turn = rng.uniform(-12, 12)
        tiles.append(
            seen(seat, x + rng.uniform(-0.2, 0.2), y + rng.uniform(-0.2, 0.2), name,
                 zone=Zone.RIVER, turn=turn)
        )  # fmt: skip
    # Claimed tiles leave holes; the order of the others stays.
    for _ in range(min(claimed, len(tiles))):
        gone = rng.randrange(len(tiles))
        del tiles[gone], names[gone]
    shuffled = rng.sample(tiles, len(tiles))
    others = [seen((seat + 1) % 4, 0, 4, "9m", zone=Zone.RIVER)]
    assert best(river_order([*others, *shuffled], seat, GEOMETRY)) == names


SETS: list[tuple[str, list[str], int | None, int | None]] = [
    ("chow", ["<2s", "3s", "4s"], 0, 3),
    ("chow", ["<8p", "7p", "9p"], 0, 3),
    ("pung", ["<5z", "5z", "5z"], 0, 3),
    ("pung", ["7m", "<7m", "7m"], 1, 2),
    ("pung", ["1p", "1p", "<1p"], 2, 1),
    ("pung", ["4z", "4z", "4z"], None, None),
    ("kong", ["<9s", "9s", "9s", "9s"], 0, 3),
    ("kong", ["6m", "<6m", "6m", "6m"], 1, 2),
    ("kong", ["2z", "2z", "2z", "<2z"], 3, 1),
    ("joy", ["7z", "5z", "6z"], None, None),
    ("joy", ["1z", "3z", "2z", "4z"], None, None),
    ("closed_kong", ["back", "3p", "3p", "back"], None, None),
    ("closed_kong", ["back", "back", "back", "back"], None, None),
    ("closed_kong", ["8s", "back", "back", "8s"], None, None),
]


@given(
    seats,
    seeds,
    st.lists(st.sampled_from(SETS), max_size=4, unique_by=str),
    st.lists(st.sampled_from(NAMES[34:42]), max_size=4),
    st.sampled_from([0.0, 0.1, 0.35, 0.8]),
)
def test_melds_and_flowers(
    seat: int,
    seed: int,
    sets: list[tuple[str, list[str], int | None, int | None]],
    flowers: list[str],
    between: float,
) -> None:
    """Melds with any gap between them, pushed together included, and flowers at the left."""
    rng = random.Random(seed)
    tiles: list[SeenTile] = []
    x = -14.0
    laid, x = row(seat, x, list(flowers), rng, jitter=0.05)
    tiles += laid
    x += 0.8
    for _, names, _, _ in sets:
        laid, x = row(seat, x, list(names), rng, jitter=0.04)
        tiles += laid
        x += between
    found = exposed(rng.sample(tiles, len(tiles)), seat, GEOMETRY)
    assert best(found.flowers) == flowers
    assert found.loose == ()
    want = [[name.lstrip("<") for name in names] for _, names, _, _ in sets]
    got = [best(meld.tiles) for meld in found.melds]
    assert sorted(map(sorted, got)) == sorted(map(sorted, want))
    if between >= 0.35:
        assert got == want
        for meld, (kind, _, called, offset) in zip(found.melds, sets, strict=True):
            assert meld.kind == kind
            assert meld.called == called
            assert meld.giver(seat) == (None if offset is None else (seat + offset) % 4)


@given(seats, seeds)
def test_an_added_kong(seat: int, seed: int) -> None:
    rng = random.Random(seed)
    tiles, _ = row(seat, 2, ["4p", "<4p", "4p"], rng, jitter=0.05)
    across = tiles[1]
    x, y = GEOMETRY.to_seat(seat, across.x, across.y)
    tiles.append(seen(seat, x + rng.uniform(-0.1, 0.1), y - 1.02, "4p", zone=Zone.EXPOSED, turn=90))
    found = exposed(rng.sample(tiles, 4), seat, GEOMETRY)
    (meld,) = found.melds
    assert meld.kind == "kong"
    assert (meld.called, meld.added) == (1, 2)
    assert meld.giver(seat) == (seat + 2) % 4


def test_unsure_tiles_are_still_grouped() -> None:
    rng = random.Random(0)
    tiles, x = row(0, 0, ["<2s", {"3s": 0.5, "8p": 0.45}, "4s"], rng, jitter=0)
    more, _ = row(0, x, ["6z", "6z", {"6z": 0.6, "7z": 0.4}], rng, jitter=0)
    found = exposed([*tiles, *more], 0, GEOMETRY)
    assert [m.kind for m in found.melds] == ["chow", "pung"]
    assert found.melds[0].likelihood == pytest.approx(0.99**2 * 0.5)


def test_a_white_dragon_in_a_run() -> None:
    """Hangzhou, indicator 4s: 3s, 5s and the white dragon as 4s."""
    tiles, _ = row(2, 0, ["<3s", "5z", "5s"], random.Random(0), jitter=0)
    (meld,) = exposed(tiles, 2, GEOMETRY).melds
    assert (meld.kind, meld.called) == ("chow", 0)


def test_nonsense_is_unknown_and_a_meld_being_laid_is_loose() -> None:
    rng = random.Random(0)
    tiles, _ = row(1, 0, ["1m", "5p", "7z"], rng, jitter=0)
    (meld,) = exposed(tiles, 1, GEOMETRY).melds
    assert isinstance(meld, Meld)
    assert meld.kind == "unknown"
    tiles, _ = row(1, 0, ["1m", "2m"], rng, jitter=0)
    found = exposed(tiles, 1, GEOMETRY)
    assert (best(found.loose), found.melds) == (["1m", "2m"], ())


@given(
    seats, seeds, st.integers(1, 13), st.sampled_from(["left", "right", "off", "across", "none"])
)
def test_a_hand_laid_open(seat: int, seed: int, count: int, how: str) -> None:
    rng = random.Random(seed)
    names = [rng.choice(NAMES[:34]) for _ in range(count)]
    tiles, end = row(seat, -7, list(names), rng, jitter=0.06, zone=Zone.RACK, y=13.7)
    rng.shuffle(tiles)
    places = {"left": -8.2, "right": end + 1.1, "off": end + 0.55, "across": end + 0.7}
    if how != "none":
        y = 14.6 if how == "off" else 13.7
        turn = 90.0 if how == "across" else 0.0
        tiles.insert(0, seen(seat, places[how], y, "7z", zone=Zone.RACK, turn=turn))
    tiles.append(seen(seat, 0, 13.7, "back", zone=Zone.RACK))
    found = open_hand(tiles, seat, GEOMETRY)
    if how == "none" or (count == 1 and how in ("left", "right", "off")):
        # One tile beside one other: which of the two won can't be told by its place alone.
        assert how != "none" or found.winning is None
        return
    assert best(found.tiles) == names
    assert found.winning is not None
    assert found.winning.best == "7z"


def test_the_indicator_is_the_face_on_the_wall() -> None:
    tiles = [
        seen(1, 3, 9.7, "4s", zone=Zone.WALL),
        seen(1, 4, 9.7, "back", zone=Zone.WALL),
        seen(1, 0, 4, "5s", zone=Zone.RIVER),
    ]
    assert best(indicators(tiles)) == ["4s"]
