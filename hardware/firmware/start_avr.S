/* What must happen before C: the reset flags, the watchdog, the painted stack.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <avr/io.h>

#define STACK_PAINT 0xC5

    /* A watchdog that bit goes on biting until its flag is cleared; the flags are why we start. */
    .section .init3, "ax", @progbits
    wdr
    in r24, _SFR_IO_ADDR(MCUSR)
    sts reset_flags, r24
    out _SFR_IO_ADDR(MCUSR), r1
    ldi r24, (1 << WDCE) | (1 << WDE)
    sts WDTCSR, r24
    sts WDTCSR, r1

    /* Free memory is painted, to see later how deep the stack has been. */
    .section .init5, "ax", @progbits
    ldi r26, lo8(__heap_start)
    ldi r27, hi8(__heap_start)
    ldi r24, STACK_PAINT
    in r30, _SFR_IO_ADDR(SPL)
    in r31, _SFR_IO_ADDR(SPH)
1:  st X+, r24
    cp r26, r30
    cpc r27, r31
    brlo 1b
