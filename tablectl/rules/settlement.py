"""The result of a finished hand: who pays whom, for what, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tablectl.rules.case import ReasonId

Number: TypeAlias = int | float


class UnbalancedError(RuntimeError):
    """Payments that do not sum to zero: a defect of a rule set, never of the input."""


class Settlement(BaseModel):
    """What a hand pays.

    ``delta`` holds net points a seat and sums to zero; it is ``None`` when ``error`` says why the
    claim is no valid win. ``payments`` says from whom to whom they go, as (payer, receiver,
    points): one entry for each two seats between which anything is left to pay.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    delta: tuple[int, ...] | None
    payments: tuple[tuple[int, int, int], ...] = ()
    patterns: dict[int, dict[str, Number]] | None = None
    """Winner seat -> pattern id -> value in the rule set's own unit."""
    wild_as: dict[int, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    """Winner seat -> wild tile's face -> the tiles that its copies stand for (text notation)."""
    lines: tuple[str, ...] = ()
    """The derivation a player reads, one step a line."""
    error: ReasonId | None = None


class Payments:
    """Collects payments between seats; every entry moves points from one seat to another."""

    def __init__(self, seats: int) -> None:
        self._delta = [0] * seats
        self._between: dict[tuple[int, int], int] = {}

    def pay(self, payer: int, receiver: int, points: int) -> None:
        """Move ``points`` from ``payer`` to ``receiver``."""
        self._delta[payer] -= points
        self._delta[receiver] += points
        low, high = sorted((payer, receiver))
        owed = points if payer == low else -points
        self._between[low, high] = self._between.get((low, high), 0) + owed

    @property
    def delta(self) -> tuple[int, ...]:
        """Net points a seat."""
        return tuple(self._delta)

    @property
    def transfers(self) -> tuple[tuple[int, int, int], ...]:
        """What each seat pays each other in the end: (payer, receiver, points), points positive."""
        found = (
            (low, high, owed) if owed > 0 else (high, low, -owed)
            for (low, high), owed in self._between.items()
            if owed
        )  # fmt: skip
        return tuple(sorted(found))


def drawn_hand(seats: int, lines: Iterable[str] = ("Drawn hand: nobody pays.",)) -> Settlement:
    """The settlement of a hand that nobody won and that pays nothing."""
    return Settlement(delta=(0,) * seats, patterns={}, lines=tuple(lines))


def refused(reason: ReasonId, line: str) -> Settlement:
    """The settlement of an invalid claim; ``line`` says in words what is wrong."""
    return Settlement(delta=None, patterns=None, lines=(line,), error=reason)


def balanced(settlement: Settlement) -> Settlement:
    """The settlement itself, once it is certain that it sums to zero.

    Raises:
        UnbalancedError: points appeared or vanished, or who pays whom says something else.
    """
    if settlement.delta is not None and sum(settlement.delta) != 0:
        raise UnbalancedError(f"payments sum to {sum(settlement.delta)}: {settlement.delta}")
    net = list(settlement.delta or ())
    for payer, receiver, points in settlement.payments:
        net[payer] += points
        net[receiver] -= points
    if settlement.delta is not None and any(net):
        raise UnbalancedError(f"{settlement.payments} do not make {settlement.delta}")
    return settlement
