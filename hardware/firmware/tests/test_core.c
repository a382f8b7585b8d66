/* Parts of the core by themselves: framing, configuration, journal, inputs, outputs.
 * The whole is tested from Python (tests/firmware_protocol).
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/config.h"
#include "../core/framing.h"
#include "../core/inputs.h"
#include "../core/journal.h"
#include "../core/outputs.h"

static int checks;

#define CHECK(condition) \
    do { \
        checks++; \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* --- an EEPROM that can lose its power --- */

struct hal {
    uint8_t bytes[HAL_EEPROM_SIZE];
    unsigned written[HAL_EEPROM_SIZE];
    int writes_left; /* before the power goes; less than 0: never */
};

static struct hal eeprom;

uint8_t hal_eeprom_read(hal_t *hal, uint16_t address) { return hal->bytes[address]; }

bool hal_eeprom_ready(hal_t *hal) {
    (void)hal;
    return true;
}

void hal_eeprom_write(hal_t *hal, uint16_t address, uint8_t value) {
    if (hal->writes_left == 0) {
        return;
    }
    hal->writes_left--;
    hal->written[address]++;
    hal->bytes[address] = value;
}

static void new_eeprom(void) {
    memset(&eeprom, 0, sizeof eeprom);
    memset(eeprom.bytes, 0xFF, sizeof eeprom.bytes);
    eeprom.writes_left = -1;
}

/* --- framing --- */

static void test_crc(void) {
    CHECK(crc16(0xFFFF, (const uint8_t *)"123456789", 9) == 0x29B1);
}

static decoded_t decode(decoder_t *decoder, const uint8_t *bytes, size_t length, frame_t *frame) {
    decoded_t last = DECODED_NOTHING;
    for (size_t i = 0; i < length; i++) {
        decoded_t found = decoder_take(decoder, bytes[i], frame);
        last = found != DECODED_NOTHING ? found : last;
    }
    return last;
}

static void test_frames_of_every_length_come_back(void) {
    decoder_t decoder = {0};
    for (unsigned length = 0; length <= TC_MAX_PAYLOAD; length++) {
        for (unsigned pattern = 0; pattern < 8; pattern++) {
            uint8_t payload[TC_MAX_PAYLOAD], out[TC_MAX_STUFFED + 1];
            for (unsigned i = 0; i < length; i++) {
                payload[i] = pattern == 0 ? 0 : (uint8_t)((i * 37 + pattern) % (1 + 2 * pattern));
            }
            frame_t frame = {TC_FRAME_KIND_DATA, 0x00FF, (uint8_t)length, 0, payload,
                             (uint8_t)length};
            frame_t got;
            uint8_t size = frame_encode(&frame, out);
            CHECK(size <= sizeof out && out[size - 1] == 0);
            CHECK(memchr(out, 0, size) == out + size - 1);
            CHECK(decode(&decoder, out, size, &got) == DECODED_FRAME);
            CHECK(got.session == 0x00FF && got.seq == length && got.length == length);
            CHECK(memcmp(got.payload, payload, length) == 0);
        }
    }
}

static void test_what_is_too_long_or_unknown_is_bad(void) {
    decoder_t decoder = {0};
    frame_t frame = {9, 1, 0, 0, NULL, 0}, got;
    uint8_t out[TC_MAX_STUFFED + 1], junk[300];
    CHECK(decode(&decoder, out, frame_encode(&frame, out), &got) == DECODED_BAD);
    memset(junk, 1, sizeof junk);
    junk[sizeof junk - 1] = 0;
    CHECK(decode(&decoder, junk, sizeof junk, &got) == DECODED_BAD);
    CHECK(decode(&decoder, (const uint8_t *)"\0\0\0", 3, &got) == DECODED_NOTHING);
    frame.kind = TC_FRAME_KIND_ACK;
    CHECK(decode(&decoder, out, frame_encode(&frame, out), &got) == DECODED_FRAME);
}

/* --- configuration --- */

static void store(const config_t *config) { memcpy(eeprom.bytes, config, sizeof *config); }

static void test_configuration_blank_stored_damaged(void) {
    config_t config, factory;
    new_eeprom();
    config_factory(&factory);
    CHECK(config_load(&config, &eeprom) == CONFIG_BLANK);
    CHECK(memcmp(&config, &factory, sizeof config) == 0);
    config.lift_timeout = 1234;
    config_seal(&config);
    store(&config);
    CHECK(config_load(&config, &eeprom) == CONFIG_STORED && config.lift_timeout == 1234);
    for (size_t at = 0; at < sizeof config; at++) {
        eeprom.bytes[at] ^= 0x10;
        CHECK(config_load(&config, &eeprom) == CONFIG_DAMAGED);
        CHECK(memcmp(&config, &factory, sizeof config) == 0);
        eeprom.bytes[at] ^= 0x10;
    }
}

/* --- journal --- */

