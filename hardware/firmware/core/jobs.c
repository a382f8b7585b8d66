/* Motions as plans of phases, and the guard over them. */
#include <string.h>

#include "table.h"

#define PLAN_LENGTH 8u

static const uint8_t PLANS[][PLAN_LENGTH] = {
    [TC_MOTION_NONE] = {PHASE_END},
    [TC_MOTION_HOMING] = {PHASE_HEADS_HOME, PHASE_LIFTS_DOWN, PHASE_CENTRE_CLOSE},
    [TC_MOTION_OPENING_CENTRE] = {PHASE_CENTRE_OPEN},
    [TC_MOTION_CLOSING_CENTRE] = {PHASE_CENTRE_CLOSE},
    [TC_MOTION_BUILDING] = {PHASE_HEADS_HOME, PHASE_STACK, PHASE_SURPLUS},
    [TC_MOTION_RAISING] = {PHASE_HEADS_HOME, PHASE_LIFTS_UP},
    [TC_MOTION_LOWERING] = {PHASE_LIFTS_DOWN},
    [TC_MOTION_SELF_TEST] = {PHASE_HEADS_HOME, PHASE_TRY_FEEDS, PHASE_TRY_HEADS, PHASE_TRY_LIFTS,
                             PHASE_LIFTS_DOWN, PHASE_CENTRE_OPEN, PHASE_CENTRE_CLOSE},
};

/* --- begin and end --- */

static void halt(table_t *t) {
    outputs_off(&t->outputs);
    for (uint8_t side = 0; side < SIDES; side++) {
        t->heads[side].stage = HEAD_IDLE;
    }
}

void job_begin(table_t *t, uint8_t motion, bool has_token, uint16_t token) {
    job_t *job = motion == TC_MOTION_DICE ? &t->dice : &t->job;
    memset(job, 0, sizeof *job);
    job->motion = motion;
    job->has_token = has_token;
    job->token = token;
    job->since = t->uptime_ms;
    if (motion == TC_MOTION_DICE) {
        return;
    }
    if (t->fault.code != TC_FAULT_CODE_POWER_CUT) {
        clear_fault(t);
    }
    job->percent = 0xFFu; /* so that 0 % is told too */
    t->memory.motion = motion;
}

static void end(table_t *t, job_t *job, uint8_t outcome, uint8_t reason, uint8_t fault) {
    bool answer = job->has_token;
    uint16_t token = job->token;
    memset(job, 0, sizeof *job);
    if (job == &t->job) {
        halt(t);
        t->memory.motion = TC_MOTION_NONE;
    }
    emit_state(t, false);
    if (answer) {
        emit_reply(t, token, outcome, reason, fault);
    }
}

void job_stop(table_t *t) {
    if (t->job.motion == TC_MOTION_NONE) {
        return;
    }
    if (t->job.motion != TC_MOTION_BUILDING) {
        t->homed = false;
    }
    end(t, &t->job, TC_OUTCOME_ABORTED, TC_REASON_STOPPED, TC_FAULT_CODE_NONE);
}

/* What a motion that has come to its end has changed. */
static void complete(table_t *t) {
    switch (t->job.motion) {
    case TC_MOTION_HOMING:
        if (t->memory.walls_up) {
            forget_walls(t);
        }
        t->homed = true;
        if (t->fault.code == TC_FAULT_CODE_POWER_CUT) {
            clear_fault(t);
        }
        break;
    case TC_MOTION_RAISING:
        t->memory.walls_up = true;
        break;
    case TC_MOTION_LOWERING:
        forget_walls(t);
        break;
    case TC_MOTION_SELF_TEST:
        emit_self_test(t, NULL);
        break;
    default:
        break;
    }
}

static void break_off(table_t *t, const fault_t *fault) {
    uint8_t motion = t->job.motion;
    halt(t);
    if (fault_latches(fault->code)) {
        t->homed = false;
    }
    if (motion == TC_MOTION_SELF_TEST) {
        emit_self_test(t, fault);
    }
    report_fault(t, fault, motion);
    if (motion != TC_MOTION_NONE) {
        end(t, &t->job, TC_OUTCOME_FAILED, TC_REASON_NONE, fault->code);
    }
}

static void break_off_by(table_t *t, uint8_t code, uint8_t side, uint8_t cause) {
    fault_t fault = {code, side, cause, 0, {0}};
    break_off(t, &fault);
}

