"""What the operator asks for: of the game, of the table under the felt, of the session."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.simulator import SimulatedTable
from tablectl import channels
from tablectl.daemon import Daemon
from tablectl.game import GameService, RequestDesk
from tablectl.messages import Request, Response, TableState, Verb
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.services.bus import Bus, BusDeliveryError
from tablectl.services.clock import WallClock
from tablectl.services.supervise import Supervised
from tablectl.table_link import TableRequests

PROGRAM = 144


@dataclass
class Club:
    """A bus with the game and the table's desk on it."""

    bus: Bus
    game: GameService
    desk: RequestDesk
    ids: int = 0
    states: list[TableState] = field(default_factory=list)

    async def ask(self, verb: Verb, **args: object) -> Response:
        self.ids += 1
        return await self.desk.ask(Request(id=f"r{self.ids}", verb=verb, args=args))

    async def table(self, command: str) -> Response:
        return await self.ask("table", command=command)


def club(client: TableClient | None = None) -> Club:
    bus = Bus(WallClock())
    game = GameService(bus, SessionPlan(session="s", table="t", rules="hongkong"))
    out = Club(bus, game, RequestDesk(bus))
    bus.on(TableState, lambda entry: out.states.append(entry.message), channels.STATE)
    TableRequests(bus, client, PROGRAM, lambda: 0)
    game.begin(0.0)
    return out


@asynccontextmanager
async def table(speed: float) -> AsyncIterator[tuple[Club, SimulatedTable]]:
    with SimulatedTable(speed=speed) as machine:
        async with TableClient(machine.port) as client:
            await client.wait_for(lambda status: status.table is not None, within=20)
            await until(lambda: machine.snapshot().mode is m.TableMode.READY)
            yield club(client), machine


async def until(condition: Callable[[], bool]) -> None:
    """Wait for the machine, which has no events but those on its line."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.01)


async def test_the_centre_opens_on_request() -> None:
    async with table(speed=20) as (host, machine):
        assert (await host.table("open_centre")).ok
        await until(lambda: machine.snapshot().centre >= 0.98)


async def test_stop_passes_a_motion_that_is_under_way() -> None:
    async with table(speed=4) as (host, machine):
        assert (await host.table("open_centre")).ok
        await until(lambda: machine.snapshot().motion is not m.Motion.NONE)
        assert (await host.table("stop")).ok
        await until(lambda: not machine.snapshot().motors_on)
        assert machine.snapshot().centre < 0.98, "it stood still before the end of its way"


async def test_the_firmware_may_refuse_and_says_why() -> None:
    async with table(speed=20) as (host, machine):
        response = await host.table("raise_walls")
        assert not response.ok
        assert "refused" in response.error
        assert machine.snapshot().motion is m.Motion.NONE


async def test_commands_that_do_not_exist_are_named() -> None:
    response = await club().table("explode")
    assert not response.ok
    assert "explode" in response.error
    assert "open_centre" in response.error


async def test_without_a_table_the_response_says_so() -> None:
    response = await club().table("open_centre")
    assert not response.ok
    assert "serial.port" in response.error


async def test_seats_are_renamed() -> None:
    host = club()
    assert (await host.ask("seat", seat=2, name=" Mei ")).ok
    assert [seat.name for seat in host.states[-1].seats] == ["Seat 1", "Seat 2", "Mei", "Seat 4"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"seat": 4, "name": "Mei"}, "seats"),
        ({"seat": 0, "name": " "}, "characters"),
        ({"seat": 0, "name": "x" * 41}, "characters"),
        ({"seat": 0}, "missing argument 'name'"),
        ({"seat": "first", "name": "Mei"}, "first"),
    ],
)
async def test_bad_names_are_refused(args: dict[str, object], error: str) -> None:
    host = club()
    response = await host.ask("seat", **args)
    assert not response.ok
    assert error in response.error
    assert host.states[-1].seats[0].name == "Seat 1"


async def test_the_session_ends_on_request_once_nothing_is_open() -> None:
    host = club()
    ended = Daemon._end_on_request(host.bus, host.game)
    assert not ended.is_set()
    assert (await host.ask("session_end")).ok
    assert ended.is_set()


async def test_a_running_hand_keeps_the_session_open_unless_forced() -> None:
    host = club()
    ended = Daemon._end_on_request(host.bus, host.game)
    host.game.referee.director.stage = "preparing"
    host.bus.publish(channels.TABLE, m.DiceRolled(first=2, second=3), 1.0)
    assert host.game.referee.hand is not None
    response = await host.ask("session_end")
    assert not response.ok
    assert "force" in response.error
    assert not ended.is_set()
    assert (await host.ask("session_end", force=True)).ok
    assert ended.is_set()


async def test_two_requests_of_one_id_do_not_get_each_others_response() -> None:
    host = club()
    request = Request(id="same", verb="table", args={"command": "stop"})
    first, second = await asyncio.gather(host.desk.ask(request), host.desk.ask(request))
    assert "serial.port" in first.error
    assert "another request of this id" in second.error


async def test_a_subscriber_that_fails_behind_a_callback_ends_the_daemon() -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    bus = Bus(WallClock())
    bus.subscribe(fail)

    async def run() -> None:
        async with Supervised([Daemon._end_on_failure(bus)]):
            with contextlib.suppress(BusDeliveryError):  # as the loop does with its callbacks
                bus.publish("/somewhere", Tick())
            await asyncio.sleep(20)

    with pytest.raises(BusDeliveryError, match="ZeroDivisionError"):
        await run()
