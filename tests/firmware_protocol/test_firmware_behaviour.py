"""What a controller does, in virtual time: interlocks, safety, counting, faults by name.

Every test runs against the table written in Python and against the firmware's C core.
"""

import random

import pytest

from firmware_protocol import messages as m
from firmware_protocol.faults import FAULTS
from firmware_protocol.framing import Frame, FrameKind, encode_frame
from firmware_protocol.noise import Noise
from firmware_protocol.simulator import Defect
from firmware_protocol.wire import encode

from .conftest import MakeTable
from .virtual import VirtualTable

PROGRAMS = [program for program in m.TileProgram if program is not m.TileProgram.NONE]


@pytest.fixture
def table(make_table: MakeTable) -> VirtualTable:
    """Connected and homed."""
    return make_table().ready()


def build(table: VirtualTable, program: m.TileProgram = m.TileProgram.TILES_136) -> None:
    assert table.command(m.BuildWalls(program)).outcome is m.Outcome.DONE


def refusal(table: VirtualTable, command: m.Command) -> m.Reason:
    before = len(table.executed)
    reply = table.command(command)
    assert reply.outcome is m.Outcome.REFUSED
    assert len(table.executed) == before
    return reply.reason


# --- cycles ---


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_whole_cycle_with_every_program(table: VirtualTable, program: m.TileProgram) -> None:
    begin = table.now
    assert table.command(m.BuildWalls(program, dealer=1)).outcome is m.Outcome.DONE
    assert table.now - begin < 80, "a healthy table stacks a set in about a minute"
    stacks = [event for event in table.events if isinstance(event, m.Stacks)][-1]
    assert stacks.counts == stacks.targets == m.stacks_per_side(program, 1)
    assert table.pushed == list(stacks.counts)
    for command in (m.RaiseWalls(), m.LowerWalls(), m.OpenCentre(), m.CloseCentre()):
        assert table.command(command).outcome is m.Outcome.DONE
    state = table.state()
    assert (state.centre, state.lifts) == (m.Place.LOW, m.Place.LOW)
    assert state.program is m.TileProgram.NONE
    assert table.faults() == []


def test_progress_rises_to_the_end(table: VirtualTable) -> None:
    build(table)
    percents = [
        event.percent
        for event in table.events
        if isinstance(event, m.MotionProgress) and event.motion is m.Motion.BUILDING
    ]
    assert percents == sorted(percents)
    assert percents[0] == 0
    assert percents[-1] >= 90


def test_sane_transitions_only(table: VirtualTable) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_136)
    assert refusal(table, m.RaiseWalls()) is m.Reason.NOT_BUILT
    assert refusal(table, m.LowerWalls()) is m.Reason.LIFTS_NOT_UP
    assert refusal(table, m.BuildWalls(m.TileProgram.NONE)) is m.Reason.BAD_ARGUMENT
    assert refusal(table, m.ResetFault()) is m.Reason.NOTHING_TO_RESET
    table.command(m.OpenCentre())
    assert refusal(table, stack) is m.Reason.CENTRE_NOT_CLOSED
    table.command(m.CloseCentre())
    assert table.start(stack).outcome is m.Outcome.ACCEPTED
    for command in (stack, m.RaiseWalls(), m.OpenCentre(), m.SelfTest(), m.Home()):
        assert refusal(table, command) is m.Reason.BUSY
    table.rest()
    assert refusal(table, stack) is m.Reason.WALLS_WAITING
    assert refusal(table, m.SelfTest()) is m.Reason.WALLS_WAITING
    assert table.start(m.RaiseWalls()).outcome is m.Outcome.ACCEPTED
    assert refusal(table, stack) is m.Reason.BUSY
    table.rest()
    assert refusal(table, stack) is m.Reason.LIFTS_NOT_DOWN
    assert refusal(table, m.RaiseWalls()) is m.Reason.LIFTS_NOT_DOWN


def test_another_program_waits_for_the_next_stacking(table: VirtualTable) -> None:
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(10)
    assert refusal(table, m.BuildWalls(m.TileProgram.TILES_108)) is m.Reason.BUSY
    table.command(m.Stop())
    assert refusal(table, m.BuildWalls(m.TileProgram.TILES_108)) is m.Reason.WALLS_WAITING


