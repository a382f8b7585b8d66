"""``tablectl rules``: list the rule sets, or print the rule sheet of one."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from tablectl.rules.case import CaseError
from tablectl.rules.options import from_text
from tablectl.rules.registry import all_rule_sets, get
from tablectl.rules.ruleset import RuleSet
from tablectl.rules.sheet import rule_sheet

MALFORMED = 2


def rules(
    rule_set: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A rule set's id.", show_default=False)
    ] = None,
    *,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="KEY=VALUE", help="Choose an option; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """List the rule sets, or print the complete rule sheet of one with the chosen options."""
    if rule_set is None:
        _list(as_json=as_json)
        return
    try:
        chosen = get(rule_set)
        options = from_text(chosen.model, _pairs(option or []))
    except CaseError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MALFORMED) from None
    if as_json:
        values = options.model_dump(mode="json")
        typer.echo(json.dumps({**_described(chosen), "chosen": values}, ensure_ascii=False))
        return
    sheet = rule_sheet(chosen, options)
    if sys.stdout.isatty():
        Console().print(Markdown(sheet))
    else:
        typer.echo(sheet)


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise CaseError(f"{text!r} is no KEY=VALUE", field="--option")
        pairs[key.strip()] = value.strip()
    return pairs


def _list(*, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([_described(rules) for rules in all_rule_sets()], ensure_ascii=False))
        return
    table = Table("id", "name", "", "players", "tiles", "patterns", "options")
    for declared in all_rule_sets():
        kit = declared.equipment(declared.options())
        table.add_row(
            declared.id,
            declared.name,
            declared.name_zh,
            str(kit.seats),
            str(kit.total),
            str(len(declared.patterns)),
            str(len(declared.model.model_fields)),
        )
    Console().print(table)


def _described(declared: RuleSet[Any]) -> dict[str, Any]:
    kit = declared.equipment(declared.options())
    return {
        "id": declared.id,
        "name": declared.name,
        "name_zh": declared.name_zh,
        "source": declared.source,
        "seats": kit.seats,
        "tiles": kit.total,
        "unit": declared.unit,
        "patterns": [
            {"id": p.id, "name": p.name, "name_zh": p.name_zh, "value": p.value, "text": p.text}
            for p in declared.patterns
        ],
        "options": declared.model.model_json_schema()["properties"],
    }
