#include <string.h>

#include "../faults.h"
#include "table.h"

probe_t tc_probe;

/* --- what is true --- */

bool fault_latches(uint8_t code) { return tc_fault_latched(code); }

bool is_latched(const table_t *t) { return fault_latches(t->fault.code); }

uint8_t table_mode(const table_t *t) {
    if (t->fault.code == TC_FAULT_CODE_EMERGENCY_STOP) {
        return TC_TABLE_MODE_EMERGENCY_STOP;
    }
    if (is_latched(t)) {
        return TC_TABLE_MODE_FAULT;
    }
    if (t->job.motion != TC_MOTION_NONE) {
        return t->job.motion == TC_MOTION_HOMING ? TC_TABLE_MODE_HOMING : TC_TABLE_MODE_MOVING;
    }
    return t->homed ? TC_TABLE_MODE_READY : TC_TABLE_MODE_NOT_HOMED;
}

uint8_t centre_place(const table_t *t) {
    if (t->outputs.want[PIN_MOTOR_CENTRE] != 0) {
        return TC_PLACE_MOVING;
    }
    if (!t->homed) {
        return TC_PLACE_UNKNOWN;
    }
    if (input_is(&t->inputs, PIN_INPUT_CENTRE_CLOSED)) {
        return TC_PLACE_LOW;
    }
    return input_is(&t->inputs, PIN_INPUT_CENTRE_OPEN) ? TC_PLACE_HIGH : TC_PLACE_UNKNOWN;
}

uint8_t lifts_place(const table_t *t) {
    for (uint8_t side = 0; side < SIDES; side++) {
        if (t->outputs.want[PIN_MOTOR_LIFT_0 + side] != 0) {
            return TC_PLACE_MOVING;
        }
    }
    if (!t->homed) {
        return TC_PLACE_UNKNOWN;
    }
    if (inputs_of_sides(t->inputs.active, PIN_INPUT_LIFT_BOTTOM_0) == 15u) {
        return TC_PLACE_LOW;
    }
    bool up = inputs_of_sides(t->inputs.active, PIN_INPUT_LIFT_TOP_0) == 15u;
    return up ? TC_PLACE_HIGH : TC_PLACE_UNKNOWN;
}

uint8_t target_of(const table_t *t, uint8_t side) {
    uint8_t place = (uint8_t)((side + SIDES - t->memory.dealer) % SIDES);
    switch (t->memory.program) {
#define X(tiles, a, b, c, d) \
    case (tiles): { \
        static const uint8_t stacks[SIDES] = {a, b, c, d}; \
        return stacks[place]; \
    }
        TC_TILE_PROGRAMS(X)
#undef X
    default:
        return 0;
    }
}

bool walls_complete(const table_t *t) {
    if (t->memory.program == TC_TILE_PROGRAM_NONE) {
        return false;
    }
    for (uint8_t side = 0; side < SIDES; side++) {
        if (t->memory.counts[side] < target_of(t, side)) {
            return false;
        }
    }
    return true;
}

/* --- telling it --- */

static void state_now(const table_t *t, tc_table_state_t *state) {
    memset(state, 0, sizeof *state); /* padding too: states are compared as bytes */
    state->mode = table_mode(t);
    state->motion = t->job.motion;
    state->centre = centre_place(t);
    state->lifts = lifts_place(t);
    state->program = t->memory.program;
    state->walls_complete = walls_complete(t);
    state->fault = t->fault.code;
    bool faulty = t->fault.code != TC_FAULT_CODE_NONE;
    state->fault_side = faulty ? t->fault.side : (uint8_t)TC_SIDE_NONE;
    state->fault_cause = t->fault.cause;
    state->e_stop_open = input_is(&t->inputs, PIN_INPUT_E_STOP);
    state->cover_open = input_is(&t->inputs, PIN_INPUT_COVER);
}

void emit_state(table_t *t, bool even_unchanged) {
    tc_table_state_t state;
    state_now(t, &state);
    bool same = t->told_any && memcmp(&state, &t->told, sizeof state) == 0;
    if (same && !even_unchanged) {
        return;
    }
    t->told = state;
    t->told_any = true;
    state.uptime_ms = t->uptime_ms;
    uint8_t message[TC_SIZE_TABLE_STATE];
    emit_latest(t, message, (uint8_t)tc_encode_table_state(message, &state));
}

