/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "board.h"

#include <avr_adc.h>
#include <avr_eeprom.h>
#include <avr_extint.h>
#include <avr_ioport.h>
#include <sim_cycle_timers.h>
#include <stddef.h>
#include <string.h>

#include "ports.h"

#define BEAT_US 40u    /* how often pins and the serial line are looked at */
#define STEP_US 500u   /* how often the machine moves */
#define GRACE_US 10000u /* in which E_STOP and limit switches must have worked */
#define MAX_DT 0.01    /* of the machine's steps, so that fast machines stay smooth */
#define MCUSR 0x54u    /* registers in data memory, ATmega2560 */
#define ADMUX 0x7Cu
#define ADCSRB 0x7Bu
#define MUX5 3
#define SECOND_EIGHT 32 /* the multiplexer's number of channel 8 */
#define RAM_START 0x200u
#define RAM_JUNK 0xA5  /* what RAM holds after a power cut */
#define EXTERNAL_INTERRUPTS 8

#define PIN(name, port, bit) {#port[0], bit},
static const pin_t MOTORS[] = {PINS_MOTORS(PIN)};
static const pin_t DIRECTIONS[] = {PINS_DIRECTIONS(PIN)};
static const pin_t OUTPUTS[] = {PINS_OUTPUTS(PIN)};
static const pin_t INPUTS[] = {PINS_INPUTS(PIN)};
static const pin_t CHAIN[] = {PINS_CHAINS(PIN)};
#define CHANNEL(name, channel, limit) channel,
static const uint8_t CHANNELS[] = {PINS_CURRENTS(CHANNEL)};

double board_seconds(const board_t *b) {
    return (double)b->avr->cycle / (double)b->avr->frequency;
}

static uint64_t cycles_of(const board_t *b, uint32_t us) {
    return (uint64_t)b->avr->frequency / 1000000u * us;
}

/* --- what the chip drives --- */

static bool powered_high(const board_t *b, pin_t pin) {
    return b->powered && pin_level(b->avr->data, pin) > 0;
}

static bool any_pin_on(const board_t *b) {
    for (int i = 0; i < PIN_MOTOR_COUNT; i++) {
        if (b->out.level[i] > 0) {
            return true;
        }
    }
    return false;
}

bool board_motor_on(const board_t *b, int motor) {
    return b->out.level[motor] > 0 && b->out.relay && !b->machine.e_stop_open;
}

static void look_at_safety(board_t *b) {
    double lift[SIDES];
    sensors_t sensors;
    machine_sensors(&b->machine, &sensors);
    if (sensors.e_stop_open && !b->active[PIN_INPUT_E_STOP]) {
        b->active[PIN_INPUT_E_STOP] = true;
        b->safety.opened_at = b->avr->cycle;
        b->safety.off_at = NEVER;
    }
    for (int s = 0; s < SIDES; s++) {
        double level = b->out.level[PIN_MOTOR_LIFT_0 + s];
        lift[s] = b->out.reverse[PIN_DIRECTION_LIFT_REVERSE] ? -level : level;
    }
    safety_look(&b->safety, b->avr->cycle, cycles_of(b, GRACE_US), &sensors, any_pin_on(b), lift);
}

static void look_at_outputs(board_t *b) {
    outputs_t *out = &b->out;
    double elapsed = (double)(b->avr->cycle - out->since);
    out->since = b->avr->cycle;
    for (int i = 0; i < PIN_MOTOR_COUNT; i++) {
        out->area[i] += out->level[i] * elapsed;
        out->level[i] = b->powered ? pin_level(b->avr->data, MOTORS[i]) : 0;
    }
    for (int i = 0; i < PIN_DIRECTION_COUNT; i++) {
        out->reverse[i] = powered_high(b, DIRECTIONS[i]);
    }
    out->relay = powered_high(b, OUTPUTS[PIN_OUTPUT_MOTOR_ENABLE]);
    look_at_safety(b);
}

/* --- what the chip sees --- */

static void put_level(board_t *b, pin_t pin, bool high) {
    int port = pin.port - 'A';
    uint8_t mask = (uint8_t)(1u << pin.bit);
    b->driven[port] |= mask;
    b->value[port] = (uint8_t)(high ? b->value[port] | mask : b->value[port] & ~mask);
    avr_ioport_external_t told = {(unsigned char)pin.port & 0x7Fu, b->driven[port], b->value[port]};
    avr_ioctl(b->avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(pin.port), &told);
}

