"""A simulated table on a pseudo-terminal or TCP port, in a thread of its own.

In a program::

    with SimulatedTable(speed=20) as table:
        client = TableClient(table.port)
        table.press(2, Button.HU)
        table.inject(Defect.HEAD_JAM, side=1)

From the shell: ``python -m firmware_protocol.simulator --link /tmp/table --speed 20``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from firmware_protocol import messages as m
from firmware_protocol.controller import NonVolatile
from firmware_protocol.endpoints import Endpoint, PtyEndpoint, SocketEndpoint
from firmware_protocol.firmware import Identity, SimulatedFirmware, powered_off
from firmware_protocol.link import LinkCounters
from firmware_protocol.noise import QUIET, Noise, NoisyLine
from firmware_protocol.plant import Defects, Plant
from firmware_protocol.wire import Message

BUSY_TICK = 0.005
"""Seconds between turns while something moves."""
IDLE_TICK = 0.02
NEVER_FREED = 99


class Defect(StrEnum):
    """What can be broken in the machine: the rows of table-machine.md's fault table."""

    HEAD_JAM = "head-jam"
    LIFT_BLOCKED = "lift-blocked"
    LIFT_DEAD = "lift-dead"
    LIMIT_TOP_STUCK = "limit-top-stuck"
    LIMIT_BOTTOM_STUCK = "limit-bottom-stuck"
    SHORT_SET = "short-set"
    TOO_MANY_TILES = "too-many-tiles"
    SENSOR_DIRTY = "sensor-dirty"
    SENSOR_FLICKERS = "sensor-flickers"
    PAN_STALL = "pan-stall"
    RING_STALL = "ring-stall"
    CENTRE_BLOCKED = "centre-blocked"
    CENTRE_DEAD = "centre-dead"
    E_STOP = "e-stop"
    COVER_OPEN = "cover-open"


@dataclass(frozen=True, slots=True)
class PlantSnapshot:
    """The machine as it really is, for tests and the session simulator."""

    mode: m.TableMode
    motion: m.Motion
    centre: float
    lifts: tuple[float, ...]
    stacks: tuple[int, ...]
    program: m.TileProgram
    walls_up: bool
    motors_on: bool
    lights: tuple[m.LightPattern, ...]
    executed: tuple[m.Command, ...]
    connected: bool
    uptime: float
    counters: LinkCounters
    events_dropped: int


