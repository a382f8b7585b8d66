"""What every table must do, seen through the real client over a real port."""

import asyncio
import time
from collections.abc import Callable

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.errors import (
    ForeignDeviceError,
    LinkLostError,
    OutcomeUnknownError,
    VersionMismatchError,
    WrongTableError,
)
from firmware_protocol.events import (
    CommandAbortedError,
    CommandFailedError,
    CommandRefusedError,
    LinkChanged,
    LinkState,
    TableStatus,
)
from firmware_protocol.firmware import Identity
from firmware_protocol.framing import Frame, FrameKind, encode_frame
from firmware_protocol.noise import Noise
from firmware_protocol.simulator import Defect
from firmware_protocol.wire import Message

from .conftest import MakePeer, Peer


def ready(status: TableStatus) -> bool:
    """Connected and homed."""
    return status.table is not None and status.table.mode is m.TableMode.READY


def is_building(status: TableStatus) -> bool:
    return status.table is not None and status.table.motion is m.Motion.BUILDING


def is_state(state: LinkState) -> Callable[[TableStatus], bool]:
    return lambda status: status.link is state


def link_of(client: TableClient) -> LinkState:
    return client.status.link


async def collect(client: TableClient, *kinds: type[Message], count: int) -> list[Message]:
    found: list[Message] = []
    async with asyncio.timeout(10):
        async for event in client.events():
            if isinstance(event, kinds):
                found.append(event)
                if len(found) == count:
                    break
    return found


# --- handshake ---


