"""What every table must do on the line itself: frames lost, doubled, out of order, damaged, cut.

Seen through single frames instead of the client, which would mend what is to be shown.
"""

import time
from collections.abc import Iterator

import pytest

from firmware_protocol import messages as m
from firmware_protocol.framing import MAX_STUFFED, Frame, FrameKind, encode_frame
from firmware_protocol.link import MAX_TIMEOUTS, WINDOW
from firmware_protocol.wire import decode, encode

from .conftest import Peer
from .raw_host import SESSION, RawHost, kinds


def lights(token: int) -> m.SetLights:
    """A harmless command whose execution leaves a trace."""
    return m.SetLights(m.SeatMask.ALL, m.LightPattern(token % 4), token=token)


def tokens(peer: Peer) -> list[int]:
    return [command.token for command in peer.snapshot().executed]


@pytest.fixture
def host(peer: Peer) -> Iterator[RawHost]:
    """In a session with a table that has said all it had to say."""
    with RawHost(peer.port) as opened:
        opened.open()
        opened.settle()
        yield opened


def test_a_doubled_frame_runs_once_and_is_acknowledged_again(peer: Peer, host: RawHost) -> None:
    for _ in range(3):
        host.write(host.data(lights(1), 0))
        host.wait(lambda f: f.kind in (FrameKind.ACK, FrameKind.DATA) and f.ack == 1)
    host.settle()
    assert tokens(peer) == [1]
    assert len(host.replies()) == 1


def test_doubled_in_one_piece_runs_once(peer: Peer, host: RawHost) -> None:
    host.write(3 * host.data(lights(1), 0))
    host.settle()
    assert tokens(peer) == [1]


def test_frames_out_of_order_run_in_order_and_one_nak_asks(peer: Peer, host: RawHost) -> None:
    frames = [host.data(lights(token), token) for token in range(4)]
    for seq in (2, 1, 3):
        host.write(frames[seq])
    naks = kinds(host.listen(0.3), FrameKind.NAK)
    assert [nak.ack for nak in naks] == [0], "one nak for one gap"
    assert tokens(peer) == []
    host.write(b"".join(frames))
    host.settle()
    assert tokens(peer) == [0, 1, 2, 3]


def test_a_lost_frame_is_asked_for(peer: Peer, host: RawHost) -> None:
    host.write(host.data(lights(0), 0) + host.data(lights(2), 2))
    nak = host.wait(lambda f: f.kind is FrameKind.NAK)
    assert nak.ack == 1
    host.write(host.data(lights(1), 1) + host.data(lights(2), 2))
    host.settle()
    assert tokens(peer) == [0, 1, 2]


def test_every_damaged_byte_is_seen(peer: Peer, host: RawHost) -> None:
    good = host.data(lights(1), 0)
    for at in range(len(good)):
        for flip in (0x01, 0x80, 0xFF):
            host.write(good[:at] + bytes((good[at] ^ flip,)) + good[at + 1 :])
    host.listen(0.3)
    assert tokens(peer) == []
    host.write(b"\0" + good)
    host.settle()
    assert tokens(peer) == [1]


def test_every_truncation_is_seen(peer: Peer, host: RawHost) -> None:
    good = host.data(lights(1), 0)
    for length in range(1, len(good) - 1):
        host.write(good[:length] + b"\0")
        host.write(good[length:])
    host.listen(0.3)
    assert tokens(peer) == []
    host.write(good)
    host.settle()
    assert tokens(peer) == [1]


def test_a_burst_of_bad_frames_is_answered_by_one_nak(peer: Peer, host: RawHost) -> None:
    for number in range(20):
        host.write(bytes((1 + number, 2, 3, 4, 5, 6, 7, 8, 0)))
    assert len(kinds(host.listen(0.3), FrameKind.NAK)) == 1
    host.beat()
    host.listen(0.1)
    host.write(b"\x09\x09\x09\0")
    assert len(kinds(host.listen(0.3), FrameKind.NAK)) == 1, "a good frame ends the burst"
    host.write(host.data(lights(1), 0))
    host.settle()
    assert tokens(peer) == [1]


def test_an_endless_frame_is_thrown_away(peer: Peer, host: RawHost) -> None:
    host.write(b"\x55" * (MAX_STUFFED * 5) + b"\0")
    host.write(host.data(lights(1), 0))
    host.settle()
    assert tokens(peer) == [1]


def test_a_frame_of_another_session_is_answered_by_rst(peer: Peer, host: RawHost) -> None:
    payload = encode(lights(1))
    host.write(encode_frame(Frame(FrameKind.DATA, SESSION ^ 1, 0, 0, payload)))
    rst = host.wait(lambda f: f.kind is FrameKind.RST)
    assert rst.session == SESSION ^ 1
    host.settle()
    assert tokens(peer) == []
    host.write(host.data(lights(2), 0))
    host.settle()
    assert tokens(peer) == [2], "our own session goes on"


def test_rsts_are_seldom_and_never_answer_an_rst(host: RawHost) -> None:
    strange = Frame(FrameKind.DATA, SESSION ^ 1, 0, 0, encode(lights(1)))
    for _ in range(10):
        host.write(encode_frame(strange))
    assert len(kinds(host.listen(0.05), FrameKind.RST)) <= 1
    host.listen(0.2)
    host.write(encode_frame(Frame(FrameKind.RST, SESSION ^ 1)))
    assert kinds(host.listen(0.2), FrameKind.RST) == []


