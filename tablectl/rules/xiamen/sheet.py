"""The prose of the Xiamen rule sheet."""

from __future__ import annotations

from tablectl.rules.ruleset import Article
from tablectl.rules.xiamen.options import XiamenOptions


def articles(options: XiamenOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _gold(), _winning(options), _special(options), _floats(options), _calls(options),
        _payment(options), _banker(options), _irregular(),
    )  # fmt: skip


def _gold() -> Article:
    return Article("Gold tiles", "金", (
        "After the deal flowers are laid out and replaced from the tail, the banker first. Then a "
        "tile is turned up: its three other copies are gold, and white dragons play as it.",
        "If a white dragon is turned up, the other three are gold and nothing borrows a face. A "
        "flower turned up is turned back and the dice are thrown again.",
        "A gold stands for any tile, itself included, but never in a set laid out. A discarded "
        "gold is claimed for nothing.",
        "A white dragon is an ordinary tile of its borrowed face, in runs and calls too.",
    ))  # fmt: skip


def _winning(options: XiamenOptions) -> Article:
    points = [
        "Five sets and a pair. The winner counts the arrangement that brings the most.",
        "The nearest claimant after the discarder wins; there is one winner.",
        "Five sets and a gold win on any tile, but only on one from the wall. A claimed tile never "
        "pairs a gold.",
        "A kong is robbed of the tile to be added to a pung; a closed kong never.",
    ]
    if options.gold_restriction == "no_discard":
        points.append("A seat that holds gold does not win by a discard.")
    if options.gold_restriction == "wall_only":
        points.append("A seat that holds gold wins by a tile from the wall only.")
    if options.required_float:
        points.append("Three golds in hand win only by ×3 or more.")
    if options.missed_tile_lock:
        points.append(
            "Who lets a win, a pung or a direct kong go may not take the same tile until the own "
            "turn has come or been passed."
        )
    return Article("Winning", "胡", tuple(points))


def _special(options: XiamenOptions) -> Article:
    points = [
        "Three gold 三金倒: three golds in hand win whatever the other tiles are, as dealt (before "
        "the own first discard) or in the turn of whoever draws the last tile; not in between.",
    ]
    if options.quanzhou:
        points += [
            "Eight flowers 八花: all eight laid out win at once, whatever the other tiles are.",
            "A dealt hand counts as an own tile, the banker's first discard as any other; the gold "
            "is not robbed.",
        ]
    else:
        points += [
            "Robbing the gold 抢金: right after the deal a non-banker takes the tile turned up, "
            "before the banker's first discard; the banker right after it. Non-bankers go before "
            "the banker, the nearest after the banker first.",
            "Heavenly win 天胡: the banker's dealt hand. Earthly win 地胡: the banker's first "
            "discard, no call before it.",
        ]
    points.append(
        "In three gold and eight flowers nothing is arranged: concealed triplets count, golds fill "
        "nothing up."
    )
    return Article("Special wins", "特殊", tuple(points))


def _floats(options: XiamenOptions) -> Article:
    points = [
        "Throwing a gold while five sets and a gold stay in hand opens a float round until the own "
        "next draw. Nobody else may chow, pung or kong a discard in it.",
        "The floating seat claims no win in it.",
        "Others may win by a discard in it."
        if options.float_round_claim
        else "Others do not win by a discard in it.",
    ]
    if options.false_float:
        points.append("Throwing a gold without floating costs the right to win in that hand.")
    return Article("Float rounds", "游金", tuple(points))


def _calls(options: XiamenOptions) -> Article:
    del options
    return Article("Play", "打牌", (
        "A chow comes only from the seat before. Hu beats kong and pung, which beat chow.",
        "A lone honour of which another has been thrown must go before any other tile; of several "
        "such the player chooses. Golds are exempt, and so are white dragons that are suit tiles.",
        "Sixteen tiles always stay. The discard after the last tile may be claimed for a win only.",
    ))  # fmt: skip


def _payment(options: XiamenOptions) -> Article:
    grows = (
        "doubles with each hand kept: 2, 4, 8 and so on"
        if not options.quanzhou
        else "grows by 1 with each hand kept"
        if options.quanzhou_base_step == "one"
        else "grows by the multiplier of each of the banker's wins, by 1 with a drawn hand"
    )
    points = [
        "Each loser pays (base + flowers) × multiplier; nobody pays for others.",
        f"The base is 2 where the banker pays or wins, else 1. The banker's {grows}.",
        "One multiplier counts, the highest that applies.",
        "Flowers: flower tiles and golds in hand 1 each, and the sets by the table.",
        "A set that a discard, a robbed kong or the tile turned up finished is open; one filled up "
        "with golds is closed.",
    ]
    if options.base_factor != 1:
        points.append(f"Both bases are multiplied by {options.base_factor}.")
    if options.quanzhou and options.quanzhou_open_pung_as_closed:
        points.append("An open pung counts like a closed one.")
    return Article("Payment", "付", tuple(points))


def _banker(options: XiamenOptions) -> Article:
    del options
    return Article("The banker", "庄家", (
        "The banker stays on an own win and in a drawn hand; else the deal passes to the right.",
        "A drawn hand pays nothing.",
    ))  # fmt: skip


def _irregular() -> Article:
    return Article("Irregularities", "犯规", (
        "A hand of a wrong number of tiles, or a wrong chow, pung, kong or draw, costs the right "
        "to win in that hand.",
        "A false win ends the hand: the caller pays each seat what it would have owed: multiplier "
        "of the way of winning, flower tiles, golds, sets laid out. The banker stays.",
    ))  # fmt: skip