async def test_handshake_tells_everything(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        hello = client.status.hello
        assert hello is not None
        assert hello.identity == m.TABLE_IDENTITY
        assert hello.protocol_major == m.PROTOCOL_MAJOR
        assert hello.reset_reason is m.ResetReason.POWER_ON
        assert m.Capability.WALLS in hello.capabilities
        assert hello.configuration_crc != 0
        assert client.status.table is not None, "positions are told, not assumed"
        assert link_of(client) is LinkState.READY
    assert link_of(client) is LinkState.CLOSED


async def test_foreign_identity_is_refused_before_any_command(make_peer: MakePeer) -> None:
    peer = make_peer(identity=Identity(identity="espresso-machine"))
    with pytest.raises(ForeignDeviceError, match="espresso-machine"):
        async with TableClient(peer.port):
            pass
    assert peer.snapshot().executed == ()


async def test_a_chattering_device_of_another_kind_is_refused(peer: Peer) -> None:
    peer.power_cut()

    async def chatter() -> None:
        while True:
            peer.write_raw(b"$GPGGA,123519,4807.038,N,01131.000,E,1,08*47\r\n")
            await asyncio.sleep(0.05)

    task = asyncio.create_task(chatter())
    try:
        with pytest.raises(ForeignDeviceError, match="another device is on this port"):
            async with TableClient(peer.port, handshake_timeout=1):
                pass
    finally:
        task.cancel()


@pytest.mark.parametrize("theirs", [m.PROTOCOL_MAJOR + 1, m.PROTOCOL_MAJOR - 1])
async def test_another_major_version_of_the_firmware(make_peer: MakePeer, theirs: int) -> None:
    peer = make_peer(identity=Identity(protocol_major=theirs))
    with pytest.raises(VersionMismatchError) as caught:
        async with TableClient(peer.port):
            pass
    assert f"protocol {theirs}.0" in str(caught.value)
    assert f"host {m.PROTOCOL_MAJOR}.0" in str(caught.value)
    assert ("update tablectl" if theirs > m.PROTOCOL_MAJOR else "tablectl flash") in str(
        caught.value
    )


@pytest.mark.parametrize("ours", [m.PROTOCOL_MAJOR + 1, m.PROTOCOL_MAJOR - 1])
async def test_the_firmware_refuses_another_major_version_of_the_host(
    peer: Peer, ours: int
) -> None:
    with pytest.raises(VersionMismatchError):
        async with TableClient(peer.port, hello=m.HostHello(protocol_major=ours)):
            pass
    assert not peer.snapshot().connected


async def test_a_later_minor_version_is_welcome(make_peer: MakePeer) -> None:
    peer = make_peer(identity=Identity(protocol_minor=m.PROTOCOL_MINOR + 1))
    async with TableClient(peer.port) as client:
        assert link_of(client) is LinkState.READY


async def test_another_table_than_configured_is_refused(peer: Peer) -> None:
    with pytest.raises(WrongTableError, match="0xbeef"):
        async with TableClient(peer.port, expected_serial=0xBEEF):
            pass


async def test_a_silent_device_is_lost_not_foreign(peer: Peer) -> None:
    peer.power_cut()
    with pytest.raises(LinkLostError, match="no answer to the handshake"):
        async with TableClient(peer.port, connect_timeout=1.5, handshake_timeout=1):
            pass


async def test_a_missing_port_says_what_to_do() -> None:
    with pytest.raises(LinkLostError, match="plugged in"):
        async with TableClient("/dev/serial/by-id/no-such-table", connect_timeout=0.3):
            pass


async def test_a_capability_that_is_missing_refuses_without_sending(make_peer: MakePeer) -> None:
    peer = make_peer(identity=Identity(capabilities=m.Capability.LIGHTS))
    async with TableClient(peer.port) as client:
        with pytest.raises(CommandRefusedError, match="cannot do that"):
            await client.command(m.RollDice())
    assert peer.snapshot().executed == ()


# --- commands and events ---


async def test_one_cycle(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        await client.command(m.OpenCentre())
        assert client.status.table is not None
        assert client.status.table.centre is m.Place.HIGH
        await client.command(m.CloseCentre())
        await client.command(m.BuildWalls(m.TileProgram.TILES_108, dealer=1))
        assert client.status.stacks is not None
        assert client.status.stacks.counts == (13, 14, 13, 14)
        await client.command(m.RaiseWalls())
        assert client.status.table.lifts is m.Place.HIGH
        await client.command(m.LowerWalls())
        await client.command(m.SelfTest())
        await client.command(m.QueryState())
        assert client.status.table_report is not None
        assert client.status.table_report.sessions == 1


async def test_the_photo_sensors_can_be_watched_while_walls_are_built(peer: Peer) -> None:
    wanted = [m.Sensor[f"{name}_{side}"] for name in ("HEAD_IN", "STACK") for side in range(4)]
    seen = m.Sensor(0)
    async with TableClient(peer.port) as client:

        def watch(event: object) -> None:
            nonlocal seen
            seen |= event.active if isinstance(event, m.SensorReport) else m.Sensor(0)

        client.subscribe(watch)
        building = asyncio.create_task(client.command(m.BuildWalls(m.TileProgram.TILES_108)))
        while not building.done() and not all(sensor in seen for sensor in wanted):
            await client.command(m.QueryState())
        await building
    assert all(sensor in seen for sensor in wanted), wanted


async def test_every_button_of_every_seat(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        reading = asyncio.create_task(collect(client, m.ButtonPressed, count=24))
        await asyncio.sleep(0)
        pressed = [(seat, button) for seat in range(4) for button in m.Button]
        for seat, button in pressed:
            peer.press(seat, button)
        events = await reading
        assert [(e.seat, e.button) for e in events if isinstance(e, m.ButtonPressed)] == pressed


async def test_dice_come_as_set(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        reading = asyncio.create_task(collect(client, m.DiceRolled, count=2))
        peer.set_next_dice(5, 2)
        peer.set_next_dice(1, 1)
        await client.command(m.RollDice())
        await client.command(m.RollDice())
        assert await reading == [m.DiceRolled(5, 2), m.DiceRolled(1, 1)]


async def test_refused_commands_say_why(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        with pytest.raises(CommandRefusedError, match="build them first") as caught:
            await client.command(m.RaiseWalls())
        assert caught.value.reply.reason is m.Reason.NOT_BUILT


async def test_accepted_is_enough_when_not_waiting_and_stop_aborts(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        building = asyncio.create_task(client.command(m.BuildWalls(m.TileProgram.TILES_144)))
        await client.wait_for(is_building, 10)
        await client.command(m.Stop())
        with pytest.raises(CommandAbortedError, match="stopped on request"):
            await building
        build = m.BuildWalls(m.TileProgram.TILES_144)
        reply = await client.command(build, wait=False)
        assert reply.outcome is m.Outcome.ACCEPTED


async def test_a_fault_is_named_latched_and_reset(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        reading = asyncio.create_task(collect(client, m.FaultRaised, count=1))
        peer.inject(Defect.HEAD_JAM, side=2)
        with pytest.raises(CommandFailedError, match="tile jam") as caught:
            await client.command(m.BuildWalls(m.TileProgram.TILES_144))
        assert caught.value.reply.fault is m.FaultCode.HEAD_JAM
        (fault,) = await reading
        assert isinstance(fault, m.FaultRaised)
        assert (fault.side, fault.cause) == (m.Side.SIDE_2, m.FaultCause.OVER_CURRENT)
        assert link_of(client) is LinkState.FAULT_LATCHED, "not LOST: a person is needed"
        with pytest.raises(CommandRefusedError, match="latched"):
            await client.command(m.OpenCentre())
        peer.repair()
        await client.command(m.ResetFault())
        assert link_of(client) is LinkState.READY
        await client.command(m.BuildWalls(m.TileProgram.TILES_144))


async def test_emergency_stop_latches(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        building = asyncio.create_task(client.command(m.BuildWalls(m.TileProgram.TILES_144)))
        await client.wait_for(is_building, 10)
        peer.set_e_stop(is_open=True)
        with pytest.raises(CommandFailedError, match="emergency stop"):
            await building
        assert not peer.snapshot().motors_on
        with pytest.raises(CommandRefusedError, match="release the switch"):
            await client.command(m.ResetFault())
        peer.set_e_stop(is_open=False)
        await client.wait_for(lambda s: s.table is not None and not s.table.e_stop_open, 2)
        with pytest.raises(CommandRefusedError):
            await client.command(m.Home())
        await client.command(m.ResetFault())
        assert link_of(client) is LinkState.READY


# --- a link that survives ---


async def test_commands_run_exactly_once_on_a_terrible_line(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        before = len(peer.snapshot().executed)
        peer.set_noise(Noise(0.004, 0.004, 0.004, 0.002, 0.004))
        for number in range(50):
            pattern = m.LightPattern(number % 4)
            await client.command(m.SetLights(m.SeatMask.ALL, pattern))
        peer.set_noise(Noise())
        executed = peer.snapshot().executed[before:]
        assert [c.pattern for c in executed if isinstance(c, m.SetLights)] == [
            m.LightPattern(number % 4) for number in range(50)
        ]
        await asyncio.sleep(0.6)
        counters = client.status.counters
        assert counters.bad_frames > 0
        assert counters.retransmissions > 0


async def test_buttons_come_once_and_in_order_on_a_terrible_line(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        reading = asyncio.create_task(collect(client, m.ButtonPressed, count=60))
        await asyncio.sleep(0)
        peer.set_noise(Noise(0.004, 0.004, 0.004, 0.002, 0.004))
        for number in range(60):
            peer.press(number % 4, m.Button(number % 6))
            await asyncio.sleep(0.01)
        events = await reading
        got = [(e.seat, e.button) for e in events if isinstance(e, m.ButtonPressed)]
        assert got == [(number % 4, number % 6) for number in range(60)]


async def test_unplugged_in_the_middle_of_a_frame_and_plugged_in_again(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        frame = encode_frame(Frame(FrameKind.DATA, 1, payload=b"half a frame"))
        peer.write_raw(frame[:7])
        peer.unplug()
        await client.wait_for(is_state(LinkState.LOST), 2)
        assert client.status.table is None, "no position is assumed"
        assert client.status.stacks is None
        with pytest.raises(LinkLostError, match="nothing was sent"):
            await client.command(m.RaiseWalls())
        peer.plug_in()
        await client.wait_for(ready, 15)
        assert client.status.reconnects >= 1
        await client.command(m.RollDice())


async def test_silence_is_noticed_and_healed(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        peer.set_silent(True)
        start = time.monotonic()
        await client.wait_for(is_state(LinkState.LOST), 8)
        assert time.monotonic() - start > 1.4, "heartbeats come every 0.5 s, the limit is 2 s"
        assert "nothing heard" in client.status.reason
        peer.set_silent(False)
        await client.wait_for(ready, 15)


async def test_a_short_silence_loses_nothing(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        peer.set_silent(True)
        rolling = asyncio.create_task(client.command(m.RollDice()))
        await asyncio.sleep(0.8)
        peer.set_silent(False)
        await rolling
        assert client.status.reconnects == 0
        dice = [c for c in peer.snapshot().executed if isinstance(c, m.RollDice)]
        assert len(dice) == 1


async def test_restart_in_the_middle_of_a_motion(make_peer: MakePeer) -> None:
    peer = make_peer(speed=5)
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        opening = asyncio.create_task(client.command(m.OpenCentre()))
        await client.wait_for(lambda s: s.table is not None and s.table.centre is m.Place.MOVING, 5)
        events = client.events()
        peer.restart(m.ResetReason.WATCHDOG)
        with pytest.raises(OutcomeUnknownError, match="OpenCentre"):
            await opening
        lost = await anext(e async for e in events if isinstance(e, LinkChanged))
        assert lost.state is LinkState.LOST
        await client.wait_for(lambda s: s.hello is not None, 5)
        assert client.status.hello is not None
        assert client.status.hello.reset_reason is m.ResetReason.WATCHDOG
        assert client.status.hello.interrupted_motion is m.Motion.OPENING_CENTRE
        await client.wait_for(ready, 10)
        assert client.status.table is not None
        assert client.status.table.centre is m.Place.LOW, "homed before anything else"
        assert peer.snapshot().executed == (), "the command was not sent again"


async def test_power_gone_and_back(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        peer.power_cut()
        await client.wait_for(is_state(LinkState.LOST), 8)
        peer.power_on()
        await client.wait_for(ready, 15)


async def test_host_lost_holds_the_table(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
    peer.wait_for(lambda plant: not plant.connected, within=10)
    assert not peer.snapshot().motors_on


async def test_garbage_on_the_line_gives_at_most_one_nak(peer: Peer) -> None:
    naks = []

    def spy(way: str, frame: Frame) -> None:
        if way == "tx" and frame.kind is FrameKind.NAK:
            naks.append(frame)

    async with TableClient(peer.port, on_frame=spy) as client:
        await client.wait_for(ready, 10)
        naks.clear()
        peer.write_raw(bytes(range(1, 101)).replace(b"\x05", b"\0"))
        peer.write_raw(b"\0\x11\x22\0\x33\0")
        await asyncio.sleep(0.1)
        assert len(naks) <= 1
        await client.command(m.RollDice())


async def test_an_event_loop_that_stalls_is_counted_and_forgiven(peer: Peer) -> None:
    async with TableClient(peer.port) as client:
        await client.wait_for(ready, 10)
        await asyncio.sleep(0.2)
        time.sleep(2.6)  # noqa: ASYNC251 - this is the stall
        await asyncio.sleep(0.3)
        assert client.status.loop_stalls >= 1
        assert client.status.reconnects == 0
        await client.command(m.RollDice())
