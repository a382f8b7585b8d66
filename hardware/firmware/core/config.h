/* Configuration: polarity, times and limits, in EEPROM with a CRC.
 *
 * A blank EEPROM means the factory values below; a damaged one refuses every motion
 * (CONFIGURATION_INVALID). `host/mkconfig` writes images. New fields go to the end of their list
 * and raise CONFIG_VERSION.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_CONFIG_H
#define TABLECTL_CONFIG_H

#include "../hal.h"

#define CONFIG_ADDRESS 0u
#define CONFIG_MAGIC 0x4354u
#define CONFIG_VERSION 1u

/* Times of the machine in ms, divided by `mkconfig scale=`: X(name, factory value). */
#define CONFIG_TIMES(X) \
    X(centre_timeout, 4000)  /* until the panel's switch must be seen */ \
    X(lift_timeout, 5000)    /* until the trays' switches must be seen */ \
    X(head_timeout, 2500)    /* one stroke, until its home switch must be seen */ \
    X(over_current, 150)     /* above the limit for so long is a stall */ \
    X(pinch, 30)             /* ... and for so long, while the panel closes, a hand */ \
    X(reverse, 600)          /* backwards to free a jam, at most */ \
    X(stall_pause, 500)      /* before a stalled pan or ring is tried again */ \
    X(short_after, 12000)    /* no tile at a head, the pan turning: the set is short */ \
    X(surplus_watch, 4000)   /* belts run on after full walls, looking for surplus tiles */ \
    X(blocked_after, 6000)   /* a photo sensor without a gap is dirty */ \
    X(rate_window, 1000)     /* more than max_tiles in this time: the sensor is dirty */ \
    X(push_settle, 150)      /* from the cam's rest until STACK must have been seen */ \
    X(belt_coast, 500)       /* tiles may still arrive so long after the belt's stop */ \
    X(dice_roll, 1500) \
    X(self_test, 300)        /* how long each motor is tried */ \
    X(centre_ramp, 150)      /* from rest to full speed */ \
    X(lift_ramp, 200) \
    X(pan_ramp, 300) \
    X(dead_time, 20)         /* a bridge rests so long before it turns the other way */ \
    X(head_on_max, 4000)     /* longest on-times, whatever the motions want */ \
    X(lift_on_max, 6000) \
    X(centre_on_max, 6000)

/* Times that no machine's speed changes, in ms. */
#define CONFIG_FIXED_TIMES(X) \
    X(switch_debounce, 5) \
    X(photo_debounce, 3) \
    X(stop_debounce, 3)      /* E_STOP: against sparks; the answer must come within 10 */ \
    X(button_debounce, 8) \
    X(silence, TC_SILENCE_LIMIT_MS)  /* without a word from the host: it is lost */ \
    X(feed_on_max, 3000)     /* pan, rings, belts without a heartbeat */ \
    X(lights_on_max, 60000)  /* lights without a heartbeat */

#define CONFIG_COUNTS(X) \
    X(jam_retries, 2) \
    X(stall_retries, 1) \
    X(max_tiles, 4)          /* in rate_window; a healthy belt brings one in 1.6 s */ \
    X(channel_tiles, 3)      /* so many wait: the belt stands, nothing moves into a full channel */ \
    X(blind_strokes, 3)      /* strokes with tiles but no STACK: that sensor is dirty */

#define CONFIG_FIELD(name, value) uint16_t name;
#define CONFIG_ACTIVE_LOW_ALLOWED 0x00FFFFFCul /* never E_STOP and COVER */

typedef struct __attribute__((packed)) {
    uint16_t magic;
    uint16_t version;
    uint32_t board_serial;
    uint32_t active_low;    /* inputs, by enum pin_input, that are active when low */
    uint16_t swapped;       /* directions, by enum pin_direction, that run the other way */
    uint16_t current_limit[PIN_CURRENT_COUNT]; /* mA */
    CONFIG_TIMES(CONFIG_FIELD)
    CONFIG_FIXED_TIMES(CONFIG_FIELD)
    CONFIG_COUNTS(CONFIG_FIELD)
    uint16_t crc; /* of all before it */
} config_t;

typedef enum { CONFIG_STORED, CONFIG_BLANK, CONFIG_DAMAGED } config_state_t;

void config_factory(config_t *config);
/* The stored configuration, or the factory's when there is none or it is damaged. */
config_state_t config_load(config_t *config, hal_t *hal);
/* Sets the CRC right. */
void config_seal(config_t *config);

#endif