void emit_stacks(table_t *t) {
    tc_stacks_t stacks;
    stacks.program = t->memory.program;
    for (uint8_t side = 0; side < SIDES; side++) {
        stacks.counts[side] = t->memory.counts[side];
        stacks.targets[side] = target_of(t, side);
    }
    uint8_t message[TC_SIZE_STACKS];
    emit_latest(t, message, (uint8_t)tc_encode_stacks(message, &stacks));
}

void emit_sensors(table_t *t) {
    tc_sensor_report_t report = {t->inputs.active};
    uint8_t message[TC_SIZE_SENSOR_REPORT];
    emit_latest(t, message, (uint8_t)tc_encode_sensor_report(message, &report));
}

void emit_progress(table_t *t, uint8_t percent) {
    uint8_t tens = (uint8_t)(percent > 100u ? 100u : percent / 10u * 10u);
    if (tens == t->job.percent) {
        return;
    }
    t->job.percent = tens;
    tc_motion_progress_t progress = {t->job.motion, tens};
    uint8_t message[TC_SIZE_MOTION_PROGRESS];
    emit_latest(t, message, (uint8_t)tc_encode_motion_progress(message, &progress));
}

void emit_reply(table_t *t, uint16_t token, uint8_t outcome, uint8_t reason, uint8_t fault) {
    tc_command_reply_t reply = {token, outcome, reason, fault};
    uint8_t message[TC_SIZE_COMMAND_REPLY];
    emit(t, message, (uint8_t)tc_encode_command_reply(message, &reply));
}

void emit_link_report(table_t *t, bool reliably) {
    const link_counters_t *c = &t->link.counters;
    tc_link_report_t report = {
        c->frames_received, c->frames_sent, c->bad_frames,  c->retransmissions, c->duplicates,
        c->naks_sent,       c->naks_received, c->sessions, t->events_dropped,
    };
    uint8_t message[TC_SIZE_LINK_REPORT];
    uint8_t length = (uint8_t)tc_encode_link_report(message, &report);
    if (reliably) {
        emit_latest(t, message, length);
    } else {
        link_send_datagram(&t->link, t->link.session, message, length);
    }
}

void emit_self_test(table_t *t, const fault_t *fault) {
    bool passed = fault == NULL;
    tc_self_test_report_t report = {
        passed,
        passed ? (uint8_t)TC_FAULT_CODE_NONE : fault->code,
        passed ? (uint8_t)TC_SIDE_NONE : fault->side,
        t->job.tested,
    };
    uint8_t message[TC_SIZE_SELF_TEST_REPORT];
    emit(t, message, (uint8_t)tc_encode_self_test_report(message, &report));
}

void report_fault(table_t *t, const fault_t *fault, uint8_t motion) {
    t->fault = *fault;
    tc_fault_raised_t raised;
    raised.code = fault->code;
    raised.side = fault->side;
    raised.cause = fault->cause;
    raised.latched = fault_latches(fault->code);
    raised.retries = fault->retries;
    memcpy(raised.missing, fault->missing, sizeof raised.missing);
    raised.motion = motion;
    uint8_t message[TC_SIZE_FAULT_RAISED];
    emit(t, message, (uint8_t)tc_encode_fault_raised(message, &raised));
}

void clear_fault(table_t *t) {
    if (t->fault.code == TC_FAULT_CODE_NONE) {
        return;
    }
    tc_fault_cleared_t cleared = {t->fault.code};
    memset(&t->fault, 0, sizeof t->fault);
    uint8_t message[TC_SIZE_FAULT_CLEARED];
    emit(t, message, (uint8_t)tc_encode_fault_cleared(message, &cleared));
}

void update_probe(table_t *t) {
    tc_probe.mode = table_mode(t);
    tc_probe.motion = t->job.motion;
    tc_probe.connected = t->host_alive;
    tc_probe.program = t->memory.program;
    tc_probe.walls_up = t->memory.walls_up;
    for (uint8_t side = 0; side < SIDES; side++) {
        tc_probe.counts[side] = t->memory.counts[side];
        tc_probe.targets[side] = target_of(t, side);
        tc_probe.lights[side] = t->lights[side];
    }
    tc_probe.uptime_ms = t->uptime_ms;
    tc_probe.events_dropped = t->events_dropped;
}
