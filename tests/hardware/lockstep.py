"""The chip and a host in one virtual time: what a busy machine does to either changes nothing.

The host is the product's link (`firmware_protocol.link.Link`) with the chip's clock.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import tty
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.link import HEARTBEAT_INTERVAL, Delivered, Link, Phase, SynAnswered
from firmware_protocol.peer_process import PeerProcess
from firmware_protocol.wire import Message, decode, encode

from .tools import built, firmware, mkconfig

MACHINE = 8
"""The machine, and the firmware's times for it, are so many times as fast as real ones."""
STEP = 0.005
PATIENCE = 60.0
"""Seconds of chip time for one motion."""


class Lockstep:
    """A chip with its machine, and a connected host. Entering it connects and waits for homing."""

    def __init__(
        self, folder: Path, *, machine: int = MACHINE, seed: int = 0, inertia: float = 0
    ) -> None:
        """Prepare; `inertia` is the motors' time constant in ms of the machine's time."""
        memory = folder / "eeprom.bin"
        made = subprocess.run([mkconfig(), f"scale={machine}"], check=True, stdout=subprocess.PIPE)
        memory.write_bytes(made.stdout)
        options = ["--memory", str(memory), "--machine", str(machine), "--seed", str(seed)]
        options += ["--lockstep", "--inertia", str(inertia)]
        self.process = PeerProcess(
            [built("tableplant"), firmware("tablectl.elf")], folder, options=options
        )
        self.now = 0.0
        self.link = Link()
        self.hello: m.TableHello | None = None
        self.events: list[Message] = []
        self.state: m.TableState | None = None
        self.stacks: m.Stacks | None = None
        self._next_beat = 0.0
        self._random = random.Random(seed)
        self._token = 0
        self._line = -1

    def __enter__(self) -> Lockstep:
        self.process.start()
        self._line = os.open(self.process.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._line)
        self.connect()
        self.until_ready()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._line)
        self.process.stop()

    # --- time ---

    def run(self, seconds: float) -> None:
        """Let chip time pass."""
        end = self.now + seconds
        while self.now < end:
            self.step()

    def until(self, condition: Callable[[], bool], within: float = PATIENCE) -> None:
        """Let time pass until something holds."""
        end = self.now + within
        while not condition():
            assert self.now < end, f"it did not happen within {within:g} s of chip time"
            self.step()

    def step(self) -> None:
        """One step of both ends."""
        self.now += STEP
        for event in self.link.poll(self.now):
            self._handle(event)
        if self.link.phase is Phase.OPEN and self.now >= self._next_beat:
            self._next_beat = self.now + HEARTBEAT_INTERVAL
            self.link.send_datagram(encode(m.HostHeartbeat(int(1000 * self.now))))
        output = self.link.take_output()
        if output:
            os.write(self._line, output)
        self.process.ask(f"run {round(1000 * STEP)}")
        try:
            data = os.read(self._line, 4096)
        except BlockingIOError:
            data = b""
        for event in self.link.receive(data, self.now):
            self._handle(event)

    def _handle(self, event: object) -> None:
        if isinstance(event, SynAnswered):
            hello = decode(event.payload)
            assert isinstance(hello, m.TableHello)
            self.hello = hello
        elif isinstance(event, Delivered):
            message = decode(event.payload)
            self.events.append(message)
            if isinstance(message, m.TableState):
                self.state = message
            elif isinstance(message, m.Stacks):
                self.stacks = message

    # --- the host ---

    def connect(self) -> None:
        """Shake hands and hear the state."""
        self.state = None
        hello = m.HostHello(nonce=self._random.getrandbits(32))
        self.link.open(self._random.randrange(1, 0xFFFF), encode(hello), self.now)
        self.until(lambda: self.link.phase is Phase.OPEN and self.state is not None)

    def until_ready(self) -> None:
        """Until the table is homed."""
        self.until(lambda: self.state is not None and self.state.mode is m.TableMode.READY)

    def send(self, command: m.Command) -> int:
        """Send a command; its token."""
        self._token += 1
        self.link.send(encode(replace(command, token=self._token)), self.now)
        return self._token

    def ended(self, token: int) -> m.CommandReply | None:
        """The last answer to a command, if it has come."""
        found = [
            event
            for event in self.events
            if isinstance(event, m.CommandReply)
            and event.token == token
            and event.outcome is not m.Outcome.ACCEPTED
        ]
        assert len(found) <= 1, "exactly one end"
        return found[0] if found else None

    def end_of(self, token: int) -> m.CommandReply:
        """Wait for a command's end."""
        self.until(lambda: self.ended(token) is not None)
        reply = self.ended(token)
        assert reply is not None
        return reply

    def do(self, *commands: m.Command) -> None:
        """Commands that must succeed, one after another."""
        for command in commands:
            reply = self.end_of(self.send(command))
            assert reply.outcome is m.Outcome.DONE, (command, reply, self.state)

    def fails(self, command: m.Command) -> m.FaultCode:
        """A command that must end with a fault; which."""
        reply = self.end_of(self.send(command))
        assert reply.outcome is m.Outcome.FAILED, (command, reply)
        return reply.fault

    # --- the machine ---

    def ask(self, line: str) -> None:
        """A control line."""
        self.process.ask(line)

    def snapshot(self) -> dict[str, Any]:
        """The state of chip and machine."""
        return self.process.snapshot()


def shown(probe: dict[str, Any]) -> str:
    """What the firmware says of its own times."""
    keys = ("tick_worst_us", "tick_overruns", "stack_free_low")
    return json.dumps({key: probe[key] for key in keys})
