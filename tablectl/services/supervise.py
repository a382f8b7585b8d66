"""Tasks that live as long as a context, none of which may fail unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any


class Supervised:
    """Runs coroutines as tasks; the first failure cancels whoever entered the context.

    Leaving the context cancels the tasks and raises that first failure itself, not a group, so
    that it can be told to a person like any other error.

    Attributes:
        tasks: in the order of the coroutines.
    """

    def __init__(self, coroutines: Sequence[Coroutine[Any, Any, None]]) -> None:
        self._coroutines = coroutines
        self._failure: BaseException | None = None
        self._owner: asyncio.Task[Any] | None = None
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Supervised:
        self._owner = asyncio.current_task()
        for coroutine in self._coroutines:
            task = asyncio.create_task(coroutine)
            task.add_done_callback(self._on_done)
            self.tasks.append(task)
        return self

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None or self._failure is not None:
            return
        self._failure = task.exception()
        if self._owner is not None:
            self._owner.cancel()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure
