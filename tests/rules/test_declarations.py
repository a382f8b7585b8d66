"""What every rule set's declaration must hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules.case import CaseError
from tablectl.rules.options import is_table_option
from tablectl.rules.registry import IDS, get
from tablectl.rules.sheet import rule_sheet
from tablectl.rules.waits import distance, waits
from tablectl.tiles import format_tiles, parse_tile, parse_tiles
from tests.rules.helpers import meld
from tests.rules.test_cases import HERE, load
from tests.rules.test_properties import sample, seeds


@pytest.mark.parametrize("rules", IDS)
def test_patterns_and_options_are_documented(rules: str) -> None:
    declared = get(rules)
    ids = [pattern.id for pattern in declared.patterns]
    assert len(set(ids)) == len(ids)
    for pattern in declared.patterns:
        assert pattern.name
        assert pattern.name_zh
        assert pattern.text.endswith(".")
    for field in declared.model.model_fields.values():
        assert field.description
        assert not field.is_required()


@pytest.mark.parametrize("rules", IDS)
def test_published_cases_use_declared_patterns(rules: str) -> None:
    ids = {pattern.id for pattern in get(rules).patterns}
    for case in load(HERE, rules):
        if case.expect and case.expect.patterns:
            assert {p for found in case.expect.patterns.values() for p in found} <= ids


@pytest.mark.parametrize("rules", IDS)
def test_the_sheet_shows_everything(rules: str) -> None:
    declared = get(rules)
    sheet = rule_sheet(declared, declared.options())
    for pattern in declared.patterns:
        assert pattern.name_zh in sheet
    for name in declared.model.model_fields:
        assert f"`{name}`" in sheet


def test_equipment() -> None:
    for rules, total, dealt in (("hongkong", 144, 53), ("hangzhou", 136, 53)):
        kit = get(rules).equipment(get(rules).options())
        assert (kit.total, kit.dealt, kit.sets, kit.seats) == (total, dealt, 4, 4)


def test_table_options_are_marked() -> None:
    model = get("hangzhou").model
    table = {name for name in model.model_fields if is_table_option(model, name)}
    assert table == {
        "instant_third", "liability_restriction", "liability_restriction_when",
        "missed_pung_lock", "first_banker", "seat_draw", "minutes", "reseat_minutes",
        "point_value",
    }  # fmt: skip


def test_unknown_rule_set_names_the_nearest() -> None:
    with pytest.raises(CaseError, match="did you mean 'hangzhou'"):
        get("hangzou")


def shown(rules: str, hand: str, indicator: str | None = None, **fields: object) -> str:
    tile = None if indicator is None else parse_tile(indicator)
    return format_tiles(waits(get(rules), parse_tiles(hand), indicator=tile, **fields))  # type: ignore[arg-type]


def test_waits() -> None:
    assert shown("hongkong", "123m456p23478s99s") == "69s"
    assert shown("hongkong", "1112345678999p") == "123456789p"
    assert shown("hongkong", "19m19p19s1234567z") == "19m19p19s1234567z"
    assert shown("hongkong", "1111m456p234s99s5z") == ""
    # The fortune tile completes too, and the white dragon in its place as 4s.
    assert shown("hangzhou", "123m456p23789s77z", "4s") == "14s5z"
    eye_call = shown("hangzhou", "123m456p4789s111z", "4s")
    assert len(parse_tiles(eye_call)) == 34
    assert shown("hangzhou", "1122m3355p889s66z", "4s") == "49s"


def test_waits_beside_melds() -> None:
    from tablectl.rules.case import Meld

    melds = [Meld.model_validate(meld(t, 0)) for t in ("123m", "345s", "777z")]
    assert shown("hongkong", "99m78s", melds=melds) == "69s"


@pytest.mark.parametrize(
    ("rules", "hand", "indicator", "expected"),
    [
        ("hongkong", "123m456p23478s99s6s", None, 0),
        ("hongkong", "123m456p23478s99s", None, 1),
        ("hongkong", "19m19p19s1234567z", None, 1),
        ("hongkong", "19m19p19s1234556z", None, 1),
        ("hongkong", "1133m5577p2299s6z", None, 4),
        ("hangzhou", "1133m5577p2299s6z", "8s", 1),
        ("hangzhou", "1133m5577p2298s6z", "8s", 1),
        ("hangzhou", "1133m5577p2288s66z", "8s", 0),
        ("hangzhou", "123m456p23789s5z7z", "4s", 1),
    ],
)
def test_distance(rules: str, hand: str, indicator: str | None, expected: int) -> None:
    tile = None if indicator is None else parse_tile(indicator)
    assert distance(get(rules), parse_tiles(hand), indicator=tile) == expected


@given(seeds, st.sampled_from(IDS))
@settings(max_examples=60, deadline=None)
def test_distance_one_means_that_a_tile_completes(seed: int, rules: str) -> None:
    case = sample(rules, seed, spoil=0.8)
    (win,) = case.outcome.wins
    seat, declared = case.seats[win.seat], get(rules)
    options = declared.options(case.options)
    about = (seat.hand, seat.melds, options, case.indicator)
    far = distance(declared, *about)
    # A kind that is used up completes nothing, though the shape would take it.
    assert far <= 1 if waits(declared, *about) else far >= 1
