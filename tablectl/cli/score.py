"""``tablectl score``: settle score cases and check them against what they expect."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from tablectl.rules.case import CaseError, Expect, ScoreCase, read_cases
from tablectl.rules.registry import settle
from tablectl.rules.settlement import Settlement

DIFFERS, MALFORMED = 1, 2


def score(
    files: Annotated[
        list[Path], typer.Argument(help="Files of score cases (JSON).", show_default=False)
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line and a case.")
    ] = False,
) -> None:
    """Settle score cases: who pays whom, for what, and why.

    Cases with an expectation are checked. Exit code 0: all agree; 1: some differ; 2: malformed
    input (the rest of the batch still runs).
    """
    tally: Counter[str] = Counter()
    for path in files:
        for case in read_cases(path):
            tally[_one(case, path, as_json=as_json)] += 1
    if not as_json:
        typer.echo(_summary(tally))
    if tally["malformed"]:
        raise typer.Exit(MALFORMED)
    if tally["differ"]:
        raise typer.Exit(DIFFERS)


def _one(case: ScoreCase | CaseError, path: Path, *, as_json: bool) -> str:
    """Settle and print one case; what to count it as."""
    try:
        if isinstance(case, CaseError):
            raise case
        settlement = settle(case)
    except CaseError as error:
        typer.echo(str(error.at(source=str(path))), err=True)
        return "malformed"
    ok = None if case.expect is None else agrees(settlement, case.expect)
    if as_json:
        typer.echo(json.dumps(_as_object(case, settlement, ok), ensure_ascii=False))
    else:
        _show(case, settlement, ok)
    return {None: "without expectation", True: "agree", False: "differ"}[ok]


def agrees(settlement: Settlement, expect: Expect) -> bool:
    """Whether a settlement is what a case expects; patterns count where they are given."""
    if expect.error is not None or settlement.error is not None:
        return settlement.error == expect.error
    found = settlement.patterns or {}
    return settlement.delta == expect.delta and all(
        found.get(seat) == wanted for seat, wanted in (expect.patterns or {}).items()
    )


def _as_object(case: ScoreCase, settlement: Settlement, ok: bool | None) -> dict[str, Any]:
    return {"id": case.id, **settlement.model_dump(mode="json", exclude={"payments"}), "ok": ok}


def _show(case: ScoreCase, settlement: Settlement, ok: bool | None) -> None:
    verdict, colour = {None: ("", None), True: ("ok", "green"), False: ("DIFFERS", "red")}[ok]
    typer.secho(f"{case.id} ({case.rules})  {verdict}".rstrip(), fg=colour, bold=True)
    for line in settlement.lines:
        typer.echo(f"  {line}")
    if settlement.error:
        typer.echo(f"  Not a valid win: {settlement.error}")
    else:
        typer.echo(f"  Points: {_delta_text(settlement.delta)}")
    if ok is False and case.expect is not None:
        _show_difference(settlement, case.expect)
    typer.echo()


def _show_difference(settlement: Settlement, expect: Expect) -> None:
    wanted = expect.error or _delta_text(expect.delta)
    got = settlement.error or _delta_text(settlement.delta)
    typer.secho(f"  expected {wanted}, got {got}", fg="red")
    for seat, patterns in (expect.patterns or {}).items():
        found = (settlement.patterns or {}).get(seat)
        if found != patterns:
            typer.secho(f"  seat {seat}: expected {patterns}, got {found}", fg="red")
    if expect.why:
        typer.echo(f"  The case says: {expect.why}")


def _delta_text(delta: tuple[int, ...] | None) -> str:
    return "-" if delta is None else " ".join(f"{points:+d}" if points else "0" for points in delta)


def _summary(tally: Counter[str]) -> str:
    parts = [f"{count} {what}" for what, count in tally.items()]
    return f"{sum(tally.values())} cases: {', '.join(parts)}" if parts else "no cases"