@pytest.mark.parametrize("stopped_after", [0.3, 25.3, 52.2])
def test_stop_and_go_on_keeps_the_counts(table: VirtualTable, stopped_after: float) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_144)
    table.start(stack)
    table.run(stopped_after)
    assert table.command(m.Stop()).outcome is m.Outcome.DONE
    assert not table.motors_on
    assert table.command(stack).outcome is m.Outcome.DONE
    assert table.counts == [18, 18, 18, 18] == table.pushed


def test_stopped_in_a_lift_nothing_is_trusted_until_homed(table: VirtualTable) -> None:
    build(table)
    table.start(m.RaiseWalls())
    table.run(1)
    table.command(m.Stop())
    state = table.state()
    assert (state.mode, state.lifts) == (m.TableMode.NOT_HOMED, m.Place.UNKNOWN)
    assert refusal(table, m.RaiseWalls()) is m.Reason.NOT_HOMED
    assert table.command(m.Home()).outcome is m.Outcome.DONE
    assert table.lifts == pytest.approx([0.0] * 4, abs=0.02)
    assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE, "the walls are still built"


# --- faults ---

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
COMMANDS: dict[str, m.Command] = {
    "build": m.BuildWalls(m.TileProgram.TILES_144),
    "raise": m.RaiseWalls(),
    "lower": m.LowerWalls(),
    "open": m.OpenCentre(),
    "close": m.CloseCentre(),
}


def prepare(table: VirtualTable, action: str) -> None:
    """Bring the table to where the action is allowed."""
    if action in ("raise", "lower"):
        build(table, m.TileProgram.TILES_84)
    if action == "lower":
        table.command(m.RaiseWalls())
    if action == "close":
        table.command(m.OpenCentre())


@pytest.mark.parametrize(
    ("defect", "side", "amount", "action", "code", "cause", "retries"),
    FAULT_CASES,
    ids=[str(case[0]) for case in FAULT_CASES],
)
def test_every_fault_is_named_with_side_and_cause(
    table: VirtualTable,
    defect: Defect,
    side: int,
    amount: int,
    action: str,
    code: m.FaultCode,
    cause: m.FaultCause | str | None,
    retries: int,
) -> None:
    prepare(table, action)
    if defect in (Defect.E_STOP, Defect.COVER_OPEN):
        table.start(COMMANDS[action])
        table.run(0.5)
        table.inject(defect, 0, amount)
        table.run_until(lambda: bool(table.faults()), 1)
    else:
        table.inject(defect, side % 255, amount)
        reply = table.command(COMMANDS[action])
        assert (reply.outcome, reply.fault) == (m.Outcome.FAILED, code)
    (fault,) = table.faults()
    wanted = m.FaultCause[cause] if isinstance(cause, str) else cause
    assert (fault.code, fault.side) == (code, side)
    assert fault.cause is (wanted or m.FaultCause.NOT_SEEN_IN_TIME)
    assert fault.retries == retries
    assert fault.latched == FAULTS[code].latched
    assert not table.motors_on
    if fault.latched:
        expected = m.Reason.FAULT_LATCHED
        if code is m.FaultCode.EMERGENCY_STOP:
            expected = m.Reason.EMERGENCY_STOP
        assert refusal(table, m.OpenCentre()) is expected
        assert refusal(table, m.RollDice()) is m.Reason.FAULT_LATCHED


@pytest.mark.parametrize(
    ("defect", "action"),
    [(case[0], case[3]) for case in FAULT_CASES],
    ids=[str(case[0]) for case in FAULT_CASES],
)
def test_after_every_fault_mended_and_reset_the_table_works_again(
    table: VirtualTable, defect: Defect, action: str
) -> None:
    prepare(table, action)
    table.inject(defect, 1, 2)
    table.start(COMMANDS[action])
    table.rest()
    table.run(1)
    table.repair()
    table.run(0.1)
    if table.state().fault is not m.FaultCode.NONE:
        assert table.command(m.ResetFault()).outcome is m.Outcome.DONE
    assert table.mode is m.TableMode.READY
    if table.state().program is m.TileProgram.TILES_144 and defect is Defect.SHORT_SET:
        table.add_tiles(1, 2)
    state = table.state()
    if state.centre is m.Place.HIGH:
        assert table.command(m.CloseCentre()).outcome is m.Outcome.DONE
    if state.lifts is m.Place.LOW:
        if not state.walls_complete:
            assert table.command(m.BuildWalls(m.TileProgram.TILES_144)).outcome is m.Outcome.DONE
            assert table.counts == [18] * 4
        assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE
    assert table.command(m.LowerWalls()).outcome is m.Outcome.DONE


