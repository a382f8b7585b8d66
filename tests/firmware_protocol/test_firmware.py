"""The simulated firmware in virtual time: interlocks, safety, counting, faults by name."""

import random

import pytest

from firmware_protocol import messages as m
from firmware_protocol.controller import NonVolatile
from firmware_protocol.faults import FAULTS
from firmware_protocol.firmware import SimulatedFirmware
from firmware_protocol.link import Phase
from firmware_protocol.noise import Noise
from firmware_protocol.simulator import Defect, apply_defect
from firmware_protocol.wire import encode

from .virtual import VirtualTable

PROGRAMS = [program for program in m.TileProgram if program is not m.TileProgram.NONE]


def built(program: m.TileProgram = m.TileProgram.TILES_136) -> VirtualTable:
    table = VirtualTable().ready()
    assert table.command(m.BuildWalls(program)).outcome is m.Outcome.DONE
    return table


def refusal(table: VirtualTable, command: m.Command) -> m.Reason:
    before = len(table.firmware.controller.executed)
    reply = table.command(command)
    assert reply.outcome is m.Outcome.REFUSED
    assert len(table.firmware.controller.executed) == before
    return reply.reason


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_whole_cycle_with_every_program(program: m.TileProgram) -> None:
    table = VirtualTable().ready()
    begin = table.now
    assert table.command(m.BuildWalls(program, dealer=1)).outcome is m.Outcome.DONE
    assert table.now - begin < 80, "a healthy table stacks a set in about a minute"
    stacks = [event for event in table.events if isinstance(event, m.Stacks)][-1]
    assert stacks.counts == stacks.targets == m.stacks_per_side(program, 1)
    for command in (m.RaiseWalls(), m.LowerWalls(), m.OpenCentre(), m.CloseCentre()):
        assert table.command(command).outcome is m.Outcome.DONE
    state = table.firmware.controller.state()
    assert (state.centre, state.lifts) == (m.Place.LOW, m.Place.LOW)
    assert state.program is m.TileProgram.NONE
    assert table.faults() == []


def test_progress_rises_to_the_end() -> None:
    table = built()
    percents = [
        event.percent
        for event in table.events
        if isinstance(event, m.MotionProgress) and event.motion is m.Motion.BUILDING
    ]
    assert percents == sorted(percents)
    assert percents[0] == 0
    assert percents[-1] >= 90


def test_sane_transitions_only() -> None:
    table = VirtualTable().ready()
    build = m.BuildWalls(m.TileProgram.TILES_136)
    assert refusal(table, m.RaiseWalls()) is m.Reason.NOT_BUILT
    assert refusal(table, m.LowerWalls()) is m.Reason.LIFTS_NOT_UP
    assert refusal(table, m.BuildWalls(m.TileProgram.NONE)) is m.Reason.BAD_ARGUMENT
    assert refusal(table, m.ResetFault()) is m.Reason.NOTHING_TO_RESET
    table.command(m.OpenCentre())
    assert refusal(table, build) is m.Reason.CENTRE_NOT_CLOSED
    table.command(m.CloseCentre())
    assert table.start(build).outcome is m.Outcome.ACCEPTED
    for command in (build, m.RaiseWalls(), m.OpenCentre(), m.SelfTest(), m.Home()):
        assert refusal(table, command) is m.Reason.BUSY
    table.run_until(lambda: not table.firmware.controller.busy, 80)
    assert refusal(table, build) is m.Reason.WALLS_WAITING
    assert refusal(table, m.SelfTest()) is m.Reason.WALLS_WAITING
    assert table.start(m.RaiseWalls()).outcome is m.Outcome.ACCEPTED
    assert refusal(table, build) is m.Reason.BUSY
    table.run_until(lambda: not table.firmware.controller.busy, 10)
    assert refusal(table, build) is m.Reason.LIFTS_NOT_DOWN
    assert refusal(table, m.RaiseWalls()) is m.Reason.LIFTS_NOT_DOWN


def test_another_program_waits_for_the_next_stacking() -> None:
    table = VirtualTable().ready()
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(10)
    assert refusal(table, m.BuildWalls(m.TileProgram.TILES_108)) is m.Reason.BUSY
    table.command(m.Stop())
    assert refusal(table, m.BuildWalls(m.TileProgram.TILES_108)) is m.Reason.WALLS_WAITING


def test_stop_and_go_on_keeps_the_counts() -> None:
    table = VirtualTable().ready()
    build = m.BuildWalls(m.TileProgram.TILES_144)
    table.start(build)
    table.run(25.3)
    assert table.command(m.Stop()).outcome is m.Outcome.DONE
    assert not table.plant.motors.any_on
    half = list(table.memory.counts)
    assert 4 < sum(half) < 72
    assert table.command(build).outcome is m.Outcome.DONE
    assert table.memory.counts == [18, 18, 18, 18] == table.plant.stack_count


