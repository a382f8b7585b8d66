/* The controller of one table: everything it knows, and how it is driven.
 *
 * The owner (the chip's main loop, a PC process, a test) calls table_tick every millisecond of the
 * machine's time, table_receive with what came over the line, and table_poll often. Two clocks:
 * the machine's, which simulations may run faster, and the wire's. On the chip they are the same.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_TABLE_H
#define TABLECTL_TABLE_H

#include "config.h"
#include "inputs.h"
#include "journal.h"
#include "link.h"
#include "outputs.h"
#include "probe.h"

#define SIDES 4u

typedef enum { STEP_RUNNING, STEP_DONE, STEP_FAILED, STEP_ABORTED } step_t;

typedef struct {
    uint8_t code;  /* enum tc_fault_code; NONE: no fault */
    uint8_t side;  /* enum tc_side */
    uint8_t cause; /* enum tc_fault_cause */
    uint8_t retries;
    uint8_t missing[SIDES];
} fault_t;

/* What a motion consists of, one after the other (see PLANS in jobs.c). */
typedef enum {
    PHASE_END,
    PHASE_HEADS_HOME,
    PHASE_LIFTS_UP,
    PHASE_LIFTS_DOWN,
    PHASE_CENTRE_OPEN,
    PHASE_CENTRE_CLOSE,
    PHASE_STACK,
    PHASE_SURPLUS,
    PHASE_TRY_FEEDS,
    PHASE_TRY_HEADS,
    PHASE_TRY_LIFTS,
} phase_t;

typedef struct {
    uint8_t motion; /* enum tc_motion; NONE: nothing under way */
    bool has_token;
    uint16_t token;
    uint8_t phase_index, percent;
    bool recorded; /* the memory holds that it is under way */
    bool phase_begun;
    bool reopening; /* the centre panel met a hand and opens again */
    uint8_t side;   /* which is being tried */
    uint32_t since; /* when the phase began, ms of the machine */
    uint8_t tested; /* motors and sensors tried by the self-test */
} job_t;

typedef enum { HEAD_IDLE, HEAD_FORWARD, HEAD_BACK, HEAD_SETTLING } head_stage_t;

typedef struct {
    uint8_t stage; /* head_stage_t */
    uint8_t attempt, cause;
    bool away, pushed; /* the cam has left its rest; STACK was seen in this stroke */
    bool probing;      /* a stroke to see whether tiles are there after all */
    uint8_t waiting_before_probe;
    uint8_t blind;     /* strokes in a row with tiles but without STACK */
    uint8_t idle_ms;   /* since the head ran, saturating: pushes are counted so long */
    uint32_t since;
} head_t;

typedef struct {
    bool is_short[SIDES];
    uint16_t dry_ms[SIDES];       /* since the last tile, the pan turning */
    uint16_t blocked_ms[SIDES];   /* HEAD_IN without a gap, while the head rests */
    uint16_t probe_at_ms[SIDES];  /* of blocked_ms: where the count is in doubt, try a stroke */
    uint16_t stack_blocked_ms[SIDES];
    uint16_t belt_idle_ms[SIDES]; /* since the belt ran, saturating */
    uint8_t pulses[SIDES], waiting_then[SIDES]; /* in and at the start of the rate window */
    uint16_t window_ms;
    uint8_t stalls[1 + SIDES]; /* pan, rings: tried again so often */
    bool pausing;              /* after a stall */
    uint32_t pause_since;
} stacking_t;

typedef struct {
    uint8_t bytes[TC_MAX_PAYLOAD];
    uint8_t length;
    uint16_t session;
} last_syn_t;