@pytest.mark.parametrize("reversals", [1, 2])
def test_a_jam_that_comes_free_is_no_fault(table: VirtualTable, reversals: int) -> None:
    table.inject(Defect.HEAD_JAM, 1, reversals)
    build(table)
    assert table.faults() == []


def test_short_set_names_the_tiles_and_raises_only_when_told_to(table: VirtualTable) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_144)
    table.inject(Defect.SHORT_SET, 0, 1)
    table.inject(Defect.SHORT_SET, 2, 3)
    assert table.command(stack).fault is m.FaultCode.SHORT_SET
    assert table.faults()[0].missing == (1, 0, 3, 0)
    assert table.faults()[0].side is m.Side.SIDE_2
    assert refusal(table, m.RaiseWalls()) is m.Reason.SHORT_SET
    table.add_tiles(0, 1)
    assert table.command(stack).fault is m.FaultCode.SHORT_SET
    assert table.faults()[1].missing == (0, 0, 3, 0)
    assert table.command(m.RaiseWalls(despite_short=True)).outcome is m.Outcome.DONE


def test_found_tiles_complete_a_short_set(table: VirtualTable) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_136)
    table.inject(Defect.SHORT_SET, 3, 2)
    assert table.command(stack).fault is m.FaultCode.SHORT_SET
    table.add_tiles(3, 2)
    assert table.command(stack).outcome is m.Outcome.DONE
    assert table.counts == [17] * 4
    assert m.FaultCleared(m.FaultCode.SHORT_SET) in table.events


def test_a_blocked_tray_stops_all_four(table: VirtualTable) -> None:
    build(table)
    table.start(m.RaiseWalls())
    table.run(1.5)
    table.inject(Defect.LIFT_BLOCKED, 0)
    table.run(0.5)
    heights = table.lifts
    assert all(0 < height < 1 for height in heights)
    table.run(5)
    assert table.lifts == heights


def test_a_hand_in_the_hole_reopens_the_panel_at_once(table: VirtualTable) -> None:
    table.command(m.OpenCentre())
    table.inject(Defect.CENTRE_BLOCKED)
    seen: list[tuple[float, float, int]] = []
    table.checks.append(lambda t: seen.append((t.now, t.centre, t.centre_direction)))
    assert table.command(m.CloseCentre()).fault is m.FaultCode.CENTRE_BLOCKED
    touched = next(now for now, place, _ in seen if place <= 0.5)
    opened = next(now for now, _, direction in seen if now >= touched and direction > 0)
    assert opened - touched <= 0.1
    assert table.state().centre is m.Place.HIGH
    table.repair()
    assert table.command(m.CloseCentre()).outcome is m.Outcome.DONE


# --- emergency stop, lost host, lost power ---


def test_emergency_stop_cuts_at_once_and_latches_until_release_and_reset(
    table: VirtualTable,
) -> None:
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(5)
    assert table.motors_on
    table.set_e_stop(is_open=True)
    table.step(0.01)
    assert not table.motors_on, "off within 10 ms"
    table.run(1)
    assert refusal(table, m.ResetFault()) is m.Reason.EMERGENCY_STOP
    table.set_e_stop(is_open=False)
    table.run(1)
    assert table.mode is m.TableMode.EMERGENCY_STOP, "release is not enough"
    assert refusal(table, m.Home()) is m.Reason.EMERGENCY_STOP
    assert table.command(m.ResetFault()).outcome is m.Outcome.DONE
    assert table.mode is m.TableMode.READY


def test_a_short_opening_of_the_emergency_stop_latches_too(table: VirtualTable) -> None:
    table.start(m.OpenCentre())
    table.run(0.6)
    assert table.motors_on
    table.set_e_stop(is_open=True)
    table.step(0.005)
    table.set_e_stop(is_open=False)
    where = table.centre
    table.run(0.3)
    assert table.mode is m.TableMode.EMERGENCY_STOP
    assert not table.motors_on
    assert table.centre == pytest.approx(where, abs=0.01)


def test_host_lost_in_a_stacking_holds_and_keeps_counting(table: VirtualTable) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_144)
    table.start(stack)
    table.run(20)
    table.cut()
    table.run(8)
    assert not table.motors_on
    assert table.counts == table.pushed
    table.cut(False)
    table.connect(session=8)
    table.run(1)
    assert not table.motors_on, "nothing starts by itself when the host is back"
    assert table.state().fault is m.FaultCode.NONE
    assert m.FaultCleared(m.FaultCode.HOST_LOST) in table.events
    assert table.command(stack).outcome is m.Outcome.DONE
    assert table.counts == [18] * 4


