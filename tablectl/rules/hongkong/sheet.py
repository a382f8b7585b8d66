"""The prose of the Hong Kong rule sheet."""

from __future__ import annotations

from tablectl.rules.hongkong.options import HongKongOptions
from tablectl.rules.hongkong.patterns import LIMIT, MINIMUM, POINTS
from tablectl.rules.ruleset import Article


def articles(options: HongKongOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        Article("Flowers", "花", (
            "A flower drawn is laid face up and replaced from the tail of the drawable wall.",
            "Seat flowers follow the seat wind: East 1, South 2, West 3, North 4, in both sets.",
        )),
        Article("Winning", "胡", (
            "Four sets and a pair, or thirteen orphans. Seven pairs are no winning hand.",
            f"A win needs {MINIMUM} faan, flowers included; winning is never forced.",
            "Hu beats kong, kong beats pung, pung beats chow. Of several hu on one discard the "
            "seat closest after the discarder takes it: one winner a hand.",
            "A kong may be robbed when a tile is added to an open pung; a closed kong never.",
            "Hu stays open until the throw for a seat that called chow or pung on a tile that it "
            "could have won with.",
        )),
        Article("Calls", "叫", (
            "A chow comes only from the seat before.",
            "After a chow or pung a copy of the called tile may not be thrown, and after a chow on "
            "an open end not the far end either (a 3 onto 4 5: not the 6).",
            "The very last discard may be called too.",
        )),
        Article("The dealer", "庄", (
            "The dealer deals again after winning; otherwise the deal passes to the next seat. "
            "Keeping the deal scores nothing.",
            "The round wind moves on each time the deal comes back to the first dealer.",
        )),
        Article("Counting", "番", (
            "The reading of the hand that scores most counts. A pattern counts once.",
            f"A hand scores {LIMIT} faan at most. A limit hand is {LIMIT} with nothing added.",
            f"Points: {_TABLE}.",
        )),
        Article("Payment", "付", (
            _CLAIM[options.payment],
            "On an own draw everyone pays half the points: the winner gets one and a half times.",
            "The seat whose kong is robbed pays as the thrower.",
            "A drawn hand pays nothing. The document names no penalty for a false win.",
        )),
    )  # fmt: skip


_TABLE = ", ".join(f"{faan} faan {points}" for faan, points in POINTS.items())
_CLAIM = {
    "thrower_all": "Thrower pays all (全銃): on a discard the thrower pays the points.",
    "thrower_half": "Thrower pays half (半銃): on a discard the thrower pays half, the other two a "
    "quarter each.",
}
