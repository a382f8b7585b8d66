"""Reads recordings, finished or cut, one message after the other with bounded memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Final

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    Footer,
    Header,
    Message,
    Metadata,
    Schema,
    Statistics,
)
from mcap.writer import MCAP0_MAGIC

from tablectl.services.clock import from_ns
from tablectl.services.codec import CAMERA_CHANNEL, CameraFrame, Decoder, decode_frame
from tablectl.services.recorder import PROFILE, RECORDING_VERSION, SessionWriter

RECORD_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of the largest record that is believed; larger lengths are damage."""
_OPCODES: Final = frozenset(Opcode)
"""Others are damage: we write these files, and a skipped chunk would be silently wrong."""
_PREFIX: Final = struct.Struct("<BQ")
_FOOTER_BYTES: Final = 20
_CRC_BYTES: Final = 4
_UNREADABLE: Final = (
    McapError, struct.error, zstandard.ZstdError, UnicodeDecodeError, ValueError, OverflowError,
)  # fmt: skip


class RecordingError(Exception):
    """A recording can't be read; the message names the file and says why."""


class NotARecordingError(RecordingError):
    """The file is no MCAP file, or was not written by tablectl."""


class RecordingVersionError(RecordingError):
    """The file was written by a version of tablectl that this one doesn't understand."""


class RecordingOrderError(RecordingError):
    """Messages are not in the order of (time, sequence); another program rewrote the file."""


@dataclass(frozen=True)
class Recorded:
    """One message of a recording.

    Attributes:
        t: time stamp, seconds.
        seq: sequence number on the bus.
        channel: where it was published.
        schema: name of its schema.
        data: its JSON.
        ns: the time stamp in nanoseconds, as stored.
    """

    t: float
    seq: int
    channel: str
    schema: str
    data: bytes
    ns: int


@dataclass(frozen=True)
class Cut:
    """Where an unfinished or damaged recording ends.

    Attributes:
        offset: bytes that could be read.
        lost: bytes after them.
        reason: what is wrong there.
        messages: messages before the cut, in all channels.
        last_t: time of the last of them; None without any.
    """

    offset: int
    lost: int
    reason: str
    messages: int
    last_t: float | None

    def __str__(self) -> str:
        return (
            f"the recording is unfinished: {self.reason} at byte {self.offset}; "
            f"{self.messages} messages before it are intact, {self.lost} bytes after it are not"
        )


class _DamageError(Exception):
    """The file can't be read from here on."""


