"""How the three-player rules of north-west Hubei are played: LK1 to LK6."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.playing import Played, call, draw, meld, win
from tests.engine.playing import start as plain_start


def start(**fields: Any) -> dict[str, Any]:
    return plain_start("kawuxing", **fields)


def throw(seat: int, *tiles: str) -> list[dict[str, Any]]:
    return [{"e": "discard", "seat": (seat + i) % 3, "tile": t} for i, t in enumerate(tiles)]


FIT_FIVE = "46p123789s55566z"
"""Waits for 5p, and for that alone."""
PLAIN = "123456p23789s55z"
"""Waits for 1s and 4s, no double."""


def known(seat: int, hand: str) -> dict[str, Any]:
    hands = ["", "", ""]
    hands[seat] = hand
    return start(hands=hands)


# --- walls and rotation -----------------------------------------------------------------------


def test_the_wall_is_used_up() -> None:
    tiles = [f"{n}{s}" for s in "ps" for n in range(1, 10)] + ["5z", "6z"]
    played = Played(start(), throw(0, *(tiles[i % 20] for i in range(45))), {"e": "exhaust"})
    assert (played.steps[1].wall, played.steps[45].wall) == (44, 0)
    assert played.issues == []
    assert played.next == {
        "dealer": 0, "streak": 2, "round_wind": None, "over": False, "session": {},
    }  # fmt: skip


def test_the_winner_deals() -> None:
    won = Played(start(dealer=1), throw(1, "5p"), win(2, "discard", "5p", FIT_FIVE, 1))
    assert (won.next["dealer"], won.next["streak"]) == (2, 1)
    assert won.delta == (0, -2, 2)


def test_two_winners_make_the_giver_banker() -> None:
    lines = (
        throw(0, "5p"),
        call(2, "hu"),
        call(1, "hu"),
        win(2, "discard", "5p", FIT_FIVE, 0),
        win(1, "discard", "5p", "1122335p8899s77z", 0),
    )
    stays = Played(start(streak=2), *lines)
    assert stays.issues == []
    assert stays.delta == (-6, 4, 2)
    assert (stays.next["dealer"], stays.next["streak"]) == (0, 3)
    moves = Played(start(dealer=2), throw(2, "9s"), *lines)
    assert (moves.next["dealer"], moves.next["streak"]) == (0, 1)


def test_two_rob_one_kong() -> None:
    played = Played(
        start(),
        throw(0, "7s"),
        meld(1, "pung", "777s", 0),
        throw(1, "1p", "2p", "3p"),
        draw(1, "7s"),
        meld(1, "added_kong", "7777s", 0),
        call(2, "hu"),
        call(0, "hu"),
        win(2, "rob_kong", "7s", "123456p89s55566z", 1),
        win(0, "rob_kong", "7s", "123456789p68s77z", 1),
    )
    assert played.issues == []
    assert played.delta == (2, -4, 2)
    assert played.next["dealer"] == 1


def test_an_agreed_number_of_hands() -> None:
    options = {"hands": 2}
    for session, over, following in (({}, False, 2), ({"hand": 2}, True, 3)):
        played = Played(start(options=options, session=session), {"e": "exhaust"})
        assert played.next["over"] is over
        assert played.next["session"] == {"hand": following}


def test_a_false_win_leaves_the_banker() -> None:
    played = Played(
        start(),
        throw(0, "9s"),
        meld(1, "kong", "9999s", 0),
        draw(1, None, "tail"),
        throw(1, "1p"),
        win(2, "discard", "1p", "123456p22678s55z", 1),
        {"e": "ruling", "seat": 2, "kind": "false_win"},
        {"e": "end"},
    )
    assert played.issues == [(5, "not_winning_shape", 2)]
    assert played.delta == (-2, 2, 0)
    assert played.next["dealer"] == 0


# --- calls ------------------------------------------------------------------------------------


def test_there_is_no_chow() -> None:
    for seat in (1, 2):
        played = Played(start(), throw(0, "4p"), meld(seat, "chow", "345p", 0))
        assert played.issues == [(2, "invalid_meld", seat)]


def test_three_in_hand_must_be_a_kong() -> None:
    hand = "999s46p12355566z"
    assert Played(known(1, hand), throw(0, "9s"), meld(1, "pung", "999s", 0)).issues == [
        (2, "must_kong", 1)
    ]
    assert Played(known(1, hand), throw(0, "9s"), meld(1, "kong", "9999s", 0)).issues == []
    assert Played(start(), throw(0, "9s"), meld(1, "pung", "999s", 0)).issues == []


def test_the_third_thrown_after_the_pung_was_in_hand() -> None:
    played = Played(start(), throw(0, "9s"), meld(1, "pung", "999s", 0), throw(1, "9s"))
    assert played.issues == [(3, "must_kong", 1)]


def test_a_pung_grown_in_its_own_turn_shows_the_third_tile() -> None:
    pung = (throw(0, "9s"), meld(1, "pung", "999s", 0))
    grown = Played(start(), *pung, meld(1, "added_kong", "9999s", 0))
    assert grown.issues == [(3, "must_kong", 1)]
    said = Played(known(1, "999s46p12355566z"), *pung, meld(1, "added_kong", "9999s", 0))
    assert said.issues == [(2, "must_kong", 1)]  # once is enough
    later = Played(
        start(), *pung, throw(1, "2p", "3p", "4p"), draw(1), meld(1, "added_kong", "9999s", 0)
    )
    assert later.issues == []


def test_no_kong_without_a_supplement() -> None:
    tiles = [f"{n}{s}" for s in "ps" for n in range(1, 9)] + ["5z", "6z"]
    body = throw(0, *(tiles[i % 18] for i in range(44)))
    # Seat 2 draws the last tile; its throw may be punged by a holder of three.
    last = [draw(2, "9s"), {"e": "discard", "seat": 2, "tile": "9s"}]
    kong = Played(start(), body, last, meld(0, "kong", "9999s", 2))
    assert kong.issues == [(47, "no_supplement", 0)]
    assert Played(start(), body, last, meld(0, "pung", "999s", 2)).issues == []


def test_no_closed_kong_in_a_turn_begun_by_a_pung() -> None:
    pung = (throw(0, "9s"), meld(1, "pung", "999s", 0))
    played = Played(start(), *pung, meld(1, "closed_kong", "1111p"))
    assert played.issues == [(3, "kong_after_pung", 1)]
    later = Played(
        start(), *pung, throw(1, "2p", "3p", "4p"), draw(1), meld(1, "closed_kong", "1111p")
    )
    assert later.issues == []
    after_kong = Played(
        start(),
        throw(0, "9s"),
        meld(1, "kong", "9999s", 0),
        draw(1, None, "tail"),
        meld(1, "closed_kong", "1111p"),
    )
    assert after_kong.issues == []


def test_kongs_in_a_chain() -> None:
    """A direct kong from a kong's discard goes on counting for money, not for blooms (K11)."""
    played = Played(
        start(),
        throw(0, "9s"),
        meld(1, "kong", "9999s", 0),
        draw(1, None, "tail"),
        throw(1, "8s"),
        meld(2, "kong", "8888s", 1),
        draw(2, "1p", "tail"),
        win(2, "self_draw", "1p", "23456789p55z"),
    )
    assert played.issues == []
    assert played.state.wins[0].flags["kong_draw"] == 1
    # kong 2 from seat 0; kong 4 from seat 1; a bloom of one double: 2 from each.
    assert played.delta == (-2 - 2, 2 - 4 - 2, 4 + 4)


