from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.engine.events import Draw, EventError, Meld, Start, parse_event

LOGS = Path(__file__).parent / "logs"


def all_log_events() -> list[dict[str, Any]]:
    return [
        event
        for path in sorted(LOGS.glob("*.json"))
        for log in json.loads(path.read_text())
        for event in log["events"]
    ]


def test_every_event_of_the_logs_is_written_as_it_was_read() -> None:
    events = all_log_events()
    assert len(events) > 100
    for event in events:
        assert parse_event(event).to_json() == event


def test_left_out_fields_stay_left_out() -> None:
    assert parse_event({"e": "draw", "seat": 1}).to_json() == {"e": "draw", "seat": 1}
    assert parse_event({"e": "draw", "seat": 1, "tile": None}).to_json() == {
        "e": "draw",
        "seat": 1,
        "tile": None,
    }


def test_the_field_from_is_called_source_in_python() -> None:
    event = Draw(seat=1, source="tail")
    assert event.to_json() == {"e": "draw", "seat": 1, "from": "tail"}
    assert parse_event(event.to_json()) == event


SEATS = st.integers(0, 3)
SUITED = st.builds(lambda n, s: f"{n}{s}", st.integers(1, 9), st.sampled_from("mps"))
HONOURS = st.builds(lambda n: f"{n}z", st.integers(1, 7))
TILES = SUITED | HONOURS
EVENTS = st.one_of(
    st.fixed_dictionaries({"e": st.just("discard"), "seat": SEATS, "tile": TILES}),
    st.fixed_dictionaries(
        {"e": st.just("draw"), "seat": SEATS},
        optional={"tile": st.none() | TILES, "from": st.sampled_from(["wall", "tail"])},
    ),
    st.fixed_dictionaries(
        {
            "e": st.just("call"),
            "seat": SEATS,
            "call": st.sampled_from(["hu", "kong", "pung", "chow", "pass"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "e": st.just("meld"),
            "seat": SEATS,
            "kind": st.sampled_from(["chow", "pung", "kong", "closed_kong", "added_kong"]),
            "tiles": st.lists(TILES, min_size=3, max_size=4).map("".join),
            "from": st.none() | SEATS,
        }
    ),
    st.fixed_dictionaries(
        {"e": st.just("start"), "rules": st.text(min_size=1), "dealer": SEATS},
        optional={
            "streak": st.integers(1, 9),
            "round_wind": st.none() | st.sampled_from("ESWN"),
            "hands": st.lists(st.lists(TILES).map("".join), min_size=4, max_size=4),
            "session": st.dictionaries(st.text(), st.integers()),
        },
    ),
)


@given(EVENTS)
def test_json_round_trip(event: dict[str, Any]) -> None:
    parsed = parse_event(event)
    assert parsed.to_json() == event
    assert parse_event(json.loads(parsed.to_line())) == parsed


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({}, "e"),
        ({"e": "fly"}, "e"),
        ({"e": "discard", "seat": 0}, "tile"),
        ({"e": "discard", "seat": 4, "tile": "1m"}, "seat"),
        ({"e": "discard", "seat": True, "tile": "1m"}, "seat"),
        ({"e": "discard", "seat": 0, "tile": "8z"}, "tile"),
        ({"e": "discard", "seat": 0, "tile": "12m"}, "tile"),
        ({"e": "discard", "seat": 0, "tile": "1m", "colour": "red"}, "colour"),
        ({"e": "draw", "seat": 0, "from": "sleeve"}, "from"),
        ({"e": "win", "seat": 0, "by": "magic"}, "by"),
        ({"e": "start", "rules": "hongkong", "dealer": 0, "streak": 0}, "streak"),
        ({"e": "meld", "seat": 0, "kind": "chow", "tiles": "", "from": 3}, ""),
        ("discard", ""),
    ],
)
def test_what_is_no_event_names_its_field(line: Any, field: str) -> None:
    with pytest.raises(EventError) as caught:
        parse_event(line)
    assert caught.value.field == field


def test_events_cannot_be_changed() -> None:
    event = parse_event({"e": "discard", "seat": 0, "tile": "1m"})
    with pytest.raises(ValueError, match="frozen"):
        event.seat = 1  # type: ignore[union-attr, misc]


def test_replace_validates() -> None:
    meld = Meld(seat=0, kind="pung", tiles="111m", source=1)
    assert meld.replace(tiles="222m").tiles == "222m"
    with pytest.raises(ValueError, match="unknown tile"):
        meld.replace(tiles="000m")
    assert Start(rules="x", dealer=0).replace(dealer=2).to_json() == {
        "e": "start",
        "rules": "x",
        "dealer": 2,
    }


def test_a_closed_kong_may_be_unseen() -> None:
    assert Meld(seat=0, kind="closed_kong").tiles == ""
    event = parse_event({"e": "meld", "seat": 0, "kind": "closed_kong", "tiles": None})
    assert isinstance(event, Meld)
    assert event.tiles == ""
