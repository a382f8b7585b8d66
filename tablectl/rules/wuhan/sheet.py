"""The prose of the Wuhan rule sheet, and of its three-player version's."""

from __future__ import annotations

from tablectl.rules.ruleset import Article
from tablectl.rules.wuhan.options import WuhanOptions
from tablectl.rules.wuhan.terms import Terms, wuhan_terms
from tablectl.tiles import Tile, name_en


def articles(options: WuhanOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return articles_under(wuhan_terms(options))


def articles_under(terms: Terms) -> tuple[Article, ...]:
    """The articles under the terms of either game."""
    return (
        _wild(terms), _kong_tiles(terms), _hand(terms), _winning(terms), _calls(terms),
        _banker(terms), _counting(terms), _limits(terms), _liability(terms),
    )  # fmt: skip


def _round_of(honours: tuple[Tile, ...]) -> str:
    return ", ".join(name_en(tile).split()[0] for tile in (*honours, honours[0]))


def _wild(terms: Terms) -> Article:
    skipped = {"red": "Red is skipped.", "red_green": "Red and Green are skipped.", "peel": ""}
    return Article("Wild tiles", "赖子", (
        "The first tile after the deal is turned up. The tile one above it is wild; 9 is followed "
        f"by 1, honours go round: {_round_of(terms.honours)}. {skipped[terms.kong_tiles]}".strip(),
        "A wild tile stands for any tile but a kong tile, itself included. It may be laid singly "
        "as a kong or discarded to the own area, never claimed, and never be part of an open set "
        "or a kong of four.",
    ))  # fmt: skip


def _kong_tiles(terms: Terms) -> Article:
    which = {
        "red": "Red dragons are kong tiles (红中).",
        "red_green": "Red and green dragons are kong tiles (红中发财).",
        "peel": "The three tiles left of the indicator's kind and the four of the kind one below "
        "it are kong tiles (皮子); dragons are ordinary tiles.",
    }
    return Article("Kong tiles", "杠牌", (
        which[terms.kong_tiles],
        "A kong tile makes no pair and no set. In the own turn it is laid singly as a kong, with a "
        "supplement from the tail, or discarded to the own area; nobody may claim it.",
        "Nobody wins with a kong tile in the hand.",
    ))  # fmt: skip


def _hand(terms: Terms) -> Article:
    points = [
        "Four sets and a pair, with one open set at least: a chow, pung, direct or filled kong. A "
        "closed kong is no open set.",
        "The pair must be of 2, 5 or 8, unless all sets are pungs or the hand is of one suit. One "
        "tile of it must be natural, or both be wild tiles whose own face is that 2, 5 or 8.",
        "All honours and all eyes need an open set, but neither sets nor a pair.",
        "A common win may hold one wild tile at most, even one that plays as itself.",
    ]
    return Article("Winning hand", "胡牌", tuple(points))


def _winning(terms: Terms) -> Article:
    who = (
        "Each loser's own amount must"
        if terms.from_all
        else "The own amount of one of the two losers at least must"
    )
    return Article("Winning", "胡", (
        f"{who} come to {terms.minimum} points before limits.",
        "A hand that any tile completes wins by an own tile or by robbing a kong only.",
        "One winner a hand: of several hu on one discard the seat closest after the discarder.",
        "A kong may be robbed when a tile is added to an open pung; a closed kong never.",
    ))  # fmt: skip


def _calls(terms: Terms) -> Article:
    points = ["Hu beats kong and pung, which beat chow. A chow comes only from the seat before."]
    if terms.bottom_tile:
        points += [
            "With 14 tiles left the bottom stage begins: the last discard may be claimed for a "
            "win only, then each seat draws one tile and wins or keeps it. No kongs, no discards.",
            "Ten tiles are never drawn; if nobody wins, the hand is drawn and nobody pays.",
        ]
    else:
        points += [
            "There is no bottom stage: the last usable tile is played like any other. Its discard "
            "may be claimed for a win only, and no kong is made without a supplement left.",
            "Ten tiles are never drawn; if nobody wins, the hand is drawn and nobody pays.",
        ]
    return Article("Calls and the end of the wall", "吃碰杠", tuple(points))


def _banker(terms: Terms) -> Article:
    del terms
    return Article("Banker", "庄", (
        "The banker stays after an own win and after a drawn hand; else the deal passes to the "
        "next seat.",
        "A session is four banker rotations.",
    ))  # fmt: skip


def _counting(terms: Terms) -> Article:
    several = (
        "10 for one, 20 for two, 40 for three and so on" if terms.exponential else "10 for each"
    )
    half = "a full double" if terms.full_doubles else "a half double (×1.5)"
    opened = "each open set" if terms.each_open_set else "open sets, however many,"
    points = [
        f"Base: 1 point for a common win; with major conditions {several}.",
        f"In the hands of winner and loser alike: {opened} 1 double; each open kong 1; each kong "
        "tile laid or discarded 1; each closed kong 2; each wild tile laid or discarded 2; the "
        "banker 1 in a common win only.",
        f"Winner only: hard win 1; own tile 1, in a major win {half}, and not besides kong bloom"
        + (" or bottom tile." if terms.bottom_tile else "."),
        f"Loser only: claimed 1, in a major win {half}.",
        "Each loser pays the base times all doubles of the winner and its own.",
        "All honours of four pungs and a pair also counts all pung"
        + (" and pure one suit." if terms.honours_are_pure else "."),
    ]
    if terms.divide_by > 1:
        points.append(
            f"Each loser's amount is divided by {terms.divide_by} and rounded, halves up."
        )
    return Article("Counting", "计分", tuple(points))


def _limits(terms: Terms) -> Article:
    limits = terms.limits
    return Article("Limits", "封顶", (
        f"A loser pays {limits.limit} at most.",
        f"If all losers hit the limit, each pays {limits.golden} (golden limit, 金顶); who has no "
        f"open set pays {limits.radiant} (radiant, 阳光顶); if no loser has one, each pays "
        f"{limits.trinity} (trinity, 三阳开泰).",
    ))  # fmt: skip


def _liability(terms: Terms) -> Article:
    del terms
    return Article("Liability", "承包", (
        "A liable player pays the amounts of all losers, each limited by itself.",
        "Who has a kong robbed is liable. Else who discarded to an all claimed hand without being "
        "ready for a valid win. Else who gave the third open set of a pure one suit hand, however "
        "it is won.",
        "A false win pays what it was meant to bring by its way of winning and what is laid out; "
        "the hand ends and the banker stays.",
    ))  # fmt: skip
