"""Who pays whom adds up to the points that each seat wins or loses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.rules.settlement import Payments, Settlement, UnbalancedError, balanced

SEATS = st.integers(0, 3)


def test_what_goes_both_ways_is_netted() -> None:
    payments = Payments(4)
    payments.pay(2, 1, 8)
    payments.pay(1, 2, 3)
    payments.pay(0, 3, 5)
    payments.pay(3, 0, 5)
    assert payments.transfers == ((2, 1, 5),)
    assert payments.delta == (0, 5, -5, 0)


@given(st.lists(st.tuples(SEATS, SEATS, st.integers(0, 500)).filter(lambda p: p[0] != p[1])))
def test_transfers_make_the_net_changes(paid: list[tuple[int, int, int]]) -> None:
    payments = Payments(4)
    for payer, receiver, points in paid:
        payments.pay(payer, receiver, points)
    balanced(Settlement(delta=payments.delta, payments=payments.transfers))
    assert all(points > 0 for _, _, points in payments.transfers)
    pairs = [frozenset(t[:2]) for t in payments.transfers]
    assert len(pairs) == len(set(pairs)), "two seats settle once"


def test_transfers_that_say_something_else_are_a_defect() -> None:
    with pytest.raises(UnbalancedError, match="do not make"):
        balanced(Settlement(delta=(4, -4, 0, 0), payments=((2, 0, 4),)))
    with pytest.raises(UnbalancedError, match="do not make"):
        balanced(Settlement(delta=(4, -4, 0, 0)))
