"""How a declared message becomes bytes, JSON and C: field types and the codec made from them.

A message is a frozen dataclass decorated with :func:`message`; every field's annotation carries
a :class:`Wire` that fixes its width and range. Numbers are little-endian. A payload is the
message's id (one byte) and its fields in order, without padding.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag, StrEnum
from typing import Annotated, Any, TypeVar, dataclass_transform

from firmware_protocol.errors import MalformedMessageError

_CODES = {"u8": "B", "u16": "H", "u32": "I", "i16": "h"}


class Direction(StrEnum):
    """Who sends a message."""

    HOST_TO_TABLE = "host-to-table"
    TABLE_TO_HOST = "table-to-host"


@dataclass(frozen=True, slots=True)
class Wire:
    """How one field travels.

    Attributes:
        kind: ``u8 u16 u32 i16 bool text``.
        count: number of elements; for text the fixed length in bytes, padded with zeros.
        low, high: inclusive range of a number, the whole width where None.
    """

    kind: str
    count: int = 1
    low: int | None = None
    high: int | None = None


U8 = Annotated[int, Wire("u8")]
U16 = Annotated[int, Wire("u16")]
U32 = Annotated[int, Wire("u32")]
Bool = Annotated[bool, Wire("bool")]
Seat = Annotated[int, Wire("u8", low=0, high=3)]
FourCounts = Annotated[tuple[int, int, int, int], Wire("u8", count=4)]


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a message, resolved: name, Python type and wire form."""

    name: str
    type: type
    wire: Wire

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        if self.wire.kind in ("text", "bool"):
            return self.wire.count
        return struct.calcsize("<" + _CODES[self.wire.kind]) * self.wire.count

    @property
    def is_tuple(self) -> bool:
        """Whether the Python value is a tuple of numbers."""
        return self.wire.kind != "text" and self.wire.count > 1

    def pack(self, value: Any) -> bytes:
        """Bytes of the value.

        Raises:
            ValueError: the value does not fit the field.
        """
        if self.wire.kind == "text":
            data = str(value).encode("ascii")
            if len(data) > self.wire.count or b"\0" in data:
                raise ValueError(f"{self.name}: {value!r} is not {self.wire.count} ASCII bytes")
            return data.ljust(self.wire.count, b"\0")
        if self.wire.kind == "bool":
            return b"\1" if value else b"\0"
        items = tuple(value) if self.is_tuple else (value,)
        if len(items) != self.wire.count:
            raise ValueError(f"{self.name}: {len(items)} numbers, {self.wire.count} expected")
        for item in items:
            self._check_range(int(item))
        try:
            return struct.pack(f"<{self.wire.count}{_CODES[self.wire.kind]}", *map(int, items))
        except struct.error as error:
            raise ValueError(f"{self.name}: {value!r} does not fit {self.wire.kind}") from error

    def unpack(self, data: bytes) -> Any:
        """The value in exactly `size` bytes.

        Raises:
            ValueError: out of range, not ASCII, no member of the enumeration.
        """
        if self.wire.kind == "text":
            text = data.rstrip(b"\0")
            if b"\0" in text:
                raise ValueError(f"{self.name}: zero inside the text")
            return text.decode("ascii")
        if self.wire.kind == "bool":
            if data not in (b"\0", b"\1"):
                raise ValueError(f"{self.name}: {data!r} is no boolean")
            return data == b"\1"
        items = struct.unpack(f"<{self.wire.count}{_CODES[self.wire.kind]}", data)
        values = tuple(self.from_number(item) for item in items)
        return values if self.is_tuple else values[0]

    def from_number(self, number: int) -> int:
        """A number as the field's Python type; an enumeration with UNKNOWN takes any number.

        Raises:
            ValueError: out of range or no member.
        """
        self._check_range(number)
        if issubclass(self.type, IntFlag):
            return self.type(number)
        if issubclass(self.type, IntEnum):
            if number not in self.type._value2member_map_ and "UNKNOWN" in self.type.__members__:
                return self.type.__members__["UNKNOWN"]
            return self.type(number)
        return number

    def _check_range(self, number: int) -> None:
        low, high = self.wire.low, self.wire.high
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError(f"{self.name}: {number} is outside {low}..{high}")


@dataclass(frozen=True, slots=True)
class MessageSpec:
    """A message type as declared: id, direction, fields and payload size in bytes."""

    cls: type[Message]
    id: int
    direction: Direction
    fields: tuple[FieldSpec, ...]

    @property
    def name(self) -> str:
        """The class name, which is also the name in JSON and (in snake case) in C."""
        return self.cls.__name__

    @property
    def size(self) -> int:
        """Bytes of the payload, the id included."""
        return 1 + sum(field.size for field in self.fields)