/* --- every millisecond --- */

/* The emergency stop and the lid come before everything. */
static void guard(table_t *t) {
    if (input_is(&t->inputs, PIN_INPUT_E_STOP) &&
        t->fault.code != TC_FAULT_CODE_EMERGENCY_STOP) {
        break_off_by(t, TC_FAULT_CODE_EMERGENCY_STOP, TC_SIDE_NONE, TC_FAULT_CAUSE_INPUT_OPEN);
    } else if (input_is(&t->inputs, PIN_INPUT_COVER) && t->job.motion != TC_MOTION_NONE) {
        break_off_by(t, TC_FAULT_CODE_COVER_OPEN, TC_SIDE_NONE, TC_FAULT_CAUSE_INPUT_OPEN);
    }
}

/* A motor ran past its longest on-time: named as what stands still or does not arrive. */
static void on_overrun(table_t *t, uint8_t motor) {
    t->outputs.overrun = OUTPUT_NONE;
    uint8_t side = TC_SIDE_NONE;
    uint8_t code = TC_FAULT_CODE_CENTRE_NOT_ARRIVED;
    if (motor == PIN_MOTOR_PAN) {
        code = TC_FAULT_CODE_PAN_STALL;
    } else if (motor < PIN_MOTOR_CENTRE) {
        side = (uint8_t)((motor - PIN_MOTOR_RING_0) % SIDES);
        code = TC_FAULT_CODE_RING_STALL;
        if (motor >= PIN_MOTOR_LIFT_0) {
            code = TC_FAULT_CODE_LIFT_NEVER_STOPS;
        } else if (motor >= PIN_MOTOR_HEAD_0) {
            code = TC_FAULT_CODE_HEAD_JAM;
        }
    }
    break_off_by(t, code, side, TC_FAULT_CAUSE_NOT_SEEN_IN_TIME);
}

/* Nothing turns before the memory tells what would be cut short (about 50 ms on the chip). */
static bool is_recorded(table_t *t) {
    t->job.recorded = t->job.recorded || journal_holds(&t->journal, &t->memory);
    return t->job.recorded;
}

static void advance(table_t *t) {
    for (;;) {
        job_t *job = &t->job;
        phase_t phase = (phase_t)PLANS[job->motion][job->phase_index];
        bool first = !job->phase_begun;
        if (first) {
            job->phase_begun = true;
            job->since = t->uptime_ms;
        }
        switch (phase_step(t, phase, first)) {
        case STEP_RUNNING:
            return;
        case STEP_FAILED: {
            fault_t fault = t->failure;
            break_off(t, &fault);
            return;
        }
        case STEP_ABORTED:
            end(t, job, TC_OUTCOME_ABORTED, t->abort_reason, TC_FAULT_CODE_NONE);
            return;
        case STEP_DONE:
            break;
        }
        job->phase_index++;
        job->phase_begun = false;
        if (PLANS[job->motion][job->phase_index] == PHASE_END) {
            complete(t);
            end(t, job, TC_OUTCOME_DONE, TC_REASON_NONE, TC_FAULT_CODE_NONE);
            return;
        }
    }
}

void jobs_tick(table_t *t) {
    guard(t);
    count_tiles(t);
    if (t->outputs.overrun != OUTPUT_NONE) {
        on_overrun(t, t->outputs.overrun);
    }
    if (t->job.motion != TC_MOTION_NONE && is_recorded(t)) {
        advance(t);
    }
    if (t->dice.motion != TC_MOTION_NONE && dice_step(t) == STEP_DONE) {
        end(t, &t->dice, TC_OUTCOME_DONE, TC_REASON_NONE, TC_FAULT_CODE_NONE);
    }
    if (is_latched(t)) {
        halt(t);
    }
    emit_state(t, false);
}

void set_host_alive(table_t *t, bool alive) {
    if (alive == t->host_alive) {
        return;
    }
    t->host_alive = alive;
    if (alive && t->fault.code == TC_FAULT_CODE_HOST_LOST) {
        clear_fault(t);
    } else if (!alive && t->fault.code == TC_FAULT_CODE_NONE) {
        fault_t lost = {TC_FAULT_CODE_HOST_LOST, TC_SIDE_NONE, TC_FAULT_CAUSE_NO_HEARTBEAT, 0, {0}};
        report_fault(t, &lost, TC_MOTION_NONE);
    }
}
