/* The chip: an ATmega2560 at 16 MHz with the pins of pins.h. Everything waits in interrupts or not
 * at all; the main loop runs the core every millisecond and sleeps in between.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <string.h>
#include <util/atomic.h>

#include "core/table.h"

#define TICK_HZ 1000u
#define TICK_TIMER_HZ (PINS_CLOCK_HZ / 8u) /* two counts a microsecond */
#define RX_SIZE 256u                       /* index arithmetic is that of uint8_t */
#define TX_SIZE 512u                       /* a power of two */
#define STOP_SAMPLES 3u                    /* of E_STOP in the interrupt, as config.stop_debounce */
#define CHUNK 32u
#define PAINT 0xC5u /* of start_avr.S */

/* --- registers by the names of pins.h --- */

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b
#define PASTE3(a, b, c) PASTE3_(a, b, c)
#define PASTE3_(a, b, c) a##b##c
#define PORT_OF(name) PASTE(PORT, PIN_##name##_PORT)
#define PIN_OF(name) PASTE(PIN, PIN_##name##_PORT)
#define MASK_OF(name) ((uint8_t)(1u << PIN_##name##_BIT))
#define TCCRA_OF(name) PASTE3(TCCR, PIN_##name##_TIMER, A)
#define OCR_OF(name) PASTE3(OCR, PIN_##name##_TIMER, PIN_##name##_CHANNEL)
#define COM_OF(name) \
    ((uint8_t)(1u << PASTE(PASTE3(COM, PIN_##name##_TIMER, PIN_##name##_CHANNEL), 1)))

static table_t table;

/* --- start --- */

extern uint8_t __heap_start;                            /* of the linker: data ends here */
uint8_t reset_flags __attribute__((section(".noinit"))); /* MCUSR, kept by start_avr.S */

static uint8_t reset_reason(void) {
    if (reset_flags & (1u << PORF)) {
        return TC_RESET_REASON_POWER_ON;
    }
    if (reset_flags & (1u << BORF)) {
        return TC_RESET_REASON_BROWN_OUT;
    }
    if (reset_flags & (1u << WDRF)) {
        return TC_RESET_REASON_WATCHDOG;
    }
    if (reset_flags & (1u << EXTRF)) {
        return TC_RESET_REASON_EXTERNAL;
    }
    return TC_RESET_REASON_UNKNOWN; /* a boot loader has taken the flags */
}

/* --- motors --- */

#define EACH_PORT(X) X(A) X(B) X(C) X(D) X(E) X(F) X(G) X(H) X(J) X(K) X(L)
#define EACH_PWM(X) X(PAN) X(LIFT_0) X(LIFT_1) X(LIFT_2) X(LIFT_3) X(CENTRE)

/* Every motor pin low and the relay off, whatever the core thinks; safe in any interrupt. */
static void cut_motors(void) {
#define X(name) TCCRA_OF(name) &= (uint8_t)~COM_OF(name);
    EACH_PWM(X)
#undef X
#define X(port) PORT##port &= (uint8_t)~PINS_MOTORS_##port;
    EACH_PORT(X)
#undef X
    PORT_OF(MOTOR_ENABLE) &= (uint8_t)~MASK_OF(MOTOR_ENABLE);
}

/* Pull-ups first, then directions, so that no output is high for a moment. */
static void start_pins(void) {
#define X(port) \
    PORT##port = PINS_PULLUPS_##port; \
    DDR##port = PINS_OUTPUTS_##port;
    EACH_PORT(X)
#undef X
}

/* Fast PWM of 8 bits at 7.8 kHz: what bridges take; the pins stay with their ports until used. */
static void start_pwm(void) {
    TCCR1A = 1u << WGM10;
    TCCR1B = (1u << WGM12) | (1u << CS11);
    TCCR4A = 1u << WGM40;
    TCCR4B = (1u << WGM42) | (1u << CS41);
    TCCR2A = (1u << WGM21) | (1u << WGM20);
    TCCR2B = 1u << CS21;
}

static volatile uint8_t stop_samples; /* of E_STOP open, in a row */
static volatile bool stop_untold;     /* it was cut, and the core has not latched it yet */

static bool stop_is_open(void) { return stop_samples >= STOP_SAMPLES; }

/* Off and full speed are the port's; between them the timer has the pin. */
#define PUT_PWM(name) \
    if (out->duty[PIN_MOTOR_##name] == 0u || out->duty[PIN_MOTOR_##name] == 255u) { \
        TCCRA_OF(name) &= (uint8_t)~COM_OF(name); \
    } else { \
        OCR_OF(name) = out->duty[PIN_MOTOR_##name]; \
        TCCRA_OF(name) |= COM_OF(name); \
    }

/* All outputs of the machine, port by port. E_STOP is looked at last: its interrupt may have cut
 * a port between the reading and the writing of it here. */
static void put_motors(const hal_outputs_t *out) {
#define X(port) uint8_t on_##port = 0, all_##port = 0;
    EACH_PORT(X)
#undef X
#define PUT(port, bit, on) \
    all_##port |= (uint8_t)(1u << (bit)); \
    if (on) { \
        on_##port |= (uint8_t)(1u << (bit)); \
    }
#define X(name, port, bit) PUT(port, bit, out->duty[PIN_MOTOR_##name] > 0u)
    PINS_MOTORS(X)
#undef X
#define X(name, port, bit) PUT(port, bit, out->reverse & (1u << PIN_DIRECTION_##name))
    PINS_DIRECTIONS(X)
#undef X
    bool outputs[PIN_OUTPUT_COUNT] = {[PIN_OUTPUT_MOTOR_ENABLE] = out->motor_enable,
                                      [PIN_OUTPUT_STATUS_LED] = out->status_led};
#define X(name, port, bit) PUT(port, bit, outputs[PIN_OUTPUT_##name])
    PINS_OUTPUTS(X)
#undef X
#undef PUT
#define X(port) \
    if (all_##port != 0u) { \
        PORT##port = (uint8_t)((PORT##port & (uint8_t)~all_##port) | on_##port); \
    }
    EACH_PORT(X)
#undef X
    EACH_PWM(PUT_PWM)
    if (!out->motor_enable) {
        stop_untold = false; /* latched: only a person leads out of it */
    }
    if (stop_is_open() || stop_untold) {
        cut_motors();
    }
}

/* --- tick: time, and the emergency stop even when the main loop hangs --- */

static volatile uint8_t ticks_due;

ISR(TIMER3_COMPA_vect) {
    if (ticks_due < 255u) {
        ticks_due++;
    }
    if ((PIN_OF(E_STOP) & MASK_OF(E_STOP)) == 0u) {
        stop_samples = 0;
    } else if (stop_samples < STOP_SAMPLES) {
        stop_samples++;
    }
    if (stop_is_open()) {
        cut_motors();
        stop_untold = true;
    }
}

static void start_tick(void) {
    OCR3A = (uint16_t)(TICK_TIMER_HZ / TICK_HZ - 1u);
    TCCR3B = (1u << WGM32) | (1u << CS31);
    TIMSK3 = 1u << OCIE3A;
}

/* --- serial line --- */

static uint8_t rx[RX_SIZE], tx[TX_SIZE];
static volatile uint8_t rx_head, rx_tail;
static volatile uint16_t tx_head, tx_tail;

ISR(USART0_RX_vect) {
    uint8_t byte = UDR0; /* a byte with an error is the CRC's matter */
    uint8_t next = (uint8_t)(rx_head + 1u);
    if (next != rx_tail) {
        rx[rx_head] = byte;
        rx_head = next;
    }
}

ISR(USART0_UDRE_vect) {
    if (tx_head == tx_tail) {
        UCSR0B &= (uint8_t)~(1u << UDRIE0);
        return;
    }
    UDR0 = tx[tx_tail];
    tx_tail = (tx_tail + 1u) % TX_SIZE;
}

static void start_serial(void) {
    UCSR0A = 1u << U2X0;
    UBRR0 = (uint16_t)((PINS_CLOCK_HZ + PINS_BAUD * 4u) / (PINS_BAUD * 8u) - 1u);
    UCSR0C = (1u << UCSZ01) | (1u << UCSZ00);
    UCSR0B = (1u << RXEN0) | (1u << TXEN0) | (1u << RXCIE0);
}

void hal_line_write(hal_t *hal, const uint8_t *data, uint8_t length) {
    (void)hal;
    uint16_t tail;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { tail = tx_tail; }
    uint16_t head = tx_head;
    uint16_t room = (uint16_t)(tail + TX_SIZE - head - 1u) % TX_SIZE;
    if (room < length) {
        return;
    }
    for (uint8_t i = 0; i < length; i++) {
        tx[head] = data[i];
        head = (head + 1u) % TX_SIZE;
    }
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        tx_head = head;
        UCSR0B |= 1u << UDRIE0;
    }
}

static uint8_t take_received(uint8_t *data) {
    uint8_t length = 0, tail = rx_tail;
    while (tail != rx_head && length < CHUNK) {
        data[length++] = rx[tail++];
    }
    rx_tail = tail;
    return length;
}

/* --- currents: one conversion after the other --- */

static volatile uint16_t converted[PIN_CURRENT_COUNT];
static volatile uint16_t noise;

static void convert(uint8_t channel) {
    ADMUX = (uint8_t)((1u << REFS0) | (channel & 7u));
    ADCSRB = (uint8_t)(channel & 8u ? 1u << MUX5 : 0u);
    ADCSRA |= 1u << ADSC;
}

ISR(ADC_vect) {
    static const uint8_t channels[PIN_CURRENT_COUNT] = {
#define X(name, channel, limit) channel,
        PINS_CURRENTS(X)
#undef X
    };
    static uint8_t index;
    uint16_t value = ADC;
    converted[index] = value;
    noise = (uint16_t)((uint16_t)(noise * 5u + value) ^ TCNT3L);
    index = (uint8_t)(index + 1u < PIN_CURRENT_COUNT ? index + 1u : 0u);
    convert(channels[index]);
}

static void start_converter(void) {
    DIDR0 = 0xFF;
    DIDR2 = 0x3F;
    ADCSRA = (1u << ADEN) | (1u << ADIE) | 7u; /* 125 kHz: 14 channels in 1.5 ms */
    convert(0);
}

static uint16_t milliamperes(uint16_t counts) {
    /* 1024 counts are the reference; a shift by 8 is only a choice of bytes. */
    return (uint16_t)(
        (uint32_t)counts * (PINS_ADC_REFERENCE_MV * 250ul / PINS_CURRENT_MV_PER_A) >> 8);
}

/* --- consoles and dice: the chain of shift registers --- */

static uint8_t chain_in[PINS_CHAIN_BYTES_IN];

static uint8_t shift_byte(uint8_t out) {
    uint8_t in = 0;
    for (uint8_t bit = 0x80u; bit != 0u; bit >>= 1) {
        if (out & bit) {
            PORT_OF(CHAIN_OUT) |= MASK_OF(CHAIN_OUT);
        } else {
            PORT_OF(CHAIN_OUT) &= (uint8_t)~MASK_OF(CHAIN_OUT);
        }
        if (PIN_OF(CHAIN_IN) & MASK_OF(CHAIN_IN)) {
            in |= bit;
        }
        PORT_OF(CHAIN_CLOCK) |= MASK_OF(CHAIN_CLOCK);
        PORT_OF(CHAIN_CLOCK) &= (uint8_t)~MASK_OF(CHAIN_CLOCK);
    }
    return in;
}

/* Loads the inputs and shows what was shifted out last time, then shifts both on. */
static void turn_chain(uint8_t lights) {
    PORT_OF(CHAIN_LATCH) &= (uint8_t)~MASK_OF(CHAIN_LATCH);
    PORT_OF(CHAIN_LATCH) |= MASK_OF(CHAIN_LATCH);
    for (uint8_t i = 0; i < PINS_CHAIN_BYTES_IN; i++) {
        uint8_t seat = (uint8_t)(PINS_CHAIN_BYTES_IN - 1u - i); /* the last byte stays in seat 0 */
        bool on = seat < SIDES && (lights >> seat & 1u) != 0u;
        chain_in[i] = shift_byte((uint8_t)(on ? 1u << PINS_LIGHT_SEAT : 0u));
    }
}

/* --- what the core asks for --- */

const identity_t tc_identity PROGMEM __attribute__((used)) = FIRMWARE_IDENTITY;

void hal_identity(hal_t *hal, identity_t *identity) {
    (void)hal;
    memcpy_P(identity, &tc_identity, sizeof *identity);
}

uint8_t hal_eeprom_read(hal_t *hal, uint16_t address) {
    (void)hal;
    return eeprom_read_byte((const uint8_t *)address);
}

bool hal_eeprom_ready(hal_t *hal) {
    (void)hal;
    return eeprom_is_ready();
}

void hal_eeprom_write(hal_t *hal, uint16_t address, uint8_t value) {
    (void)hal;
    eeprom_write_byte((uint8_t *)address, value);
}

uint16_t hal_entropy(hal_t *hal) {
    (void)hal;
    uint16_t mixed;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { mixed = (uint16_t)(noise ^ TCNT3); }
    return mixed;
}

static void read_inputs(hal_inputs_t *in) {
    uint32_t pins = 0;
#define X(name, port, bit) \
    if (PIN##port & (1u << (bit))) { \
        pins |= 1ul << PIN_INPUT_##name; \
    }
    PINS_INPUTS(X)
#undef X
    if (stop_untold) {
        pins |= 1ul << PIN_INPUT_E_STOP; /* however short it was: no motion may go on after it */
    }
    in->pins = pins;
    for (uint8_t seat = 0; seat < SIDES; seat++) {
        in->buttons[seat] = (uint8_t)(~chain_in[seat] & 0x3Fu);
    }
    in->dice = chain_in[SIDES];
    for (uint8_t i = 0; i < PIN_CURRENT_COUNT; i++) {
        uint16_t counts;
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { counts = converted[i]; }
        in->current_ma[i] = milliamperes(counts);
    }
}

/* --- how deep the stack has been, a few bytes a tick --- */

static void watch_stack(void) {
    static uint8_t *lowest = (uint8_t *)RAMEND;
    for (uint8_t depth = 32; depth > 0u; depth--) {
        const uint8_t *p = lowest - depth;
        if (p >= &__heap_start && *p != PAINT) {
            lowest = (uint8_t *)(uintptr_t)p;
            break;
        }
    }
    tc_probe.stack_free_low = (uint16_t)(lowest - &__heap_start);
}

/* --- the main loop --- */

static uint8_t take_ticks(void) {
    uint8_t due;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        due = ticks_due;
        ticks_due = 0;
    }
    return due;
}

/* How long ago the tick's interrupt was, when its outputs stand; `waiting` ticks are behind it. */
static void note_time(uint8_t waiting) {
    uint16_t counts, late;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        counts = TCNT3;
        late = (uint16_t)(ticks_due + waiting);
        if (TIFR3 & (1u << OCF3A)) { /* the timer has begun anew, its interrupt waits */
            late++;
            counts = TCNT3;
        }
    }
    uint16_t us = (uint16_t)(late * (1000000ul / TICK_HZ) + counts / 2u);
    if (us > tc_probe.tick_worst_us) {
        tc_probe.tick_worst_us = us;
    }
}

static void tick(uint32_t now, uint8_t waiting) {
    static hal_inputs_t inputs;
    static hal_outputs_t outputs;
    turn_chain(outputs.lights);
    read_inputs(&inputs);
    table_tick(&table, &inputs, &outputs);
    put_motors(&outputs);
    note_time(waiting);
    table_poll(&table, now);
    watch_stack();
}

static void sleep_until_interrupt(void) {
    cli();
    if (ticks_due == 0u && rx_head == rx_tail) {
        sleep_enable();
        sei();
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

int main(void) {
    start_pins();
    start_pwm();
    start_serial();
    start_tick();
    start_converter();
    wdt_enable(WDTO_120MS);
    set_sleep_mode(SLEEP_MODE_IDLE);
    turn_chain(0);
    turn_chain(0);
    hal_inputs_t first;
    read_inputs(&first);
    sei();
    table_init(&table, NULL, reset_reason(), &first);
    (void)take_ticks();
    uint32_t now = 0;
    for (;;) {
        uint8_t due = take_ticks();
        if (due > 1u) {
            tc_probe.tick_overruns = (uint16_t)(tc_probe.tick_overruns + due - 1u);
        }
        while (due > 0u) {
            tick(++now, --due);
            wdt_reset();
        }
        uint8_t data[CHUNK];
        uint8_t length = take_received(data);
        if (length > 0u) {
            table_stir(&table, TCNT3);
            table_receive(&table, data, length, now);
        }
        sleep_until_interrupt();
    }
}
