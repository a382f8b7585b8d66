/* The last stage before the motors: ramps, direction changes, limit switches, longest on-times.
 *
 * Motions say what they want; whatever they want, a motor stops here at its limit switch, after its
 * longest on-time, and with the emergency stop open.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_OUTPUTS_H
#define TABLECTL_OUTPUTS_H

#include "inputs.h"

#define OUTPUT_GROUPS 6u /* bridges that share a direction: four heads, the trays, the centre */

typedef struct {
    int8_t want[PIN_MOTOR_COUNT]; /* 1 forward (stack, up, open), -1 back, 0 off */
    uint8_t duty[PIN_MOTOR_COUNT];
    uint16_t ramp[PIN_MOTOR_COUNT]; /* the duty in 1/256, where there is a ramp */
    uint16_t on_ms[PIN_MOTOR_COUNT];
    int8_t direction[OUTPUT_GROUPS]; /* 1 or -1 as the direction pins stand */
    uint8_t rested[OUTPUT_GROUPS];   /* ms since the last motor of the group ran, saturating */
    uint8_t overrun; /* the motor that was on for too long, or OUTPUT_NONE */
} outputs_t;

#define OUTPUT_NONE 0xFFu

void outputs_init(outputs_t *outputs);
void outputs_off(outputs_t *outputs);
/* Called every millisecond. `host_silent_ms`: since the host was last heard. */
void outputs_tick(outputs_t *outputs, const config_t *config, const inputs_t *inputs,
                  uint32_t host_silent_ms);
/* What the hardware shall do now: motors and directions. */
void outputs_write(const outputs_t *outputs, const config_t *config, hal_outputs_t *out);
bool outputs_any_wanted(const outputs_t *outputs);

#endif
