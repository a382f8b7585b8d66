/* The chip in simavr, with the machine on its pins (hardware/firmware/pins.h).
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_BOARD_H
#define TABLECTL_BOARD_H

#include <sim_avr.h>
#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "machine.h"
#include "pins.h"
#include "probe.h"
#include "safety.h"
#include "serial.h"

#define EEPROM_SIZE 4096u
#define PORTS 12 /* A to L */

typedef struct {
    double level[PIN_MOTOR_COUNT]; /* at the pin, before the emergency stop's relay */
    double area[PIN_MOTOR_COUNT];  /* level times cycles since the machine's last step */
    uint64_t since;
    bool reverse[PIN_DIRECTION_COUNT];
    bool relay;                    /* MOTOR_ENABLE: the supply's relay is pulled */
} outputs_t;

typedef struct {
    avr_t *avr;
    machine_t machine;
    outputs_t out;
    safety_t safety;
    chain_t chain;
    serial_t serial;
    double machine_speed;          /* the machine's seconds in a chip second */
    bool powered, crashed;
    bool active[PIN_INPUT_COUNT];  /* what the machine's contacts say */
    bool level[PIN_INPUT_COUNT];   /* what was last put on the pins */
    uint8_t driven[PORTS], value[PORTS];
    uint16_t millivolts[16];       /* at the converter's channels */
    avr_irq_t *adc_irqs;
    uint32_t probe_address;        /* in data memory; 0: the ELF has none */
    uint32_t hang_address;         /* of a `rjmp .` in flash; 0: none */
    uint16_t stackings, rolls;     /* as last seen in the probe */
    uint64_t next_step, last_step;
} board_t;

/* Loads the ELF and sets everything up, power off. `patches` are SYMBOL=HEX. NULL, or what is
 * wrong. The serial line must be open. */
const char *board_load(board_t *b, const char *elf, char *const *patches, int patch_count);

/* Puts a boot loader beside the firmware; every reset starts there. NULL, or what is wrong. */
const char *board_load_boot(board_t *b, const char *hex);

/* Listens to the pins; once. */
void board_connect(board_t *b);

/* REASON of a start: power-on, external, brown-out, watchdog, software. False: no such reason. */
bool board_power_on(board_t *b, const char *reason);
void board_power_off(board_t *b);
/* The main loop stands still from now on; interrupts go on. False: not possible. */
bool board_hang(board_t *b);

/* Runs the chip for at least so many cycles. False: the firmware has crashed. */
bool board_run(board_t *b, uint64_t cycles);

/* Chip time since the start of the simulation. */
double board_seconds(const board_t *b);
/* Whether a motor turns: the pin, behind the relay and the emergency stop. */
bool board_motor_on(const board_t *b, int motor);
/* What the firmware tells of itself; false when it has not come so far. */
bool board_probe(const board_t *b, probe_t *out);
void board_read_eeprom(const board_t *b, uint8_t out[EEPROM_SIZE]);
void board_write_eeprom(board_t *b, const uint8_t in[EEPROM_SIZE]);

#endif
