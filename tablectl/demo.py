"""The demonstration: a simulated table and camera, and the real daemon between them and the page.

The simulated host answers the referee's questions as a person would: by looking at the table. Every
question is counted, and the scores that the daemon published are compared with what was played.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import aiomqtt

from firmware_protocol.messages import TableMode
from tablectl import channels
from tablectl.config import Config, parse
from tablectl.daemon import Daemon, Pace, Running
from tablectl.messages import Question, Questions, Response, SettlementView
from tablectl.rules import registry
from tablectl.services.broker import BrokerAccess
from tablectl.services.bus import Entry
from tablectl.simulate.choreography import BRISK, LIVELY
from tablectl.simulate.host import reply
from tablectl.simulate.process import Simulator, SimulatorPlan
from tablectl.simulate.session import SessionScript, SimulationError, TrueHand
from vision.detector import TileSet
from vision.read import load_image
from vision.teaching import layout_finder, teach

NAMES: Final = ("Ah Ming", "Siu Fan", "Uncle Bo", "Mei")
_ANSWER_AFTER_S: Final = 12.0
"""In the live demonstration the visitor has so long to answer before the simulated host does."""
_POLL_S: Final = 0.1
_TABLE_S: Final = 60.0
"""Seconds in which the table must be homed and connected."""


@dataclass(frozen=True)
class DemoOptions:
    """What the demonstration plays.

    Attributes:
        fast: as fast as the machine can, instead of in real time.
        port: of the page; 0 for a free one.
        keep: folder for recording and ledger; a temporary one when None.
        style_seed: which of the looks that training never saw; None: the plain one.
        noise: of the serial line, see ``firmware_protocol.noise.Noise``; None: a good cable.
        freeze_at: (when, how long) the camera repeats its last picture, simulated seconds.
        firmware: the real firmware in simavr is the table, in place of the simulated one.
        sure: posterior from which the referee needs no confirmation; None: the daemon's default.
        size: of the camera's pictures, (width, height) px; a tile is 0.029 of the height wide.
        taught_look: ``style_seed`` in which the host has taught the tiles; None: untaught.
    """

    rules: str = "hongkong"
    options: dict[str, Any] = field(default_factory=dict)
    hands: int | None = None
    seed: int = 1
    fast: bool = False
    host: str = "127.0.0.1"
    port: int = 8765
    keep: Path | None = None
    art: Path | None = None
    style_seed: int | None = None
    noise: dict[str, float] | None = None
    freeze_at: tuple[float, float] | None = None
    threads: int = 1
    firmware: bool = False
    sure: float | None = None
    size: tuple[int, int] = (1920, 1080)
    taught_look: int | None = None


@dataclass
class DemoResult:
    """What came out.

    Attributes:
        scores: points a seat as the daemon published them.
        truth: points a seat as played.
        hands_right: for each hand whether the published payments are those played.
        played: what really happened.
        questions: how often the referee asked.
        seconds: wall-clock time a hand, one each.
    """

    hands: int = 0
    scores: list[int] = field(default_factory=list)
    truth: list[int] = field(default_factory=list)
    hands_right: list[bool] = field(default_factory=list)
    played: list[TrueHand] = field(default_factory=list)
    questions: int = 0
    seconds: list[float] = field(default_factory=list)
    recording: Path | None = None
    problem: str = ""

    @property
    def agree(self) -> bool:
        """Whether every hand was settled as it was played."""
        return not self.problem and all(self.hands_right) and self.scores == self.truth

    def to_json(self) -> str:
        """The last line of ``tablectl demo --headless --json``."""
        return json.dumps(
            {
                "hands": self.hands, "scores": self.scores, "truth": self.truth,
                "agree": self.agree, "questions": self.questions,
            }
        )  # fmt: skip


Progress = Callable[[str], None]


async def run_demo(
    options: DemoOptions,
    progress: Progress = lambda _: None,
    on_start: Callable[[Running], None] = lambda _: None,
) -> DemoResult:
    """Play a simulated session through the real daemon.

    Args:
        options: what is played.
        progress: told what happens, a line at a time.
        on_start: told where the page is.

    Raises:
        SimulationError: the simulated table did not come up.
        DaemonError, BrokerError, ServerError: the daemon did not.
    """
    async with open_demo(options) as (simulator, running):
        on_start(running)
        return await _Evening(options, simulator, running, progress).run()


@contextlib.asynccontextmanager
async def open_demo(options: DemoOptions) -> AsyncIterator[tuple[Simulator, Running]]:
    """A simulated table, at rest, and the real daemon beside it.

    Raises:
        SimulationError, DaemonError, BrokerError, ServerError: as :func:`run_demo`.
    """
    with contextlib.ExitStack() as stack:
        if options.keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tablectl-")))
        else:
            folder = options.keep
            folder.mkdir(parents=True, exist_ok=True)
        camera = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tablectl-cam-")))
        simulator = await asyncio.to_thread(Simulator, _simulator_plan(options, camera))
        stack.callback(simulator.stop)
        tile_set = await asyncio.to_thread(_taught, simulator.ready.layouts, camera)
        config = _config(options, simulator, folder, tile_set)
        pace = Pace(lockstep=options.fast, simulated=True)
        async with Daemon(config, pace).run() as running:
            yield simulator, running


def _simulator_plan(options: DemoOptions, directory: Path) -> SimulatorPlan:
    script = SessionScript(
        rules=options.rules, options=options.options, hands=options.hands, seed=options.seed,
        tempo=BRISK if options.fast else LIVELY, realtime=not options.fast, size=options.size,
    )  # fmt: skip
    return SimulatorPlan(
        script, directory, options.style_seed, options.art,
        machine_speed=30.0 if options.fast else 8.0, noise=options.noise,
        freeze_at=options.freeze_at, firmware=options.firmware, taught_look=options.taught_look,
    )  # fmt: skip


def _taught(layouts: Sequence[Path], folder: Path) -> Path | None:
    """Teach the tiles of pictures as ``tablectl teach --image`` and ``--add`` do; their file.

    The simulated host lays no tile in the wrong place.
    """
    if not layouts:
        return None
    finder = layout_finder()
    sets = [teach([load_image(layout)], finder, trust_layout=True).tile_set for layout in layouts]
    path = folder / "tiles.npz"
    reduce(TileSet.with_more, sets).save(path)
    return path


def _config(
    options: DemoOptions, simulator: Simulator, folder: Path, tile_set: Path | None
) -> Config:
    rules = registry.get(options.rules)
    seats = rules.equipment(rules.options(options.options)).seats
    content: dict[str, Any] = {
        "state_dir": str(folder),
        "log_level": "warning",
        "table": {"id": "demo", "name": "Demonstration", "seats": NAMES[:seats]},
        "rules": {"id": options.rules, "options": options.options},
        "serial": {"port": simulator.ready.serial_port},
        "camera": {
            "source": f"feed:{simulator.ready.feed}",
            "calibration": str(simulator.ready.calibration),
            "fps": LIVELY.fps,
        },
        "detector": {
            "threads": options.threads,
            "tile_set": None if tile_set is None else str(tile_set),
        },
        "server": {"host": options.host, "port": options.port},
        "recording": {"frames": not options.fast},
        "referee": {} if options.sure is None else {"sure": options.sure},
    }
    return parse(content, "demonstration", folder)


class _Evening:
    """Watches the session as displays do, and plays the host."""

    def __init__(
        self, options: DemoOptions, simulator: Simulator, running: Running, progress: Progress
    ) -> None:
        self._options = options
        self._simulator = simulator
        self._running = running
        self._progress = progress
        self._final: dict[int, SettlementView] = {}
        self._asked: dict[str, float] = {}
        self._open: tuple[Question, ...] = ()
        self._shown = 0
        self._times = [time.monotonic()]
        bus = running.bus
        bus.on(SettlementView, self._on_settlement, channels.SETTLEMENT)
        bus.on(Questions, self._on_questions, channels.QUESTIONS)

    def _on_settlement(self, entry: Entry[SettlementView]) -> None:
        view = entry.message
        if not view.final:
            self._final.pop(view.hand, None)
            return
        self._final[view.hand] = view
        winners = ", ".join(NAMES[win.seat] for win in view.wins) or "nobody"
        self._progress(f"hand {view.hand}: {winners} won, {list(view.delta)}")

    def _on_questions(self, entry: Entry[Questions]) -> None:
        self._open = entry.message.open
        for question in self._open:
            if question.id not in self._asked:
                self._asked[question.id] = time.monotonic()
                self._progress(f"question: {question.text_en}")

    async def run(self) -> DemoResult:
        """Play until all hands are over."""
        await self._running.mqtt.wait_connected()
        await self._table_ready()
        async with _Host(self._running.access, "demo") as host:
            await asyncio.to_thread(self._simulator.play)
            problem = ""
            try:
                while not await asyncio.to_thread(self._simulator.finished):
                    if self._running.ended.is_set():
                        problem = "the host has ended the session"
                        break
                    await self._answer(host)
                    await self._let_players_see()
                    await asyncio.sleep(_POLL_S)
            except SimulationError as error:
                problem = str(error)
        return await self._result(problem)

    async def _table_ready(self) -> None:
        """Nobody presses START before the table is homed and its controller connected."""
        assert self._running.table is not None, "the demonstration has a table"
        try:
            await self._running.table.wait_for(
                lambda s: s.table is not None and s.table.mode is TableMode.READY, _TABLE_S
            )
        except TimeoutError:
            reason = self._running.table.status.reason
            raise SimulationError(
                f"the table was not ready within {_TABLE_S:g} s {reason}".rstrip()
            ) from None

    async def _let_players_see(self) -> None:
        if len(self._final) > self._shown and not self._open:
            self._shown = len(self._final)
            self._times.append(time.monotonic())
            await asyncio.to_thread(self._simulator.show, self._shown)

    async def _answer(self, host: _Host) -> None:
        patience = 0.0 if self._options.fast else _ANSWER_AFTER_S
        for question in self._open:
            if time.monotonic() - self._asked[question.id] < patience:
                continue
            look = await asyncio.to_thread(self._simulator.look)
            request = reply(question, self._running.game.referee, look)
            if request is not None:
                await host.request(*request)
                return

    async def _result(self, problem: str) -> DemoResult:
        truth = await asyncio.to_thread(self._simulator.truth)
        seats = len(self._running.game.referee.names)
        scores, true_scores = [0] * seats, [0] * seats
        right = []
        for number, hand in enumerate(truth, start=1):
            view = self._final.get(number)
            right.append(view is not None and view.delta == hand.delta)
            for seat in range(seats):
                true_scores[seat] += hand.delta[seat]
        for view in self._final.values():
            for seat in range(seats):
                scores[seat] += view.delta[seat]
        times = self._times
        return DemoResult(
            len(truth), scores, true_scores, right, truth, len(self._asked),
            [round(b - a, 1) for a, b in pairwise(times)],
            self._running.recording, problem,
        )  # fmt: skip


class _Host:
    """The host of the club with the operator's login, on MQTT like every other display."""

    def __init__(self, access: BrokerAccess, table: str) -> None:
        self._access = access
        self._base = f"tablectl/{table}"
        self._client: aiomqtt.Client | None = None
        self._count = 0

    async def __aenter__(self) -> _Host:
        address, login = self._access.address, self._access.credentials["operator"]
        assert login is not None, "the demonstration runs on a broker of its own"
        self._client = aiomqtt.Client(
            hostname=str(address.unix) if address.unix else address.host,
            port=address.port,
            transport="unix" if address.unix else "tcp",
            username=login.username, password=login.password, identifier="demo-host",
        )  # fmt: skip
        await self._client.__aenter__()
        await self._client.subscribe(f"{self._base}/response/+", qos=1)
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._client is not None
        await self._client.__aexit__(None, None, None)

    async def request(self, verb: str, args: dict[str, object]) -> Response | None:
        """Ask the daemon for something and wait for its answer; None when none came."""
        assert self._client is not None
        self._count += 1
        request_id = f"host-{self._count}"
        payload = json.dumps({"id": request_id, "verb": verb, "args": args})
        await self._client.publish(f"{self._base}/request/{verb}", payload, qos=1)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5.0):
                async for response in self._responses():
                    if response.id == request_id:
                        return response
        return None

    async def _responses(self) -> AsyncIterator[Response]:
        assert self._client is not None
        async for message in self._client.messages:
            payload = message.payload
            if isinstance(payload, bytes | str):
                yield Response.model_validate_json(payload)
