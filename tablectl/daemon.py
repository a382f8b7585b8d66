"""The daemon: every part put on one bus, started in order and stopped in order.

The parts know each other only by the bus. A part that fails ends the daemon with its error, because
half a referee is silently wrong.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog

from firmware_protocol.client import TableClient
from tablectl import __version__, channels
from tablectl.config import Config, DetectorConfig
from tablectl.game import GameService, RequestDesk
from tablectl.ledger import SessionInfo
from tablectl.messages import (
    EventView,
    Health,
    Questions,
    Request,
    Response,
    SettlementView,
    TableState,
)
from tablectl.referee.inputs import SessionPlan, Tick
from tablectl.services import homeassistant
from tablectl.services.bookkeeper import Bookkeeper
from tablectl.services.broker import BrokerAccess
from tablectl.services.bus import Bus, Entry
from tablectl.services.calibrating import CalibrationDesk
from tablectl.services.clock import Clock, RecordedClock, WallClock
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame
from tablectl.services.http import OriginPolicy, WebServer
from tablectl.services.mqtt import MqttService
from tablectl.services.recorder import Recorder
from tablectl.services.setup import (
    kept_tile_set,
    open_broker,
    operator_password,
    tls_context,
)
from tablectl.services.supervise import Supervised
from tablectl.services.teaching import TeachingDesk
from tablectl.table_link import TableLink, TableRequests, link_health
from vision.calibration import Calibration
from vision.detector import Detector, TileSet
from vision.eye import Eye
from vision.messages import CameraStatus, Recalibrated, SightChange, TableReading, Taught
from vision.sources.frame import Frame, Image
from vision.sources.source import Limits, open_source
from vision.teaching import LOOKS

TICK_S: Final = 0.25
HEALTH_S: Final = 1.0

log = structlog.get_logger(__name__)


class DaemonError(Exception):
    """The daemon can't start; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Running:
    """A started daemon, as callers see it.

    Attributes:
        url: address of the page.
        operator_password: what the operator types.
        access: the broker and its logins.
        session: id of the session.
        recording: file being written, None where nothing is recorded.
        ended: set when the operator has ended the session; whoever runs the daemon stops it then.
    """

    url: str
    operator_password: str
    access: BrokerAccess
    session: str
    recording: Path | None
    bus: Bus
    game: GameService
    eye: Eye | None
    table: TableClient | None
    mqtt: MqttService
    ended: asyncio.Event


@dataclass(frozen=True)
class Pace:
    """How time passes.

    Attributes:
        lockstep: every picture is worked on before the next is taken, and time is the pictures'.
        simulated: told to displays.
    """

    lockstep: bool = False
    simulated: bool = False


