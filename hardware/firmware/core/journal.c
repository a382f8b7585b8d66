#include "journal.h"

#include <string.h>

#include "framing.h"

#define CRC_AT (JOURNAL_RECORD - 2u)
#define STATE_AT 2u /* the sequence number stands before it */

static void pack(const memory_t *memory, uint8_t *record) {
    uint8_t *p = tc_put_u16(record + STATE_AT, memory->boot_count);
    *p++ = memory->motion;
    *p++ = memory->program;
    *p++ = (uint8_t)((memory->dealer & 3u) | (memory->walls_up ? 4u : 0u) |
                     (uint8_t)((memory->tile_set & 1u) << 3) | (uint8_t)(memory->doubtful << 4));
    memcpy(p, memory->counts, 4);
    p += 4;
    *p++ = (uint8_t)(memory->waiting[0] | (uint8_t)(memory->waiting[1] << 4));
    *p++ = (uint8_t)(memory->waiting[2] | (uint8_t)(memory->waiting[3] << 4));
    *p = 0;
}

static void unpack(const uint8_t *record, memory_t *memory) {
    const uint8_t *p = record + STATE_AT;
    memory->boot_count = tc_get_u16(p);
    memory->motion = p[2];
    memory->program = p[3];
    memory->dealer = p[4] & 3u;
    memory->walls_up = (p[4] & 4u) != 0u;
    memory->tile_set = (p[4] >> 3) & 1u;
    memory->doubtful = p[4] >> 4;
    memcpy(memory->counts, p + 5, 4);
    memory->waiting[0] = p[9] & 15u;
    memory->waiting[1] = p[9] >> 4;
    memory->waiting[2] = p[10] & 15u;
    memory->waiting[3] = p[10] >> 4;
}

static uint16_t address_of(uint16_t slot) {
    return (uint16_t)(JOURNAL_ADDRESS + slot * JOURNAL_RECORD);
}

static bool read_record(hal_t *hal, uint16_t slot, uint8_t *record) {
    for (uint8_t i = 0; i < JOURNAL_RECORD; i++) {
        record[i] = hal_eeprom_read(hal, (uint16_t)(address_of(slot) + i));
    }
    return crc16(0xFFFFu, record, CRC_AT) == tc_get_u16(record + CRC_AT);
}

void journal_load(journal_t *journal, memory_t *memory, hal_t *hal) {
    memset(journal, 0, sizeof *journal);
    memset(memory, 0, sizeof *memory);
    bool found = false;
    for (uint16_t slot = 0; slot < JOURNAL_SLOTS; slot++) {
        uint8_t record[JOURNAL_RECORD];
        if (!read_record(hal, slot, record)) {
            continue;
        }
        uint16_t sequence = tc_get_u16(record);
        if (!found || (int16_t)(sequence - journal->sequence) > 0) {
            found = true;
            journal->sequence = sequence;
            journal->slot = slot;
            memcpy(journal->record, record, JOURNAL_RECORD);
        }
    }
    if (found) {
        unpack(journal->record, memory);
    } else {
        journal->slot = JOURNAL_SLOTS - 1u;
    }
    journal->written = JOURNAL_RECORD;
}

static bool is_same(const journal_t *journal, const uint8_t *record) {
    return memcmp(record + STATE_AT, journal->record + STATE_AT, CRC_AT - STATE_AT) == 0;
}

bool journal_holds(const journal_t *journal, const memory_t *memory) {
    uint8_t record[JOURNAL_RECORD];
    pack(memory, record);
    return journal->written == JOURNAL_RECORD && is_same(journal, record);
}

void journal_tick(journal_t *journal, const memory_t *memory, hal_t *hal) {
    if (journal->written < JOURNAL_RECORD) {
        if (hal_eeprom_ready(hal)) {
            uint8_t at = journal->written++;
            hal_eeprom_write(hal, (uint16_t)(address_of(journal->slot) + at), journal->record[at]);
        }
        return;
    }
    uint8_t record[JOURNAL_RECORD];
    pack(memory, record);
    if (is_same(journal, record)) {
        return;
    }
    memcpy(journal->record, record, JOURNAL_RECORD);
    journal->sequence++;
    journal->slot = (uint16_t)((journal->slot + 1u) % JOURNAL_SLOTS);
    (void)tc_put_u16(journal->record, journal->sequence);
    (void)tc_put_u16(journal->record + CRC_AT, crc16(0xFFFFu, journal->record, CRC_AT));
    journal->written = 0;
}