# --- disclosing -------------------------------------------------------------------------------


def disclosed(*lines: Any) -> Played:
    shown = {"e": "disclose", "seat": 0, "tiles": "234456p2256778s"}
    body = (throw(0, "9p"), shown, throw(1, "2s", "3s"))
    return Played(start(), *body, *lines)


def test_only_the_drawn_tile_goes_after_disclosing() -> None:
    assert disclosed(draw(0, "7z"), throw(0, "7z")).issues == []
    assert disclosed(draw(0, "7z"), throw(0, "4p")).issues == [(6, "disclosed_discard", 0)]
    assert disclosed(draw(0), throw(0, "4p")).issues == []  # who knows what was drawn


def test_a_pung_after_disclosing_throws_from_the_hand() -> None:
    played = disclosed(draw(0, "7z"), throw(0, "7z", "2s"), meld(0, "pung", "222s", 1),
                       throw(0, "8s"))  # fmt: skip
    assert played.issues == [(9, "disclosed_discard", 0)]


def test_a_disclosed_win_is_paid_for_all() -> None:
    won = disclosed(
        draw(0, "7z"), throw(0, "7z", "9s"), win(0, "discard", "9s", "234456p2256778s", 1)
    )
    assert won.delta == (4, -4, 0)


def test_a_drawn_hand_after_disclosing() -> None:
    tiles = [f"{n}{s}" for s in "ps" for n in range(1, 10)] + ["5z", "6z", "7z"]
    played = Played(
        start(),
        throw(0, "9p"),
        {"e": "disclose", "seat": 0, "tiles": "55z"},
        throw(1, *(tiles[i % 21] for i in range(44))),
        {"e": "exhaust"},
    )
    assert played.delta == (-2, 1, 1)


