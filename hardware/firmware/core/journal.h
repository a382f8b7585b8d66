/* What survives a power cut, as a journal in EEPROM: records go round, so that no cell wears out
 * (216 records a cycle on 240 slots: 100,000 cycles), and a torn one leaves the one before.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_JOURNAL_H
#define TABLECTL_JOURNAL_H

#include "../hal.h"

#define JOURNAL_ADDRESS 256u
#define JOURNAL_RECORD 16u
#define JOURNAL_SLOTS ((HAL_EEPROM_SIZE - JOURNAL_ADDRESS) / JOURNAL_RECORD)

typedef struct {
    uint16_t boot_count;
    uint8_t motion;     /* under way, enum tc_motion */
    uint8_t program;    /* of the walls in the trays, enum tc_tile_program */
    uint8_t dealer;
    uint8_t tile_set;   /* which of the two sets is in the trays: changes with every new stacking */
    bool walls_up;
    uint8_t counts[4];  /* stacks */
    uint8_t waiting[4]; /* tiles counted in at a head and not yet stacked, at most 15 */
    uint8_t doubtful;   /* bits by side: `waiting` may be wrong by one */
} memory_t;

typedef struct {
    uint16_t sequence;
    uint16_t slot;
    uint8_t record[JOURNAL_RECORD]; /* being written, or written last */
    uint8_t written;                /* bytes of it */
} journal_t;

/* The newest whole record; a blank memory when there is none. */
void journal_load(journal_t *journal, memory_t *memory, hal_t *hal);
/* Called every millisecond: stores the memory when it has changed, a byte at a time. */
void journal_tick(journal_t *journal, const memory_t *memory, hal_t *hal);
/* The memory as it is now is stored: what it says would survive a power cut. */
bool journal_holds(const journal_t *journal, const memory_t *memory);

#endif
