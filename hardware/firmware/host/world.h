/* A table on a PC: the core, its machine, its memory, and the control lines of README.md.
 *
 * One at a time in a process, for the core's probe is one. Also the library that tests drive in
 * virtual time.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_WORLD_H
#define TABLECTL_WORLD_H

#include <stddef.h>

#include "../core/table.h"
#include "plant.h"

#define WORLD_OUTPUT 4096
#define WORLD_PRESSES 64
#define WORLD_DICE 16

struct hal {
    uint8_t eeprom[HAL_EEPROM_SIZE];
    identity_t identity;
    uint8_t output[WORLD_OUTPUT];
    size_t output_length;
    uint32_t random;
};

typedef struct {
    uint8_t seat, button;
} press_t;

typedef struct {
    int violations_e_stop, violations_limit;
    int open_ms;          /* since E_STOP opened; -1 while closed */
    int last_on_ms;       /* when the last motor pin was still on, after the opening */
    bool was_on;          /* any motor was on when it opened */
    int limit_ms[PLANT_SIDES];
} monitor_t;

typedef struct {
    struct hal hal;
    plant_t plant;
    table_t table;
    hal_outputs_t outputs;
    bool powered;
    int hung_ms; /* the main loop stands still for so long already; -1: it runs */
    uint32_t wire_ms;
    uint16_t stackings_seen, rolls_seen;
    press_t presses[WORLD_PRESSES];
    int press_count;
    uint8_t held_ms[4][6], gap_ms[4][6];
    uint8_t dice[WORLD_DICE][2];
    int dice_count;
    monitor_t monitor;
} world_t;

world_t *world_new(uint32_t seed);
void world_free(world_t *world);
void world_power_off(world_t *world);
void world_power_on(world_t *world, uint8_t reset_reason);
/* Bytes from the host. */
void world_receive(world_t *world, const uint8_t *data, size_t length, uint32_t wire_ms);
/* Lets time pass: on the wire to `wire_ms`, in the machine `table_ms` milliseconds. */
void world_advance(world_t *world, uint32_t wire_ms, uint32_t table_ms);
/* Bytes to the host; how many were taken. */
size_t world_take_output(world_t *world, uint8_t *buffer, size_t capacity);
/* One control line, without its end; the answer without its end. */
void world_control(world_t *world, const char *line, char *reply, size_t capacity);
/* As --patch tc_identity=HEX. */
bool world_patch(world_t *world, const char *symbol_and_hex);
const probe_t *world_probe(void);

int world_motor_pin(const world_t *world, int motor);
int world_direction(const world_t *world, int motor);
double world_place(const world_t *world, int what);
int world_pushed(const world_t *world, int side);
int world_violations(const world_t *world);

#endif
