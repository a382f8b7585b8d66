/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "snapshot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *at;
    size_t space;
} writer_t;

static void put(writer_t *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(w->at, w->space, format, arguments);
    va_end(arguments);
    size_t used = written > 0 ? (size_t)written : 0;
    used = used < w->space ? used : w->space - 1;
    w->at += used;
    w->space -= used;
}

static void put_counts(writer_t *w, const char *name, const uint8_t values[4]) {
    put(w, "\"%s\": [%u, %u, %u, %u], ", name, values[0], values[1], values[2], values[3]);
}

static void put_probe(writer_t *w, const board_t *b) {
    probe_t p;
    if (!board_probe(b, &p)) {
        put(w, "\"probe\": null");
        return;
    }
    put(w, "\"probe\": {\"magic\": %u, \"mode\": %u, \"motion\": %u, \"connected\": %u, ", p.magic,
        p.mode, p.motion, p.connected);
    put(w, "\"program\": %u, \"walls_up\": %u, ", p.program, p.walls_up);
    put_counts(w, "counts", p.counts);
    put_counts(w, "targets", p.targets);
    put_counts(w, "lights", p.lights);
    put(w, "\"stackings\": %u, \"rolls\": %u, \"uptime_ms\": %lu, \"events_dropped\": %u, ",
        p.stackings, p.rolls, (unsigned long)p.uptime_ms, p.events_dropped);
    put(w, "\"tick_worst_us\": %u, \"tick_overruns\": %u, \"stack_free_low\": %u, ",
        p.tick_worst_us, p.tick_overruns, p.stack_free_low);
    put(w, "\"executed\": %u, \"log\": [", p.executed);
    unsigned shown = p.executed < PROBE_LOG ? p.executed : PROBE_LOG;
    for (unsigned i = 0; i < shown; i++) {
        const probe_command_t *entry = &p.log[(p.executed - shown + i) % PROBE_LOG];
        put(w, "%s{\"id\": %u, \"token\": %u, \"arguments\": [%u, %u]}", i ? ", " : "", entry->id,
            entry->token, entry->arguments[0], entry->arguments[1]);
    }
    put(w, "]}");
}

/* 18 characters in the order of PINS_MOTORS: + forward, - back, . off. */
static void put_motors(writer_t *w, const board_t *b) {
    char shown[PIN_MOTOR_COUNT + 1];
    bool any = false;
    for (int i = 0; i < PIN_MOTOR_COUNT; i++) {
        bool on = board_motor_on(b, i), back = false;
        if (i >= PIN_MOTOR_HEAD_0 && i <= PIN_MOTOR_HEAD_3) {
            back = b->out.reverse[PIN_DIRECTION_HEAD_REVERSE_0 + i - PIN_MOTOR_HEAD_0];
        } else if (i >= PIN_MOTOR_LIFT_0 && i <= PIN_MOTOR_LIFT_3) {
            back = b->out.reverse[PIN_DIRECTION_LIFT_REVERSE];
        } else if (i == PIN_MOTOR_CENTRE) {
            back = b->out.reverse[PIN_DIRECTION_CENTRE_REVERSE];
        }
        any |= on;
        shown[i] = !on ? '.' : back ? '-' : '+';
    }
    shown[PIN_MOTOR_COUNT] = '\0';
    put(w, "\"motors_on\": %s, \"motors\": \"%s\", ", any ? "true" : "false", shown);
}

void snapshot_write(const board_t *b, double behind, char *out, size_t space) {
    writer_t w = {out, space};
    const safety_t *s = &b->safety;
    put(&w, "{\"powered\": %s, \"time_s\": %.6f, \"behind_s\": %.3f, ",
        b->powered ? "true" : "false", board_seconds(b), behind);
    put(&w, "\"centre\": %.4f, \"lifts\": [", b->machine.centre);
    for (int i = 0; i < SIDES; i++) {
        put(&w, "%s%.4f", i ? ", " : "", b->machine.lift[i]);
    }
    put(&w, "], \"stacks\": [");
    for (int i = 0; i < SIDES; i++) {
        put(&w, "%s%d", i ? ", " : "", b->machine.stacks[i]);
    }
    put(&w, "], ");
    put_counts(&w, "lights", b->chain.lights);
    put(&w, "\"relay\": %s, ", b->out.relay ? "true" : "false");
    put_motors(&w, b);
    if (s->opened_at == NEVER || s->off_at == NEVER) {
        put(&w, "\"e_stop_off_us\": null, ");
    } else {
        put(&w, "\"e_stop_off_us\": %.1f, ",
            (double)(s->off_at - s->opened_at) * 1e6 / (double)b->avr->frequency);
    }
    put(&w, "\"violations\": {\"e_stop\": %u, \"limit\": %u}, ", s->e_stop_violations,
        s->limit_violations);
    put_probe(&w, b);
    put(&w, "}");
}