def test_stopped_in_a_lift_nothing_is_trusted_until_homed() -> None:
    table = built()
    table.start(m.RaiseWalls())
    table.run(1)
    table.command(m.Stop())
    state = table.firmware.controller.state()
    assert (state.mode, state.lifts) == (m.TableMode.NOT_HOMED, m.Place.UNKNOWN)
    assert refusal(table, m.RaiseWalls()) is m.Reason.NOT_HOMED
    assert table.command(m.Home()).outcome is m.Outcome.DONE
    assert table.plant.lifts == [0.0] * 4
    assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE, "the walls are still built"


FAULT_CASES = [
    # defect, side, amount, command, code, cause, retries
    (Defect.HEAD_JAM, 2, 0, "build", m.FaultCode.HEAD_JAM, m.FaultCause.OVER_CURRENT, 2),
    (Defect.SHORT_SET, 1, 1, "build", m.FaultCode.SHORT_SET, m.FaultCause.NO_TILES, 0),
    (Defect.TOO_MANY_TILES, 3, 2, "build", m.FaultCode.TOO_MANY_TILES, "CHANNEL_FULL", 0),
    (Defect.SENSOR_DIRTY, 0, 0, "build", m.FaultCode.SENSOR_DIRTY, "CONSTANTLY_BLOCKED", 0),
    (Defect.SENSOR_FLICKERS, 1, 0, "build", m.FaultCode.SENSOR_DIRTY, "IMPLAUSIBLE_PULSES", 0),
    (Defect.PAN_STALL, 255, 0, "build", m.FaultCode.PAN_STALL, m.FaultCause.OVER_CURRENT, 1),
    (Defect.RING_STALL, 2, 0, "build", m.FaultCode.RING_STALL, m.FaultCause.OVER_CURRENT, 1),
    (Defect.LIFT_BLOCKED, 3, 0, "raise", m.FaultCode.LIFT_NOT_ARRIVED, "OVER_CURRENT", 0),
    (Defect.LIFT_DEAD, 1, 0, "raise", m.FaultCode.LIFT_NOT_ARRIVED, "NOT_SEEN_IN_TIME", 0),
    (Defect.LIMIT_TOP_STUCK, 0, 0, "raise", m.FaultCode.LIFT_NEVER_STOPS, "NOT_SEEN_IN_TIME", 0),
    (Defect.LIMIT_BOTTOM_STUCK, 2, 0, "lower", m.FaultCode.LIFT_NEVER_STOPS, None, 0),
    (Defect.CENTRE_BLOCKED, 255, 0, "close", m.FaultCode.CENTRE_BLOCKED, "OVER_CURRENT", 0),
    (Defect.CENTRE_DEAD, 255, 0, "open", m.FaultCode.CENTRE_NOT_ARRIVED, "NOT_SEEN_IN_TIME", 0),
    (Defect.COVER_OPEN, 255, 0, "open", m.FaultCode.COVER_OPEN, m.FaultCause.INPUT_OPEN, 0),
    (Defect.E_STOP, 255, 0, "build", m.FaultCode.EMERGENCY_STOP, m.FaultCause.INPUT_OPEN, 0),
]


@pytest.mark.parametrize(
    ("defect", "side", "amount", "action", "code", "cause", "retries"),
    FAULT_CASES,
    ids=[str(case[0]) for case in FAULT_CASES],
)
def test_every_fault_is_named_with_side_and_cause(
    defect: Defect,
    side: int,
    amount: int,
    action: str,
    code: m.FaultCode,
    cause: m.FaultCause | str | None,
    retries: int,
) -> None:
    table = VirtualTable().ready()
    if action in ("raise", "lower"):
        table.command(m.BuildWalls(m.TileProgram.TILES_84))
    if action == "lower":
        table.command(m.RaiseWalls())
    if action == "close":
        table.command(m.OpenCentre())
    command: m.Command = {
        "build": m.BuildWalls(m.TileProgram.TILES_144),
        "raise": m.RaiseWalls(),
        "lower": m.LowerWalls(),
        "open": m.OpenCentre(),
        "close": m.CloseCentre(),
    }[action]
    if defect in (Defect.E_STOP, Defect.COVER_OPEN):
        table.start(command)
        table.run(0.5)
        apply_defect(table.plant, defect, 0, amount)
        table.run_until(lambda: bool(table.faults()), 1)
    else:
        apply_defect(table.plant, defect, side % 255, amount)
        reply = table.command(command)
        assert (reply.outcome, reply.fault) == (m.Outcome.FAILED, code)
    (fault,) = table.faults()
    wanted = m.FaultCause[cause] if isinstance(cause, str) else cause
    assert (fault.code, fault.side) == (code, side)
    assert fault.cause is (wanted or m.FaultCause.NOT_SEEN_IN_TIME)
    assert fault.retries == retries
    assert fault.latched == FAULTS[code].latched
    assert not table.plant.motors.any_on
    if fault.latched:
        expected = m.Reason.FAULT_LATCHED
        if code is m.FaultCode.EMERGENCY_STOP:
            expected = m.Reason.EMERGENCY_STOP
        assert refusal(table, m.OpenCentre()) is expected
        assert refusal(table, m.RollDice()) is m.Reason.FAULT_LATCHED


