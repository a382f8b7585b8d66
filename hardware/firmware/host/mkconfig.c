/* Writes a configuration image for the EEPROM, or shows one.
 *
 *   mkconfig [NAME=VALUE ...] > eeprom.bin      factory values, changed
 *   mkconfig --show < eeprom.bin                names and values, and whether the CRC is right
 *
 * scale=K divides the machine's times by K, for machines that are simulated faster.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/config.h"

static uint8_t image[HAL_EEPROM_SIZE];

uint8_t hal_eeprom_read(hal_t *hal, uint16_t address) {
    (void)hal;
    return image[address];
}

static void scale(config_t *config, unsigned long factor) {
#define X(name, value) config->name = (uint16_t)(config->name / factor);
    CONFIG_TIMES(X)
#undef X
}

static int set(config_t *config, const char *name, unsigned long value) {
    if (strcmp(name, "scale") == 0 && value > 0) {
        scale(config, value);
        return 1;
    }
    if (strcmp(name, "board_serial") == 0) {
        config->board_serial = (uint32_t)value;
        return 1;
    }
    if (strcmp(name, "active_low") == 0) {
        config->active_low = (uint32_t)value & CONFIG_ACTIVE_LOW_ALLOWED;
        return 1;
    }
    if (strcmp(name, "swapped") == 0) {
        config->swapped = (uint16_t)value;
        return 1;
    }
    if (value > 0xFFFF) {
        return 0;
    }
#define X(field, factory) \
    if (strcmp(name, #field) == 0) { \
        config->field = (uint16_t)value; \
        return 1; \
    }
    CONFIG_TIMES(X)
    CONFIG_FIXED_TIMES(X)
    CONFIG_COUNTS(X)
#undef X
#define X(field, channel, factory) \
    if (strcmp(name, #field) == 0) { \
        config->current_limit[PIN_##field] = (uint16_t)value; \
        return 1; \
    }
    PINS_CURRENTS(X)
#undef X
    return 0;
}

static void show(const config_t *config) {
    printf("board_serial=%#lx\nactive_low=%#lx\nswapped=%#x\n",
           (unsigned long)config->board_serial, (unsigned long)config->active_low,
           config->swapped);
#define X(field, factory) printf(#field "=%u\n", config->field);
    CONFIG_TIMES(X)
    CONFIG_FIXED_TIMES(X)
    CONFIG_COUNTS(X)
#undef X
#define X(field, channel, factory) printf(#field "=%u\n", config->current_limit[PIN_##field]);
    PINS_CURRENTS(X)
#undef X
}

static int show_input(void) {
    static const char *const words[] = {"stored", "blank: factory values", "damaged"};
    (void)!fread(image, 1, sizeof image, stdin);
    config_t config;
    config_state_t state = config_load(&config, NULL);
    show(&config);
    fprintf(stderr, "%s, CRC %#06x\n", words[state], config.crc);
    return state == CONFIG_DAMAGED;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--show") == 0) {
        return show_input();
    }
    config_t config;
    config_factory(&config);
    for (int i = 1; i < argc; i++) {
        char *sign = strchr(argv[i], '='), *end = NULL;
        unsigned long value = 0;
        if (sign != NULL) {
            *sign = '\0';
            value = strtoul(sign + 1, &end, 0);
        }
        if (sign == NULL || end == sign + 1 || *end != '\0' || !set(&config, argv[i], value)) {
            fprintf(stderr, "mkconfig: %s: write NAME=NUMBER, a name of `mkconfig --show`\n",
                    argv[i]);
            return 2;
        }
    }
    config_seal(&config);
    memset(image, 0xFF, sizeof image);
    memcpy(image + CONFIG_ADDRESS, &config, sizeof config);
    return fwrite(image, 1, sizeof image, stdout) == sizeof image ? 0 : 1;
}
