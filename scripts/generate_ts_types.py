"""Write the page's TypeScript types from the message models.

``python scripts/generate_ts_types.py`` writes ``web/src/messages.ts``; ``--check`` only says
whether the file is up to date (exit code 1 when it is stale).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, get_args

from tablectl import messages
from tablectl.services.asyncapi import payload_model, payload_schemas

TARGET = Path(__file__).resolve().parent.parent / "web" / "src" / "messages.ts"
_PREFIX = "#/"
_ALIASES = {"Phase": messages.Phase, "Verb": messages.Verb}
_PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def ts_type(schema: dict[str, Any]) -> str:
    """The TypeScript type of one JSON schema node."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_PREFIX)
    if "enum" in schema or "const" in schema:
        return _literals(schema.get("enum") or [schema["const"]])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(ts_type(option) for option in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        values = schema.get("additionalProperties", True)
        inner = ts_type(values) if isinstance(values, dict) else "unknown"
        return f"Readonly<Record<string, {inner}>>"
    return _PRIMITIVES.get(str(kind), "unknown")


def _literals(values: list[Any]) -> str:
    for name, alias in _ALIASES.items():
        if tuple(values) == get_args(alias):
            return name
    return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)


def _array(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"readonly [{', '.join(ts_type(item) for item in schema['prefixItems'])}]"
    inner = ts_type(schema.get("items", {}))
    return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"


def interface(name: str, schema: dict[str, Any]) -> str:
    """One ``export interface`` with its comment."""
    lines = []
    if schema.get("description"):
        text = str(schema["description"]).replace("``", "`").strip()
        lines += ["/**", *(f" * {line}".rstrip() for line in text.splitlines()), " */"]
    lines.append(f"export interface {name} {{")
    required = set(schema.get("required", ()))
    for field, node in schema.get("properties", {}).items():
        mark = "" if field in required else "?"
        lines.append(f"  readonly {field}{mark}: {ts_type(node)};")
    lines.append("}")
    return "\n".join(lines)


def render() -> str:
    """The whole file."""
    schemas = payload_schemas(ref_template=_PREFIX + "{model}")
    parts = [
        "// Generated from tablectl/messages.py by scripts/generate_ts_types.py; do not edit.",
        f"export const SCHEMA_VERSION = {messages.SCHEMA_VERSION};",
    ]
    for name, alias in _ALIASES.items():
        options = "\n".join(f"  | {json.dumps(value)}" for value in get_args(alias))
        parts.append(f"export type {name} =\n{options};")
    order = [name for name in vars(messages) if name in schemas]
    parts += [interface(name, schemas[name]) for name in order]
    parts += [_topics()]
    return "\n\n".join(parts) + "\n"


def _topics() -> str:
    payloads = []
    for topic in messages.TOPICS:
        model = payload_model(topic)
        kind = model.__name__ if model is not None else '"online" | "offline"'
        key = json.dumps(topic.name.removesuffix("/+"))
        payloads.append(f"  /** {topic.summary}{'; retained' if topic.retained else ''} */")
        payloads.append(f"  readonly {key}: {kind};")
    return "\n".join(
        [
            "/** Payload by topic name, the part after `tablectl/<table>/`; for `request` and",
            " * `response` the verb follows. */",
            "export interface Payloads {",
            *payloads,
            "}",
        ]
    )


def main() -> int:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    arguments = parser.parse_args()
    text = render()
    if arguments.check:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        if current != text:
            print(f"{TARGET} is stale: run python scripts/generate_ts_types.py", file=sys.stderr)
            return 1
        return 0
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