def test_a_jam_that_comes_free_is_no_fault() -> None:
    table = VirtualTable().ready()
    apply_defect(table.plant, Defect.HEAD_JAM, 1, 2)
    assert table.command(m.BuildWalls(m.TileProgram.TILES_136)).outcome is m.Outcome.DONE
    assert table.faults() == []


def test_short_set_names_the_tiles_and_raises_only_when_told_to() -> None:
    table = VirtualTable().ready()
    build = m.BuildWalls(m.TileProgram.TILES_144)
    table.plant.defects.missing_tiles = {0: 1, 2: 3}
    assert table.command(build).fault is m.FaultCode.SHORT_SET
    assert table.faults()[0].missing == (1, 0, 3, 0)
    assert table.faults()[0].side is m.Side.SIDE_2
    assert refusal(table, m.RaiseWalls()) is m.Reason.SHORT_SET
    table.plant.add_tiles(0, 1)
    assert table.command(build).fault is m.FaultCode.SHORT_SET
    assert table.faults()[1].missing == (0, 0, 3, 0)
    assert table.command(m.RaiseWalls(despite_short=True)).outcome is m.Outcome.DONE


def test_found_tiles_complete_a_short_set() -> None:
    table = VirtualTable().ready()
    build = m.BuildWalls(m.TileProgram.TILES_136)
    table.plant.defects.missing_tiles = {3: 2}
    assert table.command(build).fault is m.FaultCode.SHORT_SET
    table.plant.add_tiles(3, 2)
    assert table.command(build).outcome is m.Outcome.DONE
    assert table.memory.counts == [17] * 4
    assert m.FaultCleared(m.FaultCode.SHORT_SET) in table.events


def test_a_blocked_tray_stops_all_four() -> None:
    table = built()
    table.start(m.RaiseWalls())
    table.run(1.5)
    apply_defect(table.plant, Defect.LIFT_BLOCKED, 0, 0)
    table.run(0.5)
    heights = list(table.plant.lifts)
    assert all(0 < height < 1 for height in heights)
    table.run(5)
    assert table.plant.lifts == heights


def test_a_hand_in_the_hole_reopens_the_panel_at_once() -> None:
    table = VirtualTable().ready()
    table.command(m.OpenCentre())
    apply_defect(table.plant, Defect.CENTRE_BLOCKED, 0, 0)
    lowest = []
    table.checks.append(lambda t: lowest.append((t.plant.centre, t.plant.motors.centre)))
    assert table.command(m.CloseCentre()).fault is m.FaultCode.CENTRE_BLOCKED
    touched = next(i for i, (place, _) in enumerate(lowest) if place <= 0.5)
    assert any(motor > 0 for _, motor in lowest[touched : touched + 5]), "reversed within 0.1 s"
    assert table.firmware.controller.state().centre is m.Place.HIGH
    table.plant.defects.centre_blocked = False
    assert table.command(m.CloseCentre()).outcome is m.Outcome.DONE


def test_emergency_stop_cuts_at_once_and_latches_until_release_and_reset() -> None:
    table = VirtualTable().ready()
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(5)
    assert table.plant.motors.any_on
    table.plant.e_stop_open = True
    table.step(0.01)
    assert not table.plant.motors.any_on, "off within 10 ms"
    table.run(1)
    assert refusal(table, m.ResetFault()) is m.Reason.EMERGENCY_STOP
    table.plant.e_stop_open = False
    table.run(1)
    assert table.firmware.controller.mode is m.TableMode.EMERGENCY_STOP, "release is not enough"
    assert refusal(table, m.Home()) is m.Reason.EMERGENCY_STOP
    assert table.command(m.ResetFault()).outcome is m.Outcome.DONE
    assert table.firmware.controller.mode is m.TableMode.READY


