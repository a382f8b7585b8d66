/* The whole core under a fuzzer: bytes from the line, right and wrong frames, faults, time.
 *
 * An input is a list of steps: a byte that says what, a byte that says how much, and bytes for it.
 * After each input: no motor was unsafe, and no more commands ran than a second, slower decoder
 * finds in the bytes.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define RUN_MS 2000u /* of an input, at most */

static unsigned long long bytes_fed, inputs_run, commands_run, frames_found;

static void tell(void) {
    fprintf(stderr, "fuzz: %llu inputs, %llu bytes into the core, %llu frames, %llu commands\n",
            inputs_run, bytes_fed, frames_found, commands_run);
}

/* --- a second decoder, written for plainness --- */

static unsigned slow_crc(const uint8_t *data, size_t length) {
    unsigned crc = 0xFFFF;
    for (size_t i = 0; i < length * 8; i++) {
        unsigned bit = (data[i / 8] >> (7 - i % 8)) & 1u;
        crc = ((crc << 1) ^ ((bit ^ (crc >> 15)) ? 0x1021u : 0u)) & 0xFFFFu;
    }
    return crc;
}

static bool is_data_frame(const uint8_t *stuffed, size_t length) {
    uint8_t raw[512];
    size_t to = 0;
    for (size_t from = 0; from < length;) {
        size_t code = stuffed[from++];
        for (size_t i = 1; i < code; i++) {
            if (from == length) {
                return false;
            }
            raw[to++] = stuffed[from++];
        }
        if (from < length) {
            raw[to++] = 0;
        }
    }
    if (to < 7 || raw[0] != TC_FRAME_KIND_DATA) {
        return false;
    }
    return slow_crc(raw, to - 2) == (unsigned)(raw[to - 2] | raw[to - 1] << 8);
}

typedef struct {
    uint8_t piece[128];
    size_t length;
    unsigned data_frames;
} watcher_t;

static void watch(watcher_t *watcher, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (data[i] != 0) {
            if (watcher->length < sizeof watcher->piece) {
                watcher->piece[watcher->length] = data[i];
            }
            watcher->length++;
            continue;
        }
        bool whole = watcher->length > 0 && watcher->length <= TC_MAX_STUFFED;
        watcher->data_frames += whole && is_data_frame(watcher->piece, watcher->length);
        watcher->length = 0;
    }
}

/* --- steps --- */

typedef struct {
    world_t *world;
    watcher_t watcher;
    uint32_t wire_ms;
    uint8_t seq;
} run_t;

static void feed(run_t *run, const uint8_t *data, size_t length) {
    uint8_t out[WORLD_OUTPUT];
    bytes_fed += length;
    watch(&run->watcher, data, length);
    world_receive(run->world, data, length, run->wire_ms);
    (void)world_take_output(run->world, out, sizeof out);
}

static void feed_frame(run_t *run, uint8_t kind, uint16_t session, const uint8_t *payload,
                       uint8_t length) {
    uint8_t out[TC_MAX_STUFFED + 1];
    frame_t frame = {kind, session, run->seq, (uint8_t)run->world->table.link.next_seq, payload,
                     length};
    feed(run, out, frame_encode(&frame, out));
}

static void feed_hello(run_t *run, uint8_t major) {
    tc_host_hello_t hello = {TC_HOST_IDENTITY, major, 0, run->wire_ms};
    uint8_t message[TC_SIZE_HOST_HELLO];
    run->seq = 0;
    feed_frame(run, TC_FRAME_KIND_SYN, 7, message, (uint8_t)tc_encode_host_hello(message, &hello));
}

static void pass(run_t *run, uint32_t milliseconds) {
    uint8_t out[WORLD_OUTPUT];
    uint32_t left = RUN_MS - run->wire_ms; /* an input must not take seconds of real time */
    milliseconds = milliseconds < left ? milliseconds : left;
    run->wire_ms += milliseconds;
    world_advance(run->world, run->wire_ms, milliseconds);
    (void)world_take_output(run->world, out, sizeof out);
}

