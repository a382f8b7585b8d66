"""Errors of the wire and of the link, each saying what happened, where and what to do."""

from __future__ import annotations


class ProtocolError(Exception):
    """Anything that can go wrong between the host and the table."""


class MalformedFrameError(ProtocolError):
    """Bytes between two delimiters are not a frame (COBS, CRC, length or header)."""


class MalformedMessageError(ProtocolError):
    """A frame arrived intact but its payload is no message that this version knows."""


class LinkLostError(ProtocolError):
    """The table does not answer; the client goes on trying to reconnect by itself."""


class PortUnavailableError(LinkLostError):
    """The port cannot be opened: missing, without permission, or held by another program."""


class LinkBusyError(ProtocolError):
    """More messages are waiting to be sent than the link may hold."""


class RefusedDeviceError(ProtocolError):
    """The device answered, and it must not be used: a person has to look at it."""


class ForeignDeviceError(RefusedDeviceError):
    """The device on the port is not a table controller of ours."""


class WrongTableError(RefusedDeviceError):
    """A table controller of ours, but not the one that the configuration names."""


class VersionMismatchError(RefusedDeviceError):
    """Host and firmware speak different major versions of the protocol."""


class CommandError(ProtocolError):
    """A command did not end as asked."""


class OutcomeUnknownError(CommandError):
    """The link broke after sending: the command was executed once or not at all.

    It is never sent again by itself; look at the state of the table first.
    """


class EventOverflowError(ProtocolError):
    """A reader of events fell so far behind that events would have been lost."""
