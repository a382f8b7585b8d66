"""The simulated controller's mind: interlocks, motions, faults. It sees only the plant's inputs.

Every motion is a generator that is resumed once a tick; it ends by returning, or raises what went
wrong. The rules are those of table-machine.md and docs/protocol.md, "What the firmware refuses".
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.faults import FAULTS
from firmware_protocol.plant import RUN_CURRENT, Inputs, Plant
from firmware_protocol.wire import Message

CENTRE_TIMEOUT = 4.0
LIFT_TIMEOUT = 5.0
HEAD_TIMEOUT = 2.5
OVER_CURRENT = 2.5 * RUN_CURRENT
OVER_CURRENT_TIME = 0.15
JAM_RETRIES = 2
STALL_RETRIES = 1
SHORT_AFTER = 12.0
"""Seconds without a tile at a head, the pan turning, after which the set is short."""
SURPLUS_WATCH = 4.0
"""Seconds that belts run on after the walls are full, to see whether tiles are left."""
BLOCKED_AFTER = 6.0
MAX_TILES_PER_SECOND = 4
DICE_TIME = 1.5
SELF_TEST_TIME = 0.3

Steps = Generator[None, None, None]


class MotionFault(Exception):  # noqa: N818 - a fault of the machine, not of the program
    """A motion met a fault."""

    def __init__(
        self,
        code: m.FaultCode,
        side: int,
        cause: m.FaultCause,
        retries: int = 0,
        missing: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        super().__init__(f"{code.name} at {side}")
        self.code, self.cause, self.retries, self.missing = code, cause, retries, missing
        self.side = m.Side(side)


class MotionAborted(Exception):  # noqa: N818 - as above
    """A motion ended early without a fault."""

    def __init__(self, reason: m.Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


@dataclass(slots=True)
class NonVolatile:
    """What survives a power cut."""

    boot_count: int = 0
    motion: m.Motion = m.Motion.NONE
    program: m.TileProgram = m.TileProgram.NONE
    dealer: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * 4)
    walls_up: bool = False
    waiting: list[int] = field(default_factory=lambda: [0] * 4)
    """Tiles counted in at a head and not yet stacked, a side."""
    doubtful: set[int] = field(default_factory=set)
    """Sides whose `waiting` may be wrong: a dirty sensor, or a power cut while a tile passed."""


@dataclass(slots=True)
class Job:
    """A motion under way; `token` is None when nobody asked (homing at start)."""

    motion: m.Motion
    token: int | None
    steps: Steps


class Controller:
    """Decides what moves. `emit` sends an event, `tick` is called every few milliseconds."""

    def __init__(
        self,
        plant: Plant,
        emit: Callable[[Message], None],
        memory: NonVolatile,
        *,
        seed: int = 0,
    ) -> None:
        """Power on: report what was interrupted, then home by itself."""
        self.plant, self.memory = plant, memory
        self.uptime = 0.0
        self.host_alive = False
        self.fault: MotionFault | None = None
        self.homed = False
        self.next_dice: deque[tuple[int, int]] = deque()
        self.lights: list[m.LightPattern] = [m.LightPattern.OFF] * 4
        self.executed: list[m.Command] = []
        """Every command that was accepted, in order: tests look here for double execution."""
        self.interrupted = memory.motion
        self._emit = emit
        self._random = random.Random(seed)
        self._job: Job | None = None
        self._dice: Job | None = None
        self._inputs = plant.inputs()
        self._stacks_seen = list(self._inputs.stack_count)
        self._tiles_seen = list(self._inputs.head_in_count)
        self._percent = -1
        self._last_state: m.TableState | None = None
        memory.boot_count += 1
        if self.interrupted is not m.Motion.NONE:
            memory.doubtful = set(range(4))
            self._report(MotionFault(m.FaultCode.POWER_CUT, 255, m.FaultCause.RESTARTED))
        self._begin(m.Motion.HOMING, None, self._home())

    # --- what others see ---

    @property
    def busy(self) -> bool:
        """Whether a motion or the dice are under way."""
        return self._job is not None or self._dice is not None

    @property
    def latched(self) -> bool:
        """Whether a fault refuses motion."""
        return self.fault is not None and FAULTS[self.fault.code].latched

    @property
    def motion(self) -> m.Motion:
        """The motion under way."""
        return self._job.motion if self._job else m.Motion.NONE

    @property
    def targets(self) -> tuple[int, int, int, int]:
        """Stacks wanted a side."""
        return m.stacks_per_side(self.memory.program, self.memory.dealer)

    @property
    def walls_complete(self) -> bool:
        """Whether built walls wait in the trays or stand on them."""
        return self.memory.program is not m.TileProgram.NONE and all(
            count >= target for count, target in zip(self.memory.counts, self.targets, strict=True)
        )

    @property
    def mode(self) -> m.TableMode:
        """The state as a whole."""
        if self.latched and self.fault is not None:
            stopped = self.fault.code is m.FaultCode.EMERGENCY_STOP
            return m.TableMode.EMERGENCY_STOP if stopped else m.TableMode.FAULT
        if self._job is not None:
            homing = self._job.motion is m.Motion.HOMING
            return m.TableMode.HOMING if homing else m.TableMode.MOVING
        return m.TableMode.READY if self.homed else m.TableMode.NOT_HOMED

    def state(self) -> m.TableState:
        """The state as an event."""
        fault = self.fault
        return m.TableState(
            mode=self.mode,
            motion=self.motion,
            centre=self._centre_place(),
            lifts=self._lift_place(),
            program=self.memory.program,
            walls_complete=self.walls_complete,
            fault=fault.code if fault else m.FaultCode.NONE,
            fault_side=fault.side if fault else m.Side.NONE,
            fault_cause=fault.cause if fault else m.FaultCause.NONE,
            e_stop_open=self._inputs.e_stop_open,
            cover_open=self._inputs.cover_open,
            uptime_ms=int(self.uptime * 1000) & 0xFFFFFFFF,
        )

    def stacks(self) -> m.Stacks:
        """The counts as an event."""
        a, b, c, d = self.memory.counts
        return m.Stacks(self.memory.program, (a, b, c, d), self.targets)

    # --- time ---

    def tick(self, dt: float) -> None:
        """One turn of the control loop: read, be safe, count, move on."""
        self.uptime += dt
        self._inputs = self.plant.inputs()
        self._guard()
        self._count()
        if self._job is not None:
            self._advance(self._job)
        if self._dice is not None:
            self._advance(self._dice)
        self._publish_state()

    def set_host_alive(self, alive: bool) -> None:
        """Told by the link; without a host nothing new starts and building is held."""
        if alive == self.host_alive:
            return
        self.host_alive = alive
        if not alive and self.fault is None:
            self._report(MotionFault(m.FaultCode.HOST_LOST, 255, m.FaultCause.NO_HEARTBEAT))
        elif alive and self.fault and self.fault.code is m.FaultCode.HOST_LOST:
            self._clear_fault()

    def _guard(self) -> None:
        """The emergency stop and the lid come before everything."""
        stopped = self.fault is not None and self.fault.code is m.FaultCode.EMERGENCY_STOP
        if self._inputs.e_stop_open and not stopped:
            self._fail(MotionFault(m.FaultCode.EMERGENCY_STOP, 255, m.FaultCause.INPUT_OPEN))
        elif self._inputs.cover_open and self._job is not None:
            self._fail(MotionFault(m.FaultCode.COVER_OPEN, 255, m.FaultCause.INPUT_OPEN))
        if self.latched:
            self.plant.motors.all_off()

    def _count(self) -> None:
        """Tiles and stacks are counted whatever else goes on."""
        changed = False
        for side in range(4):
            stacks = self._inputs.stack_count[side] - self._stacks_seen[side]
            tiles = self._inputs.head_in_count[side] - self._tiles_seen[side]
            self._stacks_seen[side] += stacks
            self._tiles_seen[side] += tiles
            waiting = self.memory.waiting[side] + tiles - 2 * stacks
            self.memory.waiting[side] = max(0, waiting)
            self.memory.counts[side] += stacks
            changed |= stacks > 0
        if changed:
            self._emit(self.stacks())

    def _advance(self, job: Job) -> None:
        try:
            next(job.steps)
        except StopIteration:
            self._end(job, m.Outcome.DONE)
        except MotionAborted as aborted:
            self.plant.motors.all_off()
            self._end(job, m.Outcome.ABORTED, aborted.reason)
        except MotionFault as fault:
            self._fail(fault, job)

    def _publish_state(self) -> None:
        state = self.state()
        last = self._last_state
        if last is None or replace_uptime(state) != replace_uptime(last):
            self._last_state = state
            self._emit(state)

    # --- jobs and faults ---

    def _begin(self, motion: m.Motion, token: int | None, steps: Steps) -> None:
        job = Job(motion, token, steps)
        if motion is m.Motion.DICE:
            self._dice = job
            return
        if self.fault is not None and self.fault.code is not m.FaultCode.POWER_CUT:
            self._clear_fault()
        self._job = job
        self._percent = -1
        self.memory.motion = motion

    def _end(
        self,
        job: Job,
        outcome: m.Outcome,
        reason: m.Reason = m.Reason.NONE,
        fault: m.FaultCode = m.FaultCode.NONE,
    ) -> None:
        if job is self._dice:
            self._dice = None
        else:
            self._job = None
            self.memory.motion = m.Motion.NONE
        self._publish_state()
        if job.token is not None:
            self._emit(m.CommandReply(job.token, outcome, reason, fault))

    def _fail(self, fault: MotionFault, job: Job | None = None) -> None:
        job = job or self._job
        motion = job.motion if job else m.Motion.NONE
        self.plant.motors.all_off()
        if FAULTS[fault.code].latched:
            self.homed = False
        self._report(fault, motion)
        if job is not None:
            self._end(job, m.Outcome.FAILED, fault=fault.code)

    def _report(self, fault: MotionFault, motion: m.Motion = m.Motion.NONE) -> None:
        self.fault = fault
        latched = FAULTS[fault.code].latched
        self._emit(
            m.FaultRaised(
                fault.code, fault.side, fault.cause, latched, fault.retries, fault.missing, motion
            )
        )

    def _clear_fault(self) -> None:
        if self.fault is not None:
            code, self.fault = self.fault.code, None
            self._emit(m.FaultCleared(code))

    # --- commands ---

    def execute(self, command: m.Command) -> None:
        """Carry out a command or refuse it; always answers with a CommandReply."""
        handler = self._HANDLERS.get(type(command))
        if handler is None:
            self._refuse(command, m.Reason.UNSUPPORTED)
            return
        try:
            handler(self, command)
        except MotionAborted as refused:
            self._refuse(command, refused.reason)

    def _refuse(self, command: m.Command, reason: m.Reason) -> None:
        self._emit(m.CommandReply(command.token, m.Outcome.REFUSED, reason))

    def _done(self, command: m.Command) -> None:
        self.executed.append(command)
        self._emit(m.CommandReply(command.token, m.Outcome.DONE))

    def _start(self, command: m.Command, motion: m.Motion, steps: Steps) -> None:
        self.executed.append(command)
        self._emit(m.CommandReply(command.token, m.Outcome.ACCEPTED))
        self._begin(motion, command.token, steps)
        self._publish_state()

    def _require_motion_allowed(self, *, homed: bool = True) -> None:
        """Refuse (by raising) whatever must not move now."""
        inputs = self.plant.inputs()
        if inputs.e_stop_open or self.mode is m.TableMode.EMERGENCY_STOP:
            raise MotionAborted(m.Reason.EMERGENCY_STOP)
        if self.latched:
            raise MotionAborted(m.Reason.FAULT_LATCHED)
        if self._job is not None:
            raise MotionAborted(m.Reason.BUSY)
        if inputs.cover_open:
            raise MotionAborted(m.Reason.COVER_OPEN)
        if not self.host_alive:
            raise MotionAborted(m.Reason.NO_HOST)
        if homed and not self.homed:
            raise MotionAborted(m.Reason.NOT_HOMED)

    def _on_open_centre(self, command: m.Command) -> None:
        self._require_motion_allowed()
        self._start(command, m.Motion.OPENING_CENTRE, self._open_centre())

    def _on_close_centre(self, command: m.Command) -> None:
        self._require_motion_allowed()
        self._start(command, m.Motion.CLOSING_CENTRE, self._close_centre())

    def _on_build(self, command: m.Command) -> None:
        assert isinstance(command, m.BuildWalls)
        self._require_motion_allowed()
        if command.program is m.TileProgram.NONE:
            raise MotionAborted(m.Reason.BAD_ARGUMENT)
        if self._centre_place() is not m.Place.LOW:
            raise MotionAborted(m.Reason.CENTRE_NOT_CLOSED)
        if self._lift_place() is not m.Place.LOW:
            raise MotionAborted(m.Reason.LIFTS_NOT_DOWN)
        if self.walls_complete:
            raise MotionAborted(m.Reason.WALLS_WAITING)
        memory = self.memory
        going_on = memory.program is not m.TileProgram.NONE
        if going_on and (memory.program, memory.dealer) != (command.program, command.dealer):
            raise MotionAborted(m.Reason.WALLS_WAITING)
        if not going_on:
            memory.program, memory.dealer = command.program, command.dealer
            memory.waiting, memory.doubtful = [0] * 4, set()
            self.plant.load_pan(self.targets)
        self._start(command, m.Motion.BUILDING, self._build())

    def _on_raise(self, command: m.Command) -> None:
        assert isinstance(command, m.RaiseWalls)
        self._require_motion_allowed()
        if self._lift_place() is not m.Place.LOW:
            raise MotionAborted(m.Reason.LIFTS_NOT_DOWN)
        if self._centre_place() is not m.Place.LOW:
            raise MotionAborted(m.Reason.CENTRE_NOT_CLOSED)
        if self.memory.program is m.TileProgram.NONE:
            raise MotionAborted(m.Reason.NOT_BUILT)
        if not self.walls_complete and not command.despite_short:
            raise MotionAborted(m.Reason.SHORT_SET)
        self._start(command, m.Motion.RAISING, self._raise_walls())

    def _on_lower(self, command: m.Command) -> None:
        self._require_motion_allowed()
        if self._lift_place() is not m.Place.HIGH:
            raise MotionAborted(m.Reason.LIFTS_NOT_UP)
        self._start(command, m.Motion.LOWERING, self._lower_walls())

    def _on_dice(self, command: m.Command) -> None:
        if self.latched:
            raise MotionAborted(m.Reason.FAULT_LATCHED)
        if self._dice is not None:
            raise MotionAborted(m.Reason.BUSY)
        self._start(command, m.Motion.DICE, self._roll())

    def _on_lights(self, command: m.Command) -> None:
        assert isinstance(command, m.SetLights)
        for seat in range(4):
            if command.seats & (1 << seat):
                self.lights[seat] = command.pattern
        self._done(command)

    def _on_stop(self, command: m.Command) -> None:
        self.plant.motors.all_off()
        if self._job is not None:
            if self._job.motion is not m.Motion.BUILDING:
                self.homed = False
            self._end(self._job, m.Outcome.ABORTED, m.Reason.STOPPED)
        self._done(command)

    def _on_reset(self, command: m.Command) -> None:
        inputs = self.plant.inputs()
        if inputs.e_stop_open:
            raise MotionAborted(m.Reason.EMERGENCY_STOP)
        if inputs.cover_open:
            raise MotionAborted(m.Reason.COVER_OPEN)
        if self.fault is None:
            raise MotionAborted(m.Reason.NOTHING_TO_RESET)
        if self._job is not None:
            raise MotionAborted(m.Reason.BUSY)
        latched = self.latched
        self._clear_fault()
        if latched:
            self._start(command, m.Motion.HOMING, self._home())
        else:
            self._done(command)

    def _on_self_test(self, command: m.Command) -> None:
        self._require_motion_allowed()
        if self._lift_place() is not m.Place.LOW:
            raise MotionAborted(m.Reason.LIFTS_NOT_DOWN)
        if self.memory.program is not m.TileProgram.NONE:
            raise MotionAborted(m.Reason.WALLS_WAITING)
        self._start(command, m.Motion.SELF_TEST, self._self_test())

    def _on_query(self, command: m.Command) -> None:
        self._emit(self.state())
        self._emit(self.stacks())
        self._emit(m.SensorReport(self.plant.inputs().sensors()))
        self._done(command)

    def _on_home(self, command: m.Command) -> None:
        self._require_motion_allowed(homed=False)
        self._start(command, m.Motion.HOMING, self._home())

    _HANDLERS: dict[type[m.Command], Callable[[Controller, m.Command], None]] = {  # noqa: RUF012
        m.OpenCentre: _on_open_centre,
        m.CloseCentre: _on_close_centre,
        m.BuildWalls: _on_build,
        m.RaiseWalls: _on_raise,
        m.LowerWalls: _on_lower,
        m.RollDice: _on_dice,
        m.SetLights: _on_lights,
        m.Stop: _on_stop,
        m.ResetFault: _on_reset,
        m.SelfTest: _on_self_test,
        m.QueryState: _on_query,
        m.Home: _on_home,
    }

    # --- places ---

    def _centre_place(self) -> m.Place:
        if self.plant.motors.centre:
            return m.Place.MOVING
        if not self.homed:
            return m.Place.UNKNOWN
        if self._inputs.centre_closed:
            return m.Place.LOW
        return m.Place.HIGH if self._inputs.centre_open else m.Place.UNKNOWN

    def _lift_place(self) -> m.Place:
        if any(self.plant.motors.lift):
            return m.Place.MOVING
        if not self.homed:
            return m.Place.UNKNOWN
        if all(self._inputs.lift_bottom):
            return m.Place.LOW
        return m.Place.HIGH if all(self._inputs.lift_top) else m.Place.UNKNOWN

    # --- motions ---

    def _progress(self, percent: float) -> None:
        tens = min(100, int(percent / 10) * 10)
        if tens != self._percent:
            self._percent = tens
            self._emit(m.MotionProgress(self.motion, tens))

    def _pause(self, seconds: float) -> Steps:
        end = self.uptime + seconds
        while self.uptime < end:
            yield

    def _home(self) -> Steps:
        """Heads home, trays down, centre closed; only then are positions known."""
        yield
        for side in range(4):
            yield from self._head_home(side)
        yield from self._move_lifts(up=False)
        yield from self._close_centre()
        if self.memory.walls_up:
            self._forget_walls()
        self.homed = True
        if self.fault is not None and self.fault.code is m.FaultCode.POWER_CUT:
            self._clear_fault()

    def _head_home(self, side: int) -> Steps:
        if not self._inputs.head_home[side]:
            yield from self._cycle_head(side)

    def _open_centre(self) -> Steps:
        self.plant.motors.centre = 1
        end = self.uptime + CENTRE_TIMEOUT
        while not self._inputs.centre_open:
            if self.uptime > end:
                cause = m.FaultCause.NOT_SEEN_IN_TIME
                raise MotionFault(m.FaultCode.CENTRE_NOT_ARRIVED, 255, cause)
            yield
        self.plant.motors.centre = 0

    def _close_centre(self) -> Steps:
        """Close; anything in the way opens the panel again at once."""
        end = self.uptime + CENTRE_TIMEOUT
        while not self._inputs.centre_closed:
            self.plant.motors.centre = -1
            if self._inputs.centre_current > OVER_CURRENT:
                yield from self._open_centre()
                self.homed = True
                cause = m.FaultCause.OVER_CURRENT
                raise MotionFault(m.FaultCode.CENTRE_BLOCKED, 255, cause)
            if self.uptime > end:
                cause = m.FaultCause.NOT_SEEN_IN_TIME
                raise MotionFault(m.FaultCode.CENTRE_NOT_ARRIVED, 255, cause)
            yield
        self.plant.motors.centre = 0

    def _raise_walls(self) -> Steps:
        for side in range(4):
            yield from self._head_home(side)
        yield from self._move_lifts(up=True)
        self.memory.walls_up = True

    def _lower_walls(self) -> Steps:
        yield from self._move_lifts(up=False)
        self._forget_walls()

    def _forget_walls(self) -> None:
        self.memory.program = m.TileProgram.NONE
        self.memory.counts = [0] * 4
        self.memory.walls_up = False
        self.memory.waiting, self.memory.doubtful = [0] * 4, set()
        self._emit(self.stacks())

    def _move_lifts(self, *, up: bool) -> Steps:
        """All four together; one that fails stops all (the caller cuts every motor)."""
        both = [self._inputs.lift_top[s] and self._inputs.lift_bottom[s] for s in range(4)]
        if any(both):
            side = both.index(True)
            raise MotionFault(m.FaultCode.LIFT_NEVER_STOPS, side, m.FaultCause.SWITCH_STUCK)
        begin, stalled = self.uptime, [0.0] * 4
        last = begin
        while True:
            arrived = self._inputs.lift_top if up else self._inputs.lift_bottom
            for side in range(4):
                self.plant.motors.lift[side] = 0 if arrived[side] else (1 if up else -1)
                over = self._inputs.lift_current[side] > OVER_CURRENT
                stalled[side] = stalled[side] + self.uptime - last if over else 0.0
                if stalled[side] > OVER_CURRENT_TIME:
                    cause = m.FaultCause.OVER_CURRENT
                    raise MotionFault(m.FaultCode.LIFT_NOT_ARRIVED, side, cause)
            if all(arrived):
                return
            last = self.uptime
            if self.uptime > begin + LIFT_TIMEOUT:
                raise self._lift_late(arrived.index(False), up=up)
            self._progress(100 * (self.uptime - begin) / LIFT_TIMEOUT)
            yield

    def _lift_late(self, side: int, *, up: bool) -> MotionFault:
        """A tray that never left its switch did not move; one that left was not seen to stop."""
        left = self._inputs.lift_bottom if up else self._inputs.lift_top
        code = m.FaultCode.LIFT_NOT_ARRIVED if left[side] else m.FaultCode.LIFT_NEVER_STOPS
        return MotionFault(code, side, m.FaultCause.NOT_SEEN_IN_TIME)

    def _cycle_head(self, side: int) -> Steps:
        """One stack: away from home and back; a jam is reversed and tried again."""
        for attempt in range(JAM_RETRIES + 1):
            self.plant.motors.head[side] = 1
            cause = yield from self._until_head_home(side)
            self.plant.motors.head[side] = 0
            if cause is m.FaultCause.NONE:
                return
            if attempt == JAM_RETRIES:
                raise MotionFault(m.FaultCode.HEAD_JAM, side, cause, retries=JAM_RETRIES)
            self.plant.motors.head[side] = -1
            yield from self._pause(0.6)
            self.plant.motors.head[side] = 0

    def _until_head_home(self, side: int) -> Generator[None, None, m.FaultCause]:
        end = self.uptime + HEAD_TIMEOUT
        away, over_since = False, None
        while self.uptime < end:
            yield
            away |= not self._inputs.head_home[side]
            if away and self._inputs.head_home[side]:
                return m.FaultCause.NONE
            if self._inputs.head_current[side] <= OVER_CURRENT:
                over_since = None
            elif over_since is None:
                over_since = self.uptime
            elif self.uptime - over_since > OVER_CURRENT_TIME:
                return m.FaultCause.OVER_CURRENT
        return m.FaultCause.NOT_SEEN_IN_TIME

    def _roll(self) -> Steps:
        yield from self._pause(DICE_TIME)
        dice = self.next_dice.popleft() if self.next_dice else None
        first, second = dice or (self._random.randint(1, 6), self._random.randint(1, 6))
        self._emit(m.DiceRolled(first, second))

    def _self_test(self) -> Steps:
        """Run each motor for a moment; the first stalled one is named."""
        motors, fault = self.plant.motors, None
        motors.pan = True
        yield from self._pause(SELF_TEST_TIME)
        if self._inputs.pan_current > OVER_CURRENT:
            fault = MotionFault(m.FaultCode.PAN_STALL, 255, m.FaultCause.OVER_CURRENT)
        motors.pan = False
        for side in range(4):
            motors.ring[side] = motors.belt[side] = True
            yield from self._pause(SELF_TEST_TIME)
            if fault is None and self._inputs.ring_current[side] > OVER_CURRENT:
                fault = MotionFault(m.FaultCode.RING_STALL, side, m.FaultCause.OVER_CURRENT)
            motors.ring[side] = motors.belt[side] = False
            if fault is None and self._inputs.head_in[side]:
                cause = m.FaultCause.CONSTANTLY_BLOCKED
                fault = MotionFault(m.FaultCode.SENSOR_DIRTY, side, cause)
            self._progress(25 * (side + 1))
        code = fault.code if fault else m.FaultCode.NONE
        side_found = fault.side if fault else m.Side.NONE
        self._emit(m.SelfTestReport(fault is None, code, side_found, 1 + 3 * 4))
        if fault is not None:
            raise fault

    def _build(self) -> Steps:
        """Shuffle and stack until every side has its stacks, then look for surplus tiles."""
        from firmware_protocol.stacking import Stacking

        for side in range(4):
            yield from self._head_home(side)
        yield from Stacking(self).run()

    # --- for Stacking ---

    @property
    def inputs(self) -> Inputs:
        """The inputs of this tick."""
        return self._inputs

    @property
    def waiting(self) -> list[int]:
        """Tiles counted in and not yet stacked, a side."""
        return self.memory.waiting

    def cycle_head(self, side: int) -> Steps:
        """Push one stack at a side."""
        return self._cycle_head(side)

    def pause(self, seconds: float) -> Steps:
        """Let table time pass."""
        return self._pause(seconds)

    def progress(self, percent: float) -> None:
        """Report progress in steps of ten."""
        self._progress(percent)


def replace_uptime(state: m.TableState) -> tuple[object, ...]:
    """A state without its time stamp, for comparison."""
    return (
        *(state.mode, state.motion, state.centre, state.lifts, state.program),
        *(state.walls_complete, state.fault, state.fault_side, state.fault_cause),
        *(state.e_stop_open, state.cover_open),
    )