def test_the_emergency_stop_cuts_in_hardware_and_in_firmware_each_by_itself() -> None:
    table = VirtualTable().ready()
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(5)
    table.plant.e_stop_open = True
    table.plant.step(0.001)
    assert not table.plant.motors.any_on, "hardware, with the controller hung"
    table.plant.motors.pan = True
    table.plant.motors.lift = [1] * 4
    table.firmware.controller.tick(0.001)
    assert not table.plant.motors.any_on, "firmware, with the relay welded"
    table.plant.motors.centre = -1
    table.firmware.controller.tick(0.001)
    assert not table.plant.motors.any_on, "and it stays so while latched"


def test_host_lost_in_a_stacking_holds_and_keeps_counting() -> None:
    table = VirtualTable().ready()
    build = m.BuildWalls(m.TileProgram.TILES_144)
    table.start(build)
    table.run(20)
    table.heartbeats = False
    table.to_table.cut = table.to_host.cut = True
    table.run(8)
    assert not table.plant.motors.any_on
    counts = list(table.memory.counts)
    assert counts == table.plant.stack_count
    assert table.firmware.controller.state().fault is m.FaultCode.HOST_LOST
    table.heartbeats = True
    table.to_table.cut = table.to_host.cut = False
    table.connect(session=8)
    table.run(1)
    assert not table.plant.motors.any_on, "nothing starts by itself when the host is back"
    assert table.firmware.controller.state().fault is m.FaultCode.NONE
    assert table.command(build).outcome is m.Outcome.DONE
    assert table.memory.counts == [18] * 4


def test_host_lost_in_a_lift_ends_the_lift_and_starts_nothing() -> None:
    table = built()
    table.start(m.RaiseWalls())
    table.heartbeats = False
    table.to_table.cut = table.to_host.cut = True
    table.run(10)
    assert table.plant.lifts == [1.0] * 4, "no tray is left half-way"
    assert not table.plant.motors.any_on


def test_power_cut_in_a_lift_homes_first_and_reports_where_it_was() -> None:
    table = built()
    table.start(m.RaiseWalls())
    table.run(1)
    table.plant.motors.all_off()
    table.firmware = SimulatedFirmware(table.plant, table.memory)
    assert table.firmware.hello().interrupted_motion is m.Motion.RAISING
    assert table.firmware.hello().boot_count == 2
    table.host.close()
    table.connect(session=9)
    state = table.firmware.controller.state()
    assert (state.mode, state.motion) == (m.TableMode.HOMING, m.Motion.HOMING)
    assert state.fault is m.FaultCode.POWER_CUT
    assert refusal(table, m.RaiseWalls()) is m.Reason.BUSY
    table.run_until(lambda: table.firmware.controller.mode is m.TableMode.READY, 10)
    assert table.plant.lifts == [0.0] * 4
    assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE


def test_power_on_with_the_emergency_stop_open_moves_nothing() -> None:
    table = VirtualTable()
    table.plant.e_stop_open = True
    table.plant.lifts = [0.5] * 4
    table.firmware = SimulatedFirmware(table.plant, NonVolatile())
    table.connect()
    table.run(5)
    assert table.plant.lifts == [0.5] * 4
    assert table.firmware.controller.mode is m.TableMode.EMERGENCY_STOP


def test_events_without_a_host_are_dropped_and_counted_never_sent_late() -> None:
    table = VirtualTable().ready()
    table.host.close()
    table.to_table.cut = table.to_host.cut = True
    table.run(10)
    table.firmware.press(1, m.Button.HU)
    table.run(8)  # its retransmissions run out
    table.firmware.press(1, m.Button.PUNG)
    table.to_table.cut = table.to_host.cut = False
    table.connect(session=11)
    table.run(2)
    assert not any(isinstance(event, m.ButtonPressed) for event in table.events)
    assert table.firmware.link_report().events_dropped >= 1


def test_the_same_session_number_by_chance_is_still_a_new_session() -> None:
    table = VirtualTable().ready()
    for _ in range(5):
        table.command(m.RollDice())
    table.host.open(7, encode(m.HostHello(nonce=99)), table.now)
    table.run_until(lambda: table.host.phase is Phase.OPEN, 2)
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE
    assert table.firmware.link.counters.sessions == 2


def test_a_repeated_syn_is_answered_without_a_new_session() -> None:
    noise = Noise(delay=0.5)
    table = VirtualTable(noise).ready()
    assert table.host.counters.retransmissions > 0
    assert table.firmware.link.counters.sessions == 1