class Recording:
    """A recording on disk.

    Iterating reads it from the start each time; afterwards :attr:`cut` tells whether it was
    finished.

    Args:
        path: the file.

    Raises:
        NotARecordingError: no MCAP file, or not one of ours.
        RecordingVersionError: of another version.
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut: Cut | None = None
        self.metadata = self._read_header()

    def __iter__(self) -> Iterator[Recorded]:
        return self.messages()

    def messages(self, channels: Collection[str] | None = None) -> Iterator[Recorded]:
        """Messages in order of (time, sequence), lazily.

        Args:
            channels: only these; all when None. The cut counts all of them. Of a finished file
                only the chunks that hold any of these are read, so pictures cost nothing.

        Raises:
            RecordingOrderError: they are not in order.
        """
        scan = _Scan(self.path)
        self.cut = None
        with self.path.open("rb") as file:
            yield from scan.messages(file, channels)
        self.cut = scan.cut

    def frames(self) -> Iterator[tuple[float, CameraFrame]]:
        """Pictures with the time stamps at which they were published."""
        for item in self.messages((CAMERA_CHANNEL,)):
            yield item.t, decode_frame(item.data)

    def decoded(
        self, decoder: Decoder | None = None, channels: Collection[str] | None = None
    ) -> Iterator[tuple[Recorded, object]]:
        """Messages with what they mean.

        Raises:
            CodecError: a message of an unknown kind or form.
        """
        decoder = decoder or Decoder()
        for item in self.messages(channels):
            yield item, decoder.decode(item.schema, item.data)

    def _read_header(self) -> dict[str, str]:
        with self.path.open("rb") as file:
            start = file.read(len(MCAP0_MAGIC))
            if start != MCAP0_MAGIC:
                what = "is empty" if not start else "is not a recording (no MCAP file)"
                raise NotARecordingError(f"{self.path} {what}")
            metadata: dict[str, str] | None = None
            foreign = False
            try:
                for opcode, content in _records(file):
                    if opcode == Opcode.HEADER:
                        foreign = Header.read(_stream(content)).profile != PROFILE
                    elif opcode == Opcode.METADATA:
                        metadata = Metadata.read(_stream(content)).metadata
                        break
                    else:
                        break
            except (_DamageError, *_UNREADABLE):
                # Cut before anything was recorded; iterating says where.
                pass
        if foreign:
            raise NotARecordingError(f"{self.path} is an MCAP file, but not one of tablectl")
        return self._checked(metadata or {})

    def _checked(self, metadata: dict[str, str]) -> dict[str, str]:
        version = metadata.get("recording_version", str(RECORDING_VERSION))
        if version != str(RECORDING_VERSION):
            wrote = metadata.get("tablectl_version", "an unknown version")
            raise RecordingVersionError(
                f"{self.path} is a recording of version {version}, written by tablectl {wrote}; "
                f"this tablectl reads version {RECORDING_VERSION}"
            )
        return metadata


class _Scan:
    """One pass over a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._count = 0
        self._last: tuple[int, int] | None = None
        self.cut: Cut | None = None

    def messages(self, file: IO[bytes], channels: Collection[str] | None) -> Iterator[Recorded]:
        """Messages of some channels, or of all; :attr:`cut` is known at the end."""
        index = None if channels is None else _read_index(file, self._path.stat().st_size)
        if index is None or channels is None:
            yield from self._all(file, channels)
            return
        self._schemas, self._channels = index.schemas, index.channels
        try:
            for chunk in index.chunks_with(channels):
                file.seek(chunk.chunk_start_offset)
                opcode, content = next(_records(file), (0, b""))
                if opcode != Opcode.CHUNK:
                    raise _DamageError(f"a {_name(opcode)} where the index has a chunk")
                yield from (item for item in self._chunk(content) if item.channel in channels)
        except (_DamageError, *_UNREADABLE):
            # The index knows nothing of damage: read everything to say where it is.
            whole = _Scan(self._path)
            for _ in whole._all(file, None):
                pass
            self.cut = whole.cut

    def _all(self, file: IO[bytes], channels: Collection[str] | None) -> Iterator[Recorded]:
        size = self._path.stat().st_size
        file.seek(len(MCAP0_MAGIC))
        offset = len(MCAP0_MAGIC)
        finished = False
        reason = "the index at its end is missing"
        try:
            for opcode, content in _records(file):
                if opcode == Opcode.CHUNK:
                    for item in self._chunk(content):
                        if channels is None or item.channel in channels:
                            yield item
                elif opcode == Opcode.STATISTICS:
                    self._check_count(Statistics.read(_stream(content)))
                offset = file.tell()
                if opcode == Opcode.FOOTER:
                    finished = file.read(len(MCAP0_MAGIC)) == MCAP0_MAGIC
                    break
        except _DamageError as error:
            reason = str(error)
        except _UNREADABLE as error:
            reason = f"unreadable data ({error})"
        if not finished:
            last_t = None if self._last is None else from_ns(self._last[0])
            self.cut = Cut(offset, size - offset, reason, self._count, last_t)

    def _chunk(self, content: bytes) -> list[Recorded]:
        """All messages of a chunk: a chunk is whole or it is not used at all."""
        chunk = Chunk.read(_stream(content))
        items: list[Recorded] = []
        for opcode, record in _records(BytesIO(_unpack(chunk))):
            if opcode == Opcode.SCHEMA:
                schema = Schema.read(_stream(record))
                self._schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                channel = Channel.read(_stream(record))
                self._channels[channel.id] = channel
            elif opcode == Opcode.MESSAGE:
                items.append(self._message(Message.read(_stream(record), len(record))))
        self._check_order(items)
        self._count += len(items)
        return items

    def _message(self, message: Message) -> Recorded:
        channel = self._channels.get(message.channel_id)
        if channel is None:
            raise _DamageError(f"a message of the unknown channel {message.channel_id}")
        schema = self._schemas.get(channel.schema_id)
        return Recorded(
            from_ns(message.log_time),
            message.sequence,
            channel.topic,
            schema.name if schema else "",
            message.data,
            message.log_time,
        )

    def _check_count(self, statistics: Statistics) -> None:
        """Damage can make a chunk look like another record; the index knows how many there were."""
        missing = statistics.message_count - self._count
        if missing:
            raise _DamageError(f"damaged: {missing} of {statistics.message_count} messages missing")

    def _check_order(self, items: list[Recorded]) -> None:
        for item in items:
            key = (item.ns, item.seq)
            if self._last is not None and key <= self._last:
                raise RecordingOrderError(
                    f"{self._path}: message {item.seq} at {item.t} s comes after message "
                    f"{self._last[1]} at {from_ns(self._last[0])} s; sort the file by log time"
                )
            self._last = key

    @property
    def schemas(self) -> dict[str, bytes]:
        """JSON schemas seen so far, by name."""
        return {schema.name: schema.data for schema in self._schemas.values()}


