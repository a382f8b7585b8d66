/* What the phases of a motion do: heads, trays, centre panel. */
#include <string.h>

#include "table.h"

step_t fail(table_t *t, uint8_t code, uint8_t side, uint8_t cause, uint8_t retries) {
    fault_t failure = {code, side, cause, retries, {0}};
    t->failure = failure;
    return STEP_FAILED;
}

bool after(const table_t *t, uint32_t since, uint16_t milliseconds) {
    return t->uptime_ms - since >= milliseconds;
}

static void want(table_t *t, uint8_t motor, int8_t direction) {
    t->outputs.want[motor] = direction;
}

/* --- heads: one stroke away from home and back; a jam is reversed and tried again --- */

#define AWAY_AFTER_MS 100u /* longer than any debouncing, shorter than half a stroke */

static void head_turn(table_t *t, uint8_t side, head_stage_t stage, int8_t direction) {
    head_t *head = &t->heads[side];
    head->stage = stage;
    head->since = t->uptime_ms;
    head->away = false;
    want(t, (uint8_t)(PIN_MOTOR_HEAD_0 + side), direction);
}

void head_start(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    head->attempt = 0;
    head->pushed = false;
    head_turn(t, side, HEAD_FORWARD, 1);
}

bool heads_busy(const table_t *t) {
    for (uint8_t side = 0; side < SIDES; side++) {
        if (t->heads[side].stage != HEAD_IDLE) {
            return true;
        }
    }
    return false;
}

static step_t head_stuck(table_t *t, uint8_t side, uint8_t cause) {
    head_t *head = &t->heads[side];
    if (head->attempt >= t->config.jam_retries) {
        return fail(t, TC_FAULT_CODE_HEAD_JAM, side, cause, head->attempt);
    }
    head->attempt++;
    head_turn(t, side, HEAD_BACK, -1);
    return STEP_RUNNING;
}

static step_t head_forward(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    bool home = input_is(&t->inputs, (uint8_t)(PIN_INPUT_HEAD_HOME_0 + side));
    /* A reversal may end at the edge of home: what is debounced then is still of the way back, and
     * must not pass for a stroke that has come home. */
    head->away = head->away || (!home && after(t, head->since, AWAY_AFTER_MS));
    if (head->away && home) {
        head_turn(t, side, HEAD_SETTLING, 0);
        return STEP_RUNNING;
    }
    if (t->inputs.over_ms[PIN_CURRENT_HEAD_0 + side] >= t->config.over_current) {
        return head_stuck(t, side, TC_FAULT_CAUSE_OVER_CURRENT);
    }
    if (after(t, head->since, t->config.head_timeout)) {
        return head_stuck(t, side, TC_FAULT_CAUSE_NOT_SEEN_IN_TIME);
    }
    return STEP_RUNNING;
}

static step_t head_back(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    bool home = input_is(&t->inputs, (uint8_t)(PIN_INPUT_HEAD_HOME_0 + side));
    head->away = head->away || !home;
    if ((head->away && home) || after(t, head->since, t->config.reverse)) {
        head_turn(t, side, HEAD_FORWARD, 1);
    }
    return STEP_RUNNING;
}

step_t head_step(table_t *t, uint8_t side) {
    head_t *head = &t->heads[side];
    switch (head->stage) {
    case HEAD_FORWARD:
        return head_forward(t, side);
    case HEAD_BACK:
        return head_back(t, side);
    case HEAD_SETTLING:
        if (!head->pushed && !after(t, head->since, t->config.push_settle)) {
            return STEP_RUNNING;
        }
        head->stage = HEAD_IDLE;
        return STEP_DONE;
    default:
        return STEP_DONE;
    }
}

static step_t heads_home(table_t *t, bool first) {
    for (uint8_t side = 0; side < SIDES; side++) {
        bool home = input_is(&t->inputs, (uint8_t)(PIN_INPUT_HEAD_HOME_0 + side));
        if (first && !home) {
            head_start(t, side);
        }
        if (head_step(t, side) == STEP_FAILED) {
            return STEP_FAILED;
        }
    }
    return heads_busy(t) ? STEP_RUNNING : STEP_DONE;
}

/* --- trays: all four together; one that fails stops all (the caller cuts every motor) --- */

/* A tray that never left its switch did not move; one that left was not seen to stop. */
static step_t lift_late(table_t *t, uint8_t side, bool up) {
    uint8_t first = up ? PIN_INPUT_LIFT_BOTTOM_0 : PIN_INPUT_LIFT_TOP_0;
    bool still_there = input_is(&t->inputs, (uint8_t)(first + side));
    uint8_t code = still_there ? TC_FAULT_CODE_LIFT_NOT_ARRIVED : TC_FAULT_CODE_LIFT_NEVER_STOPS;
    return fail(t, code, side, TC_FAULT_CAUSE_NOT_SEEN_IN_TIME, 0);
}

