/* Inputs as the controller believes them: polarity, debouncing, edges, over-current times.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_INPUTS_H
#define TABLECTL_INPUTS_H

#include "config.h"

typedef struct {
    uint32_t active;   /* debounced; bit by enum pin_input, set is active */
    uint32_t rose;     /* became active in this tick, debounced */
    uint32_t raw_rose; /* ... before debouncing */
    uint8_t pressed[4]; /* buttons by seat, debounced */
    uint8_t button_rose[4];
    uint8_t dice;
    uint8_t over_ms[PIN_CURRENT_COUNT]; /* above its limit for so long, saturating */

    uint32_t raw;
    bool unsettled, button_unsettled[4]; /* some `steady` below is not zero */
    uint8_t steady[PIN_INPUT_COUNT]; /* ms for which the raw level has differed from `active` */
    uint8_t button_steady[4][6];
} inputs_t;

/* Takes the first reading as it is, so that nothing seems to change at start. */
void inputs_init(inputs_t *inputs, const config_t *config, const hal_inputs_t *raw);
/* Called every millisecond. */
void inputs_tick(inputs_t *inputs, const config_t *config, const hal_inputs_t *raw);

/* One bit of the 24, without the chip's slow shifts of 32 bits. */
static inline bool input_bit(uint32_t bits, uint8_t input) {
    uint8_t byte = (uint8_t)(input < 8u ? bits : input < 16u ? bits >> 8 : bits >> 16);
    return (bool)((byte >> (input & 7u)) & 1u);
}

static inline bool input_is(const inputs_t *inputs, uint8_t input) {
    return input_bit(inputs->active, input);
}

/* Four inputs of the sides 0 to 3 as bits 0 to 3; `first` is the one of side 0. */
static inline uint8_t inputs_of_sides(uint32_t bits, uint8_t first) {
    return (uint8_t)((bits >> first) & 15u);
}

#endif
