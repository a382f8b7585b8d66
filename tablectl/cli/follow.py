"""``tablectl follow``: play hand logs through the engine and say what it thinks of every line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from tablectl.engine.events import EventError
from tablectl.engine.game import Step, apply, finish
from tablectl.engine.issues import issue_text
from tablectl.engine.logfile import HandLog, Line, LogError, differences, read_logs
from tablectl.engine.state import HandState
from tablectl.rules.case import CaseError

DIFFERS, MALFORMED = 1, 2


def follow(
    files: Annotated[
        list[Path], typer.Argument(help="Hand logs (JSON, or JSON lines).", show_default=False)
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object an event, and one for the settlement.")
    ] = False,
) -> None:
    """Play hand logs: whose turn it is, what is left in the wall, what was not allowed.

    Logs with an expectation are checked. Exit code 0: all agree; 1: some differ; 2: malformed
    input (the rest of the batch still runs).
    """
    tally: Counter[str] = Counter()
    for path in files:
        try:
            for log in read_logs(path):
                tally[_one(log, path, as_json=as_json)] += 1
        except LogError as error:
            typer.echo(str(error), err=True)
            tally["malformed"] += 1
    if not as_json:
        parts = [f"{count} {what}" for what, count in tally.items()]
        typer.echo(f"{sum(tally.values())} hands: {', '.join(parts)}")
    if tally["malformed"]:
        raise typer.Exit(MALFORMED)
    if tally["differ"]:
        raise typer.Exit(DIFFERS)


@dataclass
class _Heard:
    """What the engine said about one hand."""

    issues: list[list[Any]] = field(default_factory=list)
    turn: dict[int, int | None] = field(default_factory=dict)
    wall: dict[int, int] = field(default_factory=dict)

    def note(self, n: int, step: Step) -> None:
        self.issues += [[n, name, seat] for name, seat in step.issues]
        self.turn[n], self.wall[n] = step.turn, step.wall

    def as_found(self, state: HandState | None) -> dict[str, Any]:
        settlement = state.settlement if state is not None else None
        following = state.next if state is not None else None
        delta = settlement.delta if settlement is not None else None
        return {
            "issues": self.issues,
            "turn": self.turn,
            "wall": self.wall,
            "next": following.to_json() if following is not None else None,
            "delta": list(delta) if delta is not None else None,
        }


def _one(log: HandLog, path: Path, *, as_json: bool) -> str:
    """Play and print one hand; what to count it as."""
    if not as_json:
        typer.secho(f"{log.id}  {log.title}".rstrip(), bold=True)
    heard, state = _Heard(), None
    problem = log.problem
    for n, line in enumerate(log.lines):
        try:
            state, step = apply(state, line.event)
        except (EventError, CaseError) as error:
            problem = _where(line, error)
            break
        heard.note(n, step)
        _show_step(n, line, step, as_json=as_json)
    if problem:
        typer.echo(f"{path}: {log.id}: {problem}", err=True)
        return "malformed"
    if state is not None:
        state = finish(state)
        _show_end(log, state, as_json=as_json)
    if not log.expect:
        return "without expectation"
    wrong = differences(log.expect, heard.as_found(state))
    for difference in wrong:
        typer.secho(f"{path}: {log.id}: {difference}", fg="red", err=True)
    if not as_json:
        typer.secho("  DIFFERS" if wrong else "  ok", fg="red" if wrong else "green")
    return "differ" if wrong else "agree"


def _where(line: Line, error: EventError | CaseError) -> str:
    if isinstance(error, EventError):
        return f"{line.where}: field {error.field!r}: {error.problem}"
    named = f"field {error.field!r}: " if error.field else ""
    return f"{line.where}: {named}{error.message}"


def _show_step(n: int, line: Line, step: Step, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(step.to_json(n)))
        return
    turn = "-" if step.turn is None else str(step.turn)
    waiting = "".join(f"  {call} by {seat}" for seat, call in step.pending)
    text = f"  {n:3}  {_event_text(line):34}  turn {turn}  wall {step.wall:2}{waiting}"
    typer.echo(text.rstrip())
    for name, seat in step.issues:
        who = "" if seat is None else f" (seat {seat})"
        typer.secho(f"       ! {name}{who}: {issue_text(name)}", fg="yellow")


def _event_text(line: Line) -> str:
    data = line.event.to_json()
    kind = data.pop("e")
    if kind == "start":
        return f"start {data['rules']}, dealer {data['dealer']}"
    return " ".join([kind, *(str(v) for v in data.values() if v not in (None, ""))])


def _show_end(log: HandLog, state: HandState, *, as_json: bool) -> None:
    """The settlement and the next hand, once the hand is over."""
    if state.next is None:
        return
    settlement = state.settlement
    if as_json:
        ok = None
        if "delta" in log.expect:
            delta = None if settlement is None else settlement.delta
            ok = delta is not None and list(delta) == log.expect["delta"]
        shown = (
            None
            if settlement is None
            else {
                "id": log.id,
                **settlement.model_dump(mode="json", exclude={"payments"}),
                "ok": ok,
            }
        )
        result: dict[str, Any] = {"settlement": shown, "next": state.next.to_json()}
        if settlement is None:
            result["unsettled"] = state.unsettled
        typer.echo(json.dumps(result, ensure_ascii=False))
        return
    for text in (
        settlement.lines if settlement is not None else (f"Not settled: {state.unsettled}",)
    ):
        typer.echo(f"  {text}")
    if settlement is not None and settlement.delta is not None:
        typer.echo("  Points: " + " ".join(f"{points:+d}" for points in settlement.delta))
    following = state.next
    wind = f", round wind {following.round_wind}" if following.round_wind else ""
    over = "; the session is over" if following.over else ""
    typer.echo(f"  Next: dealer {following.dealer}, hand {following.streak} in a row{wind}{over}")
