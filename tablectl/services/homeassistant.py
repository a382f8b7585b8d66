"""Home Assistant discovery: which sensors a table has, as retained configuration messages.

Ids come from the table's id in the configuration, never from names, so that renaming a table keeps
its history. Source: Home Assistant's MQTT integration, "MQTT discovery".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from tablectl import __version__

PREFIX: Final = "homeassistant"
STATUS_TOPIC: Final = f"{PREFIX}/status"
"""Home Assistant says ``online`` here after its start; discovery is then sent again."""


@dataclass(frozen=True)
class _Entity:
    component: str
    key: str
    name: str
    topic: str
    template: str
    extra: dict[str, str] = field(default_factory=dict)


_DIAGNOSTIC: Final = {"entity_category": "diagnostic"}
_ENTITIES: Final = (
    _Entity("sensor", "phase", "Phase", "state", "{{ value_json.phase }}",
            {"icon": "mdi:table-furniture"}),
    _Entity("sensor", "hand", "Hand", "state", "{{ value_json.hand }}", {"icon": "mdi:counter"}),
    _Entity("sensor", "round_wind", "Round wind", "state", "{{ value_json.round_wind or '-' }}",
            {"icon": "mdi:compass"}),
    _Entity("sensor", "indicator", "Indicator", "state",
            "{{ value_json.indicator.tile if value_json.indicator else '-' }}",
            {"icon": "mdi:cards"}),
    _Entity("sensor", "wall", "Tiles in the wall", "state", "{{ value_json.wall }}",
            {"icon": "mdi:wall"}),
    _Entity("sensor", "turn", "Turn", "state",
            "{{ value_json.seats[value_json.turn].name if value_json.turn is not none else '-' }}",
            {"icon": "mdi:account-arrow-right"}),
    _Entity("sensor", "open_questions", "Open questions", "state",
            "{{ value_json.open_questions }}", {"icon": "mdi:help-circle"}),
    _Entity("sensor", "settlement", "Last settlement", "settlement",
            "{{ value_json.delta | join(' ') }}", {"icon": "mdi:cash-multiple"}),
    _Entity("sensor", "camera", "Camera", "health", "{{ value_json.camera }}",
            {"icon": "mdi:camera", **_DIAGNOSTIC}),
    _Entity("sensor", "link", "Table link", "health", "{{ value_json.link.state }}",
            {"icon": "mdi:serial-port", **_DIAGNOSTIC}),
    _Entity("binary_sensor", "problem", "Problem", "health",
            "{{ 'ON' if value_json.problems else 'OFF' }}",
            {"device_class": "problem", **_DIAGNOSTIC}),
)  # fmt: skip


def discovery(table: str, name: str, seats: int = 4) -> dict[str, bytes]:
    """Retained discovery messages of one table.

    Args:
        table: id of the table in the configuration.
        name: shown name of the table.
        seats: number of players.

    Returns:
        Topic to JSON payload; what a former number of seats left behind is to be cleared by
        publishing an empty payload, see :func:`stale`.
    """
    scores = (
        _Entity("sensor", f"score_{seat}", f"Score of seat {seat}", "state",
                f"{{{{ value_json.seats[{seat}].score }}}}",
                {"icon": "mdi:scoreboard", "state_class": "measurement"})
        for seat in range(seats)
    )  # fmt: skip
    entities = (*_ENTITIES, *scores)
    return {_topic(table, entity): _payload(table, name, entity) for entity in entities}


def stale(before: set[str], now: set[str]) -> list[str]:
    """Topics of an earlier discovery that must be cleared, sorted."""
    return sorted(before - now)


def _topic(table: str, entity: _Entity) -> str:
    return f"{PREFIX}/{entity.component}/tablectl_{table}/{entity.key}/config"


def _payload(table: str, name: str, entity: _Entity) -> bytes:
    base = f"tablectl/{table}"
    payload: dict[str, object] = {
        "name": entity.name,
        "unique_id": f"tablectl_{table}_{entity.key}",
        "object_id": f"tablectl_{table}_{entity.key}",
        "state_topic": f"{base}/{entity.topic}",
        "value_template": entity.template,
        "availability_topic": f"{base}/availability",
        "payload_available": "online",
        "payload_not_available": "offline",
        **entity.extra,
        "device": {
            "identifiers": [f"tablectl_{table}"],
            "name": name,
            "manufacturer": "tablectl",
            "model": "Mahjong table",
            "sw_version": __version__,
        },
        "origin": {"name": "tablectl", "sw_version": __version__},
    }
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
