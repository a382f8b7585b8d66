#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_MS 40
#define GAP_MS 20
#define WATCHDOG_MS 120
#define NO_DICE 0xFFu

/* --- the core's hardware --- */

void hal_identity(hal_t *hal, identity_t *identity) { *identity = hal->identity; }

void hal_line_write(hal_t *hal, const uint8_t *data, uint8_t length) {
    if (hal->output_length + length <= WORLD_OUTPUT) {
        memcpy(hal->output + hal->output_length, data, length);
        hal->output_length += length;
    }
}

uint8_t hal_eeprom_read(hal_t *hal, uint16_t address) {
    return hal->eeprom[address % HAL_EEPROM_SIZE];
}

bool hal_eeprom_ready(hal_t *hal) {
    (void)hal;
    return true;
}

void hal_eeprom_write(hal_t *hal, uint16_t address, uint8_t value) {
    hal->eeprom[address % HAL_EEPROM_SIZE] = value;
}

uint16_t hal_entropy(hal_t *hal) {
    hal->random = hal->random * 1664525u + 1013904223u;
    return (uint16_t)(hal->random >> 16);
}

/* --- life --- */

world_t *world_new(uint32_t seed) {
    world_t *world = calloc(1, sizeof *world);
    if (world == NULL) {
        return NULL;
    }
    identity_t identity = FIRMWARE_IDENTITY;
    world->hal.identity = identity;
    world->hal.random = seed;
    memset(world->hal.eeprom, 0xFF, HAL_EEPROM_SIZE);
    plant_init(&world->plant, seed);
    world->monitor.open_ms = -1;
    world->hung_ms = -1;
    return world;
}

void world_free(world_t *world) { free(world); }

void world_power_off(world_t *world) {
    world->powered = false;
    world->hal.output_length = 0;
    memset(&world->outputs, 0, sizeof world->outputs);
    plant_step(&world->plant, &world->outputs);
}

static void read_machine(world_t *world, hal_inputs_t *inputs) {
    plant_read(&world->plant, inputs);
    for (int seat = 0; seat < 4; seat++) {
        inputs->buttons[seat] = 0;
        for (int button = 0; button < 6; button++) {
            inputs->buttons[seat] |= (uint8_t)((world->held_ms[seat][button] > 0) << button);
        }
    }
    inputs->dice = NO_DICE;
    if (world->dice_count > 0) {
        inputs->dice = (uint8_t)~(world->dice[0][0] | world->dice[0][1] << 3);
    }
}

void world_power_on(world_t *world, uint8_t reset_reason) {
    hal_inputs_t inputs;
    read_machine(world, &inputs);
    world->powered = true;
    world->hung_ms = -1;
    world->stackings_seen = world->rolls_seen = 0;
    table_init(&world->table, &world->hal, reset_reason, &inputs);
    table_poll(&world->table, world->wire_ms);
}

void world_receive(world_t *world, const uint8_t *data, size_t length, uint32_t wire_ms) {
    world->wire_ms = wire_ms;
    if (world->powered && world->hung_ms < 0) {
        table_receive(&world->table, data, (uint16_t)length, wire_ms);
    }
}

size_t world_take_output(world_t *world, uint8_t *buffer, size_t capacity) {
    size_t length = world->hal.output_length < capacity ? world->hal.output_length : capacity;
    memcpy(buffer, world->hal.output, length);
    memmove(world->hal.output, world->hal.output + length, world->hal.output_length - length);
    world->hal.output_length -= length;
    return length;
}

const probe_t *world_probe(void) { return &tc_probe; }

/* --- people at the table --- */

static void step_buttons(world_t *world) {
    for (int seat = 0; seat < 4; seat++) {
        for (int button = 0; button < 6; button++) {
            uint8_t *held = &world->held_ms[seat][button], *gap = &world->gap_ms[seat][button];
            if (*held > 0 && --*held == 0) {
                *gap = GAP_MS;
            } else if (*gap > 0) {
                --*gap;
            }
        }
    }
    int kept = 0;
    for (int i = 0; i < world->press_count; i++) {
        press_t press = world->presses[i];
        bool waits = kept > 0 || world->held_ms[press.seat][press.button] > 0 ||
                     world->gap_ms[press.seat][press.button] > 0;
        if (waits) {
            world->presses[kept++] = press;
        } else {
            world->held_ms[press.seat][press.button] = HOLD_MS;
        }
    }
    world->press_count = kept;
}

