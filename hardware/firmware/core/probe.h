/* What tests look at from outside: written by the firmware, never read by it.
 *
 * Found by its symbol `tc_probe` in the ELF; packed, little-endian. A new field goes to the end.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_PROBE_H
#define TABLECTL_PROBE_H

#include <stdint.h>

#define PROBE_MAGIC 0x5443u
#define PROBE_LOG 64u

typedef struct __attribute__((packed)) {
    uint8_t id; /* TC_MSG_... of a command that was accepted or done */
    uint16_t token;
    uint8_t arguments[2]; /* its bytes after the token, zeros where it has fewer */
} probe_command_t;

typedef struct __attribute__((packed)) {
    uint16_t magic; /* PROBE_MAGIC once the core runs */
    uint8_t mode;   /* enum tc_table_mode */
    uint8_t motion; /* enum tc_motion */
    uint8_t connected;
    uint8_t program; /* of the walls in the trays */
    uint8_t walls_up;
    uint8_t counts[4];
    uint8_t targets[4];
    uint8_t lights[4];  /* enum tc_light_pattern */
    uint16_t stackings; /* new stackings begun since the start */
    uint16_t rolls;     /* dice rolls ended since the start */
    uint32_t uptime_ms;
    uint16_t events_dropped;
    uint16_t tick_worst_us;  /* longest from a tick's interrupt to its outputs; 0 on the host */
    uint16_t tick_overruns;  /* ticks that began late by a whole one or more */
    uint16_t stack_free_low; /* fewest bytes ever free between data and stack; 0 on the host */
    uint16_t executed;       /* commands accepted since the start; the log holds the last */
    probe_command_t log[PROBE_LOG]; /* a ring: number n is at n % PROBE_LOG */
} probe_t;

#endif
