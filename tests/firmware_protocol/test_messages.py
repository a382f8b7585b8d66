"""Every declared message: bytes, JSON and limits, from the declarations themselves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.errors import MalformedMessageError
from firmware_protocol.events import LinkChanged, LinkState, event_from_json, event_to_json
from firmware_protocol.faults import FAULTS, REASONS
from firmware_protocol.framing import MAX_PAYLOAD
from firmware_protocol.wire import (
    Direction,
    Message,
    MessageSpec,
    all_messages,
    decode,
    encode,
    from_json,
    spec_of,
    to_json,
)

from .strategies import any_message, of_spec


@pytest.mark.parametrize("spec", all_messages(), ids=lambda spec: spec.name)
def test_every_message_round_trips_through_bytes_and_json(spec: MessageSpec) -> None:
    @given(of_spec(spec))
    def check(item: Message) -> None:
        payload = encode(item)
        assert len(payload) == spec.size <= MAX_PAYLOAD
        assert decode(payload) == item
        assert from_json(json.loads(json.dumps(to_json(item)))) == item

    check()


def test_golden_bytes_fix_the_wire() -> None:
    """These bytes may only change together with PROTOCOL_MAJOR."""
    assert m.PROTOCOL_MAJOR == 1
    build = m.BuildWalls(m.TileProgram.TILES_136, dealer=2, token=0x1234)
    assert encode(build).hex() == "1234128802"
    assert encode(m.HostHello()).hex() == "01" + b"tablectl-host\0\0\0".hex() + "010000000000"
    assert encode(m.ButtonPressed(3, m.Button.HU, 0x01020304)).hex() == "45030004030201"
    fault = m.FaultRaised(
        m.FaultCode.SHORT_SET, m.Side.SIDE_1, m.FaultCause.NO_TILES, False, 0, (0, 2, 0, 1)
    )
    assert encode(fault).hex() == "4604010400000002000100"


def test_the_hello_prefix_is_read_of_any_version() -> None:
    later = encode(m.HostHello(protocol_major=9, protocol_minor=7)) + b"fields of the future"
    assert m.hello_prefix(later) == (1, "tablectl-host", 9, 7)
    for bad in (b"", later[:18], b"\x02" + b"\xff" * 18):
        with pytest.raises(MalformedMessageError):
            m.hello_prefix(bad)


def test_directions_are_kept_apart() -> None:
    for spec in all_messages():
        if issubclass(spec.cls, m.Command):
            assert spec.direction is Direction.HOST_TO_TABLE
            assert spec.fields[0].name == "token"
    assert spec_of(m.ButtonPressed).direction is Direction.TABLE_TO_HOST


@given(st.binary(max_size=MAX_PAYLOAD + 5))
def test_any_bytes_are_a_message_or_a_named_error(payload: bytes) -> None:
    try:
        item = decode(payload)
    except MalformedMessageError:
        return
    assert len(encode(item)) == len(payload)


@given(any_message, st.data())
def test_cut_and_lengthened_payloads_are_refused(item: Message, data: st.DataObject) -> None:
    payload = encode(item)
    cut = data.draw(st.integers(0, len(payload) - 1))
    with pytest.raises(MalformedMessageError):
        decode(payload[:cut])
    with pytest.raises(MalformedMessageError):
        decode(payload + b"\0")
    assert decode(payload + b"later", allow_longer=True) == item


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "00",
        "ff0000",
        "4504000000000000",
        "45040000000000",  # seat 4
        "45000600000000",  # button 6
        "440700",  # a die of 7
        "440001",  # a die of 0
        "1200003700",  # 55 tiles
        "13000002",  # a boolean of 2
    ],
)
def test_impossible_values_are_refused(bad: str) -> None:
    with pytest.raises(MalformedMessageError):
        decode(bytes.fromhex(bad))


def test_a_fault_of_a_later_firmware_is_still_a_fault() -> None:
    item = decode(bytes.fromhex("46c8ffc9010000000000") + b"\0")
    assert isinstance(item, m.FaultRaised)
    assert item.code is m.FaultCode.UNKNOWN
    assert item.cause is m.FaultCause.UNKNOWN


def test_values_that_do_not_fit_are_refused_when_encoding() -> None:
    with pytest.raises(ValueError, match="seat"):
        encode(m.ButtonPressed(4, m.Button.HU, 0))
    with pytest.raises(ValueError, match="uptime_ms"):
        encode(m.HostHeartbeat(1 << 32))
    with pytest.raises(ValueError, match="identity"):
        encode(m.HostHello(identity="x" * 17))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"type": "Nothing"},
        {"type": "DiceRolled", "first": 1},
        {"type": "DiceRolled", "first": 1, "second": 9},
        {"type": "DiceRolled", "first": 1, "second": 2, "third": 3},
        {"type": "FaultCleared", "code": "NO_SUCH"},
        {"type": "LinkChanged", "state": "up"},
    ],
)
def test_bad_json_is_a_named_error(data: dict[str, object]) -> None:
    with pytest.raises(MalformedMessageError):
        event_from_json(data)


def test_link_changes_are_recorded_like_messages() -> None:
    event = LinkChanged(LinkState.LOST, "cable")
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event
    dice = m.DiceRolled(3, 4)
    assert event_from_json(event_to_json(dice)) == dice


def test_every_fault_and_reason_has_words() -> None:
    assert set(FAULTS) == set(m.FaultCode)
    assert set(REASONS) == set(m.Reason)


@pytest.mark.parametrize(
    ("program", "dealer", "stacks"),
    [
        (m.TileProgram.TILES_144, 3, (18, 18, 18, 18)),
        (m.TileProgram.TILES_136, 0, (17, 17, 17, 17)),
        (m.TileProgram.TILES_108, 0, (14, 13, 14, 13)),
        (m.TileProgram.TILES_108, 1, (13, 14, 13, 14)),
        (m.TileProgram.TILES_96, 0, (16, 16, 16, 0)),
        (m.TileProgram.TILES_96, 2, (16, 0, 16, 16)),
        (m.TileProgram.TILES_84, 3, (14, 14, 0, 14)),
    ],
)
def test_stacks_are_counted_from_the_dealer(
    program: m.TileProgram, dealer: int, stacks: tuple[int, ...]
) -> None:
    assert m.stacks_per_side(program, dealer) == stacks
    assert 2 * sum(stacks) == program