/* What only the core knows: a new stacking loads the pan, a roll's end shows the next dice. */
static void follow_probe(world_t *world) {
    if (tc_probe.stackings != world->stackings_seen) {
        world->stackings_seen = tc_probe.stackings;
        plant_load(&world->plant, tc_probe.targets);
    }
    if (tc_probe.rolls != world->rolls_seen) {
        world->rolls_seen = tc_probe.rolls;
        if (world->dice_count > 0) {
            world->dice_count--;
            memmove(world->dice, world->dice + 1, sizeof world->dice[0] * WORLD_DICE - 2);
        }
    }
}

/* --- safety, watched from outside --- */

static bool any_pin_on(const world_t *world) {
    for (int motor = 0; motor < PIN_MOTOR_COUNT; motor++) {
        if (world->outputs.duty[motor] > 0) {
            return true;
        }
    }
    return false;
}

static void watch_e_stop(world_t *world) {
    monitor_t *m = &world->monitor;
    if (!world->plant.e_stop_open) {
        m->open_ms = -1;
        return;
    }
    bool on = any_pin_on(world);
    if (++m->open_ms == 0) {
        m->was_on = on;
        m->last_on_ms = -1;
    }
    if (on) {
        m->last_on_ms = m->open_ms;
        m->violations_e_stop += m->open_ms == 10;
    }
}

static void watch_limits(world_t *world, const hal_inputs_t *inputs) {
    monitor_t *m = &world->monitor;
    for (int side = 0; side < PLANT_SIDES; side++) {
        bool on = world->outputs.duty[PIN_MOTOR_LIFT_0 + side] > 0;
        bool down = (world->outputs.reverse >> PIN_DIRECTION_LIFT_REVERSE) & 1u;
        int input = (down ? PIN_INPUT_LIFT_BOTTOM_0 : PIN_INPUT_LIFT_TOP_0) + side;
        bool at_end = (inputs->pins >> input) & 1u;
        m->limit_ms[side] = on && at_end ? m->limit_ms[side] + 1 : 0;
        m->violations_limit += m->limit_ms[side] == 10;
    }
}

/* --- time --- */

static void step(world_t *world) {
    hal_inputs_t inputs;
    step_buttons(world);
    read_machine(world, &inputs);
    if (world->powered && world->hung_ms >= 0 && ++world->hung_ms > WATCHDOG_MS) {
        world_power_off(world);
        world_power_on(world, TC_RESET_REASON_WATCHDOG);
    }
    if (world->powered && world->hung_ms < 0) {
        table_tick(&world->table, &inputs, &world->outputs);
        follow_probe(world);
    }
    watch_e_stop(world);
    watch_limits(world, &inputs);
    plant_step(&world->plant, &world->outputs);
}

void world_advance(world_t *world, uint32_t wire_ms, uint32_t table_ms) {
    for (uint32_t i = 0; i < table_ms; i++) {
        step(world);
    }
    world->wire_ms = wire_ms;
    if (world->powered && world->hung_ms < 0) {
        table_poll(&world->table, wire_ms);
    }
}

/* --- control lines --- */

static bool from_hex(const char *hex, uint8_t *bytes, size_t capacity, size_t *length) {
    size_t digits = strlen(hex);
    if (digits % 2 != 0 || digits / 2 > capacity) {
        return false;
    }
    for (size_t i = 0; i < digits / 2; i++) {
        unsigned value;
        if (sscanf(hex + 2 * i, "%2x", &value) != 1) {
            return false;
        }
        bytes[i] = (uint8_t)value;
    }
    *length = digits / 2;
    return true;
}

bool world_patch(world_t *world, const char *symbol_and_hex) {
    static const char symbol[] = "tc_identity=";
    size_t length;
    return strncmp(symbol_and_hex, symbol, sizeof symbol - 1) == 0 &&
           from_hex(symbol_and_hex + sizeof symbol - 1, (uint8_t *)&world->hal.identity,
                    sizeof world->hal.identity, &length);
}

static const char *on_press(world_t *world, const char *text) {
    unsigned seat, button;
    if (sscanf(text, "%u %u", &seat, &button) != 2 || seat > 3 || button > 5) {
        return "press SEAT BUTTON: seats are 0 to 3, buttons 0 to 5";
    }
    if (world->press_count == WORLD_PRESSES) {
        return "too many presses wait";
    }
    world->presses[world->press_count++] = (press_t){(uint8_t)seat, (uint8_t)button};
    return NULL;
}

