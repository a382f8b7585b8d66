/* Commands: carried out, or refused with a reason; each is answered. */
#include <string.h>

#include "table.h"

static void remember(table_t *t, const uint8_t *payload, uint8_t length) {
    (void)t;
    probe_command_t *entry = &tc_probe.log[tc_probe.executed % PROBE_LOG];
    entry->id = payload[0];
    entry->token = tc_get_u16(payload + 1);
    entry->arguments[0] = length > 3u ? payload[3] : 0u;
    entry->arguments[1] = length > 4u ? payload[4] : 0u;
    tc_probe.executed++;
}

/* --- why not --- */

static uint8_t refuses_motion(const table_t *t, bool needs_homed) {
    if (input_is(&t->inputs, PIN_INPUT_E_STOP) ||
        t->fault.code == TC_FAULT_CODE_EMERGENCY_STOP) {
        return TC_REASON_EMERGENCY_STOP;
    }
    if (is_latched(t)) {
        return TC_REASON_FAULT_LATCHED;
    }
    if (t->job.motion != TC_MOTION_NONE) {
        return TC_REASON_BUSY;
    }
    if (input_is(&t->inputs, PIN_INPUT_COVER)) {
        return TC_REASON_COVER_OPEN;
    }
    if (!t->host_alive) {
        return TC_REASON_NO_HOST;
    }
    return needs_homed && !t->homed ? TC_REASON_NOT_HOMED : TC_REASON_NONE;
}

static uint8_t refuses_build(const table_t *t, const tc_build_walls_t *build) {
    if (build->program == TC_TILE_PROGRAM_NONE) {
        return TC_REASON_BAD_ARGUMENT;
    }
    if (centre_place(t) != TC_PLACE_LOW) {
        return TC_REASON_CENTRE_NOT_CLOSED;
    }
    if (lifts_place(t) != TC_PLACE_LOW) {
        return TC_REASON_LIFTS_NOT_DOWN;
    }
    bool going_on = t->memory.program != TC_TILE_PROGRAM_NONE;
    bool another = t->memory.program != build->program || t->memory.dealer != build->dealer;
    if (walls_complete(t) || (going_on && another)) {
        return TC_REASON_WALLS_WAITING;
    }
    return TC_REASON_NONE;
}

static uint8_t refuses_raise(const table_t *t, const tc_raise_walls_t *raise) {
    if (lifts_place(t) != TC_PLACE_LOW) {
        return TC_REASON_LIFTS_NOT_DOWN;
    }
    if (centre_place(t) != TC_PLACE_LOW) {
        return TC_REASON_CENTRE_NOT_CLOSED;
    }
    if (t->memory.program == TC_TILE_PROGRAM_NONE) {
        return TC_REASON_NOT_BUILT;
    }
    return walls_complete(t) || raise->despite_short ? TC_REASON_NONE : TC_REASON_SHORT_SET;
}

static uint8_t refuses_self_test(const table_t *t) {
    if (lifts_place(t) != TC_PLACE_LOW) {
        return TC_REASON_LIFTS_NOT_DOWN;
    }
    return t->memory.program == TC_TILE_PROGRAM_NONE ? TC_REASON_NONE : TC_REASON_WALLS_WAITING;
}

static uint8_t refuses_reset(const table_t *t) {
    if (input_is(&t->inputs, PIN_INPUT_E_STOP)) {
        return TC_REASON_EMERGENCY_STOP;
    }
    if (input_is(&t->inputs, PIN_INPUT_COVER)) {
        return TC_REASON_COVER_OPEN;
    }
    if (t->fault.code == TC_FAULT_CODE_NONE) {
        return TC_REASON_NOTHING_TO_RESET;
    }
    if (t->config_state == CONFIG_DAMAGED) {
        return TC_REASON_FAULT_LATCHED; /* only a new configuration helps */
    }
    return t->job.motion != TC_MOTION_NONE ? TC_REASON_BUSY : TC_REASON_NONE;
}

/* --- one command --- */

typedef struct {
    const uint8_t *payload;
    uint8_t length;
    uint16_t token;
} command_t;

static void refuse(table_t *t, const command_t *c, uint8_t reason) {
    emit_reply(t, c->token, TC_OUTCOME_REFUSED, reason, TC_FAULT_CODE_NONE);
}

static void done(table_t *t, const command_t *c) {
    remember(t, c->payload, c->length);
    emit_reply(t, c->token, TC_OUTCOME_DONE, TC_REASON_NONE, TC_FAULT_CODE_NONE);
}

/* Accepts, then begins the motion; or refuses. */
static void start(table_t *t, const command_t *c, uint8_t motion, uint8_t reason) {
    if (reason != TC_REASON_NONE) {
        refuse(t, c, reason);
        return;
    }
    remember(t, c->payload, c->length);
    emit_reply(t, c->token, TC_OUTCOME_ACCEPTED, TC_REASON_NONE, TC_FAULT_CODE_NONE);
    job_begin(t, motion, true, c->token);
    emit_state(t, false);
}

static uint8_t first_reason(uint8_t first, uint8_t second) {
    return first != TC_REASON_NONE ? first : second;
}

