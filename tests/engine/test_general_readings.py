"""Readings L1 to L16 and the general issue ids, shown under Hong Kong and Hangzhou rules."""

from __future__ import annotations

import pytest

from tablectl.engine.events import Discard, EventError, Start
from tablectl.engine.game import apply
from tablectl.rules.case import CaseError
from tests.engine.playing import (
    Played,
    call,
    draw,
    flower,
    indicator,
    meld,
    start,
    tedious_wall,
    throw,
    win,
)

WAITING = "12345678s444z66z"
"""Waits for 9s; mixed one suit."""


def test_l1_unseen_draws_are_counted_with_the_next_line() -> None:
    seen = Played(start(), throw(0, "1m"), draw(1), throw(1, "2m"), draw(2), throw(2, "3m"))
    unseen = Played(start(), throw(0, "1m", "2m", "3m"))
    assert [s.wall for s in unseen.steps] == [77, 77, 76, 75]
    assert seen.last.wall == unseen.last.wall
    assert not seen.issues
    assert not unseen.issues


def test_l1_a_flowers_supplement_goes_with_the_flower() -> None:
    played = Played(start(), throw(0, "1m"), flower(1, "2f"), draw(1, "5m", "tail"), throw(1, "5m"))
    assert [s.wall for s in played.steps] == [77, 77, 75, 75, 75]
    assert not played.issues


def test_l1_a_kongs_supplement_goes_with_its_draw_or_the_next_line() -> None:
    kong = [start(), throw(0, "1m"), meld(2, "kong", "1111m", 0)]
    told = Played(*kong, draw(2, None, "tail"), throw(2, "9m"))
    untold = Played(*kong, throw(2, "9m"))
    assert [s.wall for s in told.steps] == [77, 77, 77, 76, 76]
    assert [s.wall for s in untold.steps] == [77, 77, 77, 76]


def test_l1_an_own_win_draws_unseen() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "self_draw", "9s", WAITING))
    assert played.last.wall == 76
    assert not played.issues


def test_l2_the_indicator_is_never_counted() -> None:
    played = Played(start("hangzhou"), indicator("4s"))
    assert [s.wall for s in played.steps] == [63, 63]


def test_l3_claims_draw_nothing_and_skip_seats() -> None:
    played = Played(start(), throw(0, "1m"), meld(3, "pung", "111m", 0), throw(3, "2m"))
    assert [s.turn for s in played.steps] == [0, 1, 3, 0]
    assert played.last.wall == 77


def all_drawn() -> list[dict[str, object]]:
    """Hong Kong to the last drawable tile: 78 discards, the last one 1s by seat 1."""
    return [start(), *tedious_wall(0, 77), *throw(1, "1s")]


def test_l4_the_last_discard_may_be_called() -> None:
    hand = all_drawn()
    last = Played(*hand)
    assert last.last.wall == 0
    assert last.last.turn == 2
    assert not last.issues
    pung = Played(*hand, meld(3, "pung", "111s", 1), throw(3, "7z"))
    assert not pung.issues
    chow = Played(*hand, meld(2, "chow", "123s", 1), throw(2, "7z"))
    assert {name for _, name, _ in chow.issues} <= {"fifth_copy"}
    kong = Played(*hand, meld(3, "kong", "1111s", 1))
    assert kong.issues == [(79, "no_supplement", 3)]


def test_l4_own_kongs_need_a_supplement() -> None:
    played = Played(*all_drawn()[:-1], meld(1, "closed_kong", "7777z"))
    assert ("no_supplement", 1) in {(name, seat) for _, name, seat in played.issues}


def test_l5_wall_over() -> None:
    seen = Played(*all_drawn(), draw(2))
    assert seen.issues == [(79, "wall_over", 2)]
    unseen = Played(*all_drawn(), throw(2, "7z"))
    assert (79, "wall_over", 2) in unseen.issues


def test_l6_outranked_by_a_better_call() -> None:
    base = [start(), throw(0, "5m"), call(1, "chow"), call(3, "pung")]
    assert Played(*base, meld(1, "chow", "567m", 0)).issues == [(4, "outranked", 1)]
    assert Played(*base, meld(3, "pung", "555m", 0)).issues == []


