/* The self-test: every motor a little, and whether its sensors answer. */
#include "table.h"

static void progress_of(table_t *t, uint8_t begin, uint8_t side) {
    emit_progress(t, (uint8_t)(begin + 5u * side));
}

/* Pan first (side counts as 0 then), then ring and belt of each side. */
static step_t try_pan(table_t *t) {
    t->outputs.want[PIN_MOTOR_PAN] = 1;
    if (!after(t, t->job.since, t->config.self_test)) {
        return STEP_RUNNING;
    }
    t->outputs.want[PIN_MOTOR_PAN] = 0;
    if (t->inputs.over_ms[PIN_CURRENT_PAN] > 0u) {
        return fail(t, TC_FAULT_CODE_PAN_STALL, TC_SIDE_NONE, TC_FAULT_CAUSE_OVER_CURRENT, 0);
    }
    t->job.tested++;
    return STEP_DONE;
}

static step_t try_feed(table_t *t, uint8_t side) {
    bool time_is_up = after(t, t->job.since, t->config.self_test);
    t->outputs.want[PIN_MOTOR_RING_0 + side] = !time_is_up;
    t->outputs.want[PIN_MOTOR_BELT_0 + side] = !time_is_up;
    if (!time_is_up) {
        return STEP_RUNNING;
    }
    if (t->inputs.over_ms[PIN_CURRENT_FEED_0 + side] > 0u) {
        return fail(t, TC_FAULT_CODE_RING_STALL, side, TC_FAULT_CAUSE_OVER_CURRENT, 0);
    }
    if (input_is(&t->inputs, (uint8_t)(PIN_INPUT_HEAD_IN_0 + side)) ||
        input_is(&t->inputs, (uint8_t)(PIN_INPUT_STACK_0 + side))) {
        return fail(t, TC_FAULT_CODE_SENSOR_DIRTY, side, TC_FAULT_CAUSE_CONSTANTLY_BLOCKED, 0);
    }
    t->job.tested = (uint8_t)(t->job.tested + 4u); /* ring, belt, two photo sensors */
    progress_of(t, 0, side);
    return STEP_DONE;
}

static step_t try_head(table_t *t, uint8_t side, bool first) {
    if (first) {
        head_start(t, side);
    }
    step_t step = head_step(t, side);
    if (step == STEP_DONE) {
        t->job.tested = (uint8_t)(t->job.tested + 2u); /* the head and its home switch */
        progress_of(t, 20, side);
    }
    return step;
}

/* All trays up a little: each must leave its lower switch. They come down in the next phase. */
static step_t try_lifts(table_t *t) {
    bool time_is_up = after(t, t->job.since, t->config.self_test);
    for (uint8_t side = 0; side < SIDES; side++) {
        t->outputs.want[PIN_MOTOR_LIFT_0 + side] = !time_is_up;
        if (t->inputs.over_ms[PIN_CURRENT_LIFT_0 + side] >= t->config.over_current) {
            return fail(t, TC_FAULT_CODE_LIFT_NOT_ARRIVED, side, TC_FAULT_CAUSE_OVER_CURRENT, 0);
        }
        bool still_down = input_is(&t->inputs, (uint8_t)(PIN_INPUT_LIFT_BOTTOM_0 + side));
        if (time_is_up && still_down) {
            return fail(t, TC_FAULT_CODE_LIFT_NOT_ARRIVED, side,
                        TC_FAULT_CAUSE_NOT_SEEN_IN_TIME, 0);
        }
    }
    if (!time_is_up) {
        return STEP_RUNNING;
    }
    t->job.tested = (uint8_t)(t->job.tested + 2u * SIDES + 3u); /* and the centre, next */
    emit_progress(t, 50);
    return STEP_DONE;
}

/* The side under trial is job.side: 0 is the pan in PHASE_TRY_FEEDS, then 1 to 4 the sides. */
step_t try_step(table_t *t, phase_t phase, bool first) {
    job_t *job = &t->job;
    if (phase == PHASE_TRY_LIFTS) {
        return try_lifts(t);
    }
    if (first) {
        job->side = 0;
    }
    uint8_t count = (uint8_t)(phase == PHASE_TRY_FEEDS ? 1u + SIDES : SIDES);
    step_t step;
    if (phase == PHASE_TRY_HEADS) {
        step = try_head(t, job->side, first || job->since == t->uptime_ms);
    } else {
        step = job->side == 0u ? try_pan(t) : try_feed(t, (uint8_t)(job->side - 1u));
    }
    if (step != STEP_DONE) {
        return step;
    }
    job->since = t->uptime_ms + 1u; /* the next begins with the next tick */
    return ++job->side == count ? STEP_DONE : STEP_RUNNING;
}
