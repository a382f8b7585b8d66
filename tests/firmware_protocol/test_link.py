"""The reliable link: once, in order, whatever the cable does; or it ends and says so."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol.errors import LinkBusyError
from firmware_protocol.framing import Frame, FrameDecoder, FrameKind, encode_frame
from firmware_protocol.link import (
    MAX_TIMEOUT,
    MIN_TIMEOUT,
    QUEUE_LIMIT,
    WINDOW,
    Delivered,
    Link,
    Phase,
    RoundTrip,
)
from firmware_protocol.noise import Noise

from .virtual import LinkPair

CABLES = {
    "quiet": Noise(),
    "drops": Noise(drop=0.01),
    "flips": Noise(corrupt=0.01),
    "doubles": Noise(duplicate=0.01),
    "swaps": Noise(swap=0.01),
    "inserts": Noise(insert=0.01),
    "slow": Noise(delay=0.1, jitter=0.1),
    "all": Noise(0.003, 0.003, 0.003, 0.003, 0.003, delay=0.02, jitter=0.02),
}


def send_all(pair: LinkPair, count: int) -> tuple[list[bytes], list[bytes]]:
    """Send numbered messages both ways as fast as the queues take them; return what was sent."""
    down = [b"d%05d" % number for number in range(count)]
    up = [b"u%05d" % number for number in range(count)]
    to_send = [(pair.host, list(down)), (pair.table, list(up))]
    while any(rest for _, rest in to_send) or not (pair.host.idle and pair.table.idle):
        for link, rest in to_send:
            while rest and link.queued < 8:
                link.send(rest.pop(0), pair.now)
        pair.step()
        assert not pair.ended
    return down, up


@pytest.mark.parametrize("name", CABLES)
@pytest.mark.parametrize("seed", range(3))
def test_everything_arrives_once_and_in_order(name: str, seed: int) -> None:
    pair = LinkPair(CABLES[name], seed=seed * 10).open()
    down, up = send_all(pair, 300)
    assert pair.table_got == down
    assert pair.host_got == up
    damage = pair.to_table.damaged + pair.to_host.damaged
    if name not in ("quiet", "slow"):
        assert damage > 10
        assert pair.host.counters.bad_frames + pair.table.counters.bad_frames > 0
    if name == "quiet":
        assert pair.host.counters.retransmissions == 0
        assert pair.host.counters.naks_sent == 0


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0, 0.01), st.floats(0, 0.01), st.floats(0, 0.01))
def test_never_a_wrong_or_double_delivery(
    seed: int, drop: float, corrupt: float, double: float
) -> None:
    """However bad the line: what is delivered is a prefix of what was sent."""
    pair = LinkPair(Noise(drop, corrupt, double, swap=0.002, insert=0.002), seed=seed)
    pair.host.open(9, b"hello", 0.0)
    sent: list[bytes] = []
    for number in range(60):
        pair.run(0.02)
        if pair.host.phase is Phase.OPEN and pair.host.queued < 8:
            sent.append(b"%05d" % number)
            pair.host.send(sent[-1], pair.now)
    pair.run(2)
    assert pair.table_got == sent[: len(pair.table_got)]


@pytest.mark.parametrize("seed", range(5))
def test_lost_truncated_doubled_and_reordered_frames(seed: int) -> None:
    chance = random.Random(seed)
    pair = LinkPair().open()
    sent = [b"%05d" % number for number in range(100)]
    waiting, held = list(sent), [bytearray(), bytearray()]
    while waiting or not pair.host.idle:
        pair.now += 0.01
        if waiting and pair.host.queued < 8:
            pair.host.send(waiting.pop(0), pair.now)
        for index, (source, sink) in enumerate([(pair.host, pair.table), (pair.table, pair.host)]):
            frames = (bytes(held[index]) + source.take_output()).split(b"\0")[:-1]
            held[index].clear()
            chance.shuffle(frames)
            for frame in frames:
                luck = chance.random()
                if luck < 0.1:
                    continue
                if luck > 0.9:
                    sink.receive(frame[: len(frame) // 2], pair.now)  # truncated
                    continue
                if luck < 0.2:
                    held[index] += frame + b"\0"
                    continue
                for _ in range(2 if luck < 0.3 else 1):
                    events = sink.receive(frame + b"\0", pair.now)
                    if sink is pair.table:
                        got = [e.payload for e in events if isinstance(e, Delivered)]
                        pair.table_got += got
            assert not source.poll(pair.now)
        assert pair.now < 200
    assert pair.table_got == sent
    assert pair.table.counters.duplicates > 0
    assert pair.table.counters.out_of_order > 0


@pytest.mark.parametrize("seed", range(20))
def test_a_burst_of_garbage_gives_at_most_one_nak(seed: int) -> None:
    pair = LinkPair().open()
    garbage = random.Random(seed).randbytes(100)
    naks = 0
    for byte in garbage:
        pair.table.receive(bytes((byte,)), pair.now)
        items = FrameDecoder().feed(pair.table.take_output())
        naks += sum(isinstance(item, Frame) and item.kind is FrameKind.NAK for item in items)
    assert naks <= 1
    assert pair.table.counters.naks_sent == naks
    pair.table.receive(b"\0", pair.now)
    pair.host.send(b"after", pair.now)
    pair.run(1)
    assert pair.table_got == [b"after"]


def test_every_burst_gets_its_own_nak_and_the_repeat_comes_before_the_time_out() -> None:
    pair = LinkPair(Noise(delay=0.01)).open()
    send_all(pair, 20)
    for burst in range(3):
        before = pair.host.counters.timeouts
        pair.host.send(b"x", pair.now)
        damaged = bytearray(pair.host.take_output())
        damaged[3] ^= 0x10
        pair.table.receive(bytes(damaged), pair.now)
        pair.run(0.5)
        assert pair.table_got[-1] == b"x"
        assert pair.host.counters.timeouts == before
        assert pair.table.counters.naks_sent == burst + 1


def test_a_gap_is_nacked_once_though_three_frames_show_it() -> None:
    pair = LinkPair().open()
    for number in range(WINDOW):
        pair.host.send(b"%d" % number, pair.now)
    frames = pair.host.take_output().split(b"\0")[:-1]
    for frame in frames[1:]:
        pair.table.receive(frame + b"\0", pair.now)
    assert pair.table.counters.naks_sent == 1
    pair.run(1)
    assert pair.table_got == [b"0", b"1", b"2", b"3"]


def test_a_repeated_syn_does_not_restart_the_session() -> None:
    pair = LinkPair().open(session=5)
    pair.host.send(b"one", pair.now)
    pair.run(0.1)
    pair.table.receive(encode_frame(Frame(FrameKind.SYN, 5, payload=b"hello")), pair.now)
    pair.table.accept(5, b"welcome", again=True)
    pair.host.send(b"two", pair.now)
    pair.run(0.1)
    assert pair.table_got == [b"one", b"two"]
    assert pair.table.counters.sessions == 1


def test_frames_of_an_old_session_are_answered_by_rst_and_never_delivered() -> None:
    pair = LinkPair().open(session=5)
    pair.host.send(b"stale", pair.now)
    stale = pair.host.take_output()
    pair.host.open(6, b"hello", pair.now)
    pair.run_until(lambda: pair.host.phase is Phase.OPEN, 5)
    for _ in range(50):
        pair.table.receive(stale, pair.now)
    assert pair.table.counters.resets_sent == 1
    pair.run(0.2)
    assert pair.table_got == []
    assert pair.host.phase is Phase.OPEN, "an RST for another session must not end this one"


def test_a_table_that_forgot_the_session_makes_the_host_notice_at_once() -> None:
    pair = LinkPair().open()
    pair.table.close()
    pair.host.send_datagram(b"beat")
    pair.run(0.05)
    assert pair.ended == ["the other side does not know the session (restarted?)"]


def test_a_dead_line_ends_the_session_and_says_so() -> None:
    pair = LinkPair().open()
    pair.to_table.cut = True
    pair.host.send(b"x", pair.now)
    pair.run(10)
    assert len(pair.ended) == 1
    assert "no acknowledgement" in pair.ended[0]
    assert pair.host.phase is Phase.CLOSED


def test_a_one_second_cut_is_survived() -> None:
    pair = LinkPair().open()
    send_all(pair, 10)
    pair.to_table.cut = pair.to_host.cut = True
    pair.host.send(b"during", pair.now)
    pair.run(1)
    pair.to_table.cut = pair.to_host.cut = False
    start = pair.now
    pair.run_until(lambda: pair.table_got[-1] == b"during", 2)
    assert pair.now - start <= MAX_TIMEOUT + 0.1
    assert not pair.ended


def test_a_heartbeat_ends_the_doubled_time_out() -> None:
    pair = LinkPair().open()
    send_all(pair, 10)
    pair.to_table.cut = pair.to_host.cut = True
    pair.host.send(b"during", pair.now)
    pair.run(0.9)
    pair.to_table.cut = pair.to_host.cut = False
    pair.table.send_datagram(b"beat")
    pair.run(0.05)
    assert pair.table_got[-1] == b"during"
    pair.run(0.1)
    assert pair.host.idle


def test_the_queue_is_bounded() -> None:
    pair = LinkPair().open()
    pair.to_table.cut = True
    for _ in range(WINDOW + QUEUE_LIMIT):
        pair.host.send(b"x", pair.now)
    with pytest.raises(LinkBusyError):
        pair.host.send(b"x", pair.now)
    assert pair.host.drop_queued(ord("x")) == QUEUE_LIMIT
    pair.host.send(b"y", pair.now)


def test_output_of_a_flooded_link_is_bounded() -> None:
    """An attacker or a broken board sends frames of unknown sessions: answers stay rare."""
    link = Link()
    stranger = encode_frame(Frame(FrameKind.DATA, 99, payload=b"?"))
    for number in range(1000):
        link.receive(stranger, now=number / 10_000)
    assert len(link.take_output()) < 50


def test_time_out_follows_the_round_trip_within_its_limits() -> None:
    trip = RoundTrip()
    for _ in range(50):
        trip.measured(0.2)
    assert 0.2 <= trip.timeout < 0.3
    for _ in range(50):
        trip.measured(0.0001)
    assert trip.timeout == MIN_TIMEOUT
    for _ in range(20):
        trip.backed_off()
    assert trip.timeout == MAX_TIMEOUT


def test_a_slow_line_is_not_flooded_with_retransmissions() -> None:
    pair = LinkPair(Noise(delay=0.2)).open()
    send_all(pair, 100)
    assert pair.host.counters.retransmissions <= 2 * WINDOW
    assert pair.host.round_trip.smoothed == pytest.approx(0.4, abs=0.05)
