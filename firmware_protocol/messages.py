"""Every message between host and table, declared once.

Encoding, decoding, the JSON form and the C header (``python -m firmware_protocol.generate_header``)
all come from here. Compatible changes: append a field to an event, add a message, add a member to
an enumeration that has UNKNOWN; they raise PROTOCOL_MINOR. Anything else raises PROTOCOL_MAJOR.

Seats and sides are the same four places, 0 to 3 counter-clockwise, as they stand in the room;
which wind sits where is the engine's matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Annotated

from firmware_protocol.errors import MalformedMessageError
from firmware_protocol.wire import (
    U8,
    U16,
    U32,
    Bool,
    Direction,
    FourCounts,
    Message,
    Seat,
    Wire,
    message,
)

PROTOCOL_MAJOR = 1
PROTOCOL_MINOR = 0
HOST_IDENTITY = "tablectl-host"
TABLE_IDENTITY = "tablectl-table"


class Side(IntEnum):
    """A side of the table, or none."""

    SIDE_0 = 0
    SIDE_1 = 1
    SIDE_2 = 2
    SIDE_3 = 3
    NONE = 255


class TileProgram(IntEnum):
    """How many tiles the walls are built of (table-machine.md, "Tile programs")."""

    NONE = 0
    TILES_84 = 84
    TILES_96 = 96
    TILES_108 = 108
    TILES_136 = 136
    TILES_144 = 144


STACKS_FROM_DEALER: dict[TileProgram, tuple[int, int, int, int]] = {
    TileProgram.NONE: (0, 0, 0, 0),
    TileProgram.TILES_84: (14, 14, 14, 0),
    TileProgram.TILES_96: (16, 16, 16, 0),
    TileProgram.TILES_108: (14, 13, 14, 13),
    TileProgram.TILES_136: (17, 17, 17, 17),
    TileProgram.TILES_144: (18, 18, 18, 18),
}
"""Stacks a side, the dealer's first, then counter-clockwise."""


def stacks_per_side(program: TileProgram, dealer: int) -> tuple[int, int, int, int]:
    """Stacks of sides 0 to 3 for a program when `dealer` (0 to 3) deals."""
    from_dealer = STACKS_FROM_DEALER[program]
    a, b, c, d = (from_dealer[(side - dealer) % 4] for side in range(4))
    return a, b, c, d


class TableMode(IntEnum):
    """What the controller as a whole is doing."""

    BOOTING = 0
    HOMING = 1
    READY = 2
    MOVING = 3
    NOT_HOMED = 4  # stopped in a motion or host lost in one: positions are not trusted
    FAULT = 5  # latched: refuses motion until ResetFault
    EMERGENCY_STOP = 6  # latched: needs the release of the switch and ResetFault
    UNKNOWN = 255


class Motion(IntEnum):
    """One motion of the machine."""

    NONE = 0
    HOMING = 1
    OPENING_CENTRE = 2
    CLOSING_CENTRE = 3
    BUILDING = 4
    RAISING = 5
    LOWERING = 6
    SELF_TEST = 7
    DICE = 8
    UNKNOWN = 255


class Place(IntEnum):
    """Where the centre panel or the four trays are; MOVING and UNKNOWN are never assumed away."""

    LOW = 0  # centre closed, trays below the felt
    HIGH = 1  # centre open, trays at the felt
    MOVING = 2
    UNKNOWN = 255


class Button(IntEnum):
    """The six buttons of a seat console."""

    HU = 0
    KONG = 1
    PUNG = 2
    CHOW = 3
    PASS = 4
    START = 5


class Outcome(IntEnum):
    """How far a command has come; ACCEPTED is followed by exactly one of the others."""

    ACCEPTED = 0
    DONE = 1
    REFUSED = 2  # nothing has moved
    ABORTED = 3  # begun, then stopped on request or for want of a host
    FAILED = 4  # begun, then a fault