static void write_out(journal_t *journal, const memory_t *memory) {
    for (int i = 0; i < 40; i++) {
        journal_tick(journal, memory, &eeprom);
    }
}

static memory_t sample(unsigned n) {
    memory_t memory = {0};
    memory.boot_count = (uint16_t)n;
    memory.motion = TC_MOTION_BUILDING;
    memory.program = TC_TILE_PROGRAM_TILES_108;
    memory.dealer = n % 4;
    memory.tile_set = n % 2;
    memory.walls_up = n % 3 == 0;
    memory.doubtful = n % 16;
    for (unsigned side = 0; side < 4; side++) {
        memory.counts[side] = (uint8_t)(n + side);
        memory.waiting[side] = (uint8_t)((n + side) % 16);
    }
    return memory;
}

static void test_memory_comes_back_after_any_number_of_records(void) {
    journal_t journal, later;
    memory_t memory, got;
    new_eeprom();
    journal_load(&journal, &memory, &eeprom);
    CHECK(memory.boot_count == 0 && memory.program == TC_TILE_PROGRAM_NONE);
    for (unsigned n = 1; n < 3 * JOURNAL_SLOTS; n++) {
        memory = sample(n);
        CHECK(!journal_holds(&journal, &memory));
        write_out(&journal, &memory);
        CHECK(journal_holds(&journal, &memory));
        journal_load(&later, &got, &eeprom);
        CHECK(memcmp(&got, &memory, sizeof got) == 0);
    }
    for (unsigned at = 0; at < HAL_EEPROM_SIZE; at++) {
        CHECK(eeprom.written[at] <= 3); /* worn evenly */
        CHECK(at >= JOURNAL_ADDRESS || eeprom.written[at] == 0);
    }
}

static void test_power_cut_at_every_byte_leaves_the_record_before(void) {
    for (int cut = 0; cut < (int)JOURNAL_RECORD; cut++) {
        journal_t journal, later;
        memory_t memory, got, before = sample(5), after = sample(6);
        new_eeprom();
        journal_load(&journal, &memory, &eeprom);
        write_out(&journal, &before);
        eeprom.writes_left = cut;
        write_out(&journal, &after);
        journal_load(&later, &got, &eeprom);
        CHECK(memcmp(&got, &before, sizeof got) == 0);
        eeprom.writes_left = -1;
        write_out(&later, &after);
        journal_load(&later, &got, &eeprom);
        CHECK(memcmp(&got, &after, sizeof got) == 0);
    }
}

/* --- inputs --- */

static void test_a_bounce_is_no_edge(void) {
    config_t config;
    inputs_t inputs;
    hal_inputs_t raw = {0};
    config_factory(&config);
    inputs_init(&inputs, &config, &raw);
    int edges = 0;
    for (int ms = 0; ms < 100; ms++) {
        bool bouncing = ms < 40;
        raw.pins = (!bouncing || ms % 3 == 0) ? 1ul << PIN_INPUT_LIFT_TOP_2 : 0;
        inputs_tick(&inputs, &config, &raw);
        edges += input_bit(inputs.rose, PIN_INPUT_LIFT_TOP_2);
        CHECK(bouncing ? inputs.active == 0 : true);
    }
    CHECK(edges == 1 && input_is(&inputs, PIN_INPUT_LIFT_TOP_2));
}

static void test_polarity_turns_all_but_the_safety_inputs(void) {
    config_t config;
    inputs_t inputs;
    hal_inputs_t raw = {0};
    config_factory(&config);
    config.active_low = 0xFFFFFFFF;
    inputs_init(&inputs, &config, &raw);
    CHECK(inputs.active == CONFIG_ACTIVE_LOW_ALLOWED);
    CHECK(!input_is(&inputs, PIN_INPUT_E_STOP) && !input_is(&inputs, PIN_INPUT_COVER));
}

static void test_every_button_is_debounced_by_itself(void) {
    config_t config;
    inputs_t inputs;
    hal_inputs_t raw = {0};
    config_factory(&config);
    inputs_init(&inputs, &config, &raw);
    for (unsigned seat = 0; seat < 4; seat++) {
        for (unsigned button = 0; button < 6; button++) {
            unsigned edges = 0;
            for (int ms = 0; ms < 60; ms++) {
                raw.buttons[seat] = (uint8_t)((ms < 30) << button);
                inputs_tick(&inputs, &config, &raw);
                edges += inputs.button_rose[seat] == 1u << button;
            }
            CHECK(edges == 1);
        }
    }
}

static void test_over_current_counts_only_above_the_limit(void) {
    config_t config;
    inputs_t inputs;
    hal_inputs_t raw = {0};
    config_factory(&config);
    inputs_init(&inputs, &config, &raw);
    for (int ms = 0; ms < 400; ms++) {
        raw.current_ma[PIN_CURRENT_PAN] = config.current_limit[PIN_CURRENT_PAN];
        raw.current_ma[PIN_CURRENT_CENTRE] =
            (uint16_t)(config.current_limit[PIN_CURRENT_CENTRE] + 1);
        inputs_tick(&inputs, &config, &raw);
    }
    CHECK(inputs.over_ms[PIN_CURRENT_PAN] == 0 && inputs.over_ms[PIN_CURRENT_CENTRE] == 255);
}

