"""The one clock: wall time while live, the recording's time stamps in a replay.

Nothing in the daemon asks the operating system for the time; it asks the clock that it was given.
Times are seconds since the Unix epoch.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final, Protocol

NANOSECONDS: Final = 10**9


def to_ns(t: float) -> int:
    """Seconds as whole nanoseconds, the unit of recordings; exact to the nearest one."""
    whole = math.floor(t)
    return whole * NANOSECONDS + round((t - whole) * NANOSECONDS)


def from_ns(ns: int) -> float:
    """Nanoseconds as seconds, correctly rounded."""
    return ns / NANOSECONDS


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> float:
        """Seconds since the epoch; never goes back."""
        ...

    async def wait_until(self, t: float) -> None:
        """Return once :meth:`now` is at least ``t``."""
        ...


class WallClock:
    """Wall time that never jumps: the epoch time at the start plus monotonic seconds since.

    A daemon without a network at its start may begin with a wrong date; a later correction by NTP
    does not disturb a session that is being recorded. Other processes of the same machine convert
    their monotonic stamps with :meth:`from_monotonic`.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._offset + time.monotonic()

    def from_monotonic(self, monotonic: float) -> float:
        """The clock's time at a reading of ``time.monotonic()`` on this machine."""
        return self._offset + monotonic

    async def wait_until(self, t: float) -> None:
        """Sleep until ``t``."""
        delay = t - self.now()
        if delay > 0:
            await asyncio.sleep(delay)


class RecordedClock:
    """The time of the recorded message that is being replayed; owns pace and pause.

    The player calls :meth:`advance` with each message's time stamp: at ``speed`` 1 the call
    returns when as much time has passed as between the messages, at infinite speed at once.

    Args:
        start: time before the first message.
        speed: recorded seconds per second; ``math.inf`` for as fast as possible.
    """

    def __init__(self, start: float = 0.0, speed: float = math.inf) -> None:
        if not speed > 0:
            raise ValueError(f"speed must be above 0, not {speed}")
        self._now = start
        self._speed = speed
        self._anchor: tuple[float, float] | None = None
        self._running = asyncio.Event()
        self._running.set()
        self._waiters: list[tuple[float, asyncio.Future[None]]] = []

    @property
    def paused(self) -> bool:
        """Whether :meth:`pause` holds the replay."""
        return not self._running.is_set()

    def now(self) -> float:
        """Time stamp of the newest message played."""
        return self._now

    def pause(self) -> None:
        """Hold :meth:`advance` until :meth:`resume`."""
        self._running.clear()

    def resume(self) -> None:
        """Go on at the same speed from where the replay stands."""
        self._anchor = None
        self._running.set()

    def set_speed(self, speed: float) -> None:
        """Change the pace from now on."""
        if not speed > 0:
            raise ValueError(f"speed must be above 0, not {speed}")
        self._speed = speed
        self._anchor = None

    async def advance(self, t: float) -> None:
        """Wait as the pace demands, then set the time to ``t`` (it never goes back)."""
        await self._running.wait()
        if math.isfinite(self._speed):
            await self._pace(t)
        self.jump(t)

    def jump(self, t: float) -> None:
        """Set the time to ``t`` at once (it never goes back)."""
        self._now = max(self._now, t)
        self._wake()

    async def _pace(self, t: float) -> None:
        if self._anchor is None:
            base = self._now if self._now > 0 else t
            self._anchor = (time.monotonic(), base)
        started, base = self._anchor
        delay = started + (t - base) / self._speed - time.monotonic()
        if delay > 0:
            await asyncio.sleep(delay)

    def _wake(self) -> None:
        due = [waiter for waiter in self._waiters if waiter[0] <= self._now]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > self._now]
        for _, future in sorted(due, key=lambda waiter: waiter[0]):
            if not future.done():
                future.set_result(None)

    async def wait_until(self, t: float) -> None:
        """Return once the replay has come to ``t``."""
        if t <= self._now:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((t, future))
        await future
