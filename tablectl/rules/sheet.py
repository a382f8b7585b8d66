"""The rule sheet: what a club pins to the wall, generated from a rule set's declaration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from tablectl.rules.options import Options, is_table_option
from tablectl.rules.play import WallCounts
from tablectl.rules.ruleset import Equipment, RuleSet

_UNION_NONE = type(None)


def rule_sheet(rules: RuleSet[Any], options: Options) -> str:
    """The sheet as Markdown, under the chosen options."""
    return "\n".join(
        [
            f"# {rules.name} mahjong · {rules.name_zh}",
            "",
            f"After {rules.source}.",
            "",
            *_equipment(rules, options),
            *_articles(rules, options),
            *_patterns(rules),
            *_options(options),
        ]
    )


def _equipment(rules: RuleSet[Any], options: Options) -> Iterator[str]:
    kit = rules.equipment(options)
    yield from ("## Equipment", "")
    yield f"- {kit.total} tiles: {_tiles_text(kit)}."
    yield f"- {kit.seats} players; {kit.hand_size} tiles each, the dealer one more."
    yield f"- {_wall_text(kit, rules.play.wall(options, WallCounts()))}"
    yield f"- {kit.dice} dice."
    yield ""


def _wall_text(kit: Equipment, drawable: int) -> str:
    if not kit.reserve:
        return f"No tile stays in the wall: all {drawable} left after the deal can be drawn."
    if kit.reserve == 1 and kit.indicator:
        stays = "1 tile stays in the wall undrawn, the indicator"
    else:
        stays = f"{kit.reserve} tiles stay in the wall undrawn"
        stays += ", the indicator among them" if kit.indicator else ""
    return f"{stays}; {drawable} can be drawn after the deal."


def _tiles_text(kit: Equipment) -> str:
    groups = (
        ("characters 萬", range(9)),
        ("circles 筒", range(9, 18)),
        ("bamboos 索", range(18, 27)),
        ("winds 風", range(27, 31)),
        ("dragons 三元", range(31, 34)),
        ("seasons and flowers 花", range(34, 42)),
    )
    named = [(name, sum(kit.copies[i] for i in kinds)) for name, kinds in groups]
    return ", ".join(f"{count} {name}" for name, count in named if count)


def _articles(rules: RuleSet[Any], options: Options) -> Iterator[str]:
    for article in rules.articles(options):
        yield from (f"## {article.title} · {article.title_zh}", "")
        yield from (f"- {point}" for point in article.points)
        yield ""


def _patterns(rules: RuleSet[Any]) -> Iterator[str]:
    yield from (f"## Patterns ({rules.unit})", "")
    yield "| pattern | | value | what makes it |"
    yield "| --- | --- | --- | --- |"
    for pattern in rules.patterns:
        yield f"| {pattern.name} | {pattern.name_zh} | {pattern.value} | {pattern.text} |"
    yield ""


def _options(options: Options) -> Iterator[str]:
    model = type(options)
    for table, title in ((False, "Options"), (True, "Options of play and session")):
        names = [name for name in model.model_fields if is_table_option(model, name) is table]
        if not names:
            continue
        yield from (
            f"## {title}",
            "",
            "| option | chosen | default | choices | |",
            "| --- | --- | --- | --- | --- |",
        )
        for name in names:
            field = model.model_fields[name]
            chosen = getattr(options, name)
            told, usual = value_text(chosen), value_text(field.default)
            cells = (
                f"`{name}`",
                told if chosen == field.default else f"**{told}** (changed)",
                usual,
                choices_text(field.annotation),
                field.description or "",
            )
            yield f"| {' | '.join(cells)} |"
        yield ""


def value_text(value: object) -> str:
    """An option's value as it is typed on the command line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping | tuple | list):
        return json.dumps(value)
    return str(value)


def choices_text(annotation: Any) -> str:
    """The values that an option takes, in words."""
    if get_origin(annotation) is Literal:
        return ", ".join(value_text(choice) for choice in get_args(annotation))
    if annotation is bool:
        return "true, false"
    if get_origin(annotation) is Annotated:
        return choices_text(get_args(annotation)[0])
    if get_origin(annotation) is dict:
        keys, values = map(choices_text, get_args(annotation))
        return f"map from {keys} to {values}"
    if get_origin(annotation) in (tuple, list):
        return f"list of {choices_text(get_args(annotation)[0])}"
    if get_args(annotation):
        names = [choices_text(part) for part in get_args(annotation)]
        return " or ".join(names)
    return {int: "whole number", float: "number", _UNION_NONE: "null"}.get(annotation, "text")