# --- wins let go (LK4, L11) -------------------------------------------------------------------


def missed(hand: str, first: str, then: str) -> Played:
    """Seat 2 lets the first tile go and claims the second one."""
    return Played(
        known(2, hand),
        throw(0, first, then),
        call(2, "hu"),
        win(2, "discard", then, hand, 1),
    )


def test_a_win_let_go_locks_all_claims() -> None:
    assert missed(FIT_FIVE, "5p", "5p").issues == [(4, "missed_lock", 2)]
    assert missed(FIT_FIVE, "9p", "5p").issues == []


def test_only_a_hand_that_was_known_proves_it() -> None:
    played = Played(start(), throw(0, "5p", "5p"), win(2, "discard", "5p", FIT_FIVE, 1))
    assert played.issues == []


@pytest.mark.parametrize(("first", "then", "locked"), [("5s", "8s", False), ("8s", "5s", True)])
def test_a_better_win_is_free(first: str, then: str, locked: bool) -> None:
    # 67s beside 888s and a pung of 5s: 5s wins open four in one, 8s closed four in one.
    hand = "67888s123p66z"
    pung = (throw(0, "5s"), meld(2, "pung", "555s", 0), throw(2, "9p"))
    played = Played(
        known(2, "55" + hand + "9p"),
        *pung,
        throw(0, first, then),
        win(2, "discard", then, hand, 1),
    )
    assert [name for _, name, _ in played.issues] == (["missed_lock"] if locked else [])


def test_a_tile_that_was_no_valid_win_locks_nothing() -> None:
    # 1s makes no double, so it could not have been claimed.
    assert missed(PLAIN, "1s", "4s").issues == [(4, "below_minimum", 2)]


def test_a_tile_let_go_after_a_kong_could_have_been_claimed() -> None:
    played = Played(
        start(dealer=2, hands=["", "", PLAIN + "9p"]),
        throw(2, "9p"),
        meld(0, "kong", "9999p", 2),
        draw(0, None, "tail"),
        throw(0, "1s", "4s"),
        win(2, "discard", "4s", PLAIN, 1),
    )
    assert played.issues == [(6, "missed_lock", 2)]


def test_the_own_draw_frees() -> None:
    played = Played(
        known(2, FIT_FIVE),
        throw(0, "5p", "9p"),
        draw(2, "9p"),
        throw(2, "9p", "5p"),
        win(2, "discard", "5p", FIT_FIVE, 0),
    )
    assert played.issues == []
