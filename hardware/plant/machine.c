/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "machine.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CENTRE_TRAVEL 2.0
#define LIFT_TRAVEL 3.0
#define HEAD_CYCLE 1.2
#define TILE_INTERVAL 1.6 /* mean time between tiles at a head: 36 take just under a minute */
#define IN_PULSE 0.2
#define STACK_PULSE 0.1
#define FLICKER 0.03
#define CHANNEL_LIMIT 6
#define CHANNEL_COVERED 3 /* so many waiting tiles reach back to the photo sensor */
#define RUN_CURRENT 0.8
#define STALL_CURRENT 4.0
#define SWITCH_REACH 0.02 /* a limit switch closes a little before the end of the travel */
#define HOME_BEGIN 0.90   /* the cam's rest, as a part of its turn */
#define HOME_END 0.05
#define JAM_PHASE 0.4
#define CENTRE_OBSTRUCTED 0.5
#define NEVER_FREED 99
#define DRIVEN 0.05 /* below this duty a motor does not turn */

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Uniform in 0 to 1 (splitmix64). */
static double uniform(machine_t *m) {
    uint64_t z = (m->random += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

void machine_init(machine_t *m, uint64_t seed) {
    memset(m, 0, sizeof *m);
    m->random = seed;
    for (int s = 0; s < SIDES; s++) {
        m->next_tile[s] = TILE_INTERVAL;
    }
}

void machine_load_pan(machine_t *m, const int tiles[SIDES]) {
    for (int s = 0; s < SIDES; s++) {
        int given = tiles[s] - m->defects.missing[s] + m->defects.surplus[s];
        m->supply[s] = given > 0 ? given : 0;
        m->channel[s] = 0;
    }
}

void machine_repair(machine_t *m) {
    memset(&m->defects, 0, sizeof m->defects);
    m->e_stop_open = m->cover_open = false;
}

/* A motor's speed after `dt`; one that is held stands. */
static double follow(const machine_t *m, double speed, double drive, bool held, double dt) {
    if (held) {
        return 0;
    }
    return speed + (drive - speed) * dt / (m->inertia + dt);
}

static bool obstructed(const machine_t *m) {
    return m->defects.centre_blocked && m->centre <= CENTRE_OBSTRUCTED;
}

static void step_centre(machine_t *m, double dt) {
    bool held = m->drive.centre < 0 && obstructed(m);
    m->speed.centre = follow(m, m->speed.centre, m->drive.centre, held, dt);
    if (!m->defects.centre_dead) { /* else its motor turns, and the panel does not */
        m->centre = clamp(m->centre + m->speed.centre * dt / CENTRE_TRAVEL);
    }
}

static void step_lift(machine_t *m, int s, double dt) {
    bool held = m->defects.lift_blocked[s];
    m->speed.lift[s] = follow(m, m->speed.lift[s], m->drive.lift[s], held, dt);
    if (!m->defects.lift_dead[s]) {
        m->lift[s] = clamp(m->lift[s] + m->speed.lift[s] * dt / LIFT_TRAVEL);
    }
}

static double less(double left, double dt) { return left > dt ? left - dt : 0; }

static void step_channel(machine_t *m, int s, double dt) {
    m->in_pulse[s] = less(m->in_pulse[s], dt);
    m->stack_pulse[s] = less(m->stack_pulse[s], dt);
    m->speed.ring[s] = follow(m, m->speed.ring[s], m->drive.ring[s], m->defects.ring_stall[s], dt);
    m->speed.belt[s] = follow(m, m->speed.belt[s], m->drive.belt[s], false, dt);
    double feed = m->speed.pan < m->speed.ring[s] ? m->speed.pan : m->speed.ring[s];
    feed = feed < m->speed.belt[s] ? feed : m->speed.belt[s];
    if (feed <= DRIVEN || m->supply[s] == 0 || m->channel[s] >= CHANNEL_LIMIT) {
        return;
    }
    m->next_tile[s] -= dt * feed;
    if (m->next_tile[s] <= 0) {
        m->next_tile[s] = TILE_INTERVAL * (0.85 + 0.25 * uniform(m));
        m->supply[s]--;
        m->channel[s]++;
        m->in_pulse[s] = IN_PULSE;
    }
}

static bool cam_home(double phase) { return phase >= HOME_BEGIN || phase <= HOME_END; }

static void push_stack(machine_t *m, int s) {
    m->armed[s] = false;
    if (m->channel[s] >= 2) {
        m->channel[s] -= 2;
        m->stacks[s]++;
        m->stack_pulse[s] = STACK_PULSE;
    }
}

/* Backwards to the cam's rest; each whole return frees a jam a little. */
static void step_head_back(machine_t *m, int s, double turn) {
    if (cam_home(m->phase[s])) {
        return;
    }
    m->reversed[s] += turn;
    m->phase[s] -= turn;
    if (cam_home(m->phase[s])) {
        m->phase[s] = 0;
        m->armed[s] = false;
        m->reversed[s] = 0;
        m->defects.head_jam[s] -= m->defects.head_jam[s] > 0;
    }
}

static bool jammed(const machine_t *m, int s) {
    bool at_jam = m->phase[s] >= JAM_PHASE && m->phase[s] < HOME_BEGIN;
    return m->defects.head_jam[s] > 0 && at_jam && m->drive.head[s] > 0;
}

static void step_head(machine_t *m, int s, double dt) {
    m->speed.head[s] = follow(m, m->speed.head[s], m->drive.head[s], jammed(m, s), dt);
    double turn = m->speed.head[s] * dt / HEAD_CYCLE;
    if (turn <= 0) {
        step_head_back(m, s, -turn);
        return;
    }
    m->phase[s] += turn;
    m->armed[s] |= m->phase[s] > HOME_END && m->phase[s] < HOME_BEGIN;
    if (m->phase[s] >= HOME_BEGIN && m->armed[s]) {
        push_stack(m, s);
    }
    if (m->phase[s] >= 1) {
        m->phase[s] -= 1;
    }
}

void machine_step(machine_t *m, double dt) {
    m->flicker += dt;
    m->flicker -= m->flicker >= 2 * FLICKER ? 2 * FLICKER : 0;
    m->speed.pan = follow(m, m->speed.pan, m->drive.pan, m->defects.pan_stall, dt);
    step_centre(m, dt);
    for (int s = 0; s < SIDES; s++) {
        step_lift(m, s, dt);
        step_channel(m, s, dt);
        step_head(m, s, dt);
    }
}

void machine_sensors(const machine_t *m, sensors_t *out) {
    const defects_t *d = &m->defects;
    out->e_stop_open = m->e_stop_open;
    out->cover_open = m->cover_open;
    out->centre_open = m->centre >= 1 - SWITCH_REACH;
    out->centre_closed = m->centre <= SWITCH_REACH;
    for (int s = 0; s < SIDES; s++) {
        bool top = m->lift[s] >= 1 - SWITCH_REACH, bottom = m->lift[s] <= SWITCH_REACH;
        bool pulse = m->in_pulse[s] > 0 || m->channel[s] >= CHANNEL_COVERED;
        out->lift_top[s] = d->top_always[s] || (top && !d->top_never[s]);
        out->lift_bottom[s] = d->bottom_always[s] || (bottom && !d->bottom_never[s]);
        out->head_home[s] = cam_home(m->phase[s]);
        out->head_in[s] = d->sensor_dirty[s] ||
                          (d->sensor_flickers[s] ? m->flicker < FLICKER : pulse);
        out->stack[s] = d->stack_dirty[s] || (m->stack_pulse[s] > 0 && !d->stack_blind[s]);
    }
}

/* A motor that is slower than its voltage wants draws more, up to its stall current. */
static double current(double drive, double speed, bool stalled) {
    double share = drive < 0 ? -drive : drive;
    double lag = stalled ? share : share - (drive < 0 ? -speed : speed);
    lag = lag < 0 ? 0 : lag;
    return RUN_CURRENT * share + (STALL_CURRENT - RUN_CURRENT) * lag;
}

void machine_currents(const machine_t *m, currents_t *out) {
    const drive_t *d = &m->drive, *v = &m->speed;
    const defects_t *broken = &m->defects;
    out->pan = current(d->pan, v->pan, broken->pan_stall);
    out->centre = current(d->centre, v->centre, d->centre < 0 && obstructed(m));
    for (int s = 0; s < SIDES; s++) {
        out->feed[s] = current(d->ring[s], v->ring[s], broken->ring_stall[s]) +
                       current(d->belt[s], v->belt[s], false);
        out->head[s] = current(d->head[s], v->head[s], jammed(m, s));
        out->lift[s] = current(d->lift[s], v->lift[s], broken->lift_blocked[s]);
    }
}

/* --- breaking things --- */

typedef enum { PER_SIDE, COUNTED, WHOLE } defect_kind_t;

typedef struct {
    const char *name;
    defect_kind_t kind;
    size_t offset; /* in machine_t */
    int amount;    /* when none is given */
} defect_name_t;

#define AT(field) offsetof(machine_t, field)
static const defect_name_t NAMES[] = {
    {"head-jam", COUNTED, AT(defects.head_jam), NEVER_FREED},
    {"lift-blocked", PER_SIDE, AT(defects.lift_blocked), 1},
    {"lift-dead", PER_SIDE, AT(defects.lift_dead), 1},
    {"limit-top-stuck", PER_SIDE, AT(defects.top_never), 1},
    {"limit-bottom-stuck", PER_SIDE, AT(defects.bottom_never), 1},
    {"limit-top-closed", PER_SIDE, AT(defects.top_always), 1},
    {"limit-bottom-closed", PER_SIDE, AT(defects.bottom_always), 1},
    {"short-set", COUNTED, AT(defects.missing), 2},
    {"too-many-tiles", COUNTED, AT(defects.surplus), 2},
    {"sensor-dirty", PER_SIDE, AT(defects.sensor_dirty), 1},
    {"sensor-flickers", PER_SIDE, AT(defects.sensor_flickers), 1},
    {"stack-dirty", PER_SIDE, AT(defects.stack_dirty), 1},
    {"stack-blind", PER_SIDE, AT(defects.stack_blind), 1},
    {"ring-stall", PER_SIDE, AT(defects.ring_stall), 1},
    {"pan-stall", WHOLE, AT(defects.pan_stall), 1},
    {"centre-blocked", WHOLE, AT(defects.centre_blocked), 1},
    {"centre-dead", WHOLE, AT(defects.centre_dead), 1},
    {"e-stop", WHOLE, AT(e_stop_open), 1},
    {"cover-open", WHOLE, AT(cover_open), 1},
};

const char *machine_break(machine_t *m, const char *text) {
    char name[32];
    int side = 0, amount = 0, end = 0;
    bool whole = sscanf(text, "%31[a-z-]%n", name, &end) == 1;
    if (whole && text[end] == ':') {
        int at = end;
        whole = sscanf(text + at, ":%d%n", &side, &end) == 1;
        end += at;
        if (whole && text[end] == ':') {
            at = end;
            whole = sscanf(text + at, ":%d%n", &amount, &end) == 1;
            end += at;
        }
    }
    if (!whole || text[end] != '\0' || side < 0 || side >= SIDES || amount < 0) {
        return "write NAME[:SIDE[:AMOUNT]], sides are 0 to 3";
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const defect_name_t *known = &NAMES[i];
        if (strcmp(name, known->name) == 0) {
            char *field = (char *)m + known->offset;
            if (known->kind == COUNTED) {
                ((int *)(void *)field)[side] = amount ? amount : known->amount;
            } else {
                ((bool *)field)[known->kind == PER_SIDE ? side : 0] = true;
            }
            return NULL;
        }
    }
    return "no such fault; see hardware/firmware/README.md";
}