static void drive_pin(board_t *b, pin_t pin, bool high) {
    put_level(b, pin, high);
    avr_raise_irq(avr_io_getirq(b->avr, AVR_IOCTL_IOPORT_GETIRQ(pin.port), pin.bit), high);
}

static void look_at_inputs(board_t *b, bool all) {
    for (int i = 0; i < PIN_INPUT_COUNT; i++) {
        /* an open contact leaves the pin to its pull-up */
        bool high = b->active[i] && pin_pulled_up(b->avr->data, INPUTS[i]);
        if (all || high != b->level[i]) {
            b->level[i] = high;
            drive_pin(b, INPUTS[i], high);
        }
    }
}

static void read_contacts(board_t *b) {
    sensors_t found;
    machine_sensors(&b->machine, &found);
    b->active[PIN_INPUT_E_STOP] = found.e_stop_open;
    b->active[PIN_INPUT_COVER] = found.cover_open;
    b->active[PIN_INPUT_CENTRE_OPEN] = found.centre_open;
    b->active[PIN_INPUT_CENTRE_CLOSED] = found.centre_closed;
    for (int s = 0; s < SIDES; s++) {
        b->active[PIN_INPUT_LIFT_TOP_0 + s] = found.lift_top[s];
        b->active[PIN_INPUT_LIFT_BOTTOM_0 + s] = found.lift_bottom[s];
        b->active[PIN_INPUT_HEAD_HOME_0 + s] = found.head_home[s];
        b->active[PIN_INPUT_HEAD_IN_0 + s] = found.head_in[s];
        b->active[PIN_INPUT_STACK_0 + s] = found.stack[s];
    }
}

/* simavr 1.6 keeps the voltages of 8 channels although it knows 16: each shares its place with the
 * one 8 higher, and the one that is selected is put there. */
static void offer_voltage(board_t *b) {
    unsigned channel = (b->avr->data[ADMUX] & 7u) | (b->avr->data[ADCSRB] & 1u << MUX5);
    avr_raise_irq(b->adc_irqs + ADC_IRQ_ADC0 + (channel & 7u), b->millivolts[channel]);
}

static void on_conversion(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)value;
    offer_voltage(param);
}

static void put_currents(board_t *b) {
    currents_t found;
    machine_currents(&b->machine, &found);
    double amperes[PIN_CURRENT_COUNT];
    amperes[PIN_CURRENT_PAN] = found.pan;
    amperes[PIN_CURRENT_CENTRE] = found.centre;
    for (int s = 0; s < SIDES; s++) {
        amperes[PIN_CURRENT_FEED_0 + s] = found.feed[s];
        amperes[PIN_CURRENT_HEAD_0 + s] = found.head[s];
        amperes[PIN_CURRENT_LIFT_0 + s] = found.lift[s];
    }
    for (int i = 0; i < PIN_CURRENT_COUNT; i++) {
        double mv = amperes[i] * PINS_CURRENT_MV_PER_A;
        b->millivolts[CHANNELS[i]] =
            mv > PINS_ADC_REFERENCE_MV ? PINS_ADC_REFERENCE_MV : (uint16_t)mv;
    }
    offer_voltage(b);
}

static void share_channels(board_t *b) {
    for (avr_io_t *io = b->avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "adc") == 0) {
            avr_adc_t *adc = (avr_adc_t *)io; /* its first member */
            for (int k = 0; k < 8; k++) {
                adc->muxmode[SECOND_EIGHT + k].src = (unsigned)k & 7u;
            }
        }
    }
    b->adc_irqs = avr_io_getirq(b->avr, AVR_IOCTL_ADC_GETIRQ, 0);
    avr_irq_register_notify(b->adc_irqs + ADC_IRQ_OUT_TRIGGER, on_conversion, b);
}

static void on_port(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)value;
    look_at_outputs(param);
}

