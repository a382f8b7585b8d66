"""Hand logs in files: a JSON array of logs, one log, or JSON lines of events.

A log is an object with ``events`` and optionally ``id``, ``title`` and ``expect``. A file of bare
events holds one hand or several; each ``start`` begins the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tablectl.engine.events import Event, EventError, parse_event


class LogError(ValueError):
    """A log that cannot be read; the message names file, place, field and problem."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event and where it stands in the file, for messages."""

    where: str
    event: Event


@dataclass(frozen=True, slots=True)
class HandLog:
    """One hand to follow.

    Attributes:
        id: the log's id, or the file's name.
        title: what it shows.
        lines: its events, read one by one so that what comes before a bad line is still played.
        expect: what the engine should say, as in the log; empty where nothing is expected.
        problem: why the rest of the log cannot be read, ``""`` where it can.
    """

    id: str
    lines: tuple[Line, ...]
    title: str = ""
    expect: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


def read_logs(path: Path) -> Iterator[HandLog]:
    """Read every hand of a file.

    Raises:
        LogError: the file cannot be read at all, or holds no log.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LogError(f"{path}: not a text file ({error.reason})") from None
    if not text.strip():
        raise LogError(f"{path}: the file is empty")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        yield from _json_lines(path, text, error)
        return
    yield from _logs_of(path, data)


def _logs_of(path: Path, data: Any) -> Iterator[HandLog]:
    if isinstance(data, Mapping) and "events" not in data:
        data = [data]
    if isinstance(data, Mapping):
        data = [data]
    if not isinstance(data, list):
        raise LogError(f"{path}: expected logs or events, got {type(data).__name__}")
    if not data:
        raise LogError(f"{path}: holds no log")
    if all(isinstance(item, Mapping) and "e" in item and "events" not in item for item in data):
        numbered = [(f"event {n}", item) for n, item in enumerate(data)]
        yield from _hands(path, numbered)
        return
    for at, item in enumerate(data):
        yield _log(path, at, item)


def _log(path: Path, at: int, item: Any) -> HandLog:
    name = f"{path.stem} #{at}"
    if not isinstance(item, Mapping):
        return HandLog(name, (), problem=f"log {at}: expected an object")
    name = str(item.get("id", name))
    events = item.get("events")
    if not isinstance(events, list):
        return HandLog(name, (), problem="field 'events': expected a list of events")
    expect = item.get("expect", {})
    problem = _expect_problem(expect)
    if problem:
        return HandLog(name, (), problem=f"field 'expect': {problem}")
    lines, problem = _parse(path, [(f"event {n}", event) for n, event in enumerate(events)])
    return HandLog(name, lines, str(item.get("title", "")), expect, problem)


def _expect_problem(expect: Any) -> str:
    if not isinstance(expect, Mapping):
        return "expected an object"
    for name in ("turn", "wall", "next"):
        if not isinstance(expect.get(name, {}), Mapping):
            return f"{name} must be an object"
    for name in ("turn", "wall"):
        bad = next((key for key in expect.get(name, {}) if not str(key).isdecimal()), None)
        if bad is not None:
            return f"{name}: {bad!r} is no event number"
    for name in ("issues", "delta"):
        if not isinstance(expect.get(name, []), list):
            return f"{name} must be a list"
    return ""


def _json_lines(path: Path, text: str, whole: json.JSONDecodeError) -> Iterator[HandLog]:
    numbered: list[tuple[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            numbered.append((f"line {number}", json.loads(line)))
        except json.JSONDecodeError as error:
            if not numbered:  # no JSON lines at all: the first complaint is the useful one
                raise LogError(f"{path}: line {whole.lineno}: not JSON ({whole.msg})") from None
            numbered.append((f"line {number}", f"not JSON ({error.msg})"))
    logs = [isinstance(item, Mapping) and "events" in item for _, item in numbered]
    if all(logs):
        for at, (_, item) in enumerate(numbered):
            yield _log(path, at, item)
    else:
        yield from _hands(path, numbered)


def _hands(path: Path, numbered: Sequence[tuple[str, Any]]) -> Iterator[HandLog]:
    """Cut a stream of events into hands at every ``start``."""
    hands: list[list[tuple[str, Any]]] = []
    for where, item in numbered:
        begins = isinstance(item, Mapping) and item.get("e") == "start"
        if begins or not hands:
            hands.append([])
        hands[-1].append((where, item))
    for number, hand in enumerate(hands, start=1):
        lines, problem = _parse(path, hand)
        name = path.stem if len(hands) == 1 else f"{path.stem} hand {number}"
        yield HandLog(name, lines, problem=problem)


def _parse(path: Path, numbered: Sequence[tuple[str, Any]]) -> tuple[tuple[Line, ...], str]:
    lines: list[Line] = []
    for where, item in numbered:
        if isinstance(item, str):
            return tuple(lines), f"{where}: {item}"
        try:
            lines.append(Line(where, parse_event(item)))
        except EventError as error:
            named = f"field {error.field!r}: " if error.field else ""
            return tuple(lines), f"{where}: {named}{error.problem}"
    return tuple(lines), ""


def differences(expect: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """What the engine said otherwise than a log expects.

    Args:
        expect: the log's ``expect``: ``issues`` [[n, id, seat]], ``turn`` and ``wall`` by event
            number, ``next``, ``delta``.
        found: the same fields as the engine gave them, complete.
    """
    wrong = []
    if "issues" in expect:
        wanted = sorted((list(issue) for issue in expect["issues"]), key=str)
        got = sorted((list(issue) for issue in found["issues"]), key=str)
        if wanted != got:
            wrong.append(f"issues: expected {wanted}, got {got}")
    for name in ("turn", "wall"):
        for n, wanted_value in expect.get(name, {}).items():
            got_value = found[name].get(int(n), "nothing")
            if got_value != wanted_value:
                wrong.append(f"{name} after event {n}: expected {wanted_value}, got {got_value}")
    following = found["next"] or {}
    for key, wanted_value in expect.get("next", {}).items():
        if following.get(key) != wanted_value:
            wrong.append(f"next {key}: expected {wanted_value}, got {following.get(key)}")
    if "delta" in expect and expect["delta"] != found["delta"]:
        wrong.append(f"delta: expected {expect['delta']}, got {found['delta']}")
    return wrong


__all__ = ["HandLog", "Line", "LogError", "differences", "read_logs"]
