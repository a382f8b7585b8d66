/* Whether the firmware keeps its promises, judged from outside at its pins.
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_SAFETY_H
#define TABLECTL_SAFETY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

#define NEVER UINT64_MAX

typedef struct {
    uint64_t opened_at, off_at; /* last opening of E_STOP; the last motor pin going low after it */
    bool counted;               /* this opening is already a violation */
    uint64_t closed_at[2][SIDES]; /* since when the bottom and top switches are closed */
    bool driving[SIDES];        /* a tray's violation under way */
    unsigned e_stop_violations, limit_violations;
} safety_t;

void safety_init(safety_t *s);

/* At each change and often enough: `any` motor pin is on; trays are driven `lift` (signed). `grace`
 * is how many cycles the firmware has. */
void safety_look(safety_t *s, uint64_t now, uint64_t grace, const sensors_t *sensors, bool any,
                 const double lift[SIDES]);

#endif
