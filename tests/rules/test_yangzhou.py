"""Yangzhou: readings D-Y1 to D-Y19, option by option."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules.case import CaseError, Outcome, ScoreCase, Win, parse_case
from tablectl.rules.registry import get
from tablectl.rules.samples import winning_case
from tablectl.rules.settlement import Settlement
from tablectl.rules.yangzhou.options import YangzhouOptions
from tablectl.rules.yangzhou.patterns import points
from tablectl.rules.yangzhou.runs import scored_runs
from tablectl.tiles import Tile, parse_tiles
from tests.rules import brute
from tests.rules.helpers import case, meld, outcome

NOTHING = {"minimum": 0}
COMMON = YangzhouOptions()


def yz(hand: str, tile: str | None, **fields: Any) -> Settlement:
    return outcome("yangzhou", hand, tile, **{"options": NOTHING, **fields})


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None, settlement
    (found,) = settlement.patterns.values()
    return found


def runs(text: str, options: YangzhouOptions = COMMON) -> dict[str, int]:
    return scored_runs(parse_tiles(text), options)


# --- patterns of runs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lows", "expected"),
    [
        ("11m", {"twin_runs": 10}),
        ("111m", {"triplet_runs": 60}),
        ("1111m", {"quadruplet_runs": 480}),
        ("44m22p", {"double_twin_runs": 30}),
        ("44m44p", {"double_twins_side_by_side": 60}),
        ("1177m", {"double_twins_high_low": 60}),
        ("3366s", {"double_twins_in_tandem": 60}),
        ("3m3p3s", {"three_runs_side_by_side": 15}),
        ("33m3p3s", {"four_runs_side_by_side": 30}),
        ("14m14p", {"two_tandems_side_by_side": 15}),
        ("17m17p", {"two_high_lows_side_by_side": 15}),
        ("147m", {"straight_flush": 15}),
        # What needs a run outside stays (D-Y2).
        ("1447m", {"twin_runs": 10, "straight_flush": 15}),
        ("147m1p", {"straight_flush": 15, "side_by_side": 1}),
        ("3m3p3s6m", {"three_runs_side_by_side": 15, "tandem": 1}),
        ("333m3p", {"triplet_runs": 60, "side_by_side": 1}),
        # Pairs of different runs, twins being one (D-Y3).
        ("1m1p4s7s", {"side_by_side": 1, "tandem": 1}),
        ("1m1p2p2s", {"side_by_side": 2}),
        ("114m", {"twin_runs": 10, "tandem": 1}),
        ("17m2p", {"high_low": 1}),
        ("11m11p", {"double_twins_side_by_side": 60}),
        ("5m", {}),
    ],
)
def test_patterns_of_runs(lows: str, expected: dict[str, int]) -> None:
    assert runs(lows) == expected


@pytest.mark.parametrize(
    ("lows", "expected"),
    [
        ("111m", {"twin_runs": 10, "triplet_runs": 60}),
        ("1111m", {"twin_runs": 10, "triplet_runs": 60, "quadruplet_runs": 480}),
        ("147m", {"straight_flush": 15, "tandem": 2, "high_low": 1}),
        ("44m44p", {"twin_runs": 20, "double_twin_runs": 30, "double_twins_side_by_side": 60,
                    "side_by_side": 1}),
        ("33m3p3s", {"twin_runs": 10, "three_runs_side_by_side": 15, "four_runs_side_by_side": 30,
                     "side_by_side": 3}),
    ],
)  # fmt: skip
def test_contained_patterns_where_they_count(lows: str, expected: dict[str, int]) -> None:
    assert runs(lows, YangzhouOptions(count_contained=True)) == expected


def test_schedules_and_factors() -> None:
    for schedule, twin, mixed, double, pure in (
        ("old", 7, 10, 20, 40), ("common", 10, 15, 30, 60), ("new", 15, 20, 50, 80),
    ):  # fmt: skip
        options = YangzhouOptions(schedule=schedule)  # type: ignore[arg-type]
        names = ("twin_runs", "all_pung", "double_twin_runs", "triplet_runs")
        assert [points(name, options) for name in names] == [twin, mixed, double, pure]
        assert points("all_honors", options) == 4 * pure
        assert points("quadruplet_runs", options) == 8 * pure
    halved = YangzhouOptions(all_honors_factor=2, quadruplet_runs_factor=2)
    assert points("all_honors", halved) == points("quadruplet_runs", halved) == 120


# --- minor patterns ---------------------------------------------------------------------------


def test_a_pung_finished_by_a_claim_is_not_closed() -> None:
    hand = "123m456p33s777z55p"
    drawn, claimed = yz(hand, "3s"), yz(hand, "3s", by="discard", source=0)
    assert patterns(drawn)["closed_pung"] == 2
    assert patterns(claimed)["closed_pung"] == 1
    # Where the claimed tile fits a run too, the pung may stay closed.
    both = yz("123m456p333s45s77z", "3s", by="discard", source=0)
    assert patterns(both)["closed_pung"] == 1
    # So is a pung finished by robbing a kong (it pays as a discard).
    others = {0: {"melds": [meld("333s", 2)]}}
    other = yz("123m456p12s777z55p", "3s", by="rob_kong", source=0, others=others)
    assert patterns(other)["closed_pung"] == 1


def test_kongs_are_no_closed_pungs_and_keep_the_hand_closed() -> None:
    found = yz("123m456p33s55p", "3s", melds=[meld("7777z")])
    assert patterns(found) == {
        "fully_closed": 1, "own_tile": 1, "closed_pung": 1, "closed_kong": 2, "dragon_pung": 1,
    }  # fmt: skip
    grown = yz("123m456p33s55p", "3s", melds=[meld("7777z", 0, "added_kong")])
    assert patterns(grown) == {"own_tile": 1, "closed_pung": 1, "open_kong": 1, "dragon_pung": 1}


@pytest.mark.parametrize(
    ("hand", "tile", "single"),
    [
        ("123m456p78s55p999s", "9s", False),  # 6s and 9s
        ("123m456p13s55p999s", "2s", True),
        ("123m456p12s55p999s", "3s", True),
        ("123m456p123s999s5p", "5p", True),
        ("123m456p123s3456s", "6s", False),  # 3s and 6s as the pair
        ("123m456p3344s999p", "4s", False),  # either pair
    ],
)
def test_single_call_is_about_the_whole_hand(hand: str, tile: str, single: bool) -> None:
    assert ("single_call" in patterns(yz(hand, tile))) is single


def test_a_kind_held_four_times_is_no_call() -> None:
    # 1m and 4m would complete it, but all four 1m are in the hand.
    assert "single_call" in patterns(yz("1111234m456p789s", "4m"))
    assert "single_call" not in patterns(yz("1112345m456p789s", "5m"))


def test_tiles_of_a_hand() -> None:
    assert patterns(yz("234m345678p5566s", "5s")) == {
        "fully_closed": 1, "own_tile": 1, "no_terminals": 1, "tandem": 1, "closed_pung": 1,
    }  # fmt: skip
    assert "void_suit" in patterns(yz("123m345m567p678p9p", "9p"))
    assert "void_suit" not in patterns(yz("123m345m567p77z55p", "7z"))  # honours
    assert "void_suit" not in patterns(yz("123345567789m9m", "9m"))  # one suit
    ends = patterns(yz("123m345m567p678s1s", "1s"))
    assert {"end_eyes", "common_win"} <= ends.keys()
    assert "common_win" not in patterns(yz("123m345m567p678s7z", "7z"))


@pytest.mark.parametrize(
    ("seat", "dealer", "round_wind", "expected"),
    [
        (1, 0, "E", {"seat_wind": 1}),
        (1, 0, "S", {"seat_wind": 1, "round_wind": 1}),
        (0, 0, "S", {"round_wind": 1}),
        (2, 1, "N", {"seat_wind": 1}),
        (3, 0, "W", {}),
    ],
)
def test_winds(seat: int, dealer: int, round_wind: str, expected: dict[str, int]) -> None:
    found = yz("123m456p78s55p222z", "9s", seat=seat, dealer=dealer, round_wind=round_wind)
    winds = {k: v for k, v in patterns(found).items() if k in ("seat_wind", "round_wind")}
    assert winds == expected


# --- suits, pungs, combinations ---------------------------------------------------------------


def test_suits_exclude_each_other() -> None:
    pure = patterns(yz("111345678999m5m", "5m"))
    assert pure["pure_one_suit"] == 60
    assert "mixed_one_suit" not in pure
    honours = patterns(yz("111222333555z7z", "7z"))
    assert honours["all_honors"] == 240
    assert not {"all_pung", "mixed_one_suit", "pure_one_suit"} & honours.keys()
    counted = patterns(yz("111222333555z7z", "7z", options={"count_contained": True}))
    assert counted["all_pung"] == 15


@pytest.mark.parametrize(
    ("hand", "tile", "name", "value", "gone"),
    [
        ("123445566789m5p", "5p", "straight_flush_with_twins", 50, ("straight_flush", "twin_runs")),
        ("111333555m777z9m", "9m", "mixed_all_pung", 50, ("mixed_one_suit", "all_pung")),
        ("123456789m777z9m", "9m", "mixed_straight_flush", 50, ("mixed_one_suit",)),
        ("123445566789m7z", "7z", "mixed_straight_flush_twins", 80, ("twin_runs",)),
        ("111333555777m9m", "9m", "pure_all_pung", 130, ("all_pung", "pure_one_suit")),
        ("123456789333m9m", "9m", "pure_straight_flush", 130, ("straight_flush",)),
        ("123445566789m1m", "1m", "pure_straight_flush_twins", 160, ("twin_runs",)),
    ],
)
def test_combinations_of_the_new_schedule(
    hand: str, tile: str, name: str, value: int, gone: tuple[str, ...]
) -> None:
    new = patterns(yz(hand, tile, options={"schedule": "new"}))
    assert new[name] == value
    assert not set(gone) & new.keys()
    assert sum(key in new for key in ("pure_all_pung", "mixed_all_pung")) <= 1
    contained = patterns(yz(hand, tile, options={"schedule": "new", "count_contained": True}))
    assert contained[name] == value
    common = patterns(yz(hand, tile))
    assert name not in common
    assert set(gone) <= common.keys()


def test_combinations_go_with_the_schedule_not_with_the_minimum() -> None:
    hand = ("111333555m777z9m", "9m")
    assert "mixed_all_pung" in patterns(yz(*hand, options={"schedule": "new", "minimum": 10}))
    assert "mixed_all_pung" not in patterns(yz(*hand, options={"minimum": 18}))


# --- winning and paying -----------------------------------------------------------------------


def test_minimum() -> None:
    twin = ("112233m456p78s55s", "9s")
    own = yz(*twin, options={})
    assert own.error is None
    assert sum(patterns(own).values()) == 13
    for minimum, error in ((13, None), (14, "below_minimum")):
        assert yz(*twin, options={"minimum": minimum}).error == error
    assert yz(*twin, options={"schedule": "new"}).error is None  # 15 + 3
    assert yz(*twin, options={"schedule": "new", "minimum": 19}).error == "below_minimum"
    claim = yz(*twin, by="discard", source=0, options={"minimum": 13})
    assert claim.error == "below_minimum"  # the own tile's point is missing


@pytest.mark.parametrize("hand", ["1122m3399p5566s7z", "19m19p19s1234567z"])
def test_only_sets_and_a_pair_win(hand: str) -> None:
    assert yz(hand, "7z").error == "not_winning_shape"


def test_payment() -> None:
    twin = ("112233m456p78s55s", "9s")
    assert yz(*twin).delta == (-13, 39, -13, -13)
    assert yz(*twin, by="discard", source=3).delta == (0, 24, 0, -24)
    others = {3: {"melds": [meld("999s", 0)]}}
    assert yz(*twin, by="rob_kong", source=3, others=others).delta == (0, 24, 0, -24)
    assert yz(*twin, by="rob_kong", source=3).error == "claim_not_allowed"
    assert yz(*twin, by="deal", seat=0).delta == (39, -13, -13, -13)
    assert yz(*twin, by="deal").error == "claim_not_allowed"


def test_a_missed_win_bars_claims_alone() -> None:
    twin = ("112233m456p78s55s", "9s")
    locked = yz(*twin, by="discard", source=3, flags={"missed": True})
    assert locked.error == "claim_not_allowed"
    assert yz(*twin, flags={"missed": True}).error is None


def two_winners(**second: Any) -> ScoreCase:
    first = case("yangzhou", "112233m456p78s55s", "9s", by="discard", source=3, options=NOTHING)
    data = first.model_dump(mode="json", by_alias=True)
    data["seats"][2] |= {"hand": "123m456p78s55p222z"}
    win = {"seat": 2, "tile": "9s", "by": "discard", "from": 3, "flags": {}} | second
    data["outcome"]["wins"].append(win)
    return parse_case(data)


def test_several_winners_are_each_paid() -> None:
    found = get("yangzhou").settle(two_winners())
    # 12 twice; closed, closed pung 2 twice.
    assert found.delta == (0, 24, 4, -28)
    assert set(found.patterns or {}) == {1, 2}


def test_one_invalid_claim_spoils_all() -> None:
    data = two_winners().model_dump(mode="json", by_alias=True)
    data["seats"][2]["hand"] = "123m456p79s55p222z"
    assert get("yangzhou").settle(parse_case(data)).error == "not_winning_shape"
    data["seats"][1]["forfeited"] = True  # the earlier reason is reported
    assert get("yangzhou").settle(parse_case(data)).error == "forfeited"


@pytest.mark.parametrize("second", [{"tile": "6s"}, {"from": 0}, {"by": "self_draw", "from": None}])
def test_several_winners_take_one_tile(second: dict[str, Any]) -> None:
    with pytest.raises(CaseError, match="several winners"):
        get("yangzhou").settle(two_winners(**second))


LIABLE = [meld("123m", 0), meld("888m", 2), meld("345m", 0)]


def test_third_open_set_of_pure() -> None:
    own = yz("6799m", "5m", melds=LIABLE)
    score = 62  # pure, end eyes, own tile
    assert own.delta == (-3 * score, 3 * score, 0, 0)
    claimed = yz("6799m", "5m", melds=LIABLE, by="discard", source=3)
    assert claimed.delta == (-122, 122, 0, 0)
    new = yz("4569m", "9m", melds=[*LIABLE[:1], meld("789m", 0), meld("456m", 0)],
             options={"schedule": "new"})  # fmt: skip
    assert "pure_straight_flush_twins" in patterns(new)
    assert new.delta is not None
    assert new.delta[2:] == (0, 0)


def test_only_a_third_chow_is_liable() -> None:
    pung_last = [LIABLE[0], LIABLE[2], LIABLE[1]]
    assert yz("6799m", "5m", melds=pung_last).delta == (-62, 186, -62, -62)
    kong_between = [meld("345m", 0), meld("1111m"), meld("345m", 0)]
    assert (yz("6799m", "8m", melds=kong_between).delta or ())[2] < 0  # two open sets only
    mixed = [meld("123m", 0), meld("888m", 2), meld("345m", 0)]
    assert (yz("67m55z", "8m", melds=mixed).delta or ())[2] < 0  # mixed is not pure


def test_three_chows_of_a_suit_aim_for_pure() -> None:
    chows = [meld("123m", 0), meld("456m", 0), meld("789m", 0)]
    assert yz("555p7z", "7z", melds=chows).error == "claim_not_allowed"
    assert yz("555m7m", "7m", melds=chows).error is None
    other = [meld("123m", 0), meld("456m", 0), meld("789p", 0)]
    assert yz("555p7z", "7z", melds=other).error is None


def test_no_indicator_no_flowers_no_round_wind() -> None:
    assert yz("112233m456p78s55s", "9s", by="indicator").error == "claim_not_allowed"
    assert yz("112233m456p78s55s", None, by="flowers").error == "not_winning_shape"
    with pytest.raises(CaseError, match="round wind"):
        yz("112233m456p78s55s", "9s", round_wind=None)


def test_false_win_pays_what_it_meant_to_receive() -> None:
    def penalty(**fields: Any) -> tuple[int, ...] | None:
        claim = case("yangzhou", "19m28m45s1z", "9s", options=NOTHING, **fields)
        return get("yangzhou").settle_false_win(claim).delta

    melds = [meld("777z", 0), meld("2222p")]
    assert penalty(melds=melds) == (4, -12, 4, 4)  # own tile, closed kong 2, dragons
    assert penalty(melds=melds, by="discard", source=3) == (0, -6, 0, 6)


# --- against plain counting -------------------------------------------------------------------


def plain_score(case: ScoreCase, options: YangzhouOptions) -> int:
    """The best hand's points, counted plainly over every partition; -1 for no winning shape."""
    (win,) = case.outcome.wins
    seat = case.seats[win.seat]
    assert win.tile is not None
    held = [*seat.hand, win.tile]
    laid = [tuple(sorted(m.tiles[:3])) for m in seat.melds]
    singles = [
        kind
        for kind in range(34)
        if seat.hand.count(Tile(kind)) < 4 and brute.is_standard([*seat.hand, kind])
    ]
    found = [-1]
    for pair, sets in brute.partitions(held):
        if len(sets) + len(laid) == 4:
            score = _plain_points(case, win, pair, list(sets), laid, options)
            found.append(score + (len(singles) == 1))
    return max(found)


