/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "chain.h"

#include <string.h>

#define HOLD_S 0.040
#define BETWEEN_S 0.012 /* presses begin in order, for a person's fingers are not closer */
#define RELEASED_S 0.040

void chain_init(chain_t *c) {
    memset(c, 0, sizeof *c);
    c->in = UINT64_MAX;
}

static uint8_t dice_byte(const chain_t *c) {
    if (c->dice_count == 0) {
        return 0xFF;
    }
    uint8_t faces = (uint8_t)(c->dice[0][0] | c->dice[0][1] << 3);
    return (uint8_t)~faces;
}

/* The 74HC165 take what lies on their inputs: 0 is a pressed button. */
static void load(chain_t *c, double now) {
    uint64_t bits = 0;
    for (int seat = 0; seat < 4; seat++) {
        uint8_t byte = 0xFF;
        for (int button = 0; button < 6; button++) {
            if (c->until[seat][button] > now) {
                byte &= (uint8_t)~(1u << button);
            }
        }
        bits = bits << 8 | byte;
    }
    bits = bits << 8 | dice_byte(c);
    c->in = bits << (64 - 8 * CHAIN_IN) | (UINT64_MAX >> (8 * CHAIN_IN));
}

bool chain_pins(chain_t *c, bool latch, bool clock, bool data, double now) {
    if (!latch) {
        load(c, now);
    } else if (!c->latch) { /* rising edge: the 74HC595 show what was shifted */
        for (int k = 0; k < CHAIN_OUT; k++) {
            c->lights[k] = (uint8_t)(c->shifted >> (8 * k));
        }
    }
    if (clock && !c->clock) {
        c->shifted = c->shifted << 1 | (c->data ? 1u : 0u);
        if (latch) {
            c->in = c->in << 1 | 1u;
        }
    }
    c->latch = latch;
    c->clock = clock;
    c->data = data;
    return c->in >> 63 & 1u;
}

void chain_step(chain_t *c, double now) {
    if (c->count == 0 || now < c->next_press) {
        return;
    }
    press_t next = c->presses[c->first];
    double *until = &c->until[next.seat][next.button];
    if (*until != 0 && now < *until + RELEASED_S) {
        return; /* it must be let go first */
    }
    *until = now + HOLD_S;
    c->next_press = now + BETWEEN_S;
    c->first = (c->first + 1) % PRESSES;
    c->count--;
}

bool chain_press(chain_t *c, int seat, int button) {
    if (seat < 0 || seat > 3 || button < 0 || button > 5 || c->count == PRESSES) {
        return false;
    }
    press_t *free_place = &c->presses[(c->first + c->count++) % PRESSES];
    free_place->seat = (uint8_t)seat;
    free_place->button = (uint8_t)button;
    return true;
}

bool chain_dice(chain_t *c, int first, int second) {
    bool faces = first >= 1 && first <= 6 && second >= 1 && second <= 6;
    if (!faces || c->dice_count == DICE_QUEUE) {
        return false;
    }
    c->dice[c->dice_count][0] = (uint8_t)first;
    c->dice[c->dice_count++][1] = (uint8_t)second;
    return true;
}

void chain_dice_rolled(chain_t *c) {
    if (c->dice_count > 0) {
        c->dice_count--;
        memmove(c->dice, c->dice + 1, c->dice_count * sizeof *c->dice);
    }
}
