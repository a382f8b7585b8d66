"""Random finished hands, for benchmarks and tests: legal tiles, seeded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from tablectl.rules.case import Meld, Outcome, ScoreCase, SeatState, Win, WinFlags
from tablectl.rules.ruleset import Equipment
from tablectl.tiles import WHITE, Tile

_TRIES = 200


class _Shelf:
    """The tiles of a set, taken without going over the copies that exist."""

    def __init__(self, kit: Equipment) -> None:
        self.left = Counter({Tile(i): n for i, n in enumerate(kit.copies) if n})

    def take(self, tiles: Sequence[Tile]) -> bool:
        """Take all of them, or none."""
        wanted = Counter(tiles)
        if any(self.left[tile] < count for tile, count in wanted.items()):
            return False
        self.left -= wanted
        return True


def _group(rng: Random, kinds: Sequence[Tile], *, pair: bool = False) -> list[Tile]:
    if pair:
        return [rng.choice(kinds)] * 2
    if rng.random() < 0.35:
        return [rng.choice(kinds)] * 3
    low = rng.choice([t for t in kinds if t < 27 and t % 9 < 7 and t + 2 in kinds])
    return [low, Tile(low + 1), Tile(low + 2)]


def _few_kinds(rng: Random, kit: Equipment) -> tuple[Tile, ...]:
    """Kinds to build from: often few suits, so that hands score."""
    suits = rng.sample(range(3), rng.choice((1, 2, 3)))
    few = [t for t in kit.kinds if (t < 27 and t // 9 in suits) or (t >= 27 and rng.random() < 0.5)]
    return tuple(few)


def _complete_hand(
    rng: Random, kit: Equipment, fixed: Sequence[Tile], melds: int, *, pairs: bool
) -> tuple[list[list[Tile]], _Shelf]:
    """Sets (melds first) and a pair, or seven pairs, beside tiles already used up."""
    for _ in range(_TRIES):
        shelf = _Shelf(kit)
        shelf.take(fixed)
        kinds = [t for t in _few_kinds(rng, kit) if t not in fixed and t != WHITE]
        if len([t for t in kinds if t < 27]) < 9:
            continue
        count = 7 if pairs else kit.sets + 1
        groups = [_group(rng, kinds, pair=pairs or i == count - 1) for i in range(count)]
        if all(shelf.take(group) for group in groups):
            return groups, shelf
    raise RuntimeError(f"no hand of {melds} melds found in {_TRIES} tries")


def winning_case(
    rng: Random,
    rule_set: str,
    kit: Equipment,
    *,
    options: dict[str, Any] | None = None,
    wild: Tile | None = None,
    wilds: int = 0,
    indicator: Tile | None = None,
    spoil: float = 0.0,
    chows: bool = True,
) -> ScoreCase:
    """A hand with a claim that is a winning shape (unless spoilt).

    Args:
        rng: where chance comes from.
        rule_set: id for the case.
        kit: the equipment of that rule set.
        options: options for the case.
        wild: the wild kind, turned up as the indicator where the equipment has one.
        indicator: the tile turned up where it is another one.
        wilds: how many wild tiles take the place of naturals, at most the copies left.
        spoil: chance that one natural tile is exchanged for another.
        chows: whether runs may be laid out.
    """
    pairs = kit.sets == 4 and rng.random() < 0.15
    melds = 0 if pairs or wilds > 8 else rng.choice((0, 0, 0, 1, 2))
    fixed = [wild] * kit.copies[wild] if wild is not None else []
    if indicator is not None:
        fixed.append(indicator)
    groups, shelf = _complete_hand(rng, kit, fixed, melds, pairs=pairs)
    if not chows:
        groups[:-1] = sorted(groups[:-1], key=lambda group: group[0] != group[1])
        melds = min(melds, sum(group[0] == group[1] for group in groups[:-1]))
    seat = rng.randrange(kit.seats)
    laid = tuple(_meld(rng, group, seat, kit.seats) for group in groups[:melds])
    held = [tile for group in groups[melds:] for tile in group]
    rng.shuffle(held)
    if wild is not None:
        held[:wilds] = [wild] * wilds
    if held[wilds:] and rng.random() < spoil:
        held[-1] = rng.choice([t for t in kit.kinds if shelf.left[t]])
    rng.shuffle(held)
    *hand, tile = held
    win = Win(seat=seat, tile=tile, by="self_draw", flags=WinFlags(last_tile=rng.random() < 0.1))
    if tile != wild and rng.random() < 0.4:
        giver = (seat + rng.randrange(1, kit.seats)) % kit.seats
        win = Win(seat=seat, tile=tile, by="discard", from_seat=giver)
    seats = tuple(
        SeatState(hand=tuple(hand), melds=laid, flowers=_flowers(rng, kit))
        if i == seat
        else SeatState()
        for i in range(kit.seats)
    )
    return ScoreCase(
        id="sample",
        rules=rule_set,
        options=options or {},
        dealer=rng.randrange(kit.seats),
        streak=rng.randrange(1, 5),
        round_wind=rng.choice(("E", "S", "W", "N")),
        indicator=(wild if indicator is None else indicator) if kit.indicator else None,
        seats=seats,
        outcome=Outcome(wins=(win,)),
    )


def _meld(rng: Random, group: Sequence[Tile], seat: int, seats: int) -> Meld:
    if group[0] != group[1]:
        return Meld(kind="chow", tiles=tuple(group), from_seat=(seat - 1) % seats)
    giver = (seat + rng.randrange(1, seats)) % seats
    return Meld(kind="pung", tiles=tuple(group), from_seat=giver)


def _flowers(rng: Random, kit: Equipment) -> tuple[Tile, ...]:
    flowers = [Tile(i) for i in range(34, 42) if kit.copies[i]]
    return tuple(t for t in flowers if rng.random() < 0.25)
