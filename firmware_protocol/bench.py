"""Figures of the link, measured on this machine: ``python -m firmware_protocol.bench``."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import dataclass

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient
from firmware_protocol.events import LinkState, TableStatus
from firmware_protocol.framing import encode_frame
from firmware_protocol.link import Delivered, Link, Phase, SynReceived
from firmware_protocol.noise import Noise, NoisyLine
from firmware_protocol.simulator import SimulatedTable

BIT_ERROR_RATE = 1e-4
LINE_BYTES_PER_SECOND = 11_520
"""115,200 baud, ten bits a byte."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    name: str
    value: float
    unit: str


def bench(commands: int = 300, seconds: float = 60.0) -> list[Row]:
    """Measure everything; takes about ten seconds.

    Args:
        commands: round trips to take.
        seconds: of virtual time in which goodput is measured.
    """
    rows = asyncio.run(_over_a_pty(commands))
    rows.append(Row("frames encoded and decoded", _codec_rate(), "frames/s"))
    clean, noisy = _goodput(0.0, seconds), _goodput(BIT_ERROR_RATE, seconds)
    rows.append(Row("goodput at 115,200 baud, clean line", clean, "bytes/s"))
    rows.append(Row(f"goodput at a bit error rate of {BIT_ERROR_RATE:g}", noisy, "bytes/s"))
    return rows


async def _over_a_pty(commands: int) -> list[Row]:
    with SimulatedTable(speed=20) as table:
        async with TableClient(table.port) as client:
            await client.wait_for(_ready, 10)
            trips = sorted([await _round_trip(client) for _ in range(commands)])
            short = await _cut(table, client, 1.0)
            long = await _cut(table, client, 3.0)
            table.restart()
            await client.wait_for(lambda s: s.link is LinkState.LOST, 5)
            restarted = await _until_ready(client)
    return [
        Row("round trip of a command, p50", 1000 * statistics.median(trips), "ms"),
        Row("round trip of a command, p99", 1000 * trips[int(0.99 * (len(trips) - 1))], "ms"),
        Row("first answer after a 1 s cut", 1000 * short, "ms"),
        Row("ready again after a 3 s cut (session lost)", 1000 * long, "ms"),
        Row("ready again after the controller's restart", 1000 * restarted, "ms"),
    ]


def _ready(status: TableStatus) -> bool:
    return status.table is not None and status.table.mode is m.TableMode.READY


async def _round_trip(client: TableClient) -> float:
    start = time.perf_counter()
    await client.command(m.SetLights(m.SeatMask.ALL, m.LightPattern.ON))
    return time.perf_counter() - start


async def _cut(table: SimulatedTable, client: TableClient, seconds: float) -> float:
    """Seconds from the end of a cut of the line until the table answers a command again."""
    table.set_silent(True)
    if seconds < 2:
        waiting = asyncio.create_task(_round_trip(client))
        await asyncio.sleep(seconds)
        start = time.perf_counter()
        table.set_silent(False)
        await waiting
        return time.perf_counter() - start
    await asyncio.sleep(seconds)
    table.set_silent(False)
    return await _until_ready(client)


async def _until_ready(client: TableClient) -> float:
    start = time.perf_counter()
    await client.wait_for(_ready, 20)
    return time.perf_counter() - start


def _codec_rate() -> float:
    from firmware_protocol.framing import Frame, FrameDecoder, FrameKind

    frame = Frame(FrameKind.DATA, 7, 1, 2, bytes(range(40)))
    decoder, count = FrameDecoder(), 5000
    start = time.perf_counter()
    for _ in range(count):
        decoder.feed(encode_frame(frame))
    return count / (time.perf_counter() - start)


def _goodput(bit_error_rate: float, seconds: float) -> float:
    """Payload bytes a second, one way, over a line of 115,200 baud in virtual time."""
    noise = Noise(corrupt=1 - (1 - bit_error_rate) ** 8)
    sender, receiver = Link(), Link()
    lines = (NoisyLine(noise, seed=1), NoisyLine(noise, seed=2))
    waiting = [bytearray(), bytearray()]
    now, step, delivered = 0.0, 0.001, 0
    allowance = [0.0, 0.0]
    sender.open(5, b"hello", now)
    while now < seconds:
        now += step
        if sender.phase is Phase.OPEN and sender.queued < 2:
            sender.send(b"x" * 48, now)
        for index, (source, sink) in enumerate([(sender, receiver), (receiver, sender)]):
            waiting[index] += source.take_output()
            allowance[index] = min(allowance[index] + step * LINE_BYTES_PER_SECOND, 20)
            count = min(int(allowance[index]), len(waiting[index]))
            allowance[index] -= count
            lines[index].put(bytes(waiting[index][:count]), now)
            del waiting[index][:count]
            for event in sink.receive(lines[index].take(now), now):
                if isinstance(event, SynReceived):
                    sink.accept(event.session, b"welcome", again=sink.phase is Phase.OPEN)
                elif isinstance(event, Delivered):
                    delivered += len(event.payload)
            source.poll(now)
    return delivered / seconds


def main() -> int:
    """Print the figures."""
    for row in bench():
        sys.stdout.write(f"{row.name:<48}{row.value:>12,.1f} {row.unit}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
