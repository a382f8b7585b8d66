"""The prose of the Beijing rule sheet."""

from __future__ import annotations

from tablectl.rules.beijing.options import BeijingOptions
from tablectl.rules.ruleset import Article


def articles(options: BeijingOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _WILD, _winning(options), _calls(options), _banker(options), _counting(options),
        _payment(options), _rare(options), _irregularities(options),
    )  # fmt: skip


_WILD = Article("Wild tiles", "混儿", (
    "After the deal a tile is turned up. The four tiles after it are wild: 9 to 1 of the suit, "
    "East South West North East, Red Green White Red.",
    "A wild tile stands for any tile in hand, itself included, but never in an open set or a kong.",
    "Who discards a wild tile loses the right to win in that hand.",
    "A discarded wild tile cannot be claimed for a win.",
))  # fmt: skip


def _winning(options: BeijingOptions) -> Article:
    points = [
        "Four sets and a pair, or seven pairs. An own draw always wins.",
        "A discard or a robbed kong wins only a hand without an open set (a closed kong is none) "
        "and with two wild tiles at most.",
        "A hand of four sets or six pairs and a wild tile, which any tile completes, wins by an "
        "own draw only.",
        "A kong is robbed when a tile is added to an open pung; a closed kong only for a run of a "
        "flush.",
        "Of several claimants the one closest after the discarder wins.",
    ]
    if options.void_suit:
        points.append("A winning hand must lack one suit, wild tiles as what they stand for.")
    if options.missed_win_lock:
        points.append(
            "Who let a winning tile go cannot claim until the own turn, or until a pung or kong "
            "has passed it."
        )
    return Article("Winning", "胡牌", tuple(points))


def _calls(options: BeijingOptions) -> Article:
    points = ["A chow comes only from the seat before. Hu beats kong and pung, which beat chow."]
    if options.at_most_once:
        points.append("One chow or pung a hand and player; direct kongs are free.")
    points.append(_RESERVE[options.wall_reserve])
    return Article("Calls and wall", "吃碰杠", tuple(points))


_RESERVE = {
    "seven_stacks": "Seven stacks stay in the wall; then the hand is drawn.",
    "seven_or_eight_stacks": "Seven stacks stay in the wall, eight from the second kong on.",
    "fourteen_plus_kongs": "Fourteen tiles stay in the wall, and one more for each kong.",
}


def _banker(options: BeijingOptions) -> Article:
    points = [
        "The banker stays after winning and after a drawn hand; otherwise the next seat deals.",
        "A game is four banker rotations.",
    ]
    if options.upstairs != "off":
        third = (
            ", and so does the banker's third hand in a row and every later one"
            if options.upstairs == "after_draw_or_streak3"
            else ""
        )
        points.append(f"The hand after a drawn hand is upstairs and pays everything double{third}.")
    if options.busted_banker:
        points.append(
            "If the first four discards are one tile, no set between them, and the hand is won, "
            f"the banker pays {options.busted_points} to each of the others on top."
        )
    return Article("The banker", "庄家", tuple(points))


def _counting(options: BeijingOptions) -> Article:
    points = ["1 point, doubled by every double of the hand; the best reading counts."]
    if options.doubles:
        listed = ", ".join(f"{p} {n}" for p, n in options.doubles.items())
        points.append(f"Agreed doubles (0 = not recognised): {listed}.")
    if options.extra_doubles:
        listed = ", ".join(f"{p} {n}" for p, n in options.extra_doubles.items())
        points.append(f"Added patterns: {listed}.")
    if options.wild_eye_double:
        points.append("A wild eye is a double, unless the hand is straight.")
    if options.native_wild_flush_double:
        points.append("A native wild flush is a double.")
    return Article("Counting", "番", tuple(points))


def _payment(options: BeijingOptions) -> Article:
    points = [
        "Each of the three pays; the banker pays double, and who gave the winning tile (or whose "
        "kong was robbed) pays double.",
        "Kong points: each loser adds 1 for every open kong of the winner and 2 for every closed "
        "one; a kong bloom doubles them. Kongs of the others pay nothing.",
    ]
    if options.kong_points_banker_double:
        points.append("Kong points to or from the banker are doubled.")
    if options.discard_liability:
        points.append("Who gave the winning tile pays all three shares.")
    points.append(f"A point is worth {options.point_value}.")
    return Article("Payment", "付", tuple(points))


def _rare(options: BeijingOptions) -> Article:
    played = [
        (options.heavenly_points, "a heavenly win (the banker is dealt a winning hand)"),
        (options.earthly_points, "an earthly win (a non-banker on the banker's first discard)"),
    ]
    points = [
        f"{points} from each for {what}, in place of doubles." for points, what in played if points
    ]
    if options.wild_kong_points:
        points.append(
            f"{options.wild_kong_points} from each for holding all four wild tiles at the end of "
            "the hand, on top of everything, in a drawn hand too."
        )
    return Article("Rare events", "天胡地胡混杠", tuple(points or ["None is played."]))


def _irregularities(options: BeijingOptions) -> Article:
    cost = (
        "the amount it claimed, to each what it would have paid"
        if options.false_win == "claimed_amount"
        else f"{options.heavenly_points or 20} to each"
    )
    return Article("Irregularities", "违例", (
        f"A false win pays {cost}.",
        "A hand with a tile too many or too few loses the right to win but plays on.",
    ))  # fmt: skip
