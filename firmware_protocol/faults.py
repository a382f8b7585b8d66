"""Fault by fault: what it means and what to do; the display, the shell and the documents use it."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_protocol.messages import FaultCode, Reason


@dataclass(frozen=True, slots=True)
class FaultInfo:
    """One row of the fault table.

    Attributes:
        latched: whether the table refuses motion until a person resets it.
        title: a few words.
        sign: how the controller sees it.
        remedy: what the person at the table does.
    """

    latched: bool
    title: str
    sign: str
    remedy: str


FAULTS: dict[FaultCode, FaultInfo] = {
    FaultCode.NONE: FaultInfo(False, "no fault", "-", "-"),
    FaultCode.HEAD_JAM: FaultInfo(
        True,
        "tile jam at a stacking head",
        "head over-current, or its home switch not seen in time, after two retries",
        "Open the cover, take the tile out of the named head, close the cover, reset.",
    ),
    FaultCode.LIFT_NOT_ARRIVED: FaultInfo(
        True,
        "a lift tray does not arrive",
        "the tray stalls or does not leave its switch in time; all four were stopped",
        "Look for a tile beside the named tray; free it, reset.",
    ),
    FaultCode.LIFT_NEVER_STOPS: FaultInfo(
        True,
        "a lift tray was not seen to stop",
        "a limit switch is stuck: travel time-out, or top and bottom active together",
        "Check the limit switches of the named tray and their plugs, reset.",
    ),
    FaultCode.SHORT_SET: FaultInfo(
        False,
        "tiles are missing",
        "stacks missing, pan turning and no tile at the head for a long time",
        "Look on the floor; put the missing tiles in and build again, or raise as it is.",
    ),
    FaultCode.TOO_MANY_TILES: FaultInfo(
        False,
        "too many tiles",
        "the walls are full and a tile still waits at a head",
        "Take the surplus tiles out, or choose the right tile program.",
    ),
    FaultCode.SENSOR_DIRTY: FaultInfo(
        True,
        "a photo sensor is dirty",
        "the sensor is constantly blocked, or pulses faster than tiles can move",
        "Clean the named photo sensor, reset.",
    ),
    FaultCode.PAN_STALL: FaultInfo(
        True,
        "the shuffling pan does not turn",
        "pan over-current, after one retry",
        "Remove what blocks the pan, reset.",
    ),
    FaultCode.RING_STALL: FaultInfo(
        True,
        "a magnet ring does not turn",
        "ring over-current, after one retry",
        "Remove what blocks the named ring, reset.",
    ),
    FaultCode.CENTRE_BLOCKED: FaultInfo(
        False,
        "something was in the way of the centre panel",
        "over-current while closing; the panel opened again at once",
        "Take hand and tiles out of the hole and close again.",
    ),
    FaultCode.CENTRE_NOT_ARRIVED: FaultInfo(
        True,
        "the centre panel does not arrive",
        "its switch was not seen in time",
        "Check the panel's travel and its two switches, reset.",
    ),
    FaultCode.EMERGENCY_STOP: FaultInfo(
        True,
        "emergency stop",
        "the emergency stop is open; every motor is off",
        "When it is safe, release the switch and reset.",
    ),
    FaultCode.HOST_LOST: FaultInfo(
        False,
        "the host was lost",
        "no heartbeat from the host",
        "Nothing: the table holds and goes on when the host is back.",
    ),
    FaultCode.POWER_CUT: FaultInfo(
        False,
        "the controller restarted in a motion",
        "a motion was under way at the last stop",
        "Nothing: the table homes before anything else. Check the supply if it happens again.",
    ),
    FaultCode.COVER_OPEN: FaultInfo(
        True,
        "the service lid was opened in a motion",
        "cover switch open",
        "Close the lid, reset.",
    ),
    FaultCode.CONFIGURATION_INVALID: FaultInfo(
        True,
        "the controller's configuration is damaged",
        "the CRC of the stored configuration does not match",
        "Write the configuration again (hardware guide).",
    ),
    FaultCode.UNKNOWN: FaultInfo(
        True,
        "a fault that this version does not know",
        "the firmware is newer than the host",
        "Update tablectl.",
    ),
}


REASONS: dict[Reason, str] = {
    Reason.NONE: "no reason given",
    Reason.BUSY: "another motion is under way: wait for its end or stop it",
    Reason.FAULT_LATCHED: "a fault is latched: remove its cause, then reset",
    Reason.EMERGENCY_STOP: "the emergency stop is on: release the switch, then reset",
    Reason.COVER_OPEN: "the service lid is open: close it",
    Reason.NOT_HOMED: "positions are not known: home the table first",
    Reason.CENTRE_NOT_CLOSED: "the centre panel is not closed",
    Reason.LIFTS_NOT_DOWN: "the lift trays are not down",
    Reason.LIFTS_NOT_UP: "the lift trays are not up",
    Reason.NOT_BUILT: "there are no walls: build them first",
    Reason.SHORT_SET: "tiles are missing: find them, or raise the walls as they are",
    Reason.BAD_ARGUMENT: "the command's argument makes no sense",
    Reason.UNSUPPORTED: "this firmware cannot do that: update it",
    Reason.NO_HOST: "the host was lost",
    Reason.STOPPED: "stopped on request",
    Reason.NOTHING_TO_RESET: "there is no fault to reset",
    Reason.WALLS_WAITING: "walls wait in the trays: raise them first",
    Reason.UNKNOWN: "a reason that this version does not know: update tablectl",
}
