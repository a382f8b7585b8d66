/* Shuffling and stacking: four sides at once, with its faults told apart. */
#include <string.h>

#include "table.h"

#define IDLE_MAX 255u
#define DOUBT_MS 1000u /* HEAD_IN blocked so long where the count is in doubt: tiles are there */

static uint8_t side_bit(uint8_t side) { return (uint8_t)(1u << side); }

static bool sees(const table_t *t, uint8_t first_input, uint8_t side) {
    return input_is(&t->inputs, (uint8_t)(first_input + side));
}

static bool rose(const table_t *t, uint8_t first_input, uint8_t side) {
    return input_bit(t->inputs.rose, (uint8_t)(first_input + side));
}

/* --- counting, whatever else goes on --- */

static void count_tile(table_t *t, uint8_t side) {
    stacking_t *s = &t->stacking;
    bool belt_on = t->outputs.duty[PIN_MOTOR_BELT_0 + side] > 0u;
    s->belt_idle_ms[side] = belt_on ? 0u : (uint16_t)(s->belt_idle_ms[side] + 1u);
    if (s->belt_idle_ms[side] == 0u && !belt_on) {
        s->belt_idle_ms[side] = 0xFFFFu; /* saturates */
    }
    bool may_move = s->belt_idle_ms[side] <= t->config.belt_coast;
    if (may_move && rose(t, PIN_INPUT_HEAD_IN_0, side)) {
        if (t->memory.waiting[side] < 15u) {
            t->memory.waiting[side]++;
        }
        s->dry_ms[side] = 0;
        s->is_short[side] = false;
    }
}

static bool count_stack(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    if (t->outputs.duty[PIN_MOTOR_HEAD_0 + side] > 0u) {
        head->idle_ms = 0;
    } else if (head->idle_ms < IDLE_MAX) {
        head->idle_ms++;
    }
    bool may_push = head->idle_ms < IDLE_MAX;
    if (!may_push || !rose(t, PIN_INPUT_STACK_0, side)) {
        return false;
    }
    head->pushed = true;
    t->memory.counts[side]++;
    t->memory.waiting[side] =
        (uint8_t)(t->memory.waiting[side] >= 2u ? t->memory.waiting[side] - 2u : 0u);
    return true;
}

void count_tiles(table_t *t) {
    bool changed = false;
    for (uint8_t side = 0; side < SIDES; side++) {
        count_tile(t, side);
        changed = count_stack(t, side) || changed;
    }
    if (changed) {
        emit_stacks(t);
    }
}

/* --- stacking --- */

void stacking_start(table_t *t) {
    stacking_t *s = &t->stacking;
    uint16_t idle[SIDES];
    memcpy(idle, s->belt_idle_ms, sizeof idle);
    memset(s, 0, sizeof *s);
    memcpy(s->belt_idle_ms, idle, sizeof idle);
    memcpy(s->waiting_then, t->memory.waiting, sizeof s->waiting_then);
    for (uint8_t side = 0; side < SIDES; side++) {
        t->heads[side].blind = 0;
        s->probe_at_ms[side] = DOUBT_MS;
    }
}

static bool full(const table_t *t, uint8_t side) {
    return t->memory.counts[side] >= target_of(t, side);
}

static bool finished(const table_t *t, uint8_t side) {
    return full(t, side) && t->heads[side].stage == HEAD_IDLE;
}

static void feed(table_t *t) {
    bool feeding = t->host_alive;
    t->outputs.want[PIN_MOTOR_PAN] = feeding;
    for (uint8_t side = 0; side < SIDES; side++) {
        bool room = t->memory.waiting[side] < t->config.channel_tiles;
        int8_t on = feeding && room && !finished(t, side);
        t->outputs.want[PIN_MOTOR_RING_0 + side] = on;
        t->outputs.want[PIN_MOTOR_BELT_0 + side] = on;
    }
}

/* A stalled pan or ring: everything rests, heads go home, and once more; then it is a fault. */
static step_t on_stall(table_t *t, uint8_t index, uint8_t code, uint8_t side) {
    stacking_t *s = &t->stacking;
    if (s->stalls[index] >= t->config.stall_retries) {
        return fail(t, code, side, TC_FAULT_CAUSE_OVER_CURRENT, s->stalls[index]);
    }
    s->stalls[index]++;
    s->pausing = true;
    s->pause_since = t->uptime_ms;
    outputs_off(&t->outputs);
    for (uint8_t head = 0; head < SIDES; head++) {
        t->heads[head].stage = HEAD_IDLE;
    }
    return STEP_RUNNING;
}