class Message:
    """Base of all wire messages."""

    __slots__ = ()


_M = TypeVar("_M", bound=Message)
_by_id: dict[int, MessageSpec] = {}
_by_name: dict[str, MessageSpec] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def message(number: int, direction: Direction) -> Callable[[type[_M]], type[_M]]:
    """Make a class a frozen message with wire number `number` and register it."""

    def declare(plain: type[_M]) -> type[_M]:
        cls = dataclass(frozen=True)(plain)
        if number in _by_id or cls.__name__ in _by_name:
            raise ValueError(f"message {cls.__name__} ({number:#04x}) is declared twice")
        spec = MessageSpec(cls, number, direction, _fields_of(cls))
        _by_id[number] = _by_name[cls.__name__] = spec
        return cls

    return declare


def _fields_of(cls: type) -> tuple[FieldSpec, ...]:
    hints = typing.get_type_hints(cls, include_extras=True)
    specs = []
    for field in dataclasses.fields(cls):
        python_type, wire = typing.get_args(hints[field.name])[:2]
        origin = typing.get_origin(python_type)
        element = typing.get_args(python_type)[0] if origin is tuple else python_type
        specs.append(FieldSpec(field.name, element, wire))
    return tuple(specs)


def all_messages() -> tuple[MessageSpec, ...]:
    """Every declared message, by id."""
    return tuple(_by_id[number] for number in sorted(_by_id))


def spec_of(item: Message | type[Message]) -> MessageSpec:
    """The declaration of a message or message class."""
    return _by_name[item.__name__ if isinstance(item, type) else type(item).__name__]


def encode(item: Message) -> bytes:
    """The payload of a message.

    Raises:
        ValueError: a field holds a value that its wire type cannot carry.
    """
    spec = spec_of(item)
    body = b"".join(field.pack(getattr(item, field.name)) for field in spec.fields)
    return bytes((spec.id,)) + body


def decode(payload: bytes, *, allow_longer: bool = False) -> Message:
    """The message in a payload.

    Args:
        payload: id and fields.
        allow_longer: ignore extra bytes at the end; later minor versions append fields.

    Raises:
        MalformedMessageError: unknown id, wrong length, or a field with an impossible value.
    """
    if not payload:
        raise MalformedMessageError("empty payload")
    spec = _by_id.get(payload[0])
    if spec is None:
        raise MalformedMessageError(f"unknown message id {payload[0]:#04x}")
    if len(payload) < spec.size or (len(payload) > spec.size and not allow_longer):
        raise MalformedMessageError(f"{spec.name}: {len(payload)} bytes, {spec.size} expected")
    values: dict[str, Any] = {}
    at = 1
    try:
        for field in spec.fields:
            values[field.name] = field.unpack(payload[at : at + field.size])
            at += field.size
    except ValueError as error:
        raise MalformedMessageError(f"{spec.name}: {error}") from error
    return spec.cls(**values)


def to_json(item: Message) -> dict[str, Any]:
    """A message as plain JSON values: ``{"type": name, field: value}``, enumerations by name."""
    spec = spec_of(item)
    fields = {field.name: _to_plain(field, getattr(item, field.name)) for field in spec.fields}
    return {"type": spec.name, **fields}


def from_json(data: Mapping[str, Any]) -> Message:
    """Undo :func:`to_json`.

    Raises:
        MalformedMessageError: unknown type, missing or extra field, impossible value.
    """
    spec = _by_name.get(str(data.get("type")))
    if spec is None:
        raise MalformedMessageError(f"unknown message type {data.get('type')!r}")
    names = {field.name for field in spec.fields}
    if set(data) - {"type"} != names:
        raise MalformedMessageError(
            f"{spec.name}: has the fields {sorted(names)}, got {sorted(data)}"
        )
    try:
        item = spec.cls(**{f.name: _from_plain(f, data[f.name]) for f in spec.fields})
        encode(item)
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedMessageError(f"{spec.name}: {error}") from error
    return item


def _to_plain(field: FieldSpec, value: Any) -> Any:
    if field.is_tuple:
        return [int(item) for item in value]
    if issubclass(field.type, IntFlag):
        return [member.name for member in field.type if member in value]
    if issubclass(field.type, IntEnum):
        return field.type(value).name
    return value


def _from_plain(field: FieldSpec, value: Any) -> Any:
    if field.is_tuple:
        return tuple(field.from_number(item) for item in value)
    if issubclass(field.type, IntFlag):
        flags = field.type(0)
        for name in value:
            flags |= field.type[name]
        return flags
    if issubclass(field.type, IntEnum):
        return field.type[value]
    return value
