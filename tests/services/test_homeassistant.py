"""Discovery messages are exactly these: ids must never change, or histories are lost."""

from __future__ import annotations

import json
from pathlib import Path

from tablectl import __version__
from tablectl.messages import TOPICS
from tablectl.services.homeassistant import discovery, stale

GOLDEN = Path(__file__).parent / "data" / "homeassistant.json"


def decoded() -> dict[str, object]:
    return {topic: json.loads(payload) for topic, payload in discovery("t1", "Table one").items()}


def test_discovery_matches_the_golden_file() -> None:
    golden = GOLDEN.read_text(encoding="utf-8").replace("@VERSION@", __version__)
    assert decoded() == json.loads(golden)


def test_ids_come_from_the_table_id_not_from_its_name() -> None:
    def ids(name: str) -> list[object]:
        found = discovery("t1", name).values()
        return [json.loads(payload)["unique_id"] for payload in found]

    assert ids("Kitchen") == ids("雀卓 #1")
    assert len(set(ids("Kitchen"))) == len(ids("Kitchen"))


def test_every_state_topic_exists() -> None:
    names = {f"tablectl/t1/{topic.name}" for topic in TOPICS if topic.retained}
    for payload in discovery("t1", "x").values():
        message = json.loads(payload)
        assert message["state_topic"] in names
        assert message["availability_topic"] in names


def test_stale_topics() -> None:
    four, three = (set(discovery("t1", "x", seats=n)) for n in (4, 3))
    assert stale(four, three) == ["homeassistant/sensor/tablectl_t1/score_3/config"]
    assert stale(three, four) == []
