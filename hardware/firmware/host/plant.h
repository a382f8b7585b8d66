/* The machine under the felt on pins, as firmware_protocol/plant.py models it: see README.md.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_HOST_PLANT_H
#define TABLECTL_HOST_PLANT_H

#include "../hal.h"

#define PLANT_SIDES 4

typedef struct {
    int jammed[PLANT_SIDES]; /* reversals that free the head; 0: not jammed */
    bool lift_blocked[PLANT_SIDES], lift_dead[PLANT_SIDES];
    bool top_open[PLANT_SIDES], bottom_open[PLANT_SIDES];
    bool top_closed[PLANT_SIDES], bottom_closed[PLANT_SIDES];
    bool sensor_dirty[PLANT_SIDES], sensor_flickers[PLANT_SIDES];
    bool stack_dirty[PLANT_SIDES], stack_blind[PLANT_SIDES];
    bool ring_stalled[PLANT_SIDES];
    int missing[PLANT_SIDES], surplus[PLANT_SIDES];
    bool pan_stalled, centre_blocked, centre_dead;
} defects_t;

typedef struct {
    defects_t defects;
    bool e_stop_open, cover_open;
    double centre; /* 0 closed, 1 open */
    double lift[PLANT_SIDES]; /* 0 down, 1 up */
    double head[PLANT_SIDES]; /* phase of the stroke; 0 is home */
    int supply[PLANT_SIDES];  /* tiles that the pan will still give to a side */
    int channel[PLANT_SIDES]; /* tiles that wait at a head */
    int pushed[PLANT_SIDES];  /* stacks, ever */
    double next_tile[PLANT_SIDES];
    int pulse_ms[PLANT_SIDES], push_ms[PLANT_SIDES];
    bool reversed[PLANT_SIDES];
    uint32_t ms;
    uint32_t random;
    hal_outputs_t drive; /* as the motors get it: after the emergency stop's contact */
} plant_t;

void plant_init(plant_t *plant, uint32_t seed);
/* A set into the pan: two tiles for every stack, less and more by the defects. */
void plant_load(plant_t *plant, const uint8_t *stacks);
/* One millisecond with these outputs of the controller. */
void plant_step(plant_t *plant, const hal_outputs_t *outputs);
void plant_read(const plant_t *plant, hal_inputs_t *inputs);
/* Breaks something; false when there is no such defect. */
bool plant_break(plant_t *plant, const char *name, int side, int amount);
void plant_repair(plant_t *plant);
int plant_direction(const plant_t *plant, int motor); /* -1, 0, 1 */

#endif
