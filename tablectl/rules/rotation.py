"""Banker rotations and the end of a session, as several rule sets count them. M29 to M32."""

from __future__ import annotations

from tablectl.rules.play import WINDS, NextHand, TableView, wind_after


def rotation_of(table: TableView) -> int:
    """Number of the running banker rotation: as carried, else by the round wind, else 1 (M30)."""
    carried = table.session.get("rotation")
    if isinstance(carried, int):
        return carried
    return 1 if table.round_wind is None else 1 + WINDS.index(table.round_wind)


def next_in_rotation(
    table: TableView, *, stays: bool, rotations: int, round_winds: bool = False
) -> NextHand:
    """The next hand where the banker stays or the deal passes to the next seat.

    A rotation ends when the deal passes to the first dealer; the session is over with the last one
    (M30), and then everything goes on as if it were not (M31), in a new first rotation.

    Args:
        stays: whether the banker deals again.
        rotations: banker rotations of a session.
        round_winds: whether the rule set has round winds.
    """
    running = rotation_of(table)
    heir = table.dealer if stays else (table.dealer + 1) % len(table.players)
    ended = not stays and heir == table.first_dealer
    over = ended and running >= rotations
    return NextHand(
        dealer=heir,
        streak=table.streak + 1 if stays else 1,
        round_wind=wind_after(table, heir) if round_winds else None,
        over=over,
        session={"rotation": 1 if over else running + ended},
    )
