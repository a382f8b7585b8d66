"""The prose of the north-west Hubei rule sheet."""

from __future__ import annotations

from tablectl.rules.kawuxing.options import KawuxingOptions
from tablectl.rules.ruleset import Article


def articles(options: KawuxingOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _table(options), _WINNING, _CALLS, _disclosing(options), _kongs(), _payment(options),
    )  # fmt: skip


def _table(options: KawuxingOptions) -> Article:
    points = [
        "The winner of a hand is the next banker; where two won, the third player, who gave the "
        "tile. After a drawn hand the banker stays.",
        "Banker and streak have no influence on payments.",
    ]
    if options.players_at_table == 4:
        points.append("Four take turns: the resting player replaces the winner of each hand.")
    if options.hands is not None:
        points.append(f"The session is over after {options.hands} hands.")
    if options.minutes is not None:
        points.append(f"The session lasts {options.minutes:g} minutes.")
    if options.reseat_after is not None:
        points.append(f"Seats are drawn anew after every {options.reseat_after} hands.")
    return Article("Seats and banker", "座位与庄家", tuple(points))


_WINNING = Article("Winning", "胡牌", (
    "Four sets and a pair, or seven pairs. Runs exist only within a suit.",
    "An own draw always wins. A discard or a robbed kong wins only a hand with at least one "
    "double; how the tile comes counts.",
    "Two may win on the same tile; each is paid in full.",
    "A kong is robbed only when a tile is added to an open pung; a closed kong never. A robbed "
    "kong was never made.",
    "Whoever let a winning tile go waits for the own turn, or until a pung or kong has passed it, "
    "unless the new win scores more.",
))  # fmt: skip

_CALLS = Article("Calls", "碰杠", (
    "There is no chow. Hu beats pung and kong.",
    "Who holds three of the tile must kong and may not pung, unless no supplement is left.",
    "No closed kong in a turn begun by the own pung.",
    "A pung grows to a kong only by the tile just drawn.",
    "No kong without a supplement tile in the walls.",
))  # fmt: skip


def _disclosing(options: KawuxingOptions) -> Article:
    shown = "the whole hand" if options.disclosure_shows == "all" else "the waiting part of it"
    return Article("Disclosure", "亮倒", (
        f"A player one tile from a win may lay open {shown} with a discard of the own turn, and "
        "from then on throws only the tile drawn.",
        "Won on a claim or a robbed kong, the giver pays for both losers.",
        "In a drawn hand the first who disclosed pays 1 to each of the others.",
    ))  # fmt: skip


def _kongs() -> Article:
    return Article("Kong payment", "杠钱", (
        "Direct kong 2 from the discarder; growing kong 1 from each; closed kong 2 from each.",
        "Twice as much for every kong that came directly before it, on a supplement or on a tile "
        "thrown after a kong.",
        "Kongs stay paid whatever happens: a win of another, a drawn hand, an irregularity.",
    ))  # fmt: skip


def _payment(options: KawuxingOptions) -> Article:
    cap = (
        "All doubles count."
        if options.max_doubles is None
        else f"{options.max_doubles} doubles count at most."
    )
    if options.double_dragon_exception:
        cap += " Double dragon seven pairs counts up to four."
    return Article("Payment", "付", (
        f"1 unit, doubled by every double. {cap} Patterns add up; the best reading counts.",
        "Own draw: each of the others pays. Claim or robbed kong: the giver alone pays.",
        "The document names no penalty for a false win.",
    ))  # fmt: skip
