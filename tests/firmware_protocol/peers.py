"""Tables that are processes of their own, behind the same face as `SimulatedTable`.

The process has a pseudo-terminal and control lines (hardware/firmware/README.md). Between it and
the client stands a relay: the cable, which tests make noisy, silent, or pull out.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import struct
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.endpoints import Endpoint, PtyEndpoint, SocketEndpoint
from firmware_protocol.firmware import Identity
from firmware_protocol.link import LinkCounters
from firmware_protocol.noise import Noise, NoisyLine
from firmware_protocol.peer_process import PeerProcess
from firmware_protocol.simulator import Defect, PlantSnapshot
from firmware_protocol.wire import Message, all_messages, decode

FIRMWARE = Path(__file__).parent.parent.parent / "hardware" / "firmware"
_RELAY_TICK = 0.002
_IDENTITY = struct.Struct("<16s5BH")
_STDERR = 2
"""The file itself: ``sys.stderr`` may be a test's own, which programs can't write to."""
_SIZES = {spec.id: spec.size for spec in all_messages()}


@cache
def missing_tools(*tools: str) -> str:
    """Which of these programs are not installed, for the reason of a skip; empty: none."""
    return ", ".join(tool for tool in tools if shutil.which(tool) is None)


@cache
def missing_for_the_chip() -> str:
    """What this machine lacks to build the firmware and run it in simavr; empty: nothing."""
    missing = missing_tools("make", "cc", "avr-gcc", "pkg-config")
    if missing:
        return missing
    found = subprocess.run(["pkg-config", "--exists", "simavr", "libelf"], check=False)
    return "" if found.returncode == 0 else "libsimavr-dev, libelf-dev"


@cache
def make_firmware(target: str) -> Path:
    """Build a target of hardware/firmware and return its folder of results.

    Raises:
        subprocess.CalledProcessError: it does not build; the compiler's words are on stderr.
    """
    subprocess.run(["make", "-s", "-C", str(FIRMWARE), target], check=True, stdout=_STDERR)
    return FIRMWARE / "build" / target


@cache
def make_plant() -> Path:
    """Build the plant on simavr and return its program.

    Raises:
        subprocess.CalledProcessError: it does not build.
    """
    plant = FIRMWARE.parent / "plant"
    subprocess.run(["make", "-s", "-C", str(plant)], check=True, stdout=_STDERR)
    return plant / "build" / "tableplant"


def identity_patch(identity: Identity) -> str:
    """The argument of ``--patch`` that makes a firmware say it is another."""
    packed = _IDENTITY.pack(
        identity.identity.encode("ascii"),
        identity.protocol_major,
        identity.protocol_minor,
        *identity.firmware,
        identity.capabilities & 0xFFFF,
    )
    return f"tc_identity={packed.hex()}"


def executed_command(entry: Sequence[int]) -> m.Command:
    """A command from the probe's log: id, token and two bytes of arguments."""
    number, token, *arguments = entry
    payload = bytes((number,)) + token.to_bytes(2, "little") + bytes(arguments)
    command: Message = decode(payload[: _SIZES[number]])
    assert isinstance(command, m.Command)
    return command


def snapshot_of(state: dict[str, Any]) -> PlantSnapshot:
    """The answer to ``snapshot`` as `SimulatedTable.snapshot` gives it."""
    probe = state["probe"]
    return PlantSnapshot(
        mode=m.TableMode(probe["mode"]),
        motion=m.Motion(probe["motion"]),
        centre=state["centre"],
        lifts=tuple(state["lifts"]),
        stacks=tuple(probe["counts"]),
        program=m.TileProgram(probe["program"]),
        walls_up=bool(probe["walls_up"]),
        motors_on=state["motors_on"],
        lights=tuple(m.LightPattern(pattern) for pattern in probe["lights"]),
        executed=tuple(
            executed_command((entry["id"], entry["token"], *entry["arguments"]))
            for entry in probe["log"]
        ),
        connected=bool(probe["connected"]),
        uptime=probe["uptime_ms"] / 1000,
        counters=LinkCounters(),
        events_dropped=probe["events_dropped"],
    )


