"""Fault by fault: what it means and what to do; the display, the shell and the documents use it.

The texts come from ``hardware/faults.toml`` by way of ``fault_table``.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware_protocol.fault_table import CAUSE_TEXTS, FAULT_ROWS
from firmware_protocol.messages import (
    FaultCause,
    FaultCode,
    FaultRaised,
    Reason,
    Side,
    TableState,
)


@dataclass(frozen=True, slots=True)
class FaultInfo:
    """One row of the fault table.

    Attributes:
        latched: whether the table refuses motion until a person resets it.
        title: a few words.
        sign: how the controller sees it.
        remedy: what the person at the table does.
        answer: what the controller does by itself.
        causes: why it happens, the likeliest first.
        title_zh, remedy_zh: the same in Chinese.
    """

    latched: bool
    title: str
    sign: str
    remedy: str
    answer: str
    causes: tuple[str, ...]
    title_zh: str
    remedy_zh: str


FAULTS: dict[FaultCode, FaultInfo] = {
    FaultCode[name]: FaultInfo(
        latched, title, sign, remedy, answer, causes, title_zh=title_zh, remedy_zh=remedy_zh
    )
    for name, latched, title, title_zh, sign, answer, remedy, remedy_zh, causes in FAULT_ROWS
}

CAUSES: dict[FaultCause, str] = {FaultCause[name]: text for name, text in CAUSE_TEXTS.items()}
"""What each sign means."""


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


def fault_line(state: TableState, raised: FaultRaised | None = None) -> str:
    """The fault that a table reports, its side and its sign; empty without one.

    Args:
        state: as the table told it.
        raised: the event of this fault, if it was heard: it knows how many tiles are missing.
    """
    if state.fault is FaultCode.NONE:
        return ""
    where = "" if state.fault_side is Side.NONE else f", side {int(state.fault_side)}"
    how = "" if state.fault_cause is FaultCause.NONE else f" ({CAUSES[state.fault_cause]})"
    missing = ", ".join(
        f"{count} missing at side {side}" for side, count in _missing(state, raised)
    )
    return f"{FAULTS[state.fault].title}{where}{how}{': ' if missing else ''}{missing}"


def fault_line_zh(state: TableState, raised: FaultRaised | None = None) -> str:
    """The same in Chinese."""
    if state.fault is FaultCode.NONE:
        return ""
    where = "" if state.fault_side is Side.NONE else f"（{int(state.fault_side)} 號側）"
    missing = "、".join(f"{side} 號側缺 {count} 張" for side, count in _missing(state, raised))
    return f"{FAULTS[state.fault].title_zh}{where}{'：' if missing else ''}{missing}"


def _missing(state: TableState, raised: FaultRaised | None) -> list[tuple[int, int]]:
    if raised is None or raised.code is not state.fault:
        return []
    return [(side, count) for side, count in enumerate(raised.missing) if count]
