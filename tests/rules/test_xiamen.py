"""Xiamen and Quanzhou: readings S1 to S8 and X1 to X28, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.rules.case import CaseError
from tablectl.rules.registry import get
from tablectl.rules.settlement import Settlement
from tablectl.tiles import parse_tile, parse_tiles
from tests.rules.helpers import case, meld, outcome

PLAIN = "123456789m1234599s"
"""Waits for 3s and 6s, no gold, no flower of a set."""
FLOAT = "123456789m8p123456s"
"""Five sets and a gold under 8p."""
THREE_GOLD = "147m888p258s1234667z"
QUANZHOU = {"scoring": "quanzhou"}


def xm(hand: str = PLAIN, tile: str | None = "6s", **fields: Any) -> Settlement:
    return outcome("xiamen", hand, tile, **{"indicator": "8p", **fields})


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None, settlement
    (found,) = settlement.patterns.values()
    return found


@pytest.mark.parametrize(("streak", "base"), [(1, 2), (2, 4), (3, 8), (4, 16)])
def test_the_bankers_base_doubles(streak: int, base: int) -> None:
    assert xm(streak=streak).delta == (-2 * base, 2 * base + 4, -2, -2)
    assert xm(seat=0, streak=streak).delta == (6 * base, -2 * base, -2 * base, -2 * base)


def test_nobody_pays_for_others() -> None:
    assert xm(by="discard", source=2).delta == (-2, 4, -1, -1)
    robbed = {3: {"melds": [meld("666s", 2)]}}
    assert xm(by="rob_kong", source=3, others=robbed).delta == (-4, 8, -2, -2)


@pytest.mark.parametrize(
    ("options", "streak", "multipliers", "base"),
    [
        ({}, 1, [], 2),
        ({}, 3, [], 4),
        ({"quanzhou_base_step": "multiplier"}, 3, [3, 2], 7),
        ({"quanzhou_base_step": "multiplier"}, 3, [3], 6),
        ({"quanzhou_base_step": "multiplier"}, 2, [], 3),
        ({"base_factor": 5}, 2, [], 15),
    ],
)
def test_quanzhou_bases(
    options: dict[str, Any], streak: int, multipliers: list[int], base: int
) -> None:
    found = xm(options=QUANZHOU | options, streak=streak, streak_multipliers=multipliers)
    assert found.delta is not None
    assert found.delta[0] == -2 * base
    assert found.delta[2] == -2 * options.get("base_factor", 1)


def test_inflated_bases() -> None:
    assert xm(options={"base_factor": 8}, me={"flowers": "1f"}).delta == (-34, 70, -18, -18)


@pytest.mark.parametrize(
    ("flowers", "scoring", "worth"),
    [
        ("1f", "xiamen", 1), ("1234f", "xiamen", 8), ("12345678f", "xiamen", 16),
        ("1235678f", "xiamen", 11), ("1234f", "quanzhou", 4),
    ],
)  # fmt: skip
def test_flower_tiles(flowers: str, scoring: str, worth: int) -> None:
    found = patterns(xm(options={"scoring": scoring}, me={"flowers": flowers}))
    assert found["flower_tiles"] == worth


@pytest.mark.parametrize(
    ("laid", "xiamen", "quanzhou"),
    [
        (meld("222p", 0), 0, 0), (meld("222z", 0), 1, 1),
        (meld("2222p", 0), 2, 2), (meld("2222z", 0), 3, 3),
        (meld("2222p", 0, "added_kong"), 2, 1), (meld("2222z", 0, "added_kong"), 3, 2),
        (meld("2222p"), 3, 3), (meld("2222z"), 4, 4), (meld("234p", 0), 0, 0),
    ],
)  # fmt: skip
def test_flowers_of_sets(laid: dict[str, Any], xiamen: int, quanzhou: int) -> None:
    for options, worth in (({}, xiamen), (QUANZHOU, quanzhou)):
        found = patterns(xm("123m1234599s", melds=[laid, meld("789m", 0)], options=options))
        assert found.get("set_flowers", 0) == worth


def test_open_pungs_as_closed() -> None:
    options = QUANZHOU | {"quanzhou_open_pung_as_closed": True}
    laid = [meld("222z", 0), meld("333p", 0)]
    assert patterns(xm("123m1234599s", melds=laid, options=options))["set_flowers"] == 3
    # A pung that the discard finishes too (X24); in Xiamen scoring the option means nothing.
    claim: dict[str, Any] = {"by": "discard", "source": 0}
    hand = "123456789m345s2266z"
    assert patterns(xm(hand, "6z", **claim, options=options))["set_flowers"] == 2
    assert patterns(xm(hand, "6z", **claim))["set_flowers"] == 1


def test_a_claimed_tile_opens_its_set_where_the_winner_puts_it() -> None:
    # 5s finishes the run, and the three own 5s stay closed (X6).
    found = xm("123456789m45556s99p", "5s", by="discard", source=0)
    assert patterns(found)["set_flowers"] == 1
    assert patterns(xm("123456789m123p4466s", "6s", by="discard", source=0)) == {"common_win": 1}
    # A set filled up with golds is closed (X5), but for the claimed tile in it.
    filled = xm("123456789m345s99s8p2z", "2z")
    assert patterns(filled) == {"own_tile": 2, "gold_tiles": 1, "set_flowers": 2}
    claimed = xm("123456789m345s99s8p2z", "2z", by="discard", source=0)
    assert patterns(claimed) == {"common_win": 1, "gold_tiles": 1, "set_flowers": 1}


def test_white_dragons_play_as_the_tile_turned_up() -> None:
    white = xm("123456m79p123456s99s", "5z", by="discard", source=0)
    assert patterns(white) == {"common_win": 1}
    pung = xm("123456789m123s99s55z", "5z")
    assert patterns(pung) == {"own_tile": 2, "set_flowers": 1}
    honour = xm("123456789m123s99s55z", "5z", indicator="1z")
    assert patterns(honour)["set_flowers"] == 2


def test_white_turned_up_is_gold_itself() -> None:
    found = xm("123456789m5z123456s", "2p", indicator="5z")
    assert patterns(found) == {"gold_float": 4, "gold_tiles": 1}


def test_gold_float_needs_a_gold_held_before() -> None:
    assert patterns(xm(FLOAT, "8p")) == {"gold_float": 4, "gold_tiles": 2}
    assert patterns(xm("123456789m123456s2z", "8p")) == {"own_tile": 2, "gold_tiles": 1}
    assert patterns(xm(FLOAT, "3z", options=QUANZHOU)) == {"gold_float": 3, "gold_tiles": 1}


@pytest.mark.parametrize(
    ("floats", "aside", "xiamen", "quanzhou"),
    [(1, "8p", {"double_float": 8}, {"double_float": 6}),
     (2, "88p", {"triple_float": 12}, {"triple_float": 9})],
)  # fmt: skip
def test_floats(floats: int, aside: str, xiamen: Any, quanzhou: Any) -> None:
    fields: dict[str, Any] = {"flags": {"float": floats}, "me": {"aside": aside}}
    assert patterns(xm(FLOAT, "3z", **fields)) == {**xiamen, "gold_tiles": 1}
    assert patterns(xm(FLOAT, "3z", options=QUANZHOU, **fields)) == {**quanzhou, "gold_tiles": 1}
    assert patterns(xm(PLAIN, "6s", **fields)) == {"own_tile": 2}


def test_the_best_arrangement_counts() -> None:
    # Three pungs in a row rather than three runs.
    assert patterns(xm("111222333m456p1299s", "3s")) == {"own_tile": 2, "set_flowers": 3}
    # The float is worth more than a third closed pung.
    assert patterns(xm("111222333m8p123456s", "9p"))["gold_float"] == 4


def test_a_claimed_tile_never_pairs_a_gold() -> None:
    robbed = {0: {"melds": [meld("333z", 2)]}}
    for by in ("discard", "rob_kong"):
        found = xm(FLOAT, "3z", by=by, source=0, others=robbed)
        assert found.error == "claim_not_allowed"
    # In a set, or beside a natural tile, it is fine (S2).
    assert patterns(xm("123456789m8p12345s1z", "1z", by="discard", source=0))["common_win"] == 1


def test_a_discarded_gold_wins_nothing() -> None:
    assert xm(PLAIN, "8p", by="discard", source=0).error == "wild_tile_claimed"


# --- special wins -----------------------------------------------------------------------------


def test_three_gold() -> None:
    dealt = xm(THREE_GOLD, None, by="deal", seat=2)
    assert patterns(dealt) == {"three_gold": 4, "gold_tiles": 3}
    last = xm(THREE_GOLD, "9m", flags={"last_tile": True})
    assert patterns(last) == {"three_gold": 3, "gold_tiles": 3}
    assert xm(THREE_GOLD, "9m").error == "not_winning_shape"
    drawn = xm("147m88p258s12346677z", "8p", flags={"last_tile": True})
    assert patterns(drawn)["three_gold"] == 3
    claimed = xm(THREE_GOLD, "9m", by="discard", source=0, flags={"last_tile": True})
    assert claimed.error == "not_winning_shape"
    banker = xm("147m888p258s1234667z", "9s", by="deal", seat=0)
    assert patterns(banker)["three_gold"] == 4
    assert xm("147m88p258s12346677z", None, by="deal").error == "not_winning_shape"
    assert xm("147m888p258s123466z", None, by="deal").error == "wrong_tile_count"


def test_unarranged_hands_count_declared_sets_and_natural_triplets() -> None:
    hand, laid = "1447m888p777s66z9p", [meld("222z", 0)]
    found = patterns(xm(hand, None, by="deal", melds=laid, seat=2, flags={}))
    assert found == {"three_gold": 4, "gold_tiles": 3, "set_flowers": 2}


def test_a_complete_hand_of_three_golds_counts_as_the_better() -> None:
    hand = "123456789m888p1234s"
    last = {"flags": {"last_tile": True}}
    found = xm(hand, "4s", **last)
    assert patterns(found)["gold_float"] == 4
    assert patterns(xm("13789m46p3479s22444z", "5s", indicator="4z", **last)) == {
        "three_gold": 3, "gold_tiles": 3,
    }  # fmt: skip


def test_robbing_the_gold() -> None:
    fields: dict[str, Any] = {"indicator": "4m", "by": "indicator"}
    hand = "35m123456789p22678s"
    assert patterns(xm(hand, "4m", **fields)) == {"robbing_gold": 4}
    assert patterns(xm(hand, "4m", **fields, options={"gold_restriction": "wall_only"}))
    assert xm(hand, "4m", **fields, options=QUANZHOU).error == "claim_not_allowed"
    assert xm("35m123456789p22678s", "9p", **fields).error == "not_winning_shape"
    # A gold beside it is a pair at face value, not a gold paired by a claim.
    eye = xm("123456789p4m123456s", "4m", **fields)
    assert patterns(eye) == {"robbing_gold": 4, "gold_tiles": 1}
    pung = xm("123567p123456s99s55z", "4m", **fields)  # whites are 4m: the pung is open
    assert patterns(pung) == {"robbing_gold": 4}


def test_heavenly_and_earthly() -> None:
    first: dict[str, Any] = {"by": "discard", "source": 0, "flags": {"first_turn": True}}
    assert patterns(xm(by="deal", seat=0)) == {"heavenly_win": 4}
    assert patterns(xm(by="deal", seat=0, options=QUANZHOU)) == {"own_tile": 2}
    assert xm(by="deal", seat=1).error == "claim_not_allowed"
    assert patterns(xm(**first)) == {"earthly_win": 4}
    assert patterns(xm(**first, options=QUANZHOU)) == {"common_win": 1}
    assert patterns(xm(by="discard", source=2, flags={"first_turn": True})) == {"common_win": 1}


def test_eight_flowers_in_quanzhou_only() -> None:
    fields: dict[str, Any] = {"by": "flowers", "me": {"flowers": "12345678f"}}
    hand = "147m258p369s1114467z"
    found = xm(hand, None, **fields, options=QUANZHOU)
    assert patterns(found)["eight_flowers"] == 3
    assert patterns(found)["set_flowers"] == 2
    assert xm(hand, None, **fields).error == "not_winning_shape"
    fewer = {"by": "flowers", "me": {"flowers": "1234567f"}, "options": QUANZHOU}
    assert xm(hand, None, **fewer).error == "not_winning_shape"
    drawn = {"me": {"flowers": "12345678f"}, "options": QUANZHOU}
    assert patterns(xm(PLAIN, "6s", **drawn)) == {"eight_flowers": 3, "flower_tiles": 8}


# --- restrictions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("restriction", "discard", "robbed"),
    [("none", None, None), ("no_discard", "claim_not_allowed", None),
     ("wall_only", "claim_not_allowed", "claim_not_allowed")],
)  # fmt: skip
def test_gold_restriction(restriction: str, discard: str | None, robbed: str | None) -> None:
    options = {"gold_restriction": restriction}
    hand, others = "123456789m238p46s11z", {0: {"melds": [meld("555s", 2)]}}
    about: dict[str, Any] = {"options": options, "source": 0, "others": others}
    assert xm(hand, "5s", by="discard", **(about | {"others": {}})).error == discard
    assert xm(hand, "5s", by="rob_kong", **about).error == robbed
    assert xm(hand, "5s", options=options).error is None
    assert xm(PLAIN, "6s", by="discard", source=0, options=options).error is None


def test_a_closed_kong_is_not_robbed() -> None:
    assert xm(PLAIN, "6s", by="rob_kong", source=0).error == "claim_not_allowed"


def test_float_rounds() -> None:
    floating = {0: {"floating": True, "aside": "8p"}}
    claim: dict[str, Any] = {"by": "discard", "source": 2, "others": floating}
    assert xm(**claim).error is None
    barred = {"float_round_claim": False}
    assert xm(**claim, options=barred).error == "claim_not_allowed"
    assert xm(others=floating, options=barred).error is None
    own = xm("123456789m8p123456s", "3s", by="discard", source=2, me={"floating": True})
    assert own.error == "claim_not_allowed"


def test_missed_tile_lock() -> None:
    claim: dict[str, Any] = {"by": "discard", "source": 2, "flags": {"missed": True}}
    assert xm(**claim).error is None
    assert xm(**claim, options={"missed_tile_lock": True}).error == "claim_not_allowed"
    assert xm(flags={"missed": True}, options={"missed_tile_lock": True}).error is None


def test_required_float() -> None:
    options = {"required_float": True}
    hand = "13789m46p3479s22444z"
    assert xm(hand, "5s", indicator="4z").error is None
    assert xm(hand, "5s", indicator="4z", options=options).error == "claim_not_allowed"
    last = xm(hand, "5s", indicator="4z", options=options, flags={"last_tile": True})
    assert patterns(last)["three_gold"] == 3
    assert patterns(xm("123456789m888p1234s", "4s", options=options))["gold_float"] == 4


def test_false_float() -> None:
    options, thrown = {"false_float": True}, {"aside": "8p"}
    assert xm(me=thrown).error is None
    assert xm(me=thrown, options=options).error == "forfeited"
    assert xm(FLOAT, "3z", me=thrown, options=options).error is None


def test_errors_in_their_order() -> None:
    assert xm("123456789m123459s", "6s").error == "wrong_tile_count"
    assert xm(me={"forfeited": True}).error == "forfeited"
    bad = [meld("888p", 0)]
    assert xm("123456m1234599s", melds=bad).error == "invalid_meld"
    assert xm("123456m1234599s", melds=[meld("123z", 0)]).error == "invalid_meld"
    assert xm("123456789m123459s1f", "6s").error == "not_winning_shape"
    assert xm("123456789m1234599s", "9p").error == "not_winning_shape"


def test_malformed() -> None:
    for fields in ({"indicator": None}, {"indicator": "1f"}, {"options": {"base_factor": 0}}):
        with pytest.raises(CaseError):
            xm(**fields)


def test_drawn_hand() -> None:
    drawn = case("xiamen", PLAIN, "6s", indicator="8p")
    drawn = drawn.model_copy(update={"outcome": drawn.outcome.model_copy(update={"wins": ()})})
    assert get("xiamen").settle(drawn).delta == (0, 0, 0, 0)


# --- false win, sheet -------------------------------------------------------------------------


def false(hand: str = "14789m258p8p369s1122z", tile: str | None = "3z", **fields: Any) -> Any:
    return (
        get("xiamen").settle_false_win(case("xiamen", hand, tile, indicator="8p", **fields)).delta
    )


def test_false_win_pays_what_it_meant_to_receive() -> None:
    assert false("1478m258p369s11223z", "3z", seat=1) == (6, -14, 4, 4)  # one gold, x2
    assert false("147m25p369s1122334z", "3z", by="discard", source=2) == (2, -4, 1, 1)
    laid = [meld("222z", 0)]
    assert false("147m25p369s11344z", "3z", melds=laid, me={"flowers": "1f"}) == (8, -20, 6, 6)
    first = {"by": "discard", "source": 0, "flags": {"first_turn": True}}
    assert false("147m25p369s1122334z", "3z", **first) == (8, -16, 4, 4)
    assert false("147m25p369s1122334z", "3z", **first, options=QUANZHOU) == (2, -4, 1, 1)


def test_the_sheet_follows_the_options() -> None:
    declared = get("xiamen")
    plain = str(declared.articles(declared.options()))
    other = str(declared.articles(declared.options({
        "scoring": "quanzhou", "quanzhou_base_step": "multiplier", "required_float": True,
        "quanzhou_open_pung_as_closed": True, "gold_restriction": "wall_only",
        "float_round_claim": False, "missed_tile_lock": True, "false_float": True,
        "base_factor": 5,
    })))  # fmt: skip
    assert "抢金" in plain
    assert "抢金" not in other
    for words in ("八花", "multiplied by 5", "from the wall only", "do not win by a discard"):
        assert words in other
        assert words not in plain


def test_wild_rule() -> None:
    wild = get("xiamen").wild(parse_tile("8p"), get("xiamen").options())
    assert wild.tiles == frozenset(parse_tiles("8p"))
    assert wild.plays_as(parse_tile("5z")) == parse_tile("8p")
    assert not get("xiamen").wild(parse_tile("3f"), get("xiamen").options()).tiles