def test_unacknowledged_frames_are_repeated_until_acknowledged(host: RawHost) -> None:
    host.write(host.data(lights(1), 0))
    first = host.reply()
    again = host.wait(lambda f: f.kind is FrameKind.DATA and f.seq == first.seq)
    assert again.payload == first.payload
    host.acknowledge()
    host.settle()
    assert kinds(host.listen(0.5), FrameKind.DATA) == []


def test_a_nak_brings_the_frame_again_at_once(host: RawHost) -> None:
    host.write(host.data(lights(1), 0))
    first = host.reply()
    host.send(FrameKind.NAK, ack=first.seq)
    host.wait(lambda f: f.kind is FrameKind.DATA and f.seq == first.seq, within=2)
    host.settle()


def test_at_most_a_window_is_under_way(peer: Peer, host: RawHost) -> None:
    for number in range(10):
        peer.press(number % 4, m.Button(number % 6))
    frames = kinds(host.listen(1.0), FrameKind.DATA)
    assert len({frame.seq for frame in frames}) == WINDOW
    host.settle()
    events = {f.seq: decode(f.payload) for f in kinds(host.seen, FrameKind.DATA)}
    pressed = [e for e in events.values() if isinstance(e, m.ButtonPressed)]
    assert [(e.seat, e.button) for e in pressed] == [(n % 4, n % 6) for n in range(10)]


def test_sequence_numbers_go_round(peer: Peer, host: RawHost) -> None:
    for number in range(300):
        host.write(host.data(lights(number), number % 256))
        wanted = (number + 1) % 256
        while host.reply().ack != wanted:
            host.acknowledge()
        host.acknowledge()
    host.settle()
    assert tokens(peer)[-64:] == list(range(300))[-64:]


def test_a_repeated_syn_repeats_only_the_answer(peer: Peer, host: RawHost) -> None:
    host.write(host.data(lights(1), 0))
    host.settle()
    host.send(FrameKind.SYN, encode(m.HostHello(nonce=7)))
    host.wait(lambda f: f.kind is FrameKind.SYN_ACK)
    host.write(host.data(lights(2), 1))
    host.settle()
    assert tokens(peer) == [1, 2]


def test_another_syn_opens_a_new_session_that_begins_anew(peer: Peer, host: RawHost) -> None:
    host.write(host.data(lights(1), 0))
    host.settle()
    host.open(m.HostHello(nonce=8))
    first = host.wait(lambda f: f.kind is FrameKind.DATA)
    assert first.seq == 0
    assert isinstance(decode(first.payload), m.TableState), "nothing is assumed before this"
    host.settle()
    host.write(host.data(lights(2), 0))
    host.settle()
    assert tokens(peer) == [1, 2]


@pytest.mark.parametrize("major", [0, 2, 255])
def test_another_major_version_is_answered_and_gets_no_session(peer: Peer, major: int) -> None:
    with RawHost(peer.port) as host:
        hello = host.open(m.HostHello(protocol_major=major))
        assert not hello.accepted
        assert hello.protocol_major == m.PROTOCOL_MAJOR
        host.write(host.data(lights(1), 0))
        host.wait(lambda f: f.kind is FrameKind.RST)
        assert tokens(peer) == []


def test_a_later_hello_may_be_longer_and_a_cut_one_is_no_hello(peer: Peer) -> None:
    longer = encode(m.HostHello(protocol_minor=9)) + b"fields of the future"
    with RawHost(peer.port) as host:
        for bad in (longer[:18], b"\x02" + longer[1:], longer.replace(b"tablectl", b"toasters")):
            host.send(FrameKind.SYN, bad)
        assert kinds(host.listen(0.3), FrameKind.SYN_ACK) == []
        host.send(FrameKind.SYN, longer)
        answer = decode(host.wait(lambda f: f.kind is FrameKind.SYN_ACK).payload)
        assert isinstance(answer, m.TableHello)
        assert answer.accepted


def test_heartbeats_come_by_themselves(host: RawHost) -> None:
    times: list[float] = []
    while len(times) < 3:
        host.beat()
        frame = host.wait(lambda f: f.kind is FrameKind.DATAGRAM)
        beat = decode(frame.payload)
        if isinstance(beat, m.TableHeartbeat):
            times.append(time.monotonic())
    assert times[2] - times[0] > 0.8, "every half second, not more often"


@pytest.mark.slow
def test_a_long_silence_ends_the_session_and_nothing_is_sent_late(
    peer: Peer, host: RawHost
) -> None:
    host.write(host.data(lights(1), 0))
    reply = host.reply()
    peer.wait_for(lambda table: not table.connected, within=20)
    begin = len(host.seen)
    while kinds(host.listen(3.0), FrameKind.DATA):
        assert len(host.seen) - begin < 100
    repeated = [f for f in kinds(host.seen, FrameKind.DATA) if f.seq == reply.seq]
    assert 2 <= len(repeated) <= MAX_TIMEOUTS
    assert not peer.snapshot().connected
    host.write(host.data(lights(2), 1))
    host.wait(lambda f: f.kind is FrameKind.RST)
    assert tokens(peer) == [1]
    host.open(m.HostHello(nonce=9))
    host.settle()
    assert host.replies(host.seen[-6:]) == [], "what a dead session had to say is gone"
