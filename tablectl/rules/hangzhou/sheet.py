"""The prose of the Hangzhou rule sheet."""

from __future__ import annotations

from tablectl.rules.hangzhou.options import HangzhouOptions
from tablectl.rules.ruleset import Article


def articles(options: HangzhouOptions) -> tuple[Article, ...]:
    """The articles under the chosen options."""
    return (
        _fortune(options), _winning(options), _calls(options), _banker(), _payment(options),
        _liability(options),
    )  # fmt: skip


def _fortune(options: HangzhouOptions) -> Article:
    if options.permanent_fortune:
        points = ["The four white dragons are the fortune tiles; no indicator is turned."]
    else:
        points = [
            "After the deal a tile is turned up. Its three other copies are the fortune tiles; "
            "white dragons play as the tile turned up.",
            "If a white dragon is turned up, the other three are the fortune tiles.",
        ]
    points += [
        "A fortune tile stands for any tile, itself included, but never in an open set or kong.",
        "A discarded fortune tile cannot be claimed for a win.",
    ]
    return Article("Fortune tiles", "财神", tuple(points))


def _winning(options: HangzhouOptions) -> Article:
    points = ["Four sets and a pair, or seven pairs. An own draw always wins."]
    if options.wall_only:
        points.append("Only own draws win; discards and robbed kongs never.")
    else:
        points += [
            "A discard is claimed only from the banker's third hand on, and only between the "
            "banker and a non-banker. Of several claimants the one closest to the banker wins.",
            f"A kong is robbed from the banker's hand {options.rob_kong_min_streak} on, between "
            "banker and non-banker; a closed kong never.",
            "A hand that any tile completes (wild eye) wins by an own draw only.",
        ]
        if options.missed_win_lock:
            points.append("A tile let go cannot be claimed for a win before the own turn.")
    if options.ten_honours != "off":
        like = "an own tile" if options.ten_honours == "own_tile_at_10" else "a wild eye"
        points.append(
            f"Ten honours thrown one after another from the start win like {like}; each further "
            "one doubles. A call of one of them ends the attempt."
        )
    return Article("Winning", "胡牌", tuple(points))


def _calls(options: HangzhouOptions) -> Article:
    points = [
        "A chow comes only from the seat before. Hu beats kong and pung, which beat chow.",
        "After a fortune tile is thrown nobody may chow, pung, kong a discard or claim a win until "
        "the thrower's next turn; closed kongs and own draws stay.",
    ]
    if options.float_calls == "calls_allowed":
        points.append("The floating player itself may chow, pung or kong before the next turn.")
    if options.missed_pung_lock:
        points.append("A tile let go cannot be punged before the own turn.")
    restriction = {
        "none": "",
        "banker_only": "Between non-bankers no call may bring a third set from one player",
        "no_three_chows": "Between non-bankers three chows from one player are barred",
        "max_two": "No more than two calls from one player",
    }[options.liability_restriction]
    when = {
        "always": "",
        "banker_stays": ", while the banker stays",
        "banker_third": ", from the banker's third hand on",
    }[options.liability_restriction_when]
    if restriction:
        points.append(f"{restriction}{when}.")
    return Article("Calls", "吃碰杠", tuple(points))


def _banker() -> Article:
    return Article("The banker", "庄家", (
        "The winner of a hand is the next banker; after a drawn hand the banker stays.",
        "A drawn hand pays nothing: twenty tiles always remain.",
    ))  # fmt: skip


def _payment(options: HangzhouOptions) -> Article:
    bound = (
        "Losses have no bound."
        if options.max_loss is None
        else f"Everybody starts with {options.max_loss} chips; nobody pays more than is left."
    )
    points = [
        "Unit 1, times the multipliers of the hand; there is no cap.",
        "A payment to or from the banker is ×2 in the banker's first hand (平庄), ×4 in the "
        "second (2牢), ×8 in the third and later (3牢).",
        "Own draw: each of the three pays. Claim: the discarder alone pays its own share.",
        "Robbed kong: the robbed player pays all three shares, ×2.",
        bound,
        "A false win pays what it meant to receive.",
    ]
    if not options.pairs_extra_on_claim:
        points.append("Seven pairs won by a claim or a robbed kong are ×2 even without fortune.")
    return Article("Payment", "付", tuple(points))


def _liability(options: HangzhouOptions) -> Article:
    points = [
        "Three chows, pungs or kongs (closed ones left out) of A from B: when A wins by an own "
        "draw, B pays all three shares; when B does, A pays them twice.",
        "Each of several related players pays in full; related both ways pays three times.",
    ]
    if options.liability_on_claim:
        points.append(
            "On a claimed win a liable player adds the discarder's payment once, a counter-liable "
            "one twice, the discarder itself likewise."
        )
    if options.float_second_half_liability and options.float_calls == "calls_allowed":
        points.append("Who feeds a call in a float alone pays what the score grows after it.")
    return Article("Liability", "承包", tuple(points))
