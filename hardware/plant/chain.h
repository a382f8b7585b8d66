/* The chain of shift registers: four consoles (74HC165 + 74HC595 each) and the dice reader.
 *
 * Gate by gate as in hardware/pins.toml, [chain]. Presses and dice are queued here.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_CHAIN_H
#define TABLECTL_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_IN 5
#define CHAIN_OUT 4
#define PRESSES 256
#define DICE_QUEUE 64

typedef struct {
    uint8_t seat, button;
} press_t;

typedef struct {
    uint64_t in;              /* bits still to come, the next one at bit 63 */
    uint32_t shifted;         /* what has been clocked out, oldest in the highest bits */
    uint8_t lights[CHAIN_OUT];
    bool latch, clock, data;
    press_t presses[PRESSES]; /* a ring */
    unsigned first, count;
    double next_press;        /* when the next one may begin, in chip seconds */
    double until[4][6];       /* when a held button is let go */
    uint8_t dice[DICE_QUEUE][2];
    unsigned dice_count;
} chain_t;

void chain_init(chain_t *c);
/* The controller's outputs have changed, at `now` chip seconds; gives the level of CHAIN_IN. */
bool chain_pins(chain_t *c, bool latch, bool clock, bool data, double now);
/* Lets queued presses begin. */
void chain_step(chain_t *c, double now);
bool chain_press(chain_t *c, int seat, int button);
bool chain_dice(chain_t *c, int first, int second);
/* A roll is over: the next pair, or none. */
void chain_dice_rolled(chain_t *c);

#endif