def test_lights_and_dice() -> None:
    table = VirtualTable().ready()
    table.command(m.SetLights(m.SeatMask.SEAT_0 | m.SeatMask.SEAT_2, m.LightPattern.BLINK))
    blink, off = m.LightPattern.BLINK, m.LightPattern.OFF
    assert table.firmware.controller.lights == [blink, off, blink, off]
    table.firmware.controller.next_dice.append((6, 1))
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE
    assert m.DiceRolled(6, 1) in table.events
    for _ in range(20):
        table.command(m.RollDice())
    faces = {e.first for e in table.events if isinstance(e, m.DiceRolled)}
    assert len(faces) >= 4


def test_dice_may_roll_while_walls_are_built() -> None:
    table = VirtualTable().ready()
    table.start(m.BuildWalls(m.TileProgram.TILES_136))
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE


@pytest.mark.parametrize(
    ("defect", "code", "side"),
    [
        (None, m.FaultCode.NONE, 255),
        (Defect.PAN_STALL, m.FaultCode.PAN_STALL, 255),
        (Defect.RING_STALL, m.FaultCode.RING_STALL, 3),
        (Defect.SENSOR_DIRTY, m.FaultCode.SENSOR_DIRTY, 3),
    ],
)
def test_self_test_reports(defect: Defect | None, code: m.FaultCode, side: int) -> None:
    table = VirtualTable().ready()
    if defect:
        apply_defect(table.plant, defect, 3, 0)
    reply = table.command(m.SelfTest())
    assert reply.outcome is (m.Outcome.FAILED if defect else m.Outcome.DONE)
    (report,) = [event for event in table.events if isinstance(event, m.SelfTestReport)]
    assert (report.passed, report.fault, report.side) == (defect is None, code, side)


def test_query_gives_state_stacks_sensors_and_link() -> None:
    table = VirtualTable().ready()
    table.events.clear()
    table.command(m.QueryState())
    kinds = {type(event) for event in table.events}
    assert {m.TableState, m.Stacks, m.SensorReport, m.LinkReport} <= kinds
    (sensors,) = [event for event in table.events if isinstance(event, m.SensorReport)]
    assert m.Sensor.CENTRE_CLOSED in sensors.active
    assert m.Sensor.LIFT_BOTTOM_3 in sensors.active
    assert m.Sensor.E_STOP_OPEN not in sensors.active


def check_safety(table: VirtualTable) -> None:
    """What must hold at every moment."""
    plant = table.plant
    if plant.e_stop_open:
        assert not plant.motors.any_on, "a motor is on with E_STOP open"
    for side in range(4):
        direction = plant.motors.lift[side]
        inputs = plant.inputs()
        at_end = inputs.lift_top[side] if direction > 0 else inputs.lift_bottom[side]
        table.overrun[side] = table.overrun[side] + 1 if direction and at_end else 0
        assert table.overrun[side] <= 2, "a tray is driven with its limit reached"
    building = table.firmware.controller.motion is m.Motion.BUILDING
    if building and plant.motors.pan:
        assert plant.centre == 0
        assert plant.lifts == [0.0] * 4


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_commands_and_faults_on_a_bad_line_stay_safe_and_run_once(seed: int) -> None:
    chance = random.Random(seed)
    noise = Noise(0.001, 0.001, 0.001, 0.001, 0.001, delay=0.01, jitter=0.02)
    table = VirtualTable(noise, seed=seed)
    table.checks.append(check_safety)
    table.ready()
    choices: list[m.Command] = [
        m.OpenCentre(),
        m.CloseCentre(),
        m.BuildWalls(m.TileProgram.TILES_84),
        m.RaiseWalls(),
        m.RaiseWalls(despite_short=True),
        m.LowerWalls(),
        m.RollDice(),
        m.Stop(),
        m.Home(),
        m.QueryState(),
        m.ResetFault(),
    ]
    accepted = 0
    for _ in range(30):
        if chance.random() < 0.25:
            apply_defect(table.plant, chance.choice(list(Defect)), chance.randrange(4), 0)
        reply = table.start(chance.choice(choices))
        accepted += reply.outcome is not m.Outcome.REFUSED
        table.run(chance.choice((0.1, 1, 6)))
        if chance.random() < 0.4:
            table.plant.defects = type(table.plant.defects)()
            table.plant.e_stop_open = table.plant.cover_open = False
            table.start(m.ResetFault())
            table.run(8)
    tokens = [command.token for command in table.firmware.controller.executed]
    assert len(tokens) == len(set(tokens)), "a command was executed twice"
    assert accepted > 5
    assert table.firmware.link.counters.bad_frames > 0
