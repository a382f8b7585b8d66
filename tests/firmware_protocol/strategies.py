"""Hypothesis strategies for every declared message, made from the declarations."""

from enum import IntEnum, IntFlag
from functools import reduce
from operator import or_
from typing import Any

from hypothesis import strategies as st

from firmware_protocol import messages  # noqa: F401 - declares them
from firmware_protocol.wire import FieldSpec, Message, MessageSpec, all_messages

_WIDTHS = {"u8": (0, 0xFF), "u16": (0, 0xFFFF), "u32": (0, 0xFFFFFFFF), "i16": (-0x8000, 0x7FFF)}


def _element(field: FieldSpec) -> st.SearchStrategy[Any]:
    wire = field.wire
    if wire.kind == "bool":
        return st.booleans()
    if wire.kind == "text":
        alphabet = st.characters(min_codepoint=1, max_codepoint=127)
        return st.text(alphabet, max_size=wire.count)
    if issubclass(field.type, IntFlag):
        flags = field.type
        return st.sets(st.sampled_from(list(flags))).map(lambda some: reduce(or_, some, flags(0)))
    if issubclass(field.type, IntEnum):
        return st.sampled_from(list(field.type))
    low, high = _WIDTHS[wire.kind]
    return st.integers(low if wire.low is None else wire.low, wire.high or high)


def _field(field: FieldSpec) -> st.SearchStrategy[Any]:
    element = _element(field)
    return st.tuples(*[element] * field.wire.count) if field.is_tuple else element


def of_spec(spec: MessageSpec) -> st.SearchStrategy[Message]:
    """Any value of one message type."""
    return st.builds(spec.cls, **{field.name: _field(field) for field in spec.fields})


any_message = st.one_of([of_spec(spec) for spec in all_messages()])
