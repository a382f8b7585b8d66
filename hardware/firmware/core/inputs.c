#include "inputs.h"

#include <string.h>

static uint32_t with_polarity(const config_t *config, uint32_t pins) {
    uint32_t all = (1ul << PIN_INPUT_COUNT) - 1ul;
    return (pins ^ (config->active_low & CONFIG_ACTIVE_LOW_ALLOWED)) & all;
}

void inputs_init(inputs_t *inputs, const config_t *config, const hal_inputs_t *raw) {
    memset(inputs, 0, sizeof *inputs);
    inputs->raw = inputs->active = with_polarity(config, raw->pins);
    memcpy(inputs->pressed, raw->buttons, sizeof inputs->pressed);
    inputs->dice = raw->dice;
}

static uint8_t debounce_of(const config_t *config, uint8_t input) {
    if (input == PIN_INPUT_E_STOP) {
        return (uint8_t)config->stop_debounce;
    }
    return (uint8_t)(input >= PIN_INPUT_HEAD_IN_0 ? config->photo_debounce
                                                  : config->switch_debounce);
}

static void debounce_pins(inputs_t *inputs, const config_t *config) {
    uint32_t differs = inputs->raw ^ inputs->active;
    if (differs == 0u && !inputs->unsettled) {
        return; /* nearly always */
    }
    inputs->unsettled = differs != 0u;
    uint32_t bit = 1;
    for (uint8_t i = 0; i < PIN_INPUT_COUNT; i++, bit <<= 1) {
        if ((differs & bit) == 0u) {
            inputs->steady[i] = 0;
        } else if (++inputs->steady[i] >= debounce_of(config, i)) {
            inputs->steady[i] = 0;
            inputs->active ^= bit;
            inputs->rose |= inputs->active & bit;
        }
    }
}

static void debounce_buttons(inputs_t *inputs, const config_t *config, const uint8_t *raw) {
    for (uint8_t seat = 0; seat < 4u; seat++) {
        uint8_t differs = (uint8_t)(raw[seat] ^ inputs->pressed[seat]);
        inputs->button_rose[seat] = 0;
        if (differs == 0u && !inputs->button_unsettled[seat]) {
            continue;
        }
        inputs->button_unsettled[seat] = differs != 0u;
        for (uint8_t i = 0; i < 6u; i++) {
            uint8_t bit = (uint8_t)(1u << i);
            if ((differs & bit) == 0u) {
                inputs->button_steady[seat][i] = 0;
            } else if (++inputs->button_steady[seat][i] >= config->button_debounce) {
                inputs->button_steady[seat][i] = 0;
                inputs->pressed[seat] = (uint8_t)(inputs->pressed[seat] ^ bit);
                inputs->button_rose[seat] |= (uint8_t)(inputs->pressed[seat] & bit);
            }
        }
    }
}

void inputs_tick(inputs_t *inputs, const config_t *config, const hal_inputs_t *raw) {
    uint32_t before = inputs->raw;
    inputs->raw = with_polarity(config, raw->pins);
    inputs->raw_rose = inputs->raw & ~before;
    inputs->rose = 0;
    debounce_pins(inputs, config);
    debounce_buttons(inputs, config, raw->buttons);
    inputs->dice = raw->dice;
    for (uint8_t i = 0; i < PIN_CURRENT_COUNT; i++) {
        if (raw->current_ma[i] <= config->current_limit[i]) {
            inputs->over_ms[i] = 0;
        } else if (inputs->over_ms[i] < 255u) {
            inputs->over_ms[i]++;
        }
    }
}
