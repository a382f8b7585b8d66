"""Complete table cycles with random faults: always safe, never stuck, every fault by its name.

A cycle: open, close, build, raise, lower. In about half of them something breaks; it must be named
with its side, mended and reset, and the cycle must end with the right walls.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass

import pytest

from firmware_protocol import messages as m
from firmware_protocol.noise import Noise
from firmware_protocol.simulator import Defect

from .conftest import MakeTable
from .virtual import VirtualSimulator, VirtualTable

PROGRAMS = [program for program in m.TileProgram if program is not m.TileProgram.NONE]
STEP = 0.2
LINE = Noise(0.0001, 0.0001, 0.0001, 0.0001, 0.0001)


@dataclass(frozen=True)
class Trouble:
    """Something that breaks in a motion, and the fault that must come of it."""

    motion: type[m.Command]
    defect: Defect
    code: m.FaultCode
    sided: bool = True
    sudden: bool = False  # whether it may come in the middle of the motion
    amount: int = 0


BUILD, RAISE, LOWER = m.BuildWalls, m.RaiseWalls, m.LowerWalls
OPEN, CLOSE = m.OpenCentre, m.CloseCentre
Code = m.FaultCode
TROUBLES = [
    Trouble(BUILD, Defect.HEAD_JAM, Code.HEAD_JAM, sudden=True),
    Trouble(BUILD, Defect.HEAD_JAM, Code.NONE, amount=1),
    Trouble(BUILD, Defect.HEAD_JAM, Code.NONE, amount=2),
    Trouble(BUILD, Defect.SHORT_SET, Code.SHORT_SET, amount=1),
    Trouble(BUILD, Defect.SHORT_SET, Code.SHORT_SET, amount=2),
    Trouble(BUILD, Defect.SHORT_SET, Code.SHORT_SET, amount=5),
    Trouble(BUILD, Defect.TOO_MANY_TILES, Code.TOO_MANY_TILES, amount=1),
    Trouble(BUILD, Defect.TOO_MANY_TILES, Code.TOO_MANY_TILES, amount=3),
    Trouble(BUILD, Defect.SENSOR_DIRTY, Code.SENSOR_DIRTY, sudden=True),
    Trouble(BUILD, Defect.SENSOR_FLICKERS, Code.SENSOR_DIRTY, sudden=True),
    Trouble(BUILD, Defect.PAN_STALL, Code.PAN_STALL, sided=False, sudden=True),
    Trouble(BUILD, Defect.RING_STALL, Code.RING_STALL, sudden=True),
    Trouble(RAISE, Defect.LIFT_BLOCKED, Code.LIFT_NOT_ARRIVED, sudden=True),
    Trouble(RAISE, Defect.LIFT_DEAD, Code.LIFT_NOT_ARRIVED),
    Trouble(RAISE, Defect.LIMIT_TOP_STUCK, Code.LIFT_NEVER_STOPS),
    Trouble(LOWER, Defect.LIFT_BLOCKED, Code.LIFT_NOT_ARRIVED, sudden=True),
    Trouble(LOWER, Defect.LIFT_DEAD, Code.LIFT_NOT_ARRIVED),
    Trouble(LOWER, Defect.LIMIT_BOTTOM_STUCK, Code.LIFT_NEVER_STOPS),
    Trouble(OPEN, Defect.CENTRE_DEAD, Code.CENTRE_NOT_ARRIVED, sided=False, sudden=True),
    Trouble(CLOSE, Defect.CENTRE_DEAD, Code.CENTRE_NOT_ARRIVED, sided=False, sudden=True),
    Trouble(CLOSE, Defect.CENTRE_BLOCKED, Code.CENTRE_BLOCKED, sided=False),
    *[
        Trouble(motion, defect, code, sided=False, sudden=True)
        for motion in (OPEN, CLOSE, BUILD, RAISE, LOWER)
        for defect, code in (
            (Defect.E_STOP, Code.EMERGENCY_STOP),
            (Defect.COVER_OPEN, Code.COVER_OPEN),
        )
    ],
]
DURATION = {OPEN: 1.5, CLOSE: 1.5, BUILD: 20.0, RAISE: 2.5, LOWER: 2.5}
"""Seconds within which something sudden still meets the motion."""


class Cycles:
    """Runs cycles on one table and keeps account of them."""

    def __init__(self, table: VirtualTable, seed: int) -> None:
        self.table = table
        self.chance = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.accepted: list[int] = []
        self.uncounted = 0

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.table.events.clear()
            kind = self.chance.random()
            if kind < 0.5:
                self.cycle(self.chance.choice(TROUBLES))
            elif kind < 0.55:
                self.cycle(cut_power_in=self.chance.choice(list(DURATION)))
            elif kind < 0.6:
                self.cycle(lose_host_in=self.chance.choice(list(DURATION)))
            else:
                self.cycle()
            assert self.table.violations() == []
            self.check_executed()

    def cycle(
        self,
        trouble: Trouble | None = None,
        *,
        cut_power_in: type[m.Command] | None = None,
        lose_host_in: type[m.Command] | None = None,
    ) -> None:
        program = self.chance.choice(PROGRAMS)
        build = m.BuildWalls(program, self.chance.randrange(4))
        before = self.table.pushed
        self.uncounted = 0
        for command in (m.OpenCentre(), m.CloseCentre(), build, m.RaiseWalls(), m.LowerWalls()):
            kind = type(command)
            if trouble is not None and trouble.motion is kind:
                self.meet(command, trouble, build)
            elif cut_power_in is kind:
                self.cut_power(command)
            elif lose_host_in is kind:
                self.lose_host(command)
            self.finish(command)
            if kind is BUILD:
                wanted = m.stacks_per_side(program, build.dealer)
                pushed = [now - then for now, then in zip(self.table.pushed, before, strict=True)]
                assert list(wanted) == pushed
                assert sum(wanted) == sum(self.table.counts) + self.uncounted

    # --- a motion that meets something ---

    def meet(self, command: m.Command, trouble: Trouble, build: m.BuildWalls) -> None:
        """Start the motion, break something, see it named; mend it."""
        table, side = self.table, self.side_for(build)
        if not trouble.sudden:
            table.inject(trouble.defect, side, trouble.amount)
        token = self.start(command)
        if trouble.sudden:
            self.wait(self.chance.uniform(0.2, DURATION[trouble.motion]))
            table.inject(trouble.defect, side, trouble.amount)
        self.until_rest()
        faults = table.faults()
        expected = [] if trouble.code is Code.NONE else [trouble.code]
        assert [fault.code for fault in faults] == expected, (trouble, faults)
        if faults and trouble.sided:
            assert faults[0].side == side, (trouble, faults)
        if trouble.defect is Defect.SHORT_SET:
            missing = [0] * 4
            missing[side] = trouble.amount
            assert list(faults[0].missing) == missing
        outcomes = [reply.outcome for reply in self.replies(token)]
        ended = m.Outcome.FAILED if faults else m.Outcome.DONE
        assert outcomes == [m.Outcome.ACCEPTED, ended]
        self.seen[trouble.code.name] += 1
        table.repair()
        if trouble.defect is Defect.SHORT_SET:
            table.add_tiles(side, trouble.amount)
        self.wait(0.5)
        self.reset()

    def reset(self) -> None:
        """Leave whatever fault is latched."""
        latched = (m.TableMode.FAULT, m.TableMode.EMERGENCY_STOP)
        if self.table.mode in latched:
            token = self.start(m.ResetFault())
            self.until_rest()
            assert self.replies(token)[-1].outcome is m.Outcome.DONE
        assert self.table.mode is m.TableMode.READY

    def cut_power(self, command: m.Command) -> None:
        """In the middle of the motion; the start tells which, and homes."""
        table = self.table
        self.start(command)
        self.wait(self.chance.uniform(0.2, DURATION[type(command)]))
        motion = table.motion
        assert motion is not m.Motion.NONE
        self.check_executed()
        counted = sum(table.counts)
        table.power_cut()
        self.accepted.clear()
        table.power_on()
        self.uncounted = counted - sum(table.counts)
        assert self.uncounted in (0, 1), "at most what was pushed in the last 0.05 s"
        self.reconnect()
        assert table.motion in (m.Motion.HOMING, m.Motion.NONE), "homes before anything else"
        table.run_until(lambda: table.mode is m.TableMode.READY, 30)
        assert (table.state().centre, table.state().lifts) == (m.Place.LOW, m.Place.LOW)
        self.seen["POWER_CUT"] += 1

    def lose_host(self, command: m.Command) -> None:
        """The cable comes off in the middle of the motion, and is plugged in again later."""
        table = self.table
        self.start(command)
        self.wait(self.chance.uniform(0.2, DURATION[type(command)]))
        table.cut()
        table.run(12)
        assert not table.motors_on
        table.cut(False)
        self.reconnect()
        table.run(0.5)
        assert table.motion is m.Motion.NONE, "nothing starts by itself when the host is back"
        self.seen["HOST_LOST"] += 1

    def reconnect(self) -> None:
        table = self.table
        table.host.close()
        table.connect(session=self.chance.randrange(1, 0xFFFF), nonce=self.chance.getrandbits(32))
        table.events.clear()

    # --- commands ---

    def finish(self, command: m.Command) -> None:
        """Bring the motion to its end, from wherever it stands."""
        if self.is_done(command):
            return
        if isinstance(command, m.RaiseWalls) and self.uncounted:
            command = m.RaiseWalls(despite_short=True)
        token = self.start(command)
        self.until_rest()
        outcome = self.replies(token)[-1]
        if outcome.fault is Code.SHORT_SET and self.uncounted:
            assert self.table.faults()[-1].missing.count(0) == 3, "told, not passed over"
            return
        assert outcome.outcome is m.Outcome.DONE, (command, outcome, self.table.faults())

    def is_done(self, command: m.Command) -> bool:
        """Whether the motion has reached its end in spite of what it met."""
        table = self.table
        if isinstance(command, m.BuildWalls):
            return sum(table.counts) > 0 and table.state().walls_complete
        if isinstance(command, m.RaiseWalls):
            return all(lift > 0.95 for lift in table.lifts)
        if isinstance(command, m.LowerWalls):
            return all(lift < 0.05 for lift in table.lifts) and not sum(table.counts)
        return False  # the panel: opening what is open ends at once

    def start(self, command: m.Command) -> int:
        reply = self.table.start(command)
        assert reply.outcome is m.Outcome.ACCEPTED, (command, reply, self.table.state())
        self.accepted.append(reply.token)
        return reply.token

    def replies(self, token: int) -> list[m.CommandReply]:
        return [
            event
            for event in self.table.events
            if isinstance(event, m.CommandReply) and event.token == token
        ]

    def until_rest(self) -> None:
        """No motion under way, and all events heard."""
        end = self.table.now + 150
        while self.table.motion is not m.Motion.NONE:
            assert self.table.now < end, "stuck"
            self.table.step(STEP)
        self.wait(1.0)

    def wait(self, seconds: float) -> None:
        end = self.table.now + seconds
        while self.table.now < end:
            self.table.step(STEP)

    def side_for(self, build: m.BuildWalls) -> int:
        wanted = m.stacks_per_side(build.program, build.dealer)
        return self.chance.choice([side for side in range(4) if wanted[side]])

    def check_executed(self) -> None:
        """Each accepted command was executed once; the core's log holds the last 64."""
        ran = [
            command.token
            for command in self.table.executed
            if not isinstance(command, m.QueryState)
        ]
        assert ran == self.accepted[-len(ran) :] if ran else True
        if isinstance(self.table, VirtualSimulator):
            self.table.running.controller.executed.clear()
            self.accepted.clear()
        else:
            self.accepted = self.accepted[-64:]