typedef struct {
    hal_t *hal;
    config_t config;
    config_state_t config_state;
    identity_t identity;
    uint8_t reset_reason;
    journal_t journal;
    memory_t memory;
    uint8_t interrupted; /* the motion that the last stop cut short */
    inputs_t inputs;
    outputs_t outputs;

    uint32_t uptime_ms; /* the machine's clock */
    uint32_t wire_ms;
    link_t link;
    last_syn_t last_syn;
    bool host_known, host_alive;
    uint32_t host_heard_ms; /* wire */
    uint32_t next_beat_ms, next_report_ms;
    bool periodic_due; /* the first heartbeat of a session goes at once */
    uint16_t events_dropped, malformed;

    job_t job, dice;
    bool homed;
    fault_t fault;   /* the one that holds, or NONE */
    fault_t failure; /* why a step failed */
    uint8_t abort_reason;
    head_t heads[SIDES];
    stacking_t stacking;
    uint8_t lights[SIDES]; /* enum tc_light_pattern */
    uint32_t random;
    tc_table_state_t told; /* the last state sent, to send only changes */
    bool told_any;
} table_t;

extern probe_t tc_probe;

/* --- for the owner --- */

void table_init(table_t *t, hal_t *hal, uint8_t reset_reason, const hal_inputs_t *inputs);
void table_receive(table_t *t, const uint8_t *data, uint16_t length, uint32_t wire_ms);
void table_tick(table_t *t, const hal_inputs_t *inputs, hal_outputs_t *outputs);
void table_poll(table_t *t, uint32_t wire_ms);
/* Stirs the dice; called with whatever is unpredictable, such as when a byte came. */
void table_stir(table_t *t, uint16_t entropy);

/* --- session.c --- */

void session_start(table_t *t);
/* Sends an event; without a session it is dropped, for late buttons must never count. */
void emit(table_t *t, const uint8_t *message, uint8_t length);
void emit_latest(table_t *t, const uint8_t *message, uint8_t length);

/* --- report.c: events and what they say --- */

uint8_t table_mode(const table_t *t);
uint8_t centre_place(const table_t *t);
uint8_t lifts_place(const table_t *t);
uint8_t target_of(const table_t *t, uint8_t side);
bool walls_complete(const table_t *t);
bool is_latched(const table_t *t);
bool fault_latches(uint8_t code);
void emit_state(table_t *t, bool even_unchanged);
void emit_stacks(table_t *t);
void emit_sensors(table_t *t);
void emit_progress(table_t *t, uint8_t percent);
void emit_reply(table_t *t, uint16_t token, uint8_t outcome, uint8_t reason, uint8_t fault);
void emit_link_report(table_t *t, bool reliably);
void emit_self_test(table_t *t, const fault_t *fault);
void report_fault(table_t *t, const fault_t *fault, uint8_t motion);
void clear_fault(table_t *t);
void update_probe(table_t *t);

/* --- jobs.c: motions as plans of phases, and the guard over them --- */

void job_begin(table_t *t, uint8_t motion, bool has_token, uint16_t token);
void job_stop(table_t *t);
void jobs_tick(table_t *t);
void set_host_alive(table_t *t, bool alive);

/* --- commands.c --- */

void execute(table_t *t, const uint8_t *payload, uint8_t length);

/* --- motions.c --- */

step_t fail(table_t *t, uint8_t code, uint8_t side, uint8_t cause, uint8_t retries);
bool after(const table_t *t, uint32_t since, uint16_t milliseconds);
void head_start(table_t *t, uint8_t side);
step_t head_step(table_t *t, uint8_t side);
bool heads_busy(const table_t *t);
step_t phase_step(table_t *t, phase_t phase, bool first);
void forget_walls(table_t *t);

/* --- stacking.c --- */

void count_tiles(table_t *t);
void stacking_start(table_t *t);
step_t stacking_step(table_t *t);
step_t surplus_step(table_t *t, bool first);

/* --- selftest.c --- */

step_t try_step(table_t *t, phase_t phase, bool first);

/* --- consoles.c: buttons, lights, dice --- */

void consoles_tick(table_t *t);
uint8_t lights_now(const table_t *t);
step_t dice_step(table_t *t);

#endif
