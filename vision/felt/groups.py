"""What lies together: rivers in order, melds, flowers, a hand laid open with its winning tile.

Pure functions on the tiles of one reading. Places are compared in the owner's own frame
(:meth:`TableGeometry.to_seat`), in tile widths, so all four seats are alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tablectl.tiles import NAMES
from vision.geometry import TableGeometry, Zone
from vision.messages import SeenTile

MeldKind = Literal["chow", "pung", "kong", "closed_kong", "joy", "unknown"]

_FLOWERS: Final = frozenset(NAMES[34:42])
_PLAYING: Final = frozenset(NAMES[:34])
_RUNS: Final = tuple(
    (f"{n}{s}", f"{n + 1}{s}", f"{n + 2}{s}") for s in "mps" for n in range(1, 8)
)  # fmt: skip
_WHITE: Final = "5z"
_JOYS: Final = (frozenset(NAMES[27:31]), frozenset(NAMES[31:34]))
"""Four winds and three dragons, each once (Mainland)."""

_ROW_STEP: Final = 0.7
"""Half a river's row pitch: tiles farther than this from a row's middle begin the next row."""
_APART: Final = 0.4
"""Gap, in tile widths, that sets the winning tile apart from its hand."""
_WHITE_IN_RUN: Final = 0.3
"""Weight of a white dragon standing for a tile of a run (Hangzhou), against true runs."""
_LEAST: Final = 0.01
_GAP_INSIDE: Final = 5.0
_GAP_BETWEEN: Final = 4.0
_LOOSE: Final = -6.0


@dataclass(frozen=True)
class Meld:
    """Tiles laid out as one set.

    Attributes:
        kind: the likeliest reading; ``unknown`` when the tiles make no set.
        tiles: left to right as their owner sees them, an added tile after the one it lies at.
        called: index of the tile that lies across, ``None`` when none does.
        added: index of the tile laid at the called one (a pung grown to a kong).
        likelihood: probability of ``kind`` under the tiles' probabilities, any kind of tile.
    """

    kind: MeldKind
    tiles: tuple[SeenTile, ...]
    called: int | None
    added: int | None
    likelihood: float

    def giver(self, seat: int) -> int | None:
        """Seat that gave the called tile, by its place in the meld; ``None`` when none lies across.

        Left: the seat before (to the left); right: the next seat; in between: opposite.
        """
        if self.called is None:
            return None
        flat = len(self.tiles) - (1 if self.added is not None else 0)
        if self.called == 0:
            return (seat + 3) % 4
        return (seat + 1) % 4 if self.called == flat - 1 else (seat + 2) % 4


@dataclass(frozen=True)
class Exposed:
    """What one seat has laid out, each from left to right as the owner sees it.

    Attributes:
        flowers: seasons and plants.
        melds: sets of three and four.
        loose: tiles that belong to no set, such as a meld that is still being laid.
    """

    flowers: tuple[SeenTile, ...]
    melds: tuple[Meld, ...]
    loose: tuple[SeenTile, ...]


@dataclass(frozen=True)
class OpenHand:
    """A hand laid open.

    Attributes:
        tiles: left to right, without the winning tile.
        winning: the tile set apart; ``None`` when none is.
    """

    tiles: tuple[SeenTile, ...]
    winning: SeenTile | None


@dataclass(frozen=True)
class _Column:
    """Tiles one above the other in the owner's view; ``left`` and ``right`` edges of the first."""

    tiles: tuple[SeenTile, ...]
    left: float
    right: float


def lies_across(tile: SeenTile) -> bool:
    """Whether a tile lies sideways for its owner."""
    return 45 <= tile.rotation % 180 < 135


def of(tiles: Iterable[SeenTile], zone: Zone, seat: int) -> tuple[SeenTile, ...]:
    """The tiles of one zone of one seat."""
    return tuple(t for t in tiles if t.zone is zone and t.seat == seat)


def indicators(tiles: Iterable[SeenTile]) -> tuple[SeenTile, ...]:
    """Faces turned up on the walls."""
    return tuple(t for t in tiles if t.zone is Zone.WALL and t.best != "back")


def river_order(
    tiles: Iterable[SeenTile], seat: int, geometry: TableGeometry
) -> tuple[SeenTile, ...]:
    """A seat's river in the order of discarding: row by row from the centre, left to right."""
    placed = sorted(
        ((geometry.to_seat(seat, t.x, t.y), t) for t in of(tiles, Zone.RIVER, seat)),
        key=lambda item: item[0][1],
    )
    rows: list[list[tuple[float, float, SeenTile]]] = []
    for (x, y), tile in placed:
        if not rows or y - sum(r[1] for r in rows[-1]) / len(rows[-1]) > _ROW_STEP:
            rows.append([])
        rows[-1].append((x, y, tile))
    return tuple(tile for row in rows for _, _, tile in sorted(row, key=lambda item: item[0]))


