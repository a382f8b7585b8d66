/* The serial line: UART0 on a pseudo-terminal, a byte at a time as fast as the wire allows.
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_SERIAL_H
#define TABLECTL_SERIAL_H

#include <sim_avr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIAL_BUFFER 4096

typedef struct {
    avr_t *avr;
    avr_irq_t *input;
    int near, far;             /* the pair; the far end stays open, so that nobody hangs up */
    const char *link;
    uint8_t in[SERIAL_BUFFER];
    size_t in_at, in_end;
    uint8_t out[SERIAL_BUFFER];
    size_t out_end;
    uint64_t next_byte;        /* cycle at which the line is free again */
    uint64_t cycles_per_byte;
    bool ready;                /* the chip's input takes a byte */
    bool spoken;               /* the firmware has sent something */
} serial_t;

/* Opens the pair and makes the link; NULL, or what is wrong. */
const char *serial_open(serial_t *s, const char *link);
void serial_attach(serial_t *s, avr_t *avr, uint32_t baud);
/* Between chip steps: hands over at most one byte that is due. */
void serial_step(serial_t *s, bool powered);
/* Between slices: reads what the host wrote, writes what the chip sent. */
void serial_exchange(serial_t *s);
/* Power is gone: what was on the line is lost. */
void serial_drop(serial_t *s);
void serial_close(serial_t *s);

#endif
