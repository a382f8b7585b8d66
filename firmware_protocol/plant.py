"""The machine under the felt, simulated: motors on, time passes, sensors answer.

A model of table-machine.md's six systems, coarse but honest about what a controller can know: it
sees only :class:`Inputs`. Faults are put into the machine, not into the controller. Times are
seconds of table time; positions run from 0 (low, closed) to 1 (high, open).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from firmware_protocol.messages import Sensor

CENTRE_TRAVEL = 2.0
LIFT_TRAVEL = 3.0
HEAD_CYCLE = 1.2
TILE_INTERVAL = 1.6
"""Mean time between tiles at one head: 36 tiles take just under a minute."""
SENSOR_PULSE = 0.2
RUN_CURRENT = 0.8
STALL_CURRENT = 4.0
CHANNEL_LIMIT = 6
"""Tiles that a channel holds before its head."""
MAX_STEP = 0.05


@dataclass(slots=True)
class Motors:
    """What the controller drives: on/off, or -1/0/+1 where a motor has two directions."""

    pan: bool = False
    ring: list[bool] = field(default_factory=lambda: [False] * 4)
    belt: list[bool] = field(default_factory=lambda: [False] * 4)
    head: list[int] = field(default_factory=lambda: [0] * 4)
    lift: list[int] = field(default_factory=lambda: [0] * 4)
    centre: int = 0

    def all_off(self) -> None:
        """Cut everything."""
        self.pan = False
        self.ring, self.belt = [False] * 4, [False] * 4
        self.head, self.lift, self.centre = [0] * 4, [0] * 4, 0

    @property
    def any_on(self) -> bool:
        """Whether any motor runs."""
        return bool(
            self.pan
            or any(self.ring)
            or any(self.belt)
            or any(self.head)
            or any(self.lift)
            or self.centre
        )


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the controller can read: switches, sensor counts since power-on, currents in A."""

    e_stop_open: bool
    cover_open: bool
    centre_open: bool
    centre_closed: bool
    lift_top: tuple[bool, ...]
    lift_bottom: tuple[bool, ...]
    head_home: tuple[bool, ...]
    head_in: tuple[bool, ...]
    stack: tuple[bool, ...]
    head_in_count: tuple[int, ...]
    stack_count: tuple[int, ...]
    pan_current: float
    ring_current: tuple[float, ...]
    head_current: tuple[float, ...]
    lift_current: tuple[float, ...]
    centre_current: float

    def sensors(self) -> Sensor:
        """The switches as the wire's bits."""
        bits = [self.e_stop_open, self.cover_open, self.centre_open, self.centre_closed]
        bits += [*self.lift_top, *self.lift_bottom, *self.head_home, *self.head_in, *self.stack]
        return Sensor(sum(1 << index for index, active in enumerate(bits) if active))


@dataclass(slots=True)
class Defects:
    """What is broken at the moment. Sides are 0 to 3."""

    jammed_heads: dict[int, int] = field(default_factory=dict)
    """Side to the number of reversals that free it; a large number never does."""
    blocked_lifts: set[int] = field(default_factory=set)
    dead_lifts: set[int] = field(default_factory=set)
    lifts_without_top: set[int] = field(default_factory=set)
    lifts_without_bottom: set[int] = field(default_factory=set)
    dirty_sensors: set[int] = field(default_factory=set)
    flickering_sensors: set[int] = field(default_factory=set)
    stalled_rings: set[int] = field(default_factory=set)
    missing_tiles: dict[int, int] = field(default_factory=dict)
    surplus_tiles: dict[int, int] = field(default_factory=dict)
    pan_stalled: bool = False
    centre_blocked: bool = False
    centre_dead: bool = False