class Reason(IntEnum):
    """Why a command was refused or aborted."""

    NONE = 0
    BUSY = 1
    FAULT_LATCHED = 2
    EMERGENCY_STOP = 3
    COVER_OPEN = 4
    NOT_HOMED = 5
    CENTRE_NOT_CLOSED = 6
    LIFTS_NOT_DOWN = 7
    LIFTS_NOT_UP = 8
    NOT_BUILT = 9
    SHORT_SET = 10
    BAD_ARGUMENT = 11
    UNSUPPORTED = 12
    NO_HOST = 13
    STOPPED = 14
    NOTHING_TO_RESET = 15
    WALLS_WAITING = 16  # built walls are in the trays: raise them first
    UNKNOWN = 255


class FaultCode(IntEnum):
    """What is wrong; `firmware_protocol.faults` says what to do about each."""

    NONE = 0
    HEAD_JAM = 1
    LIFT_NOT_ARRIVED = 2
    LIFT_NEVER_STOPS = 3
    SHORT_SET = 4
    TOO_MANY_TILES = 5
    SENSOR_DIRTY = 6
    PAN_STALL = 7
    RING_STALL = 8
    CENTRE_BLOCKED = 9
    CENTRE_NOT_ARRIVED = 10
    EMERGENCY_STOP = 11
    HOST_LOST = 12
    POWER_CUT = 13
    COVER_OPEN = 14
    CONFIGURATION_INVALID = 15
    UNKNOWN = 255


class FaultCause(IntEnum):
    """By which sign the fault was seen."""

    NONE = 0
    OVER_CURRENT = 1
    NOT_SEEN_IN_TIME = 2
    SWITCH_STUCK = 3
    NO_TILES = 4
    CHANNEL_FULL = 5
    CONSTANTLY_BLOCKED = 6
    IMPLAUSIBLE_PULSES = 7
    INPUT_OPEN = 8
    NO_HEARTBEAT = 9
    RESTARTED = 10
    UNKNOWN = 255


class ResetReason(IntEnum):
    """Why the controller started."""

    POWER_ON = 0
    EXTERNAL = 1  # the reset line: opening the port does this on most boards
    BROWN_OUT = 2
    WATCHDOG = 3
    SOFTWARE = 4
    UNKNOWN = 255


class Capability(IntFlag):
    """What a controller can do."""

    CENTRE = 1
    WALLS = 2
    DICE = 4
    LIGHTS = 8
    BUTTONS = 16
    SELF_TEST = 32
    TWO_SETS = 64
    LINK_REPORT = 128


class SeatMask(IntFlag):
    """A choice of seats."""

    SEAT_0 = 1
    SEAT_1 = 2
    SEAT_2 = 4
    SEAT_3 = 8
    ALL = 15


class LightPattern(IntEnum):
    """How a seat's light burns."""

    OFF = 0
    ON = 1
    BLINK = 2
    PULSE = 3


class Sensor(IntFlag):
    """Inputs as the controller reads them after debouncing; a set bit means "active"."""

    E_STOP_OPEN = 1 << 0
    COVER_OPEN = 1 << 1
    CENTRE_OPEN = 1 << 2
    CENTRE_CLOSED = 1 << 3
    LIFT_TOP_0 = 1 << 4
    LIFT_TOP_1 = 1 << 5
    LIFT_TOP_2 = 1 << 6
    LIFT_TOP_3 = 1 << 7
    LIFT_BOTTOM_0 = 1 << 8
    LIFT_BOTTOM_1 = 1 << 9
    LIFT_BOTTOM_2 = 1 << 10
    LIFT_BOTTOM_3 = 1 << 11
    HEAD_HOME_0 = 1 << 12
    HEAD_HOME_1 = 1 << 13
    HEAD_HOME_2 = 1 << 14
    HEAD_HOME_3 = 1 << 15
    HEAD_IN_0 = 1 << 16
    HEAD_IN_1 = 1 << 17
    HEAD_IN_2 = 1 << 18
    HEAD_IN_3 = 1 << 19
    STACK_0 = 1 << 20
    STACK_1 = 1 << 21
    STACK_2 = 1 << 22
    STACK_3 = 1 << 23


