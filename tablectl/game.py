"""The referee on the bus: inputs in, events, settlements, questions and commands out."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from firmware_protocol.events import LinkChanged
from tablectl import channels
from tablectl.messages import Request, Response
from tablectl.referee.core import Referee
from tablectl.referee.inputs import Input, Outputs, SessionPlan
from tablectl.services.bus import Bus, Entry

ANSWER_S: Final = 7.0
"""Seconds after which a request counts as not answered; displays wait a little longer."""
NOT_OF_THE_GAME: Final = frozenset({"table", "session_end"})
"""Verbs that others answer: the table and the daemon."""


class GameService:
    """Feeds the bus's inputs to a referee and publishes what follows.

    Every output carries the time of the input that it follows from, so that a replay gives the
    same stream to the byte.

    Raises:
        CaseError: the plan names an unknown rule set or option.
    """

    def __init__(self, bus: Bus, plan: SessionPlan) -> None:
        self.referee = Referee(plan)
        self._bus = bus
        for channel in channels.GAME_INPUTS:
            bus.subscribe(self._on_input, channel)

    def begin(self, t: float) -> None:
        """Publish the plan and what displays see before anything has happened."""
        self._bus.publish(channels.PLAN, self.referee.plan, t)
        self._publish(self.referee.start_output(), t)

    def _on_input(self, entry: Entry[object]) -> None:
        message = entry.message
        if isinstance(message, LinkChanged):
            return
        if isinstance(message, Request) and message.verb in NOT_OF_THE_GAME:
            return
        self._publish(self.referee.feed(entry.t, cast(Input, entry.message)), entry.t)

    def _publish(self, out: Outputs, t: float) -> None:
        for event in out.events:
            self._bus.publish(channels.EVENT, event, t)
        if out.settlement is not None:
            self._bus.publish(channels.SETTLEMENT, out.settlement, t)
        if out.questions is not None:
            self._bus.publish(channels.QUESTIONS, out.questions, t)
        if out.state is not None:
            self._bus.publish(channels.STATE, out.state, t)
        for response in out.responses:
            self._bus.publish(channels.RESPONSE, response, t)
        for command in out.commands:
            self._bus.publish(channels.COMMAND, command, t)


class RequestDesk:
    """Hands an operator's request to the bus and waits for its response."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[str, asyncio.Future[Response]] = {}
        bus.on(Response, self._on_response, channels.RESPONSE)

    def _on_response(self, entry: Entry[Response]) -> None:
        waiting = self._waiting.get(entry.message.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(entry.message)

    async def ask(self, request: Request) -> Response:
        """Publish a request at once, in the order of the calls, and wait for what became of it."""
        if request.id in self._waiting:
            error = "another request of this id is being carried out"
            return Response(id=request.id, ok=False, error=error)
        waiting: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = waiting
        try:
            self._bus.publish(channels.REQUEST, request)
            async with asyncio.timeout(ANSWER_S):
                return await waiting
        except TimeoutError:
            error = f"nobody answered within {ANSWER_S:g} s"
            return Response(id=request.id, ok=False, error=error)
        finally:
            del self._waiting[request.id]
