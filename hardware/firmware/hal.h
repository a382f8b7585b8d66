/* What the core needs of the hardware. hal_avr.c is the chip, host/hal_host.c a PC.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_HAL_H
#define TABLECTL_HAL_H

#include "pins.h"
#include "protocol.h"

#define HAL_EEPROM_SIZE 4096u

typedef struct hal hal_t; /* the hardware's own; the core only hands it back */

/* Read once every millisecond. Bits are pin levels, high is 1, in the order of enum pin_input. */
typedef struct {
    uint32_t pins;
    uint8_t buttons[4];                    /* by seat; bit PINS_BUTTON_...: pressed */
    uint8_t dice;                          /* the dice reader's byte; 0xFF: no reading */
    uint16_t current_ma[PIN_CURRENT_COUNT]; /* by enum pin_current */
} hal_inputs_t;

/* Written once every millisecond. */
typedef struct {
    uint8_t duty[PIN_MOTOR_COUNT]; /* 0 is off, 255 full speed; without PWM anything but 0 is on */
    uint8_t reverse;               /* by enum pin_direction, one bit each */
    uint8_t lights;                /* by seat, one bit each */
    bool motor_enable, status_led;
} hal_outputs_t;

/* What the handshake tells of the firmware; on the chip the flash symbol `tc_identity`. */
typedef struct __attribute__((packed)) {
    char identity[16];
    uint8_t protocol_major, protocol_minor;
    uint8_t firmware[3];
    uint16_t capabilities;
} identity_t;

#define FIRMWARE_VERSION {0, 2, 0}
#define FIRMWARE_IDENTITY \
    { \
        TC_TABLE_IDENTITY, TC_PROTOCOL_MAJOR, TC_PROTOCOL_MINOR, FIRMWARE_VERSION, \
            TC_CAPABILITY_CENTRE | TC_CAPABILITY_WALLS | TC_CAPABILITY_DICE | \
                TC_CAPABILITY_LIGHTS | TC_CAPABILITY_BUTTONS | TC_CAPABILITY_SELF_TEST | \
                TC_CAPABILITY_TWO_SETS | TC_CAPABILITY_LINK_REPORT \
    }

void hal_identity(hal_t *hal, identity_t *identity);

/* A whole frame to the line, or nothing of it when the buffer is full: the link repeats it. */
void hal_line_write(hal_t *hal, const uint8_t *data, uint8_t length);

uint8_t hal_eeprom_read(hal_t *hal, uint16_t address);
bool hal_eeprom_ready(hal_t *hal); /* a byte may be written now */
void hal_eeprom_write(hal_t *hal, uint16_t address, uint8_t value); /* does not wait */

/* Something that nobody can foresee, for the dice: converter noise and the moment of the call. */
uint16_t hal_entropy(hal_t *hal);

#endif
