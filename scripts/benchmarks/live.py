"""The whole daemon, as ``tablectl run`` starts it, with a display and a browser before it."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import aiomqtt
import cv2
import psutil

from benchmarks.page import Painted, open_page, painted
from benchmarks.rows import Row, Size, quantile
from tablectl.simulate.choreography import LIVELY
from tablectl.simulate.process import Simulator, SimulatorPlan
from tablectl.simulate.session import Rested, SessionScript
from vision.calibration_fit import calibrate_from_markers
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.sources.feed import FeedServer

DISPLAY_BUDGET_MS = 700.0
MEMORY_BUDGET_MB = 450.0
IDLE_BUDGET_PERCENT = 10.0
FPS = 10
_ROOT = Path(__file__).resolve().parents[2]
_START_S = 90.0
_ADDRESS = re.compile(r"Open (http://\S+:(\d+))/ in a browser")


class BenchError(RuntimeError):
    """The daemon did not do what the benchmark needs; the message says what."""


@dataclass
class Shown:
    """A display's messages with their times of arrival (monotonic seconds)."""

    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    states: list[tuple[float, float]] = field(default_factory=list)
    link: str = ""
    frames: int = 0

    def take(self, topic: str, payload: bytes) -> None:
        """Note a message."""
        now = time.monotonic()
        match topic.rpartition("/")[2]:
            case "event":
                self.events.append((now, json.loads(payload)))
            case "state":
                self.states.append((now, float(json.loads(payload)["t"])))
            case "health":
                health = json.loads(payload)
                self.link = health["link"]["state"]
                self.frames = health["camera_counters"].get("frames", 0)

    def discards(self) -> list[tuple[float, float, int, str]]:
        """Each discard: (when the display showed it, bus time of its picture, seat, tile)."""
        hand: dict[int, tuple[float, float, int, str]] = {}
        hands = [hand]
        for at, view in self.events:
            event = view["event"]
            if event.get("e") == "start":
                hand = {}
                hands.append(hand)
            if event.get("e") != "discard":
                hand.pop(view["n"], None)
                continue
            fresh = (self._drawn(at, view["t"]), float(view["t"]), event["seat"], event["tile"])
            if hand.get(view["n"], (0.0, 0.0, -1, ""))[2:] != fresh[2:]:
                hand[view["n"]] = fresh
        return [hand[n] for hand in hands for n in sorted(hand)]

    def _drawn(self, event_at: float, t: float) -> float:
        """When the state that the page draws had the event in it."""
        return next((max(at, event_at) for at, state_t in self.states if state_t >= t), event_at)


@dataclass
class Load:
    """Memory and processor time of the daemon and its children, sampled while they run."""

    pid: int
    daemon_mb: float = 0.0
    all_mb: float = 0.0

    def sample(self) -> None:
        """Note the largest so far."""
        with suppress(psutil.NoSuchProcess):
            daemon = psutil.Process(self.pid)
            sizes = [_resident_mb(p) for p in (daemon, *daemon.children(recursive=True))]
            self.daemon_mb = max(self.daemon_mb, sizes[0])
            self.all_mb = max(self.all_mb, sum(sizes))

    def cpu_s(self) -> tuple[float, float]:
        """Processor seconds so far of the daemon, and of its children."""
        daemon = psutil.Process(self.pid)
        children = [_cpu_s(p) for p in daemon.children(recursive=True)]
        return _cpu_s(daemon), sum(children)