def run_cycles(make_table: MakeTable, cycles: int, seed: int) -> Counter[str]:
    table = make_table(LINE, seed)
    table.ready()
    runner = Cycles(table, seed)
    runner.run(cycles)
    return runner.seen


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_some_cycles_with_random_faults(make_table: MakeTable, seed: int) -> None:
    assert sum(run_cycles(make_table, 8, seed).values()) > 0


MANY = {"core": (20, 500), "simulator": (20, 50), "chip": (4, 6)}
"""Seeds, and cycles of each: the core is fast, the chip is simulated instruction by instruction."""


@pytest.mark.slow
@pytest.mark.timeout(14_400)
def test_ten_thousand_cycles_with_random_faults(
    make_table: MakeTable, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """10,000 against the C core, 1,000 against the table written in Python, 24 on the chip."""
    kind = request.node.callspec.params["make_table"]
    seeds, each = MANY[kind]
    seen: Counter[str] = Counter()
    for seed in range(seeds):
        seen += run_cycles(make_table, each, 100 + seed)
    with capsys.disabled():
        sys.stdout.write(f"\n{seeds * each} cycles on the {kind}: {dict(seen)}\n")
    if kind != "chip":
        assert set(seen) >= {code.name for code in {t.code for t in TROUBLES}}
