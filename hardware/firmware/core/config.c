#include "config.h"

#include <string.h>

#include "framing.h"

#define FACTORY_SERIAL 0x51A71Eul

void config_seal(config_t *config) {
    config->crc = crc16(0xFFFFu, (const uint8_t *)config, sizeof *config - sizeof config->crc);
}

void config_factory(config_t *config) {
    memset(config, 0, sizeof *config);
    config->magic = CONFIG_MAGIC;
    config->version = CONFIG_VERSION;
    config->board_serial = FACTORY_SERIAL;
    static const uint16_t limits[PIN_CURRENT_COUNT] = {
#define X(name, channel, milliamperes) (milliamperes),
        PINS_CURRENTS(X)
#undef X
    };
    memcpy(config->current_limit, limits, sizeof limits);
#define X(name, value) config->name = (value);
    CONFIG_TIMES(X)
    CONFIG_FIXED_TIMES(X)
    CONFIG_COUNTS(X)
#undef X
    config_seal(config);
}

config_state_t config_load(config_t *config, hal_t *hal) {
    uint8_t *bytes = (uint8_t *)config;
    bool blank = true;
    for (uint16_t i = 0; i < sizeof *config; i++) {
        bytes[i] = hal_eeprom_read(hal, (uint16_t)(CONFIG_ADDRESS + i));
        blank = blank && bytes[i] == 0xFFu;
    }
    uint16_t sum = crc16(0xFFFFu, bytes, sizeof *config - sizeof config->crc);
    if (!blank && config->magic == CONFIG_MAGIC && config->version == CONFIG_VERSION &&
        config->crc == sum) {
        return CONFIG_STORED;
    }
    config_factory(config);
    return blank ? CONFIG_BLANK : CONFIG_DAMAGED;
}