def exposed(tiles: Iterable[SeenTile], seat: int, geometry: TableGeometry) -> Exposed:
    """Flowers and melds of one seat.

    Tiles are cut into sets so that sets make sense and gaps lie between rather than inside them:
    neither alone is enough, as players push sets together and lay tiles loosely.
    """
    columns = _columns(of(tiles, Zone.EXPOSED, seat), seat, geometry)
    flowers: list[SeenTile] = []
    melds: list[Meld] = []
    loose: list[SeenTile] = []
    for start, end in _best_cut(columns):
        part = [t for column in columns[start:end] for t in column.tiles]
        if _all_flowers(part):
            flowers += part
        elif len(part) in (3, 4):
            melds.append(_meld(columns[start:end]))
        else:
            loose += part
    return Exposed(tuple(flowers), tuple(melds), tuple(loose))


def open_hand(tiles: Iterable[SeenTile], seat: int, geometry: TableGeometry) -> OpenHand:
    """A hand laid open in a seat's rack zone.

    The winning tile lies beyond a gap at either end, else off the row or across; when two tiles
    could be meant, none is taken.
    """
    mine = [t for t in of(tiles, Zone.RACK, seat) if t.best != "back"]
    placed = sorted(((geometry.to_seat(seat, t.x, t.y), t) for t in mine), key=lambda p: p[0][0])
    row = tuple(tile for _, tile in placed)
    if len(row) < 2:
        return OpenHand(row, None)
    middle = sorted(y for (_, y), _ in placed)[len(placed) // 2]
    # A gap is plain to see; how a round face is turned is the recogniser's weakest guess.
    apart = _beyond_a_gap(_columns(row, seat, geometry))
    if not apart:
        apart = [
            i for i, ((_, y), t) in enumerate(placed) if abs(y - middle) > 0.6 or lies_across(t)
        ]  # fmt: skip
    if len(apart) != 1:
        return OpenHand(row, None)
    index = apart[0]
    return OpenHand(row[:index] + row[index + 1 :], row[index])


def _beyond_a_gap(columns: Sequence[_Column]) -> list[int]:
    """Index of the one end tile that a gap, clearly wider than all others, sets apart."""
    gaps = [b.left - a.right for a, b in itertools.pairwise(columns)]
    if not gaps:
        return []
    widest = max(gaps)
    if widest < _APART or sum(g > widest / 2 for g in gaps) > 1:
        return []
    if len(gaps) > 1 and gaps[0] == widest:
        return [0]
    return [len(columns) - 1] if gaps[-1] == widest else []


def _columns(tiles: Iterable[SeenTile], seat: int, geometry: TableGeometry) -> list[_Column]:
    """Tiles from left to right; one lying at another's long side joins its column."""
    placed = sorted(
        ((*geometry.to_seat(seat, t.x, t.y), t) for t in tiles), key=lambda item: item[:2]
    )
    columns: list[tuple[list[SeenTile], float, float, float]] = []
    for x, y, tile in placed:
        half = (geometry.tile_length if lies_across(tile) else 1.0) / 2
        if columns:
            members, left, right, above = columns[-1]
            if abs(x - (left + right) / 2) < 0.45 and abs(y - above) > 0.6:
                # The farther from the owner of the two was laid at the other.
                members.append(tile)
                members.sort(key=lambda t: -geometry.to_seat(seat, t.x, t.y)[1])
                continue
        columns.append(([tile], x - half, x + half, y))
    return [_Column(tuple(members), left, right) for members, left, right, _ in columns]


def _best_cut(columns: Sequence[_Column]) -> list[tuple[int, int]]:
    """Cut a row of columns into sets, flowers and loose tiles: dynamic programming."""
    n = len(columns)
    best: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
    for end in range(1, n + 1):
        choices = []
        for start in range(max(0, end - 8), end):
            score = best[start][0] + _worth(columns[start:end])
            if start:
                gap = columns[start].left - columns[start - 1].right
                score += _GAP_BETWEEN * min(max(gap, 0.0), 0.6)
            choices.append((score, [*best[start][1], (start, end)]))
        best.append(max(choices, key=lambda choice: choice[0]))
    return best[n][1]


def _worth(columns: Sequence[_Column]) -> float:
    """How well some neighbouring columns make one group."""
    tiles = [t for column in columns for t in column.tiles]
    gaps = sum(max(0.0, b.left - a.right - 0.12) for a, b in itertools.pairwise(columns))
    if _all_flowers(tiles):
        return -0.5
    if len(tiles) in (3, 4):
        across = sum(lies_across(column.tiles[0]) for column in columns)
        likelihood = _kind(tiles)[1] * (1.0 if across <= 1 else 0.1)
        return math.log(max(_LEAST, likelihood)) - _GAP_INSIDE * gaps
    if len(tiles) == 1:
        return _LOOSE
    return 2 * _LOOSE * len(tiles)


def _all_flowers(tiles: Sequence[SeenTile]) -> bool:
    return all(sum(t.probabilities.get(f, 0.0) for f in _FLOWERS) > 0.5 for t in tiles)


def _meld(columns: Sequence[_Column]) -> Meld:
    tiles = tuple(t for column in columns for t in column.tiles)
    kind, likelihood = _kind(tiles)
    called = next((i for i, t in enumerate(tiles) if lies_across(t) and t.best != "back"), None)
    added = None
    at = 0
    for column in columns:
        if len(column.tiles) == 2:
            added = at + 1
            called = at
        at += len(column.tiles)
    return Meld(kind, tiles, called, added, likelihood)


def _kind(tiles: Sequence[SeenTile]) -> tuple[MeldKind, float]:
    """The likeliest set that some tiles make, and how likely it is."""
    backs = [t for t in tiles if t.best == "back"]
    faces = [t for t in tiles if t.best != "back"]
    if len(tiles) == 4:
        if backs:
            # Own tiles lie straight; one back alone is a rarer way to mark a kong as closed.
            straight = 0.0 if any(map(lies_across, faces)) else 1.0
            usual = 0.3 if len(backs) == 1 else 1.0
            sure = math.prod(t.confidence for t in backs)
            return "closed_kong", straight * usual * sure * _alike(faces)
        return _likeliest({"kong": _alike(tiles), "joy": _joy(tiles)})
    if backs:
        return "unknown", 0.0
    return _likeliest({"pung": _alike(tiles), "chow": _run(tiles), "joy": _joy(tiles)})


def _likeliest(kinds: Mapping[MeldKind, float]) -> tuple[MeldKind, float]:
    kind = max(kinds, key=lambda k: kinds[k])
    return (kind if kinds[kind] >= _LEAST else "unknown"), kinds[kind]


def _alike(tiles: Sequence[SeenTile]) -> float:
    """Probability that all tiles are of one kind."""
    if not tiles:
        return 1.0
    first, *others = (tile.probabilities for tile in tiles)
    return sum(
        p * math.prod(other.get(k, 0.0) for other in others)
        for k, p in first.items()
        if k in _PLAYING
    )


def _joy(tiles: Sequence[SeenTile]) -> float:
    """Probability that own tiles, none across, are three different dragons or four winds."""
    if any(map(lies_across, tiles)):
        return 0.0
    looks = [tile.probabilities for tile in tiles]
    return sum(
        math.prod(look.get(kind, 0.0) for look, kind in zip(looks, order, strict=True))
        for joy in _JOYS
        if len(joy) == len(tiles)
        for order in itertools.permutations(joy)
    )


def _run(tiles: Sequence[SeenTile]) -> float:
    """Probability that three tiles are a run in any order, a white dragon standing in for one."""
    total = 0.0
    for order in itertools.permutations(tiles):
        a, b, c = (tile.probabilities for tile in order)
        for first, second, third in _RUNS:
            if first in a and second in b and third in c:
                total += a[first] * b[second] * c[third]
    whites = [t.probabilities.get(_WHITE, 0.0) for t in tiles]
    if max(whites) > 0.3:
        white = whites.index(max(whites))
        rest = [t for i, t in enumerate(tiles) if i != white]
        total += _WHITE_IN_RUN * whites[white] * _two_of_a_run(rest)
    return min(total, 1.0)


def _two_of_a_run(tiles: Sequence[SeenTile]) -> float:
    """Probability that two tiles are two of one run."""
    total = 0.0
    for s in "mps":
        for a, b in itertools.permutations(range(1, 10), 2):
            if abs(a - b) <= 2:
                total += tiles[0].probabilities.get(f"{a}{s}", 0.0) * tiles[1].probabilities.get(
                    f"{b}{s}", 0.0
                )
    return total
