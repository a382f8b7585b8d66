"""Recordings: the same bytes from the same input, and everything before a cut."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import Writer

from firmware_protocol.events import LinkChanged, LinkState
from firmware_protocol.messages import Button, ButtonPressed
from firmware_protocol.messages import TableState as FirmwareState
from tablectl.messages import EventView, Health, Questions, SettlementView, TableState
from tablectl.services import recorder as recorder_module
from tablectl.services.bus import Bus, Entry
from tablectl.services.clock import RecordedClock, from_ns, to_ns
from tablectl.services.codec import CameraFrame, CodecError, Decoder, encode, schema_name
from tablectl.services.recorder import Recorder, RecorderError, SessionWriter
from tablectl.services.recording import (
    NotARecordingError,
    Recording,
    RecordingOrderError,
    RecordingVersionError,
    recover,
)
from vision.geometry import Zone
from vision.messages import CameraState, CameraStatus, SeenTile, TableReading

METADATA = {"session": "s1", "rules": "hangzhou", "config_sha256": "00ff"}
T0 = 1_790_000_000.125


def picture(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """A small noisy picture."""
    return np.random.default_rng(seed).integers(0, 256, (24, 32, 3), dtype=np.uint8)


def entries(frames: bool = True) -> list[Entry[object]]:
    """A short session: a reading, a button, events, a settlement."""
    seen = SeenTile(
        probabilities={"3m": 0.98, "2m": 0.02}, x=1.5, y=-20.25, rotation=90.0,
        zone=Zone.RIVER, seat=2,
    )  # fmt: skip
    messages: list[tuple[str, object]] = [
        ("/camera/status", CameraStatus(t=T0, state=CameraState.FINE)),
        ("/vision/reading", TableReading(t=T0 + 0.1, seq=0, tiles=(seen,))),
        ("/table/event", LinkChanged(LinkState.READY, "hello")),
        ("/game/event", EventView(n=0, t=T0, event={"e": "discard", "seat": 2, "tile": "3m"})),
        ("/display/state", TableState(table="t1", hand=1, rules_zh="杭州麻將")),
        ("/display/settlement",
         SettlementView(hand_id="s1-1", hand=1, t=T0, final=True, delta=(3, -1, -1, -1))),
        ("/display/questions", Questions()),
    ]  # fmt: skip
    if frames:
        messages.insert(1, ("/camera", CameraFrame(T0 + 0.05, 7, picture(0))))
        messages.insert(4, ("/camera", CameraFrame(T0 + 0.15, 8, picture(1))))
    return [
        Entry(n, from_ns(to_ns(T0 + n // 2 * 0.1)), channel, message)
        for n, (channel, message) in enumerate(messages)
    ]


def write(path: Path, items: list[Entry[object]], close: bool = True) -> Path:
    """Write a recording, unfinished when not closed."""
    writer = SessionWriter(path, METADATA)
    for entry in items:
        writer.write(entry)
    if close:
        writer.close()
    else:
        writer.abandon()
    return path


def keys(recording: Recording) -> list[tuple[float, int, str]]:
    return [(item.t, item.seq, item.channel) for item in recording]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    items = entries()
    recording = Recording(write(tmp_path / "a.mcap", items))
    read = list(recording.decoded())
    assert recording.cut is None
    assert [(item.t, item.seq, item.channel) for item, _ in read] == [
        (entry.t, entry.seq, entry.channel) for entry in items
    ]
    for (_, message), entry in zip(read, items, strict=True):
        if isinstance(entry.message, CameraFrame):
            assert isinstance(message, CameraFrame)
            assert (message.t, message.seq) == (entry.message.t, entry.message.seq)
            assert message.image.shape == entry.message.image.shape
        else:
            assert message == entry.message
    assert METADATA.items() <= recording.metadata.items()
    assert recording.metadata["tablectl_version"]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write(tmp_path / "a.mcap", entries()).read_bytes()
    assert write(tmp_path / "b.mcap", entries()).read_bytes() == first


def test_other_mcap_programs_read_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", entries())
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == len(entries())
        names = {schema.name for schema in summary.schemas.values()}
        assert {"tablectl.TableState", "vision.TableReading", "foxglove.CompressedImage"} <= names
        assert all(schema.encoding == "jsonschema" for schema in summary.schemas.values())
        assert len(list(reader.iter_messages())) == len(entries())


def small_entries() -> list[Entry[object]]:
    """Three messages of two kinds in a small file."""
    kinds: list[object] = [
        LinkChanged(LinkState.LOST, "unplugged"),
        ButtonPressed(seat=1, button=Button.PUNG, uptime_ms=5),
        LinkChanged(LinkState.READY),
    ]
    return [Entry(n, T0 + n, f"/{type(m).__name__}", m) for n, m in enumerate(kinds)]


def check_every_cut(folder: Path, items: list[Entry[object]]) -> None:
    """Cut a recording after each byte; what was whole before the cut is read, in order."""
    whole = write(folder / "whole.mcap", items).read_bytes()
    unfinished = write(folder / "cut.mcap", items, close=False).read_bytes()
    assert whole.startswith(unfinished)
    expected = keys(Recording(folder / "whole.mcap"))
    path = folder / "part.mcap"
    most = 0
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        if size < 8:
            with pytest.raises(NotARecordingError):
                Recording(path)
            continue
        recording = Recording(path)
        got = keys(recording)
        assert got == expected[: len(got)]
        assert len(got) >= most, "a longer file never has fewer messages"
        most = len(got)
        cut = recording.cut
        assert cut is not None
        assert cut.offset + cut.lost == size
        assert cut.messages == len(got)
        assert "unfinished" in str(cut)
        if size >= len(unfinished):
            assert got == expected, "all messages are flushed before the index is written"
    assert most == len(expected)


def test_cut_at_every_byte_gives_a_growing_prefix(tmp_path: Path) -> None:
    check_every_cut(tmp_path, small_entries())


@pytest.mark.slow
def test_cut_at_every_byte_of_a_longer_recording(tmp_path: Path) -> None:
    check_every_cut(tmp_path, entries())


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished recording."""
    return write(tmp_path_factory.mktemp("intact") / "a.mcap", entries(frames=False))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_breaks_the_reader(data: st.DataObject, intact: Path) -> None:
    content = bytearray(intact.read_bytes())
    expected = keys(Recording(intact))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(8, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    damaged = intact.with_name("b.mcap")
    damaged.write_bytes(bytes(content))
    try:
        got = [item.seq for item in Recording(damaged)]
    except (NotARecordingError, RecordingVersionError):
        return
    assert got == [seq for _, seq, _ in expected][: len(got)]


def test_no_flipped_bit_changes_a_message(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", small_entries())
    expected = [(item.seq, item.data) for item in Recording(path)]
    content = path.read_bytes()
    start = content.index(b"\x28\xb5\x2f\xfd")  # the first compressed chunk
    for place in range(start, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        path.write_bytes(bytes(damaged))
        recording = Recording(path)
        got = [(item.seq, item.data) for item in recording]
        assert got == expected[: len(got)] or recording.cut is not None, f"byte {place}"
        assert set(got) <= set(expected), f"byte {place}"
        assert len(got) == len(expected) or recording.cut is not None, f"byte {place}"


def test_zeros_left_by_a_power_cut_are_a_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", entries(), close=False)
    with path.open("ab") as file:
        file.write(bytes(4096))
    recording = Recording(path)
    assert len(list(recording)) == len(entries())
    assert recording.cut is not None
    assert recording.cut.lost == 4096


def test_a_killed_writer_loses_no_event(tmp_path: Path) -> None:
    path = tmp_path / "killed.mcap"
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.services.test_recording import METADATA, entries\n"
        "from tablectl.services.recorder import SessionWriter\n"
        "writer = SessionWriter(Path(sys.argv[1]), METADATA)\n"
        "for entry in entries():\n"
        "    writer.write(entry)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=Path(__file__).resolve().parents[2],
        check=False,
    )
    assert done.returncode == -9
    recording = Recording(path)
    assert len(list(recording)) == len(entries())
    assert recording.cut is not None


def test_recover_makes_a_finished_file(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mcap", entries())
    cut = write(tmp_path / "cut.mcap", entries(), close=False)
    with cut.open("r+b") as file:
        file.truncate(cut.stat().st_size - 10)
    count, where = recover(cut, tmp_path / "new.mcap")
    assert where is not None
    recovered = Recording(tmp_path / "new.mcap")
    assert keys(recovered) == keys(Recording(whole))[:count]
    assert recovered.cut is None
    assert recovered.metadata == Recording(whole).metadata
    with (tmp_path / "new.mcap").open("rb") as file:
        assert len(list(make_reader(file, validate_crcs=True).iter_messages())) == count
    with pytest.raises(RecorderError, match="exists"):
        recover(cut, whole)


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    for content, said in [(b"", "empty"), (b"hello", "no MCAP"), (b"\x89PNG\r\n\x1a\n", "no MCAP")]:
        path.write_bytes(content)
        with pytest.raises(NotARecordingError, match=said):
            Recording(path)
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        writer.finish()  # type: ignore[no-untyped-call]
    with pytest.raises(NotARecordingError, match="not one of tablectl"):
        Recording(path)


def test_a_newer_recording_names_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "RECORDING_VERSION", 99)
    write(tmp_path / "a.mcap", entries(frames=False))
    with pytest.raises(RecordingVersionError, match=r"version 99.*reads version 1"):
        Recording(tmp_path / "a.mcap")


def test_messages_out_of_order_are_reported(tmp_path: Path) -> None:
    items = entries(frames=False)
    swapped = [items[1], items[0]]
    with pytest.raises(RecordingOrderError, match="message 0"):
        list(Recording(write(tmp_path / "a.mcap", swapped)))


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", entries())
    with pytest.raises(RecorderError, match="exists"):
        SessionWriter(path, METADATA)


@dataclass(frozen=True)
class Odd:
    """A dataclass of nobody's module."""

    a: int


def test_codec_names_what_it_can_not_do() -> None:
    with pytest.raises(CodecError, match="object"):
        encode(object())
    schema, data = encode(Odd(3))
    assert (schema, data) == ("tests.Odd", b'{"a":3}')
    with pytest.raises(CodecError, match=r"tests\.Odd"):
        Decoder().decode(schema, data)
    for schema in (
        "tablectl.Health",
        "firmware_protocol.ButtonPressed",
        "foxglove.CompressedImage",
    ):
        for data in (b"", b"[]", b'{"t": "x", "data": "", "timestamp": 1, "type": "Nothing"}'):
            with pytest.raises(CodecError, match=schema):
                Decoder().decode(schema, data)


def test_schemas_of_both_table_states_differ() -> None:
    assert schema_name(TableState) != schema_name(FirmwareState)


def test_a_wire_message_survives(tmp_path: Path) -> None:
    press = ButtonPressed(seat=2, button=Button.HU, uptime_ms=6)
    path = write(tmp_path / "a.mcap", [Entry(0, 1.0, "/table/event", press)])
    [(_, message)] = Recording(path).decoded()
    assert message == press


@given(st.floats(min_value=0, max_value=4e9))
def test_nanoseconds_round_trip_once_quantised(t: float) -> None:
    once = from_ns(to_ns(t))
    assert abs(once - t) <= 5e-10 + abs(t) * 2**-52
    assert from_ns(to_ns(once)) == once


async def test_recorder_records_the_bus_in_its_own_thread(tmp_path: Path) -> None:
    bus = Bus(RecordedClock(T0))
    recorder = Recorder(bus, tmp_path / "s" / "a.mcap", METADATA, frames_per_second=10.0)
    for n in range(50):
        bus.publish("/camera", CameraFrame(T0 + n * 0.05, n, picture(n)))
        bus.publish("/health", Health(t=float(n)))
    await asyncio.to_thread(recorder.close)
    assert recorder.status.problem == ""
    assert recorder.status.messages == 75
    got = [item.channel for item in Recording(tmp_path / "s" / "a.mcap")]
    assert (got.count("/camera"), got.count("/health")) == (25, 50)


async def test_recorder_without_pictures(tmp_path: Path) -> None:
    bus = Bus(RecordedClock(T0))
    recorder = Recorder(bus, tmp_path / "a.mcap", METADATA, frames=False)
    bus.publish("/camera", CameraFrame(T0, 0, picture(0)))
    bus.publish("/health", Health())
    await asyncio.to_thread(recorder.close)
    assert [item.channel for item in Recording(tmp_path / "a.mcap")] == ["/health"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
async def test_a_failing_disk_ends_the_recording_and_says_so(tmp_path: Path) -> None:
    bus = Bus(RecordedClock(T0))
    said: list[str] = []
    recorder = Recorder(bus, tmp_path / "a.mcap", METADATA, on_problem=said.append)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, recorder._writer._file.fileno())
    os.close(full)
    bus.publish("/health", Health())
    await asyncio.to_thread(recorder.close)
    assert "No space left" in recorder.status.problem
    assert said == [recorder.status.problem]
    bus.publish("/health", Health())
    assert recorder.status.messages == 0
