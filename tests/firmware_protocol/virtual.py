"""Two ends and the bad cable between them, in virtual time: no clock, no thread, no sleep."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tty
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.controller import NonVolatile
from firmware_protocol.firmware import SimulatedFirmware, powered_off
from firmware_protocol.link import (
    DatagramReceived,
    Delivered,
    Link,
    LinkEvent,
    Phase,
    SessionEnded,
    SynReceived,
)
from firmware_protocol.noise import QUIET, Noise, NoisyLine
from firmware_protocol.peer_process import PeerProcess
from firmware_protocol.plant import Defects, Plant
from firmware_protocol.simulator import Defect, apply_defect
from firmware_protocol.wire import Message, decode, encode

from .peers import executed_command


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


class VirtualTable(ABC):
    """A table in virtual time and a host link that keeps its heartbeat."""

    def __init__(self, noise: Noise = QUIET, seed: int = 0) -> None:
        self.host = Link()
        self.to_table = NoisyLine(noise, seed=2 * seed)
        self.to_host = NoisyLine(noise, seed=2 * seed + 1)
        self.now = 0.0
        self.events: list[Message] = []
        self.banners: list[m.TableHello] = []
        """What the table has said of itself at its starts, unasked."""
        self.heartbeats = True
        self.checks: list[Callable[[VirtualTable], None]] = []
        self._next_beat = 0.0
        self._token = 0

    # --- what each kind does in its own way ---

    @abstractmethod
    def _exchange(self, data: bytes, dt: float) -> bytes:
        """Give the table bytes, let `dt` seconds pass until `now`, return its bytes."""

    @property
    @abstractmethod
    def mode(self) -> m.TableMode:
        """What the controller is doing."""

    @property
    @abstractmethod
    def motion(self) -> m.Motion:
        """The motion under way."""

    @property
    @abstractmethod
    def counts(self) -> list[int]:
        """Stacks that the controller has counted, a side."""

    @property
    @abstractmethod
    def pushed(self) -> list[int]:
        """Stacks that the heads have really pushed, a side, since the machine was made."""

    @property
    @abstractmethod
    def lifts(self) -> list[float]:
        """Where the trays are: 0 down, 1 up."""

    @property
    @abstractmethod
    def centre(self) -> float:
        """Where the panel is: 0 closed, 1 open."""

    @property
    @abstractmethod
    def centre_direction(self) -> int:
        """Where the panel is driven: -1, 0, 1."""

    @property
    @abstractmethod
    def motors_on(self) -> bool:
        """Whether the controller drives any motor."""

    @property
    @abstractmethod
    def lights(self) -> list[m.LightPattern]:
        """Of the seats."""

    @property
    @abstractmethod
    def executed(self) -> list[m.Command]:
        """Commands accepted since the start (of the core: the last 64)."""

    @abstractmethod
    def inject(self, defect: Defect, side: int = 0, amount: int = 0) -> None:
        """Break something."""

    @abstractmethod
    def repair(self) -> None:
        """Mend everything."""

    @abstractmethod
    def add_tiles(self, side: int, tiles: int) -> None:
        """Found tiles go back into the pan."""

    @abstractmethod
    def set_e_stop(self, *, is_open: bool) -> None:
        """Hit or release the emergency stop."""

    @abstractmethod
    def press(self, seat: int, button: m.Button) -> None:
        """A player presses a button."""

    @abstractmethod
    def set_next_dice(self, first: int, second: int) -> None:
        """Fix the next roll."""

    @abstractmethod
    def power_cut(self) -> None:
        """Pull the mains; the session is gone."""

    @abstractmethod
    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        """Start the controller."""

    @abstractmethod
    def violations(self) -> list[str]:
        """What was unsafe since the start, seen from outside the controller."""

    # --- the host's end ---

    def connect(self, session: int = 7, nonce: int = 0) -> VirtualTable:
        self.host.open(session, encode(m.HostHello(nonce=nonce)), self.now)
        self.run_until(lambda: self.host.phase is Phase.OPEN, 10)
        return self

    def ready(self) -> VirtualTable:
        self.connect()
        self.run_until(lambda: self.mode is m.TableMode.READY, 30)
        return self

    def cut(self, is_cut: bool = True) -> None:
        """Pull the cable, or plug it in again; the host's heartbeats stop and go on with it."""
        self.heartbeats = not is_cut
        self.to_table.cut = self.to_host.cut = is_cut

    def step(self, dt: float = 0.04) -> None:
        self.now += dt
        self.to_table.put(self.host.take_output(), self.now)
        self.to_host.put(self._exchange(self.to_table.take(self.now), dt), self.now)
        for event in self.host.receive(self.to_host.take(self.now), self.now):
            if isinstance(event, Delivered):
                self.events.append(decode(event.payload))
            elif isinstance(event, DatagramReceived) and not event.session:
                banner = decode(event.payload)
                assert isinstance(banner, m.TableHello)
                self.banners.append(banner)
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

    def rest(self, within: float = 90) -> None:
        """Until no motion is under way."""
        self.run_until(lambda: self.motion is m.Motion.NONE, within)

    def start(self, command: m.Command) -> m.CommandReply:
        """Send and wait for the first answer."""
        return self._answer(command, final=False)

    def command(self, command: m.Command) -> m.CommandReply:
        """Send and wait for the last answer."""
        return self._answer(command, final=True)

    def _answer(self, command: m.Command, *, final: bool) -> m.CommandReply:
        self._token = self._token % 0xFFFF + 1
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

    def state(self) -> m.TableState:
        """The state as the table tells it when asked."""
        self.command(m.QueryState())
        return [event for event in self.events if isinstance(event, m.TableState)][-1]

    def link_report(self) -> m.LinkReport:
        """The table's counters as it tells them when asked."""
        self.command(m.QueryState())
        return [event for event in self.events if isinstance(event, m.LinkReport)][-1]


