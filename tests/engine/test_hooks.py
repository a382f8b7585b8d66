"""What other rule sets declare: each hook, put into a rule set that does not use it itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tablectl.engine.events import parse_event
from tablectl.engine.game import Step, apply
from tablectl.engine.state import HandState, evolve
from tablectl.rules.play import DiscardEffect, Locks, TableView, WallCounts
from tablectl.tiles import Tile
from tests.engine.playing import call, draw, meld, start, throw, win

WAITING = "12345678s444z66z"
"""Waits for 3s, 6s and 9s."""


def play(changes: dict[str, Any], begin: Any, *lines: Any) -> tuple[HandState, list[Step]]:
    """Play with some declarations of play replaced."""
    state, step = apply(None, parse_event(begin))
    state = evolve(state, play=replace(state.play, **changes))
    steps = [step]
    for line in lines:
        for one in line if isinstance(line, list) else [line]:
            state, step = apply(state, parse_event(one))
            steps.append(step)
    return state, steps


def issues(steps: list[Step]) -> list[tuple[int, str, int | None]]:
    return [(n, name, seat) for n, step in enumerate(steps) for name, seat in step.issues]


def test_all_who_call_win() -> None:
    state, steps = play(
        {"winners": "all"},
        start(),
        throw(0, "1m", "9s"),
        call(3, "hu"),
        call(2, "hu"),
        win(3, "discard", "9s", "12345678s333z55z", 1),
        win(2, "discard", "9s", WAITING, 1),
    )
    assert issues(steps) == []
    assert [w.seat for w in state.wins] == [3, 2]


@pytest.mark.parametrize(
    ("locks", "first", "then", "locked"),
    [
        (Locks(win="any", proof="laid_open"), "6s", "9s", True),
        (Locks(win="same", proof="laid_open"), "6s", "9s", False),
        (Locks(win="same", proof="laid_open"), "9s", "9s", True),
        (Locks(win="any"), "6s", "9s", False),  # the hand was not known then
        (Locks(win="better", proof="laid_open"), "6s", "9s", True),
        (Locks(), "9s", "9s", False),
    ],
)
def test_wins_let_go(locks: Locks, first: str, then: str, locked: bool) -> None:
    _, steps = play(
        {"locks": lambda _options: locks},
        start(),
        throw(0, "1m", "2m", "4z", first, then),
        win(2, "discard", then, WAITING, 0),
    )
    assert issues(steps) == ([(6, "missed_lock", 2)] if locked else [])


@pytest.mark.parametrize(("first", "then", "locked"), [("9p", "5z", False), ("5z", "9p", True)])
def test_only_a_better_win_is_free(first: str, then: str, locked: bool) -> None:
    # White dragons make a dragon pung beside all pungs; 9p makes all pungs alone.
    locks = Locks(win="better", proof="laid_open")
    _, steps = play(
        {"locks": lambda _options: locks},
        start(),
        throw(0, "7m", "8m", "4z", first, then),
        win(2, "discard", then, "111m222p333s55z99p", 0),
    )
    assert issues(steps) == ([(6, "missed_lock", 2)] if locked else [])


def test_pungs_and_kongs_let_go_are_proved_by_the_tiles_laid_down() -> None:
    locks = Locks(calls=frozenset({"pung", "kong"}), proof="laid_open")
    _, steps = play(
        {"locks": lambda _options: locks},
        start(),
        throw(0, "5m", "5m"),
        meld(3, "pung", "555m", 1),
    )
    assert issues(steps) == [(3, "missed_lock", 3)]


def test_a_growing_reserve() -> None:
    def wall(_options: Any, counts: WallCounts) -> int:
        return 77 - counts.drawn - counts.kongs

    _, steps = play(
        {"wall": wall},
        start(),
        throw(0, "5m"),
        meld(3, "kong", "5555m", 0),
        draw(3, None, "tail"),
    )
    assert [step.wall for step in steps] == [77, 77, 76, 75]


def test_a_dead_wall_of_its_own() -> None:
    def wall(_options: Any, counts: WallCounts) -> int:
        return 77 - counts.front

    def supplements(_options: Any, counts: WallCounts) -> int:
        return 1 - counts.kong_tail

    _, steps = play(
        {"wall": wall, "supplements": supplements},
        start(),
        throw(0, "5m"),
        meld(3, "kong", "5555m", 0),
        draw(3, None, "tail"),
        meld(3, "closed_kong", "1111z"),
    )
    assert [step.wall for step in steps] == [77] * 5
    assert issues(steps) == [(4, "no_supplement", 3)]


def test_a_stage_of_draws_without_discards() -> None:
    _, steps = play(
        {"draws_only": lambda table: table.wall < 76},
        start(),
        throw(0, "1m"),
        draw(1),
        throw(1, "2m"),
        draw(2),
        draw(3),
        draw(0),
    )
    assert issues(steps) == []
    assert [step.turn for step in steps[3:]] == [2, 2, 3, 0]


def test_a_tile_may_be_refused_once_each() -> None:
    changes = {"may_refuse": lambda _table, _seat: True}
    refuse = [{"e": "refuse", "seat": seat} for seat in (1, 2, 3, 0, 1)]
    _, steps = play(changes, start(), throw(0, "1m"), refuse)
    assert issues(steps) == [(6, "out_of_turn", 1)]
    assert [step.turn for step in steps[2:6]] == [2, 3, 0, 1]
    _, forbidden = play({}, start(), throw(0, "1m"), refuse[:1])
    assert issues(forbidden) == [(2, "out_of_turn", 1)]


def test_a_discard_that_costs_the_right_to_win() -> None:
    def discard(_table: TableView, _seat: int, tile: Tile) -> DiscardEffect:
        if tile != 0:
            return DiscardEffect()
        return DiscardEffect(
            issues=("wild_discarded",), forfeits=True, aside=True, leaves_river=True
        )

    state, steps = play(
        {"discard": discard},
        start(),
        throw(0, "1m", "2m", "3m", "4m"),
        win(0, "self_draw", "9s", WAITING),
    )
    assert issues(steps) == [(1, "wild_discarded", 0), (5, "forfeited", 0)]
    assert state.players[0].river == ()
    assert state.players[0].aside == (0,)


def test_kongs_linked_through_a_discard() -> None:
    for linked in (True, False):
        state, _ = play(
            {"kong_links": linked},
            start(),
            throw(0, "1m"),
            meld(1, "kong", "1111m", 0),
            throw(1, "9p"),
            meld(2, "kong", "9999p", 1),
            meld(2, "closed_kong", "5555z"),
        )
        chains = [m.chain for m in state.players[2].melds]
        assert chains == ([1, 2] if linked else [0, 1])
        assert state.players[2].kong_run == 2


def test_kong_and_pung_of_equal_rank() -> None:
    ranks = {"hu": 4, "kong": 2, "pung": 2, "chow": 1, "pass": 0}
    lines = [throw(0, "5m"), call(1, "kong"), meld(3, "pung", "555m", 0)]
    _, equal = play({"ranks": ranks}, start(), *lines)
    assert issues(equal) == [(3, "wrong_claimant", 3)]
    _, lower = play({}, start(), *lines)
    assert issues(lower) == [(3, "outranked", 3)]


def test_evolve_knows_its_fields() -> None:
    state, _ = apply(None, parse_event(start()))
    with pytest.raises(TypeError, match="colour"):
        evolve(state, colour="red")
