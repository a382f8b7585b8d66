"""Typed, documented, defaulted options of a rule set."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tablectl.rules.case import CaseError


class Options(BaseModel):
    """Base of every rule set's options: frozen, nothing unknown accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


OptionsT = TypeVar("OptionsT", bound=Options)


def option(default: Any, text: str, *, table: bool = False, **limits: Any) -> Any:
    """Declare an option.

    Args:
        default: the value of the document's main text.
        text: one sentence for the rule sheet.
        table: the option shapes play or the session and never changes a finished hand's score.
        limits: pydantic constraints such as ``ge``.
    """
    return Field(default=default, description=text, json_schema_extra={"table": table}, **limits)


def is_table_option(model: type[Options], name: str) -> bool:
    """Whether an option can never change the settlement of a finished hand."""
    extra = model.model_fields[name].json_schema_extra
    return isinstance(extra, Mapping) and bool(extra.get("table"))


def nearest(name: str, known: list[str]) -> str:
    """``", did you mean 'x'?"`` for the closest known name, or a list of all."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f", did you mean {close[0]!r}?" if close else f" (known: {', '.join(known)})"


def parse_options(model: type[OptionsT], values: Mapping[str, object]) -> OptionsT:
    """Read the options that differ from the defaults.

    Raises:
        CaseError: an unknown option (the nearest is named) or a value that is not allowed.
    """
    if not values:
        return cast(OptionsT, _defaults(model))
    for name in values:
        if name not in model.model_fields:
            close = nearest(name, list(model.model_fields))
            raise CaseError(f"no such option{close}", field=f"options.{name}")
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(["options", *(str(part) for part in first["loc"])])
        raise CaseError(f"{first['msg']}, not {first['input']!r}", field=field) from None


@cache
def _defaults(model: type[Options]) -> Options:
    return model()


def from_text(model: type[OptionsT], pairs: Mapping[str, str]) -> OptionsT:
    """Read options given as text (``--option key=value``): JSON where it parses, else a word.

    Raises:
        CaseError: as :func:`parse_options`.
    """
    import json

    values: dict[str, object] = {}
    for name, text in pairs.items():
        try:
            values[name] = cast(object, json.loads(text))
        except json.JSONDecodeError:
            values[name] = text
    return parse_options(model, values)
