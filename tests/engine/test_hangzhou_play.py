"""How Hangzhou is played: LH1 to LH4, float rounds, restricted calls, locks, kong streaks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.playing import (
    Played,
    call,
    draw,
    indicator,
    meld,
    start,
    tedious_wall,
    throw,
    win,
)

PLAIN = "123m456p23789s77z"
"""Waits for 1s and 4s, no fortune in it."""
EYE = "123m456p789s111z4s"
"""Four sets and the fortune 4s: waits for any tile."""


def hangzhou(**fields: Any) -> list[dict[str, Any]]:
    return [start("hangzhou", **fields), indicator("4s")]


def floating() -> list[dict[str, Any]]:
    """Seat 1 has thrown a fortune tile."""
    return [*hangzhou(), *throw(0, "9m", "4s")]


@pytest.mark.parametrize(
    ("line", "thrown"),
    [
        (meld(3, "chow", "567m", 2), "5m"),
        (meld(0, "pung", "555m", 2), "5m"),
        (meld(3, "kong", "5555m", 2), "5m"),
    ],
)
def test_lh3_no_claims_while_another_floats(line: dict[str, Any], thrown: str) -> None:
    played = Played(*floating(), throw(2, thrown), line)
    assert played.issues == [(5, "float_round_claim", line["seat"])]


def test_lh3_no_win_by_claim_while_another_floats() -> None:
    played = Played(
        start("hangzhou", streak=3),
        indicator("4s"),
        throw(0, "9m", "4s", "2z", "3z"),
        throw(0, "9m"),
    )
    assert played.issues == []
    claimed = Played(
        start("hangzhou", streak=3, dealer=2),
        indicator("4s"),
        throw(2, "4s", "1s"),
        win(0, "discard", "1s", PLAIN, 3),
    )
    assert claimed.issues == [(4, "float_round_claim", 0)]
    assert claimed.last.turn == 0


def test_lh3_closed_kongs_and_own_draws_stay() -> None:
    kong = Played(*floating(), meld(2, "closed_kong", "5555m"), throw(2, "1z"))
    assert kong.issues == []
    won = Played(*floating(), win(2, "self_draw", "1s", PLAIN))
    assert won.issues == []


def test_lh3_the_round_ends_with_the_floaters_draw() -> None:
    unseen = Played(*floating(), throw(2, "1z", "2z", "3z", "5m"), meld(2, "chow", "567m", 1))
    assert unseen.issues == []
    seen = Played(
        *floating(),
        throw(2, "1z", "2z", "3z"),
        draw(1),
        throw(1, "5m"),
        meld(3, "pung", "555m", 1),
    )
    assert seen.issues == []
    before = Played(*floating(), throw(2, "1z", "2z", "5m"), meld(1, "chow", "567m", 0))
    # Seat 1 floats itself, and by default waits for its turn.
    assert before.issues == [(7, "claim_not_allowed", 1)]


def test_the_floater_may_call_where_that_is_played() -> None:
    played = Played(
        start("hangzhou", options={"float_calls": "calls_allowed"}),
        indicator("4s"),
        throw(0, "9m", "4s", "1z", "2z", "5m"),
        meld(1, "chow", "567m", 0),
    )
    assert played.issues == []


def test_a_thrown_fortune_is_never_claimed() -> None:
    laid = Played(*floating(), meld(2, "chow", "456s", 1))
    assert laid.issues == [(4, "wild_in_meld", 2)]
    won = Played(
        start("hangzhou", streak=3, dealer=1),
        indicator("4s"),
        throw(1, "4s"),
        win(2, "discard", "4s", PLAIN, 1),
    )
    assert won.issues == [(3, "wild_tile_claimed", 2)]


def test_one_float_and_two() -> None:
    one = Played(
        *hangzhou(),
        throw(0, "9m", "4s", "1z", "2z", "3z"),
        draw(1, "6m"),
        win(1, "self_draw", "6m", EYE),
    )
    assert one.issues == []
    assert one.state.wins[0].flags == {"floats": 1}
    assert one.delta == (-8, 16, -4, -4)
    two = Played(
        *hangzhou(),
        throw(0, "9m", "4s", "1z", "2z", "3z", "4s", "2z", "3z", "4z"),
        win(1, "self_draw", "6m", EYE),
    )
    assert two.delta == (-16, 32, -8, -8)


def test_a_float_that_is_broken_off_counts_nothing() -> None:
    played = Played(
        *hangzhou(),
        throw(0, "9m", "4s", "1z", "2z", "3z", "9p", "2z", "3z", "4z"),
        win(1, "self_draw", "6m", EYE),
    )
    assert played.state.wins[0].flags == {}


def test_a_known_hand_that_does_not_float() -> None:
    junk = "123m456p1379s115z"
    played = Played(
        start("hangzhou", hands=["", junk, "", ""]),
        indicator("4s"),
        throw(0, "9m"),
        draw(1, "4s"),
        throw(1, "4s"),
    )
    assert played.state.players[1].floating  # others are bound all the same (LH3)
    assert played.state.players[1].floats == 0
    assert played.state.players[1].aside == (21,)


def test_h7_a_kong_streak_outlives_a_float() -> None:
    played = Played(
        *hangzhou(),
        throw(0, "9m"),
        meld(1, "closed_kong", "8888m"),
        draw(1, None, "tail"),
        throw(1, "4s", "1z", "2z", "3z"),
        win(1, "self_draw", "9p", "456p4s789s111z"),
    )
    assert played.issues == []
    assert played.state.wins[0].flags == {"kong_draw": 1, "floats": 1}
    assert played.delta == (-16, 32, -8, -8)


def test_claims_only_from_the_third_hand_and_with_the_banker() -> None:
    early = Played(*hangzhou(streak=2), throw(0, "1s"), win(2, "discard", "1s", PLAIN, 0))
    assert early.issues == [(3, "claim_not_allowed", 2)]
    aside = Played(*hangzhou(streak=3), throw(0, "9m", "1s"), win(2, "discard", "1s", PLAIN, 1))
    assert aside.issues == [(4, "claim_not_allowed", 2)]
    fine = Played(*hangzhou(streak=3), throw(0, "1s"), win(2, "discard", "1s", PLAIN, 0))
    assert fine.issues == []
    assert fine.delta == (-8, 0, 8, 0)


def test_an_eye_call_is_never_claimed() -> None:
    played = Played(*hangzhou(streak=3), throw(0, "1s"), win(2, "discard", "1s", EYE, 0))
    assert played.issues == [(3, "claim_not_allowed", 2)]


def third_set(options: dict[str, Any], **fields: Any) -> Played:
    """Seat 2 takes three sets from seat 1; seat 0 deals unless said otherwise."""
    last = fields.pop("last", ("chow", "678m", "8m"))
    dealer = fields.get("dealer", 0)
    opening = throw(dealer, *["1z", "2z", "3z"][: (1 - dealer) % 4])
    return Played(
        start("hangzhou", options=options, **fields),
        indicator("9m"),
        opening,
        throw(1, "3p"),
        meld(2, "chow", "234p", 1),
        throw(2, "1z", "4z", "7z", "5s"),
        meld(2, "chow", "456s", 1),
        throw(2, "9s", "6z", "7z", last[2]),
        meld(2, last[0], last[1], 1),
    )


LIMIT = "liability_restriction"
WHEN = "liability_restriction_when"


@pytest.mark.parametrize(
    ("options", "fields", "broken"),
    [
        ({}, {}, False),
        ({LIMIT: "max_two"}, {}, True),
        ({LIMIT: "max_two"}, {"dealer": 1}, True),
        ({LIMIT: "banker_only"}, {}, True),
        ({LIMIT: "banker_only"}, {"dealer": 1}, False),
        ({LIMIT: "no_three_chows"}, {}, True),
        ({LIMIT: "no_three_chows"}, {"last": ("pung", "888m", "8m")}, False),
        ({LIMIT: "no_three_chows"}, {"dealer": 1}, False),
        ({LIMIT: "max_two", WHEN: "banker_stays"}, {"streak": 1}, False),
        ({LIMIT: "max_two", WHEN: "banker_stays"}, {"streak": 2}, True),
        ({LIMIT: "max_two", WHEN: "banker_third"}, {"streak": 2}, False),
        ({LIMIT: "max_two", WHEN: "banker_third"}, {"streak": 3}, True),
    ],
)
def test_calls_that_would_make_a_third_set(
    options: dict[str, Any], fields: dict[str, Any], broken: bool
) -> None:
    played = third_set(options, **fields)
    expected = [(len(played.events) - 1, "call_limit", 2)] if broken else []
    assert played.issues == expected


def missed_pung(*between: Any, known: bool = True, **options: Any) -> Played:
    hand = "55m123789p12s123z"
    return Played(
        start(
            "hangzhou",
            options={"missed_pung_lock": True} | options,
            hands=["", "", "", hand if known else ""],
        ),
        indicator("9s"),
        throw(0, "5m"),
        *between,
    )


def test_missed_pung_lock() -> None:
    locked = missed_pung(throw(1, "5m"), meld(3, "pung", "555m", 1))
    assert locked.issues == [(4, "missed_lock", 3)]
    unknown = missed_pung(throw(1, "5m"), meld(3, "pung", "555m", 1), known=False)
    assert unknown.issues == []  # L11: only a known hand proves it
    off = missed_pung(throw(1, "5m"), meld(3, "pung", "555m", 1), missed_pung_lock=False)
    assert off.issues == []


def test_missed_pung_lock_ends_with_the_turn() -> None:
    played = missed_pung(
        throw(1, "1z", "2z"), draw(3, "9m"), throw(3, "9m", "5m"), meld(3, "pung", "555m", 0)
    )
    assert played.issues == []


def test_missed_pung_lock_ends_when_the_turn_is_jumped_over() -> None:
    played = missed_pung(
        throw(1, "1z", "2z"),
        meld(0, "pung", "222z", 2),
        throw(0, "5m"),
        meld(3, "pung", "555m", 0),
    )
    assert played.issues == []


def test_a_pung_called_but_outranked_was_not_let_go() -> None:
    played = missed_pung(
        call(3, "pung"),
        call(3, "pass"),
        call(3, "pung"),
        throw(1, "5m"),
        meld(3, "pung", "555m", 1),
    )
    assert played.issues == []


def test_missed_win_lock() -> None:
    base = [
        start(
            "hangzhou",
            streak=3,
            options={"missed_win_lock": True},
            hands=["123m456p223789s77z", "", "", ""],
        ),
        indicator("4s"),
        *throw(0, "2s"),
    ]
    hand = "123m456p23789s77z"
    locked = Played(*base, throw(1, "1s", "1s"), win(0, "discard", "1s", hand, 2))
    assert locked.issues == [(5, "missed_lock", 0)]
    assert locked.last.turn == 3
    other = Played(*base, throw(1, "9m", "1s"), win(0, "discard", "1s", hand, 2))
    assert other.issues == []


def test_lh1_rotation() -> None:
    banker = Played(*hangzhou(), win(0, "self_draw", "1s", PLAIN))
    assert (banker.next["dealer"], banker.next["streak"]) == (0, 2)
    other = Played(*hangzhou(streak=2), throw(0, "9m", "9m"), win(2, "self_draw", "1s", PLAIN))
    assert (other.next["dealer"], other.next["streak"]) == (2, 1)
    drawn = Played(*hangzhou(streak=2), tedious_wall(0, 64), {"e": "exhaust"})
    assert drawn.issues == []
    assert (drawn.next["dealer"], drawn.next["streak"]) == (0, 3)
    assert {p.next["round_wind"] for p in (banker, other, drawn)} == {None}
    assert not any(p.next["over"] for p in (banker, other, drawn))


def test_lh4_three_fortunes_are_left() -> None:
    played = Played(*hangzhou(), throw(0, "4s", "4s", "4s", "4s"))
    assert played.issues == [(5, "fifth_copy", 3)]


def test_white_dragons_play_as_the_indicator() -> None:
    run = Played(*hangzhou(), throw(0, "5z"), meld(1, "chow", "35s5z", 0))
    assert run.issues == []
    lone = Played(*hangzhou(), throw(0, "3s"), meld(1, "chow", "35s5z", 0))
    assert lone.issues == []
    kong = Played(*hangzhou(), throw(0, "5z"), meld(3, "kong", "5555z", 0))
    assert kong.issues == []
    wrong = Played(*hangzhou(), throw(0, "5z"), meld(1, "chow", "67s5z", 0))
    assert wrong.issues == [(3, "invalid_meld", 1)]


def test_permanent_fortune() -> None:
    played = Played(
        start("hangzhou", options={"permanent_fortune": True}),
        throw(0, "5z", "1m"),
        meld(2, "chow", "123m", 1),
    )
    assert played.issues == [(3, "float_round_claim", 2)]
    assert played.steps[0].wall == 63


def test_an_indicator_that_is_white() -> None:
    played = Played(start("hangzhou"), indicator("5z"), throw(0, "5z"))
    assert played.state.players[0].floating


def test_flowers_are_not_in_the_set() -> None:
    played = Played(*hangzhou(), {"e": "flower", "seat": 0, "tile": "1f"})
    assert played.issues == [(2, "fifth_copy", 0)]


def test_robbing_needs_the_third_hand() -> None:
    def robbed(**fields: Any) -> Played:
        return Played(
            start("hangzhou", dealer=2, **fields),
            indicator("4s"),
            throw(2, "1s"),
            meld(0, "pung", "111s", 2),
            throw(0, "1z", "2z", "3z", "4z"),
            draw(0, "1s"),
            meld(0, "added_kong", "1111s", 2),
            win(2, "rob_kong", "1s", PLAIN, 0),
        )

    assert [name for _, name, _ in robbed(streak=2).issues] == ["claim_not_allowed"]
    assert robbed(streak=3).issues == []
    assert robbed(streak=3).delta == (-48, 0, 48, 0)
    assert robbed(streak=2, options={"rob_kong_min_streak": 2}).issues == []


def test_ten_honours() -> None:
    tiles = ["1z", "2z", "3z", "4z", "6z", "7z", "1z", "2z", "3z", "4z"]
    others = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p"]
    lines: list[dict[str, Any]] = []
    for honour, other in zip(tiles, others, strict=True):
        lines += throw(0, honour, other, f"{other[0]}s", f"{other[0]}p")
    base = [start("hangzhou", options={"ten_honours": "own_tile_at_10"}), indicator("9s")]
    ten = Played(*base, *lines[:-3], win(0, "ten_honours", None, ""))
    assert ten.issues == []
    assert ten.state.wins[0].flags == {"honours": 10}
    assert ten.delta == (6, -2, -2, -2)
    nine = Played(*base, *lines[:-7], win(0, "ten_honours", None, ""))
    assert [name for _, name, _ in nine.issues] == ["not_winning_shape"]


def test_instant_third() -> None:
    dice = [[3, 3]]
    plain = Played(start("hangzhou", dice=dice), indicator("4s"))
    lifted = Played(
        start("hangzhou", dice=dice, options={"instant_third": "doubles"}),
        indicator("4s"),
        throw(0, "1s"),
        win(2, "discard", "1s", PLAIN, 0),
    )
    assert plain.state.streak == 1
    assert lifted.issues == []
    assert lifted.delta == (-8, 0, 8, 0)


def test_second_half_liability_is_handed_to_the_settlement() -> None:
    played = Played(
        start(
            "hangzhou",
            options={"float_calls": "calls_allowed", "float_second_half_liability": True},
        ),
        indicator("4s"),
        throw(0, "9m", "4s", "1z", "2z", "1z"),
        meld(1, "kong", "1111z", 0),
        win(1, "self_draw", "6m", "123m456p4s789s"),
    )
    flags = played.state.wins[0].flags
    assert flags["float_gift"] == {"seat": 0, "before": 4}
    assert flags["kong_draw"] == 1
    assert played.delta is not None
    assert played.delta[0] < played.delta[2] < 0


def test_a_false_win_pays_what_it_meant_to_get() -> None:
    played = Played(
        *hangzhou(),
        throw(0, "9m"),
        win(1, "self_draw", "9s", PLAIN),
        {"e": "ruling", "seat": 1, "kind": "false_win"},
    )
    assert played.issues == [(3, "not_winning_shape", 1)]
    assert played.delta == (2, -4, 1, 1)
    assert (played.next["dealer"], played.next["streak"]) == (0, 2)