def test_any_good_frame_shows_that_the_host_is_there(table: VirtualTable) -> None:
    """A noisy line may lose heartbeats; acknowledgements are signs of life too."""
    table.heartbeats = False
    for number in range(8):
        table.press(number % 4, m.Button.HU)
        table.run(1.0)
    assert table.faults() == []
    assert len([event for event in table.events if isinstance(event, m.ButtonPressed)]) == 8


def test_host_lost_while_looking_for_surplus_tiles_holds_too(table: VirtualTable) -> None:
    table.start(m.BuildWalls(m.TileProgram.TILES_84))
    table.run_until(lambda: table.counts == [14, 14, 14, 0], 90)
    table.cut()
    table.run(2.5)
    assert not table.motors_on
    table.cut(False)
    table.connect(session=8)
    assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE


def test_host_lost_in_a_lift_ends_the_lift_and_starts_nothing(table: VirtualTable) -> None:
    build(table)
    table.start(m.RaiseWalls())
    table.cut()
    table.run(10)
    assert table.lifts == pytest.approx([1.0] * 4, abs=0.02), "no tray is left half-way"
    assert not table.motors_on


def test_power_cut_in_a_lift_homes_first_and_reports_where_it_was(table: VirtualTable) -> None:
    build(table)
    table.start(m.RaiseWalls())
    table.run(1)
    table.power_cut()
    table.run(1)
    table.banners.clear()
    table.power_on(m.ResetReason.BROWN_OUT)
    table.run_until(lambda: bool(table.banners), 1)
    (banner,) = table.banners
    assert banner.interrupted_motion is m.Motion.RAISING
    assert banner.reset_reason is m.ResetReason.BROWN_OUT
    assert banner.boot_count == 2
    table.connect(session=9)
    state = table.state()
    assert (state.mode, state.motion) == (m.TableMode.HOMING, m.Motion.HOMING)
    assert state.fault is m.FaultCode.POWER_CUT
    assert refusal(table, m.RaiseWalls()) is m.Reason.BUSY
    table.run_until(lambda: table.mode is m.TableMode.READY, 10)
    assert table.lifts == pytest.approx([0.0] * 4, abs=0.02)
    assert table.command(m.RaiseWalls()).outcome is m.Outcome.DONE


@pytest.mark.parametrize("cut_after", [3, 11.7, 44.2])
def test_power_cut_in_a_stacking_goes_on_with_the_right_counts(
    table: VirtualTable, cut_after: float
) -> None:
    stack = m.BuildWalls(m.TileProgram.TILES_144)
    table.start(stack)
    table.run(cut_after)
    table.power_cut()
    table.power_on()
    table.connect(session=9)
    table.run_until(lambda: table.mode is m.TableMode.READY, 10)
    assert table.command(stack).outcome is m.Outcome.DONE
    assert table.counts == [18] * 4 == table.pushed
    assert [fault.code for fault in table.faults()] in ([], [m.FaultCode.POWER_CUT])


def test_power_on_with_the_emergency_stop_open_moves_nothing(table: VirtualTable) -> None:
    build(table)
    table.start(m.RaiseWalls())
    table.run(1.5)
    table.power_cut()
    heights = table.lifts
    assert 0 < heights[0] < 1
    table.set_e_stop(is_open=True)
    table.power_on()
    table.connect(session=9)
    table.run(5)
    assert table.lifts == heights
    assert table.mode is m.TableMode.EMERGENCY_STOP


# --- sessions ---


def test_events_without_a_host_are_dropped_and_counted_never_sent_late(
    table: VirtualTable,
) -> None:
    table.host.close()
    table.cut()
    table.run(10)
    table.press(1, m.Button.HU)
    table.run(8)  # its retransmissions run out
    table.press(1, m.Button.PUNG)
    table.run(1)
    table.cut(False)
    table.connect(session=11)
    table.run(2)
    assert not any(isinstance(event, m.ButtonPressed) for event in table.events)
    assert table.link_report().events_dropped >= 1


def test_the_same_session_number_by_chance_is_still_a_new_session(table: VirtualTable) -> None:
    for _ in range(5):
        table.command(m.RollDice())
    table.connect(session=7, nonce=99)
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE
    assert table.link_report().sessions == 2


def test_a_repeated_syn_is_answered_without_a_new_session(make_table: MakeTable) -> None:
    table = make_table(Noise(delay=0.5)).ready()
    assert table.host.counters.retransmissions > 0
    assert table.link_report().sessions == 1


