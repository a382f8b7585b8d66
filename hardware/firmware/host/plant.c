#include "plant.h"

#include <string.h>

#define CENTRE_TRAVEL_MS 2000.0
#define LIFT_TRAVEL_MS 3000.0
#define HEAD_CYCLE_MS 1200.0
#define TILE_INTERVAL_MS 1600.0
#define TILE_PULSE_MS 200
#define PUSH_PULSE_MS 100
#define FLICKER_MS 30u
#define RUN_MA 800
#define STALL_MA 4000
#define CHANNEL_LIMIT 6
#define HOME_WIDTH 0.03 /* of a stroke: how long the cam holds its switch */
#define NEVER_FREED 99

static double chance(plant_t *plant) { /* 0 to 1 */
    uint32_t x = plant->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    plant->random = x;
    return x / 4294967296.0;
}

void plant_init(plant_t *plant, uint32_t seed) {
    memset(plant, 0, sizeof *plant);
    plant->random = seed * 2654435761u + 1u;
    for (int side = 0; side < PLANT_SIDES; side++) {
        plant->next_tile[side] = TILE_INTERVAL_MS;
    }
}

void plant_load(plant_t *plant, const uint8_t *stacks) {
    for (int side = 0; side < PLANT_SIDES; side++) {
        int tiles = 2 * stacks[side] - plant->defects.missing[side] + plant->defects.surplus[side];
        plant->supply[side] = tiles > 0 ? tiles : 0;
        plant->channel[side] = 0;
    }
}

/* --- motors --- */

static bool reversed(const plant_t *plant, int motor) {
    if (motor >= PIN_MOTOR_CENTRE) {
        return (plant->drive.reverse >> PIN_DIRECTION_CENTRE_REVERSE) & 1u;
    }
    if (motor >= PIN_MOTOR_LIFT_0) {
        return (plant->drive.reverse >> PIN_DIRECTION_LIFT_REVERSE) & 1u;
    }
    if (motor >= PIN_MOTOR_HEAD_0) {
        return (plant->drive.reverse >> (motor - PIN_MOTOR_HEAD_0)) & 1u;
    }
    return false;
}

int plant_direction(const plant_t *plant, int motor) {
    if (plant->drive.duty[motor] == 0) {
        return 0;
    }
    return reversed(plant, motor) ? -1 : 1;
}

static double speed(const plant_t *plant, int motor) {
    return plant_direction(plant, motor) * plant->drive.duty[motor] / 255.0;
}

static double clamped(double place) { return place < 0 ? 0 : (place > 1 ? 1 : place); }

static bool centre_obstructed(const plant_t *plant) {
    return plant->defects.centre_blocked && plant->centre <= 0.5; /* a hand, half-way down */
}

static void step_centre(plant_t *plant) {
    double v = speed(plant, PIN_MOTOR_CENTRE);
    bool stuck = plant->defects.centre_dead || (v < 0 && centre_obstructed(plant));
    if (!stuck) {
        plant->centre = clamped(plant->centre + v / CENTRE_TRAVEL_MS);
    }
}

static void step_lift(plant_t *plant, int side) {
    if (!plant->defects.lift_blocked[side] && !plant->defects.lift_dead[side]) {
        double v = speed(plant, PIN_MOTOR_LIFT_0 + side);
        plant->lift[side] = clamped(plant->lift[side] + v / LIFT_TRAVEL_MS);
    }
}

static void step_channel(plant_t *plant, int side) {
    plant->pulse_ms[side] -= plant->pulse_ms[side] > 0;
    plant->push_ms[side] -= plant->push_ms[side] > 0;
    bool feeding = plant_direction(plant, PIN_MOTOR_PAN) != 0 &&
                   plant_direction(plant, PIN_MOTOR_RING_0 + side) != 0 &&
                   plant_direction(plant, PIN_MOTOR_BELT_0 + side) != 0 &&
                   !plant->defects.pan_stalled && !plant->defects.ring_stalled[side];
    if (!feeding || plant->supply[side] == 0 || plant->channel[side] >= CHANNEL_LIMIT) {
        return;
    }
    plant->next_tile[side] -= 1;
    if (plant->next_tile[side] <= 0) {
        plant->next_tile[side] = TILE_INTERVAL_MS * (0.85 + 0.25 * chance(plant));
        plant->supply[side]--;
        plant->channel[side]++;
        plant->pulse_ms[side] = TILE_PULSE_MS;
    }
}

