"""Reading and counting a Yangzhou hand. Readings D-Y2 to D-Y13."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablectl.rules.case import Meld, ScoreCase, Win
from tablectl.rules.decompose import counts_of, standard
from tablectl.rules.groups import Group, Kind, Reading
from tablectl.rules.melds import as_group
from tablectl.rules.shape import is_near, is_sets_and_pair
from tablectl.rules.wild import NO_WILD
from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import COMBINATIONS, PATTERNS, points
from tablectl.rules.yangzhou.runs import scored_runs
from tablectl.tiles import DRAGONS, WINDS, Tile, is_flower, is_honour, is_terminal, suit_of

Points = dict[str, int]

_ORDER = {pattern.id: i for i, pattern in enumerate(PATTERNS)}
_COPIES = 4
_SETS = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """A way to read the hand, with what it scores."""

    reading: Reading
    points: Points

    @property
    def total(self) -> int:
        """All points together."""
        return sum(self.points.values())


def count(case: ScoreCase, win: Win, options: YangzhouOptions) -> Counted | None:
    """The best reading of a winner's hand; ``None`` if it is no winning shape (D-Y13)."""
    seat = case.seats[win.seat]
    tiles = seat.hand if win.tile is None else (*seat.hand, win.tile)
    if any(map(is_flower, tiles)):
        return None
    readings = list(standard(counts_of(tiles), 0, _SETS - len(seat.melds)))
    if not readings:
        return None
    same = _of_the_whole_hand(case, win)
    counted = [Counted(r, _points(case, win, r, same, options)) for r in readings]
    return max(counted, key=lambda c: (c.total, len(c.points)))


def _of_the_whole_hand(case: ScoreCase, win: Win) -> Points:
    """What does not depend on the reading: closed, own tile, single call, kongs."""
    seat = case.seats[win.seat]
    kinds = [meld.kind for meld in seat.melds]
    return {
        "fully_closed": int(not any(meld.is_open for meld in seat.melds)),
        "own_tile": int(win.is_own_draw),
        "single_call": int(len(calls(seat.hand)) == 1),
        "open_kong": kinds.count("kong") + kinds.count("added_kong"),
        "closed_kong": 2 * kinds.count("closed_kong"),
    }


def calls(hand: Sequence[Tile]) -> tuple[Tile, ...]:
    """Kinds that complete concealed tiles, those left out of which all four are held (D-Y11)."""
    counts = list(counts_of(hand))
    found = []
    for kind in range(len(counts)):
        if counts[kind] < _COPIES and is_near(counts, Tile(kind)):
            counts[kind] += 1
            if is_sets_and_pair(counts, 0):
                found.append(Tile(kind))
            counts[kind] -= 1
    return tuple(found)


def _points(
    case: ScoreCase, win: Win, reading: Reading, same: Points, options: YangzhouOptions
) -> Points:
    melds = case.seats[win.seat].melds
    groups = [*(as_group(meld, NO_WILD) for meld in melds), *reading]
    lows = [group.tiles[0] for group in groups if group.kind is Kind.RUN]
    pungs = [group.tiles[0] for group in groups if group.kind is Kind.PUNG]
    found = (
        same
        | _tile_points(groups)
        | honour_pungs(case, win, pungs)
        | {"closed_pung": _closed_pungs(win, reading)}
        | scored_runs(lows, options)
        | {name: points(name, options) for name in _kinds(groups, options)}
    )
    if options.schedule == "new":
        found = _combined(found)
    kept = [(name, value) for name, value in found.items() if value]
    return dict(sorted(kept, key=lambda item: _ORDER[item[0]]))


def _tile_points(groups: Sequence[Group]) -> Points:
    """Minor patterns of what tiles there are (D-Y10)."""
    tiles = {tile for group in groups for tile in group.tiles}
    eyes = next(group.tiles[0] for group in groups if group.kind is Kind.PAIR)
    runs = sum(group.kind is Kind.RUN for group in groups)
    suits = {suit_of(tile) for tile in tiles}
    return {
        "common_win": int(runs == _SETS and not is_honour(eyes)),
        "void_suit": int(len(suits) == 2 and "z" not in suits),
        "end_eyes": int(is_terminal(eyes)),
        "no_terminals": int(not any(is_terminal(t) or is_honour(t) for t in tiles)),
    }


def honour_pungs(case: ScoreCase, win: Win, pungs: Sequence[Tile]) -> Points:
    """Points of wind and dragon pungs, given the tile of each pung or kong (D-Y12)."""
    own = WINDS[(win.seat - case.dealer) % 4]
    of_round = WINDS["ESWN".index(case.round_wind or "E")]
    return {
        "seat_wind": int(own in pungs),
        "round_wind": int(of_round in pungs),
        "dragon_pung": sum(tile in DRAGONS for tile in pungs),
    }


def _closed_pungs(win: Win, reading: Reading) -> int:
    """Concealed pungs; one completed by a claim is open, if the tile fits nowhere else (D-Y8)."""
    pungs = [group.tiles[0] for group in reading if group.kind is Kind.PUNG]
    elsewhere = any(win.tile in group.tiles for group in reading if group.kind is not Kind.PUNG)
    opened = win.from_seat is not None and win.tile in pungs and not elsewhere
    return len(pungs) - opened


def _kinds(groups: Sequence[Group], options: YangzhouOptions) -> Iterator[str]:
    """Patterns of suits and of pungs (D-Y4)."""
    suits = {suit_of(tile) for group in groups for tile in group.tiles}
    all_honors = suits == {"z"}
    if all_honors:
        yield "all_honors"
    elif len(suits) == 1:
        yield "pure_one_suit"
    elif len(suits) == 2 and "z" in suits:
        yield "mixed_one_suit"
    pungs_only = not any(group.kind is Kind.RUN for group in groups)
    if pungs_only and (not all_honors or options.count_contained):
        yield "all_pung"


def _combined(found: Points) -> Points:
    """The largest combination pattern in place of the patterns that it names (D-Y6)."""
    fitting = [
        (value, name, parts)
        for name, (value, parts) in COMBINATIONS.items()
        if all(found.get(part) for part in parts)
    ]
    if not fitting:
        return found
    value, name, parts = max(fitting)
    return {k: v for k, v in found.items() if k not in parts} | {name: value}


def is_pure(found: Points) -> bool:
    """Whether a hand scores pure one suit, by itself or in a combination."""
    return any(name.startswith("pure_") for name in found)


def third_open_set(melds: Sequence[Meld]) -> Meld | None:
    """The third open set in the order made, closed kongs skipped (D-Y16)."""
    return next(iter([meld for meld in melds if meld.is_open][2:3]), None)
