"""The simulated evening in a process of its own, as a real table is a world of its own.

The daemon meets it only through the serial line and the camera feed. The pipe beside them carries
what simulated people know: the players see on the display that a hand is settled, and the host can
look at the table when the referee asks.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware_protocol.wire import Message
from tablectl.simulate.felt import TableLook
from tablectl.simulate.session import (
    Rested,
    SessionScript,
    SimulatedSession,
    SimulationError,
    TrueHand,
)
from vision.calibration_fit import calibrate_from_markers
from vision.render.style import Style

if TYPE_CHECKING:
    from firmware_protocol.simulator import SimulatedTable
    from tablectl.simulate.chip import ChipTable


@dataclass(frozen=True)
class SimulatorPlan:
    """What the simulator process is to do.

    Attributes:
        directory: for the camera's socket and the calibration.
        style_seed: how the table looks; None for the plain pleasant style.
        art: folder or font with other tile faces; None for our own.
        machine_speed: table seconds a second of the machine under the felt.
        noise: drop, corrupt, duplicate probabilities of the cable by the byte; see ``Noise``.
        freeze_at: simulated seconds at which the camera freezes, and for how long; None never.
        firmware: the real firmware in simavr is the table, see ``tablectl.simulate.chip``.
        taught_look: style seed in which the host once laid the tiles out for ``tablectl teach``;
            None: never.
    """

    script: SessionScript
    directory: Path
    style_seed: int | None = None
    art: Path | None = None
    machine_speed: float = 1.0
    noise: dict[str, float] | None = None
    freeze_at: tuple[float, float] | None = None
    firmware: bool = False
    taught_look: int | None = None


@dataclass(frozen=True)
class SimulatorReady:
    """Where the daemon finds the table, its camera, and a picture of the tiles laid out."""

    serial_port: str
    feed: Path
    calibration: Path
    layouts: tuple[Path, ...]


class Simulator:
    """Starts the process and talks to it. Blocking calls; each answers within seconds."""

    def __init__(self, plan: SimulatorPlan) -> None:
        """Start the process and wait until table and camera are there.

        Raises:
            SimulationError: it could not start; the message is the process's own.
        """
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._pipe: Connection[Any, Any] = ours
        self._lock = threading.Lock()
        self._process = context.Process(
            target=_main, args=(plan, theirs), name="simulated table", daemon=True
        )
        self._process.start()
        theirs.close()
        self.ready: SimulatorReady = self._receive(timeout=60.0)

    def play(self) -> None:
        """Begin the session."""
        self._ask("play")

    def truth(self) -> list[TrueHand]:
        """What really happened in the hands that are over."""
        hands: list[TrueHand] = self._ask("truth")
        return hands

    def rested(self) -> list[Rested]:
        """When each discard so far came to rest before the camera."""
        rested: list[Rested] = self._ask("rested")
        return rested

    def look(self) -> TableLook:
        """What a person who looks at the table sees now."""
        look: TableLook = self._ask("look")
        return look

    def show(self, settled: int) -> None:
        """The display shows final settlements of so many hands."""
        self._ask("show", settled)

    def finished(self) -> bool:
        """Whether the session is over.

        Raises:
            SimulationError: it failed.
        """
        done, failure = self._ask("finished")
        if failure:
            raise SimulationError(failure)
        return bool(done)

    def stop(self) -> None:
        """End the process."""
        with contextlib.suppress(SimulationError, OSError, EOFError):
            self._ask("stop")
        self._process.join(timeout=10.0)
        if self._process.is_alive():
            self._process.kill()

    def _ask(self, *question: object) -> Any:
        with self._lock:
            try:
                self._pipe.send(question)
                return self._receive(timeout=30.0)
            except (OSError, EOFError) as error:
                raise SimulationError("the simulated table's process has ended") from error

    def _receive(self, timeout: float) -> Any:
        if not self._pipe.poll(timeout):
            raise SimulationError(f"the simulated table did not answer within {timeout:g} s")
        kind, value = self._pipe.recv()
        if kind == "error":
            raise SimulationError(str(value))
        return value


def _main(plan: SimulatorPlan, pipe: Connection[Any, Any]) -> None:
    import cv2

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    cv2.setNumThreads(1)
    try:
        world = _World(plan)
    except Exception as error:  # noqa: BLE001 - told to the parent process
        pipe.send(("error", str(error) or type(error).__name__))
        return
    pipe.send(("ok", world.ready))
    try:
        _serve(world, pipe)
    finally:
        world.close()


def _serve(world: _World, pipe: Connection[Any, Any]) -> None:
    while True:
        try:
            question: Sequence[Any] = pipe.recv()
        except EOFError:
            return
        if question[0] == "stop":
            pipe.send(("ok", None))
            return
        try:
            pipe.send(("ok", getattr(world, question[0])(*question[1:])))
        except Exception as error:  # noqa: BLE001 - told to the parent process
            pipe.send(("error", str(error) or type(error).__name__))


class _World:
    """Table, camera and players, inside the process."""

    def __init__(self, plan: SimulatorPlan) -> None:
        self._shown = 0
        self._table = _table(plan, self._on_emit)
        feed = plan.directory / "camera.sock"
        self._session = SimulatedSession(
            plan.script, self._table, feed_path=feed, settled=lambda n: self._shown > n,
            style=_style(plan, plan.style_seed), freeze_at=plan.freeze_at,
        )  # fmt: skip
        calibration = plan.directory / "calibration.json"
        picture = self._session.empty_picture()
        calibrate_from_markers(picture, self._session.felt.geometry).save(calibration)
        layouts = () if plan.taught_look is None else _photograph_layouts(plan)
        self._table.start()
        self.ready = SimulatorReady(self._table.port, feed, calibration, layouts)

    def _on_emit(self, message: Message) -> None:
        self._session.on_emit(message)

    def play(self) -> None:
        self._session.start()

    def truth(self) -> list[TrueHand]:
        with self._session.lock:
            return list(self._session.hands)

    def rested(self) -> list[Rested]:
        return list(self._session.rested)

    def look(self) -> TableLook:
        with self._session.lock:
            return self._session.felt.look()

    def show(self, settled: int) -> None:
        self._shown = settled

    def finished(self) -> tuple[bool, str]:
        failure = self._session.failure
        return self._session.finished, "" if failure is None else str(failure)

    def close(self) -> None:
        self._session.stop()
        self._table.stop()


def _table(plan: SimulatorPlan, on_emit: Callable[[Message], None]) -> SimulatedTable | ChipTable:
    from firmware_protocol.noise import QUIET, Noise
    from firmware_protocol.simulator import SimulatedTable
    from tablectl.simulate import chip

    seed = plan.script.seed
    if plan.firmware:
        return chip.ChipTable(chip.build(), plan.machine_speed, seed, on_emit)
    noise = Noise(**plan.noise) if plan.noise else QUIET
    return SimulatedTable(speed=plan.machine_speed, seed=seed, noise=noise, on_emit=on_emit)


def _photograph_layouts(plan: SimulatorPlan) -> tuple[Path, ...]:
    """Pictures of one of each tile before two opposite seats, in the look of ``taught_look``."""
    import cv2

    from vision.geometry import TableGeometry
    from vision.render.layout import layout_scene
    from vision.render.renderer import Renderer

    geometry = TableGeometry()
    renderer = Renderer(_style(plan, plan.taught_look), geometry, plan.script.size)
    paths = []
    for seat in (0, 2):
        paths.append(plan.directory / f"layout{seat}.png")
        scene = layout_scene(geometry, plan.script.seed, seat)
        cv2.imwrite(str(paths[-1]), renderer.render(scene))
    return tuple(paths)


def _style(plan: SimulatorPlan, seed: int | None) -> Style:
    import numpy as np

    from vision.art.sets import load_art

    style = Style() if seed is None else Style.random(np.random.default_rng(seed), split="test")
    if plan.art is None:
        return style
    from dataclasses import replace

    return replace(style, art=load_art(plan.art))