static void free_a_little(plant_t *plant, int side) {
    if (plant->defects.jammed[side] > 0 && plant->defects.jammed[side] < NEVER_FREED) {
        plant->defects.jammed[side]--;
    }
}

static void head_back(plant_t *plant, int side) {
    plant->reversed[side] = plant->reversed[side] || plant->head[side] > HOME_WIDTH;
    plant->head[side] = clamped(plant->head[side] - 1 / HEAD_CYCLE_MS);
    if (plant->head[side] <= HOME_WIDTH && plant->reversed[side]) {
        plant->reversed[side] = false;
        free_a_little(plant, side);
    }
}

static void head_forward(plant_t *plant, int side) {
    if (plant->defects.jammed[side] > 0 && plant->head[side] >= 0.4) {
        return;
    }
    plant->head[side] += 1 / HEAD_CYCLE_MS;
    if (plant->head[side] < 1) {
        return;
    }
    plant->head[side] = 0;
    if (plant->channel[side] >= 2) {
        plant->channel[side] -= 2;
        plant->pushed[side]++;
        plant->push_ms[side] = PUSH_PULSE_MS;
    }
}

static void step_head(plant_t *plant, int side) {
    int direction = plant_direction(plant, PIN_MOTOR_HEAD_0 + side);
    if (direction < 0) {
        head_back(plant, side);
    } else if (direction > 0) {
        head_forward(plant, side);
    }
}

void plant_step(plant_t *plant, const hal_outputs_t *outputs) {
    plant->ms++;
    plant->drive = *outputs;
    if (plant->e_stop_open || !outputs->motor_enable) {
        memset(plant->drive.duty, 0, sizeof plant->drive.duty); /* the contact, in hardware */
    }
    step_centre(plant);
    for (int side = 0; side < PLANT_SIDES; side++) {
        step_lift(plant, side);
        step_channel(plant, side);
        step_head(plant, side);
    }
}

/* --- sensors --- */

static uint16_t current(const plant_t *plant, int motor, bool stalled) {
    if (plant->drive.duty[motor] == 0) {
        return 0;
    }
    return stalled ? STALL_MA : RUN_MA;
}

static void read_currents(const plant_t *plant, uint16_t *ma) {
    const defects_t *d = &plant->defects;
    ma[PIN_CURRENT_PAN] = current(plant, PIN_MOTOR_PAN, d->pan_stalled);
    for (int s = 0; s < PLANT_SIDES; s++) {
        ma[PIN_CURRENT_FEED_0 + s] =
            (uint16_t)(current(plant, PIN_MOTOR_RING_0 + s, d->ring_stalled[s]) +
                       current(plant, PIN_MOTOR_BELT_0 + s, false));
        int direction = plant_direction(plant, PIN_MOTOR_HEAD_0 + s);
        bool jammed = direction > 0 && d->jammed[s] > 0 && plant->head[s] >= 0.4;
        ma[PIN_CURRENT_HEAD_0 + s] = current(plant, PIN_MOTOR_HEAD_0 + s, jammed);
        ma[PIN_CURRENT_LIFT_0 + s] = current(plant, PIN_MOTOR_LIFT_0 + s, d->lift_blocked[s]);
    }
    bool pinched = plant_direction(plant, PIN_MOTOR_CENTRE) < 0 && centre_obstructed(plant);
    ma[PIN_CURRENT_CENTRE] = current(plant, PIN_MOTOR_CENTRE, pinched);
}