class Daemon:
    """Assembles and runs the parts for one configuration."""

    def __init__(
        self, config: Config, pace: Pace | None = None, session: str | None = None
    ) -> None:
        self.config = config
        self.pace = pace or Pace()
        self._session = session or datetime.now().strftime("%Y%m%d-%H%M%S")
        self._wall = WallClock()
        self._frames = RecordedClock()
        self.clock: Clock = self._frames if self.pace.lockstep else self._wall
        self._next_tick = 0.0
        self._detector_ms: float | None = None
        self._sight = "blind"
        self._healthz: dict[str, object] = {"ok": True}
        self._pictures: deque[Image] = deque(maxlen=LOOKS)

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[Running]:
        """Start everything; leaving the context stops it.

        Raises:
            DaemonError, BrokerError, ServerError, RecorderError, CaseError, LedgerError: a part
                cannot start.
            ProtocolError: the serial device is not our table.
            CalibrationError, WeightsError: a file that the eye needs is missing or damaged.
            TileSetError: the taught tile set is damaged.
        """
        async with contextlib.AsyncExitStack() as stack:
            bus = Bus(self.clock)
            calibration = self._calibration()
            plan = self._plan(calibration)
            recorder = self._start_recorder(stack, bus, plan)
            broker = open_broker(self.config.broker, self.config.table.id)
            access = await stack.enter_async_context(broker)
            game = GameService(bus, plan)
            desk = RequestDesk(bus)
            mqtt = self._make_mqtt(access, bus, desk)
            self._mirror(bus, mqtt)
            books = self._keep_ledger(stack, bus, plan, recorder)
            table = await self._connect_table(stack, bus)
            client = None if table is None else table.client
            referee = game.referee
            TableRequests(bus, client, referee.kit.total, lambda: referee.next.dealer)
            ended = self._end_on_request(bus, game)
            tile_set = await self._tile_set(calibration)
            eye = await self._open_eye(stack, bus, calibration, tile_set)
            teaching = self._teaching_desk(bus, eye, tile_set)
            desks = self._calibration_desk(bus, eye), teaching
            url, password = await self._start_server(stack, access, *desks)
            running = Running(
                url, password, access, plan.session, recorder.status.path if recorder else None,
                bus, game, eye, client, mqtt, ended,
            )  # fmt: skip
            report = self._report(running, recorder, books, teaching)
            tasks = [mqtt.run(), report, self._end_on_failure(bus)]
            if not self.pace.lockstep:
                tasks.append(self._tick(bus))
            if table is not None:
                tasks.append(table.run())
            if eye is not None:
                tasks.append(self._look(bus, eye))
            group = await stack.enter_async_context(Supervised(tasks))
            game.begin(self.clock.now())
            log.info("running", url=url, session=plan.session)
            try:
                yield running
            finally:
                mqtt.close()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(group.tasks[0]), 3.0)

    # --- parts ---

    def _plan(self, calibration: Calibration | None) -> SessionPlan:
        config = self.config
        return SessionPlan(
            session=self._session, table=config.table.id, rules=config.rules.id,
            options=config.rules.options, names=config.table.seats,
            first_dealer=config.table.first_dealer, simulated=self.pace.simulated,
            sure=config.referee.sure, patience_s=config.referee.patience,
            geometry={
                **config.table.geometry.model_dump(mode="json"), "seats": len(config.table.seats)
            },
            calibration=None if calibration is None else calibration.model_dump(mode="json"),
        )  # fmt: skip

    def _start_recorder(
        self, stack: contextlib.AsyncExitStack, bus: Bus, plan: SessionPlan
    ) -> Recorder | None:
        settings = self.config.recording
        if not settings.enabled:
            return None
        path = self.config.recording_directory / f"{plan.table}-{plan.session}.mcap"
        metadata = {
            "session": plan.session, "rules": plan.rules, "configuration": self.config.digest(),
        }  # fmt: skip
        recorder = Recorder(
            bus, path, metadata, frames=settings.frames,
            frames_per_second=settings.frames_per_second, quality=settings.quality,
        )  # fmt: skip
        stack.push_async_callback(asyncio.to_thread, recorder.close)
        return recorder

    def _make_mqtt(self, access: BrokerAccess, bus: Bus, desk: RequestDesk) -> MqttService:
        table = self.config.table
        discovery = (
            homeassistant.discovery(table.id, table.name, len(table.seats))
            if self.config.broker.home_assistant
            else None
        )

        async def on_request(request: Request) -> Response:
            return await desk.ask(request)

        memory = self.config.state_dir / f"discovery-{table.id}.json"
        return MqttService(access, table.id, on_request, discovery, memory)

    @staticmethod
    def _mirror(bus: Bus, mqtt: MqttService) -> None:
        """Displays see what is on the bus."""
        bus.on(TableState, lambda e: mqtt.retain("state", e.message), channels.STATE)
        bus.on(SettlementView, lambda e: mqtt.retain("settlement", e.message), channels.SETTLEMENT)
        bus.on(Questions, lambda e: mqtt.retain("questions", e.message), channels.QUESTIONS)
        bus.on(Health, lambda e: mqtt.retain("health", e.message), channels.HEALTH)
        bus.on(EventView, lambda e: mqtt.send("event", e.message), channels.EVENT)

    def _keep_ledger(
        self, stack: contextlib.AsyncExitStack, bus: Bus, plan: SessionPlan,
        recorder: Recorder | None,
    ) -> Bookkeeper:  # fmt: skip
        session = SessionInfo(
            plan.session, plan.table, plan.rules, plan.options, plan.names, time.time(), None,
            str(recorder.status.path) if recorder else None,
        )  # fmt: skip
        bookkeeper = Bookkeeper(bus, self.config.ledger_path, session)
        stack.push_async_callback(_close_books, bookkeeper)
        return bookkeeper

    @staticmethod
    def _end_on_request(bus: Bus, game: GameService) -> asyncio.Event:
        """The operator ends the session; ``{"force": true}`` also in the middle of a hand."""
        ended = asyncio.Event()

        def on_request(entry: Entry[Request]) -> None:
            request = entry.message
            if request.verb != "session_end":
                return
            hand = game.referee.hand
            running = hand is not None and hand.settlement() is None
            error = ""
            if (running or game.referee.open_questions) and request.args.get("force") is not True:
                error = "a hand is not settled yet: settle it first, or end with force"
            bus.publish(
                channels.RESPONSE, Response(id=request.id, ok=not error, error=error), entry.t
            )  # fmt: skip
            if not error:
                ended.set()

        bus.on(Request, on_request, channels.REQUEST)
        return ended

    async def _connect_table(self, stack: contextlib.AsyncExitStack, bus: Bus) -> TableLink | None:
        settings = self.config.serial
        if settings.port is None:
            return None
        client = TableClient(
            settings.port, baudrate=settings.baud, expected_serial=settings.board_serial,
            connect_timeout=None,
        )  # fmt: skip
        link = TableLink(bus, client)
        await stack.enter_async_context(client)
        return link

    def _calibration(self) -> Calibration | None:
        settings = self.config.camera
        if settings.source is None:
            return None
        if settings.calibration is None:
            raise DaemonError(
                "camera.calibration is not set: run 'tablectl calibrate' ('--browser' to click the "
                "felt's corners) and name its file there"
            )
        return Calibration.load(settings.calibration)

    async def _tile_set(self, calibration: Calibration | None) -> TileSet | None:
        """What was taught; nothing where there is no camera to read with."""
        return None if calibration is None else await asyncio.to_thread(kept_tile_set, self.config)

    async def _open_eye(
        self, stack: contextlib.AsyncExitStack, bus: Bus, calibration: Calibration | None,
        tile_set: TileSet | None,
    ) -> Eye | None:  # fmt: skip
        settings = self.config.camera
        if settings.source is None or calibration is None:
            return None
        detector = await asyncio.to_thread(_detector, self.config.detector, tile_set)
        if tile_set is not None:
            self._record_tile_set(bus, await asyncio.to_thread(_encoded, tile_set))
        source = open_source(
            settings.source, lockstep=self.pace.lockstep, size=(settings.width, settings.height),
            fps=settings.fps,
            limits=Limits(stale_after=settings.stale_after, lost_after=settings.lost_after),
        )  # fmt: skip
        eye = Eye(
            source, calibration, detector, self.config.table.table_geometry(),
            on_frame=lambda frame: self._on_frame(bus, frame),
        )  # fmt: skip
        source.start()
        stack.push_async_callback(eye.close)
        return eye

    def _calibration_desk(self, bus: Bus, eye: Eye | None) -> CalibrationDesk | None:
        path = self.config.camera.calibration
        if eye is None or path is None:
            return None

        async def keep(calibration: Calibration) -> None:
            await eye.recalibrate(calibration)
            taken = Recalibrated(
                t=self.clock.now(), calibration=calibration.model_dump(mode="json")
            )
            bus.publish(channels.CALIBRATION, taken)

        return CalibrationDesk(
            self.config.table.table_geometry(), path,
            picture=lambda: self._pictures[0] if self._pictures else None,
            current=lambda: eye.core.calibration, keep=keep,
        )  # fmt: skip

    def _record_tile_set(self, bus: Bus, content: str | None) -> None:
        """A recording holds what its pictures are read by; without pictures it would be waste."""
        if self.config.recording.enabled and self.config.recording.frames:
            bus.publish(channels.TILE_SET, Taught(t=self.clock.now(), tile_set=content))

    def _teaching_desk(
        self, bus: Bus, eye: Eye | None, tile_set: TileSet | None
    ) -> TeachingDesk | None:
        if eye is None:
            return None
        settings = self.config.detector

        async def use(taught: TileSet | None) -> None:
            # A new one, so that the eye reads on meanwhile; a detector can't forget.
            detector = await asyncio.to_thread(_detector, settings, taught)
            # Beforehand, for pictures that come between the change and its record are misread.
            content = await asyncio.to_thread(_encoded, taught)
            await eye.use_finder(detector)
            self._record_tile_set(bus, content)

        return TeachingDesk(
            self.config.tile_set_path, settings.tile_set is not None,
            pictures=lambda: tuple(self._pictures), current=lambda: eye.core.calibration,
            use=use, taught=tile_set, weights=settings.weights,
        )  # fmt: skip

    async def _start_server(
        self, stack: contextlib.AsyncExitStack, access: BrokerAccess,
        desk: CalibrationDesk | None, teaching: TeachingDesk | None,
    ) -> tuple[str, str]:  # fmt: skip
        settings = self.config.server
        password, _ = operator_password(settings)
        server = WebServer(
            access, self.config.table.id, password,
            policy=OriginPolicy(settings.allowed_origins), health=lambda: self._healthz, desk=desk,
            teaching=teaching,
        )  # fmt: skip
        tls = tls_context(settings)
        port = await server.start(settings.host, settings.port, tls)
        stack.push_async_callback(server.stop)
        shown = "localhost" if settings.host in ("", "0.0.0.0", "::") else settings.host
        return f"{'https' if tls else 'http'}://{shown}:{port}/", password

    # --- running ---

    def _stamp(self, t: float) -> float:
        """Bus time of a capture time: live sources stamp pictures with the monotonic clock."""
        return t if self.pace.lockstep else self._wall.from_monotonic(t)

    def _on_frame(self, bus: Bus, frame: Frame) -> None:
        self._pictures.appendleft(frame.image)
        t = self._stamp(frame.t)
        if self.pace.lockstep:
            self._frames.jump(t)
            if t >= self._next_tick:
                self._next_tick = t + TICK_S
                bus.publish(channels.TICK, Tick())
        bus.publish(CAMERA_CHANNEL, CameraFrame(t, frame.seq, frame.image))

    async def _look(self, bus: Bus, eye: Eye) -> None:
        async for message in eye.messages():
            stamped = message.model_copy(update={"t": self._stamp(message.t)})
            match stamped:
                case TableReading():
                    bus.publish(channels.READING, stamped)
                case SightChange():
                    self._sight = stamped.sight
                    bus.publish(channels.SIGHT, stamped)
                case CameraStatus():
                    bus.publish(channels.CAMERA, stamped)
        if not self.pace.lockstep:
            raise DaemonError("the camera source has ended")

    @staticmethod
    async def _end_on_failure(bus: Bus) -> None:
        """A failure behind a callback, of the serial line or of a request, ends the daemon too."""
        await bus.failed.wait()
        assert bus.failure is not None
        raise bus.failure

    async def _tick(self, bus: Bus) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            bus.publish(channels.TICK, Tick())

    async def _report(
        self, running: Running, recorder: Recorder | None, books: Bookkeeper,
        teaching: TeachingDesk | None,
    ) -> None:  # fmt: skip
        while True:
            health = self.health(running, recorder, books, teaching)
            self._healthz = {
                "ok": not health.problems, "problems": list(health.problems),
                "camera": health.camera,
            }  # fmt: skip
            running.bus.publish(channels.HEALTH, health)
            await asyncio.sleep(HEALTH_S)

    def health(
        self, running: Running, recorder: Recorder | None, books: Bookkeeper,
        teaching: TeachingDesk | None = None,
    ) -> Health:  # fmt: skip
        """Is everything that the score rests on all right?"""
        link = link_health(running.table)
        problems = [link.fault_remedy] if link.fault_remedy else []
        problems += [f"table: {link.state}"] if link.state in ("lost", "refused") else []
        recording = None
        if recorder is not None:
            recording = str(recorder.status.path)
            problems += [recorder.status.problem] if recorder.status.problem else []
        health = Health(
            t=self.clock.now(), link=link, sight=self._sight, recording=recording,
            version=__version__, camera="off" if running.eye is None else "starting",
        )  # fmt: skip
        problems += [books.problem] if books.problem else []
        director = running.game.referee.director
        problems += [director.problem] if director.problem else []
        problems += [teaching.problem] if teaching is not None and teaching.problem else []
        if running.eye is not None:
            status = running.eye.status()
            counters = running.eye.counters
            problems += [status.remedy] if status.remedy else []
            health = health.model_copy(
                update={
                    "camera": status.state.value, "camera_remedy": status.remedy,
                    "camera_frame_age": round(status.frame_age, 1),
                    "camera_counters": {
                        "frames": status.frames, "dropped": status.dropped,
                        "restarts": status.restarts, "looks": counters.looks,
                        "readings": counters.readings,
                    },
                    "detector_ms": round(counters.detector_ms, 1),
                }
            )  # fmt: skip
        return health.model_copy(update={"problems": tuple(problems)})


async def _close_books(bookkeeper: Bookkeeper) -> None:
    await asyncio.to_thread(bookkeeper.close, time.time())


def _detector(settings: DetectorConfig, tile_set: TileSet | None) -> Detector:
    return Detector(settings.weights, settings.threads, tile_set=tile_set)


def _encoded(tile_set: TileSet | None) -> str | None:
    """A tile set as a recording holds it."""
    return None if tile_set is None else base64.b64encode(tile_set.to_bytes()).decode()
