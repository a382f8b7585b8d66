/* A firmware that does what it is told, pin by pin: it tests the plant, not the table.
 *
 * One command a line; every line is answered.
 *   +B5, -B5   an output high, low         ^B5   an input with its pull-up
 *   ?B5        reads a pin: 0 or 1         a13   reads a current channel, 0 to 1023
 *   x AABBCCDD shifts the chain: lights of consoles 3 to 0 out, five bytes in
 *   w 128      PWM on LIFT_0 (OC4A)        d     starts the watchdog and stands still
 *   e 10 AB    writes the EEPROM           g 10  reads it
 * At the start it says "boot MCUSR first byte of RAM".
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pins.h"

#define LINE 32
#define PORT_OF(letter) PORT_(letter)
#define PORT_(letter) PORT##letter
#define CHAIN PORT_OF(B)

const char tc_identity[17] __attribute__((used, section(".progmem.data"))) = "exerciser";
static uint8_t remembered __attribute__((section(".noinit")));
static uint8_t reset_flags;

static void send(char c) {
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = (uint8_t)c;
}

static void say(const char *text) {
    while (*text) {
        send(*text++);
    }
    send('\n');
}

static volatile uint8_t *pin_register(char port) {
    uint16_t base = port <= 'G' ? (uint16_t)(0x20 + 3 * (port - 'A'))
                                : (uint16_t)(0x100 + 3 * (port == 'H' ? 0 : port - 'I'));
    return (volatile uint8_t *)base;
}

static uint16_t convert(uint8_t channel) {
    ADMUX = (uint8_t)(1 << REFS0 | (channel & 7));
    ADCSRB = channel & 8 ? 1 << MUX5 : 0;
    ADCSRA = 1 << ADEN | 1 << ADSC | 7;
    while (ADCSRA & (1 << ADSC)) {
    }
    return ADC;
}

static void chain(const char *text) {
    char answer[12] = "";
    uint8_t out[PINS_CHAIN_BYTES_IN] = {0};
    for (uint8_t k = 0; k < PINS_CHAIN_BYTES_OUT; k++) {
        char hex[3] = {text[2 * k], text[2 * k + 1], 0};
        out[k + 1] = (uint8_t)strtoul(hex, NULL, 16);
    }
    CHAIN &= (uint8_t)~(1 << PIN_CHAIN_LATCH_BIT);
    CHAIN |= 1 << PIN_CHAIN_LATCH_BIT;
    for (uint8_t k = 0; k < PINS_CHAIN_BYTES_IN; k++) {
        uint8_t in = 0;
        for (uint8_t mask = 0x80; mask; mask >>= 1) {
            CHAIN &= (uint8_t)~(1 << PIN_CHAIN_CLOCK_BIT);
            if (out[k] & mask) {
                CHAIN |= 1 << PIN_CHAIN_OUT_BIT;
            } else {
                CHAIN &= (uint8_t)~(1 << PIN_CHAIN_OUT_BIT);
            }
            if (PINB & (1 << PIN_CHAIN_IN_BIT)) {
                in |= mask;
            }
            CHAIN |= 1 << PIN_CHAIN_CLOCK_BIT;
        }
        snprintf(answer + 2 * k, 3, "%02x", in);
    }
    CHAIN &= (uint8_t)~(1 << PIN_CHAIN_LATCH_BIT);
    CHAIN |= 1 << PIN_CHAIN_LATCH_BIT;
    say(answer);
}

static void pin(const char *line) {
    volatile uint8_t *registers = pin_register(line[1]);
    uint8_t mask = (uint8_t)(1 << (line[2] - '0'));
    if (line[0] == '?') {
        say(registers[0] & mask ? "1" : "0");
        return;
    }
    if (line[0] == '^') {
        registers[1] &= (uint8_t)~mask;
        registers[2] |= mask;
    } else {
        registers[2] = (uint8_t)(line[0] == '+' ? registers[2] | mask : registers[2] & ~mask);
        registers[1] |= mask;
    }
    say("ok");
}

static void obey(const char *line) {
    char answer[8];
    unsigned address, value;
    switch (line[0]) {
    case '+': case '-': case '^': case '?':
        pin(line);
        break;
    case 'a':
        snprintf(answer, sizeof answer, "%u", convert((uint8_t)atoi(line + 1)));
        say(answer);
        break;
    case 'x':
        chain(line + 2);
        break;
    case 'w':
        OCR4A = (uint16_t)atoi(line + 2);
        TCCR4B = 1 << CS40;
        TCCR4A = 1 << COM4A1 | 1 << WGM40;
        DDRH |= 1 << 3;
        say("ok");
        break;
    case 'd':
        say("ok");
        wdt_enable(WDTO_30MS);
        for (;;) {
        }
    case 'e':
        sscanf(line + 2, "%u %x", &address, &value);
        eeprom_write_byte((uint8_t *)(uintptr_t)address, (uint8_t)value);
        say("ok");
        break;
    case 'g':
        snprintf(answer, sizeof answer, "%02x",
                 eeprom_read_byte((uint8_t *)(uintptr_t)atoi(line + 2)));
        say(answer);
        break;
    default:
        say("?");
    }
}

int main(void) {
    char line[LINE], hello[24];
    uint8_t length = 0;
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_disable();
    UBRR0 = 16; /* 115,200 baud, double speed */
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    UCSR0C = 1 << UCSZ01 | 1 << UCSZ00;
    DDRB |= 1 << PIN_CHAIN_LATCH_BIT | 1 << PIN_CHAIN_CLOCK_BIT | 1 << PIN_CHAIN_OUT_BIT;
    CHAIN |= 1 << PIN_CHAIN_LATCH_BIT | 1 << PIN_CHAIN_IN_BIT;
    sei();
    snprintf(hello, sizeof hello, "boot %u %02x", reset_flags, remembered);
    remembered = 0x11;
    say(hello);
    for (;;) {
        while (!(UCSR0A & (1 << RXC0))) {
            __asm__ volatile("nop");
        }
        char c = (char)UDR0;
        if (c == '\n') {
            line[length] = 0;
            obey(line);
            length = 0;
        } else if (length < LINE - 1) {
            line[length++] = c;
        }
    }
}
