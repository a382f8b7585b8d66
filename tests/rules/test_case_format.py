"""Reading score cases: what is accepted, what is malformed, and what the message says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.rules.case import CaseError, ScoreCase, parse_case, read_cases
from tablectl.rules.registry import get, settle

GOOD: dict[str, Any] = {
    "id": "good",
    "rules": "hongkong",
    "options": {},
    "dealer": 0,
    "streak": 1,
    "round_wind": "E",
    "indicator": None,
    "seats": [
        {"hand": "", "melds": []},
        {"hand": "99m33p", "melds": [
            {"kind": "pung", "tiles": "222m", "from": 0, "chain": 0},
            {"kind": "pung", "tiles": "555p", "from": 3},
            {"kind": "pung", "tiles": "888s", "from": 2},
        ], "flowers": "1f", "aside": ""},
        {"hand": "", "melds": []},
        {"hand": "", "melds": []},
    ],
    "outcome": {
        "wins": [{"seat": 1, "tile": "3p", "by": "self_draw", "from": None, "flags": {}}],
        "flags": {},
    },
    "expect": {"delta": [-8, 24, -8, -8], "patterns": {"1": {"all_pungs": 3}}, "why": ""},
}  # fmt: skip


HERE = Path(__file__).parent / "cases"
PUBLISHED: list[dict[str, Any]] = [
    case for path in sorted(HERE.glob("*.json")) for case in json.loads(path.read_text())
]


def changed(path: str, value: Any) -> dict[str, Any]:
    data: Any = deepcopy(GOOD)
    *parents, last = path.split(".")
    here = data
    for key in parents:
        here = here[int(key) if isinstance(here, list) else key]
    here[int(last) if isinstance(here, list) else last] = value
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize(
    ("path", "value", "field", "says"),
    [
        ("seats.1.hand", "99m33q", "seats.1.hand", "unknown suit 'q'"),
        ("seats.1.hand", "99m330p", "seats.1.hand", "unknown tile '0p'"),
        ("seats.1.hand", "99m33", "seats.1.hand", "without a suit"),
        ("outcome.wins.0.tile", "3", "outcome.wins.0.tile", "unknown tile"),
        ("outcome.wins.0.tile", None, "outcome.wins.0", "needs the winning tile"),
        ("outcome.wins.0.by", "luck", "outcome.wins.0.by", "self_draw"),
        ("outcome.wins.0.by", "discard", "outcome.wins.0", "'from'"),
        ("outcome.wins.0.from", 2, "outcome.wins.0", "'from' must be null"),
        ("outcome.wins.0.seat", 7, "", "no seat 7"),
        ("outcome.wins.0.flags", {"flout": 1}, "outcome.wins.0.flags.flout", "no such field"),
        ("dealer", 4, "", "no seat 4"),
        ("streak", 0, "streak", "greater than or equal to 1"),
        ("streak", 2**70, "streak", "less than or equal to 1000"),
        (
            "outcome.wins.0.flags",
            {"kong_draw": 99},
            "outcome.wins.0.flags.kong_draw",
            "or equal to",
        ),
        ("round_wind", "X", "round_wind", "'E'"),
        ("seats.1.melds.0.tiles", "22m", "seats.1.melds.0", "a pung of 2 tiles"),
        ("seats.1.melds.0.kind", "pong", "seats.1.melds.0.kind", "'pung'"),
        ("seats.1.melds.0.from", 1, "", "own discard"),
        ("seats.1.melds.0.from", None, "seats.1.melds.0", "'from'"),
        ("seats.1.hnad", "1m", "seats.1.hnad", "no such field"),
        ("expect", {}, "expect", "'delta' or 'error'"),
        ("seats", [], "seats", "at least 3"),
    ],
)
def test_malformed_objects(path: str, value: Any, field: str, says: str) -> None:
    with pytest.raises(CaseError) as caught:
        parse_case(changed(path, value), source="a.json")
    assert caught.value.field == field
    text = str(caught.value)
    assert says in text
    assert text.startswith("a.json: case 'good'")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("rules", "honkong", "did you mean 'hongkong'?"),
        ("options", {"paymnt": "thrower_all"}, "did you mean 'payment'?"),
        ("options", {"payment": "nobody"}, "'thrower_all' or 'thrower_half'"),
        ("seats.0.hand", "55p11334499m12s1z", "5 copies of 5p"),
        ("seats.1.flowers", "11f", "2 copies of 1f"),
        ("seats.1.flowers", "1m", "1m is no flower"),
        ("seats.1.hand", "99m33p111333444s", "13 concealed tiles beside 3 melds"),
        ("seats.1", {"hand": "", "melds": []}, "0 concealed tiles beside 0 melds"),
        ("seats", [{}, {"hand": "99m33p222m555p888s"}, {}], "3 seats where 4 play"),
    ],
)
def test_cases_that_do_not_fit_the_rule_set(path: str, value: Any, says: str) -> None:
    data = changed(path, value)
    with pytest.raises(CaseError, match="case 'good'") as caught:
        settle(parse_case(data))
    assert says in str(caught.value)


def test_a_tile_that_the_set_lacks() -> None:
    data = changed("rules", "hangzhou")
    data["options"] = {"permanent_fortune": True}
    with pytest.raises(CaseError, match="1f is not in this set"):
        settle(parse_case(data))


def test_fields_may_be_left_out() -> None:
    data = deepcopy(GOOD)
    for name in ("options", "streak", "indicator", "expect"):
        del data[name]
    del data["outcome"]["flags"], data["outcome"]["wins"][0]["flags"]
    del data["outcome"]["wins"][0]["from"]
    assert settle(parse_case(data)).delta == (-8, 24, -8, -8)


def test_a_case_written_out_reads_back() -> None:
    case = parse_case(GOOD)
    again = parse_case(json.loads(case.model_dump_json(by_alias=True)))
    assert again == case


def test_batches_go_on(tmp_path: Path) -> None:
    path = tmp_path / "batch.json"
    path.write_text(json.dumps([GOOD, changed("dealer", 9), 5, GOOD]))
    found = list(read_cases(path))
    assert [isinstance(c, ScoreCase) for c in found] == [True, False, False, True]
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD) + "\n{")
    found = list(read_cases(path))
    assert [isinstance(c, ScoreCase) for c in found] == [True, True, False]
    assert "line 3" in str(found[2])
    path.write_text(json.dumps(GOOD))
    assert len(list(read_cases(path))) == 1
    path.write_text("")
    assert "no case" in str(next(read_cases(path)))
    assert "cannot be read" in str(next(read_cases(tmp_path / "none.json")))


def test_options_know_their_names_types_and_defaults() -> None:
    options = get("hangzhou").options({"max_loss": None, "rob_kong_min_streak": 2})
    assert (options.max_loss, options.rob_kong_min_streak, options.wall_only) == (None, 2, False)
    for bad in ({"wall_only": "yes"}, {"max_loss": 0}, {"rob_kong_min_streak": 4}):
        with pytest.raises(CaseError, match="options"):
            get("hangzhou").options(bad)


JUNK: tuple[Any, ...] = (
    None, 0, 1, 3, -1, True, "", "1m", "5z", "123m", "1f", "0z", "99999m", "self_draw",
    "discard", "rob_kong", "deal", "indicator", "flowers", "ten_honours", "chow", "joy",
    "lone_kong", [], {},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_input_gives_anything_but_a_settlement_or_a_clear_line(data: st.DataObject) -> None:
    case = deepcopy(data.draw(st.sampled_from(PUBLISHED)))
    for _ in range(data.draw(st.integers(1, 3))):
        *parents, last = data.draw(st.sampled_from([p for p in places(case) if p[0] != "expect"]))
        here: Any = case
        for key in parents:
            here = here[key]
        here[last] = deepcopy(data.draw(st.sampled_from(JUNK)))
    try:
        said = settle(parse_case(case)).lines
    except CaseError as error:
        said = (str(error),)
    assert said
    assert all(line and "\n" not in line for line in said)