/* The chain is clocked within microseconds, so it answers to every write of its port. */
static void on_chain_port(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    board_t *b = param;
    unsigned pins = value & b->avr->data[port_address(CHAIN[PIN_CHAIN_CHAIN_CLOCK].port) + 1];
    bool level = chain_pins(&b->chain, pins >> PIN_CHAIN_LATCH_BIT & 1u,
                            pins >> PIN_CHAIN_CLOCK_BIT & 1u, pins >> PIN_CHAIN_OUT_BIT & 1u,
                            board_seconds(b));
    put_level(b, CHAIN[PIN_CHAIN_CHAIN_IN], level); /* taken over at the end of this write */
}

/* --- time --- */

static double duty(const board_t *b, int motor, uint64_t elapsed) {
    bool supplied = b->out.relay && !b->machine.e_stop_open;
    return supplied ? b->out.area[motor] / (double)elapsed : 0;
}

static void step_machine(board_t *b, uint64_t elapsed) {
    drive_t *d = &b->machine.drive;
    const bool *back = b->out.reverse;
    d->pan = duty(b, PIN_MOTOR_PAN, elapsed);
    d->centre = duty(b, PIN_MOTOR_CENTRE, elapsed) * (back[PIN_DIRECTION_CENTRE_REVERSE] ? -1 : 1);
    for (int s = 0; s < SIDES; s++) {
        d->ring[s] = duty(b, PIN_MOTOR_RING_0 + s, elapsed);
        d->belt[s] = duty(b, PIN_MOTOR_BELT_0 + s, elapsed);
        d->head[s] = duty(b, PIN_MOTOR_HEAD_0 + s, elapsed) *
                     (back[PIN_DIRECTION_HEAD_REVERSE_0 + s] ? -1 : 1);
        d->lift[s] = duty(b, PIN_MOTOR_LIFT_0 + s, elapsed) *
                     (back[PIN_DIRECTION_LIFT_REVERSE] ? -1 : 1);
    }
    memset(b->out.area, 0, sizeof b->out.area);
    double left = (double)elapsed / (double)b->avr->frequency * b->machine_speed;
    while (left > 0) {
        double dt = left < MAX_DT ? left : MAX_DT;
        machine_step(&b->machine, dt);
        left -= dt;
    }
    read_contacts(b);
    put_currents(b);
}

/* What the table's people do when the firmware begins a stacking or ends a roll. */
static void follow_probe(board_t *b) {
    probe_t probe;
    if (!board_probe(b, &probe)) {
        return;
    }
    if (probe.stackings != b->stackings) {
        int tiles[SIDES];
        for (int s = 0; s < SIDES; s++) {
            tiles[s] = 2 * probe.targets[s];
        }
        b->stackings = probe.stackings;
        if (b->stackings != 0) {
            machine_load_pan(&b->machine, tiles);
        }
    }
    if (probe.rolls != b->rolls) {
        b->rolls = probe.rolls;
        if (b->rolls != 0) {
            chain_dice_rolled(&b->chain);
        }
    }
}

static void beat(board_t *b) {
    look_at_outputs(b);
    serial_step(&b->serial, b->powered);
    chain_step(&b->chain, board_seconds(b));
    if (b->avr->cycle >= b->next_step) {
        step_machine(b, b->avr->cycle - b->last_step);
        follow_probe(b);
        b->last_step = b->avr->cycle;
        b->next_step = b->avr->cycle + cycles_of(b, STEP_US);
    }
    look_at_inputs(b, false);
}

static avr_cycle_count_t on_beat(struct avr_t *avr, avr_cycle_count_t when, void *param) {
    (void)avr;
    board_t *b = param;
    beat(b);
    return when + cycles_of(b, BEAT_US);
}

/* simavr resets the chip by itself when the watchdog bites; there is one chip in this program. */
static bool was_reset;
static void (*core_reset)(avr_t *avr);

static void on_reset(avr_t *avr) {
    was_reset = true;
    if (core_reset != NULL) {
        core_reset(avr);
    }
}

/* After every reset: simavr has forgotten the world. */
static void connect_world(board_t *b) {
    was_reset = false;
    /* before any pin goes low: simavr would look at its level with every cycle */
    for (uint8_t n = 0; n < EXTERNAL_INTERRUPTS; n++) {
        avr_extint_set_strict_lvl_trig(b->avr, n, 0);
    }
    avr_cycle_timer_register(b->avr, cycles_of(b, BEAT_US), on_beat, b);
    read_contacts(b);
    look_at_inputs(b, true);
    drive_pin(b, CHAIN[PIN_CHAIN_CHAIN_IN], true);
    put_currents(b);
    b->serial.ready = true;
}

