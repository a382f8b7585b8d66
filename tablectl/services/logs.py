"""Where log lines go: standard error, so that what a command prints stays clean."""

from __future__ import annotations

import logging
import sys
from typing import Final

import structlog

_LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def configure(level: str = "warning", *, as_json: bool = False) -> None:
    """Set up logging for this process.

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``.
        as_json: one JSON object a line instead of text for people.
    """
    renderer: structlog.typing.Processor = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    if as_json:
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=False),
    ]
    if as_json:
        processors.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=_StderrFactory(),
        cache_logger_on_first_use=False,
    )
    # aiomqtt and aiohttp use the standard library's logging.
    logging.basicConfig(level=max(_LEVELS[level], logging.WARNING), stream=sys.stderr, force=True)


class _StderrFactory:
    """Makes loggers that write to what standard error is at that moment."""

    def __call__(self, *_: object) -> structlog.PrintLogger:
        return structlog.PrintLogger(sys.stderr)