def test_l6_a_pass_withdraws() -> None:
    base = [start(), throw(0, "5m"), call(1, "chow"), call(3, "pung"), call(3, "pass")]
    played = Played(*base, meld(1, "chow", "567m", 0))
    assert played.issues == []
    assert played.steps[4].pending == ((1, "chow"),)


def test_l6_the_callers_own_better_call_counts() -> None:
    base = [start(), throw(0, "5m"), call(1, "pung")]
    assert Played(*base, meld(1, "chow", "567m", 0)).issues == [(3, "outranked", 1)]


def test_calls_of_an_older_discard_are_forgotten() -> None:
    played = Played(
        start(), throw(0, "5m"), call(3, "hu"), throw(1, "6m"), meld(2, "chow", "678m", 1)
    )
    assert played.issues == []


def test_pending_is_best_first() -> None:
    played = Played(start(), throw(0, "5m"), call(1, "chow"), call(3, "hu"), call(2, "hu"))
    assert played.last.pending == ((2, "hu"), (3, "hu"), (1, "chow"))
    assert played.last.turn == 1


def test_l7_two_win_lines_the_nearer_one_is_the_winner() -> None:
    far_first = Played(
        start(),
        throw(0, "1m", "9s"),
        win(0, "discard", "9s", "456m789p78s33322z", 1),
        win(2, "discard", "9s", WAITING, 1),
    )
    # The hand of seat 0 is too small: it is refused, and seat 2 wins.
    assert far_first.issues == [(3, "below_minimum", 0)]
    assert [w.seat for w in far_first.state.wins] == [2]
    both = Played(
        start(),
        throw(0, "1m", "9s"),
        win(3, "discard", "9s", "12345678s333z55z", 1),
        win(2, "discard", "9s", WAITING, 1),
    )
    assert both.issues == [(4, "wrong_claimant", 3)]
    assert [w.seat for w in both.state.wins] == [2]
    reverse = Played(
        start(),
        throw(0, "1m", "9s"),
        win(2, "discard", "9s", WAITING, 1),
        win(3, "discard", "9s", "12345678s333z55z", 1),
    )
    assert reverse.issues == [(4, "wrong_claimant", 3)]
    assert [w.seat for w in reverse.state.wins] == [2]


def test_l8_a_set_with_a_wild_tile_is_one_offence() -> None:
    played = Played(start("hangzhou"), indicator("4s"), throw(0, "9s"), meld(1, "pung", "499s", 0))
    assert played.issues == [(3, "wild_in_meld", 1)]


def test_l9_a_chow_from_the_wrong_seat() -> None:
    played = Played(start(), throw(0, "5m"), meld(2, "chow", "567m", 0))
    assert played.issues == [(2, "chow_not_from_previous", 2)]
    assert played.last.turn == 2


@pytest.mark.parametrize(
    ("kind", "tiles"),
    [
        ("chow", "568m"),
        ("chow", "89m1p"),
        ("chow", "123z"),
        ("pung", "556m"),
        ("pung", "5555m"),
        ("kong", "555m"),
        ("kong", "5556m"),
    ],
)
def test_tiles_that_make_no_set(kind: str, tiles: str) -> None:
    thrown = "1z" if tiles.endswith("z") else f"{tiles[0]}m"
    played = Played(start(), throw(0, thrown), meld(1, kind, tiles, 0))
    assert played.issues == [(2, "invalid_meld", 1)]


def test_l12_a_claimed_tile_counts_once() -> None:
    fine = Played(start(), throw(0, "1m"), meld(1, "pung", "111m", 0), throw(1, "9m", "1m"))
    assert fine.issues == []
    fifth = Played(start(), throw(0, "1m"), meld(1, "pung", "111m", 0), throw(1, "9m", "1m", "1m"))
    assert fifth.issues == [(5, "fifth_copy", 3)]


def test_l12_the_indicator_and_shown_hands_count() -> None:
    turned = Played(
        start("hangzhou"),
        indicator("9m"),
        throw(0, "9m", "9m", "9m", "9m"),
    )
    assert ("fifth_copy", 3) in {(name, seat) for _, name, seat in turned.issues}
    shown = Played(
        start(),
        throw(0, "4z", "9s"),
        win(2, "discard", "9s", WAITING, 1),
        {"e": "reveal", "seat": 3, "hand": "1123m456p789s44z"},
    )
    assert shown.issues == [(4, "fifth_copy", 3)]


