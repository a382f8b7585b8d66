"""Files generated from the message models are up to date and complete."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tablectl.messages import TOPICS
from tablectl.services import asyncapi

ROOT = Path(__file__).resolve().parents[2]


def test_asyncapi_file_is_up_to_date() -> None:
    stored = (ROOT / "docs" / "asyncapi.json").read_text(encoding="utf-8")
    assert stored == asyncapi.render(), "run: tablectl asyncapi --out docs/asyncapi.json"


def test_typescript_types_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_ts_types.py"), "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_topic_has_a_channel_and_an_operation() -> None:
    document = asyncapi.document()
    addresses = {channel["address"] for channel in document["channels"].values()}
    for topic in TOPICS:
        assert f"tablectl/{{table}}/{topic.name.replace('+', '{verb}')}" in addresses
    assert len(document["operations"]) == len(TOPICS)


def test_every_reference_in_the_document_resolves() -> None:
    document = asyncapi.document()

    def resolve(reference: str) -> None:
        node: Any = document
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]

    def walk(node: Any) -> int:
        count = 0
        if isinstance(node, dict):
            if "$ref" in node:
                resolve(node["$ref"])
                count += 1
            count += sum(walk(child) for child in node.values())
        elif isinstance(node, list):
            count += sum(walk(child) for child in node)
        return count

    assert walk(json.loads(asyncapi.render())) > 2 * len(TOPICS)
