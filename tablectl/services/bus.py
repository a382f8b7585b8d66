"""The in-process bus: every message once, in one order, with one time stamp.

Subscribers are called in the order in which they subscribed, so the recorder, which subscribes
first, has written a message before anything acts on it. Time stamps never go back: order by
sequence number and order by (time, sequence) are the same, live and in a recording. They are whole
nanoseconds, the unit of recordings, so that a replay gets the very same numbers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from tablectl.services.clock import Clock, from_ns, to_ns

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True)
class Entry(Generic[M_co]):
    """One message on the bus.

    Attributes:
        seq: counts messages from 0.
        t: when it was published, seconds on the bus's clock, never below an earlier entry's.
        channel: where it was published, ``/vision/reading``.
        message: a pydantic model or a dataclass.
    """

    seq: int
    t: float
    channel: str
    message: M_co


Handler = Callable[[Entry[object]], None]


class BusDeliveryError(Exception):
    """A subscriber raised on an entry; the cause is attached, the other subscribers got it."""


@dataclass(frozen=True)
class _Subscription:
    handler: Handler
    channel: str | None
    kind: type | None

    def wants(self, entry: Entry[object]) -> bool:
        if self.channel is not None and entry.channel != self.channel:
            return False
        return self.kind is None or isinstance(entry.message, self.kind)


class Bus:
    """Publish and subscribe within one event loop.

    A publish from inside a handler is delivered after the entry in hand has reached everyone, so
    all subscribers see the same order.

    Args:
        clock: gives the time of entries published without one.

    Attributes:
        failed: set when a subscriber has failed; ``failure`` is the first one's error. Whoever
            published may be a callback that nobody watches, so the daemon watches this.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seq = 0
        self._latest = 0.0
        self._subscriptions: list[_Subscription] = []
        self._pending: deque[Entry[object]] = deque()
        self._delivering = False
        self.failed = asyncio.Event()
        self.failure: BusDeliveryError | None = None

    def subscribe(self, handler: Handler, channel: str | None = None) -> Callable[[], None]:
        """Call ``handler`` with every entry, or with those of one channel.

        Returns:
            A function that ends the subscription.
        """
        return self._add(_Subscription(handler, channel, None))

    def on(
        self, kind: type[M], handler: Callable[[Entry[M]], None], channel: str | None = None
    ) -> Callable[[], None]:
        """Call ``handler`` with every message of a type. Returns what ends the subscription."""
        return self._add(_Subscription(cast(Handler, handler), channel, kind))

    def _add(self, subscription: _Subscription) -> Callable[[], None]:
        self._subscriptions.append(subscription)

        def cancel() -> None:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

        return cancel

    def publish(self, channel: str, message: M, t: float | None = None) -> Entry[M]:
        """Stamp a message and deliver it.

        Args:
            channel: name, beginning with a slash.
            message: pydantic model or dataclass.
            t: time of publishing; the clock's when None, and never less than the last entry's.

        Raises:
            BusDeliveryError: a subscriber failed; everyone else was served first.
        """
        stamp = self._clock.now() if t is None else t
        self._latest = max(self._latest, from_ns(to_ns(stamp)))
        entry = Entry(self._seq, self._latest, channel, message)
        self._seq += 1
        self._pending.append(entry)
        if not self._delivering:
            self._drain()
        return entry

    def _drain(self) -> None:
        failure: tuple[Entry[object], Exception] | None = None
        self._delivering = True
        try:
            while self._pending:
                entry = self._pending.popleft()
                for subscription in tuple(self._subscriptions):
                    if not subscription.wants(entry):
                        continue
                    try:
                        subscription.handler(entry)
                    except Exception as error:  # noqa: BLE001  raised below, after everyone is served
                        failure = failure or (entry, error)
        finally:
            self._delivering = False
        if failure is not None:
            failed, cause = failure
            report = BusDeliveryError(
                f"a subscriber failed on message {failed.seq} of {failed.channel}: {cause!r}"
            )
            self.failure = self.failure or report
            self.failed.set()
            raise report from cause