_HOST, _TABLE = Direction.HOST_TO_TABLE, Direction.TABLE_TO_HOST
AnyProgram = Annotated[TileProgram, Wire("u8")]
AnySide = Annotated[Side, Wire("u8")]
AnyPlace = Annotated[Place, Wire("u8")]
AnyMotion = Annotated[Motion, Wire("u8")]
AnyFault = Annotated[FaultCode, Wire("u8")]
AnyCause = Annotated[FaultCause, Wire("u8")]
Die = Annotated[int, Wire("u8", low=1, high=6)]


# --- handshake and heartbeats. The first three fields of both hellos never change. ---


@message(0x01, _HOST)
class HostHello(Message):
    """The host asks for a session."""

    identity: Annotated[str, Wire("text", count=16)] = HOST_IDENTITY
    protocol_major: U8 = PROTOCOL_MAJOR
    protocol_minor: U8 = PROTOCOL_MINOR
    nonce: U32 = 0  # new for every attempt: tells a repeated SYN from a new session's


@message(0x02, _TABLE)
class TableHello(Message):
    """Who the table is; answers HostHello, and is sent by itself (outside a session) at start."""

    identity: Annotated[str, Wire("text", count=16)]
    protocol_major: U8
    protocol_minor: U8
    accepted: Bool  # False: the firmware refuses this host's protocol version
    firmware_major: U8
    firmware_minor: U8
    firmware_patch: U8
    capabilities: Annotated[Capability, Wire("u16")]
    configuration_crc: U16
    reset_reason: Annotated[ResetReason, Wire("u8")]
    interrupted_motion: AnyMotion  # what a restart cut short, from non-volatile memory
    board_serial: U32
    boot_count: U16
    uptime_ms: U32


@message(0x03, _HOST)
class HostHeartbeat(Message):
    """The host is alive; the controller holds when none comes for HOST_LOST_AFTER seconds."""

    uptime_ms: U32


@message(0x04, _TABLE)
class TableHeartbeat(Message):
    """The table is alive."""

    uptime_ms: U32
    mode: Annotated[TableMode, Wire("u8")]


def hello_prefix(payload: bytes) -> tuple[int, str, int, int]:
    """Message id, identity, protocol major and minor of a hello of any version.

    Raises:
        MalformedMessageError: too short, or the identity is not ASCII.
    """
    if len(payload) < 19:
        raise MalformedMessageError(f"{len(payload)} bytes are no hello")
    try:
        identity = payload[1:17].rstrip(b"\0").decode("ascii")
    except UnicodeDecodeError as error:
        raise MalformedMessageError("the identity is not ASCII") from error
    return payload[0], identity, payload[17], payload[18]


# --- commands. `token` is set by the client and comes back in CommandReply. ---


@dataclass(frozen=True)
class Command(Message):
    """Base of commands; the token stands first so that even an unknown command can be refused."""

    token: U16 = field(default=0, kw_only=True)


@message(0x10, _HOST)
class OpenCentre(Command):
    """Raise the centre panel so that tiles can be pushed in."""


@message(0x11, _HOST)
class CloseCentre(Command):
    """Lower the centre panel; it reverses by itself when something is in the way."""


@message(0x12, _HOST)
class BuildWalls(Command):
    """Shuffle and stack the set in the pan; again after a stop or a short set: go on."""

    program: AnyProgram
    dealer: Seat = 0


@message(0x13, _HOST)
class RaiseWalls(Command):
    """Lift the built walls to the felt; a short set only when `despite_short`."""

    despite_short: Bool = False


@message(0x14, _HOST)
class LowerWalls(Command):
    """Bring the trays down after the players have taken their walls."""


@message(0x15, _HOST)
class RollDice(Command):
    """Roll the two dice; the result comes as DiceRolled."""


