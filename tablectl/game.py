"""The referee on the bus: inputs in, events, settlements, questions and commands out."""

from __future__ import annotations

from typing import cast

from firmware_protocol.events import LinkChanged
from tablectl import channels
from tablectl.messages import Response
from tablectl.referee.core import Referee
from tablectl.referee.inputs import Input, Outputs, SessionPlan
from tablectl.services.bus import Bus, Entry


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
        if isinstance(entry.message, LinkChanged):
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
    """Hands an operator's request to the bus and finds the answer to it.

    The bus delivers in order and at once, so the response is there when publishing returns.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._answers: dict[str, Response] = {}
        bus.on(Response, self._on_response, channels.RESPONSE)

    def _on_response(self, entry: Entry[Response]) -> None:
        self._answers[entry.message.id] = entry.message

    def answer_to(self, request_id: str) -> Response:
        """The response to a request that has just been published."""
        missing = Response(id=request_id, ok=False, error="nobody answers this request")
        return self._answers.pop(request_id, missing)
