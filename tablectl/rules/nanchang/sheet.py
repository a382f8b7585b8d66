"""The prose of the Nanchang rule sheet."""

from __future__ import annotations

from tablectl.rules.nanchang.options import NanchangOptions
from tablectl.rules.ruleset import Article


def articles(options: NanchangOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (_fines(options), _winning(), _calls(), _wall(options), _payment(), _bonuses(options),
            _banker())  # fmt: skip


def _fines(options: NanchangOptions) -> Article:
    drawn = (
        "The tile turned up may be drawn as a kong's supplement and is a first fine tile then."
        if options.indicator_as_supplement
        else "The tile turned up is never drawn: a supplement that would take it skips it."
    )
    return Article("Fine tiles", "精", (
        "After the deal a tile is turned up. Its three other copies are the first fine tiles; the "
        "four of the next kind are the second: 9 is followed by 1, east by south, west, north and "
        "east again, red by green, white and red again.",
        "A fine tile in hand stands for any tile, itself included.",
        "It may be laid out in sets at face value. A discarded fine tile is claimed at face value "
        "only, for a set or a win.",
        drawn,
    ))  # fmt: skip


def _winning() -> Article:
    return Article("Winning", "胡", (
        "Four sets and a pair, seven pairs, or fourteen independent tiles.",
        "Any three different winds are a run, and so are the three dragons; winds and dragons "
        "never mix.",
        "Independent tiles: fourteen different tiles, those of one suit three apart at least.",
        "Four sets or six pairs and a fine tile win on any tile, but only on one from the wall, "
        "unless every fine tile is at face value (German).",
        "Who lets a winning tile go claims none until the own turn has come or been passed by a "
        "pung or kong.",
        "The nearest claimant after the discarder wins; there is one winner.",
        "A kong is robbed of the tile to be added to a pung; all three pay.",
    ))  # fmt: skip


def _calls() -> Article:
    return Article("Calls", "吃碰杠", (
        "A chow comes only from the seat before; runs of winds and of dragons may be chowed. Hu "
        "beats kong and pung, which beat chow.",
        "The discard after the last tile may be claimed for a win only.",
    ))  # fmt: skip


def _wall(options: NanchangOptions) -> Article:
    stays = (
        "34 tiles always stay, the tile turned up among them."
        if options.dead_wall == "tiles_34"
        else "17 stacks stay; while the last stack is half used these are 33 tiles, so that every "
        "odd supplement does not shorten the wall."
    )
    return Article("Dead wall", "牌墩", (stays,))


def _payment() -> Article:
    return Article("Payment", "付", (
        "Each loser pays 1 point, doubled for every double of the hand, once more where the banker "
        "pays or wins, and once more by who discarded the winning tile.",
        "A German hand adds five points that are never doubled.",
        "Heavenly and earthly wins are 20 from each instead.",
        "A false win pays each seat what it would have owed by the way of winning and for the "
        "caller's fine tiles and kongs; the hand ends without other bonuses, the banker stays.",
    ))  # fmt: skip


def _bonuses(options: NanchangOptions) -> Article:
    points = [
        "Bonuses are paid at the end of every hand, a drawn one too, to any seat, by each of the "
        "other three.",
        "Fine tiles in hand, in sets, and the winning tile: 2 a first, 1 a second. From 5 points "
        "on the sum is multiplied by itself less 3 (5 × 2, 6 × 3, 7 × 4 ...).",
        "If nobody else has a fine tile, the sum is doubled.",
        "Kongs: closed 2, open 1; a kong of fine tiles 10 instead, which nothing multiplies.",
        "Sacked banker 抄庄: if all four throw the same tile in the first round, before any chow, "
        "pung or kong, the banker pays 5 to each at the end.",
    ]
    if options.draw_banker_pays:
        points.append("In a drawn hand the banker pays 5 to each.")
    return Article("Bonuses", "奖", tuple(points))


def _banker() -> Article:
    return Article("The banker", "庄家", (
        "The banker stays on an own win and in a drawn hand; else, and always when sacked, the "
        "deal passes to the right. A session is four banker rotations.",
        "After a drawn hand every hand is laid open, for the bonuses.",
    ))  # fmt: skip
