"""The prose of the Fenghua rule sheet."""

from __future__ import annotations

from tablectl.rules.fenghua.options import FenghuaOptions
from tablectl.rules.ruleset import Article


def articles(options: FenghuaOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (_wild(), _winning(options), _calls(), _bottom(), _counting(options), _payment(),
            _banker())  # fmt: skip


def _wild() -> Article:
    return Article("Wild tiles", "百搭", (
        "A tile is turned up and never used. Its three other copies are wild: they stand for any "
        "tile but flowers, themselves included, though never in a set laid out.",
        "If it is a season, the other three seasons are wild, and likewise the flowers. Wild "
        "flowers stay in hand and are no flower tiles.",
        "A discarded wild tile is claimed for nothing.",
    ))  # fmt: skip


def _winning(options: FenghuaOptions) -> Article:
    return Article("Winning", "胡牌", (
        "Four sets and a pair, seven pairs, fourteen independent tiles, or all honours, with all "
        "flowers laid out. Eight flowers laid out win whatever the other tiles are.",
        f"An own draw always wins. A discard is claimed with {options.claim_minimum} points or "
        "more before rounding; kongs, flowers and three wild tiles do not count for these.",
        "Four sets or six pairs and a wild tile win on any tile, but only on one from the wall; a "
        "claimed tile never pairs a wild one.",
        "The nearest claimant after the discarder wins; there is one winner.",
        "A kong is robbed of the tile to be added to a pung, without a minimum.",
    ))  # fmt: skip


def _calls() -> Article:
    return Article("Calls", "吃碰杠", (
        "A chow comes only from the seat before. Hu beats kong and pung, which beat chow.",
        "Flowers are laid out and replaced from the tail.",
    ))  # fmt: skip


def _bottom() -> Article:
    return Article("Bottom tile", "海底", (
        "The last drawable tile may be refused by each seat in turn; if all refuse it, the hand is "
        "drawn.",
        "Who takes it wins with it or throws that very tile, which may be claimed for a win only. "
        "Whoever threw it then pays for all.",
    ))  # fmt: skip


def _counting(options: FenghuaOptions) -> Article:
    points = [
        "The score is the sum of all points, rounded up to a multiple of ten. The winner counts "
        "the arrangement that brings the most.",
        "Contained patterns are not added: one independence pattern counts, completed all honours "
        "takes in all pungs and uncompleted all honours, eight flowers take in four flowers.",
        "Straight patterns have no wild tile in the hand, wild ones have, even at face value.",
    ]
    if options.limit_unit == 30:
        points.append(
            "The older scale counts: every multiple of 50 is the same multiple of 30, and mixed "
            "one suit is 40."
        )
    for award, name in (
        (options.all_honors_award, "All honours"), (options.eight_flowers_award, "Eight flowers"),
    ):  # fmt: skip
        if award == "celebration":
            points.append(
                f"{name} win and are celebrated without points; what they take in scores."
            )
    return Article("Counting", "计分", tuple(points))


def _payment() -> Article:
    return Article("Payment", "付", (
        "S is the score. Own tile: each pays 2 × S. Discard: the discarder 2 × S, the others S.",
        "Robbed kong: counted as an own tile, the robbed seat pays all 6 × S.",
        "One seat pays for all, the first that applies: the robbed seat or who threw the bottom "
        "tile; who fed all four open sets; who fed three of a mixed or pure one-suit or an "
        "all-pung hand. A kong grown from a pung counts for who gave the pung.",
        "A drawn hand pays nothing. A false win ends the hand and pays each seat what it would "
        "have owed by the way of winning, wild tiles, flowers and sets laid out; the banker stays.",
    ))  # fmt: skip


def _banker() -> Article:
    return Article("The banker", "庄家", (
        "The banker stays on an own win and in a drawn hand; else the deal passes to the right.",
        "The banker is east. The prevailing wind moves when the deal comes back to the first "
        "banker; a game is four rotations.",
    ))  # fmt: skip