static void on_build(table_t *t, const command_t *c, const tc_build_walls_t *build) {
    uint8_t reason = first_reason(refuses_motion(t, true), refuses_build(t, build));
    if (reason == TC_REASON_NONE && t->memory.program == TC_TILE_PROGRAM_NONE) {
        t->memory.program = build->program;
        t->memory.dealer = build->dealer;
        t->memory.tile_set ^= 1u;
        memset(t->memory.waiting, 0, sizeof t->memory.waiting);
        t->memory.doubtful = 0;
        update_probe(t);
        tc_probe.stackings++; /* last: the plant simulators load the pan for the targets they see */
    }
    start(t, c, TC_MOTION_BUILDING, reason);
}

static void on_dice(table_t *t, const command_t *c) {
    uint8_t reason = TC_REASON_NONE;
    if (is_latched(t)) {
        reason = TC_REASON_FAULT_LATCHED;
    } else if (t->dice.motion != TC_MOTION_NONE) {
        reason = TC_REASON_BUSY;
    }
    start(t, c, TC_MOTION_DICE, reason);
}

static void on_lights(table_t *t, const command_t *c, const tc_set_lights_t *lights) {
    for (uint8_t seat = 0; seat < SIDES; seat++) {
        if ((lights->seats >> seat) & 1u) {
            t->lights[seat] = lights->pattern;
        }
    }
    done(t, c);
}

static void on_stop(table_t *t, const command_t *c) {
    outputs_off(&t->outputs);
    job_stop(t);
    done(t, c);
}

static void on_reset(table_t *t, const command_t *c) {
    uint8_t reason = refuses_reset(t);
    if (reason != TC_REASON_NONE) {
        refuse(t, c, reason);
        return;
    }
    bool latched = is_latched(t);
    clear_fault(t);
    if (latched) {
        start(t, c, TC_MOTION_HOMING, TC_REASON_NONE);
    } else {
        done(t, c);
    }
}

static void on_query(table_t *t, const command_t *c) {
    emit_link_report(t, true);
    emit_state(t, true);
    emit_stacks(t);
    emit_sensors(t);
    done(t, c);
}

/* Commands without arguments; false for every other. */
static bool execute_plain(table_t *t, const command_t *c) {
    if (c->length != TC_SIZE_STOP) {
        return false;
    }
    switch (c->payload[0]) {
    case TC_MSG_OPEN_CENTRE:
        start(t, c, TC_MOTION_OPENING_CENTRE, refuses_motion(t, true));
        return true;
    case TC_MSG_CLOSE_CENTRE:
        start(t, c, TC_MOTION_CLOSING_CENTRE, refuses_motion(t, true));
        return true;
    case TC_MSG_LOWER_WALLS: {
        bool up = lifts_place(t) == TC_PLACE_HIGH;
        uint8_t second = up ? TC_REASON_NONE : TC_REASON_LIFTS_NOT_UP;
        start(t, c, TC_MOTION_LOWERING, first_reason(refuses_motion(t, true), second));
        return true;
    }
    case TC_MSG_SELF_TEST: {
        uint8_t reason = first_reason(refuses_motion(t, true), refuses_self_test(t));
        start(t, c, TC_MOTION_SELF_TEST, reason);
        return true;
    }
    case TC_MSG_HOME:
        start(t, c, TC_MOTION_HOMING, refuses_motion(t, false));
        return true;
    case TC_MSG_ROLL_DICE:
        on_dice(t, c);
        return true;
    case TC_MSG_STOP:
        on_stop(t, c);
        return true;
    case TC_MSG_RESET_FAULT:
        on_reset(t, c);
        return true;
    case TC_MSG_QUERY_STATE:
        on_query(t, c);
        return true;
    default:
        return false;
    }
}

static bool execute_with_arguments(table_t *t, const command_t *c) {
    tc_build_walls_t build;
    tc_raise_walls_t raise;
    tc_set_lights_t lights;
    if (tc_decode_build_walls(c->payload, c->length, &build)) {
        on_build(t, c, &build);
    } else if (tc_decode_raise_walls(c->payload, c->length, &raise)) {
        uint8_t reason = first_reason(refuses_motion(t, true), refuses_raise(t, &raise));
        start(t, c, TC_MOTION_RAISING, reason);
    } else if (tc_decode_set_lights(c->payload, c->length, &lights)) {
        on_lights(t, c, &lights);
    } else {
        return false;
    }
    return true;
}

/* Messages that are no commands: nothing to answer. */
static bool is_no_command(uint8_t id) {
    return id < TC_MSG_OPEN_CENTRE || (id >= TC_MSG_COMMAND_REPLY && id <= TC_MSG_SENSOR_REPORT);
}

void execute(table_t *t, const uint8_t *payload, uint8_t length) {
    if (length == 0u || is_no_command(payload[0])) {
        t->malformed++;
        return;
    }
    if (length < TC_SIZE_STOP) { /* not even a token */
        t->malformed++;
        return;
    }
    command_t command = {payload, length, tc_get_u16(payload + 1)};
    if (!execute_plain(t, &command) && !execute_with_arguments(t, &command)) {
        t->malformed++;
        refuse(t, &command, TC_REASON_UNSUPPORTED);
    }
}
