/* Seat consoles and dice: buttons, lights, rolls. */
#include "table.h"

/* Powers of two: the chip divides slowly. */
#define BLINK_MS 512u
#define PULSE_MS 1024u
#define PULSE_ON_MS 150u

void consoles_tick(table_t *t) {
    for (uint8_t seat = 0; seat < SIDES; seat++) {
        for (uint8_t button = 0; t->inputs.button_rose[seat] >> button != 0; button++) {
            if (((t->inputs.button_rose[seat] >> button) & 1u) == 0u) {
                continue;
            }
            table_stir(t, (uint16_t)t->uptime_ms);
            tc_button_pressed_t pressed = {seat, button, t->uptime_ms};
            uint8_t message[TC_SIZE_BUTTON_PRESSED];
            emit(t, message, (uint8_t)tc_encode_button_pressed(message, &pressed));
        }
    }
}

uint8_t lights_now(const table_t *t) {
    if (t->wire_ms - t->host_heard_ms > t->config.lights_on_max) {
        return 0; /* nobody has said for long that they shall burn */
    }
    uint16_t ms = (uint16_t)t->uptime_ms;
    uint8_t lights = 0;
    for (uint8_t seat = 0; seat < SIDES; seat++) {
        bool on = t->lights[seat] == TC_LIGHT_PATTERN_ON;
        if (t->lights[seat] == TC_LIGHT_PATTERN_BLINK) {
            on = (ms & BLINK_MS) == 0u;
        } else if (t->lights[seat] == TC_LIGHT_PATTERN_PULSE) {
            on = (ms & (PULSE_MS - 1u)) < PULSE_ON_MS;
        }
        lights |= (uint8_t)((on ? 1u : 0u) << seat);
    }
    return lights;
}

/* --- dice --- */

void table_stir(table_t *t, uint16_t entropy) {
    uint32_t x = t->random ^ entropy; /* xorshift, Marsaglia 2003 */
    x = x == 0u ? 0x9E3779B9ul : x;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    t->random = x;
}

/* 1 to 6, each as likely: what does not divide evenly is drawn again. */
static uint8_t roll(table_t *t) {
    uint8_t drawn;
    do {
        table_stir(t, hal_entropy(t->hal));
        drawn = (uint8_t)(t->random >> 24);
    } while (drawn >= 252u);
    return (uint8_t)(1u + drawn % 6u);
}

step_t dice_step(table_t *t) {
    if (!after(t, t->dice.since, t->config.dice_roll)) {
        return STEP_RUNNING;
    }
    uint8_t seen = (uint8_t)~t->inputs.dice;
    tc_dice_rolled_t dice = {seen & 7u, (seen >> 3) & 7u};
    bool read = dice.first >= 1u && dice.first <= 6u && dice.second >= 1u && dice.second <= 6u;
    if (!read) { /* no reader, or it does not see them: roll here */
        dice.first = roll(t);
        dice.second = roll(t);
    }
    uint8_t message[TC_SIZE_DICE_ROLLED];
    emit(t, message, (uint8_t)tc_encode_dice_rolled(message, &dice));
    tc_probe.rolls++;
    return STEP_DONE;
}
