/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "ports.h"

#include <stddef.h>

/* A timer output: where its registers are (ATmega2560 data sheet, "Register Summary"). */
typedef struct {
    char port;
    uint8_t bit, com_shift;
    bool wide;
    uint16_t control, compare, compare_a, top;
} output_compare_t;

static const output_compare_t OUTPUTS[] = {
    {'B', 5, 6, true, 0x80, 0x88, 0x88, 0x86},   /* OC1A */
    {'B', 6, 4, true, 0x80, 0x8A, 0x88, 0x86},   /* OC1B */
    {'H', 3, 6, true, 0xA0, 0xA8, 0xA8, 0xA6},   /* OC4A */
    {'H', 4, 4, true, 0xA0, 0xAA, 0xA8, 0xA6},   /* OC4B */
    {'H', 5, 2, true, 0xA0, 0xAC, 0xA8, 0xA6},   /* OC4C */
    {'B', 4, 6, false, 0xB0, 0xB3, 0xB3, 0xB3},  /* OC2A */
    {'H', 6, 4, false, 0xB0, 0xB4, 0xB3, 0xB3},  /* OC2B */
};

uint16_t port_address(char port) {
    if (port <= 'G') {
        return (uint16_t)(0x20 + 3 * (port - 'A'));
    }
    return (uint16_t)(0x100 + 3 * (port == 'H' ? 0 : port - 'I'));
}

static unsigned word(const uint8_t *data, uint16_t address) {
    return data[address] | (unsigned)data[address + 1] << 8;
}

/* The counter's top in the PWM modes; 0 where the timer makes no PWM. */
static unsigned wide_top(const uint8_t *data, const output_compare_t *oc) {
    static const unsigned FIXED[] = {0, 0xFF, 0x1FF, 0x3FF};
    unsigned mode = (data[oc->control] & 3u) | (data[oc->control + 1] >> 1 & 0xCu);
    if (mode < 8 && mode != 4) {
        return FIXED[mode & 3u];
    }
    if (mode == 8 || mode == 10 || mode == 14) {
        return word(data, oc->top);
    }
    return mode == 9 || mode == 11 || mode == 15 ? word(data, oc->compare_a) : 0;
}

static unsigned narrow_top(const uint8_t *data, const output_compare_t *oc) {
    unsigned mode = (data[oc->control] & 3u) | (data[oc->control + 1] >> 1 & 4u);
    if (mode == 1 || mode == 3) {
        return 0xFF;
    }
    return mode == 5 || mode == 7 ? data[oc->compare_a] : 0;
}

/* Duty of a pin under PWM (non-inverting), or less than 0 where the port drives it. */
static double pwm_duty(const uint8_t *data, pin_t pin) {
    for (size_t i = 0; i < sizeof OUTPUTS / sizeof *OUTPUTS; i++) {
        const output_compare_t *oc = &OUTPUTS[i];
        if (oc->port != pin.port || oc->bit != pin.bit) {
            continue;
        }
        unsigned connected = data[oc->control] >> oc->com_shift & 3u;
        unsigned top = oc->wide ? wide_top(data, oc) : narrow_top(data, oc);
        if (connected == 0 || top == 0) {
            return -1;
        }
        unsigned compare = oc->wide ? word(data, oc->compare) : data[oc->compare];
        return compare >= top ? 1 : (double)compare / (double)top;
    }
    return -1;
}

double pin_level(const uint8_t *data, pin_t pin) {
    uint16_t base = port_address(pin.port);
    if (!(data[base + 1] >> pin.bit & 1u)) {
        return 0;
    }
    double duty = pwm_duty(data, pin);
    return duty >= 0 ? duty : (double)(data[base + 2] >> pin.bit & 1u);
}

bool pin_pulled_up(const uint8_t *data, pin_t pin) {
    uint16_t base = port_address(pin.port);
    return !(data[base + 1] >> pin.bit & 1u) && (data[base + 2] >> pin.bit & 1u);
}