def test_l13_a_robbed_kong_is_undone() -> None:
    played = Played(
        start(),
        throw(0, "9s"),
        meld(2, "pung", "999s", 0),
        throw(2, "1m", "2m", "3m", "4m"),
        draw(2, "9s"),
        meld(2, "added_kong", "9999s", 0),
        call(3, "hu"),
        win(3, "rob_kong", "9s", WAITING, 2),
    )
    assert played.issues == []
    robbed = played.state.players[2]
    assert [m.kind for m in robbed.melds] == ["pung"]
    assert played.last.wall == 77 - 4
    assert played.delta is not None
    assert played.delta[2] < 0


def test_a_kong_cannot_be_robbed_after_its_supplement() -> None:
    played = Played(
        start(),
        throw(0, "9s"),
        meld(2, "pung", "999s", 0),
        throw(2, "1m", "2m", "3m", "4m"),
        meld(2, "added_kong", "9999s", 0),
        draw(2, None, "tail"),
        win(3, "rob_kong", "9s", WAITING, 2),
    )
    assert [(name, seat) for _, name, seat in played.issues] == [("not_last_discard", 3)]
    assert [m.kind for m in played.state.players[2].melds] == ["added_kong"]
    assert played.last.turn == 2


def test_a_refused_robbery_leaves_the_kong() -> None:
    played = Played(
        start(),
        flower(3, "1f"),
        throw(0, "9s"),
        meld(2, "pung", "999s", 0),
        throw(2, "1m", "2m", "3m", "4m"),
        meld(2, "added_kong", "9999s", 0),
        win(3, "rob_kong", "9s", "456m789p78s33322z", 2),
    )
    assert [(name, seat) for _, name, seat in played.issues] == [("below_minimum", 3)]
    assert [m.kind for m in played.state.players[2].melds] == ["added_kong"]
    assert played.last.turn == 2


def test_l14_early_exhaust() -> None:
    played = Played(start(), throw(0, "1m"), {"e": "exhaust"})
    assert played.issues == [(2, "early_exhaust", None)]
    assert played.last.turn is None


def test_exhaust_with_an_empty_wall() -> None:
    played = Played(*all_drawn(), {"e": "exhaust"})
    assert played.issues == []
    assert played.delta == (0, 0, 0, 0)


def test_out_of_turn() -> None:
    thrown = Played(start(), throw(0, "1m"), throw(2, "2m"))
    assert thrown.issues == [(2, "out_of_turn", 2)]
    assert thrown.last.turn == 3
    drawn = Played(start(), throw(0, "1m"), draw(3))
    assert drawn.issues == [(2, "out_of_turn", 3)]
    twice = Played(start(), throw(0, "1m"), throw(0, "2m"))
    assert twice.issues == [(2, "out_of_turn", 0)]


def test_not_last_discard() -> None:
    older = Played(start(), throw(0, "1m", "2m"), meld(3, "pung", "111m", 0))
    assert older.issues == [(3, "not_last_discard", 3)]
    assert older.state.players[0].river == ()
    other = Played(start(), throw(0, "1m"), meld(3, "pung", "222m", 0))
    assert other.issues == [(2, "not_last_discard", 3)]
    won = Played(start(), throw(0, "9s", "1m"), win(3, "discard", "9s", WAITING, 0))
    assert won.issues == [(3, "not_last_discard", 3)]
    assert won.last.turn == 2


def test_not_in_hand() -> None:
    hands = ["", "123456789m1234p", "", ""]
    thrown = Played(start(hands=hands), throw(0, "9s"), draw(1, "1z"), throw(1, "7s"))
    assert thrown.issues == [(3, "not_in_hand", 1)]
    laid = Played(start(hands=hands), throw(0, "7z"), meld(1, "pung", "777z", 0))
    assert laid.issues == [(2, "not_in_hand", 1)]
    fine = Played(start(hands=hands), throw(0, "2m"), meld(1, "chow", "123m", 0), throw(1, "9m"))
    assert fine.issues == []


