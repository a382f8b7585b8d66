"""What a rule set declares.

A rule set is data plus small pure functions. It lives in a package ``tablectl/rules/<id>/`` whose
``__init__`` exports ``RULES: RuleSet``; how the game is *played* under it (turns, calls, walls,
rotation) stands beside it in ``<id>/play.py``, which exports ``PLAY``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias

from tablectl.rules.case import CaseError, Meld, ScoreCase, check_physical
from tablectl.rules.options import Options, OptionsT, parse_options
from tablectl.rules.play import PlayRules
from tablectl.rules.settlement import Settlement, balanced
from tablectl.rules.wild import Wild
from tablectl.tiles import N_KINDS, Tile

Shape: TypeAlias = Literal[
    "standard",
    "honour_runs",
    "seven_pairs",
    "thirteen_orphans",
    "independent",
    "all_honours",
    "all_eyes",
]
"""A winning shape that the shared tables know.

``standard`` is sets and a pair; ``all_honours`` (winds and dragons) and ``all_eyes`` (2, 5 and 8)
are hands of such tiles alone, melds included, without sets.
"""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What lies on the table.

    Attributes:
        copies: how often each of the 42 kinds is in the set, by tile index.
        seats: number of players.
        hand_size: tiles held between turns.
        reserve: tiles that stay in the wall undrawn, indicator included.
        indicator: whether a tile is turned up to choose wild tiles.
        dice: number of dice.
        indicator_drawable: whether the tile turned up may still come into a hand, so that it does
            not count as a copy beside the tiles in hands.
    """

    copies: tuple[int, ...]
    seats: int = 4
    hand_size: int = 13
    reserve: int = 0
    indicator: bool = False
    dice: int = 2
    indicator_drawable: bool = False

    @property
    def total(self) -> int:
        """Tiles in the set: what the table is told to build walls of."""
        return sum(self.copies)

    @property
    def dealt(self) -> int:
        """Tiles dealt, the dealer's extra one included."""
        return self.seats * self.hand_size + 1

    @property
    def sets(self) -> int:
        """Sets in a standard winning hand beside the pair."""
        return self.hand_size // 3

    @property
    def kinds(self) -> tuple[Tile, ...]:
        """The kinds that can be held in a hand."""
        return tuple(Tile(i) for i in range(34) if self.copies[i])


def tile_copies(
    *, suits: str = "mps", honours: bool = True, flowers: bool = False
) -> tuple[int, ...]:
    """Copies by tile index for the usual sets: four of each playing tile, one of each flower."""
    copies = [4 if "mps"[i // 9] in suits else 0 for i in range(27)]
    copies += [4 if honours else 0] * 7 + [1 if flowers else 0] * (N_KINDS - 34)
    return tuple(copies)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A scoring pattern.

    Attributes:
        id: as in score cases.
        name: English name.
        name_zh: Chinese name.
        value: in the rule set's unit, as printed on the rule sheet ("2", "1 each", "limit").
        text: what makes it, one sentence.
        source: where the rule comes from: a document's section or a decided reading.
    """

    id: str
    name: str
    name_zh: str
    value: str
    text: str
    source: str

    @property
    def title(self) -> str:
        """Both names, for settlements: ``All pungs 對對胡``."""
        return f"{self.name} {self.name_zh}"


@dataclass(frozen=True, slots=True)
class Article:
    """A paragraph group of the rule sheet."""

    title: str
    title_zh: str
    points: tuple[str, ...]


class Names(Protocol):
    """How seats are called in a derivation."""

    def __call__(self, seat: int) -> str:
        """The name of a seat."""


@dataclass(frozen=True, slots=True)
class RuleSet(Generic[OptionsT]):
    """A rule set's declaration.

    Attributes:
        id: as in score cases and logs.
        name, name_zh: for people.
        source: the document.
        unit: what pattern values count ("faan", "times").
        model: the options and their defaults.
        equipment: what lies on the table under given options.
        wild: which tiles are wild for an indicator (``None`` = none turned) under given options.
        patterns: every scoring pattern.
        score: settles a case whose options and tiles are already checked.
        shapes: the winning shapes, for players who look ahead; ``complete`` decides.
        complete: whether concealed physical tiles, the winning one last, make a winning shape
            beside the melds.
        false_win: penalty for a false win; payments as a settlement without patterns.
        articles: the prose of the rule sheet under given options.
        play: walls, turns, claims, locks and rotation, from ``<id>/play.py``.
    """

    id: str
    name: str
    name_zh: str
    source: str
    unit: str
    model: type[OptionsT]
    equipment: Callable[[OptionsT], Equipment]
    wild: Callable[[Tile | None, OptionsT], Wild]
    patterns: tuple[Pattern, ...]
    score: Callable[[ScoreCase, OptionsT, Names], Settlement]
    shapes: tuple[Shape, ...]
    complete: Callable[[Sequence[Tile], Sequence[Meld], Wild, OptionsT], bool]
    false_win: Callable[[ScoreCase, OptionsT, Names], Settlement]
    articles: Callable[[OptionsT], tuple[Article, ...]]
    play: PlayRules

    def options(self, values: Mapping[str, object] | None = None) -> OptionsT:
        """Options with their defaults filled in.

        Raises:
            CaseError: an unknown option or a value that is not allowed.
        """
        return parse_options(self.model, values or {})

    def pattern(self, pattern_id: str) -> Pattern:
        """The declaration of a pattern."""
        return next(p for p in self.patterns if p.id == pattern_id)

    def settle(self, case: ScoreCase, names: Names | None = None) -> Settlement:
        """Settle a finished hand.

        Args:
            case: the hand; ``case.rules`` is this rule set's id.
            names: how to call a seat in the derivation; default ``Seat 0`` and so on.

        Raises:
            CaseError: the case is malformed under this rule set (not: an invalid claim, which
                gives a settlement with an ``error``).
        """
        try:
            options = self.checked_options(case)
            return balanced(self.score(case, options, names or seat_name))
        except CaseError as error:
            raise error.at(case_id=case.id) from None

    def settle_false_win(self, case: ScoreCase, names: Names | None = None) -> Settlement:
        """What a false win costs: ``case`` holds the claim as its only win.

        Raises:
            CaseError: as :meth:`settle`.
        """
        try:
            options = self.checked_options(case)
            return balanced(self.false_win(case, options, names or seat_name))
        except CaseError as error:
            raise error.at(case_id=case.id) from None

    def checked_options(self, case: ScoreCase) -> OptionsT:
        """The case's options, once its tiles are known to fit this rule set's equipment.

        Raises:
            CaseError: they do not.
        """
        options = self.options(case.options)
        kit = self.equipment(options)
        check_physical(
            case.model_copy(update={"indicator": None}) if kit.indicator_drawable else case,
            kit.copies,
            hand_size=kit.hand_size,
            seats=kit.seats,
        )
        return options


def seat_name(seat: int) -> str:
    """How a seat is called where nobody has named it."""
    return f"Seat {seat}"


__all__ = [
    "Article",
    "Equipment",
    "Names",
    "Options",
    "Pattern",
    "RuleSet",
    "seat_name",
    "tile_copies",
]
