"""COBS, CRC and the frame decoder: published vectors, round trips, garbage."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.errors import MalformedFrameError
from firmware_protocol.framing import (
    MAX_PAYLOAD,
    MAX_STUFFED,
    Frame,
    FrameDecoder,
    FrameKind,
    cobs_decode,
    cobs_encode,
    crc16,
    decode_frame,
    encode_frame,
)

frames = st.builds(
    Frame,
    kind=st.sampled_from(FrameKind),
    session=st.integers(0, 0xFFFF),
    seq=st.integers(0, 255),
    ack=st.integers(0, 255),
    payload=st.binary(max_size=MAX_PAYLOAD),
)


@pytest.mark.parametrize(
    ("plain", "stuffed"),
    [
        # the examples of the Wikipedia article on COBS, after Cheshire and Baker
        ("00", "0101"),
        ("0000", "010101"),
        ("001100", "01021101"),
        ("11220033", "0311220233"),
        ("11223344", "0511223344"),
        ("11000000", "0211010101"),
        (bytes(range(1, 255)).hex(), "ff" + bytes(range(1, 255)).hex()),
        ("00" + bytes(range(1, 255)).hex(), "01ff" + bytes(range(1, 255)).hex()),
        (bytes(range(1, 256)).hex(), "ff" + bytes(range(1, 255)).hex() + "02ff"),
        (bytes(range(2, 256)).hex() + "00", "ff" + bytes(range(2, 256)).hex() + "0101"),
        (bytes(range(3, 256)).hex() + "0001", "fe" + bytes(range(3, 256)).hex() + "0201"),
    ],
)
def test_cobs_gives_the_published_encodings(plain: str, stuffed: str) -> None:
    assert cobs_encode(bytes.fromhex(plain)).hex() == stuffed
    assert cobs_decode(bytes.fromhex(stuffed)).hex() == plain


@given(st.binary(max_size=800))
def test_cobs_round_trip_has_no_zero_and_small_overhead(data: bytes) -> None:
    stuffed = cobs_encode(data)
    assert 0 not in stuffed
    assert len(stuffed) <= len(data) + 1 + len(data) // 254
    assert cobs_decode(stuffed) == data


@pytest.mark.parametrize("bad", ["", "05112233", "00", "0311002233", "02"])
def test_cobs_refuses_what_no_encoder_makes(bad: str) -> None:
    with pytest.raises(MalformedFrameError):
        cobs_decode(bytes.fromhex(bad))


@pytest.mark.parametrize(
    ("data", "crc"), [(b"123456789", 0x29B1), (b"", 0xFFFF), (b"A", 0xB915), (b"\0", 0xE1F0)]
)
def test_crc_is_ccitt_false(data: bytes, crc: int) -> None:
    assert crc16(data) == crc


@given(frames)
def test_frame_round_trip(frame: Frame) -> None:
    data = encode_frame(frame)
    assert data[-1] == 0
    assert 0 not in data[:-1]
    assert len(data) <= MAX_STUFFED + 1
    assert decode_frame(data[:-1]) == frame


@given(frames, st.data())
def test_one_flipped_bit_is_always_seen(frame: Frame, data: st.DataObject) -> None:
    stuffed = bytearray(encode_frame(frame)[:-1])
    at = data.draw(st.integers(0, len(stuffed) * 8 - 1))
    stuffed[at // 8] ^= 1 << at % 8
    items = FrameDecoder().feed(bytes(stuffed) + b"\0")
    assert not any(isinstance(item, Frame) for item in items)


def test_payload_over_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="65 bytes"):
        encode_frame(Frame(FrameKind.DATA, 1, payload=bytes(MAX_PAYLOAD + 1)))


@given(st.lists(frames, max_size=6), st.integers(1, 40))
def test_stream_may_be_cut_anywhere(sent: list[Frame], piece: int) -> None:
    stream = b"".join(map(encode_frame, sent))
    decoder, got = FrameDecoder(), []
    for start in range(0, len(stream), piece):
        got += decoder.feed(stream[start : start + piece])
    assert got == sent


@given(st.lists(st.binary(max_size=600), max_size=30))
def test_garbage_never_grows_the_decoder_or_crashes_it(pieces: list[bytes]) -> None:
    decoder = FrameDecoder()
    for piece in pieces:
        decoder.feed(piece)
        assert decoder.buffered <= MAX_STUFFED


@given(st.binary(max_size=1000), frames)
def test_resynchronises_at_the_next_delimiter(garbage: bytes, frame: Frame) -> None:
    decoder = FrameDecoder()
    decoder.feed(garbage)
    decoder.feed(b"\0")
    assert decoder.feed(encode_frame(frame)) == [frame]


def test_an_endless_run_without_delimiter_is_one_error_and_no_memory() -> None:
    decoder = FrameDecoder()
    for _ in range(1000):
        assert decoder.feed(b"\x55" * 100) == []
        assert decoder.buffered <= MAX_STUFFED
    (error,) = decoder.feed(b"\0")
    assert isinstance(error, MalformedFrameError)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("atheris") is None, reason="no atheris")
def test_ten_million_fuzzed_bytes_find_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.firmware_protocol.fuzz_decoder", "10000000"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    figures = re.search(
        r"(\d+) bytes, (\d+) stretches refused, (\d+) frames, (\d+) messages, "
        r"(\d+) payloads delivered, (\d+) MB",
        done.stdout,
    )
    assert figures, done.stdout
    sent, refused, found, messages, delivered, megabytes = map(int, figures.groups())
    assert sent >= 10_000_000
    assert min(refused, found, messages, delivered) > 1000, "the fuzzer got nowhere"
    assert megabytes < 200
