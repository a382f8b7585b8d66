"""The display's surroundings, all real: broker, MQTT service and web server, with a scripted table.

``python -m tests.web.stage [PORT] [VIEW]`` keeps one running to work on the page.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import TracebackType

from tablectl.messages import Message, Request, Response
from tablectl.services.broker import PrivateBroker
from tablectl.services.http import WebServer, default_static
from tablectl.services.mqtt import MqttService, RequestRefusedError
from tests.web import views

PASSWORD = "open sesame"


class Stage:
    """A table that shows what it is told and writes down what is asked of it.

    Args:
        static: the built page.
        port: 0 for a free one.
    """

    def __init__(self, static: Path | None = None, port: int = 0) -> None:
        self._static = static or default_static()
        self._wanted_port = port
        self.broker = PrivateBroker(views.TABLE)
        self.requests: list[Request] = []
        self.refuse: str | None = None
        self.url = ""

    async def __aenter__(self) -> Stage:
        await self.broker.start()
        await self.serve_mqtt()
        self._server = WebServer(self.broker.access, views.TABLE, PASSWORD, static=self._static)
        port = await self._server.start("127.0.0.1", self._wanted_port)
        self.url = f"http://127.0.0.1:{port}/"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.leave_mqtt()
        await self._server.stop()
        await self.broker.stop()

    async def serve_mqtt(self) -> None:
        """Connect the daemon's side to the broker."""
        self.mqtt = MqttService(self.broker.access, views.TABLE, self._requested)
        self._running = asyncio.create_task(self.mqtt.run())
        await asyncio.wait_for(self.mqtt.wait_connected(), 10)

    async def leave_mqtt(self) -> None:
        """Say ``offline`` and disconnect, as a daemon that is stopped."""
        self.mqtt.close()
        await self._running

    def show(self, **retained: Message) -> None:
        """Set retained topics by name."""
        for name, message in retained.items():
            self.mqtt.retain(name, message)

    async def _requested(self, request: Request) -> Response:
        self.requests.append(request)
        if self.refuse is not None:
            raise RequestRefusedError(self.refuse)
        return Response(id=request.id, ok=True)


async def _hold(port: int, view: str) -> None:
    async with Stage(port=port) as stage:
        show_view(stage, view)
        print(stage.url, "operator password:", PASSWORD, flush=True)  # noqa: T201
        await asyncio.Event().wait()


def show_view(stage: Stage, view: str) -> None:
    """Put one of the named situations on the table."""
    stage.show(health=views.health())
    match view:
        case "playing":
            stage.show(state=views.playing())
        case "call":
            stage.show(state=views.pung_called())
        case "settled":
            stage.show(settlement=views.settlement(), state=views.settled())
        case "hongkong":
            state, settlement = views.hongkong_win()
            stage.show(settlement=settlement, state=state)
        case "settling":
            stage.show(
                questions=views.winning_tile_question(),
                settlement=views.settlement(final=False),
                state=views.settling(),
            )
        case "question":
            stage.show(questions=views.river_question(), state=views.playing(open_questions=2))
        case "issue":
            stage.show(state=views.swap_discard())
        case "ailing":
            stage.show(state=views.playing(), health=views.ailing())
        case _:
            raise SystemExit(f"unknown view {view!r}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    asyncio.run(
        _hold(int(arguments[0]) if arguments else 0, arguments[1] if arguments[1:] else "playing")
    )