def _resident_mb(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        return float(process.memory_info().rss) / 1e6
    return 0.0


def _cpu_s(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


# --- a game in real time ---


def live(size: Size) -> Iterator[Row]:
    """Time from a discard at rest to the display, memory and load, in a simulated game."""
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-") as folder:
        plan = SimulatorPlan(
            SessionScript(hands=1, seed=3, tempo=LIVELY), Path(folder), machine_speed=8.0
        )
        simulator = Simulator(plan)
        try:
            yield from asyncio.run(_play(simulator, Path(folder), size))
        finally:
            simulator.stop()


async def _play(simulator: Simulator, folder: Path, size: Size) -> list[Row]:
    content = {
        "serial": {"port": simulator.ready.serial_port},
        "camera": {
            "source": f"feed:{simulator.ready.feed}",
            "calibration": str(simulator.ready.calibration), "fps": FPS,
        },
    }  # fmt: skip
    async with (
        _daemon(folder, content) as (port, load),
        _display(port) as shown,
        open_page(port) as page,
    ):
        await _until(lambda: shown.link == "up", "the daemon to meet the table")
        await asyncio.to_thread(simulator.play)
        begin, cpu = time.monotonic(), load.cpu_s()
        end = begin + size.live_s
        rested: list[Rested] = []
        while time.monotonic() < end and len(shown.discards()) < size.live_discards:
            await asyncio.sleep(1.0)
            load.sample()
            rested = await asyncio.to_thread(simulator.rested)
            if await asyncio.to_thread(simulator.finished):
                break
        took = time.monotonic() - begin
        used = [b - a for a, b in zip(cpu, load.cpu_s(), strict=True)]
        drawn = await painted(page)
    # The last ones may still be on their way.
    known = [r for r in rested if r.t < begin + took - 3.0] or rested[:1]
    return [*_latency_rows(known, shown, drawn), *_load_rows(load, [u / took for u in used])]


def _latency_rows(rested: list[Rested], shown: Shown, drawn: list[Painted]) -> list[Row]:
    pairs = _matched(rested, shown.discards())
    offset = time.time() - time.monotonic()
    sent = [1000 * (at - r.t) for r, (at, _, _, _) in pairs]
    seen = [1000 * (t - offset - r.t) for r, (_, t, _, _) in pairs]
    after = [a - b for a, b in zip(sent, seen, strict=True)]
    browser = [1000 * (p - r.t) for r, _ in pairs if (p := _first(drawn, r)) is not None]
    missing = len(rested) - len(browser)
    note = f"{len(browser)} discards, {missing} shown otherwise or not yet"
    return [
        Row("tile at rest to browser, p50", quantile(browser, 0.5), "ms", note=note),
        Row("tile at rest to browser, p95", quantile(browser, 0.95), "ms", DISPLAY_BUDGET_MS,
            note="painted by chromium, on the same machine"),
        Row("of it: until the picture that decides, p50", quantile(seen, 0.5), "ms",
            note="stillness and second look"),
        Row("of it: from it to a display's message, p50", quantile(after, 0.5), "ms",
            note="recognition, referee, MQTT, WebSocket"),
    ]  # fmt: skip


def _first(drawn: list[Painted], rest: Rested) -> float | None:
    """When the browser first painted this discard."""
    times = (p.t for p in drawn if (p.seat, p.tile) == (rest.seat, rest.tile) and p.t > rest.t)
    return next(times, None)


def _matched(
    rested: list[Rested], discards: list[tuple[float, float, int, str]]
) -> list[tuple[Rested, tuple[float, float, int, str]]]:
    """Both in order of play; one read otherwise, or missed, does not shift the others."""
    pairs, position = [], 0
    for rest in rested:
        for index in range(position, min(position + 4, len(discards))):
            if discards[index][2:] == (rest.seat, rest.tile):
                pairs.append((rest, discards[index]))
                position = index + 1
                break
    return pairs


def _load_rows(load: Load, shares: list[float]) -> list[Row]:
    return [
        Row("daemon, largest resident memory", load.daemon_mb, "MB", MEMORY_BUDGET_MB),
        Row("daemon with camera reader and broker", load.all_mb, "MB",
            note="shared pages counted twice"),
        Row("daemon during play, of one core", 100 * shares[0], "%"),
        Row("camera reader and broker during play, of one core", 100 * shares[1], "%"),
    ]  # fmt: skip


# --- an idle felt ---


def idle(size: Size) -> Iterator[Row]:
    """What the daemon costs while nothing happens on the felt."""
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-") as folder:
        yield from asyncio.run(_idle(Path(folder), 3.0 if size.hands == 1 else 15.0))


async def _idle(folder: Path, seconds: float) -> list[Row]:
    cv2.setNumThreads(1)
    renderer = Renderer()
    pictures = [renderer.render(Scene()) for _ in range(4)]
    calibration = folder / "calibration.json"
    calibrate_from_markers(pictures[0], renderer.geometry).save(calibration)
    content = {
        "camera": {
            "source": f"feed:{folder / 'camera.sock'}", "calibration": str(calibration),
            "fps": FPS,
        },
    }  # fmt: skip
    with FeedServer(folder / "camera.sock") as feed:
        async with (
            _daemon(folder, content) as (port, load),
            _display(port) as shown,
            _filming(feed, pictures),
        ):
            await _until(lambda: shown.frames > 2 * FPS, "the daemon to see pictures")
            before, frames, start = load.cpu_s(), shown.frames, time.monotonic()
            await asyncio.sleep(seconds)
            took = time.monotonic() - start
            used = [b - a for a, b in zip(before, load.cpu_s(), strict=True)]
            rate = (shown.frames - frames) / took
    return [
        Row("daemon over an idle felt, of one core", 100 * used[0] / took, "%",
            IDLE_BUDGET_PERCENT, note=f"{rate:.1f} pictures a second of 1080p, recorded too"),
        Row("camera reader and broker, of one core", 100 * used[1] / took, "%",
            note="copies raw pictures from the simulator's socket"),
    ]  # fmt: skip


@asynccontextmanager
async def _filming(feed: FeedServer, pictures: list[Any]) -> AsyncIterator[None]:
    """The camera, meanwhile."""

    async def film() -> None:
        start = time.monotonic()
        for n in itertools.count():
            await asyncio.sleep(max(0.0, start + n / FPS - time.monotonic()))
            await asyncio.to_thread(feed.send, time.monotonic(), pictures[n % len(pictures)])

    task = asyncio.create_task(film())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# --- the daemon and a display ---


@asynccontextmanager
async def _daemon(folder: Path, content: dict[str, Any]) -> AsyncIterator[tuple[int, Load]]:
    """``tablectl run`` in a process of its own: its port and its pid."""
    settings = {"state_dir": str(folder), "log_level": "error",
                "server": {"host": "127.0.0.1", "port": 0}, **content}  # fmt: skip
    path = folder / "tablectl.toml"
    path.write_text(_toml(settings), encoding="utf-8")
    process = await asyncio.to_thread(_start, path)
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), _START_S)
        found = _ADDRESS.search(line)
        if found is None:
            raise BenchError(f"the daemon did not start: {line!r}")
        yield int(found[2]), Load(process.pid)
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, 20.0)
        except subprocess.TimeoutExpired:
            process.kill()