static bool tile_seen(const plant_t *plant, int side) {
    if (plant->defects.sensor_flickers[side]) {
        return plant->ms / FLICKER_MS % 2u == 0u;
    }
    return plant->defects.sensor_dirty[side] || plant->pulse_ms[side] > 0 ||
           plant->channel[side] > 2;
}

static bool push_seen(const plant_t *plant, int side) {
    if (plant->defects.stack_blind[side]) {
        return false;
    }
    return plant->defects.stack_dirty[side] || plant->push_ms[side] > 0;
}

void plant_read(const plant_t *plant, hal_inputs_t *inputs) {
    const defects_t *d = &plant->defects;
    uint32_t pins = 0;
#define PUT(input, on) (pins |= (uint32_t)((on) ? 1u : 0u) << (input))
    PUT(PIN_INPUT_E_STOP, plant->e_stop_open);
    PUT(PIN_INPUT_COVER, plant->cover_open);
    PUT(PIN_INPUT_CENTRE_OPEN, plant->centre >= 1);
    PUT(PIN_INPUT_CENTRE_CLOSED, plant->centre <= 0);
    for (int s = 0; s < PLANT_SIDES; s++) {
        bool top = plant->lift[s] >= 1, bottom = plant->lift[s] <= 0;
        PUT(PIN_INPUT_LIFT_TOP_0 + s, d->top_closed[s] || (top && !d->top_open[s]));
        PUT(PIN_INPUT_LIFT_BOTTOM_0 + s, d->bottom_closed[s] || (bottom && !d->bottom_open[s]));
        PUT(PIN_INPUT_HEAD_HOME_0 + s, plant->head[s] <= HOME_WIDTH);
        PUT(PIN_INPUT_HEAD_IN_0 + s, tile_seen(plant, s));
        PUT(PIN_INPUT_STACK_0 + s, push_seen(plant, s));
    }
#undef PUT
    inputs->pins = pins;
    read_currents(plant, inputs->current_ma);
}

/* --- trouble --- */

void plant_repair(plant_t *plant) {
    memset(&plant->defects, 0, sizeof plant->defects);
    plant->e_stop_open = plant->cover_open = false;
}

static bool *switch_of(plant_t *plant, const char *name, int side) {
    defects_t *d = &plant->defects;
    const struct {
        const char *name;
        bool *where;
    } table[] = {
        {"lift-blocked", &d->lift_blocked[side]},
        {"lift-dead", &d->lift_dead[side]},
        {"limit-top-stuck", &d->top_open[side]},
        {"limit-bottom-stuck", &d->bottom_open[side]},
        {"limit-top-closed", &d->top_closed[side]},
        {"limit-bottom-closed", &d->bottom_closed[side]},
        {"sensor-dirty", &d->sensor_dirty[side]},
        {"sensor-flickers", &d->sensor_flickers[side]},
        {"stack-dirty", &d->stack_dirty[side]},
        {"stack-blind", &d->stack_blind[side]},
        {"ring-stall", &d->ring_stalled[side]},
        {"pan-stall", &d->pan_stalled},
        {"centre-blocked", &d->centre_blocked},
        {"centre-dead", &d->centre_dead},
        {"e-stop", &plant->e_stop_open},
        {"cover-open", &plant->cover_open},
    };
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].where;
        }
    }
    return NULL;
}

bool plant_break(plant_t *plant, const char *name, int side, int amount) {
    if (strcmp(name, "head-jam") == 0) {
        plant->defects.jammed[side] = amount > 0 ? amount : NEVER_FREED;
        return true;
    }
    if (strcmp(name, "short-set") == 0) {
        plant->defects.missing[side] = amount > 0 ? amount : 2;
        return true;
    }
    if (strcmp(name, "too-many-tiles") == 0) {
        plant->defects.surplus[side] = amount > 0 ? amount : 2;
        return true;
    }
    bool *where = switch_of(plant, name, side);
    if (where == NULL) {
        return false;
    }
    *where = true;
    return true;
}