static step_t look_for_stalls(table_t *t) {
    if (t->inputs.over_ms[PIN_CURRENT_PAN] >= t->config.over_current) {
        return on_stall(t, 0, TC_FAULT_CODE_PAN_STALL, TC_SIDE_NONE);
    }
    for (uint8_t side = 0; side < SIDES; side++) {
        if (t->inputs.over_ms[PIN_CURRENT_FEED_0 + side] >= t->config.over_current) {
            return on_stall(t, (uint8_t)(1u + side), TC_FAULT_CODE_RING_STALL, side);
        }
    }
    return STEP_RUNNING;
}

/* After a stall: rest, then bring home the heads that stand in a stroke. */
static step_t pause(table_t *t) {
    if (!after(t, t->stacking.pause_since, t->config.stall_pause)) {
        return STEP_RUNNING;
    }
    for (uint8_t side = 0; side < SIDES; side++) {
        bool resting = t->heads[side].stage == HEAD_IDLE;
        if (resting && !sees(t, PIN_INPUT_HEAD_HOME_0, side)) {
            head_start(t, side);
        }
        if (head_step(t, side) == STEP_FAILED) {
            return STEP_FAILED;
        }
    }
    t->stacking.pausing = heads_busy(t);
    return STEP_RUNNING;
}

/* --- photo sensors: dirty, or no tile? --- */

static step_t sensor_dirty(table_t *t, uint8_t side, uint8_t cause) {
    t->memory.doubtful |= side_bit(side);
    return fail(t, TC_FAULT_CODE_SENSOR_DIRTY, side, cause, 0);
}

static step_t watch_rate(table_t *t, uint8_t side) {
    stacking_t *s = &t->stacking;
    s->pulses[side] += input_bit(t->inputs.raw_rose, (uint8_t)(PIN_INPUT_HEAD_IN_0 + side));
    if (s->pulses[side] <= t->config.max_tiles) {
        return STEP_RUNNING;
    }
    if (t->memory.waiting[side] > s->waiting_then[side]) {
        t->memory.waiting[side] = s->waiting_then[side]; /* what it counted were no tiles */
    }
    return sensor_dirty(t, side, TC_FAULT_CAUSE_IMPLAUSIBLE_PULSES);
}

static void start_window(table_t *t) {
    stacking_t *s = &t->stacking;
    if (++s->window_ms >= t->config.rate_window) {
        s->window_ms = 0;
        memset(s->pulses, 0, sizeof s->pulses);
        memcpy(s->waiting_then, t->memory.waiting, sizeof s->waiting_then);
    }
}

/* A stroke to see whether tiles are there that were not counted. */
static void probe(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    head->probing = true;
    head->waiting_before_probe = t->memory.waiting[side];
    t->memory.waiting[side] = 2;
    t->stacking.dry_ms[side] = 0;
}

/* Without a gap while the head rests: a dirty sensor, or tiles that were not counted. */
static step_t watch_blocked(table_t *t, uint8_t side) {
    stacking_t *s = &t->stacking;
    if (!sees(t, PIN_INPUT_HEAD_IN_0, side) || finished(t, side)) {
        s->blocked_ms[side] = 0;
        s->probe_at_ms[side] = DOUBT_MS;
    } else if (t->heads[side].stage == HEAD_IDLE) {
        s->blocked_ms[side]++;
    }
    bool in_doubt = (t->memory.doubtful & side_bit(side)) != 0u;
    if (in_doubt && s->blocked_ms[side] > s->probe_at_ms[side] && t->memory.waiting[side] < 2u) {
        s->probe_at_ms[side] = (uint16_t)(s->probe_at_ms[side] + DOUBT_MS);
        probe(t, side);
    }
    if (!sees(t, PIN_INPUT_STACK_0, side)) {
        s->stack_blocked_ms[side] = 0;
    } else if (t->heads[side].stage == HEAD_IDLE) {
        s->stack_blocked_ms[side]++; /* a jammed stack covers it too, as long as the head tries */
    }
    if (s->blocked_ms[side] > t->config.blocked_after ||
        s->stack_blocked_ms[side] > t->config.blocked_after) {
        return sensor_dirty(t, side, TC_FAULT_CAUSE_CONSTANTLY_BLOCKED);
    }
    return STEP_RUNNING;
}

static void watch_for_tiles(table_t *t, uint8_t side) {
    stacking_t *s = &t->stacking;
    bool waits = t->outputs.want[PIN_MOTOR_BELT_0 + side] != 0 &&
                 t->heads[side].stage == HEAD_IDLE && t->memory.waiting[side] < 2u;
    if (!waits || s->is_short[side]) {
        return;
    }
    if (++s->dry_ms[side] <= t->config.short_after) {
        return;
    }
    if ((t->memory.doubtful & side_bit(side)) != 0u) {
        probe(t, side);
    } else {
        s->is_short[side] = true;
    }
}

static step_t watch_sensors(table_t *t) {
    start_window(t);
    for (uint8_t side = 0; side < SIDES; side++) {
        if (watch_rate(t, side) == STEP_FAILED || watch_blocked(t, side) == STEP_FAILED) {
            return STEP_FAILED;
        }
        watch_for_tiles(t, side);
    }
    return STEP_RUNNING;
}

