"""The prose of the Mainland rule sheet."""

from __future__ import annotations

from tablectl.rules.mainland.options import MainlandOptions
from tablectl.rules.mainland.patterns import FAN
from tablectl.rules.ruleset import Article


def articles(options: MainlandOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _own_values(options), _treasure(options), _winning(options), _calls(options),
        _joys(options), _dealer(), _payment(options),
    )  # fmt: skip


def _own_values(options: MainlandOptions) -> Article:
    points = [
        "The scoring page of this variant is not among the sources. All fan values, payments and "
        "limits here are tablectl's own defaults: agree on them before playing.",
    ]
    changed = {name: fan for name, fan in options.fan.items() if fan != FAN[name]}
    if changed:
        listed = ", ".join(f"{name} {fan}" for name, fan in changed.items())
        points.append(f"Agreed fan instead of the table's: {listed}.")
    return Article("Our own values", "计分为自定", tuple(points))


_KINDS = {
    "basic": "Its kind is the treasure; three are left.",
    "upward": "Its kind and the next one are treasures.",
    "downward": "Its kind and the previous one are treasures.",
    "up_and_down": "Its kind, the next and the previous one are treasures.",
}


def _treasure(options: MainlandOptions) -> Article:
    if options.treasure == "none":
        return Article("Treasure tiles", "宝牌", ("No treasure tiles are used.",))
    return Article("Treasure tiles", "宝牌", (
        f"After the deal a tile is turned up on the wall. {_KINDS[options.treasure]}",
        "Order: 9 to 1; Green Red White Green; East South West North East. A flower turned up is "
        "out of play, and the next tile is turned.",
        "A treasure stands for any suit or honor tile, itself included, in the concealed hand and "
        "in joys; called sets and kongs hold natural tiles only.",
        "A discarded treasure, if claimed, counts as its own face.",
    ))  # fmt: skip


def _winning(options: MainlandOptions) -> Article:
    points = [
        "Four sets and a pair. Of several claimants the nearest after the discarder wins.",
        "A hand without a hand pattern (own tile, flowers and other extras make none) is a chicken "
        "hand.",
    ]
    if options.treasure != "none":
        points.append(
            "A chicken hand cannot contain a treasure tile, even as itself, unless its only one is "
            "the winning tile, drawn (chicken hand with treasure)."
        )
    if options.minimum_fan:
        points.append(f"A hand needs {options.minimum_fan} fan to win.")
    return Article("Winning", "和牌", tuple(points))


def _calls(options: MainlandOptions) -> Article:
    refill = (
        "After a kong the live wall gives its last tile to the dead wall."
        if options.refill_dead_wall
        else "The dead wall is not refilled."
    )
    return Article("Calls and walls", "吃碰杠", (
        "A chow comes only from the seat before in turn order.",
        "Hu beats kong and pung, which beat chow.",
        "Replacements for kongs, flowers and four winds joys come from the dead wall of 14 tiles; "
        f"the hand is drawn when the live wall is gone. {refill}",
        "A kong may be robbed when a tile is added to a called pung.",
    ))  # fmt: skip


def _joys(options: MainlandOptions) -> Article:
    names = {
        "four_winds": "East South West North (四喜)",
        "three_dragons": "White Green Red (三元)",
    }
    if not options.joys:
        return Article("Joys", "喜", ("No joys are played.",))
    listed = ", ".join(names[joy] for joy in options.joys)
    points = [
        f"A joy is declared and laid out as a set: {listed}.",
        "It may be declared at the deal, before the first discard; or with the first drawn tile "
        "(路遇) by a seat that declared none at the deal. Not later.",
        "It is neither pung nor chow. Four winds draw a replacement, three dragons none.",
    ]
    if "four_winds" in options.joys:
        if options.four_winds_any_time:
            points.append("Four winds may be declared at any time in the own turn.")
        if options.treasure != "none":
            points.append("Four winds declared after the deal may hold no treasure tile.")
    return Article("Joys", "喜", tuple(points))


def _dealer() -> Article:
    return Article("The dealer", "庄", (
        "The dealer deals again after winning and after a drawn hand; otherwise the deal passes to "
        "the next seat.",
        "The round wind moves on each time the deal comes back to the first dealer; the session "
        "is over when the North round has gone round.",
    ))  # fmt: skip


def _payment(options: MainlandOptions) -> Article:
    claim = (
        "the giver pays 2 P and the others P each"
        if options.payment == "discarder_double"
        else "the giver pays all 4 P"
    )
    points = [
        f"P = {options.base_points} × 2^fan, {options.limit_fan} fan at most. The reading that "
        "scores most counts.",
        f"Own draw: each of the others pays P. Discard or robbed kong: {claim}.",
        "A drawn hand pays nothing. The sources name no penalty for a false win.",
    ]
    if options.dealer_double:
        points.insert(2, "What the dealer pays or receives is doubled.")
    return Article("Payment", "付", tuple(points))
