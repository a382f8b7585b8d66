"""Simple but sensible players for simulated hands: they follow the shortest way to a win.

A player keeps a *plan*: any shape, one suit with honours, only equal sets, or seven pairs. The plan
with the fewest tiles still missing is followed, tiles that do not serve it are thrown first, and
sets are claimed when they bring the hand nearer. Players look only at their own tiles and at what
lies open.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from tablectl.engine.legal import Option
from tablectl.engine.state import HandState, without
from tablectl.rules import registry
from tablectl.rules.decompose import counts_of
from tablectl.rules.play import OWN_KONGS
from tablectl.rules.shape import distance
from tablectl.tiles import WHITE, Tile, is_flower, parse_tiles

CLAIM_ORDER: Final = ("hu", "kong", "pung", "chow")
PLANS: Final = ("any", "m", "p", "s", "pungs", "pairs")
_PLAIN_COST: Final = 3
"""How many tiles further away a plain hand counts where plain hands may not win."""
_FLOAT_CHANCE: Final = 0.25
_FAR: Final = 99
_MANY_WILDS: Final = 3


class Policy(Protocol):
    """How a simulated player decides."""

    def turn(self, state: HandState, seat: int, choices: Sequence[Option]) -> Option:
        """Choose among legal options of the own turn (never empty)."""

    def claim(self, state: HandState, seat: int, choices: Sequence[Option]) -> Option | None:
        """Choose a legal claim, or ``None`` to pass."""


@dataclass
class SimplePlayer:
    """Follows the nearest plan.

    Attributes:
        rng: decides between equals.
        mistake: chance of a discard at random, which makes hands less alike.
    """

    rng: random.Random
    mistake: float = 0.02

    def turn(self, state: HandState, seat: int, choices: Sequence[Option]) -> Option:
        """Win, kong, or throw the tile that serves the plan least."""
        throws = [c for c in choices if c.kind == "discard"]
        for choice in choices:
            if choice.kind == "hu":
                return self._float_instead(state, seat, throws) or choice
        if not throws:
            return choices[0]
        for choice in choices:
            if choice.kind in (*OWN_KONGS, "joy") and _kong_is_free(state, seat, choice):
                return choice
        if self.rng.random() < self.mistake:
            return self.rng.choice(throws)
        plans = _near_plans(state, seat)
        scored = [(_throw_cost(state, seat, c, plans), self.rng.random(), c) for c in throws]
        return min(scored, key=lambda item: item[:2])[2]

    def claim(self, state: HandState, seat: int, choices: Sequence[Option]) -> Option | None:
        """Win if possible; claim a set if it brings the hand nearer."""
        for choice in choices:
            if choice.kind == "hu":
                return choice
        hand = state.players[seat].known
        now = _cost(state, seat, hand, _sets_left(state, seat))
        best: tuple[float, Option] | None = None
        for choice in choices:
            kept = _without_own_tiles(hand, choice)
            if kept is None:
                continue
            after = _cost(state, seat, kept, _sets_left(state, seat) - 1, laid=choice)
            gain = now - after
            if gain >= 1 and (best is None or gain > best[0]):
                best = (gain, choice)
        return best[1] if best is not None else None

    def _float_instead(
        self, state: HandState, seat: int, throws: Sequence[Option]
    ) -> Option | None:
        """Now and then, a float in place of the win."""
        for choice in throws:
            if choice.tile in state.wild.tiles and self.rng.random() < _FLOAT_CHANCE:
                effect = state.play.discard(state, seat, choice.tile)
                if effect.floats:
                    return choice
        return None


def _throw_cost(
    state: HandState, seat: int, choice: Option, plans: Sequence[str]
) -> tuple[float, float]:
    assert choice.tile is not None
    kept = without(state.players[seat].known, (choice.tile,))
    assert kept is not None
    held = _Held.of(state, seat, kept, _sets_left(state, seat))
    return held.cost(plans), _usefulness(state, seat, choice.tile)


def _near_plans(state: HandState, seat: int) -> tuple[str, ...]:
    """The plans that could still be the nearest after one discard."""
    held = _Held.of(state, seat, state.players[seat].known, _sets_left(state, seat))
    costs = {plan: held.plan_cost(plan) for plan in PLANS}
    return tuple(plan for plan in PLANS if costs[plan] <= min(costs.values()) + 1)


def _sets_left(state: HandState, seat: int) -> int:
    laid = sum(meld.kind != "lone_kong" for meld in state.players[seat].melds)
    return state.ruleset.equipment(state.options).sets - laid


def _without_own_tiles(hand: tuple[Tile, ...], claim: Option) -> tuple[Tile, ...] | None:
    if claim.tile is None:
        return None
    tiles = parse_tiles(getattr(claim.event, "tiles", ""))
    own = without(tiles, (claim.tile,))
    return None if own is None else without(hand, own)


def _wild_held(state: HandState, seat: int) -> int:
    return sum(tile in state.wild.tiles for tile in state.players[seat].known)


def _kong_is_free(state: HandState, seat: int, choice: Option) -> bool:
    """Whether the kong, or the joy, costs the hand nothing."""
    hand = state.players[seat].known
    tiles = parse_tiles(getattr(choice.event, "tiles", ""))
    if choice.kind == "added_kong":
        return True
    if choice.kind == "lone_kong":  # a tile that no hand can use, or one wild tile too many
        return not set(tiles) & state.wild.tiles or _wild_held(state, seat) >= _MANY_WILDS
    kept = without(hand, tiles)
    if kept is None:
        return False
    sets = _sets_left(state, seat)
    return _cost(state, seat, kept, sets - 1) <= _cost(state, seat, hand, sets)


def _cost(
    state: HandState, seat: int, hand: Sequence[Tile], sets: int, laid: Option | None = None
) -> float:
    """Tiles missing on the best plan, with a surcharge where plain hands may not win."""
    return _Held.of(state, seat, hand, sets, laid).cost(PLANS)


@dataclass(frozen=True)
class _Held:
    """A hand as plans look at it."""

    counts: tuple[int, ...]
    wilds: int
    sets: int
    melds: tuple[tuple[Tile, ...], ...]
    plain_wins: bool
    pairs_win: bool

    @classmethod
    def of(
        cls,
        state: HandState,
        seat: int,
        hand: Sequence[Tile],
        sets: int,
        laid: Option | None = None,
    ) -> _Held:
        idle = state.wild.tiles | state.wild.barred
        naturals = [t for t in hand if t not in idle and not is_flower(t)]
        melds = [m.tiles for m in state.players[seat].melds if m.kind != "lone_kong"]
        if laid is not None:
            melds.append(parse_tiles(getattr(laid.event, "tiles", "")))
        return cls(
            counts=counts_of(state.wild.identities(naturals)),
            wilds=sum(tile in state.wild.tiles for tile in hand),
            sets=sets,
            melds=tuple(melds),
            plain_wins=state.play.plain_wins,
            pairs_win=_pairs_win(state.start.rules),
        )

    def cost(self, plans: Sequence[str]) -> float:
        return min(self.plan_cost(plan) for plan in plans)

    def plan_cost(self, plan: str) -> float:
        if plan == "pairs" and not self.pairs_win:
            return _FAR
        missing = _plan_distance(plan, self.counts, self.wilds, self.sets, self.melds)
        return missing + self._surcharge(plan)

    def _surcharge(self, plan: str) -> float:
        if self.plain_wins or plan != "any":
            return 0.25 if plan in ("pungs", "pairs") else 0.0
        dragons = sum(tiles[0] >= WHITE for tiles in self.melds if tiles)
        return max(0.0, _PLAIN_COST - 1.5 * dragons)


@lru_cache(maxsize=1 << 16)
def _plan_distance(
    plan: str,
    counts: tuple[int, ...],
    wilds: int,
    sets: int,
    melds: tuple[tuple[Tile, ...], ...],
) -> int:
    if plan == "pairs":
        pairs = sum(n // 2 for n in counts)
        return _FAR if melds else max(0, 7 - pairs - wilds) + 1
    if plan == "pungs":
        if any(len(set(tiles)) > 1 for tiles in melds):
            return _FAR
        return _pung_distance(counts, wilds, sets)
    if plan in "mps":
        low = 9 * "mps".index(plan)
        if any(not low <= t < low + 9 and t < 27 for tiles in melds for t in tiles):
            return _FAR
        counts = tuple(n if low <= i < low + 9 or i >= 27 else 0 for i, n in enumerate(counts))
    return distance(counts, wilds, sets)


def _pung_distance(counts: Sequence[int], wilds: int, sets: int) -> int:
    best = sorted((min(n, 3) for n in counts), reverse=True)
    used = sum(best[:sets]) + min(2, best[sets] if sets < len(best) else 0)
    return max(0, 3 * sets + 2 - used - wilds)


@lru_cache(maxsize=64)
def _pairs_win(rule_set: str) -> bool:
    """Whether seven pairs are a winning shape under these rules."""
    ruleset = registry.get(rule_set)
    options = ruleset.options()
    hand = parse_tiles("1133557799m1133p")
    return ruleset.complete(hand, (), ruleset.wild(None, options), options)


def _usefulness(state: HandState, seat: int, tile: Tile) -> float:
    """How well a tile fits its neighbours: the least useful goes first."""
    if tile in state.wild.tiles:
        return 99.0
    hand = state.players[seat].known
    face = state.wild.plays_as(tile)
    faces = state.wild.identities(hand)
    value = 3.0 * (faces.count(face) - 1)
    if face < 27:
        for step, weight in ((1, 2.0), (2, 1.0)):
            for near in (face - step, face + step):
                if near // 9 == face // 9 and near >= 0:
                    value += weight * min(1, faces.count(Tile(near)))
        value += 0.1 * min(face % 9, 8 - face % 9)
    value -= 0.2 * state.seen[tile]
    return value