static const char *on_dice(world_t *world, const char *text) {
    unsigned a, b;
    if (sscanf(text, "%u %u", &a, &b) != 2 || a < 1 || a > 6 || b < 1 || b > 6) {
        return "dice A B: a die shows 1 to 6";
    }
    if (world->dice_count == WORLD_DICE) {
        return "too many rolls are fixed";
    }
    world->dice[world->dice_count][0] = (uint8_t)a;
    world->dice[world->dice_count++][1] = (uint8_t)b;
    return NULL;
}

static const char *on_fault(world_t *world, const char *text) {
    char name[32];
    int side = 0, amount = 0;
    if (sscanf(text, "%31[^:]:%d:%d", name, &side, &amount) < 1 || side < 0 || side > 3 ||
        amount < 0 || !plant_break(&world->plant, name, side, amount)) {
        return "fault NAME[:SIDE[:AMOUNT]]: no such fault, or no such side";
    }
    return NULL;
}

static const char *on_add_tiles(world_t *world, const char *text) {
    int side, tiles;
    if (sscanf(text, "%d %d", &side, &tiles) != 2 || side < 0 || side > 3 || tiles < 0) {
        return "add-tiles SIDE N";
    }
    world->plant.supply[side] += tiles;
    return NULL;
}

static int reason_of(const char *name, int without) {
    static const char *const names[] = {"power-on", "external", "brown-out", "watchdog",
                                        "software"};
    if (*name == '\0') {
        return without;
    }
    for (int i = 0; i < 5; i++) {
        if (strcmp(names[i], name) == 0) {
            return i; /* enum tc_reset_reason */
        }
    }
    return -1;
}

static const char *start_with(world_t *world, const char *name, int without) {
    int reason = reason_of(name, without);
    if (reason < 0) {
        return "REASON: power-on external brown-out watchdog software";
    }
    world_power_off(world);
    world_power_on(world, (uint8_t)reason);
    return NULL;
}

static const char *on_eeprom(world_t *world, const char *text) {
    unsigned address;
    char hex[129];
    uint8_t bytes[64];
    size_t length;
    if (sscanf(text, "%u %128s", &address, hex) != 2 ||
        !from_hex(hex, bytes, sizeof bytes, &length) || address + length > HAL_EEPROM_SIZE) {
        return "eeprom ADDRESS HEX: at most 64 bytes, inside 4096";
    }
    memcpy(world->hal.eeprom + address, bytes, length);
    return NULL;
}

typedef struct {
    char *text;
    size_t capacity, length;
} text_t;

__attribute__((format(printf, 2, 3))) static void add(text_t *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(out->text + out->length, out->capacity - out->length, format, arguments);
    va_end(arguments);
    if (more > 0) {
        out->length += (size_t)more;
        if (out->length >= out->capacity) {
            out->length = out->capacity - 1;
        }
    }
}

static void add_four(text_t *out, const char *name, const uint8_t *four) {
    add(out, "\"%s\": [%u, %u, %u, %u], ", name, four[0], four[1], four[2], four[3]);
}

static void add_probe(text_t *out) {
    const probe_t *p = &tc_probe;
    add(out, "{\"mode\": %u, \"motion\": %u, \"connected\": %u, \"program\": %u, \"walls_up\": %u, ",
        p->mode, p->motion, p->connected, p->program, p->walls_up);
    add_four(out, "counts", p->counts);
    add_four(out, "targets", p->targets);
    add_four(out, "lights", p->lights);
    add(out, "\"stackings\": %u, \"rolls\": %u, \"uptime_ms\": %lu, \"events_dropped\": %u, ",
        p->stackings, p->rolls, (unsigned long)p->uptime_ms, p->events_dropped);
    add(out, "\"tick_worst_us\": %u, \"tick_overruns\": %u, \"stack_free_low\": %u, ",
        p->tick_worst_us, p->tick_overruns, p->stack_free_low);
    add(out, "\"executed\": %u, \"log\": [", p->executed);
    unsigned first = p->executed > PROBE_LOG ? p->executed - PROBE_LOG : 0;
    for (unsigned i = first; i < p->executed; i++) {
        const probe_command_t *c = &p->log[i % PROBE_LOG];
        add(out, "%s{\"id\": %u, \"token\": %u, \"arguments\": [%u, %u]}", i > first ? ", " : "",
            c->id, c->token, c->arguments[0], c->arguments[1]);
    }
    add(out, "]}");
}