class VirtualSimulator(VirtualTable):
    """The table written in Python."""

    def __init__(self, noise: Noise = QUIET, seed: int = 0) -> None:
        super().__init__(noise, seed)
        self.plant = Plant(seed)
        self.memory = NonVolatile()
        self.seed = seed
        self.firmware: SimulatedFirmware | None = None
        self._overrun = [0] * 4
        self._violations: list[str] = []
        self.power_on()

    @property
    def running(self) -> SimulatedFirmware:
        assert self.firmware is not None, "no power"
        return self.firmware

    def _exchange(self, data: bytes, dt: float) -> bytes:
        if self.firmware is None:
            return b""
        self.firmware.receive(data, self.now)
        self.firmware.advance(self.now, dt)
        self._watch()
        return self.firmware.link.take_output()

    def _watch(self) -> None:
        plant, inputs = self.plant, self.plant.inputs()
        if plant.e_stop_open and plant.motors.any_on:
            self._violations.append("a motor is on with E_STOP open")
        for side in range(4):
            direction = plant.motors.lift[side]
            at_end = inputs.lift_top[side] if direction > 0 else inputs.lift_bottom[side]
            self._overrun[side] = self._overrun[side] + 1 if direction and at_end else 0
            if self._overrun[side] > 2:
                self._violations.append("a tray is driven with its limit reached")

    @property
    def mode(self) -> m.TableMode:
        return self.running.controller.mode

    @property
    def motion(self) -> m.Motion:
        return self.running.controller.motion

    @property
    def counts(self) -> list[int]:
        return list(self.memory.counts)

    @property
    def pushed(self) -> list[int]:
        return list(self.plant.stack_count)

    @property
    def lifts(self) -> list[float]:
        return list(self.plant.lifts)

    @property
    def centre(self) -> float:
        return self.plant.centre

    @property
    def centre_direction(self) -> int:
        return self.plant.motors.centre

    @property
    def motors_on(self) -> bool:
        return self.plant.motors.any_on

    @property
    def lights(self) -> list[m.LightPattern]:
        return list(self.running.controller.lights)

    @property
    def executed(self) -> list[m.Command]:
        return list(self.running.controller.executed)

    def inject(self, defect: Defect, side: int = 0, amount: int = 0) -> None:
        apply_defect(self.plant, defect, side, amount)

    def repair(self) -> None:
        self.plant.defects = Defects()
        self.plant.e_stop_open = self.plant.cover_open = False

    def add_tiles(self, side: int, tiles: int) -> None:
        self.plant.add_tiles(side, tiles)

    def set_e_stop(self, *, is_open: bool) -> None:
        self.plant.e_stop_open = is_open

    def press(self, seat: int, button: m.Button) -> None:
        self.running.press(seat, button)

    def set_next_dice(self, first: int, second: int) -> None:
        self.running.controller.next_dice.append((first, second))

    def power_cut(self) -> None:
        self.memory = powered_off(self.memory)
        self.plant.motors.all_off()
        self.firmware = None
        self.host.close()

    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        self.firmware = SimulatedFirmware(
            self.plant, self.memory, reset_reason=reason, seed=self.seed
        )

    def violations(self) -> list[str]:
        return self._violations


class _LoggedCommand(ctypes.LittleEndianStructure):
    _pack_ = 1
    _fields_ = [
        ("id", ctypes.c_uint8),
        ("token", ctypes.c_uint16),
        ("arguments", ctypes.c_uint8 * 2),
    ]


