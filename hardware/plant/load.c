/* Loading the ELF: symbols, patches, the chip itself. SPDX-License-Identifier: AGPL-3.0-or-later */
#include <sim_elf.h>
#include <sim_hex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

#define DATA_OFFSET 0x800000u /* the linker's address of data memory */
#define RJMP_SELF_LOW 0xFFu
#define RJMP_SELF_HIGH 0xCFu
#define SUPPLY_MV 5000u
#define MAX_COMPLAINTS 20

static char problem[200];

static const char *complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    return problem;
}

/* Standard output is for the pty's name alone; of complaints the first ones are enough. */
static void log_errors(avr_t *avr, const int level, const char *format, va_list arguments) {
    static int left = MAX_COMPLAINTS;
    (void)avr;
    if (level == LOG_ERROR && left > 0) {
        left--;
        vfprintf(stderr, format, arguments);
    }
}

static void no_sleep(avr_t *avr, avr_cycle_count_t how_long) {
    (void)avr;
    (void)how_long; /* time is kept in main.c */
}

static const avr_symbol_t *find(const elf_firmware_t *f, const char *name, size_t length) {
    for (uint32_t i = 0; i < f->symbolcount; i++) {
        if (strlen(f->symbol[i]->symbol) == length &&
            memcmp(f->symbol[i]->symbol, name, length) == 0) {
            return f->symbol[i];
        }
    }
    return NULL;
}

static const char *patch_flash(board_t *b, const elf_firmware_t *f, const char *text) {
    const char *hex = strchr(text, '=');
    const avr_symbol_t *symbol = hex ? find(f, text, (size_t)(hex - text)) : NULL;
    if (symbol == NULL || symbol->addr >= DATA_OFFSET) {
        return complain("--patch %s: SYMBOL=HEX, of a symbol in flash", text);
    }
    hex++;
    for (uint32_t at = symbol->addr; *hex != '\0'; at++, hex += 2) {
        unsigned byte;
        if (sscanf(hex, "%2x", &byte) != 1 || hex[1] == '\0' || at > b->avr->flashend) {
            return complain("--patch %s: not an even number of hex digits", text);
        }
        b->avr->flash[at] = (uint8_t)byte;
    }
    return NULL;
}

static uint32_t find_hang(const elf_firmware_t *f) {
    for (uint32_t at = 0; at + 1 < f->flashsize; at += 2) {
        if (f->flash[at] == RJMP_SELF_LOW && f->flash[at + 1] == RJMP_SELF_HIGH) {
            return f->flashbase + at;
        }
    }
    return 0;
}

const char *board_load_boot(board_t *b, const char *hex) {
    uint32_t size = 0, start = 0;
    uint8_t *code = read_ihex_file(hex, &size, &start);
    if (code == NULL || start + size > b->avr->flashend + 1u) {
        return complain("%s is no Intel HEX file of a boot loader", hex);
    }
    avr_loadcode(b->avr, code, size, start);
    free(code);
    b->avr->reset_pc = b->avr->pc = start; /* as the fuse BOOTRST says */
    b->avr->codeend = b->avr->flashend;
    return NULL;
}

const char *board_load(board_t *b, const char *elf, char *const *patches, int patch_count) {
    static elf_firmware_t firmware;
    avr_global_logger_set(log_errors);
    if (elf_read_firmware(elf, &firmware) != 0 || firmware.flashsize == 0) {
        return complain("%s is no firmware that can be read", elf);
    }
    if (firmware.mmcu[0] != '\0' && strcmp(firmware.mmcu, "atmega2560") != 0) {
        return complain("%s is for the %s, not for the atmega2560", elf, firmware.mmcu);
    }
    b->avr = avr_make_mcu_by_name("atmega2560");
    if (b->avr == NULL) {
        return "this simavr knows no atmega2560";
    }
    avr_init(b->avr);
    firmware.frequency = PINS_CLOCK_HZ;
    avr_load_firmware(b->avr, &firmware);
    b->avr->vcc = b->avr->avcc = b->avr->aref = SUPPLY_MV;
    b->avr->sleep = no_sleep;
    b->avr->log = LOG_ERROR;
    const avr_symbol_t *probe = find(&firmware, "tc_probe", strlen("tc_probe"));
    b->probe_address = probe ? probe->addr - DATA_OFFSET : 0;
    b->hang_address = find_hang(&firmware);
    for (int i = 0; i < patch_count; i++) {
        const char *wrong = patch_flash(b, &firmware, patches[i]);
        if (wrong != NULL) {
            return wrong;
        }
    }
    safety_init(&b->safety);
    chain_init(&b->chain);
    serial_attach(&b->serial, b->avr, PINS_BAUD);
    board_connect(b);
    return NULL;
}