/* --- outputs --- */

typedef struct {
    config_t config;
    inputs_t inputs;
    outputs_t outputs;
    hal_outputs_t out;
} bench_t;

static bench_t new_bench(void) {
    bench_t bench;
    memset(&bench, 0, sizeof bench);
    config_factory(&bench.config);
    outputs_init(&bench.outputs);
    return bench;
}

static void run(bench_t *bench, int milliseconds, uint32_t host_silent_ms) {
    for (int i = 0; i < milliseconds; i++) {
        outputs_tick(&bench->outputs, &bench->config, &bench->inputs, host_silent_ms);
        outputs_write(&bench->outputs, &bench->config, &bench->out);
    }
}

static void test_ramps_rise_and_stops_are_at_once(void) {
    bench_t bench = new_bench();
    bench.outputs.want[PIN_MOTOR_CENTRE] = 1;
    run(&bench, 10, 0);
    uint8_t early = bench.out.duty[PIN_MOTOR_CENTRE];
    run(&bench, 200, 0);
    CHECK(early > 0 && early < 40 && bench.out.duty[PIN_MOTOR_CENTRE] == 255);
    bench.outputs.want[PIN_MOTOR_CENTRE] = 0;
    run(&bench, 1, 0);
    CHECK(bench.out.duty[PIN_MOTOR_CENTRE] == 0);
}

static void test_a_bridge_rests_before_it_turns(void) {
    bench_t bench = new_bench();
    bench.outputs.want[PIN_MOTOR_HEAD_1] = 1;
    run(&bench, 50, 0);
    CHECK(bench.out.duty[PIN_MOTOR_HEAD_1] == 255);
    bench.outputs.want[PIN_MOTOR_HEAD_1] = -1;
    for (int ms = 0; ms < bench.config.dead_time; ms++) {
        run(&bench, 1, 0);
        CHECK(bench.out.duty[PIN_MOTOR_HEAD_1] == 0);
    }
    run(&bench, 2, 0);
    CHECK(bench.out.duty[PIN_MOTOR_HEAD_1] == 255);
    CHECK(bench.out.reverse == 1u << PIN_DIRECTION_HEAD_REVERSE_1);
    bench.config.swapped = 1u << PIN_DIRECTION_HEAD_REVERSE_1;
    run(&bench, 1, 0);
    CHECK(bench.out.reverse == 0);
}

static void test_a_limit_switch_stops_its_own_tray_in_its_own_direction(void) {
    bench_t bench = new_bench();
    for (int side = 0; side < 4; side++) {
        bench.outputs.want[PIN_MOTOR_LIFT_0 + side] = 1;
    }
    run(&bench, 300, 0);
    bench.inputs.active = 1ul << PIN_INPUT_LIFT_TOP_3 | 1ul << PIN_INPUT_LIFT_BOTTOM_0;
    run(&bench, 1, 0);
    CHECK(bench.out.duty[PIN_MOTOR_LIFT_3] == 0 && bench.out.duty[PIN_MOTOR_LIFT_0] == 255);
}

static void test_every_motor_has_a_longest_on_time(void) {
    for (uint8_t motor = 0; motor < PIN_MOTOR_COUNT; motor++) {
        bench_t bench = new_bench();
        bench.outputs.want[motor] = 1;
        int ms = 0;
        while (bench.outputs.overrun == OUTPUT_NONE && ms < 10000) {
            run(&bench, 1, (uint32_t)ms++); /* the host is silent from the start */
        }
        CHECK(bench.outputs.overrun == motor && ms < 7000);
        CHECK(bench.out.duty[motor] == 0);
        run(&bench, 100, 0);
        CHECK(bench.out.duty[motor] == 0); /* until somebody has dealt with it */
    }
}

int main(void) {
    test_crc();
    test_frames_of_every_length_come_back();
    test_what_is_too_long_or_unknown_is_bad();
    test_configuration_blank_stored_damaged();
    test_memory_comes_back_after_any_number_of_records();
    test_power_cut_at_every_byte_leaves_the_record_before();
    test_a_bounce_is_no_edge();
    test_polarity_turns_all_but_the_safety_inputs();
    test_every_button_is_debounced_by_itself();
    test_over_current_counts_only_above_the_limit();
    test_ramps_rise_and_stops_are_at_once();
    test_a_bridge_rests_before_it_turns();
    test_a_limit_switch_stops_its_own_tray_in_its_own_direction();
    test_every_motor_has_a_longest_on_time();
    printf("%d checks\n", checks);
    return 0;
}
