/* The ATmega2560's output registers, as the world sees them.
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_PORTS_H
#define TABLECTL_PORTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char port;
    uint8_t bit;
} pin_t;

/* Data memory address of PINx; DDRx and PORTx follow. */
uint16_t port_address(char port);

/* What an output pin does: 0 low or no output, 1 high, between them the duty of its PWM. */
double pin_level(const uint8_t *data, pin_t pin);

/* Whether an input's pull-up is on. */
bool pin_pulled_up(const uint8_t *data, pin_t pin);

#endif