@message(0x16, _HOST)
class SetLights(Command):
    """Seat lights; never a motion, allowed even when a fault is latched."""

    seats: Annotated[SeatMask, Wire("u8", high=15)]
    pattern: Annotated[LightPattern, Wire("u8")]


@message(0x17, _HOST)
class Stop(Command):
    """Stop every motion now; always allowed."""


@message(0x18, _HOST)
class ResetFault(Command):
    """Leave a latched fault or emergency stop (its switch released) and home everything."""


@message(0x19, _HOST)
class SelfTest(Command):
    """Try every motor a little and every sensor; ends with SelfTestReport."""


@message(0x1A, _HOST)
class QueryState(Command):
    """Ask for TableState, Stacks, SensorReport and LinkReport."""


@message(0x1B, _HOST)
class Home(Command):
    """Bring everything to its rest: trays down, heads home, centre closed."""


# --- events ---


@message(0x40, _TABLE)
class CommandReply(Message):
    """What became of the command with this token."""

    token: U16
    outcome: Annotated[Outcome, Wire("u8")]
    reason: Annotated[Reason, Wire("u8")] = Reason.NONE
    fault: AnyFault = FaultCode.NONE


@message(0x41, _TABLE)
class TableState(Message):
    """The whole state; sent at every change, after the handshake and when asked."""

    mode: Annotated[TableMode, Wire("u8")]
    motion: AnyMotion
    centre: AnyPlace
    lifts: AnyPlace
    program: AnyProgram  # of the walls now in the trays, NONE when there are none
    walls_complete: Bool
    fault: AnyFault
    fault_side: AnySide
    fault_cause: AnyCause
    e_stop_open: Bool
    cover_open: Bool
    uptime_ms: U32


@message(0x42, _TABLE)
class MotionProgress(Message):
    """How far a motion has come."""

    motion: AnyMotion
    percent: Annotated[int, Wire("u8", low=0, high=100)]


@message(0x43, _TABLE)
class Stacks(Message):
    """Stacks in the walls, sides 0 to 3, and how many the program wants."""

    program: AnyProgram
    counts: FourCounts
    targets: FourCounts


@message(0x44, _TABLE)
class DiceRolled(Message):
    """The two dice."""

    first: Die
    second: Die


@message(0x45, _TABLE)
class ButtonPressed(Message):
    """A seat's button went down (debounced, once a press)."""

    seat: Seat
    button: Annotated[Button, Wire("u8")]
    uptime_ms: U32


@message(0x46, _TABLE)
class FaultRaised(Message):
    """A fault, with the side and the sign; `latched` faults refuse motion until ResetFault."""

    code: AnyFault
    side: AnySide
    cause: AnyCause
    latched: Bool
    retries: U8 = 0  # attempts made before giving up
    missing: FourCounts = (0, 0, 0, 0)  # tiles missing a side, for SHORT_SET
    motion: AnyMotion = Motion.NONE  # in which motion


@message(0x47, _TABLE)
class FaultCleared(Message):
    """A latched fault was reset, or an unlatched one has gone by itself."""

    code: AnyFault


@message(0x48, _TABLE)
class LinkReport(Message):
    """The controller's own counters of the link, since its start."""

    frames_received: U32
    frames_sent: U32
    bad_frames: U16
    retransmissions: U16
    duplicates: U16
    naks_sent: U16
    naks_received: U16
    sessions: U16
    events_dropped: U16


@message(0x49, _TABLE)
class SelfTestReport(Message):
    """Result of the self-test; `fault` names the first thing found wrong."""

    passed: Bool
    fault: AnyFault
    side: AnySide
    tested: U16  # number of motors and sensors tried


@message(0x4A, _TABLE)
class SensorReport(Message):
    """All inputs."""

    active: Annotated[Sensor, Wire("u32")]


LATEST_WINS: frozenset[type[Message]] = frozenset(
    {TableState, MotionProgress, Stacks, LinkReport, SensorReport}
)
"""Events of which only the newest counts: a queued older one is replaced, so queues stay short."""
