"""The simulated controller's stacking: four sides at once, with its faults told apart."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from firmware_protocol import controller as c
from firmware_protocol.messages import FaultCause, FaultCode, Reason

if TYPE_CHECKING:
    from firmware_protocol.controller import Controller, Steps


DOUBT_TIME = 1.0
"""Seconds of a blocked sensor after which, where the count is in doubt, tiles must be there."""


class Stacking:
    """One stacking, begun or gone on with."""

    def __init__(self, controller: Controller) -> None:
        """Take the counts as they are."""
        self._c = controller
        now = controller.uptime
        self._heads: list[Generator[None, None, None] | None] = [None] * 4
        self._stacks_before = [0] * 4
        self._before_probe: list[int | None] = [None] * 4
        self._last_tile = [now] * 4
        self._last_count = list(controller.inputs.head_in_count)
        self._rate_from = self._last_turn = now
        self._rate_count = list(controller.inputs.head_in_count)
        self._rate_waiting = list(controller.memory.waiting)
        self._blocked = [0.0] * 4
        self._probe_at = [DOUBT_TIME] * 4
        self._short: set[int] = set()
        self._stalls: dict[str, int] = {}

    def run(self) -> Steps:
        """Stack until full or short, then watch for surplus tiles."""
        while not all(self._finished(side) or side in self._short for side in range(4)):
            self._hold_without_host()
            yield from self._feed()
            passed = self._c.uptime - self._last_turn
            self._last_turn = self._c.uptime
            for side in range(4):
                self._watch_rate(side)
                self._watch_blocked(side, passed)
                self._watch_for_tiles(side)
                self._run_head(side)
            self._report_progress()
            yield
        if self._short:
            self._raise_short()
        yield from self._look_for_surplus()
        self._c.plant.motors.all_off()

    def _finished(self, side: int) -> bool:
        return self._c.memory.counts[side] >= self._c.targets[side] and self._heads[side] is None

    def _hold_without_host(self) -> None:
        """Nobody there: stop feeding, let the heads end their strokes, keep the counts."""
        if not self._c.host_alive and not any(self._heads):
            raise c.MotionAborted(Reason.NO_HOST)

    def _feed(self) -> Steps:
        motors, inputs = self._c.plant.motors, self._c.inputs
        feeding = self._c.host_alive
        motors.pan = feeding
        for side in range(4):
            wants = feeding and not self._finished(side)
            motors.ring[side] = motors.belt[side] = wants
        if inputs.pan_current > c.OVER_CURRENT:
            yield from self._stalled("pan", FaultCode.PAN_STALL, 255)
        for side in range(4):
            if inputs.ring_current[side] > c.OVER_CURRENT:
                yield from self._stalled(f"ring {side}", FaultCode.RING_STALL, side)

    def _stalled(self, name: str, code: FaultCode, side: int) -> Steps:
        tried = self._stalls.get(name, 0)
        if tried >= c.STALL_RETRIES:
            raise c.MotionFault(code, side, FaultCause.OVER_CURRENT, retries=tried)
        self._stalls[name] = tried + 1
        self._c.plant.motors.all_off()
        self._heads = [None] * 4
        yield from self._c.pause(0.5)
        for head in range(4):
            if not self._c.inputs.head_home[head]:
                yield from self._c.cycle_head(head)

    # --- the photo sensor: dirty, or no tile? ---

    def _sensor_dirty(self, side: int, cause: FaultCause) -> c.MotionFault:
        self._c.memory.doubtful.add(side)
        return c.MotionFault(FaultCode.SENSOR_DIRTY, side, cause)

    def _watch_rate(self, side: int) -> None:
        now, count = self._c.uptime, self._c.inputs.head_in_count[side]
        if now - self._rate_from > 1.0:
            self._rate_from, self._rate_count = now, list(self._c.inputs.head_in_count)
            self._rate_waiting = list(self._c.waiting)
        elif count - self._rate_count[side] > c.MAX_TILES_PER_SECOND:
            # what it counted were no tiles
            self._c.waiting[side] = min(self._c.waiting[side], self._rate_waiting[side])
            raise self._sensor_dirty(side, FaultCause.IMPLAUSIBLE_PULSES)
        if count != self._last_count[side]:
            self._last_count[side], self._last_tile[side] = count, now
            self._short.discard(side)

    def _watch_blocked(self, side: int, passed: float) -> None:
        """Without a gap while the head rests: a dirty sensor, or tiles that were not counted."""
        if not self._c.inputs.head_in[side] or self._finished(side):
            self._blocked[side], self._probe_at[side] = 0.0, DOUBT_TIME
        elif self._heads[side] is None:
            self._blocked[side] += passed
        in_doubt = side in self._c.memory.doubtful and self._c.waiting[side] < 2
        if in_doubt and self._blocked[side] > self._probe_at[side]:
            self._probe_at[side] += DOUBT_TIME
            self._probe(side)
        if self._blocked[side] > c.BLOCKED_AFTER:
            raise self._sensor_dirty(side, FaultCause.CONSTANTLY_BLOCKED)

    def _watch_for_tiles(self, side: int) -> None:
        idle = self._heads[side] is None and self._c.waiting[side] < 2
        if not idle or self._finished(side) or side in self._short:
            return
        if self._c.uptime - self._last_tile[side] > c.SHORT_AFTER:
            if side in self._c.memory.doubtful:
                self._probe(side)
            else:
                self._short.add(side)

    def _probe(self, side: int) -> None:
        """A stroke to see whether tiles are there that were not counted."""
        self._before_probe[side] = self._c.waiting[side]
        self._c.waiting[side] = 2
        self._last_tile[side] = self._c.uptime

    # --- heads ---

    def _run_head(self, side: int) -> None:
        head = self._heads[side]
        if head is None:
            wanted = self._c.memory.counts[side] < self._c.targets[side]
            if wanted and self._c.waiting[side] >= 2 and self._c.host_alive:
                self._stacks_before[side] = self._c.memory.counts[side]
                self._heads[side] = self._c.cycle_head(side)
            return
        try:
            next(head)
        except StopIteration:
            self._heads[side] = None
            self._stroke_ended(side)

    def _stroke_ended(self, side: int) -> None:
        before, self._before_probe[side] = self._before_probe[side], None
        if self._c.memory.counts[side] > self._stacks_before[side]:
            return
        self._c.waiting[side] = before or 0
        if before is not None:
            self._c.memory.doubtful.discard(side)  # nothing there: the count was right

    def _report_progress(self) -> None:
        targets = sum(self._c.targets)
        self._c.progress(100 * sum(self._c.memory.counts) / targets)

    def _raise_short(self) -> None:
        missing = [
            max(0, 2 * (target - count) - waiting)
            for target, count, waiting in zip(
                self._c.targets, self._c.memory.counts, self._c.waiting, strict=True
            )
        ]
        a, b, d, e = missing
        side = missing.index(max(missing))
        raise c.MotionFault(FaultCode.SHORT_SET, side, FaultCause.NO_TILES, 0, (a, b, d, e))

    def _look_for_surplus(self) -> Steps:
        """Full walls and still tiles at a head: say so; nothing moves into a full channel."""
        motors = self._c.plant.motors
        for side in self._c.memory.doubtful:
            self._c.waiting[side] = 0  # the sensor will tell
        end = self._c.uptime + c.SURPLUS_WATCH
        motors.pan, motors.ring, motors.belt = True, [True] * 4, [True] * 4
        while self._c.uptime < end:
            self._hold_without_host()
            for side in range(4):
                if self._c.waiting[side] > 0:
                    cause = FaultCause.CHANNEL_FULL
                    raise c.MotionFault(FaultCode.TOO_MANY_TILES, side, cause)
            yield