static void trouble(run_t *run, uint8_t which) {
    static const char *const lines[] = {
        "fault head-jam:1:1", "fault lift-blocked:2", "fault lift-dead:1", "fault short-set:3:1",
        "fault too-many-tiles:0:1", "fault sensor-dirty:2", "fault sensor-flickers:1",
        "fault pan-stall", "fault ring-stall:3", "fault centre-blocked", "fault centre-dead",
        "fault limit-top-stuck:0", "fault limit-bottom-closed:1", "fault stack-blind:2",
        "e-stop open", "cover open", "repair", "repair", "restart", "press 2 3", "dice 3 4",
        "add-tiles 1 2", "power off", "power on",
    };
    char reply[128];
    world_control(run->world, lines[which % (sizeof lines / sizeof lines[0])], reply,
                  sizeof reply);
}

/* One step; how many bytes of the input it took. */
static size_t step(run_t *run, const uint8_t *data, size_t size) {
    if (size < 2) {
        return size;
    }
    uint8_t what = data[0], amount = data[1];
    size_t length = amount % (TC_MAX_PAYLOAD + 1u);
    length = length > size - 2 ? size - 2 : length;
    switch (what % 8u) {
    case 0:
        feed(run, data + 2, length);
        return 2 + length;
    case 1: /* the next DATA of the session, with any payload */
        feed_frame(run, TC_FRAME_KIND_DATA, 7, data + 2, (uint8_t)length);
        run->seq++;
        return 2 + length;
    case 2: { /* a command with any argument */
        uint8_t message[5] = {(uint8_t)(TC_MSG_OPEN_CENTRE + amount % 13u), amount, what,
                              size > 2 ? data[2] : 0, size > 3 ? data[3] : 0};
        static const uint8_t sizes[13] = {3, 3, 5, 4, 3, 3, 5, 3, 3, 3, 3, 3, 4};
        feed_frame(run, TC_FRAME_KIND_DATA, 7, message, sizes[amount % 13u]);
        run->seq++;
        return size < 4 ? size : 4;
    }
    case 3:
        pass(run, amount * (1u + (what >> 5)));
        return 2;
    case 4:
        trouble(run, amount);
        return 2;
    case 5:
        feed_hello(run, amount == 0xFF ? amount : TC_PROTOCOL_MAJOR);
        return 2;
    case 6: /* any kind of frame, right in form */
        feed_frame(run, (uint8_t)(amount % 9u), size > 2 ? data[2] % 8u : 7u, data + 2,
                   (uint8_t)length);
        return 2 + length;
    default: { /* a heartbeat, so that long runs keep their host */
        uint8_t beat[TC_SIZE_HOST_HEARTBEAT] = {TC_MSG_HOST_HEARTBEAT};
        feed_frame(run, TC_FRAME_KIND_DATAGRAM, 7, beat, sizeof beat);
        return 1;
    }
    }
}

/* The world after its start, always at the same address, for it points into itself. Starting
 * anew for each input would read the whole EEPROM. */
static world_t *fresh_world(void) {
    static world_t *world, start;
    static probe_t start_probe;
    if (world == NULL) {
        atexit(tell);
        world = world_new(1);
        world_power_on(world, TC_RESET_REASON_POWER_ON);
        start = *world;
        start_probe = tc_probe;
    }
    *world = start;
    tc_probe = start_probe;
    return world;
}

/* Three of four inputs are a line's bytes as they are, after a session was opened. */
static size_t step_of_bytes(run_t *run, const uint8_t *data, size_t size) {
    size_t length = size < 61 ? size : 61;
    feed(run, data, length);
    pass(run, 1);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run_t run = {.world = fresh_world()};
    unsigned commands = 0;
    bool bytes_only = size > 0 && data[0] % 4u != 0u;
    inputs_run++;
    if (bytes_only) {
        feed_hello(&run, TC_PROTOCOL_MAJOR);
    }
    while (size > 0) {
        uint16_t before = tc_probe.executed;
        size_t taken = bytes_only ? step_of_bytes(&run, data, size) : step(&run, data, size);
        data += taken;
        size -= taken;
        if (tc_probe.executed >= before) { /* else it has restarted */
            commands += (unsigned)(tc_probe.executed - before);
        }
    }
    commands_run += commands;
    frames_found += run.watcher.data_frames;
    if (commands > run.watcher.data_frames || world_violations(run.world) != 0) {
        fprintf(stderr, "%u commands of %u frames, %d violations\n", commands,
                run.watcher.data_frames, world_violations(run.world));
        abort();
    }
    return 0;
}
