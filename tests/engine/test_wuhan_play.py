"""Wuhan and Jingzhou at the table: lone kongs, special discards, the bottom stage, rotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tablectl.engine.legal import Option, options
from tablectl.engine.players import SimplePlayer
from tablectl.engine.selfplay import play_hand
from tablectl.engine.state import HandState
from tablectl.tiles import format_tile, parse_tiles
from tests.engine.playing import Played, call, draw, indicator, meld, start, throw, win
from tests.engine.test_selfplay import check_hand

BANAL = [f"{n}{s}" for s in "mps" for n in range(1, 10) if f"{n}{s}" not in ("3s", "4s", "9m")]
HARD = "123456p55m78s"


def wuhan(*lines: Any, **fields: Any) -> Played:
    """A hand under indicator 3s: 4s is wild, red dragons are kong tiles."""
    return Played(start("wuhan", **fields), indicator("3s"), *lines)


def jingzhou(*lines: Any, **fields: Any) -> Played:
    return Played(start("jingzhou", **fields), indicator("3s"), *lines)


def until_bottom(wall: int = 4) -> list[dict[str, Any]]:
    """Discards in turn from seat 0 until ``wall`` tiles can be drawn; the last one of them 9m."""
    number = 1 + 72 - wall
    tiles = [BANAL[i % len(BANAL)] for i in range(number - 1)]
    return [*throw(0, *tiles), *throw((number - 1) % 4, "9m")]


def names(played: Played) -> list[str]:
    return [name for _, name, _ in played.issues]


# --- special tiles ----------------------------------------------------------------------------


def test_a_lone_kong_draws_a_supplement() -> None:
    played = wuhan(throw(0, "1m"), draw(1, "7z"), meld(1, "lone_kong", "7z"),
                   draw(1, None, "tail"), throw(1, "2m"))  # fmt: skip
    assert played.issues == []
    assert [step.wall for step in played.steps[2:]] == [72, 71, 71, 70, 70]
    assert [step.turn for step in played.steps[2:]] == [1, 1, 1, 1, 2]
    assert played.state.players[1].concealed == 13


@pytest.mark.parametrize(
    ("kind", "tiles", "issue"),
    [
        ("lone_kong", "4s", None),
        ("lone_kong", "7z", None),
        ("lone_kong", "6z", "invalid_meld"),
        ("lone_kong", "3s", "invalid_meld"),
        ("closed_kong", "4444s", "wild_in_meld"),
        ("closed_kong", "7777z", "invalid_meld"),
        ("closed_kong", "6666z", None),
    ],
)
def test_kongs_of_own_tiles(kind: str, tiles: str, issue: str | None) -> None:
    assert names(wuhan(meld(0, kind, tiles))) == ([issue] if issue else [])


def test_kong_tiles_of_variations() -> None:
    green = {"options": {"kong_tiles": "red_green"}}
    assert wuhan(meld(0, "lone_kong", "6z"), **green).issues == []
    peel = {"options": {"kong_tiles": "peel"}}
    for tile in ("2s", "3s", "4s"):
        assert wuhan(meld(0, "lone_kong", tile), **peel).issues == []
    assert names(wuhan(meld(0, "lone_kong", "7z"), **peel)) == ["invalid_meld"]
    assert wuhan(throw(0, "7z"), meld(2, "pung", "777z", 0), **peel).issues == []


def test_special_discards_go_to_the_own_area() -> None:
    played = wuhan(throw(0, "7z", "4s", "1m"))
    assert [p.aside for p in played.state.players] == [(33,), (21,), (), ()]
    assert [p.river for p in played.state.players[:2]] == [(), ()]


@pytest.mark.parametrize(
    ("tile", "tiles", "issue"),
    [
        ("4s", "444s", "wild_in_meld"),
        ("7z", "777z", "invalid_meld"),
        ("5s", "345s", "wild_in_meld"),
    ],
)
def test_special_tiles_make_no_sets(tile: str, tiles: str, issue: str) -> None:
    kind = "pung" if tiles[0] == tiles[1] else "chow"
    assert names(wuhan(throw(0, tile), meld(1, kind, tiles, 0))) == [issue]


@pytest.mark.parametrize(
    ("tile", "hand", "issue"),
    [("4s", "123456p55m56s", "wild_tile_claimed"), ("7z", "111m333m555m7z", "not_winning_shape")],
)
def test_special_tiles_are_not_claimed_for_a_win(tile: str, hand: str, issue: str) -> None:
    played = wuhan(
        throw(0, "9p"), meld(2, "pung", "999p", 0), throw(2, "1z"), throw(3, tile),
        win(2, "discard", tile, hand, 3),
    )  # fmt: skip
    assert names(played) == [issue]


# --- wins -------------------------------------------------------------------------------------

OPENED = [*throw(0, "9s"), meld(2, "pung", "999s", 0), *throw(2, "1z")]


def test_won_on_a_lone_kongs_supplement() -> None:
    played = wuhan(
        OPENED, throw(3, "2z", "3z", "4z"), draw(2, "7z"), meld(2, "lone_kong", "7z"),
        draw(2, "6p", "tail"), win(2, "self_draw", "6p", "12345p55m789m"),
    )  # fmt: skip
    assert played.issues == []
    # Kong bloom 10 x open x hard x red kong.
    assert played.delta == (-80, -80, 240, -80)
    assert played.next == {
        "dealer": 1, "streak": 1, "round_wind": None, "over": False, "session": {"rotation": 1},
    }  # fmt: skip


def test_losers_pay_for_what_they_have_laid_and_thrown() -> None:
    played = wuhan(
        OPENED, throw(3, "7z", "4s", "1m"), draw(2, "6p"),
        win(2, "self_draw", "6p", "12345p55m789m"),
    )  # fmt: skip
    # 8 each; the banker 16 x4 for its wild tile; seat 3 x2 for its red dragon.
    assert played.delta == (-64, -8, 88, -16)


def test_the_nearest_after_the_discarder_wins() -> None:
    played = wuhan(
        OPENED, throw(3, "6p"), call(1, "hu"), call(2, "hu"),
        win(2, "discard", "6p", "12345p55m789m", 3),
    )  # fmt: skip
    assert names(played) == ["wrong_claimant", "below_minimum"]


CLAIMS = [
    *throw(3, "2p"), meld(0, "chow", "123p", 3), *throw(0, "1z"), *throw(1, "4z"),
    meld(0, "pung", "444z", 1), *throw(0, "1z"), *throw(1, "2z", "3z", "8m"),
    meld(0, "chow", "789m", 3), *throw(0, "1z"), *throw(1, "9p"),
    meld(0, "pung", "999p", 1), *throw(0, "2z"), *throw(1, "5m"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ready", "delta"),
    [(True, (140, -60, -40, -40)), (False, (140, -140, 0, 0)), (None, None)],
)
def test_all_claimed_asks_whether_the_discarder_was_ready(
    ready: bool | None, delta: tuple[int, ...] | None
) -> None:
    shown = [] if ready is None else [{"e": "reveal", "seat": 1, "hand": "", "ready": ready}]
    played = wuhan(CLAIMS, win(0, "discard", "5m", "5m", 1), shown, dealer=3)
    assert played.issues == []
    if delta is None:
        assert played.state.settlement is None
        assert "ready" in played.state.unsettled
    else:
        assert played.delta == delta


def test_a_robbed_kong() -> None:
    lines = [
        *throw(0, "6p"), meld(1, "pung", "666p", 0), *throw(1, "1z"), *throw(2, "9s"),
        meld(3, "pung", "999s", 2), *throw(3, "1z"), *throw(0, "2z"),
        meld(1, "added_kong", "6666p", 0), win(3, "rob_kong", "6p", "12345p55m789m", 1),
    ]  # fmt: skip
    played = wuhan(lines)
    assert played.issues == []
    # 10 x open x hard = 40 each, seat 1 twice that for its pung; it pays for all.
    assert played.delta == (0, -160, 0, 160)
    assert played.state.wall == 72 - 3


# --- the bottom stage -------------------------------------------------------------------------


def test_each_seat_draws_and_keeps() -> None:
    played = wuhan(until_bottom(), draw(1), draw(2), draw(3), draw(0), {"e": "exhaust"})
    assert played.issues == []
    assert [step.wall for step in played.steps[-6:]] == [4, 3, 2, 1, 0, 0]
    assert [step.turn for step in played.steps[-6:]] == [1, 1, 2, 3, 0, None]
    assert played.delta == (0, 0, 0, 0)
    assert played.next["streak"] == 2


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize(
    ("jumper", "delta"), [(1, (-40, -80, 160, -40)), (0, (-80, -40, 160, -40))]
)
def test_a_bottom_tile(seen: bool, jumper: int, delta: tuple[int, ...]) -> None:
    """Won on the second or third draw of the stage; the draw counts though nobody saw it."""
    hand = "12345p55m789m"
    jump = [*throw(3, "5z"), meld(jumper, "pung", "555z", 3), *throw(jumper, "2z")]
    held = Counter(["9s"] * 3 + ["5z"] * 4 + ["1z", "2z"])
    held.update(format_tile(tile) for tile in parse_tiles(f"{hand}6p"))
    kinds = [*BANAL, "9m", *(f"{n}z" for n in range(1, 7))]
    pool = [kind for kind in kinds for _ in range(4 - held[kind])][:67]
    others = [draw(seat) for seat in range(1 if jumper else 0, 2)]
    seen_draw = [draw(2, "6p")] if seen else []
    played = wuhan(OPENED, jump, throw(jumper + 1, *pool), others, seen_draw,
                   win(2, "self_draw", "6p", hand))  # fmt: skip
    assert played.issues == []
    assert played.last.wall == (2 if jumper else 1)
    assert played.delta == delta  # bottom tile 10 x open x hard
    assert played.next["dealer"] == 1


@pytest.mark.parametrize(
    ("kind", "tiles", "issue"),
    [("chow", "789m", "claim_not_allowed"), ("pung", "999m", "claim_not_allowed"),
     ("kong", "9999m", "bottom_stage")],
)  # fmt: skip
def test_the_last_discard_is_claimed_for_a_win_only(kind: str, tiles: str, issue: str) -> None:
    played = wuhan(until_bottom(), meld(1, kind, tiles, 0))
    assert names(played) == [issue]
    assert wuhan(until_bottom(5), meld(0, kind, tiles, 3)).issues == []


def test_no_discards_in_the_bottom_stage() -> None:
    for lines in ([draw(1), *throw(1, "1z")], throw(1, "1z")):
        played = wuhan(until_bottom(), lines)
        assert names(played) == ["bottom_stage"]
        assert (played.last.wall, played.last.turn) == (3, 2)
    unseen = wuhan(until_bottom(), draw(1), throw(2, "1z"))
    assert names(unseen) == ["bottom_stage"]


@pytest.mark.parametrize("kind", ["closed_kong", "lone_kong"])
def test_no_kongs_in_the_bottom_stage(kind: str) -> None:
    tiles = {"closed_kong": "6666z", "lone_kong": "7z"}[kind]
    assert names(wuhan(until_bottom(), draw(1), meld(1, kind, tiles))) == ["bottom_stage"]
    # Who has drawn the tile before would take somebody's last draw.
    before = until_bottom()[:-1]
    assert names(wuhan(before, draw(0), meld(0, kind, tiles))) == ["bottom_stage"]
    fine = until_bottom(5)[:-1]
    assert wuhan(fine, draw(3), meld(3, kind, tiles)).issues == []


def test_the_hand_is_not_drawn_before_all_have_drawn() -> None:
    early = wuhan(until_bottom(), draw(1), {"e": "exhaust"})
    assert names(early) == ["early_exhaust"]
    out_of_turn = wuhan(until_bottom(), draw(1), draw(3))
    assert names(out_of_turn) == ["out_of_turn"]


def test_what_may_be_done_in_the_bottom_stage() -> None:
    played = wuhan(until_bottom(), draw(1))
    assert played.last.options == ("hu", "draw")
    assert [o.kind for o in options(played.state, 2)] == ["draw"]
    assert options(played.state, 3) == ()
    done = wuhan(until_bottom(), draw(1), draw(2), draw(3), draw(0))
    assert done.last.options == ("hu", "exhaust")


# --- Jingzhou and rotation --------------------------------------------------------------------


def three(first: int, *tiles: str) -> list[dict[str, Any]]:
    return [{"e": "discard", "seat": (first + i) % 3, "tile": t} for i, t in enumerate(tiles)]


CIRCLES = [f"{n}{s}" for s in "ps" for n in range(1, 10) if f"{n}{s}" not in ("3s", "4s", "9p")]


def test_the_last_discard_for_three() -> None:
    number = 45
    tiles = [CIRCLES[i % len(CIRCLES)] for i in range(number)]
    lines = [*three(0, *tiles), *three(number % 3, "9p")]
    assert jingzhou(lines).last.wall == 0
    for kind, melded, issue in (
        ("chow", "789p", "claim_not_allowed"), ("pung", "999p", "claim_not_allowed"),
        ("kong", "9999p", "no_supplement"),
    ):  # fmt: skip
        assert names(jingzhou(lines, meld(1, kind, melded, 0))) == [issue]
    assert jingzhou(lines, {"e": "exhaust"}).issues == []
    assert names(jingzhou(lines[:-1], {"e": "exhaust"})) == ["early_exhaust"]


def test_a_tile_that_the_set_lacks() -> None:
    assert names(jingzhou(three(0, "1m", "1z"))) == ["fifth_copy", "fifth_copy"]
    assert names(Played(start("jingzhou"), indicator("1z"))) == ["fifth_copy"]


@pytest.mark.parametrize("play", [wuhan, jingzhou])
def test_the_banker_stays_after_a_false_win(play: Any) -> None:
    played = play(
        {"e": "discard", "seat": 0, "tile": "9s"},
        win(1, "discard", "9s", "19p28p37p55s78s2z6z6z", 0),
        {"e": "ruling", "seat": 1, "kind": "false_win"}, {"e": "end"}, streak=2,
    )  # fmt: skip
    assert played.next["dealer"] == 0
    assert played.next["streak"] == 3
    assert sum(played.delta or (1,)) == 0
    assert (played.delta or (0, 0))[1] < 0


@pytest.mark.parametrize(
    ("dealer", "rotation", "over", "carried"),
    [(3, 1, False, 2), (2, 1, False, 1), (3, 3, False, 4), (3, 4, True, 1), (2, 4, False, 4)],
)
def test_rotations(dealer: int, rotation: int, over: bool, carried: int) -> None:
    lines = [
        *throw(dealer, "9s"), meld((dealer + 2) % 4, "pung", "999s", dealer),
        *throw(dealer + 2, "1z", "2z", "3z", "4z"), draw((dealer + 2) % 4, "6p"),
        win((dealer + 2) % 4, "self_draw", "6p", "12345p55m789m"),
    ]  # fmt: skip
    played = wuhan(lines, dealer=dealer, session={"rotation": rotation})
    assert played.issues == []
    assert played.next["dealer"] == (dealer + 1) % 4
    assert played.next["over"] is over
    assert played.next["session"] == {"rotation": carried}


class Patient(SimplePlayer):
    """Claims nothing, so that the hand lasts."""

    def claim(self, state: HandState, seat: int, choices: Sequence[Option]) -> Option | None:
        del self, state, seat, choices
        return None


@pytest.mark.parametrize("rules", ["wuhan", "jingzhou", "yangzhou"])
def test_simulated_hands_last_to_the_end_of_the_wall(rules: str) -> None:
    events = play_hand(rules, {"minimum": 10_000}, 3, policy=lambda _seat, rng: Patient(rng))
    check_hand(events)
    assert [e.e for e in events[-2:]] == ["exhaust", "end"]
    draws = [e.e for e in events[-6:-2]]
    assert (draws == ["draw"] * 4) is (rules == "wuhan")