@dataclass
class _Index:
    """What the end of a finished file says about its content."""

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkIndex] = field(default_factory=list)

    def chunks_with(self, channels: Collection[str]) -> list[ChunkIndex]:
        """Chunks that hold messages of some channels, in the order of the file."""
        wanted = {id_ for id_, channel in self.channels.items() if channel.topic in channels}
        found = [c for c in self.chunks if not wanted.isdisjoint(c.message_index_offsets)]
        return sorted(found, key=lambda chunk: chunk.chunk_start_offset)


def _read_index(file: IO[bytes], size: int) -> _Index | None:
    """The index at the end; None where there is none, or its checksum is wrong."""
    tail = _PREFIX.size + _FOOTER_BYTES + len(MCAP0_MAGIC)
    if size < tail + len(MCAP0_MAGIC):
        return None
    file.seek(size - tail)
    try:
        opcode, content = next(_records(file))
        if opcode != Opcode.FOOTER or file.read() != MCAP0_MAGIC:
            return None
        footer = Footer.read(_stream(content))
        if not 0 < footer.summary_start < size - tail:
            return None
        file.seek(footer.summary_start)
        summary = file.read(size - len(MCAP0_MAGIC) - footer.summary_start)
        if zlib.crc32(summary[:-_CRC_BYTES]) != footer.summary_crc:
            return None
        return _parse_index(summary)
    except (_DamageError, StopIteration, *_UNREADABLE):
        return None


def _parse_index(summary: bytes) -> _Index:
    index = _Index()
    for opcode, content in _records(BytesIO(summary)):
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(_stream(content))
            index.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(_stream(content))
            index.channels[channel.id] = channel
        elif opcode == Opcode.CHUNK_INDEX:
            index.chunks.append(ChunkIndex.read(_stream(content)))
    return index


def _records(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Opcode and content of whole records, to the end of the data.

    Raises:
        _DamageError: the data end within a record, or a length can't be true.
    """
    while prefix := file.read(_PREFIX.size):
        if len(prefix) < _PREFIX.size:
            raise _DamageError("cut within a record's head")
        opcode, length = _PREFIX.unpack(prefix)
        if length > RECORD_LIMIT or opcode not in _OPCODES:
            raise _DamageError(f"damaged: a {_name(opcode)} of {length} bytes")
        content = file.read(length)
        if len(content) < length:
            raise _DamageError(f"cut within a {_name(opcode)}")
        yield opcode, content


def _name(opcode: int) -> str:
    try:
        return Opcode(opcode).name.lower().replace("_", " ")
    except ValueError:
        return f"record of kind {opcode}"


def _unpack(chunk: Chunk) -> bytes:
    if chunk.uncompressed_size > RECORD_LIMIT:
        raise _DamageError(f"damaged: a chunk of {chunk.uncompressed_size} bytes")
    if chunk.compression == "zstd":
        data = zstandard.decompress(chunk.data, chunk.uncompressed_size)
    elif chunk.compression == "":
        data = chunk.data
    else:
        raise _DamageError(f"a chunk compressed by {chunk.compression!r}, which we don't use")
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        raise _DamageError("damaged: a chunk's checksum is wrong")
    return data


def _stream(content: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(content))


def recover(
    source: Path, target: Path, progress: Callable[[int], None] | None = None
) -> tuple[int, Cut | None]:
    """Copy what is intact in a recording to a finished one.

    Args:
        source: any recording.
        target: new file.
        progress: called with the number of messages copied so far.

    Returns:
        Number of messages, and where the source was cut; None when it was complete.

    Raises:
        RecordingError: the source is no recording.
        RecorderError: the target exists or can't be written.
    """
    recording = Recording(source)
    writer = SessionWriter(target, recording.metadata)
    scan = _Scan(source)
    count = 0
    try:
        with source.open("rb") as file:
            for item in scan.messages(file, None):
                schema_data = scan.schemas.get(item.schema, b"{}")
                writer.write_raw(
                    item.ns,
                    item.seq,
                    item.channel,
                    schema=item.schema,
                    data=item.data,
                    schema_data=schema_data,
                )
                count += 1
                if progress is not None:
                    progress(count)
    finally:
        writer.close()
    return count, scan.cut