def test_session_zero_is_outside_any_session(make_table: MakeTable) -> None:
    table = make_table()
    table.to_table.put(
        encode_frame(Frame(FrameKind.SYN, 0, payload=encode(m.HostHello()))), table.now
    )
    table.run(1)
    table.ready()
    assert table.link_report().sessions == 1


@pytest.mark.parametrize(
    ("payload", "answered"),
    [
        (bytes([0x20, 0x34, 0x12]), True),  # an unknown command
        (bytes([0x12, 0x34, 0x12, 55, 0]), True),  # a program of 55 tiles
        (bytes([0x17, 0x34, 0x12, 0]), True),  # a Stop that is too long
        (bytes([0x20, 0x34]), False),  # not even a token
        (encode(m.HostHeartbeat(5)), False),
        (encode(m.DiceRolled(3, 4)), False),  # a table's word
        (bytes([0x41, 1, 2]), False),  # ... and not even well formed
        (b"", False),
    ],
    ids=lambda value: value.hex() if isinstance(value, bytes) else "",
)
def test_what_is_no_command_is_refused_by_its_token_or_ignored(
    table: VirtualTable, payload: bytes, answered: bool
) -> None:
    table.events.clear()
    table.host.send(payload, table.now)
    table.run(1)
    replies = [event for event in table.events if isinstance(event, m.CommandReply)]
    refused = m.CommandReply(0x1234, m.Outcome.REFUSED, m.Reason.UNSUPPORTED)
    assert replies == ([refused] if answered else [])
    assert table.executed == []
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE


# --- lights, dice, self-test, query ---


def test_lights_and_dice(table: VirtualTable) -> None:
    table.command(m.SetLights(m.SeatMask.SEAT_0 | m.SeatMask.SEAT_2, m.LightPattern.BLINK))
    blink, off = m.LightPattern.BLINK, m.LightPattern.OFF
    table.run(0.05)
    assert table.lights == [blink, off, blink, off]
    table.set_next_dice(6, 1)
    assert table.command(m.RollDice()).outcome is m.Outcome.DONE
    assert m.DiceRolled(6, 1) in table.events
    for _ in range(20):
        table.command(m.RollDice())
    faces = {e.first for e in table.events if isinstance(e, m.DiceRolled)}
    assert len(faces) >= 4


def test_dice_may_roll_while_walls_are_built(table: VirtualTable) -> None:
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
def test_self_test_reports(
    table: VirtualTable, defect: Defect | None, code: m.FaultCode, side: int
) -> None:
    if defect:
        table.inject(defect, 3)
    reply = table.command(m.SelfTest())
    assert reply.outcome is (m.Outcome.FAILED if defect else m.Outcome.DONE)
    (report,) = [event for event in table.events if isinstance(event, m.SelfTestReport)]
    assert (report.passed, report.fault, report.side) == (defect is None, code, side)


def test_query_gives_state_stacks_sensors_and_link(table: VirtualTable) -> None:
    table.events.clear()
    table.command(m.QueryState())
    kinds = {type(event) for event in table.events}
    assert {m.TableState, m.Stacks, m.SensorReport, m.LinkReport} <= kinds
    (sensors,) = [event for event in table.events if isinstance(event, m.SensorReport)]
    assert m.Sensor.CENTRE_CLOSED in sensors.active
    assert m.Sensor.LIFT_BOTTOM_3 in sensors.active
    assert m.Sensor.E_STOP_OPEN not in sensors.active


# --- anything at all ---

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_commands_and_faults_on_a_bad_line_stay_safe_and_run_once(
    make_table: MakeTable, seed: int
) -> None:
    chance = random.Random(seed)
    noise = Noise(0.001, 0.001, 0.001, 0.001, 0.001, delay=0.01, jitter=0.02)
    table = make_table(noise, seed).ready()
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
            table.inject(chance.choice(list(Defect)), chance.randrange(4))
        reply = table.start(chance.choice(choices))
        accepted += reply.outcome is not m.Outcome.REFUSED
        table.run(chance.choice((0.1, 1, 6)))
        if chance.random() < 0.4:
            table.repair()
            table.run(0.1)
            table.start(m.ResetFault())
            table.run(8)
    tokens = [command.token for command in table.executed]
    assert len(tokens) == len(set(tokens)), "a command was executed twice"
    assert accepted > 5
    assert table.link_report().bad_frames > 0
