"""The prose of the Yangzhou rule sheet."""

from __future__ import annotations

from tablectl.rules.ruleset import Article
from tablectl.rules.yangzhou.options import YangzhouOptions


def articles(options: YangzhouOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _banker(options), _winning(options), _calls(), _counting(options), _payment(),
    )  # fmt: skip


def _banker(options: YangzhouOptions) -> Article:
    draw = (
        "The banker stays after winning and after a drawn hand; otherwise the deal passes to the "
        "next seat."
        if options.banker_stays_on_draw
        else "The banker stays after winning; after a drawn hand or another's win the deal passes "
        "to the next seat."
    )
    return Article("Banker and winds", "庄与圈风", (
        draw,
        "Of several winners one being the banker is enough for staying.",
        "The banker is East, the next seats are South, West and North. The round wind moves on "
        "each time the deal passes to the first banker.",
        f"A session is {options.session_rotations} banker rotations.",
    ))  # fmt: skip


def _winning(options: YangzhouOptions) -> Article:
    return Article("Winning", "胡牌", (
        "Four sets and a pair; nothing else wins.",
        f"A hand needs {options.least} points ({options.schedule} schedule), the own tile's "
        "point included.",
        "More than one player may win on the same discard.",
        "Who lets a winning tile go may not win on anybody's tile until the own turn has come or "
        "been passed by a pung or kong.",
        "After chowing three times in one suit only pure one suit wins.",
        "A kong may be robbed when a tile is added to an open pung; a closed kong never.",
        "There is no dead wall: when the last tile is gone and nobody has won, the hand is drawn.",
    ))  # fmt: skip


def _calls() -> Article:
    return Article("Calls", "吃碰杠", (
        "Hu beats kong and pung, which beat chow. A chow comes only from the seat before.",
        "The discard after the last tile may be claimed for a win only, and no kong is made once "
        "no supplement is left.",
    ))  # fmt: skip


def _counting(options: YangzhouOptions) -> Article:
    points = ["The reading of the hand that scores most counts; the patterns' points add up."]
    if options.count_contained:
        points.append("Patterns contained in larger ones count too.")
    else:
        points += [
            "A pattern of runs whose runs all lie in a larger scored one is left out, and so is a "
            "pair of runs within one scored pattern.",
            "All honours contains all pung.",
        ]
    points.append("Pure one suit excludes mixed; all honours is neither.")
    if options.schedule == "new":
        points.append(
            "A combination pattern replaces the patterns that it names; one only, the largest."
        )
    return Article("Counting", "计分", tuple(points))


def _payment() -> Article:
    return Article("Payment", "付", (
        "Own tile: each of the three pays the score. Discard or robbed kong: who gave the tile "
        "pays twice the score, the others nothing.",
        "Several winners are each paid in full by the same seat.",
        "Who gave the third open set to pure one suit, if it is a chow, pays all that the winner "
        "would get.",
        "A drawn hand pays nothing. A false win pays what it was meant to bring by its way of "
        "winning and the sets laid out; the hand ends and the banker stays.",
    ))  # fmt: skip
