"""The AsyncAPI 3 document of every topic, generated from the message models.

The models in :mod:`tablectl.messages` are the one source; ``docs/asyncapi.json`` is written from
them by ``tablectl asyncapi`` and a test fails when it is stale.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, get_args

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core import core_schema

from tablectl import __version__, messages
from tablectl.messages import TOPICS, Message, Topic

ASYNCAPI_VERSION: Final = "3.0.0"
_REFS: Final = "#/components/schemas/{model}"
_TEXT: Final = "text"


class WireSchema(GenerateJsonSchema):
    """JSON schema of what goes over the wire.

    The daemon always writes every field, so a field with a default is still required in what it
    sends; in what it receives the default stands in.
    """

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        """See the class."""
        if self.mode == "serialization":
            return True
        return super().field_is_required(field, total)


def payload_model(topic: Topic) -> type[Message] | None:
    """The model of a topic's payload; None for plain text.

    Raises:
        LookupError: the topic names a payload that ``tablectl.messages`` does not define.
    """
    if topic.payload == _TEXT:
        return None
    model = getattr(messages, topic.payload, None)
    if not (isinstance(model, type) and issubclass(model, Message)):
        raise LookupError(f"topic {topic.name!r} names an unknown payload {topic.payload!r}")
    return model


def payload_schemas(ref_template: str = _REFS) -> dict[str, dict[str, Any]]:
    """JSON schemas of all payloads and of what they contain, by model name."""
    wanted: list[tuple[type[Message], JsonSchemaMode]] = []
    for topic in TOPICS:
        model = payload_model(topic)
        if model is not None:
            wanted.append((model, "serialization" if topic.writer == "daemon" else "validation"))
    _, schema = models_json_schema(wanted, ref_template=ref_template, schema_generator=WireSchema)
    definitions: dict[str, dict[str, Any]] = schema["$defs"]
    return definitions


def document(server: str = "localhost:8765") -> dict[str, Any]:
    """The AsyncAPI document as a JSON-like value.

    Args:
        server: host and port of the daemon's web server, as displays reach it.
    """
    channels: dict[str, Any] = {}
    operations: dict[str, Any] = {}
    payloads: dict[str, Any] = {}
    for topic in TOPICS:
        key = topic.name.removesuffix("/+")
        model = payload_model(topic)
        name = model.__name__ if model is not None else "Availability"
        payloads[name] = _message(name, model)
        channels[key] = _channel(topic, name)
        operations[_operation_name(topic, key)] = _operation(topic, key)
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "id": "urn:tablectl",
        "info": {
            "title": "tablectl",
            "version": __version__,
            "description": (
                "Topics of one table. Every JSON payload carries schema_version; "
                "consumers ignore unknown fields."
            ),
            "license": {"name": "AGPL-3.0-or-later"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "page": {
                "host": server,
                "protocol": "ws",
                "pathname": "/mqtt",
                "description": "MQTT 3.1.1 or 5 over WebSocket, subprotocol mqtt, Origin checked",
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {"messages": payloads, "schemas": payload_schemas()},
    }


def render(server: str = "localhost:8765") -> str:
    """The document as it is stored in ``docs/asyncapi.json``."""
    return json.dumps(document(server), indent=2, ensure_ascii=False, sort_keys=False) + "\n"


def _message(name: str, model: type[Message] | None) -> dict[str, Any]:
    if model is None:
        return {
            "name": name,
            "contentType": "text/plain",
            "payload": {"type": "string", "enum": ["online", "offline"]},
        }
    return {
        "name": name,
        "contentType": "application/json",
        "summary": (model.__doc__ or "").strip().splitlines()[0],
        "payload": {"$ref": _REFS.format(model=name)},
    }


def _channel(topic: Topic, message: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {"table": {"description": "id of the table in the configuration"}}
    address = f"tablectl/{{table}}/{topic.name}"
    if topic.name.endswith("/+"):
        address = address.removesuffix("+") + "{verb}"
        parameters["verb"] = {
            "description": "what is asked for",
            "enum": list(get_args(messages.Verb)),
        }
    return {
        "address": address,
        "title": topic.summary,
        "messages": {message: {"$ref": f"#/components/messages/{message}"}},
        "parameters": parameters,
    }


def _operation_name(topic: Topic, key: str) -> str:
    return f"publish_{key}" if topic.writer == "daemon" else f"receive_{key}"


def _operation(topic: Topic, key: str) -> dict[str, Any]:
    action: Literal["send", "receive"] = "send" if topic.writer == "daemon" else "receive"
    operation: dict[str, Any] = {
        "action": action,
        "channel": {"$ref": f"#/channels/{key}"},
        "summary": topic.summary,
        "bindings": {"mqtt": {"qos": 1, "retain": topic.retained}},
    }
    if topic.name == "request/+":
        operation["reply"] = {"channel": {"$ref": "#/channels/response"}}
    return operation
