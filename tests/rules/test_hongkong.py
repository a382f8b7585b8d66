"""Hong Kong: readings C1 to C17, option by option."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.rules.case import CaseError
from tablectl.rules.settlement import Settlement
from tests.rules.helpers import meld, outcome

LONE = meld("7s", kind="lone_kong")
PUNGS = [meld("222m", 0), meld("555p", 3), meld("888s", 2)]


def hk(hand: str, tile: str | None, **fields: Any) -> Settlement:
    return outcome("hongkong", hand, tile, **fields)


def patterns(settlement: Settlement) -> dict[str, float]:
    assert settlement.patterns is not None
    (found,) = settlement.patterns.values()
    return found


@pytest.mark.parametrize(
    ("payment", "delta"),
    [("thrower_all", (0, 16, -16, 0)), ("thrower_half", (-4, 16, -8, -4))],
)
def test_who_pays_a_claim(payment: str, delta: tuple[int, ...]) -> None:
    found = hk(
        "99m33p", "3p", melds=PUNGS, by="discard", source=2, options={"payment": payment},
    )  # fmt: skip
    assert patterns(found) == {"all_pungs": 3, "no_flowers": 1}
    assert found.delta == delta


@pytest.mark.parametrize("payment", ["thrower_all", "thrower_half"])
def test_own_draw_costs_everybody_half(payment: str) -> None:
    found = hk("99m33p", "3p", melds=PUNGS, options={"payment": payment}, me={"flowers": "1f"})
    assert found.delta == (-8, 24, -8, -8)


@pytest.mark.parametrize("payment", ["thrower_all", "thrower_half"])
def test_robbed_seat_pays_as_thrower(payment: str) -> None:
    found = hk(
        "123m456p23478s99s", "6s", by="rob_kong", source=2, options={"payment": payment},
        others={2: {"melds": [meld("666s", 3)]}},
    )  # fmt: skip
    assert patterns(found)["robbing_kong"] == 1
    assert found.delta == ((0, 16, -16, 0) if payment == "thrower_all" else (-4, 16, -8, -4))


@pytest.mark.parametrize(
    ("flowers", "dealer", "expected"),
    [
        ("", 0, {"no_flowers": 1}),
        ("1f", 0, {}),
        ("2f", 0, {"seat_flower": 1}),
        ("26f", 0, {"seat_flower": 2}),
        ("26f", 1, {}),
        ("15f", 1, {"seat_flower": 2}),
        ("1234f", 0, {"flower_set": 2}),
        ("12346f", 0, {"flower_set": 2, "seat_flower": 1}),
        ("12345678f", 0, {"flower_set": 4}),
    ],
)
def test_flowers(flowers: str, dealer: int, expected: dict[str, int]) -> None:
    found = patterns(hk("99m33p", "3p", melds=PUNGS, dealer=dealer, me={"flowers": flowers}))
    assert {k: v for k, v in found.items() if "flower" in k} == expected


@pytest.mark.parametrize(
    ("hand", "tile", "expected"),
    [
        ("123m456m789m11z23s", "4s", {"common_hand": 1}),
        ("12345678m11122z", "9m", {"mixed_one_suit": 3, "round_wind": 1}),
        ("1234567899m234m", "9m", {"pure_one_suit": 7, "common_hand": 1}),
        ("111222333m444s5p", "5p", {"four_concealed_pungs": 10}),
        ("555666z77z123m99s", "7z", {"great_three_dragons": 8}),
        ("555666z7z123m999s", "7z", {"small_three_dragons": 5}),
        ("555666z123m999s1p", "1p", {"dragon_pung": 2}),
        ("111222333z4z123m", "4z", {"small_four_winds": 6, "mixed_one_suit": 3}),
        ("111222333z44z99s", "4z", {"great_four_winds": 10}),
        ("111222333z55z66z", "5z", {"all_honours": 10}),
        ("111999m111999p1s", "1s", {"all_terminals": 10}),
        ("1112345678999p", "5p", {"nine_gates": 10}),
        ("1112345678999p", "1p", {"nine_gates": 10}),
        ("1122345678999p", "1p", {"pure_one_suit": 7}),
        ("19m19p19s1234567z", "1m", {"thirteen_orphans": 10}),
        ("119m19p19s234567z", "1z", {"thirteen_orphans": 10}),
    ],
)
def test_hand_patterns(hand: str, tile: str, expected: dict[str, int]) -> None:
    found = hk(hand, tile, me={"flowers": "1f"}, round_wind="E", seat=2)
    if found.error == "below_minimum":
        assert expected == {}
        return
    counted = patterns(found)
    if 10 not in counted.values():
        assert counted.pop("self_draw") == 1
        assert counted.pop("concealed_hand") == 1
    assert counted == expected


def test_winds_of_seat_and_round() -> None:
    hand: dict[str, Any] = {
        "hand": "123m99s11z",
        "tile": "1z",
        "melds": [meld("222z", 0), meld("777p", 0)],
    }
    east = patterns(hk(**hand, seat=1, dealer=0, round_wind="E"))
    assert (east.get("round_wind"), east.get("seat_wind")) == (1, 1)
    both = patterns(hk(**hand, seat=1, dealer=0, round_wind="S"))
    assert (both["round_wind"], both["seat_wind"]) == (1, 1)
    south = hk(**hand, seat=1, dealer=1, round_wind="W")
    assert patterns(south) == {"no_flowers": 1, "self_draw": 1, "seat_wind": 1}


def test_four_concealed_pungs_only_by_own_draw() -> None:
    fields: dict[str, Any] = {"by": "discard", "source": 0, "me": {"flowers": "1f"}}
    assert patterns(hk("111m222p333s4477z", "7z", **fields)) == {
        "all_pungs": 3,
        "concealed_hand": 1,
        "dragon_pung": 1,
    }
    # On the pair too: the document's limit hand is won by an own draw (C10).
    assert "four_concealed_pungs" not in patterns(hk("111m222p333s444z7z", "7z", **fields))
    kong = hk("111m222p33s44z", "4z", melds=[meld("9999s")], me={"flowers": "1f"})
    assert patterns(kong) == {"four_concealed_pungs": 10}
    open_pung = hk("111m222p33s44z", "4z", melds=[meld("999s", 0)], me={"flowers": "1f"})
    assert "four_concealed_pungs" not in patterns(open_pung)


def test_kong_wins() -> None:
    melds = [meld("5555m"), meld("3333p")]
    for kongs, expected in ((1, {"kong_win": 1}), (2, {"double_kong_win": 8})):
        found = patterns(hk("23467m99s", "8m", melds=melds, flags={"kong_draw": kongs}))
        assert {k: v for k, v in found.items() if "kong" in k} == expected
        assert found["self_draw"] == found["concealed_hand"] == 1
    four = [meld("2222p", 0), meld("7777s"), meld("9999m", 0, "added_kong"), meld("3333z", 3)]
    assert patterns(hk("5m", "5m", melds=four)) == {"four_kongs": 10}


def test_last_tile_and_its_discard() -> None:
    for fields in ({"by": "self_draw"}, {"by": "discard", "source": 0}):
        found = hk("123m456p23478s99s", "6s", flags={"last_tile": True}, **fields)
        assert patterns(found)["last_tile"] == 1


def test_heavenly_and_earthly_hands() -> None:
    heaven = hk("123m456p23478s99s", "6s", seat=0, by="deal", me={"flowers": "15f"})
    assert patterns(heaven) == {"heavenly_hand": 10}
    assert heaven.delta == (192, -64, -64, -64)
    earth = hk("123m456p23478s99s", "6s", by="discard", source=0, flags={"first_turn": True})
    assert patterns(earth) == {"earthly_hand": 10}
    assert earth.delta == (-128, 128, 0, 0)
    later = hk("123m456p23478s99s", "6s", by="discard", source=2, flags={"first_turn": True})
    assert "earthly_hand" not in patterns(later)
    assert hk("123m456p23478s99s", "6s", by="deal").error == "claim_not_allowed"


def test_more_than_ten_is_held_to_the_limit() -> None:
    dragons = [meld("555z", 0), meld("666z", 0), meld("777z", 0)]
    found = hk("11z99s", "1z", melds=dragons)
    assert sum(patterns(found).values()) == 8 + 3 + 3 + 1 + 1 + 1
    assert found.delta == (-64, 192, -64, -64)
    assert "held to the limit" in " ".join(found.lines)


def test_the_best_reading_counts() -> None:
    # As runs this would be a common hand; as pungs it is worth more.
    found = hk("111222333m9p", "9p", melds=[meld("777s", 0)], by="discard", source=0)
    assert patterns(found) == {"no_flowers": 1, "all_pungs": 3}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"hand": "123m456p2347s99s", "tile": "8s"}, "wrong_tile_count"),
        ({"hand": "123m456p23478s999s", "tile": "6s"}, "wrong_tile_count"),
        ({"me": {"forfeited": True}}, "forfeited"),
        ({"hand": "456p78s99s", "melds": [meld("123m", 2), meld("345s", 0)]}, "invalid_meld"),
        ({"hand": "456p78s99s", "melds": [meld("124m", 0), meld("345s", 0)]}, "invalid_meld"),
        ({"hand": "456p78s99s", "melds": [meld("123z", 0), meld("345s", 0)]}, "invalid_meld"),
        ({"hand": "456p23478s99s", "melds": [LONE, meld("123m", 0)]}, "invalid_meld"),
        ({"tile": "7s"}, "not_winning_shape"),
        ({"hand": "1133m5577p2299s6z", "tile": "6z"}, "not_winning_shape"),
        ({"hand": "123m456p23478s9s1f"}, "not_winning_shape"),
        ({"tile": None, "by": "flowers", "me": {"flowers": "12345678f"}}, "not_winning_shape"),
        ({"by": "rob_kong", "source": 2}, "claim_not_allowed"),
        ({"by": "indicator"}, "claim_not_allowed"),
        (
            {"hand": "19m19p19s1234567z", "tile": "7z", "by": "rob_kong", "source": 2},
            "claim_not_allowed",
        ),
        ({"me": {"flowers": "1f"}, "by": "discard", "source": 2}, "below_minimum"),
    ],
)  # fmt: skip
def test_refusals(fields: dict[str, Any], error: str) -> None:
    values: dict[str, Any] = {"hand": "123m456p23478s99s", "tile": "6s", **fields}
    found = hk(values.pop("hand"), values.pop("tile"), **values)
    assert found.error == error
    assert found.delta is None
    assert found.lines


def test_the_first_reason_that_applies_is_given() -> None:
    everything = {"melds": [meld("123m", 2)], "by": "rob_kong", "source": 2}
    short = "147m258p36s1z"
    assert hk(short, "2s", me={"forfeited": True}, **everything).error == "wrong_tile_count"
    hand = "147m258p36s11z"
    assert hk(hand, "2s", me={"forfeited": True}, **everything).error == "forfeited"
    assert hk(hand, "2s", **everything).error == "invalid_meld"


def test_short_hands_say_what_is_missing() -> None:
    found = hk("123m456p23478s99s", "6s", by="discard", source=2, me={"flowers": "1f"})
    assert found.lines[-1] == "2 faan · 3 to win"


def test_one_winner_and_a_round_wind() -> None:
    with pytest.raises(CaseError, match="round wind"):
        hk("123m456p23478s99s", "6s", round_wind=None)
    wins: list[dict[str, Any]] = [
        {"seat": s, "tile": "6s", "by": "discard", "from": 0, "flags": {}} for s in (1, 2)
    ]
    other = {2: {"hand": "123m456p234s78s11z"}}
    with pytest.raises(CaseError, match="2 winners"):
        hk("123m456p23478s99s", "6s", outcome={"wins": wins}, others=other)


def test_drawn_hand() -> None:
    assert hk("", None, by="flowers", outcome={"wins": []}).delta == (0, 0, 0, 0)