void board_connect(board_t *b) {
    core_reset = b->avr->reset;
    b->avr->reset = on_reset;
    share_channels(b);
    for (char port = 'A'; port <= 'L'; port++) {
        if (port == 'I') {
            continue;
        }
        avr_irq_t *irqs = avr_io_getirq(b->avr, AVR_IOCTL_IOPORT_GETIRQ(port), 0);
        if (port == CHAIN[PIN_CHAIN_CHAIN_CLOCK].port) {
            avr_irq_register_notify(irqs + IOPORT_IRQ_REG_PORT, on_chain_port, b);
        }
        avr_irq_register_notify(irqs + IOPORT_IRQ_REG_PORT, on_port, b);
        avr_irq_register_notify(irqs + IOPORT_IRQ_DIRECTION_ALL, on_port, b);
    }
}

static bool run_powered(board_t *b, uint64_t end) {
    while (b->avr->cycle < end) {
        int state = avr_run(b->avr);
        if (state == cpu_Done || state == cpu_Crashed) {
            return false;
        }
        if (was_reset) {
            connect_world(b);
        }
    }
    return true;
}

bool board_run(board_t *b, uint64_t cycles) {
    uint64_t end = b->avr->cycle + cycles;
    if (b->powered) {
        b->crashed |= !run_powered(b, end);
        return !b->crashed;
    }
    while (b->avr->cycle < end) {
        b->avr->cycle += cycles_of(b, BEAT_US);
        beat(b);
    }
    return true;
}

/* --- power --- */

bool board_power_on(board_t *b, const char *reason) {
    static const char *const REASONS[] = {"power-on", "external", "brown-out", "watchdog", "software"};
    static const uint8_t FLAGS[] = {1u << 0, 1u << 1, 1u << 2, 1u << 3, 0};
    for (size_t i = 0; i < sizeof FLAGS; i++) {
        if (strcmp(reason, REASONS[i]) == 0) {
            avr_reset(b->avr);
            if (i == 0) {
                memset(b->avr->data + RAM_START, RAM_JUNK, b->avr->ramend + 1u - RAM_START);
                b->stackings = b->rolls = 0;
            }
            b->avr->data[MCUSR] = FLAGS[i];
            b->powered = true;
            connect_world(b);
            return true;
        }
    }
    return false;
}

void board_power_off(board_t *b) {
    b->powered = false;
    memset(b->avr->data + RAM_START, RAM_JUNK, b->avr->ramend + 1u - RAM_START);
    b->stackings = b->rolls = 0;
    serial_drop(&b->serial);
    look_at_outputs(b);
}

bool board_hang(board_t *b) {
    const int patience = 100000;
    if (!b->powered || b->hang_address == 0) {
        return false;
    }
    for (int i = 0; i < patience && !b->avr->sreg[S_I]; i++) {
        avr_run(b->avr); /* out of interrupt routines */
    }
    b->avr->state = cpu_Running;
    b->avr->pc = b->hang_address;
    return b->avr->sreg[S_I];
}

bool board_probe(const board_t *b, probe_t *out) {
    if (!b->powered || b->probe_address == 0) {
        return false;
    }
    memcpy(out, b->avr->data + b->probe_address, sizeof *out);
    return out->magic == PROBE_MAGIC;
}

void board_read_eeprom(const board_t *b, uint8_t out[EEPROM_SIZE]) {
    avr_eeprom_desc_t whole = {out, 0, EEPROM_SIZE};
    avr_ioctl(b->avr, AVR_IOCTL_EEPROM_GET, &whole);
}

void board_write_eeprom(board_t *b, const uint8_t in[EEPROM_SIZE]) {
    uint8_t copy[EEPROM_SIZE];
    memcpy(copy, in, EEPROM_SIZE);
    avr_eeprom_desc_t whole = {copy, 0, EEPROM_SIZE};
    avr_ioctl(b->avr, AVR_IOCTL_EEPROM_SET, &whole);
}