static step_t move_lifts(table_t *t, bool up) {
    uint8_t top = inputs_of_sides(t->inputs.active, PIN_INPUT_LIFT_TOP_0);
    uint8_t bottom = inputs_of_sides(t->inputs.active, PIN_INPUT_LIFT_BOTTOM_0);
    uint8_t arrived = up ? top : bottom;
    bool late = after(t, t->job.since, t->config.lift_timeout);
    for (uint8_t side = 0; side < SIDES; side++) {
        uint8_t bit = (uint8_t)(1u << side);
        bool there = (arrived & bit) != 0u;
        want(t, (uint8_t)(PIN_MOTOR_LIFT_0 + side), (int8_t)(there ? 0 : (up ? 1 : -1)));
        if ((top & bottom & bit) != 0u) {
            return fail(t, TC_FAULT_CODE_LIFT_NEVER_STOPS, side, TC_FAULT_CAUSE_SWITCH_STUCK, 0);
        }
        if (t->inputs.over_ms[PIN_CURRENT_LIFT_0 + side] >= t->config.over_current) {
            return fail(t, TC_FAULT_CODE_LIFT_NOT_ARRIVED, side, TC_FAULT_CAUSE_OVER_CURRENT, 0);
        }
        if (late && !there) {
            return lift_late(t, side, up);
        }
    }
    uint32_t elapsed = t->uptime_ms - t->job.since;
    emit_progress(t, (uint8_t)(100u * elapsed / t->config.lift_timeout));
    return arrived == 15u ? STEP_DONE : STEP_RUNNING;
}

void forget_walls(table_t *t) {
    t->memory.program = TC_TILE_PROGRAM_NONE;
    t->memory.walls_up = false;
    memset(t->memory.counts, 0, sizeof t->memory.counts);
    memset(t->memory.waiting, 0, sizeof t->memory.waiting);
    t->memory.doubtful = 0;
    emit_stacks(t);
}

/* --- centre panel --- */

static step_t centre_late(table_t *t) {
    return fail(t, TC_FAULT_CODE_CENTRE_NOT_ARRIVED, TC_SIDE_NONE,
                TC_FAULT_CAUSE_NOT_SEEN_IN_TIME, 0);
}

static step_t open_centre(table_t *t) {
    if (input_is(&t->inputs, PIN_INPUT_CENTRE_OPEN)) {
        want(t, PIN_MOTOR_CENTRE, 0);
        return STEP_DONE;
    }
    want(t, PIN_MOTOR_CENTRE, 1);
    if (t->inputs.over_ms[PIN_CURRENT_CENTRE] >= t->config.over_current) {
        return fail(t, TC_FAULT_CODE_CENTRE_NOT_ARRIVED, TC_SIDE_NONE,
                    TC_FAULT_CAUSE_OVER_CURRENT, 0);
    }
    return after(t, t->job.since, t->config.centre_timeout) ? centre_late(t) : STEP_RUNNING;
}

/* Anything in the way opens the panel again at once: the one motion that can hurt. */
static step_t close_centre(table_t *t, bool first) {
    if (first) {
        t->job.reopening = false;
    }
    if (t->job.reopening) {
        step_t step = open_centre(t);
        if (step != STEP_DONE) {
            return step;
        }
        t->homed = true; /* trays and heads are, and the panel is known to be open */
        return fail(t, TC_FAULT_CODE_CENTRE_BLOCKED, TC_SIDE_NONE, TC_FAULT_CAUSE_OVER_CURRENT, 0);
    }
    if (input_is(&t->inputs, PIN_INPUT_CENTRE_CLOSED)) {
        want(t, PIN_MOTOR_CENTRE, 0);
        return STEP_DONE;
    }
    want(t, PIN_MOTOR_CENTRE, -1);
    if (t->inputs.over_ms[PIN_CURRENT_CENTRE] >= t->config.pinch) {
        t->job.reopening = true;
        t->job.since = t->uptime_ms;
        t->inputs.over_ms[PIN_CURRENT_CENTRE] = 0; /* the way back has its own measure */
        want(t, PIN_MOTOR_CENTRE, 1);
        return STEP_RUNNING;
    }
    return after(t, t->job.since, t->config.centre_timeout) ? centre_late(t) : STEP_RUNNING;
}

step_t phase_step(table_t *t, phase_t phase, bool first) {
    switch (phase) {
    case PHASE_HEADS_HOME:
        return heads_home(t, first);
    case PHASE_LIFTS_UP:
        return move_lifts(t, true);
    case PHASE_LIFTS_DOWN:
        return move_lifts(t, false);
    case PHASE_CENTRE_OPEN:
        return open_centre(t);
    case PHASE_CENTRE_CLOSE:
        return close_centre(t, first);
    case PHASE_STACK:
        if (first) {
            stacking_start(t);
        }
        return stacking_step(t);
    case PHASE_SURPLUS:
        return surplus_step(t, first);
    case PHASE_TRY_FEEDS:
    case PHASE_TRY_HEADS:
    case PHASE_TRY_LIFTS:
        return try_step(t, phase, first);
    case PHASE_END:
    default:
        return STEP_DONE;
    }
}