class Probe(ctypes.LittleEndianStructure):
    """``probe_t`` of hardware/firmware/core/probe.h."""

    _pack_ = 1
    _fields_ = [
        ("magic", ctypes.c_uint16),
        ("mode", ctypes.c_uint8),
        ("motion", ctypes.c_uint8),
        ("connected", ctypes.c_uint8),
        ("program", ctypes.c_uint8),
        ("walls_up", ctypes.c_uint8),
        ("counts", ctypes.c_uint8 * 4),
        ("targets", ctypes.c_uint8 * 4),
        ("lights", ctypes.c_uint8 * 4),
        ("stackings", ctypes.c_uint16),
        ("rolls", ctypes.c_uint16),
        ("uptime_ms", ctypes.c_uint32),
        ("events_dropped", ctypes.c_uint16),
        ("tick_worst_us", ctypes.c_uint16),
        ("tick_overruns", ctypes.c_uint16),
        ("stack_free_low", ctypes.c_uint16),
        ("executed", ctypes.c_uint16),
        ("log", _LoggedCommand * 64),
    ]


def load_core(folder: Path) -> ctypes.CDLL:
    """``libtable.so`` of hardware/firmware with the types of its functions."""
    library = ctypes.CDLL(str(folder / "libtable.so"))
    world, number = ctypes.c_void_p, ctypes.c_uint32
    signatures: dict[str, tuple[object, Sequence[object]]] = {
        "world_new": (world, [number]),
        "world_free": (None, [world]),
        "world_power_off": (None, [world]),
        "world_power_on": (None, [world, ctypes.c_uint8]),
        "world_receive": (None, [world, ctypes.c_char_p, ctypes.c_size_t, number]),
        "world_advance": (None, [world, number, number]),
        "world_take_output": (ctypes.c_size_t, [world, ctypes.c_char_p, ctypes.c_size_t]),
        "world_control": (None, [world, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
        "world_probe": (ctypes.POINTER(Probe), []),
        "world_motor_pin": (ctypes.c_int, [world, ctypes.c_int]),
        "world_direction": (ctypes.c_int, [world, ctypes.c_int]),
        "world_place": (ctypes.c_double, [world, ctypes.c_int]),
        "world_pushed": (ctypes.c_int, [world, ctypes.c_int]),
        "world_violations": (ctypes.c_int, [world]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


MOTORS = 18
CENTRE_MOTOR = 17


class VirtualCore(VirtualTable):
    """The firmware's core compiled for this machine. One at a time: its probe is one."""

    def __init__(self, library: ctypes.CDLL, noise: Noise = QUIET, seed: int = 0) -> None:
        super().__init__(noise, seed)
        self._c = library
        self._world = library.world_new(seed)
        self._probe: Probe = library.world_probe().contents
        self._buffer = ctypes.create_string_buffer(4096)
        self._owed = 0.0
        self.power_on()

    def close(self) -> None:
        self._c.world_free(self._world)

    def control(self, line: str) -> str:
        """A control line; what stands after ``ok``."""
        reply = ctypes.create_string_buffer(8192)
        self._c.world_control(self._world, line.encode(), reply, len(reply) - 1)
        text = reply.value.decode()
        assert text.startswith("ok"), f"{line}: {text}"
        return text[2:].strip()

    def _exchange(self, data: bytes, dt: float) -> bytes:
        wire = round(self.now * 1000)
        if data:
            self._c.world_receive(self._world, data, len(data), wire)
        self._owed += dt * 1000
        ticks = int(self._owed)
        self._owed -= ticks
        self._c.world_advance(self._world, wire, ticks)
        length = self._c.world_take_output(self._world, self._buffer, len(self._buffer))
        return self._buffer.raw[:length]

    @property
    def mode(self) -> m.TableMode:
        return m.TableMode(self._probe.mode)

    @property
    def motion(self) -> m.Motion:
        return m.Motion(self._probe.motion)

    @property
    def counts(self) -> list[int]:
        return list(self._probe.counts)

    @property
    def pushed(self) -> list[int]:
        return [self._c.world_pushed(self._world, side) for side in range(4)]

    @property
    def lifts(self) -> list[float]:
        return [self._c.world_place(self._world, side) for side in range(4)]

    @property
    def centre(self) -> float:
        return float(self._c.world_place(self._world, 4))

    @property
    def centre_direction(self) -> int:
        return int(self._c.world_direction(self._world, CENTRE_MOTOR))

    @property
    def motors_on(self) -> bool:
        return any(self._c.world_motor_pin(self._world, motor) for motor in range(MOTORS))

    @property
    def lights(self) -> list[m.LightPattern]:
        return [m.LightPattern(pattern) for pattern in self._probe.lights]

    @property
    def executed(self) -> list[m.Command]:
        count = self._probe.executed
        entries = [self._probe.log[n % 64] for n in range(max(0, count - 64), count)]
        return [executed_command((e.id, e.token, *e.arguments)) for e in entries]

    def inject(self, defect: Defect | str, side: int = 0, amount: int = 0) -> None:
        self.control(f"fault {defect}:{side}:{amount}")

    def repair(self) -> None:
        self.control("repair")

    def add_tiles(self, side: int, tiles: int) -> None:
        self.control(f"add-tiles {side} {tiles}")

    def set_e_stop(self, *, is_open: bool) -> None:
        self.control(f"e-stop {'open' if is_open else 'closed'}")

    def press(self, seat: int, button: m.Button) -> None:
        self.control(f"press {seat} {int(button)}")

    def set_next_dice(self, first: int, second: int) -> None:
        self.control(f"dice {first} {second}")

    def power_cut(self) -> None:
        self._c.world_power_off(self._world)
        self.host.close()

    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        self._c.world_power_on(self._world, int(reason))

    def violations(self) -> list[str]:
        count = self._c.world_violations(self._world)
        return [self.control("snapshot")] if count else []


class VirtualChip(VirtualTable):
    """The firmware's ELF in simavr, which lets no time pass but what it is told to."""

    def __init__(self, command: Sequence[str], folder: Path, noise: Noise, seed: int) -> None:
        super().__init__(noise, seed)
        options = ["--seed", str(seed), "--lockstep"]
        self.process = PeerProcess(command, folder, name="chip", options=options).start()
        self._line = os.open(self.process.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._line)
        self._owed = 0.0

    def close(self) -> None:
        os.close(self._line)
        self.process.stop()

    def _exchange(self, data: bytes, dt: float) -> bytes:
        if data:
            os.write(self._line, data)
        self._owed += dt * 1000
        ticks = int(self._owed)
        self._owed -= ticks
        self.process.ask(f"run {ticks}")
        with contextlib.suppress(BlockingIOError):
            return os.read(self._line, 4096)
        return b""

    @property
    def _probe(self) -> dict[str, Any]:
        probe: dict[str, Any] = self.process.snapshot()["probe"]
        return probe

    @property
    def mode(self) -> m.TableMode:
        return m.TableMode(self._probe["mode"])

    @property
    def motion(self) -> m.Motion:
        return m.Motion(self._probe["motion"])

    @property
    def counts(self) -> list[int]:
        return list(self._probe["counts"])

    @property
    def pushed(self) -> list[int]:
        return list(self.process.snapshot()["stacks"])

    @property
    def lifts(self) -> list[float]:
        return list(self.process.snapshot()["lifts"])

    @property
    def centre(self) -> float:
        return float(self.process.snapshot()["centre"])

    @property
    def centre_direction(self) -> int:
        return "-.+".index(self.process.snapshot()["motors"][CENTRE_MOTOR]) - 1

    @property
    def motors_on(self) -> bool:
        return bool(self.process.snapshot()["motors_on"])

    @property
    def lights(self) -> list[m.LightPattern]:
        return [m.LightPattern(pattern) for pattern in self._probe["lights"]]

    @property
    def executed(self) -> list[m.Command]:
        log = self._probe["log"]
        return [executed_command((e["id"], e["token"], *e["arguments"])) for e in log]

    def inject(self, defect: Defect | str, side: int = 0, amount: int = 0) -> None:
        self.process.ask(f"fault {defect}:{side}:{amount}")

    def repair(self) -> None:
        self.process.ask("repair")

    def add_tiles(self, side: int, tiles: int) -> None:
        self.process.ask(f"add-tiles {side} {tiles}")

    def set_e_stop(self, *, is_open: bool) -> None:
        self.process.ask(f"e-stop {'open' if is_open else 'closed'}")

    def press(self, seat: int, button: m.Button) -> None:
        self.process.ask(f"press {seat} {int(button)}")

    def set_next_dice(self, first: int, second: int) -> None:
        self.process.ask(f"dice {first} {second}")

    def power_cut(self) -> None:
        self.process.ask("power off")
        self.host.close()

    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        self.process.ask(f"power on {reason.name.lower().replace('_', '-')}")
        # Before its first round nothing that it has kept is to be read yet.
        while not (self.process.snapshot()["probe"] or {}).get("uptime_ms"):
            self.step(0.001)

    def violations(self) -> list[str]:
        found = self.process.snapshot()["violations"]
        return [f"{name}: {count}" for name, count in found.items() if count]
