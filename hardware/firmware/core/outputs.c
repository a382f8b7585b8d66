#include "outputs.h"

#include <string.h>

#define NO_GROUP 0xFFu
#define GROUP_LIFTS 4u
#define GROUP_CENTRE 5u
#define RESTED_MAX 255u

void outputs_init(outputs_t *outputs) {
    memset(outputs, 0, sizeof *outputs);
    memset(outputs->direction, 1, sizeof outputs->direction);
    memset(outputs->rested, RESTED_MAX, sizeof outputs->rested);
    outputs->overrun = OUTPUT_NONE;
}

void outputs_off(outputs_t *outputs) {
    memset(outputs->want, 0, sizeof outputs->want);
    memset(outputs->duty, 0, sizeof outputs->duty);
    memset(outputs->ramp, 0, sizeof outputs->ramp);
}

bool outputs_any_wanted(const outputs_t *outputs) {
    for (uint8_t motor = 0; motor < PIN_MOTOR_COUNT; motor++) {
        if (outputs->want[motor] != 0) {
            return true;
        }
    }
    return false;
}

static uint8_t group_of(uint8_t motor) {
    if (motor < PIN_MOTOR_HEAD_0) {
        return NO_GROUP;
    }
    if (motor < PIN_MOTOR_LIFT_0) {
        return (uint8_t)(motor - PIN_MOTOR_HEAD_0);
    }
    return motor < PIN_MOTOR_CENTRE ? GROUP_LIFTS : GROUP_CENTRE;
}

/* The limit switch that ends this direction is closed. */
static bool at_limit(const inputs_t *inputs, uint8_t motor, int8_t want) {
    if (motor == PIN_MOTOR_CENTRE) {
        return input_is(inputs, want > 0 ? PIN_INPUT_CENTRE_OPEN : PIN_INPUT_CENTRE_CLOSED);
    }
    if (motor >= PIN_MOTOR_LIFT_0) {
        uint8_t side = (uint8_t)(motor - PIN_MOTOR_LIFT_0);
        uint8_t first = want > 0 ? PIN_INPUT_LIFT_TOP_0 : PIN_INPUT_LIFT_BOTTOM_0;
        return input_is(inputs, (uint8_t)(first + side));
    }
    return false;
}

static uint16_t ramp_of(const config_t *config, uint8_t motor) {
    if (motor == PIN_MOTOR_PAN) {
        return config->pan_ramp;
    }
    if (motor == PIN_MOTOR_CENTRE) {
        return config->centre_ramp;
    }
    return motor >= PIN_MOTOR_LIFT_0 ? config->lift_ramp : 0u;
}

static bool on_too_long(const outputs_t *outputs, const config_t *config, uint8_t motor,
                        uint32_t host_silent_ms) {
    uint16_t on = outputs->on_ms[motor];
    if (motor < PIN_MOTOR_HEAD_0) {
        return on > 0u && host_silent_ms > config->feed_on_max;
    }
    if (motor < PIN_MOTOR_LIFT_0) {
        return on > config->head_on_max;
    }
    return on > (motor < PIN_MOTOR_CENTRE ? config->lift_on_max : config->centre_on_max);
}

/* The bridge stands in the wanted direction, after a rest where it had to be turned. */
static bool direction_ready(outputs_t *outputs, const config_t *config, uint8_t group,
                            int8_t want) {
    if (group == NO_GROUP || outputs->direction[group] == want) {
        return true;
    }
    if (outputs->rested[group] < config->dead_time) {
        return false;
    }
    outputs->direction[group] = want;
    return true;
}

static uint8_t next_duty(outputs_t *outputs, const config_t *config, uint8_t motor) {
    uint16_t ramp = ramp_of(config, motor);
    if (ramp == 0u) {
        return 255u;
    }
    uint16_t step = (uint16_t)(0xFF00u / ramp);
    uint16_t duty = outputs->ramp[motor];
    duty = (uint16_t)(duty > 0xFF00u - step ? 0xFF00u : duty + step);
    outputs->ramp[motor] = duty;
    return (uint8_t)(duty >> 8) > 0u ? (uint8_t)(duty >> 8) : 1u;
}

static void stop_motor(outputs_t *outputs, uint8_t motor) {
    outputs->duty[motor] = 0;
    outputs->ramp[motor] = 0;
}

static void tick_motor(outputs_t *outputs, const config_t *config, const inputs_t *inputs,
                       uint8_t motor) {
    int8_t want = outputs->want[motor];
    uint8_t group = group_of(motor);
    if (want == 0 || at_limit(inputs, motor, want)) {
        stop_motor(outputs, motor);
        outputs->on_ms[motor] = 0;
        return;
    }
    bool turning = group != NO_GROUP && outputs->direction[group] != want;
    if (turning && outputs->duty[motor] > 0u) {
        stop_motor(outputs, motor);
        outputs->rested[group] = 0;
        outputs->on_ms[motor] = 0;
        return;
    }
    if (!direction_ready(outputs, config, group, want)) {
        stop_motor(outputs, motor);
        return;
    }
    outputs->duty[motor] = next_duty(outputs, config, motor);
    if (outputs->on_ms[motor] < 0xFFFFu) {
        outputs->on_ms[motor]++;
    }
}

static void tick_rests(outputs_t *outputs) {
    for (uint8_t group = 0; group < OUTPUT_GROUPS; group++) {
        if (outputs->rested[group] < RESTED_MAX) {
            outputs->rested[group]++;
        }
    }
    for (uint8_t motor = PIN_MOTOR_HEAD_0; motor < PIN_MOTOR_COUNT; motor++) {
        if (outputs->duty[motor] > 0u) {
            outputs->rested[group_of(motor)] = 0;
        }
    }
}

void outputs_tick(outputs_t *outputs, const config_t *config, const inputs_t *inputs,
                  uint32_t host_silent_ms) {
    for (uint8_t motor = 0; motor < PIN_MOTOR_COUNT; motor++) {
        if (outputs->want[motor] == 0 && outputs->duty[motor] == 0u) {
            outputs->on_ms[motor] = 0;
            continue;
        }
        tick_motor(outputs, config, inputs, motor);
        if (outputs->overrun == OUTPUT_NONE &&
            on_too_long(outputs, config, motor, host_silent_ms)) {
            outputs->overrun = motor;
        }
    }
    if (outputs->overrun != OUTPUT_NONE) {
        outputs_off(outputs);
    }
    tick_rests(outputs);
}

void outputs_write(const outputs_t *outputs, const config_t *config, hal_outputs_t *out) {
    uint8_t reverse = 0;
    for (uint8_t group = 0; group < OUTPUT_GROUPS; group++) {
        if (outputs->direction[group] < 0) {
            reverse |= (uint8_t)(1u << group);
        }
    }
    out->reverse = (uint8_t)(reverse ^ config->swapped);
    memcpy(out->duty, outputs->duty, sizeof out->duty);
}
