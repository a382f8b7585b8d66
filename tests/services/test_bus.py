"""One order, one clock, every subscriber."""

from __future__ import annotations

import asyncio
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.messages import Health, Questions
from tablectl.services.bus import Bus, BusDeliveryError, Entry
from tablectl.services.clock import RecordedClock, WallClock


def test_entries_reach_subscribers_in_order_with_sequence_numbers() -> None:
    bus = Bus(RecordedClock(5.0))
    seen: list[tuple[str, int, str]] = []
    bus.subscribe(lambda entry: seen.append(("first", entry.seq, entry.channel)))
    bus.subscribe(lambda entry: seen.append(("second", entry.seq, entry.channel)), "/b")
    bus.publish("/a", Health())
    bus.publish("/b", Health())
    assert seen == [("first", 0, "/a"), ("first", 1, "/b"), ("second", 1, "/b")]


def test_a_publish_inside_a_handler_comes_after_the_entry_in_hand() -> None:
    bus = Bus(RecordedClock())

    def react(entry: Entry[Health]) -> None:
        bus.publish("/out", Questions())

    late: list[str] = []
    bus.on(Health, react)
    bus.subscribe(lambda entry: late.append(entry.channel))
    bus.publish("/in", Health())
    assert late == ["/in", "/out"]


def test_typed_subscription_gets_only_its_type_and_ends() -> None:
    bus = Bus(RecordedClock())
    got: list[Questions] = []
    cancel = bus.on(Questions, lambda entry: got.append(entry.message))
    bus.publish("/x", Health())
    bus.publish("/x", Questions())
    cancel()
    bus.publish("/x", Questions())
    assert got == [Questions()]


def test_a_failing_subscriber_is_reported_after_the_others_were_served() -> None:
    bus = Bus(RecordedClock())
    got: list[int] = []

    def broken(entry: Entry[object]) -> None:
        raise RuntimeError("disk on fire")

    bus.subscribe(broken)
    bus.subscribe(lambda entry: got.append(entry.seq))
    with pytest.raises(BusDeliveryError, match="disk on fire"):
        bus.publish("/a", Health())
    assert got == [0]


@given(st.lists(st.floats(min_value=0, max_value=1e9)))
def test_time_stamps_never_go_back(times: list[float]) -> None:
    bus = Bus(RecordedClock())
    entries = [bus.publish("/a", Health(), t) for t in times]
    assert [e.t for e in entries] == sorted(e.t for e in entries)
    assert [e.seq for e in entries] == list(range(len(times)))


async def test_wall_clock_agrees_with_the_system_and_waits() -> None:
    clock = WallClock()
    assert abs(clock.now() - time.time()) < 0.5
    assert abs(clock.from_monotonic(time.monotonic()) - clock.now()) < 0.1
    target = clock.now() + 0.02
    await clock.wait_until(target)
    assert clock.now() >= target


async def test_recorded_clock_paces_pauses_and_wakes() -> None:
    clock = RecordedClock(100.0, speed=10.0)
    waiting = asyncio.create_task(clock.wait_until(100.5))
    started = time.monotonic()
    await clock.advance(100.5)
    assert 0.045 <= time.monotonic() - started < 1.0
    await asyncio.wait_for(waiting, 1.0)
    clock.pause()
    advancing = asyncio.create_task(clock.advance(101.0))
    await asyncio.sleep(0.02)
    assert not advancing.done()
    assert clock.paused
    clock.set_speed(math.inf)
    clock.resume()
    await asyncio.wait_for(advancing, 1.0)
    assert clock.now() == 101.0
    await clock.advance(50.0)
    assert clock.now() == 101.0


def test_speed_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        RecordedClock(speed=0.0)