/* --- heads --- */

static step_t stroke_ended(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    bool probing = head->probing;
    head->probing = false;
    if (head->pushed) {
        head->blind = 0;
        return STEP_RUNNING;
    }
    t->memory.waiting[side] = probing ? head->waiting_before_probe : 0u;
    if (probing) {
        t->memory.doubtful &= (uint8_t)~side_bit(side); /* nothing there: the count was right */
    }
    if (!probing && ++head->blind >= t->config.blind_strokes) {
        return sensor_dirty(t, side, TC_FAULT_CAUSE_NOT_SEEN_IN_TIME);
    }
    return STEP_RUNNING;
}

static step_t run_head(table_t *t, uint8_t side) {
    if (t->heads[side].stage == HEAD_IDLE) {
        if (!full(t, side) && t->memory.waiting[side] >= 2u && t->host_alive) {
            head_start(t, side);
        }
        return STEP_RUNNING;
    }
    step_t step = head_step(t, side);
    return step == STEP_DONE ? stroke_ended(t, side) : step;
}

static step_t short_set(table_t *t) {
    uint8_t missing[SIDES], worst = 0;
    for (uint8_t side = 0; side < SIDES; side++) {
        int16_t tiles = (int16_t)(2 * ((int16_t)target_of(t, side) - t->memory.counts[side]));
        tiles = (int16_t)(tiles - t->memory.waiting[side]);
        missing[side] = (uint8_t)(tiles > 0 ? tiles : 0);
        if (missing[side] > missing[worst]) {
            worst = side;
        }
    }
    (void)fail(t, TC_FAULT_CODE_SHORT_SET, worst, TC_FAULT_CAUSE_NO_TILES, 0);
    memcpy(t->failure.missing, missing, sizeof missing);
    return STEP_FAILED;
}

static void report_progress(table_t *t) {
    uint16_t have = 0, wanted = 0;
    for (uint8_t side = 0; side < SIDES; side++) {
        have = (uint16_t)(have + t->memory.counts[side]);
        wanted = (uint16_t)(wanted + target_of(t, side));
    }
    emit_progress(t, (uint8_t)(wanted > 0u && have < wanted ? 100u * have / wanted : 100u));
}

static step_t hold_without_host(table_t *t) {
    if (t->host_alive || heads_busy(t)) {
        return STEP_RUNNING;
    }
    t->abort_reason = TC_REASON_NO_HOST;
    return STEP_ABORTED;
}

step_t stacking_step(table_t *t) {
    if (t->stacking.pausing) {
        return pause(t);
    }
    bool ended = true, any_short = false;
    for (uint8_t side = 0; side < SIDES; side++) {
        ended = ended && (finished(t, side) || t->stacking.is_short[side]);
        any_short = any_short || t->stacking.is_short[side];
    }
    if (ended) {
        return any_short ? short_set(t) : STEP_DONE;
    }
    if (hold_without_host(t) == STEP_ABORTED) {
        return STEP_ABORTED;
    }
    feed(t);
    if (look_for_stalls(t) == STEP_FAILED || watch_sensors(t) == STEP_FAILED) {
        return STEP_FAILED;
    }
    for (uint8_t side = 0; side < SIDES && !t->stacking.pausing; side++) {
        if (run_head(t, side) == STEP_FAILED) {
            return STEP_FAILED;
        }
    }
    report_progress(t);
    return STEP_RUNNING;
}

/* Full walls and still tiles at a head: say so; nothing moves into a full channel. */
step_t surplus_step(table_t *t, bool first) {
    for (uint8_t side = 0; side < SIDES; side++) {
        stacking_t *s = &t->stacking;
        if (first && (t->memory.doubtful & side_bit(side)) != 0u) {
            t->memory.waiting[side] = 0; /* the count is in doubt; the sensor will tell */
        }
        bool blocked = sees(t, PIN_INPUT_HEAD_IN_0, side);
        s->blocked_ms[side] = blocked && !first ? (uint16_t)(s->blocked_ms[side] + 1u) : 0u;
        if (t->memory.waiting[side] > 0u || s->blocked_ms[side] > DOUBT_MS) {
            return fail(t, TC_FAULT_CODE_TOO_MANY_TILES, side, TC_FAULT_CAUSE_CHANNEL_FULL, 0);
        }
    }
    if (hold_without_host(t) == STEP_ABORTED) {
        return STEP_ABORTED;
    }
    memset(t->outputs.want + PIN_MOTOR_PAN, 1, 1u + 2u * SIDES); /* pan, rings, belts */
    return after(t, t->job.since, t->config.surplus_watch) ? STEP_DONE : STEP_RUNNING;
}