class SimulatedTable:
    """A table, its firmware and its cable. All methods may be called from any thread."""

    def __init__(
        self,
        *,
        link: Path | None = None,
        socket_port: int | None = None,
        speed: float = 1.0,
        seed: int = 0,
        identity: Identity | None = None,
        noise: Noise = QUIET,
        on_emit: Callable[[Message], None] | None = None,
    ) -> None:
        """Prepare a table; entering its context (or `start`) powers it on.

        Args:
            link: name of a symbolic link to the pseudo-terminal.
            socket_port: listen on this TCP port (0: any) instead of a pseudo-terminal.
            speed: table seconds in a second; the wire stays in real time.
            seed: of everything random.
            identity: what the handshake says.
            noise: of the cable, both ways.
            on_emit: told of every event that the firmware emits, sent or not (ground truth).
        """
        if speed <= 0:
            raise ValueError(f"speed {speed} must be above 0")
        self.speed = speed
        self.identity = identity or Identity()
        self._link_name, self._socket_port = link, socket_port
        self._seed = seed
        self._on_emit = on_emit
        self._memory = NonVolatile()
        self._plant = Plant(seed)
        self._firmware: SimulatedFirmware | None = None
        self._endpoint: Endpoint | None = None
        self.to_table = NoisyLine(noise, seed=seed * 2 + 1)
        self.to_host = NoisyLine(noise, seed=seed * 2 + 2)
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._failure: BaseException | None = None
        self._wake_read, self._wake_write = -1, -1
        self._last_turn = 0.0

    # --- life ---

    def start(self) -> SimulatedTable:
        """Plug in, power on and run."""
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._stopping = False
        self._last_turn = time.monotonic()
        self.plug_in()
        self.power_on()
        self._thread = threading.Thread(target=self._run, name="simulated table", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Power off and unplug.

        Raises:
            RuntimeError: the simulation itself had failed.
        """
        self._stopping = True
        self._wake()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            os.close(self._wake_read)
            os.close(self._wake_write)
        self.unplug()
        if self._failure is not None:
            raise RuntimeError("the simulated table failed") from self._failure

    def __enter__(self) -> SimulatedTable:
        """As `start`."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """As `stop`."""
        self.stop()

    @property
    def port(self) -> str:
        """What a TableClient opens."""
        with self._lock:
            if self._endpoint is None:
                raise RuntimeError("the table is not plugged in")
            return self._endpoint.url

    # --- the table's people ---

    def press(self, seat: int, button: m.Button) -> None:
        """A player presses a button of seat 0 to 3."""
        with self._turned() as firmware:
            firmware.press(seat, button)

    def set_next_dice(self, first: int, second: int) -> None:
        """Fix the result of the next roll not yet fixed.

        Raises:
            ValueError: no such die.
        """
        if not (1 <= first <= 6 and 1 <= second <= 6):
            raise ValueError(f"dice {first}, {second}: a die shows 1 to 6")
        with self._turned() as firmware:
            firmware.controller.next_dice.append((first, second))

    def set_e_stop(self, *, is_open: bool) -> None:
        """Hit or release the emergency stop."""
        with self._lock:
            self._plant.e_stop_open = is_open
        self._wake()

    def set_cover(self, *, is_open: bool) -> None:
        """Open or close the service lid."""
        with self._lock:
            self._plant.cover_open = is_open
        self._wake()

    def add_tiles(self, side: int, tiles: int) -> None:
        """Put found tiles back into the pan, where they reach `side`."""
        with self._lock:
            self._plant.add_tiles(side, tiles)

    # --- the table's troubles ---

    def inject(self, defect: Defect, *, side: int = 0, amount: int = 0) -> None:
        """Break something.

        Args:
            defect: what.
            side: 0 to 3, where it has one.
            amount: tiles missing or too many (default 2); reversals that free a jam (default:
                none ever does).
        """
        with self._lock:
            apply_defect(self._plant, Defect(defect), side, amount)
        self._wake()

    def repair(self) -> None:
        """Mend everything, close the lid, release the emergency stop (faults stay latched)."""
        with self._lock:
            self._plant.defects = Defects()
            self._plant.e_stop_open = self._plant.cover_open = False
        self._wake()

    def power_cut(self) -> None:
        """Pull the mains: motors stop where they are."""
        with self._lock:
            if self._firmware is not None:
                self._memory = powered_off(self._memory)
            self._plant.motors.all_off()
            self._firmware = None

    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        """Start the controller."""
        with self._lock:
            self._firmware = SimulatedFirmware(
                self._plant,
                self._memory,
                identity=self.identity,
                reset_reason=reason,
                seed=self._seed,
            )
            self._firmware.on_emit = self._on_emit
        self._wake()

    def restart(self, reason: m.ResetReason = m.ResetReason.WATCHDOG) -> None:
        """Power cut and on again."""
        with self._lock:
            self.power_cut()
            self.power_on(reason)

    def unplug(self) -> None:
        """Pull the cable: the host reads an error."""
        with self._lock:
            if self._endpoint is not None:
                self._endpoint.close()
                self._endpoint = None
        if self._thread is not None:
            self._wake()

    def plug_in(self) -> None:
        """Put the cable back; a pseudo-terminal without a link may get another name."""
        with self._lock:
            if self._endpoint is not None:
                return
            if self._socket_port is not None:
                endpoint = SocketEndpoint(self._socket_port)
                self._socket_port = int(endpoint.url.rpartition(":")[2])
                self._endpoint = endpoint
            else:
                self._endpoint = PtyEndpoint(self._link_name)
        self._wake()

    def set_noise(self, noise: Noise) -> None:
        """Change the cable."""
        with self._lock:
            self.to_table.noise = self.to_host.noise = noise

    def set_silent(self, silent: bool) -> None:
        """Lose every byte both ways, the port staying open."""
        with self._lock:
            self.to_table.cut = self.to_host.cut = silent

    def write_raw(self, data: bytes) -> None:
        """Put bytes on the line to the host, as a broken or foreign device would."""
        with self._lock:
            if self._endpoint is not None:
                self._endpoint.write(data)

    # --- what is true ---

    def snapshot(self) -> PlantSnapshot:
        """The machine as it is now.

        Raises:
            RuntimeError: it has no power.
        """
        with self._lock:
            if self._firmware is None:
                raise RuntimeError("the table has no power")
            controller, plant = self._firmware.controller, self._plant
            return PlantSnapshot(
                mode=controller.mode,
                motion=controller.motion,
                centre=plant.centre,
                lifts=tuple(plant.lifts),
                stacks=tuple(self._memory.counts),
                program=self._memory.program,
                walls_up=self._memory.walls_up,
                motors_on=plant.motors.any_on,
                lights=tuple(controller.lights),
                executed=tuple(controller.executed),
                connected=controller.host_alive,
                uptime=controller.uptime,
                counters=self._firmware.link.counters,
                events_dropped=self._firmware.events_dropped,
            )

    def wait_for(self, condition: Callable[[PlantSnapshot], bool], within: float = 10.0) -> None:
        """Block until the machine meets a condition.

        Raises:
            TimeoutError: it did not within so many seconds.
        """
        end = time.monotonic() + within
        while not condition(self.snapshot()):
            if time.monotonic() > end:
                raise TimeoutError(f"the table did not get there in {within:g} s")
            time.sleep(BUSY_TICK)

    # --- inside ---

    @contextlib.contextmanager
    def _turned(self) -> Iterator[SimulatedFirmware]:
        with self._lock:
            if self._firmware is None:
                raise RuntimeError("the table has no power")
            yield self._firmware
        self._wake()

    def _wake(self) -> None:
        if self._thread is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._wake_write, b"!")

    def _run(self) -> None:
        try:
            while not self._stopping:
                with self._lock:
                    moving = self._firmware is not None and self._firmware.controller.busy
                    waiting = [self._wake_read]
                    waiting += self._endpoint.filenos() if self._endpoint else []
                ready, _, _ = _select(waiting, BUSY_TICK if moving else IDLE_TICK)
                if self._wake_read in ready:
                    os.read(self._wake_read, 512)
                with self._lock:
                    self._turn(time.monotonic())
        except Exception as error:  # noqa: BLE001 - told to the owner by stop()
            self._failure = error

    def _turn(self, now: float) -> None:
        elapsed, self._last_turn = now - self._last_turn, now
        if self._endpoint is not None:
            data = self._endpoint.read()
            if data:
                self.to_table.put(data, now)
        arrived = self.to_table.take(now)
        if self._firmware is None:
            return
        if arrived:
            self._firmware.receive(arrived, now)
        self._firmware.advance(now, elapsed * self.speed)
        output = self._firmware.link.take_output()
        if output:
            self.to_host.put(output, now)
        leaving = self.to_host.take(now)
        if leaving and self._endpoint is not None:
            self._endpoint.write(leaving)


def _select(waiting: list[int], seconds: float) -> tuple[list[int], list[int], list[int]]:
    """As select; a cable pulled meanwhile is simply not ready."""
    try:
        return select.select(waiting, [], [], seconds)
    except (OSError, ValueError):
        return [], [], []


def apply_defect(plant: Plant, defect: Defect, side: int, amount: int) -> None:
    """Break something in a machine; arguments as for `SimulatedTable.inject`."""
    defects = plant.defects
    by_side = {
        Defect.LIFT_BLOCKED: defects.blocked_lifts,
        Defect.LIFT_DEAD: defects.dead_lifts,
        Defect.LIMIT_TOP_STUCK: defects.lifts_without_top,
        Defect.LIMIT_BOTTOM_STUCK: defects.lifts_without_bottom,
        Defect.SENSOR_DIRTY: defects.dirty_sensors,
        Defect.SENSOR_FLICKERS: defects.flickering_sensors,
        Defect.RING_STALL: defects.stalled_rings,
    }
    if defect in by_side:
        by_side[defect].add(side)
    elif defect is Defect.HEAD_JAM:
        defects.jammed_heads[side] = amount or NEVER_FREED
    elif defect is Defect.SHORT_SET:
        defects.missing_tiles[side] = amount or 2
    elif defect is Defect.TOO_MANY_TILES:
        defects.surplus_tiles[side] = amount or 2
    elif defect is Defect.PAN_STALL:
        defects.pan_stalled = True
    elif defect is Defect.CENTRE_BLOCKED:
        defects.centre_blocked = True
    elif defect is Defect.CENTRE_DEAD:
        defects.centre_dead = True
    elif defect is Defect.E_STOP:
        plant.e_stop_open = True
    else:
        plant.cover_open = True


def parse_defect(text: str) -> tuple[Defect, int, int]:
    """``NAME[:SIDE[:AMOUNT]]`` as defect, side and amount.

    Raises:
        ValueError: no such defect, side or amount.
    """
    name, *numbers = text.split(":")
    try:
        defect = Defect(name)
        side, amount = (*map(int, numbers), 0, 0)[:2]
    except ValueError:
        names = ", ".join(item.value for item in Defect)
        raise ValueError(f"fault {text!r}: write NAME[:SIDE[:AMOUNT]], NAME of {names}") from None
    if side not in range(4) or amount < 0:
        raise ValueError(f"fault {text!r}: sides are 0 to 3")
    return defect, side, amount


def serve(table: SimulatedTable, faults: Sequence[tuple[Defect, int, int]]) -> None:
    """Run a table until interrupted or terminated, saying where it is plugged in."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with table:
        for defect, side, amount in faults:
            table.inject(defect, side=side, amount=amount)
        sys.stdout.write(f"{table.port}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """The shell's entry; prints the port and runs until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m firmware_protocol.simulator")
    parser.add_argument("--link", type=Path, help="symbolic link to the pseudo-terminal")
    parser.add_argument("--socket", type=int, help="listen on this TCP port instead")
    parser.add_argument("--speed", type=float, default=1.0, help="table seconds in a second")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.0, help="damage of the line, a byte")
    parser.add_argument("--delay", type=float, default=0.0, help="of the line, in seconds")
    parser.add_argument("--fault", action="append", default=[], help="NAME[:SIDE[:AMOUNT]]")
    options = parser.parse_args(arguments)
    try:
        faults = [parse_defect(text) for text in options.fault]
        table = SimulatedTable(
            link=options.link,
            socket_port=options.socket,
            speed=options.speed,
            seed=options.seed,
            noise=Noise.even(options.noise, options.delay),
        )
        serve(table, faults)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