class Cable:
    """Carries bytes between the client's port and the process's, in a thread of its own."""

    def __init__(self, inner: Path, link: Path | None, seed: int) -> None:
        """A cable to the pty `inner`, ending at a pty `link` or, without, at a TCP port."""
        self._inner = os.open(inner, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._inner)
        self._link = link
        self._tcp_port = 0
        self._endpoint: Endpoint | None = None
        self.to_table = NoisyLine(seed=2 * seed + 1)
        self.to_host = NoisyLine(seed=2 * seed + 2)
        self._lock = threading.RLock()
        self._stopping = False
        self.plug_in()
        self._thread = threading.Thread(target=self._run, name="cable", daemon=True)
        self._thread.start()

    @property
    def port(self) -> str:
        with self._lock:
            if self._endpoint is None:
                raise RuntimeError("the table is not plugged in")
            return self._endpoint.url

    def plug_in(self) -> None:
        with self._lock:
            if self._endpoint is not None:
                return
            if self._link is not None:
                self._endpoint = PtyEndpoint(self._link)
            else:
                self._endpoint = SocketEndpoint(self._tcp_port)
                self._tcp_port = int(self._endpoint.url.rpartition(":")[2])

    def unplug(self) -> None:
        with self._lock:
            if self._endpoint is not None:
                self._endpoint.close()
                self._endpoint = None

    def write_raw(self, data: bytes) -> None:
        with self._lock:
            if self._endpoint is not None:
                self._endpoint.write(data)

    def close(self) -> None:
        self._stopping = True
        self._thread.join()
        self.unplug()
        os.close(self._inner)

    def _run(self) -> None:
        while not self._stopping:
            with self._lock:
                waiting = [self._inner, *(self._endpoint.filenos() if self._endpoint else [])]
            with contextlib.suppress(OSError, ValueError):  # a cable pulled while waiting
                select.select(waiting, [], [], _RELAY_TICK)
            with self._lock:
                self._turn(time.monotonic())

    def _turn(self, now: float) -> None:
        if self._endpoint is not None:
            self.to_table.put(self._endpoint.read(), now)
        with contextlib.suppress(OSError):
            self.to_host.put(os.read(self._inner, 4096), now)
        with contextlib.suppress(OSError):
            os.write(self._inner, self.to_table.take(now))
        leaving = self.to_host.take(now)
        if self._endpoint is not None and leaving:
            self._endpoint.write(leaving)


class ProcessTable:
    """A table that runs as a process; the methods are those of `SimulatedTable`."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        speed: float,
        identity: Identity | None,
        seed: int,
        tcp: bool = False,
    ) -> None:
        """Start ``command --pty ... --control ...`` and plug a cable into it."""
        folder.mkdir()
        options = ["--speed", str(speed), "--seed", str(seed)]
        if identity is not None:
            options += ["--patch", identity_patch(identity)]
        self.process = PeerProcess(command, folder, name="inner", options=options).start()
        self.cable = Cable(Path(self.process.port), None if tcp else folder / "table", seed)

    def stop(self) -> None:
        """Pull the cable, end the process."""
        self.cable.close()
        self.process.stop()

    # --- the face of SimulatedTable ---

    @property
    def port(self) -> str:
        return self.cable.port

    def press(self, seat: int, button: m.Button) -> None:
        self.process.ask(f"press {seat} {int(button)}")

    def set_next_dice(self, first: int, second: int) -> None:
        self.process.ask(f"dice {first} {second}")

    def set_e_stop(self, *, is_open: bool) -> None:
        self.process.ask(f"e-stop {'open' if is_open else 'closed'}")

    def set_cover(self, *, is_open: bool) -> None:
        self.process.ask(f"cover {'open' if is_open else 'closed'}")

    def inject(self, defect: Defect, *, side: int = 0, amount: int = 0) -> None:
        self.process.ask(f"fault {defect}:{side}:{amount}")

    def repair(self) -> None:
        self.process.ask("repair")

    def add_tiles(self, side: int, tiles: int) -> None:
        self.process.ask(f"add-tiles {side} {tiles}")

    def power_cut(self) -> None:
        self.process.ask("power off")

    def power_on(self, reason: m.ResetReason = m.ResetReason.POWER_ON) -> None:
        self.process.ask(f"power on {reason.name.lower().replace('_', '-')}")

    def restart(self, reason: m.ResetReason = m.ResetReason.WATCHDOG) -> None:
        self.process.ask(f"restart {reason.name.lower().replace('_', '-')}")

    def unplug(self) -> None:
        self.cable.unplug()

    def plug_in(self) -> None:
        self.cable.plug_in()

    def set_noise(self, noise: Noise) -> None:
        self.cable.to_table.noise = self.cable.to_host.noise = noise

    def set_silent(self, silent: bool) -> None:
        self.cable.to_table.cut = self.cable.to_host.cut = silent

    def write_raw(self, data: bytes) -> None:
        self.cable.write_raw(data)

    def snapshot(self) -> PlantSnapshot:
        state = self.process.snapshot()
        if not state["powered"]:
            raise RuntimeError("the table has no power")
        return snapshot_of(state)

    def wait_for(self, condition: Callable[[PlantSnapshot], bool], within: float = 10.0) -> None:
        end = time.monotonic() + within
        while not condition(self.snapshot()):
            if time.monotonic() > end:
                raise TimeoutError(f"the table did not get there in {within:g} s")
            time.sleep(0.01)