def test_an_unseen_draw_may_be_anything() -> None:
    hands = ["", "123456789m1234p", "", ""]
    played = Played(start(hands=hands), throw(0, "9s"), throw(1, "7s"))
    assert played.issues == []
    assert played.state.players[1].fully_known


def test_hand_over() -> None:
    won = [start(), throw(0, "1m"), win(1, "self_draw", "9s", WAITING)]
    after = Played(*won, throw(2, "1m"))
    assert after.issues == [(3, "hand_over", 2)]
    ended = Played(*won, {"e": "end"}, {"e": "reveal", "seat": 2, "hand": "1m"})
    assert ended.issues == [(4, "hand_over", 2)]


def test_rulings_that_cost_the_right_to_win() -> None:
    for kind in ("wrong_count", "wrong_call"):
        played = Played(
            start(),
            {"e": "ruling", "seat": 1, "kind": kind},
            throw(0, "1m"),
            win(1, "self_draw", "9s", WAITING),
        )
        assert played.issues == [(3, "forfeited", 1)]
        assert played.last.turn == 1


def test_an_invalid_win_leaves_the_turn() -> None:
    played = Played(start(), throw(0, "1m"), win(2, "discard", "1m", WAITING, 0))
    assert played.issues == [(2, "not_winning_shape", 2)]
    assert played.last.turn == 1
    again = Played(start(), throw(0, "1m"), win(2, "discard", "1m", WAITING, 0), throw(1, "2m"))
    assert again.last.turn == 2
    assert again.state.settlement is None


def test_an_own_draw_out_of_turn_leaves_the_turn() -> None:
    played = Played(start(), throw(0, "1m"), win(3, "self_draw", "9s", WAITING))
    assert played.issues == [(2, "out_of_turn", 3)]
    assert (played.last.turn, played.last.wall) == (1, 77)


def test_far_too_few_tiles() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "self_draw", "9s", "78s"))
    assert played.issues == [(2, "wrong_tile_count", 1)]


def test_a_hand_with_a_fifth_copy_is_not_settled() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "self_draw", "6z", "22222s345678s66z"))
    assert ("fifth_copy", 1) in {(name, seat) for _, name, seat in played.issues}
    assert played.state.settlement is None


def test_wrong_tile_count() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "self_draw", "9s", "12345678s444z6z"))
    assert played.issues == [(2, "wrong_tile_count", 1)]


def test_an_unseen_closed_kong_waits_to_be_shown() -> None:
    hand = [start(), throw(0, "1z"), meld(1, "closed_kong", "")]
    won = [*hand, draw(1, "9s", "tail"), win(1, "self_draw", "9s", "12345678s66z")]
    waiting = Played(*won)
    assert waiting.issues == []
    assert waiting.state.settlement is None
    assert "closed kong" in waiting.state.unsettled
    shown = Played(*won, meld(1, "closed_kong", "4444z"))
    assert shown.issues == []
    assert shown.delta is not None
    assert shown.delta[1] > 0


def test_a_losers_unseen_kong_holds_nothing_up() -> None:
    played = Played(
        start(),
        throw(0, "1m"),
        meld(1, "closed_kong", ""),
        throw(1, "7p"),
        win(2, "self_draw", "9s", WAITING),
        {"e": "reveal", "seat": 1, "hand": "1133557799p"},
    )
    assert played.issues == []
    assert played.delta is not None
    assert played.delta[2] > 0


def test_an_unknown_winning_hand_is_not_settled() -> None:
    played = Played(start(), throw(0, "1m"), win(1, "self_draw", "9s", ""))
    assert played.issues == []
    assert played.state.settlement is None
    assert played.state.unsettled


def test_what_is_no_hand_at_all() -> None:
    with pytest.raises(EventError, match="begins with start"):
        apply(None, Discard(seat=0, tile="1m"))
    with pytest.raises(CaseError, match="no rule set"):
        apply(None, Start(rules="nothing", dealer=0))
    with pytest.raises(CaseError, match="did you mean 'payment'"):
        apply(None, Start(rules="hongkong", options={"paymnt": 1}, dealer=0))
    with pytest.raises(EventError, match="hands"):
        apply(None, Start(rules="hongkong", dealer=0, hands=["", ""]))