class Plant:
    """The state of the machine."""

    def __init__(self, seed: int = 0) -> None:
        """A machine at rest: centre closed, trays down, heads home, nothing stacked."""
        self.motors = Motors()
        self.defects = Defects()
        self.e_stop_open = False
        self.cover_open = False
        self.centre = 0.0
        self.lifts = [0.0] * 4
        self.supply = [0] * 4
        """Tiles that the pan will still give to a side."""
        self.channel = [0] * 4
        """Tiles that wait at a head."""
        self.head_phase = [0.0] * 4
        self.head_in_count = [0] * 4
        self.stack_count = [0] * 4
        self._pulse = [0.0] * 4
        self._pushed = [0.0] * 4
        self._next_tile = [TILE_INTERVAL] * 4
        self._reversed = [0] * 4
        self._random = random.Random(seed)

    def load_pan(self, stacks: tuple[int, int, int, int]) -> None:
        """Put a set into the pan that gives these stacks a side, less and more by the defects."""
        for side, wanted in enumerate(stacks):
            missing = self.defects.missing_tiles.get(side, 0)
            surplus = self.defects.surplus_tiles.get(side, 0)
            self.supply[side] = max(0, 2 * wanted - missing + surplus)
            self.channel[side] = 0

    def add_tiles(self, side: int, tiles: int) -> None:
        """Put found tiles back into the pan."""
        self.supply[side] += tiles

    @property
    def moving(self) -> bool:
        """Whether time changes anything."""
        flicker = self.defects.flickering_sensors
        return self.motors.any_on or any(self._pulse) or any(self._pushed) or bool(flicker)

    def step(self, dt: float) -> None:
        """Let `dt` seconds of table time pass (at most MAX_STEP for good behaviour).

        The emergency stop cuts the motors' supply here, in hardware, whatever the controller says.
        """
        if self.e_stop_open:
            self.motors.all_off()
        self._step_centre(dt)
        for side in range(4):
            self._step_lift(side, dt)
            self._step_channel(side, dt)
            self._step_head(side, dt)

    def inputs(self) -> Inputs:
        """Read every sensor."""
        defects, motors = self.defects, self.motors
        sides = range(4)
        return Inputs(
            e_stop_open=self.e_stop_open,
            cover_open=self.cover_open,
            centre_open=self.centre >= 1,
            centre_closed=self.centre <= 0,
            lift_top=tuple(
                self.lifts[s] >= 1 and s not in defects.lifts_without_top for s in sides
            ),
            lift_bottom=tuple(
                self.lifts[s] <= 0 and s not in defects.lifts_without_bottom for s in sides
            ),
            head_home=tuple(self.head_phase[s] <= 0 for s in sides),
            head_in=tuple(
                s in defects.dirty_sensors or self._pulse[s] > 0 or self.channel[s] > 2
                for s in sides
            ),
            stack=tuple(self._pushed[s] > 0 for s in sides),
            head_in_count=tuple(self.head_in_count),
            stack_count=tuple(self.stack_count),
            pan_current=_current(motors.pan, defects.pan_stalled),
            ring_current=tuple(_current(motors.ring[s], s in defects.stalled_rings) for s in sides),
            head_current=tuple(
                _current(bool(motors.head[s]), motors.head[s] > 0 and self._jammed(s))
                for s in sides
            ),
            lift_current=tuple(
                _current(bool(motors.lift[s]), s in defects.blocked_lifts) for s in sides
            ),
            centre_current=_current(
                bool(motors.centre), motors.centre < 0 and self._centre_obstructed()
            ),
        )

    def _jammed(self, side: int) -> bool:
        return side in self.defects.jammed_heads

    def _centre_obstructed(self) -> bool:
        """A hand in the hole is met half-way down."""
        return self.defects.centre_blocked and self.centre <= 0.5

    def _step_centre(self, dt: float) -> None:
        stuck = self.defects.centre_dead or (self.motors.centre < 0 and self._centre_obstructed())
        if not stuck:
            travelled = self.centre + self.motors.centre * dt / CENTRE_TRAVEL
            self.centre = min(1.0, max(0.0, travelled))

    def _step_lift(self, side: int, dt: float) -> None:
        if side not in self.defects.blocked_lifts | self.defects.dead_lifts:
            travelled = self.lifts[side] + self.motors.lift[side] * dt / LIFT_TRAVEL
            self.lifts[side] = min(1.0, max(0.0, travelled))

    def _step_channel(self, side: int, dt: float) -> None:
        self._pulse[side] = max(0.0, self._pulse[side] - dt)
        if side in self.defects.flickering_sensors:
            self.head_in_count[side] += 3
        feeding = (
            self.motors.pan
            and self.motors.ring[side]
            and self.motors.belt[side]
            and not self.defects.pan_stalled
            and side not in self.defects.stalled_rings
        )
        if not feeding or self.supply[side] == 0 or self.channel[side] >= CHANNEL_LIMIT:
            return
        self._next_tile[side] -= dt
        if self._next_tile[side] <= 0:
            self._next_tile[side] = TILE_INTERVAL * self._random.uniform(0.85, 1.1)
            self.supply[side] -= 1
            self.channel[side] += 1
            self.head_in_count[side] += side not in self.defects.dirty_sensors
            self._pulse[side] = SENSOR_PULSE

    def _step_head(self, side: int, dt: float) -> None:
        self._pushed[side] = max(0.0, self._pushed[side] - dt)
        direction = self.motors.head[side]
        if direction < 0:
            self._reversed[side] += self.head_phase[side] > 0
            self.head_phase[side] = max(0.0, self.head_phase[side] - dt / HEAD_CYCLE)
            if self.head_phase[side] == 0 and self._reversed[side]:
                self._reversed[side] = 0
                self._free_a_little(side)
        elif direction > 0:
            if self._jammed(side) and self.head_phase[side] >= 0.4:
                return
            self.head_phase[side] += dt / HEAD_CYCLE
            if self.head_phase[side] >= 1:
                self.head_phase[side] = 0.0
                if self.channel[side] >= 2:
                    self.channel[side] -= 2
                    self.stack_count[side] += 1
                    self._pushed[side] = SENSOR_PULSE

    def _free_a_little(self, side: int) -> None:
        if self._jammed(side):
            self.defects.jammed_heads[side] -= 1
            if self.defects.jammed_heads[side] <= 0:
                del self.defects.jammed_heads[side]


def _current(running: bool, stalled: bool) -> float:
    if not running:
        return 0.0
    return STALL_CURRENT if stalled else RUN_CURRENT
