/* The machine under the felt: motors run, time passes, sensors and currents answer.
 *
 * The model of firmware_protocol/plant.py, on real signals: a counter there is a pulse here. It
 * knows nothing of pins or of simavr. Times are seconds of the machine's own clock; positions run
 * from 0 (low, closed) to 1 (high, open); sides are 0 to 3.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_MACHINE_H
#define TABLECTL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define SIDES 4

/* What drives the machine: -1 to 1, the sign is the direction, less than 1 is PWM. */
typedef struct {
    double pan, centre;
    double ring[SIDES], belt[SIDES], head[SIDES], lift[SIDES];
} drive_t;

/* What is broken. */
typedef struct {
    int head_jam[SIDES]; /* reversals that free it; 0: no jam */
    bool lift_blocked[SIDES], lift_dead[SIDES];
    bool top_never[SIDES], bottom_never[SIDES], top_always[SIDES], bottom_always[SIDES];
    bool sensor_dirty[SIDES], sensor_flickers[SIDES], stack_dirty[SIDES], stack_blind[SIDES];
    bool ring_stall[SIDES], pan_stall, centre_blocked, centre_dead;
    int missing[SIDES], surplus[SIDES];
} defects_t;

typedef struct {
    drive_t drive;
    drive_t speed;   /* of the motors; follows the drive with their inertia */
    double inertia;  /* time constant in seconds; 0: speed is drive, and no starting current */
    defects_t defects;
    bool e_stop_open, cover_open;
    double centre, lift[SIDES];
    double phase[SIDES];         /* of the head's cam: 0 and 1 are its rest */
    int supply[SIDES];           /* tiles that the pan will still give to a side */
    int channel[SIDES];          /* tiles that wait at a head */
    int stacks[SIDES];           /* stacks pushed since the start */
    double in_pulse[SIDES], stack_pulse[SIDES]; /* seconds that a sensor stays covered */
    double next_tile[SIDES], reversed[SIDES], flicker;
    bool armed[SIDES];           /* the cam has been out, its return pushes a stack */
    uint64_t random;
} machine_t;

typedef struct {
    bool e_stop_open, cover_open, centre_open, centre_closed;
    bool lift_top[SIDES], lift_bottom[SIDES], head_home[SIDES], head_in[SIDES], stack[SIDES];
} sensors_t;

typedef struct { /* amperes; `feed` is ring and belt of a side together */
    double pan, centre, feed[SIDES], head[SIDES], lift[SIDES];
} currents_t;

/* At rest: centre closed, trays down, heads home, nothing stacked, an empty pan. */
void machine_init(machine_t *m, uint64_t seed);

/* A set in the pan that gives so many tiles a side, less and more by the defects. */
void machine_load_pan(machine_t *m, const int tiles[SIDES]);

/* Let `dt` seconds pass; at most 0.05 for good behaviour. */
void machine_step(machine_t *m, double dt);

void machine_sensors(const machine_t *m, sensors_t *out);
void machine_currents(const machine_t *m, currents_t *out);

/* Mend everything, close the lid, release the emergency stop. */
void machine_repair(machine_t *m);

/* NAME[:SIDE[:AMOUNT]]; returns NULL, or what is wrong with it. */
const char *machine_break(machine_t *m, const char *text);

#endif