def _start(config: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tablectl", "run", "--config", str(config)],
        cwd=_ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def _toml(settings: dict[str, Any]) -> str:
    """TOML of plain values and one level of sections; JSON's values are TOML's."""
    plain = {k: v for k, v in settings.items() if not isinstance(v, dict)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
    for name, section in settings.items():
        if isinstance(section, dict):
            lines += [f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in section.items())]
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def _display(port: int) -> AsyncIterator[Shown]:
    """A display as the page is one: login from the daemon, MQTT through its ``/mqtt``."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/api/session") as response,
    ):
        login = await response.json()
    shown = Shown()
    async with aiomqtt.Client(
        "127.0.0.1", port, transport="websockets", websocket_path=login["path"],
        username=login["username"], password=login["password"],
    ) as client:  # fmt: skip
        await client.subscribe(login["prefix"] + "#", qos=1)
        listener = asyncio.create_task(_listen(client, shown))
        try:
            yield shown
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError, aiomqtt.MqttError):
                await listener


async def _listen(client: aiomqtt.Client, shown: Shown) -> None:
    async for message in client.messages:
        if isinstance(message.payload, bytes) and message.payload:
            shown.take(message.topic.value, message.payload)


async def _until(condition: Any, what: str) -> None:
    end = time.monotonic() + _START_S
    while not condition():
        if time.monotonic() > end:
            raise BenchError(f"waited {_START_S:g} s for {what}")
        await asyncio.sleep(0.1)