static void on_snapshot(const world_t *world, text_t *out) {
    const plant_t *plant = &world->plant;
    char motors[PIN_MOTOR_COUNT + 1] = {0};
    bool on = false;
    for (int motor = 0; motor < PIN_MOTOR_COUNT; motor++) {
        int direction = plant_direction(plant, motor);
        motors[motor] = direction > 0 ? '+' : (direction < 0 ? '-' : '.');
        on = on || direction != 0;
    }
    add(out, "ok {\"powered\": %s, \"centre\": %.4f, ", world->powered ? "true" : "false",
        plant->centre);
    add(out, "\"lifts\": [%.4f, %.4f, %.4f, %.4f], ", plant->lift[0], plant->lift[1],
        plant->lift[2], plant->lift[3]);
    add(out, "\"motors_on\": %s, \"motors\": \"%s\", ", on ? "true" : "false", motors);
    if (world->monitor.was_on && !any_pin_on(world)) {
        add(out, "\"e_stop_off_us\": %d, ", 1000 * (world->monitor.last_on_ms + 1));
    } else {
        add(out, "\"e_stop_off_us\": null, ");
    }
    add(out, "\"violations\": {\"e_stop\": %d, \"limit\": %d}, \"probe\": ",
        world->monitor.violations_e_stop, world->monitor.violations_limit);
    add_probe(out);
    add(out, "}");
}

/* The text after `word` and blanks, or NULL when the line is another one. */
static const char *after_word(const char *line, const char *word) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || (line[length] != ' ' && line[length] != '\0')) {
        return NULL;
    }
    line += length;
    return line + strspn(line, " ");
}

static const char *control(world_t *world, const char *line) {
    const char *rest;
    if ((rest = after_word(line, "press")) != NULL) {
        return on_press(world, rest);
    }
    if ((rest = after_word(line, "dice")) != NULL) {
        return on_dice(world, rest);
    }
    if ((rest = after_word(line, "fault")) != NULL) {
        return on_fault(world, rest);
    }
    if ((rest = after_word(line, "add-tiles")) != NULL) {
        return on_add_tiles(world, rest);
    }
    if ((rest = after_word(line, "eeprom")) != NULL) {
        return on_eeprom(world, rest);
    }
    if ((rest = after_word(line, "restart")) != NULL) {
        return start_with(world, rest, TC_RESET_REASON_WATCHDOG);
    }
    if ((rest = after_word(line, "power on")) != NULL) {
        return start_with(world, rest, TC_RESET_REASON_POWER_ON);
    }
    return "no such line";
}

static bool control_plain(world_t *world, const char *line) {
    if (strcmp(line, "e-stop open") == 0 || strcmp(line, "e-stop closed") == 0) {
        world->plant.e_stop_open = line[7] == 'o';
    } else if (strcmp(line, "cover open") == 0 || strcmp(line, "cover closed") == 0) {
        world->plant.cover_open = line[6] == 'o';
    } else if (strcmp(line, "repair") == 0) {
        plant_repair(&world->plant);
    } else if (strcmp(line, "power off") == 0) {
        world_power_off(world);
    } else if (strcmp(line, "hang") == 0) {
        world->hung_ms = 0;
    } else {
        return false;
    }
    return true;
}

void world_control(world_t *world, const char *line, char *reply, size_t capacity) {
    text_t out = {reply, capacity, 0};
    if (strcmp(line, "snapshot") == 0) {
        on_snapshot(world, &out);
        return;
    }
    if (control_plain(world, line)) {
        add(&out, "ok");
        return;
    }
    const char *error = control(world, line);
    if (error == NULL) {
        add(&out, "ok");
    } else {
        add(&out, "error %s", error);
    }
}

/* --- what tests in virtual time look at --- */

int world_motor_pin(const world_t *world, int motor) { return world->outputs.duty[motor]; }

int world_direction(const world_t *world, int motor) {
    return plant_direction(&world->plant, motor);
}

double world_place(const world_t *world, int what) { /* lifts 0 to 3, 4 the centre */
    return what < PLANT_SIDES ? world->plant.lift[what] : world->plant.centre;
}

int world_pushed(const world_t *world, int side) { return world->plant.pushed[side]; }

int world_violations(const world_t *world) {
    return world->monitor.violations_e_stop + world->monitor.violations_limit;
}