def _plain_points(
    case: ScoreCase, win: Win, pair: int, sets: list[tuple[int, ...]],
    laid: list[tuple[Tile, ...]], options: YangzhouOptions,
) -> int:  # fmt: skip
    tier = {"old": (7, 10, 20, 40), "common": (10, 15, 30, 60), "new": (15, 20, 50, 80)}
    twin, mixed, double, pure = tier[options.schedule]
    groups = [*sets, *laid]
    tiles = {pair, *(t for g in groups for t in g)}
    suits = {t // 9 if t < 27 else 3 for t in tiles}
    lows = Counter(g[0] for g in groups if g[0] != g[1])
    pungs = [g[0] for g in groups if g[0] == g[1]]
    own = [g[0] for g in sets if g[0] == g[1]]
    loose = win.tile == pair or any(win.tile in g for g in sets if g[0] != g[1])
    total = len(own) - (win.from_seat is not None and win.tile in own and not loose)
    total += (win.from_seat is None) + (not laid)
    total += sum(lows.values()) == 4 and pair < 27
    total += suits in ({0, 1}, {0, 2}, {1, 2})
    total += pair < 27 and pair % 9 in (0, 8)
    total += all(t < 27 and t % 9 not in (0, 8) for t in tiles)
    total += 27 + (win.seat - case.dealer) % 4 in pungs
    total += 27 + "ESWN".index(case.round_wind or "E") in pungs
    total += sum(t >= 31 for t in pungs)
    kinds = {"pure": len(suits) == 1 and 3 not in suits, "mixed": len(suits) == 2 and 3 in suits}
    all_pung = len(pungs) == 4 and suits != {3}
    straight = any(all(lows[s + 3 * k] for k in range(3)) for s in (0, 9, 18))
    twins = [low for low, n in lows.items() if n >= 2]
    combo, used = 0, set[str]()
    if options.schedule == "new":
        have = {"p": kinds["pure"], "m": kinds["mixed"], "a": all_pung, "s": straight,
                "t": bool(twins)}  # fmt: skip
        for value, names in ((160, "pst"), (130, "ps"), (130, "pa"), (80, "mst"), (50, "ms"),
                             (50, "ma"), (50, "st")):  # fmt: skip
            if all(have[n] for n in names):
                combo, used = value, set(names)
                break
    total += combo
    total += pure * (kinds["pure"] and "p" not in used)
    total += mixed * (kinds["mixed"] and "m" not in used)
    total += mixed * (all_pung and "a" not in used)
    total += pure * options.all_honors_factor * (suits == {3})
    return total + _plain_runs(lows, twins, straight, used, options, (twin, mixed, double, pure))


def _plain_runs(
    lows: Counter[int], twins: list[int], straight: bool, used: set[str],
    options: YangzhouOptions, tier: tuple[int, int, int, int],
) -> int:  # fmt: skip
    """One large pattern takes in all smaller ones: told apart by hand, largest first."""
    twin, mixed, double, pure = tier

    def beside(a: int, b: int) -> bool:
        return a // 9 != b // 9 and a % 9 == b % 9

    def tandem(a: int, b: int) -> bool:
        return a // 9 == b // 9 and abs(a - b) == 3

    def ends(a: int, b: int) -> bool:
        return a // 9 == b // 9 and {a % 9, b % 9} == {0, 6}

    four, three = max(lows.values(), default=0) == 4, max(lows.values(), default=0) == 3
    across = [n for n in range(9) if all(lows[n + s] for s in (0, 9, 18))]
    inside: set[int] = set()
    total = 0
    related = len(twins) == 2 and any(f(*twins) for f in (beside, tandem, ends))
    square = sorted(lows)
    if four:
        total, inside = pure * options.quadruplet_runs_factor, set(lows)
    elif three:
        total = pure
    elif len(twins) == 2:
        total, inside = (pure if related else double), set(lows)
    elif across and twins and twins[0] % 9 == across[0]:
        total, inside = double, set(lows)
    elif across:
        total, inside = mixed + twin * len(twins), {across[0] + s for s in (0, 9, 18)}
    elif straight:
        base = next(s for s in (0, 9, 18) if all(lows[s + 3 * k] for k in range(3)))
        inside = {base, base + 3, base + 6}
        total = mixed * ("s" not in used) + twin * len(twins) * ("t" not in used)
    elif len(square) == 4 and any(
        f(square[0], square[1]) and f(square[2], square[3])
        and beside(square[0], square[2]) and beside(square[1], square[3])
        for f in (tandem, ends)
    ):  # fmt: skip
        total, inside = mixed, set(lows)
    else:
        total = twin * len(twins)
    for a, b in combinations(sorted(lows), 2):
        if not (a in inside and b in inside):
            total += beside(a, b) + tandem(a, b) + ends(a, b)
    return total


def random_case(seed: int) -> tuple[ScoreCase, YangzhouOptions]:
    rng = Random(seed)
    values = {
        "minimum": 0,
        "schedule": rng.choice(("old", "common", "new")),
        "all_honors_factor": rng.choice((2, 4)),
        "quadruplet_runs_factor": rng.choice((2, 8)),
    }
    declared = get("yangzhou")
    kit = declared.equipment(declared.options())
    drawn = winning_case(rng, "yangzhou", kit, options=values, spoil=0.1)
    (win,) = drawn.outcome.wins
    if rng.random() < 0.6:  # few numbers make more patterns of runs
        drawn = few_runs(rng, drawn)
        (win,) = drawn.outcome.wins
    outcome = Outcome(wins=(win.model_copy(update={"flags": win.flags}),))
    return drawn.model_copy(update={"outcome": outcome}), YangzhouOptions.model_validate(values)


def few_runs(rng: Random, drawn: ScoreCase) -> ScoreCase:
    """The case with a concealed hand of four runs over few numbers and a pair."""
    while True:
        low = rng.choice((0, 3))
        lows = [9 * rng.randrange(rng.choice((1, 2, 3))) + low + rng.choice((0, 0, 3, 1)) * 1
                for _ in range(4)]  # fmt: skip
        if rng.random() < 0.3:
            suit = 9 * rng.randrange(3)
            lows[:3] = [suit, suit + 3, suit + 6]
        pair = rng.randrange(34)
        tiles = [Tile(t) for run in lows for t in (run, run + 1, run + 2)] + [Tile(pair)] * 2
        if max(Counter(tiles).values()) <= 4:
            break
    rng.shuffle(tiles)
    (win,) = drawn.outcome.wins
    seats = [s.model_copy(update={"hand": (), "melds": ()}) for s in drawn.seats]
    seats[win.seat] = seats[win.seat].model_copy(update={"hand": tuple(tiles[1:])})
    won = win.model_copy(update={"tile": tiles[0]})
    return drawn.model_copy(update={"seats": tuple(seats), "outcome": Outcome(wins=(won,))})


def check(seed: int) -> None:
    drawn, options = random_case(seed)
    expected, found = plain_score(drawn, options), get("yangzhou").settle(drawn)
    if expected < 0:
        assert found.error == "not_winning_shape"
        return
    if found.error == "claim_not_allowed":
        return
    assert sum(patterns(found).values()) == expected, (drawn, found)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_scores_agree_with_plain_counting(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5_000, deadline=None)
def test_scores_at_length(seed: int) -> None:
    check(seed)
