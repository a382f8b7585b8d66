"""Two ends and the bad cable between them, in virtual time: no clock, no thread, no sleep."""

from __future__ import annotations

from collections.abc import Callable

from firmware_protocol import messages as m
from firmware_protocol.controller import NonVolatile
from firmware_protocol.firmware import SimulatedFirmware
from firmware_protocol.link import Delivered, Link, LinkEvent, Phase, SessionEnded, SynReceived
from firmware_protocol.noise import QUIET, Noise, NoisyLine
from firmware_protocol.plant import Plant
from firmware_protocol.wire import Message, decode, encode


class LinkPair:
    """A host's and a table's link; the table accepts every SYN."""

    def __init__(self, noise: Noise = QUIET, seed: int = 0) -> None:
        self.host, self.table = Link(), Link()
        self.to_table = NoisyLine(noise, seed=seed)
        self.to_host = NoisyLine(noise, seed=seed + 1)
        self.now = 0.0
        self.host_got: list[bytes] = []
        self.table_got: list[bytes] = []
        self.ended: list[str] = []

    def open(self, session: int = 7) -> LinkPair:
        self.host.open(session, b"hello", self.now)
        self.run_until(lambda: self.host.phase is Phase.OPEN, 10)
        return self

    def run_until(self, condition: Callable[[], bool], within: float) -> None:
        end = self.now + within
        while not condition():
            assert self.now < end, f"did not happen in {within} s of virtual time"
            self.step()

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.step()

    def step(self) -> None:
        self.now += 0.005
        self.to_table.put(self.host.take_output(), self.now)
        self._take(self.table, self.to_table.take(self.now), self.table_got)
        self.to_host.put(self.table.take_output(), self.now)
        self._take(self.host, self.to_host.take(self.now), self.host_got)

    def _take(self, link: Link, data: bytes, got: list[bytes]) -> None:
        events: list[LinkEvent] = [*link.receive(data, self.now), *link.poll(self.now)]
        for event in events:
            if isinstance(event, SynReceived):
                again = link.phase is Phase.OPEN and link.session == event.session
                link.accept(event.session, b"welcome", again=again)
            elif isinstance(event, Delivered):
                got.append(event.payload)
            elif isinstance(event, SessionEnded):
                self.ended.append(event.reason)


class VirtualTable:
    """A simulated firmware and a host link that keeps its heartbeat, in virtual time."""

    def __init__(self, noise: Noise = QUIET, seed: int = 0) -> None:
        self.plant = Plant(seed)
        self.memory = NonVolatile()
        self.firmware = SimulatedFirmware(self.plant, self.memory, seed=seed)
        self.host = Link()
        self.to_table = NoisyLine(noise, seed=2 * seed)
        self.to_host = NoisyLine(noise, seed=2 * seed + 1)
        self.now = 0.0
        self.events: list[Message] = []
        self.heartbeats = True
        self.overrun = [0] * 4
        self.checks: list[Callable[[VirtualTable], None]] = []
        self._next_beat = 0.0
        self._token = 0

    def connect(self, session: int = 7) -> VirtualTable:
        self.host.open(session, encode(m.HostHello()), self.now)
        self.run_until(lambda: self.host.phase is Phase.OPEN, 10)
        return self

    def ready(self) -> VirtualTable:
        self.connect()
        self.run_until(lambda: self.firmware.controller.mode is m.TableMode.READY, 30)
        return self

    def step(self, dt: float = 0.02) -> None:
        self.now += dt
        self.to_table.put(self.host.take_output(), self.now)
        self.firmware.receive(self.to_table.take(self.now), self.now)
        self.firmware.advance(self.now, dt)
        self.to_host.put(self.firmware.link.take_output(), self.now)
        for event in self.host.receive(self.to_host.take(self.now), self.now):
            if isinstance(event, Delivered):
                self.events.append(decode(event.payload))
        self.host.poll(self.now)
        if self.heartbeats and self.now >= self._next_beat:
            self._next_beat = self.now + 0.5
            self.host.send_datagram(encode(m.HostHeartbeat(int(self.now * 1000))))
        for check in self.checks:
            check(self)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.step()

    def run_until(self, condition: Callable[[], bool], within: float) -> None:
        end = self.now + within
        while not condition():
            assert self.now < end, f"did not happen in {within} s; last: {self.events[-5:]}"
            self.step()

    def start(self, command: m.Command) -> m.CommandReply:
        """Send and wait for the first answer."""
        return self._answer(command, final=False)

    def command(self, command: m.Command) -> m.CommandReply:
        """Send and wait for the last answer."""
        return self._answer(command, final=True)

    def _answer(self, command: m.Command, *, final: bool) -> m.CommandReply:
        self._token += 1
        values = {name: getattr(command, name) for name in command.__dataclass_fields__}
        sent = type(command)(**{**values, "token": self._token})
        self.host.send(encode(sent), self.now)
        begin = len(self.events)

        def answers() -> list[m.CommandReply]:
            return [
                event
                for event in self.events[begin:]
                if isinstance(event, m.CommandReply)
                and event.token == self._token
                and not (final and event.outcome is m.Outcome.ACCEPTED)
            ]

        self.run_until(lambda: bool(answers()), 120)
        return answers()[0]

    def faults(self) -> list[m.FaultRaised]:
        return [event for event in self.events if isinstance(event, m.FaultRaised)]
