"""How Xiamen mahjong is played: readings M1, M9 to M16, M22 to M27, M32, X8 to X13, X19, X28."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.events import Win
from tablectl.engine.legal import options as options_of
from tests.engine.playing import Played, call, draw, flower, indicator, meld, start, throw, win

WAITING = "123456789m12345s99p"
"""Waits for 3s and 6s."""
FLOATING = "123456789m8p123456s"


def xm(*lines: Any, turned: str = "8p", **fields: Any) -> Played:
    return Played(start("xiamen", **fields), indicator(turned), *lines)


def seat_hands(seat: int, hand: str) -> list[str]:
    return [hand if i == seat else "" for i in range(4)]


def test_flowers_and_kongs_take_drawable_tiles() -> None:
    played = Played(
        start("xiamen"), flower(0, "1f"), flower(2, "5f"), indicator("9m"), throw(0, "1z"),
        draw(1), meld(1, "closed_kong", "1111p"), draw(1, None, "tail"), throw(1, "2z"),
    )  # fmt: skip
    assert [step.wall for step in played.steps] == [63, 62, 61, 61, 61, 60, 60, 59, 59]
    assert [step.turn for step in played.steps[:4]] == [0, 0, 0, 0]


def test_a_flower_turned_up_is_turned_back() -> None:
    played = Played(start("xiamen"), indicator("3f"), indicator("8p"), flower(0, "3f"))
    assert played.issues == []
    assert played.state.indicators == (16,)


def test_an_unseen_float_bars_calls_until_the_next_draw() -> None:
    played = xm(throw(0, "8p", "1z"), meld(3, "pung", "111z", 1))
    assert played.issues == [(4, "float_round_claim", 3)]
    later = xm(throw(0, "8p", "1z", "2z", "3z", "4z"), meld(2, "pung", "444z", 0))
    assert later.issues == []


def test_a_known_hand_that_does_not_float_opens_no_round() -> None:
    hands = seat_hands(0, "123456789m8p12345s12z")
    played = xm(throw(0, "8p", "1z"), meld(3, "pung", "111z", 1), hands=hands)
    assert played.issues == []
    floats = xm(
        throw(0, "8p", "1z"), meld(3, "pung", "111z", 1),
        hands=seat_hands(0, "123456789m88p123456s"),
    )  # fmt: skip
    assert floats.issues == [(4, "float_round_claim", 3)]


@pytest.mark.parametrize(
    ("allowed", "issues"), [(True, []), (False, [(4, "float_round_claim", 3)])]
)
def test_wins_in_anothers_float_round(allowed: bool, issues: list[Any]) -> None:
    played = xm(
        throw(0, "8p", "6s"), win(3, "discard", "6s", WAITING, 1),
        options={"float_round_claim": allowed},
    )  # fmt: skip
    assert played.issues == issues


def test_the_floating_seat_claims_no_win() -> None:
    # 3s would fit a run, but only a tile from the wall counts now.
    played = xm(throw(0, "8p", "3s"), win(0, "discard", "3s", FLOATING, 1))
    assert played.issues == [(4, "claim_not_allowed", 0)]


def test_a_float_is_taken_back_where_the_hand_shows_none() -> None:
    played = xm(throw(0, "8p", "6s"), win(0, "discard", "6s", WAITING, 1))
    assert played.issues == []
    assert played.delta == (6, -2, -2, -2)


def test_double_and_triple_float() -> None:
    own = win(0, "self_draw", "3z", FLOATING)
    once = xm(throw(0, "8p", "1z", "2z", "4z"), draw(0), own)
    assert once.state.settlement.patterns == {0: {"double_float": 8, "gold_tiles": 1}}  # type: ignore[union-attr]
    twice = xm(throw(0, "8p", "1z", "2z", "4z", "8p", "1z", "2z", "4z"), draw(0), own)
    assert twice.state.settlement.patterns == {0: {"triple_float": 12, "gold_tiles": 1}}  # type: ignore[union-attr]
    broken = xm(throw(0, "8p", "1z", "2z", "4z", "7z", "1z", "2z", "4z"), draw(0), own)
    assert broken.state.settlement.patterns == {0: {"gold_float": 4, "gold_tiles": 1}}  # type: ignore[union-attr]


def test_false_float() -> None:
    options = {"false_float": True}
    # Unknown until the hand is laid open (M25).
    played = xm(throw(0, "8p", "6s"), win(0, "discard", "6s", WAITING, 1), options=options)
    assert played.issues == [(4, "wild_discarded", 0), (4, "forfeited", 0)]
    later = xm(
        throw(0, "8p", "1z", "2z", "4z", "1z", "6s"), win(0, "discard", "6s", WAITING, 1),
        options=options,
    )  # fmt: skip
    assert later.issues == [(8, "wild_discarded", 0), (8, "forfeited", 0)]
    true = xm(
        throw(0, "8p", "1z", "2z", "4z"), win(0, "self_draw", "3z", FLOATING), options=options
    )
    assert true.issues == []


@pytest.mark.parametrize(
    ("hand", "turned", "thrown", "breach"),
    [
        ("123456789m12345s1z5p", "8p", "5p", True),
        ("123456789m12345s1z5p", "8p", "1z", False),
        ("123456789m12345s11z", "8p", "5s", False),  # a pair is not lone
        ("123456789m1234s125z", "8p", "5z", True),  # the white dragon is 8p here
        ("123456789m1234s12z5p", "1z", "5p", False),  # golds are exempt
        ("123456789m1234s25z5p", "1z", "5p", True),  # the white dragon is an east here
    ],
)
def test_following_a_discarded_honour(hand: str, turned: str, thrown: str, breach: bool) -> None:
    first = "5z" if turned == "1z" and "5z" in hand else "1z"
    hands = seat_hands(1, hand)
    played = xm(throw(0, first), draw(1, "9s"), throw(1, thrown), hands=hands, turned=turned)
    assert played.issues == ([(4, "follow_honor", 1)] if breach else [])


def test_of_several_lone_honours_the_player_chooses() -> None:
    lines = [throw(0, "1z"), meld(3, "pung", "111z", 0), throw(3, "2z", "9p"), draw(1, "9s")]
    hands = seat_hands(1, "123456789m1234s12z9p")
    for tile in ("1z", "2z"):
        assert xm(*lines, throw(1, tile), hands=hands).issues == []
    assert xm(*lines, throw(1, "4s"), hands=hands).issues == [(7, "follow_honor", 1)]


def test_a_claimed_discard_counts_as_discarded() -> None:
    played = xm(
        throw(0, "1z"), meld(2, "pung", "111z", 0), throw(2, "9p"), throw(3, "9p", "9p"),
        draw(1, "9s"), throw(1, "5p"), hands=seat_hands(1, "123456789m12345s1z5p"),
    )  # fmt: skip
    assert [issue[1:] for issue in played.issues] == [("follow_honor", 1)]


@pytest.mark.parametrize("locked", [False, True])
def test_missed_tile_lock(locked: bool) -> None:
    options = {"missed_tile_lock": locked}
    lines = throw(0, "1z", "2z", "3z", "6s", "6s")
    same = xm(lines, win(2, "discard", "6s", WAITING, 0), options=options)
    assert same.issues == ([(7, "missed_lock", 2)] if locked else [])
    lines = throw(0, "1z", "2z", "3z", "6s", "3s")
    assert xm(lines, win(2, "discard", "3s", WAITING, 0), options=options).issues == []
    pung = xm(throw(0, "9s", "9s"), meld(3, "pung", "999s", 1), options=options)
    assert pung.issues == ([(4, "missed_lock", 3)] if locked else [])


def test_a_turn_passed_by_a_pung_frees() -> None:
    played = xm(
        throw(0, "1z", "2z", "3z", "6s", "9s", "7p"), meld(3, "pung", "777p", 1),
        throw(3, "5p", "6s"), win(2, "discard", "6s", WAITING, 0),
        options={"missed_tile_lock": True},
    )  # fmt: skip
    assert played.issues == []


def test_the_discard_after_the_last_tile() -> None:
    kinds = [f"{n}{s}" for s in "mps" for n in range(1, 10) for _ in range(3)]
    tiles = [tile for tile in kinds if tile != "8p"][:64]
    assert tiles[-1] == "5s"
    for kind, name in (("pung", "claim_not_allowed"), ("kong", "no_supplement")):
        size = 3 if kind == "pung" else 4
        played = xm(throw(0, *tiles), meld(1, kind, f"{'5' * size}s", 3))
        assert played.steps[-2].wall == 0
        assert (name, 1) in [issue[1:] for issue in played.issues]
    chow = xm(throw(0, *tiles), meld(0, "chow", "567s", 3))
    assert chow.issues[-1][1:] == ("claim_not_allowed", 0)
    assert xm(throw(0, *tiles), win(1, "discard", "5s", "123456789m46s11122z", 3)).issues == []


def test_robbing_the_gold_has_its_moment() -> None:
    hand = "35m123456789p22678s"
    assert xm(win(2, "indicator", "4m", hand), turned="4m").issues == []
    assert xm(throw(0, "1z"), win(2, "indicator", "4m", hand), turned="4m").issues == [
        (3, "claim_not_allowed", 2)
    ]
    assert xm(throw(0, "1z"), win(0, "indicator", "4m", hand), turned="4m").issues == []
    assert xm(throw(0, "1z", "2z"), win(0, "indicator", "4m", hand), turned="4m").issues == [
        (4, "claim_not_allowed", 0)
    ]
    assert xm(throw(0, "1z"), draw(1), win(0, "indicator", "4m", hand), turned="4m").issues == [
        (4, "claim_not_allowed", 0)
    ]
    calls = [call(3, "hu"), call(1, "hu")]
    assert xm(calls, win(3, "indicator", "4m", hand), turned="4m").issues == [
        (4, "wrong_claimant", 3)
    ]


def test_three_gold_as_dealt() -> None:
    hand = "147m888p258s1234667z"
    assert xm(win(2, "deal", None, hand)).delta == (-20, -16, 52, -16)
    assert xm(throw(0, "1z"), win(2, "deal", None, hand)).issues == []
    played = xm(throw(0, "1z", "9s", "9s", "9s", "9s"), win(2, "deal", None, hand))
    assert played.issues == [(7, "claim_not_allowed", 2)]


def test_the_deal() -> None:
    claim = win(1, "discard", "6s", WAITING, 0)
    assert xm(throw(0, "6s"), claim).next["dealer"] == 1
    stays = xm(throw(0, "1z", "6s"), win(0, "discard", "6s", WAITING, 1), streak=2).next
    assert stays == {"dealer": 0, "streak": 3, "round_wind": None, "over": False, "session": {}}


def test_the_base_grows_by_what_the_session_carries() -> None:
    options = {"scoring": "quanzhou", "quanzhou_base_step": "multiplier"}
    about: dict[str, Any] = {"options": options, "streak": 3}
    about["session"] = {"streak_multipliers": [3]}
    own = win(0, "self_draw", "6s", WAITING)
    played = xm(throw(0, "1z", "2z", "3z", "4z"), draw(0), own, **about)
    assert played.delta == (36, -12, -12, -12)  # 2 + 3 + a drawn hand 1, x2
    assert played.next["session"] == {"streak_multipliers": [3, 2]}


def test_false_win() -> None:
    played = xm(
        throw(0, "1z", "6s"), win(2, "discard", "6s", "147m258p369s1122334z", 1),
        {"e": "ruling", "seat": 2, "kind": "false_win"}, {"e": "end"},
    )  # fmt: skip
    assert played.issues == [(4, "not_winning_shape", 2)]
    assert played.delta == (3, 2, -7, 2)  # one gold
    assert (played.next["dealer"], played.next["streak"]) == (0, 2)


def offered(played: Played, seat: int) -> set[tuple[str, str | None]]:
    """Ways and tiles of the wins that a seat is offered and may take."""
    found = options_of(played.state, seat)
    return {(o.event.by, o.event.tile) for o in found if isinstance(o.event, Win) and o.legal}


def test_special_wins_are_offered() -> None:
    robber = xm(turned="4m", hands=seat_hands(2, "35m123456789p22678s"))
    assert offered(robber, 2) == {("indicator", "4m")}
    golds = xm(hands=seat_hands(2, "147m888p258s1234667z"))
    assert offered(golds, 2) == {("deal", None)}
    banker = xm(hands=seat_hands(0, "147m888p258s12346677z"))
    assert offered(banker, 0) == {("deal", "7z")}
    hands = seat_hands(1, "12345678f147m258p36s")
    eight = Played(
        start("xiamen", options={"scoring": "quanzhou"}, hands=hands),
        indicator("9m"), *(flower(1, f"{n}f") for n in range(1, 9)),
        *(draw(1, tile, "tail") for tile in ("1z", "2z", "3z", "4z", "5z", "6z", "7z", "1z")),
    )  # fmt: skip
    assert offered(eight, 1) == {("flowers", None)}
    assert offered(xm(hands=seat_hands(2, "147m888p258s1234667z"), turned="9p"), 2) == set()


def test_an_earthly_win_knows_no_call_before_it() -> None:
    def earthly(*before: Any) -> str:
        played = xm(*before, throw(0, "6s"), win(2, "discard", "6s", WAITING, 0))
        assert played.state.settlement is not None
        assert played.state.settlement.patterns is not None
        return next(iter(played.state.settlement.patterns[2]))

    assert earthly() == "earthly_win"
    assert earthly(meld(0, "closed_kong", "1111p"), draw(0, None, "tail")) == "common_win"
