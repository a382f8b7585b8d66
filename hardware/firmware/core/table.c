#include "table.h"

#include <string.h>

#define LED_SLOW_BIT 10u /* of the milliseconds: about a second on, a second off */
#define LED_FAST_BIT 7u

static void report_start(table_t *t) {
    if (t->config_state == CONFIG_DAMAGED) {
        fault_t damaged = {TC_FAULT_CODE_CONFIGURATION_INVALID, TC_SIDE_NONE, TC_FAULT_CAUSE_NONE,
                           0, {0}};
        report_fault(t, &damaged, TC_MOTION_NONE);
        return; /* and nothing moves: limits and polarity are not to be trusted */
    }
    if (t->interrupted != TC_MOTION_NONE) {
        fault_t cut = {TC_FAULT_CODE_POWER_CUT, TC_SIDE_NONE, TC_FAULT_CAUSE_RESTARTED, 0, {0}};
        report_fault(t, &cut, TC_MOTION_NONE);
    }
    job_begin(t, TC_MOTION_HOMING, false, 0);
}

void table_init(table_t *t, hal_t *hal, uint8_t reset_reason, const hal_inputs_t *inputs) {
    memset(t, 0, sizeof *t);
    memset(&tc_probe, 0, sizeof tc_probe);
    tc_probe.magic = PROBE_MAGIC;
    t->hal = hal;
    t->reset_reason = reset_reason;
    hal_identity(hal, &t->identity);
    t->config_state = config_load(&t->config, hal);
    journal_load(&t->journal, &t->memory, hal);
    t->memory.boot_count++;
    t->interrupted = t->memory.motion;
    if (t->interrupted != TC_MOTION_NONE) {
        t->memory.doubtful = 15; /* a tile may have passed a sensor while the power went */
    }
    inputs_init(&t->inputs, &t->config, inputs);
    outputs_init(&t->outputs);
    for (uint8_t side = 0; side < SIDES; side++) {
        t->stacking.belt_idle_ms[side] = 0xFFFFu;
        t->heads[side].idle_ms = 255;
    }
    table_stir(t, hal_entropy(hal));
    table_stir(t, t->memory.boot_count);
    session_start(t);
    report_start(t);
    update_probe(t);
}

static bool led_now(const table_t *t) {
    return ((uint16_t)t->uptime_ms >> (is_latched(t) ? LED_FAST_BIT : LED_SLOW_BIT)) & 1u;
}

void table_tick(table_t *t, const hal_inputs_t *inputs, hal_outputs_t *outputs) {
    t->uptime_ms++;
    inputs_tick(&t->inputs, &t->config, inputs);
    jobs_tick(t);
    consoles_tick(t);
    outputs_tick(&t->outputs, &t->config, &t->inputs, t->wire_ms - t->host_heard_ms);
    if (is_latched(t)) {
        outputs_off(&t->outputs); /* whatever a motion may have wanted in this tick */
    }
    journal_tick(&t->journal, &t->memory, t->hal);
    outputs_write(&t->outputs, &t->config, outputs);
    outputs->lights = lights_now(t);
    outputs->status_led = led_now(t);
    outputs->motor_enable = !is_latched(t);
    update_probe(t);
}
